//! A collector that takes nothing but what the protocol allows.
//!
//! It checks every message against the definition of OTLP in its JSON encoding: the names that
//! there are, 64-bit integers as strings, ids in hexadecimal, enums as numbers.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;

/// A request that was received whole.
#[derive(Debug)]
pub(super) struct Received {
    pub(super) path: String,
    pub(super) headers: Vec<String>,
    pub(super) body: Value,
}

/// A collector that answers with these answers in turn, then with plain success.
pub(super) struct Collector {
    pub(super) endpoint: String,
    received: Receiver<Received>,
}

impl Collector {
    /// It ends with the test process; nobody but the test knows its port.
    pub(super) fn start(answers: &[&str]) -> Self {
        Self::answering(answers, false, None)
    }

    /// One that keeps every connection, whatever it is asked to.
    pub(super) fn that_never_closes() -> Self {
        Self::answering(&[], true, None)
    }

    /// One that speaks https, and the certificate of the authority that vouches for it.
    pub(super) fn with_tls() -> (Self, String) {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let own = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        let own = own.signed_by(&key, &authority).unwrap();
        let config =
            ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
        let config = config
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![own.der().clone()],
                PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
            );
        let collector = Self::answering(&[], false, Some(Arc::new(config.unwrap())));
        (collector, authority.pem())
    }

    fn answering(answers: &[&str], keeps: bool, tls: Option<Arc<ServerConfig>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let scheme = if tls.is_some() { "https" } else { "http" };
        let endpoint = format!("{scheme}://{}", listener.local_addr().unwrap());
        let answers: Vec<String> = answers.iter().map(|text| (*text).to_owned()).collect();
        let (sender, received) = channel();
        std::thread::spawn(move || {
            let mut answers = answers.into_iter();
            let mut kept = Vec::new();
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                if keeps {
                    kept.push(stream.try_clone().unwrap());
                }
                let fine = "200 OK\r\nContent-Length: 2\r\n\r\n{}".to_owned();
                let answer = || answers.next().unwrap_or(fine);
                let is_wanted = match &tls {
                    None => serve(stream, &answer(), &sender),
                    Some(config) => {
                        let mut tls = ServerConnection::new(Arc::clone(config)).unwrap();
                        // Whoever does not trust it hangs up.
                        if tls.complete_io(&mut stream).is_err() {
                            continue;
                        }
                        serve(StreamOwned::new(tls, stream), &answer(), &sender)
                    }
                };
                if !is_wanted {
                    break;
                }
            }
        });
        Self { endpoint, received }
    }

    /// What came so far.
    pub(super) fn received(&self) -> Vec<Received> {
        self.received.try_iter().collect()
    }
}

/// Notes a request before it answers it: whoever has the answer finds it noted. Says whether anybody
/// still wants to know.
fn serve(mut stream: impl Read + Write, answer: &str, received: &Sender<Received>) -> bool {
    let is_wanted = received.send(read(&mut stream)).is_ok();
    write!(stream, "HTTP/1.1 {answer}").unwrap();
    stream.flush().unwrap();
    is_wanted
}

fn read(stream: impl Read) -> Received {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let mut words = line.split(' ');
    assert_eq!(words.next(), Some("POST"), "{line}");
    let path = words.next().unwrap().to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line == "\r\n" {
            break;
        }
        headers.push(line.trim().to_owned());
    }
    let field = |name: &str| {
        let mut same = headers.iter().filter_map(|line| line.split_once(": "));
        same.find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.to_owned())
    };
    assert_eq!(field("content-type").as_deref(), Some("application/json"));
    let mut body = vec![0; field("content-length").unwrap().parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    Received {
        path,
        headers,
        body: serde_json::from_slice(&body).unwrap(),
    }
}

/// What a field may be.
enum Kind {
    Text,
    /// 64 bits, signed or not: digits in a string.
    Long,
    /// 32 bits, or a member of an enum.
    Int,
    Double,
    Bool,
    /// So many bytes in hexadecimal.
    Id(usize),
    Message(&'static [(&'static str, Self)]),
    Many(&'static Self),
}

use Kind::{Bool, Double, Id, Int, Long, Many, Message, Text};

const VALUE: Kind = Message(&[
    ("stringValue", Text),
    ("intValue", Long),
    ("doubleValue", Double),
    ("boolValue", Bool),
]);
const ATTRIBUTES: Kind = Many(&Message(&[("key", Text), ("value", VALUE)]));
const RESOURCE: Kind = Message(&[("attributes", ATTRIBUTES)]);
const SCOPE: Kind = Message(&[("name", Text), ("version", Text)]);
const SPAN: Kind = Message(&[
    ("traceId", Id(16)),
    ("spanId", Id(8)),
    ("parentSpanId", Id(8)),
    ("name", Text),
    ("kind", Int),
    ("startTimeUnixNano", Long),
    ("endTimeUnixNano", Long),
    ("attributes", ATTRIBUTES),
    ("status", Message(&[("code", Int), ("message", Text)])),
]);
const TRACES: Kind = Message(&[(
    "resourceSpans",
    Many(&Message(&[
        ("resource", RESOURCE),
        (
            "scopeSpans",
            Many(&Message(&[("scope", SCOPE), ("spans", Many(&SPAN))])),
        ),
    ])),
)]);
const NUMBER: Kind = Message(&[
    ("attributes", ATTRIBUTES),
    ("startTimeUnixNano", Long),
    ("timeUnixNano", Long),
    ("asInt", Long),
    ("asDouble", Double),
]);
const BUCKETS: Kind = Message(&[
    ("attributes", ATTRIBUTES),
    ("startTimeUnixNano", Long),
    ("timeUnixNano", Long),
    ("count", Long),
    ("sum", Double),
    ("min", Double),
    ("max", Double),
    ("bucketCounts", Many(&Long)),
    ("explicitBounds", Many(&Double)),
]);
const METRIC: Kind = Message(&[
    ("name", Text),
    ("unit", Text),
    (
        "sum",
        Message(&[
            ("dataPoints", Many(&NUMBER)),
            ("aggregationTemporality", Int),
            ("isMonotonic", Bool),
        ]),
    ),
    (
        "histogram",
        Message(&[
            ("dataPoints", Many(&BUCKETS)),
            ("aggregationTemporality", Int),
        ]),
    ),
]);
const METRICS: Kind = Message(&[(
    "resourceMetrics",
    Many(&Message(&[
        ("resource", RESOURCE),
        (
            "scopeMetrics",
            Many(&Message(&[("scope", SCOPE), ("metrics", Many(&METRIC))])),
        ),
    ])),
)]);

/// Panics if a request is not as the protocol has it.
#[track_caller]
pub(super) fn check(received: &Received) {
    let kind = match received.path.as_str() {
        "/v1/traces" => &TRACES,
        "/v1/metrics" => &METRICS,
        other => panic!("there is no {other}"),
    };
    fits(&received.body, kind, &received.path);
}

fn fits(value: &Value, kind: &Kind, at: &str) {
    let is = match kind {
        Text => value.is_string(),
        Long => value
            .as_str()
            .is_some_and(|text| text.parse::<i64>().is_ok()),
        Int => value
            .as_u64()
            .is_some_and(|number| u32::try_from(number).is_ok()),
        Double => value.is_number(),
        Bool => value.is_boolean(),
        Id(bytes) => value.as_str().is_some_and(|text| {
            text.len() == 2 * bytes
                && text.bytes().all(|b| b.is_ascii_hexdigit())
                && text.bytes().any(|b| b != b'0')
        }),
        Message(fields) => {
            let object = value.as_object().unwrap_or_else(|| panic!("{at}: {value}"));
            for (name, value) in object {
                let field = fields.iter().find(|(known, _)| known == name);
                let (_, kind) = field.unwrap_or_else(|| panic!("{at}: there is no {name}"));
                fits(value, kind, &format!("{at}.{name}"));
            }
            true
        }
        Many(kind) => {
            let list = value.as_array().unwrap_or_else(|| panic!("{at}: {value}"));
            for value in list {
                fits(value, kind, &format!("{at}[]"));
            }
            true
        }
    };
    assert!(is, "{at} is {value}");
}
