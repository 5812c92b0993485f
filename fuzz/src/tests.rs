//! The targets over their corpora, and over changed copies of them.

use std::path::PathBuf;

use proptest::prelude::*;

use super::TARGETS;

/// Changed copies per target.
const CASES: u32 = 150;

fn corpus(target: &str) -> Vec<Vec<u8>> {
    // Command lines are command lines.
    let target = if target == "command" { "shell" } else { target };
    let directory: PathBuf = [env!("CARGO_MANIFEST_DIR"), "corpus", target]
        .iter()
        .collect();
    let mut files: Vec<_> = std::fs::read_dir(&directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
        .iter()
        .map(|file| std::fs::read(file).unwrap())
        .collect()
}

/// A change: where, how much goes, what comes.
fn change() -> impl Strategy<Value = (prop::sample::Index, usize, Vec<u8>)> {
    let token = prop::sample::select(vec![
        "{", "}", "[", "]", "\"", "\\", ",", ":", "null", "1e999", "-1", "\u{0}", "\u{feff}", "é",
        "---\n", "\n", "|", "- ", "&a ", "*a", "<<: ", "$(", "`", "'", "<<E\n", "\\u0000",
    ]);
    let bytes = prop_oneof![
        token.prop_map(|token| token.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..4),
    ];
    (any::<prop::sample::Index>(), 0..40_usize, bytes)
}

fn changed(mut bytes: Vec<u8>, changes: Vec<(prop::sample::Index, usize, Vec<u8>)>) -> Vec<u8> {
    for (at, less, more) in changes {
        let at = at.index(bytes.len() + 1);
        let end = bytes.len().min(at + less);
        bytes.splice(at..end, more);
    }
    bytes
}

/// The target over its corpus, then over changed copies.
fn take(name: &str) {
    let target = TARGETS
        .iter()
        .find(|target| target.name == name)
        .expect("a target of that name");
    let corpus = corpus(name);
    assert!(corpus.len() >= 5, "{name}: {} seeds", corpus.len());
    for bytes in &corpus {
        (target.run)(bytes);
    }
    let strategy = (
        prop::sample::select(corpus),
        prop::collection::vec(change(), 1..6),
    )
        .prop_map(|(bytes, changes)| changed(bytes, changes));
    let config = ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let result = runner.run(&strategy, |bytes| {
        (target.run)(&bytes);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{name}: {error}");
    }
}

macro_rules! takes_its_corpus_and_whatever_it_is_turned_into {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            // With the stack that the program's main thread has; a test's has a quarter of it.
            let thread = std::thread::Builder::new().stack_size(8 << 20);
            let taken = thread.spawn(|| take(stringify!($name))).unwrap();
            taken.join().unwrap();
        })*

        #[test]
        fn every_target_is_tested() {
            let tested = [$(stringify!($name)),*];
            assert!(TARGETS.iter().map(|target| target.name).eq(tested));
        }
    };
}

takes_its_corpus_and_whatever_it_is_turned_into!(event state json command shell yaml tasks review git settings);
