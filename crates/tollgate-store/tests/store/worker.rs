//! What a worker process can be told to do.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::Value;
use tollgate_store::document::InTheWay;
use tollgate_store::edit::Edit;
use tollgate_store::fs::Durability;
use tollgate_store::store::{Submitted, Updated};

use crate::{state_path, store};

pub(crate) const ORDER: &str = "TOLLGATE_TEST_ORDER";
pub(crate) const ROOT: &str = "TOLLGATE_TEST_ROOT";
/// What the lines for the test begin with.
pub(crate) const SAYS: &str = "worker says ";

#[test]
fn worker() {
    let (Ok(order), Some(root)) = (std::env::var(ORDER), std::env::var_os(ROOT)) else {
        return;
    };
    let root = PathBuf::from(root);
    let (verb, argument) = order.split_once(' ').unwrap_or((&order, ""));
    match verb {
        "count" => count(&root, argument),
        "forever" => forever(&root, durability(argument)),
        "hold" => hold(&root),
        "submit" => submit(&root, argument),
        "overwrite" => overwrite(&root, argument),
        "try" => attempt(&root),
        other => panic!("no such order: {other}"),
    }
}

fn durability(name: &str) -> Durability {
    match name {
        "synced" => Durability::Synced,
        _ => Durability::Lazy,
    }
}

fn say(what: &str) {
    // One write: a kill cuts off the line or does not.
    let line = format!("{SAYS}{what}\n");
    std::io::stdout().write_all(line.as_bytes()).unwrap();
    std::io::stdout().flush().unwrap();
}

fn wait_for_go() {
    let mut go = [0; 3];
    std::io::stdin().read_exact(&mut go).unwrap();
}

fn add(root: &Path, durability: Durability) -> Updated {
    store(root)
        .update(Timestamp::now(), |document| {
            document.add(&["n"], 1)?;
            Ok::<_, InTheWay>(durability)
        })
        .unwrap()
}

/// So many updates, each of which leaves its mark; says the versions it wrote.
fn count(root: &Path, times: &str) {
    say("ready");
    wait_for_go();
    let me = std::process::id().to_string();
    let mut versions = Vec::new();
    for n in 0..times.parse().unwrap() {
        let updated = store(root)
            .update(Timestamp::now(), |document| {
                document.add(&["n"], 1)?;
                document.push(&["marks", &me], n, None)?;
                Ok::<_, InTheWay>(Durability::Lazy)
            })
            .unwrap();
        versions.push(updated.version.to_string());
    }
    say(&versions.join(" "));
}

/// Updates until it is killed; says each version once it is written.
fn forever(root: &Path, durability: Durability) {
    say("ready");
    loop {
        let updated = add(root, durability);
        say(&updated.version.to_string());
    }
}

/// An update that stands still in the middle, with the lock in its hand.
fn hold(root: &Path) {
    store(root)
        .update(Timestamp::now(), |document| {
            say("held");
            wait_for_go();
            document.set(&["held"], true)?;
            Ok::<_, InTheWay>(Durability::Lazy)
        })
        .unwrap();
    say("done");
}

/// One change as a hook makes it.
fn submit(root: &Path, mark: &str) {
    let start = Instant::now();
    let store = store(root).with_patience(tollgate_store::lock::HOOK_PATIENCE);
    let edits = [Edit::push(&["late"], mark), Edit::add(&["n"], 1)];
    let submitted = store.submit(Timestamp::now(), Durability::Synced, &edits);
    let kind = match submitted.unwrap() {
        Submitted::Applied(_) => "applied",
        Submitted::Pending(_) => "pending",
    };
    say(&format!("{kind} {}", start.elapsed().as_millis()));
}

/// A stranger: reads, changes, writes, and has never heard of a lock.
fn overwrite(root: &Path, argument: &str) {
    let (style, times) = argument.split_once(' ').unwrap();
    let path = state_path(root);
    say("ready");
    wait_for_go();
    let mut written = 0;
    while written < times.parse::<u32>().unwrap() {
        let text = std::fs::read(&path).unwrap();
        let Ok(mut state) = serde_json::from_slice::<Value>(&text) else {
            panic!("we left the stranger an unreadable state");
        };
        let theirs = state["theirs"].as_u64().unwrap_or(0);
        state["theirs"] = (theirs + 1).into();
        let text = serde_json::to_string_pretty(&state).unwrap();
        if style == "rename" {
            let temporary = path.with_extension("theirs");
            std::fs::write(&temporary, text).unwrap();
            std::fs::rename(&temporary, &path).unwrap();
        } else {
            // As `writeFileSync` does it: the file is empty, then half, then whole.
            let mut file = std::fs::File::create(&path).unwrap();
            let (first, rest) = text.as_bytes().split_at(text.len() / 2);
            file.write_all(first).unwrap();
            std::thread::yield_now();
            file.write_all(rest).unwrap();
        }
        written += 1;
        // Between frantic and leisurely, so that it meets us at every point of an update.
        std::thread::sleep(Duration::from_micros(u64::from(written % 8) * 200));
    }
    say("done");
}

/// One update that may fail; says how.
fn attempt(root: &Path) {
    let result = store(root).update(Timestamp::now(), |document| {
        document.set(&["more"], "y".repeat(30_000))?;
        Ok::<_, InTheWay>(Durability::Synced)
    });
    match result {
        Ok(updated) => say(&format!("wrote {}", updated.version)),
        Err(error) => say(&format!("failed {error}")),
    }
}
