//! `kill -9` at random moments. The seed is printed and can be set to replay a run.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use rustix::process::Signal;
use tollgate_store::document::InTheWay;
use tollgate_store::fs::Durability;

use crate::{Project, alone};

const SEED: &str = "TOLLGATE_TEST_SEED";
const KILLS: u32 = 500;

#[test]
fn five_hundred_kills_corrupt_nothing_lose_nothing_and_leave_nothing() {
    let _alone = alone();
    let seed = std::env::var(SEED)
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or_else(|| Timestamp::now().as_microsecond().unsigned_abs());
    println!("{SEED}={seed}");
    let mut chance = fastrand::Rng::with_seed(seed);
    let project = Project::new();
    let (mut strays, mut unacknowledged) = (0, 0);
    for kill in 0..KILLS {
        let before = project.number("state_version");
        let order = if kill % 4 == 0 {
            "forever synced"
        } else {
            "forever lazy"
        };
        let mut worker = project.worker(order);
        assert_eq!(worker.says().unwrap(), "ready");
        // The clock is looked at instead of sleeping: a sleep is too coarse for this.
        let (start, moment) = (Instant::now(), Duration::from_micros(chance.u64(..6000)));
        while start.elapsed() < moment {
            std::hint::spin_loop();
        }
        worker.signal(Signal::KILL);
        let mut acknowledged = before;
        while let Some(version) = worker.says() {
            acknowledged = version.parse().unwrap();
        }
        drop(worker);
        let after = project.number("state_version");
        assert!(
            after == acknowledged || after == acknowledged + 1,
            "said {acknowledged}, found {after}"
        );
        assert_eq!(after - 100, project.number("n"));
        unacknowledged += after - acknowledged;
        strays += project.temporaries().len();
        // A lock that is stuck stays so for ever. A moment is granted because a worker that
        // another test is just forking holds a copy of this process's descriptors.
        let updated = project
            .store()
            .with_patience(Duration::from_secs(5))
            .update(Timestamp::now(), |document| {
                document.add(&["n"], 1)?;
                Ok::<_, InTheWay>(Durability::Lazy)
            })
            .expect("no stuck lock");
        assert_eq!(updated.version, after + 1);
        assert_eq!(project.temporaries(), [""; 0].map(std::path::PathBuf::from));
    }
    println!(
        "{KILLS} kills over {} updates: 0 corrupt, 0 lost, {unacknowledged} written but not said, \
         {strays} temporary files left and swept",
        project.number("n")
    );
}
