//! Does a tool call delegate a phase of the workflow, and which?
//!
//! The agent that is asked decides. Text counts only where no agent of the manifest is named,
//! and there only in forms that are not written by accident: a `Phase key:` line, "Execute
//! Phase 06", "You are the qa-engineer". The original searched prompts for words: "initial"
//! switched the guards off, and "sha256-based" was phase `56-based`.

use std::borrow::Cow;

use super::manifest::{Manifest, Role};
use super::{agents, phases};
use crate::text::{is_negation, is_word, last_words, places};

/// What a delegation to a sub-agent means for the workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delegation {
    /// No phase work.
    None,
    /// Work of this phase.
    Phase(Target),
    /// A `Phase key:` line names a phase that does not exist.
    UnknownPhase(String),
}

/// Whom a phase is handed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The phase, by today's name.
    pub phase: String,
    /// The agent, if one is named.
    pub agent: Option<String>,
}

/// Commands that prepare a project or ask about it: never phase work.
pub const SETUP_WORDS: &[&str] = &[
    "discover",
    "constitution",
    "init",
    "setup",
    "configure",
    "configure-cloud",
    "new project",
    "project setup",
    "install",
    "status",
];

/// Longer prompts are read up to here; what makes a delegation stands at the top.
const MAX_TEXT: usize = 64 * 1024;

/// Decides what handing `prompt` and `description` to `agent` means. `workflow_phases` are the
/// phases of the running workflow, which need not be built-in ones.
pub fn detect(
    agent: &str,
    prompt: &str,
    description: &str,
    manifest: &Manifest<'_>,
    workflow_phases: &[String],
) -> Delegation {
    // An event that names two agents hides none of them: if one works in a phase, it counts.
    let named = agent.trim().lines().map(agents::normalize);
    let roles: Vec<_> = named
        .filter_map(|name| Some((manifest.role(&name)?, name)))
        .collect();
    if !roles.is_empty() {
        let mut working = roles.into_iter().filter_map(|(role, name)| match role {
            Role::Phase(phase) => Some(Target {
                phase: phase.into_owned(),
                agent: Some(name),
            }),
            Role::Free => None,
        });
        return working.next().map_or(Delegation::None, Delegation::Phase);
    }
    let text = format!("{}\n{}", head(prompt), head(description)).to_lowercase();
    let reader = Reader {
        text: &text,
        manifest,
        workflow_phases,
    };
    match reader.phase_key_line() {
        Delegation::None => {}
        found @ (Delegation::Phase(_) | Delegation::UnknownPhase(_)) => return found,
    }
    if leads_with_setup(&text) {
        return Delegation::None;
    }
    let found = reader.impersonation().or_else(|| reader.execute_phase());
    // A call that names no agent at all is all text: there a lone mention counts, as the
    // specification has it. An agent the manifest does not know (Explore, general-purpose, a
    // team's own) hears about phases and agents all day without doing their work.
    let mention = || agent.trim().is_empty().then(|| reader.mention())?;
    let found = found.or_else(mention);
    found.map_or(Delegation::None, Delegation::Phase)
}

/// Whether a text begins with a setup command, as a whole word and behind an optional slash.
pub fn leads_with_setup(text: &str) -> bool {
    let text = text.trim_start().trim_start_matches('/');
    let text = text.trim_start_matches("isdlc ").trim_start();
    SETUP_WORDS.iter().any(|word| {
        let parts = text.split_at_checked(word.len());
        parts.is_some_and(|(head, rest)| {
            head.eq_ignore_ascii_case(word) && !rest.starts_with(is_word)
        })
    })
}

/// As much of a text as is read.
pub(crate) fn head(text: &str) -> &str {
    let end = text.floor_char_boundary(MAX_TEXT);
    text.get(..end).unwrap_or(text)
}

/// Finds phase work in a text in lower case.
struct Reader<'a> {
    text: &'a str,
    manifest: &'a Manifest<'a>,
    workflow_phases: &'a [String],
}

impl Reader<'_> {
    /// A line `Phase key: 06-implementation` or `phase_key = 06-implementation`.
    fn phase_key_line(&self) -> Delegation {
        for line in self.text.lines() {
            let line = line.trim_start_matches([' ', '\t', '-', '*', '>', '#']);
            let Some(rest) = line.strip_prefix("phase") else {
                continue;
            };
            let Some(rest) = rest.strip_prefix([' ', '_', '-']) else {
                continue;
            };
            let Some(rest) = rest.trim_start().strip_prefix("key") else {
                continue;
            };
            let rest = rest.trim_start_matches(['*', '`', '"', ' ', '\t']);
            let Some(value) = rest.strip_prefix([':', '=']) else {
                continue;
            };
            let value = value.trim_matches([' ', '\t', '*', '`', '"', '\'', '.']);
            let key: String = value.chars().take_while(|c| is_word(*c)).collect();
            if key.is_empty() {
                continue;
            }
            return match self.known(&key) {
                Some(phase) => Delegation::Phase(Target { phase, agent: None }),
                None => Delegation::UnknownPhase(key),
            };
        }
        Delegation::None
    }

    /// "You are the qa-engineer", "Act as software-developer", "Delegate to …".
    fn impersonation(&self) -> Option<Target> {
        const CALLS: &[&str] = &[
            "you are now",
            "you are",
            "act as",
            "acting as",
            "delegate to",
            "hand off to",
            "hand over to",
            "hand this to",
            "assume the role of",
            "take the role of",
            "take on the role of",
            "in the role of",
        ];
        CALLS.iter().find_map(|call| {
            self.occurrences(call).find_map(|(before, after)| {
                let after = after.trim_start();
                let after = ["the ", "a ", "an ", "our "]
                    .iter()
                    .find_map(|article| after.strip_prefix(article))
                    .unwrap_or(after)
                    .trim_start_matches(['`', '"', '\'', '*', '@']);
                let (agent, phase) = self.named_agent(after)?;
                (!is_negated(before)).then_some(Target {
                    phase,
                    agent: Some(agent),
                })
            })
        })
    }

    /// The agent whose name a text begins with: `qa-engineer`, `qa engineer`.
    fn named_agent(&self, text: &str) -> Option<(String, String)> {
        const MOST_WORDS: usize = 4;
        let line = text.split(|c: char| !(is_word(c) || c == ':' || c == ' '));
        let line = line.into_iter().next()?;
        let mut words: Vec<&str> = line.split(' ').take(MOST_WORDS).collect();
        while !words.is_empty() {
            if let Some(found) = self.phase_agent(&words.join(" ")) {
                return Some(found);
            }
            words.pop();
        }
        None
    }

    /// "Execute Phase 06 - Implementation", "run phase 08-code-review".
    fn execute_phase(&self) -> Option<Target> {
        const VERBS: &[&str] = &[
            "execute", "run", "start", "begin", "perform", "continue", "do", "resume",
        ];
        self.occurrences("phase").find_map(|(before, after)| {
            let lead = before.trim_end().trim_end_matches(" the").trim_end();
            let verb = lead.rsplit(|c: char| !c.is_alphanumeric()).next()?;
            if !VERBS.contains(&verb) || is_negated(lead.strip_suffix(verb)?) {
                return None;
            }
            let phase = self.phase_after(after.trim_start())?;
            Some(Target { phase, agent: None })
        })
    }

    /// `06-implementation`, or `06` with the name that follows it.
    fn phase_after(&self, text: &str) -> Option<String> {
        let key: String = text.chars().take_while(|c| is_word(*c)).collect();
        if let Some(phase) = self.known(&key) {
            return Some(phase);
        }
        let number = key
            .get(..2)
            .filter(|n| n.bytes().all(|b| b.is_ascii_digit()))?;
        if key.len() != 2 {
            return None;
        }
        let name: String = text
            .get(2..)?
            .trim_start_matches([' ', '-', '–', '—', ':', '('])
            .chars()
            .take_while(|c| is_word(*c) || *c == ' ')
            .collect();
        let name = name.trim().replace(' ', "-");
        let candidates: Vec<Cow<'_, str>> =
            self.keys().filter(|key| key.starts_with(number)).collect();
        // Two phases may share a number; then the name, or the running workflow, tells.
        let by_name = candidates.iter().find(|key| {
            key.get(3..)
                .is_some_and(|phase| name.starts_with(phase) && !phase.is_empty())
        });
        let running = candidates.iter().find(|key| {
            self.workflow_phases
                .iter()
                .any(|phase| phases::same(phase, key))
        });
        let only = candidates.first().filter(|_| candidates.len() == 1);
        let found = by_name.or(running).or(only)?;
        Some(phases::canonical(found).to_owned())
    }

    /// Exactly one agent's name, or else one known phase key, standing alone in the text.
    fn mention(&self) -> Option<Target> {
        let is_named = |name: &str| {
            let mut places = self.occurrences(name);
            places.any(|(before, _)| !is_negated(before))
        };
        let agents = self.manifest.phase_agents();
        let mut named = agents.filter(|(agent, _)| is_named(agent));
        if let Some((agent, phase)) = named.next() {
            let target = Target {
                phase: phase.into_owned(),
                agent: Some(agent.to_owned()),
            };
            return named.next().is_none().then_some(target);
        }
        // Of a phase with a plain name, like `design`, a text may speak without handing it over.
        let mut keys = self.keys().filter(|key| phases::is_numbered(key));
        let key = keys.find(|key| is_named(&key.to_ascii_lowercase()))?;
        Some(Target {
            phase: phases::canonical(&key).to_owned(),
            agent: None,
        })
    }

    /// The places where `needle` stands as a whole word: the text before and after it.
    fn occurrences<'t>(&'t self, needle: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
        places(self.text, needle)
    }

    fn phase_agent(&self, word: &str) -> Option<(String, String)> {
        match self.manifest.find(word)? {
            (agent, Role::Phase(phase)) => Some((agent, phase.into_owned())),
            (_, Role::Free) => None,
        }
    }

    /// The phase behind a key in lower case, if it is known. Keys themselves need not be in
    /// lower case: `R1-behavior-extraction`.
    fn known(&self, key: &str) -> Option<String> {
        self.keys()
            .find(|known| known.eq_ignore_ascii_case(key))
            .map(|known| phases::canonical(&known).to_owned())
    }

    fn keys(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let built_in = phases::PHASES.iter().map(|(key, _)| *key);
        let old = phases::ALIASES.iter().map(|(key, _)| *key);
        let owned = self.manifest.phase_agents().map(|(_, phase)| phase);
        let running = self.workflow_phases.iter().map(String::as_str);
        let tables = built_in.chain(old).map(Cow::Borrowed);
        tables.chain(owned).chain(running.map(Cow::Borrowed))
    }
}

/// Whether the last few words say the opposite: "do not touch …", "without …", "unlike …".
fn is_negated(before: &str) -> bool {
    last_words(before, &['.', '!', '?', '\n', ';']).any(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’');
        is_negation(word) || matches!(word, "without" | "no" | "unlike" | "except")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = r#"{"ownership":{
        "sdlc-orchestrator":{"phase":"all"},"discover-orchestrator":{"phase":"setup"},
        "requirements-analyst":{"phase":"01-requirements"},
        "solution-architect":{"phase":"03-architecture"},
        "software-developer":{"phase":"06-implementation"},
        "qa-engineer":{"phase":"08-code-review"},
        "upgrade-engineer":{"phase":"15-upgrade"}}}"#;

    fn ask(agent: &str, prompt: &str) -> Delegation {
        let manifest = Manifest::parse(MANIFEST).unwrap();
        detect(
            agent,
            prompt,
            "",
            &manifest,
            &["01-requirements".into(), "02-tracing".into()],
        )
    }

    fn phase(agent: &str, prompt: &str) -> Option<String> {
        match ask(agent, prompt) {
            Delegation::Phase(target) => Some(target.phase),
            Delegation::None | Delegation::UnknownPhase(_) => None,
        }
    }

    #[test]
    fn the_agent_decides_whatever_the_words() {
        for prompt in [
            "Write type definitions",
            "constitution",
            "status",
            "Phase key: 08-code-review",
        ] {
            assert_eq!(
                phase("software-developer", prompt).as_deref(),
                Some("06-implementation")
            );
        }
        assert_eq!(
            ask("sdlc-orchestrator", "Phase key: 06-implementation"),
            Delegation::None
        );
    }

    #[test]
    fn generic_agents_need_a_structured_text() {
        let yes = [
            ("Phase key: 06-implementation", "06-implementation"),
            ("- **Phase key**: `13-test-deploy`", "12-test-deploy"),
            (
                "Execute Phase 08 - Code Review for the feature workflow.",
                "08-code-review",
            ),
            ("Execute Phase 02 for the fix workflow.", "02-tracing"),
            (
                "Act as the qa-engineer agent and run phase 08-code-review now.",
                "08-code-review",
            ),
            ("You are software-developer. Build it.", "06-implementation"),
            (
                "Delegate to software-developer for the work.",
                "06-implementation",
            ),
        ];
        for (prompt, expected) in yes {
            assert_eq!(
                phase("general-purpose", prompt).as_deref(),
                Some(expected),
                "{prompt}"
            );
        }
        let no = [
            "Summarise the difference between requirements-analyst and solution-architect.",
            "Verify the sha256-based cache key.",
            "Summarise the 2026-02-report file.",
            "Write the pull request text. Do not touch 08-code-review artifacts.",
            "You are not software-developer; you only read.",
            "Find where software-developer is defined.",
            "REQ-0020-phase-handshake-audit",
            "How do I install hooks?",
            "the third phase 06 of the moon",
        ];
        for prompt in no {
            assert_eq!(ask("Explore", prompt), Delegation::None, "{prompt}");
        }
        assert_eq!(
            ask("general-purpose", "Phase key: 99-unknown"),
            Delegation::UnknownPhase("99-unknown".into())
        );
    }

    #[test]
    fn a_call_that_names_no_agent_is_read_as_the_specification_reads_it() {
        assert_eq!(
            phase("", "please let software-developer do it").as_deref(),
            Some("06-implementation")
        );
        assert_eq!(
            phase("", "Work on 03-architecture").as_deref(),
            Some("03-architecture")
        );
        assert_eq!(
            phase("", "discover the project with software-developer"),
            None
        );
        assert_eq!(phase("", "phase 20-phase-handshake"), None);
        assert_eq!(phase("", "look around"), None);
    }

    #[test]
    fn setup_words_lead_and_are_whole() {
        for text in [
            "discover the project",
            "/discover",
            "init",
            "Status of the work",
            "new project x",
        ] {
            assert!(leads_with_setup(text), "{text}");
        }
        for text in [
            "initial work",
            "statusCode",
            "implement the setup",
            "",
            "installed it",
        ] {
            assert!(!leads_with_setup(text), "{text}");
        }
    }
}
