//! The project: its gates, its trust, its state and what Tollgate keeps in it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use tollgate_core::context::MAX_FILE;
use tollgate_core::project::Layout;
use tollgate_core::workflow::definitions::Origin;
use tollgate_store::fs::{self, Durability, TEMPORARY};
use tollgate_store::json::Object;
use tollgate_store::lock::{self, Acquired};
use tollgate_store::store::Store;

use super::{Finding, Patient};
use crate::agents::Scope;
use crate::cli::install::program;
use crate::cli::workflow::audit;
use crate::cli::workflow_context::WorkflowContext;
use crate::gate::config::{Config, ConfigError};
use crate::git_guard::hooks::Hooks;
use crate::git_guard::turns;
use crate::journal;
use crate::project_commands;
use crate::trust;

/// How far back the journal is read.
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// Whoever holds a lock longer than this is stuck.
const PATIENCE: Duration = Duration::from_secs(2);

pub(super) fn examine<'p>(patient: &'p Patient, layout: &'p Layout) -> Vec<Finding<'p>> {
    let mut findings = Vec::new();
    nothing(patient, layout, &mut findings);
    gates(patient, layout, &mut findings);
    state(patient, layout, &mut findings);
    own_directory(layout, &mut findings);
    leftovers(layout, &mut findings);
    git_hook(patient, layout, &mut findings);
    faults(patient, layout, &mut findings);
    findings
}

/// A project in which there is nothing to hold an agent to.
fn nothing<'p>(patient: &'p Patient, layout: &Layout, findings: &mut Vec<Finding<'p>>) {
    let has_gates = match Config::load(layout, &patient.env) {
        Ok(config) => config.has_gates(),
        Err(ConfigError::Missing(_)) => false,
        Err(ConfigError::Wrong(_)) => true,
    };
    let is_defined = |context: WorkflowContext| {
        let mut all = context.definitions.iter();
        all.any(|definition| definition.origin == Origin::Project)
    };
    // One that cannot be read is a finding of its own.
    let has_workflow =
        || layout.workflow_home().is_dir() || WorkflowContext::here().map_or(true, is_defined);
    if !has_gates && !has_workflow() && !layout.plans_home().is_dir() {
        findings.push(Finding::new(
            "nothing-to-guard",
            "there are no gates, no workflow and no plans here",
            "`tollgate init` proposes gates; `tollgate init --workflow` and `--plans` add the rest",
        ));
    }
}

/// The guard on git's side, where it was installed.
fn git_hook<'p>(patient: &'p Patient, layout: &'p Layout, findings: &mut Vec<Finding<'p>>) {
    let Ok(hooks) = Hooks::of(layout.root()) else {
        return; // Without a repository there is no such guard.
    };
    if let Some(directory) = hooks.bypassed(layout.root()) {
        let directory = directory.display();
        findings.push(Finding::new(
            "git-hook-bypassed",
            format!("git reads its hooks from {directory} (core.hooksPath), and the guard is not there"),
            "`git config --unset core.hooksPath`, or `tollgate install --git` to install it there too",
        ));
    }
    if let Some(why) = hooks.broken() {
        let finding = Finding::new(
            "git-hook-broken",
            why,
            "`tollgate install --git` repairs it, `tollgate uninstall --git` removes it",
        );
        findings.push(if hooks.is_installed() {
            finding.repaired_by(move || {
                let program =
                    program(None, Scope::User, &patient.places).map_err(|trouble| trouble.what)?;
                hooks
                    .install(&program, hooks.presence())
                    .and_then(|()| turns::settle(layout))
                    .map_err(|error| error.to_string())?;
                Ok(format!("{} runs {program}", hooks.file().display()))
            })
        } else {
            finding
        });
    }
}

/// The gates' files, and whether their commands may run.
fn gates<'p>(patient: &'p Patient, layout: &'p Layout, findings: &mut Vec<Finding<'p>>) {
    let gates = match Config::load(layout, &patient.env) {
        Ok(config) => Some(config),
        Err(ConfigError::Missing(_)) => None,
        Err(error @ ConfigError::Wrong(_)) => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default().to_owned();
            let next = if error.is_in_toml() {
                "`tollgate validate` lists all errors, and what applies until they are corrected"
            } else {
                "`tollgate validate` lists all errors; until they are corrected no gate runs"
            };
            findings.push(Finding::new("gates-invalid", first, next));
            None
        }
    };
    // Only a registration for all projects asks for trust.
    let asks = |found: &crate::agents::read::Registered| {
        found.scope == Scope::User && found.command.has("--require-trust")
    };
    if patient.reading.hooks().any(asks) {
        let commands = project_commands::of(layout, &patient.env, gates.as_ref());
        let status = trust::status(layout, &patient.env, &commands);
        if !status.is_consent() {
            findings.push(Finding::new(
                "not-trusted",
                status.words(&commands),
                if commands.has_commands() {
                    "`tollgate trust` shows them and asks; until then stops are not verified"
                } else {
                    "`tollgate trust` shows them and asks; until then rules do not say their own texts"
                },
            ));
        }
    }
}

/// The workflow's state: readable, by the rules, and nothing waiting for it.
fn state<'p>(patient: &'p Patient, layout: &'p Layout, findings: &mut Vec<Finding<'p>>) {
    let context = match WorkflowContext::here() {
        Ok(context) => context,
        Err(trouble) => {
            let next = "correct the file that is named; guards that need it are off until then";
            return findings.push(Finding::new("workflow-config", trouble.what, next));
        }
    };
    let store = context.store();
    let path = store.path().to_owned();
    let shown = patient.places.shown(&path);
    let lock = store.home().join("lock");
    if lock.exists() && matches!(lock::acquire(&lock, PATIENCE), Ok(Acquired::Busy)) {
        findings.push(Finding::new(
            "lock-held",
            format!("a process does not release the lock of {shown}"),
            format!(
                "end that process (`fuser {}` shows it); until then changes are queued",
                lock.display()
            ),
        ));
        return;
    }
    match fs::read_regular(&path, MAX_FILE) {
        Ok(None) => {}
        Ok(Some(contents)) => match Object::parse(&contents.into_text()) {
            Ok(_) => audited(&context, &shown, findings),
            Err(error) => findings.push(Finding::new(
                "state-corrupt",
                format!("{shown} is not a JSON object: {error}"),
                "the next event of an agent restores the last good version; without one, correct the file or restore it with git",
            )),
        },
        Err(fault) => findings.push(Finding::new(
            "state-unreadable",
            format!("{shown}: {fault}"),
            "it must be a regular file that you may read",
        )),
    }
    waiting(context, store, &shown, findings);
    asides(patient, layout, &path, findings);
}

fn audited(context: &WorkflowContext, shown: &str, findings: &mut Vec<Finding<'_>>) {
    let Ok(found) = audit::look(context) else {
        return; // Reported as a trouble of the configuration.
    };
    if let Some(first) = found.first() {
        let what = format!(
            "{shown} breaks {} rule(s) of the workflow; the first: {} {}: {}",
            found.len(),
            first.id,
            first.place,
            first.what
        );
        let next = "`tollgate workflow audit` lists all of them, `--repair` repairs what it can";
        let finding = Finding::new("state-rules", what, next);
        let repairable = found.iter().any(|one| one.repair.is_some());
        findings.push(if repairable {
            finding.repaired_by(|| {
                let context = WorkflowContext::here().map_err(|trouble| trouble.what)?;
                let repaired = audit::repair(&context).map_err(|trouble| trouble.what)?;
                Ok(format!("{repaired} repaired; nothing was deleted"))
            })
        } else {
            finding
        });
    }
}

fn waiting(context: WorkflowContext, store: Store, shown: &str, findings: &mut Vec<Finding<'_>>) {
    let count = store.waiting();
    if count > 0 {
        let finding = Finding::new(
            "changes-waiting",
            format!("{count} change(s) of {shown} are queued"),
            "the next event that changes the state applies them first",
        );
        findings.push(finding.repaired_by(move || {
            let done = store.settle(context.now);
            let done = done.map_err(|error| error.to_string())?;
            context.write_late(&done);
            let version = done.version;
            Ok(format!("{count} applied; the state's version is {version}"))
        }));
    }
}

/// Versions of the state that were set aside because they were broken.
fn asides<'p>(
    patient: &'p Patient,
    layout: &Layout,
    state: &Path,
    findings: &mut Vec<Finding<'p>>,
) {
    let beside = state.parent().map(Path::to_owned);
    let places = beside.into_iter().chain([layout.local().join("state")]);
    let is_aside = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.contains(".corrupt-") || name.starts_with("rejected-")
    };
    let files = places.flat_map(|place| entries(&place)).filter(is_aside);
    let files = files.map(|path| patient.places.shown(&path));
    let files: Vec<String> = files.collect();
    if let Some(first) = files.first() {
        let count = files.len();
        let what = format!("{count} broken version(s) of the state are kept: {first}");
        let next = "check that nothing in them is needed, then remove them";
        findings.push(Finding::new("state-set-aside", what, next));
    }
}

/// Whether git sees nothing of a directory: it ignores itself, or there is nothing in it but
/// directories that do.
fn is_hidden(directory: &Path) -> bool {
    let ignored = std::fs::read_to_string(directory.join(".gitignore")).unwrap_or_default();
    if ignored.lines().any(|line| line.trim() == "*") {
        return true;
    }
    let Ok(mut entries) = std::fs::read_dir(directory) else {
        return false;
    };
    entries.all(|entry| {
        entry.is_ok_and(|entry| {
            entry.file_type().is_ok_and(|kind| kind.is_dir()) && is_hidden(&entry.path())
        })
    })
}

/// `.tollgate/local`: the person's alone, and hidden from git.
fn own_directory(layout: &Layout, findings: &mut Vec<Finding<'_>>) {
    let local = layout.local();
    let Ok(meta) = local.metadata() else {
        return;
    };
    if meta.permissions().mode() & 0o077 != 0 {
        let place = local.clone();
        let finding = Finding::new(
            "local-mode",
            format!("others can read {}", local.display()),
            format!("`chmod 700 {}`", local.display()),
        );
        findings.push(finding.repaired_by(move || {
            std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o700))
                .map_err(|error| error.to_string())?;
            Ok(format!("only you can read {}", place.display()))
        }));
    }
    let ignore = local.join(".gitignore");
    if !is_hidden(&local) {
        let finding = Finding::new(
            "local-not-ignored",
            format!("git does not ignore {}", local.display()),
            format!("`echo '*' > {}`", ignore.display()),
        );
        findings.push(finding.repaired_by(move || {
            fs::replace(&ignore, b"*\n", Durability::Lazy).map_err(|fault| fault.to_string())?;
            Ok(format!("{} makes git ignore it", ignore.display()))
        }));
    }
    match crate::git::tracked(layout.root(), &local) {
        Ok(0) => {}
        Ok(tracked) => findings.push(Finding::new(
            "local-tracked",
            format!(
                "{tracked} file(s) of {} are committed to git",
                local.display()
            ),
            "`git rm -r --cached .tollgate/local`: a journal belongs to one machine",
        )),
        Err(error) => findings.push(Finding::new(
            "git-silent",
            format!(
                "it is unknown whether {} is committed: {error}",
                local.display()
            ),
            format!("run `git -C {} status`", layout.root().display()),
        )),
    }
}

/// What killed processes left behind.
fn leftovers(layout: &Layout, findings: &mut Vec<Finding<'_>>) {
    let mut places = vec![layout.local()];
    // Whatever has a state or a record of its own: plans, installs.
    let mut seen = 0;
    while let Some(place) = places.get(seen).cloned() {
        let below = entries(&place).into_iter();
        places.extend(below.filter(|path| path.is_dir() && !path.is_symlink()));
        seen += 1;
    }
    places.extend(layout.state_file(None).parent().map(Path::to_owned));
    let is_left = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default();
        name.as_encoded_bytes().starts_with(TEMPORARY.as_bytes())
    };
    let count = places
        .iter()
        .flat_map(|place| entries(place))
        .filter(is_left)
        .count();
    if count > 0 {
        let finding = Finding::new(
            "left-behind",
            format!("{count} temporary file(s) of a killed process"),
            "the next write removes them",
        );
        findings.push(finding.repaired_by(move || {
            let swept = places.iter().map(|place| fs::sweep(place));
            let swept: std::io::Result<Vec<usize>> = swept.collect();
            let swept: usize = swept.map_err(|error| error.to_string())?.iter().sum();
            Ok(format!("{swept} removed"))
        }));
    }
    let plans = entries(&layout.plans_local());
    let reviews = plans
        .into_iter()
        .filter(|plan| plan.join("review.json").is_file());
    for plan in reviews {
        let lock = plan.join("review.lock");
        let is_running =
            lock.exists() && matches!(lock::acquire(&lock, Duration::ZERO), Ok(Acquired::Busy));
        if !is_running {
            let id = plan.file_name().unwrap_or_default().to_string_lossy();
            findings.push(Finding::new(
                "review-left-behind",
                format!("a review of plan '{id}' began, and no end of it is recorded"),
                "the next stop uses its verdict, or repeats the review",
            ));
        }
    }
}

/// What kept Tollgate from deciding in the last day.
fn faults<'p>(patient: &'p Patient, layout: &Layout, findings: &mut Vec<Finding<'p>>) {
    let mut kinds: Vec<(String, usize, String)> = Vec::new();
    for line in journal::lines(&layout.local()) {
        let text = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default();
        let recent = text("ts")
            .parse::<Timestamp>()
            .is_ok_and(|then| patient.now.duration_since(then) < DAY);
        if text("verdict") != "fault" || !recent {
            continue;
        }
        match kinds.iter_mut().find(|(code, ..)| code == text("code")) {
            Some((_, count, last)) => {
                *count += 1;
                text("reason").clone_into(last);
            }
            None => kinds.push((text("code").to_owned(), 1, text("reason").to_owned())),
        }
    }
    for (code, count, last) in kinds {
        findings.push(Finding::new(
            "journal-faults",
            format!("{code}, {count} time(s) in the last day: {last}"),
            "`tollgate log --verdict fault` shows them; correct what they name",
        ));
    }
}

fn entries(place: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}
