//! `tollgate export otlp`: the journal to an OpenTelemetry collector.

use std::process::ExitCode;
use std::time::Duration;

use super::plain::Plain;
use super::site::warn;
use super::{Answer, Trouble};
use crate::telemetry::{Cursors, Endpoint, Sender, Signal};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Send what is new in the journal to an OpenTelemetry collector (OTLP over HTTP, as JSON)
    Otlp(Otlp),
}

#[derive(Debug, clap::Args)]
pub(super) struct Otlp {
    /// Where the collector listens
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:4318")]
    endpoint: String,
    /// A header to send along, as NAME=VALUE; can be given several times
    #[arg(long, value_name = "NAME=VALUE")]
    header: Vec<String>,
    /// How many milliseconds to wait before the second try; each one after waits twice as long
    #[arg(long, value_name = "MS", default_value_t = 1000)]
    pause: u64,
}

pub(super) fn run(command: &Command) -> Answer {
    let Command::Otlp(arguments) = command;
    let endpoint = Endpoint::parse(&arguments.endpoint).map_err(|what| {
        Trouble::new(format!("--endpoint {}: {what}", arguments.endpoint))
            .hint("it looks like http://127.0.0.1:4318")
    })?;
    let headers = headers(&arguments.header)?;
    let layout = super::layout_here()?;
    let local = layout.local();
    let trouble = |error| Trouble::about(&local, &error);
    let Some(mut cursors) = Cursors::open(&local).map_err(trouble)? else {
        return Err(Trouble::new("another export of this project is going on")
            .hint("wait for it: two at once would send the same"));
    };
    let project = layout
        .root()
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let sender = Sender {
        endpoint: &endpoint,
        headers: &headers,
        pause: Duration::from_millis(arguments.pause),
        project: &project,
    };
    let mut is_refused = false;
    for signal in Signal::ALL {
        let word = signal.as_str();
        let report = sender.send(signal, &local, &mut cursors).map_err(|why| {
            Trouble::new(format!("{word} to {}: {}", endpoint.name(), Plain(&why)))
                .hint("what was taken over so far is remembered; run it again when the collector is there")
        })?;
        if report.is_anew && report.sent > 0 {
            warn("the journal begins anew, so all of it was sent");
        }
        for told in &report.told {
            warn(&format!("the collector says: {}", Plain(told)));
        }
        is_refused |= report.rejected > 0;
        let refused = match report.rejected {
            0 => String::new(),
            count => format!(", {count} of which it refused"),
        };
        anstream::println!("{word}: {} entries sent{refused}", report.sent);
    }
    Ok(ExitCode::from(u8::from(is_refused)))
}

fn headers(given: &[String]) -> Result<Vec<(String, String)>, Trouble> {
    let header = |text: &String| {
        let (name, value) = text.split_once('=')?;
        let is_token = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
        let ok = !name.is_empty()
            && name.bytes().all(is_token)
            && value.chars().all(|c| !c.is_control());
        ok.then(|| (name.to_owned(), value.to_owned()))
    };
    given
        .iter()
        .map(|text| {
            // A header often carries a secret, so it is not repeated.
            header(text).ok_or_else(|| {
                Trouble::new("a --header is not of the form NAME=VALUE")
                    .hint("for example --header authorization=…")
            })
        })
        .collect()
}
