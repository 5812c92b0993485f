//! No agent takes Tollgate out of the settings that register it.
//!
//! `tollgate uninstall` refuses agents; an edit of the file would be the way around it. Where a
//! call tells what the file holds afterwards, everything that keeps the registrations is fine. What
//! is not known is allowed, unless the file is removed or overwritten: a wrong block here keeps
//! people from their own settings.

use std::path::{Path, PathBuf};

use super::may_name;
use crate::context::{EventContext, SettingsChange};
use crate::decision::Finding;
use crate::next::Next;
use crate::protocol::{After, Tool};
use crate::text::cut;
use tollgate_shell::{Survey, Touch, content_effects, runs_script, touches};

/// A command that touches a settings file has one of these in it. Others are not parsed.
const NAMES: &[&str] = &[
    ".claude",
    ".codex",
    ".gemini",
    ".github",
    ".cursor",
    ".copilot",
    "settings",
    "hooks",
    "config.toml",
];

/// The member that switches all hooks of Claude Code and Copilot CLI off.
const SWITCH: &str = "disableAllHooks";

/// A tool that writes files. `places` are the path as it is written and where links lead.
pub(super) fn check_file(
    context: &EventContext<'_>,
    tool: &Tool<'_>,
    path: &str,
    places: [&Path; 2],
) -> Option<Finding> {
    if !places.iter().any(|place| is_named(place)) {
        return None;
    }
    let [written, behind] = places;
    let mut files = context.own_files.settings_files().into_iter();
    let file = files.find(|file| file == written || context.call.real(file) == behind)?;
    let before = context.file_text(behind);
    let after = match tool.after(path, before.as_deref()) {
        After::Text(text) => Some(text),
        After::Gone => None,
        After::Unknown => return None,
    };
    let loss = context.own_files.settings_loss(&SettingsChange {
        file: &file,
        before: before.as_deref(),
        after: after.as_deref(),
    })?;
    Some(finding(path, &loss, &format!("Blocked file: {path}")))
}

/// A shell command: what it makes of the file is not known, only that it writes it.
pub(super) fn check_command(
    context: &EventContext<'_>,
    survey: &Survey,
    command: &str,
) -> Option<Finding> {
    // What a script names is not in the command.
    if !may_name(survey, NAMES) && !survey.runs().any(runs_script) {
        return None;
    }
    let root = context.layout().root();
    let files = context.own_files.settings_files();
    let all: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    if context.call.touches(&all) != Touch::Writes {
        return None;
    }
    let world = context.call.world();
    let effects = content_effects(survey, &world);
    let mut files = files.into_iter();
    let is_written = |file: &PathBuf| touches(&effects, &[file], root, &world) == Touch::Writes;
    while let Some(file) = files.find(is_written) {
        let before = context.file_text(&context.call.real(&file));
        let lost = |after| {
            context.own_files.settings_loss(&SettingsChange {
                file: &file,
                before: before.as_deref(),
                after,
            })
        };
        let off = format!("{{\"{SWITCH}\":true}}");
        let switched = || command.contains(SWITCH).then(|| lost(Some(&off))).flatten();
        // What the command itself says that it writes.
        let mut texts = survey.written.iter();
        let text = texts.find(|(path, _)| Path::new(path) == file);
        let written = || text.and_then(|(_, text)| lost(Some(text)));
        if let Some(loss) = lost(None).or_else(switched).or_else(written) {
            let shown = file.strip_prefix(root).unwrap_or(&file).display();
            let what = format!(
                "What the command would write there is not known beforehand.\n\nCommand: {}",
                cut(command, 200)
            );
            return Some(finding(&shown.to_string(), &loss, &what));
        }
    }
    None
}

/// Whether a settings file may have this name.
fn is_named(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let is_known = matches!(
        name,
        Some("settings.json" | "settings.local.json" | "hooks.json" | "config.toml" | ".env")
    );
    // Copilot CLI reads every such file of its directory.
    let in_hooks = || {
        path.parent()
            .is_some_and(|parent| parent.ends_with("hooks"))
    };
    is_known || path.extension().is_some_and(|kind| kind == "json") && in_hooks()
}

fn finding(file: &str, loss: &str, what: &str) -> Finding {
    let text = format!(
        "This would remove Tollgate from {file}: {loss}.\n\n\
         Only a person may decide that: in a terminal of their own, `tollgate uninstall` removes it, \
         and `tollgate allow SFG-004 --once --reason \"…\"` allows this change. You can make every \
         other change of the file with the Write or Edit tools, if all registrations of `tollgate \
         hook` stay.\n\n{what}"
    );
    let reason = format!("Tollgate would be removed from {file}: {loss}");
    Finding::new("SFG-004", text, reason)
        .asking(format!(
            "This removes Tollgate from {file}: {loss}. Let the agent do that?"
        ))
        .next(Next::allow("SFG-004"))
}
