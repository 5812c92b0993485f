//! `tollgate install --list`: which registrations exist, in which file, with which command.

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::{Value, json};

use super::{BOLD, DIM, WARN};
use crate::agents::Places;
use crate::agents::read::{self, Kind, Reading, Registered};
use crate::plain::Plain;

/// Says 0 if something of Tollgate is registered, 1 if nothing is.
pub(super) fn run(places: &Places, as_json: bool) -> ExitCode {
    let reading = read::read(places);
    if as_json {
        anstream::println!("{:#}", value(&reading));
    } else {
        print(&reading, places);
    }
    let something = reading.hooks().next().is_some() || !reading.plugin.is_empty();
    ExitCode::from(u8::from(!something))
}

fn print(reading: &Reading, places: &Places) {
    let mut file: Option<&PathBuf> = None;
    for found in &reading.registered {
        if file != Some(&found.file) {
            file = Some(&found.file);
            let (agent, scope) = (found.agent, found.scope);
            let shown = places.shown(&found.file);
            out!("{BOLD}{agent}{BOLD:#}, {scope}: {shown}");
        }
        let limited = found.matcher.as_deref().filter(|text| *text != "*");
        let matcher = limited.map(|text| format!(" [{text}]")).unwrap_or_default();
        let hidden = if found.effective {
            ""
        } else {
            ", overridden by a later key"
        };
        let event = Plain(&format!("{}{matcher}", found.event)).to_string();
        let line = format!("  {event:<20} {}", Plain(&found.command.for_shell()));
        match remark(found, places) + hidden {
            remark if remark.is_empty() => out!("{line}"),
            remark => out!("{line} {DIM}{}{DIM:#}", Plain(&remark)),
        }
    }
    for (agent, scope, file) in &reading.plugin {
        let file = places.shown(file);
        out!("{BOLD}{agent}{BOLD:#}, {scope}: {file} enables the plugin");
    }
    for off in &reading.switched_off {
        let (agent, scope, key) = (off.agent, off.scope, off.key);
        let shown = places.shown(&off.file);
        out!("{WARN}off{WARN:#} {agent}, {scope}: `{key}` in {shown} switches all hooks off");
    }
    for (agent, file, flaw) in &reading.flaws {
        let shown = places.shown(file);
        let flaw = flaw.to_string();
        let flaw = Plain(&flaw);
        out!("{WARN}unreadable{WARN:#} {agent}: {shown}: {flaw}");
    }
    if reading.registered.is_empty() && reading.plugin.is_empty() {
        out!("Tollgate is not registered here: `tollgate install` registers it");
    }
}

fn remark(found: &Registered, places: &Places) -> String {
    let what = match &found.kind {
        Kind::Hook => String::new(),
        Kind::Guard(name) => format!("only {name}"),
        Kind::Original(original) => format!("of {}", original.title()),
    };
    let gone = !matches!(found.kind, Kind::Original(_)) && found.command.located(places).is_none();
    match (gone, what.is_empty()) {
        (true, true) => "there is no such program".to_owned(),
        (true, false) => format!("{what}, there is no such program"),
        (false, _) => what,
    }
}

fn value(reading: &Reading) -> Value {
    let registered = reading.registered.iter().map(|found| {
        json!({
            "agent": found.agent.name,
            "scope": found.scope.name(),
            "file": found.file,
            "event": found.event,
            "matcher": found.matcher,
            "program": found.command.program,
            "args": found.command.args,
            "timeout": found.timeout,
            "kind": match &found.kind {
                Kind::Hook => "tollgate",
                Kind::Guard(_) => "guard",
                Kind::Original(_) => "original",
            },
            "requires_trust": found.command.has("--require-trust"),
            "effective": found.effective,
        })
    });
    let flaws = reading.flaws.iter().map(|(agent, file, flaw)| {
        json!({ "agent": agent.name, "file": file, "problem": flaw.to_string() })
    });
    let off = reading.switched_off.iter().map(|off| {
        json!({ "agent": off.agent.name, "scope": off.scope.name(), "file": off.file, "key": off.key })
    });
    let plugin = reading.plugin.iter();
    json!({
        "registered": registered.collect::<Vec<_>>(),
        "unreadable": flaws.collect::<Vec<_>>(),
        "switched_off": off.collect::<Vec<_>>(),
        "plugin": plugin.map(|(_, scope, file)| json!({ "scope": scope.name(), "file": file })).collect::<Vec<_>>(),
    })
}
