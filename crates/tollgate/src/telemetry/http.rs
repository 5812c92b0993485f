//! One kind of request: JSON to a collector, over http or https.

use std::io::{self, Read as _};
use std::time::Duration;

use ureq::Agent;
use ureq::http::header::{ACCEPT, CONNECTION, CONTENT_TYPE, RETRY_AFTER};
use ureq::http::{HeaderName, HeaderValue, Uri};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, TlsProvider, parse_pem};

/// How long to wait for a connection, and for each piece of an answer.
const PATIENCE: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(30));

/// The TLS library, and the certificates that are trusted by default.
const TLS: (TlsProvider, RootCerts) = if cfg!(target_os = "macos") {
    (TlsProvider::NativeTls, RootCerts::PlatformVerifier)
} else {
    (TlsProvider::Rustls, RootCerts::WebPki)
};

/// No more of a collector's answer is read.
const CAP: u64 = 1 << 20;

/// A collector, and what goes along with each request to it.
#[derive(Debug)]
pub(crate) struct Collector {
    /// Its URL with a port, and without a slash at its end.
    pub(crate) endpoint: String,
    headers: Vec<(HeaderName, HeaderValue)>,
    agent: Agent,
}

#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    /// `Retry-After`, in seconds.
    pub(super) retry_after: Option<Duration>,
    pub(super) body: Vec<u8>,
}

impl Collector {
    /// The collector at a URL. Over https it needs a certificate by one of `authorities`, or
    /// without them by one of those that browsers, or macOS, trust.
    pub(crate) fn new(
        url: &str,
        headers: Vec<(HeaderName, HeaderValue)>,
        authorities: Option<Vec<Certificate<'static>>>,
    ) -> Result<Self, String> {
        let endpoint = endpoint(url)?;
        let (connect, piece) = PATIENCE;
        let (provider, trusted) = TLS;
        let roots = match authorities {
            Some(certificates) => RootCerts::new_with_certs(&certificates),
            None => trusted,
        };
        let tls = TlsConfig::builder().provider(provider).root_certs(roots);
        let agent = Agent::config_builder()
            // A header often carries a secret: it goes to the endpoint and to no other.
            .max_redirects(0)
            .proxy(None)
            .http_status_as_error(false)
            .timeout_connect(Some(connect))
            .timeout_per_read(Some(piece))
            .timeout_per_write(Some(piece))
            // Between two batches a collector may close a connection, or forget it.
            .max_idle_connections(0)
            .user_agent(concat!("tollgate/", env!("CARGO_PKG_VERSION")))
            .tls_config(tls.build())
            .build()
            .new_agent();
        Ok(Self {
            endpoint,
            headers,
            agent,
        })
    }

    /// Sends JSON to a path below the endpoint.
    pub(super) fn post(&self, path: &str, body: &[u8]) -> io::Result<Response> {
        let mut request = self
            .agent
            .post(format!("{}{path}", self.endpoint))
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json")
            .header(CONNECTION, "close");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let mut answer = request.send(body).map_err(ureq::Error::into_io)?;
        let retry_after = answer.headers().get(RETRY_AFTER);
        let retry_after = retry_after.and_then(|value| value.to_str().ok()?.parse().ok());
        let mut body = Vec::new();
        let reader = answer.body_mut().as_reader();
        reader.take(CAP).read_to_end(&mut body)?;
        Ok(Response {
            status: answer.status().as_u16(),
            retry_after: retry_after.map(Duration::from_secs),
            body,
        })
    }
}

/// `http://127.0.0.1:4318`, with or without a path. A URL without a port has OTLP's own for http,
/// and the usual one for https.
fn endpoint(text: &str) -> Result<String, String> {
    let uri: Uri = text.parse().map_err(|_| "it is not a valid URL")?;
    let (scheme, port) = match uri.scheme_str() {
        Some("http") => ("http", 4318),
        Some("https") => ("https", 443),
        Some(_) | None => return Err("it does not begin with http:// or https://".to_owned()),
    };
    let host = uri.host().unwrap_or_default();
    let has_user = uri.authority().is_some_and(|it| it.as_str().contains('@'));
    if host.is_empty() || has_user {
        return Err("it has no host, or a user name before it".to_owned());
    }
    if uri.query().is_some() {
        return Err("it has a query (`?`)".to_owned());
    }
    let port = uri.port_u16().unwrap_or(port);
    let base = uri.path().trim_end_matches('/');
    Ok(format!("{scheme}://{host}:{port}{base}"))
}

pub(crate) fn certificates(pem: &[u8]) -> io::Result<Vec<Certificate<'static>>> {
    let mut found = Vec::new();
    for item in parse_pem(pem) {
        if let PemItem::Certificate(certificate) = item.map_err(ureq::Error::into_io)? {
            found.push(certificate);
        }
    }
    if found.is_empty() {
        return Err(io::Error::other("there is no certificate in it"));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_understood_or_refused() {
        for (text, expected) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318"),
            ("http://otel/x/", "http://otel:4318/x"),
            ("http://[::1]:80", "http://[::1]:80"),
            ("https://otel.example", "https://otel.example:443"),
            ("https://otel.example:4318/", "https://otel.example:4318"),
        ] {
            assert_eq!(endpoint(text).as_deref(), Ok(expected));
        }
        for wrong in [
            "",
            "127.0.0.1:4318",
            "localhost:4318",
            "ftp://a",
            "http://",
            "http://a b",
            "http://u@h",
            "http://h\r\nX: y",
            "http://h/?a=b",
        ] {
            assert!(endpoint(wrong).is_err(), "{wrong}");
        }
    }
}
