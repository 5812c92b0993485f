//! What is decided about an event: one type from the first guard to the bytes of the answer.

use std::borrow::Cow;

use serde_json::Value;
use tollgate_store::edit::Edit;

use crate::next::Next;

/// All that is decided about one event.
///
/// A guard answers with one, the answers of all add up to one ([`Decision::add`]), a stop adds what
/// plans and gates say, and the asker's protocol writes it. A guard changes nothing itself: what it
/// wants changed in the project's state is data, and goes into one transaction with what the others
/// want.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// The agent may not do this. The first block ends the event.
    pub block: Option<Finding>,
    /// The person is asked whether the agent may. A block goes before it.
    pub ask: Option<Finding>,
    /// The shell command that runs in place of the agent's if the person says yes.
    pub command_if_yes: Option<String>,
    /// The agent may go on and should know this.
    pub warnings: Vec<Finding>,
    /// What a rule that only watches found, for the journal alone.
    pub watched: Vec<Finding>,
    /// What Tollgate could not do.
    pub faults: Vec<Fault>,
    /// What each guard wants changed in the state, with its name.
    pub edits: Vec<(&'static str, Vec<Edit>)>,
    /// What the agent learns besides: progress, the next step. Not a finding, not journalled.
    pub guidance: Vec<String>,
    /// What a guard noticed and put right by itself, for the logs.
    pub notes: Vec<Finding>,
    /// Entries of the history that are remembered for good.
    pub remembered: Vec<Value>,
    /// Steps of the workflow that were adopted, for the journal.
    pub changes: Vec<Finding>,
    /// What the gates came to, if they were asked: specification 003's answer has it.
    pub gates: Option<GateStatus>,
}

/// The gates' name in findings.
pub const GATES: &str = "gates";

/// What gates came to at a stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateStatus {
    /// The unified status, for example `no_applicable_gates`.
    pub status: &'static str,
    /// What happened, for a person.
    pub message: String,
}

/// One thing that a guard can say.
#[derive(Clone, Copy, Debug)]
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
    /// Fields of the state, and what they would have to say for it to go away: `explain` tries them.
    pub passes_with: &'static [&'static str],
    /// A command that does not meet it.
    pub instead: Option<&'static str>,
}

/// Who can lift a block (`tollgate allow`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Override {
    /// A person, for once or for a while.
    Person,
    /// It cannot be lifted: it protects the records that everything else is decided from.
    Nobody,
}

/// One thing a guard found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Who found it: a guard's specification name, `gates`. Empty until [`Decision::by`] says it.
    pub guard: &'static str,
    /// The error code of the specification, for example `BG-001`.
    pub code: Cow<'static, str>,
    /// The whole message, as the agent reads it.
    pub text: String,
    /// More that only the agent needs: how to go on. Where an agent shows the person why it was
    /// blocked and has another way to the model, it goes that way.
    pub instructions: Option<String>,
    /// What the person is asked where the agent can ask in the chat: a block that only a person
    /// lifts, by saying yes to this. It names what is given up.
    pub question: Option<String>,
    /// What leads out of it here, for a real agent. The specifications' own events are answered
    /// without it: their texts are verbatim.
    pub next: Option<Next>,
    /// One line for the journal and the log.
    pub reason: String,
    /// The phase it concerns.
    pub phase: Option<String>,
    /// The sub-agent it concerns.
    pub agent: Option<String>,
    /// What became of the state, if that is what it is about.
    pub state: Option<Box<StateChange>>,
}

/// What another program did to the state file and what Tollgate made of it, for its history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateChange {
    /// The version of the state as it is now.
    pub version: u64,
    /// What is left of the change, against the last version that was known.
    pub patch: Option<Value>,
    /// What was undone of it.
    pub undone: Option<Value>,
}

/// Something that kept Tollgate from deciding. The agent goes on, and the fault is reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// A stable name of the fault, for example `state-corrupt`.
    pub kind: &'static str,
    /// What is wrong, where, and what to do next.
    pub text: Cow<'static, str>,
}

impl Decision {
    /// Nothing to say.
    pub fn allow() -> Self {
        Self::default()
    }

    /// The agent may not do this.
    pub fn block(finding: Finding) -> Self {
        Self::default().blocking(finding)
    }

    /// The agent may go on and should know this.
    pub fn warn(findings: impl Into<Vec<Finding>>) -> Self {
        Self {
            warnings: findings.into(),
            ..Self::default()
        }
    }

    /// The same decision, but the agent may not do this.
    #[must_use]
    pub fn blocking(self, finding: Finding) -> Self {
        Self {
            block: Some(finding),
            ..self
        }
    }

    /// The same decision with changes of the state.
    #[must_use]
    pub fn editing(mut self, edits: impl IntoIterator<Item = Edit>) -> Self {
        let mut all = self.edits.pop().map_or_else(Vec::new, |(_, edits)| edits);
        all.extend(edits);
        if !all.is_empty() {
            self.edits.push(("", all));
        }
        self
    }

    /// The same decision with a word to the agent.
    #[must_use]
    pub fn telling(mut self, guidance: impl Into<String>) -> Self {
        self.guidance.push(guidance.into());
        self
    }

    /// The same decision with an entry of the history for the archive.
    #[must_use]
    pub fn remembering(mut self, entry: Value) -> Self {
        self.remembered.push(entry);
        self
    }

    /// The same decision with a note for the logs.
    #[must_use]
    pub fn noting(mut self, note: Finding) -> Self {
        self.notes.push(note);
        self
    }

    /// The same decision, made by this guard.
    #[must_use]
    pub fn by(mut self, guard: &'static str) -> Self {
        let findings = self.block.iter_mut().chain(&mut self.ask);
        let findings = findings.chain(&mut self.warnings).chain(&mut self.watched);
        for finding in findings.chain(&mut self.notes) {
            finding.guard = guard;
        }
        for (by, _) in &mut self.edits {
            *by = guard;
        }
        self
    }

    /// Adds what another check decided about the event.
    pub fn add(&mut self, other: Self) {
        let Self {
            block,
            ask,
            command_if_yes,
            warnings,
            watched,
            faults,
            edits,
            guidance,
            notes,
            remembered,
            changes,
            gates,
        } = other;
        self.block = self.block.take().or(block);
        self.ask = match (self.ask.take(), ask) {
            // One answer is for both, so both are asked about.
            (Some(first), Some(second)) => Some(first.and_asking(second)),
            (first, second) => first.or(second),
        };
        self.command_if_yes = self.command_if_yes.take().or(command_if_yes);
        self.warnings.extend(warnings);
        self.watched.extend(watched);
        self.faults.extend(faults);
        self.edits.extend(edits);
        self.guidance.extend(guidance);
        self.notes.extend(notes);
        self.remembered.extend(remembered);
        self.changes.extend(changes);
        self.gates = self.gates.take().or(gates);
    }

    /// What keeps the agent, then what it should know.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.block.iter().chain(&self.ask).chain(&self.warnings)
    }

    /// The decision in one word: `block`, `ask`, `warn` or `allow`.
    pub fn word(&self) -> &'static str {
        match (&self.block, &self.ask, self.warnings.as_slice()) {
            (Some(_), _, _) => "block",
            (None, Some(_), _) => "ask",
            (None, None, [_, ..]) => "warn",
            (None, None, []) => "allow",
        }
    }

    /// Whether there is nothing to write down.
    pub fn is_silent(&self) -> bool {
        self.block.is_none()
            && self.ask.is_none()
            && self.warnings.is_empty()
            && self.watched.is_empty()
            && self.faults.is_empty()
            && self.notes.is_empty()
            && self.changes.is_empty()
    }
}

impl Code {
    /// A block that a person can lift.
    pub const fn blocks(id: &'static str, meaning: &'static str, remedy: &'static str) -> Self {
        Self {
            id,
            meaning,
            remedy,
            lifted_by: Some(Override::Person),
            passes_with: &[],
            instead: None,
        }
    }

    /// A block that cannot be lifted.
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

    /// The same, with the fields that satisfy it.
    #[must_use]
    pub const fn passes_with(self, fields: &'static [&'static str]) -> Self {
        Self {
            passes_with: fields,
            ..self
        }
    }

    /// The same, with a command that does not meet it.
    #[must_use]
    pub const fn instead(self, command: &'static str) -> Self {
        Self {
            instead: Some(command),
            ..self
        }
    }
}

impl Finding {
    /// A finding that concerns no phase or agent yet.
    pub fn new(
        code: impl Into<Cow<'static, str>>,
        text: impl Into<String>,
        reason: impl Into<String>,
    ) -> Self {
        Self {
            guard: "",
            code: code.into(),
            text: text.into(),
            instructions: None,
            question: None,
            next: None,
            reason: reason.into(),
            phase: None,
            agent: None,
            state: None,
        }
    }

    /// The whole message with what only the agent needs.
    pub fn whole(&self) -> Cow<'_, str> {
        match &self.instructions {
            Some(more) => Cow::Owned(format!("{}\n{more}", self.text)),
            None => Cow::Borrowed(&self.text),
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

    /// The same finding, of this guard.
    #[must_use]
    pub fn by(mut self, guard: &'static str) -> Self {
        self.guard = guard;
        self
    }

    /// The same finding, which a person can lift in the chat by saying yes to this.
    #[must_use]
    pub fn asking(mut self, question: impl Into<String>) -> Self {
        self.question = Some(question.into());
        self
    }

    /// The question that takes the block's place where the agent can ask the person; none if no
    /// answer lifts it.
    #[must_use]
    pub fn in_chat(&self) -> Option<Self> {
        let question = self.question.as_deref()?;
        let text = format!(
            "{question}\nA yes is the person's own decision and goes to the journal. Without it, nothing is changed."
        );
        // The person reads it, and `Next:` tells the agent what to do.
        Some(Self {
            text,
            instructions: None,
            next: None,
            ..self.clone()
        })
    }

    /// Two questions as one.
    fn and_asking(mut self, second: Self) -> Self {
        self.text = format!("{}\n\n{}", self.text, second.text);
        self.question = self.question.or(second.question);
        self
    }

    /// The same finding with the way out.
    #[must_use]
    pub fn next(mut self, next: Next) -> Self {
        self.next = Some(next);
        self
    }

    /// The same finding about a phase.
    #[must_use]
    pub fn phase(mut self, phase: &str) -> Self {
        self.phase = Some(phase.to_owned());
        self
    }

    /// The same finding about the phase that the workflow is in, if it is in one.
    #[must_use]
    pub fn in_phase(mut self, phase: Option<impl Into<String>>) -> Self {
        self.phase = phase.map(Into::into);
        self
    }

    /// The same finding about a sub-agent.
    #[must_use]
    pub fn agent(mut self, agent: &str) -> Self {
        self.agent = Some(agent.to_owned());
        self
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
