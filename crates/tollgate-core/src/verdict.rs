//! What a guard answers, and what one event's answers add up to.

use std::borrow::Cow;

use serde_json::Value;

use tollgate_store::edit::Edit;

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

/// All that a guard has to say about one event.
///
/// A guard changes nothing itself. What it wants changed in the project's state goes into one
/// transaction with what the other guards want.
#[derive(Clone, Debug, PartialEq)]
pub struct Opinion {
    /// Its answer.
    pub verdict: Verdict,
    /// What it wants changed in the state.
    pub edits: Vec<Edit>,
    /// What it tells the agent besides: progress, the next step. Not a finding, not journalled.
    pub guidance: Vec<String>,
    /// What it noticed and put right by itself, for the logs.
    pub notes: Vec<Finding>,
    /// Entries of the history that it wants remembered for good.
    pub remembered: Vec<Value>,
}

/// One thing that a guard can say.
#[derive(Debug)]
pub struct Code {
    /// The code of its findings, for example `BG-001`.
    pub id: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// How to satisfy it, for the reference that people read. The message tells the agent the same
    /// at the moment it needs it.
    pub remedy: &'static str,
    /// Who can lift it; none if it does not block.
    pub lifted_by: Option<Override>,
}

/// Who can lift a block (`tollgate allow`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Override {
    /// A person, for once or for a while.
    Person,
    /// Nobody: it protects the records that everything else is decided from.
    Nobody,
}

/// One thing a guard found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The error code of the specification, for example `BG-001`.
    pub code: &'static str,
    /// The whole message, as the agent reads it.
    pub text: String,
    /// What helps here, as one sentence for a real agent. The specifications' own events are
    /// answered without it: their texts are verbatim.
    pub next: Option<String>,
    /// One line for the journal and the log.
    pub reason: String,
    /// The phase it concerns.
    pub phase: Option<String>,
    /// The sub-agent it concerns.
    pub agent: Option<String>,
    /// What became of the state, if that is what it is about.
    pub state: Option<Box<StateChange>>,
}

/// What somebody else did to the state file and what Tollgate made of it, for its history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateChange {
    /// The version of the state as it is now.
    pub version: u64,
    /// What is left of the change, against the last version that was known.
    pub patch: Option<Value>,
    /// What was undone of it.
    pub undone: Option<Value>,
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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The first block; it ended the event.
    pub block: Option<Report>,
    /// The warnings of the guards that ran, in their order.
    pub warnings: Vec<Report>,
    /// What Tollgate could not do.
    pub faults: Vec<Fault>,
    /// What each guard wants changed in the state; all of it is one transaction.
    pub edits: Vec<(&'static str, Vec<Edit>)>,
    /// What the guards tell the agent besides.
    pub guidance: Vec<String>,
    /// What the guards put right by themselves.
    pub notes: Vec<Report>,
    /// Entries of the history for the archive.
    pub remembered: Vec<Value>,
    /// Steps of the workflow that were adopted, for the journal.
    pub changes: Vec<Finding>,
}

impl Code {
    /// A block that a person can lift.
    pub const fn blocks(id: &'static str, meaning: &'static str, remedy: &'static str) -> Self {
        Self {
            id,
            meaning,
            remedy,
            lifted_by: Some(Override::Person),
        }
    }

    /// A block that nobody can lift.
    pub const fn blocks_for_good(
        id: &'static str,
        meaning: &'static str,
        remedy: &'static str,
    ) -> Self {
        Self {
            lifted_by: Some(Override::Nobody),
            ..Self::blocks(id, meaning, remedy)
        }
    }

    /// A warning or a note.
    pub const fn warns(id: &'static str, meaning: &'static str, remedy: &'static str) -> Self {
        Self {
            lifted_by: None,
            ..Self::blocks(id, meaning, remedy)
        }
    }
}

impl From<Verdict> for Opinion {
    fn from(verdict: Verdict) -> Self {
        Self {
            verdict,
            edits: Vec::new(),
            guidance: Vec::new(),
            notes: Vec::new(),
            remembered: Vec::new(),
        }
    }
}

impl Opinion {
    /// Nothing to say.
    pub fn allow() -> Self {
        Verdict::Allow.into()
    }

    /// The same opinion with changes of the state.
    #[must_use]
    pub fn editing(mut self, edits: impl IntoIterator<Item = Edit>) -> Self {
        self.edits.extend(edits);
        self
    }

    /// The same opinion with a word to the agent.
    #[must_use]
    pub fn telling(mut self, guidance: impl Into<String>) -> Self {
        self.guidance.push(guidance.into());
        self
    }

    /// The same opinion with an entry of the history for the archive.
    #[must_use]
    pub fn remembering(mut self, entry: Value) -> Self {
        self.remembered.push(entry);
        self
    }

    /// The same opinion with a note for the logs.
    #[must_use]
    pub fn noting(mut self, note: Finding) -> Self {
        self.notes.push(note);
        self
    }
}

impl Finding {
    /// A finding that concerns no phase or agent yet.
    pub fn new(code: &'static str, text: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            code,
            text: text.into(),
            next: None,
            reason: reason.into(),
            phase: None,
            agent: None,
            state: None,
        }
    }

    /// The same finding with what became of the state.
    #[must_use]
    pub fn with_state(self, state: StateChange) -> Self {
        Self {
            state: Some(Box::new(state)),
            ..self
        }
    }

    /// The same finding with what helps.
    #[must_use]
    pub fn next(mut self, next: impl Into<String>) -> Self {
        self.next = Some(next.into());
        self
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
    /// Adds one guard's opinion. True when the event is over.
    pub fn add(&mut self, guard: &'static str, opinion: Opinion) -> bool {
        if !opinion.edits.is_empty() {
            self.edits.push((guard, opinion.edits));
        }
        self.guidance.extend(opinion.guidance);
        self.remembered.extend(opinion.remembered);
        self.notes.extend(
            opinion
                .notes
                .into_iter()
                .map(|finding| Report { guard, finding }),
        );
        match opinion.verdict {
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

    /// Whether there is nothing to write down.
    pub fn is_silent(&self) -> bool {
        self.block.is_none()
            && self.warnings.is_empty()
            && self.faults.is_empty()
            && self.notes.is_empty()
            && self.changes.is_empty()
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
