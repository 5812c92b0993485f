//! `tollgate workflow cancel`: the workflow ends early. Its branch and the tree stay as they are.

use tollgate_core::workflow::transition::Step;

use super::finalize::remember;
use crate::cli::Answer;
use crate::cli::site::{self, Site};
use crate::git_guard::turns;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// Why
    #[arg(long)]
    reason: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Answer {
    let site = Site::here()?;
    let made = site.make(&Step::Cancel {
        reason: &arguments.reason,
    })?;
    if let Ok(made) = &made {
        remember(
            &site,
            made.document
                .array(&["workflow_history"])
                .unwrap_or_default(),
        );
        super::warn_of_git_guard(turns::settle(&site.layout));
    }
    site::tell(made, arguments.json, None)
}
