//! Writers that ignore the lock.

use jiff::Timestamp;
use tollgate_store::document::InTheWay;
use tollgate_store::fs::Durability;
use tollgate_store::store::{StoreError, UpdateError};

use crate::{Project, alone};

/// We count; a stranger rewrites the whole file again and again from what it read before. It will
/// overwrite some of our updates, and nothing can prevent that; `Watch` finds it afterwards.
fn beside_a_stranger(style: &str) {
    let _alone = alone();
    let project = Project::new();
    let mut stranger = project.worker(&format!("overwrite {style} 400"));
    assert_eq!(stranger.says().unwrap(), "ready");
    stranger.go();
    let store = project.store();
    let (mut ours, mut overwritten, mut gave_up) = (0, 0, 0);
    let mut add = || {
        let mut found = 0;
        let result = store.update(Timestamp::now(), |document| {
            found = document.u64(&["n"]).unwrap();
            document.set(&["n"], found + 1)?;
            Ok::<_, InTheWay>(Durability::Lazy)
        });
        match result {
            Ok(_) => {
                overwritten += u32::from(found != ours);
                ours = found + 1;
            }
            // Not made, and said so; a hook's edits would wait in the spool now.
            Err(UpdateError::Store(StoreError::Contended { .. })) => gave_up += 1,
            // On a busy machine a stranger may be interrupted with the file half written for longer
            // than anybody waits: the same.
            Err(UpdateError::Store(StoreError::Corrupt { .. })) if style == "truncate" => {
                gave_up += 1;
            }
            Err(error) => panic!("{error}"),
        }
    };
    for _ in 0..400 {
        add();
    }
    assert_eq!(stranger.succeeds(), ["done"]);
    add();
    assert_eq!(project.number("n"), ours);
    assert!(project.temporaries().is_empty());
    println!(
        "{style}: {ours} of ours at the end, {overwritten} times ours was overwritten, {gave_up} \
         times we gave up"
    );
}

#[test]
fn one_that_renames_corrupts_nothing() {
    beside_a_stranger("rename");
}

#[test]
fn one_that_truncates_corrupts_nothing() {
    beside_a_stranger("truncate");
}
