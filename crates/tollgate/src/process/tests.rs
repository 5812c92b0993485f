//! One test only: all that needs the subreaper shares a process with it. What happens when
//! Tollgate itself is killed is seen from outside, in `tests/it/gates`.

use super::*;

#[test]
fn ends_are_told_in_words() {
    let ended = |end| Ended {
        end,
        took: Duration::ZERO,
        leaked: 0,
        kept: 0,
    };
    for (end, words) in [
        (End::Exited(3), "Exited with code 3"),
        (
            End::Exited(127),
            "Exited with code 127 (command not found; is it in PATH?)",
        ),
        (
            End::Signalled(9),
            "Killed by signal 9 (SIGKILL, perhaps out of memory)",
        ),
        (End::TimedOut(Duration::from_secs(3)), "Timed out after 3s"),
    ] {
        assert_eq!(ended(end).describe(), words);
    }
}

#[test]
fn a_spool_keeps_head_and_tail() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"header\n").unwrap();
    let appending = File::options()
        .read(true)
        .append(true)
        .open(file.path())
        .unwrap();
    let mut spool = Spool::new(appending.try_clone().unwrap().into(), 7, 4000);
    for number in 0..10_000 {
        writeln!(&appending, "line {number}").unwrap();
    }
    spool.trim();
    let kept = spool.close();
    let text = std::fs::read_to_string(file.path()).unwrap();
    assert!(text.starts_with("header\nline 0\nline 1\n"), "{text}");
    assert!(text.ends_with("line 9998\nline 9999\n"), "{text}");
    assert_eq!(text.len() as u64, kept + 7);
    let left_out = (0..10_000)
        .map(|n| format!("line {n}\n").len())
        .sum::<usize>()
        - 4000;
    assert!(
        text.contains(&format!("[… {left_out} bytes of output left out …]")),
        "{text}"
    );
    assert!(text.len() < 4200);
}

#[test]
fn children_end_and_leave_nothing_behind() {
    let children = Children::open(&Consent::of_the_person(), None).unwrap();
    let looks = std::cell::Cell::new(0);
    let run = |script: &str, input: Option<&str>, timeout: Option<u64>| {
        let file = tempfile::NamedTempFile::new().unwrap();
        let appending = File::options().read(true).append(true).open(file.path());
        let mut program = command("/bin/sh");
        program.args(["-c", script]);
        let child = Child {
            program,
            input: input.map(Into::into),
            output: Output::Together {
                file: appending.unwrap().into(),
                from: 0,
                cap: OUTPUT_CAP,
            },
            timeout: timeout.map(Duration::from_millis),
        };
        looks.set(0);
        let ended = match children.begin(child) {
            Ok(ongoing) => {
                let mut child = [(ongoing, ())];
                loop {
                    let _nobody_else = pause(&mut child, &[]);
                    looks.set(looks.get() + 1);
                    if let Some(ended) = children.look(&mut child[0].0) {
                        break ended;
                    }
                }
            }
            Err(ended) => ended,
        };
        (ended, std::fs::read_to_string(file.path()).unwrap())
    };
    let (ended, text) = run("cat; echo out; echo err >&2; exit 3", None, None);
    assert!(matches!(ended.end, End::Exited(3)), "{ended:?}");
    assert_eq!(text, "out\nerr\n");

    let (_, text) = run("exec cat /proc/self/status", None, None);
    let signals = |of: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(of));
        u64::from_str_radix(line.unwrap().trim(), 16).unwrap()
    };
    assert_eq!(signals("SigBlk:"), 0, "no signal is blocked");
    let broken_pipe = 1 << (libc::SIGPIPE - 1);
    assert_eq!(signals("SigIgn:") & broken_pipe, 0, "ignored by us only");
    let (_, text) = run("test $(ps -o pgid= -p $$) = $$ && echo $PPID", None, None);
    let parent: u32 = text.trim().parse().unwrap();
    assert_eq!(parent, std::process::id(), "it leads a group of its own");

    for (program, code) in [
        (command("/nowhere/x"), libc::ENOENT),
        (command("/"), libc::EACCES),
        (placed("/bin/sh", "/nowhere"), libc::ENOENT),
    ] {
        let ended = children.run(Child {
            program,
            input: None,
            output: Output::Together {
                file: tempfile::tempfile().unwrap().into(),
                from: 0,
                cap: OUTPUT_CAP,
            },
            timeout: None,
        });
        assert!(
            matches!(&ended.end, End::NotStarted(error) if error.raw_os_error() == Some(code)),
            "{ended:?}"
        );
    }

    let (_, text) = run("cat", Some("a text"), None);
    assert_eq!(text, "a text");

    let (ended, _) = run("kill -TERM $$", None, Some(60_000));
    assert!(matches!(ended.end, End::Signalled(15)), "{ended:?}");

    let (ended, text) = run("sleep 600 & echo $!; exit 0", None, None);
    assert!(matches!(ended.end, End::Exited(0)), "{ended:?}");
    assert_eq!(ended.leaked, 1);
    assert!(gone(&text), "{text}");

    let (ended, text) = run(
        "setsid sh -c 'sleep 600 & echo $!; wait' & sleep 0.1",
        None,
        None,
    );
    assert!(ended.leaked >= 1, "{ended:?}");
    assert!(gone(&text), "{text}");

    let (ended, _) = run("(sleep 0.05; echo late) & exit 0", None, None);
    assert_eq!(ended.leaked, 0, "what ends by itself is no leak");

    let (ended, text) = run(
        "trap '' TERM; echo $$; while :; do sleep 0.1; done",
        None,
        Some(200),
    );
    assert!(matches!(ended.end, End::TimedOut(_)), "{ended:?}");
    assert!(gone(&text), "{text}");
    let most = 2 * (ended.took.as_millis() / TICK.as_millis()) + 10;
    let looks = looks.get();
    assert!(looks <= most, "{looks} looks at a child that is to end");

    let (ended, _) = run("exit 0", None, None);
    assert_eq!(ended.leaked, 0, "{ended:?}");

    children.cancel();
    let (ended, _) = run("exit 0", None, None);
    assert!(matches!(ended.end, End::Cancelled), "{ended:?}");
}

/// A program in a directory.
fn placed(path: &str, directory: &str) -> Command {
    let mut program = command(path);
    program.current_dir(directory);
    program
}

/// Whether the process with this number is gone, or at least a zombie.
fn gone(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    stat.map_or(true, |stat| stat.contains(") Z "))
}
