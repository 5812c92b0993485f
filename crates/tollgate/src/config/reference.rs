//! The reference in docs/config.md, from the table of keys.

use super::keys::ROOT;
use super::table::{Kind, Need, Row, Table};

pub(crate) fn markdown() -> String {
    let mut page = INTRODUCTION.to_owned();
    section(&mut page, "The whole file", &ROOT);
    for row in ROOT.keys {
        let settings = row.kind.settings().filter(|table| !table.keys.is_empty());
        if let Some(table) = settings {
            section(&mut page, &format!("`[{}]`", row.key), table);
        }
        if let Kind::Maps(table) = &row.kind {
            section(&mut page, &format!("`[[{}]]`", row.key), table);
            inner_sections(&mut page, table, &mut Vec::new());
        }
        if let Kind::Named { each, .. } = &row.kind {
            section(&mut page, &format!("`[{}.NAME]`", row.key), each);
            for inner in each.keys {
                if let Kind::NamesOrMaps(table) = &inner.kind {
                    section(&mut page, &format!("A table in `{}`", inner.key), table);
                }
            }
        }
    }
    page
}

/// The tables in a table, each once.
fn inner_sections(page: &mut String, table: &Table, seen: &mut Vec<&'static str>) {
    for row in table.keys {
        let (Kind::Map(inner) | Kind::TrueOrMaps(inner) | Kind::Examples(inner)) = &row.kind else {
            continue;
        };
        if !seen.contains(&inner.about) {
            seen.push(inner.about);
            let having = table.keys.iter().filter(|other| {
                matches!(&other.kind, Kind::Map(t) | Kind::TrueOrMaps(t) | Kind::Examples(t) if std::ptr::eq(*t, *inner))
            });
            let names: Vec<_> = having.map(|row| format!("`{}`", row.key)).collect();
            section(page, &format!("A table in {}", names.join(", ")), inner);
            inner_sections(page, inner, seen);
        }
    }
}

fn section(page: &mut String, title: &str, table: &Table) {
    let about = table.about;
    *page = format!(
        "{page}\n## {title}\n\n{about}\n\n| Key | Value | Default | Meaning |\n|---|---|---|---|\n"
    );
    for row in table.keys {
        let default = match row.default {
            "" if row.need == Need::Required => "required".to_owned(),
            "" => "none".to_owned(),
            literal
                if format!("v = {literal}")
                    .parse::<toml_edit::DocumentMut>()
                    .is_ok() =>
            {
                format!("`{literal}`")
            }
            words => words.to_owned(),
        };
        let only = match row.need {
            Need::OfCheck => "Checks only. ",
            Need::OfReview => "Reviews only. ",
            Need::Required | Need::Optional | Need::Ignored => "",
        };
        let (key, kind, about) = (row.key, kind(row), row.about);
        *page = format!("{page}| `{key}` | {kind} | {default} | {only}{about} |\n");
    }
}

fn kind(row: &Row) -> String {
    match &row.kind {
        Kind::Text => "text".to_owned(),
        Kind::Bool => "`true` or `false`".to_owned(),
        Kind::Whole(least) => format!("number, {least} or more"),
        Kind::Between(least, most) => format!("number, {least} to {most}"),
        Kind::Amount => "number".to_owned(),
        Kind::OneOf(words) => words_of(words),
        Kind::Word(words) => words_of(&words()),
        Kind::Words(words) => format!("list of {}", words_of(&words())),
        Kind::Duration => "time, such as `\"90s\"` or `\"1h30m\"`".to_owned(),
        Kind::Texts => "list of texts".to_owned(),
        Kind::Globs | Kind::Patterns => "list of patterns".to_owned(),
        Kind::Map(_) => "table".to_owned(),
        Kind::Maps(_) => "list of tables".to_owned(),
        Kind::TrueOrMaps(_) => "`true`, table, or list of tables".to_owned(),
        Kind::Examples(_) => "list of command lines or tables".to_owned(),
        Kind::NamesOrMaps(_) => "list of names or tables".to_owned(),
        Kind::Named { .. } => "tables".to_owned(),
        Kind::Anything => "anything".to_owned(),
    }
}

fn words_of(words: &[&str]) -> String {
    let words: Vec<_> = words.iter().map(|word| format!("`\"{word}\"`")).collect();
    words.join(", ")
}

const INTRODUCTION: &str = "\
<!-- Made by `tollgate schema --markdown`; a test keeps it true. -->

# tollgate.toml

`tollgate.toml` at the project's root configures Tollgate:

```toml
[gates]
base = \"origin/main\"

[gates.test]                      # a check: any command
run = \"cargo test\"
inputs = [\"src/**\", \"tests/**\"]   # default: every file that git does not ignore
timeout = \"10m\"

[gates.review]                    # a review: an independent agent
prompt = \"Look for races and missing tests.\"
reviewers = [\"codex\", \"claude\"]
```

**Gates.** A gate runs if one of its input files changed. Inputs are the files in its `dir`, or those that `inputs`
names, without `exclude`. Patterns are those of `.gitignore`: without a slash they match at every depth; with a slash
they are relative to `dir`; a directory means everything in it. The manifests in `dir` (`package.json`, `Cargo.toml`,
`Makefile` and so on) and the files that `run` names are always inputs of a check. The name of a gate has letters,
digits, `_`, `-` and `.`.

**Where a value comes from.** In this order; the first that has the value counts:

1. an option of the command;
2. the environment: `TOLLGATE_BASE`, `TOLLGATE_PARALLEL`, `TOLLGATE_MAX_RETRIES`, `TOLLGATE_ON_STOP`,
   `TOLLGATE_DEADLINE`;
3. `tollgate.local.toml` in the project: your own settings, not for git;
4. `tollgate.toml`;
5. `~/.config/tollgate/tollgate.toml` (or below `$XDG_CONFIG_HOME`): settings of `[gates]` and `[plans]`, and rules, but
   no gates;
6. the default.

Tables are merged key by key; lists are replaced; rules add up. `tollgate config show --origin` shows every value with
its file and line. `tollgate config set KEY VALUE` changes one and keeps comments and order; `--local` and `--user` select
another file. Only a person at a terminal can do that.

**Mistakes.** Unknown keys, wrong types and unknown names are errors; `tollgate validate` lists all of them with file,
line and column. While `tollgate.toml` has errors, commands report them and end with 2. An agent's stop then uses the last
`tollgate.toml` without errors, and the answer says so; if there is none, the agent is released as not verified. A change
of a gate is named in every answer until a person accepts it (`tollgate validate --accept`).

**Existing systems.** Gates in `.gauntlet/` or in `.tollgate/config.yml` still work. Gates in one of these and in
`tollgate.toml` are an error; at stops, both apply.

**In an editor.** `tollgate schema tollgate > tollgate.schema.json` writes the JSON Schema. taplo and VS Code's Even Better
TOML read it if the file begins with `#:schema ./tollgate.schema.json`.
";
