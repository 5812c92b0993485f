//! Phase keys: the known ones, their agents, and the names they had before.

/// Every phase of the built-in workflows with the agent that works in it.
///
/// The originals keep four such tables that disagree on nine keys; this is the only one here.
pub const PHASES: &[(&str, &str)] = &[
    ("00-quick-scan", "quick-scan-agent"),
    ("01-requirements", "requirements-analyst"),
    ("02-impact-analysis", "impact-analysis-orchestrator"),
    ("02-tracing", "tracing-orchestrator"),
    ("03-architecture", "solution-architect"),
    ("04-design", "system-designer"),
    ("05-test-strategy", "test-design-engineer"),
    ("06-implementation", "software-developer"),
    ("07-testing", "integration-tester"),
    ("08-code-review", "qa-engineer"),
    ("09-validation", "security-compliance-auditor"),
    ("10-cicd", "cicd-engineer"),
    ("11-local-testing", "environment-builder"),
    ("12-remote-build", "environment-builder"),
    ("12-test-deploy", "deployment-engineer-staging"),
    ("13-production", "release-manager"),
    ("14-operations", "site-reliability-engineer"),
    ("15-upgrade-plan", "upgrade-engineer"),
    ("15-upgrade-execute", "upgrade-engineer"),
    ("16-quality-loop", "quality-loop-engineer"),
    ("R1-behavior-extraction", "behavior-analyzer"),
    (
        "R2-characterization-tests",
        "characterization-test-generator",
    ),
    ("R3-artifact-integration", "artifact-integrator"),
    ("R4-atdd-bridge", "atdd-bridge"),
];

/// Keys of older releases, and what they are called now.
pub const ALIASES: &[(&str, &str)] = &[
    ("13-test-deploy", "12-test-deploy"),
    ("14-production", "13-production"),
    ("15-operations", "14-operations"),
    ("16-upgrade-plan", "15-upgrade-plan"),
    ("16-upgrade-execute", "15-upgrade-execute"),
];

/// Phases that come before there can be a task plan.
pub const EARLY: &[&str] = &[
    "00-quick-scan",
    "01-requirements",
    "02-impact-analysis",
    "02-tracing",
    "03-architecture",
    "04-design",
    "05-test-strategy",
];

/// The key a phase has today.
pub fn canonical(key: &str) -> &str {
    ALIASES
        .iter()
        .find(|(old, _)| *old == key)
        .map_or(key, |(_, new)| new)
}

/// Every key a phase may be filed under: as given, as it is called today, as it was called.
pub fn spellings(key: &str) -> impl Iterator<Item = &str> {
    let now = canonical(key);
    let before = ALIASES
        .iter()
        .filter(move |(_, new)| *new == now)
        .map(|(old, _)| *old);
    std::iter::once(key)
        .chain(std::iter::once(now))
        .chain(before)
}

/// Whether two keys spell one phase.
pub fn equal(a: &str, b: &str) -> bool {
    canonical(a) == canonical(b)
}

/// Whether two keys name the same phase. A family key stands for its members: the manifest
/// files the upgrade engineer under `15-upgrade`, the workflow says `15-upgrade-plan`. Phases with
/// names have no families: `test` and `test-plan` are two.
pub fn same(a: &str, b: &str) -> bool {
    let (a, b) = (canonical(a), canonical(b));
    let member = |key: &str, family: &str| {
        is_numbered(family)
            && key
                .strip_prefix(family)
                .is_some_and(|rest| rest.starts_with('-'))
    };
    a == b || member(a, b) || member(b, a)
}

/// Whether a key has a number, as those of the specification have: `06-implementation`,
/// `R2-characterization-tests`. Other names of phases are plain words.
pub fn is_numbered(key: &str) -> bool {
    let digits = key.strip_prefix('R').unwrap_or(key);
    digits.starts_with(|c: char| c.is_ascii_digit())
}

/// The phase that a workflow's index points at, if that is another than the current one. Between
/// the end of a phase and the beginning of the next the index is one ahead.
pub fn out_of_step<'p>(listed: &'p [String], index: usize, current: &str) -> Option<&'p str> {
    let expected = listed.get(index)?;
    let before = index.checked_sub(1).and_then(|before| listed.get(before));
    let is_current = |phase: &String| same(phase, current);
    (!is_current(expected) && !before.is_some_and(is_current)).then_some(expected)
}

/// Whether two keys are one name behind two numbers: releases renumbered their phases, and old
/// overrides stayed behind.
pub fn differ_in_number(a: &str, b: &str) -> bool {
    fn name(key: &str) -> Option<&str> {
        let (number, name) = key.split_once('-')?;
        (number.len() == 2 && number.bytes().all(|b| b.is_ascii_digit())).then_some(name)
    }
    a != b && name(a).is_some() && name(a) == name(b)
}

/// Whether the key belongs to a built-in workflow, by today's or an older name.
pub fn is_built_in(key: &str) -> bool {
    let key = canonical(key);
    PHASES.iter().any(|(known, _)| *known == key) || key == "15-upgrade"
}

/// The agent that works in a phase of a built-in workflow.
pub fn agent(key: &str) -> Option<&'static str> {
    let key = canonical(key);
    PHASES
        .iter()
        .find(|(known, _)| *known == key)
        .map(|(_, agent)| *agent)
}

/// A phase's name as people say it: `Impact Analysis` of `02-impact-analysis`.
pub fn title(key: &str) -> String {
    let name = key.split_once('-').map_or(key, |(_, name)| name);
    let words = name.split('-').map(|word| {
        let mut letters = word.chars();
        let first = letters.next().map(char::to_uppercase);
        first
            .into_iter()
            .flatten()
            .chain(letters)
            .collect::<String>()
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The number in front of a key: `03` of `03-architecture`, `??` where there is none.
pub fn gate_number(key: &str) -> &str {
    let digits = key.len() - key.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number = key.get(..digits).filter(|number| !number.is_empty());
    number.unwrap_or("??")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_names_are_the_same_phase() {
        assert!(same("13-test-deploy", "12-test-deploy"));
        assert!(!same("13-production", "12-test-deploy"));
        assert_eq!(canonical("16-upgrade-plan"), "15-upgrade-plan");
        assert_eq!(
            spellings("12-test-deploy").collect::<Vec<_>>(),
            ["12-test-deploy", "12-test-deploy", "13-test-deploy"]
        );
    }

    /// F3: `15-upgrade` of the manifest stands for the phases `15-upgrade-plan` and `15-upgrade-
    /// execute`.
    #[test]
    fn f3_a_family_key_stands_for_its_members() {
        assert!(same("15-upgrade", "15-upgrade-plan"));
        assert!(same("15-upgrade-execute", "15-upgrade"));
        assert!(!same("15-upgrade-plan", "15-upgrade-execute"));
        assert!(!same("1", "15-upgrade"));
        assert!(!same("test", "test-plan"));
    }

    #[test]
    fn risk_003_one_table_says_who_works_in_a_phase() {
        assert_eq!(agent("13-test-deploy"), Some("deployment-engineer-staging"));
        assert_eq!(
            agent("02-impact-analysis"),
            Some("impact-analysis-orchestrator")
        );
        assert_eq!(agent("99-own"), None);
        assert_eq!(title("02-impact-analysis"), "Impact Analysis");
        assert_eq!(title("R4-atdd-bridge"), "Atdd Bridge");
    }

    /// V9 compared names as they are written, so an older name of the phase was a contradiction.
    #[test]
    fn an_index_points_at_the_current_phase_or_one_behind_it_by_any_name() {
        let listed = ["01-requirements", "13-test-deploy", "16-quality-loop"].map(str::to_owned);
        for (index, current, expected) in [
            (1, "12-test-deploy", None),
            (2, "12-test-deploy", None),
            (0, "12-test-deploy", Some("01-requirements")),
            (2, "01-requirements", Some("16-quality-loop")),
            (3, "16-quality-loop", None),
        ] {
            assert_eq!(
                out_of_step(&listed, index, current),
                expected,
                "{index} {current}"
            );
        }
    }

    #[test]
    fn gate_numbers() {
        assert_eq!(gate_number("03-architecture"), "03");
        assert_eq!(gate_number("R1-behavior-extraction"), "??");
    }
}
