//! The form with which a person lifts a block, where the page offers it.

use std::collections::BTreeSet;

use tollgate_core::guard::Override;

use super::html::Html;
use super::nothing;
use crate::overrides::{meaning, override_of};
use crate::ui::snapshot::Snapshot;

pub(super) fn form(snapshot: &Snapshot, html: &mut Html) {
    let blocks = snapshot.journal.recent.iter();
    let codes: BTreeSet<&str> = blocks
        .filter(|decided| decided.verdict == "block")
        .filter_map(|decided| decided.code.as_deref())
        .filter(|code| override_of(code) == Some(Override::Person))
        .collect();
    if codes.is_empty() {
        nothing(
            html,
            "Nothing was blocked lately that a person could allow.",
        );
        return;
    }
    html.raw("<form id=\"allow-ask\" class=\"ask\"><label>What <select name=\"code\">");
    for code in codes {
        html.raw("<option value=\"")
            .text(code)
            .raw("\">")
            .text(code);
        html.raw(": ").text(meaning(code)).raw("</option>");
    }
    html.raw(
        "</select></label><label>How long <select name=\"for\">\
         <option value=\"once\">once, within the hour</option>\
         <option value=\"30m\">30 minutes</option><option value=\"2h\">2 hours</option>\
         </select></label><label>Why <input name=\"reason\" required maxlength=\"500\" \
         autocomplete=\"off\"></label><button>Ask on the terminal</button></form>\
         <form id=\"allow-word\" class=\"ask\"><label>The word on the terminal \
         <input name=\"word\" required autocomplete=\"off\" \
         autocapitalize=\"off\" spellcheck=\"false\"></label><button>Allow</button></form>\
         <p id=\"allow-told\" role=\"status\"></p>",
    );
}
