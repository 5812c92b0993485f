//! The other projects that a tool call acts on. An agent that was started beside a project, above it
//! or in another one still works under the guards of the project whose files it writes and in whose
//! repository it commits.
//!
//! A call that stays in the project it was sent from costs nothing here but comparing texts.

use std::path::{Path, PathBuf};

use tollgate_core::context::CallContext;
use tollgate_core::env::Env;
use tollgate_core::git::Disk;
use tollgate_core::project::{Layout, lexical};
use tollgate_core::protocol::{Event, EventKind, ToolCall};
use tollgate_shell::{self as shell, Commit, Effect, Survey, World};

/// A command that has none of these in it reaches no other project than the one it starts in: it
/// names no path and no other directory, and removes and moves nothing.
const SIGNS: &[&str] = &["/", "cd", "pushd", "dir", "-C", "GIT_", "rm", "mv"];

/// No more projects than this are asked.
const MOST: usize = 4;

/// The projects that an event's tool call acts on besides `main`, which it belongs to.
pub(crate) fn projects(
    event: &Event<'_>,
    env: &Env,
    main: Option<&Layout>,
    call: Option<&CallContext<'_>>,
) -> Vec<Layout> {
    let Some(tool) = event
        .tool
        .as_ref()
        .filter(|_| event.kind == EventKind::PreTool)
    else {
        return Vec::new();
    };
    let cwd = event
        .cwd
        .as_deref()
        .map(Path::new)
        .filter(|cwd| cwd.is_absolute());
    let Some(start) = cwd.or(main.map(Layout::root)).or(env.cwd.as_deref()) else {
        return Vec::new();
    };
    let mut places = vec![start.to_owned()];
    match &tool.call {
        ToolCall::Shell { command } if SIGNS.iter().any(|sign| command.contains(sign)) => {
            if let Some((call, survey)) = call.and_then(|call| Some((call, call.survey()?))) {
                add(&mut places, survey, call.effects(), call.commits(), command);
            } else {
                let disk = Disk::default();
                let world = World {
                    dir: Some(start),
                    home: env.home.as_deref(),
                    files: &disk,
                };
                let survey = shell::survey(command, &world);
                let followed = shell::follow(&survey, &world);
                add(
                    &mut places,
                    &survey,
                    &followed.effects,
                    &followed.commits,
                    command,
                );
            }
        }
        ToolCall::Shell { .. } => {}
        ToolCall::Write { .. }
        | ToolCall::Edit { .. }
        | ToolCall::Patch { .. }
        | ToolCall::Delete { .. }
        | ToolCall::Notebook { .. } => {
            let files = tool.files().into_iter();
            places.extend(files.map(|path| lexical(&start.join(path.as_ref() as &str))));
        }
        ToolCall::Delegate { .. } | ToolCall::Skill { .. } | ToolCall::Other => return Vec::new(),
    }
    found(places, start, main)
}

/// Where a command works: its directories, what it writes, and the repositories that it commits to.
fn add(
    places: &mut Vec<PathBuf>,
    survey: &Survey,
    effects: &[Effect],
    commits: &[Commit],
    command: &str,
) {
    places.extend(shell::directories(survey).into_iter().map(PathBuf::from));
    places.extend(shell::changed_paths(effects).into_iter().map(PathBuf::from));
    if ["-C", "--git-dir", "--work-tree", "GIT_"]
        .iter()
        .any(|sign| command.contains(sign))
    {
        let repositories = commits
            .iter()
            .filter_map(|commit| commit.repository.as_ref());
        places.extend(repositories.map(|repository| repository.work_tree.clone()));
    }
}

fn found(mut places: Vec<PathBuf>, start: &Path, main: Option<&Layout>) -> Vec<Layout> {
    places.retain(|place| main.is_none_or(|main| !place.starts_with(main.root())));
    places.sort();
    places.dedup();
    let mut found: Vec<Layout> = Vec::new();
    for place in places {
        if found.iter().any(|known| place.starts_with(known.root())) {
            continue;
        }
        // Where the event belongs to no project, nothing at or above its directory is one.
        let may_be = |place: &&Path| main.is_some() || !start.starts_with(place);
        let Some(layout) = Layout::nearest(place.ancestors().take_while(may_be)) else {
            continue;
        };
        let is_other = main.is_none_or(|main| main.root() != layout.root());
        // One that Tollgate never worked in does not matter.
        if is_other && found.len() < MOST && layout.local().is_dir() {
            found.push(layout);
        }
    }
    found
}
