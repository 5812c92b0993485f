//! A recorded session, decided by today's rules: what would have been blocked or warned about.
//!
//! A transcript of Claude Code or Codex has one JSON object per line, and some have hundreds of
//! megabytes. It is read line by line, and a line that names no tool is not parsed. State, configuration and
//! branch are today's: the question is what these rules would do, not what those did.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value, json};
use tollgate_core::context::{EventContext, Inputs};
use tollgate_core::decision::Decision;
use tollgate_core::env::Env;
use tollgate_core::guard::{self, GUARDS};
use tollgate_core::project::Layout;
use tollgate_core::protocol::{self, Hints, Protocol};
use tollgate_core::rules::{self, Asked, Rules};

/// One thing that today's rules have to say about a recorded call.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct ReplayFinding {
    /// The line of the transcript, or the number in the journal.
    pub(crate) line: u64,
    pub(crate) session: String,
    pub(crate) call: String,
    pub(crate) event: String,
    pub(crate) tool: String,
    pub(crate) agent: String,
    /// `block` or `warn`.
    pub(crate) verdict: &'static str,
    pub(crate) guard: &'static str,
    pub(crate) code: Cow<'static, str>,
    pub(crate) reason: String,
    /// Whether the journal has something about this call: then a hook saw it.
    pub(crate) seen: bool,
}

/// How many calls of one tool by one agent, and what came of them.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Count {
    pub(crate) calls: u64,
    pub(crate) blocked: u64,
    pub(crate) warned: u64,
    pub(crate) unseen: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Total {
    pub(crate) counts: BTreeMap<(String, String), Count>,
    /// Lines that are no JSON objects.
    pub(crate) unreadable: u64,
}

pub(crate) struct Replay<'r> {
    layout: &'r Layout,
    env: &'r Env,
    now: Timestamp,
    /// Session and call of what is in the journal.
    seen: HashSet<(String, String)>,
    inputs: HashMap<Option<PathBuf>, Inputs>,
    /// Calls whose result has not come yet.
    open: HashMap<String, Call>,
    /// Sessions and what rules noted about them.
    noted: HashSet<(String, String)>,
    who: Who,
    /// Lines that are older are left out.
    since: Option<Timestamp>,
    /// Where a transcript of Codex says that it is.
    place: Option<CodexPlace>,
    pub(crate) total: Total,
}

/// Who is asked about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// The rules and the guards, as the hook does.
    Everybody,
    /// The rules alone.
    Rules,
}

/// What earlier lines said about a session of Codex.
#[derive(Clone, Debug, Default)]
struct CodexPlace {
    session: String,
    cwd: Option<String>,
}

#[derive(Clone)]
struct Call {
    tool: String,
    input: Value,
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
            inputs: HashMap::new(),
            open: HashMap::new(),
            noted: HashSet::new(),
            who: Who::Everybody,
            since: None,
            place: None,
            total: Total::default(),
        }
    }

    /// The same with the rules alone, and without what is older.
    pub(crate) fn of_rules(self, since: Option<Timestamp>) -> Self {
        Self {
            who: Who::Rules,
            since,
            ..self
        }
    }

    /// Goes through a transcript, and says how many of its lines could be read.
    pub(crate) fn transcript(
        &mut self,
        mut input: impl BufRead,
        mut report: impl FnMut(ReplayFinding),
    ) -> io::Result<u64> {
        self.place = None;
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
            // What names no tool is not parsed, but it must have braces around it.
            let is_ours = self.signs().any(|sign| text.contains(sign));
            let is_like_an_object = text.starts_with('{') && text.ends_with('}');
            match is_ours.then(|| serde_json::from_str::<Value>(text)) {
                Some(Ok(line)) if line.is_object() => self.line(number, &line, &mut report),
                None if is_like_an_object => {}
                Some(_) | None => {
                    self.total.unreadable += 1;
                    continue;
                }
            }
            readable += 1;
        }
        Ok(readable)
    }

    /// What a line has in it that is decided. Rules have nothing to say to results, which are most of a
    /// transcript.
    fn signs(&self) -> impl Iterator<Item = &'static str> + use<> {
        let result = (self.who == Who::Everybody).then_some(RESULT);
        CALLS.iter().copied().chain(result)
    }

    fn line(&mut self, number: u64, line: &Value, report: &mut impl FnMut(ReplayFinding)) {
        let text = |key: &str| line.get(key).and_then(Value::as_str);
        let at: Option<Timestamp> = text("timestamp").and_then(|at| at.parse().ok());
        if at.zip(self.since).is_some_and(|(at, since)| at < since) {
            return;
        }
        if let Some(payload) = line.get("payload") {
            return self.codex_line(number, payload, report);
        }
        let session = text("sessionId").unwrap_or_default();
        let is_sidechain = line.get("isSidechain") == Some(&Value::Bool(true));
        let agent = match (text("agentId"), is_sidechain) {
            (Some(agent), _) => agent,
            (None, true) => "sub-agent",
            (None, false) => "main",
        };
        let content = line.pointer("/message/content").and_then(Value::as_array);
        for part in content.into_iter().flatten() {
            let Some((id, call, event)) = self.event(line, part) else {
                continue;
            };
            let name = event.get("hook_event_name");
            if name.is_some_and(|name| name == "PreToolUse") {
                self.count(&call, agent).calls += 1;
            }
            let mut sent = json!({
                "session_id": session, "tool_use_id": id, "permission_mode": "default",
                "transcript_path": "", "cwd": text("cwd"),
                "agent_id": Some(agent).filter(|agent| *agent != "main"),
            });
            if let Some(sent) = sent.as_object_mut() {
                sent.retain(|_, value| !value.is_null());
                sent.extend(event);
            }
            let about = ReplayFinding {
                line: number,
                session: session.to_owned(),
                call: id,
                tool: call,
                agent: agent.to_owned(),
                ..ReplayFinding::default()
            };
            let cwd = text("cwd").map(PathBuf::from);
            let protocol = Some(Protocol::Claude);
            self.decide(&sent.to_string(), protocol, cwd, &about, report);
        }
    }

    /// A line of Codex: where the session is, or a call.
    fn codex_line(&mut self, number: u64, payload: &Value, report: &mut impl FnMut(ReplayFinding)) {
        let text = |key: &str| payload.get(key).and_then(Value::as_str).map(str::to_owned);
        let mut place = self.place.take().unwrap_or_default();
        place.cwd = text("cwd").or(place.cwd);
        if place.session.is_empty() {
            place.session = text("id").unwrap_or_default();
        }
        self.place = Some(place.clone());
        let Some((tool, input)) = codex_call(payload) else {
            return;
        };
        let call = text("call_id").unwrap_or_default();
        self.count(&tool, "main").calls += 1;
        let mut sent = json!({
            "hook_event_name": "PreToolUse", "session_id": place.session, "tool_use_id": call,
            "turn_id": "", "permission_mode": "default", "tool_name": tool, "tool_input": input,
        });
        if let (Some(cwd), Some(sent)) = (&place.cwd, sent.as_object_mut()) {
            sent.insert("cwd".to_owned(), cwd.as_str().into());
        }
        let about = ReplayFinding {
            line: number,
            session: place.session,
            call,
            tool,
            agent: "main".to_owned(),
            ..ReplayFinding::default()
        };
        let cwd = place.cwd.map(PathBuf::from);
        self.decide(
            &sent.to_string(),
            Some(Protocol::Codex),
            cwd,
            &about,
            report,
        );
    }

    /// The event that a part of a message led to, with the call's id and its tool.
    fn event(
        &mut self,
        line: &Value,
        part: &Value,
    ) -> Option<(String, String, Map<String, Value>)> {
        let text = |key: &str| part.get(key).and_then(Value::as_str).map(str::to_owned);
        let mut event = Map::new();
        let mut put = |key: &str, value: Value| drop(event.insert(key.to_owned(), value));
        let (id, call) = match part.get("type")?.as_str()? {
            "tool_use" => {
                let id = text("id").unwrap_or_default();
                let call = Call {
                    tool: part.get("name")?.as_str().unwrap_or_default().to_owned(),
                    input: part.get("input")?.clone(),
                };
                put("hook_event_name", "PreToolUse".into());
                if self.who == Who::Everybody {
                    self.open.insert(id.clone(), call.clone());
                }
                (id, call)
            }
            "tool_result" => {
                let id = text("tool_use_id").unwrap_or_default();
                let call = self.open.remove(&id)?;
                let said = part.get("content");
                if part.get("is_error") == Some(&Value::Bool(true)) {
                    put("hook_event_name", "PostToolUseFailure".into());
                    put("error", text("content").unwrap_or_default().into());
                } else {
                    let kept = line.get("toolUseResult").filter(|kept| kept.is_object());
                    put("hook_event_name", "PostToolUse".into());
                    let said = kept.or(said).cloned();
                    put("tool_response", said.unwrap_or_else(|| "".into()));
                }
                (id, call)
            }
            _ => return None,
        };
        put("tool_name", call.tool.as_str().into());
        put("tool_input", call.input);
        Some((id, call.tool, event))
    }

    /// Decides an event that the journal kept.
    pub(crate) fn kept(
        &mut self,
        entry: &crate::journal::Entry,
        mut report: impl FnMut(ReplayFinding),
    ) {
        let Some(input) = entry.value.get("input") else {
            return;
        };
        let given = |key: &str| input.get(key).and_then(Value::as_str);
        // A stop has no tool.
        let tool = entry.tool.as_ref().or(entry.event.as_ref());
        let about = ReplayFinding {
            line: entry.id.unwrap_or(0),
            session: entry.session.clone().unwrap_or_default(),
            call: entry.call.clone().unwrap_or_default(),
            tool: tool.cloned().unwrap_or_default(),
            agent: given("agent_id").unwrap_or("main").to_owned(),
            ..ReplayFinding::default()
        };
        self.count(&about.tool, &about.agent).calls += 1;
        let cwd = given("cwd").map(PathBuf::from);
        let protocol = entry.protocol.as_deref().and_then(Protocol::from_name);
        self.decide(&input.to_string(), protocol, cwd, &about, &mut report);
    }

    fn count(&mut self, tool: &str, agent: &str) -> &mut Count {
        let key = (tool.to_owned(), agent.to_owned());
        self.total.counts.entry(key).or_default()
    }

    /// As the hook decides: the first block ends it, warnings add up.
    fn decide(
        &mut self,
        sent: &str,
        protocol: Option<Protocol>,
        cwd: Option<PathBuf>,
        about: &ReplayFinding,
        report: &mut impl FnMut(ReplayFinding),
    ) {
        let hints = Hints {
            protocol,
            ..Hints::default()
        };
        let Ok(event) = protocol::parse(sent, &hints) else {
            self.total.unreadable += 1;
            return;
        };
        let inputs = self.inputs.entry(cwd.clone()).or_insert_with(|| {
            Inputs::new(self.layout.clone(), self.env.clone(), cwd, self.now)
                .asking(crate::changes::SOURCES)
        });
        let context = EventContext::new(&event, inputs);
        let mut decision = Decision::allow();
        if let Some(all) = inputs
            .rules()
            .and_then(|rules| Rules::of(rules.text.as_deref()?))
        {
            let noted = &self.noted;
            let mut asked = Asked {
                trusts_texts: &|| true,
                was_noted: &|note| noted.contains(&(about.session.clone(), note.to_owned())),
                lift: &mut |_| None,
            };
            let judged = rules::judge(&context, all, &mut asked);
            decision.add(judged.decision);
            let notes = judged.noted.into_iter();
            self.noted
                .extend(notes.map(|note| (about.session.clone(), note)));
        }
        if self.who == Who::Everybody && decision.block.is_none() {
            let watching = GUARDS.iter().filter(|guard| guard.watches(&event));
            decision.add(guard::judge(&context, watching));
        }
        if self.who == Who::Everybody {
            decision.watched.clear();
        }
        if decision.word() == "allow" && decision.watched.is_empty() {
            return;
        }
        let key = (about.session.clone(), about.call.clone());
        let seen = self.seen.contains(&key);
        let blocked = decision.block.is_some() || decision.ask.is_some();
        let count = self.count(&about.tool, &about.agent);
        count.blocked += u64::from(blocked);
        count.warned += u64::from(!blocked && !decision.warnings.is_empty());
        count.unseen += u64::from(!seen);
        let warnings = decision.warnings.into_iter();
        let warnings = warnings.map(|finding| ("warn", finding));
        let watched = decision
            .watched
            .into_iter()
            .map(|finding| ("watch", finding));
        let ask = decision.ask.map(|finding| ("ask", finding));
        let block = decision.block.map(|finding| ("block", finding));
        for (verdict, finding) in watched.chain(warnings).chain(ask).chain(block) {
            report(ReplayFinding {
                event: event.name.to_string(),
                verdict,
                guard: finding.guard,
                code: finding.code,
                reason: finding.reason,
                seen,
                ..about.clone()
            });
        }
    }
}

/// What a line has in it that tells of a call's result.
const RESULT: &str = "\"tool_result\"";

/// What a line has in it that tells of a call, or of where calls are made.
const CALLS: &[&str] = &[
    "\"tool_use\"",
    "\"function_call\"",
    "\"local_shell_call\"",
    "\"custom_tool_call\"",
    "\"session_meta\"",
    "\"turn_context\"",
];

/// The tool and input of a call in a transcript of Codex.
fn codex_call(payload: &Value) -> Option<(String, Value)> {
    let text = |key: &str| payload.get(key).and_then(Value::as_str);
    let (tool, mut input) = match text("type")? {
        "function_call" => {
            let input: Value = serde_json::from_str(text("arguments")?).ok()?;
            (text("name")?, input)
        }
        "local_shell_call" => ("local_shell", payload.get("action")?.clone()),
        "custom_tool_call" => (text("name")?, json!({ "command": text("input")? })),
        _ => return None,
    };
    let argv = input.get("command").and_then(Value::as_array);
    let argv = argv.map(|words| words.iter().filter_map(Value::as_str).collect::<Vec<_>>());
    let Some(argv) = argv else {
        return Some((tool.to_owned(), input));
    };
    let command = match argv.as_slice() {
        [shell, flag, script] if shell.ends_with("sh") && flag.ends_with('c') => {
            (*script).to_owned()
        }
        words => words
            .iter()
            .map(|word| quote(word))
            .collect::<Vec<_>>()
            .join(" "),
    };
    if let Some(input) = input.as_object_mut() {
        input.insert("command".to_owned(), command.into());
    }
    // Its tools all take a command.
    Some((
        if tool == "apply_patch" {
            tool
        } else {
            "local_shell"
        }
        .to_owned(),
        input,
    ))
}

/// A word as a shell takes it whole.
fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// What the journal in this directory knows of calls.
pub(crate) fn seen(local: &Path) -> HashSet<(String, String)> {
    let call = |entry: crate::journal::Entry| Some((entry.session?, entry.call?));
    crate::journal::entries(local).filter_map(call).collect()
}
