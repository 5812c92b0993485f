//! Lines of the journal: what is in them, and that none is lost.

use super::*;
use std::os::unix::fs::MetadataExt as _;

fn now() -> Timestamp {
    "2026-02-08T20:00:00Z".parse().unwrap()
}

#[test]
fn a_line_has_what_is_known_and_no_secret() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::new(dir.path().join("local"));
    let entry = Entry {
        guard: Some("branch-guard"),
        code: Some("BG-001"),
        reason: Some("blocked: git push https://me:hunter2@host\n\"quoted\""),
        took: Some(Duration::from_micros(3400)),
        ..Entry::new(now(), Verdict::Block)
    };
    journal.append(&entry).unwrap();
    let written = std::fs::read_to_string(journal.path()).unwrap();
    let (told, link) = written.split_once(",\"prev\":\"0000").unwrap();
    assert!(link.contains("\",\"n\":1,\"chain\":\"") && link.ends_with("\"}\n"));
    assert_eq!(
        told,
        "{\"ts\":\"2026-02-08T20:00:00.000Z\",\"verdict\":\"block\",\"guard\":\"branch-guard\",\
         \"code\":\"BG-001\",\"reason\":\"blocked: git push https://me:[redacted]@host\\n\
         \\\"quoted\\\"\",\"ms\":3.4"
    );
    assert_eq!(journal.path().metadata().unwrap().mode() & 0o7777, 0o600);
    let local = dir.path().join("local");
    assert_eq!(local.metadata().unwrap().mode() & 0o7777, 0o700);
    assert_eq!(
        std::fs::read_to_string(local.join(".gitignore")).unwrap(),
        "*\n"
    );
}

#[test]
fn a_long_text_is_cut_after_it_was_redacted() {
    let long = format!("{} GH_TOKEN=hunter2", "ü".repeat(5000));
    assert!(clean(&long).len() < 4200);
    let near = format!("{} GH_TOKEN=hunter2hunter2", "x".repeat(4080));
    assert!(!clean(&near).contains("hunter"));
}

#[test]
fn a_grown_journal_is_rotated_and_four_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::new(dir.path()).with_limit(1500);
    for n in 0..100 {
        let entry = Entry {
            version: Some(n),
            ..Entry::new(now(), Verdict::Warn)
        };
        journal.append(&entry).unwrap();
    }
    let mut kept = Vec::new();
    for name in NAMES.iter().rev() {
        let Ok(text) = std::fs::read_to_string(dir.path().join(name)) else {
            continue;
        };
        assert!(text.len() < 1800);
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            kept.push(line["version"].as_u64().unwrap());
        }
    }
    // The newest are all there, in order and once.
    let first = kept[0];
    assert_eq!(kept, (first..100).collect::<Vec<_>>());
    assert!(kept.len() > 20);
    let there = |name: &&&str| dir.path().join(name).exists();
    assert_eq!(NAMES.iter().skip(1).filter(there).count(), 3);
    assert!(dir.path().read_dir().unwrap().count() <= 6);
}

#[test]
fn lines_that_are_appended_at_once_are_as_those_one_by_one() {
    let dir = tempfile::tempdir().unwrap();
    let (once, singly) = (dir.path().join("once"), dir.path().join("singly"));
    let (once, singly) = (Journal::new(once), Journal::new(singly));
    let entry = |version| Entry {
        version: Some(version),
        ..Entry::new(now(), Verdict::Gate)
    };
    let lines: Vec<Draft> = (0..5).map(|n| entry(n).draft().unwrap()).collect();
    once.append_all(&[]).unwrap();
    assert!(!once.path().exists());
    once.append_all(&lines).unwrap();
    once.append(&entry(5)).unwrap();
    for n in 0..6 {
        singly.append(&entry(n)).unwrap();
    }
    let read = |journal: &Journal| std::fs::read_to_string(journal.path()).unwrap();
    assert_eq!(read(&once), read(&singly));
    assert_eq!(read(&once).lines().count(), 6);
}

#[test]
fn a_failure_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("journal.jsonl")).unwrap();
    let journal = Journal::new(dir.path());
    journal
        .append(&Entry::new(now(), Verdict::Fault))
        .unwrap_err();
}
