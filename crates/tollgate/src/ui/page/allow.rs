//! The form with which a person lifts a block, where the page offers it.

use std::collections::BTreeSet;

use maud::{Markup, html};
use tollgate_core::decision::Override;
use tollgate_store::journal::Verdict;

use super::nothing;
use crate::overrides::{meaning, override_of};
use crate::project_view::ProjectView;

pub(super) fn form(view: &ProjectView) -> Markup {
    let blocks = view.journal.recent.iter();
    let codes: BTreeSet<&str> = blocks
        .filter(|decided| decided.verdict == Verdict::Block)
        .filter_map(|decided| decided.code.as_deref())
        .filter(|code| override_of(code) == Some(Override::Person))
        .collect();
    if codes.is_empty() {
        return nothing("Nothing was blocked lately that a person could allow.");
    }
    html! {
        form #allow-ask.ask {
            label {
                "What "
                select name="code" {
                    @for code in codes {
                        option value=(code) { (code) ": " (meaning(code)) }
                    }
                }
            }
            label {
                "How long "
                select name="for" {
                    option value="once" { "once, within the hour" }
                    option value="30m" { "30 minutes" }
                    option value="2h" { "2 hours" }
                }
            }
            label { "Why " input name="reason" required maxlength="500" autocomplete="off"; }
            button { "Ask on the terminal" }
        }
        form #allow-word.ask {
            label {
                "The word on the terminal "
                input name="word" required autocomplete="off" autocapitalize="off"
                    spellcheck="false";
            }
            button { "Allow" }
        }
        p #allow-answer role="status" {}
    }
}
