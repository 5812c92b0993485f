//! Whatever a turn is asked for, its blocks are bounded. `tests/it/stops.rs` plays whole stops of
//! generated agents against the program.

use std::collections::HashMap;

use super::{MAX_SAME, Turn};

/// What the agent of a sequence bears.
const MAX_BLOCKS: u64 = 8;

const SEQUENCES: u64 = 1000;

#[test]
fn whatever_is_asked_for_blocks_are_bounded() {
    let mut most = (0, 0);
    for seed in 1..=SEQUENCES {
        let mut dice = fastrand::Rng::with_seed(seed);
        let names_prompts = dice.bool();
        let (mut turn, mut last_prompt) = (Turn::default(), None);
        let (mut blocks, mut same) = (0, HashMap::<_, u64>::new());
        for _ in 0..60 {
            let prompt = names_prompts.then(|| (dice.u8(..16) / 15).to_string());
            let is_flagged = dice.u8(..16) != 0;
            // A turn as an onlooker sees it.
            let is_same = last_prompt == Some(prompt.clone()) && (names_prompts || is_flagged);
            if !is_same {
                (blocks, same) = (0, HashMap::new());
            }
            turn = turn.at_stop(prompt.as_deref(), is_flagged);
            last_prompt = Some(prompt);
            let by = ["gates", "plan", "delegation"][dice.usize(..3)];
            let fault = (by != "gates").then(|| format!("{by} {}", dice.u8(..3)));
            let mark = dice.u8(..3).to_string();
            if turn.block(MAX_BLOCKS, by, fault.as_deref(), &mark).is_err() {
                continue;
            }
            blocks += 1;
            most.0 = most.0.max(blocks);
            assert!(blocks <= MAX_BLOCKS, "seed {seed}");
            assert_eq!(blocks, turn.total(), "seed {seed}");
            if let Some(fault) = fault {
                let times = same.entry(fault).or_default();
                *times += 1;
                most.1 = most.1.max(*times);
                assert!(*times <= MAX_SAME, "seed {seed}");
            }
        }
    }
    // They asked for enough to reach both bounds.
    assert_eq!(most, (MAX_BLOCKS, MAX_SAME));
}

#[test]
fn an_agent_that_names_its_prompts_is_believed_whatever_its_flag_says() {
    let mut turn = Turn::default().at_stop(Some("p"), false);
    for flagged in [false, true, false] {
        turn = turn.at_stop(Some("p"), flagged);
        let _bound = turn.block(MAX_BLOCKS, "plan", Some("fault"), "mark");
    }
    assert_eq!(turn.total(), MAX_SAME);
    assert_eq!(turn.clone().at_stop(Some("q"), true).total(), 0);
    assert_eq!(turn.at_stop(None, false).total(), 0);
}

#[test]
fn of_others_a_stop_without_the_flag_is_a_turns_first() {
    let mut turn = Turn::default().at_stop(None, false);
    assert!(
        turn.block(MAX_BLOCKS, "plan", Some("fault"), "mark")
            .is_ok()
    );
    let turn = turn.at_stop(None, true);
    assert_eq!(turn.total(), 1);
    assert_eq!(turn.at_stop(None, false).total(), 0);
}
