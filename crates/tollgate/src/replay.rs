//! A recorded session, decided by today's rules: what would have been blocked or warned about.
//!
//! A transcript of Claude Code has one JSON object per line, and some have hundreds of megabytes.
//! It is read line by line; a line that names no tool is not parsed, and of those that do only the
//! members that make up an event are cut out and handed on undecoded. State, configuration and
//! branch are today's: the question is what these rules would do, not what those did.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use tollgate_core::env::Env;
use tollgate_core::guard::GUARDS;
use tollgate_core::json::{Node, Object};
use tollgate_core::project::Layout;
use tollgate_core::protocol::{self, Hints, Wire};
use tollgate_core::scene::{Scene, Sources};
use tollgate_core::verdict::Verdict;

/// One thing that today's rules have to say about a recorded call.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// The line of the transcript, or the number in the journal.
    pub(crate) line: u64,
    pub(crate) session: String,
    pub(crate) call: String,
    pub(crate) event: String,
    pub(crate) tool: String,
    pub(crate) agent: String,
    pub(crate) blocks: bool,
    pub(crate) guard: &'static str,
    pub(crate) code: &'static str,
    pub(crate) reason: String,
    /// Whether the journal has something about this call: then a hook saw it.
    pub(crate) seen: bool,
}

/// How many calls of one tool by one agent, and what came of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    pub(crate) calls: u64,
    pub(crate) blocked: u64,
    pub(crate) warned: u64,
    pub(crate) unseen: u64,
}

/// All that was found.
#[derive(Debug, Default)]
pub(crate) struct Total {
    /// By tool and agent.
    pub(crate) counts: BTreeMap<(String, String), Count>,
    /// Lines that are no JSON objects.
    pub(crate) unreadable: u64,
}

/// A judge of recorded events.
pub(crate) struct Replay<'r> {
    layout: &'r Layout,
    env: &'r Env,
    now: Timestamp,
    /// Session and call of what is in the journal.
    seen: HashSet<(String, String)>,
    sources: HashMap<Option<PathBuf>, Sources>,
    /// Calls whose result has not come yet: the members of their events.
    open: HashMap<String, Call>,
    pub(crate) total: Total,
}

struct Call {
    /// `"tool_name":…,"tool_input":…,`
    members: String,
    tool: String,
}

impl<'r> Replay<'r> {
    pub(crate) fn new(
        layout: &'r Layout,
        env: &'r Env,
        now: Timestamp,
        seen: HashSet<(String, String)>,
    ) -> Self {
        Self {
            layout,
            env,
            now,
            seen,
            sources: HashMap::new(),
            open: HashMap::new(),
            total: Total::default(),
        }
    }

    /// Goes through a transcript, and tells how many of its lines could be read.
    pub(crate) fn transcript(
        &mut self,
        mut input: impl BufRead,
        mut tell: impl FnMut(Found),
    ) -> io::Result<u64> {
        let mut bytes = Vec::new();
        let mut number = 0;
        let mut readable = 0;
        while {
            bytes.clear();
            input.read_until(b'\n', &mut bytes)? > 0
        } {
            number += 1;
            let text = String::from_utf8_lossy(&bytes);
            let text = text.trim();
            if text.is_empty() {
                continue;
            }
            // What names no tool is not parsed, but it has to look like an object.
            let is_ours = text.contains("\"tool_use\"") || text.contains("\"tool_result\"");
            let looks = text.starts_with('{') && text.ends_with('}');
            match is_ours.then(|| Object::parse(text)) {
                Some(Ok(line)) => self.line(number, &line, &mut tell),
                None if looks => {}
                Some(Err(_)) | None => {
                    self.total.unreadable += 1;
                    continue;
                }
            }
            readable += 1;
        }
        Ok(readable)
    }

    fn line(&mut self, number: u64, line: &Object<'_>, tell: &mut impl FnMut(Found)) {
        let text = |key: &str| line.str(key).unwrap_or_default().into_owned();
        let session = text("sessionId");
        let agent = match (line.str("agentId"), line.truthy("isSidechain")) {
            (Some(agent), _) => agent.into_owned(),
            (None, true) => "sub-agent".to_owned(),
            (None, false) => "main".to_owned(),
        };
        let cwd = line.get("cwd").filter(|cwd| cwd.str().is_some());
        let mut common = format!("{{\"session_id\":{},", quoted(&session));
        if let Some(cwd) = cwd {
            member(&mut common, "cwd", cwd.text());
        }
        if agent != "main" {
            member(&mut common, "agent_id", &quoted(&agent));
        }
        let cwd = cwd.and_then(Node::str).map(|cwd| PathBuf::from(&*cwd));
        let content = line
            .object("message")
            .and_then(|message| message.get("content")?.array());
        for part in content
            .unwrap_or_default()
            .iter()
            .filter_map(|part| part.object())
        {
            let (event, id, members, tool) = if part.is("type", "tool_use") {
                let (Some(name), Some(input)) = (part.get("name"), part.get("input")) else {
                    continue;
                };
                let id = part.str("id").unwrap_or_default().into_owned();
                let members = format!(
                    "\"tool_name\":{},\"tool_input\":{},",
                    name.text(),
                    input.text()
                );
                let tool = name.str().unwrap_or_default().into_owned();
                self.count(&tool, &agent).calls += 1;
                let call = Call {
                    members: members.clone(),
                    tool: tool.clone(),
                };
                self.open.insert(id.clone(), call);
                ("PreToolUse", id, members, tool)
            } else if part.is("type", "tool_result") {
                let id = part.str("tool_use_id").unwrap_or_default().into_owned();
                let Some(Call { mut members, tool }) = self.open.remove(&id) else {
                    continue;
                };
                let said = part.get("content");
                if part.truthy("is_error") {
                    let error = said.and_then(Node::str).unwrap_or_default();
                    member(&mut members, "error", &quoted(&error));
                    ("PostToolUseFailure", id, members, tool)
                } else {
                    let kept = line
                        .get("toolUseResult")
                        .filter(|kept| kept.object().is_some());
                    let result = kept.or(said).map_or("\"\"", Node::text);
                    member(&mut members, "tool_response", result);
                    ("PostToolUse", id, members, tool)
                }
            } else {
                continue;
            };
            let sent = format!(
                "{common}{members}\"tool_use_id\":{},\"hook_event_name\":\"{event}\",\"permission_mode\":\"default\",\"transcript_path\":\"\"}}",
                quoted(&id)
            );
            let about = About {
                line: number,
                session: &session,
                call: &id,
                tool: &tool,
                agent: &agent,
            };
            self.decide(&sent, Some(Wire::Claude), cwd.clone(), &about, tell);
        }
    }

    /// Decides an event that the journal kept.
    pub(crate) fn kept(&mut self, entry: &crate::journal::Entry, mut tell: impl FnMut(Found)) {
        let Some(input) = entry.value.get("input") else {
            return;
        };
        let text = |field: &Option<String>| field.clone().unwrap_or_default();
        let (session, call) = (text(&entry.session), text(&entry.call));
        // A stop has no tool.
        let tool = text(if entry.tool.is_some() {
            &entry.tool
        } else {
            &entry.event
        });
        let agent = input
            .get("agent_id")
            .and_then(|agent| agent.as_str())
            .unwrap_or("main");
        self.count(&tool, agent).calls += 1;
        let cwd = input
            .get("cwd")
            .and_then(|cwd| cwd.as_str())
            .map(PathBuf::from);
        let wire = entry.wire.as_deref().and_then(Wire::from_name);
        let about = About {
            line: entry.id.unwrap_or(0),
            session: &session,
            call: &call,
            tool: &tool,
            agent,
        };
        self.decide(&input.to_string(), wire, cwd, &about, &mut tell);
    }

    fn count(&mut self, tool: &str, agent: &str) -> &mut Count {
        let key = (tool.to_owned(), agent.to_owned());
        self.total.counts.entry(key).or_default()
    }

    /// As the hook decides: the first block ends it, warnings add up.
    fn decide(
        &mut self,
        sent: &str,
        wire: Option<Wire>,
        cwd: Option<PathBuf>,
        about: &About<'_>,
        tell: &mut impl FnMut(Found),
    ) {
        let hints = Hints {
            wire,
            event: None,
            gemini_env: false,
        };
        let Ok(event) = protocol::parse(sent, &hints) else {
            self.total.unreadable += 1;
            return;
        };
        let mut found = Vec::new();
        {
            let sources = self.sources.entry(cwd.clone()).or_insert_with(|| {
                Sources::new(self.layout.clone(), self.env.clone(), cwd, self.now)
                    .asking_changes(crate::changes::since)
                    .asking_settings(crate::agent::loss::ASK)
            });
            let scene = Scene::new(&event, sources);
            for guard in GUARDS.iter().filter(|guard| guard.watches(&event)) {
                match guard.check(&scene).verdict {
                    Verdict::Allow => {}
                    Verdict::Warn(findings) => {
                        found.extend(
                            findings
                                .into_iter()
                                .map(|finding| (guard.name, false, finding)),
                        );
                    }
                    Verdict::Block(finding) => {
                        found.push((guard.name, true, finding));
                        break;
                    }
                }
            }
        }
        if found.is_empty() {
            return;
        }
        let key = (about.session.to_owned(), about.call.to_owned());
        let seen = self.seen.contains(&key);
        let count = self.count(about.tool, about.agent);
        let blocked = found.iter().any(|(_, blocks, _)| *blocks);
        count.blocked += u64::from(blocked);
        count.warned += u64::from(!blocked);
        count.unseen += u64::from(!seen);
        for (guard, blocks, finding) in found {
            tell(Found {
                line: about.line,
                session: about.session.to_owned(),
                call: about.call.to_owned(),
                event: event.name.to_string(),
                tool: about.tool.to_owned(),
                agent: about.agent.to_owned(),
                blocks,
                guard,
                code: finding.code,
                reason: finding.reason,
                seen,
            });
        }
    }
}

/// Which call it is.
struct About<'a> {
    line: u64,
    session: &'a str,
    call: &'a str,
    tool: &'a str,
    agent: &'a str,
}

/// Adds a member to the text of an object.
fn member(text: &mut String, key: &str, value: &str) {
    text.push('"');
    text.push_str(key);
    text.push_str("\":");
    text.push_str(value);
    text.push(',');
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// What the journal in this directory knows of calls.
pub(crate) fn seen(local: &Path) -> HashSet<(String, String)> {
    let entries = crate::journal::entries(local);
    entries
        .filter_map(|entry| Some((entry.session?, entry.call?)))
        .collect()
}
