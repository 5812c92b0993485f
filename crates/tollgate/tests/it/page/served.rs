//! `tollgate serve` as a child, and a client that says exactly what it is told to.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A page that is being served until this is dropped.
pub(super) struct Served {
    /// Nothing, if somebody else ends it.
    child: Option<Child>,
    pub(super) port: u16,
    pub(super) token: String,
}

/// What came back.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: String,
}

impl Served {
    pub(super) fn start(mut command: Command) -> Self {
        let mut child = command
            .arg("serve")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let out = child.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        let rest = line.trim().strip_prefix("http://127.0.0.1:").unwrap();
        let mut served = Self::at(rest);
        served.child = Some(child);
        served
    }

    /// A page that somebody else serves, by its port and token: `43817/8d1f…/`.
    pub(super) fn at(rest: &str) -> Self {
        let (port, token) = rest.trim().split_once('/').unwrap();
        Self {
            child: None,
            port: port.parse().unwrap(),
            token: token.trim_end_matches('/').to_owned(),
        }
    }

    pub(super) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    pub(super) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_mins(1)))
            .unwrap();
        stream
    }

    /// Sends these bytes and reads to the end.
    pub(super) fn say(&self, request: &str) -> Response {
        let mut stream = self.connect();
        // An answer may come before all was read.
        let _early = stream.write_all(request.as_bytes());
        let mut bytes = Vec::new();
        let _reset = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        Response {
            status: head
                .split(' ')
                .nth(1)
                .and_then(|word| word.parse().ok())
                .unwrap_or(0),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    /// Asks for a path below the token.
    pub(super) fn get(&self, path: &str) -> Response {
        self.ask("GET", &format!("/{}/{path}", self.token), "")
    }

    pub(super) fn ask(&self, method: &str, target: &str, headers: &str) -> Response {
        let host = format!("Host: 127.0.0.1:{}\r\n", self.port);
        let host = if headers.contains("Host:") { "" } else { &host };
        self.say(&format!(
            "{method} {target} HTTP/1.1\r\n{host}{headers}\r\n"
        ))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ended = child.kill();
            let _reaped = child.wait();
        }
    }
}
