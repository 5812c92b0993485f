//! What a phase must have done before its gate opens: `iteration-requirements.json`, with the
//! overrides of the running workflow on top.
//!
//! The original merged in three ways: the corridor two sections and one level deep, the gate
//! all of it, the constitution validator nothing. Here every guard sees the same: an override
//! replaces what it names, member by member, and a phase is found by any name it has had.

use super::evidence::ELICITATION;
use super::phases;
use tollgate_store::json::{Node, Object};

/// The requirements of one phase, or one section of them.
#[derive(Clone, Debug, Default)]
pub struct Requirements<'a> {
    /// What was said about it, the one that wins first.
    layers: Vec<Object<'a>>,
}

impl<'a> Requirements<'a> {
    /// The requirements of `phase` in a workflow of this type; nothing if there are none.
    pub fn of(config: &Object<'a>, workflow_type: Option<&str>, phase: &str) -> Option<Self> {
        let overrides =
            workflow_type.and_then(|kind| config.object("workflow_overrides")?.object(kind));
        let filed = [overrides, config.object("phase_requirements")].into_iter();
        let layers: Vec<_> = filed
            .flatten()
            .filter_map(|filed| find(&filed, phase))
            .collect();
        (!layers.is_empty()).then_some(Self { layers })
    }

    /// A member.
    pub fn get(&self, key: &str) -> Option<Node<'a>> {
        self.layers.iter().find_map(|layer| layer.get(key))
    }

    /// A member that is an object, merged; empty if there is none.
    #[must_use]
    pub fn section(&self, key: &str) -> Self {
        let said = self.layers.iter().filter_map(|layer| layer.get(key));
        // A `null` or `false` over an object means that there is none.
        let layers = said.map_while(Node::object).collect();
        Self { layers }
    }

    /// The section if it is switched on.
    pub fn enabled(&self, key: &str) -> Option<Self> {
        let section = self.section(key);
        section.get("enabled")?.truthy().then_some(section)
    }

    /// Whether the section was switched off, rather than never mentioned.
    pub fn is_off(&self, key: &str) -> bool {
        let switch = self.section(key).get("enabled");
        match (self.get(key), switch) {
            (None, _) => false,
            (Some(_), Some(switch)) => !switch.truthy(),
            (Some(said), None) => said.object().is_none(),
        }
    }

    /// How many minutes the phase may take, where it is said.
    pub fn timeout_minutes(&self) -> Option<u64> {
        let talk = self.section(ELICITATION);
        let said = [talk.get("timeout_minutes"), self.get("timeout_minutes")];
        let mut said = said.into_iter().flatten().filter_map(Node::u64);
        said.find(|minutes| *minutes > 0)
    }

    /// A member that is a whole number.
    pub fn u64(&self, key: &str) -> Option<u64> {
        self.get(key)?.u64()
    }

    /// The texts in a member that is an array.
    pub fn texts(&self, key: &str) -> Vec<String> {
        self.get(key).and_then(Node::texts).unwrap_or_default()
    }
}

/// What is filed under any name of the phase. The names of today and of the table of aliases
/// go before a mere other number: `05-implementation` was what is `06-implementation` now.
fn find<'a>(filed: &Object<'a>, phase: &str) -> Option<Object<'a>> {
    phases::spellings(phase)
        .find_map(|key| filed.object(key))
        .or_else(|| {
            let mut renumbered = filed.members().filter(|(key, _)| {
                !phases::is_built_in(key) && phases::differ_in_number(key, phase)
            });
            renumbered.find_map(|(_, node)| node.object())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = r#"{"phase_requirements":{
        "06-implementation":{"timeout_minutes":90,
            "test_iteration":{"enabled":true,"max_iterations":10,
                "success_criteria":{"min_coverage_percent":80,"all_tests_passing":true}},
            "constitutional_validation":{"enabled":true,"articles":["I","II"]}},
        "12-test-deploy":{"test_iteration":{"enabled":true}}},
      "workflow_overrides":{"fix":{
        "05-implementation":{"test_iteration":{"success_criteria":{"min_coverage_percent":60}},
            "constitutional_validation":{"articles":["V"]}},
        "13-test-deploy":{"test_iteration":{"enabled":false}}},
       "quick":{"06-implementation":{"test_iteration":null}}}}"#;

    fn of<'a>(config: &Object<'a>, kind: &str, phase: &str) -> Requirements<'a> {
        Requirements::of(config, Some(kind), phase).unwrap()
    }

    /// D9: `workflow_overrides` were merged in three ways, and under old phase keys not at all.
    #[test]
    fn d9_overrides_are_merged_deep_and_arrays_replaced() {
        let config = Object::parse(CONFIG).unwrap();
        let merged = of(&config, "fix", "06-implementation");
        let tests = merged.enabled("test_iteration").unwrap();
        assert_eq!(tests.u64("max_iterations"), Some(10));
        let criteria = tests.section("success_criteria");
        assert_eq!(criteria.u64("min_coverage_percent"), Some(60));
        assert!(criteria.get("all_tests_passing").unwrap().is_true());
        let articles = merged
            .section("constitutional_validation")
            .texts("articles");
        assert_eq!(articles, ["V"]);
    }

    /// D9: `workflow_overrides` were merged in three ways, and under old phase keys not at all.
    /// TS-008: `13-test-deploy`, an old key, means `12-test-deploy` everywhere.
    #[test]
    fn d9_and_ts008_phases_are_found_by_every_name() {
        let config = Object::parse(CONFIG).unwrap();
        for phase in ["12-test-deploy", "13-test-deploy"] {
            assert!(
                of(&config, "feature", phase)
                    .enabled("test_iteration")
                    .is_some()
            );
            assert!(
                of(&config, "fix", phase)
                    .enabled("test_iteration")
                    .is_none()
            );
        }
        assert!(Requirements::of(&config, Some("fix"), "07-testing").is_none());
    }

    #[test]
    fn an_override_can_take_a_section_away() {
        let config = Object::parse(CONFIG).unwrap();
        let merged = of(&config, "quick", "06-implementation");
        assert!(merged.enabled("test_iteration").is_none());
        assert!(merged.enabled("constitutional_validation").is_some());
        assert!(merged.is_off("test_iteration") && !merged.is_off("artifact_validation"));
    }
}
