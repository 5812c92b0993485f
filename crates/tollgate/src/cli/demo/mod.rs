//! `tollgate demo`: a whole session of an agent, played in a temporary repository.
//!
//! Only the agent and the reviewer are scripts. The project, its git repository, the workflow and
//! the gates are real; every decision is made by this program's `hook`, started with the event's
//! JSON on standard input as an agent does it, and timed from start to end.

mod reviewer;
mod screen;
mod stage;
mod story;

use std::io::IsTerminal as _;
use std::process::ExitCode;

use super::{CommandResult, ERROR, Trouble};
use screen::Screen;
use stage::Stage;

pub(super) use reviewer::review;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Do not pause (as if the output is not a terminal)
    #[arg(long)]
    fast: bool,
    /// Keep the temporary directory, and print its path
    #[arg(long)]
    keep: bool,
}

/// Why the demo ended before its end.
enum Ended {
    /// A signal, or a closed pipe.
    Left,
    /// Something that it needs is missing.
    Trouble(Trouble),
    /// A decision was not the one that the story is about.
    Unexpected(String),
}

impl From<std::io::Error> for Ended {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            Self::Left
        } else {
            Self::Trouble(Trouble::new(format!("the demo cannot go on: {error}")))
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let is_paced = std::io::stdout().is_terminal() && !arguments.fast;
    let mut screen = Screen::new(is_paced)
        .map_err(|error| Trouble::new(format!("signals cannot be watched: {error}")))?;
    let stage = Stage::build()?;
    let played = story::play(&stage, &mut screen);
    let kept = arguments.keep.then(|| stage.keep());
    if let Some(place) = &kept {
        // The person asked for it, so it is said even if the story broke off.
        let _gone = screen.note(&format!("kept in {}", place.display()));
    }
    match played {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(Ended::Left) => Ok(ExitCode::from(130)),
        Err(Ended::Trouble(trouble)) => Err(trouble),
        Err(Ended::Unexpected(what)) => {
            err!("{ERROR}unexpected{ERROR:#}: {what}");
            Ok(ExitCode::FAILURE)
        }
    }
}
