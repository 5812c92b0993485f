//! What a shell command would do: the simple commands it would run, in order, as far as its
//! text shows, the files they would change, and the branches their commits would land
//! on.
//!
//! [`survey`] parses bash syntax with its own scanner and follows variables with literal
//! values, `cd`, functions, substitutions and the programs that only start another one (`env`,
//! `xargs`, `sh -c` …). It takes linear time, has hard caps, and never fails: what is beyond the
//! caps or cannot be parsed makes the survey [`opaque`](Survey::opaque). Quoted text is data and a
//! comment is nothing. [`touches`] and [`commits()`] give meaning to what it found.
//!
//! What it deliberately does not do: run anything, or read files other than through
//! [`World::files`]. It follows what agents really write; what a program such as `awk`, `make` or
//! a filter makes of a text is unknown, and what it then does is detected by its effect: a commit by
//! the guard on git's side, a change of the state at the next event.
//!
//! ```
//! use tollgate_shell::{World, survey};
//!
//! let found = survey("env -i sh -c 'cd sub && git commit -m x'", &World::unknown());
//! let programs: Vec<_> = found.runs().filter_map(|run| run.program()).collect();
//! assert_eq!(programs, ["cd", "git"]);
//! assert!(!found.opaque);
//! ```

#![forbid(unsafe_code)]

mod accesses;
mod args;
mod code;
mod condition;
mod effect;
mod effects;
mod escape;
mod git_call;
mod parse;
mod path;
mod run;
mod script;
mod syntax;
mod target;
mod walk;
mod word;
mod world;
mod writes;

pub use accesses::host_of;
pub use effect::{Action, Argument, Certainty, Effect, Relation};
pub use effects::{Commit, commits, effects};
pub use run::program_name;
pub use run::{Ending, Link, Mode, Redirect, Run, Step, Survey};
pub use script::names_script as runs_script;
pub use target::{Covers, Extent, Gap, Target};
pub use word::Word;
pub use world::{Files, Head, NoFiles, RepositoryPaths, World};
pub use writes::{
    Touch, changed_paths, changes_files, directories, removed_around, removes_ignored, rewrites,
    touches,
};

/// Longer commands are not parsed.
pub const MAX_COMMAND: usize = 256 * 1024;

/// Reads a command line.
pub fn survey(command: &str, world: &World<'_>) -> Survey {
    if command.len() > MAX_COMMAND {
        return Survey {
            opaque: true,
            ..Survey::default()
        };
    }
    walk::survey(command, world)
}

/// Whether a command could run `word` (a program's name such as `git`) in any way that [`survey`]
/// would report or find opaque: a cheap check that lets many commands go unparsed.
///
/// It answers no only if nothing in the command can make words (expansions, braces, globs, shells
/// that read text) and the letters nowhere follow each other with
/// at most quotes, backslashes, line ends and NULs (which a shell drops) between them.
pub fn may_mention(command: &str, word: &str) -> bool {
    let makes_words = command
        .bytes()
        .any(|byte| matches!(byte, b'$' | b'`' | b'{' | b'*' | b'?' | b'['));
    if makes_words || command.len() > MAX_COMMAND {
        return true;
    }
    // Texts given to a shell, which may come from a decoder or be put together on the way.
    if ["sh", "eval", "source", ". "]
        .iter()
        .any(|sign| command.contains(sign))
    {
        return true;
    }
    let Some(first) = word.bytes().next() else {
        return true;
    };
    let mut rest = command.as_bytes();
    while let Some(at) = rest.iter().position(|byte| *byte == first) {
        rest = rest.get(at + 1..).unwrap_or_default();
        let mut letters = rest
            .iter()
            .filter(|byte| !matches!(byte, b'\'' | b'"' | b'\\' | b'\n' | 0));
        if word
            .bytes()
            .skip(1)
            .all(|wanted| letters.next() == Some(&wanted))
        {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests;
