//! Who gets the page, and who gets nothing.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::served::Served;
use super::states;
use crate::events::bash;
use crate::project::{TestProject, with_branch};

#[test]
fn whoever_has_the_token_gets_the_page_and_it_may_fetch_nothing_else() {
    let project = states::busy();
    let served = Served::start(project.command(&[]));
    let page = served.get("");
    assert_eq!(page.status, 200, "{}", page.head);
    assert!(page.body.contains("Pay by invoice"), "{}", page.body);
    for header in [
        "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self';",
        "X-Content-Type-Options: nosniff",
        "Referrer-Policy: no-referrer",
        "Cache-Control: no-store",
    ] {
        assert!(page.head.contains(header), "{header}: {}", page.head);
    }
    for (path, kind) in [
        ("style.css", "text/css"),
        ("page.js", "text/javascript"),
        ("main", "text/html"),
    ] {
        let answer = served.get(path);
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.head.contains(kind), "{}", answer.head);
    }
    let snapshot: serde_json::Value =
        serde_json::from_str(&served.get("snapshot.json").body).unwrap();
    assert_eq!(snapshot["workflow"]["current"], "06-implementation");
    assert_eq!(snapshot["plan"]["id"], "invoice");
    let head = served.ask("HEAD", &format!("/{}/", served.token), "");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
}

#[test]
fn a_wrong_token_gets_nothing() {
    let served = Served::start(states::busy().command(&[]));
    let token = &served.token;
    let other = token.chars().rev().collect::<String>();
    for target in [
        "/".to_owned(),
        "/style.css".to_owned(),
        "/snapshot.json".to_owned(),
        format!("/{token}"),
        format!("/{other}/"),
        format!("/{}/", token.to_uppercase()),
        format!("/{}/", token.split_at(31).0),
        format!("/{token}0/"),
        format!("//{token}/"),
        format!("/?{token}/"),
        format!("http://127.0.0.1/{token}/"),
    ] {
        if target == format!("/{token}/") {
            continue; // Upper case and reversed may be the same, with luck.
        }
        let answer = served.ask("GET", &target, "");
        assert_eq!((answer.status, answer.body.as_str()), (404, ""), "{target}");
    }
    let stream = served.ask("GET", &format!("/{other}/events"), "");
    assert_eq!((stream.status, stream.body.as_str()), (404, ""));
}

#[test]
fn another_host_or_origin_gets_nothing_even_with_the_token() {
    let served = Served::start(states::empty().command(&[]));
    let (port, page) = (served.port, format!("/{}/", served.token));
    for headers in [
        format!("Host: evil.example:{port}\r\n"),
        "Host: 127.0.0.1\r\n".to_owned(),
        format!("Host: 127.0.0.1.evil.example:{port}\r\n"),
        format!("Host: 127.0.0.1:{port}\r\nOrigin: http://evil.example\r\n"),
        format!("Host: 127.0.0.1:{port}\r\nOrigin: null\r\n"),
        format!("Host: 127.0.0.1:{port}\r\nOrigin: https://127.0.0.1:{port}\r\n"),
    ] {
        let answer = served.ask("GET", &page, &headers);
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (403, ""),
            "{headers}"
        );
    }
    let none = served.say(&format!("GET {page} HTTP/1.1\r\n\r\n"));
    assert_eq!((none.status, none.body.as_str()), (403, ""));
    let here = format!("Host: localhost:{port}\r\nOrigin: http://localhost:{port}\r\n");
    assert_eq!(served.ask("GET", &page, &here).status, 200);
}

#[test]
fn it_is_read_only_and_listens_on_loopback_only() {
    let served = Served::start(states::empty().command(&[]));
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
        let answer = served.ask(method, &format!("/{}/", served.token), "");
        assert_eq!((answer.status, answer.body.as_str()), (405, ""), "{method}");
    }
    // Bound to one address of the loopback interface, so not to its others either.
    assert!(TcpStream::connect(("127.0.0.2", served.port)).is_err());
}

#[test]
fn what_is_no_request_is_refused_and_harms_nobody() {
    let served = Served::start(states::empty().command(&[]));
    let long = format!(
        "GET /{}/ HTTP/1.1\r\nX: {}",
        served.token,
        "x".repeat(40_000)
    );
    for request in ["\r\n\r\n", "GET\r\n\r\n", "\u{16}\u{3}\u{1}\r\n\r\n", &long] {
        let answer = served.say(request);
        assert!(matches!(answer.status, 0 | 400), "{answer:?}");
        assert_eq!(answer.body, "");
    }
    assert_eq!(served.get("").status, 200);
}

#[test]
fn four_hundred_that_say_nothing_keep_nobody_out() {
    let served = Served::start(states::empty().command(&[]));
    // More than it hears at once; none of them ever ends its request.
    let mut slow: Vec<TcpStream> = (0..400).map(|_| served.connect()).collect();
    for (number, stream) in slow.iter_mut().enumerate() {
        if number % 2 == 0 {
            let _closed = stream.write_all(b"GET / HTTP/1.1\r\n");
        }
    }
    for _ in 0..20 {
        assert_eq!(served.get("").status, 200);
    }
    // One that was heard and still listens is not closed for one that says nothing.
    let mut events = served.connect();
    let request = format!(
        "GET /{}/events HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n",
        served.token, served.port
    );
    events.write_all(request.as_bytes()).unwrap();
    let mut piece = [0; 4096];
    assert!(events.read(&mut piece).unwrap() > 0);
    let _more: Vec<TcpStream> = (0..100).map(|_| served.connect()).collect();
    assert_eq!(served.get("").status, 200);
    assert!(events.read(&mut piece).unwrap() > 0, "it was closed");
}

#[test]
fn decisions_are_told_as_they_happen() {
    let project = TestProject::new()
        .state(&with_branch("active"))
        .on_branch("main");
    let served = Served::start(project.command(&[]));
    let mut stream = served.connect();
    let request = format!(
        "GET /{}/events HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n",
        served.token, served.port
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut heard = String::new();
    let mut piece = [0; 4096];
    let mut blocked = false;
    let until = Instant::now() + Duration::from_mins(1);
    while !heard.contains("event: decision") || !heard.contains("event: change") {
        // The signs of life go on for ever.
        assert!(Instant::now() < until, "nothing was told: {heard}");
        let count = stream.read(&mut piece).unwrap();
        assert!(count > 0, "the stream ended: {heard}");
        heard.push_str(&String::from_utf8_lossy(&piece[..count]));
        if heard.contains("retry:") && !blocked {
            blocked = true;
            project.hook(&bash("git commit -m x"));
        }
    }
    assert!(heard.contains("text/event-stream"), "{heard}");
    assert!(heard.contains("\"code\":\"BG-001\""), "{heard}");
}
