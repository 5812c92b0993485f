//! Mods: plugins of Claude Code whose `hooks.json` names a module. They run in the agent's own
//! process and can answer a tool call, or Tollgate's hooks themselves, before Tollgate is asked,
//! unless it is registered in managed settings (measured with 2.1.326).

use std::path::{Path, PathBuf};

use serde_json::Value;
use tollgate_store::fs;

use super::super::Places;

const CAP: u64 = 4 << 20;

/// No more directories than this are searched.
const MOST: usize = 2000;

/// How deep installed plugins lie below their directory.
const DEPTH: usize = 5;

/// What a module can do, by the events that it names.
const EVENTS: &[(&str, &str)] = &[
    ("tool.call", "answer tool calls before Tollgate's hooks"),
    ("tool.check", "allow what Tollgate's hooks deny"),
    ("tool.run", "run tools in another way"),
    ("classic.", "answer in place of Tollgate's hooks"),
];

/// One mod.
#[derive(Debug)]
pub(crate) struct Mod {
    pub(crate) directory: PathBuf,
    /// What its module can do, as far as its text shows it.
    can: Vec<&'static str>,
}

/// The mods that Claude Code would load here.
pub(crate) fn find(places: &Places) -> Vec<Mod> {
    let project = places.root.join(".claude");
    let own = places.home_of(&super::ROW);
    let mut found = Vec::new();
    let mut left = MOST;
    for home in own.into_iter().chain([project.as_path()]) {
        for (name, depth) in [("skills", 1), ("dev-mods", 2), ("plugins", DEPTH)] {
            search(&home.join(name), depth, &mut left, &mut found);
        }
    }
    found
}

/// What people should know about the mods that are there.
pub(crate) fn words(mods: &[Mod], places: &Places) -> impl Iterator<Item = String> {
    mods.iter().map(|found| {
        let can = if found.can.is_empty() {
            "do anything that a module of Claude Code can".to_owned()
        } else {
            found.can.join(", ")
        };
        format!(
            "the mod {} can {can}; only a registration in managed settings runs before it",
            places.shown(&found.directory)
        )
    })
}

fn search(directory: &Path, depth: usize, left: &mut usize, found: &mut Vec<Mod>) {
    let Ok(mut names) = fs::names(directory) else {
        return;
    };
    names.sort();
    for name in names {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let inside = directory.join(name);
        match at(&inside) {
            Some(one) => found.push(one),
            None if depth > 1 => search(&inside, depth - 1, left, found),
            None => {}
        }
    }
}

/// The mod in this directory, if it is one.
fn at(directory: &Path) -> Option<Mod> {
    let manifest = json(&directory.join(".claude-plugin/plugin.json"));
    let named = manifest.as_ref().and_then(|manifest| manifest.get("hooks"));
    let mut lists: Vec<(PathBuf, Value)> = Vec::new();
    let mut read = |path: PathBuf| lists.extend(json(&path).map(|list| (path, list)));
    read(directory.join("hooks/hooks.json"));
    match named {
        Some(Value::String(path)) => read(directory.join(path)),
        Some(Value::Array(paths)) => {
            let paths = paths.iter().filter_map(Value::as_str);
            paths.for_each(|path| read(directory.join(path)));
        }
        Some(list @ Value::Object(_)) => lists.push((directory.join("plugin.json"), list.clone())),
        Some(_) | None => {}
    }
    let modules: Vec<PathBuf> = lists
        .iter()
        .flat_map(|(file, list)| {
            let modules = list.get("modules").and_then(Value::as_array);
            let names = modules.into_iter().flatten().filter_map(Value::as_str);
            names
                .map(|name| file.with_file_name(name))
                .collect::<Vec<_>>()
        })
        .collect();
    if modules.is_empty() {
        return None;
    }
    let texts: Vec<String> = modules.iter().filter_map(|module| text(module)).collect();
    let names = |event: &str| texts.iter().any(|text| text.contains(event));
    let can = EVENTS
        .iter()
        .filter(|(event, _)| names(event))
        .map(|(_, can)| *can);
    Some(Mod {
        directory: directory.to_owned(),
        can: can.collect(),
    })
}

fn text(path: &Path) -> Option<String> {
    let contents = fs::read_regular(path, CAP).ok()??;
    Some(contents.into_text())
}

fn json(path: &Path) -> Option<Value> {
    serde_json::from_str(&text(path)?).ok()
}
