//! Who owns which phase: `skills-manifest.json`, read as it is.

use std::borrow::Cow;

use super::{agents, phases};
use tollgate_store::json::{Malformed, Node, Object};

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
    owners: Vec<Owner<'a>>,
}

/// An agent of the manifest, and what that says about it.
#[derive(Clone, Debug)]
struct Owner<'a> {
    name: Cow<'a, str>,
    /// What it is filed under: a phase by the name of today, `all` or `setup`.
    phase: Option<Cow<'a, str>>,
    skills: Option<Node<'a>>,
}

impl<'a> Manifest<'a> {
    /// Reads the text of a `skills-manifest.json`. Entries of another shape are passed over.
    pub fn parse(text: &'a str) -> Result<Self, Malformed> {
        let ownership = Object::parse_member(text, "ownership")?;
        let owners = ownership.into_members().into_iter().map(|(name, entry)| {
            let is_lower = name
                .bytes()
                .all(|b| b.is_ascii() && !b.is_ascii_uppercase());
            Owner {
                name: if is_lower {
                    name
                } else {
                    name.to_lowercase().into()
                },
                phase: entry.get("phase").and_then(Node::str).map(of_today),
                skills: entry.get("skills"),
            }
        });
        Ok(Self {
            owners: owners.collect(),
        })
    }

    /// The manifest of a project that brings none: the built-in agents.
    pub fn built_in() -> Self {
        let free = [
            ("sdlc-orchestrator", "all"),
            ("skill-manager", "all"),
            ("discover-orchestrator", "setup"),
        ];
        let working = phases::PHASES.iter().map(|(phase, agent)| {
            // The upgrade engineer has two phases; its family key stands for both.
            let is_upgrade = *agent == "upgrade-engineer";
            (*agent, if is_upgrade { "15-upgrade" } else { phase })
        });
        let owners = free.into_iter().chain(working).map(|(name, phase)| Owner {
            name: name.into(),
            phase: Some(phase.into()),
            skills: None,
        });
        Self {
            owners: owners.collect(),
        }
    }

    /// The skills of the agent of this normalised name, a line each. A manifest lists them by
    /// their ids alone, or as objects that say more.
    pub fn skills(&self, agent: &str) -> Vec<String> {
        let owner = self.owners.iter().find(|owner| owner.is_called(agent));
        let listed = owner.and_then(|owner| owner.skills?.array());
        let listed = listed.unwrap_or_default().into_iter();
        listed.filter_map(skill_line).collect()
    }

    /// The phase that the manifest files the agent of this normalised name under: a key, `all`
    /// or `setup`.
    pub fn filed_under(&self, agent: &str) -> Option<Cow<'a, str>> {
        let mut called = self.owners.iter().filter(|owner| owner.is_called(agent));
        called.find_map(|owner| owner.phase.clone())
    }

    /// What the agent of this normalised name is for, if the manifest knows it.
    pub fn role(&self, agent: &str) -> Option<Role<'a>> {
        self.filed_under(agent).map(Role::of)
    }

    /// Agents that own a phase, with it.
    pub fn phase_agents(&self) -> impl Iterator<Item = (&str, Cow<'a, str>)> {
        let owners = self.owners.iter();
        owners.filter_map(|owner| match Role::of(owner.phase.clone()?) {
            Role::Phase(phase) => Some((owner.name.as_ref(), phase)),
            Role::Free => None,
        })
    }

    /// Whether the agent exists under any spelling, and what it is for.
    pub fn find(&self, spelling: &str) -> Option<(String, Role<'a>)> {
        let name = agents::normalize(spelling);
        let role = self.role(&name)?;
        Some((name, role))
    }
}

impl Owner<'_> {
    /// Whether this is the agent of a normalised name, whose words have one `-` between them.
    fn is_called(&self, agent: &str) -> bool {
        let words = self.name.split(|c: char| !c.is_alphanumeric());
        let words = words.filter(|word| !word.is_empty());
        words.eq(agent.split('-'))
    }
}

/// `DEV-001`, or `DEV-001: name - description` of an object that has them.
fn skill_line(skill: Node<'_>) -> Option<String> {
    if let Some(id) = skill.str() {
        return (!id.is_empty()).then(|| id.into_owned());
    }
    let skill = skill.object()?;
    let said = |keys: &[&str]| {
        let mut texts = keys.iter().filter_map(|key| skill.str(key));
        texts.find(|text| !text.is_empty())
    };
    let id = said(&["id", "skill_id"]);
    let more = [said(&["name"]), said(&["description", "summary"])];
    let more: Vec<String> = more.into_iter().flatten().map(Cow::into_owned).collect();
    let line = id.map(Cow::into_owned).into_iter();
    let more = (!more.is_empty()).then(|| more.join(" - "));
    let line = line.chain(more).collect::<Vec<_>>().join(": ");
    (!line.is_empty()).then_some(line)
}

/// A phase by the name of today.
fn of_today(phase: Cow<'_, str>) -> Cow<'_, str> {
    let today = phases::canonical(&phase);
    if today == phase {
        phase
    } else {
        Cow::Owned(today.to_owned())
    }
}

impl<'a> Role<'a> {
    fn of(phase: Cow<'a, str>) -> Self {
        match phase.as_ref() {
            "all" | "setup" => Self::Free,
            _ => Self::Phase(phase),
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
        assert_eq!(manifest.role("sdlc-orchestrator"), Some(Role::Free));
        assert_eq!(manifest.filed_under("sdlc-orchestrator").unwrap(), "all");
        assert_eq!(manifest.filed_under("old").unwrap(), "12-test-deploy");
        assert_eq!(manifest.role("x"), None);
        let (name, role) = manifest.find("isdlc:software_developer").unwrap();
        assert_eq!(name, "software-developer");
        assert_eq!(role, Role::Phase("06-implementation".into()));
        assert_eq!(
            manifest.role("old"),
            Some(Role::Phase("12-test-deploy".into()))
        );
    }
}
