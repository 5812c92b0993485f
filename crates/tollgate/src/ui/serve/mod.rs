//! The page on a port of this machine, for everybody who has its address.
//!
//! Plain threads over `std::net`: a handful of browsers on the same machine are no case for an
//! async runtime, and the hook shares the executable. It answers only on 127.0.0.1, only to the
//! random token in the address, and only to requests that name this machine in `Host` (and in
//! `Origin`, where a browser sends one): a page elsewhere that guesses the port learns nothing.
//! It is read-only but for the overrides of a person who started it at a terminal ([`OverrideForm`]).

mod events;
mod override_form;
mod request;
mod response;
mod token;

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::page;
use crate::project_view::{Observer, ProjectView};
pub(crate) use override_form::OverrideForm;
use request::Request;
use response::{Response, Status};
pub(crate) use token::Token;

/// So many connections at once. For the next one, the oldest that has not sent its request yet is closed,
/// so that idle connections keep no one out; without one, the new connection is closed.
const CONNECTIONS: usize = 32;

/// How long a closed connection may take to leave its place.
const LEAVING: Duration = Duration::from_millis(100);

/// So many of them may be streams of events, so that pages can still be asked for.
const STREAMS: usize = 16;

/// The time limit for reading a piece of an answer.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
}

struct Shared {
    observer: Mutex<Observer>,
    token: Token,
    port: u16,
    /// Only if a person is there.
    form: Option<OverrideForm>,
    connections: Arc<AtomicUsize>,
    streams: Arc<AtomicUsize>,
    /// Those who have not sent their request yet, the oldest first.
    unheard: Mutex<VecDeque<(u64, TcpStream)>>,
}

/// A place among those that are counted; it is given back when this is dropped.
struct Slot(Arc<AtomicUsize>);

impl Slot {
    fn take(count: &Arc<AtomicUsize>, most: usize) -> Option<Self> {
        let place = Self(Arc::clone(count));
        // Given back by the drop, also when there were too many.
        (count.fetch_add(1, Ordering::AcqRel) < most).then_some(place)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Server {
    /// Takes a port of the loopback interface; any free one for 0.
    pub(crate) fn open(
        observer: Observer,
        port: u16,
        form: Option<OverrideForm>,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        let port = listener.local_addr()?.port();
        Ok(Self {
            listener,
            shared: Arc::new(Shared {
                observer: Mutex::new(observer),
                token: Token::new()?,
                port,
                form,
                connections: Arc::default(),
                streams: Arc::default(),
                unheard: Mutex::default(),
            }),
        })
    }

    pub(crate) fn address(&self) -> String {
        format!(
            "http://127.0.0.1:{}/{}/",
            self.shared.port, self.shared.token
        )
    }

    /// Answers until the process is ended.
    pub(crate) fn run(&self) -> io::Error {
        let mut number = 0;
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    number += 1;
                    self.welcome(number, stream);
                }
                // Out of descriptors, or a client that went away: the others are still there.
                Err(error) if is_passing(&error) => std::thread::sleep(Duration::from_millis(50)),
                Err(error) => return error,
            }
        }
    }

    fn welcome(&self, number: u64, stream: TcpStream) {
        let shared = Arc::clone(&self.shared);
        let Some(place) = shared.place() else {
            return;
        };
        if let Ok(stream) = stream.try_clone() {
            shared.unheard().push_back((number, stream));
        }
        let serve = move || {
            // A client that went away is not our concern.
            let _gone = shared.serve(number, stream);
            shared.is_heard(number);
            drop(place);
        };
        // No thread to be had is one client less.
        let _refused = std::thread::Builder::new()
            .name("page".to_owned())
            .stack_size(512 << 10)
            .spawn(serve);
    }
}

fn is_passing(error: &io::Error) -> bool {
    let passing = [
        rustix::io::Errno::MFILE,
        rustix::io::Errno::NFILE,
        rustix::io::Errno::NOBUFS,
        rustix::io::Errno::NOMEM,
        rustix::io::Errno::CONNABORTED,
        rustix::io::Errno::INTR,
    ];
    passing
        .iter()
        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

impl Shared {
    /// A place for one more connection.
    fn place(&self) -> Option<Slot> {
        let until = Instant::now() + LEAVING;
        if let Some(place) = Slot::take(&self.connections, CONNECTIONS) {
            return Some(place);
        }
        let (_, oldest) = self.unheard().pop_front()?;
        // Its thread reads an end.
        let _gone = oldest.shutdown(Shutdown::Both);
        while Instant::now() < until {
            if let Some(place) = Slot::take(&self.connections, CONNECTIONS) {
                return Some(place);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        None
    }

    fn unheard(&self) -> std::sync::MutexGuard<'_, VecDeque<(u64, TcpStream)>> {
        self.unheard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_heard(&self, number: u64) {
        self.unheard().retain(|(other, _)| *other != number);
    }

    fn serve(&self, number: u64, mut stream: TcpStream) -> io::Result<()> {
        stream.set_write_timeout(Some(PATIENCE))?;
        let request = Request::read(&mut stream)?;
        self.is_heard(number);
        let Some(request) = request else {
            return Response::empty(Status::BadRequest).write(&mut stream, true);
        };
        let with_body = request.method != "HEAD";
        match self.route(&request) {
            Route::Stream => match Slot::take(&self.streams, STREAMS) {
                Some(_place) => events::stream(&self.observer, &mut stream),
                None => Response::empty(Status::Busy).write(&mut stream, true),
            },
            Route::Response(answer) => answer.write(&mut stream, with_body),
        }
    }

    fn route(&self, request: &Request) -> Route {
        // Whoever does not know the token gets nothing: not even whether there is a page.
        let Some(place) = self.token.admits(&request.path) else {
            return Response::empty(Status::NotFound).into();
        };
        if !self.is_from_here(request) {
            return Response::empty(Status::Forbidden).into();
        }
        match (request.method.as_str(), &self.form) {
            ("GET" | "HEAD", _) => {}
            ("POST", Some(form)) => return post(form, place, request).into(),
            _ => return Response::empty(Status::MethodNotAllowed).into(),
        }
        match place {
            "" => Response::new("text/html; charset=utf-8", page::served(&self.view())),
            "main" => Response::new("text/html; charset=utf-8", page::main(&self.view())),
            "snapshot.json" => {
                let text = serde_json::to_string_pretty(&self.view()).unwrap_or_default();
                Response::new("application/json", text)
            }
            "style.css" => Response::new("text/css; charset=utf-8", page::STYLE.to_owned()),
            "page.js" => Response::new("text/javascript; charset=utf-8", page::SCRIPT.to_owned()),
            "events" => return Route::Stream,
            _ => Response::empty(Status::NotFound),
        }
        .into()
    }

    /// A foreign host name for this address is refused: a browser would
    /// take us for that server.
    fn is_from_here(&self, request: &Request) -> bool {
        let names = ["127.0.0.1", "localhost"];
        let is_ours = |host: &str| {
            let port = self.port.to_string();
            let split = host.rsplit_once(':');
            split.is_some_and(|(name, at)| names.contains(&name) && at == port)
        };
        let host = request.host.as_deref().is_some_and(is_ours);
        let origin = request
            .origin
            .as_deref()
            .is_none_or(|origin| origin.strip_prefix("http://").is_some_and(is_ours));
        host && origin
    }

    fn view(&self) -> ProjectView {
        let mut observer = self.observer.lock().unwrap_or_else(PoisonError::into_inner);
        ProjectView {
            can_allow: self.form.is_some(),
            ..observer.view(Timestamp::now())
        }
    }
}

/// What only a page of ours sends: with the origin, which no other page has, and as JSON,
/// for which a browser asks first on behalf of a page elsewhere.
fn post(form: &OverrideForm, place: &str, request: &Request) -> Response {
    if request.origin.is_none() || request.kind.as_deref() != Some("application/json") {
        return Response::empty(Status::Forbidden);
    }
    let now = Timestamp::now();
    let done = match place {
        "allow" => form.ask(&request.body, now),
        "allow/word" => form.confirm(&request.body, now),
        _ => return Response::empty(Status::MethodNotAllowed),
    };
    match done {
        Ok(value) => Response::new("application/json", value.to_string()),
        Err(why) => Response::refused(&why),
    }
}

enum Route {
    Response(Response),
    Stream,
}

impl From<Response> for Route {
    fn from(answer: Response) -> Self {
        Self::Response(answer)
    }
}
