//! explore-readonly-enforcer: while the person only talks about the project, nothing in it
//! changes.

use std::path::{Component, Path};

use super::{Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample};
use crate::next::{Next, Step};
use tollgate_store::json::Node;

pub(super) const GUARD: Guard = Guard {
    name: "explore-readonly-enforcer",
    about: "blocks changes of files in Chat/Explore mode",
    is_general: false,
    on: &[(EventKind::PreTool, Class::File)],
    codes: &[Code::blocks(
        "ERE-001",
        "the call would change a file in Chat/Explore mode",
        "leave Chat/Explore mode before changing files",
    )
    .passes_with(&["chat_explore_active = false"])],
    reads: &["chat_explore_active"],
    sample: Some(Sample {
        state: r#"{"chat_explore_active":true}"#,
        event: r#"{"tool_name":"Write","tool_input":{"file_path":"src/lib.rs","content":"x"}}"#,
        ..Sample::BLOCKED
    }),
    check,
};

fn check(context: &EventContext<'_>) -> Option<Decision> {
    let exploring = context
        .state()
        .and_then(|state| state.get("chat_explore_active"))
        .is_some_and(Node::truthy);
    if !exploring {
        return None;
    }
    let files = context.event.files();
    let path = files.iter().find(|path| !is_free(context, path))?;
    let text = format!(
        "CHAT/EXPLORE READ-ONLY: File writes are not permitted during Chat/Explore mode. Leave \
         Chat/Explore mode first, or put notes into a temporary directory.\n\n\
         Blocked file: {path}"
    );
    let own = format!(
        "This would change {path}, and no file may change in Chat/Explore mode \
         (`chat_explore_active`). Notes may go to a temporary directory."
    );
    let next = Next::retry([
        Step::Ask("whether Chat/Explore mode is over"),
        Step::Set {
            field: "chat_explore_active".to_owned(),
            value: "false".to_owned(),
            file: context.shown_state_file(),
        },
    ]);
    let reason = format!("Write to '{path}' in Chat/Explore mode");
    let finding = Finding::new("ERE-001", context.words(text, own), reason).next(next);
    Some(Decision::block(finding))
}

/// Whether the file may change all the same: the state, which other guards watch, and what is
/// temporary.
fn is_free(context: &EventContext<'_>, path: &str) -> bool {
    let path = context.call.absolute(path);
    if context.layout().is_state_file(&path) {
        return true;
    }
    let path = context.call.real(&path);
    let root = context.call.real(context.layout().root());
    // A project may itself lie in a temporary directory. What counts is the way from its root.
    let way = path.strip_prefix(&root).unwrap_or(&path);
    let outside = way == path;
    let folders = way.parent().into_iter().flat_map(Path::components);
    let temporary = |part: Component<'_>| matches!(part, Component::Normal(name) if name == "tmp" || name == "temp");
    (outside && path.starts_with("/var/folders")) || folders.into_iter().any(temporary)
}
