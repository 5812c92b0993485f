//! Findings: what they are the same by, and what becomes of them from one review to the next.
//!
//! A finding stays until a reviewer that was shown it no longer sees it, or until it is skipped
//! with a reason. That it is not mentioned any more is not enough if it was not answered and
//! its file is as it was.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::answer::{Assessment, Status, Violation};
use super::scope::Scope;

/// How much a finding matters, by the reviewer's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Priority {
    Low,
    Medium,
    High,
    Critical,
}

/// What the agent says about a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing yet.
    New,
    /// It fixed it.
    Fixed,
    /// It will not fix it.
    Skipped,
}

/// Whether a finding has to be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    Blocking,
    /// It is outside of what changed, or comes with a pass.
    Advisory,
}

/// One finding.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finding {
    /// What it is the same by. See [`identity`].
    pub(crate) id: String,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u64>,
    pub(crate) issue: String,
    pub(crate) fix: Option<String>,
    pub(crate) priority: Option<Priority>,
    pub(crate) state: State,
    /// What the agent did, or why it did not.
    pub(crate) result: Option<String>,
    pub(crate) weight: Weight,
    /// Its file's content when it was found; empty if there was none.
    pub(crate) print: String,
}

/// What became of all findings of one review.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Settled {
    /// They keep the gate closed.
    pub(crate) open: Vec<Finding>,
    /// Reported as fixed, and not checked yet.
    pub(crate) pending: Vec<Finding>,
    /// Seen to be gone.
    pub(crate) fixed: Vec<Finding>,
    /// Skipped with a reason.
    pub(crate) skipped: Vec<Finding>,
    /// Worth knowing, nothing to answer.
    pub(crate) advisory: Vec<Finding>,
    /// How many of the open ones were skipped without a reason.
    pub(crate) unreasoned: usize,
    /// How many of the skipped ones the reviewer named again.
    pub(crate) excused: usize,
    /// The reviewer said fail, and not only about what was skipped with a reason.
    pub(crate) is_refused: bool,
}

const PRIORITIES: [(Priority, &str); 4] = [
    (Priority::Low, "low"),
    (Priority::Medium, "medium"),
    (Priority::High, "high"),
    (Priority::Critical, "critical"),
];

const STATES: [(State, &str); 3] = [
    (State::New, "new"),
    (State::Fixed, "fixed"),
    (State::Skipped, "skipped"),
];

impl Priority {
    pub(crate) fn named(word: &str) -> Option<Self> {
        let word = word.to_lowercase();
        let row = PRIORITIES.iter().find(|(_, name)| *name == word);
        row.map(|(priority, _)| *priority)
    }

    pub(crate) fn as_str(self) -> &'static str {
        let row = PRIORITIES.iter().find(|(priority, _)| *priority == self);
        row.map_or("", |(_, name)| name)
    }
}

impl State {
    pub(crate) fn named(word: &str) -> Option<Self> {
        let word = word.trim().to_lowercase();
        STATES
            .iter()
            .find(|(_, name)| *name == word)
            .map(|(state, _)| *state)
    }

    pub(crate) fn as_str(self) -> &'static str {
        let row = STATES.iter().find(|(state, _)| *state == self);
        row.map_or("", |(_, name)| name)
    }
}

impl Finding {
    /// From the reviewer's words. An id counts only if an earlier finding has it, and once. That of
    /// a skipped one counts only in its own file, unless that is gone: what lies elsewhere is
    /// something else, without a reason.
    fn of(
        violation: &Violation,
        scope: &Scope,
        known: &[Self],
        said: &[Self],
        print: &Printer<'_>,
    ) -> Self {
        let file = violation.file.as_deref().map(|file| scope.normalise(file));
        let own = identity(file.as_deref(), &violation.issue);
        let can_be = |earlier: &&Self| {
            let is_free = said.iter().all(|other| other.id != earlier.id);
            let is_there = match (&earlier.file, &file) {
                (Some(before), Some(now)) => {
                    let name = |path: &str| path.rsplit('/').next().map(str::to_owned);
                    name(before) == name(now) || print(before) == GONE
                }
                (Some(_) | None, None) | (None, Some(_)) => true,
            };
            is_free && (is_there || earlier.reason().is_none())
        };
        let named = violation.id.as_ref();
        let earlier = named.and_then(|id| known.iter().find(|finding| finding.id == *id));
        let earlier = earlier.filter(can_be);
        Self {
            id: earlier.map_or(own, |finding| finding.id.clone()),
            line: violation.line,
            issue: violation.issue.clone(),
            fix: violation.fix.clone(),
            priority: violation.priority,
            state: State::New,
            result: None,
            weight: if scope.covers(file.as_deref(), violation.line) {
                Weight::Blocking
            } else {
                Weight::Advisory
            },
            print: file.as_deref().map(print).unwrap_or_default(),
            file,
        }
    }

    /// `file:line issue`, for people.
    pub(crate) fn line_for_people(&self) -> String {
        let file = self.file.as_deref().unwrap_or("(no file)");
        let issue = self.issue.lines().next().unwrap_or_default();
        match self.line {
            Some(line) => format!("{file}:{line} {issue}"),
            None => format!("{file} {issue}"),
        }
    }

    /// Goes where its file went under another name, if that is all that happened to it.
    fn follow(&mut self, scope: &Scope, print: &Printer<'_>) -> bool {
        let there = scope.files().find(|file| print(file) == self.print);
        if let Some(there) = there {
            self.file = Some(there.to_owned());
        }
        there.is_some()
    }

    /// The reason, if it was skipped with one.
    fn reason(&self) -> Option<&str> {
        let reason = self.result.as_deref().map(str::trim);
        reason.filter(|reason| self.state == State::Skipped && !reason.is_empty())
    }

    /// As the review's file has it, where the agent edits `status` and `result`.
    pub(crate) fn to_json(&self) -> Value {
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| {
            object.insert(key.to_owned(), value);
        };
        put("id", json!(self.id));
        put("file", json!(self.file));
        put("line", json!(self.line));
        put("issue", json!(self.issue));
        if let Some(fix) = &self.fix {
            put("fix", json!(fix));
        }
        put("priority", json!(self.priority.map(Priority::as_str)));
        put("status", json!(self.state.as_str()));
        put("result", json!(self.result));
        if self.weight == Weight::Advisory {
            put("advisory", json!(true));
        }
        if !self.print.is_empty() {
            put("file_digest", json!(self.print));
        }
        Value::Object(object)
    }

    /// From a review's file. None if it has no issue: that cannot be verified.
    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let file = text("file");
        let issue = text("issue")?;
        Some(Self {
            id: text("id").unwrap_or_else(|| identity(file.as_deref(), &issue)),
            line: value.get("line").and_then(Value::as_u64),
            fix: text("fix"),
            priority: text("priority").and_then(|word| Priority::named(&word)),
            state: text("status")
                .and_then(|word| State::named(&word))
                .unwrap_or(State::New),
            result: text("result"),
            weight: match value.get("advisory").and_then(Value::as_bool) {
                Some(true) => Weight::Advisory,
                Some(false) | None => Weight::Blocking,
            },
            print: text("file_digest").unwrap_or_default(),
            file,
            issue,
        })
    }
}

/// A file's content as a short text. Empty if there is no such file.
pub(crate) type Printer<'p> = dyn Fn(&str) -> String + Sync + 'p;

/// What is printed of a file that is not there.
const GONE: &str = "gone";

/// The printer of files below `root`.
pub(crate) fn print_below(root: &Path, file: &str) -> String {
    let is_inside = Path::new(file)
        .components()
        .all(|part| matches!(part, std::path::Component::Normal(_)));
    if !is_inside {
        return String::new();
    }
    match tollgate_store::fs::read_regular(&root.join(file), 32 << 20) {
        Ok(Some(contents)) => format!("{:016x}", digest(&contents.bytes)),
        Ok(None) => GONE.to_owned(),
        Err(_) => String::new(),
    }
}

/// What two findings are the same by: the file and the words. Not the line, which moves with
/// every edit above it; nor case, blanks and marks, which a reviewer does not repeat.
pub(crate) fn identity(file: Option<&str>, issue: &str) -> String {
    let issue = issue.to_lowercase();
    let mut words: Vec<&str> = Vec::new();
    for word in issue.split(|c: char| !c.is_alphanumeric()) {
        let is_number = word.bytes().all(|b| b.is_ascii_digit());
        let is_line = is_number && matches!(words.last(), Some(&("line" | "lines")));
        if !word.is_empty() && !is_line {
            words.push(word);
        }
    }
    let text = format!("{}\0{}", file.unwrap_or_default(), words.join(" "));
    format!("{:016x}", digest(text.as_bytes()))
}

/// FNV-1a: the same in every version of Tollgate, because it is kept in files.
fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Which review of the same work it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    /// Every finding has to be answered, but for those of a pass that are not grave.
    First,
    /// It follows a review with findings: new ones have to be answered from this priority on. One
    /// without a priority is not below any.
    Later(Priority),
}

impl Round {
    /// The priority that a pass may not have.
    fn grave(self) -> Priority {
        match self {
            Self::First => Priority::High,
            Self::Later(threshold) => threshold,
        }
    }

    /// Whether a new finding of this priority needs no answer, whatever the reviewer says.
    fn is_lesser(self, priority: Option<Priority>) -> bool {
        match self {
            Self::First => false,
            Self::Later(threshold) => priority.is_some_and(|priority| priority < threshold),
        }
    }
}

/// What becomes of earlier findings and new ones. Without an answer nothing is verified, and
/// what was not worked on stays open.
pub(crate) fn settle(
    earlier: Vec<Finding>,
    answer: Option<&Assessment>,
    scope: &Scope,
    round: Round,
    print: &Printer<'_>,
) -> Settled {
    let mut settled = Settled::default();
    let mut said: Vec<Finding> = Vec::new();
    for violation in answer.iter().flat_map(|answer| &answer.violations) {
        let finding = Finding::of(violation, scope, &earlier, &said, print);
        if said.iter().all(|other| other.id != finding.id) {
            said.push(finding);
        }
    }
    for finding in earlier {
        let place = said.iter().position(|other| other.id == finding.id);
        let again = place.map(|place| said.remove(place));
        settled.take_earlier(finding, again, answer.is_some(), scope, print);
    }
    let is_pass = answer.is_some_and(|answer| answer.status == Status::Pass);
    let (lesser, said): (Vec<Finding>, Vec<Finding>) = said
        .into_iter()
        .partition(|finding| round.is_lesser(finding.priority));
    let is_only_lesser = !lesser.is_empty() && said.is_empty();
    for mut finding in lesser {
        finding.weight = Weight::Advisory;
        settled.advisory.push(finding);
    }
    // A fail whose findings all lie elsewhere is still a fail: then they all count.
    let all_elsewhere = settled.open.is_empty()
        && said
            .iter()
            .all(|finding| finding.weight == Weight::Advisory);
    for mut finding in said {
        let counts = if is_pass {
            // It says pass and lists something grave: the stricter word counts.
            finding.priority >= Some(round.grave())
        } else {
            finding.weight == Weight::Blocking || all_elsewhere
        };
        if counts {
            finding.weight = Weight::Blocking;
            settled.open.push(finding);
        } else {
            finding.weight = Weight::Advisory;
            settled.advisory.push(finding);
        }
    }
    settled.is_refused = answer.is_some_and(|answer| {
        let is_excused = (settled.excused > 0 || is_only_lesser) && answer.unreadable == 0;
        answer.status == Status::Fail && !is_excused
    });
    settled
}

impl Settled {
    fn take_earlier(
        &mut self,
        mut finding: Finding,
        again: Option<Finding>,
        is_answered: bool,
        scope: &Scope,
        print: &Printer<'_>,
    ) {
        let open = self.open.len();
        let is_unreasoned = finding.state == State::Skipped && finding.reason().is_none();
        if finding.reason().is_some() {
            self.excused += usize::from(again.is_some());
            self.skipped.push(finding);
        } else if let Some(again) = again {
            // It was reported as fixed and is not. The place may have moved.
            finding.line = again.line.or(finding.line);
            finding.state = State::New;
            finding.result = None;
            finding.print = again.print;
            finding.weight = Weight::Blocking;
            self.open.push(finding);
        } else if finding.weight == Weight::Advisory {
            // It needs no answer, so it is not kept.
        } else {
            let is_untouched = !finding.print.is_empty() && {
                let now = finding.file.as_deref().map(print);
                now.as_ref() == Some(&finding.print)
                    || now.is_some_and(|now| now == GONE && finding.follow(scope, print))
            };
            match finding.state {
                State::Fixed if is_answered => self.fixed.push(finding),
                State::Fixed => self.pending.push(finding),
                // Skipped without a reason is not answered.
                State::New | State::Skipped if is_untouched => {
                    finding.state = State::New;
                    self.open.push(finding);
                }
                State::New | State::Skipped if is_answered => self.fixed.push(finding),
                State::New | State::Skipped => self.pending.push(finding),
            }
        }
        self.unreasoned += usize::from(is_unreasoned && self.open.len() > open);
    }

    /// What the next review has to know.
    pub(crate) fn carried(&self) -> impl Iterator<Item = &Finding> {
        let kept = self.open.iter().chain(&self.pending);
        kept.chain(&self.skipped).chain(&self.advisory)
    }
}
