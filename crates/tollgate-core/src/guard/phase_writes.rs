//! phase-writes: a phase of one of Tollgate's own workflows, or of one in `tollgate.toml`, changes
//! only the files that it names, so that the order of the phases binds every agent, whatever its
//! sub-agents are called.
//!
//! What a shell command changes comes from reading it as a shell would. What text does not show is
//! allowed.

use std::path::Path;

use super::fields::PHASE;
use super::{Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample};
use crate::next::{Next, Step};
use crate::project::ConfigFile;
use crate::workflow::definitions;
use tollgate_shell as shell;
use tollgate_store::json::{Node, Object};

pub(super) const GUARD: Guard = Guard {
    name: "phase-writes",
    about: "blocks changes of files that the current phase may not write (`writes` of the phase)",
    is_general: true,
    on: &[
        (EventKind::PreTool, Class::File),
        (EventKind::PreTool, Class::Shell),
    ],
    codes: &[Code::blocks(
        "PW-001",
        "the call would change a file that the current phase may not write",
        "finish the current phase, then run `tollgate phase complete` and `tollgate phase begin`",
    )
    .passes_with(&["active_workflow.current_phase = {last}"])],
    reads: &[PHASE, "active_workflow.type"],
    sample: Some(Sample {
        state: r#"{"active_workflow":{"type":"change","current_phase":"plan","phases":["plan","build"]}}"#,
        files: &[(
            ".isdlc/config/workflows.json",
            r#"{"workflows":{"change":{"phases":["plan","build"],"phase_rules":{"plan":{"writes":["docs"],"globs":["docs/**"]}}}}}"#,
        )],
        event: r#"{"tool_name":"Write","tool_input":{"file_path":"src/lib.rs","content":"x"}}"#,
        ..Sample::BLOCKED
    }),
    check,
};

fn check(context: &EventContext<'_>) -> Option<Decision> {
    let changed = if context.call.survey().is_some() {
        shell::changed_paths(context.call.effects())
    } else {
        let absolute = |path: &str| context.call.absolute(path).to_string_lossy().into_owned();
        let files = context.event.files();
        files.iter().map(|path| absolute(path)).collect()
    };
    // Most calls change no file: for those nothing is read.
    if changed.is_empty() {
        return None;
    }
    let phase = context.current_phase()?;
    let kind = context.workflow()?.str("type")?;
    let all = phase_rules(context, &kind)?;
    let rules = all.object(&phase)?;
    let globs = rules.get("globs").and_then(Node::texts)?;
    let root = context.layout().root();
    let real_root = context.call.real(root);
    // What Tollgate keeps is the concern of other guards.
    let is_allowed = |inside: &str| {
        inside.is_empty() || inside.starts_with(".tollgate/") || matches(&globs, inside)
    };
    // By its name, and by what a link on the way to it leads to.
    let outside = |path: &String| {
        let path = Path::new(path);
        let real = context.call.real(path);
        let inside = [path.strip_prefix(root), real.strip_prefix(&real_root)];
        let mut inside = inside.into_iter().flatten().filter_map(Path::to_str);
        inside.find(|inside| !is_allowed(inside)).map(str::to_owned)
    };
    let path = changed.iter().find_map(outside)?;
    let text = format!(
        "Phase '{phase}' may not change {path}: it writes only {}. Do what the phase is about; \
         when it is done, `tollgate phase complete --summary \"…\"` ends it and `tollgate phase \
         begin` starts the next one.",
        rules.texts("writes").join(", ")
    );
    let reason = format!("Phase '{phase}' may not write '{path}'");
    let next = later(&context.workflow()?.phases(), &all, &phase, &path);
    Some(Decision::block(
        Finding::new("PW-001", text, reason).next(next),
    ))
}

/// What the workflow of this type says about its phases: as the project defines it, else as it is
/// built in.
fn phase_rules<'a>(context: &EventContext<'a>, kind: &str) -> Option<Object<'a>> {
    let own = context.config(ConfigFile::Workflows);
    let own = own.and_then(|file| file.object("workflows")?.object(kind));
    match own {
        Some(own) => own.object("phase_rules"),
        None if context.layout().is_isdlc() => None,
        None => definitions::own_phase_rules().filter(|_| definitions::is_built_in(kind)),
    }
}

fn matches(globs: &[String], path: &str) -> bool {
    globs.iter().any(|glob| fast_glob::glob_match(glob, path))
}

/// The way to a phase that may write the file: the next one, or one behind it.
fn later(listed: &[String], rules: &Object<'_>, phase: &str, path: &str) -> Next {
    let may_write = |later: &&String| {
        let globs = rules.object(later).and_then(|rules| rules.get("globs"));
        let globs = globs.and_then(Node::texts);
        globs.is_none_or(|globs| matches(&globs, path))
    };
    let mut behind = listed.iter().skip_while(|one| *one != phase).skip(1);
    let done = Next::retry([
        Step::Work(format!("finish what phase {phase} is about")),
        Step::Run("tollgate phase complete --summary \"…\"".to_owned()),
        Step::Run("tollgate phase begin".to_owned()),
    ]);
    match behind.next() {
        Some(next) if may_write(&next) => done,
        Some(_) | None => match behind.find(may_write) {
            Some(later) => done.and(Next::go_on(format!("phase {later} writes it"))),
            None => Next::allow("PW-001"),
        },
    }
}
