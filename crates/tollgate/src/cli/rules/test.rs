//! `tollgate rules test`: every example through the tools of every agent.

use std::process::ExitCode;

use serde_json::json;
use tollgate_core::protocol::Protocol;

use super::super::plain::{Plain, count};
use super::super::{CommandResult, ERROR, GOOD};
use super::Project;
use crate::config::node::Node;
use crate::config::rules::{Example, failure};

pub(super) fn run(as_json: bool) -> CommandResult {
    let project = Project::right()?;
    let agents: Vec<Protocol> = Protocol::ALL
        .iter()
        .copied()
        .filter(|one| one.is_agent())
        .collect();
    let (mut examples, mut plays) = (0, 0);
    let mut failures = Vec::new();
    for rule in &project.merged.rules {
        for (key, wanted) in [("match", true), ("not_match", false)] {
            let items = rule.node.get(key).map(Node::items).unwrap_or_default();
            for example in items.iter().filter_map(|item| Example::read(item).ok()) {
                examples += 1;
                for agent in &agents {
                    let Some(tried) = example.play(rule, *agent) else {
                        continue;
                    };
                    plays += 1;
                    if tried.is_matched != wanted {
                        failures.push((agent.agent_name(), failure(rule, &example, &tried)));
                    }
                }
            }
        }
    }
    let is_right = failures.is_empty();
    if as_json {
        let failures: Vec<_> = failures
            .iter()
            .map(|(agent, what)| json!({ "agent": agent, "what": what }))
            .collect();
        anstream::println!(
            "{:#}",
            json!({ "rules": project.merged.rules.len(), "examples": examples, "plays": plays, "failures": failures })
        );
    } else {
        for (agent, what) in &failures {
            out!("{ERROR}fail{ERROR:#}  {agent}: {}", Plain(what));
        }
        let (style, word) = if is_right {
            (GOOD, "all as expected".to_owned())
        } else {
            (ERROR, format!("{} failed", failures.len()))
        };
        let rules = count(project.merged.rules.len(), "rule");
        let examples = count(examples, "example");
        out!(
            "{style}●{style:#} {examples} of {rules}, played {plays} times with the tools of {} agents: {word}",
            agents.len()
        );
    }
    Ok(ExitCode::from(u8::from(!is_right)))
}
