//! As much of HTTP as the agents speak.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use serde_json::Value;

/// What goes back.
pub(super) enum Reply {
    Json(Value),
    /// Server-sent events, all at once.
    Events(Vec<Value>),
}

/// A connection, on which one request follows the other.
pub(super) struct Connection {
    reader: BufReader<TcpStream>,
    writer: TcpStream,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        Ok(Self {
            writer: stream.try_clone()?,
            reader: BufReader::new(stream),
        })
    }

    /// The path and the body of the next request.
    pub(super) fn request(&mut self) -> Option<(String, String)> {
        let line = self.line()?;
        let path = line.split(' ').nth(1)?.to_owned();
        let mut length = 0;
        let mut is_chunked = false;
        loop {
            let header = self.line()?.to_ascii_lowercase();
            match header.split_once(':') {
                Some(("content-length", value)) => length = value.trim().parse().ok()?,
                Some(("transfer-encoding", value)) => is_chunked = value.contains("chunked"),
                Some(_) => {}
                None => break,
            }
        }
        let mut body = Vec::new();
        if is_chunked {
            loop {
                let size = usize::from_str_radix(self.line()?.trim(), 16).ok()?;
                self.take(size, &mut body)?;
                self.line()?;
                if size == 0 {
                    break;
                }
            }
        } else {
            self.take(length, &mut body)?;
        }
        // What the path says is before its question mark.
        let path = path.split('?').next().unwrap_or_default().to_owned();
        Some((path, String::from_utf8_lossy(&body).into_owned()))
    }

    pub(super) fn give(&mut self, answer: &Reply) -> io::Result<()> {
        let (kind, text) = match answer {
            Reply::Json(value) => ("application/json", value.to_string()),
            Reply::Events(events) => (
                "text/event-stream",
                events.iter().map(event).collect::<String>(),
            ),
        };
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
            text.len()
        );
        self.writer.write_all((head + &text).as_bytes())
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line).ok()?;
        (read > 0).then(|| line.trim_end().to_owned())
    }

    fn take(&mut self, size: usize, body: &mut Vec<u8>) -> Option<()> {
        let mut part = vec![0; size];
        self.reader.read_exact(&mut part).ok()?;
        body.extend(part);
        Some(())
    }
}

fn event(event: &Value) -> String {
    let name = event["type"].as_str();
    let name = name.map(|name| format!("event: {name}\n"));
    format!("{}data: {event}\n\n", name.unwrap_or_default())
}
