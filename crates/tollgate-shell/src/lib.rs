//! What a shell command would do: the simple commands it would run, in order, as far as its
//! text shows, the files they would change, and the branches their commits would land
//! on.
//!
//! [`survey`] parses bash syntax with its own scanner and follows variables with literal
//! values, `cd`, functions, substitutions and the programs that only start another one (`env`,
//! `xargs`, `sh -c` …). It takes linear time, has hard caps, and never fails: what is beyond the
//! caps or cannot be parsed makes the survey [`opaque`](Survey::opaque). Quoted text is data and a
//! comment is nothing. [`follow`] gives meaning to what it found, and [`touches`] to that.
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
pub use effects::{Commit, Followed, content_effects, effects, follow};
pub use run::program_name;
pub use run::{Ending, Link, Mode, Redirect, Run, Step, Survey};
pub use script::names_script as runs_script;
pub use target::{Covers, Extent, Gap, Target};
pub use word::Word;
pub use world::{Files, Head, NoFiles, RepositoryPaths, World};
pub use writes::{Touch, changed_paths, directories, removed_around, removes_ignored, touches};

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

#[cfg(test)]
mod tests;
