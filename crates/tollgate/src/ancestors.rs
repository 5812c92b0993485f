//! The parent processes, on Linux. Elsewhere there are none, and the caller takes that for "not
//! confirmed".

/// How `main` knows that it is to watch over the children of a run. The mark of the run follows it.
pub(crate) const WATCH: &str = "__watch";

/// The processes that run us, nearest first.
pub(crate) fn ancestors() -> impl Iterator<Item = u32> {
    let above = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // A program's name may hold anything, also brackets; the rest has none.
        let (_, rest) = stat.rsplit_once(')')?;
        let parent: u32 = rest.split_whitespace().nth(1)?.parse().ok()?;
        (parent > 0).then_some(parent)
    };
    std::iter::successors(Some(std::os::unix::process::parent_id()), above).take(64)
}

/// Whether a Tollgate that runs above us started the child that we are in. It takes all its
/// children's orphans for its own, so that none of them is without it. A mark of our own
/// (`TOLLGATE_DEPTH`) must name a run of that one which still goes on; the marks of the originals have
/// nothing to tell one run from another.
pub(crate) fn confirm(depth: Option<&str>) -> bool {
    // A program that was replaced while it runs is still the same one.
    let program = |pid: &str| {
        let path = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?;
        let path = path.to_str()?.to_owned();
        Some(path.trim_end_matches(" (deleted)").to_owned())
    };
    let own = program("self");
    let is_ours = |pid: &u32| program(&pid.to_string()) == own;
    let mut above = ancestors().filter(is_ours);
    match depth {
        _ if own.is_none() => false,
        None => above.next().is_some(),
        Some(depth) => {
            let mark = depth.split_once('.').map_or("", |(_, mark)| mark);
            above.any(|pid| is_watched(pid, mark))
        }
    }
}

/// Whether the run with this mark goes on in a process: its watchdog is there.
fn is_watched(pid: u32, mark: &str) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task"));
    let tasks = tasks.into_iter().flatten().flatten();
    let children =
        tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let is_watchdog = |child: &str| {
        let line = std::fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
        let mut args = line.split(|byte| *byte == 0).skip(1);
        args.next() == Some(WATCH.as_bytes()) && args.next() == Some(mark.as_bytes())
    };
    children
        .collect::<String>()
        .split_whitespace()
        .any(is_watchdog)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processes_above_are_found() {
        let first = ancestors().next().unwrap();
        assert_eq!(first, std::os::unix::process::parent_id());
        assert!(ancestors().count() >= 1);
    }

    #[test]
    fn a_test_runner_is_no_tollgate() {
        assert!(!confirm(None));
        assert!(!confirm(Some("1.1-0")));
    }
}
