//! `tollgate export otlp`: the journal to an OpenTelemetry collector.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use ureq::http::{HeaderName, HeaderValue};
use ureq::tls::Certificate;

use super::plain::Plain;
use super::workflow_context::warn;
use super::{CommandResult, Trouble};
use crate::telemetry::{Collector, Cursors, Sender, Signal, certificates};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Send what is new in the journal to an OpenTelemetry collector (OTLP over HTTP, as JSON)
    Otlp(Otlp),
}

#[derive(Debug, clap::Args)]
pub(super) struct Otlp {
    /// The collector's address, with http or https
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:4318")]
    endpoint: String,
    /// A header to send along, as NAME=VALUE; can be given several times
    #[arg(long, value_name = "NAME=VALUE")]
    header: Vec<String>,
    /// The certificates (PEM) to accept over https, instead of those that browsers trust [default:
    /// the file that `OTEL_EXPORTER_OTLP_CERTIFICATE` names]
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Milliseconds to wait before the second try; each further wait is twice as long
    #[arg(long, value_name = "MS", default_value_t = 1000)]
    pause: u64,
}

pub(super) fn run(command: &Command) -> CommandResult {
    let Command::Otlp(arguments) = command;
    let headers = headers(&arguments.header)?;
    let authorities = authorities(arguments.certificate.as_deref())?;
    let collector = Collector::new(&arguments.endpoint, headers, authorities).map_err(|what| {
        Trouble::new(format!("--endpoint {}: {what}", arguments.endpoint))
            .hint("it looks like http://127.0.0.1:4318")
    })?;
    let layout = super::layout_here()?;
    let local = layout.local();
    let trouble = |error| Trouble::about(&local, &error);
    let Some(mut cursors) = Cursors::open(&local).map_err(trouble)? else {
        return Err(Trouble::new("another export of this project is running")
            .hint("wait for it: two at once would send the same"));
    };
    let project = layout.root().file_name().unwrap_or_default();
    let project = project.to_string_lossy();
    let sender = Sender {
        collector: &collector,
        pause: Duration::from_millis(arguments.pause),
        project: &project,
    };
    let mut is_refused = false;
    for signal in Signal::ALL {
        let word = signal.as_str();
        let report = sender.send(signal, &local, &mut cursors).map_err(|why| {
            Trouble::new(format!("{word} to {}: {}", collector.endpoint, Plain(&why)))
                .hint("entries that were accepted are not sent again; run this again when the collector answers")
        })?;
        if report.is_anew && report.sent > 0 {
            warn("the journal was started anew, so all of it was sent");
        }
        for message in &report.messages {
            warn(&format!("the collector says: {}", Plain(message)));
        }
        is_refused |= report.rejected > 0;
        let refused = match report.rejected {
            0 => String::new(),
            count => format!(", {count} of which it refused"),
        };
        out!("{word}: {} entries sent{refused}", report.sent);
    }
    Ok(ExitCode::from(u8::from(is_refused)))
}

/// The certificates that are named by an option, or by the variable that OpenTelemetry has for it.
fn authorities(named: Option<&Path>) -> Result<Option<Vec<Certificate<'static>>>, Trouble> {
    let of_environment = || {
        let value = crate::environment::variable("OTEL_EXPORTER_OTLP_CERTIFICATE")?;
        Some(PathBuf::from(value)).filter(|path| !path.as_os_str().is_empty())
    };
    let Some(path) = named.map(Path::to_owned).or_else(of_environment) else {
        return Ok(None);
    };
    let found = std::fs::read(&path).and_then(|pem| certificates(&pem));
    let found = found.map_err(|error| Trouble::about(&path, &error))?;
    Ok(Some(found))
}

fn headers(given: &[String]) -> Result<Vec<(HeaderName, HeaderValue)>, Trouble> {
    let header = |text: &String| {
        let (name, value) = text.split_once('=')?;
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        let mut value = HeaderValue::from_bytes(value.as_bytes()).ok()?;
        value.set_sensitive(true);
        Some((name, value))
    };
    let headers: Option<Vec<_>> = given.iter().map(header).collect();
    // A header often carries a secret, so it is not repeated.
    headers.ok_or_else(|| {
        Trouble::new("a --header is not of the form NAME=VALUE")
            .hint("for example --header authorization=…")
    })
}
