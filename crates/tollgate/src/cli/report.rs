//! `tollgate report --html`: the page as one file, to keep or to attach.

use std::path::PathBuf;
use std::process::ExitCode;

use jiff::Timestamp;
use tollgate_store::fs::{self, Durability};

use super::{CommandResult, Trouble};
use crate::ui::page;
use crate::ui::serve::Token;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Write HTML, to this file [default: standard output]
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    html: Option<PathBuf>,
    /// Write the same as JSON to standard output
    #[arg(long, conflicts_with = "html")]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let view = super::observer()?.view(Timestamp::now());
    if arguments.json {
        let text =
            serde_json::to_string_pretty(&view).map_err(|error| Trouble::new(error.to_string()))?;
        anstream::println!("{text}");
        return Ok(ExitCode::SUCCESS);
    }
    let Some(file) = &arguments.html else {
        return Err(Trouble::new("missing --html or --json")
            .hint("`tollgate report --html FILE` writes a page, `--json` the figures"));
    };
    let nonce = Token::new().map_err(|error| Trouble::new(format!("no random bits: {error}")))?;
    let text = page::alone(&view, &nonce.to_string());
    if file.as_os_str() == "-" {
        anstream::print!("{text}");
        return Ok(ExitCode::SUCCESS);
    }
    fs::replace_shared(file, text.as_bytes(), Durability::Lazy)
        .map_err(|fault| Trouble::about(file, &fault))?;
    err!("{} is written", file.display());
    Ok(ExitCode::SUCCESS)
}
