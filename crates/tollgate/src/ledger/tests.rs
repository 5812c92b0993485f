//! Whatever an agent does, blocks are bounded: generated agents stop, edit, flag and prompt at
//! random, against the functions that decide whether a stop is judged and may be blocked.
//!
//! The journey itself is repeated here in a few lines, without files and processes;
//! `tests/it/stops.rs` plays shorter sequences against the real program.

use std::collections::HashMap;

use super::{MAX_SAME, Turn};

/// What the agent of a sequence bears.
const MAX_BLOCKS: u64 = 8;
use super::{LoopGuard, Passage};
use crate::plan::step::{self as plan, Marks};
use crate::stop::gates;

/// As many as the issue asks for.
const SEQUENCES: u64 = 100_000;

/// What an agent does.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// It wants to stop. The flag is whatever the host makes of it.
    Stop { flagged: bool },
    /// The person prompts.
    Prompt(Option<u8>),
    /// The checks fail like this; 0 is green.
    Fault(u8),
    /// Something changes that fixes nothing.
    Edit,
    /// The plan's files break the rules like this; 0 is fine.
    Rules(u8),
    /// A review becomes due, whether the last was answered or not.
    Due,
    /// The last review is answered.
    Answer,
    /// A workflow command is owed to its orchestrator, or no more.
    Owed(bool),
}

/// What is the case.
#[derive(Clone, Debug, Default)]
struct World {
    prompt: Option<u8>,
    fault: u8,
    edits: u32,
    rules: u8,
    /// How many reviews were made, and what the plan waits for.
    reviews: u32,
    waits_for: Waits,
    owed: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Waits {
    #[default]
    Nothing,
    Review,
    Answer,
    Answered,
}

/// Who blocked, and what for.
type Fault = (&'static str, u32);

struct Setting {
    guard: LoopGuard,
    max_reviews: u64,
}

impl World {
    fn act(&mut self, act: Act) {
        match act {
            Act::Stop { .. } => {}
            Act::Prompt(prompt) => self.prompt = prompt,
            Act::Fault(fault) => self.fault = fault,
            Act::Edit => self.edits += 1,
            Act::Rules(rules) => self.rules = rules,
            Act::Due => self.waits_for = Waits::Review,
            Act::Answer if self.waits_for == Waits::Answer => self.waits_for = Waits::Answered,
            Act::Answer => {}
            Act::Owed(owed) => self.owed = owed,
        }
    }

    fn marks(&self) -> Marks {
        Marks {
            step: format!("step {} {:?}", self.reviews, self.waits_for),
            rules: format!("rules {}", self.rules),
        }
    }

    fn mark(&self) -> String {
        format!("tree {} {}", self.fault, self.edits)
    }

    /// One stop: the plan loop, the gates, the delegation gate.
    fn stop(&mut self, turn: &mut Turn, flagged: bool, setting: &Setting) -> Option<Fault> {
        let by_plan = self.ask_plan(turn, flagged, setting);
        by_plan
            .or_else(|| self.ask_gates(turn, flagged, setting))
            .or_else(|| {
                let asks = self.owed
                    && !flagged
                    && turn
                        .block(MAX_BLOCKS, "delegation", Some("owed"), "owed")
                        .is_ok();
                asks.then_some(("delegation", 1))
            })
    }

    fn ask_plan(&mut self, turn: &mut Turn, flagged: bool, setting: &Setting) -> Option<Fault> {
        let is_due = matches!(self.waits_for, Waits::Review | Waits::Answered);
        let marks = self.marks();
        let passage = plan::passage(flagged, setting.guard, turn.last(), &marks, is_due);
        if passage != Passage::Judged {
            return None;
        }
        if is_due {
            if turn.count(plan::BY) >= setting.max_reviews || turn.total() >= MAX_BLOCKS {
                return None;
            }
            self.reviews += 1;
            self.waits_for = Waits::Answer;
            let mark = self.marks().step;
            let fault = format!("{mark}-{}", turn.total());
            let blocks = turn
                .block(MAX_BLOCKS, plan::BY, Some(&fault), &mark)
                .is_ok();
            return blocks.then_some(("review", self.reviews));
        }
        let rules = marks.rules.as_str();
        let blocks = self.rules > 0 && turn.block(MAX_BLOCKS, plan::BY, Some(rules), rules).is_ok();
        blocks.then_some(("rules", self.rules.into()))
    }

    fn ask_gates(&self, turn: &mut Turn, flagged: bool, setting: &Setting) -> Option<Fault> {
        let is_judged = match (flagged || gates::has_blocked(turn), setting.guard) {
            (false, _) => true,
            (true, LoopGuard::Progress) => gates::passage(turn, || self.mark()) == Passage::Judged,
            (true, LoopGuard::Strict) => false,
        };
        let blocks = is_judged
            && self.fault > 0
            && turn
                .block(
                    MAX_BLOCKS,
                    tollgate_core::decision::GATES,
                    None,
                    &self.mark(),
                )
                .is_ok();
        blocks.then_some(("gates", self.fault.into()))
    }
}

fn act(dice: &mut fastrand::Rng, names_prompts: bool) -> Act {
    let small = dice.u8(..3);
    match dice.u8(..16) {
        0 => Act::Prompt(names_prompts.then(|| dice.u8(..4))),
        1..=2 => Act::Edit,
        3 => Act::Fault(small),
        4 => Act::Rules(small),
        5 => Act::Due,
        6 => Act::Answer,
        7 => Act::Owed(dice.bool()),
        _ => Act::Stop {
            flagged: dice.u8(..4) != 0,
        },
    }
}

#[test]
fn whatever_an_agent_does_blocks_are_bounded() {
    let mut most = (0, 0);
    for seed in 1..=SEQUENCES {
        let mut dice = fastrand::Rng::with_seed(seed);
        let setting = Setting {
            guard: if dice.u64(..8) == 0 {
                LoopGuard::Strict
            } else {
                LoopGuard::Progress
            },
            max_reviews: dice.u64(..12),
        };
        let names_prompts = dice.u64(..2) == 0;
        let mut world = World {
            fault: 1,
            owed: dice.u64(..4) == 0,
            prompt: names_prompts.then_some(9),
            ..World::default()
        };
        let (mut turn, mut last_prompt) = (Turn::default(), None);
        let (mut blocks, mut same) = (0_u64, HashMap::<Fault, u64>::new());
        let mut story = Vec::new();
        for _ in 0..60 {
            let act = act(&mut dice, names_prompts);
            story.push(act);
            world.act(act);
            let Act::Stop { flagged } = act else {
                continue;
            };
            // A turn as an onlooker sees it.
            let is_same = last_prompt == Some(world.prompt) && (names_prompts || flagged);
            last_prompt = Some(world.prompt);
            if !is_same {
                (blocks, same) = (0, HashMap::new());
            }
            let prompt = world.prompt.map(|prompt| prompt.to_string());
            turn = turn.at_stop(prompt.as_deref(), flagged);
            let Some(fault) = world.stop(&mut turn, flagged, &setting) else {
                continue;
            };
            blocks += 1;
            let times = same.entry(fault).or_default();
            *times += 1;
            assert!(blocks <= MAX_BLOCKS, "seed {seed}: {story:?}");
            assert_eq!(blocks, turn.total(), "seed {seed}: {story:?}");
            most.0 = most.0.max(blocks);
            if fault.0 != "gates" {
                assert!(*times <= MAX_SAME, "seed {seed}: {fault:?} {story:?}");
                most.1 = most.1.max(*times);
            }
        }
    }
    // The agents were bad enough to reach both bounds.
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
