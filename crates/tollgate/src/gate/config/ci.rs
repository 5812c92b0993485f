//! `ci.yml`: what continuous integration needs to run the checks.

use tollgate_core::project::Layout;

use super::{ConfigError, Node, Reader, keys};
use crate::config::Place;
use crate::config::node::Value;

/// What `ci.yml` says.
#[derive(Debug)]
pub(crate) struct Ci {
    node: Node,
}

/// A step before a check.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) name: String,
    pub(crate) run: String,
    pub(crate) working_directory: Option<String>,
}

/// A first `ci.yml`.
pub(crate) const STARTER: &str = "\
# What continuous integration needs to run the checks. `tollgate ci list-jobs` reads this.
runtimes: {}
services: {}
setup: []
checks: []
";

impl Ci {
    /// What there is without a `ci.yml`.
    pub(crate) fn empty() -> Self {
        Self {
            node: Node {
                place: Place::default(),
                value: Value::Map(Vec::new()),
            },
        }
    }

    /// Reads `ci.yml`.
    pub(crate) fn load(layout: &Layout) -> Result<Self, ConfigError> {
        let file = layout.gates_home().join("ci.yml");
        let mut reader = Reader::new(layout.root());
        let Some(text) = reader.text(&file) else {
            return Err(reader.without(file));
        };
        let Some(node) = reader.parse(&file, &text, &keys::CI) else {
            return Err(ConfigError::Wrong(reader.problems));
        };
        reader.warnings()?;
        Ok(Self { node })
    }

    /// The mapping `key` as JSON; empty if there is none.
    pub(crate) fn mapping(&self, key: &str) -> serde_json::Value {
        self.node
            .get(key)
            .map_or_else(|| serde_json::json!({}), Node::to_json)
    }

    /// The steps before every check.
    pub(crate) fn setup(&self) -> Vec<Step> {
        steps(&self.node)
    }

    /// The steps before one check.
    pub(crate) fn setup_of(&self, check: &str) -> Vec<Step> {
        self.check(check).map(steps).unwrap_or_default()
    }

    /// The names in the mapping `key` that a check requires.
    pub(crate) fn required_names(&self, key: &str, check: &str) -> Vec<String> {
        self.check(check)
            .and_then(|node| node.get(&format!("requires_{key}")))
            .map(Node::texts)
            .unwrap_or_default()
    }

    /// The members of the mapping `key` that a check requires.
    pub(crate) fn required(&self, key: &str, check: &str) -> serde_json::Value {
        let all = self.mapping(key);
        let found = self
            .required_names(key, check)
            .into_iter()
            .filter_map(|name| all.get(&name).cloned().map(|value| (name, value)));
        serde_json::Value::Object(found.collect())
    }

    fn check(&self, name: &str) -> Option<&Node> {
        let checks = self.node.get("checks")?.items();
        checks
            .iter()
            .find(|check| check.get("name").and_then(Node::text) == Some(name))
    }
}

fn steps(node: &Node) -> Vec<Step> {
    let items = node.get("setup").map(Node::items).unwrap_or_default();
    let text = |node: &Node, key: &str| node.get(key).and_then(Node::text).map(str::to_owned);
    items
        .iter()
        .map(|item| Step {
            name: text(item, "name").unwrap_or_default(),
            run: text(item, "run").unwrap_or_default(),
            working_directory: text(item, "working_directory"),
        })
        .collect()
}
