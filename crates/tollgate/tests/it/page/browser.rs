//! The page in a real browser: every state of a project, wide and narrow, light and dark.
//!
//! The pictures are left in the target directory (`tmp/page/`), to be looked at.

use serde_json::json;

use super::served::Served;
use super::states::{self, HOSTILE};
use super::webdriver::Browser;
use crate::events::{Event as _, bash, write};

const WIDE: (u32, u32) = (1280, 900);
const PHONE: (u32, u32) = (390, 844);

/// Looks at a state from all sides.
fn look(browser: &Browser, name: &str, served: &Served) {
    browser.size(WIDE.0, WIDE.1);
    browser.scheme("light");
    browser.open(&served.address());
    browser.until("document.getElementById('live').textContent.startsWith('live')");
    assert_eq!(browser.complaints(), [] as [String; 0], "{name}");
    for (side, (width, height), scheme) in [
        ("light", WIDE, "light"),
        ("dark", WIDE, "dark"),
        ("phone", PHONE, "light"),
        ("phone-dark", PHONE, "dark"),
    ] {
        browser.size(width, height);
        browser.scheme(scheme);
        let over = browser.script("return document.documentElement.scrollWidth - innerWidth");
        assert!(
            over.as_i64().unwrap() <= 0,
            "{name} {side}: {over} pixels too wide"
        );
        let found = browser.axe();
        assert!(found.is_empty(), "{name} {side}: {found:#?}");
        browser.picture(&format!("{name}-{side}"));
        browser.picture_of("#costs", &format!("{name}-{side}-charts"));
    }
    let landmarks = browser.script(
        "return ['header', 'nav[aria-label]', 'main', 'footer', 'h1'].map(one => document.querySelectorAll(one).length)",
    );
    assert_eq!(landmarks, json!([1, 1, 1, 1, 1]), "{name}");
    let unnamed = browser.script(
        "return [...document.querySelectorAll('section')].filter(one => !document.getElementById(one.getAttribute('aria-labelledby'))).length + [...document.querySelectorAll('svg[role=img]')].filter(one => !one.getAttribute('aria-labelledby').split(' ').every(id => document.getElementById(id).textContent)).length",
    );
    assert_eq!(unnamed, 0, "{name}");
    let ids = browser.script(
        "const ids = [...document.querySelectorAll('[id]')].map(one => one.id); return ids.length - new Set(ids).size",
    );
    assert_eq!(ids, 0, "{name}: an id is there twice");
    let here = format!("http://127.0.0.1:{}/", served.port);
    for url in browser.requests() {
        assert!(
            url.starts_with(&here) || url.starts_with("data:"),
            "{name}: {url}"
        );
    }
}

/// Whether the page shows a text.
fn shows(browser: &Browser, text: &str) -> bool {
    let shown = browser.script("return document.body.innerText");
    shown.as_str().unwrap().contains(text)
}

/// One browser for all states: starting it is what takes time.
#[test]
fn every_state_is_shown_from_all_sides_and_no_request_leaves_this_machine() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let project = states::empty();
    let served = Served::start(project.command(&[]));
    look(&browser, "empty", &served);
    assert!(shows(&browser, "No workflow is running"));
    assert!(shows(&browser, "Not armed") && shows(&browser, "tollgate install"));
    assert!(shows(&browser, "Not verified") && shows(&browser, "There are no gates."));

    let project = states::busy();
    let served = Served::start(project.command(&[]));
    look(&browser, "busy", &served);
    assert!(shows(&browser, "Pay by invoice") && shows(&browser, "is running gates now"));
    assert!(shows(&browser, "cents get lost in the sum") && shows(&browser, "1 of 2 tasks closed"));
    // What failed is not told from what passed by its colour alone.
    assert!(shows(
        &browser,
        "9 failed: those are red and have a cap above them"
    ));
    let heights = browser.script(
        "const bars = [...document.querySelectorAll('svg rect.bad')].filter(one => one.closest('figure').textContent.includes('cap above')); return bars.length",
    );
    assert_eq!(heights, 18);

    let project = states::long();
    let served = Served::start(project.command(&[]));
    look(&browser, "long", &served);
    assert!(shows(&browser, "9800 older ones"));
    let rows = browser.script("return document.querySelectorAll('tbody tr').length");
    assert_eq!(rows, 200);
    // One kind alone: every row of it, also of the older ones, and no other.
    browser.script("document.getElementById('kind-block').click()");
    browser.until("document.getElementById('more-decisions').open");
    let seen = "[...document.querySelectorAll('tbody tr')].filter(one => one.checkVisibility())";
    assert_eq!(browser.script(&format!("return {seen}.length")), 40);
    let others = format!("return {seen}.filter(one => !one.matches('.block')).length");
    assert_eq!(browser.script(&others), 0);
    browser.picture("long-blocks");

    let project = states::broken();
    let served = Served::start(project.command(&[]));
    look(&browser, "broken", &served);
    assert!(shows(&browser, "The state cannot be read") && shows(&browser, "Next: restore it"));
    assert!(shows(&browser, "plan invoice: ") && shows(&browser, "tollgate plan repair"));

    let gates = states::failing();
    let served = Served::start(gates.command(&[]));
    look(&browser, "failing", &served);
    // A failing gate is open, at the failure: what comes behind it is folded.
    assert!(shows(&browser, "AssertionError: left == right"));
    assert!(!shows(&browser, "epilogue 40"));
    // The verdict is that of `status`.
    let status: serde_json::Value =
        serde_json::from_str(&gates.tollgate(&["status", "--json"]).stdout).unwrap();
    assert!(shows(&browser, "Not verified"));
    assert!(shows(&browser, status["gates"]["why"].as_str().unwrap()));

    let project = states::hostile();
    let served = Served::start(project.command(&[]));
    look(&browser, "hostile", &served);
    assert_eq!(browser.script("return window.owned === undefined"), true);
    assert_eq!(
        browser.script("return document.querySelectorAll('img, b b, script:not([src])').length"),
        0
    );
    let text = HOSTILE.split('\u{1b}').next().unwrap();
    assert!(shows(&browser, text) && shows(&browser, "\\u{1b}[31m"));

    let report = project.path("report.html");
    project.run(&["report", "--html", "report.html"], b"");
    browser.requests();
    browser.open(&format!("file://{}", report.display()));
    browser.picture("hostile-report");
    assert!(shows(&browser, text));
    let fetched = browser.requests();
    assert!(
        fetched
            .iter()
            .all(|url| url.starts_with("file://") || url.starts_with("data:")),
        "{fetched:?}"
    );
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
}

/// The server says moments in UTC, for those without scripts and for a report.
#[test]
fn moments_are_those_of_the_reader_and_steps_are_folded() {
    let Some(browser) = Browser::start() else {
        return;
    };
    browser.zone("Asia/Tokyo");
    let project = states::stepping();
    let served = Served::start(project.command(&[]));
    assert!(served.get("").body.contains("2026-02-08 20:00:07"));
    look(&browser, "steps", &served);
    assert!(shows(&browser, "2026-02-09 05:00:07"));
    assert!(shows(&browser, "Times are local (Asia/Tokyo)."));
    let title = "return document.querySelector('#decisions time').title";
    assert_eq!(browser.script(title), "2026-02-08 20:00:07 UTC");
    assert!(shows(&browser, "5 steps") && !shows(&browser, "phase design began"));
    assert!(shows(&browser, "completed, not verified"));
    // What is chosen and what is open stay when the page changes.
    browser.script("document.querySelector('#decisions tbody details summary').click()");
    browser.script("document.getElementById('kind-step').click()");
    assert!(shows(&browser, "phase design began"));
    let rows = "document.querySelectorAll('#decisions tbody tr').length";
    let before = browser.script(&format!("return {rows}")).as_u64().unwrap();
    project.hook(&bash("git push --force origin main").in_session("s"));
    project.hook(&write("src/a.rs", "x").in_session("s"));
    browser.until(&format!("{rows} > {before}"));
    assert_eq!(
        browser.script("return document.getElementById('kind-step').checked"),
        true
    );
    assert!(shows(&browser, "phase design began"));
}

#[test]
fn it_is_live_and_works_with_the_keyboard_alone() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let project = states::blocked();
    let served = Served::start(project.command(&[]));
    look(&browser, "blocked", &served);
    let rows = "document.querySelectorAll('tbody tr.block').length";
    let before = browser.script(&format!("return {rows}")).as_u64().unwrap();
    project.hook(&bash("git commit -m 'once more'"));
    browser.until(&format!("{rows} === {}", before + 1));
    browser.until("document.getElementById('live').textContent.includes('BG-001')");

    // The first stop of the keyboard leads past the navigation, and can be seen.
    browser.size(WIDE.0, WIDE.1);
    browser.open("about:blank");
    browser.open(&served.address());
    browser.until("document.hasFocus() && document.getElementById('live').textContent === 'live'");
    browser.press("\u{e004}");
    let focused = "document.activeElement";
    browser.until(&format!(
        "{focused}.className === 'skip' && {focused}.getBoundingClientRect().left >= 0"
    ));
    browser.until(&format!(
        "getComputedStyle({focused}).outlineStyle !== 'none'"
    ));
    browser.press("\u{e007}");
    browser.until(&format!("{focused}.id === 'main'"));

    // A gate is opened with the keyboard, and stays open when the page changes.
    let gates = states::failing();
    let served = Served::start(gates.command(&[]));
    browser.open(&served.address());
    browser.until("document.getElementById('live').textContent.startsWith('live')");
    let passed = "document.getElementById('gate-check:src:ok')";
    browser.script(&format!("{passed}.querySelector('summary').focus()"));
    browser.press(" ");
    browser.until(&format!("{passed}.open"));
    gates.file("src/c.txt", "c\n");
    gates.stop();
    browser.until("document.querySelectorAll('tbody tr.gate').length > 3");
    browser.until(&format!("{passed}.open && {passed}.contains({focused})"));
    drop(served);
    browser.until("document.getElementById('live').textContent.startsWith('disconnected')");
}
