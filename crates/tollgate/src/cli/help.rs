//! What `--help` says beyond the list of options: groups of commands, examples, exit codes.
//!
//! Tables, which tests hold to the command line: every command is in one group and has its row, and every
//! example can be parsed.

use std::fmt::Write as _;

use clap::Command;

use super::wrap::{columns, wrap};
use super::{BOLD, HINT};

/// What the names of commands take of a line.
const NAMES: usize = 15;

/// A group of commands in `tollgate --help`.
struct Group {
    title: &'static str,
    commands: &'static [&'static str],
}

#[rustfmt::skip]
static GROUPS: &[Group] = &[
    Group { title: "Start", commands: &["init", "install", "doctor", "demo"] },
    Group { title: "Gates", commands: &["run", "status", "detect", "list", "validate", "config"] },
    Group { title: "Rules", commands: &["rules", "guards"] },
    Group { title: "Process", commands: &["workflow", "phase", "plan"] },
    Group { title: "Inspect", commands: &["log", "explain", "simulate", "replay", "serve", "top", "report", "state"] },
    Group { title: "People", commands: &["allow", "trust", "untrust", "uninstall"] },
    Group { title: "Integrations", commands: &["hook", "statusline", "ci", "export", "schema", "completions", "man"] },
];

/// Commands that work and are only named: parts of others, and those of older settings.
static OTHERS: &[&str] = &[
    "check",
    "review",
    "clean",
    "health",
    "stop-hook",
    "try-review",
];

/// What a command ends with.
const DONE: &str = "0 done; 2 could not run";
const STEP: &str = "0 done; 1 refused; 2 could not run";
const RUN: &str = "0 verified; 1 not verified; 2 could not run; 130 interrupted";
const SENT: &str = "0 sent; 1 some were refused; 2 could not run";
const PART: &str = "0 passed; 1 not passed; 2 could not run; 130 interrupted";

/// What the help of a command ends with.
struct Row {
    command: &'static str,
    example: &'static str,
    exit: &'static str,
}

const fn row(command: &'static str, example: &'static str, exit: &'static str) -> Row {
    Row {
        command,
        example,
        exit,
    }
}

#[rustfmt::skip]
static ROWS: &[Row] = &[
    row("init", "tollgate init", STEP),
    row("install", "tollgate install --agent claude-code", STEP),
    row("uninstall", "tollgate uninstall --agent codex", STEP),
    row("doctor", "tollgate doctor --fix", "0 all is well; 1 something is wrong; 2 could not run"),
    row("demo", "tollgate demo", "0 done; 1 a step came out differently; 2 could not run; 130 interrupted"),
    row("run", "tollgate run --gate test", RUN),
    row("check", "tollgate check --uncommitted", PART),
    row("review", "tollgate review --base-branch origin/main", PART),
    row("status", "tollgate status --exit-code", "0; with --exit-code: 0 verified, 1 not verified, 2 cannot tell"),
    row("statusline", "tollgate statusline", "0"),
    row("detect", "tollgate detect --since HEAD~1", "0 gates would run; 2 none would, or it could not tell"),
    row("list", "tollgate list --json", DONE),
    row("validate", "tollgate validate", "0 valid; 1 not valid"),
    row("health", "tollgate health", "0"),
    row("clean", "tollgate clean", DONE),
    row("config", "tollgate config show", DONE),
    row("config show", "tollgate config show --json", DONE),
    row("config set", "tollgate config set gates.test.run \"make test\"", STEP),
    row("schema", "tollgate schema tollgate > tollgate.schema.json", DONE),
    row("ci", "tollgate ci init", DONE),
    row("ci init", "tollgate ci init", DONE),
    row("ci list-jobs", "tollgate ci list-jobs", DONE),
    row("rules", "tollgate rules list", "0 done; 1 refused, or an example fails; 2 could not run"),
    row("rules list", "tollgate rules list", DONE),
    row("rules test", "tollgate rules test", "0 all examples hold; 1 one does not; 2 could not run"),
    row("rules try", "tollgate rules try --replay ~/.claude/projects", DONE),
    row("rules explain", "tollgate rules explain \"git push --force\"", DONE),
    row("rules add", "tollgate rules add git-safety --mode watch", STEP),
    row("rules new", "tollgate rules new", STEP),
    row("rules import", "tollgate rules import hookify.md", STEP),
    row("rules export", "tollgate rules export --agent claude-code", DONE),
    row("guards", "tollgate guards branch-guard", DONE),
    row("workflow", "tollgate workflow status", STEP),
    row("workflow start", "tollgate workflow start feature \"add login\"", STEP),
    row("workflow status", "tollgate workflow status", DONE),
    row("workflow audit", "tollgate workflow audit --repair", "0 nothing is wrong; 1 something is; 2 could not run"),
    row("workflow definitions", "tollgate workflow definitions", "0 done; 1 one is broken; 2 could not run"),
    row("workflow finalize", "tollgate workflow finalize", STEP),
    row("workflow cancel", "tollgate workflow cancel --reason \"not needed\"", STEP),
    row("phase", "tollgate phase begin", STEP),
    row("phase begin", "tollgate phase begin", STEP),
    row("phase complete", "tollgate phase complete --summary \"login works\"", STEP),
    row("phase skip", "tollgate phase skip --reason \"no design needed\"", STEP),
    row("phase redo", "tollgate phase redo --guidance \"cover empty input\"", STEP),
    row("phase review", "tollgate phase review", STEP),
    row("phase brief", "tollgate phase brief", DONE),
    row("plan", "tollgate plan status", STEP),
    row("plan new", "tollgate plan new login", STEP),
    row("plan use", "tollgate plan use login", STEP),
    row("plan begin", "tollgate plan begin new-plan", STEP),
    row("plan done", "tollgate plan done new-plan", STEP),
    row("plan how", "tollgate plan how new-plan", DONE),
    row("plan next", "tollgate plan next", DONE),
    row("plan release", "tollgate plan release", STEP),
    row("plan repair", "tollgate plan repair", STEP),
    row("plan review", "tollgate plan review --dry-run", "0 a review is due; 1 none is; 2 could not run"),
    row("plan set", "tollgate plan set max_reviews 4", STEP),
    row("plan status", "tollgate plan status", DONE),
    row("plan validate", "tollgate plan validate", "0 valid; 1 not valid; 2 could not run"),
    row("log", "tollgate log --follow", "0; with --verify: 1 if entries are missing or changed; 2 could not run"),
    row("explain", "tollgate explain BG-001", DONE),
    row("simulate", "tollgate simulate --command \"git push --force\"", "0; with --exit-code: 1 if it is blocked; 2 could not run"),
    row("replay", "tollgate replay session.jsonl", "0; with --exit-code: 1 if something would be blocked; 2 could not run"),
    row("serve", "tollgate serve", DONE),
    row("top", "tollgate top", DONE),
    row("report", "tollgate report --html report.html", DONE),
    row("state", "tollgate state log", STEP),
    row("state log", "tollgate state log", DONE),
    row("state at", "tollgate state at 12", "0 done; 1 not known any more; 2 could not run"),
    row("state blame", "tollgate state blame active_workflow.current_phase", "0 done; 1 it never changed; 2 could not run"),
    row("state undo", "tollgate state undo", STEP),
    row("allow", "tollgate allow BG-001 --once --reason \"hotfix\"", STEP),
    row("trust", "tollgate trust --show", STEP),
    row("untrust", "tollgate untrust", DONE),
    row("hook", "tollgate hook < event.json", "0; 2 where only that blocks the asking agent"),
    row("stop-hook", "tollgate stop-hook < event.json", "0"),
    row("export", "tollgate export otlp --endpoint http://localhost:4318", SENT),
    row("export otlp", "tollgate export otlp --endpoint http://localhost:4318", SENT),
    row("try-review", "tollgate try-review change.diff --prompt review.md --reviewer claude", PART),
    row("completions", "tollgate completions bash > ~/.local/share/bash-completion/completions/tollgate", DONE),
    row("man", "tollgate man | man -l -", DONE),
];

/// Adds groups, examples and exit codes to the command line.
pub(super) fn complete(command: Command) -> Command {
    let groups = groups(&command);
    let template =
        format!("{{about}}\n\n{{usage-heading}} {{usage}}\n\n{groups}\nOptions:\n{{options}}");
    below(command, "").help_template(template)
}

/// Adds examples and exit codes to all commands below one.
fn below(command: Command, path: &str) -> Command {
    command.mut_subcommands(|command| {
        let name = command.get_name();
        let path = if path.is_empty() {
            name.to_owned()
        } else {
            format!("{path} {name}")
        };
        let command = below(command, &path);
        match ROWS.iter().find(|row| row.command == path) {
            Some(Row { example, exit, .. }) => {
                let text = format!(
                    "{HINT}Example:{HINT:#}\n  {example}\n\n{HINT}Exit codes:{HINT:#} {exit}"
                );
                command.after_help(text)
            }
            None => command,
        }
    })
}

/// The commands by group, each with what it does.
fn groups(command: &Command) -> String {
    let room = columns(std::io::stdout()).clamp(40, 100) - NAMES;
    let mut text = String::new();
    for Group { title, commands } in GROUPS {
        let _infallible = writeln!(text, "{HINT}{title}{HINT:#}");
        for name in *commands {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            for (index, line) in wrap(&about, room).iter().enumerate() {
                let name = if index == 0 { name } else { "" };
                let _infallible = writeln!(text, "  {BOLD}{name:<11}{BOLD:#}  {line}");
            }
        }
        text.push('\n');
    }
    let others = OTHERS.join(", ");
    let _infallible = writeln!(text, "{HINT}More{HINT:#}\n  {others}");
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::command_line;
    use super::*;

    /// All commands, with those below them.
    fn paths(command: &Command, before: &str, all: &mut BTreeSet<String>) {
        let visible = |command: &&Command| !command.is_hide_set() && command.get_name() != "help";
        for command in command.get_subcommands().filter(visible) {
            let path = format!("{before} {}", command.get_name()).trim().to_owned();
            paths(command, &path, all);
            all.insert(path);
        }
    }

    #[test]
    fn every_command_has_an_example_and_its_exit_codes() {
        let mut all = BTreeSet::new();
        paths(&command_line(), "", &mut all);
        let rows: BTreeSet<String> = ROWS.iter().map(|row| row.command.to_owned()).collect();
        assert_eq!(rows.len(), ROWS.len(), "a command has two rows");
        assert_eq!(rows, all);
    }

    #[test]
    fn every_command_is_in_one_group() {
        let command = command_line();
        let visible = command.get_subcommands().filter(|one| !one.is_hide_set());
        let all: BTreeSet<&str> = visible.map(Command::get_name).collect();
        let grouped = GROUPS.iter().flat_map(|group| group.commands).chain(OTHERS);
        let grouped: Vec<&str> = grouped.copied().collect();
        assert_eq!(grouped.len(), all.len());
        assert_eq!(grouped.into_iter().collect::<BTreeSet<&str>>(), all);
    }

    #[test]
    fn every_example_is_a_command_line() {
        for Row {
            command, example, ..
        } in ROWS
        {
            let typed = example
                .split([' '])
                .take_while(|word| !matches!(*word, "<" | ">" | "|"));
            let mut words: Vec<String> = Vec::new();
            let mut quoted: Option<String> = None;
            for word in typed {
                match &mut quoted {
                    Some(text) => *text = format!("{text} {word}"),
                    None if word.starts_with('"') => quoted = Some(word.to_owned()),
                    None => words.push(word.to_owned()),
                }
                if word.ends_with('"') {
                    words.extend(quoted.take().map(|text| text.trim_matches('"').to_owned()));
                }
            }
            let parsed = command_line().try_get_matches_from(&words);
            assert!(parsed.is_ok(), "{command}: {example}: {:?}", parsed.err());
            assert!(example.starts_with("tollgate "), "{example}");
        }
    }
}
