//! `tollgate log --verify`: what was removed, altered, inserted or cut off is found, and what a
//! killed writer leaves behind is not mistaken for it.

use std::path::Path;
use std::sync::OnceLock;

use proptest::prelude::*;
use serde_json::Value;
use tollgate_store::journal::{Entry, Journal, Verdict};
use tollgate_store::lock::{self, Acquired};

use crate::events::bash;
use crate::project::{Run, TestProject, with_branch};

const LOCAL: &str = ".tollgate/local";
const CURRENT: &str = ".tollgate/local/journal.jsonl";
const TAIL: &str = ".tollgate/local/journal.tail";

fn append(journal: &Journal, n: u64) {
    let reason = format!("the reason of entry {n}, with a \"quote\" and ünï");
    let entry = Entry {
        guard: Some("branch-guard"),
        code: Some("BG-001"),
        reason: Some(&reason),
        index: Some(n),
        ..Entry::new("2026-02-08T20:00:00Z".parse().unwrap(), Verdict::Block)
    };
    journal.append(&entry).unwrap();
}

/// A project with so many entries, rotated at so many bytes.
fn written(count: u64, limit: u64) -> TestProject {
    let project = TestProject::bare();
    let journal = Journal::new(project.path(LOCAL)).with_limit(limit);
    (0..count).for_each(|n| append(&journal, n));
    project
}

fn verify(project: &TestProject) -> (Run, Value) {
    let run = project.run(&["log", "--verify", "--json"], b"");
    let value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
    (run, value)
}

#[track_caller]
fn holds(project: &TestProject) -> Value {
    let (run, value) = verify(project);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(value["ok"], true, "{value}");
    value
}

#[track_caller]
fn fails(project: &TestProject, what: &str) -> Value {
    let (run, value) = verify(project);
    assert_eq!(run.code, 1, "{run:?}");
    let told = project.run(&["log", "--verify"], b"");
    assert_eq!(told.code, 1, "{told:?}");
    assert!(told.stdout.contains(what), "{told:?}");
    value
}

#[test]
fn a_journal_as_the_hook_writes_it_holds_and_says_its_head() {
    let project = TestProject::new()
        .state(&with_branch("active"))
        .on_branch("main");
    assert_eq!(holds(&project)["chained"], 0);
    for _ in 0..3 {
        project
            .hook(&bash("git commit -m x"))
            .blocks("COMMIT TO MAIN");
    }
    let value = holds(&project);
    assert_eq!(value["chained"], 3);
    let head = value["head"]["hash"].as_str().unwrap().to_owned();
    project
        .hook(&bash("git commit -m x"))
        .blocks("COMMIT TO MAIN");
    assert_eq!(
        project.run(&["log", "--verify", "--head", &head], b"").code,
        0
    );
    let other = "0".repeat(64);
    let run = project.run(&["log", "--verify", "--head", &other], b"");
    assert!(
        run.code == 1 && run.stdout.contains("no line has the hash"),
        "{run:?}"
    );
}

/// Holds the journal's lock, as a process does that was stopped at the wrong moment.
fn held(project: &TestProject) -> Acquired {
    let held = lock::acquire(&project.path(TAIL), std::time::Duration::ZERO).unwrap();
    assert!(matches!(held, Acquired::Held(_)));
    held
}

#[test]
fn a_line_that_finds_the_journal_busy_waits_and_is_not_lost() {
    let project = TestProject::new()
        .state(&with_branch("active"))
        .on_branch("main");
    let commit = |message: &str| {
        let run = project.hook(&bash(&format!("git commit -m {message}")));
        assert_eq!(run.stderr, "", "nothing is amiss");
        run.blocks("COMMIT TO MAIN");
    };
    commit("first");
    let busy = held(&project);
    commit("second");
    commit("third");
    // It is in sight, and nobody vouches for it yet.
    assert_eq!(project.journal().len(), 1);
    let value = holds(&project);
    assert_eq!(
        (&value["chained"], &value["waiting"]),
        (&1.into(), &2.into())
    );
    let told = project.run(&["log", "--verify"], b"").stdout;
    assert!(told.contains("2 lines are not in the chain yet"), "{told}");
    let log = project.run(&["log", "--json"], b"").stdout;
    let has = |text: &str, message: &str| text.contains(&format!("git commit -m {message}"));
    assert!(
        ["first", "second", "third"]
            .iter()
            .all(|message| has(&log, message)),
        "{log}"
    );
    let explained = project.run(&["explain", "--json"], b"").stdout;
    assert!(explained.contains("BG-001"), "{explained}");
    // Kept, to play a writer who was killed between the line and its removal.
    let waiting = project.path(".tollgate/local/journal.waiting");
    let names = || -> Vec<_> {
        waiting
            .read_dir()
            .unwrap()
            .map(|file| file.unwrap().path())
            .collect()
    };
    let kept: Vec<_> = names()
        .into_iter()
        .map(|path| (path.clone(), std::fs::read_to_string(path).unwrap()))
        .collect();
    assert_eq!(kept.len(), 2);
    drop(busy);
    commit("fourth");
    let journal = project.read(CURRENT);
    let order: Vec<_> = journal
        .lines()
        .map(|line| {
            ["first", "second", "third", "fourth"]
                .iter()
                .position(|message| has(line, message))
                .unwrap()
        })
        .collect();
    assert_eq!(order, [0, 1, 2, 3]);
    let value = holds(&project);
    assert_eq!(
        (&value["chained"], &value["waiting"]),
        (&4.into(), &0.into())
    );
    for (path, text) in &kept {
        crate::project::put(path, text);
    }
    crate::project::put(&waiting.join("1-1-1.json"), "no line\n{}");
    commit("fifth");
    assert_eq!(holds(&project)["chained"], 5, "no line twice");
    assert_eq!(names().len(), 1, "what is none of ours is put aside");
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let project = written(9, 1 << 20);
    let text = project.read(CURRENT);
    let lines: Vec<&str> = text.lines().collect();
    let put = |lines: &[&str]| project.file(CURRENT, &(lines.join("\n") + "\n"));
    put(&[&lines[..3], &lines[4..]].concat());
    let value = fails(
        &project,
        "journal.jsonl:4: line #4 was removed before this one",
    );
    assert_eq!((&value["problems"][0]["line"]), 4);
    let altered = lines[5].replace("entry 5", "entry 6");
    let mut changed = lines.clone();
    changed[5] = &altered;
    put(&changed);
    fails(
        &project,
        "journal.jsonl:6: line #6 or the one before it was altered",
    );
    let mut inserted = lines.clone();
    inserted.insert(
        2,
        "{\"ts\":\"2026-02-08T20:00:00.000Z\",\"verdict\":\"block\"}",
    );
    put(&inserted);
    fails(&project, "journal.jsonl:3: a line without a hash");
    put(&lines[..7]);
    fails(&project, "lines #8 to #9 were removed from the end");
    // The gap stays in sight when more is written.
    append(&Journal::new(project.path(LOCAL)), 9);
    fails(&project, "lines #8 to #9 were removed before this one");
    put(&lines);
    std::fs::remove_file(project.path(TAIL)).unwrap();
    fails(
        &project,
        "the record of the last line, journal.tail, was removed",
    );
    std::fs::remove_file(project.path(CURRENT)).unwrap();
    project.file(TAIL, "");
    assert_eq!(holds(&project)["chained"], 0);
}

#[test]
fn a_killed_writer_is_no_tampering() {
    let project = written(4, 1 << 20);
    let record = project.read(TAIL);
    append(&Journal::new(project.path(LOCAL)), 4);
    let text = project.read(CURRENT);
    // Killed between the line and the record.
    project.file(TAIL, &record);
    assert_eq!(holds(&project)["chained"], 5);
    // Killed inside the line, at every place.
    let start = text.trim_end().rfind('\n').unwrap() + 1;
    for cut in (start + 1..text.len() - 1)
        .step_by(7)
        .filter(|cut| text.is_char_boundary(*cut))
    {
        project.file(CURRENT, text.get(..cut).unwrap());
        project.file(TAIL, &record);
        let value = holds(&project);
        assert_eq!(
            (&value["chained"], value["torn"].as_array().unwrap().len()),
            (&4.into(), 1)
        );
        append(&Journal::new(project.path(LOCAL)), 5);
        assert_eq!(holds(&project)["chained"], 5, "cut at {cut}");
    }
    // Killed before the newline: the line is whole.
    project.file(CURRENT, text.trim_end());
    project.file(TAIL, &record);
    assert_eq!(holds(&project)["chained"], 5);
    append(&Journal::new(project.path(LOCAL)), 5);
    assert_eq!(holds(&project)["chained"], 6);
    // Killed between a line and its record, and the next one inside its line.
    project.file(CURRENT, format!("{text}{{\"ts\":\"20"));
    project.file(TAIL, &record);
    append(&Journal::new(project.path(LOCAL)), 5);
    assert_eq!(holds(&project)["chained"], 6);
    // Killed at the very first line.
    let fresh = written(1, 1 << 20);
    fresh.file(TAIL, "");
    assert_eq!(holds(&fresh)["chained"], 1);
}

#[test]
fn lines_from_before_there_was_a_chain_are_no_tampering() {
    let project = TestProject::bare();
    let old = "{\"ts\":\"2026-02-08T20:00:00.000Z\",\"verdict\":\"warn\",\"code\":\"X\"}\n";
    project.file(CURRENT, old.repeat(3));
    let value = holds(&project);
    assert_eq!(
        (&value["unchained"], &value["chained"]),
        (&3.into(), &0.into())
    );
    let journal = Journal::new(project.path(LOCAL));
    (0..3).for_each(|n| append(&journal, n));
    let value = holds(&project);
    assert_eq!(
        (&value["unchained"], &value["chained"]),
        (&3.into(), &3.into())
    );
    assert_eq!(value["unchained_until"], "journal.jsonl:4");
    let told = project.run(&["log", "--verify"], b"").stdout;
    assert!(told.contains("unchained until journal.jsonl:4"), "{told}");
    // Taking the hash off the first chained line does not make it an old one.
    let text = project.read(CURRENT);
    let stripped: Vec<String> = text
        .lines()
        .map(|line| match line.split_once(",\"n\":1,") {
            Some((before, _)) => format!("{before}}}"),
            None => line.to_owned(),
        })
        .collect();
    project.file(CURRENT, &(stripped.join("\n") + "\n"));
    fails(&project, "line #1 was removed");
}

#[test]
fn rotation_keeps_the_chain_and_a_removed_file_is_missed() {
    let project = written(120, 4000);
    for name in ["journal.1.jsonl", "journal.2.jsonl", "journal.3.jsonl"] {
        assert!(project.path(LOCAL).join(name).exists());
    }
    let chained = holds(&project)["chained"].as_u64().unwrap();
    assert!((20..120).contains(&chained), "{chained}");
    std::fs::remove_file(project.path(".tollgate/local/journal.2.jsonl")).unwrap();
    fails(&project, "were removed before this one");
}

#[test]
fn many_writers_at_once_make_one_chain() {
    let project = written(0, 1);
    let journal = Journal::new(project.path(LOCAL)).with_limit(8000);
    std::thread::scope(|scope| {
        for writer in 0..6 {
            let journal = &journal;
            scope.spawn(move || (0..20).for_each(|n| append(journal, writer * 100 + n)));
        }
    });
    let value = holds(&project);
    assert_eq!(value["head"]["n"], 120);
}

/// The files of a journal that was written and rotated once.
fn sample() -> &'static [(String, Vec<u8>)] {
    static SAMPLE: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    SAMPLE.get_or_init(|| {
        let project = written(15, 3500);
        let journal = Journal::new(project.path(LOCAL)).with_limit(3500);
        let busy = held(&project);
        (15..18).for_each(|n| append(&journal, n));
        drop(busy);
        (18..45).for_each(|n| append(&journal, n));
        let mut files: Vec<_> = std::fs::read_dir(project.path(LOCAL))
            .unwrap()
            .map(|file| file.unwrap())
            .filter(|file| file.path().is_file())
            .map(|file| {
                (
                    file.file_name().into_string().unwrap(),
                    std::fs::read(file.path()).unwrap(),
                )
            })
            .filter(|(name, _)| name.starts_with("journal"))
            .collect();
        files.sort();
        files
    })
}

#[derive(Clone, Debug)]
enum Tampering {
    /// Another byte at a place.
    Flip(u8),
    /// A line less.
    Remove,
    /// A line twice.
    Double,
    /// Two neighbours the other way round.
    Swap,
    /// A line as another version of the journal would have written it.
    Insert,
    /// Cut off from a place on.
    Cut,
    /// A text in a line replaced, with the same length.
    Reword,
}

fn tampering() -> impl Strategy<Value = Tampering> {
    prop_oneof![
        3 => (1u8..=255).prop_map(Tampering::Flip),
        2 => Just(Tampering::Remove),
        1 => Just(Tampering::Double),
        1 => Just(Tampering::Swap),
        1 => Just(Tampering::Insert),
        2 => Just(Tampering::Cut),
        2 => Just(Tampering::Reword),
    ]
}

impl Tampering {
    fn apply(&self, bytes: &[u8], at: prop::sample::Index) -> Vec<u8> {
        let mut lines: Vec<Vec<u8>> = bytes
            .split_inclusive(|byte| *byte == b'\n')
            .map(<[u8]>::to_vec)
            .collect();
        let (byte, line) = (at.index(bytes.len()), at.index(lines.len()));
        match self {
            Self::Flip(mask) => {
                let mut bytes = bytes.to_vec();
                bytes[byte] ^= mask;
                return bytes;
            }
            Self::Cut => return bytes[..byte].to_vec(),
            Self::Remove => drop(lines.remove(line)),
            Self::Double => lines.insert(line, lines[line].clone()),
            Self::Swap => {
                let other = if line == 0 { 1 } else { line - 1 };
                lines.swap(line, other);
            }
            Self::Insert => {
                lines.insert(line, b"{\"verdict\":\"block\",\"guard\":\"x\"}\n".to_vec());
            }
            Self::Reword => {
                let text = String::from_utf8(lines[line].clone()).unwrap();
                lines[line] = text
                    .replacen("branch-guard", "breach-guard", 1)
                    .into_bytes();
            }
        }
        lines.concat()
    }
}

fn plant(local: &Path, files: &[(String, Vec<u8>)]) {
    std::fs::create_dir_all(local).unwrap();
    for (name, bytes) in files {
        #[expect(clippy::disallowed_methods, reason = "a copy for the test to spoil")]
        std::fs::write(local.join(name), bytes).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_tampering_is_found(how in tampering(), file in any::<prop::sample::Index>(), at in any::<prop::sample::Index>()) {
        let mut files = sample().to_vec();
        let journals: Vec<usize> = (0..files.len()).filter(|index| !files[*index].0.contains("tail")).collect();
        prop_assert!(journals.len() >= 3);
        let chosen = journals[file.index(journals.len())];
        files[chosen].1 = how.apply(&files[chosen].1, at);
        let project = TestProject::bare();
        plant(&project.path(LOCAL), &files);
        let (run, value) = verify(&project);
        prop_assert_eq!(run.code, 1, "{:?} went unseen: {}", how, value);
        prop_assert!(!value["problems"].as_array().unwrap().is_empty());
    }
}
