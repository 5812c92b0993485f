//! Scripts in files that a command names: `sh build.sh`, `./build.sh`, `npm run build`.
//!
//! A file is read only if the command is to run it, and only up to a size; what is longer, or
//! named by text that is not known, is not seen through. In a script only what certainly runs
//! counts (see `doubt`), and only where the directory is known.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::args::Args;
use super::path::join;
use super::run::{Mode, Redirect, Run, Survey};
use super::walk::{Script, cleaned, script_survey};
use super::word::{Word, has, quoted};
use super::world::World;

/// Longer files are not read.
const MAX_SCRIPT: u64 = 64 * 1024;
/// Directories above the one where a command runs in which its `package.json` is looked for.
const MAX_ABOVE: usize = 16;
/// How many scripts one command line may look for.
const MAX_READS: usize = 64;
/// A script that is found counts for so many more.
const FOUND: usize = 7;
/// Scripts that start scripts.
pub(crate) const MAX_DEPTH: u32 = 3;

const SHELLS: &str = "sh bash dash zsh ksh mksh ash rbash";

/// Managers of packages that run the scripts of a `package.json`.
const MANAGERS: &str = "npm pnpm yarn bun";

/// Whether a command is one that runs a script of a file.
pub fn names_script(run: &Run) -> bool {
    // Most programs are none of these, so nothing is taken apart.
    let Some(name) = run.words.first().map(Word::raw) else {
        return false;
    };
    name.as_bytes().contains(&b'/')
        || matches!(name, "." | "source")
        || has(SHELLS, name)
        || has(MANAGERS, name)
}

/// The files that a command line may still look into.
pub(crate) struct Scripts<'w> {
    world: World<'w>,
    left: usize,
}

impl<'w> Scripts<'w> {
    pub(crate) fn new(world: &World<'w>) -> Self {
        Self {
            world: *world,
            left: MAX_READS,
        }
    }

    /// What the script does that a command runs; nothing when it runs none, or none that is known.
    pub(crate) fn behind(&mut self, run: &Run) -> Vec<Survey> {
        if self.left == 0 || !run.sure || !names_script(run) {
            return Vec::new();
        }
        self.left -= 1;
        let found = scripts(run, &self.world).unwrap_or_default();
        if !found.is_empty() {
            self.left = self.left.saturating_sub(FOUND);
        }
        // The lines of one file share what one script may cost.
        let surveys = found.iter().map(|script| {
            let world = self.world.at(Some(Path::new(&script.dir)));
            script_survey(script, &world, found.len())
        });
        surveys.collect()
    }
}

fn scripts(run: &Run, world: &World<'_>) -> Option<Vec<Script>> {
    let dir = run.dir.as_deref()?;
    let program = run.program()?;
    let first = run.words.first()?.literal()?;
    if has(MANAGERS, program) {
        return packaged(program, run, dir, world);
    }
    let (name, args, started) = if matches!(program, "." | "source") {
        let (file, args) = run.args().split_first()?;
        (file.literal()?, args, Started::ByShell)
    } else if has(SHELLS, program) {
        let (file, args) = shell_file(run)?;
        (file.literal()?, args, Started::ByShell)
    } else if first.contains('/') {
        (first, run.args(), Started::ByName)
    } else {
        return None;
    };
    Some(vec![Script {
        text: script_text(&PathBuf::from(join(dir, name)), started, world)?,
        name: name.to_owned(),
        args: args.iter().map(|word| word.raw().to_owned()).collect(),
        vars: run.vars.clone(),
        dir: dir.to_owned(),
    }])
}

/// What starts a script.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Started {
    ByShell,
    /// Then it must say that it is for a shell, and be executable.
    ByName,
}

/// The file that a shell is given, and the arguments for it.
fn shell_file(run: &Run) -> Option<(&Word, &[Word])> {
    let (args, rest) = Args::leading(run.args(), "oO", &["rcfile", "init-file"]);
    let asks = args.long.iter().any(|option| has("version help", option));
    if asks || args.flags.contains(['c', 'n', 's']) {
        return None;
    }
    if let Some(found) = rest.split_first() {
        return Some(found);
    }
    let read = |redirect: &&Redirect| redirect.mode == Mode::Read;
    let file = run.redirects.iter().find(read)?;
    Some((&file.target, &[]))
}

/// A regular file's text.
fn read(path: &Path, world: &World<'_>) -> Option<String> {
    let text = world.files.read(path, MAX_SCRIPT)?;
    Some(cleaned(&text).into_owned())
}

/// The text of a script of a shell.
fn script_text(path: &Path, started: Started, world: &World<'_>) -> Option<String> {
    if started == Started::ByShell {
        return read(path, world);
    }
    if !world.files.is_executable(path) {
        return None;
    }
    let text = read(path, world)?;
    let first = text.strip_prefix("#!")?.lines().next()?;
    let named = |word: &str| has(SHELLS, word.rsplit('/').next().unwrap_or_default());
    let is_shell = first.split_whitespace().take(3).any(named);
    is_shell.then_some(text)
}

/// The `scripts` of the nearest `package.json`, with what runs before and after the one named.
fn packaged(program: &str, run: &Run, dir: &str, world: &World<'_>) -> Option<Vec<Script>> {
    let valued = ["prefix", "dir", "cwd", "workspace", "filter"];
    let words = run.args();
    let split = words.iter().position(|word| word.raw() == "--");
    let (own, given) = words.split_at(split.unwrap_or(words.len()));
    let args = Args::read(own, "Cw", &valued);
    if args.value(&["w", "workspace", "filter"]).is_some() {
        return None;
    }
    let dir = match args.value(&["C", "prefix", "dir", "cwd"]) {
        Some(other) => join(dir, other.literal()?),
        None => dir.to_owned(),
    };
    let mut operands = args.operands.iter();
    let verb = operands.next()?.literal()?;
    let name = match (program, verb) {
        (_, "run") | ("npm" | "pnpm", "run-script") => operands.next()?.literal()?,
        ("npm", "t" | "tst") => "test",
        ("npm", "test" | "start" | "stop" | "restart") | ("pnpm" | "yarn", _) => verb,
        _ => return None,
    };
    let mut above = Path::new(&dir).ancestors().take(MAX_ABOVE);
    let (root, text) =
        above.find_map(|above| Some((above, read(&above.join("package.json"), world)?)))?;
    let package: Value = serde_json::from_str(&text).ok()?;
    let scripts = package.get("scripts")?;
    scripts.get(name)?.as_str()?;
    let names = [format!("pre{name}"), name.to_owned(), format!("post{name}")];
    let rest: Vec<String> = operands
        .chain(given.iter().skip(1))
        .map(|word| quoted(word.raw()))
        .collect();
    let found = names.iter().filter_map(|script| {
        let text = scripts.get(script)?.as_str()?;
        let rest = if script == name {
            rest.join(" ")
        } else {
            String::new()
        };
        Some(Script {
            text: format!("{} {rest}", cleaned(text)),
            name: "sh".to_owned(),
            args: Vec::new(),
            vars: run.vars.clone(),
            dir: root.to_str()?.to_owned(),
        })
    });
    Some(found.collect())
}
