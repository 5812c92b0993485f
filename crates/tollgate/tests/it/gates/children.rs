//! What a check starts with.

use std::os::unix::ffi::OsStrExt as _;

use super::Gates;

#[test]
fn a_check_has_the_persons_variables_and_tollgates_own() {
    let gates = Gates::new(&[("env", "command: env > ../env.txt; pwd >> ../env.txt")]);
    let mut command = gates.command(&["run"]);
    let odd = std::ffi::OsStr::from_bytes(b"a\xffb=c");
    command
        .env("BASE_BRANCH", "somebody's")
        .env("BASE_BRANCH_OLD", "kept")
        .env("EMPTY", "")
        .env("ODD", odd)
        .env("CLAUDECODE", "1");
    crate::context::run(command, b"").exits(0);
    let bytes = std::fs::read(gates.path("env.txt")).unwrap();
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    for line in [
        &b"BASE_BRANCH=main"[..],
        b"BASE_BRANCH_OLD=kept",
        b"EMPTY=",
        b"ODD=a\xffb=c",
        b"TOLLGATE_DEPTH=1",
        b"GAUNTLET_STOP_HOOK_ACTIVE=1",
        gates.path("src").as_os_str().as_bytes(),
    ] {
        let times = lines.iter().filter(|known| **known == line).count();
        assert_eq!(times, 1, "{}", String::from_utf8_lossy(line));
    }
    let of = |name: &[u8]| lines.iter().filter(|line| line.starts_with(name)).count();
    assert_eq!(of(b"CLAUDECODE="), 0);
    assert_eq!(of(b"BASE_BRANCH="), 1);
}

#[test]
fn a_check_leads_its_own_group_and_is_ended_by_signals() {
    // A signal that is ignored, or blocked, stays so in children, unless somebody looks to it.
    let gates = Gates::new(&[(
        "group",
        "command: 'grep -E \"^Sig(Blk|Ign)\" /proc/self/status; ps -o pid=,pgid= -p $$ | tr -s \" \"'",
    )]);
    gates.tollgate(&["run"]).exits(0);
    let log = std::fs::read_to_string(gates.path("gauntlet_logs/previous/check_src_group.1.log"));
    let log = log.unwrap();
    let value = |name: &str| {
        let line = log.lines().find(|line| line.starts_with(name));
        line.unwrap_or_else(|| panic!("{log}"))
            .split_whitespace()
            .last()
            .unwrap()
            .to_owned()
    };
    // Two that nobody sends are the C library's own: 32 and 33.
    let own = 0b11 << 31;
    for name in ["SigBlk:", "SigIgn:"] {
        let signals = u64::from_str_radix(&value(name), 16).unwrap();
        assert_eq!(signals & !own, 0, "{log}");
    }
    let mut group = log
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|words| words.len() == 2 && words.iter().all(|word| word.parse::<u32>().is_ok()));
    let group = group.next().unwrap_or_else(|| panic!("{log}"));
    assert_eq!(group.first(), group.last(), "{log}");
}
