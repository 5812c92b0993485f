//! Writing an answer. Every one forbids the browser what the page does not need.

use std::io::{self, Write};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Fine,
    BadRequest,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    Busy,
    Refused,
}

/// An answer with all of its text.
#[derive(Debug)]
pub(super) struct Response {
    status: Status,
    kind: &'static str,
    body: String,
}

/// Nothing from elsewhere, no inline code, no frames, no forms; and nothing of it is kept.
pub(super) const HEADERS: &str = "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\nCache-Control: no-store\r\nConnection: close\r\n";

impl Status {
    pub(super) fn line(self) -> &'static str {
        match self {
            Self::Fine => "HTTP/1.1 200 OK\r\n",
            Self::BadRequest => "HTTP/1.1 400 Bad Request\r\n",
            Self::Forbidden => "HTTP/1.1 403 Forbidden\r\n",
            Self::NotFound => "HTTP/1.1 404 Not Found\r\n",
            Self::MethodNotAllowed => "HTTP/1.1 405 Method Not Allowed\r\nAllow: GET, HEAD\r\n",
            Self::Refused => "HTTP/1.1 422 Unprocessable Content\r\n",
            Self::Busy => "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\n",
        }
    }
}

impl Response {
    pub(super) fn new(kind: &'static str, body: String) -> Self {
        Self {
            status: Status::Fine,
            kind,
            body,
        }
    }

    /// A refusal that says why, to a page of our own.
    pub(super) fn refused(why: &str) -> Self {
        Self {
            status: Status::Refused,
            kind: "application/json",
            body: serde_json::json!({ "error": why }).to_string(),
        }
    }

    pub(super) fn empty(status: Status) -> Self {
        Self {
            status,
            kind: "text/plain",
            body: String::new(),
        }
    }

    pub(super) fn write(&self, stream: &mut impl Write, with_body: bool) -> io::Result<()> {
        let head = format!(
            "{}Content-Type: {}\r\nContent-Length: {}\r\n{HEADERS}\r\n",
            self.status.line(),
            self.kind,
            self.body.len()
        );
        stream.write_all(head.as_bytes())?;
        if with_body {
            stream.write_all(self.body.as_bytes())?;
        }
        stream.flush()
    }
}
