//! Registering Tollgate in whatever an agent's settings file holds, and taking it out again.

use std::path::{Path, PathBuf};

use jsonc_parser::ast::Value;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use tollgate_store::fs;

use super::project::{Ground, ground};
use crate::agents::backup::Backup;
use crate::agents::change::{Wish, install, make, uninstall};
use crate::agents::read::read;
use crate::agents::registration::REGISTRATIONS;
use crate::agents::{AGENTS, Agent, Places, Scope, Strictness};

/// The files that Tollgate can be registered in. Codex has a second one, in TOML.
fn files(places: &Places) -> Vec<(Agent, PathBuf)> {
    let of = |agent: Agent| {
        let others = agent.reads(Scope::Project, places).into_iter();
        let toml = others.filter(|file| file.extension().is_some_and(|kind| kind == "toml"));
        let files = agent.settings(Scope::Project, places).into_iter();
        files.chain(toml).map(move |file| (agent, file))
    };
    AGENTS.iter().copied().flat_map(of).collect()
}

/// A settings file. What is not Tollgate's survives an install, a second install changes nothing,
/// and an uninstall gives back what was there: to the byte if nobody touched the file since.
pub(super) fn settings(bytes: &[u8]) {
    let Some((first, text)) = bytes.split_first() else {
        return;
    };
    let strictness = match first & 0x40 {
        0 => Strictness::Lenient,
        _ => Strictness::Strict,
    };
    let ground = ground("settings");
    let places = Places::find(&ground.env(), |_| None).expect("places");
    let files = files(&places);
    let (agent, ref file) = files[usize::from(*first) % files.len()];
    let planted = relative(ground, file);
    ground.write(&planted, text);
    round(&Case {
        wish: Wish {
            agent,
            scope: Scope::Project,
            program: "tollgate",
            strictness,
            replace_originals: first & 0x80 != 0,
        },
        places: &places,
        ground,
        planted: &planted,
        text,
    });
    clear(ground);
}

struct Case<'c> {
    wish: Wish<'c>,
    places: &'c Places,
    ground: &'c Ground,
    /// Where the text is, which need not be the file that an install chooses.
    planted: &'c str,
    /// What is in there at first.
    text: &'c [u8],
}

fn round(case: &Case<'_>) {
    let Case { wish, places, .. } = case;
    let (agent, scope) = (wish.agent, wish.scope);
    let change = match install(wish, places) {
        Ok(change) => change,
        Err(refusal) => {
            assert!(!refusal.what.is_empty() && !refusal.next.is_empty());
            return;
        }
    };
    let file = change.file.clone();
    let before = change.before.clone();
    let survives = |now: Option<&[u8]>, what: &str| {
        if !wish.replace_originals {
            let then = before.as_deref().map(|bytes| foreign(&file, bytes));
            let now = now.map(|bytes| foreign(&file, bytes));
            assert_eq!(
                now.unwrap_or_default(),
                then.unwrap_or_default(),
                "{what} changed what is not Tollgate's"
            );
        }
    };
    survives(change.after.as_deref(), "an install");
    // A line in which a person has Tollgate and something else run is theirs to take apart.
    let is_shared = uninstall(agent, scope, &file, places).is_err();
    make(&change, places).expect("a file that can be written");
    let again = install(wish, places).expect("what we wrote we can read");
    assert!(again.is_nothing(), "a second install changes something");
    let wanted = REGISTRATIONS
        .iter()
        .filter(|registration| (agent.event)(registration.event).is_some());
    assert!(effective(agent, places) >= wanted.count(), "not registered");

    let back = uninstall(agent, scope, &file, places);
    if is_shared {
        let refusal = back.expect_err("what was shared still is");
        assert!(!refusal.what.is_empty() && !refusal.next.is_empty());
        return;
    }
    let back = back.expect("what we wrote we can read");
    make(&back.expect("something to take out"), places).expect("a file that can be written");
    let now = content(&file);
    if before.as_deref().is_none_or(|bytes| !may_be_ours(bytes)) {
        assert_eq!(now, before, "an uninstall gives back something else");
    }
    survives(now.as_deref(), "an uninstall");
    assert_eq!(effective(agent, places), 0, "an uninstall left something");

    // Once more with nothing remembered, as in a clone of the repository.
    clear(case.ground);
    case.ground.write(case.planted, case.text);
    if let Ok(change) = install(wish, places) {
        make(&change, places).expect("a file that can be written");
        let kept = Backup::of(scope, places).expect("a backup");
        kept.forget(&file).expect("a backup that can be removed");
        let back = uninstall(agent, scope, &file, places).expect("what we wrote we can read");
        make(&back.expect("something to take out"), places).expect("a file that can be written");
        survives(
            content(&file).as_deref(),
            "an uninstall that remembers nothing",
        );
        assert_eq!(effective(agent, places), 0, "an uninstall left something");
    }
}

fn relative(ground: &Ground, file: &Path) -> String {
    let inside = file.strip_prefix(ground.root()).expect("in the project");
    inside.to_str().expect("a name of ours").to_owned()
}

fn content(file: &Path) -> Option<Vec<u8>> {
    let found = fs::read_regular(file, 1 << 30).expect("a file that can be read");
    found.map(|found| found.bytes)
}

/// Registrations that the agent reads.
fn effective(agent: Agent, places: &Places) -> usize {
    let reading = read(places);
    let ours = reading.hooks();
    ours.filter(|hook| hook.agent == agent && hook.effective)
        .count()
}

fn clear(ground: &Ground) {
    let places = Places::find(&ground.env(), |_| None).expect("places");
    for (_, file) in files(&places) {
        remove(&file);
    }
    remove(&ground.path(".tollgate/local/install"));
}

fn remove(path: &Path) {
    let _none = std::fs::remove_dir_all(path).or_else(|_| std::fs::remove_file(path));
}

/// Everything in a file that cannot be a registration of Tollgate: members of the file, then
/// handlers with their events.
fn foreign(file: &Path, bytes: &[u8]) -> Vec<String> {
    let text = std::str::from_utf8(bytes).expect("an install refuses what is not UTF-8");
    if file
        .extension()
        .is_some_and(|extension| extension == "toml")
    {
        return foreign_lines(text);
    }
    let text = text.trim_start_matches('\u{feff}');
    let tree = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default())
        .expect("an install refuses what is not JSON");
    let Some(Value::Object(top)) = tree.value else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for member in &top.properties {
        match (member.name.as_str(), &member.value) {
            ("hooks", Value::Object(events)) => {
                for event in &events.properties {
                    let name = event.name.as_str();
                    if let Value::Array(list) = &event.value {
                        let all = list.elements.iter().flat_map(handlers);
                        found.extend(all.map(|handler| format!("{name}: {handler}")));
                    } else if !matches!(event.value, Value::NullKeyword(_)) {
                        found.push(format!("{name}: {}", said(&event.value)));
                    }
                }
            }
            // A list that is not there yet; what files of ours begin with.
            ("hooks", Value::NullKeyword(_)) | ("version", _) => {}
            (name, value) => found.push(format!("{name}: {}", said(value))),
        }
    }
    found.retain(|text| !may_be_ours(text.as_bytes()));
    found
}

/// The handlers of a group, and what else it holds; where there are no groups, the handler itself.
fn handlers(element: &Value<'_>) -> Vec<String> {
    let Value::Object(group) = element else {
        return vec![said(element)];
    };
    let mut hooks = group.properties.iter();
    let hooks = hooks.rfind(|at| at.name.as_str() == "hooks");
    let mut found = match hooks.map(|at| &at.value) {
        Some(Value::Array(list)) => list.elements.iter().map(said).collect(),
        Some(_) => return vec![said(element)],
        None => Vec::new(),
    };
    // A group that loses its last handler keeps what a stranger wrote beside it.
    let beside = group.properties.iter();
    let beside: Vec<_> = beside
        .filter(|at| !matches!(at.name.as_str(), "hooks" | "matcher"))
        .map(member)
        .collect();
    if !beside.is_empty() {
        found.push(format!("{{{}}}", beside.join(",")));
    }
    found
}

fn member(at: &jsonc_parser::ast::ObjectProp<'_>) -> String {
    format!("{:?}:{}", at.name.as_str(), said(&at.value))
}

/// A value, whatever its layout.
fn said(value: &Value<'_>) -> String {
    match value {
        Value::StringLit(text) => format!("{:?}", text.value),
        Value::NumberLit(number) => number.value.to_owned(),
        Value::BooleanLit(truth) => truth.value.to_string(),
        Value::NullKeyword(_) => "null".to_owned(),
        Value::Array(list) => {
            let items: Vec<_> = list.elements.iter().map(said).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(object) => {
            let members: Vec<_> = object.properties.iter().map(member).collect();
            format!("{{{}}}", members.join(","))
        }
    }
}

/// The lines that say something, outside the tables of hooks.
fn foreign_lines(text: &str) -> Vec<String> {
    let mut inside = false;
    let mut found = Vec::new();
    let plain = text.trim_start_matches('\u{feff}');
    for line in plain.lines().map(str::trim) {
        if line.starts_with('[') {
            inside = line.contains("hooks");
        }
        let says = !line.is_empty() && !line.starts_with('#');
        if says && !inside && !may_be_ours(line.as_bytes()) {
            found.push(line.to_owned());
        }
    }
    // The mark at its beginning, where anything is left for it to mark.
    if plain != text && !found.is_empty() {
        found.push("a byte order mark".to_owned());
    }
    found
}

/// Whether the letters of our name are in it, in order: a shell may have quotes between them.
fn may_be_ours(bytes: &[u8]) -> bool {
    let mut letters = b"tollgate".iter().peekable();
    for byte in bytes {
        letters.next_if(|letter| *letter == byte);
    }
    letters.peek().is_none()
}
