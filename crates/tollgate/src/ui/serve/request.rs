//! Reading a request, as far as a page needs it.

use std::io::{self, Read as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// No request of a browser to this page is larger.
const CAP: usize = 16 << 10;

/// How long a whole request may take to arrive.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: String,
    /// Without what follows a question mark.
    pub(super) path: String,
    pub(super) host: Option<String>,
    pub(super) origin: Option<String>,
    /// The type of what is sent.
    pub(super) kind: Option<String>,
    length: Option<String>,
    /// What is sent; only of a POST.
    pub(super) body: String,
}

impl Request {
    /// Reads a request; a body only of a POST. Nothing, if it is none, too large or too slow.
    pub(super) fn read(stream: &mut TcpStream) -> io::Result<Option<Self>> {
        let until = Instant::now() + PATIENCE;
        let mut bytes = Vec::new();
        let mut more = |bytes: &mut Vec<u8>| -> io::Result<bool> {
            let mut piece = [0; 4096];
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || bytes.len() > CAP {
                return Ok(false);
            }
            stream.set_read_timeout(Some(left))?;
            let count = stream.read(&mut piece)?;
            bytes.extend_from_slice(piece.get(..count).unwrap_or_default());
            Ok(count > 0)
        };
        let head = loop {
            if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            if !more(&mut bytes)? {
                return Ok(None);
            }
        };
        let text = bytes
            .get(..head)
            .and_then(|head| std::str::from_utf8(head).ok());
        let Some(mut request) = text.and_then(Self::parse) else {
            return Ok(None);
        };
        if request.method == "POST" {
            let length = request.length.as_deref().unwrap_or("0").parse::<usize>();
            let Some(end) = length.ok().filter(|length| *length <= CAP) else {
                return Ok(None);
            };
            while bytes.len() < head + end {
                if !more(&mut bytes)? {
                    return Ok(None);
                }
            }
            let body = bytes.get(head..head + end).unwrap_or_default();
            request.body = String::from_utf8_lossy(body).into_owned();
        }
        Ok(Some(request))
    }

    fn parse(text: &str) -> Option<Self> {
        let (head, _) = text.split_once("\r\n\r\n")?;
        let mut lines = head.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        if words.next().is_some() || !version.starts_with("HTTP/1.") {
            return None;
        }
        let mut request = Self {
            method: method.to_owned(),
            path: target.split('?').next()?.to_owned(),
            host: None,
            origin: None,
            kind: None,
            length: None,
            body: String::new(),
        };
        for line in lines {
            let (name, value) = line.split_once(':')?;
            let known = match name.to_ascii_lowercase().as_str() {
                "host" => &mut request.host,
                "origin" => &mut request.origin,
                "content-type" => &mut request.kind,
                "content-length" => &mut request.length,
                _ => continue,
            };
            // With two of them, a proxy could use one and we the other.
            if known.replace(value.trim().to_owned()).is_some() {
                return None;
            }
        }
        Some(request)
    }
}

#[cfg(test)]
mod tests {
    use super::Request;

    #[test]
    fn a_request_is_read_and_what_is_none_is_not() {
        let text = "GET /a/b?c HTTP/1.1\r\nHOST: x:1\r\norigin:  http://y \r\nA: b\r\n\r\n";
        let request = Request::parse(text).unwrap();
        assert_eq!(
            (request.method.as_str(), request.path.as_str()),
            ("GET", "/a/b")
        );
        assert_eq!(request.host.as_deref(), Some("x:1"));
        assert_eq!(request.origin.as_deref(), Some("http://y"));
        for wrong in [
            "\r\n\r\n",
            "GET /\r\n\r\n",
            "GET / HTTP/2\r\n\r\n",
            "GET / / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nno header\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        ] {
            assert!(Request::parse(wrong).is_none(), "{wrong:?}");
        }
    }
}
