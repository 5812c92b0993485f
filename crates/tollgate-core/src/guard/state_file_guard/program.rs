//! The program itself: no agent removes it, changes it, or puts another one of its name before it.
//!
//! An agent whose hook cannot be started goes on silently, so this is the last chance to report
//! it.

use std::path::{Path, PathBuf};

use super::{may_name, words};
use crate::context::EventContext;
use crate::decision::Finding;
use crate::next::Next;
use crate::project::lexical;
use crate::protocol::{After, Tool};
use crate::text::cut;
use tollgate_shell::{Run, Survey, Touch, Word, changed_paths};

/// Files that shells read when they start: a function or an alias in them hides a program.
const START_UP: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".config/fish/config.fish",
];

/// Programs that take other programs off the machine, by these words.
const PACKAGES: &[&str] = &[
    "cargo", "brew", "npm", "pnpm", "yarn", "pipx", "pip", "apt", "apt-get", "dnf", "pacman",
];
const TAKEN_OFF: &[&str] = &["uninstall", "remove", "rm", "purge", "unlink", "-R", "-Rs"];

/// A shell command.
pub(super) fn check_command(
    context: &EventContext<'_>,
    survey: &Survey,
    command: &str,
) -> Option<Finding> {
    let files = if may_name(survey, &["tollgate"]) {
        context.own_files.programs()
    } else {
        // The directory around it may go with it; nothing else can be meant.
        let running = context.own_files.running_program().into_iter();
        running.filter(|file| may_reach(context, file)).collect()
    };
    let written = |files: &[PathBuf]| {
        let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
        context.call.touches(&files)
    };
    if !files.is_empty() && written(&files) == Touch::Writes {
        return Some(finding("change the program", command));
    }
    if FINDS_IT.iter().any(|asks| command.contains(asks)) && survey.runs().any(is_changer) {
        return Some(finding("change the program", command));
    }
    let shells = || start_up(context).collect::<Vec<_>>();
    if written(&shells()) == Touch::Writes && names_it(context, survey, command) {
        return Some(finding(
            "hide the program behind a shell's function or alias",
            command,
        ));
    }
    check_unwritten(context, survey, command)
}

/// Whether a command names the program, in its text or in what the shell makes of it; a directory on
/// the way to the project or the home may have the name, too.
fn names_it(context: &EventContext<'_>, survey: &Survey, command: &str) -> bool {
    let places = [Some(context.layout().root()), context.call.home()];
    let places: Vec<_> = places
        .into_iter()
        .flatten()
        .map(Path::to_string_lossy)
        .collect();
    let own = |word: &str| {
        let word = word.to_owned();
        places
            .iter()
            .fold(word, |word, place| word.replace(place.as_ref(), ""))
    };
    command.contains("tollgate")
        || words(survey)
            .filter_map(Word::literal)
            .any(|word| own(word).contains("tollgate"))
}

/// Whether a command that does not name a file may change it: most stay in the project, and then
/// nothing is looked at.
fn may_reach(context: &EventContext<'_>, file: &Path) -> bool {
    let root = context.layout().root();
    let leaves = |path: &String| !Path::new(path).starts_with(root);
    file.starts_with(root) || changed_paths(context.call.effects()).iter().any(leaves)
}

/// A command that writes no file and takes the program away all the same.
pub(super) fn check_unwritten(
    context: &EventContext<'_>,
    survey: &Survey,
    command: &str,
) -> Option<Finding> {
    if !may_name(survey, &["tollgate"]) {
        return None;
    }
    let is_mode = |run: &Run| changes_mode(run, &context.own_files.programs());
    if survey.runs().any(is_mode) {
        return Some(finding("change the program", command));
    }
    removed_by_package(survey, command)
}

/// How a command asks where the program is, and may mean it by a substitution.
const FINDS_IT: &[&str] = &[
    "command -v tollgate",
    "which tollgate",
    "type -p tollgate",
    "type -P tollgate",
];

/// Whether a program changes the files that it is given, and one of them may be what `which` finds:
/// a survey takes its name for that, or it is not known.
fn is_changer(run: &Run) -> bool {
    const CHANGERS: &[&str] = &[
        "rm", "mv", "cp", "ln", "install", "chmod", "truncate", "unlink", "tee",
    ];
    let may_be_found = |word: Option<&str>| word.is_none_or(|word| word.ends_with("tollgate"));
    run.program().is_some_and(|name| CHANGERS.contains(&name))
        && run.args().iter().map(Word::literal).any(may_be_found)
}

/// Whether a command changes who may start one of these files.
fn changes_mode(run: &Run, files: &[PathBuf]) -> bool {
    matches!(
        run.program(),
        Some("chmod" | "chattr" | "chown" | "setfacl")
    ) && run.args().iter().filter_map(Word::literal).any(|path| {
        let dir = run.dir.as_deref().unwrap_or("/");
        files.contains(&lexical(&Path::new(dir).join(path)))
    })
}

/// A package manager that takes it off the machine.
fn removed_by_package(survey: &Survey, command: &str) -> Option<Finding> {
    let takes_off = |run: &Run| {
        let is = |wanted: &[&str]| {
            let mut words = run.args().iter().filter_map(Word::literal);
            words.any(|word| wanted.contains(&word))
        };
        run.program().is_some_and(|name| PACKAGES.contains(&name))
            && is(TAKEN_OFF)
            && is(&["tollgate"])
    };
    let mut runs = survey.runs();
    runs.any(takes_off)
        .then(|| finding("remove the program `tollgate` from the machine", command))
}

/// A tool that writes files. `places` are the path as it is written and where links lead.
pub(super) fn check_file(
    context: &EventContext<'_>,
    tool: &Tool<'_>,
    path: &str,
    places: [&Path; 2],
) -> Option<Finding> {
    let name = places[0].file_name()?.to_str()?;
    if name == "tollgate" {
        let is_it = |file: &PathBuf| {
            places.contains(&file.as_path()) || context.call.real(file) == places[1]
        };
        let mut programs = context.own_files.programs().into_iter();
        return programs
            .any(|file| is_it(&file))
            .then(|| finding("change the program", path));
    }
    let is_start_up = START_UP.iter().any(|known| known.ends_with(name))
        && start_up(context).any(|file| file == places[0]);
    if !is_start_up {
        return None;
    }
    let before = context.file_text(places[1]);
    let count = |text: &str| text.matches("tollgate").count();
    let more = match tool.after(path, before.as_deref()) {
        After::Text(text) => count(&text) > before.as_deref().map_or(0, count),
        After::Gone | After::Unknown => false,
    };
    more.then(|| finding("hide the program behind a shell's function or alias", path))
}

fn start_up(context: &EventContext<'_>) -> impl Iterator<Item = PathBuf> {
    let home = context.call.home().into_iter();
    home.flat_map(|home| START_UP.iter().map(|name| home.join(name)))
}

fn finding(what: &str, how: &str) -> Finding {
    let text = format!(
        "This would {what}.\n\n\
         If its hook cannot be started, an agent goes on without any check, and nothing reports \
         that. Ask the person to upgrade or remove Tollgate; `tollgate allow SFG-006 --once --reason \
         \"…\"` allows this change.\n\nBlocked: {}",
        cut(how, 200)
    );
    let reason = format!("This would {what}: {}", cut(how, 100));
    Finding::new("SFG-006", text, reason).next(Next::allow("SFG-006"))
}
