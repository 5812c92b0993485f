//! What the agents' settings register: is it there, does it lead to this program, only once?

use std::path::Path;

use tollgate_core::env::NESTED;

use crate::agents::change::{self, Timeouts, Wish};
use crate::agents::claude::mods;
use crate::agents::duplicate;
use crate::agents::places::is_node_script;
use crate::agents::read::{Kind, Registered};
use crate::agents::registration::REGISTRATIONS;
use crate::agents::{AGENTS, Agent, Scope, Strictness, TimeUnit};
use crate::armed;
use crate::cli::install::program;

use super::{Finding, Patient, canary};

/// More seconds than an hour were meant as milliseconds; fewer milliseconds than a second as
/// seconds.
const TOO_LONG: u64 = 3600;
const TOO_SHORT: u64 = 1000;

pub(super) fn examine(patient: &Patient) -> Vec<Finding<'_>> {
    let mut findings = Vec::new();
    files(patient, &mut findings);
    absent(patient, &mut findings);
    for &agent in AGENTS {
        for scope in Scope::ALL {
            whole(patient, agent, scope, &mut findings);
        }
        by_name(patient, agent, &mut findings);
        untrusted(patient, agent, &mut findings);
        doubled(patient, agent, &mut findings);
    }
    for registered in effective(patient) {
        timeouts(patient, registered, &mut findings);
    }
    elsewhere(patient, &mut findings);
    shadowed(patient, &mut findings);
    silenced(patient, &mut findings);
    let present = mods::find(&patient.places);
    findings.extend(mods::words(&present, &patient.places).map(|text| {
        let next = "remove it if you did not add it, or register Tollgate in managed settings";
        Finding::new("mods", text, next)
    }));
    findings
}

/// The registrations that an agent takes notice of.
fn effective(patient: &Patient) -> impl Iterator<Item = &Registered> {
    patient.reading.hooks().filter(|found| found.effective)
}

/// What is wrong with whole files.
fn files<'p>(patient: &'p Patient, findings: &mut Vec<Finding<'p>>) {
    let places = &patient.places;
    for (agent, file, flaw) in &patient.reading.flaws {
        findings.push(Finding::new(
            "settings-unreadable",
            format!("{agent} reads {}: {flaw}", places.shown(file)),
            "correct the file there; until then the agent may run none of its hooks",
        ));
    }
    for off in &patient.reading.switched_off {
        findings.push(Finding::new(
            "hooks-off",
            format!(
                "{} runs no hooks at all: `{}` in {}",
                off.agent,
                off.key,
                places.shown(&off.file)
            ),
            "remove it unless it is intended; until then nothing is checked",
        ));
    }
    for registered in &patient.reading.registered {
        let file = places.shown(&registered.file);
        let event = &registered.event;
        if !registered.effective {
            findings.push(Finding::new(
                "registration-hidden",
                format!("{file} has {event} twice, and the agent reads only the last one"),
                "put both lists into one",
            ));
        }
        if let Kind::Original(original) = &registered.kind {
            findings.push(Finding::new(
                "original-registered",
                format!("{file} still runs {} at {event}", original.title()),
                "`tollgate install --replace-originals` removes it",
            ));
        }
    }
}

/// Agents that are used here and know nothing of Tollgate.
fn absent<'p>(patient: &'p Patient, findings: &mut Vec<Finding<'p>>) {
    let is_registered = |agent: Agent| {
        patient.reading.plugin_of(agent).next().is_some()
            || patient
                .reading
                .ours()
                .any(|found| agent.runs(found.agent, found.scope))
    };
    let nobody = !AGENTS.iter().copied().any(is_registered);
    for &agent in AGENTS.iter().filter(|agent| !is_registered(agent)) {
        // An agent that merely is on the machine may be used elsewhere.
        let why = agent.found(&patient.places);
        if let Some(why) = why.filter(|why| nobody || why.starts_with("the project has")) {
            findings.push(Finding::new(
                "not-installed",
                format!("{agent} is used here ({why}), and Tollgate is not registered with it"),
                format!("`tollgate install --agent {}`", agent.name),
            ));
        }
    }
    if nobody && findings.iter().all(|one| one.name != "not-installed") {
        findings.push(Finding::new(
            "not-installed",
            "Tollgate is registered with no agent, and none was found here",
            "`tollgate install --agent claude-code` (or codex, gemini, copilot, cursor)",
        ));
    }
}

/// The registrations of one file: all events, a program that exists and is this one, trust.
fn whole<'p>(patient: &'p Patient, agent: Agent, scope: Scope, findings: &mut Vec<Finding<'p>>) {
    let mut own = effective(patient).filter(|found| found.agent == agent && found.scope == scope);
    let Some(first) = own.next() else {
        return;
    };
    let mut push = |name: &'static str, what: String, next: &str| {
        let finding = Finding::new(name, what, next);
        findings.push(registered_anew(patient, first, Timeouts::Keep, finding));
    };
    let places = &patient.places;
    let file = places.shown(&first.file);
    let has = |event: &str| {
        effective(patient)
            .any(|found| found.agent == agent && found.scope == scope && found.event == event)
    };
    let missing: Vec<&str> = REGISTRATIONS
        .iter()
        .filter_map(|registration| (agent.event)(registration.event))
        .filter(|event| !has(event))
        .collect();
    if !missing.is_empty() {
        let what = format!("{file} does not register {}", missing.join(", "));
        push(
            "event-missing",
            what,
            "`tollgate install` adds what is missing",
        );
    }
    let line = &first.command;
    match line.located(places) {
        None => push(
            "program-missing",
            format!("{file} runs {}, which does not exist", line.program),
            "`tollgate install` registers this program instead",
        ),
        Some(found) if is_node_script(&found) => push(
            "program-through-node",
            format!(
                "{file} runs {}, which starts Node for every event",
                places.shown(&found)
            ),
            "`tollgate install` registers the native program",
        ),
        Some(found) => match canary::version(patient, &found) {
            canary::Version::Same | canary::Version::NotAsked => {}
            canary::Version::Other(other) => push(
                "program-version",
                format!(
                    "{file} runs {}, which is {other}; this is {}",
                    places.shown(&found),
                    env!("CARGO_PKG_VERSION")
                ),
                "upgrade it, or `tollgate install` from the one you want",
            ),
        },
    }
    let is_older =
        |found: &Registered| !found.goes_on_without_program() && !found.command.has("--strict");
    let mut all = effective(patient).filter(|found| found.agent == agent && found.scope == scope);
    if agent.blocks_without_program && all.any(is_older) {
        push(
            "registration-older",
            format!("with {file}, {agent} refuses every tool on a machine without Tollgate"),
            "`tollgate install` rewrites it so that the agent works there",
        );
    }
    let open = |found: &Registered| !found.command.has("--require-trust");
    if scope == Scope::User && (open(first) || own.any(open)) {
        push(
            "trust-not-required",
            format!("{file} runs every repository's commands: --require-trust is missing"),
            &format!(
                "`tollgate install --agent {} --scope user` adds it",
                agent.name
            ),
        );
    }
}

/// Guards that are registered one by one, as specification 000 has it: what that leaves out.
fn by_name<'p>(patient: &'p Patient, agent: Agent, findings: &mut Vec<Finding<'p>>) {
    let own = patient.reading.ours().filter(|found| found.agent == agent);
    let own: Vec<&Registered> = own.collect();
    let is_whole = |found: &&Registered| found.kind == Kind::Hook;
    let (Some(first), false) = (own.first(), own.iter().any(is_whole)) else {
        return;
    };
    if let Some(missing) = armed::missing(agent, &own) {
        let file = patient.places.shown(&first.file);
        let what = format!(
            "{file} registers guards by name ({} registrations); {missing}",
            own.len()
        );
        let next = "what is not checked before it happens can only be undone afterwards; \
                    `tollgate install` registers all guards for all events";
        let finding = Finding::new("guards-by-name", what, next);
        findings.push(registered_anew(patient, first, Timeouts::Keep, finding));
    }
}

/// Registrations that an agent skips until the person trusts them.
fn untrusted<'p>(patient: &'p Patient, agent: Agent, findings: &mut Vec<Finding<'p>>) {
    let own = patient.reading.ours().filter(|found| found.agent == agent);
    let own: Vec<&Registered> = own.collect();
    if let Some(lack) = agent.lacks_trust(&patient.places, &own) {
        findings.push(Finding::new(
            "agent-untrusted",
            format!("{agent} skips Tollgate's hooks: {lack}"),
            "until then Tollgate checks nothing in it",
        ));
    }
}

/// The finding with the repair that a new install is.
fn registered_anew<'p>(
    patient: &'p Patient,
    found: &Registered,
    timeouts: Timeouts,
    finding: Finding<'p>,
) -> Finding<'p> {
    let (agent, scope) = (found.agent, found.scope);
    let places = &patient.places;
    // Other files than ours were written by a person.
    if agent.settings(scope, places).as_ref() != Some(&found.file) {
        return finding;
    }
    finding.repaired_by(move || {
        let program = program(None, scope, places).map_err(|trouble| trouble.what)?;
        let wish = Wish {
            agent,
            scope,
            program: &program,
            strictness: Strictness::Lenient,
            replace_originals: false,
            timeouts,
        };
        let change = change::install(&wish, places).map_err(|refusal| refusal.what)?;
        change::make(&change, places).map_err(|refusal| refusal.what)?;
        let file = places.shown(&change.file);
        Ok(format!("registered {program} in {file}"))
    })
}

/// One agent that runs Tollgate more than once for an event.
fn doubled<'p>(patient: &'p Patient, agent: Agent, findings: &mut Vec<Finding<'p>>) {
    let places = &patient.places;
    for registration in &REGISTRATIONS {
        let Some(event) = (agent.event)(registration.event) else {
            continue;
        };
        let watching: Vec<&Registered> = effective(patient)
            .filter(|found| agent.runs(found.agent, found.scope) && found.event == event)
            .collect();
        let plugin: Vec<String> = patient
            .reading
            .plugin_of(agent)
            .map(|file| format!("the plugin ({})", places.shown(file)))
            .collect();
        // Two that watch different tools are one for each.
        let meets = |one: &Registered| {
            watching
                .iter()
                .any(|other| !std::ptr::eq(*other, one) && (other.covers(one) || one.covers(other)))
        };
        let mut twice = watching.clone();
        twice.retain(|one| meets(one) || !plugin.is_empty());
        // What is twice in another agent's files is said about that one.
        if twice.iter().all(|one| one.agent != agent) {
            continue;
        }
        let files = twice.iter().map(|one| places.shown(&one.file));
        let files: Vec<String> = files.chain(plugin).collect();
        if files.len() > 1 {
            let finding = Finding::new(
                "registered-twice",
                format!(
                    "{agent} runs Tollgate {} times at {event}: {}",
                    files.len(),
                    files.join(", ")
                ),
                format!(
                    "each event is then checked twice; `tollgate uninstall --agent {}` with its --scope removes one, and so does disabling the plugin",
                    agent.name
                ),
            );
            findings.push(thinned(patient, agent, finding));
            return;
        }
    }
}

/// The finding with the repair that taking out what another registration repeats is, where there is
/// such a one.
fn thinned<'p>(patient: &'p Patient, agent: Agent, finding: Finding<'p>) -> Finding<'p> {
    let places = &patient.places;
    let can = duplicate::surplus(agent, places).is_ok_and(|changes| !changes.is_empty());
    if !can {
        return finding;
    }
    let next = "each event is then checked twice; `tollgate doctor --fix` removes the repetition";
    let finding = Finding {
        next: next.to_owned(),
        ..finding
    };
    finding.repaired_by(move || {
        // Another repair may have changed the files since.
        let changes = duplicate::surplus(agent, places).map_err(|refusal| refusal.what)?;
        let mut files = Vec::new();
        for change in &changes {
            change::make(change, places).map_err(|refusal| refusal.what)?;
            files.push(places.shown(&change.file));
        }
        let files = files.join(", ");
        Ok(format!("removed double registrations from {files}"))
    })
}

/// A timeout that was written in another unit than the agent's.
fn timeouts<'p>(patient: &'p Patient, found: &Registered, findings: &mut Vec<Finding<'p>>) {
    let Some(timeout) = found.timeout else {
        return;
    };
    let (wrong, unit) = match found.agent.unit {
        TimeUnit::Seconds => (timeout > TOO_LONG, "seconds"),
        TimeUnit::Milliseconds => (timeout < TOO_SHORT, "milliseconds"),
    };
    if wrong {
        let finding = Finding::new(
            "timeout-unit",
            format!(
                "{} gives {} a timeout of {timeout}, which {} takes for {unit}",
                patient.places.shown(&found.file),
                found.event,
                found.agent
            ),
            "`tollgate uninstall` and `tollgate install` write it in the agent's unit",
        );
        findings.push(registered_anew(patient, found, Timeouts::Replace, finding));
    }
}

/// Settings of a project that an agent started here would not read.
fn elsewhere<'p>(patient: &'p Patient, findings: &mut Vec<Finding<'p>>) {
    let root = &patient.places.root;
    let here = patient.env.cwd.as_deref().unwrap_or(Path::new("/"));
    let real = |path: &Path| path.canonicalize().ok();
    if real(root) == real(here) {
        return;
    }
    for &agent in AGENTS.iter().filter(|agent| agent.reads_start_only) {
        let mut own = effective(patient)
            .filter(|found| found.agent == agent)
            .peekable();
        if own.peek().is_some() && own.all(|found| found.scope != Scope::User) {
            findings.push(Finding::new(
                "other-directory",
                format!(
                    "{agent} is registered in {}, and reads only the settings of the directory it starts in; this is {}",
                    root.display(),
                    here.display()
                ),
                format!("start the agent in {}", root.display()),
            ));
        }
    }
}

/// Two programs on `PATH` that are not the same: which one runs depends on who asks.
fn shadowed<'p>(patient: &'p Patient, findings: &mut Vec<Finding<'p>>) {
    let programs = patient.places.programs("tollgate");
    if programs.len() < 2 {
        return;
    }
    let mut is_same = true;
    let said = programs.iter().map(|path| {
        let version = match canary::version(patient, path) {
            canary::Version::Same => "this version".to_owned(),
            canary::Version::NotAsked => "the project's own, not tried".to_owned(),
            canary::Version::Other(other) => {
                is_same = false;
                other
            }
        };
        format!("{} ({version})", patient.places.shown(path))
    });
    let said: Vec<String> = said.collect();
    if !is_same {
        findings.push(Finding::new(
            "two-on-path",
            format!(
                "more than one `tollgate` is on your PATH: {}",
                said.join(", then ")
            ),
            "remove the one that you do not want, or put the directory of the other before it",
        ));
    }
}

/// Variables that leave every stop unverified: in this environment, or in settings.
fn silenced<'p>(patient: &'p Patient, findings: &mut Vec<Finding<'p>>) {
    let next = "remove it: with it no stop is verified";
    if patient.env.is_nested() {
        findings.push(Finding::new(
            "hooks-silenced",
            format!("one of {} is set here", NESTED.join(", ")),
            next,
        ));
    }
    for agent in AGENTS.iter().filter(|agent| agent.sets_variables) {
        let files = |scope| agent.reads(scope, &patient.places);
        for file in Scope::ALL.into_iter().flat_map(files) {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            let name = NESTED
                .iter()
                .find(|name| text.contains(&format!("\"{name}\"")));
            if let Some(name) = name {
                let file = patient.places.shown(&file);
                findings.push(Finding::new(
                    "hooks-silenced",
                    format!("{file} sets {name} for every hook"),
                    next,
                ));
            }
        }
    }
}
