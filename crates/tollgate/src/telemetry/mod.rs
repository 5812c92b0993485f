//! The journal as OpenTelemetry: decisions, gates and reviews as spans and metrics, sent to a
//! collector by OTLP over HTTP in its JSON encoding.
//!
//! Always from the journal and by its own command, never by the hook: an agent does not wait
//! for a collector. What was taken over is remembered per endpoint and kind, so that a second run
//! sends what is new. There is no OpenTelemetry library in here: it would bring an async runtime
//! for two documents and one kind of request.

mod cursor;
mod http;
mod metrics;
mod send;
mod span;
mod value;

pub(crate) use cursor::Cursors;
pub(crate) use http::{Collector, certificates};
pub(crate) use send::{Sender, Signal};
