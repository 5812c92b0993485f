//! state-file-guard: no shell command changes the state, the registry of projects, or what
//! Tollgate keeps for itself, in the project and about the person. For the last two that goes for
//! the tools that write files, too, and for taking Tollgate out of an agent's settings
//! ([`settings`]).
//!
//! What a command would write comes from reading it as a shell would ([`tollgate_shell`]); a
//! redirection of errors, a `>` in quotes and copying the file out are no writes. This is
//! only an early check: what gets past it is detected by its effect.

mod mods;
mod program;
mod settings;

use std::path::{Path, PathBuf};

use super::{Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample, ToolCall};
use crate::next::Next;
use crate::project::{Layout, ProjectId};
use crate::protocol::{After, Tool};
use crate::text::{cut, shell_word};
use tollgate_shell::{Action, Effect, Survey, Touch, Word, removed_around, removes_ignored};

pub(super) const GUARD: Guard = Guard {
    name: "state-file-guard",
    about: "blocks shell commands that would change the state, all changes of Tollgate's own files and of the program, and removing Tollgate from an agent's settings",
    is_general: true,
    on: &[
        (EventKind::PreTool, Class::Shell),
        (EventKind::PreTool, Class::File),
    ],
    codes: &[
        Code::blocks_for_good(
            "SFG-001",
            "the command would change a state file, or the call would remove it",
            "change the workflow with `tollgate phase` and `tollgate workflow`",
        )
        .instead("tollgate workflow status"),
        Code::blocks_for_good(
            "SFG-002",
            "the command would change monorepo.json",
            "leave the registry of projects to the person",
        )
        .instead("tollgate workflow status"),
        Code::blocks_for_good(
            "SFG-003",
            "the call would change what Tollgate keeps for itself",
            "leave Tollgate's own files alone",
        )
        .instead("tollgate workflow status"),
        Code::blocks(
            "SFG-004",
            "the call would remove Tollgate from the agent's settings",
            "keep its registrations; a person removes it with `tollgate uninstall`",
        )
        .instead("tollgate install --list"),
        Code::blocks(
            "SFG-005",
            "the call would install a plugin that can answer before Tollgate's hooks",
            "leave plugins with hooks to the person",
        )
        .instead("tollgate doctor"),
        Code::blocks(
            "SFG-006",
            "the call would change the program, or put another one before it on the PATH",
            "leave the program where it is; a person upgrades or removes it",
        )
        .instead("tollgate doctor"),
    ],
    reads: &[],
    sample: Some(Sample {
        event: r#"{"tool_name":"Bash","tool_input":{"command":"cd .isdlc && rm state.json"}}"#,
        ..Sample::BLOCKED
    }),
    check: |context| check(context).map(Decision::block),
};

/// Names without which a doubtful command is none of ours: `git reset --hard` may change
/// anything.
const NAMES: &[&str] = &[
    ".isdlc",
    "state.json",
    "monorepo.json",
    ".tollgate",
    "state/tollgate",
];

fn check(context: &EventContext<'_>) -> Option<Finding> {
    let tool = context.tool()?;
    let ToolCall::Shell { command } = &tool.call else {
        return check_files(context, tool);
    };
    let survey = context.call.survey()?;
    if !context.call.effects().iter().any(changes_files) {
        return program::check_unwritten(context, survey, command)
            .or_else(|| mods::check_command(context, survey, command));
    }
    check_records(context, survey, command)
        .or_else(|| settings::check_command(context, survey, command))
        .or_else(|| program::check_command(context, survey, command))
        .or_else(|| mods::check_command(context, survey, command))
}

/// All words of a command, as the shell makes them.
fn words(survey: &Survey) -> impl Iterator<Item = &Word> {
    survey.runs().flat_map(|run| {
        let targets = run.redirects.iter().map(|one| &one.target);
        run.words.iter().chain(targets)
    })
}

/// Whether a word of a command has one of these in it, or is not known to the letter.
fn may_name(survey: &Survey, parts: &[&str]) -> bool {
    words(survey)
        .map(Word::literal)
        .any(|word| word.is_none_or(|word| parts.iter().any(|part| word.contains(part))))
}

fn changes_files(effect: &Effect) -> bool {
    matches!(effect.action, Action::Write(_) | Action::Delete(_))
}

/// No command writes the records.
fn check_records(context: &EventContext<'_>, survey: &Survey, command: &str) -> Option<Finding> {
    let layout = context.layout();
    let mut states = states(layout);
    states.extend(named_projects(command).map(|id| layout.state_file(Some(&id))));
    // The slash makes it the whole tree.
    let tree = |path: PathBuf| PathBuf::from(format!("{}/", path.display()));
    let kept = [tree(layout.local()), tree(layout.workflow_local())];
    let person: Vec<PathBuf> = context.own_files.person().map(tree).into_iter().collect();
    if let Some(finding) = ignored_files(context, survey, command) {
        return Some(finding);
    }
    let groups: [(&str, &[PathBuf], &str); 4] = [
        ("SFG-001", &states, "state.json"),
        ("SFG-002", &[layout.monorepo_file()], "monorepo.json"),
        ("SFG-003", &kept, ".tollgate/local"),
        ("SFG-003", &person, OWN),
    ];
    let touched = |files: &[PathBuf]| {
        let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
        context.call.touches(&files)
    };
    let all = groups
        .iter()
        .flat_map(|(_, files, _)| files.iter().cloned());
    let worst = touched(&all.collect::<Vec<_>>());
    let named = || NAMES.iter().any(|name| command.contains(name));
    if worst == Touch::None || (worst == Touch::Unknown && !named()) {
        return None;
    }
    let mut hits = groups.iter();
    let (code, _, name) = hits.find(|(_, files, _)| touched(files) == worst)?;
    if let Some(finding) = whole_tree(context, command, code) {
        return Some(finding);
    }
    let doubt = if worst == Touch::Unknown {
        "\nNote: what the command would write cannot be seen in full. It names the file, so it \
         counts as a write; spell the paths out if it is none."
    } else {
        ""
    };
    let text = format!(
        "BASH STATE GUARD: Direct writes to {name} via Bash are not permitted.\n\n\
         The workflow's records change through the workflow: use its commands, or the Write and \
         Edit tools, which are checked before they write. Reading the file is always fine.\n\n\
         Command: {}{doubt}",
        cut(command, 200)
    );
    let state = context.shown_state_file();
    let named = if *code == "SFG-001" { &state } else { *name };
    let how = if *code == "SFG-003" {
        "Tollgate keeps these files itself."
    } else {
        "The workflow's records change through `tollgate phase` and `tollgate workflow`, or through \
         the Write and Edit tools, which are checked before they write."
    };
    let own = format!(
        "This command would change {named}. {how} Reading is always fine.\n\nCommand: {}{doubt}",
        cut(command, 200)
    );
    let reason = format!("Direct write to {name}: {}", cut(command, 100));
    let finding = Finding::new(*code, context.words(text, own), reason);
    Some(finding.next(way_out(context, code)))
}

/// How to go on without changing the records.
fn way_out(context: &EventContext<'_>, code: &str) -> Next {
    match code {
        "SFG-001" => Next::run_instead("tollgate workflow status"),
        "SFG-002" => {
            let file = context.layout().monorepo_file();
            let file = shell_word(&context.layout().shown(&file).to_string_lossy());
            Next::person(format!("${{EDITOR:-vi}} {file}"))
        }
        _ => Next::go_on("Tollgate keeps these files itself"),
    }
}

/// The block of a command that removes all files that git ignores: the records are among them.
fn ignored_files(context: &EventContext<'_>, survey: &Survey, command: &str) -> Option<Finding> {
    let layout = context.layout();
    if !removes_ignored(survey, layout.root(), ".tollgate", &context.call.world()) {
        return None;
    }
    let has_state = states(layout).iter().any(|state| state.exists());
    let (code, what) = if has_state {
        ("SFG-001", "the state of the workflow")
    } else {
        ("SFG-003", OWN)
    };
    let text = format!(
        "This command removes every file that git ignores, and {what} with them.\n\n\
         `git clean -fdx -e .tollgate` leaves them out, and so does `git stash -u` instead of \
         `git stash --all`.\n\nCommand: {}",
        cut(command, 200)
    );
    let reason = format!("Deletion of ignored files: {}", cut(command, 100));
    let next = Next::go_on("clean with -e .tollgate, or stash with -u");
    Some(Finding::new(code, text, reason).next(next))
}

/// The block of a command that removes the records because it removes everything around them. It
/// names what is removed: advice about the state file would lead the agent to another way to do the
/// same.
fn whole_tree(context: &EventContext<'_>, command: &str, code: &'static str) -> Option<Finding> {
    let root = context.layout().root();
    let around = |inside| removed_around(context.call.effects(), inside, &context.call.world());
    let project = around(root);
    let holds_project = project.is_some();
    let removed = project.or_else(|| around(context.call.home()?))?;
    let is = |path: &Path| {
        let removed = Path::new(&removed);
        removed == path || tollgate_store::fs::canonical(path).is_some_and(|real| real == removed)
    };
    let what = if removed == "/" {
        "the root of the file system".to_owned()
    } else if is(root) {
        format!("the whole project ({removed})")
    } else if context.call.home().is_some_and(is) {
        format!("the home directory ({removed})")
    } else {
        format!("the directory {removed}")
    };
    let with = match (holds_project, is(root)) {
        (true, true) => "with the state of its workflow",
        (true, false) => "with this project and the state of its workflow",
        (false, _) => "with what Tollgate keeps there about the person",
    };
    let text = format!(
        "This command deletes {what}, {with}.\n\n\
         Delete only the files that you mean, by their paths below the project's root. If all of \
         it has to go, the person deletes it in a terminal of their own.\n\n\
         Command: {}",
        cut(command, 200)
    );
    let reason = format!("Deletion of {what}: {}", cut(command, 100));
    let next = Next::go_on("delete only the files that you mean, by their paths");
    Some(Finding::new(code, text, reason).next(next))
}

/// The projects whose states a command names. A project is known by its state, and one that has
/// none yet gets it from the workflow as well.
fn named_projects(command: &str) -> impl Iterator<Item = ProjectId> {
    let named = command.split("projects/").skip(1);
    named.filter_map(|rest| {
        let (id, file) = rest.split_once('/')?;
        ProjectId::new(id).filter(|_| file.starts_with("state.json"))
    })
}

fn states(layout: &Layout) -> Vec<PathBuf> {
    let mut states = layout.project_state_files();
    states.push(layout.state_file(None));
    states
}

/// What messages call it.
const OWN: &str = "Tollgate's own files";

/// Where Tollgate keeps what is its own: in the project and in the person's home.
fn own(context: &EventContext<'_>) -> impl Iterator<Item = PathBuf> {
    let layout = context.layout();
    let kept = [layout.local(), layout.workflow_local()];
    kept.into_iter().chain(context.own_files.person())
}

/// The tools that write files may write the state, which others check, but not remove it, and
/// nothing of these.
fn check_files(context: &EventContext<'_>, tool: &Tool<'_>) -> Option<Finding> {
    let can_remove = matches!(
        tool.call,
        ToolCall::Delete { .. } | ToolCall::Patch { .. } | ToolCall::Other
    );
    for path in tool.files() {
        let absolute = context.call.absolute(&path);
        if can_remove && removes_state(context, tool, &path, &absolute) {
            let text = format!(
                "This would remove the workflow's state, which an agent may not do.\n\n\
                 A workflow ends through its commands: `tollgate workflow finalize`, or \
                 `tollgate workflow cancel`.\n\nBlocked file: {path}"
            );
            let reason = format!("Removal of the state: {path}");
            let next = Next::person("tollgate workflow cancel --reason \"…\"");
            return Some(Finding::new("SFG-001", text, reason).next(next));
        }
        let real = context.call.real(&absolute);
        // Both places have it in their names, so that most files cost nothing more.
        let is_named = |path: &Path| path.to_string_lossy().contains("tollgate");
        let is_taken_away = tool.takes_away(&path);
        let is_own = |own: PathBuf| {
            let real_own = context.call.real(&own);
            absolute.starts_with(&own)
                || real.starts_with(&real_own)
                || (is_taken_away && real_own.starts_with(&real))
        };
        if (is_taken_away || is_named(&absolute) || is_named(&real)) && own(context).any(is_own) {
            let text = format!(
                "This would change {OWN}, which an agent may not do.\n\n\
                 The journal, the ledger, and what the person trusts or allows change through \
                 Tollgate's commands only.\n\nBlocked file: {path}"
            );
            let reason = format!("Write to {OWN}: {path}");
            let finding = Finding::new("SFG-003", text, reason);
            return Some(finding.next(way_out(context, "SFG-003")));
        }
        let loss = settings::check_file(context, tool, &path, [&absolute, &real])
            .or_else(|| program::check_file(context, tool, &path, [&absolute, &real]))
            .or_else(|| mods::check_file(&path, [&absolute, &real]));
        if loss.is_some() {
            return loss;
        }
    }
    None
}

/// Whether nothing would be left of a state file of this project. Others of its name, such as
/// those of tests, belong to no one.
fn removes_state(context: &EventContext<'_>, tool: &Tool<'_>, path: &str, absolute: &Path) -> bool {
    let layout = context.layout();
    let is_ours = || {
        states(layout)
            .iter()
            .any(|state| context.call.real(state) == context.call.real(absolute))
    };
    let is_gone = |text: String| tool.after(path, Some(&text)) == After::Gone;
    let goes_with_it = |state: &PathBuf| {
        state.exists()
            && context
                .call
                .real(state)
                .starts_with(context.call.real(absolute))
    };
    if tool.takes_away(path) && states(layout).iter().any(goes_with_it) {
        return true;
    }
    layout.is_state_file(absolute) && is_ours() && context.file_text(absolute).is_some_and(is_gone)
}
