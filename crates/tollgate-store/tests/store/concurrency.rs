//! Many at once, and one that stands in the way.

use std::collections::HashSet;
use std::time::Instant;

use jiff::Timestamp;
use rustix::process::Signal;

use crate::{Project, alone, state_path};

#[test]
fn fifty_processes_lose_nothing_and_no_reader_sees_an_unreadable_moment() {
    const PROCESSES: u64 = 50;
    const UPDATES: u64 = 40;
    let _alone = alone();
    let project = Project::new();
    let mut workers: Vec<_> = (0..PROCESSES)
        .map(|_| project.worker(&format!("count {UPDATES}")))
        .collect();
    for worker in &mut workers {
        assert_eq!(worker.says().unwrap(), "ready");
    }
    let start = Instant::now();
    for worker in &mut workers {
        worker.go();
    }
    let (mut reads, mut last) = (0, 0);
    let path = state_path(&project.root);
    while last < 100 + PROCESSES * UPDATES {
        let bytes = std::fs::read(&path).unwrap();
        let state: serde_json::Value = serde_json::from_slice(&bytes).expect("a readable state");
        let version = state["state_version"].as_u64().unwrap();
        assert!(version >= last, "{version} after {last}");
        assert_eq!(
            version - 100,
            state["n"].as_u64().unwrap(),
            "half an update"
        );
        last = version;
        reads += 1;
        assert!(start.elapsed().as_secs() < 60, "only {last}");
    }
    let took = start.elapsed();
    let mut versions = HashSet::new();
    for worker in workers {
        for version in worker.succeeds()[0].split(' ') {
            assert!(
                versions.insert(version.parse::<u64>().unwrap()),
                "{version} twice"
            );
        }
    }
    assert_eq!(versions, (101..=100 + PROCESSES * UPDATES).collect());
    let state = project.state();
    assert_eq!(state["n"], PROCESSES * UPDATES);
    let marks = state["marks"].as_object().unwrap();
    assert_eq!(marks.len() as u64, PROCESSES);
    for mark in marks.values() {
        assert_eq!(*mark, serde_json::json!((0..UPDATES).collect::<Vec<_>>()));
    }
    assert!(project.temporaries().is_empty());
    println!("2,000 of 2,000 updates kept in {took:?}, {reads} reads all whole");
}

#[test]
fn a_stopped_holder_keeps_nobody_waiting_and_their_changes_arrive_once() {
    const OTHERS: usize = 6;
    let _alone = alone();
    let project = Project::new();
    let mut holder = project.worker("hold");
    assert_eq!(holder.says().unwrap(), "held");
    holder.signal(Signal::STOP);
    let mut slowest = 0;
    for n in 0..OTHERS {
        let said = project.worker(&format!("submit {n}")).succeeds();
        let (kind, ms) = said[0].split_once(' ').unwrap();
        assert_eq!(kind, "pending");
        slowest = slowest.max(ms.parse::<u64>().unwrap());
    }
    assert!((250..400).contains(&slowest), "{slowest} ms");
    assert_eq!(project.number("n"), 0);
    holder.signal(Signal::CONT);
    holder.go();
    assert_eq!(holder.succeeds(), ["done"]);
    // The holder had read the spool before they came; the next update makes their changes.
    let said = project.worker("submit next").succeeds();
    assert!(said[0].starts_with("applied"));
    let expected: Vec<_> = (0..OTHERS)
        .map(|n| n.to_string())
        .chain(["next".to_owned()])
        .collect();
    assert_eq!(project.state()["late"], serde_json::json!(expected));
    assert_eq!(project.number("n"), OTHERS as u64 + 1);
    assert_eq!(project.state()["held"], true);
    assert_eq!(project.store().settle(Timestamp::now()).unwrap().late, []);
    assert_eq!(project.store().waiting(), 0);
    println!("slowest answer beside a stopped holder: {slowest} ms");
}

#[test]
fn a_killed_holder_holds_nothing() {
    let _alone = alone();
    let project = Project::new();
    let mut holder = project.worker("hold");
    assert_eq!(holder.says().unwrap(), "held");
    holder.signal(Signal::STOP);
    holder.signal(Signal::KILL);
    assert_eq!(holder.says(), None);
    let said = project.worker("submit x").succeeds();
    assert!(said[0].starts_with("applied"), "{said:?}");
}
