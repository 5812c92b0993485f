//! One event's whole way: read, find the project, ask rules and guards, write down, answer.
//!
//! Whatever goes wrong here lets the agent go on, and is reported: in the journal, on standard
//! error, and to the person where the agent has a way to do that.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tollgate_core::context::{EventContext, Inputs, Sources};
use tollgate_core::decision::{Decision, Fault};
use tollgate_core::env::Env;
use tollgate_core::guard::{self, GUARDS, Guard};
use tollgate_core::integrity::{self, Author, Reconciled};
use tollgate_core::project::{Layout, ProjectId};
use tollgate_core::protocol::{self, Answer, Event, EventKind, Hints, Protocol, ToolCall};
use tollgate_core::record::Record;
use tollgate_core::rules::Judged;
use tollgate_core::selftest;
use tollgate_store::dedup;
use tollgate_store::edit::Edit;
use tollgate_store::fs::Durability;
use tollgate_store::history::History;
use tollgate_store::journal::{Entry, Verdict};
use tollgate_store::store::{Cause, StoreError, Submitted};

use crate::agents::original::dispatcher_event;
use crate::config::duration;
use crate::deadline::{self, Undecided, give};
use crate::git::{AT_ONCE, Git};
use crate::git_guard::turns;
use crate::hash::hash;
use crate::overrides::Overrides;
use crate::process::alarm;
use crate::trust::Registration;
use crate::{acted_on, ancestors, asked, changes, environment, heard, memory, rules};

/// What the registration in the agent's settings says.
#[derive(Debug)]
struct Options {
    /// When the process began to work.
    begun: Instant,
    /// `--guard`: which guards run.
    guards: Guards,
    /// `--protocol`: the asker's dialect.
    protocol: Option<Protocol>,
    /// `--deadline`: how long a tool event may take.
    deadline: Duration,
    /// `--late`: an earlier process did not decide the event in time.
    is_late: bool,
    /// `--event`: the event's name, where the event does not tell it.
    event: Option<String>,
    /// `--require-trust`: the registration meets every project that is opened.
    registration: Registration,
    /// `--strict`: what becomes of an event that cannot be read.
    unread: Unread,
    /// What could not be understood.
    faults: Vec<Fault>,
}

/// What becomes of an event that cannot be read, or that no dialect knows.
#[derive(Clone, Copy, Debug, Default)]
enum Unread {
    /// The agent goes on, and it is said.
    #[default]
    Said,
    /// The agent is stopped (`--strict`).
    Blocked,
}

/// Which guards a registration asks for.
#[derive(Clone, Copy, Debug, Default)]
enum Guards {
    /// All that watch the event.
    #[default]
    All,
    /// This one.
    One(&'static Guard),
    /// One that does not exist. The others have registrations of their own.
    Unknown,
}

impl Guards {
    /// What they are asked about.
    fn context<'a>(self, event: &'a Event<'a>, inputs: &'a Inputs) -> EventContext<'a> {
        let context = EventContext::new(event, inputs);
        match self {
            Self::One(_) => context.alone(),
            Self::All | Self::Unknown => context,
        }
    }
}

/// Decides the event on standard input.
pub(crate) fn run(args: impl Iterator<Item = OsString>) -> ExitCode {
    let begun = Instant::now();
    // All of this lives until the answer, as long as the process: it may have to be given late.
    let env: &'static Env = Box::leak(Box::new(environment::current()));
    // Before anything is read: a reviewer that Tollgate started must not be reviewed itself.
    if env.is_nested() && ancestors::confirm(env.depth.as_deref()) {
        return ExitCode::SUCCESS;
    }
    let options: &'static Options = Box::leak(Box::new(Options::parse(args, begun)));
    let known = options
        .protocol
        .or(env.claude_session.as_ref().map(|_| Protocol::Claude));
    allow_on_panic(env, known, protocol::answer_unparsed);
    let text = match crate::stdin::read() {
        Ok(text) => text.leak(),
        Err(fault) => unread(env, None, known, fault, options.words()),
    };
    let hints = Hints {
        protocol: options.protocol,
        event: options.event.as_deref(),
        gemini_env: env.gemini,
    };
    match protocol::parse(text, &hints) {
        // The specifications' own events obey the marks to the letter.
        Ok(event) if env.is_nested() && !event.protocol.is_agent() => ExitCode::SUCCESS,
        Ok(event) => {
            if let Some(fault) = event.unknown_fault() {
                unknown(&event, fault, env, options);
            }
            let event = Box::leak(Box::new(options.in_its_dialect(event)));
            if options.is_late {
                give(&deadline::answer(Undecided {
                    text,
                    event,
                    env,
                    limit: options.deadline,
                }));
            }
            let is_tool = event.kind.is_tool();
            let watched = is_tool.then(|| deadline::watch(text, options.deadline));
            let fault = watched.and_then(Result::err);
            decide(text, event, env, options, fault)
        }
        Err(error) => unread(env, None, known, error.into(), options.words()),
    }
}

/// The way of an event that could be read: context, integrity, rules and guards, apply, stop, record,
/// answer.
fn decide(text: &str, event: &Event<'_>, env: &Env, options: &Options, fault: Option<Fault>) -> ! {
    let cwd = event.cwd.as_deref().map(Path::new);
    let now = Timestamp::now();
    let Some(layout) = Layout::find(env, cwd) else {
        outside(text, event, env, options, now);
    };
    let inputs_of = |layout| inputs_of(layout, event, env, now);
    let mut inputs = inputs_of(layout);
    let reconciled = integrity::reconcile(&inputs, || author(event, inputs.layout(), now));
    if reconciled.restored
        && let Some(layout) = Layout::find(env, cwd)
    {
        // The workflow's home may have been away until now.
        inputs = inputs_of(layout);
    }
    let adopted_unasked = reconciled
        .finding
        .as_ref()
        .filter(|finding| finding.code == "SW-003")
        .map(|finding| finding.reason.clone());
    let context = options.guards.context(event, &inputs);
    let mut decision = Decision {
        faults: options.faults.iter().cloned().chain(fault).collect(),
        ..Decision::default()
    };
    decision.add(of_reconciled(reconciled));
    let settled = settle(event, &inputs, now);
    decision.add(rules_and_guards(&context, &inputs, env, options, now));
    decision.faults.extend(settled);
    decision.faults.extend(event.faults());
    decision.faults.extend(unconfirmed(event, env));
    if decision.block.is_some() {
        let layout = inputs.layout();
        let overrides = Overrides { layout, env, now };
        decision.faults.extend(overrides.give_back(event));
    }
    apply(event, &inputs, &mut decision, now);
    if event.kind == EventKind::SessionStart {
        let place = inputs.layout().local().join("selftest");
        decision.faults.extend(selftest::run(&place));
    }
    if begins_watch(&context, options.guards) {
        let remembered = integrity::remember(inputs.layout(), &inputs.store());
        decision.faults.extend(remembered);
    }
    let whole = matches!(options.guards, Guards::All).then_some(options.registration);
    crate::stop::decide(event, inputs.layout(), env, now, whole, &mut decision);
    if let Some(found) = adopted_unasked {
        memory::adopted(event, &inputs, env, now, &found);
    }
    decision.add(memory::follow(event, &inputs, env, now));
    asked::prepare(&context, env, now, &mut decision);
    asked::follow(event, inputs.layout(), env);
    turns::follow(event, &inputs, now, &mut decision);
    heard::note(event, inputs.layout(), now);
    if !decision.is_silent() {
        let is_finding = decision.findings().next().is_some();
        let state = is_finding.then(|| inputs.state_text()).flatten();
        Record::of(event)
            .within(env.trace.as_deref())
            .after(options.begun.elapsed())
            .in_project(project_id(&inputs))
            .about(text, state)
            .write(inputs.layout(), &mut decision, now);
    }
    let mut answer = protocol::answer(event, &decision);
    answer.stderr.insert_str(0, &context.debug_lines());
    give(&answer)
}

/// What rules and guards decide: those of the event's project, then those of others that its call
/// acts on.
fn rules_and_guards(
    context: &EventContext<'_>,
    inputs: &Inputs,
    env: &Env,
    options: &Options,
    now: Timestamp,
) -> Decision {
    let event = context.event;
    let mut judged = decided_in(context, inputs, env, options, now);
    if judged.decision.block.is_none() {
        let others = acted_on::projects(event, env, Some(inputs.layout()), Some(&context.call));
        let (elsewhere, _) = decided_elsewhere(others, event, env, options, now);
        judged.decision.add(elsewhere);
    }
    if judged.decision.block.is_none() {
        let unnoted = rules::remember(inputs, event.session.as_deref(), &judged);
        judged.decision.faults.extend(unnoted);
    }
    judged.decision
}

/// What the rules of one project decide, then its guards.
fn decided_in(
    context: &EventContext<'_>,
    inputs: &Inputs,
    env: &Env,
    options: &Options,
    now: Timestamp,
) -> Judged {
    let mut judged = match options.guards {
        Guards::All => rules::judge(context, inputs, options.registration, env, now),
        Guards::One(_) | Guards::Unknown => Judged::default(),
    };
    let is_ruled_out = judged.decision.block.is_some() && context.event.kind == EventKind::PreTool;
    if !is_ruled_out {
        judged
            .decision
            .add(judge(context, options.guards, env, now));
    }
    judged
}

/// What the rules and guards of other projects decide that a call acts on, and the last of them that
/// has something to say, which is the one that blocks if one does.
fn decided_elsewhere(
    projects: Vec<Layout>,
    event: &Event<'_>,
    env: &Env,
    options: &Options,
    now: Timestamp,
) -> (Decision, Option<Layout>) {
    let mut all = Decision::default();
    let mut speaker = None;
    for layout in projects {
        let mut inputs = inputs_of(layout.clone(), event, env, now);
        // That project does not know whether this session is at work, so it is.
        let reconciled = integrity::reconcile(&inputs, || Author::Agent);
        if reconciled.restored {
            inputs = inputs_of(layout.clone(), event, env, now);
        }
        let mut decision = of_reconciled(reconciled);
        let context = options.guards.context(event, &inputs);
        let mut judged = decided_in(&context, &inputs, env, options, now);
        // Nobody can be asked about a project that the agent does not work in.
        let ask = judged.decision.ask.take();
        judged.decision.block = judged.decision.block.or(ask);
        if judged.decision.block.is_none() {
            let unnoted = rules::remember(&inputs, event.session.as_deref(), &judged);
            decision.faults.extend(unnoted);
        }
        // Its state and its history are for the events of its own sessions to change.
        decision.add(Decision {
            command_if_yes: None,
            edits: Vec::new(),
            remembered: Vec::new(),
            ..judged.decision
        });
        if !decision.is_silent() {
            speaker = Some(layout);
        }
        all.add(decision);
        if all.block.is_some() {
            break;
        }
    }
    (all, speaker)
}

/// What comparing the state file came to.
fn of_reconciled(reconciled: Reconciled) -> Decision {
    Decision {
        warnings: reconciled.finding.into_iter().collect(),
        faults: reconciled.fault.into_iter().collect(),
        changes: reconciled.adopted.into_iter().collect(),
        ..Decision::default()
    }
}

/// The inputs of an event in a project.
fn inputs_of(layout: Layout, event: &Event<'_>, env: &Env, now: Timestamp) -> Inputs {
    let cwd = event.cwd.as_deref().map(PathBuf::from);
    Inputs::new(layout, env.clone(), cwd, now).asking(Sources {
        git: Some(ask_git),
        work: Some(changes::WORK),
        config: Some(crate::config::compiled::kept),
        ..changes::SOURCES
    })
}

/// The way of an event that belongs to no project: it may act on one, or have been in one.
fn outside(text: &str, event: &Event<'_>, env: &Env, options: &Options, now: Timestamp) -> ! {
    let mut decision = crate::stop::nowhere(event);
    decision.add(memory::without_project(event, env, now));
    let others = acted_on::projects(event, env, None, None);
    let (elsewhere, speaker) = decided_elsewhere(others, event, env, options, now);
    decision.add(elsewhere);
    if let Some(layout) = speaker {
        Record::of(event)
            .within(env.trace.as_deref())
            .after(options.begun.elapsed())
            .about(text, None)
            .write(&layout, &mut decision, now);
    }
    give(&protocol::answer(event, &decision))
}

/// Who made a change that this event is the first to meet: the agent, if its command just ended, or
/// if it is at work, where that is known.
fn author(event: &Event<'_>, layout: &Layout, now: Timestamp) -> Author {
    let by_agent = match event.kind {
        EventKind::PostTool | EventKind::PostToolFailure => true,
        // A command that failed has no event of its own with every agent.
        EventKind::PreTool => turns::is_at_work(event, layout, now).unwrap_or(true),
        // Agents compact their context in the middle of a turn, and a command can forge the event:
        // that a session starts does not end what is at work.
        EventKind::SessionStart => turns::is_any_at_work(layout, now),
        EventKind::Prompt
        | EventKind::Stop
        | EventKind::SubagentStop
        | EventKind::SessionEnd
        | EventKind::ConfigChange
        | EventKind::Other => false,
    };
    if by_agent {
        Author::Agent
    } else {
        Author::Other
    }
}

/// A mark that says that Tollgate started the agent, where no Tollgate runs above it: reported when a
/// session or a turn ends or begins. Guards do not mind it.
fn unconfirmed(event: &Event<'_>, env: &Env) -> Option<Fault> {
    let is_rest = matches!(
        event.kind,
        EventKind::SessionStart | EventKind::Prompt | EventKind::Stop
    );
    let mark = env.nested.filter(|_| is_rest)?;
    let text = format!(
        "{mark} is set, as in a check or reviewer that Tollgate runs, but no Tollgate runs above \
         this agent: its guards stay on, and its stops are not verified. Take {mark} out of the \
         agent's settings and environment"
    );
    Some(Fault::new("mark-unconfirmed", text))
}

/// Whether the state is remembered from this event on: when a session begins, and before a
/// command that names it or a tool that writes it. Other events write nothing unless there is something to say.
fn begins_watch(context: &EventContext<'_>, guards: Guards) -> bool {
    let event = context.event;
    // Where guards are registered one by one, as specification 000 has it, no event tells of the
    // session's start, and none comes before a Write. A call of a real agent has an id.
    let is_called = event.tool.as_ref().is_some_and(|tool| tool.id.is_some());
    if matches!(guards, Guards::One(_)) && event.session.is_some() && is_called {
        return true;
    }
    match (event.kind, event.tool.as_ref().map(|tool| &tool.call)) {
        (EventKind::SessionStart | EventKind::Prompt, _) => true,
        (EventKind::PreTool, Some(ToolCall::Shell { .. })) => {
            context.call.may_touch(&context.state_file())
        }
        // A hand-made event has no session, and no event follows that could find a change.
        (EventKind::PreTool, Some(_)) => {
            let layout = context.layout();
            let is_state = |path: &str| layout.is_state_file(&layout.root().join(path));
            event.session.is_some() && event.files().iter().any(|path| is_state(path))
        }
        _ => false,
    }
}

/// Where the agent rests, makes changes that wait because the lock was busy when they came, so that
/// none outlasts its turn: of tools that an agent runs at once, the last has no other after it.
fn settle(event: &Event<'_>, inputs: &Inputs, now: Timestamp) -> Vec<Fault> {
    let is_rest = matches!(
        event.kind,
        EventKind::Stop | EventKind::SessionStart | EventKind::SessionEnd | EventKind::Prompt
    );
    if !is_rest {
        return Vec::new();
    }
    let store = inputs.store();
    if store.waiting() == 0 {
        return Vec::new();
    }
    match store.settle(now) {
        Ok(updated) => {
            let written = history(inputs, now).write(&updated, None);
            let mut faults: Vec<Fault> = store.refusals(&updated).map(refused).collect();
            faults.extend(written.err().map(unwritable));
            faults
        }
        // Still busy: it goes on waiting, and is not lost.
        Err(StoreError::Busy { .. }) => Vec::new(),
        Err(error) => vec![Fault::new("state-unwritten", error.to_string())],
    }
}

/// A change that waited for the lock and could not be made any more.
pub(crate) fn refused(text: String) -> Fault {
    Fault::new("change-refused", text)
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map` hands on")]
fn unwritable(error: std::io::Error) -> Fault {
    Fault::new("journal-unwritable", error.to_string())
}

fn project_id(inputs: &Inputs) -> Option<&str> {
    inputs.project().ok().flatten().map(ProjectId::as_str)
}

/// The history of the state that an event is about.
fn history(inputs: &Inputs, now: Timestamp) -> History<'_> {
    History::new(inputs.layout().workflow_local(), project_id(inputs), now)
}

/// What the guards decide that the registration asks for.
fn judge(context: &EventContext<'_>, guards: Guards, env: &Env, now: Timestamp) -> Decision {
    let asked = match guards {
        Guards::All => GUARDS,
        Guards::One(guard) => std::slice::from_ref(guard),
        Guards::Unknown => &[],
    };
    let overrides = Overrides {
        layout: context.layout(),
        env,
        now,
    };
    let mut faults = Vec::new();
    let decision = guard::judge_lifting(context, asked, |block| {
        overrides.lift(context.event, block, &mut faults)
    });
    faults.extend(context.take_faults());
    Decision { faults, ..decision }
}

/// Makes the changes that the guards want, as one transaction and once per event, however often
/// the agent delivers it.
fn apply(event: &Event<'_>, inputs: &Inputs, decision: &mut Decision, now: Timestamp) {
    if !decision.remembered.is_empty()
        && let Err(text) = inputs.remember(&decision.remembered)
    {
        decision.faults.push(Fault::new("archive-unwritten", text));
    }
    let wanted = std::mem::take(&mut decision.edits);
    if wanted.is_empty() {
        return;
    }
    let is_new = match event.tool.as_ref().and_then(|tool| tool.id.as_deref()) {
        Some(id) => {
            let key =
                |guard: &str| hash((event.session.as_deref(), event.kind.as_str(), id, guard));
            let keys: Vec<u64> = wanted.iter().map(|(guard, _)| key(guard)).collect();
            let nonce = hash((std::process::id(), now.as_nanosecond()));
            // In doubt, act: an effect twice is better than none.
            dedup::are_first(&inputs.layout().local(), &keys, nonce).unwrap_or_else(|error| {
                let text =
                    format!("it is unknown whether this event was delivered before: {error}");
                decision.faults.push(Fault::new("dedup-unwritable", text));
                Vec::new()
            })
        }
        None => Vec::new(),
    };
    let mut is_new = is_new.into_iter();
    let edits: Vec<Edit> = wanted
        .into_iter()
        .filter(|_| is_new.next().unwrap_or(true))
        .flat_map(|(_, edits)| edits)
        .collect();
    if edits.is_empty() {
        return;
    }
    let call = event.tool.as_ref().and_then(|tool| tool.id.as_deref());
    let tool = event.tool.as_ref().map(|tool| tool.name.as_ref());
    let store = inputs.store().for_cause(Cause {
        session: event.session.as_deref().map(str::to_owned),
        call: call.map(str::to_owned),
        event: Some(event.name.clone().into_owned()),
        tool: tool.map(str::to_owned),
    });
    let fault = match store.submit(now, Durability::Lazy, &edits) {
        Ok(Submitted::Applied(updated)) => {
            decision
                .faults
                .extend(store.refusals(&updated).map(refused));
            let entry = Entry {
                session: event.session.as_deref(),
                call,
                event: Some(&event.name),
                tool,
                ..Entry::new(now, Verdict::Record)
            };
            let written = history(inputs, now).write(&updated, Some(&entry));
            written.err().map(unwritable)
        }
        Ok(Submitted::Pending(_)) => None,
        Err(error) => Some(Fault::new("state-unwritten", error.to_string())),
    };
    decision.faults.extend(fault);
}

/// How an agent learns of faults.
type Words = fn(Option<Protocol>, &[Fault]) -> Answer;

/// The way of an event that no dialect knows: it is unknown what to check, and in which words to
/// answer.
fn unknown(event: &Event<'_>, fault: Fault, env: &Env, options: &Options) -> ! {
    // Signs of a real agent tell at least how to reach the person.
    let named = options
        .protocol
        .or(event.is_named.then_some(event.protocol));
    let cwd = event.cwd.as_deref().map(Path::new);
    unread(env, cwd, named, fault, options.words())
}

/// The way of an event that could not be read: the agent goes on, and it is reported.
fn unread(
    env: &Env,
    cwd: Option<&Path>,
    protocol: Option<Protocol>,
    fault: Fault,
    words: Words,
) -> ! {
    let mut outcome = Decision {
        faults: vec![fault],
        ..Decision::default()
    };
    if let Some(layout) = Layout::find(env, cwd) {
        Record::unread(protocol).write(&layout, &mut outcome, Timestamp::now());
    }
    give(&words(protocol, &outcome.faults))
}

/// The branch of a repository whose references only git can read.
fn ask_git(work_tree: &Path) -> Option<String> {
    let git = Git::at(work_tree).ok()?;
    let asked = git.ask(["symbolic-ref", "--quiet", "--short", "HEAD"]);
    let branch = asked.within(deadline::left(AT_ONCE)).line().ok();
    if branch.is_none() && deadline::left(AT_ONCE).is_zero() {
        // It cannot be decided without the branch.
        alarm::become_now();
    }
    branch
}

/// A panic is a fault like any other: journalled, reported, and the agent goes on.
pub(crate) fn allow_on_panic(env: &Env, protocol: Option<Protocol>, words: Words) {
    let env = env.clone();
    std::panic::set_hook(Box::new(move |info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let text = info.payload_as_str().unwrap_or("no message");
        let fault = Fault::new("panic", format!("a defect in Tollgate at {place}: {text}"));
        unread(&env, None, protocol, fault, words);
    }));
}

impl Options {
    /// Understands the few options of a registration. What it does not understand is reported and
    /// otherwise ignored: a typo in a settings file must not stop an agent.
    fn parse(args: impl Iterator<Item = OsString>, begun: Instant) -> Self {
        let mut options = Self {
            begun,
            guards: Guards::default(),
            protocol: None,
            deadline: deadline::USUAL,
            is_late: false,
            event: None,
            registration: Registration::default(),
            unread: Unread::default(),
            faults: Vec::new(),
        };
        let mut args = args
            .map(|arg| arg.to_string_lossy().into_owned())
            .peekable();
        while let Some(arg) = args.next() {
            let (name, inline) = match arg.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (arg, None),
            };
            // Only an option that is known takes a value, and never the next option: a typo must not
            // take a protection away.
            let mut value = || {
                let next = || args.next_if(|next| !next.starts_with("--"));
                inline.clone().or_else(next).unwrap_or_default()
            };
            match name.as_str() {
                "--require-trust" => options.registration = Registration::EveryProject,
                "--strict" => options.unread = Unread::Blocked,
                deadline::LATE => options.is_late = true,
                "--guard" => options.select(&value()),
                // Registrations of earlier versions say `--wire`.
                "--protocol" | "--wire" => {
                    let value = value();
                    match Protocol::from_name(&value) {
                        Some(protocol) => options.protocol = Some(protocol),
                        None => {
                            options.complain(&format!("{name} {value}: there is no such protocol"));
                        }
                    }
                }
                "--event" => options.event = Some(value()),
                "--deadline" => options.set_deadline(&value()),
                _ => options.complain(&format!("{name} is not an option of `tollgate hook`")),
            }
        }
        options
    }

    /// A bare stop could be Taskie's or the workflow's; a registration that names a guard of
    /// the workflow tells.
    fn in_its_dialect<'a>(&self, mut event: Event<'a>) -> Event<'a> {
        if self.protocol.is_none()
            && event.protocol == Protocol::Taskie
            && matches!(self.guards, Guards::One(_))
        {
            event.protocol = Protocol::Isdlc;
        }
        event
    }

    fn select(&mut self, name: &str) {
        let bare = name.strip_suffix(".cjs").unwrap_or(name);
        if let Some(event) = dispatcher_event(bare) {
            self.event.get_or_insert_with(|| event.to_owned());
        } else if let Some(guard) = Guard::named(name) {
            self.guards = Guards::One(guard);
            // The specifications' own events do not say when they happen, and a call that ran
            // looks like one that is about to; a guard that is asked afterwards only tells.
            if let Some(kind) = guard.only_afterwards() {
                self.event.get_or_insert_with(|| kind.as_str().to_owned());
            }
        } else {
            self.guards = Guards::Unknown;
            self.complain(&format!(
                "--guard {name}: there is no such guard; `tollgate guards` lists them"
            ));
        }
    }

    fn words(&self) -> Words {
        match self.unread {
            Unread::Said => protocol::answer_unparsed,
            Unread::Blocked => protocol::refuse_unparsed,
        }
    }

    fn set_deadline(&mut self, value: &str) {
        let range = deadline::SHORTEST..=deadline::LONGEST;
        match duration::parse(value).filter(|time| range.contains(time)) {
            Some(time) => self.deadline = time,
            None => self.complain(&format!(
                "--deadline {value}: a time between 100ms and 8s is needed"
            )),
        }
    }

    fn complain(&mut self, text: &str) {
        self.faults.push(Fault::new(
            "registration",
            format!("in the agent's settings: {text}"),
        ));
    }
}
