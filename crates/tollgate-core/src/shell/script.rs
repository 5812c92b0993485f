//! Scripts in files that a command names: `sh build.sh`, `./build.sh`, `npm run build`.
//!
//! A file is read only if the command is to run it, and only up to a size; what is longer, or
//! named by text that is not known, is not seen through. In a script only what certainly runs
//! counts (see `doubt`), and only where the directory is known.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::effects::Args;
use super::walk::{cleaned, script_survey};
use super::word::Word;
use super::{Mode, Run, Start, Survey, join};
use crate::json::Object;

/// Longer files are not read.
const MAX_SCRIPT: u64 = 64 * 1024;
/// Directories above the one where a command runs in which its `package.json` is looked for.
const MAX_ABOVE: usize = 16;
/// What looking for scripts may cost one command line.
const MAX_LOOKS: u32 = 64;
/// What a script costs that is found; a look for one costs one.
const FOUND: u32 = 7;
/// Scripts that start scripts.
pub(crate) const MAX_DEPTH: u32 = 3;

/// A script with what it is started with.
pub(crate) struct Script {
    pub(crate) text: String,
    /// `$0`
    pub(crate) name: String,
    pub(crate) args: Vec<String>,
    pub(crate) vars: Vec<(String, Word)>,
    dir: String,
}

const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash"];

/// Whether a command is one that runs a script of a file.
pub(crate) fn names_script(run: &Run) -> bool {
    // Most programs are none of these, so nothing is taken apart.
    let Some(name) = run.words.first().map(Word::raw) else {
        return false;
    };
    name.as_bytes().contains(&b'/')
        || SHELLS.contains(&name)
        || matches!(name, "." | "source" | "npm" | "pnpm" | "yarn" | "bun")
}

/// Whether one of these commands runs a script of a file that is known.
pub(crate) fn any_behind(survey: &Survey) -> bool {
    let named = survey.runs().filter(|run| run.sure && names_script(run));
    let most = usize::try_from(MAX_LOOKS).unwrap_or(usize::MAX);
    named.take(most).any(|run| scripts(run).is_some())
}

/// The looks into files that a command line has left.
pub(crate) struct Looks(u32);

impl Default for Looks {
    fn default() -> Self {
        Self(MAX_LOOKS)
    }
}

impl Looks {
    /// What the script does that a command runs; nothing when it runs none, or none that is known.
    pub(crate) fn behind(&mut self, run: &Run, home: Option<&Path>) -> Vec<Survey> {
        if self.0 == 0 || !run.sure || !names_script(run) {
            return Vec::new();
        }
        self.0 -= 1;
        let Some(found) = scripts(run) else {
            return Vec::new();
        };
        self.0 = self.0.saturating_sub(FOUND);
        // The lines of one file share what one script may cost.
        let share = u32::try_from(found.len()).unwrap_or(u32::MAX);
        let surveys = found.iter().map(|script| {
            let start = Start {
                dir: Some(Path::new(&script.dir)),
                home,
            };
            script_survey(script, start, share)
        });
        surveys.collect()
    }
}

fn scripts(run: &Run) -> Option<Vec<Script>> {
    let dir = run.dir.as_deref()?;
    let program = run.program()?;
    let first = run.words.first()?.literal()?;
    match program {
        "npm" | "pnpm" | "yarn" | "bun" => packaged(program, run, dir),
        "." | "source" => {
            let (file, args) = run.args().split_first()?;
            Some(vec![script(file.literal()?, args, run, dir, false)?])
        }
        _ if SHELLS.contains(&program) => {
            let (file, args) = shell_file(run)?;
            Some(vec![script(file.literal()?, args, run, dir, false)?])
        }
        _ if first.contains('/') => Some(vec![script(first, run.args(), run, dir, true)?]),
        _ => None,
    }
}

/// The file that a shell is given, and the arguments for it.
fn shell_file(run: &Run) -> Option<(&Word, &[Word])> {
    let mut words = run.args();
    while let Some((word, rest)) = words.split_first() {
        let text = word.raw();
        let Some(option) = text.strip_prefix('-').filter(|_| text != "--") else {
            let at = usize::from(text == "--");
            return words.get(at..)?.split_first();
        };
        let short = !option.starts_with('-');
        if short && option.contains(['c', 'n', 's']) || matches!(option, "-version" | "-help") {
            return None;
        }
        let valued = short && option.ends_with('o') || matches!(option, "-rcfile" | "-init-file");
        words = rest.get(usize::from(valued)..)?;
    }
    let read = |redirect: &&super::Redirect| redirect.mode == Mode::Read;
    let file = run.redirects.iter().find(read)?;
    Some((&file.target, &[]))
}

/// A regular file's text.
fn read(path: &Path) -> Option<String> {
    let contents = crate::fs::read_regular(path, MAX_SCRIPT).ok()??;
    let text = String::from_utf8(contents.bytes).ok()?;
    Some(cleaned(&text).into_owned())
}

/// A script of a shell. One that is started by its own name must say so, and be executable.
fn script(name: &str, args: &[Word], run: &Run, dir: &str, itself: bool) -> Option<Script> {
    let path = PathBuf::from(join(dir, name));
    if itself {
        let mode = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
        if mode.permissions().mode() & 0o111 == 0 || mode.len() > MAX_SCRIPT {
            return None;
        }
    }
    let text = read(&path)?;
    if itself {
        let first = text.strip_prefix("#!")?.lines().next()?;
        let named = |word: &str| SHELLS.contains(&word.rsplit('/').next().unwrap_or_default());
        if !first.split_whitespace().take(3).any(named) {
            return None;
        }
    }
    Some(Script {
        text,
        name: name.to_owned(),
        args: args.iter().map(|word| word.raw().to_owned()).collect(),
        vars: run.vars.clone(),
        dir: dir.to_owned(),
    })
}

/// The `scripts` of the nearest `package.json`, with what runs before and after the one named.
fn packaged(program: &str, run: &Run, dir: &str) -> Option<Vec<Script>> {
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
    let root = above.find(|above| above.join("package.json").is_file())?;
    let text = read(&root.join("package.json"))?;
    let scripts = Object::parse(&text).ok()?.object("scripts")?;
    scripts.str(name)?;
    let names = [format!("pre{name}"), name.to_owned(), format!("post{name}")];
    let rest: Vec<String> = operands
        .chain(given.iter().skip(1))
        .map(|word| quoted(word.raw()))
        .collect();
    let found = names.iter().filter_map(|script| {
        let text = scripts.str(script)?;
        let rest = if script == name {
            rest.join(" ")
        } else {
            String::new()
        };
        Some(Script {
            text: format!("{} {rest}", cleaned(&text)),
            name: "sh".to_owned(),
            args: Vec::new(),
            vars: run.vars.clone(),
            dir: root.to_str()?.to_owned(),
        })
    });
    Some(found.collect())
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
