//! What a person agreed to in the chat.
//!
//! Where an agent can ask, a call that gives something up is answered with a question. A no leaves
//! the call out; a yes lets it run. So that the command that runs can tell that it is the one that
//! was asked about, the hook puts a new random word into the shell command
//! ([`ASKED`]), and keeps its digest in the person's state directory, for once and for a short while.
//! An agent that was refused has no use of it: the word was in the command that did not run.
//!
//! A yes is journalled: by the command of Tollgate that takes it, else by the event after the call.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tollgate_core::context::EventContext;
use tollgate_core::decision::{Decision, Fault};
use tollgate_core::env::Env;
use tollgate_core::guard;
use tollgate_core::project::Layout;
use tollgate_core::protocol::{Event, EventKind, ToolCall};
use tollgate_store::fs;
use tollgate_store::journal::{Entry, Journal, Verdict};

use crate::hash::hex;
use crate::{random, user_store};

/// The variable that has the word.
pub(crate) const ASKED: &str = "TOLLGATE_ASKED";

/// The directory in the person's state directory.
const STORE: &str = "asked";

/// An answer that comes later counts for nothing; people are called away from their chats.
const HOLDS_FOR: Duration = Duration::from_mins(30);

const CAP: u64 = 64 << 10;

/// Whose lines say that a person agreed.
const PERSON: &str = "person";

/// What the record of a call says that is no command of Tollgate's.
const THE_CALL: &str = "";

/// A question that was asked.
#[derive(Debug)]
pub(crate) struct Answered {
    kept: Value,
}

/// Prepares the answer to a question: keeps what a yes would prove. Where that cannot be kept, it is
/// a block.
pub(crate) fn prepare(
    context: &EventContext<'_>,
    env: &Env,
    now: Timestamp,
    decision: &mut Decision,
) {
    let is_ours = |ask: &tollgate_core::decision::Finding| ask.question.is_some();
    let Some(ask) = decision.ask.as_ref().filter(|ask| is_ours(ask)) else {
        return;
    };
    if decision.block.is_some() {
        return;
    }
    let commands = guard::given_up(context);
    let event = context.event;
    let kept = |what: &str| {
        json!({
            "what": what, "code": ask.code, "reason": ask.reason, "session": event.session,
            "call": event.tool.as_ref().and_then(|tool| tool.id.as_deref()),
            "root": context.layout().root(), "at": now.to_string(),
        })
    };
    let root = context.layout().root();
    let keep = || -> Result<Option<String>, String> {
        let directory = open(env, root)?;
        let word = match context.call.shell_command() {
            Some(_) => hex(&random::bytes::<16>().map_err(|error| error.to_string())?),
            None => call_of(event).ok_or("the call has no id")?,
        };
        let mut names: Vec<String> = commands.iter().map(|row| row.name()).collect();
        if names.is_empty() {
            names.push(THE_CALL.to_owned());
        }
        for what in &names {
            let file = directory.join(name(&word, what));
            let text = kept(what).to_string();
            fs::create(&file, text.as_bytes())
                .map_err(|fault| format!("{}: {fault}", file.display()))?;
        }
        Ok(context
            .call
            .shell_command()
            .map(|command| format!("{}{word}; {command}", prefix())))
    };
    match keep() {
        Ok(command) => decision.command_if_yes = command,
        Err(why) => {
            decision.block = decision.ask.take();
            decision.faults.push(Fault::new(
                "asked-unwritten",
                format!("the person cannot be asked in the chat: {why}"),
            ));
        }
    }
}

/// The answer to a question about this command of Tollgate, if it was yes. It counts once.
pub(crate) fn answered(what: &str) -> Option<Answered> {
    let word = crate::environment::variable(ASKED)?.into_string().ok()?;
    let env = crate::environment::current();
    let answered = take(&env, env.cwd.as_deref()?, &word, what)?;
    answered.write_down(what);
    Some(answered)
}

/// Journals what a person agreed to, after the call that they were asked about ran.
pub(crate) fn follow(event: &Event<'_>, layout: &Layout, env: &Env) {
    if !matches!(event.kind, EventKind::PostTool | EventKind::PostToolFailure) {
        return;
    }
    let Some(word) = word_of(event) else { return };
    if let Some(answered) = take(env, layout.root(), &word, THE_CALL) {
        answered.write_down(THE_CALL);
    }
}

/// Whether a person agreed to this call, which ran.
pub(crate) fn agreed(env: &Env, layout: &Layout, call: &str) -> bool {
    let is_its = |kept: &Value| kept.get("call").is_some_and(|id| id == call);
    let directory = user_store::directory(env, layout.root(), STORE).ok();
    let names = directory.as_deref().map(fs::names);
    let mut waiting = names.and_then(Result::ok).into_iter().flatten();
    // What is kept has not been taken yet: the event after the call does that.
    let is_waiting = waiting.any(|name| {
        let file = directory.as_ref().map(|directory| directory.join(name));
        let contents = file.and_then(|file| fs::read_own(&file, CAP).ok()?);
        let kept = contents.and_then(|contents| serde_json::from_slice(&contents.bytes).ok());
        kept.is_some_and(|kept| is_its(&kept))
    });
    let is_journalled = || {
        let lines = Journal::new(layout.local()).lines();
        let is_persons = |line: &&Value| line.get("guard").is_some_and(|guard| guard == PERSON);
        lines.iter().rev().filter(is_persons).any(is_its)
    };
    is_waiting || is_journalled()
}

/// The word that a call would have been asked about with.
fn word_of(event: &Event<'_>) -> Option<String> {
    let tool = event.tool.as_ref()?;
    match &tool.call {
        ToolCall::Shell { command } => {
            let (word, _) = command.strip_prefix(&prefix())?.split_once(';')?;
            Some(word.to_owned())
        }
        // Only files of these names are asked about.
        ToolCall::Write { .. }
        | ToolCall::Edit { .. }
        | ToolCall::Patch { .. }
        | ToolCall::Delete { .. }
        | ToolCall::Notebook { .. }
        | ToolCall::Other => {
            let names = [".claude", ".codex", ".gemini", ".github", ".cursor", ".env"];
            let is_settings = |path: &str| names.iter().any(|name| path.contains(name));
            let files = event.files();
            let mut files = files.iter();
            files
                .any(|path| is_settings(path))
                .then(|| call_of(event))?
        }
        ToolCall::Delegate { .. } | ToolCall::Skill { .. } => None,
    }
}

/// What tells a call from all others.
fn call_of(event: &Event<'_>) -> Option<String> {
    let id = event.tool.as_ref()?.id.as_deref()?;
    Some(format!("{} {id}", event.session.as_deref()?))
}

fn prefix() -> String {
    format!("export {ASKED}=")
}

fn name(word: &str, what: &str) -> String {
    let mut hasher = Sha256::new();
    for part in [word, what] {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hex(&hasher.finalize())
}

/// The directory, without what was not answered in time.
fn open(env: &Env, root: &Path) -> Result<PathBuf, String> {
    let directory = user_store::directory(env, root, STORE)?;
    fs::private_directory(&directory)
        .map_err(|error| format!("{}: {error}", directory.display()))?;
    let names = fs::names(&directory).unwrap_or_default().into_iter();
    for file in names.map(|name| directory.join(name)) {
        if !is_young(&file) {
            // What cannot be removed is too old all the same.
            let _left = fs::remove(&file);
        }
    }
    Ok(directory)
}

fn is_young(file: &Path) -> bool {
    let modified = file.symlink_metadata().and_then(|meta| meta.modified());
    let age = modified.ok().and_then(|modified| modified.elapsed().ok());
    age.is_some_and(|age| age < HOLDS_FOR)
}

/// Takes what was kept for a word; it can be taken only once.
fn take(env: &Env, root: &Path, word: &str, what: &str) -> Option<Answered> {
    let directory = user_store::directory(env, root, STORE).ok()?;
    let file = directory.join(name(word, what));
    let contents = fs::read_own(&file, CAP).ok()??;
    let is_young = is_young(&file);
    fs::remove(&file).ok()?;
    let kept: Value = serde_json::from_slice(&contents.bytes).ok()?;
    is_young.then_some(Answered { kept })
}

impl Answered {
    fn write_down(&self, what: &str) {
        let text = |key: &str| self.kept.get(key).and_then(Value::as_str);
        let Some(root) = text("root") else { return };
        let said = match what {
            THE_CALL => text("reason").unwrap_or_default().to_owned(),
            what => format!("`tollgate {what}`"),
        };
        let reason = format!("asked in the chat, a person agreed: {said}");
        let entry = Entry {
            guard: Some(PERSON),
            code: text("code"),
            reason: Some(&reason),
            session: text("session"),
            call: text("call"),
            ..Entry::new(Timestamp::now(), Verdict::Change)
        };
        // Unwritten, the journal has the question all the same.
        let _unwritten = Journal::new(Layout::of_root(Path::new(root)).local()).append(&entry);
    }
}
