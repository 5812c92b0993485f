//! An agent does not end its own process.
//!
//! Tollgate's commands that end a workflow, lift a guard or take Tollgate out are a person's, and
//! so are the events that `tollgate hook` reads: only an agent's own hooks send them. The commands
//! refuse agents themselves; this tells early, and why. What text does not show meets the command's
//! own check.

use super::{Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample};
use crate::next::Next;
use crate::text::{cut, shell_word};
use tollgate_shell::{Link, Mode, Run, Survey, Word};

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
    /// Its words: the subcommand, and the subcommand or the option of that.
    pub words: &'static [&'static str],
    /// What it gives up.
    pub gives_up: &'static str,
    /// When it is a person's.
    when: fn(&EventContext<'_>) -> bool,
}

/// Leaves a phase out.
pub const PHASE_SKIP: PersonsCommand = always(&["phase", "skip"], "a phase of the workflow");

/// Ends a workflow early.
pub const WORKFLOW_CANCEL: PersonsCommand = always(&["workflow", "cancel"], "the running workflow");

/// The commands that only a person gives, and what each gives up.
const PERSONS: &[PersonsCommand] = &[
    PHASE_SKIP,
    WORKFLOW_CANCEL,
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

    /// Whether it is given by these words, which begin with the subcommand. Its second word is an
    /// option, anywhere, or the subcommand of the first.
    fn is(&self, given: &[&str]) -> bool {
        let (Some((verb, more)), Some((first, after))) =
            (self.words.split_first(), given.split_first())
        else {
            return false;
        };
        let has = |part: &&str| {
            if part.starts_with('-') {
                after.contains(part)
            } else {
                subcommand(after).first() == Some(part)
            }
        };
        first == verb && more.iter().all(has)
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

/// The arguments of a command; what is not literal is empty.
fn words(run: &Run) -> Vec<&str> {
    let literal = |word| Word::literal(word).unwrap_or_default();
    run.args().iter().map(literal).collect()
}

/// The words of a command from its subcommand on: global options in front are left out.
fn subcommand<'w, 'r>(words: &'w [&'r str]) -> &'w [&'r str] {
    let mut rest = words;
    // What is not literal may be an option, or nothing at all.
    while let [option, after @ ..] = rest
        && (option.starts_with('-') || (option.is_empty() && !after.is_empty()))
    {
        rest = if takes_a_value(option) {
            after.get(1..).unwrap_or_default()
        } else {
            after
        };
    }
    rest
}

/// Whether the value of a global option is its next word: `-C DIR`, `-qC DIR`, `--color WHEN`.
fn takes_a_value(option: &str) -> bool {
    let is_short = option.starts_with('-') && !option.starts_with("--");
    let flags = option.strip_suffix('C').filter(|_| is_short);
    option == "--color" || flags.is_some_and(|flags| !flags.contains('C'))
}

/// Whether a command only shows its help.
fn shows_help(words: &[&str]) -> bool {
    words.iter().any(|word| matches!(*word, "--help" | "-h"))
}

/// Whether a command only shows something.
fn only_shows(words: &[&str]) -> bool {
    let shows = |word: &&str| matches!(*word, "--dry-run" | "--list" | "--show");
    shows_help(words) || words.iter().any(shows)
}

/// Whether a command hands Tollgate an event. `hook` ignores options that it does not know.
fn is_event(run: &Run) -> bool {
    let words = words(run);
    let is_hook = matches!(subcommand(&words).first(), Some(&("hook" | "stop-hook")));
    // `tollgate` alone reads an event, too, where something is handed to it.
    let is_fed = || {
        let mut redirects = run.redirects.iter();
        redirects.any(|one| one.mode == Mode::Read) || run.input.is_some() || run.link == Link::Pipe
    };
    (is_hook && !shows_help(&words)) || (words.is_empty() && is_fed())
}

/// The row of a command that only a person gives.
fn persons(run: &Run, context: &EventContext<'_>) -> Option<&'static PersonsCommand> {
    let words = words(run);
    let given = subcommand(&words);
    let row = PERSONS.iter().find(|row| row.is(given));
    let row = row.filter(|_| !only_shows(&words))?;
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
