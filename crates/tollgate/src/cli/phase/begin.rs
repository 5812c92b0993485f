//! `tollgate phase begin`

use tollgate_core::workflow::transition::{Escalations, Step};

use crate::cli::Answer;
use crate::cli::site::{self, Site};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// The phase; refused if it is not its turn [default: the one whose turn it is]
    phase: Option<String>,
    /// Clear the escalations that wait, and run the phase
    #[arg(long)]
    retry: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Answer {
    let site = Site::here()?;
    let made = site.make(&Step::Begin {
        phase: arguments.phase.as_deref(),
        escalations: if arguments.retry {
            Escalations::Clear
        } else {
            Escalations::Heed
        },
    })?;
    site::tell(made, arguments.json, Some("tollgate phase brief"))
}
