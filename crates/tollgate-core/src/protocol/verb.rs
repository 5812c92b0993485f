//! What a tool that Tollgate does not know does with the paths that its input names, as the words of
//! its name tell: those of MCP servers, and next year's.

use std::borrow::Cow;

use super::{Tool, ToolCall};

/// Names of inputs that are paths.
const PLACES: &[&str] = &[
    "path",
    "file_path",
    "filePath",
    "file",
    "filename",
    "paths",
    "files",
    "notebook_path",
    "target_file",
    "absolute_path",
    "relative_path",
    "uri",
    "directory",
    "dir",
    "dir_path",
];
/// Where something comes from.
const SOURCES: &[&str] = &["source", "source_path", "src", "old_path"];
/// Where something goes.
const DESTINATIONS: &[&str] = &["destination", "destination_path", "dest", "dst", "new_path"];
/// The two ends of a move, which need not be paths: cards move from "Doing" to "Done".
const FROM: &[&str] = &["from"];
const TO: &[&str] = &["to"];

/// What the words of a tool's name say it does, the first that fits.
const VERBS: &[(Verb, &str)] = &[
    (Verb::Deletes, "delete remove rm unlink rmdir erase trash"),
    (Verb::Moves, "move rename mv"),
    (Verb::Copies, "copy cp duplicate"),
    (
        Verb::Writes,
        "write edit create append insert update save put replace modify mkdir make patch touch",
    ),
    (Verb::Searches, "grep glob search find ripgrep"),
    (Verb::Lists, "ls list tree stat info exists"),
    (
        Verb::Reads,
        "read view get cat open show load head tail download upload",
    ),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Deletes,
    Moves,
    Copies,
    Writes,
    Searches,
    /// Names only.
    Lists,
    Reads,
    /// Goes out to the network.
    Fetches,
}

/// The paths of a call.
#[derive(Debug, Default)]
pub(crate) struct Paths<'a> {
    /// What the verb is about.
    pub(crate) objects: Vec<Cow<'a, str>>,
    /// What is only read, because the verb is about another path.
    pub(crate) sources: Vec<Cow<'a, str>>,
    /// Where something goes.
    pub(crate) destinations: Vec<Cow<'a, str>>,
}

impl Verb {
    /// What a call does, if its name says it.
    pub(crate) fn of(tool: &Tool<'_>) -> Option<Self> {
        let words = words(&tool.name);
        let goes_out = ["web", "fetch", "http", "browser", "navigate", "crawl"];
        let mut all = words.iter();
        if all.any(|word| goes_out.iter().any(|sign| word.starts_with(sign))) {
            return Some(Self::Fetches);
        }
        // `str_replace_editor` and its kind have their verb in the input.
        if tool
            .input_texts(&["command"])
            .iter()
            .any(|verb| verb == "view")
        {
            return Some(Self::Reads);
        }
        let fits = |names: &&(Self, &str)| {
            let mut names = names.1.split_ascii_whitespace();
            names.any(|name| words.iter().any(|word| word == name))
        };
        VERBS.iter().find(fits).map(|(verb, _)| *verb)
    }

    /// The paths that a call of it names.
    pub(crate) fn paths<'a>(verb: Option<Self>, tool: &Tool<'a>) -> Paths<'a> {
        let texts = |names| {
            let mut paths = tool.input_texts(names);
            paths.retain(|path| !path.contains("://") || path.starts_with("file://"));
            for path in &mut paths {
                if let Some(bare) = path.strip_prefix("file://") {
                    *path = Cow::Owned(bare.to_owned());
                }
            }
            paths
        };
        let end = |name| {
            let mut paths = texts(name);
            paths.retain(|path| path.contains(['/', '.']));
            paths
        };
        let mut paths = Paths {
            objects: texts(PLACES),
            ..Paths::default()
        };
        match verb {
            Some(Self::Fetches) => return Paths::default(),
            Some(Self::Moves | Self::Copies) => {
                paths.objects.extend(texts(SOURCES));
                paths.objects.extend(end(FROM));
                paths.destinations = texts(DESTINATIONS);
                paths.destinations.extend(end(TO));
            }
            Some(Self::Writes) => {
                paths.sources = texts(SOURCES);
                paths.destinations = texts(DESTINATIONS);
            }
            Some(Self::Deletes | Self::Searches | Self::Lists | Self::Reads) | None => {
                paths.objects.extend(texts(SOURCES));
            }
        }
        paths
    }
}

/// The files that a call writes, moves or deletes.
pub(super) fn changed<'a>(tool: &Tool<'a>) -> Vec<Cow<'a, str>> {
    let verb = Verb::of(tool);
    let (takes_objects, fills_destinations) = match verb {
        Some(Verb::Deletes) => (true, false),
        Some(Verb::Moves | Verb::Writes) => (true, true),
        Some(Verb::Copies) => (false, true),
        Some(Verb::Searches | Verb::Lists | Verb::Reads | Verb::Fetches) | None => {
            return Vec::new();
        }
    };
    let paths = Verb::paths(verb, tool);
    let objects = paths.objects.into_iter().filter(|_| takes_objects);
    let destinations = paths
        .destinations
        .into_iter()
        .filter(|_| fills_destinations);
    objects.chain(destinations).collect()
}

impl Tool<'_> {
    /// Whether a tool that is known only by its name takes this path away, with all that is below it.
    pub(crate) fn takes_away(&self, path: &str) -> bool {
        let verb = matches!(self.call, ToolCall::Other).then(|| Verb::of(self));
        let verb = verb.flatten();
        matches!(verb, Some(Verb::Deletes | Verb::Moves))
            && Verb::paths(verb, self)
                .objects
                .iter()
                .any(|own| own == path)
    }
}

/// The words of a tool's name without its server: `mcp__files__moveFile` has `move` and `file`.
fn words(name: &str) -> Vec<String> {
    let own = name.rsplit("__").next().unwrap_or(name);
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in own.chars() {
        let begins = !letter.is_alphanumeric() || letter.is_uppercase() && before.is_lowercase();
        if begins {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}
