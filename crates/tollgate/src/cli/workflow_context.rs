//! The project that a workflow command works on: where it is, what it is configured to, and
//! the one way its state is changed.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::gate::evidence::Verification;
use tollgate_core::context::Inputs;
use tollgate_core::decision::Decision;
use tollgate_core::integrity;
use tollgate_core::project::{Layout, ProjectId, under_docs};
use tollgate_core::record::Record;
use tollgate_core::workflow::definitions::Definitions;
use tollgate_core::workflow::evidence::ProjectRequirements;
use tollgate_core::workflow::manifest::Manifest;
use tollgate_core::workflow::transition::{self, Change, Refusal, Rules, Step};
use tollgate_store::document::Document;
use tollgate_store::edit::{self, EditFault};
use tollgate_store::fs::Durability;
use tollgate_store::history::History;
use tollgate_store::journal::{Entry, Verdict};
use tollgate_store::store::{Store, StoreError, UpdateError, Updated};

use crate::workflow_config::{WorkflowConfig, contents, corrupt};

use super::plain::{Plain, PlainLines};
use super::{BOLD, DIM, GOOD, Trouble, WARN, with_members};

/// A person waits longer for a lock than a hook may.
const PATIENCE: Duration = Duration::from_secs(5);

const INDEX: [&str; 2] = ["active_workflow", "current_phase_index"];

/// A project with its configuration read.
pub(super) struct WorkflowContext {
    pub(super) layout: Layout,
    pub(super) project: Option<ProjectId>,
    /// The directory of documents, relative to the root.
    pub(super) docs: String,
    pub(super) definitions: Definitions,
    pub(super) requirements: ProjectRequirements,
    pub(super) now: Timestamp,
    manifest: Option<String>,
}

/// A step that was made.
pub(super) struct Made {
    pub(super) change: Change,
    pub(super) version: u64,
    pub(super) document: Document,
    updated: Updated,
}

impl WorkflowContext {
    pub(super) fn here() -> Result<Self, Trouble> {
        let env = crate::environment::current();
        let layout = Layout::find(&env, None).ok_or_else(super::no_project)?;
        let now = Timestamp::now();
        let WorkflowConfig {
            layout,
            project,
            docs,
            definitions,
            requirements,
            manifest,
        } = WorkflowConfig::read(layout, env, now)?;
        Ok(Self {
            layout,
            project,
            docs,
            definitions,
            requirements,
            now,
            manifest,
        })
    }

    pub(super) fn state_file(&self) -> PathBuf {
        self.layout.state_file(self.project.as_ref())
    }

    pub(super) fn store(&self) -> Store {
        let project = self.project.as_ref();
        Store::new(
            self.layout.state_file(project),
            self.layout.store_home(project),
        )
        .with_patience(PATIENCE)
    }

    /// The state as it is; an empty document if there is none.
    pub(super) fn document(&self) -> Result<Document, Trouble> {
        let path = self.state_file();
        match contents(&path)? {
            None => Ok(Document::default()),
            Some(contents) => {
                Ok(Document::parse(&contents.bytes).map_err(|flaw| corrupt(&path, &flaw))?)
            }
        }
    }

    pub(super) fn with_rules<T>(&self, work: impl FnOnce(&Rules<'_>) -> T) -> Result<T, Trouble> {
        let manifest = match &self.manifest {
            Some(text) => Manifest::parse(text).map_err(|error| {
                Trouble::new(format!("skills-manifest.json cannot be read: {error}"))
                    .hint("correct it, or remove it")
            })?,
            None => Manifest::built_in(),
        };
        Ok(work(&Rules {
            definitions: &self.definitions,
            requirements: &self.requirements,
            manifest: &manifest,
        }))
    }

    pub(super) fn has_artifact(&self, path: &str) -> bool {
        let path = under_docs(&self.docs, path);
        self.layout.root().join(path).is_file()
    }

    /// What a step would do, without doing it. What follows may touch the repository, so nothing
    /// that was forged is believed here either.
    pub(super) fn rehearse(&self, step: &Step<'_>) -> Result<(), Trouble> {
        self.reconcile();
        let document = self.document()?;
        self.with_rules(|rules| transition::apply(step, &document, rules, self.now))??;
        Ok(())
    }

    /// Makes a step: one locked transaction, and its line in the journal.
    pub(super) fn make(&self, step: &Step<'_>) -> Result<Made, Trouble> {
        self.make_if(step, |_| Ok(()))
    }

    /// The same, if the document that would come of it is as expected.
    pub(super) fn make_if(
        &self,
        step: &Step<'_>,
        expected: impl Fn(&Document) -> Result<(), Refusal>,
    ) -> Result<Made, Trouble> {
        self.reconcile();
        let mut made = None;
        let updated = self.with_rules(|rules| {
            self.store().update(self.now, |document| {
                let change = transition::apply(step, document, rules, self.now)?;
                edit::apply(&change.edits, document).map_err(|fault| in_the_way(&fault))?;
                expected(document)?;
                made = Some((change, document.clone()));
                Ok(Durability::Synced)
            })
        })?;
        let updated = updated.map_err(not_updated)?;
        let Some((change, document)) = made else {
            return Err(Trouble::new("the change was lost"));
        };
        let made = Made {
            change,
            version: updated.version,
            document,
            updated,
        };
        self.write_down(&made);
        Ok(made)
    }

    /// Deals with a change of the state that no event was there to find: one right before an agent's
    /// command, in the same line of shell perhaps, or of a process that goes on in the background.
    /// Every command that writes the state begins with this, or it would make the change its own.
    pub(super) fn reconcile(&self) {
        let author = match crate::person::agent() {
            Some(_) => integrity::Author::Agent,
            None => integrity::Author::Other,
        };
        let env = crate::environment::current();
        let inputs =
            Inputs::new(self.layout.clone(), env, None, self.now).asking(crate::changes::SOURCES);
        let found = integrity::reconcile(&inputs, || author);
        self.report(Decision {
            warnings: found.finding.into_iter().collect(),
            changes: found.adopted.into_iter().collect(),
            faults: found.fault.into_iter().collect(),
            ..Decision::default()
        });
    }

    /// Writes down what was found beside the step, and prints it.
    fn report(&self, mut outcome: Decision) {
        if !outcome.is_silent() {
            let record = Record::unread(None).in_project(self.project_id());
            record.write(&self.layout, &mut outcome, self.now);
        }
        for report in &outcome.warnings {
            warn(&report.text);
        }
        for fault in &outcome.faults {
            warn(&fault.text);
        }
    }

    fn write_down(&self, made: &Made) {
        let entry = Entry {
            event: Some(made.change.step),
            phase: made.change.phase.as_deref(),
            agent: made.change.agent.as_deref(),
            reason: Some(&made.change.what),
            index: made.document.u64(&INDEX),
            ..Entry::new(self.now, Verdict::Change)
        };
        self.write_history(&made.updated, &entry);
    }

    pub(super) fn write_history(&self, updated: &Updated, entry: &Entry<'_>) {
        self.write_changes(updated, Some(entry));
    }

    /// Writes down the changes of others that waited until this update.
    pub(super) fn write_late(&self, updated: &Updated) {
        self.write_changes(updated, None);
    }

    fn write_changes(&self, updated: &Updated, own: Option<&Entry<'_>>) {
        let store = self.store();
        let refused = store.refusals(updated).map(crate::hook::refused);
        self.report(Decision {
            faults: refused.collect(),
            ..Decision::default()
        });
        let history = History::new(self.layout.workflow_local(), self.project_id(), self.now);
        if let Err(error) = history.write(updated, own) {
            warn(&format!(
                "the change is made, but the journal in {} cannot be written: {error}",
                self.layout.workflow_local().display()
            ));
        }
    }

    pub(super) fn project_id(&self) -> Option<&str> {
        self.project.as_ref().map(ProjectId::as_str)
    }
}

impl Made {
    /// Prints what a step did, what is known about the gates, and the next command.
    pub(super) fn report(
        &self,
        json: bool,
        next: Option<&str>,
        gates: Option<&Verification>,
    ) -> ExitCode {
        if json {
            let more = gates.map(|gates| json!({ "gates": gates.to_json() }));
            self.print_json(more.unwrap_or_default());
        } else {
            self.print();
            if let Some(gates) = gates {
                out!("  {}", Plain(&gates.to_string()));
            }
            if let Some(next) = next {
                out!("  next: {BOLD}{next}{BOLD:#}");
            }
        }
        for note in &self.change.notes {
            warn(note);
        }
        ExitCode::SUCCESS
    }

    pub(super) fn print(&self) {
        out!(
            "{GOOD}●{GOOD:#} {} {DIM}(state version {}){DIM:#}",
            Plain(&self.change.what),
            self.version
        );
    }

    /// Prints the same for programs, with `more` behind it.
    pub(super) fn print_json(&self, more: Value) {
        let Change {
            step,
            phase,
            agent,
            what,
            notes,
            ..
        } = &self.change;
        let value = json!({
            "step": step, "phase": phase, "agent": agent, "what": what, "notes": notes, "state_version": self.version,
            "current_phase_index": self.document.u64(&INDEX),
        });
        anstream::println!("{:#}", with_members(value, more));
    }
}

pub(super) fn warn(text: &str) {
    err!("{WARN}warning{WARN:#}: {}", PlainLines(text));
}

pub(super) fn in_the_way(fault: &EditFault) -> Trouble {
    Trouble::new(format!("the state cannot be changed: {fault}"))
        .hint("`tollgate workflow audit` explains what is wrong with the state")
}

pub(super) fn not_updated(error: UpdateError<Trouble>) -> Trouble {
    match error {
        UpdateError::Refused(trouble) => trouble,
        UpdateError::Store(error) => unchanged(&error),
    }
}

/// Why the store did not change the state, and what to do about it.
pub(super) fn unchanged(error: &StoreError) -> Trouble {
    let next = match error {
        StoreError::Busy { .. } | StoreError::Contended { .. } => "try again in a moment",
        StoreError::Absent { .. } => "start a workflow: `tollgate workflow start …`",
        StoreError::Corrupt { .. } => "restore it from version control, or correct it there",
        StoreError::Unreadable { .. } => "it must be a regular file that you may read",
        StoreError::TooLarge { .. } => "finish the workflow: that prunes its history",
        StoreError::Unwritten { .. } | StoreError::Home { .. } => {
            "nothing was changed: check that the disk is writable and has room, then try again"
        }
        StoreError::Unconfirmed { .. } => "the change is made; check the disk",
    };
    Trouble::new(error.to_string()).hint(next)
}
