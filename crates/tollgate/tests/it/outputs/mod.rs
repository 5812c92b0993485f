//! What people read: every command's whole output, in a usual case and in a bad one.
//!
//! A snapshot shows the commands as they are typed, what they print, what of that is on standard
//! error, and how they end. A fact about an output that stands in its snapshot needs no `contains`
//! elsewhere.

mod gates;
mod help;
mod history;
mod narrow;
mod process;
mod refused;
mod runs;
mod setup;
mod stops;

use crate::project::TestProject;

/// What a person sees who types these commands one after the other. Each is `tollgate` with these
/// words.
pub(crate) fn transcript(project: &TestProject, commands: &[&str]) -> String {
    let show = |command: &&str| {
        let words: Vec<_> = command.split_whitespace().collect();
        let run = project.tollgate(&words);
        let errors = match run.stderr.as_str() {
            "" => String::new(),
            text => format!("--- standard error\n{text}"),
        };
        let exit = match run.code {
            0 => String::new(),
            code => format!("--- exit {code}\n"),
        };
        let typed = format!("$ tollgate {command}");
        format!("{}\n{}{errors}{exit}", typed.trim_end(), run.stdout)
    };
    commands.iter().map(show).collect::<Vec<_>>().join("\n")
}

/// Leaves out what differs from machine to machine and from run to run.
pub(crate) fn filters(project: &TestProject) -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    let name = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    for (text, word) in [
        (name(project.root()), "[project]"),
        (name(&project.home()), "[home]"),
        (name(&project.programs()), "[programs]"),
        (name(crate::project::TOLLGATE.as_ref()), "[tollgate]"),
        (env!("CARGO_PKG_VERSION").to_owned(), "[version]"),
    ] {
        settings.add_filter(&text.replace('.', r"\."), word);
    }
    for (what, word) in [
        (
            r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?",
            "[moment]",
        ),
        (r"\d{4}-\d\d-\d\d", "[date]"),
        (r"\b\d\d:\d\d:\d\d\b", "[time]"),
        (r"\b\d+(\.\d+)? ?(ms|µs|s)\b", "[duration]"),
        (r"\b[0-9a-f]{7,64}\b", "[hash]"),
        (r"\b\d+ of \d+ guards", "[all] guards"),
    ] {
        settings.add_filter(what, word);
    }
    settings
}

/// Compares what these commands print with the snapshot that has the test's name.
macro_rules! assert_shows {
    ($project:expr, $commands:expr $(,)?) => {{
        let project = &$project;
        let seen = crate::outputs::transcript(project, $commands);
        crate::outputs::filters(project).bind(|| insta::assert_snapshot!(seen));
    }};
}
pub(crate) use assert_shows;
