//! Who owns which phase: `skills-manifest.json`, read as it is.

use std::borrow::Cow;

use super::{agents, phases};
use crate::json::{Malformed, Node, Object};

/// What an agent is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role<'a> {
    /// It works in one phase.
    Phase(Cow<'a, str>),
    /// It sets projects up or steers all phases: handing it work is no phase delegation.
    Free,
}

/// The ownership part of a manifest, in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Manifest<'a> {
    owners: Vec<(Cow<'a, str>, Role<'a>)>,
    /// Those who steer every phase (`all`), as opposed to those who set projects up.
    steering: Vec<Cow<'a, str>>,
    /// The file itself, for what an event does not need.
    text: &'a str,
}

impl<'a> Manifest<'a> {
    /// Reads the text of a `skills-manifest.json`. Entries of another shape are passed over.
    pub fn parse(text: &'a str) -> Result<Self, Malformed> {
        let root = Object::parse(text)?;
        let ownership = root.object("ownership").unwrap_or_default();
        let mut manifest = Self {
            text,
            ..Self::default()
        };
        for (name, owner) in ownership.iter() {
            let Some(phase) = owner.get("phase").and_then(Node::str) else {
                continue;
            };
            let name = Cow::Owned(name.to_lowercase());
            if phase == "all" {
                manifest.steering.push(Cow::clone(&name));
            }
            manifest.owners.push((name, Role::of(&phase)));
        }
        Ok(manifest)
    }

    /// The manifest of a project that brings none: the built-in agents.
    pub fn built_in() -> Self {
        let free = [
            "sdlc-orchestrator",
            "skill-manager",
            "discover-orchestrator",
        ];
        let owners = free
            .iter()
            .map(|name| (Cow::Borrowed(*name), Role::Free))
            .chain(phases::PHASES.iter().map(|(phase, agent)| {
                // The upgrade engineer has two phases; its family key stands for both.
                let phase = if *agent == "upgrade-engineer" {
                    "15-upgrade"
                } else {
                    phase
                };
                (Cow::Borrowed(*agent), Role::Phase(Cow::Borrowed(phase)))
            }))
            .collect();
        let steering = vec!["sdlc-orchestrator".into(), "skill-manager".into()];
        Self {
            owners,
            steering,
            text: "",
        }
    }

    /// The skills of the agent of this normalised name, a line each. A manifest lists them by
    /// their ids alone, or as objects that say more.
    pub fn skills(&self, agent: &str) -> Vec<String> {
        let Some(ownership) = Object::parse(self.text)
            .ok()
            .and_then(|root| root.object("ownership"))
        else {
            return Vec::new();
        };
        let owner = ownership
            .iter()
            .find(|(name, _)| name.to_lowercase() == agent);
        let listed = owner.and_then(|(_, owner)| owner.get("skills")?.array());
        listed
            .unwrap_or_default()
            .iter()
            .filter_map(|skill| skill_line(*skill))
            .collect()
    }

    /// The phase that the manifest files the agent of this normalised name under: a key, `all`
    /// or `setup`.
    pub fn filed_under(&self, agent: &str) -> Option<&str> {
        Some(match self.role(agent)? {
            Role::Phase(phase) => phase,
            Role::Free if self.steering.iter().any(|name| name == agent) => "all",
            Role::Free => "setup",
        })
    }

    /// What the agent of this normalised name is for, if the manifest knows it.
    pub fn role(&self, agent: &str) -> Option<&Role<'a>> {
        self.owners
            .iter()
            .find(|(name, _)| name == agent)
            .map(|(_, role)| role)
    }

    /// Agents that own a phase, with it.
    pub fn phase_agents(&self) -> impl Iterator<Item = (&str, &str)> {
        self.owners.iter().filter_map(|(name, role)| match role {
            Role::Phase(phase) => Some((name.as_ref(), phase.as_ref())),
            Role::Free => None,
        })
    }

    /// Whether the agent exists under any spelling, and what it is for.
    pub fn find(&self, spelling: &str) -> Option<(String, &Role<'a>)> {
        let name = agents::normalize(spelling);
        let role = self.role(&name)?;
        Some((name, role))
    }
}

/// `DEV-001`, or `DEV-001: name - description` of an object that has them.
fn skill_line(skill: Node<'_>) -> Option<String> {
    if let Some(id) = skill.str() {
        return (!id.is_empty()).then(|| id.into_owned());
    }
    let skill = skill.object()?;
    let said = |keys: &[&str]| {
        keys.iter()
            .find_map(|key| skill.str(key).filter(|text| !text.is_empty()))
    };
    let id = said(&["id", "skill_id"]);
    let more = [said(&["name"]), said(&["description", "summary"])];
    let more: Vec<String> = more.into_iter().flatten().map(Cow::into_owned).collect();
    let line = id.map(Cow::into_owned).into_iter();
    let more = (!more.is_empty()).then(|| more.join(" - "));
    let line = line.chain(more).collect::<Vec<_>>().join(": ");
    (!line.is_empty()).then_some(line)
}

impl Role<'_> {
    fn of(phase: &str) -> Self {
        match phase {
            "all" | "setup" => Self::Free,
            _ => Self::Phase(Cow::Owned(phases::canonical(phase).to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_come_from_the_file() {
        let text = r#"{"ownership":{"sdlc-orchestrator":{"phase":"all"},"x":{"phase":7},"y":3,
            "Software-Developer":{"phase":"06-implementation"},"old":{"phase":"13-test-deploy"}}}"#;
        let manifest = Manifest::parse(text).unwrap();
        assert_eq!(manifest.role("sdlc-orchestrator"), Some(&Role::Free));
        assert_eq!(manifest.filed_under("sdlc-orchestrator"), Some("all"));
        assert_eq!(manifest.filed_under("old"), Some("12-test-deploy"));
        assert_eq!(manifest.role("x"), None);
        let (name, role) = manifest.find("isdlc:software_developer").unwrap();
        assert_eq!(name, "software-developer");
        assert_eq!(role, &Role::Phase("06-implementation".into()));
        assert_eq!(
            manifest.role("old"),
            Some(&Role::Phase("12-test-deploy".into()))
        );
    }
}
