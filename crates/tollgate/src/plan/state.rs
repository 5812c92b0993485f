//! `state.json` as it is read.
//!
//! People and agents edit this file. What has a wrong type becomes a warning and takes
//! its default; numbers are numbers and never evaluated (the original ran shell syntax in them).

use serde_json::Value;
use tollgate_store::document::Document;

use super::phase::{Phase, TaskId};

/// How many reviews a cycle has unless the state says otherwise.
pub(crate) const MAX_REVIEWS: u64 = 8;

/// Where a plan is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) max_reviews: u64,
    pub(crate) current_task: Option<TaskId>,
    pub(crate) phase: Option<Phase>,
    pub(crate) next_phase: Next,
    pub(crate) phase_iteration: Option<u64>,
    pub(crate) review_model: String,
    pub(crate) consecutive_clean: u64,
    pub(crate) tdd: bool,
    /// What is wrong with the file, in words.
    pub(crate) problems: Vec<String>,
}

/// What comes after the current phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nothing by itself.
    Nothing,
    Phase(Phase),
    /// A word that is no phase.
    Unknown(String),
}

/// The fields that the specification requires, in its order.
const REQUIRED: [&str; 6] = [
    "phase",
    "next_phase",
    "review_model",
    "max_reviews",
    "consecutive_clean",
    "tdd",
];

/// A sensible limit of reviews; more is a slip of the finger.
pub(crate) const MOST_REVIEWS: u64 = 1_000;

impl State {
    /// Reads the fields that are there and takes the defaults for the others.
    pub(crate) fn read(document: &Document) -> Self {
        let mut fields = Fields {
            document,
            problems: Vec::new(),
        };
        let missing: Vec<_> = REQUIRED
            .into_iter()
            .filter(|field| document.get(&[field]).is_none())
            .collect();
        if !missing.is_empty() {
            fields.problems.push(format!(
                "state.json missing required fields: {}",
                missing.join(" ")
            ));
        }
        let max_reviews = fields.number("max_reviews").unwrap_or(MAX_REVIEWS);
        if max_reviews > MOST_REVIEWS {
            fields.problems.push(format!(
                "`max_reviews` is {max_reviews}, and no more than {MOST_REVIEWS} are made"
            ));
        }
        let current_task = fields.task();
        let phase = match fields.phase("phase") {
            Next::Phase(phase) => Some(phase),
            Next::Nothing | Next::Unknown(_) => None,
        };
        let next_phase = fields.phase("next_phase");
        Self {
            max_reviews: max_reviews.min(MOST_REVIEWS),
            current_task,
            phase,
            next_phase,
            phase_iteration: fields.number("phase_iteration"),
            review_model: fields.model(),
            consecutive_clean: fields.number("consecutive_clean").unwrap_or(0),
            tdd: fields.flag("tdd"),
            problems: fields.problems,
        }
    }

    /// Whether two states are the same step of the same plan, whatever else is in the file.
    pub(crate) fn is_same_step(&self, other: &Self) -> bool {
        let step = |state: &Self| {
            let (task, next) = (state.current_task.clone(), state.next_phase.clone());
            (task, state.phase, next, state.phase_iteration)
        };
        step(self) == step(other)
    }

    /// Whether there is work left.
    pub(crate) fn is_open(&self) -> bool {
        self.next_phase != Next::Nothing || self.phase.is_some_and(|phase| phase != Phase::Complete)
    }

    /// That the review loop was left, in words: a review was made, two clean ones in a row were not,
    /// and nothing comes next.
    pub(crate) fn left(&self) -> Option<String> {
        let (Phase::Review(review) | Phase::PostReview(review)) = self.phase? else {
            return None;
        };
        let made = self.phase_iteration.filter(|made| *made > 0)?;
        let is_left = self.next_phase == Next::Nothing && self.consecutive_clean < 2;
        is_left.then(|| format!("review loop ended after {review} {made}"))
    }

    /// The next phase by its name.
    pub(crate) fn next_name(&self) -> &str {
        match &self.next_phase {
            Next::Nothing => "null",
            Next::Phase(phase) => phase.as_str(),
            Next::Unknown(name) => name,
        }
    }

    /// The same for programs: none if nothing comes next.
    pub(crate) fn next_named(&self) -> Option<&str> {
        (self.next_phase != Next::Nothing).then(|| self.next_name())
    }

    /// The phase by its name.
    pub(crate) fn phase_name(&self) -> &'static str {
        self.phase.map_or("unknown", Phase::as_str)
    }

    /// The phase that comes next, if it is one.
    pub(crate) fn next(&self) -> Option<Phase> {
        match &self.next_phase {
            Next::Phase(phase) => Some(*phase),
            Next::Nothing | Next::Unknown(_) => None,
        }
    }
}

struct Fields<'a> {
    document: &'a Document,
    problems: Vec<String>,
}

impl Fields<'_> {
    /// The value of a field; `null` is as good as absent.
    fn value(&self, field: &str) -> Option<&Value> {
        self.document.get(&[field]).filter(|value| !value.is_null())
    }

    fn number(&mut self, field: &str) -> Option<u64> {
        let value = self.value(field)?;
        // Beyond what can be counted is the same as the most that can.
        let is_beyond = |number: f64| number >= 18_446_744_073_709_551_615.0;
        let most = value.as_f64().filter(|number| is_beyond(*number));
        let number = self.document.u64(&[field]).or(most.map(|_| u64::MAX));
        if number.is_none() {
            self.wrong(field, "a whole number");
        }
        number
    }

    fn text(&mut self, field: &str) -> Option<String> {
        let text = self.value(field)?.as_str().map(str::to_owned);
        if text.is_none() {
            self.wrong(field, "a text");
        }
        text.filter(|text| !text.is_empty())
    }

    fn phase(&mut self, field: &str) -> Next {
        let Some(name) = self.text(field) else {
            return Next::Nothing;
        };
        if let Some(phase) = Phase::parse(&name) {
            return Next::Phase(phase);
        }
        let problem = format!("`{field}` is {name:?}, which is not a phase");
        self.problems.push(problem);
        Next::Unknown(name)
    }

    fn flag(&mut self, field: &str) -> bool {
        let Some(value) = self.value(field) else {
            return false;
        };
        let flag = value.as_bool();
        if flag.is_none() {
            self.wrong(field, "true or false");
        }
        flag.unwrap_or(false)
    }

    /// A text in the specification, a number in the original: both are accepted.
    fn task(&mut self) -> Option<TaskId> {
        let text = match self.value("current_task")? {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => String::new(),
        };
        let task = TaskId::new(&text);
        if task.is_none() {
            self.wrong("current_task", "a task's id (letters, digits, '_' and '-')");
        }
        task
    }

    /// Any model's name is passed on, as long as it cannot be taken for an option.
    fn model(&mut self) -> String {
        let safe = |c: char| c.is_ascii_alphanumeric() || "._:/@[]-".contains(c);
        match self.text("review_model") {
            None => OPUS.to_owned(),
            Some(model)
                if model.len() <= 100 && !model.starts_with('-') && model.chars().all(safe) =>
            {
                model
            }
            Some(_) => {
                self.wrong("review_model", "a model's name");
                OPUS.to_owned()
            }
        }
    }

    fn wrong(&mut self, field: &str, wanted: &str) {
        let found = self
            .value(field)
            .map(ToString::to_string)
            .unwrap_or_default();
        let found: String = found.chars().take(60).collect();
        self.problems.push(format!(
            "`{field}` is {found}, not {wanted}; the default is used"
        ));
    }
}

/// The model that a cycle begins with.
pub(crate) const OPUS: &str = "opus";

/// The model that takes turns with it.
pub(crate) const SONNET: &str = "sonnet";

/// The model after this one.
pub(crate) fn other_model(model: &str) -> &'static str {
    if model == OPUS { SONNET } else { OPUS }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> State {
        State::read(&Document::parse(text.as_bytes()).unwrap())
    }

    /// B9: odd values of the state crashed the original after the paid review.
    /// B10: values of the state reached bash arithmetic, which executes commands.
    /// C7: a command in `phase_iteration` was executed.
    /// C10: `max_reviews: "many"` made every stop fail.
    #[test]
    fn b9_b10_c7_c10_odd_values_are_warnings_and_defaults() {
        let odd = read(
            r#"{"phase":"code-review","next_phase":"ready","review_model":"--danger","tdd":"yes",
            "max_reviews":"many","consecutive_clean":1.5,"phase_iteration":"BASH_VERSINFO[$(touch x)0]",
            "current_task":"1/../../OUT"}"#,
        );
        assert_eq!(odd.max_reviews, 8);
        assert_eq!(odd.phase_iteration, None);
        assert_eq!(odd.consecutive_clean, 0);
        assert_eq!(odd.current_task, None);
        assert_eq!(odd.review_model, "opus");
        assert!(!odd.tdd);
        assert_eq!(odd.next_phase, Next::Unknown("ready".to_owned()));
        assert_eq!(odd.problems.len(), 7, "{:#?}", odd.problems);
    }

    #[test]
    fn an_empty_state_takes_the_defaults() {
        let state = read("{}");
        assert_eq!((state.max_reviews, state.consecutive_clean), (8, 0));
        assert_eq!((state.review_model.as_str(), state.tdd), ("opus", false));
        assert_eq!(
            state.problems,
            [
                "state.json missing required fields: phase next_phase review_model max_reviews consecutive_clean tdd"
            ]
        );
    }

    #[test]
    fn a_number_is_a_task_and_haiku_a_model() {
        let state = read(r#"{"current_task":3,"review_model":"haiku","max_reviews":2.0}"#);
        assert_eq!(state.current_task.unwrap().as_str(), "3");
        assert_eq!(state.review_model, "haiku");
        assert_eq!(state.max_reviews, 2);
    }
}
