//! Plugins of Claude Code whose `hooks.json` names a module ("mods") can answer a tool call, or
//! Tollgate's hooks themselves, before Tollgate is asked (measured with 2.1.326). No agent writes
//! one, or brings one in.

use std::path::Path;

use super::may_name;
use crate::context::EventContext;
use crate::decision::Finding;
use crate::next::Next;
use crate::text::cut;
use tollgate_shell::{Run, Survey, Word, changed_paths};

/// A command that concerns one has one of these in it.
const NAMES: &[&str] = &["skills", "plugin", "dev-mods"];

/// A tool that writes files.
pub(super) fn check_file(path: &str, places: [&Path; 2]) -> Option<Finding> {
    let mut places = places.into_iter();
    places
        .any(is_part)
        .then(|| finding(&part(path), &format!("Blocked file: {path}")))
}

/// A shell command that writes one, or has the agent's program take one in.
pub(super) fn check_command(
    context: &EventContext<'_>,
    survey: &Survey,
    command: &str,
) -> Option<Finding> {
    if !may_name(survey, NAMES) {
        return None;
    }
    let written = changed_paths(context.call.effects());
    let mut written = written.iter().map(Path::new);
    let file = written.find(|path| is_part(path) || is_part(&context.call.real(path)));
    let said = format!("Command: {}", cut(command, 200));
    if let Some(file) = file {
        return Some(finding(&part(&file.to_string_lossy()), &said));
    }
    let mut runs = survey.runs();
    runs.any(takes_in)
        .then(|| finding("install a plugin", &said))
}

/// `claude plugin install`, `claude --plugin-dir`.
fn takes_in(run: &Run) -> bool {
    let words: Vec<&str> = run.args().iter().filter_map(Word::literal).collect();
    let is_plugin = matches!(words.first(), Some(&("plugin" | "plugins")));
    let adds = words
        .iter()
        .any(|word| matches!(*word, "install" | "i" | "enable" | "add" | "update"));
    let is_given = words.iter().any(|word| word.starts_with("--plugin-dir"));
    run.program() == Some("claude") && (is_given || (is_plugin && adds))
}

/// Whether a file would be part of one: below a skill's `hooks` or `.claude-plugin`, or anywhere
/// among installed plugins and development mods.
fn is_part(path: &Path) -> bool {
    let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    let below = |home: &[&str]| {
        matches!(
            home,
            [".claude", "plugins" | "dev-mods", ..]
                | [".claude", "skills", _, "hooks" | ".claude-plugin", ..]
        )
    };
    (0..parts.len()).any(|at| below(parts.get(at..).unwrap_or_default()))
}

/// What writing such a file does.
fn part(file: &str) -> String {
    format!("make {file} part of a plugin")
}

fn finding(deed: &str, what: &str) -> Finding {
    let text = format!(
        "This would {deed} of Claude Code. A plugin can answer a tool call before Tollgate's hooks, \
         so only a person may add one.\n\n\
         Ask the person; `tollgate allow SFG-005 --once --reason \"…\"` allows this change. Skills \
         without `hooks` and `.claude-plugin` are not plugins.\n\n{what}"
    );
    let reason = format!("This would {deed}, which can answer first");
    Finding::new("SFG-005", text, reason)
        .asking(format!(
            "This would {deed} that can answer before Tollgate's hooks. Let the agent do that?"
        ))
        .next(Next::allow("SFG-005"))
}
