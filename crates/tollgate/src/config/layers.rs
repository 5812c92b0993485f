//! `tollgate.toml` and the other sources of values: the environment, the person's own file in
//! the project, the project's file, the person's own file for all projects, the defaults.
//!
//! Everything that is wrong in any of them is collected before it is reported.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::Value as Json;
use tollgate_core::env::Env;
use tollgate_core::person;
use tollgate_core::project::Layout;
use tollgate_store::fs;

use super::keys::{GATE, GATES, ROOT};
use super::node::{Key, Layer, Node, Place, Value};
use super::requires::{self, Unmet};
use super::rules::{self, RuleDefinition, Wrong};
use super::table::{Examiner, Format, Kind, Need, Problem, Row, Table, Weight};
use super::workflow::{self, WorkflowDefinition};
use super::{last_good, toml};
use crate::hash::digest;

/// No configuration file is larger.
const CAP: u64 = 1 << 20;

/// The texts of the files, the one that goes before the others last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Texts {
    root: PathBuf,
    files: Vec<FileText>,
}

/// Those of the project of the event that this process decides, if it decides one, and what they say
/// together: to parse them and to play the examples of the rules takes longer than all else.
static OF_EVENT: OnceLock<(Texts, OnceLock<Merged>)> = OnceLock::new();

#[derive(Clone, Debug, PartialEq, Eq)]
struct FileText {
    layer: Layer,
    path: PathBuf,
    /// None if there is no such file; otherwise its text, or why it cannot be read.
    text: Option<Result<String, String>>,
}

/// What the files and the environment say together.
#[derive(Clone, Debug)]
pub(crate) struct Merged {
    pub(crate) node: Node,
    pub(crate) problems: Vec<Problem>,
    pub(super) workflows: Vec<WorkflowDefinition>,
    pub(crate) rules: Vec<RuleDefinition>,
    texts: Texts,
}

impl Texts {
    /// The texts as they are now; in a process that decides an event, as the event met them.
    pub(crate) fn read(layout: &Layout, env: &Env) -> Self {
        let met = OF_EVENT.get().map(|(texts, _)| texts);
        let met = met.filter(|met| met.root == layout.root()).cloned();
        met.unwrap_or_else(|| Self::load(layout, env))
    }

    /// Reads them for the event that this process decides: its rules and its gates see the same texts.
    pub(super) fn of_event(layout: &Layout, env: &Env) -> Self {
        OF_EVENT.get_or_init(|| (Self::load(layout, env), OnceLock::new()));
        Self::read(layout, env)
    }

    fn load(layout: &Layout, env: &Env) -> Self {
        let user = person::config_file(env).map(|path| (Layer::User, path));
        let own = [
            (Layer::Project, layout.config_file()),
            (Layer::Local, layout.local_config_file()),
        ];
        let files = user.into_iter().chain(own);
        let read = |(layer, path): (Layer, PathBuf)| FileText {
            text: text_of(&path),
            layer,
            path,
        };
        Self {
            root: layout.root().to_owned(),
            files: files.map(read).collect(),
        }
    }

    /// Whether the project has its own file, in whatever state.
    pub(crate) fn has_own(&self) -> bool {
        let is_own = |file: &FileText| matches!(file.layer, Layer::Project | Layer::Local);
        self.files.iter().any(|f| is_own(f) && f.text.is_some())
    }

    pub(crate) fn text(&self, layer: Layer) -> Option<&str> {
        self.file(layer)?.text.as_ref()?.as_deref().ok()
    }

    /// What tells these texts from others.
    pub(super) fn digest(&self) -> String {
        let texts: Vec<_> = self.files.iter().map(|f| (f.layer, &f.text)).collect();
        digest(texts)
    }

    /// Whether any of them has this word in it; one that cannot be read may.
    pub(super) fn mention(&self, word: &str) -> bool {
        let mut texts = self.files.iter().filter_map(|file| file.text.as_ref());
        texts.any(|text| text.as_ref().map_or(true, |text| text.contains(word)))
    }

    pub(crate) fn path(&self, layer: Layer) -> Option<&Path> {
        Some(&self.file(layer)?.path)
    }

    fn file(&self, layer: Layer) -> Option<&FileText> {
        self.files.iter().find(|file| file.layer == layer)
    }

    /// The same with another text in place of a file's.
    #[must_use]
    pub(crate) fn with(&self, layer: Layer, text: Option<&str>) -> Self {
        let mut changed = self.clone();
        for file in changed.files.iter_mut().filter(|f| f.layer == layer) {
            file.text = text.map(|text| Ok(text.to_owned()));
        }
        changed
    }

    /// What holds while these are broken, best first: the project's file without the person's own
    /// one, then the last project's file that was right.
    pub(crate) fn fallbacks(&self, layout: &Layout) -> Vec<Self> {
        let mut all = Vec::new();
        if self.file(Layer::Local).is_some_and(|f| f.text.is_some()) {
            all.push(self.with(Layer::Local, None));
        }
        if let Some(good) = last_good::read(layout) {
            let good = self.with(Layer::Project, Some(&good));
            all.extend([good.clone(), good.with(Layer::Local, None)]);
        }
        all
    }

    /// A problem's file as messages name it.
    fn shown(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.root).unwrap_or(path).to_owned()
    }
}

/// The text of a file, without the mark that some editors put in front.
fn text_of(path: &Path) -> Option<Result<String, String>> {
    let contents = match fs::read_regular(path, CAP) {
        Ok(contents) => contents?,
        Err(fault) => return Some(Err(fault.to_string())),
    };
    let text = String::from_utf8(contents.bytes);
    let text = text.map(|text| text.trim_start_matches('\u{feff}').to_owned());
    Some(text.map_err(|error| {
        let (known, _) = error.as_bytes().split_at(error.utf8_error().valid_up_to());
        let line = known.split(|byte| *byte == b'\n').count();
        format!("the file is not UTF-8 text: line {line}")
    }))
}

impl Merged {
    pub(crate) fn read(layout: &Layout, env: &Env) -> Self {
        Self::of(Texts::read(layout, env), env)
    }

    /// What holds: what the files say, or while they are broken, what held before.
    pub(crate) fn in_force(layout: &Layout, env: &Env) -> Self {
        Self::read(layout, env).or_last_good(layout, env)
    }

    /// The same, or what held before if this is broken.
    pub(super) fn or_last_good(self, layout: &Layout, env: &Env) -> Self {
        if !self.is_wrong() {
            return self;
        }
        let fallbacks = self.texts.fallbacks(layout);
        let mut held = fallbacks.into_iter().map(|texts| Self::of(texts, env));
        held.find(|held| !held.is_wrong()).unwrap_or(self)
    }

    /// What a person's own file of this text says, in no project.
    pub(crate) fn of_user(env: &Env, text: String) -> Self {
        let file = person::config_file(env).map(|path| FileText {
            layer: Layer::User,
            path,
            text: Some(Ok(text)),
        });
        let texts = Texts {
            root: PathBuf::new(),
            files: file.into_iter().collect(),
        };
        Self::of(texts, env)
    }

    /// What these texts say; those of the event that this process decides are read once.
    pub(crate) fn of(texts: Texts, env: &Env) -> Self {
        match OF_EVENT.get().filter(|(met, _)| *met == texts) {
            Some((_, merged)) => merged.get_or_init(|| Self::parse(texts, env)).clone(),
            None => Self::parse(texts, env),
        }
    }

    fn parse(texts: Texts, env: &Env) -> Self {
        let mut problems = Vec::new();
        let mut node = defaults();
        for file in &texts.files {
            let mut found = Vec::new();
            let read = read_file(&texts, file, &mut found);
            let is_wrong = found.iter().any(|problem| problem.weight == Weight::Error);
            if file.layer == Layer::User && is_wrong {
                // A broken file of the person's own must not stop anybody's work.
                problems.extend(found.into_iter().map(unused));
            } else {
                problems.extend(found);
                if let Some(read) = read {
                    merge(&mut node, read);
                }
            }
        }
        for variable in &env.settings {
            let mut found = Vec::new();
            let read = read_variable(&texts.root, variable, &mut found);
            if found.is_empty() {
                merge(&mut node, read);
            }
            problems.extend(found.into_iter().map(unused));
        }
        add_gate_defaults(&mut node);
        let mut merged = Self {
            node,
            problems,
            workflows: Vec::new(),
            rules: Vec::new(),
            texts,
        };
        let (workflows, wrong) = workflow::read(&merged.node);
        merged.workflows = workflows;
        for (place, key, what, fix) in wrong {
            merged.error(place, &key, &what, Some(fix));
        }
        merged.read_rules();
        merged
    }

    /// The rules, once all that is read of them and their examples is right. A rule of the person's own
    /// that is wrong must not stop anybody's work: it is not used.
    fn read_rules(&mut self) {
        let (all, mut wrong) = rules::read(&self.node);
        if wrong.is_empty() && !all.is_empty() {
            wrong = rules::failing(&all);
        }
        let is_persons = |place: Place| place.layer == Layer::User;
        for Wrong {
            place,
            key,
            what,
            fix,
        } in &wrong
        {
            self.error(*place, key, what, Some(fix));
            if is_persons(*place)
                && let Some(problem) = self.problems.pop()
            {
                self.problems.push(unused(problem));
            }
        }
        let persons_are_wrong = wrong.iter().any(|wrong| is_persons(wrong.place));
        let counts = |rule: &RuleDefinition| !(persons_are_wrong && is_persons(rule.place));
        self.rules = all.into_iter().filter(counts).collect();
    }

    /// The first thing that keeps rules from holding, in words.
    pub(super) fn rules_problem(&self) -> Option<String> {
        let is_error = |problem: &&Problem| {
            let is_persons = problem.fix.as_deref() == Some(UNUSED);
            problem.weight == Weight::Error || is_persons && problem.place.layer == Layer::User
        };
        self.problems.iter().find(is_error).map(Problem::to_string)
    }

    /// Notes what is hardly meant.
    pub(crate) fn doubt_rules(&mut self, today: &str) {
        let root = self.texts.root.clone();
        for Wrong {
            place,
            key,
            what,
            fix,
        } in rules::doubts(&self.rules, &root, today)
        {
            self.error(place, &key, &what, Some(&fix));
            if let Some(problem) = self.problems.last_mut() {
                problem.weight = Weight::Warning;
            }
        }
    }

    pub(crate) fn texts(&self) -> &Texts {
        &self.texts
    }

    pub(crate) fn is_wrong(&self) -> bool {
        let is_error = |problem: &Problem| problem.weight == Weight::Error;
        self.problems.iter().any(is_error)
    }

    /// Notes an error in the file that a place is in.
    pub(crate) fn error(&mut self, place: Place, key: &str, what: &str, fix: Option<&str>) {
        let path = self.texts.path(place.layer).unwrap_or(Path::new(""));
        self.problems.push(Problem {
            weight: Weight::Error,
            file: self.texts.shown(path),
            place,
            text: line_of(self.texts.text(place.layer), place),
            key: key.to_owned(),
            what: what.to_owned(),
            fix: fix.map(str::to_owned),
        });
    }

    /// Where a value comes from, for people: `tollgate.toml:3`.
    pub(crate) fn origin(&self, key: &str, place: Place) -> String {
        match place.layer {
            Layer::Default => "default".to_owned(),
            Layer::Environment => variable_of(key),
            Layer::User | Layer::Project | Layer::Local => {
                let path = self.texts.path(place.layer).unwrap_or(Path::new(""));
                format!("{}:{}", self.texts.shown(path).display(), place.line)
            }
        }
    }

    /// Where the project's own files begin to speak of this part, if they do.
    pub(crate) fn own_part(&self, part: &str) -> Option<Place> {
        let mut members = self.node.get(part)?.members().iter();
        let is_own = |place: Place| matches!(place.layer, Layer::Project | Layer::Local);
        let (key, _) = members.find(|(key, _)| is_own(key.place))?;
        Some(key.place)
    }

    pub(crate) fn gates(&self) -> impl Iterator<Item = &(Key, Node)> {
        let members = self.node.get("gates").map(Node::members);
        members
            .unwrap_or_default()
            .iter()
            .filter(|(key, value)| is_gate(key, value))
    }
}

/// Whether a member of `[gates]` is a gate.
pub(super) fn is_gate(key: &Key, value: &Node) -> bool {
    value.is_map() && GATES.row(&key.name).is_none()
}

/// The variable of a setting of `[gates]`.
fn variable_of(key: &str) -> String {
    let name = key.rsplit('.').next().unwrap_or(key);
    format!("TOLLGATE_{}", name.to_uppercase())
}

fn line_of(text: Option<&str>, place: Place) -> Option<String> {
    let index = usize::try_from(place.line.checked_sub(1)?).ok()?;
    let line = text?.lines().nth(index)?;
    Some(line.chars().take(200).collect())
}

/// What is said of a file or value that is not used.
const UNUSED: &str = "it is not used until that is corrected";

/// A problem in what is not used because of it.
fn unused(mut problem: Problem) -> Problem {
    if problem.weight == Weight::Error {
        problem.weight = Weight::Warning;
        problem.fix = Some(UNUSED.to_owned());
    }
    problem
}

fn read_file(texts: &Texts, file: &FileText, problems: &mut Vec<Problem>) -> Option<Node> {
    let mut examiner = Examiner {
        root: &texts.root,
        file: &file.path,
        format: Format::Toml,
        problems,
    };
    let text = match file.text.as_ref()? {
        Ok(text) => text,
        Err(why) => {
            examiner.error(Place::in_layer(file.layer), "", why, None);
            return None;
        }
    };
    let node = match toml::parse(text, file.layer) {
        Ok(node) => node,
        Err(broken) => {
            let what = format!("not valid TOML: {}", broken.what);
            examiner.error(broken.place, "", &what, broken.fix.as_deref());
            fill_in(problems, text);
            return None;
        }
    };
    // A newer file has keys that this program does not know; those are not what is wrong.
    let is_too_old = examine_requirement(&node, &mut examiner);
    if !is_too_old {
        examiner.examine(&node, &ROOT, "");
        examine_plans(&node, &mut examiner);
        if file.layer == Layer::User {
            examine_user(&node, &mut examiner);
        }
    }
    fill_in(problems, text);
    (!is_too_old).then_some(node)
}

/// For a gate, `"0s"` means no limit; a review of a plan always has one.
fn examine_plans(node: &Node, examiner: &mut Examiner<'_>) {
    let timeout = node.get("plans").and_then(|plans| plans.get("timeout"));
    let is_zero = |node: &&Node| node.duration().is_some_and(|time| time.is_zero());
    if let Some(timeout) = timeout.filter(is_zero) {
        let fix = Some("leave it out for \"14m\"");
        examiner.error(timeout.place, "plans.timeout", "a review needs time", fix);
    }
}

fn fill_in(problems: &mut [Problem], text: &str) {
    for problem in problems {
        problem.text = line_of(Some(text), problem.place);
    }
}

/// Whether the file is for a newer program.
fn examine_requirement(node: &Node, examiner: &mut Examiner<'_>) -> bool {
    let value = node.get("requires");
    let Some((value, text)) = value.and_then(|value| Some((value, value.text()?))) else {
        return false;
    };
    match requires::check(text) {
        Ok(()) => false,
        Err(Unmet::Unreadable) => {
            let what = format!("expected a version such as \">=0.2\", found {text:?}");
            examiner.error(value.place, "requires", &what, None);
            false
        }
        Err(Unmet::TooOld) => {
            let fix = Some("install a newer Tollgate");
            examiner.error(value.place, "requires", &requires::words(text), fix);
            true
        }
    }
}

/// A person's own file has settings for all projects, and nothing that belongs to one.
fn examine_user(node: &Node, examiner: &mut Examiner<'_>) {
    let fix = Some("move it to `tollgate.toml` or `tollgate.local.toml` of the project");
    for (key, value) in node.members() {
        if matches!(key.name.as_str(), "requires" | "workflow") {
            let what = "this belongs to one project";
            examiner.error(key.place, &key.name, what, fix);
        }
        for (gate, _) in value.members().iter().filter(|(k, v)| is_gate(k, v)) {
            if key.name == "gates" {
                let path = format!("gates.{}", toml::quoted(&gate.name));
                let what = "a gate belongs to one project";
                examiner.error(gate.place, &path, what, fix);
            }
        }
    }
}

/// The setting that a variable names.
fn read_variable(
    root: &Path,
    (key, text): &(&'static str, String),
    problems: &mut Vec<Problem>,
) -> Node {
    let place = Place::in_layer(Layer::Environment);
    let row = GATES.row(key);
    let value = match row.map(|row| &row.kind) {
        Some(Kind::Bool) => match text.as_str() {
            "1" => true.into(),
            "0" => false.into(),
            word => word
                .parse::<bool>()
                .map_or_else(|_| word.into(), Json::Bool),
        },
        Some(Kind::Whole(_)) => match text.parse::<u64>() {
            Ok(number) => number.into(),
            Err(_) => text.as_str().into(),
        },
        Some(_) | None => text.as_str().into(),
    };
    let member = |name: &str, node| place.node(Value::Map(vec![(place.key(name), node)]));
    let value = place.node(Value::Scalar(value));
    let node = member("gates", member(key, value));
    let variable = variable_of(key);
    Examiner {
        root,
        file: Path::new(&variable),
        format: Format::Toml,
        problems,
    }
    .examine(&node, &ROOT, "");
    node
}

/// Puts one layer over what lies below: a table is merged key by key, everything else replaced.
fn merge(below: &mut Node, above: Node) {
    let place = above.place;
    match (&mut below.value, above.value) {
        (Value::Map(below), Value::Map(above)) => {
            for (key, node) in above {
                match below.iter_mut().find(|(other, _)| other.name == key.name) {
                    // Rules add up: no file takes another one's away.
                    Some((_, value)) if key.name == "rule" => add(value, node),
                    Some((old, value)) => {
                        old.place = key.place;
                        merge(value, node);
                    }
                    None => below.push((key, node)),
                }
            }
        }
        (value, above) => *value = above,
    }
    below.place = place;
}

/// Puts a list behind another one.
fn add(below: &mut Node, above: Node) {
    match (&mut below.value, above.value) {
        (Value::List(below), Value::List(above)) => below.extend(above),
        (value, above) => *value = above,
    }
}

const DEFAULT: Place = Place::in_layer(Layer::Default);

/// The settings that hold by default.
fn defaults() -> Node {
    let mut members = Vec::new();
    for row in ROOT.keys {
        let Some(table) = row.kind.settings() else {
            continue;
        };
        let values = table_defaults(table, |_| true);
        if !values.members().is_empty() {
            members.push((DEFAULT.key(row.key), values));
        }
    }
    DEFAULT.node(Value::Map(members))
}

/// What of a gate holds if it says nothing.
fn add_gate_defaults(node: &mut Node) {
    let mut members = node.members_mut().iter_mut();
    let Some((_, gates)) = members.find(|(key, _)| key.name == "gates") else {
        return;
    };
    let check = table_defaults(&GATE, |row| row.need != Need::OfReview);
    let review = table_defaults(&GATE, |row| row.need != Need::OfCheck);
    let gates = gates.members_mut().iter_mut();
    for (_, gate) in gates.filter(|(key, value)| is_gate(key, value)) {
        let is_check = gate.get("run").is_some();
        let whole = if is_check { &check } else { &review };
        let said = std::mem::replace(gate, whole.clone());
        merge(gate, said);
    }
}

fn table_defaults(table: &Table, counts: impl Fn(&Row) -> bool) -> Node {
    let rows = table.keys.iter().filter(|row| counts(row));
    let members = rows.filter_map(|row| {
        let text = format!("v = {}", row.default);
        let value = toml::parse(&text, Layer::Default).ok()?;
        let (_, value) = value.members().first()?.clone();
        Some((DEFAULT.key(row.key), value))
    });
    DEFAULT.node(Value::Map(members.collect()))
}
