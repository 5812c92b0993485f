//! The exploration: breadth first, every world once, and then backwards from the ends.

use std::collections::{HashMap, VecDeque};
use std::io::Write as _;

use tollgate_core::workflow::position::running;

use super::{Bounds, HOOKS, Hook, Mixed, Model, NONE, Process, World};

/// Explores one workflow whole. Gives the number of worlds, steps between them, and documents.
fn explore(phases: &[&'static str], supervised: bool, bounds: Bounds) -> (usize, usize, usize) {
    let mut model = Model::new(phases, bounds);
    let first = World {
        disk: model.start(supervised),
        processes: [Process::Away, Process::Away],
        pending: None,
        journal: NONE,
        crashes: 0,
    };
    let mut numbers: HashMap<World, u32, Mixed> = HashMap::default();
    numbers.insert(first, 0);
    let mut worlds = vec![first];
    let mut before: Vec<Vec<u32>> = vec![Vec::new()];
    let mut queue = VecDeque::from([0_u32]);
    let mut steps = 0;
    while let Some(number) = queue.pop_front() {
        let world = worlds[number as usize];
        if world.processes == [Process::Away, Process::Away] {
            model.check_journal(&world);
        }
        for next in model.next(world) {
            if bounds.processes == 1 && next.processes[1] != Process::Away {
                continue;
            }
            steps += 1;
            let to = *numbers.entry(next).or_insert_with(|| {
                let to = u32::try_from(worlds.len()).unwrap();
                worlds.push(next);
                before.push(Vec::new());
                queue.push_back(to);
                to
            });
            before[to as usize].push(number);
        }
    }
    // Every world has a way to an end: walk back from the ends.
    let mut ends = vec![false; worlds.len()];
    let mut back: Vec<u32> = Vec::new();
    for (number, world) in worlds.iter().enumerate() {
        if running(model.document(world.disk)).is_none() {
            ends[number] = true;
            back.push(u32::try_from(number).unwrap());
        }
    }
    assert!(!back.is_empty());
    while let Some(number) = back.pop() {
        for from in &before[number as usize] {
            if !ends[*from as usize] {
                ends[*from as usize] = true;
                back.push(*from);
            }
        }
    }
    assert!(ends.iter().all(|end| *end), "a world without a way out");
    assert!(model.guarded > 0);
    (worlds.len(), steps, model.documents.len())
}

const PHASES: [&str; 4] = [
    "02-impact-analysis",
    "03-architecture",
    "06-implementation",
    "08-code-review",
];

#[test]
fn no_interleaving_breaks_the_handshake() {
    let start = std::time::Instant::now();
    let (mut worlds, mut steps, mut documents) = (0, 0, 0);
    let all = Bounds {
        processes: 2,
        crashes: 1,
        redos: 0,
        hooks: HOOKS,
        writes: true,
    };
    let reviewed = Bounds {
        redos: 3,
        hooks: &[Hook::Escalate],
        writes: false,
        ..all
    };
    let short = Bounds {
        redos: 1,
        ..reviewed
    };
    let long = Bounds {
        processes: 1,
        ..short
    };
    for (length, supervised, bounds) in [
        (1, false, all),
        (
            2,
            false,
            Bounds {
                hooks: &[Hook::Escalate],
                ..all
            },
        ),
        (3, false, long),
        (4, false, long),
        (1, true, reviewed),
        (2, true, short),
        (3, true, long),
        (4, true, Bounds { hooks: &[], ..long }),
    ] {
        let (w, s, d) = explore(&PHASES[..length], supervised, bounds);
        println!(
            "{length} phases, supervised {supervised}, {bounds:?}: {w} states, {s} steps, {d} documents, {:.1} s",
            start.elapsed().as_secs_f64()
        );
        worlds += w;
        steps += s;
        documents += d;
    }
    // Past the test's captured output: whoever runs all tests is to see it too.
    let _told = writeln!(
        std::io::stderr(),
        "explored {worlds} states and {steps} steps over {documents} documents in {:.1} s",
        start.elapsed().as_secs_f64()
    );
    assert!(worlds > 10_000);
}
