//! What workflows there are: the built-in ones as data, and a project's own, from `workflows.json`
//! or `tollgate.toml`.
//!
//! All are read by the same code. Which ones are built in depends on the workflow's home: the
//! specification's, with its numbered phases, or Tollgate's own, whose phases have names. An entry
//! of the project takes the place of the built-in one of the same name; nothing is merged inside
//! an entry but what it leaves out about names of folders and branches, which the original's file
//! does not know.

use serde_json::{Map, Value};

use super::phases;
use crate::nearest::nearest;
use crate::project::Layout;
use tollgate_store::document::{Document, whole};
use tollgate_store::json::Malformed;
use tollgate_store::json::Object;

/// The workflows of a project that brings none, in the original's home.
const ORIGINAL: &str = include_str!("built_in/workflows.json");

/// The same in Tollgate's own home.
const OWN: &str = include_str!("built_in/own_workflows.json");

/// Where a definition comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Tollgate's own.
    BuiltIn,
    /// The project's `workflows.json` or `tollgate.toml`.
    Project,
}

/// What an unmet requirement does to a phase that wants to be completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateMode {
    /// It is refused.
    Strict,
    /// It is reported.
    Permissive,
}

/// What a phase needs to be completed, beside its exit criteria.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need<'a> {
    /// Every gate is verified on the tree as it is.
    Gates,
    /// The files that the phase's brief asks for are there.
    Artifacts,
    /// This file is there; `{artifact_folder}` stands for the workflow's folder.
    File(&'a str),
}

/// How much work a workflow is thought to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intensity {
    /// Few files, little risk: some phases are left out.
    Light,
    /// Everything.
    Standard,
    /// Everything, with larger budgets.
    Epic,
}

/// How long work of some intensity may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Minutes for the whole workflow.
    pub total: u64,
    /// Minutes for one phase.
    pub phase: u64,
}

/// One workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its name: `feature`.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// Its phases in order.
    pub phases: Vec<String>,
    /// What an unmet requirement does.
    pub gate_mode: GateMode,
    /// Whether work is done on its own branch.
    pub requires_branch: bool,
    /// The first part of its artifact folders: `REQ`.
    pub prefix: String,
    /// The counter in the state that numbers its folders.
    pub counter: String,
    /// The first part of its branches: `feature`.
    pub branch_prefix: String,
    /// Phases that light work leaves out.
    pub light_skips: Vec<String>,
    /// Up to how many files work is light, and from how many it is epic.
    pub thresholds: (u64, u64),
    /// Where it comes from.
    pub origin: Origin,
    /// What it says about single phases (`phase_rules`).
    rules: Map<String, Value>,
    /// Extra instructions for phases, by phase (`agent_modifiers`).
    modifiers: Map<String, Value>,
    budgets: Map<String, Value>,
}

/// All workflows of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definitions {
    list: Vec<Definition>,
    problems: Vec<Problem>,
    home: Home,
}

/// Whose home the workflow has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// That of the original: a phase without exit criteria passes its gate by being completed.
    Original,
    /// Tollgate's own: a gate has passed only if what it asks for was seen.
    Own,
}

impl Home {
    /// The home of the workflow in a project.
    pub fn of(layout: &Layout) -> Self {
        if layout.is_isdlc() {
            Self::Original
        } else {
            Self::Own
        }
    }

    /// A message in the words of this home: the specification's in the original's, Tollgate's own
    /// everywhere else.
    pub fn words(self, specified: String, own: String) -> String {
        match self {
            Self::Original => specified,
            Self::Own => own,
        }
    }

    /// The workflows of a project that brings none.
    fn built_in(self) -> &'static str {
        match self {
            Self::Original => ORIGINAL,
            Self::Own => OWN,
        }
    }
}

/// Something in a `workflows.json` that will not work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where: `workflows.feature.phases[2]`.
    pub place: String,
    /// What is wrong.
    pub what: String,
    /// Whether the workflow cannot be used because of it.
    pub fatal: bool,
}

/// Whether Tollgate itself defines a workflow of this name.
pub fn is_built_in(name: &str) -> bool {
    let is_defined = |text| {
        let file = Object::parse(text).ok();
        let defined = file.and_then(|file| file.object("workflows"));
        defined.is_some_and(|defined| defined.get(name).is_some())
    };
    is_defined(ORIGINAL) || is_defined(OWN)
}

/// The phases of the original's workflow of this name.
fn original_phases(name: &str) -> Vec<String> {
    let file = Object::parse(ORIGINAL).ok();
    let defined = file.and_then(|file| file.object("workflows")?.object(name));
    defined
        .map(|defined| defined.texts("phases"))
        .unwrap_or_default()
}

/// What Tollgate's own workflows say about single phases: what may be written, what is needed.
pub fn own_phase_rules() -> Option<Object<'static>> {
    Object::parse(OWN).ok()?.object("phase_rules")
}

impl Intensity {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Light, Self::Standard, Self::Epic];

    /// Its name in the state.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Standard => "standard",
            Self::Epic => "epic",
        }
    }

    /// The intensity of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == name)
    }

    /// What is allowed where a definition says nothing: the original's figures.
    fn budget(self) -> Budget {
        let (total, phase) = match self {
            Self::Light => (30, 10),
            Self::Standard => (90, 25),
            Self::Epic => (180, 40),
        };
        Budget { total, phase }
    }
}

impl GateMode {
    /// Its name in the state.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Permissive => "permissive",
        }
    }

    /// Whether the gates of a workflow are strict: as it says itself, else as it is defined.
    pub fn is_strict(said: Option<&str>, definition: Option<&Definition>) -> bool {
        match definition {
            Some(definition) if said.is_none() => definition.gate_mode == Self::Strict,
            Some(_) | None => said != Some(Self::Permissive.as_str()),
        }
    }
}

impl Definition {
    /// The budget for work of this intensity.
    pub fn budget(&self, intensity: Intensity) -> Budget {
        let given = self.budgets.get(intensity.as_str());
        let minutes = |key: &str| given.and_then(|budget| whole(budget.get(key)?));
        let default = intensity.budget();
        Budget {
            total: minutes("max_total_minutes").unwrap_or(default.total),
            phase: minutes("max_phase_minutes").unwrap_or(default.phase),
        }
    }

    /// What a phase needs to be completed.
    pub fn needs(&self, phase: &str) -> Vec<Need<'_>> {
        let rules = phases::spellings(phase).find_map(|key| self.rules.get(key));
        let needs = rules.and_then(|rules| rules.get("needs")?.as_array());
        let needs = needs.into_iter().flatten().filter_map(Value::as_str);
        let need = |name| match name {
            "gates" => Need::Gates,
            "artifacts" => Need::Artifacts,
            path => Need::File(path),
        };
        needs.map(need).collect()
    }

    /// Whether a phase belongs to the workflow. One that a version of Tollgate began, in which our
    /// own workflows had the original's phases, keeps them.
    pub fn has_phase(&self, key: &str) -> bool {
        let is_same = |own: &String| phases::equal(own, key);
        self.phases.iter().any(is_same)
            || (self.origin == Origin::BuiltIn && original_phases(&self.name).iter().any(is_same))
    }

    /// The files that may be written in a phase, as patterns; none named: all.
    pub fn writes(&self, phase: &str) -> Vec<&str> {
        let writes = self.rules.get(phase);
        let writes = writes.and_then(|rules| rules.get("writes")?.as_array());
        let writes = writes.into_iter().flatten();
        writes.filter_map(Value::as_str).collect()
    }

    /// What the definition adds for a phase, as it is in the file.
    pub fn modifiers(&self, phase: &str) -> Option<&Value> {
        phases::spellings(phase).find_map(|key| self.modifiers.get(key))
    }

    /// The intensity of a change of so many files.
    pub fn size(&self, files: u64, risky: bool) -> Intensity {
        let (light, epic) = self.thresholds;
        if risky || files >= epic {
            Intensity::Epic
        } else if files <= light {
            Intensity::Light
        } else {
            Intensity::Standard
        }
    }

    /// Reads one, which is subject to the rules that its file has for all of its workflows.
    fn read(
        name: &str,
        value: &Value,
        (origin, home, shared): (Origin, Home, &Map<String, Value>),
        problems: &mut Vec<Problem>,
    ) -> Option<Self> {
        let place = format!("workflows.{name}");
        let mut note = |place: String, what: String, fatal: bool| {
            problems.push(Problem { place, what, fatal });
        };
        let Some(entry) = value.as_object() else {
            note(place, "this is not an object".to_owned(), true);
            return None;
        };
        let text = |key: &str| entry.get(key).and_then(Value::as_str);
        let list = phase_keys(entry, home, &place, &mut note);
        let gate_mode = gate_mode(text("gate_mode"), &place, &mut note);
        let sizing = entry.get("sizing");
        let light_skips = light_skips(sizing, &list, &place, &mut note);
        let threshold = |key: &str| sizing.and_then(|s| whole(s.get("thresholds")?.get(key)?));
        let artifact = |key: &str| entry.get("artifact").and_then(|a| a.get(key)?.as_str());
        let object = |key: &str| {
            let found = entry.get(key).and_then(Value::as_object);
            found.cloned().unwrap_or_default()
        };
        let key_or = |given: Option<&str>, usual: &str| {
            let given = given.filter(|text| is_key(text));
            given.unwrap_or(usual).to_owned()
        };
        let mut rules = shared.clone();
        rules.extend(object("phase_rules"));
        Some(Self {
            name: name.to_owned(),
            label: text("label").unwrap_or(name).to_owned(),
            phases: list,
            gate_mode,
            requires_branch: entry.get("requires_branch") == Some(&Value::Bool(true)),
            prefix: key_or(artifact("prefix"), "REQ"),
            counter: artifact("counter").unwrap_or("next_req_id").to_owned(),
            branch_prefix: key_or(text("branch_prefix"), "feature"),
            light_skips,
            thresholds: (
                threshold("light_max_files").unwrap_or(5),
                threshold("epic_min_files").unwrap_or(20),
            ),
            origin,
            rules,
            modifiers: object("agent_modifiers"),
            budgets: object("performance_budgets"),
        })
    }
}

fn gate_mode(
    said: Option<&str>,
    place: &str,
    note: &mut impl FnMut(String, String, bool),
) -> GateMode {
    match said {
        None | Some("strict") => GateMode::Strict,
        Some("permissive") => GateMode::Permissive,
        Some(other) => {
            let what = format!("{other:?} is neither strict nor permissive; strict counts");
            note(format!("{place}.gate_mode"), what, false);
            GateMode::Strict
        }
    }
}

/// The phases that light work leaves out.
fn light_skips(
    sizing: Option<&Value>,
    phases: &[String],
    place: &str,
    note: &mut impl FnMut(String, String, bool),
) -> Vec<String> {
    let skips = sizing.and_then(|sizing| sizing.get("light_skip_phases")?.as_array());
    let skips = skips.into_iter().flatten().filter_map(Value::as_str);
    let skips: Vec<String> = skips.map(str::to_owned).collect();
    for skipped in skips.iter().filter(|key| !phases.contains(key)) {
        let what = format!("{skipped} is not among the workflow's phases");
        note(format!("{place}.sizing.light_skip_phases"), what, false);
    }
    skips
}

/// The phases that a workflow at `place` lists; what is wrong with them is noted.
fn phase_keys(
    entry: &Map<String, Value>,
    home: Home,
    place: &str,
    note: &mut impl FnMut(String, String, bool),
) -> Vec<String> {
    let listed = entry.get("phases").and_then(Value::as_array);
    let mut keys: Vec<String> = Vec::new();
    for (at, phase) in listed.into_iter().flatten().enumerate() {
        let place = format!("{place}.phases[{at}]");
        let is_same = |other: &String, key| phases::equal(other, key);
        match phase.as_str().filter(|key| is_key(key)) {
            None => note(place, format!("{phase} is not a phase key"), true),
            Some(key) if keys.iter().any(|other| is_same(other, key)) => {
                note(place, format!("{key} is there twice"), true);
            }
            Some(key) => {
                if home == Home::Original && !phases::is_built_in(key) {
                    let what =
                        format!("{key} is not a built-in phase: its agent comes from the manifest");
                    note(place, what, false);
                }
                keys.push(key.to_owned());
            }
        }
    }
    if keys.is_empty() {
        let what = "there must be at least one phase".to_owned();
        note(format!("{place}.phases"), what, true);
    }
    keys
}

impl Definitions {
    /// The built-in workflows of a home.
    pub fn built_in(home: Home) -> Self {
        let mut all = Self {
            list: Vec::new(),
            problems: Vec::new(),
            home,
        };
        // A test reads the built-in texts, so they can be read.
        if let Ok(document) = Document::parse(home.built_in().as_bytes()) {
            all.add(&document, Origin::BuiltIn);
        }
        all
    }

    /// The built-in workflows of a home and those of a project, in the form of `workflows.json`.
    pub fn with(text: &str, home: Home) -> Result<Self, Malformed> {
        let document = Document::parse(text.as_bytes())?;
        let mut all = Self::built_in(home);
        all.add(&document, Origin::Project);
        Ok(all)
    }

    /// Whose rules say when a phase has passed its gate.
    pub(super) fn home(&self) -> Home {
        self.home
    }

    fn add(&mut self, document: &Document, origin: Origin) {
        let Some(entries) = document.object(&["workflows"]) else {
            self.problems.push(Problem {
                place: "workflows".to_owned(),
                what: "there is no object of this name".to_owned(),
                fatal: true,
            });
            return;
        };
        let shared = document.object(&["phase_rules"]);
        let rules = (origin, self.home, &shared.cloned().unwrap_or_default());
        for (name, value) in entries {
            let Some(mut new) = Definition::read(name, value, rules, &mut self.problems) else {
                continue;
            };
            match self.list.iter_mut().find(|old| old.name == *name) {
                None => self.list.push(new),
                Some(old) => {
                    if value.get("artifact").is_none() {
                        new.prefix.clone_from(&old.prefix);
                        new.counter.clone_from(&old.counter);
                    }
                    if value.get("branch_prefix").is_none() {
                        new.branch_prefix.clone_from(&old.branch_prefix);
                    }
                    *old = new;
                }
            }
        }
    }

    /// The workflow of this name.
    pub fn get(&self, name: &str) -> Option<&Definition> {
        self.list.iter().find(|definition| definition.name == name)
    }

    /// All workflows.
    pub fn iter(&self) -> impl Iterator<Item = &Definition> {
        self.list.iter()
    }

    /// What in the project's file will not work.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The most likely name behind a misspelt one.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        let names = self.list.iter().map(|definition| definition.name.as_str());
        nearest(name, names)
    }
}

/// Whether a text can be a phase key or a part of a file name: it cannot leave its directory.
pub fn is_key(text: &str) -> bool {
    let fine = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    (1..=80).contains(&text.len())
        && text.bytes().all(fine)
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_workflows_are_all_there_and_flawless() {
        let all = Definitions::built_in(Home::Original);
        let names: Vec<_> = all
            .iter()
            .map(|d| (d.name.as_str(), d.phases.len()))
            .collect();
        assert_eq!(
            names,
            [
                ("feature", 9),
                ("fix", 6),
                ("test-run", 2),
                ("test-generate", 4),
                ("upgrade", 3),
                ("reverse-engineer", 4)
            ]
        );
        assert_eq!(all.problems(), []);
        let feature = all.get("feature").unwrap();
        assert_eq!(
            feature.budget(Intensity::Epic),
            Budget {
                total: 180,
                phase: 40
            }
        );
        assert_eq!(feature.size(5, false), Intensity::Light);
        assert_eq!(feature.size(6, false), Intensity::Standard);
        assert_eq!(feature.size(2, true), Intensity::Epic);
        assert_eq!(all.get("fix").unwrap().budget(Intensity::Light).total, 30);
    }

    /// `16-quality-loop` before `08-code-review` is an accident of the original's releases.
    #[test]
    fn the_phases_of_our_own_workflows_have_names() {
        let all = Definitions::built_in(Home::Own);
        let names: Vec<_> = all
            .iter()
            .map(|one| (one.name.as_str(), one.phases.join(" ")))
            .collect();
        let expected = [
            ("feature", "requirements design implementation review"),
            ("fix", "diagnosis implementation review"),
            ("upgrade", "plan implementation review"),
        ];
        assert_eq!(names, expected.map(|(name, all)| (name, all.to_owned())));
        assert_eq!(all.problems(), []);
        let feature = all.get("feature").unwrap();
        assert_eq!(feature.writes("design"), ["docs/**", "*.md"]);
        assert_eq!(feature.writes("implementation"), [] as [&str; 0]);
        for one in all.iter() {
            assert!(one.needs("implementation").contains(&Need::Gates));
            assert!(one.needs("review").contains(&Need::Gates));
        }
    }

    #[test]
    fn a_projects_file_replaces_entries_by_name_and_keeps_the_others() {
        let all = Definitions::with(
            r#"{"workflows":{"feature":{"phases":["01-requirements","08-code-review"]},
                "docs":{"phases":["01-requirements","77-own"],"gate_mode":"permissive"}}}"#,
            Home::Original,
        )
        .unwrap();
        let feature = all.get("feature").unwrap();
        assert_eq!((feature.origin, feature.phases.len()), (Origin::Project, 2));
        assert_eq!(
            (feature.prefix.as_str(), feature.requires_branch),
            ("REQ", false)
        );
        assert_eq!(all.get("docs").unwrap().gate_mode, GateMode::Permissive);
        assert_eq!(all.get("fix").unwrap().origin, Origin::BuiltIn);
        assert_eq!(all.problems().len(), 1);
        assert_eq!(all.nearest("featur"), Some("feature"));
    }

    #[test]
    fn what_will_not_work_is_said_with_its_place() {
        let all = Definitions::with(
            r#"{"workflows":{"a":7,"b":{"phases":[]},"c":{"phases":["../x","01-requirements","01-requirements"],
                "gate_mode":"lax","sizing":{"light_skip_phases":["04-design"]}}}}"#,
            Home::Original,
        )
        .unwrap();
        let places: Vec<_> = all.problems().iter().map(|p| p.place.as_str()).collect();
        assert_eq!(
            places,
            [
                "workflows.a",
                "workflows.b.phases",
                "workflows.c.phases[0]",
                "workflows.c.phases[2]",
                "workflows.c.gate_mode",
                "workflows.c.sizing.light_skip_phases"
            ]
        );
        let with = |text| Definitions::with(text, Home::Own);
        assert!(with("[]").is_err());
        assert!(!with("{}").unwrap().problems().is_empty());
    }
}
