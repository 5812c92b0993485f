//! Registering Tollgate in a settings file and taking it out again: what would change, and then
//! the change.
//!
//! A second install finds what the first one wrote and changes nothing, or the command in place.
//! An uninstall gives back the bytes from before if the file was not changed since; otherwise it
//! takes out what is Tollgate's and leaves the rest alone.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tollgate_store::fs::{self, Durability};

use super::backup::{Backup, BackupRecord};
use super::command::CommandLine;
use super::read::{Kind, MAX, Reading, classify, company};
use super::registration::{REGISTRATIONS, Registration};
use super::settings_file::{self, Entry, Flaw, SettingsFile};
use super::{Agent, Places, Scope, Strictness};
use crate::plain::Plain;

#[derive(Clone, Debug)]
pub(crate) struct Wish<'a> {
    pub(crate) agent: Agent,
    pub(crate) scope: Scope,
    /// How the settings name the program: a name or a path.
    pub(crate) program: &'a str,
    pub(crate) strictness: Strictness,
    /// Take out the registrations of the originals, and of single guards.
    pub(crate) replace_originals: bool,
    /// What a person set for how long the agent waits.
    pub(crate) timeouts: Timeouts,
}

/// What becomes of timeouts that are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timeouts {
    Keep,
    /// They are what is wrong.
    Replace,
}

/// A change of one settings file, not made yet.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) agent: Agent,
    pub(crate) scope: Scope,
    /// The file that the agent reads.
    pub(crate) file: PathBuf,
    /// The file that is written: where a link leads.
    pub(crate) target: PathBuf,
    /// What is in it; nothing if there is no file.
    pub(crate) before: Option<Vec<u8>>,
    /// What will be in it; nothing if it will be removed.
    pub(crate) after: Option<Vec<u8>>,
    /// What the person should know about it.
    pub(crate) notes: Vec<String>,
    kind: What,
}

/// What a change is part of.
#[derive(Clone, Debug)]
enum What {
    /// An install; what an uninstall will give back.
    Install { restores: Option<Vec<u8>> },
    /// An uninstall; directories that were made for the file.
    Uninstall { directories: Vec<PathBuf> },
}

/// Why a file is not changed. It is as it was.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// The file.
    pub(crate) file: PathBuf,
    pub(crate) what: String,
    pub(crate) next: String,
}

impl Change {
    pub(crate) fn is_nothing(&self) -> bool {
        self.before == self.after
    }
}

impl Refusal {
    fn new(file: &Path, what: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            what: what.into(),
            next: next.into(),
        }
    }

    fn flaw(file: &Path, flaw: &Flaw) -> Self {
        let next = "correct it there; nothing was changed";
        Self::new(file, flaw.to_string(), next)
    }

    fn io(file: &Path, error: &impl std::fmt::Display) -> Self {
        let next = "check the permissions of that directory and the free space of the disk";
        Self::new(file, error.to_string(), next)
    }
}

/// What would change to fulfil a wish.
pub(crate) fn install(wish: &Wish<'_>, places: &Places) -> Result<Change, Refusal> {
    let Wish { agent, scope, .. } = *wish;
    let file = settings(agent, scope, places)?;
    let (target, before) = open(&file)?;
    let mut settings_file = parse(agent, &file, before.as_deref().unwrap_or_default())?;
    let entries = settings_file.entries();
    let mut notes = Vec::new();
    for registration in &REGISTRATIONS {
        let settings_file = settings_file.as_mut();
        register(wish, registration, &entries, settings_file, &mut notes)
            .map_err(|flaw| Refusal::flaw(&file, &flaw))?;
    }
    let replaced = others(&entries);
    if !replaced.is_empty() {
        let others = format!(
            "{} registrations of the originals or of single guards",
            replaced.len()
        );
        notes.push(if wish.replace_originals {
            settings_file.remove(&replaced);
            format!("{others} are replaced")
        } else {
            format!("{others} stay beside Tollgate's; `--replace-originals` removes them")
        });
    }
    for (key, value) in agent.preamble {
        settings_file.ensure(key, *value);
    }
    let mut text = settings_file.text();
    if before.as_ref().is_none_or(Vec::is_empty) && !text.ends_with('\n') {
        text.push('\n');
    }
    let restores = match &before {
        Some(bytes) => restores(agent, scope, &file, places, &[bytes])?,
        None => None,
    };
    Ok(Change {
        agent,
        scope,
        file,
        target,
        before,
        after: Some(text.into_bytes()),
        notes,
        kind: What::Install { restores },
    })
}

/// What would change to take the originals out of the other files that an agent reads beside the one
/// of a wish: the project's, or the person's.
pub(crate) fn without_originals(wish: &Wish<'_>, places: &Places) -> Result<Vec<Change>, Refusal> {
    let Wish { agent, scope, .. } = *wish;
    let scopes: &[Scope] = match scope {
        Scope::Project | Scope::Local => &[Scope::Project, Scope::Local],
        Scope::User => &[Scope::User],
    };
    let own = settings(agent, scope, places)?;
    let originals = |reading: &Reading| {
        let all = reading.registered.iter();
        let all = all.filter(|found| matches!(found.kind, Kind::Original(_)));
        all.map(|found| found.at).collect()
    };
    let mut changes = Vec::new();
    for scope in scopes {
        for file in agent.reads(*scope, places) {
            if file != own {
                changes.extend(without(agent, *scope, &file, places, &originals)?);
            }
        }
    }
    Ok(changes)
}

/// The places of what is the originals', or of a single guard.
fn others(entries: &[Entry]) -> Vec<usize> {
    let kinds = entries.iter().map(classify).enumerate();
    let others =
        kinds.filter(|(_, kind)| matches!(kind, Some((Kind::Original(_) | Kind::Guard(_), _))));
    others.map(|(at, _)| at).collect()
}

/// Registers one event: in the line that is there, or in a new one.
fn register(
    wish: &Wish<'_>,
    registration: &Registration,
    entries: &[Entry],
    settings_file: &mut dyn SettingsFile,
    notes: &mut Vec<String>,
) -> Result<(), Flaw> {
    let Some(event) = (wish.agent.event)(registration.event) else {
        return Ok(());
    };
    let usual = wish
        .agent
        .command(wish.program, wish.scope, wish.strictness);
    let handler_of = |command: &CommandLine| {
        let strictness = wish.strictness;
        wish.agent.handler_for(registration, command, strictness)
    };
    let mut found = false;
    for (at, entry) in entries.iter().enumerate() {
        let there = match classify(entry) {
            Some((Kind::Hook, there)) if entry.event == event && entry.effective => there,
            Some(_) | None => continue,
        };
        found = true;
        if let [other, ..] = company(&entry.handler).as_slice() {
            notes.push(format!(
                "{event} also runs {}, so its line is left as it is",
                Plain(other)
            ));
            continue;
        }
        let command = usual.clone().choosing(&there);
        let handler = handler_of(&command);
        let mut members = members(wish, &handler, &entry.handler);
        // An agent that trusts a hook by its text would have to be asked again.
        if there.program == command.program
            && there.args != command.args
            && there.arguments() == command.args
        {
            members.retain(|(key, _)| !matches!(*key, "command" | "args" | "bash"));
        }
        settings_file.update(at, &members);
        let matcher = entry.matcher.as_deref();
        if let Some(matcher) = matcher.filter(|text| *text != "*" && !text.is_empty()) {
            notes.push(format!("{event} keeps its matcher \"{matcher}\""));
        }
    }
    if found {
        return Ok(());
    }
    let matcher = registration.matcher.filter(|_| wish.agent.says_matcher);
    // What is chosen for the other events goes for one that is new.
    let others = entries.iter().filter(|entry| entry.effective);
    let mut others = others.filter_map(classify);
    let command = match others.find(|(kind, _)| *kind == Kind::Hook) {
        Some((_, other)) => usual.choosing(&other),
        None => usual,
    };
    settings_file.add(event, matcher, &handler_of(&command))
}

/// What an uninstall will give back of a file that holds the first of `texts` and is changed: what
/// was there before the install that left one of them, else the file without us.
fn restores(
    agent: Agent,
    scope: Scope,
    file: &Path,
    places: &Places,
    texts: &[&[u8]],
) -> Result<Option<Vec<u8>>, Refusal> {
    let record = Backup::of(scope, places).and_then(|backup| backup.load(file));
    if let Some(record) = record
        && texts.contains(&record.after.as_slice())
    {
        return Ok(record.before);
    }
    // Registered by a person, or changed since.
    let now = texts.first().copied().unwrap_or_default();
    let rest = without_us(parse(agent, file, now)?);
    Ok(Some(rest.unwrap_or_else(|| now.to_owned())))
}

fn parse(agent: Agent, file: &Path, bytes: &[u8]) -> Result<Box<dyn SettingsFile>, Refusal> {
    settings_file::parse(file, bytes, agent.shape).map_err(|flaw| Refusal::flaw(file, &flaw))
}

/// What would change to take single registrations out of a file: those that `which` names by
/// their place. Nothing if it names none.
pub(super) fn without(
    agent: Agent,
    scope: Scope,
    file: &Path,
    places: &Places,
    which: &dyn Fn(&Reading) -> Vec<usize>,
) -> Result<Option<Change>, Refusal> {
    let (target, before) = open(file)?;
    let Some(now) = &before else {
        return Ok(None);
    };
    let mut reading = Reading::default();
    reading.take(agent, scope, file, now);
    let entries = which(&reading);
    if entries.is_empty() {
        return Ok(None);
    }
    let mut settings_file = parse(agent, file, now)?;
    settings_file.remove(&entries);
    let after = settings_file.text().into_bytes();
    let restores = restores(agent, scope, file, places, &[now, &after])?;
    Ok(Some(Change {
        agent,
        scope,
        file: file.to_owned(),
        target,
        after: Some(after),
        before,
        notes: Vec::new(),
        kind: What::Install { restores },
    }))
}

/// What would change to take Tollgate out of a file. Nothing if it is not in it.
pub(crate) fn uninstall(
    agent: Agent,
    scope: Scope,
    file: &Path,
    places: &Places,
) -> Result<Option<Change>, Refusal> {
    let (target, before) = open(file)?;
    if let Some(now) = &before {
        refuse_company(agent, file, now)?;
    }
    let record = Backup::of(scope, places).and_then(|backup| backup.load(file));
    let mut notes = Vec::new();
    let after = match (&record, &before) {
        (None, None) => return Ok(None),
        // It was removed: only our record of it goes.
        (Some(_), None) => None,
        (Some(record), Some(now)) if record.after == *now => record.before.clone(),
        (record, Some(now)) => {
            let record = record.as_ref();
            let made = record.is_some_and(|record| record.before.is_none())
                || file.file_stem().is_some_and(|stem| stem == "tollgate");
            match without_us(parse(agent, file, now)?) {
                None if record.is_none() => return Ok(None),
                None => Some(now.clone()),
                Some(rest) => {
                    let note = "it was changed since the install, so only Tollgate's own registration is removed";
                    notes.extend(record.map(|_| note.to_owned()));
                    let is_bare = parse(agent, file, &rest)
                        .is_ok_and(|settings_file| settings_file.is_bare(agent.preamble));
                    (!(made && is_bare)).then_some(rest)
                }
            }
        }
    };
    Ok(Some(Change {
        agent,
        scope,
        file: file.to_owned(),
        target,
        before,
        after,
        notes,
        kind: What::Uninstall {
            directories: record.map(|record| record.directories).unwrap_or_default(),
        },
    }))
}

/// A line that runs Tollgate and something else is a person's own: it is not for an uninstall to
/// say what of it should stay.
fn refuse_company(agent: Agent, file: &Path, now: &[u8]) -> Result<(), Refusal> {
    for entry in parse(agent, file, now)?.entries() {
        if let Some(other) = company(&entry.handler).first().filter(|_| is_ours(&entry)) {
            return Err(Refusal::new(
                file,
                format!(
                    "its registration for {} runs Tollgate and {} in one line",
                    entry.event,
                    Plain(other)
                ),
                "remove `tollgate hook` from that line, then run this again; nothing was changed",
            ));
        }
    }
    Ok(())
}

/// Makes a change. The file is the old or the new one at every moment.
pub(crate) fn make(change: &Change, places: &Places) -> Result<(), Refusal> {
    let Change { file, target, .. } = change;
    let failed = |error: io::Error| Refusal::io(file, &error);
    let (_, now) = open(file)?;
    if now != change.before {
        let what = "it was changed in the meantime";
        return Err(Refusal::new(file, what, "run the command again"));
    }
    let backup = Backup::of(change.scope, places);
    let backup = backup.ok_or_else(|| {
        let what = "HOME is not set, so no backup can be kept";
        Refusal::new(file, what, "set HOME and run this again")
    })?;
    match &change.kind {
        What::Install { restores } => {
            let after = change.after.clone().unwrap_or_default();
            let known = backup.load(file);
            let missing = missing(target);
            let record = BackupRecord {
                before: restores.clone(),
                after,
                directories: match known {
                    Some(known) if missing.is_empty() => known.directories,
                    Some(_) | None => missing,
                },
            };
            if change.is_nothing() && backup.load(file).as_ref() == Some(&record) {
                return Ok(());
            }
            backup.keep(file, &record).map_err(failed)?;
            for directory in &record.directories {
                match std::fs::create_dir(directory) {
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                        return Err(failed(error));
                    }
                    Ok(()) | Err(_) => {}
                }
            }
            if !change.is_nothing() {
                write(change, &record.after)?;
            }
        }
        What::Uninstall { directories } => {
            match &change.after {
                Some(_) if change.is_nothing() => {}
                Some(after) => write(change, after)?,
                None => fs::unless_absent(fs::remove(target)).map_err(failed)?,
            }
            for directory in directories.iter().rev() {
                // Other files keep it.
                let _kept = std::fs::remove_dir(directory);
            }
            backup.forget(file).map_err(failed)?;
        }
    }
    Ok(())
}

fn write(change: &Change, bytes: &[u8]) -> Result<(), Refusal> {
    let target = &change.target;
    fs::replace(target, bytes, Durability::Synced)
        .map_err(|fault| Refusal::io(&change.file, &fault))?;
    if change.before.is_none() && change.scope == Scope::Project {
        // Everybody who works on the project reads it.
        let shared = std::fs::Permissions::from_mode(0o644);
        std::fs::set_permissions(target, shared).map_err(|error| Refusal::io(target, &error))?;
    }
    Ok(())
}

/// The directories that have to be made for a file, the outermost first.
fn missing(target: &Path) -> Vec<PathBuf> {
    let mut missing: Vec<PathBuf> = target
        .ancestors()
        .skip(1)
        .take_while(|directory| !directory.exists())
        .map(Path::to_owned)
        .collect();
    missing.reverse();
    missing
}

fn settings(agent: Agent, scope: Scope, places: &Places) -> Result<PathBuf, Refusal> {
    agent.settings(scope, places).ok_or_else(|| {
        if scope == Scope::User && places.home.is_none() {
            return Refusal::new(
                &places.root,
                format!("HOME is not set, so your own settings of {agent} cannot be found"),
                "set HOME, or use another `--scope`",
            );
        }
        let others = Scope::ALL.into_iter();
        let others: Vec<String> = others
            .filter(|scope| agent.settings(*scope, places).is_some())
            .map(|scope| scope.to_string())
            .collect();
        Refusal::new(
            &places.root,
            format!("{agent} has no settings for the scope `{scope}`"),
            format!("use `--scope {}`", others.join(" | ")),
        )
    })
}

/// Where a file really is, and what is in it.
fn open(file: &Path) -> Result<(PathBuf, Option<Vec<u8>>), Refusal> {
    let is_link = file
        .symlink_metadata()
        .is_ok_and(|found| found.file_type().is_symlink());
    let target = if is_link {
        file.canonicalize().map_err(|error| {
            let what = format!("it is a broken symbolic link: {error}");
            Refusal::new(file, what, "correct or remove the link")
        })?
    } else {
        file.to_owned()
    };
    let found = fs::read_regular(&target, MAX).map_err(|fault| {
        let next = "it must be a regular file that you may read";
        Refusal::new(file, fault.to_string(), next)
    })?;
    Ok((target, found.map(|contents| contents.bytes)))
}

/// The members of a handler that an install insists on, and those that it only adds. What a
/// person changed of the rest, such as a timeout, stays.
fn members<'k>(
    wish: &Wish<'_>,
    wanted: &'k Map<String, Value>,
    there: &Map<String, Value>,
) -> Vec<(&'k str, Option<Value>)> {
    let mut members: Vec<(&str, Option<Value>)> = Vec::new();
    for (key, value) in wanted {
        let insists = match key.as_str() {
            "command" | "args" | "bash" | "onFailure" | "failClosed" => true,
            "timeout" | "timeoutSec" => wish.timeouts == Timeouts::Replace,
            _ => false,
        };
        // The agent that knows `bash` knows `command`, too: a person may have used either.
        let other = key == "bash"
            && !wanted.contains_key("command")
            && !there.contains_key("bash")
            && there.contains_key("command");
        if other {
            members.push(("command", Some(value.clone())));
        } else if insists || !there.contains_key(key) {
            members.push((key, Some(value.clone())));
        }
    }
    for key in ["args", "bash"] {
        let is_left = wanted.contains_key("command") && !wanted.contains_key(key);
        if is_left && there.contains_key(key) {
            members.push((key, None));
        }
    }
    members
}

fn is_ours(entry: &Entry) -> bool {
    matches!(classify(entry), Some((Kind::Hook | Kind::Guard(_), _)))
}

/// The text without any registration of Tollgate; nothing if there is none.
fn without_us(mut settings_file: Box<dyn SettingsFile>) -> Option<Vec<u8>> {
    let entries = settings_file.entries();
    let ours = entries.iter().enumerate();
    let ours = ours.filter(|(_, entry)| is_ours(entry));
    let ours: Vec<usize> = ours.map(|(at, _)| at).collect();
    if ours.is_empty() {
        return None;
    }
    settings_file.remove(&ours);
    Some(settings_file.text().into_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Shape, claude};
    use super::*;

    /// A list of hooks that holds nothing of Tollgate, in some layout.
    fn settings() -> impl Strategy<Value = Value> {
        let handler = "[a-z]{1,12}"
            .prop_map(|command| serde_json::json!({ "type": "command", "command": command }));
        let group = prop::collection::vec(handler, 1..3)
            .prop_map(|hooks| serde_json::json!({ "matcher": "Bash", "hooks": hooks }));
        let event =
            prop::sample::select(vec!["PreToolUse", "Stop", "Notification", "SessionStart"]);
        let events = prop::collection::vec((event, prop::collection::vec(group, 1..3)), 0..4);
        let other = prop::collection::vec(("[a-z]{1,6}", any::<i32>()), 0..4);
        (events, other).prop_map(|(events, other)| {
            let mut top = Map::new();
            top.extend(other.into_iter().map(|(key, value)| (key, value.into())));
            if !events.is_empty() {
                let events: Map<String, Value> = events
                    .into_iter()
                    .map(|(event, groups)| (event.to_owned(), groups.into()))
                    .collect();
                top.insert("hooks".to_owned(), Value::Object(events));
            }
            Value::Object(top)
        })
    }

    fn laid_out(value: &Value, layout: u8) -> String {
        let text = match layout % 4 {
            0 => value.to_string(),
            _ => serde_json::to_string_pretty(value).unwrap_or_default(),
        };
        match layout % 4 {
            2 => text.replace('\n', "\r\n"),
            3 => text.replace("  ", "\t").replacen('{', "{ // mine\n", 1),
            _ => text,
        }
    }

    fn meaning(text: &str) -> Value {
        serde_json::from_str(&text.replace("// mine", "")).unwrap_or_default()
    }

    proptest! {
        #[test]
        fn what_is_put_in_comes_out_and_nothing_else(value in settings(), layout in any::<u8>()) {
            let path = Path::new("settings.json");
            let before = laid_out(&value, layout);
            let parse = |text: &str| settings_file::parse(path, text.as_bytes(), Shape::Nested);
            let mut settings_file = parse(&before).map_err(|flaw| TestCaseError::fail(flaw.to_string()))?;
            let command = claude::ROW.command("tollgate", Scope::User, Strictness::Lenient);
            for registration in &REGISTRATIONS {
                let handler = claude::ROW.handler_for(registration, &command, Strictness::Lenient);
                let added = settings_file.add(registration.event.as_str(), registration.matcher, &handler);
                prop_assert!(added.is_ok());
            }
            let with = settings_file.text();
            let read = parse(&with).map_err(|flaw| TestCaseError::fail(flaw.to_string()))?;
            let ours = read.entries().iter().filter(|entry| classify(entry).is_some()).count();
            prop_assert_eq!(ours, REGISTRATIONS.len());
            let rest = without_us(read).unwrap_or_default();
            let rest = String::from_utf8_lossy(&rest).into_owned();
            prop_assert_eq!(meaning(&rest), value, "{}\n{}\n{}", before, with, rest);
            prop_assert_eq!(rest.contains("// mine"), before.contains("// mine"));
        }
    }
}
