//! Registering Tollgate in whatever an agent's settings file holds, and taking it out again.

use std::path::Path;

use jsonc_parser::ast::Value;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use tollgate::fuzzing::{Manner, Settings, settings_files};
use tollgate_store::fs;

use super::project::{Project, project};

/// A settings file. What is not Tollgate's survives an install, a second install changes nothing,
/// and an uninstall gives back what was there: to the byte if nobody touched the file since.
pub(super) fn settings(bytes: &[u8]) {
    let Some((first, text)) = bytes.split_first() else {
        return;
    };
    let manner = match first & 0x40 {
        0 => Manner::Lenient,
        _ => Manner::Strict,
    };
    let project = project("settings");
    let settings = Settings::nth(usize::from(*first), manner, &project.env()).expect("a file");
    let settings = match first & 0x80 {
        0 => settings,
        _ => settings.replacing_originals(),
    };
    let planted = relative(project, &settings.file);
    project.write(&planted, text);
    round(&Case {
        settings,
        project,
        planted: &planted,
        text,
    });
    clear(project);
}

struct Case<'c> {
    settings: Settings,
    project: &'c Project,
    /// Where the text is, which need not be the file that an install chooses.
    planted: &'c str,
    /// What is in there at first.
    text: &'c [u8],
}

fn round(case: &Case<'_>) {
    let settings = &case.settings;
    let change = match settings.install() {
        Ok(change) => change,
        Err((what, next)) => {
            assert!(!what.is_empty() && !next.is_empty());
            return;
        }
    };
    let file = change.file();
    let before = change.before();
    let survives = |now: Option<&[u8]>, what: &str| {
        if !settings.replaces_originals() {
            let then = before.map(|bytes| foreign(file, bytes));
            let now = now.map(|bytes| foreign(file, bytes));
            assert_eq!(
                now.unwrap_or_default(),
                then.unwrap_or_default(),
                "{what} changed what is not Tollgate's"
            );
        }
    };
    survives(change.after(), "an install");
    // A line in which a person has Tollgate and something else run is theirs to take apart.
    let is_shared = settings.uninstall(file).is_err();
    settings.make(&change).expect("a file that can be written");
    let again = settings.install().expect("what we wrote we can read");
    assert!(again.is_nothing(), "a second install changes something");
    assert!(settings.effective() >= settings.wanted(), "not registered");

    let back = settings.uninstall(file);
    if is_shared {
        let (what, next) = back.expect_err("what was shared still is");
        assert!(!what.is_empty() && !next.is_empty());
        return;
    }
    let back = back.expect("what we wrote we can read");
    let back = back.expect("something to take out");
    settings.make(&back).expect("a file that can be written");
    let now = content(file);
    if before.is_none_or(|bytes| !may_be_ours(bytes)) {
        assert_eq!(
            now.as_deref(),
            before,
            "an uninstall gives back something else"
        );
    }
    survives(now.as_deref(), "an uninstall");
    assert_eq!(settings.effective(), 0, "an uninstall left something");

    // Once more with nothing remembered, as in a clone of the repository.
    clear(case.project);
    case.project.write(case.planted, case.text);
    if let Ok(change) = settings.install() {
        settings.make(&change).expect("a file that can be written");
        settings.forget(file).expect("a backup that can be removed");
        let back = settings.uninstall(file).expect("what we wrote we can read");
        let back = back.expect("something to take out");
        settings.make(&back).expect("a file that can be written");
        survives(
            content(file).as_deref(),
            "an uninstall that remembers nothing",
        );
        assert_eq!(settings.effective(), 0, "an uninstall left something");
    }
}

fn relative(project: &Project, file: &Path) -> String {
    let inside = file.strip_prefix(project.root()).expect("in the project");
    inside.to_str().expect("a name of ours").to_owned()
}

fn content(file: &Path) -> Option<Vec<u8>> {
    let found = fs::read_regular(file, 1 << 30).expect("a file that can be read");
    found.map(|found| found.bytes)
}

fn clear(project: &Project) {
    for file in settings_files(&project.env()) {
        remove(&file);
    }
    remove(&project.path(".tollgate/local/install"));
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
