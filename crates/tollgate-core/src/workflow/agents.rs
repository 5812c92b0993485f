//! The names of sub-agents, and the many ways to write one.
//!
//! A guard that looks up `software-developer` and is shown `isdlc:Software_Developer.md` or a
//! name with a zero-width space in it must find the same agent, or it is switched off by
//! spelling.

use unicode_normalization::UnicodeNormalization as _;

/// Longer than any name that is meant as one.
const MAX_NAME: usize = 128;

/// Short and numbered names, and the agents they stand for.
const ALIASES: &[(&str, &str)] = &[
    ("orchestrator", "sdlc-orchestrator"),
    ("requirements", "requirements-analyst"),
    ("architect", "solution-architect"),
    ("designer", "system-designer"),
    ("test-design", "test-design-engineer"),
    ("developer", "software-developer"),
    ("tester", "integration-tester"),
    ("qa", "qa-engineer"),
    ("security", "security-compliance-auditor"),
    ("cicd", "cicd-engineer"),
    ("dev-env", "environment-builder"),
    ("dev-environment-engineer", "environment-builder"),
    ("staging", "deployment-engineer-staging"),
    ("release", "release-manager"),
    ("sre", "site-reliability-engineer"),
    ("quality-loop", "quality-loop-engineer"),
    ("ql", "quality-loop-engineer"),
    ("d0", "discover-orchestrator"),
    ("discovery", "discover-orchestrator"),
    ("d1", "architecture-analyzer"),
    ("arch-analyzer", "architecture-analyzer"),
    ("d2", "test-evaluator"),
    ("d3", "constitution-generator"),
    ("d4", "skills-researcher"),
    ("d5", "data-model-analyzer"),
    ("d6", "feature-mapper"),
    ("d7", "product-analyst"),
    ("d8", "architecture-designer"),
    ("arch-designer", "architecture-designer"),
];

/// The one spelling of an agent's name: compatibility forms folded, invisible characters
/// dropped, lower case, plugin or folder prefix and `.md` removed, its words joined by `-` whatever
/// was between them, short names resolved.
///
/// Empty for what is no name: nothing, a path that climbs, something far too long.
pub fn normalize(name: &str) -> String {
    if name.len() > MAX_NAME {
        return String::new();
    }
    let folded: String = if name.is_ascii() {
        let seen = name.chars().filter(|c| !is_invisible(*c));
        seen.map(|c| c.to_ascii_lowercase()).collect()
    } else {
        let seen = name.nfkc().filter(|c| !is_invisible(*c));
        seen.flat_map(char::to_lowercase).collect()
    };
    let trimmed = folded.trim();
    if trimmed.split(['/', ':']).any(|segment| segment == "..") {
        return String::new();
    }
    let last = trimmed.rsplit(['/', ':']).next().unwrap_or(trimmed);
    let words = last.strip_suffix(".md").unwrap_or(last);
    let words = words.split(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let base = words.join("-");
    let bare = without_number(&base);
    resolve(&base)
        .or_else(|| resolve(bare))
        .unwrap_or(bare)
        .to_owned()
}

fn resolve(name: &str) -> Option<&'static str> {
    ALIASES
        .iter()
        .find(|(alias, _)| *alias == name)
        .map(|(_, agent)| *agent)
}

/// `05-software-developer` and `d2-test-evaluator` without their number.
fn without_number(name: &str) -> &str {
    let Some((number, rest)) = name.split_once('-') else {
        return name;
    };
    let numbered = match number.as_bytes() {
        [a, b] => (a.is_ascii_digit() && b.is_ascii_digit()) || (*a == b'd' && b.is_ascii_digit()),
        _ => false,
    };
    if numbered && rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
        rest
    } else {
        name
    }
}

/// Format characters (general category Cf) and controls: present in the text, not on the screen.
fn is_invisible(c: char) -> bool {
    (c.is_control() && !c.is_whitespace())
        || matches!(c,
            '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{180e}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e007f}' | '\u{fe00}'..='\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use super::normalize;

    #[test]
    fn one_agent_many_spellings() {
        for name in [
            "software-developer",
            "Software-Developer",
            "software_developer",
            " software-developer\n",
            "05-software-developer",
            "developer",
            "software developer",
            "Software  Developer",
            "software.developer",
            "software - developer",
            "software\tdeveloper",
            "05 software developer",
            "isdlc:Software Developer",
            "isdlc:software-developer",
            "isdlc/agents/software-developer.md",
            "software\u{2011}developer",
            "software-developer\u{200b}",
            "ｓｏｆｔｗａｒｅ－ｄｅｖｅｌｏｐｅｒ",
        ] {
            assert_eq!(normalize(name), "software-developer", "{name:?}");
        }
        assert_eq!(normalize("07-qa-engineer"), "qa-engineer");
        assert_eq!(
            normalize("10-dev-environment-engineer"),
            "environment-builder"
        );
        assert_eq!(normalize("D0"), "discover-orchestrator");
        assert_eq!(normalize("d2-test-evaluator"), "test-evaluator");
    }

    #[test]
    fn what_is_no_name_is_empty() {
        assert_eq!(normalize(""), "");
        assert_eq!(normalize("../software-developer"), "");
        assert_eq!(normalize(&"x".repeat(4000)), "");
        assert_eq!(normalize("__proto__"), "proto");
        assert_eq!(normalize(" -- "), "");
    }
}
