//! The file of each review, which the agent edits, and what the next review makes of it.
//!
//! `<job>_<reviewer>@<slot>.<run>.json` is the original's: the agent sets `status` and `result`
//! of each violation. What Tollgate wrote into it is kept with the evidence ([`KeptReview`]): what was found
//! and who passed is read from there, and only the two answers from the agent's file. So a finding
//! does not go away with its file, and a fail does not become a pass by being edited.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tollgate_store::fs::{self, Durability};
use tollgate_store::redact::redact;

use super::cli::Usage;
use super::finding::{Finding, State, identity};
use super::kept::{KeptReview, violations};
use super::outcome::Outcome;

/// No review's file is larger.
const CAP: u64 = 8 << 20;

/// How much of what the reviewer printed is kept in it; the log has all.
const RAW: usize = 64 << 10;

/// Which review of which run.
#[derive(Clone, Debug)]
pub(crate) struct Name<'n> {
    pub(crate) directory: &'n Path,
    /// The job's part of the name.
    pub(crate) stem: &'n str,
    pub(crate) reviewer: &'n str,
    pub(crate) slot: u64,
    pub(crate) run: u64,
}

/// What is written about a review.
#[derive(Debug)]
pub(crate) struct ReviewRecord<'r> {
    pub(crate) outcome: Outcome,
    pub(crate) message: &'r str,
    pub(crate) model: Option<&'r str>,
    pub(crate) raw: &'r str,
    pub(crate) seconds: f64,
    pub(crate) usage: Usage,
    /// The run in which the slot passed.
    pub(crate) pass_iteration: Option<u64>,
    pub(crate) findings: Vec<&'r Finding>,
}

/// The last review of a slot.
#[derive(Clone, Debug)]
pub(crate) struct Earlier {
    pub(crate) reviewer: String,
    /// The run in which the slot passed, if it did.
    pub(crate) passed_in: Option<u64>,
    pub(crate) findings: Vec<Finding>,
    /// What is wrong with the agent's file.
    pub(crate) trouble: Option<String>,
}

impl Name<'_> {
    fn base(&self) -> String {
        format!("{}_{}@{}.{}", self.stem, self.reviewer, self.slot, self.run)
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.directory.join(format!("{}.log", self.base()))
    }

    pub(crate) fn json(&self) -> PathBuf {
        self.directory.join(format!("{}.json", self.base()))
    }

    /// Writes the file, and says what is kept of it.
    pub(crate) fn write(&self, record: &ReviewRecord<'_>) -> io::Result<KeptReview> {
        let mut value = self.value(record);
        let text = format!("{value:#}\n");
        fs::replace(&self.json(), text.as_bytes(), Durability::Synced)
            .map_err(|fault| io::Error::other(fault.to_string()))?;
        if let Value::Object(members) = &mut value {
            members.shift_remove("rawOutput");
        }
        Ok(KeptReview {
            reviewer: self.reviewer.to_owned(),
            run: self.run,
            value,
            seen: None,
        })
    }

    fn value(&self, record: &ReviewRecord<'_>) -> Value {
        let raw = redact(record.raw);
        let end = raw.floor_char_boundary(RAW);
        let violations: Vec<Value> = record.findings.iter().map(|one| one.to_json()).collect();
        // One that passed before is not made again.
        let status = match record.pass_iteration {
            Some(_) => "skipped_prior_pass",
            None => record.outcome.as_str(),
        };
        let mut value = json!({
            "adapter": self.reviewer,
            "timestamp": tollgate_store::timestamp::iso(jiff::Timestamp::now()),
            "status": status,
            "message": record.message,
            "violations": violations,
            "seconds": record.seconds,
            "rawOutput": raw.get(..end).unwrap_or_default(),
        });
        let usage = &record.usage;
        let more = [
            ("model", record.model.map(Value::from)),
            ("cost_usd", usage.cost_usd.map(Value::from)),
            ("input_tokens", usage.input_tokens.map(Value::from)),
            ("output_tokens", usage.output_tokens.map(Value::from)),
            ("passIteration", record.pass_iteration.map(Value::from)),
        ];
        if let Value::Object(object) = &mut value {
            for (key, value) in more {
                if let Some(value) = value {
                    object.insert(key.to_owned(), value);
                }
            }
        }
        value
    }
}

/// The last review of each slot of a job: what is kept of it, with the agent's answers. A file without
/// anything kept was written by somebody else, and says nothing.
pub(crate) fn latest(
    directory: &Path,
    stem: &str,
    kept: &BTreeMap<u64, KeptReview>,
) -> BTreeMap<u64, Earlier> {
    let earlier =
        |(slot, kept): (&u64, &KeptReview)| (*slot, earlier(kept, directory, stem, *slot));
    kept.iter().map(earlier).collect()
}

/// What is kept of a review, with the agent's answers.
fn earlier(kept: &KeptReview, directory: &Path, stem: &str, slot: u64) -> Earlier {
    let name = Name {
        directory,
        stem,
        reviewer: &kept.reviewer,
        slot,
        run: kept.run,
    };
    let mut findings: Vec<Finding> = kept.findings().collect();
    let trouble = match read(&name.json()) {
        Ok(theirs) => {
            for finding in &mut findings {
                mark(finding, &theirs);
            }
            None
        }
        Err(what) => Some(what),
    };
    Earlier {
        reviewer: kept.reviewer.clone(),
        passed_in: kept.passed(),
        trouble: trouble.filter(|_| !findings.is_empty()),
        findings,
    }
}

fn read(path: &Path) -> Result<Value, String> {
    let name = path.file_name().unwrap_or_default().display();
    match fs::read_regular(path, CAP) {
        Ok(Some(contents)) => serde_json::from_slice(&contents.bytes).map_err(|error| {
            format!("{name} is not JSON any more ({error}), so no answer in it counts")
        }),
        Ok(None) => Err(format!("{name} is gone, so no answer in it counts")),
        Err(fault) => Err(format!(
            "{name} cannot be read ({fault}), so no answer in it counts"
        )),
    }
}

/// Takes the agent's answer to a finding, and nothing else of its file.
fn mark(finding: &mut Finding, theirs: &Value) {
    let is_it = |value: &&Value| {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        match text("id") {
            Some(id) => id == finding.id,
            None => identity(text("file"), text("issue").unwrap_or_default()) == finding.id,
        }
    };
    let Some(value) = violations(theirs).find(is_it) else {
        return;
    };
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    // An unknown word is no answer.
    finding.state = text("status").and_then(State::named).unwrap_or(State::New);
    finding.result = text("result").map(str::to_owned);
}
