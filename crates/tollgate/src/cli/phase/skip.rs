//! `tollgate phase skip`

use tollgate_core::workflow::transition::Step;

use crate::cli::Answer;
use crate::cli::site::{self, Site};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// The phase: the one whose turn it is counts as done, a later one is taken out
    phase: Option<String>,
    /// Why
    #[arg(long)]
    reason: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Answer {
    let site = Site::here()?;
    let made = site.make(&Step::Skip {
        phase: arguments.phase.as_deref(),
        reason: &arguments.reason,
    })?;
    site::tell(made, arguments.json, Some("tollgate workflow status"))
}
