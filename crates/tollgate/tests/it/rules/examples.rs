//! The examples of the packs and of docs/rules.md, in the surroundings that each asks for.

use std::collections::BTreeMap;

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, TableLike, Value as Toml};

const PAGE: &str = include_str!("../../../../../docs/rules.md");

const PACKS: [(&str, &str); 5] = [
    (
        "git-safety",
        include_str!("../../../src/rules/packs/git-safety.toml"),
    ),
    (
        "destructive",
        include_str!("../../../src/rules/packs/destructive.toml"),
    ),
    (
        "secrets",
        include_str!("../../../src/rules/packs/secrets.toml"),
    ),
    (
        "migrations",
        include_str!("../../../src/rules/packs/migrations.toml"),
    ),
    (
        "phase-order",
        include_str!("../../../src/rules/packs/phase-order.toml"),
    ),
];

/// What an example does.
#[derive(Clone, Debug)]
pub(crate) enum Call {
    Run(String),
    Write(String),
    Read(String),
    /// Files are changed, and the agent stops.
    Changed(Vec<String>),
}

#[derive(Clone, Debug)]
pub(crate) struct Example {
    pub(crate) code: String,
    /// `deny`, `ask` or `warn`.
    pub(crate) verdict: &'static str,
    pub(crate) call: Call,
    pub(crate) is_match: bool,
    /// The agent that it is about, if it says one.
    pub(crate) agent: Option<String>,
}

/// What is around some examples.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Surroundings {
    /// Where it is from.
    pub(crate) source: String,
    pub(crate) rules: String,
    pub(crate) branch: String,
    pub(crate) phase: Option<String>,
    /// A file that the agent reads first, because a rule waits for it.
    pub(crate) read_before: Option<String>,
}

/// Every example of every pack and of the page.
pub(crate) fn all() -> BTreeMap<Surroundings, Vec<Example>> {
    let page = PAGE.split("\n```").skip(1).step_by(2);
    let page = page.filter_map(|block| block.strip_prefix("toml\n"));
    let page = page.map(|text| ("docs/rules.md", text));
    let mut all: BTreeMap<Surroundings, Vec<Example>> = BTreeMap::new();
    for (source, text) in PACKS.into_iter().chain(page) {
        let file: DocumentMut = text.parse().unwrap();
        for rule in file["rule"].as_array_of_tables().unwrap() {
            for (key, is_match) in [("match", true), ("not_match", false)] {
                let examples = rule.get(key).and_then(Item::as_array);
                for example in examples.into_iter().flatten() {
                    let around = around(source, text, rule, example);
                    let example = Example::of(rule, example, is_match);
                    all.entry(around).or_default().push(example);
                }
            }
        }
    }
    all
}

fn said(example: &Toml, key: &str) -> Option<String> {
    let value = example.as_inline_table()?.get(key)?;
    value.as_str().map(str::to_owned)
}

fn around(source: &str, rules: &str, rule: &Table, example: &Toml) -> Surroundings {
    let table = |key: &str| rule.get(key).and_then(Item::as_table_like);
    let first = |table: Option<&dyn TableLike>, key: &str| -> Option<String> {
        let value = table?.get(key)?.as_array()?.get(0)?.as_str()?;
        Some(value.to_owned())
    };
    let after = example
        .as_inline_table()
        .and_then(|table| table.get("after"));
    let is_after = after.and_then(Toml::as_bool).unwrap_or(true);
    let read_before = first(table("after"), "read").filter(|_| is_after);
    // What a rule waits for may be against another rule of its file.
    let rules = if rule.contains_key("after") {
        let mut alone = ArrayOfTables::new();
        alone.push(rule.clone());
        let mut file = DocumentMut::new();
        file.insert("rule", Item::ArrayOfTables(alone));
        file.to_string()
    } else {
        rules.to_owned()
    };
    let branch = said(example, "branch").or_else(|| first(table("when"), "branch"));
    Surroundings {
        source: source.to_owned(),
        rules,
        branch: branch.unwrap_or_else(|| "main".to_owned()),
        phase: said(example, "phase").or_else(|| first(table("when"), "phase")),
        read_before,
    }
}

impl Example {
    fn of(rule: &Table, example: &Toml, is_match: bool) -> Self {
        let words = |key: &str| said(example, key);
        let changed = || {
            let list = example.as_inline_table()?.get("changed")?.as_array()?;
            let files = list.iter().map(|file| file.as_str().unwrap().to_owned());
            Some(Call::Changed(files.collect()))
        };
        let text = example.as_str().map(str::to_owned);
        let call = text.or_else(|| words("run")).map(Call::Run);
        let call = call
            .or_else(|| words("edit").or_else(|| words("write")).map(Call::Write))
            .or_else(|| words("read").map(Call::Read))
            .or_else(changed);
        let verdict = ["deny", "ask", "warn"]
            .into_iter()
            .find(|verdict| rule.contains_key(verdict));
        Self {
            code: format!("RULE:{}", rule["id"].as_str().unwrap()),
            verdict: verdict.unwrap(),
            call: call.unwrap_or_else(|| panic!("{example}")),
            is_match,
            agent: words("agent"),
        }
    }
}
