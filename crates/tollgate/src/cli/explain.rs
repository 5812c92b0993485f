//! `tollgate explain`: an event, each guard's answer with what it looked at, and the smallest
//! change with which it would have passed.

use std::path::PathBuf;
use std::process::ExitCode;

use jiff::Timestamp;
use serde_json::{Value, json};
use tollgate_core::guard::{self, Guard};
use tollgate_core::integrity;
use tollgate_core::project::Layout;
use tollgate_core::protocol::Wire;
use tollgate_core::scene::Sources;
use tollgate_core::state::excerpt;
use tollgate_core::state::journal::Decision;
use tollgate_core::state::kept::Kept;
use tollgate_core::state::patch;
use tollgate_core::state::timestamp::iso;
use tollgate_core::verdict::{Finding, Verdict};

use super::plain::Plain;
use super::{Answer, BOLD, DIM, ERROR, GOOD, HINT, Trouble, WARN, read_text};
use crate::explain::{
    Case, Change, Goal, Judged, UNASKED, Unasked, Way, looks_at, obstacle, way_out,
};
use crate::journal::{self, Entry};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The entry's number in `tollgate log` [default: the last block or warning]
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

/// All that is known about one event.
struct Explained {
    entry: Option<Entry>,
    case: Case,
    judged: Judged,
    way: Way,
    /// Why the answer may be another one than it was.
    doubts: Vec<String>,
}

pub(super) fn run(arguments: &Arguments) -> Answer {
    let env = crate::hook::environment();
    let layout = Layout::find(&env, None).ok_or_else(super::no_project)?;
    let explained = if let Some(file) = &arguments.file {
        given(&layout, file)?
    } else {
        let entry = find(&layout, arguments.id.as_deref())?;
        if entry.guard.as_deref() == Some(integrity::NAME) {
            about_state(&layout, &entry, arguments.json);
            return Ok(ExitCode::SUCCESS);
        }
        // A guard is asked again; gates, plans, git and trust are not, and nothing is said for them.
        if entry
            .guard
            .as_deref()
            .is_some_and(|name| Guard::named(name).is_none())
        {
            about_others(&entry, arguments.json);
            return Ok(ExitCode::SUCCESS);
        }
        if entry.value.get("input").is_none() {
            unkept(&entry, arguments.json);
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

/// The entry that is meant.
/// What to do about a finding.
fn remedy(code: &str) -> Option<&'static str> {
    guard::code(code).map(|code| code.remedy)
}

fn find(layout: &Layout, id: Option<&str>) -> Result<Entry, Trouble> {
    let wanted: Option<u64> = match id {
        None => None,
        Some(id) => Some(id.trim_start_matches('#').parse().map_err(|_| {
            Trouble::new(format!("{}: no number of an entry", Plain(id)))
                .hint("`tollgate log` shows the numbers; an event's file is given with --file")
        })?),
    };
    let is_finding = |entry: &Entry| matches!(entry.verdict, Decision::Block | Decision::Warn);
    let found = journal::entries(&layout.local()).filter(|entry| match wanted {
        Some(wanted) => entry.id == Some(wanted),
        None => is_finding(entry),
    });
    found.last().ok_or_else(|| match wanted {
        Some(id) => Trouble::new(format!("the journal has no entry #{id}"))
            .hint("`tollgate log -n 0` shows all that are kept"),
        None => Trouble::new("nothing was blocked or warned about")
            .hint("an event's file is explained with --file"),
    })
}

/// An entry of which only the line is kept: a fault, a change, or one from an older version.
fn unkept(entry: &Entry, json: bool) {
    let remedy = entry.code.as_deref().and_then(remedy);
    if json {
        anstream::println!("{:#}", json!({ "entry": entry.value, "remedy": remedy }));
        return;
    }
    heading(entry);
    anstream::println!(
        "\n{DIM}The event itself was not kept, so the guards cannot be asked again.{DIM:#}"
    );
    if let Some(remedy) = remedy {
        anstream::println!("{HINT}next{HINT:#}: {remedy}");
    }
}

/// A finding of somebody who is no guard: what was found depends on more than the event.
fn about_others(entry: &Entry, json: bool) {
    let next = match entry.guard.as_deref() {
        Some("gates") => "`tollgate run` runs the gates again and shows what each one says",
        Some("plan") => {
            "`tollgate plan next` says what to do, `tollgate plan status` how it stands"
        }
        Some("trust") => "`tollgate trust` shows the commands and asks you",
        Some(_) | None => "do as the reason says",
    };
    let remedy = entry.code.as_deref().and_then(remedy).unwrap_or(next);
    if json {
        anstream::println!("{:#}", json!({ "entry": entry.value, "remedy": remedy }));
        return;
    }
    heading(entry);
    anstream::println!(
        "\n{DIM}No guard said this, so it is not tried again here: it depends on more than the event.{DIM:#}"
    );
    anstream::println!("{HINT}next{HINT:#}: {remedy}");
}

/// A finding about the state file itself: no guard stopped the event, the event only found the
/// change. It would have been left alone if the fields that were undone had been.
fn about_state(layout: &Layout, entry: &Entry, json: bool) {
    let values = Kept::values(&layout.local());
    let undone = entry
        .value
        .get("undone")
        .and_then(|patch| patch::whole(patch, &values));
    let left = |step: &Value| {
        let keys = step.get("path").and_then(Value::as_array)?;
        Some(Change::State {
            path: keys
                .iter()
                .filter_map(|key| Some(key.as_str()?.to_owned()))
                .collect(),
            value: step
                .get("before")
                .and_then(|value| patch::whole(value, &values)),
        })
    };
    let steps = undone.as_ref().and_then(Value::as_array);
    let changes: Vec<Change> = steps.into_iter().flatten().filter_map(left).collect();
    let remedy = entry.code.as_deref().and_then(remedy);
    if json {
        let changes: Vec<Value> = changes.iter().map(Change::as_json).collect();
        let value = json!({ "entry": entry.value, "passes_if": changes, "remedy": remedy });
        anstream::println!("{value:#}");
        return;
    }
    heading(entry);
    if !changes.is_empty() {
        anstream::println!("\nThe change would have been kept if");
        for change in &changes {
            anstream::println!("  - {}", Plain(&change.to_string()));
        }
    }
    if let Some(remedy) = remedy {
        anstream::println!("{HINT}next{HINT:#}: {remedy}");
    }
}

fn remembered(layout: &Layout, entry: Entry) -> Result<Explained, Trouble> {
    let mut doubts = Vec::new();
    let event = entry.value.get("input").cloned().unwrap_or_default();
    if event.to_string().contains(excerpt::CUT) {
        doubts.push(
            "the event was too long to keep whole; the guards are shown its beginning".to_owned(),
        );
    }
    let kept = entry.value.get("state").and_then(Value::as_str);
    let state = kept.and_then(|name| Kept::states(&layout.local()).text(name));
    if kept.is_some() && state.is_none() {
        doubts.push(
            "the state of that moment is not kept any more; the guards are shown today's"
                .to_owned(),
        );
    }
    let now = entry.ts.unwrap_or_else(Timestamp::now);
    let state = match (state, kept) {
        (Some(text), _) => Some(text),
        (None, None) => None,
        (None, Some(_)) => todays_state(layout, now),
    };
    let wire = entry.wire.as_deref().and_then(Wire::from_name);
    let env = crate::hook::environment();
    let case =
        Case::new(layout, env, event, state.as_deref(), now).asked_by(wire, entry.event.as_deref());
    let judged = case.judge().map_err(unasked)?;
    let (guard, code) = (
        entry.guard.as_deref().unwrap_or_default(),
        entry.code.as_deref(),
    );
    let again = judged.findings(guard).any(|found| Some(found.code) == code);
    if !again && doubts.is_empty() {
        doubts.push(
            "the same event in the same state is decided otherwise today: the configuration, the \
             branch or the files have changed since"
                .to_owned(),
        );
    }
    let goal = if entry.verdict == Decision::Warn {
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
        Trouble::new(format!("{}: {error}", file.display()))
            .hint("an event is one JSON object, as an agent writes it to a hook's standard input")
    })?;
    let now = Timestamp::now();
    let state = todays_state(layout, now);
    let env = crate::hook::environment();
    let case = Case::new(layout, env, event, state.as_deref(), now);
    let judged = case.judge().map_err(unasked)?;
    let warned = judged
        .answers
        .iter()
        .find(|(_, verdict)| matches!(verdict, Verdict::Warn(_)));
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
        Unasked::NoCopy(why) => Trouble::new(format!(
            "no copy of the project can be made to try it in: {why}"
        ))
        .hint("it is made in the directory for temporary files, TMPDIR; `tollgate log` needs none"),
    }
}

fn todays_state(layout: &Layout, now: Timestamp) -> Option<String> {
    let sources = Sources::new(layout.clone(), crate::hook::environment(), None, now);
    std::fs::read_to_string(sources.state_file()).ok()
}

fn heading(entry: &Entry) {
    let id = entry
        .id
        .map_or_else(|| entry.place.to_string(), |id| format!("#{id}"));
    let word = entry.verdict.as_str();
    let ts = entry.ts.map(iso).unwrap_or_default();
    anstream::println!("{BOLD}{id}{BOLD:#} {word} {DIM}{ts}{DIM:#}");
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
            anstream::println!("  {DIM}{name:<8}{DIM:#}{}", Plain(text));
        }
    }
}

fn print(explained: &Explained) {
    let Explained {
        case, judged, way, ..
    } = explained;
    if let Some(entry) = &explained.entry {
        heading(entry);
        anstream::println!();
    }
    let tool = judged.tool.as_deref().unwrap_or_default();
    anstream::println!("{BOLD}{}{BOLD:#} {}", Plain(&judged.event), Plain(tool));
    if let Some(Value::Object(input)) = case.event.get("tool_input") {
        for (key, value) in input {
            anstream::println!("  {DIM}{}{DIM:#}  {}", Plain(key), Plain(&short(value)));
        }
    }
    for doubt in &explained.doubts {
        anstream::println!("{WARN}note{WARN:#}: {doubt}");
    }
    anstream::println!();
    for (guard, verdict) in &judged.answers {
        say(guard, verdict);
        let Some(state) = case.state.as_ref().filter(|_| *verdict != Verdict::Allow) else {
            continue;
        };
        for seen in looks_at(guard, state) {
            let value = seen
                .value
                .as_ref()
                .map_or_else(|| "not set".to_owned(), short);
            anstream::println!(
                "           {DIM}{}{DIM:#} = {}",
                Plain(&seen.path),
                Plain(&value)
            );
        }
    }
    for fault in &judged.faults {
        anstream::println!("  {WARN}could not tell{WARN:#}  {}", Plain(&fault.text));
    }
    if way.tried {
        anstream::println!("\n{GOOD}It would have passed{GOOD:#} (tried) if");
        for change in &way.changes {
            anstream::println!("  - {}", Plain(&change.to_string()));
        }
        for step in &way.steps {
            anstream::println!("{HINT}next{HINT:#}: {}", Plain(step));
        }
    } else if let Some((_, finding)) = first_finding(judged) {
        let next = remedy(finding.code).unwrap_or("do as the message says");
        anstream::println!("\nNo small change was found with which it would have passed.");
        anstream::println!("{HINT}next{HINT:#}: {next}");
    } else if !judged.faults.is_empty() {
        anstream::println!("\n{WARN}Nothing stops it{WARN:#}, but not everything could be told.");
    } else if judged.is_stop {
        anstream::println!("\nNo guard stops it.");
    } else {
        anstream::println!("\n{GOOD}It passes.{GOOD:#}");
    }
    if judged.is_stop {
        anstream::println!("{HINT}note{HINT:#}: {UNASKED}");
    }
}

fn first_finding(judged: &Judged) -> Option<(&'static str, &Finding)> {
    judged
        .answers
        .iter()
        .find_map(|(guard, verdict)| match verdict {
            Verdict::Block(finding) => Some((*guard, finding)),
            Verdict::Warn(findings) => Some((*guard, findings.first()?)),
            Verdict::Allow => None,
        })
}

fn say(guard: &str, verdict: &Verdict) {
    match verdict {
        Verdict::Allow => anstream::println!("  {GOOD}allow{GOOD:#}  {guard}"),
        Verdict::Warn(findings) => {
            for Finding { code, reason, .. } in findings {
                anstream::println!("  {WARN}warn{WARN:#}   {guard}  {code}: {}", Plain(reason));
            }
        }
        Verdict::Block(Finding { code, reason, .. }) => {
            anstream::println!(
                "  {ERROR}block{ERROR:#}  {guard}  {code}: {}",
                Plain(reason)
            );
        }
    }
}

fn short(value: &Value) -> String {
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    let cut: String = text.chars().take(160).collect();
    if cut.len() < text.len() {
        cut + "…"
    } else {
        cut
    }
}

fn as_json(explained: &Explained) -> Value {
    let Explained {
        case, judged, way, ..
    } = explained;
    let guards: Vec<Value> = judged.answers.iter().map(|(guard, verdict)| {
        let finding = |found: &Finding| json!({ "code": found.code, "reason": found.reason, "remedy": remedy(found.code) });
        let (word, findings): (&str, Vec<Value>) = match verdict {
            Verdict::Allow => ("allow", Vec::new()),
            Verdict::Warn(findings) => ("warn", findings.iter().map(finding).collect()),
            Verdict::Block(found) => ("block", vec![finding(found)]),
        };
        let seen = case.state.as_ref().map(|state| looks_at(guard, state)).unwrap_or_default();
        let looked_at: serde_json::Map<String, Value> = seen.into_iter().map(|seen| (seen.path, seen.value.unwrap_or_default())).collect();
        json!({ "guard": guard, "verdict": word, "findings": findings, "looked_at": looked_at })
    }).collect();
    let changes: Vec<Value> = way.changes.iter().map(Change::as_json).collect();
    json!({
        "entry": explained.entry.as_ref().map(|entry| &entry.value), "event": case.event,
        "guards": guards, "doubts": explained.doubts, "passes_if": changes, "tried": way.tried, "next": way.steps,
    })
}
