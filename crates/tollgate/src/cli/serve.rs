//! `tollgate serve`: the project as a page of this machine's browser.

use std::io::Write as _;

use super::{CommandResult, Trouble};
use crate::person::Person;
use crate::ui::serve::{OverrideForm, Server};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The port on 127.0.0.1 [default: any free one]
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    port: u16,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let observer = super::observer()?;
    // Whoever is no person gets a page without overrides.
    let form = Person::present().ok();
    let form = match form {
        Some(person) => Some(OverrideForm::new(
            person,
            super::layout_here()?,
            crate::environment::current(),
        )),
        None => None,
    };
    let offers = form.is_some();
    let server = Server::open(observer, arguments.port, form).map_err(|error| {
        Trouble::new(format!("port {} of 127.0.0.1: {error}", arguments.port))
            .hint("without --port a free one is used")
    })?;
    out!("{}", server.address());
    err!("Everybody who has this address can read the page. Ctrl-C ends it.");
    if offers {
        err!("To allow something on the page, type the word that is then shown here.");
    }
    // Whoever reads the address from a pipe waits for it.
    let _gone = std::io::stdout().flush();
    let error = server.run();
    Err(Trouble::new(format!(
        "the page cannot be served any more: {error}"
    )))
}
