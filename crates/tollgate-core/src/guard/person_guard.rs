//! An agent does not end its own process.
//!
//! Tollgate's commands that end a workflow, lift a guard or take Tollgate out are a person's, and
//! so are the events that `tollgate hook` reads: only an agent's own hooks send them. The commands
//! refuse agents themselves; this tells early, and why. What text does not show meets the command's
//! own check.

use super::{Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample};
use crate::next::Next;
use crate::text::{cut, shell_word};
use tollgate_shell::{Link, Run, Word};

pub(super) const GUARD: Guard = Guard {
    name: "person-guard",
    about: "blocks commands of Tollgate that only a person gives, and events that no agent sent",
    on: &[(EventKind::PreTool, Class::Shell)],
    codes: &[
        Code::blocks_for_good(
            "PG-001",
            "the command of Tollgate is a person's",
            "ask the person to run it in a terminal of their own",
        )
        .instead("tollgate status"),
        Code::blocks_for_good(
            "PG-002",
            "the command would hand `tollgate hook` an event that no agent sent",
            "`tollgate simulate` shows what the hook would answer, and changes nothing",
        )
        .instead("tollgate simulate --help"),
    ],
    reads: &[],
    sample: Some(Sample {
        event: r#"{"tool_name":"Bash","tool_input":{"command":"tollgate workflow cancel --reason x"}}"#,
        ..Sample::BLOCKED
    }),
    check: |context| check(context).map(Decision::block),
};

/// The commands that only a person gives, and what each gives up.
pub const PERSONS: &[(&[&str], &str)] = &[
    (&["phase", "skip"], "a phase of the workflow"),
    (&["workflow", "cancel"], "the running workflow"),
    (&["uninstall"], "all that Tollgate holds the agent to"),
    (&["allow"], "what a guard blocks"),
    (&["trust"], "the say over what this project may run"),
    (&["untrust"], "the gates, which run only when trusted"),
    (&["validate", "--accept"], "the gates as they were accepted"),
    (&["config", "set"], "the configuration as it was accepted"),
];

fn check(context: &EventContext<'_>) -> Option<Finding> {
    let command = context.shell_command()?;
    if !tollgate_shell::may_mention(command, "tollgate") {
        return None;
    }
    let mut runs = context.survey()?.runs();
    runs.find_map(|run| is_tollgate(run).then(|| judge(run, command)).flatten())
}

fn is_tollgate(run: &Run) -> bool {
    let name = run.program();
    name.is_some_and(|name| name == "tollgate" || name.starts_with("tollgate-"))
}

fn judge(run: &Run, command: &str) -> Option<Finding> {
    let words: Vec<&str> = run.args().iter().filter_map(Word::literal).collect();
    let is_asked = words
        .iter()
        .any(|word| matches!(*word, "--help" | "-h" | "--dry-run" | "--list" | "--show"));
    // `tollgate` alone reads an event, too, where something is handed to it.
    let is_fed = !run.redirects.is_empty() || run.input.is_some() || run.link == Link::Pipe;
    let is_hook =
        matches!(words.first(), Some(&("hook" | "stop-hook"))) || (run.args().is_empty() && is_fed);
    if is_hook && !is_asked {
        return Some(made_up(command));
    }
    let has = |wanted: &&(&[&str], &str)| {
        let mut words = words.iter();
        wanted.0.iter().all(|part| words.any(|word| word == part))
    };
    let (parts, given_up) = PERSONS.iter().find(has).filter(|_| !is_asked)?;
    let name = parts.join(" ");
    let typed = as_typed(run, &name);
    let text = format!(
        "A PERSON'S COMMAND: `tollgate {name}` gives up {given_up}, and that is for the person to \
         decide. Ask them, and say what you would give up and why.\n\nCommand: {}",
        cut(command, 200)
    );
    let reason = format!("An agent's `tollgate {name}`");
    Some(Finding::new("PG-001", text, reason).next(Next::person(typed)))
}

/// The command as a person types it.
fn as_typed(run: &Run, name: &str) -> String {
    let word = |word: &Word| word.literal().map_or_else(|| word.display(), shell_word);
    let words: Vec<String> = run.args().iter().map(word).collect();
    let typed = words.join(" ");
    match typed.find(name.split(' ').next().unwrap_or_default()) {
        Some(at) => format!("tollgate {}", cut(typed.get(at..).unwrap_or_default(), 200)),
        None => format!("tollgate {name}"),
    }
}

fn made_up(command: &str) -> Finding {
    let text = format!(
        "MADE-UP EVENT: `tollgate hook` answers the hooks that the agent's program runs. An event \
         that is handed to it by a command would count as one that happened.\n\n\
         `tollgate simulate EVENT.json` shows what the answer would be, and changes nothing.\n\n\
         Command: {}",
        cut(command, 200)
    );
    let reason = format!("A made-up event: {}", cut(command, 100));
    Finding::new("PG-002", text, reason).next(Next::run_instead("tollgate simulate --help"))
}
