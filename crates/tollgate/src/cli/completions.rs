//! `tollgate completions` and `tollgate man`: the command line, described for shells and for `man`.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use super::{CommandResult, Trouble};

#[derive(Debug, clap::Args)]
pub(super) struct CompletionsArguments {
    /// The shell
    shell: clap_complete::Shell,
}

#[derive(Debug, clap::Args)]
pub(super) struct ManArguments {
    /// Write the page of every command to this directory
    directory: Option<PathBuf>,
}

pub(super) fn completions(arguments: &CompletionsArguments) -> CommandResult {
    let mut text = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut super::command_line(),
        "tollgate",
        &mut text,
    );
    print(&text)
}

pub(super) fn man(arguments: &ManArguments) -> CommandResult {
    let command = without_help(super::command_line());
    let Some(directory) = &arguments.directory else {
        let mut text = Vec::new();
        let rendered = clap_mangen::Man::new(command).render(&mut text);
        rendered.map_err(|error| Trouble::new(error.to_string()))?;
        return print(&text);
    };
    std::fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(command, directory))
        .map_err(|error| Trouble::about(directory, &error))?;
    Ok(ExitCode::SUCCESS)
}

/// The same without the commands `help`, which need no pages.
fn without_help(command: clap::Command) -> clap::Command {
    command
        .disable_help_subcommand(true)
        .mut_subcommands(without_help)
}

fn print(text: &[u8]) -> CommandResult {
    let written = std::io::stdout().write_all(text);
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Trouble::new(format!("standard output: {error}")))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}
