//! `tollgate explain`: an event, each guard's answer with what it read, and the smallest
//! change with which it would have passed.

use std::path::PathBuf;
use std::process::ExitCode;

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use tollgate_core::context::Inputs;
use tollgate_core::decision::{Code, Decision, Finding};
use tollgate_core::guard::{GUARDS, Guard, remedy};
use tollgate_core::integrity;
use tollgate_core::project::Layout;
use tollgate_core::protocol::Protocol;
use tollgate_core::record::excerpt;
use tollgate_core::rules::{self, CODE};
use tollgate_store::blobs::Blobs;
use tollgate_store::journal::Verdict;
use tollgate_store::patch;

use super::guards::print_code;
use super::plain::{Plain, cut};
use super::{BOLD, CommandResult, DIM, ERROR, GOOD, HINT, Trouble, WARN, read_text, with_members};
use crate::config::{Merged, nearest};
use crate::explain::{
    Case, Change, Goal, Judged, UNASKED, Unasked, Way, guard_inputs, next_of, obstacle, way_out,
};
use crate::journal::{self, Entry};
use crate::overrides::{canonical, codes};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The entry's number in `tollgate log`, or a code such as BG-001 or RULE:migrations [default: the last block or
    /// warning]
    id: Option<String>,
    /// The last block or warning
    #[arg(long, conflicts_with_all = ["id", "file"])]
    last: bool,
    /// An event as the agent sends it, instead of one from the journal; - for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "id")]
    file: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

struct Explained {
    entry: Option<Entry>,
    case: Case,
    judged: Judged,
    way: Way,
    /// Why the answer may be another one than it was.
    doubts: Vec<&'static str>,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    if let Some(code) = arguments.id.as_deref().and_then(code_named) {
        explain_code(code, arguments.json);
        return Ok(ExitCode::SUCCESS);
    }
    let layout = super::layout_here()?;
    let named = arguments.id.as_deref().map(canonical);
    if let Some(id) = named.as_deref().and_then(|code| code.strip_prefix(CODE)) {
        explain_rule(&layout, id, arguments.json)?;
        return Ok(ExitCode::SUCCESS);
    }
    let explained = if let Some(file) = &arguments.file {
        given(&layout, file)?
    } else {
        let entry = find(&layout, arguments.id.as_deref())?;
        if let Some(recorded) = Recorded::of(&layout, &entry) {
            recorded.show(&entry, arguments.json);
            return Ok(ExitCode::SUCCESS);
        }
        remembered(&layout, entry)?
    };
    if arguments.json {
        anstream::println!("{:#}", as_json(&explained));
    } else {
        print(&explained);
    }
    Ok(ExitCode::SUCCESS)
}

fn code_named(id: &str) -> Option<&'static Code> {
    let id = canonical(id);
    codes().find(|code| code.id == id)
}

/// What a code means, wherever one reads of it.
fn explain_code(code: &Code, as_json: bool) {
    let guard = GUARDS
        .iter()
        .find(|guard| guard.codes.iter().any(|one| one.id == code.id));
    let guard = guard.map(|guard| guard.name);
    if as_json {
        let all = json!({
            "code": code.id, "guard": guard, "meaning": code.meaning, "remedy": code.remedy,
        });
        anstream::println!("{all:#}");
        return;
    }
    print_code(code);
    if let Some(name) = guard {
        out!("  {DIM}guard {DIM:#}{name}: `tollgate guards {name}`");
    }
}

/// What a rule says, by the code of its findings.
fn explain_rule(layout: &Layout, id: &str, as_json: bool) -> Result<(), Trouble> {
    let merged = Merged::in_force(layout, &crate::environment::current());
    let rule = super::rules::named(&merged, id)?;
    let code = format!("{CODE}{id}");
    let origin = merged.origin("rule", rule.place);
    let (reason, instead) = (rule.text("reason"), rule.text("instead"));
    if as_json {
        let all = json!({
            "code": code, "verdict": rule.verdict, "mode": rule.mode(), "origin": origin,
            "reason": reason, "instead": instead,
        });
        anstream::println!("{all:#}");
        return Ok(());
    }
    let (verdict, mode) = (rule.verdict, rule.mode());
    out!("{BOLD}{code}{BOLD:#}  {verdict}, {mode}  {DIM}{origin}{DIM:#}");
    let lift = format!("`tollgate allow {code} --once --reason \"…\"`");
    for (label, text) in [("why", reason), ("do", instead), ("lift", Some(&*lift))] {
        if let Some(text) = text {
            out!("  {DIM}{label:<6}{DIM:#}{}", Plain(text));
        }
    }
    Ok(())
}

/// The entry that is meant.
fn find(layout: &Layout, id: Option<&str>) -> Result<Entry, Trouble> {
    let wanted: Option<u64> = match id {
        None => None,
        Some(id) => Some(id.trim_start_matches('#').parse().map_err(|_| {
            let near = nearest(&id.to_uppercase(), codes().map(|code| code.id));
            let near = near.map_or(String::new(), |near| format!("; did you mean {near}?"));
            Trouble::new(format!(
                "{}: neither the number of an entry nor a code{near}",
                Plain(id)
            ))
            .hint("`tollgate log` shows the numbers; `tollgate explain --file EVENT.json` explains an event")
        })?),
    };
    let is_finding =
        |entry: &Entry| matches!(entry.verdict, Verdict::Block | Verdict::Ask | Verdict::Warn);
    let found = journal::entries(&layout.local()).filter(|entry| match wanted {
        Some(wanted) => entry.id == Some(wanted),
        None => is_finding(entry),
    });
    found.last().ok_or_else(|| match wanted {
        Some(id) => Trouble::new(format!("the journal has no entry #{id}"))
            .hint("`tollgate log -n 0` shows all that are kept"),
        None => Trouble::new("nothing was blocked or warned about")
            .hint("`tollgate explain --file EVENT.json` explains an event that is in a file"),
    })
}

/// An entry about which no guard is asked again: all that is known is in its line.
struct Recorded {
    why: Option<&'static str>,
    /// Fields with which a change of the state would have been kept.
    kept_if: Option<Vec<Change>>,
    remedy: Option<&'static str>,
}

impl Recorded {
    fn of(layout: &Layout, entry: &Entry) -> Option<Self> {
        let remedy = entry.code.as_deref().and_then(remedy);
        match entry.guard.as_deref() {
            // No guard stopped the event, the event only found the change.
            Some(integrity::NAME) => Some(Self {
                why: None,
                kept_if: Some(undone(layout, entry)),
                remedy,
            }),
            // Gates, plans, git and trust: what they found depends on more than the event.
            Some(name) if Guard::named(name).is_none() && name != rules::NAME => Some(Self {
                why: Some(
                    "This does not come from a guard and depends on more than the event, so it is not decided again here.",
                ),
                kept_if: None,
                remedy: remedy.or(Some(match name {
                    "gates" => "`tollgate run` runs the gates again and shows what each one says",
                    "plan" => {
                        "`tollgate plan next` says what to do, `tollgate plan status` its status"
                    }
                    "trust" => "`tollgate trust` shows the commands and asks you",
                    _ => "follow the reason",
                })),
            }),
            // A fault, a change, or an entry from an older version.
            Some(_) | None if entry.value.get("input").is_none() => Some(Self {
                why: Some("The event itself was not kept, so it cannot be decided again."),
                kept_if: None,
                remedy,
            }),
            Some(_) | None => None,
        }
    }

    fn show(&self, entry: &Entry, json: bool) {
        let changes = self.kept_if.iter().flatten();
        if json {
            let mut value = json!({ "entry": entry.value, "remedy": self.remedy });
            if self.kept_if.is_some() {
                let passes_if: Vec<Value> = changes.map(Change::as_json).collect();
                value = with_members(value, json!({ "passes_if": passes_if }));
            }
            return anstream::println!("{value:#}");
        }
        heading(entry);
        if let Some(why) = self.why {
            out!("\n{DIM}{why}{DIM:#}");
        }
        for (at, change) in changes.enumerate() {
            if at == 0 {
                out!("\nThe change would have been kept if");
            }
            out!("  - {}", Plain(&change.to_string()));
        }
        if let Some(remedy) = self.remedy {
            out!("{HINT}next{HINT:#}: {remedy}");
        }
    }
}

/// The fields of a change of the state that were undone, as they were before.
fn undone(layout: &Layout, entry: &Entry) -> Vec<Change> {
    let values = Blobs::values(&layout.local());
    let undone = entry.value.get("undone");
    let undone = undone.and_then(|patch| patch::whole(patch, &values));
    let left = |step: &Value| {
        let keys = step.get("path")?.as_array()?.iter();
        let before = step.get("before");
        Some(Change::State {
            path: keys
                .filter_map(|key| Some(key.as_str()?.to_owned()))
                .collect(),
            value: before.and_then(|value| patch::whole(value, &values)),
        })
    };
    let steps = undone.as_ref().and_then(Value::as_array);
    steps.into_iter().flatten().filter_map(left).collect()
}

fn remembered(layout: &Layout, entry: Entry) -> Result<Explained, Trouble> {
    let mut doubts = Vec::new();
    let event = entry.value.get("input").cloned().unwrap_or_default();
    if event.to_string().contains(excerpt::CUT) {
        doubts.push("the event was too long to keep; only its beginning is decided again");
    }
    let now = entry.ts.unwrap_or_else(Timestamp::now);
    let kept = entry.value.get("state").and_then(Value::as_str);
    let state = kept.and_then(|name| {
        let text = Blobs::states(&layout.local()).text(name);
        text.or_else(|| {
            doubts.push("the state of that time is not kept any more; the current state is used");
            todays_state(layout, now)
        })
    });
    let protocol = entry.protocol.as_deref().and_then(Protocol::from_name);
    let env = crate::environment::current();
    let case = Case::new(layout, env, event, state.as_deref(), now)
        .asked_by(protocol, entry.event.as_deref());
    let judged = case.judge().map_err(unasked)?;
    let (guard, code) = (
        entry.guard.as_deref().unwrap_or_default(),
        entry.code.as_deref(),
    );
    let again = judged
        .findings(guard)
        .any(|found| Some(&*found.code) == code);
    if !again && doubts.is_empty() {
        doubts.push(
            "the same event in the same state is decided differently now: the configuration, the \
             branch or the files have changed since",
        );
    }
    let goal = if entry.verdict == Verdict::Warn {
        Goal::Without(guard)
    } else {
        Goal::Unblocked
    };
    let way = way_out(&case, goal);
    Ok(Explained {
        entry: Some(entry),
        case,
        judged,
        way,
        doubts,
    })
}

fn given(layout: &Layout, file: &PathBuf) -> Result<Explained, Trouble> {
    let text = read_text(file)?;
    let event: Value = serde_json::from_str(&text).map_err(|error| {
        Trouble::about(file, &error)
            .hint("an event is one JSON object, as an agent writes it to a hook's standard input")
    })?;
    let now = Timestamp::now();
    let state = todays_state(layout, now);
    let env = crate::environment::current();
    let case = Case::new(layout, env, event, state.as_deref(), now);
    let judged = case.judge().map_err(unasked)?;
    let mut answers = judged.answers.iter();
    let warned = answers.find(|(_, said)| said.word() == "warn");
    let goal = match (obstacle(&judged, Goal::Unblocked), warned) {
        (None, Some((guard, _))) => Goal::Without(guard),
        _ => Goal::Unblocked,
    };
    let way = way_out(&case, goal);
    Ok(Explained {
        entry: None,
        case,
        judged,
        way,
        doubts: Vec::new(),
    })
}

/// The guards could not be asked, so nothing is said in their name.
fn unasked(why: Unasked) -> Trouble {
    match why {
        Unasked::NoEvent(why) => Trouble::new(why)
            .hint("an event is one JSON object, as an agent writes it to a hook's standard input"),
        Unasked::NoCopy(why) => {
            Trouble::new(format!("the project cannot be copied for the trial: {why}"))
                .hint("set TMPDIR to a directory with free space; `tollgate log` needs no copy")
        }
    }
}

fn todays_state(layout: &Layout, now: Timestamp) -> Option<String> {
    let inputs = Inputs::new(layout.clone(), crate::environment::current(), None, now);
    std::fs::read_to_string(inputs.state_file()).ok()
}

fn heading(entry: &Entry) {
    let (id, word) = (entry.name(), entry.verdict.as_str());
    let ts = entry.moment();
    out!("{BOLD}{id}{BOLD:#} {word} {DIM}{ts}{DIM:#}");
    let rows = [
        ("guard", &entry.guard),
        ("code", &entry.code),
        ("session", &entry.session),
        ("agent", &entry.agent),
        ("phase", &entry.phase),
        ("reason", &entry.reason),
    ];
    for (name, text) in rows {
        if let Some(text) = text {
            out!("  {DIM}{name:<8}{DIM:#}{}", Plain(text));
        }
    }
}

fn print(explained: &Explained) {
    let Explained {
        case, judged, way, ..
    } = explained;
    if let Some(entry) = &explained.entry {
        heading(entry);
        out!();
    }
    let tool = judged.tool.as_deref().unwrap_or_default();
    out!("{BOLD}{}{BOLD:#} {}", Plain(&judged.event), Plain(tool));
    if let Some(Value::Object(input)) = case.event.get("tool_input") {
        for (key, value) in input {
            out!("  {DIM}{}{DIM:#}  {}", Plain(key), Plain(&short(value)));
        }
    }
    for doubt in &explained.doubts {
        out!("{WARN}note{WARN:#}: {doubt}");
    }
    out!();
    for (guard, said) in &judged.answers {
        say(guard, said);
        let state = case.state().filter(|_| said.findings().next().is_some());
        let inputs = state.map(|state| guard_inputs(guard, state));
        for (path, value) in inputs.into_iter().flatten() {
            let value = value.as_ref().map_or("not set".to_owned(), short);
            let (path, value) = (Plain(&path), Plain(&value));
            out!("           {DIM}{path}{DIM:#} = {value}");
        }
    }
    for fault in &judged.faults {
        out!("  {WARN}could not tell{WARN:#}  {}", Plain(&fault.text));
    }
    if way.tried {
        out!("\n{GOOD}It would have passed{GOOD:#} (tried) if");
        for change in &way.changes {
            out!("  - {}", Plain(&change.to_string()));
        }
        for step in &way.steps {
            out!("{HINT}next{HINT:#}: {}", Plain(step));
        }
    } else if let Some(finding) = judged.all_findings().next() {
        let next = next_of(finding).unwrap_or_else(|| "follow the message".to_owned());
        out!("\nNo small change was found that would have made it pass.");
        out!("{HINT}next{HINT:#}: {}", Plain(&next));
    } else if !judged.faults.is_empty() {
        out!("\n{WARN}Nothing blocks it{WARN:#}, but not everything could be decided.");
    } else if judged.is_stop {
        out!("\nNo guard blocks it.");
    } else {
        out!("\n{GOOD}It passes.{GOOD:#}");
    }
    if judged.is_stop {
        out!("{HINT}note{HINT:#}: {UNASKED}");
    }
}

pub(super) fn say(guard: &str, said: &Decision) {
    let word = said.word();
    let style = match word {
        "block" => ERROR,
        "ask" | "warn" => WARN,
        _ => return out!("  {GOOD}allow{GOOD:#}  {guard}"),
    };
    for Finding { code, reason, .. } in said.findings() {
        let reason = Plain(reason);
        out!("  {style}{word:<5}{style:#}  {guard}  {code}: {reason}");
    }
}

fn short(value: &Value) -> String {
    let text = value.as_str().map(str::to_owned);
    cut(&text.unwrap_or_else(|| value.to_string()), 160)
}

pub(super) fn answer_json(guard: &str, said: &Decision) -> Value {
    let findings = said.findings().map(|found| {
        json!({
            "code": found.code, "reason": found.reason, "text": found.text,
            "next": found.next.as_ref().map(ToString::to_string), "remedy": remedy(&found.code),
        })
    });
    let findings: Vec<Value> = findings.collect();
    json!({ "guard": guard, "verdict": said.word(), "findings": findings })
}

fn as_json(explained: &Explained) -> Value {
    let Explained {
        case, judged, way, ..
    } = explained;
    let guard = |(guard, said): &(&str, Decision)| {
        let inputs = case.state().map(|state| guard_inputs(guard, state));
        let inputs = inputs.into_iter().flatten();
        let inputs = inputs.map(|(path, value)| (path, value.unwrap_or_default()));
        let inputs: Map<String, Value> = inputs.collect();
        with_members(answer_json(guard, said), json!({ "fields": inputs }))
    };
    json!({
        "entry": explained.entry.as_ref().map(|entry| &entry.value), "event": case.event,
        "guards": judged.answers.iter().map(guard).collect::<Vec<_>>(), "doubts": explained.doubts,
        "passes_if": way.changes.iter().map(Change::as_json).collect::<Vec<_>>(),
        "tried": way.tried, "next": way.steps,
    })
}
