//! One kind of request: JSON to a collector, by HTTP/1.1 over a plain connection.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

/// How long to wait for a connection, and for each piece of an answer.
const PATIENCE: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(30));

/// No answer of a collector is larger.
const CAP: u64 = 1 << 20;

/// Where a collector listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    /// `host:port`
    authority: String,
    /// What goes before `/v1/traces`.
    base: String,
}

/// What came back.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// `Retry-After`, in seconds.
    pub(super) retry_after: Option<Duration>,
    pub(super) body: Vec<u8>,
}

impl Endpoint {
    /// `http://127.0.0.1:4318`, with or without a path.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.starts_with("https://") {
            return Err("https is not spoken: send to a collector or proxy of this machine, which can send on".to_owned());
        }
        let rest = text
            .strip_prefix("http://")
            .ok_or("it does not begin with http://")?;
        let (authority, base) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let is_plain = |c: char| c.is_ascii_graphic() && c != '@';
        if authority.is_empty() || !text.chars().all(is_plain) {
            return Err("it has no host, or characters that belong into none".to_owned());
        }
        let has_port = authority
            .rsplit_once(':')
            .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        Ok(Self {
            authority: if has_port {
                authority.to_owned()
            } else {
                format!("{authority}:4318")
            },
            base: base.trim_end_matches('/').to_owned(),
        })
    }

    pub(crate) fn name(&self) -> String {
        format!("http://{}{}", self.authority, self.base)
    }

    /// Sends JSON to a path below the endpoint.
    pub(super) fn post(
        &self,
        path: &str,
        headers: &[(String, String)],
        body: &[u8],
    ) -> io::Result<Answer> {
        let (connect, piece) = PATIENCE;
        let mut last = io::Error::other("the name leads to no address");
        let mut connected = None;
        for address in self.authority.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, connect) {
                Ok(stream) => {
                    connected = Some(stream);
                    break;
                }
                Err(error) => last = error,
            }
        }
        let mut stream = connected.ok_or(last)?;
        stream.set_read_timeout(Some(piece))?;
        stream.set_write_timeout(Some(piece))?;
        let mut more = String::new();
        for (name, value) in headers {
            more.extend([name.as_str(), ": ", value, "\r\n"]);
        }
        let head = format!(
            "POST {}{path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nUser-Agent: tollgate/{}\r\nAccept: application/json\r\n{more}Connection: close\r\n\r\n",
            self.base,
            self.authority,
            body.len(),
            env!("CARGO_PKG_VERSION"),
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body)?;
        let mut bytes = Vec::new();
        let mut stream = stream.take(CAP);
        let mut piece = [0; 4096];
        // Not all collectors close the connection when they are asked to: whoever waits for that
        // takes the silence for a failure, and sends the same again.
        while !is_whole(&bytes) {
            match stream.read(&mut piece)? {
                0 => break,
                count => bytes.extend_from_slice(piece.get(..count).unwrap_or_default()),
            }
        }
        parse(&bytes).ok_or_else(|| io::Error::other("the answer is no HTTP"))
    }
}

/// Whether an answer is there to its end, as far as it says where that is.
fn is_whole(bytes: &[u8]) -> bool {
    let Some((head, body)) = split(bytes) else {
        return false;
    };
    if is_chunked(&head) {
        return unchunk(body).is_some();
    }
    let length = field(&head, "content-length").and_then(|length| length.parse::<usize>().ok());
    length.is_some_and(|length| body.len() >= length)
}

/// The head of an answer, and what follows it.
fn split(bytes: &[u8]) -> Option<(String, &[u8])> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(bytes.get(..end)?).into_owned();
    Some((head, bytes.get(end + 4..)?))
}

/// The value of a header field.
fn field(head: &str, wanted: &str) -> Option<String> {
    let fields = head.split("\r\n").filter_map(|line| line.split_once(':'));
    let mut same = fields.filter(|(name, _)| name.eq_ignore_ascii_case(wanted));
    same.next().map(|(_, value)| value.trim().to_owned())
}

fn is_chunked(head: &str) -> bool {
    field(head, "transfer-encoding").is_some_and(|how| how.eq_ignore_ascii_case("chunked"))
}

fn parse(bytes: &[u8]) -> Option<Answer> {
    let (head, body) = split(bytes)?;
    let mut lines = head.split("\r\n");
    let mut words = lines.next()?.split(' ');
    words
        .next()
        .filter(|version| version.starts_with("HTTP/1."))?;
    let status = words.next()?.parse().ok()?;
    Some(Answer {
        status,
        retry_after: field(&head, "retry-after")
            .and_then(|text| text.parse().ok())
            .map(Duration::from_secs),
        body: if is_chunked(&head) {
            unchunk(body).unwrap_or_default()
        } else {
            body.to_vec()
        },
    })
}

/// The pieces of a chunked body, put together.
fn unchunk(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|two| two == b"\r\n")?;
        let size = std::str::from_utf8(rest.get(..end)?).ok()?;
        let size = usize::from_str_radix(size.split(';').next()?.trim(), 16).ok()?;
        if size == 0 {
            return Some(body);
        }
        let start = end + 2;
        body.extend_from_slice(rest.get(start..start.checked_add(size)?)?);
        rest = rest.get(start.checked_add(size)? + 2..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_understood_or_refused() {
        let name = |text: &str| Endpoint::parse(text).map(|endpoint| endpoint.name());
        assert_eq!(
            name("http://127.0.0.1:4318").unwrap(),
            "http://127.0.0.1:4318"
        );
        assert_eq!(name("http://otel/x/").unwrap(), "http://otel:4318/x");
        for wrong in [
            "",
            "127.0.0.1:4318",
            "https://a",
            "http://",
            "http://a b",
            "http://u@h",
            "http://h\r\nX: y",
        ] {
            assert!(name(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn answers_are_read_whole_or_in_chunks() {
        let answer = parse(b"HTTP/1.1 503 Busy\r\nRetry-After: 7\r\n\r\n").unwrap();
        assert_eq!(
            (answer.status, answer.retry_after),
            (503, Some(Duration::from_secs(7)))
        );
        let text = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x\r\nde\r\n0\r\n\r\n";
        assert_eq!(parse(text).unwrap().body, b"abcde");
        assert!(parse(b"SSH-2.0\r\n\r\n").is_none());
    }
}
