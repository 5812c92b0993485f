//! `tollgate doctor`: does it work here, and if not, what is to be done?
//!
//! Every finding has a name that stays the same, what is wrong, and what to do; some can be
//! repaired (`--fix`). Nothing that a project chose is started: what a project's settings register
//! is run only if it leads to a program outside of the project.

mod canary;
mod project;
mod registrations;
mod reviewers;

use std::process::ExitCode;

use jiff::Timestamp;
use serde_json::{Value, json};
use tollgate_core::env::Env;
use tollgate_core::project::Layout;
use tollgate_core::selftest;

use super::global::{Verbosity, verbosity};
use super::plain::{Plain, PlainLines};
use super::{BOLD, CommandResult, DIM, ERROR, GOOD};
use crate::agents::Places;
use crate::agents::read::{self, Reading};
use crate::armed::{self, Arming};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Repair what can be repaired
    #[arg(long)]
    fix: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) struct Finding<'p> {
    /// Its name, which stays the same.
    name: &'static str,
    what: String,
    next: String,
    repair: Option<Repair<'p>>,
}

/// What puts it right, and says what was done.
type Repair<'p> = Box<dyn FnOnce() -> Result<String, String> + 'p>;

pub(super) struct Patient {
    env: Env,
    places: Places,
    layout: Option<Layout>,
    reading: Reading,
    now: Timestamp,
}

struct Attempt {
    name: &'static str,
    what: String,
    done: Result<String, String>,
}

impl<'p> Finding<'p> {
    fn new(name: &'static str, what: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            name,
            what: what.into(),
            next: next.into(),
            repair: None,
        }
    }

    fn repaired_by(mut self, repair: impl FnOnce() -> Result<String, String> + 'p) -> Self {
        self.repair = Some(Box::new(repair));
        self
    }
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let mut repairs = Vec::new();
    if arguments.fix {
        let patient = Patient::here()?;
        for finding in patient.examine() {
            if let Some(repair) = finding.repair {
                repairs.push(Attempt {
                    name: finding.name,
                    what: finding.what,
                    done: repair(),
                });
            }
        }
    }
    // Also after repairs: what counts is how it is now.
    let patient = Patient::here()?;
    let findings = patient.examine();
    if arguments.json {
        anstream::println!("{:#}", value(&findings, &repairs, &patient.agents()));
    } else {
        print(&findings, &repairs, &patient.agents());
    }
    Ok(ExitCode::from(u8::from(!findings.is_empty())))
}

impl Patient {
    fn here() -> Result<Self, super::Trouble> {
        let env = crate::environment::current();
        let places = super::install::places()?;
        Ok(Self {
            layout: Layout::find(&env, None),
            reading: read::read(&places),
            now: Timestamp::now(),
            places,
            env,
        })
    }

    fn examine(&self) -> Vec<Finding<'_>> {
        let mut findings = dead_guards();
        findings.extend(registrations::examine(self));
        findings.extend(canary::examine(self));
        match &self.layout {
            Some(layout) => {
                findings.extend(project::examine(self, layout));
                findings.extend(reviewers::examine(self, layout));
            }
            None => findings.push(Finding::new(
                "nothing-to-guard",
                "this directory is not in a project",
                "`tollgate init` sets one up",
            )),
        }
        findings
    }

    /// The agents that Tollgate is registered with, and whether they are under guard.
    fn agents(&self) -> Vec<Arming> {
        armed::all(&self.places, &self.reading, self.layout.as_ref(), self.now)
    }
}

/// Shows every guard its known-bad event in a temporary place.
fn dead_guards<'p>() -> Vec<Finding<'p>> {
    let place = std::env::temp_dir().join(format!("tollgate-selftest-{}", std::process::id()));
    let next = "this is a defect of the program: install it again, and report it";
    let faults = selftest::run(&place).into_iter();
    let findings = faults.map(|fault| Finding::new("guard-dead", fault.text, next));
    findings.collect()
}

fn print(findings: &[Finding<'_>], repairs: &[Attempt], agents: &[Arming]) {
    for Attempt { name, what, done } in repairs {
        match done {
            Ok(done) => {
                out!("{GOOD}fixed{GOOD:#}  {BOLD}{name}{BOLD:#}  {}", Plain(done));
            }
            Err(why) => out!(
                "{ERROR}not fixed{ERROR:#}  {BOLD}{name}{BOLD:#}  {}\n  {DIM}{}{DIM:#}",
                Plain(what),
                PlainLines(why)
            ),
        }
    }
    for finding in findings {
        let what = PlainLines(&finding.what);
        out!("{ERROR}{}{ERROR:#}  {what}", finding.name);
        out!("  {DIM}{}{DIM:#}", PlainLines(&finding.next));
    }
    if verbosity() == Verbosity::Quiet {
        return;
    }
    for one in agents {
        let (agent, file, state) = (&one.agent, Plain(&one.file), Plain(&one.state));
        out!("{BOLD}agent{BOLD:#}  {agent} ({file}): {state}");
    }
    let dead = findings.iter().filter(|one| one.name == "guard-dead");
    out!(
        "{BOLD}guards{BOLD:#} {} of {} guards block their sample event",
        selftest::samples().count() - dead.count(),
        selftest::samples().count()
    );
    let repairable = findings.iter().filter(|one| one.repair.is_some()).count();
    match (findings.len(), repairable) {
        (0, _) => out!("{GOOD}healthy{GOOD:#}"),
        (1, 0) => out!("1 finding"),
        (many, 0) => out!("{many} findings"),
        (many, repairable) => out!(
            "{many} finding(s); `{BOLD}tollgate doctor --fix{BOLD:#}` repairs {repairable} of them"
        ),
    }
}

fn value(findings: &[Finding<'_>], repairs: &[Attempt], agents: &[Arming]) -> Value {
    let dead = findings.iter().filter(|one| one.name == "guard-dead");
    let alive = selftest::samples().count() - dead.count();
    let rows = findings.iter().map(|one| {
        json!({ "name": one.name, "what": one.what, "next": one.next, "repairable": one.repair.is_some() })
    });
    let repairs = repairs.iter().map(|one| {
        json!({ "name": one.name, "what": one.what, "repaired": one.done.is_ok(),
            "done": match &one.done { Ok(text) | Err(text) => text } })
    });
    json!({
        "healthy": findings.is_empty(), "agents": agents,
        "guards": { "alive": alive, "count": selftest::samples().count() },
        "findings": rows.collect::<Vec<_>>(), "repairs": repairs.collect::<Vec<_>>(),
    })
}
