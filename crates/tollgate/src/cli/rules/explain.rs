//! `tollgate rules explain`: what a command line would do here, and which rules it meets.

use std::process::ExitCode;

use jiff::Timestamp;
use serde_json::{Value, json};
use tollgate_core::context::{EventContext, Inputs};
use tollgate_core::protocol::{self, Hints, Protocol};
use tollgate_core::rules::{self, Facts, Matched, Places, Rule, Rules};
use tollgate_shell::Certainty;

use super::super::plain::Plain;
use super::super::{BOLD, CommandResult, DIM, ERROR, GOOD, HINT, Trouble, WARN};
use super::Project;
use crate::changes;
use crate::config::rules::{Call, Example};
use crate::rules::word;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// The command line, as an agent would run it here
    command: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A rule that the command meets.
struct Met {
    id: String,
    verdict: &'static str,
    by: String,
    effect: String,
    /// Why it does not count, if it does not.
    unless: Option<&'static str>,
    instead: Option<String>,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let project = Project::right()?;
    let now = Timestamp::now();
    let cwd = project.env.cwd.clone();
    let root = cwd.as_deref().unwrap_or(project.layout.root());
    let example = Example::of(Call::Run(arguments.command.clone()));
    let event = example
        .event(Protocol::Claude, root)
        .unwrap_or_default()
        .to_string();
    let event = protocol::parse(&event, &Hints::default())
        .map_err(|error| Trouble::new(error.to_string()))?;
    let inputs = Inputs::new(
        project.layout.clone(),
        project.env.clone(),
        cwd.clone(),
        now,
    )
    .asking(changes::SOURCES);
    let context = EventContext::new(&event, &inputs);
    let met = met(&context, &inputs);
    if arguments.json {
        print_json(&context, &met);
    } else {
        print(&context, &met);
    }
    Ok(ExitCode::SUCCESS)
}

fn met(context: &EventContext<'_>, inputs: &Inputs) -> Vec<Met> {
    let text = inputs.rules().and_then(|rules| rules.text.as_deref());
    let Some(all) = text.and_then(Rules::of) else {
        return Vec::new();
    };
    let facts = Facts::of(context);
    let met = |places: &Places<'_>, rule: Rule<'_>| {
        let hit = rule.hit(context.call.effects(), places)?;
        let verdict = match hit.matched {
            Matched::Yes => Some(rule.verdict()),
            Matched::Unknown => rule.unknown(),
            Matched::No => None,
        };
        let unless = if !rule.holds_on(&(facts.day)()) {
            Some("it has expired")
        } else if !rule.holds(&|question| (facts.fact)(question)) {
            Some("its `when` or `unless` excludes it now")
        } else if verdict.is_none() {
            Some("it is unknown whether this is covered, and the rule allows that (`unknown`)")
        } else if rule.is_conditional() {
            Some("only after what `after` names")
        } else {
            None
        };
        Some(Met {
            id: rule.id(),
            verdict: verdict.map_or("pass", word),
            by: hit.by,
            effect: rules::describe(hit.effect),
            unless,
            instead: rule.instead(),
        })
    };
    rules::at(context, all.folds, |places| {
        let rules = all.all().filter(|rule| rule.changed_with().is_none());
        rules.filter_map(|rule| met(places, rule)).collect()
    })
}

fn certainty(certainty: Certainty) -> &'static str {
    match certainty {
        Certainty::Certain => "certain",
        Certainty::Possible => "possible",
        Certainty::Unknown => "unknown",
    }
}

fn print(context: &EventContext<'_>, met: &[Met]) {
    out!("{BOLD}Effects{BOLD:#}");
    for effect in context.call.effects() {
        let sure = certainty(effect.certainty);
        out!(
            "  {DIM}{sure:<8}{DIM:#}  {}",
            Plain(&rules::describe(effect))
        );
    }
    if context.call.effects().is_empty() {
        out!("  none");
    }
    out!("{BOLD}Rules{BOLD:#}");
    for one in met {
        let style = match one.verdict {
            "deny" => ERROR,
            "ask" | "warn" => WARN,
            _ => DIM,
        };
        out!(
            "  {style}{:<5}{style:#}  RULE:{}  {} covers {}",
            one.verdict,
            Plain(&one.id),
            Plain(&one.by),
            Plain(&one.effect)
        );
        if let Some(unless) = one.unless {
            out!("         {DIM}but: {unless}{DIM:#}");
        } else if let Some(instead) = &one.instead {
            out!("         {HINT}instead{HINT:#}: {}", Plain(instead));
        }
    }
    let counting = met.iter().filter(|one| one.unless.is_none());
    let counting = counting.filter(|one| matches!(one.verdict, "deny" | "ask"));
    if counting.count() == 0 {
        out!("{GOOD}No rule blocks it.{GOOD:#}");
    }
}

fn print_json(context: &EventContext<'_>, met: &[Met]) {
    let effects = context.call.effects().iter().map(|effect| {
        json!({
            "effect": rules::key(&effect.action), "certainty": certainty(effect.certainty),
            "what": rules::describe(effect), "source": effect.source,
        })
    });
    let rules = met.iter().map(|one| {
        json!({
            "id": one.id, "verdict": one.verdict, "by": one.by, "effect": one.effect,
            "unless": one.unless, "instead": one.instead,
        })
    });
    let value = json!({
        "effects": effects.collect::<Vec<Value>>(), "rules": rules.collect::<Vec<Value>>(),
    });
    anstream::println!("{value:#}");
}
