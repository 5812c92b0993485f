//! `tollgate simulate`: an event decided without touching anything, with each guard's answer.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use jiff::Timestamp;
use serde_json::json;
use tollgate_core::context::{Inputs, Sources};
use tollgate_core::decision::{Decision, Fault};
use tollgate_core::project::Layout;
use tollgate_core::protocol::{self, Event, Hints, NotAnEvent, Protocol};

use super::explain::{answer_json, say};
use super::made::Made;
use super::plain::Plain;
use super::{BOLD, CommandResult, DIM, GOOD, Trouble, WARN, read_text};
use crate::changes;
use crate::explain::{Judged, UNASKED};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The event as the agent sends it: a JSON file, or - for standard input
    file: Option<PathBuf>,
    #[command(flatten)]
    made: Made,
    /// The project to decide it in [default: where the event happens, else here]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// The agent's protocol [default: recognised from the event]
    #[arg(long, alias = "wire", value_parser = protocol_named)]
    protocol: Option<Protocol>,
    /// The event's name, if the event does not contain it
    #[arg(long)]
    event: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Exit with 1 when the event is blocked
    #[arg(long)]
    exit_code: bool,
}

fn protocol_named(name: &str) -> Result<Protocol, String> {
    let known = Protocol::ALL.iter().map(|one| one.as_str());
    Protocol::from_name(name).ok_or_else(|| super::one_of(known))
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let (text, source) = match (&arguments.file, arguments.made.event()) {
        (Some(file), _) => (read_text(file)?, file.display().to_string()),
        (None, Some(event)) => (event.to_string(), "the options".to_owned()),
        (None, None) => {
            return Err(Trouble::new("there is no event to decide").hint(
                "give a file, a --template, or for example --tool Bash --command 'git commit'",
            ));
        }
    };
    let env = crate::environment::current();
    let hints = Hints {
        protocol: arguments.protocol,
        event: arguments.event.as_deref(),
        gemini_env: env.gemini,
    };
    let event = protocol::parse(&text, &hints).map_err(|error| {
        let what = match error {
            NotAnEvent::Empty => "it is empty".to_owned(),
            NotAnEvent::Json(_) | NotAnEvent::NotAnObject(_) => error.to_string(),
        };
        Trouble::new(format!("{source}: {what}"))
            .hint("an event is one JSON object, as an agent writes it to a hook's standard input")
    })?;
    let cwd = event.cwd.as_deref().map(Path::new);
    let layout = match &arguments.project {
        Some(project) => {
            let absolute = std::path::absolute(project).unwrap_or_else(|_| project.clone());
            Layout::above(&absolute).ok_or_else(|| no_project(project))?
        }
        None => Layout::find(&env, cwd).ok_or_else(|| no_project(Path::new(".")))?,
    };
    let inputs =
        Inputs::new(layout, env, cwd.map(Path::to_owned), Timestamp::now()).asking(Sources {
            work: Some(changes::READING),
            ..changes::SOURCES
        });
    let judged = Judged::of(&event, &inputs);
    let Judged {
        answers, faults, ..
    } = &judged;
    let blocked = answers.iter().any(|(_, said)| said.block.is_some());
    if arguments.json {
        print_json(&event, answers, faults, blocked);
    } else {
        print(&event, inputs.layout(), answers, faults);
        if judged.is_stop {
            out!("  {DIM}{UNASKED}{DIM:#}");
        }
    }
    Ok(ExitCode::from(u8::from(blocked && arguments.exit_code)))
}

fn no_project(place: &Path) -> Trouble {
    Trouble::new(format!("{} is not in a project", place.display())).hint(
        "a project has a tollgate.toml, or a .tollgate, .isdlc, .gauntlet or .taskie directory; name it with --project",
    )
}

fn print(event: &Event<'_>, layout: &Layout, answers: &[(&str, Decision)], faults: &[Fault]) {
    let tool = event
        .tool
        .as_ref()
        .map(|tool| format!(" {}", Plain(&tool.name)))
        .unwrap_or_default();
    out!(
        "{BOLD}{}{tool}{BOLD:#} from {} {DIM}in {}{DIM:#}",
        Plain(&event.name),
        event.protocol.as_str(),
        near(layout.root()).display()
    );
    for fault in faults {
        out!("  {WARN}could not tell{WARN:#}  {}", Plain(&fault.text));
    }
    for (guard, said) in answers {
        say(guard, said);
    }
    if answers.is_empty() {
        out!("  {GOOD}allow{GOOD:#}  no guard watches this event");
    }
    let first = answers.iter().find_map(|(_, said)| said.block.as_ref());
    if let Some(finding) = first {
        out!("\nThe agent is blocked and reads:\n");
        for line in finding.text.lines() {
            out!("  {}", Plain(line));
        }
        // The specifications' own events are answered without it.
        let is_bare = matches!(
            event.protocol,
            Protocol::Isdlc | Protocol::Gauntlet | Protocol::Taskie
        );
        if let Some(next) = finding.next.as_ref().filter(|_| !is_bare) {
            out!("\n  Next: {}", Plain(&next.to_string()));
        }
    }
}

/// The path as a person would write it here.
fn near(path: &Path) -> &Path {
    let here = std::env::current_dir().ok();
    let inside = here
        .as_deref()
        .and_then(|here| path.strip_prefix(here).ok());
    match inside {
        Some(inside) if inside.as_os_str().is_empty() => Path::new("."),
        Some(inside) => inside,
        None => path,
    }
}

fn print_json(event: &Event<'_>, answers: &[(&str, Decision)], faults: &[Fault], blocked: bool) {
    let guards = answers.iter().map(|(guard, said)| answer_json(guard, said));
    let faults = faults
        .iter()
        .map(|fault| json!({ "kind": fault.kind, "text": fault.text }));
    let value = json!({
        "event": event.name, "protocol": event.protocol.as_str(), "blocked": blocked,
        "guards": guards.collect::<Vec<_>>(), "faults": faults.collect::<Vec<_>>(),
    });
    anstream::println!("{value:#}");
}
