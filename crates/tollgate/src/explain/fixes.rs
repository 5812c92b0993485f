//! What could be different for a finding to go away, best first. Whether it helps is tried by
//! the caller, and what is not needed of it is left out there.

use serde_json::{Value, json};
use tollgate_core::decision::Finding;
use tollgate_core::guard::{self, fields};
use tollgate_core::project::{ConfigFile, Layout};
use tollgate_core::rules::CODE;
use tollgate_core::workflow::manifest::Manifest;
use tollgate_core::workflow::phases;
use tollgate_store::document::Document;
use tollgate_store::timestamp::iso;

use super::{Case, Change};

/// By a gate's requirement: fields of the state and what they would have to say. The codes of guards
/// have theirs in their rows.
const REQUIREMENTS: &[(&str, &[&str])] = &[
    ("test_iteration", fields::TESTS),
    ("constitutional_validation", fields::VALIDATION),
    (
        "interactive_elicitation",
        &[
            "phases.{}.iteration_requirements.interactive_elicitation.completed = true",
            "phases.{}.iteration_requirements.interactive_elicitation.menu_interactions = 10",
            "phases.{}.iteration_requirements.interactive_elicitation.final_selection = {choice}",
        ],
    ),
];

/// The menu that a discovery shows.
const MENU: &str =
    "Choose: [1] New Project [2] Existing Project [3] Chat/Explore. Enter selection:";

/// The words of a test run that did not pass, and of one that did.
const PASSED: [(&str, &str); 5] = [
    ("not ok", "ok"),
    ("FAILED", "ok"),
    ("failed", "passed"),
    ("SKIP", "ok"),
    ("skipped", "passed"),
];

/// The keys under which agents send a tool's result, the file it is about, and an edit.
const RESULTS: [&str; 3] = ["tool_response", "tool_result", "tool_output"];
const PATHS: [&str; 4] = ["file_path", "filePath", "path", "notebook_path"];
const EDITS: [(&str, &str); 2] = [("old_string", "new_string"), ("oldString", "newString")];

type Fix = Vec<Change>;

/// A finding and the case it was made in.
struct Problem<'a> {
    case: &'a Case,
    finding: &'a Finding,
    /// The phase that it is about.
    phase: &'a str,
}

/// The command without the part that a rule covers, which the finding has in backquotes.
fn without_effect(case: &Case, finding: &Finding) -> Option<Fix> {
    let command = case.input("command");
    let part = finding.reason.split('`').nth(1)?;
    let (before, behind) = command.split_once(part)?;
    let ends = [" ", "&&", "||", ";", "\n", "|"];
    let is_end =
        |text: &str, find: fn(&str, &str) -> bool| ends.iter().find(|end| find(text, end)).copied();
    let (mut before, mut behind) = (before, behind);
    while let Some(end) = is_end(behind, |text, end| text.starts_with(end)) {
        behind = behind.strip_prefix(end).unwrap_or_default();
    }
    while behind.is_empty()
        && let Some(end) = is_end(before, |text, end| text.ends_with(end))
    {
        before = before.strip_suffix(end).unwrap_or_default();
    }
    let rest = format!("{before}{behind}");
    (!rest.trim().is_empty()).then(|| vec![input("command", rest)])
}

/// The ways to satisfy a finding, best first.
pub(super) fn of(case: &Case, finding: &Finding) -> Vec<Fix> {
    let known = finding.phase.as_deref().or_else(|| current(case.state()?));
    let problem = Problem {
        case,
        finding,
        phase: known.unwrap_or_default(),
    };
    let mut fixes = problem.own_fixes();
    if finding.code.starts_with(CODE) {
        fixes.extend(without_effect(case, finding));
    }
    if let Some(code) = guard::code(&finding.code) {
        fixes.extend(problem.written(code.passes_with));
        fixes.extend(problem.fields(code.passes_with));
        let command = |command| vec![input("command", problem.named(command))];
        fixes.extend(code.instead.map(command));
    }
    // Another file than the one that the finding is about.
    let named = PATHS.iter().filter(|key| !case.input(key).is_empty());
    fixes.extend(named.map(|key| vec![input(key, "notes.md")]));
    fixes
}

impl Problem<'_> {
    /// What no table can say: it depends on the event, on files, or on what the finding lists.
    fn own_fixes(&self) -> Vec<Fix> {
        let (case, finding) = (self.case, self.finding);
        match &*finding.code {
            "GB-001" => vec![self.requirements()],
            "DG-001" => vec![vec![
                self.delegated(finding.agent.as_deref().unwrap_or_default(), ""),
            ]],
            "BRV-001" => {
                let listed = finding.text.lines().filter_map(|line| {
                    let file = line.trim().strip_prefix("- ")?;
                    Some(file.rsplit_once(" (expected: ")?.0.to_owned())
                });
                vec![vec![Change::Touched(listed.collect())]]
            }
            "BRV-002" => self.file(self.path_after("Path: "), |text| {
                vec![format!("{text}\n| `README.md` | NO CHANGE |\n")]
            }),
            "PS-001" => self.file(self.path_after("Expected path: "), |_| {
                vec!["# Tasks\n".to_owned()]
            }),
            "PS-002" => self.file(self.path_after("Path: "), task_plans),
            "OFV-001" => {
                let path = finding.reason.split_once(": ").map(|(path, _)| path);
                self.file(path.map(|path| self.inside(path)), artifacts)
            }
            "SFG-004" | "SWV-008" => self.unchanged(),
            "SWV-007" | "SWV-009" => self.unedited(),
            "PSG-001" => Vec::from_iter(self.in_order()),
            "PSG-002" => {
                let unknown = quoted(&finding.reason).unwrap_or_default();
                let known = case.state().and_then(current).unwrap_or_default();
                let prompt = case.input("prompt").replace(unknown, known);
                vec![vec![input("prompt", prompt)]]
            }
            "BG-001" => vec![vec![Change::Branch(self.named("{branch}"))]],
            "DMG-001" | "DMG-002" => vec![vec![self.result(MENU)]],
            "PTE-001" => {
                let asked = quoted(&finding.reason).unwrap_or_default();
                vec![vec![self.result(&self.result_text().replace(asked, ""))]]
            }
            "MHE-001" => self.shorter_results(),
            "ACV-001" | "TW-004" => {
                let passed = |text: String, (word, good): &(&str, &str)| text.replace(word, good);
                let passed = PASSED.iter().fold(self.result_text(), passed);
                vec![vec![self.result(&passed)]]
            }
            _ => Vec::new(),
        }
    }

    /// Fields of the state as a table has them; nothing if one of them is not known.
    fn fields(&self, fields: &[&str]) -> Option<Fix> {
        let nothing = Document::default();
        let state = self.case.state().unwrap_or(&nothing);
        let change = |field: &&str| {
            let (path, value) = self.field(field, state)?;
            Some(Change::State { path, value })
        };
        fields.iter().map(change).collect()
    }

    /// The same fields in the state that the event writes: each alone, then all of them.
    fn written(&self, fields: &[&str]) -> Vec<Fix> {
        let Ok(written) = Document::parse(self.case.input("content").as_bytes()) else {
            return Vec::new();
        };
        let with = |fields: &[&str]| -> Option<Fix> {
            let mut document = written.clone();
            for field in fields {
                match self.field(field, &written)? {
                    (path, Some(value)) => document.set(&path, value).ok()?,
                    (path, None) => drop(document.remove(&path)),
                }
            }
            Some(vec![input("content", document.to_text())])
        };
        let alone = fields.iter().map(|field| with(&[field]));
        alone.chain([with(fields)]).flatten().collect()
    }

    /// A row `path = value` of the table, for a document.
    fn field(&self, row: &str, document: &Document) -> Option<(Vec<String>, Option<Value>)> {
        let (path, value) = row.split_once(" = ")?;
        let now = current(document).unwrap_or(self.phase);
        let path = path.split('.').map(|key| match key {
            "{}" => filed(document, self.phase).to_owned(),
            "{current}" => filed(document, now).to_owned(),
            key => key.to_owned(),
        });
        let value = Some(self.value(value, document)?).filter(|value| !value.is_null());
        Some((path.collect(), value))
    }

    fn value(&self, value: &str, document: &Document) -> Option<Value> {
        let phases = document.array(&["active_workflow", "phases"]);
        Some(match value {
            "{now}" => iso(self.case.now).into(),
            "{current}" => current(document)?.into(),
            "{index}" => {
                let now = current(document)?;
                let is_now = |one: &Value| one.as_str().is_some_and(|one| phases::same(one, now));
                phases?.iter().position(is_now)?.into()
            }
            "{last}" => phases?.last()?.clone(),
            "{target}" => self.finding.reason.split('\'').nth(1)?.into(),
            "{version}" => self.case.state()?.get(&["state_version"]).cloned().into(),
            "{choice}" => {
                let options = self.finding.text.split_once("Must be one of: ");
                let first = options.and_then(|(_, rest)| rest.split([',', '.']).next());
                first.unwrap_or("save").into()
            }
            "{faster}" => {
                let mut history = document.array(&["workflow_history"])?.to_vec();
                let last = history.last_mut()?.as_object_mut()?;
                last.insert("started_at".to_owned(), iso(self.case.now).into());
                history.into()
            }
            json => serde_json::from_str(json).ok()?,
        })
    }

    /// A text with the workflow's branch in it.
    fn named(&self, text: &str) -> String {
        let state = self.case.state();
        let branch = state.and_then(|state| state.str(&["active_workflow", "git_branch", "name"]));
        text.replace("{branch}", branch.unwrap_or("a-branch-of-its-own"))
    }

    /// What a gate asks for and does not have.
    fn requirements(&self) -> Fix {
        let text = &self.finding.text;
        let (_, names) = self.finding.reason.split_once(": ").unwrap_or_default();
        let mut changes = Vec::new();
        for name in names.split(", ") {
            match name {
                "agent_delegation_validation" => {
                    let agent = self.agent_of_phase().unwrap_or_default();
                    changes.push(self.delegated(&agent, self.phase));
                }
                "artifact_validation" => {
                    let listed = text.split_once("Required artifacts missing: ");
                    let listed = listed.and_then(|(_, rest)| rest.split_once(". Write"));
                    let paths = listed.map_or("", |(paths, _)| paths).split("; ");
                    changes.extend(paths.map(|path| Change::File {
                        path: path.split(" (or ").next().unwrap_or(path).to_owned(),
                        text: "written\n".to_owned(),
                    }));
                }
                name => {
                    let row = REQUIREMENTS.iter().find(|(known, _)| *known == name);
                    let fields = row.and_then(|(_, fields)| self.fields(fields));
                    changes.extend(fields.unwrap_or_default());
                }
            }
        }
        changes
    }

    /// The agent was handed the work.
    fn delegated(&self, agent: &str, phase: &str) -> Change {
        let state = self.case.state();
        let log = state.and_then(|state| state.array(&["skill_usage_log"]));
        let mut log = log.map(<[Value]>::to_vec).unwrap_or_default();
        let now = iso(self.case.now);
        log.push(json!({ "agent": agent, "agent_phase": phase, "timestamp": now }));
        Change::State {
            path: vec!["skill_usage_log".to_owned()],
            value: Some(log.into()),
        }
    }

    fn agent_of_phase(&self) -> Option<String> {
        let layout = Layout::at(&self.case.root)?;
        let paths = layout.config_files(ConfigFile::Manifest);
        let mut texts = paths.iter().map(std::fs::read_to_string);
        let text = texts.find_map(Result::ok);
        let manifest = match &text {
            Some(text) => Manifest::parse(text).ok()?,
            None if layout.is_isdlc() => return None,
            None => Manifest::built_in(),
        };
        let mut owners = manifest.phase_agents();
        let owner = owners.find(|(_, owned)| phases::same(owned, self.phase));
        owner.map(|(agent, _)| agent.to_string())
    }

    /// The current phase's own agent is asked, and for nothing else.
    fn in_order(&self) -> Option<Fix> {
        let target = self.finding.reason.split('\'').nth(1).unwrap_or_default();
        let mut changes = vec![input("subagent_type", self.agent_of_phase()?)];
        for key in ["prompt", "description"] {
            let text = self.case.input(key);
            if text.contains(target) {
                changes.push(input(key, text.replace(target, self.phase)));
            }
        }
        Some(changes)
    }

    /// The event changes nothing: an edit puts back what it takes, a write what is there.
    fn unchanged(&self) -> Vec<Fix> {
        let mut fixes = self.unedited();
        if !self.case.input("content").is_empty() {
            let paths = PATHS.iter().map(|key| self.case.input(key));
            let paths = paths.filter(|path| !path.is_empty());
            fixes.extend(paths.map(|path| vec![input("content", self.case.text_of(&path))]));
        }
        fixes
    }

    fn unedited(&self) -> Vec<Fix> {
        let edits = EDITS.iter().map(|(old, new)| (self.case.input(old), *new));
        let edits = edits.filter(|(old, _)| !old.is_empty());
        edits.map(|(old, new)| vec![input(new, old)]).collect()
    }

    fn result_key(&self) -> &'static str {
        let mut sent = RESULTS.into_iter();
        let found = sent.find(|key| self.case.event.get(key).is_some());
        found.unwrap_or("tool_response")
    }

    /// The text of the tool's result, as far as it is one.
    fn result_text(&self) -> String {
        match self.case.event.get(self.result_key()) {
            Some(Value::String(text)) => text.clone(),
            Some(value) => ["stdout", "content", "text", "result"]
                .iter()
                .find_map(|key| value.get(key)?.as_str())
                .map_or_else(|| value.to_string(), str::to_owned),
            None => String::new(),
        }
    }

    fn result(&self, text: &str) -> Change {
        Change::Event {
            path: vec![self.result_key().to_owned()],
            value: text.into(),
        }
    }

    /// The result up to one of its lines, the longest first.
    fn shorter_results(&self) -> Vec<Fix> {
        let text = self.result_text();
        let ends = text.match_indices('\n').map(|(at, _)| at);
        let mut ends: Vec<usize> = ends.chain([text.len()]).collect();
        ends.reverse();
        let starts = ends.into_iter().filter_map(|end| text.get(..end)).take(64);
        starts.map(|start| vec![self.result(start)]).collect()
    }

    /// A path that the finding names.
    fn path_after(&self, mark: &str) -> Option<String> {
        let (_, rest) = self.finding.text.split_once(mark)?;
        Some(self.inside(rest.lines().next()?.trim()))
    }

    /// A path by its way from the root.
    fn inside(&self, path: &str) -> String {
        let root = format!("{}/", self.case.root.display());
        path.strip_prefix(&root).unwrap_or(path).to_owned()
    }

    /// A file with another text, each a separate way.
    fn file(&self, path: Option<String>, texts: impl Fn(&str) -> Vec<String>) -> Vec<Fix> {
        let Some(path) = path else {
            return Vec::new();
        };
        let texts = texts(&self.case.text_of(&path)).into_iter();
        let path = || path.clone();
        let file = |text| vec![Change::File { path: path(), text }];
        texts.map(file).collect()
    }
}

/// A plan with a task in the right form, and one in which no task waits for another.
fn task_plans(old: &str) -> Vec<String> {
    const HEADING: &str = "## Phase 06: Implementation";
    const TASK: &str = "- [ ] T9999 what is to be done | traces: FR-01\n  files: src/\n";
    let is_heading = |line: &&str| {
        line.starts_with("## Phase ") && line.contains(": ") && line.contains("Implementation")
    };
    let with_task = match old.lines().find(is_heading) {
        Some(heading) => old.replacen(heading, &format!("{heading}\n{TASK}"), 1),
        None => format!("{old}\n{HEADING}\n{TASK}"),
    };
    let lines = old.split_inclusive('\n');
    let free = lines.filter(|line| !line.starts_with("  blocked_by:"));
    vec![with_task, free.collect()]
}

/// A document with all sections, a table with its header, and stories.
fn artifacts(old: &str) -> Vec<String> {
    let story = json!({ "id": "US-1", "title": "x", "acceptance_criteria": ["x"] });
    vec![
        format!(
            "{old}\n## Scope\n## Approach\n## Entry and exit criteria\n## Status\n## Context\n## Decision\n## Consequences\n"
        ),
        format!("id,requirement,test,status\n{old}"),
        json!({ "stories": [story] }).to_string(),
    ]
}

fn current(state: &Document) -> Option<&str> {
    let own = state.str(&["active_workflow", "current_phase"]);
    own.or_else(|| state.str(&["current_phase"]))
}

/// The name under which a state files a phase.
fn filed<'p>(state: &'p Document, phase: &'p str) -> &'p str {
    let all = state.object(&["phases"]);
    let known = all.and_then(|all| all.keys().find(|key| phases::same(key, phase)));
    known.map_or(phase, String::as_str)
}

fn input(key: &str, value: impl Into<Value>) -> Change {
    Change::Event {
        path: vec!["tool_input".to_owned(), key.to_owned()],
        value: value.into(),
    }
}

/// What is between the last two apostrophes.
fn quoted(text: &str) -> Option<&str> {
    let (before, _) = text.rsplit_once('\'')?;
    before.rsplit_once('\'').map(|(_, inside)| inside)
}
