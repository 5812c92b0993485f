//! The command line of a registration: how it is written for a shell and recognised again.

use std::borrow::Cow;
use std::path::PathBuf;

use serde_json::json;
use tollgate_core::protocol::EventKind;
use tollgate_shell::{self as shell, Run, World};

use super::places::{Places, is_executable};

/// The option that names the protocol, and what registrations of earlier versions call it.
pub(super) const PROTOCOL: &str = "--protocol";
const PROTOCOL_BEFORE: &str = "--wire";

/// Options of a registration that only a person chooses.
pub(super) const STRICT: &str = "--strict";
const DEADLINE: &str = "--deadline";

/// What a registration says on a machine without the program. No quote: it is quoted for a shell.
const ABSENT: &str = "Tollgate is not installed on this machine, so nothing is checked here";
const REMEDY: &str =
    "Install it with npm install -g tollgate, pip install tollgate or cargo install tollgate.";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandLine {
    /// A name to be found on `PATH`, or a path.
    pub(crate) program: String,
    /// What it is called with.
    pub(crate) args: Vec<String>,
}

impl CommandLine {
    /// `program hook`, and these options.
    pub(crate) fn hook(program: &str, options: &[&str]) -> Self {
        let args = std::iter::once("hook").chain(options.iter().copied());
        Self {
            program: program.to_owned(),
            args: args.map(str::to_owned).collect(),
        }
    }

    /// Every command that a line in a settings file would run, read as a shell reads it. What a
    /// variable or a wrapper hides is seen through as far as possible.
    pub(crate) fn in_shell(line: &str) -> Vec<Self> {
        let survey = shell::survey(line, &World::unknown());
        survey.runs().filter_map(Self::of_run).collect()
    }

    fn of_run(run: &Run) -> Option<Self> {
        let mut words = run.words.iter().map(shell::Word::display);
        Some(Self {
            program: words.next()?,
            args: words.collect(),
        })
    }

    /// Whether this is a hook of Tollgate.
    pub(crate) fn is_tollgate(&self) -> bool {
        let name = self.program_name();
        (name == "tollgate" || name.starts_with("tollgate-"))
            && matches!(
                self.args.first().map(String::as_str),
                Some("hook" | "stop-hook")
            )
    }

    /// Whether it does nothing of its own: it only leads to another command, or to none.
    pub(crate) fn is_wrapper(&self) -> bool {
        const WRAPPERS: [&str; 17] = [
            "cd", "true", "false", ":", "exit", "test", "[", "[[", "command", "type", "which",
            "env", "exec", "timeout", "nice", "sh", "bash",
        ];
        let is_notice = |arg: &String| arg.contains(ABSENT);
        WRAPPERS.contains(&self.program_name())
            || (self.program == "echo" && self.args.iter().all(is_notice))
    }

    /// The program's name without its directory.
    pub(crate) fn program_name(&self) -> &str {
        let name = self.program.rsplit(['/', '\\']).next().unwrap_or_default();
        name.strip_suffix(".exe").unwrap_or(name)
    }

    /// The value of an option, as `--name value` or `--name=value`.
    pub(crate) fn option(&self, name: &str) -> Option<&str> {
        let mut args = self.args.iter();
        while let Some(arg) = args.next() {
            if arg == name {
                return Some(args.next().map_or("", String::as_str));
            }
            if let Some(value) = arg
                .strip_prefix(name)
                .and_then(|rest| rest.strip_prefix('='))
            {
                return Some(value);
            }
        }
        None
    }

    /// The arguments, with options of earlier versions by the names that they have now.
    pub(super) fn arguments(&self) -> Vec<String> {
        let now = |arg: &String| arg.replace(PROTOCOL_BEFORE, PROTOCOL);
        self.args.iter().map(now).collect()
    }

    pub(crate) fn has(&self, flag: &str) -> bool {
        self.args.iter().any(|arg| arg == flag)
    }

    /// The same with what a person chose in another registration: `--strict` and `--deadline` are in
    /// no line that is written without being asked for.
    pub(super) fn choosing(mut self, other: &Self) -> Self {
        if other.has(STRICT) && !self.has(STRICT) {
            self.args.push(STRICT.to_owned());
        }
        if let Some(time) = other.option(DEADLINE) {
            self.args.extend([DEADLINE.to_owned(), time.to_owned()]);
        }
        self
    }

    /// The program that would be started from here; nothing if there is none. An agent that was
    /// started with another `PATH` may find another one.
    pub(crate) fn located(&self, places: &Places) -> Option<PathBuf> {
        if self.program.contains('/') {
            let path = PathBuf::from(&self.program);
            is_executable(&path).then_some(path)
        } else {
            places.program(&self.program)
        }
    }

    /// One line for a shell. The same command always gives the same bytes: some agents trust a
    /// hook by the hash of its text.
    pub(crate) fn for_shell(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.args);
        words.map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    /// The same for an agent that takes a program that is not there for a no, and so could do nothing
    /// on a machine without Tollgate. There the line ends well, and says at the start of a session what
    /// is missing. Whoever chose `--strict` wants the no.
    pub(super) fn for_shell_if_there(&self, event: EventKind) -> String {
        let line = self.for_shell();
        if self.has(STRICT) {
            return line;
        }
        let otherwise = if event == EventKind::SessionStart {
            let notice = json!({ "systemMessage": format!("{ABSENT}. {REMEDY}") });
            format!("{{ echo '{notice}'; exit 0; }}")
        } else {
            "exit 0".to_owned()
        };
        let program = quoted(&self.program);
        format!("command -v {program} >/dev/null || {otherwise}; exec {line}")
    }
}

/// A word as every POSIX shell reads it back.
pub(crate) fn quoted(word: &str) -> Cow<'_, str> {
    let plain = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'/' | b'.' | b'_' | b'-' | b'=' | b'+' | b'@' | b':' | b','
            )
    };
    if !word.is_empty() && word.bytes().all(plain) {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_for_a_shell_is_read_back() {
        for program in [
            "tollgate",
            "/opt/a b/tollgate",
            "/x/it's/tollgate",
            "/ä/tollgate",
        ] {
            let line = CommandLine::hook(program, &[PROTOCOL, "codex"]);
            assert!(line.is_tollgate());
            assert_eq!(CommandLine::in_shell(&line.for_shell()), [line]);
        }
    }

    #[test]
    fn what_goes_on_without_the_program_is_a_hook_and_nothing_else() {
        for event in [EventKind::SessionStart, EventKind::PreTool] {
            for program in ["tollgate", "/opt/a b/tollgate"] {
                let line = CommandLine::hook(program, &[PROTOCOL, "gemini"]);
                let read = CommandLine::in_shell(&line.for_shell_if_there(event));
                let (ours, others): (Vec<_>, Vec<_>) =
                    read.into_iter().partition(CommandLine::is_tollgate);
                assert_eq!(ours, [line]);
                assert!(others.iter().all(CommandLine::is_wrapper), "{others:?}");
            }
        }
    }

    #[test]
    fn a_hook_of_tollgate_is_recognised_however_it_is_started() {
        let runs = |line: &str| {
            CommandLine::in_shell(line)
                .iter()
                .any(CommandLine::is_tollgate)
        };
        for line in [
            "tollgate hook",
            "\"/opt/x y/tollgate\" hook --guard branch-guard",
            "exec env A=1 tollgate hook",
            "sh -c 'tollgate hook'",
            "cd \"$CLAUDE_PROJECT_DIR\" && tollgate hook",
            "tollgate-0.1 hook",
        ] {
            assert!(runs(line), "{line}");
        }
        for line in [
            "echo tollgate hook",
            "tollgate run",
            "mytollgate hook",
            "x # tollgate hook",
            "",
        ] {
            assert!(!runs(line), "{line}");
        }
    }
}
