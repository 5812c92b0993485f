//! Rules: what a team says that agents must not do, by effect.
//!
//! The program checks the rules of `tollgate.toml` and compiles them into one small text: a line of
//! JSON about the file as a whole, then a line for each rule, which begins with the letters of the
//! effects that it is about. An event whose effects have none of these letters costs no more than a
//! look at them. The matcher that decides events here also runs the rules' own examples.
//!
//! A rule never allows anything: the agent's own permissions do that. The strictest answer counts.

mod pattern;
mod rule;

use std::cell::OnceCell;
use std::path::Path;

use tollgate_shell::{Action, Certainty, Effect, World};
use tollgate_store::json::Object;

use crate::context::EventContext;
use crate::decision::{Decision, Finding};
use crate::next::{Next, Step};
use crate::project::lexical;
use crate::protocol::{Event, EventKind, Protocol, ToolCall};
use crate::tool_effects::tool_effects;
pub use pattern::{Matched, Places, SeenPaths, compiled as compiled_pattern, covered, is_like};
pub use rule::{AFTER, Fact, Hit, KINDS, Question, Rule, STOP, UNKNOWN, Verdict, key, letter};

/// What findings call the rules.
pub const NAME: &str = "rules";

/// What the codes of rules begin with.
pub const CODE: &str = "RULE:";

/// The code of the line in the journal about what could not be analysed.
pub const UNSEEN: &str = "RULE-UNKNOWN";

/// What is in front of the id of a rule that let pass effects that are unknown. The journal has that
/// once for each session and rule: an agent may run `rm "$FILE"` all day.
pub const NOTED_UNSEEN: char = '?';

/// The compiled rules.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    lines: &'a str,
    /// Whether names that differ in case alone are the same here.
    pub folds: bool,
}

/// What the rules have to know besides the event.
pub struct Asked<'q> {
    /// Whether the project's texts may reach the model.
    pub trusts_texts: &'q dyn Fn() -> bool,
    /// Whether this was noted before in this session, as [`Judged::noted`] has it.
    pub was_noted: &'q dyn Fn(&str) -> bool,
    /// The warning in place of a block that a person lifted.
    pub lift: &'q mut dyn FnMut(&Finding) -> Option<Finding>,
}

/// What the rules say to an event.
#[derive(Debug, Default)]
pub struct Judged {
    /// The decision.
    pub decision: Decision,
    /// What is noted about the session if the event is let through: the ids of rules whose `after` came
    /// with it, and behind [`NOTED_UNSEEN`] those that let pass effects that are unknown.
    pub noted: Vec<String>,
}

/// A rule that an event meets.
struct Met {
    verdict: Verdict,
    finding: Finding,
}

impl<'a> Rules<'a> {
    /// The rules of a compiled text; none if it has none.
    pub fn of(text: &'a str) -> Option<Self> {
        let (head, lines) = text.split_once('\n')?;
        if lines.is_empty() {
            return None;
        }
        let folds = Object::parse(head).ok()?.truthy("folds");
        Some(Self { lines, folds })
    }

    /// The rules that are about one of these letters.
    fn about(self, letters: &'a str) -> impl Iterator<Item = (&'a str, Rule<'a>)> {
        self.lines.lines().filter_map(move |line| {
            let (own, rule) = line.split_once(' ')?;
            let is_about = own.contains(|letter| letters.contains(letter));
            is_about.then(|| Rule::parse(rule).map(|rule| (own, rule)))?
        })
    }

    /// Every rule.
    pub fn all(self) -> impl Iterator<Item = Rule<'a>> {
        let lines = self.lines.lines();
        lines.filter_map(|line| Rule::parse(line.split_once(' ')?.1))
    }

    /// Whether any rule about one of these letters would stop something.
    pub fn enforce(self, letters: &'a str) -> bool {
        let mut about = self.about(letters);
        about.any(|(_, rule)| matches!(rule.verdict(), Verdict::Deny | Verdict::Ask))
    }

    /// Whether any rule is about one of these letters.
    pub fn has(self, letters: &str) -> bool {
        let mut own = self.lines.lines().filter_map(|line| line.split(' ').next());
        own.any(|own| own.contains(|letter| letters.contains(letter)))
    }
}

/// What the rules say to an event that is about to happen.
pub fn judge(context: &EventContext<'_>, rules: Rules<'_>, asked: &mut Asked<'_>) -> Judged {
    if context.event.kind != EventKind::PreTool {
        return Judged::default();
    }
    let effects = context.call.effects();
    if effects.is_empty() {
        return Judged::default();
    }
    let facts = Facts::of(context);
    at(context, rules.folds, |places| {
        decide(rules, effects, places, &facts, asked)
    })
}

/// Answers a question about the places of an event's project.
pub fn at<R>(context: &EventContext<'_>, folds: bool, ask: impl FnOnce(&Places<'_>) -> R) -> R {
    let root = context.layout().root();
    let files = context.call.world().files;
    ask(&Places {
        root,
        real_root: &context.call.real(root),
        home: context.call.home(),
        folds,
        real: &|path: &Path| context.call.real(path),
        is_file: &|path: &Path| files.exists(path) && !files.is_directory(path),
        seen: SeenPaths::default(),
    })
}

/// What the rules say to effects, wherever they come from.
pub fn decide(
    rules: Rules<'_>,
    effects: &[Effect],
    places: &Places<'_>,
    facts: &Facts<'_>,
    asked: &mut Asked<'_>,
) -> Judged {
    let mut letters: String = effects
        .iter()
        .map(|effect| letter(&effect.action))
        .collect();
    let is_unseen =
        |effect: &Effect| effect.action == Action::Opaque || effect.certainty == Certainty::Unknown;
    if effects.iter().any(is_unseen) {
        letters.push(UNKNOWN);
    }
    let mut judged = Judged::default();
    let mut met: Vec<Met> = Vec::new();
    let mut unseen: Vec<String> = Vec::new();
    for (own, rule) in rules.about(&letters) {
        if own.contains(STOP) || rule.ends() && !rule.holds_on(&(facts.day)()) {
            continue;
        }
        if rule.prepared_by(effects, places).is_some() {
            judged.noted.push(rule.id());
        }
        let Some(hit) = rule.hit(effects, places) else {
            continue;
        };
        let verdict = match hit.matched {
            Matched::Yes => Some(rule.verdict()),
            Matched::Unknown => rule.unknown(),
            Matched::No => continue,
        };
        let is_ready = || !rule.is_conditional() || (asked.was_noted)(&rule.id());
        if !rule.holds(&|question| (facts.fact)(question)) || !is_ready() {
            continue;
        }
        if let Some(verdict) = verdict {
            let verdict = facts.sayable(verdict);
            let finding = finding(&rule, &hit, verdict, asked);
            met.push(Met { verdict, finding });
            continue;
        }
        let note = format!("{NOTED_UNSEEN}{}", rule.id());
        if !(asked.was_noted)(&note) {
            unseen.push(rule.id());
            judged.noted.push(note);
        }
    }
    judged.decision = strictest(met, asked).by(NAME);
    if judged.decision.block.is_none() && !unseen.is_empty() {
        judged.decision.watched.push(unseen_note(&unseen, effects));
    }
    judged
}

/// What conditions of rules are about.
pub struct Facts<'f> {
    /// Answers a condition.
    pub fact: Box<dyn Fn(Question) -> Fact + 'f>,
    /// Today, as `2026-12-31`.
    pub day: Box<dyn Fn() -> String + 'f>,
    /// Whether the agent holds to being asked, so that the person decides.
    pub asks_hold: bool,
}

impl<'f> Facts<'f> {
    /// Those of an event, each found out when a rule asks.
    pub fn of(context: &'f EventContext<'_>) -> Self {
        let branch = OnceCell::new();
        let fact = move |question| match question {
            Question::Branch => known(branch.get_or_init(|| context.git.branch()).clone()),
            Question::Phase => known(context.current_phase().map(Into::into)),
            Question::Agent => Fact::Known(context.event.protocol.agent_name().to_owned()),
            Question::Subagent => {
                let is_sub = context.event.agent_id.is_some();
                let kind = context.event.agent_type.as_deref().unwrap_or_default();
                if is_sub {
                    Fact::Known(kind.to_owned())
                } else {
                    Fact::None
                }
            }
        };
        Self {
            fact: Box::new(fact),
            day: Box::new(|| context.now().strftime("%Y-%m-%d").to_string()),
            asks_hold: context.asks_hold(),
        }
    }

    /// Where being asked means nothing, the answer is no.
    fn sayable(&self, verdict: Verdict) -> Verdict {
        match verdict {
            Verdict::Ask if !self.asks_hold => Verdict::Deny,
            Verdict::Ask | Verdict::Deny | Verdict::Warn | Verdict::Watch => verdict,
        }
    }
}

fn known(value: Option<String>) -> Fact {
    value.map_or(Fact::None, Fact::Known)
}

/// One decision of all that was met: the strictest, and what else there is to say.
fn strictest(mut met: Vec<Met>, asked: &mut Asked<'_>) -> Decision {
    // The first of the strictest, in the order of the files.
    met.sort_by_key(|one| std::cmp::Reverse(one.verdict));
    let mut decision = Decision::allow();
    let mut also: Vec<String> = Vec::new();
    for Met { verdict, finding } in met {
        match verdict {
            Verdict::Deny | Verdict::Ask => {
                // A call that another rule blocks must not use up an override.
                if decision.block.is_some() || decision.ask.is_some() {
                    also.push(finding.code.to_string());
                    continue;
                }
                match (asked.lift)(&finding) {
                    Some(warning) => decision.warnings.push(warning),
                    None if verdict == Verdict::Deny => decision.block = Some(finding),
                    None => decision.ask = Some(finding),
                }
            }
            Verdict::Warn => decision.warnings.push(finding),
            Verdict::Watch => decision.watched.push(finding),
        }
    }
    if !also.is_empty()
        && let Some(first) = decision.block.as_mut().or(decision.ask.as_mut())
    {
        first.text = format!("{}\nIt also matches {}.", first.text, also.join(", "));
    }
    decision
}

/// The code of a rule.
pub fn code(id: &str) -> String {
    format!("{CODE}{id}")
}

fn finding(rule: &Rule<'_>, hit: &Hit<'_>, verdict: Verdict, asked: &Asked<'_>) -> Finding {
    let id = rule.id();
    let code = code(&id);
    let what = describe(hit.effect);
    let how = match (hit.matched, hit.effect.certainty) {
        (Matched::Unknown, _) => "it is unknown whether this is covered",
        (Matched::Yes | Matched::No, Certainty::Certain) => "",
        (Matched::Yes | Matched::No, Certainty::Possible | Certainty::Unknown) => "it may happen",
    };
    let how = if how.is_empty() {
        String::new()
    } else {
        format!("; {how}")
    };
    let did = match verdict {
        Verdict::Deny => "blocked",
        Verdict::Ask => "asked about",
        Verdict::Warn => "warned about",
        Verdict::Watch => "watched, not blocked",
    };
    let is_trusted = rule.is_persons() || (asked.trusts_texts)();
    let reason = rule.reason().filter(|_| is_trusted);
    let instead = rule.instead().filter(|_| is_trusted);
    let mut text = format!("{code}: {what} is {did} ({}{how}).", hit.by);
    if let Some(reason) = &reason {
        text = format!("{text}\n{reason}");
    }
    if !is_trusted && (rule.reason().is_some() || rule.instead().is_some()) {
        text = format!(
            "{text}\nThe rule `{id}` of this project covers this. Its own reason is shown only after `tollgate trust`."
        );
    }
    let short = format!("{what} ({}{how})", hit.by);
    let mut finding = Finding::new(code, text, short);
    if let Some(instead) = instead {
        finding = finding.next(Next::team(instead));
    }
    finding.by(NAME)
}

/// What would be done, for the agent and the person.
pub fn describe(effect: &Effect) -> String {
    let source = effect.source.trim();
    let what = match &effect.action {
        Action::Write(target) => format!("writing {target}"),
        Action::Delete(target) => format!("deleting {target}"),
        Action::Read(target) => format!("reading {target}"),
        Action::Run { program, .. } => format!("running {program}"),
        Action::Fetch { host } => match host {
            Some(host) => format!("fetching from {host}"),
            None => "fetching from an unknown host".to_owned(),
        },
        Action::Commit { branches, .. } => match branches.first() {
            Some(Some(branch)) => format!("a commit to {branch}"),
            Some(None) | None => "a commit".to_owned(),
        },
        Action::Push {
            remote,
            branches,
            force,
            delete,
            mirror,
            ..
        } => {
            let kind = match (mirror, delete, force) {
                (true, _, _) => "a mirror push",
                (false, true, _) => "a push that removes a branch",
                (false, false, true) => "a force push",
                (false, false, false) => "a push",
            };
            let to = [remote.as_ref(), branches.first().and_then(Option::as_ref)];
            let to: Vec<&str> = to.into_iter().flatten().map(String::as_str).collect();
            if to.is_empty() {
                kind.to_owned()
            } else {
                format!("{kind} to {}", to.join(" "))
            }
        }
        Action::Opaque => "a command whose effects are unknown".to_owned(),
    };
    if source.is_empty() || what.ends_with(source) {
        what
    } else {
        format!("{what} by `{source}`")
    }
}

fn unseen_note(ids: &[String], effects: &[Effect]) -> Finding {
    let unseen = effects
        .iter()
        .find(|effect| effect.action == Action::Opaque || effect.certainty == Certainty::Unknown);
    let what = unseen.or(effects.first()).map(describe).unwrap_or_default();
    let reason = format!("allowed: {what}, which {} may cover", ids.join(", "));
    Finding::new(UNSEEN, "", reason).by(NAME)
}

/// Whether a rule about a stop is broken: files that it names changed, and none of those that must
/// change with them. The first such file, if it is.
pub fn unaccompanied<'f>(
    rule: &Rule<'_>,
    changed: &'f [Effect],
    places: &Places<'_>,
) -> Option<Hit<'f>> {
    let with = rule.changed_with()?;
    let hit = rule.hit(changed, places)?;
    let is_there = changed.iter().any(|effect| match &effect.action {
        Action::Write(target) | Action::Delete(target) => {
            covered(&with, target, places).0 == Matched::Yes
        }
        Action::Read(_)
        | Action::Run { .. }
        | Action::Fetch { .. }
        | Action::Commit { .. }
        | Action::Push { .. }
        | Action::Opaque => false,
    });
    (!is_there).then_some(hit)
}

impl Protocol {
    /// What rules and people call the agent.
    pub fn agent_name(self) -> &'static str {
        match self.as_str() {
            "claude" => "claude-code",
            name => name,
        }
    }

    /// Whether it is the dialect of a real agent.
    pub fn is_agent(self) -> bool {
        !self.row().marks.is_empty()
    }
}

/// What an event's tool call would do in a world that need not exist, as examples have it.
pub fn effects_in(event: &Event<'_>, root: &Path, world: &World<'_>) -> Vec<Effect> {
    let Some(tool) = &event.tool else {
        return Vec::new();
    };
    if let ToolCall::Shell { command } = &tool.call {
        return tollgate_shell::effects(&tollgate_shell::survey(command, world), world);
    }
    let absolute = |path: &str| {
        let at_home = path.strip_prefix("~/").zip(world.home);
        lexical(&match at_home {
            Some((rest, home)) => home.join(rest),
            None => root.join(path),
        })
    };
    tool_effects(tool, &absolute)
}

/// What the rules about files that must change together say to a stop.
pub fn decide_stop(
    rules: Rules<'_>,
    changed: &[Effect],
    places: &Places<'_>,
    facts: &Facts<'_>,
    asked: &mut Asked<'_>,
) -> Decision {
    let mut met = Vec::new();
    for rule in rules.all() {
        if rule.ends() && !rule.holds_on(&(facts.day)()) {
            continue;
        }
        let Some(hit) = unaccompanied(&rule, changed, places) else {
            continue;
        };
        if !rule.holds(&|question| (facts.fact)(question)) {
            continue;
        }
        // A person cannot be asked at a stop.
        let verdict = match rule.verdict() {
            Verdict::Ask => Verdict::Deny,
            verdict @ (Verdict::Deny | Verdict::Warn | Verdict::Watch) => verdict,
        };
        let mut finding = finding(&rule, &hit, verdict, asked);
        let with = rule.changed_with().unwrap_or_default();
        let with: Vec<_> = with
            .iter()
            .filter_map(|glob| glob.strip_prefix('+'))
            .collect();
        let file = &hit.effect.source;
        finding.reason = format!("{file} changed, and nothing in {} did", with.join(", "));
        finding.text = format!("{CODE}{}: {}.", rule.id(), finding.reason);
        if let Some(reason) = rule
            .reason()
            .filter(|_| rule.is_persons() || (asked.trusts_texts)())
        {
            finding.text = format!("{}\n{reason}", finding.text);
        }
        let work = format!(
            "change what goes with {file} in {} as well",
            with.join(", ")
        );
        finding.next.get_or_insert(Next::retry([Step::Work(work)]));
        met.push(Met { verdict, finding });
    }
    strictest(met, asked).by(NAME)
}
