//! The options of every command.

use std::path::PathBuf;
use std::sync::OnceLock;

use clap::ValueEnum as _;

use super::Trouble;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct Global {
    /// Run as if Tollgate was started in this directory
    #[arg(
        id = "global-directory",
        short = 'C',
        value_name = "DIR",
        global = true
    )]
    directory: Option<PathBuf>,
    /// Print less: failed gates (run), the gates (status), findings (doctor), no previews (init), no
    /// remarks (install)
    #[arg(
        id = "global-quiet",
        short = 'q',
        long = "quiet",
        global = true,
        conflicts_with = "global-verbose"
    )]
    quiet: bool,
    /// Print more: the whole output of gates, and their logs (run, check, review)
    #[arg(id = "global-verbose", short = 'v', long = "verbose", global = true)]
    verbose: bool,
    /// When to use colours
    #[arg(
        id = "global-color",
        long = "color",
        value_name = "WHEN",
        default_value = "auto",
        global = true
    )]
    color: Color,
}

/// How much is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verbosity {
    Quiet,
    Usual,
    Verbose,
}

/// Set once, as colours are: everything that prints respects it.
static VERBOSITY: OnceLock<Verbosity> = OnceLock::new();

pub(super) fn verbosity() -> Verbosity {
    VERBOSITY.get().copied().unwrap_or(Verbosity::Usual)
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    fn apply(self) {
        match self {
            Self::Auto => {}
            Self::Always => anstream::ColorChoice::Always.write_global(),
            Self::Never => anstream::ColorChoice::Never.write_global(),
        }
    }
}

/// Makes help and errors of the command line respect `--color`: they are printed before it is parsed.
pub(super) fn color_of_help() {
    let arguments: Vec<String> = std::env::args_os()
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    let together = arguments
        .iter()
        .find_map(|argument| argument.strip_prefix("--color="));
    let apart = || {
        let at = arguments
            .iter()
            .position(|argument| argument == "--color")?;
        arguments.get(at + 1).map(String::as_str)
    };
    if let Some(Ok(color)) = together
        .or_else(apart)
        .map(|word| Color::from_str(word, false))
    {
        color.apply();
    }
}

impl Global {
    /// Applies them to all that follows.
    #[expect(
        clippy::disallowed_methods,
        reason = "the whole command runs there, as with git and make"
    )]
    pub(super) fn apply(&self) -> Result<(), Trouble> {
        self.color.apply();
        let verbosity = match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            (false, false) => Verbosity::Usual,
        };
        let _once = VERBOSITY.set(verbosity);
        let Some(directory) = &self.directory else {
            return Ok(());
        };
        std::env::set_current_dir(directory)
            .map_err(|error| Trouble::about(directory, &error).hint("`-C` takes a directory"))
    }
}
