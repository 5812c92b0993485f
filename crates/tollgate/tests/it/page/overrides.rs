//! Overrides on the page: for the person who started it at a terminal, and for nobody else.

use serde_json::{Value, json};

use super::served::{Response, Served};
use super::states;
use super::webdriver::Browser;
use crate::events::{Event as _, bash};
use crate::project::TestProject;
use crate::terminal::Terminal;

/// A page that a person started at a terminal; it ends with this.
struct Desk {
    terminal: Terminal,
    served: Served,
    pid: i32,
}

impl Desk {
    fn open(project: &TestProject) -> Self {
        Self::start(project, "is then shown here.")
    }

    /// `tollgate serve` on a terminal, as soon as it shows this text.
    fn start(project: &TestProject, shown: &str) -> Self {
        let serve = project.command(&["serve"]);
        let mut command = std::process::Command::new("/bin/sh");
        command.args(["-c", "echo \"[pid $$]\"; exec \"$0\" serve"]);
        command.arg(serve.get_program()).env_clear();
        command.current_dir(project.root());
        for (name, value) in serve.get_envs() {
            command.env(name, value.unwrap());
        }
        let mut terminal = Terminal::start(&command);
        terminal.shows(shown);
        let between = |start: &str, end: &str| {
            let (_, rest) = terminal.screen().split_once(start).unwrap();
            rest.split_once(end).unwrap().0.to_owned()
        };
        let pid = between("[pid ", "]").parse().unwrap();
        let address = between("http://127.0.0.1:", "\r");
        let served = Served::at(&address);
        Self {
            terminal,
            served,
            pid,
        }
    }

    fn post(&self, place: &str, body: &Value) -> Response {
        let origin = format!("Origin: http://127.0.0.1:{}\r\n", self.served.port);
        post(&self.served, place, &origin, &body.to_string())
    }

    /// The word that the terminal shows last.
    fn word(&mut self, times: usize) -> String {
        self.terminal.shows_times(" on the page.", times);
        let (before, _) = self.terminal.screen().rsplit_once(" on the page.").unwrap();
        before.rsplit_once("type ").unwrap().1.to_owned()
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_raw(self.pid).unwrap();
        let _gone = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

fn post(served: &Served, place: &str, headers: &str, body: &str) -> Response {
    let (port, token, length) = (served.port, &served.token, body.len());
    served.say(&format!(
        "POST /{token}/{place} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{headers}\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    ))
}

fn wanted() -> Value {
    json!({ "code": "BG-001", "for": "once", "reason": "hotfix \u{1b}[31m<b>" })
}

fn commit(id: &str) -> Value {
    bash("git commit -m x").in_session("s").call(id)
}

#[test]
fn a_person_allows_once_with_the_word_of_the_terminal() {
    let project = states::blocked();
    let mut desk = Desk::open(&project);
    let page = desk.served.get("");
    assert!(
        page.body.contains("id=\"allow-ask\"") && page.body.contains("BG-001"),
        "{}",
        page.body
    );
    let answer = desk.post("allow", &wanted());
    assert_eq!(answer.status, 200, "{answer:?}");
    let word = desk.word(1);
    assert!(!answer.body.contains(&word) && !desk.served.get("").body.contains(&word));
    assert!(
        desk.terminal.screen().contains("hotfix \\u{1b}[31m<b>"),
        "{}",
        desk.terminal.screen()
    );
    // Not yet.
    project.hook(&commit("t1")).denies();
    let wrong = desk.post("allow/word", &json!({ "word": "wrongwrd" }));
    assert_eq!(wrong.status, 422, "{wrong:?}");
    project.hook(&commit("t2")).denies();
    let right = desk.post("allow/word", &json!({ "word": word }));
    assert_eq!(right.status, 200, "{right:?}");
    let line = project
        .journal()
        .into_iter()
        .rfind(|line| line["guard"] == "allow")
        .unwrap();
    assert_eq!(
        (&line["code"], &line["verdict"]),
        (&json!("BG-001"), &json!("change"))
    );
    let reason = line["reason"].as_str().unwrap();
    assert!(
        reason.contains("allowed BG-001 once") && reason.contains("on the page"),
        "{reason}"
    );
    // The word is used up, and so is the override after one event.
    assert_eq!(
        desk.post("allow/word", &json!({ "word": word })).status,
        422
    );
    let run = project.hook(&commit("t3"));
    assert!(run.code == 0 && !run.stdout.contains("\"deny\""), "{run:?}");
    project.hook(&commit("t4")).denies();
}

#[test]
fn a_rule_is_allowed_by_the_name_that_its_file_has() {
    let project = states::blocked().with_toml(
        "[[rule]]\nid = \"migrations\"\ndeny = { delete = [\"db/**\"] }\nreason = \"history\"\n",
    );
    let removed = |id: &str| bash("rm db/1.sql").in_session("s").call(id);
    project.hook(&removed("t1")).denies();
    let mut desk = Desk::open(&project);
    let wanted = json!({ "code": "rule:migrations", "for": "once", "reason": "asked by Ada" });
    assert_eq!(desk.post("allow", &wanted).status, 200);
    let word = desk.word(1);
    let answer = desk.post("allow/word", &json!({ "word": word }));
    assert_eq!(answer.status, 200, "{answer:?}");
    let run = project.hook(&removed("t2"));
    assert!(run.code == 0 && !run.stdout.contains("\"deny\""), "{run:?}");
    project.hook(&removed("t3")).denies();
}

#[test]
fn what_is_not_asked_properly_allows_nothing() {
    let project = states::blocked();
    let mut desk = Desk::open(&project);
    let port = desk.served.port;
    let body = wanted().to_string();
    let ours = format!("Origin: http://127.0.0.1:{port}\r\n");
    for headers in ["", "Origin: null\r\n", "Origin: http://evil.example\r\n"] {
        let answer = post(&desk.served, "allow", headers, &body);
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (403, ""),
            "{headers}"
        );
    }
    // A form of somebody else's can send no JSON without asking first, and nobody answers that.
    let target = format!("/{}/allow", desk.served.token);
    let plain = format!("{ours}Content-Type: text/plain\r\nContent-Length: 0\r\n");
    assert_eq!(desk.served.ask("POST", &target, &plain).status, 403);
    assert_eq!(desk.served.ask("OPTIONS", &target, &ours).status, 405);
    let elsewhere = "/00000000000000000000000000000000/allow";
    assert_eq!(desk.served.ask("POST", elsewhere, &ours).status, 404);
    assert_eq!(desk.served.ask("POST", "/allow", &ours).status, 404);
    assert_eq!(desk.post("", &wanted()).status, 405);
    for (code, lasts, reason) in [
        ("SFG-001", "once", "the floor"),
        ("SW-001", "once", "the floor"),
        ("NO-001", "once", "unknown"),
        ("BG-001", "9y", "too long"),
        ("BG-001", "once", "  "),
    ] {
        let body = json!({ "code": code, "for": lasts, "reason": reason });
        assert_eq!(desk.post("allow", &body).status, 422, "{body}");
    }
    assert_eq!(
        desk.post("allow/word", &json!({ "word": "" })).status,
        422,
        "nothing is asked"
    );
    assert!(!desk.terminal.screen().contains("asks to allow"));
    // Three wrong words, and the right one comes too late.
    assert_eq!(desk.post("allow", &wanted()).status, 200);
    let word = desk.word(1);
    for _ in 0..3 {
        assert_eq!(
            desk.post("allow/word", &json!({ "word": "wrongwrd" }))
                .status,
            422
        );
    }
    assert_eq!(
        desk.post("allow/word", &json!({ "word": word })).status,
        422
    );
    project.hook(&commit("t1")).denies();
}

#[test]
fn a_page_that_no_person_started_has_no_overrides() {
    let project = states::blocked();
    // Without a terminal.
    let served = Served::start(project.command(&[]));
    let page = served.get("").body;
    assert!(
        !page.contains("allow-ask") && page.contains("Read-only."),
        "{page}"
    );
    let origin = format!("Origin: http://127.0.0.1:{}\r\n", served.port);
    let answer = post(&served, "allow", &origin, &wanted().to_string());
    assert_eq!((answer.status, answer.body.as_str()), (405, ""));
    // On a terminal that an agent borrowed.
    let project = project.env("CLAUDECODE", "1");
    let desk = Desk::start(&project, "Ctrl-C ends it.");
    assert_eq!(desk.post("allow", &wanted()).status, 405);
    assert!(!desk.served.get("").body.contains("allow-ask"));
}

fn types(browser: &Browser, text: &str) {
    text.chars().for_each(|c| browser.press(&c.to_string()));
}

#[test]
fn the_form_works_in_a_browser() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let project = states::blocked();
    let mut desk = Desk::open(&project);
    browser.size(1280, 900);
    browser.open(&desk.served.address());
    browser.until("document.getElementById('live').textContent.startsWith('live')");
    browser.script("document.querySelector('#allow-ask input').focus()");
    types(&browser, "hotfix");
    browser.press("\u{e007}");
    let word = desk.word(1);
    browser
        .until("document.getElementById('allow-answer').textContent.includes('shows a word now')");
    browser.until("document.activeElement.name === 'word'");
    browser.picture("allow-light");
    types(&browser, &word);
    browser.press("\u{e007}");
    browser.until(
        "document.getElementById('allow-answer').textContent.includes('allowed BG-001 once')",
    );
    browser.until("document.querySelector('.allowed') !== null");
    browser.size(390, 844);
    browser.scheme("dark");
    browser.picture("allow-phone-dark");
    let over = browser.script("return document.documentElement.scrollWidth - innerWidth");
    assert!(over.as_i64().unwrap() <= 0, "{over} pixels too wide");
    assert_eq!(browser.complaints(), [] as [String; 0]);
}
