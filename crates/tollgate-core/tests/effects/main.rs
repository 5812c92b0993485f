//! Effects against the truth: each command line of a corpus is put to [`effects`], and then run by
//! bash under strace in a directory of its own, beside a bare repository. Every *certain* effect must
//! have happened, and nearly all that happened must have been reported.
//!
//! `cargo test` runs a share that a seed chooses; `scripts/prove effects` runs all
//! (`TOLLGATE_EFFECTS=all`) and compares the table with the one in docs/effects.md.
#![cfg(test)]
#![expect(
    clippy::disallowed_methods,
    reason = "a test plants files, and is told its orders by the environment"
)]

mod compare;
mod corpus;
mod sandbox;
mod trace;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use compare::Tally;
use corpus::Row;
use sandbox::Template;

/// Where the table begins in the document.
const TABLE: &str = "<!-- the figures of `scripts/prove effects` -->\n\n";
const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/effects.md");
/// What `cargo test` may take.
const SHARE: Duration = Duration::from_secs(15);
/// Of what happened, so much in a hundred must have been reported.
const REPORTED: f64 = 97.0;
/// The same of a share, which by chance may hold more of what is missed than the whole does.
const REPORTED_OF_SHARE: f64 = 95.0;

/// What `TOLLGATE_EFFECTS` asks for: `all`, or one kind.
fn wanted() -> Option<String> {
    std::env::var("TOLLGATE_EFFECTS").ok()
}

fn seed() -> u64 {
    let given = std::env::var("TOLLGATE_TEST_SEED").ok();
    given
        .and_then(|seed| seed.parse().ok())
        .unwrap_or_else(|| fastrand::u64(..1 << 32))
}

#[test]
fn certain_effects_happen_and_what_happens_is_reported() {
    let Some(template) = Template::make() else {
        println!("SKIPPED: strace cannot trace here, so effects are not compared with the truth");
        return;
    };
    let mut rows = corpus::rows();
    let wanted = wanted();
    let kind = wanted.as_deref().filter(|kind| *kind != "all");
    rows.retain(|row| kind.is_none_or(|kind| row.kind == kind));
    let all = wanted.is_some();
    let seed = seed();
    if !all {
        fastrand::Rng::with_seed(seed).shuffle(&mut rows);
    }
    println!("{} command lines, seed {seed}", rows.len());
    let next = Mutex::new(rows.iter());
    let began = Instant::now();
    let tallies = std::thread::scope(|scope| {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let work = || {
            let mut done = Vec::new();
            while all || began.elapsed() < SHARE {
                let Some(row) = next.lock().unwrap().next() else {
                    break;
                };
                let tally = template.compare(row);
                for line in tally.wrong.iter().chain(&tally.missed) {
                    println!("{line}");
                }
                done.push((row, tally));
            }
            done
        };
        let handles: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        handles
            .into_iter()
            .flat_map(|handle| handle.join().unwrap())
            .collect::<Vec<_>>()
    });
    report(&tallies, all);
    if all && kind.is_none() {
        check_document(&counted(&tallies).0);
    }
}

/// The table by kind, and the sum.
fn counted(tallies: &[(&Row, Tally)]) -> (String, Tally) {
    let mut kinds: BTreeMap<usize, (&str, Tally)> = BTreeMap::new();
    let mut total = Tally::default();
    for (row, tally) in tallies {
        let (_, sum) = kinds
            .entry(row.order)
            .or_insert_with(|| (row.kind.as_str(), Tally::default()));
        sum.add(tally);
        total.add(tally);
    }
    let table = table(kinds.values().map(|(kind, tally)| (*kind, tally)), &total);
    (table, total)
}

fn report(tallies: &[(&Row, Tally)], all: bool) {
    let (table, total) = counted(tallies);
    println!("{table}");
    println!(
        "{} command lines: {} certain effects, {} did not happen; {} of {} reported; {} skipped, {} failed",
        total.lines,
        total.certain,
        total.wrong.len(),
        total.reported(),
        total.happened,
        total.skipped,
        total.failed
    );
    assert!(
        total.wrong.is_empty(),
        "certain, and did not happen:\n{}",
        total.wrong.join("\n")
    );
    let bound = if all { REPORTED } else { REPORTED_OF_SHARE };
    assert!(
        total.share() >= bound,
        "only {:.2} % was reported",
        total.share()
    );
    assert!(total.lines > 0, "nothing was run");
}

/// The table in the document is that of the last run of everything; `TOLLGATE_EFFECTS_WRITE=1`
/// puts it there. On a machine that lacks programs or has others, it has other figures.
fn check_document(table: &str) {
    let document = std::fs::read_to_string(DOCUMENT).unwrap();
    let (before, _) = document.split_once(TABLE).unwrap();
    let fresh = format!("{before}{TABLE}{table}");
    if std::env::var("TOLLGATE_EFFECTS_WRITE").is_ok() {
        std::fs::write(DOCUMENT, fresh).unwrap();
    } else if fresh != document {
        println!("docs/effects.md has other figures: write them with TOLLGATE_EFFECTS_WRITE=1");
    }
}

fn table<'a>(kinds: impl Iterator<Item = (&'a str, &'a Tally)>, total: &Tally) -> String {
    let mut text = String::from(
        "| Kind | Command lines | Certain effects | Happened | Reported as certain | as possible | Missed |\n\
         |---|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut add = |kind: &str, tally: &Tally| {
        writeln!(
            text,
            "| {kind} | {} | {} | {} | {} | {} | {} |",
            tally.lines,
            tally.certain,
            tally.happened,
            tally.as_certain,
            tally.as_possible,
            tally.missed.len()
        )
        .unwrap();
    };
    for (kind, tally) in kinds {
        add(kind, tally);
    }
    add("**all**", total);
    text
}

#[test]
fn the_corpus_is_large_enough_and_the_document_has_its_kinds() {
    let rows = corpus::rows();
    assert!(rows.len() >= 1500, "{}", rows.len());
    let document = std::fs::read_to_string(DOCUMENT).unwrap();
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &rows {
        *lines.entry(&row.kind).or_default() += 1;
    }
    for (kind, lines) in lines {
        let cells = format!("| {kind} | {lines} |");
        assert!(document.contains(&cells), "docs/effects.md lacks {cells}");
    }
}
