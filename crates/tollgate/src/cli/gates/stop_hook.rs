//! `tollgate stop-hook`: specification 003's command. One JSON line and exit 0, whatever happens.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tollgate_core::decision::{Decision, Fault};
use tollgate_core::project::Layout;
use tollgate_core::protocol::{self, Hints, Protocol, gauntlet};
use tollgate_core::record::Record;

use crate::gate::Status;
use crate::stop::gates::{self, Deadline};

/// The original's registration gives it 300 s.
const PATIENCE: Duration = Duration::from_secs(285);

/// An agent's event is there as soon as the hook is.
const AT_ONCE: Duration = Duration::from_millis(100);

pub(super) fn run() -> ExitCode {
    let said = gauntlet::answer(&answer());
    let _gone = std::io::stderr().write_all(said.stderr.as_bytes());
    let _gone = std::io::stdout().write_all(said.stdout.as_bytes());
    ExitCode::SUCCESS
}

fn answer() -> Decision {
    let begun = Instant::now();
    let env = crate::environment::current();
    // Before anything is read: a reviewer that Tollgate started must not be reviewed itself.
    if env.is_nested() {
        return gates::plain(Status::StopHookActive);
    }
    crate::hook::allow_on_panic(&env, Some(Protocol::Gauntlet), |_, faults| {
        let texts: Vec<_> = faults.iter().map(|fault| fault.text.as_ref()).collect();
        let message = format!("⚠ NOT verified: {}", texts.join("; "));
        gauntlet::answer(&gates::with_message(Status::Error, message))
    });
    // Where nothing is configured, only an event that is there already can lead elsewhere.
    let here = Layout::find(&env, None);
    let is_configured = here.is_some_and(|layout| layout.gates_config().is_file());
    if !is_configured && !crate::stdin::is_ready(AT_ONCE) {
        return gates::plain(Status::NoConfig);
    }
    let invalid = |fault: Fault| {
        if !is_configured {
            return gates::plain(Status::NoConfig);
        }
        let message = format!("{} ({})", Status::InvalidInput.message(), fault.text);
        if let Some(layout) = Layout::find(&env, None) {
            let mut outcome = Decision {
                faults: vec![fault],
                ..Decision::default()
            };
            Record::unread(Some(Protocol::Gauntlet)).write(&layout, &mut outcome, Timestamp::now());
        }
        gates::with_message(Status::InvalidInput, message)
    };
    let text = match crate::stdin::read() {
        Ok(text) if text.trim().is_empty() => {
            return invalid(Fault::new("event-empty", "standard input is empty"));
        }
        Ok(text) => text,
        Err(fault) => return invalid(fault),
    };
    let hints = Hints {
        protocol: Some(Protocol::Gauntlet),
        event: Some("Stop"),
        gemini_env: false,
    };
    let event = match protocol::parse(&text, &hints) {
        Ok(event) => event,
        Err(error) => return invalid(error.into()),
    };
    let cwd = event.cwd.as_deref().map(Path::new);
    match Layout::find(&env, cwd) {
        Some(layout) => {
            let deadline = Deadline {
                begun,
                patience: PATIENCE,
            };
            crate::stop::gates_alone(&event, &text, &layout, &env, deadline)
        }
        None => gates::plain(Status::NoConfig),
    }
}
