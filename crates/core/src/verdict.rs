//! What a guard answers, and what one event's answers add up to.

use std::borrow::Cow;

/// A guard's answer to one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing to say.
    Allow,
    /// The agent may go on and should know this.
    Warn(Vec<Finding>),
    /// The agent may not do this.
    Block(Finding),
}

/// One thing a guard found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The error code of the specification, for example `BG-001`.
    pub code: &'static str,
    /// The whole message, as the agent reads it.
    pub text: String,
    /// One line for the journal and the log.
    pub reason: String,
    /// The phase it concerns.
    pub phase: Option<String>,
    /// The sub-agent it concerns.
    pub agent: Option<String>,
}

/// Something that kept Tollgate from deciding. The agent goes on; the person is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// A stable name of the fault, for example `state-corrupt`.
    pub kind: &'static str,
    /// What is wrong, where, and what to do next.
    pub text: Cow<'static, str>,
}

/// Which guard found something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The guard's specification name.
    pub guard: &'static str,
    /// What it found.
    pub finding: Finding,
}

/// All that was decided about one event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The first block; it ended the event.
    pub block: Option<Report>,
    /// The warnings of the guards that ran, in their order.
    pub warnings: Vec<Report>,
    /// What Tollgate could not do.
    pub faults: Vec<Fault>,
}

impl Finding {
    /// A finding that concerns no phase or agent yet.
    pub fn new(code: &'static str, text: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            code,
            text: text.into(),
            reason: reason.into(),
            phase: None,
            agent: None,
        }
    }

    /// The same finding about a phase.
    #[must_use]
    pub fn phase(mut self, phase: &str) -> Self {
        self.phase = Some(phase.to_owned());
        self
    }

    /// The same finding about a sub-agent.
    #[must_use]
    pub fn agent(mut self, agent: &str) -> Self {
        self.agent = Some(agent.to_owned());
        self
    }
}

impl Outcome {
    /// Adds one guard's verdict. True when the event is over.
    pub fn add(&mut self, guard: &'static str, verdict: Verdict) -> bool {
        match verdict {
            Verdict::Allow => false,
            Verdict::Warn(findings) => {
                self.warnings.extend(
                    findings
                        .into_iter()
                        .map(|finding| Report { guard, finding }),
                );
                false
            }
            Verdict::Block(finding) => {
                self.block = Some(Report { guard, finding });
                true
            }
        }
    }

    /// Whether there is nothing to say: no output, no journal line.
    pub fn is_silent(&self) -> bool {
        self.block.is_none() && self.warnings.is_empty() && self.faults.is_empty()
    }
}

impl Fault {
    /// A fault with its text.
    pub fn new(kind: &'static str, text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind,
            text: text.into(),
        }
    }
}
