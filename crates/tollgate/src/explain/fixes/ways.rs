//! The ways that need a look at the case: its state, its event, its files.

use serde_json::{Map, Value, json};
use tollgate_core::project::{ConfigFile, Layout};
use tollgate_core::state::timestamp::iso;
use tollgate_core::verdict::Finding;
use tollgate_core::workflow::manifest::Manifest;
use tollgate_core::workflow::phases;

use super::{Case, Change, Fix, event, fix, object, state};

/// The keys under which agents send a tool's result.
const RESULTS: &[&str] = &["tool_response", "tool_result", "tool_output"];

impl Case {
    pub(super) fn phase(&self) -> Option<&str> {
        let state = self.state.as_ref()?;
        state
            .str(&["active_workflow", "current_phase"])
            .or_else(|| state.str(&["current_phase"]))
    }

    /// The name under which the state files a phase.
    pub(super) fn phase_key<'p>(&'p self, phase: &'p str) -> &'p str {
        let filed = self
            .state
            .as_ref()
            .and_then(|state| state.object(&["phases"]));
        let known = filed.and_then(|filed| filed.keys().find(|key| phases::same(key, phase)));
        known.map_or(phase, String::as_str)
    }

    pub(super) fn get(&self, path: &[String]) -> Option<&Value> {
        self.state.as_ref()?.get(path)
    }

    pub(super) fn tests(&self, path: &[String]) -> Fix {
        let mut tests = object(self.get(path));
        let runs = tests
            .get("current_iteration")
            .and_then(Value::as_u64)
            .unwrap_or(0)
            .max(1);
        tests.extend([
            ("completed".to_owned(), true.into()),
            ("status".to_owned(), "success".into()),
            ("last_test_result".to_owned(), "passed".into()),
            ("current_iteration".to_owned(), runs.into()),
        ]);
        fix(
            "make the tests pass",
            [Change::State {
                path: path.to_vec(),
                value: Some(tests.into()),
            }],
        )
    }

    pub(super) fn validation(&self, path: &[String]) -> Fix {
        let mut checked = object(self.get(path));
        let used = checked
            .get("iterations_used")
            .and_then(Value::as_u64)
            .unwrap_or(0)
            .max(1);
        let articles = checked
            .get("articles_checked")
            .filter(|list| list.as_array().is_some_and(|list| !list.is_empty()));
        let articles = articles.cloned().unwrap_or_else(|| json!(["I"]));
        checked.extend([
            ("completed".to_owned(), true.into()),
            ("status".to_owned(), "compliant".into()),
            ("iterations_used".to_owned(), used.into()),
            ("articles_checked".to_owned(), articles),
        ]);
        fix(
            "finish the constitutional validation",
            [Change::State {
                path: path.to_vec(),
                value: Some(checked.into()),
            }],
        )
    }

    /// What a gate asks for and does not have.
    pub(super) fn requirements(&self, finding: &Finding, phase: &str) -> Fix {
        let key = self.phase_key(phase).to_owned();
        let under = |keys: &[&str]| -> Vec<String> {
            ["phases", &key]
                .iter()
                .chain(keys)
                .map(|key| (*key).to_owned())
                .collect()
        };
        let (_, names) = finding.reason.split_once(": ").unwrap_or_default();
        let mut parts: Vec<Fix> = Vec::new();
        for name in names.split(", ") {
            match name {
                "test_iteration" => {
                    parts.push(self.tests(&under(&["iteration_requirements", "test_iteration"])));
                }
                "constitutional_validation" => {
                    parts.push(self.validation(&under(&["constitutional_validation"])));
                }
                "interactive_elicitation" => {
                    let path = under(&["iteration_requirements", "interactive_elicitation"]);
                    let mut asked = object(self.get(&path));
                    asked.insert("completed".to_owned(), true.into());
                    asked.insert("menu_interactions".to_owned(), 10.into());
                    let options = finding
                        .text
                        .split_once("Must be one of: ")
                        .map(|(_, rest)| rest);
                    let first = options.and_then(|rest| rest.split([',', '.']).next());
                    asked.insert("final_selection".to_owned(), first.unwrap_or("save").into());
                    parts.push(fix(
                        "finish the elicitation with the person",
                        [Change::State {
                            path,
                            value: Some(asked.into()),
                        }],
                    ));
                }
                "agent_delegation_validation" => {
                    let agent = self.agent_of(phase).unwrap_or_default();
                    parts.push(self.asked(&agent, phase));
                }
                "artifact_validation" => {
                    let listed = finding.text.split_once("Required artifacts missing: ");
                    let listed = listed.and_then(|(_, rest)| rest.split_once(". Write"));
                    let paths = listed.map_or("", |(paths, _)| paths).split("; ");
                    let files = paths.map(|path| Change::File {
                        path: path.split(" (or ").next().unwrap_or(path).to_owned(),
                        text: "written\n".to_owned(),
                    });
                    parts.push(fix("write the artifacts", files));
                }
                _ => {}
            }
        }
        let how: Vec<String> = parts.iter().map(|part| part.how.clone()).collect();
        fix(
            how.join("; "),
            parts.into_iter().flat_map(|part| part.changes),
        )
    }

    pub(super) fn index_of(&self, phase: &str) -> Option<usize> {
        let listed = self.state.as_ref()?.array(&["active_workflow", "phases"])?;
        listed
            .iter()
            .position(|one| one.as_str().is_some_and(|one| phases::same(one, phase)))
    }

    /// The agent was handed the work.
    pub(super) fn asked(&self, agent: &str, phase: &str) -> Fix {
        let log = self
            .state
            .as_ref()
            .and_then(|state| state.array(&["skill_usage_log"]));
        let mut log = log.map(<[Value]>::to_vec).unwrap_or_default();
        log.push(json!({ "agent": agent, "agent_phase": phase, "timestamp": iso(self.now) }));
        fix(
            format!("delegate to {agent}"),
            [state(&["skill_usage_log"], log)],
        )
    }

    pub(super) fn agent_of(&self, phase: &str) -> Option<String> {
        let layout = Layout::at(&self.root)?;
        let paths = layout.config_files(ConfigFile::Manifest);
        let text = paths
            .iter()
            .find_map(|path| std::fs::read_to_string(path).ok());
        let manifest = match &text {
            Some(text) => Manifest::parse(text).ok()?,
            None if layout.is_isdlc() => return None,
            None => Manifest::built_in(),
        };
        let mut owners = manifest.phase_agents();
        let owner = owners.find(|(_, owned)| phases::same(owned, phase));
        owner.map(|(agent, _)| agent.to_string())
    }

    pub(super) fn input(&self, key: &str) -> String {
        let input = self
            .event
            .get("tool_input")
            .and_then(|input| input.get(key)?.as_str());
        input.unwrap_or_default().to_owned()
    }

    /// The current phase's own agent is asked, or the workflow is where the event wants it.
    pub(super) fn in_order(&self, finding: &Finding, current: &str) -> Vec<Fix> {
        let target = finding.reason.split('\'').nth(1).unwrap_or_default();
        let mut ways = Vec::new();
        if let Some(agent) = self.agent_of(current) {
            let mut changes = vec![event(&["tool_input", "subagent_type"], agent.clone())];
            for key in ["prompt", "description"] {
                let text = self.input(key);
                if text.contains(target) {
                    changes.push(event(&["tool_input", key], text.replace(target, current)));
                }
            }
            ways.push(fix(
                format!("delegate to {agent}, the agent of the current phase"),
                changes,
            ));
        }
        ways.push(fix(
            format!(
                "finish '{current}' and what comes before '{target}' (`tollgate phase complete`)"
            ),
            [
                state(&["active_workflow", "current_phase"], target),
                state(&["current_phase"], target),
            ],
        ));
        ways
    }

    pub(super) fn on_branch(&self) -> Vec<Fix> {
        let named = self
            .state
            .as_ref()
            .and_then(|state| state.str(&["active_workflow", "git_branch", "name"]));
        let branch = named.unwrap_or("a-branch-of-its-own").to_owned();
        vec![
            fix(
                format!("`git switch {branch}`, then commit there"),
                [Change::Branch(branch.clone())],
            ),
            fix(
                format!(
                    "commit on the workflow's branch and nowhere else: `git switch {branch} && git commit`"
                ),
                [event(
                    &["tool_input", "command"],
                    format!("git switch {branch} && git commit -m x"),
                )],
            ),
            fix(
                "keep the changes: `git stash`",
                [event(&["tool_input", "command"], "git stash")],
            ),
        ]
    }

    pub(super) fn last_phase(&self) -> Vec<Fix> {
        let listed = self
            .state
            .as_ref()
            .and_then(|state| state.array(&["active_workflow", "phases"]));
        let last = listed.and_then(|listed| listed.last()?.as_str());
        let mut ways = Vec::new();
        if let Some(last) = last {
            ways.push(fix(
                format!(
                    "keep the changes until the last phase, '{last}' (`git stash` sets them aside)"
                ),
                [state(&["active_workflow", "current_phase"], last)],
            ));
        }
        ways.push(fix(
            "keep the changes: `git stash`",
            [event(&["tool_input", "command"], "git stash")],
        ));
        ways
    }

    /// The call leaves Tollgate's and the workflow's files alone.
    pub(super) fn elsewhere(&self) -> Vec<Fix> {
        let how =
            "leave the file alone; move the workflow with `tollgate phase` and `tollgate workflow`";
        let mut ways = vec![fix(
            how,
            [event(
                &["tool_input", "command"],
                "tollgate workflow status",
            )],
        )];
        for key in ["file_path", "filePath", "path", "notebook_path"] {
            if !self.input(key).is_empty() {
                ways.insert(
                    0,
                    fix(
                        "write another file",
                        [event(&["tool_input", key], "notes.md")],
                    ),
                );
            }
        }
        ways
    }

    /// The call leaves the registrations in the agent's settings as they are.
    pub(super) fn registered(&self) -> Vec<Fix> {
        let mut ways = Vec::new();
        for (old, new) in [("old_string", "new_string"), ("oldString", "newString")] {
            if !self.input(old).is_empty() {
                ways.push(fix(
                    "leave the registrations of Tollgate in",
                    [event(&["tool_input", new], self.input(old))],
                ));
            }
        }
        for key in ["file_path", "filePath", "path"] {
            let path = self.input(key);
            if !path.is_empty() && !self.input("content").is_empty() {
                ways.push(fix(
                    "leave the registrations of Tollgate in",
                    [event(&["tool_input", "content"], self.text_of(&path))],
                ));
            }
        }
        if !self.input("command").is_empty() {
            ways.push(fix(
                "leave the file alone, or change it with the Write or Edit tool",
                [event(&["tool_input", "command"], "tollgate install --list")],
            ));
        }
        ways
    }

    /// The state that the event writes, put right.
    pub(super) fn rewritten(
        &self,
        how: &str,
        mend: impl Fn(&mut Map<String, Value>, &Map<String, Value>),
    ) -> Vec<Fix> {
        let disk = self
            .state
            .as_ref()
            .and_then(|state| state.members())
            .cloned()
            .unwrap_or_default();
        let mut ways = Vec::new();
        if let Ok(Value::Object(mut written)) = serde_json::from_str(&self.input("content")) {
            mend(&mut written, &disk);
            let text = Value::Object(written).to_string();
            ways.push(fix(how, [event(&["tool_input", "content"], text)]));
        }
        for (old, new) in [("old_string", "new_string"), ("oldString", "newString")] {
            if !self.input(old).is_empty() {
                ways.push(fix(how, [event(&["tool_input", new], self.input(old))]));
            }
        }
        ways
    }

    /// A claim has the count that it rests on: in what the event writes, or in the state.
    pub(super) fn counted(&self, path: &[String], how: &str) -> Vec<Fix> {
        let mut ways = Vec::new();
        if let Ok(mut written) = serde_json::from_str::<Value>(&self.input("content")) {
            let mut place = Some(&mut written);
            for key in path.iter().take(path.len().saturating_sub(1)) {
                place = place.and_then(|value| value.get_mut(key));
            }
            if let (Some(place), Some(last)) = (place.and_then(Value::as_object_mut), path.last()) {
                place.insert(last.clone(), 1.into());
                ways.push(fix(
                    how,
                    [event(&["tool_input", "content"], written.to_string())],
                ));
            }
        }
        ways.push(fix(
            how,
            [Change::State {
                path: path.to_vec(),
                value: Some(1.into()),
            }],
        ));
        ways
    }

    /// The redundant fields say the same: in what the event writes, or in the state.
    pub(super) fn consistent(&self) -> Vec<Fix> {
        let how = "use `tollgate phase`, which writes all redundant fields at once";
        let mend = |members: &mut Map<String, Value>| {
            let current = members
                .get("active_workflow")
                .and_then(|workflow| workflow.get("current_phase"))
                .cloned();
            if let (Some(current), Some(top)) = (&current, members.get_mut("current_phase")) {
                *top = current.clone();
            }
            let filed = object(members.get("phases"));
            let Some(Value::Object(workflow)) = members.get_mut("active_workflow") else {
                return;
            };
            if let Some(Value::Object(short)) = workflow.get_mut("phase_status") {
                for (phase, status) in short {
                    if let Some(long) = filed.get(phase).and_then(|entry| entry.get("status")) {
                        *status = long.clone();
                    }
                }
            }
            let listed = workflow.get("phases").and_then(Value::as_array);
            let index = listed
                .and_then(|listed| listed.iter().position(|one| Some(one) == current.as_ref()));
            if let (Some(index), true) = (index, workflow.contains_key("current_phase_index")) {
                workflow.insert("current_phase_index".to_owned(), index.into());
            }
        };
        let mut ways = self.rewritten(how, |written, _| mend(written));
        let mut members = self
            .state
            .as_ref()
            .and_then(|state| state.members())
            .cloned()
            .unwrap_or_default();
        mend(&mut members);
        let changes = ["current_phase", "active_workflow"]
            .iter()
            .filter_map(|key| Some(state(&[key], members.get(*key)?.clone())));
        ways.push(fix(how, changes));
        ways
    }

    pub(super) fn result_key(&self) -> &'static str {
        let found = RESULTS.iter().find(|key| self.event.get(**key).is_some());
        found.copied().unwrap_or("tool_response")
    }

    /// The text of the tool's result, as far as it is one.
    pub(super) fn result(&self) -> String {
        match self.event.get(self.result_key()) {
            Some(Value::String(text)) => text.clone(),
            Some(value) => ["stdout", "content", "text", "result"]
                .iter()
                .find_map(|key| value.get(key)?.as_str())
                .map_or_else(|| value.to_string(), str::to_owned),
            None => String::new(),
        }
    }

    pub(super) fn answered(&self, how: &str, text: &str) -> Fix {
        fix(how, [event(&[self.result_key()], text)])
    }

    /// The answer ends with its menu: the longest beginning that does.
    pub(super) fn stopped_earlier(&self) -> Vec<Fix> {
        let text = self.result();
        let ends = text
            .match_indices('\n')
            .map(|(at, _)| at)
            .chain([text.len()]);
        let mut ends: Vec<usize> = ends.collect();
        ends.reverse();
        let starts = ends.into_iter().filter_map(|end| text.get(..end)).take(64);
        starts
            .map(|start| self.answered("stop after the menu and wait for the choice", start))
            .collect()
    }

    /// A path that the finding names, by its way from the root.
    pub(super) fn file_after(&self, finding: &Finding, mark: &str) -> Option<String> {
        let (_, rest) = finding.text.split_once(mark)?;
        let path = std::path::Path::new(rest.lines().next()?.trim());
        let way = path.strip_prefix(&self.root).unwrap_or(path);
        Some(way.to_str()?.to_owned())
    }

    pub(super) fn text_of(&self, path: &str) -> String {
        let own = self.files.get(path).cloned();
        own.unwrap_or_else(|| std::fs::read_to_string(self.root.join(path)).unwrap_or_default())
    }

    /// The task plan has a task in the right form, and none that waits for itself.
    pub(super) fn planned(&self, finding: &Finding) -> Vec<Fix> {
        const HEADING: &str = "## Phase 06: Implementation";
        const TASK: &str = "- [ ] T9999 what is to be done | traces: FR-01\n  files: src/\n";
        let Some(path) = self.file_after(finding, "Path: ") else {
            return Vec::new();
        };
        let old = self.text_of(&path);
        let is_heading = |line: &&str| {
            line.starts_with("## Phase ") && line.contains(": ") && line.contains("Implementation")
        };
        let with_task = match old.lines().find(is_heading) {
            Some(heading) => old.replacen(heading, &format!("{heading}\n{TASK}"), 1),
            None => format!("{old}\n{HEADING}\n{TASK}"),
        };
        let free = old.split_inclusive('\n');
        let free: String = free
            .filter(|line| !line.starts_with("  blocked_by:"))
            .collect();
        let file = |text: String| Change::File {
            path: path.clone(),
            text,
        };
        vec![
            fix("give the tasks their files and traces", [file(with_task)]),
            fix("let no task wait for itself", [file(free)]),
        ]
    }

    /// The workflow that ended took no time at all.
    pub(super) fn faster(&self) -> Vec<Fix> {
        let history = self.state.as_ref();
        let history = history.and_then(|state| state.array(&["workflow_history"]));
        let mut history = history.map(<[Value]>::to_vec).unwrap_or_default();
        let Some(Value::Object(last)) = history.last_mut() else {
            return Vec::new();
        };
        last.insert("started_at".to_owned(), iso(self.now).into());
        vec![fix(
            "nothing; look at the phases that took longest",
            [state(&["workflow_history"], history)],
        )]
    }

    pub(super) fn complete_artifact(&self, finding: &Finding) -> Vec<Fix> {
        let Some((path, _)) = finding.reason.split_once(": ") else {
            return Vec::new();
        };
        let root = format!("{}/", self.root.display());
        let path = path.strip_prefix(root.as_str()).unwrap_or(path).to_owned();
        let old = self.text_of(&path);
        let sections = format!(
            "{old}\n## Scope\n## Approach\n## Entry and exit criteria\n## Status\n## Context\n## Decision\n## Consequences\n"
        );
        let header = format!("id,requirement,test,status\n{old}");
        let stories =
            json!({ "stories": [{ "id": "US-1", "title": "x", "acceptance_criteria": ["x"] }] })
                .to_string();
        let texts = [sections, header, stories];
        texts
            .into_iter()
            .map(|text| {
                fix(
                    "add the missing parts and write the file again",
                    [Change::File {
                        path: path.clone(),
                        text,
                    }],
                )
            })
            .collect()
    }
}
