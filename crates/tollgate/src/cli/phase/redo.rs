//! `tollgate phase redo`

use tollgate_core::workflow::transition::Step;

use crate::cli::Answer;
use crate::cli::site::{self, Site};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// What should be better; the agent reads it in its brief
    #[arg(long)]
    guidance: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Answer {
    let site = Site::here()?;
    let made = site.make(&Step::Redo {
        guidance: &arguments.guidance,
    })?;
    site::tell(made, arguments.json, Some("tollgate phase brief"))
}
