//! The parent processes, on Linux. Elsewhere there
//! are none, and the caller takes that for "not confirmed".

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

/// Whether a Tollgate that runs is above us: then it started the child that we are in. It takes all
/// its children's orphans for its own, so that none of them is without it.
pub(crate) fn has_tollgate() -> bool {
    // A program that was replaced while it runs is still the same one.
    let program = |pid: &str| {
        let path = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?;
        let path = path.to_str()?.to_owned();
        Some(path.trim_end_matches(" (deleted)").to_owned())
    };
    let own = program("self");
    own.is_some() && ancestors().any(|pid| program(&pid.to_string()) == own)
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
        assert!(!has_tollgate());
    }
}
