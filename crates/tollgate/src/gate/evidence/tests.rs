use super::*;
use crate::gate::record::{By, VERSION};

fn key(inputs: &str, definition: &str) -> Key {
    Key {
        schema: VERSION,
        gate: "check:.:test".to_owned(),
        definition: definition.to_owned(),
        inputs: inputs.to_owned(),
        platform: String::new(),
        tools: String::new(),
        environment: String::new(),
    }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn record(said: &[(&str, Outcome, i64)]) -> GateRecord {
    let mut record = GateRecord::default();
    for (inputs, outcome, second) in said {
        record.add(Evidence {
            key: key(inputs, "d"),
            outcome: *outcome,
            message: String::new(),
            at: at(*second),
            ms: 1,
            by: By::Run,
            files: Vec::new(),
            is_warned: false,
            is_flaky: false,
            is_accepted: false,
        });
    }
    record
}

fn said(record: &GateRecord, key: &Key, now: i64) -> &'static str {
    let rules = EvidenceRules {
        max_age: Duration::from_secs(100),
        ..EvidenceRules::default()
    };
    let all = record.gates.get("check:.:test").map(Vec::as_slice);
    verification(all.unwrap_or_default(), key, rules, at(now)).as_str()
}

#[test]
fn only_a_pass_about_these_inputs_and_this_definition_verifies() {
    use Outcome::{Fail, Inconclusive, Pass};
    let tree = key("a", "d");
    for (evidence, now, expected) in [
        (vec![], 10, "never_ran"),
        (vec![("a", Pass, 1)], 10, "verified"),
        (vec![("a", Fail, 1)], 10, "failed"),
        (vec![("b", Pass, 1)], 10, "stale"),
        (vec![("a", Pass, 1), ("b", Fail, 2)], 10, "verified"),
        (vec![("a", Pass, 1), ("b", Pass, 2)], 10, "verified"),
        (vec![("a", Pass, 1)], 101, "verified"),
        (vec![("a", Pass, 1)], 102, "stale"),
        (vec![("a", Pass, 20)], 10, "stale"),
        (vec![("a", Fail, 1), ("a", Pass, 2)], 10, "flaky"),
        (vec![("a", Pass, 1), ("a", Fail, 2)], 10, "failed"),
        (
            vec![("a", Pass, 1), ("a", Fail, 2), ("a", Pass, 3)],
            10,
            "flaky",
        ),
        (vec![("a", Pass, 1), ("a", Inconclusive, 2)], 10, "verified"),
        (vec![("a", Inconclusive, 2)], 10, "inconclusive"),
        (vec![("a", Inconclusive, 1), ("a", Pass, 2)], 10, "verified"),
    ] {
        assert_eq!(
            said(&record(&evidence), &tree, now),
            expected,
            "{evidence:?} at {now}"
        );
    }
    assert_eq!(
        said(&record(&[("a", Pass, 1)]), &key("a", "e"), 10),
        "stale"
    );
}

#[test]
fn a_person_accepts_what_was_flaky_until_it_contradicts_itself_again() {
    use Outcome::{Fail, Pass};
    let mut record = record(&[("a", Fail, 1), ("a", Pass, 2)]);
    record.accept_flaky();
    assert_eq!(said(&record, &key("a", "d"), 10), "verified");
    let again = self::record(&[("a", Fail, 3)]);
    let again = again.about(&key("a", "d")).unwrap().clone();
    record.add(again);
    assert_eq!(said(&record, &key("a", "d"), 10), "failed");
}

#[test]
fn the_newest_contents_are_remembered() {
    let contents: Vec<String> = (0..40).map(|number| number.to_string()).collect();
    let said_of: Vec<_> = contents
        .iter()
        .zip(1..)
        .map(|(inputs, at)| (inputs.as_str(), Outcome::Pass, at))
        .collect();
    let record = record(&said_of);
    assert_eq!(said(&record, &key("39", "d"), 50), "verified");
    assert_eq!(said(&record, &key("24", "d"), 50), "verified");
    assert_eq!(said(&record, &key("1", "d"), 50), "stale");
}

#[test]
fn what_a_gate_said_is_found_by_its_key_not_by_its_time() {
    let record = record(&[("a", Outcome::Fail, 1), ("b", Outcome::Fail, 2)]);
    let about = |inputs: &str| record.about(&key(inputs, "d")).map(|one| one.at);
    assert_eq!(about("a"), Some(at(1)));
    assert_eq!(about("b"), Some(at(2)));
    assert_eq!(about("c"), None);
}
