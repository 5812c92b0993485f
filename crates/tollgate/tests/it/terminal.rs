//! A person at a real terminal: the program runs on a pseudo-terminal and is answered as it asks.
//!
//! The program's parent is gone when it starts, so that whoever runs these tests (an agent, for
//! example) is not found above it. What is left of it when the terminal goes, is ended.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process_group};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::project::{Run, TestProject, words};

/// The screen and keyboard of a program.
pub(crate) struct Terminal {
    master: File,
    seen: String,
    /// The process group of the program, and of the shell that waits for it.
    group: Pid,
    /// What was started.
    command: Command,
}

impl Terminal {
    /// Starts a command on a terminal of its own.
    pub(crate) fn start(command: &Command) -> Self {
        Self::start_in(0, command)
    }

    /// The same with so many columns; none is a terminal that does not tell.
    pub(crate) fn start_in(columns: u16, command: &Command) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        let size = Winsize {
            ws_row: 24,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&master, size).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave = || {
            let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
            File::from(rustix::fs::open(&name, flags, Mode::empty()).unwrap())
        };
        // A list in the background would read from nothing; the shell ends at once.
        let script = r#"exec 3<&0; ("$@" <&3 3<&-; echo "[exit $?]") &"#;
        let mut shell = Command::new("sh");
        shell.args(["-c", script, "sh"]).arg(command.get_program());
        shell.args(command.get_args()).env_clear();
        for (name, value) in command.get_envs() {
            if let Some(value) = value {
                shell.env(name, value);
            }
        }
        shell.current_dir(command.get_current_dir().unwrap_or(Path::new(".")));
        shell.stdin(slave()).stdout(slave()).stderr(slave());
        let mut shell = shell.process_group(0).spawn().unwrap();
        let group = Pid::from_child(&shell);
        assert!(shell.wait().unwrap().success());
        let mut started = Command::new(command.get_program());
        started.args(command.get_args());
        started.current_dir(command.get_current_dir().unwrap_or(Path::new(".")));
        Self {
            master: File::from(master),
            seen: String::new(),
            group,
            command: started,
        }
    }

    /// Waits until the screen shows this text.
    pub(crate) fn shows(&mut self, text: &str) -> &mut Self {
        while !self.seen.contains(text) {
            assert!(self.read(), "{text:?} is not in {}", self.seen);
        }
        self
    }

    /// Waits until the screen shows this text so many times.
    pub(crate) fn shows_times(&mut self, text: &str, times: usize) -> &mut Self {
        while self.seen.matches(text).count() < times {
            assert!(
                self.read(),
                "{text:?} is not {times} times in {}",
                self.seen
            );
        }
        self
    }

    /// All that was shown so far.
    pub(crate) fn screen(&self) -> &str {
        &self.seen
    }

    /// Types a line.
    pub(crate) fn types(&mut self, line: &str) -> &mut Self {
        self.presses(&format!("{line}\n"))
    }

    /// Presses keys.
    pub(crate) fn presses(&mut self, keys: &str) -> &mut Self {
        self.master.write_all(keys.as_bytes()).unwrap();
        self
    }

    /// Types the word that it is asked to retype.
    pub(crate) fn retypes(&mut self) -> &mut Self {
        self.shows(" to confirm: ");
        let before = self.seen.split(" to confirm: ").next().unwrap();
        let word = before.rsplit("Type ").next().unwrap().to_owned();
        assert_eq!(word.len(), 8, "{}", self.seen);
        self.types(&word)
    }

    /// Waits for the program's end; what was on the screen and the exit code.
    pub(crate) fn ends(&mut self) -> (String, i32) {
        self.shows("[exit ");
        self.shows("]");
        while !self.seen.contains("[exit ") || !self.seen.trim_end().ends_with(']') {
            assert!(self.read(), "{}", self.seen);
        }
        let (screen, code) = self.seen.rsplit_once("[exit ").unwrap();
        let code = code.trim_end().trim_end_matches(']').parse().unwrap();
        let run = Run {
            stdout: screen.replace('\r', ""),
            stderr: String::new(),
            code,
        };
        words::check(&self.command, b"", &run);
        (run.stdout, code)
    }

    fn read(&mut self) -> bool {
        let mut fds = [PollFd::new(&self.master, PollFlags::IN)];
        let patience = Timespec::try_from(Duration::from_mins(1)).unwrap();
        assert!(
            poll(&mut fds, Some(&patience)).unwrap() > 0,
            "no answer after {}",
            self.seen
        );
        let mut bytes = [0; 4096];
        // A terminal that nobody has open any more says EIO.
        let length = self.master.read(&mut bytes).unwrap_or(0);
        self.seen
            .push_str(&String::from_utf8_lossy(&bytes[..length]));
        length > 0
    }
}

/// A test that fails leaves nothing behind: what still runs is ended, and the terminal is read
/// until nobody has it open.
impl Drop for Terminal {
    fn drop(&mut self) {
        // Without the line of its end something of the group runs, so the number is still its own.
        if !self.seen.contains("[exit ") {
            let _gone_already = kill_process_group(self.group, Signal::KILL);
        }
        let patience = Timespec::try_from(Duration::from_secs(10)).unwrap_or_default();
        let mut bytes = [0; 4096];
        loop {
            let mut fds = [PollFd::new(&self.master, PollFlags::IN)];
            let ready = poll(&mut fds, Some(&patience)).unwrap_or(0) > 0;
            if !ready || self.master.read(&mut bytes).unwrap_or(0) == 0 {
                return;
            }
        }
    }
}

/// What a person does at a terminal.
impl TestProject {
    /// A person runs a command at a terminal.
    pub(crate) fn terminal(&self, args: &[&str]) -> Terminal {
        Terminal::start(&self.command(args))
    }

    /// A person trusts what is there now.
    #[track_caller]
    pub(crate) fn trust(&self) {
        let (screen, code) = self.terminal(&["trust", "--yes"]).ends();
        assert_eq!(code, 0, "{screen}");
    }

    /// A person allows something for this reason: `agreed`, and retypes the word.
    #[track_caller]
    pub(crate) fn allow(&self, args: &[&str]) {
        let args = [&["allow"], args, &["--reason", "agreed"]].concat();
        let (screen, code) = self.terminal(&args).retypes().ends();
        assert_eq!(code, 0, "{screen}");
        assert!(screen.contains("allowed  "), "{screen}");
    }

    /// A person gives something up at a terminal, by retyping a word: it must work. What is shown
    /// afterwards.
    #[track_caller]
    pub(crate) fn gives_up(&self, args: &[&str]) -> String {
        let (screen, code) = self.terminal(args).retypes().ends();
        assert_eq!(code, 0, "{args:?} {screen}");
        let (_, shown) = screen.split_once(" to confirm: ").unwrap();
        let (_, shown) = shown.split_once('\n').unwrap();
        shown.to_owned()
    }

    /// Uninstalls Tollgate as a person does, at a terminal, which must work; what it shows there.
    #[track_caller]
    pub(crate) fn uninstall(&self, args: &[&str]) -> String {
        let args = [&["uninstall", "--yes"], args].concat();
        let (screen, code) = self.terminal(&args).ends();
        assert_eq!(code, 0, "{args:?} {screen}");
        screen
    }

    /// With a person's trust in what is there now.
    #[track_caller]
    pub(crate) fn trusted(self) -> Self {
        self.trust();
        self
    }
}

/// Whether a process runs; one that ended and was not waited for yet does not.
fn runs(process: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z ") && !stat.contains(") X "))
}

#[test]
fn a_program_ends_with_its_terminal() {
    let mut command = Command::new("sh");
    command.args(["-c", r#"echo "[pid $$]"; exec sleep 600"#]);
    command.env("PATH", "/usr/bin:/bin");
    let mut terminal = Terminal::start(&command);
    let screen = terminal.shows("[pid ").shows("]").screen().to_owned();
    let (_, process) = screen.split_once("[pid ").unwrap();
    let (process, _) = process.split_once(']').unwrap();
    assert!(runs(process), "{screen}");
    drop(terminal);
    // Its files are closed a moment before it is gone.
    let waited = std::time::Instant::now();
    while runs(process) && waited.elapsed() < Duration::from_mins(1) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!runs(process), "{screen}");
}
