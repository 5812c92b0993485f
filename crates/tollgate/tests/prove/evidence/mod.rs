//! Verified means verified: random steps in a real repository, beside a model that knows which trees
//! are red. No output is green over a tree that is red or that nobody saw, and no gate runs again on what
//! it was seen to pass.

mod model;
mod repository;

use std::time::Duration;

use serde_json::Value;

use crate::report::{Chance, Effort, Report};
use crate::workspace::Run;
use model::{Expected, GATES, Tree};
use repository::{HOUR, Ran, Repository, Session};

/// Steps of the short form.
const SHORT: u64 = 100;
/// A repository is used for so many.
const PER_REPOSITORY: u64 = 250;

pub(crate) fn run(effort: &Effort, report: &mut Report) {
    let steps = effort.steps(SHORT);
    let mut done = 0;
    while done < steps {
        let seed = effort.seed.wrapping_add(done);
        let mut trial = Trial {
            repository: Repository::new(),
            chance: Chance::new(seed),
            trace: Vec::new(),
            report,
        };
        let most = (steps - done).min(PER_REPOSITORY);
        let mut made = 0;
        while made < most && trial.report.defects.len() < 20 {
            trial.step();
            made += 1;
        }
        if !trial.repository.moves_clock() {
            trial
                .report
                .note("SKIPPED moves of the clock: no C compiler, or a static program".to_owned());
        }
        report.count("steps", made);
        done += most;
        if made < most {
            break;
        }
    }
}

/// Which gates have to run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Demand {
    All,
    /// Those that are not verified.
    Due,
    /// None: it depends on what else there is.
    Nothing,
}

/// The evidence with every failure made a pass; without one, with another digit.
fn forged(text: &str) -> String {
    let passed = text.replace("fail", "pass");
    if passed == text {
        text.replacen('1', "2", 1)
    } else {
        passed
    }
}

/// The repository, what was done to it, and what must be said of it.
struct Trial<'r> {
    repository: Repository,
    chance: Chance,
    trace: Vec<String>,
    report: &'r mut Report,
}

impl Trial<'_> {
    fn step(&mut self) {
        match self.chance.below(100) {
            0..30 => self.change(),
            30..50 => self.runs(),
            50..60 => self.turn(),
            60..68 => self.phase(),
            68..74 => self.git(),
            74..80 => self.clock(),
            80..86 => self.weaken(),
            86..90 => self.killed(),
            90..93 => self.changed_meanwhile(),
            93..95 => self.reverted_meanwhile(),
            95..97 => self.two_at_once(),
            97..98 => self.flaky(),
            98..99 => self.tamper(),
            _ => self.touch(),
        }
        match self.chance.below(4) {
            0 => self.status(),
            1 => self.status_json(),
            2 => self.exit_code(),
            _ => self.status_line(),
        }
    }

    fn did(&mut self, what: String) {
        self.report.count("changes and commands", 1);
        self.trace.push(what);
        if self.trace.len() > 14 {
            self.trace.remove(0);
        }
    }

    /// A promise was broken: what was said, and the last steps before it.
    fn check(&mut self, holds: bool, what: &str, run: &Run) {
        // One defect, again and again, hides no other.
        if !holds
            && self
                .report
                .defects
                .iter()
                .any(|defect| defect.starts_with(what))
        {
            return self.report.count("more defects like these", 1);
        }
        let (trace, expected) = (&self.trace, self.repository.expected());
        self.report.check(holds, || {
            format!(
                "{what}\n    {expected}\n    after: {}\n    code {:?}, stdout: {}\n    stderr: {}",
                trace.join("\n           "),
                run.code,
                run.stdout.trim(),
                run.stderr.trim()
            )
        });
    }

    // --- what is done to the tree

    /// A file is written, deleted, or ignored by all gates.
    fn change(&mut self) {
        let path = *self
            .chance
            .of(&["a/x", "a/y", "a/new", "b/x", "c/x", "notes.md", "ignored/f"]);
        if self.chance.below(8) == 0 {
            let _absent = std::fs::remove_file(self.repository.path(path));
            return self.did(format!("rm {path}"));
        }
        let content = *self.chance.of(&["1", "2", "3", "RED"]);
        self.repository.file(path, content);
        self.did(format!("echo {content} > {path}"));
    }

    fn git(&mut self) {
        let commands: [&[&str]; 9] = [
            &["checkout", "-q", "--", "."],
            &["add", "a", "b", "c", "tollgate.toml"],
            &["commit", "-qam", "work"],
            &["switch", "-q", "one"],
            &["switch", "-q", "two"],
            &["switch", "-q", "main"],
            &[
                "stash",
                "push",
                "-q",
                "--include-untracked",
                "--",
                "a",
                "b",
                "c",
            ],
            &["stash", "pop", "-q"],
            &["clean", "-qfd"],
        ];
        let command = *self.chance.of(&commands);
        let ended = self.repository.try_git(command);
        self.did(format!("git {} ({ended})", command.join(" ")));
        if command == ["stash", "pop", "-q"] && ended != 0 {
            self.repository.try_git(&["reset", "-q", "--hard"]);
            self.did("git reset --hard".to_owned());
        }
    }

    /// The times of a file, and not its content.
    fn touch(&mut self) {
        for path in ["a/x", "b/x"] {
            if let Ok(text) = std::fs::read(self.repository.path(path)) {
                self.repository.file(path, text);
            }
        }
        self.did("touch a/x b/x".to_owned());
    }

    fn clock(&mut self) {
        let hours = *self.chance.of(&[1, 50, 100, 190, -1, -3, -400]);
        let by = self.repository.move_clock(hours * HOUR);
        self.did(format!("the clock is {by} s off"));
    }

    /// A gate is weakened, restored, or the configuration changes in another way.
    fn weaken(&mut self) {
        let text = self.repository.configuration();
        let gate = *self.chance.of(&["a", "b", "every"]);
        let (strong, weak) = (format!("gate {gate}\""), format!("gate {gate} weak\""));
        let local = self.repository.path(model::OWN);
        let changed = match self.chance.below(6) {
            0 => text.replace(&strong, &weak),
            1 => format!("{text}# {}\n", self.chance.below(2)),
            2 => {
                let own = format!("[gates.{gate}]\nrun = \"gate {gate} weak\"\n");
                self.repository.file(model::OWN, own);
                return self.did(format!("{gate} is weakened in tollgate.local.toml"));
            }
            _ => {
                let _absent = std::fs::remove_file(local);
                repository::CONFIGURATION.to_owned()
            }
        };
        let what = if changed.contains(&weak) {
            format!("{gate} is weakened")
        } else {
            "tollgate.toml is edited or restored".to_owned()
        };
        self.repository.file("tollgate.toml", changed);
        self.did(what);
    }

    /// Somebody damages, forges or removes the evidence: none of it is believed.
    fn tamper(&mut self) {
        let path = self.repository.path(".tollgate/local/evidence.json");
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let what = *self.chance.of(&["cut", "forged", "removed"]);
        match what {
            "cut" => std::fs::write(&path, text.as_bytes().split_at(text.len() / 2).0).unwrap(),
            "forged" => std::fs::write(&path, forged(&text)).unwrap(),
            _ => drop(std::fs::remove_file(&path)),
        }
        self.repository.forget();
        self.did(format!("the evidence is {what}"));
    }

    // --- what makes evidence

    fn runs(&mut self) {
        let args: &[&str] = match self.chance.below(8) {
            0 => &["run", "--all"],
            1..4 => &["run", "--json"],
            _ => &["run"],
        };
        let before = self.repository.tree();
        let asked = self.gates(&before);
        let run = self.repository.tollgate(args);
        let ran = self.repository.ran();
        self.did(format!("tollgate {} ran {ran:?}", args.join(" ")));
        let demand = if args.contains(&"--all") {
            Demand::All
        } else {
            Demand::Due
        };
        self.needless(&asked, &ran, demand, &run);
        self.believe(&before, &ran, true, &run);
        self.verdict(args, &run);
    }

    /// What must be said of each gate.
    fn gates(&self, tree: &Tree) -> Vec<(&'static str, Expected)> {
        GATES
            .iter()
            .map(|(gate, _)| (*gate, self.repository.gate(gate, tree)))
            .collect()
    }

    /// No gate runs that is verified, and none twice; all others do if that is demanded.
    fn needless(&mut self, asked: &[(&str, Expected)], ran: &[Ran], demand: Demand, run: &Run) {
        for (gate, expected) in asked {
            let times = ran.iter().filter(|one| one.gate == *gate).count();
            let is_verified = *expected == Expected::Verified;
            if is_verified && demand != Demand::All {
                let what = format!("{gate} ran on what it was seen to pass");
                self.check(times == 0, &what, run);
            }
            let is_due = *expected == Expected::NotVerified && demand == Demand::Due;
            if is_due || demand == Demand::All {
                self.check(times > 0, &format!("{gate} did not run"), run);
            }
            self.check(times <= 1, &format!("{gate} ran {times} times"), run);
        }
    }

    /// The model sees what the gates said.
    fn believe(&mut self, tree: &Tree, ran: &[Ran], is_sure: bool, run: &Run) {
        for one in ran {
            let Some(code) = one.code else { continue };
            let is_flaking = self.repository.is_flaking(one.gate) && !tree.is_weak(one.gate);
            let is_red = tree.is_red(one.gate, one.guards) || is_flaking;
            let what = format!(
                "{} ended with {code} on a tree that is red: {is_red}",
                one.gate
            );
            self.check(is_red == (code != 0), &what, run);
            self.repository.add(one.gate, tree, code == 0, is_sure);
            self.report.count("gates run", 1);
        }
    }

    /// What a run says of the project.
    fn verdict(&mut self, args: &[&str], run: &Run) {
        let tree = self.repository.tree();
        let expected = self.repository.project();
        let is_lacking = |(_, expected): &(_, Expected)| *expected == Expected::NotVerified;
        let is_red = self.gates(&tree).iter().any(is_lacking);
        match expected {
            Expected::Verified => {
                self.check(run.code == Some(0), "a run of green gates failed", run);
            }
            Expected::NotVerified if !is_red => {
                let said = format!("{}{}", run.stdout, run.stderr);
                let is_named = said.contains("the gates were changed");
                self.check(is_named, "a run does not name the weakened gate", run);
                let is_plain = said.contains("Status: Passed\n") || said.contains("\"passed\"");
                self.check(!is_plain, "a run of weakened gates just passed", run);
            }
            Expected::NotVerified => {
                self.check(run.code == Some(1), "a run over red ended well", run);
            }
            Expected::Either => {}
        }
        if args.contains(&"--json") {
            let value: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
            self.compare("run --json", value["verification"] == "verified", run);
        } else {
            let said = format!("{}{}", run.stdout, run.stderr).to_lowercase();
            let is_green = run.code == Some(0) && !said.contains("not verified");
            self.compare("run", is_green, run);
        }
    }

    /// Tollgate is killed in the middle of a run.
    fn killed(&mut self) {
        let held = *self.chance.of(&GATES);
        self.repository.hold("hold", &[held.0]);
        let before = self.repository.tree();
        let mut child = self.repository.start(&["run"]);
        self.repository
            .wait_for(&format!("begin {}", held.0), &mut child);
        // Now and then others end before it.
        std::thread::sleep(Duration::from_millis(self.chance.below(120)));
        let _ended = child.kill();
        let run = crate::workspace::ended(child);
        self.repository.release();
        self.repository.settle();
        let ran = self.repository.ran();
        self.did(format!("kill -9 of a run, {} was held: {ran:?}", held.0));
        let others: Vec<Ran> = ran.into_iter().filter(|one| one.gate != held.0).collect();
        self.believe(&before, &others, false, &run);
    }

    /// A file changes while the gates run: what they said about it is about neither tree.
    fn changed_meanwhile(&mut self) {
        let names = GATES.map(|(gate, _)| gate);
        self.repository.hold("hold", &names);
        let before = self.repository.tree();
        let mut child = self.repository.start(&["run"]);
        let begun = self.repository.wait_for("begin", &mut child);
        let path = *self.chance.of(&["a/x", "b/x", "c/x"]);
        let content = *self.chance.of(&["1", "2", "RED"]);
        if begun {
            self.repository.file(path, content);
        }
        self.repository.release();
        let run = crate::workspace::ended(child);
        let ran = self.repository.ran();
        self.did(format!(
            "echo {content} > {path} in the middle of a run: {ran:?}"
        ));
        if begun {
            let after = self.repository.tree();
            for one in ran {
                if before.key(one.gate) == after.key(one.gate) {
                    // The same content may have been written anew: then it need not be kept.
                    let is_sure = before != after;
                    self.believe(&before, &[one], is_sure, &run);
                }
            }
        }
    }

    /// A file changes and changes back while the gates run, which see it in between.
    fn reverted_meanwhile(&mut self) {
        let names = GATES.map(|(gate, _)| gate);
        let path = *self.chance.of(&["a/x", "b/x", "c/x"]);
        self.repository.file(path, "RED");
        self.repository.hold("hold", &names);
        self.repository.hold("keep", &names);
        let before = self.repository.tree();
        let mut child = self.repository.start(&["run"]);
        let begun = self.repository.wait_for("begin", &mut child);
        if begun {
            self.repository.file(path, "1");
            self.repository.release_some("hold");
            self.repository.wait_for("checked", &mut child);
            // Those that begin only now see the red tree.
            self.repository.file(path, "RED");
        }
        self.repository.release();
        let run = crate::workspace::ended(child);
        let ran = self.repository.ran();
        self.did(format!(
            "{path} was RED, 1 and RED in the middle of a run: {ran:?}"
        ));
        let gates = ran
            .into_iter()
            .filter(|one| one.guards != path.split('/').next().unwrap_or_default());
        let gates: Vec<Ran> = gates.filter(|one| begun && one.gate != "every").collect();
        self.believe(&before, &gates, true, &run);
    }

    /// Two sessions at once: no gate runs twice.
    fn two_at_once(&mut self) {
        self.change();
        let turns = [Session::New, Session::New].map(|new| self.repository.prompt(new));
        self.change();
        let before = self.repository.tree();
        let asked = self.gates(&before);
        let stops = *self.chance.of(&[0, 1, 2]);
        let children = [0, 1].map(|at| {
            if at < stops {
                self.repository.start_stop(&turns[at])
            } else {
                self.repository.start(&["run"])
            }
        });
        let runs = children.map(crate::workspace::ended);
        let ran = self.repository.ran();
        self.did(format!(
            "{stops} stops and {} runs at once: {ran:?}",
            2 - stops
        ));
        let demand = if stops == 0 {
            Demand::Due
        } else {
            Demand::Nothing
        };
        self.needless(&asked, &ran, demand, &runs[0]);
        self.believe(&before, &ran, true, &runs[0]);
        let expected = self.repository.project();
        for (at, run) in runs.iter().enumerate() {
            let said = format!("{}{}", run.stdout, run.stderr).to_lowercase();
            let is_green = if at < stops {
                !said.contains("\"block\"") && !said.contains("not verified")
            } else {
                run.code == Some(0) && !before.is_weakened()
            };
            let is_false = is_green && expected == Expected::NotVerified;
            self.check(!is_false, "one of two at once is green over red", run);
        }
    }

    /// A gate that fails for no reason in the tree.
    fn flaky(&mut self) {
        let (gate, _) = *self.chance.of(&GATES);
        self.repository.hold("flake", &[gate]);
        self.did(format!("{gate} fails for another reason"));
        self.runs();
        self.repository.release();
        self.did(format!("{gate} does so no longer"));
    }

    /// A prompt, some changes, and the stop of the agent; perhaps the repair and another stop.
    fn turn(&mut self) {
        let session = match self.chance.below(4) {
            0 => Session::Known("one"),
            1 => Session::Known("two"),
            _ => Session::New,
        };
        let session = self.repository.prompt(session);
        self.did(format!("a prompt in session {}", session.id));
        let began = self.repository.tree();
        for _ in 0..self.chance.below(3) {
            self.change();
        }
        let (is_blocked, _) = self.stop(&session, &began, false);
        if is_blocked && self.chance.below(3) == 0 {
            let (is_blocked, run) = self.stop(&session, &began, true);
            self.check(!is_blocked, "who changed nothing is blocked again", &run);
        } else if is_blocked && self.chance.below(2) == 0 {
            for path in ["a/x", "a/y", "a/new", "b/x", "c/x"] {
                self.repository.file(path, "1");
            }
            self.did("all is green again".to_owned());
            self.stop(&session, &began, true);
        }
    }

    fn stop(&mut self, session: &repository::Turn, began: &Tree, is_active: bool) -> (bool, Run) {
        let before = self.repository.tree();
        let asked = self.gates(&before);
        let run = self.repository.stop(session, is_active);
        let ran = self.repository.ran();
        self.did(format!("a stop in session {} ran {ran:?}", session.id));
        self.needless(&asked, &ran, Demand::Nothing, &run);
        self.believe(&before, &ran, true, &run);
        let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
        self.report.count("Stop", 1);
        let is_blocked = answer["decision"] == "block";
        let said = format!("{}{}", run.stdout, run.stderr).to_lowercase();
        let is_shown = said.contains("not verified");
        let is_touched = GATES
            .iter()
            .any(|(gate, _)| began.key(gate) != before.key(gate));
        let is_red = GATES
            .iter()
            .any(|(gate, guards)| before.is_red(gate, guards));
        match self.repository.project() {
            Expected::Verified => {
                self.check(!is_blocked, "a stop on a verified tree is blocked", &run);
                self.check(
                    !is_shown,
                    "a stop on a verified tree says not verified",
                    &run,
                );
            }
            Expected::NotVerified => {
                self.check(
                    is_blocked || is_shown,
                    "a stop is let go without a word",
                    &run,
                );
                if is_touched && is_red && session.is_new && !is_active {
                    self.check(is_blocked, "red work of this turn is let go", &run);
                }
                if before.is_weakened() {
                    let is_named = said.contains("changed") || said.contains("weak");
                    self.check(is_named, "a stop does not name the weakened gate", &run);
                }
            }
            Expected::Either => {}
        }
        (is_blocked, run)
    }

    fn phase(&mut self) {
        let expected = self.repository.project();
        let run = self
            .repository
            .tollgate(&["phase", "complete", "--summary", "x"]);
        let ran = self.repository.ran();
        self.did(format!("phase complete: {:?}", run.code));
        self.check(ran.is_empty(), "phase complete ran gates", &run);
        self.report.count("phase complete", 1);
        let is_verified = run.code == Some(0) && run.stdout.contains("completed and verified");
        match expected {
            Expected::Verified => {
                self.check(is_verified, "a phase on a verified tree is refused", &run);
            }
            Expected::NotVerified => {
                self.check(run.code == Some(1), "a phase is completed over red", &run);
            }
            Expected::Either => {}
        }
        if run.code == Some(0) {
            let began = self.repository.tollgate(&["phase", "begin"]);
            if began.code != Some(0) {
                self.finish();
            }
        }
    }

    /// The workflow ends, and another one starts.
    fn finish(&mut self) {
        let run = self.repository.tollgate(&["workflow", "finalize"]);
        self.did("workflow finalize".to_owned());
        self.compare("finalize", run.stdout.contains("gates: verified"), &run);
        let run = self
            .repository
            .tollgate(&["workflow", "start", "change", "next"]);
        self.check(run.code == Some(0), "no other workflow starts", &run);
    }

    // --- what is said

    /// Compares what an output says with what must be said.
    fn compare(&mut self, output: &str, is_green: bool, run: &Run) {
        match self.repository.project() {
            Expected::Verified => {
                let what = format!("{output} is not green over a tree seen green");
                self.check(is_green, &what, run);
            }
            Expected::NotVerified => {
                let what = format!("{output} is green over a red or unseen tree");
                self.check(!is_green, &what, run);
            }
            Expected::Either => {}
        }
        self.report.count(output, 1);
    }

    /// The same of an output that runs no gate.
    fn says(&mut self, output: &str, is_green: bool, run: &Run) {
        self.compare(output, is_green, run);
        let ran = self.repository.ran();
        self.check(ran.is_empty(), &format!("{output} ran gates"), run);
    }

    fn status(&mut self) {
        let run = self.repository.tollgate(&["status"]);
        let line = run.stdout.lines().find(|line| line.starts_with("gates"));
        let is_green = line.is_some_and(|line| line.contains('✔'));
        self.says("status", is_green, &run);
    }

    fn status_json(&mut self) {
        let run = self.repository.tollgate(&["status", "--json"]);
        let value: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
        let gates = &value["gates"];
        self.says("status --json", gates["verification"] == "verified", &run);
        let tree = self.repository.tree();
        for (gate, expected) in self.gates(&tree) {
            let listed = gates["gates"].as_array().into_iter().flatten();
            let found = listed.clone().find(|one| one["name"] == gate);
            let said = found
                .and_then(|one| one["verification"].as_str())
                .unwrap_or_default();
            let what = format!("status --json says {said:?} of {gate}, which is {expected:?}");
            match expected {
                // Nobody accepted it.
                _ if tree.is_weak(gate) => self.check(said != "verified", &what, &run),
                Expected::Verified => self.check(said == "verified", &what, &run),
                Expected::NotVerified => self.check(said != "verified", &what, &run),
                Expected::Either => {}
            }
        }
    }

    fn exit_code(&mut self) {
        let run = self.repository.tollgate(&["status", "--exit-code"]);
        self.says("status --exit-code", run.code == Some(0), &run);
        let is_sure = matches!(run.code, Some(0 | 1));
        self.check(is_sure, "status --exit-code could not tell", &run);
    }

    fn status_line(&mut self) {
        let run = self.repository.tollgate(&["statusline"]);
        self.says("status line", run.stdout.contains("gates ✔"), &run);
    }
}
