//! An agent does not end its own process.
//!
//! Tollgate's commands that end a workflow, lift a guard or take Tollgate out are a person's, and
//! so are the events that `tollgate hook` reads: only an agent's own hooks send them. The commands
//! refuse agents themselves; this tells early, and why. What text does not show meets the command's
//! own check.

use super::{Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample};
use crate::next::Next;
use crate::text::{cut, shell_word};
use tollgate_shell::{Link, Run, Survey, Word};

pub(super) const GUARD: Guard = Guard {
    name: "person-guard",
    about: "blocks commands of Tollgate that only a person may run, and events that no agent sent",
    is_general: true,
    on: &[(EventKind::PreTool, Class::Shell)],
    codes: &[
        Code::blocks_for_good(
            "PG-001",
            "the command is reserved for a person",
            "ask the person to run it in a terminal of their own",
        )
        .instead("tollgate status"),
        Code::blocks_for_good(
            "PG-002",
            "the command would pass an event to `tollgate hook` that no agent sent",
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

/// A command that only a person gives.
#[derive(Debug)]
pub struct PersonsCommand {
    /// Its words, in their order.
    pub words: &'static [&'static str],
    /// What it gives up.
    pub gives_up: &'static str,
    /// When it is a person's.
    when: fn(&EventContext<'_>) -> bool,
}

/// The commands that only a person gives, and what each gives up.
const PERSONS: &[PersonsCommand] = &[
    always(&["phase", "skip"], "a phase of the workflow"),
    always(&["workflow", "cancel"], "the running workflow"),
    always(&["uninstall"], "all checks of the agent by Tollgate"),
    always(&["allow"], "what a guard blocks"),
    always(&["trust"], "control over what this project may run"),
    always(&["untrust"], "the gates, which run only when trusted"),
    always(&["validate", "--accept"], "the gates as they were accepted"),
    always(&["config", "set"], "the configuration as it was accepted"),
    PersonsCommand {
        when: |context| context.has_open_findings(),
        ..always(&["clean"], "the logs of open findings")
    },
];

const fn always(words: &'static [&'static str], gives_up: &'static str) -> PersonsCommand {
    PersonsCommand {
        words,
        gives_up,
        when: |_| true,
    }
}

impl PersonsCommand {
    /// What it is called after `tollgate`.
    pub fn name(&self) -> String {
        self.words.join(" ")
    }
}

fn check(context: &EventContext<'_>) -> Option<Finding> {
    let command = context.call.shell_command()?;
    let runs = || {
        let runs = context.call.survey()?.runs();
        Some(runs.filter(|run| is_tollgate(run)))
    };
    if runs()?.any(is_event) {
        return Some(made_up(command));
    }
    let first = runs()?.find(|run| persons(run, context).is_some())?;
    let row = persons(first, context)?;
    let (name, given_up) = (row.name(), row.gives_up);
    let typed = as_typed(first, &name);
    let text = format!(
        "Only a person may run `tollgate {name}`: it gives up {given_up}. Ask the person; say what would be given up and why.\n\nCommand: {}",
        cut(command, 200)
    );
    let reason = format!("An agent's `tollgate {name}`");
    let finding = Finding::new("PG-001", text, reason).next(Next::person(typed));
    let all = self::given_up(context)
        .into_iter()
        .map(|row| format!("`tollgate {}` gives up {}.", row.name(), row.gives_up));
    let question = format!(
        "{} Let the agent do that?",
        all.collect::<Vec<_>>().join(" ")
    );
    Some(finding.asking(question))
}

/// The person's commands in a shell command.
pub fn given_up(context: &EventContext<'_>) -> Vec<&'static PersonsCommand> {
    let runs = context.call.survey().into_iter().flat_map(Survey::runs);
    let mut all: Vec<_> = runs
        .filter(|run| is_tollgate(run))
        .filter_map(|run| persons(run, context))
        .collect();
    all.dedup_by_key(|row| row.words);
    all
}

fn is_tollgate(run: &Run) -> bool {
    let name = run.program();
    name.is_some_and(|name| name == "tollgate" || name.starts_with("tollgate-"))
}

fn literals(run: &Run) -> Vec<&str> {
    run.args().iter().filter_map(Word::literal).collect()
}

/// Whether a command only shows something.
fn only_shows(words: &[&str]) -> bool {
    words
        .iter()
        .any(|word| matches!(*word, "--help" | "-h" | "--dry-run" | "--list" | "--show"))
}

/// Whether a command hands Tollgate an event.
fn is_event(run: &Run) -> bool {
    let words = literals(run);
    // `tollgate` alone reads an event, too, where something is handed to it.
    let is_fed = !run.redirects.is_empty() || run.input.is_some() || run.link == Link::Pipe;
    let is_hook =
        matches!(words.first(), Some(&("hook" | "stop-hook"))) || (run.args().is_empty() && is_fed);
    is_hook && !only_shows(&words)
}

/// The row of a command that only a person gives.
fn persons(run: &Run, context: &EventContext<'_>) -> Option<&'static PersonsCommand> {
    let words = literals(run);
    let has = |row: &&PersonsCommand| {
        let mut words = words.iter();
        row.words.iter().all(|part| words.any(|word| word == part))
    };
    let row = PERSONS.iter().find(has).filter(|_| !only_shows(&words))?;
    (row.when)(context).then_some(row)
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
        "Only the agent's program may run `tollgate hook`: an event that a command passes to it would be recorded as one that happened.\n\n\
         `tollgate simulate EVENT.json` shows what the answer would be, and changes nothing.\n\n\
         Command: {}",
        cut(command, 200)
    );
    let reason = format!("Fabricated event: {}", cut(command, 100));
    Finding::new("PG-002", text, reason).next(Next::run_instead("tollgate simulate --help"))
}
