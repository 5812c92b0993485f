//! Every requirement of the five specifications, and the tests that show it or the decision that
//! was made about it: `table.txt`, from which `docs/conformance.md` is made.
//!
//! A line of the table is an id, a few words, and tests: a name, or `module::beginning` for all
//! tests of a module whose names begin so. Tests that carry an id in their names count for it
//! without being listed. `decided: …` is for what needs no test.

use std::fmt::Write as _;

use crate::structure::{Test, tests};

const TABLE: &str = include_str!("table.txt");
const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/conformance.md");

/// Set to make the document anew.
const WRITE: &str = "TOLLGATE_WRITE_CONFORMANCE";

/// The sections of 000, and how many rows the table of one has; 0 for a section as a whole.
const SECTIONS: &str = "2.1 2.2 2.3 3.1 3.2 3.3 3.4 3.5 \
    4.1 4.1.1 4.1.2 4.1.3 4.1.4 4.1.5:11 4.1.6 4.2 4.2.1 4.2.2 4.2.3 4.2.4 4.2.5 4.2.6 4.2.7:10 4.2.8 \
    4.3 4.3.1 4.3.2 4.3.3 4.3.4 4.3.5:9 4.3.6 4.4 4.4.1 4.4.2 4.4.3 4.4.4 4.4.5 4.4.6:15 4.4.7 \
    4.5 4.5.1 4.5.2 4.5.3 4.5.4 4.5.5 4.5.6:10 4.5.7 4.6 4.6.1 4.6.2 4.6.3 4.6.4 4.6.5:2 4.6.6 \
    4.7 4.7.1 4.7.2 4.7.3 4.7.4 4.7.5:10 4.7.6 5.1 5.2 6.1 6.2 7 8.1:4 8.2:6 8.3:9 9.1:4 9.2:5 \
    10 11.1 11.2 12 13.1 13.3 13.4 14 A";

/// The tests that 000 §13.2 counts, by guard.
const CASES: [(&str, usize); 8] = [
    ("phase_loop_controller", 12),
    ("plan_surfacer", 10),
    ("phase_sequence_guard", 12),
    ("branch_guard", 14),
    ("state_write_validator", 14),
    ("walkthrough_tracker", 10),
    ("discover_menu_guard", 10),
    ("delegation", 10),
];

/// The titles of 002's six suites.
const SUITES: [(&str, usize); 6] = [
    ("suite_1_validation", 17),
    ("suite_2_auto_review", 15),
    ("suite_3_transitions", 16),
    ("suite_4_invocation", 14),
    ("suite_5_messages", 6),
    ("suite_6_edges", 12),
];

/// The groups of rules of 002, and how many there are.
const RULES: &str = "state:8 stage:1 flow:7 exit:3 models:1 boundary:4 skip-final:1 verdict:1 hook:7 \
    logic:16 cli:6 prompt:4 task-list:2 message:4 atomic:2 timeout:1 action:12 rules:4 codex:2 \
    validation:2 risk:9";

/// The last letters of the acceptance criteria.
const CRITERIA_001: &str = "001e 002f 003g 004g 005d 006e 007e 008f 009e 010f 011f 012e 013f";
const CRITERIA_004: &str = "001e 002c 003d 004d 005d";

const SCENARIOS: usize = 56;

struct Part {
    document: &'static str,
    title: &'static str,
    rows: Vec<Row>,
}

struct Row {
    id: String,
    words: String,
    shown_by: ShownBy,
}

enum ShownBy {
    Decision(String),
    /// Tests by module and name.
    Tests(Vec<String>),
}

/// The table, with every name looked up and every test added that carries an id.
fn parts(found: &[Test]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for line in TABLE.lines().filter(|line| !line.is_empty()) {
        if let Some(head) = line.strip_prefix("== ") {
            let (document, title) = head.split_once(" | ").unwrap();
            parts.push(Part {
                document,
                title,
                rows: Vec::new(),
            });
            continue;
        }
        let part = parts.last_mut().unwrap();
        let mut cells = line.split(" | ");
        let (id, words) = (cells.next().unwrap(), cells.next().unwrap());
        let shown_by = cells.next().unwrap_or_default().trim();
        let row = Row::read(part.document, id, words.trim(), shown_by, found);
        part.rows.push(row);
    }
    parts.sort_by_key(|part| part.document);
    for part in &mut parts {
        let (modules, home) = match part.document {
            "000" => (CASES.as_slice(), "spec_000::"),
            "002" => (SUITES.as_slice(), "plans::"),
            _ => continue,
        };
        for (module, count) in modules {
            for case in 1..=*count {
                let reference = format!("{home}{module}::t{case:02}");
                let id = match part.document {
                    "000" => format!("13.2 {} {case}", module.replace('_', "-")),
                    _ => format!("{}.{case}", module.split('_').nth(1).unwrap()),
                };
                part.rows.push(Row::read("", &id, "", &reference, found));
            }
        }
    }
    parts
}

impl Row {
    fn read(document: &str, id: &str, words: &str, shown_by: &str, found: &[Test]) -> Self {
        let shown_by = match shown_by.strip_prefix("decided: ") {
            Some(decision) => ShownBy::Decision(decision.to_owned()),
            None => ShownBy::Tests(shown(document, id, shown_by, found)),
        };
        let words = match (&shown_by, words) {
            (ShownBy::Tests(tests), "") => spoken(tests),
            (ShownBy::Tests(_) | ShownBy::Decision(_), words) => words.to_owned(),
        };
        Self {
            id: id.to_owned(),
            words,
            shown_by,
        }
    }
}

/// The tests that a row names, each of which must exist, and those that carry its id.
fn shown(document: &str, id: &str, references: &str, found: &[Test]) -> Vec<String> {
    let mut shown: Vec<String> = Vec::new();
    for reference in references.split(", ").filter(|one| !one.is_empty()) {
        let (module, name) = reference.rsplit_once("::").unwrap_or(("", reference));
        let is_meant = |test: &&Test| {
            let is_called = match test.name.strip_prefix(name) {
                Some(rest) => rest.is_empty() || (!module.is_empty() && rest.starts_with('_')),
                None => false,
            };
            is_called && in_module(&test.module(), module)
        };
        let meant: Vec<_> = found.iter().filter(is_meant).collect();
        assert!(!meant.is_empty(), "{document} {id}: no test {reference}");
        shown.extend(meant.into_iter().map(full_name));
    }
    // 001 and 004 have criteria of the same names; those of 004 are not in names of tests.
    let carries = id.to_lowercase().replace('-', "_");
    let is_named = |test: &&Test| {
        let name = format!("_{}_", test.name);
        let short = carries.replacen('_', "", 1);
        [&carries, &short]
            .iter()
            .any(|id| name.contains(&format!("_{id}_")))
    };
    let is_numbered = document == "001" || id == "NFR-004";
    let named = found.iter().filter(is_named).filter(|_| is_numbered);
    shown.extend(named.map(full_name));
    shown.sort();
    shown.dedup();
    shown
}

fn in_module(module: &str, end: &str) -> bool {
    end.is_empty() || module == end || module.ends_with(&format!("::{end}"))
}

fn full_name(test: &Test) -> String {
    format!("{}::{}", test.module(), test.name)
}

/// What a test's name says.
fn spoken(tests: &[String]) -> String {
    let name = tests.first().map(String::as_str).unwrap_or_default();
    let name = name.rsplit("::").next().unwrap_or_default();
    let is_case = |head: &str| {
        let number = head.strip_prefix('t').unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    let words = match name.split_once('_') {
        Some((head, rest)) if is_case(head) => rest,
        _ => name,
    };
    words.replace('_', " ")
}

/// The document that the table makes.
fn rendered(parts: &[Part]) -> String {
    let mut text = String::from(
        "# Conformance\n\n\
         Every requirement of the five specifications that Tollgate implements, with the tests that show\n\
         it or the decision about it. Made from `crates/tollgate/tests/it/conformance/table.txt`; a test fails\n\
         when a requirement has neither, or when a test does not exist.\n",
    );
    for part in parts {
        let (document, title, rows) = (part.document, part.title, &part.rows);
        let count = rows.len();
        write!(text, "\n## {document}: {title}\n\n{count} rows.\n\n").unwrap();
        text.push_str("| Id | What | Shown by |\n|---|---|---|\n");
        for row in rows {
            let shown = match &row.shown_by {
                ShownBy::Decision(decision) => format!("Decided: {decision}"),
                ShownBy::Tests(tests) => {
                    let tests = tests.iter().map(|test| format!("`{test}`"));
                    tests.collect::<Vec<_>>().join("<br>")
                }
            };
            writeln!(text, "| {} | {} | {shown} |", row.id, row.words).unwrap();
        }
    }
    text
}

/// `a:3` is `a/1`, `a/2` and `a/3`; without a number it is `a`.
fn sections() -> Vec<String> {
    let mut ids = Vec::new();
    for section in SECTIONS.split_whitespace() {
        match section.split_once(':') {
            Some((name, rows)) => {
                ids.extend((1..=rows.parse().unwrap()).map(|row: usize| format!("{name}/{row}")));
            }
            None => ids.push(section.to_owned()),
        }
    }
    ids
}

fn criteria(last: &str) -> Vec<String> {
    let mut ids = Vec::new();
    for one in last.split_whitespace() {
        let (number, last) = one.split_at(3);
        let letters = 'a'..=last.chars().next().unwrap();
        ids.extend(letters.map(|letter| format!("AC-{number}{letter}")));
    }
    ids
}

fn numbered(kind: &str, count: usize) -> impl Iterator<Item = String> {
    (1..=count).map(move |number| format!("{kind}-{number:03}"))
}

/// The ids that a document has; of 002 and 000, those of its cases come from their counts.
fn expected(document: &str) -> Vec<String> {
    match document {
        "000" => sections(),
        "001" => {
            let mut ids = criteria(CRITERIA_001);
            ids.extend(numbered("IR", 13).chain(numbered("TS", 15)));
            ids.push("NFR-001".to_owned());
            ids
        }
        "003" => (1..=SCENARIOS).map(|number| number.to_string()).collect(),
        "004" => {
            let mut ids = criteria(CRITERIA_004);
            ids.extend(numbered("FR", 5).chain(numbered("NFR", 4)));
            ids
        }
        _ => Vec::new(),
    }
}

#[test]
fn every_requirement_has_its_tests_or_its_decision() {
    let parts = parts(&tests());
    let documents: Vec<_> = parts.iter().map(|part| part.document).collect();
    assert_eq!(documents, ["000", "001", "002", "003", "004"]);
    for part in &parts {
        let mut ids: Vec<&str> = part.rows.iter().map(|row| row.id.as_str()).collect();
        for row in &part.rows {
            let (document, id) = (part.document, &row.id);
            let is_shown = match &row.shown_by {
                ShownBy::Decision(decision) => !decision.is_empty(),
                ShownBy::Tests(tests) => !tests.is_empty(),
            };
            assert!(
                is_shown,
                "{document} {id} has neither a test nor a decision"
            );
            assert!(!row.words.is_empty(), "{document} {id} has no words");
        }
        let lacking: Vec<_> = expected(part.document)
            .into_iter()
            .filter(|id| !ids.contains(&id.as_str()))
            .collect();
        assert!(lacking.is_empty(), "{} lacks {lacking:?}", part.document);
        ids.sort_unstable();
        let count = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), count, "{}: an id is there twice", part.document);
    }
    let rules = parts.iter().find(|part| part.document == "002").unwrap();
    for group in RULES.split_whitespace() {
        let (name, count) = group.split_once(':').unwrap();
        let is_in = |row: &&Row| row.id.split('.').next() == Some(name);
        let there = rules.rows.iter().filter(is_in).count();
        assert_eq!(there.to_string(), count, "rules of 002: {name}");
    }
}

#[test]
fn the_document_is_what_the_table_makes() {
    let made = rendered(&parts(&tests()));
    #[expect(
        clippy::disallowed_methods,
        reason = "a switch for whoever makes it anew"
    )]
    let is_written = std::env::var_os(WRITE).is_some();
    if is_written {
        crate::project::put(std::path::Path::new(DOCUMENT), &made);
    }
    let there = std::fs::read_to_string(DOCUMENT).unwrap_or_default();
    let differs = made.lines().zip(there.lines()).find(|(a, b)| a != b);
    assert!(
        made == there,
        "first difference: {differs:?}; make it anew: {WRITE}=1 cargo test -p tollgate --test it conformance"
    );
}
