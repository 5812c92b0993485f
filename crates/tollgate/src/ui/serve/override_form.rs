//! Overrides given on the page, by the person who started it.
//!
//! It is there only if `tollgate serve` was started by a [`Person`]: at a terminal, and by no agent.
//! What is asked for on the page is shown on that terminal with a new random word, and
//! holds only after the word was typed on the page. So a person who has the address, or even the
//! browser, but does not see the terminal, allows nothing; that is as much as `tollgate allow`
//! asks for. The word is nowhere else: in no file, in no argument, in no answer.

use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tollgate_core::decision::Override;
use tollgate_core::env::Env;
use tollgate_core::project::Layout;

use super::token::same;
use crate::overrides::{Extent, ONCE_WITHIN, Overrides, canonical, meaning, override_of};
use crate::person::Person;
use crate::plain::Plain;

const TRIES: u8 = 3;

/// How long a word holds.
const PATIENCE: SignedDuration = SignedDuration::from_mins(5);

/// How long after one question the next may come: each is a line on a person's terminal.
const PAUSE: SignedDuration = SignedDuration::from_secs(1);

/// Where overrides are asked for.
pub(crate) struct OverrideForm {
    person: Person,
    layout: Layout,
    env: Env,
    asked: Mutex<Option<Asked>>,
}

/// What was asked for and is not allowed yet.
struct Asked {
    at: Timestamp,
    code: String,
    extent: Extent,
    lasts: SignedDuration,
    reason: String,
    word: String,
    tries: u8,
}

impl OverrideForm {
    pub(crate) fn new(person: Person, layout: Layout, env: Env) -> Self {
        let asked = Mutex::new(None);
        Self {
            person,
            layout,
            env,
            asked,
        }
    }

    /// Takes a question and shows it on the terminal.
    pub(super) fn ask(&self, body: &str, now: Timestamp) -> Result<Value, String> {
        let body: Value = serde_json::from_str(body).map_err(|error| error.to_string())?;
        let text = |key: &str| body.get(key).and_then(Value::as_str).unwrap_or_default();
        let code = canonical(text("code"));
        if override_of(&code) != Some(Override::Person) {
            return Err("a person cannot allow this".to_owned());
        }
        let (extent, lasts, words) = match text("for") {
            "once" => (Extent::Once, ONCE_WITHIN, "once, within the hour"),
            "30m" => (
                Extent::Always,
                SignedDuration::from_mins(30),
                "for 30 minutes",
            ),
            "2h" => (Extent::Always, SignedDuration::from_hours(2), "for 2 hours"),
            _ => return Err("say for how long".to_owned()),
        };
        let reason: String = text("reason").trim().chars().take(500).collect();
        if reason.is_empty() {
            return Err("give a reason; the journal records it".to_owned());
        }
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if asked
            .as_ref()
            .is_some_and(|last| now.duration_since(last.at) < PAUSE)
        {
            return Err("one question at a time".to_owned());
        }
        let what = format!(
            "The page asks to allow {code} ({}) {words}, in {}, because: {}",
            meaning(&code),
            Plain(&self.layout.root().display().to_string()),
            Plain(&reason)
        );
        let word = self
            .person
            .told_a_word(&what)
            .map_err(|error| error.to_string())?;
        *asked = Some(Asked {
            at: now,
            code,
            extent,
            lasts,
            reason,
            word,
            tries: TRIES,
        });
        Ok(json!({ "asked": true }))
    }

    /// Takes the word, and allows what was asked for.
    pub(super) fn confirm(&self, body: &str, now: Timestamp) -> Result<Value, String> {
        let body: Value = serde_json::from_str(body).map_err(|error| error.to_string())?;
        let said = body
            .get("word")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .trim();
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut question) = asked
            .take()
            .filter(|one| now.duration_since(one.at) < PATIENCE)
        else {
            return Err("nothing is asked for, or it was too long ago; ask again".to_owned());
        };
        if !same(&question.word, said) {
            question.tries -= 1;
            if question.tries > 0 {
                *asked = Some(question);
            }
            return Err("the word does not match; nothing was allowed".to_owned());
        }
        let overrides = Overrides {
            layout: &self.layout,
            env: &self.env,
            now,
        };
        let until = now
            .checked_add(question.lasts)
            .map_err(|error| error.to_string())?;
        let allowed = overrides.allow(
            &self.person,
            &question.code,
            question.extent,
            until,
            &question.reason,
        )?;
        let words = allowed.words();
        overrides
            .write_down(
                &question.code,
                &format!("{words} (on the page, with the word of its terminal)"),
            )
            .map_err(|error| format!("{words}; but the journal cannot be written: {error}"))?;
        Ok(json!({ "allowed": words }))
    }
}
