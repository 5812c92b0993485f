//! Changing one value of a `tollgate.toml`, with its comments, its order and its line ends kept.

use toml_edit::{Array, Item, Key, TableLike, Value};

use super::keys::ROOT;
use super::table::{self, Kind, Row};
use crate::toml_file::{EditedToml, implicit_table};

/// Why a value is not set: what, and what to do.
pub(crate) type Refused = (String, Option<String>);

/// The text with another value at `key`, which is written as in `--origin`: `gates.test.timeout`.
pub(crate) fn set(text: &str, key: &str, value: &str) -> Result<String, Refused> {
    let keys = Key::parse(key).map_err(|_| (format!("{key:?} is not a key"), None))?;
    let names: Vec<&str> = keys.iter().map(Key::get).collect();
    let row = row(&names)?;
    let mut file = EditedToml::parse(text).map_err(|error| {
        let what = format!("the file is not valid TOML: {}", error.message());
        let fix = "correct it first; `tollgate validate` says where";
        (what, Some(fix.to_owned()))
    })?;
    let (last, above) = keys
        .split_last()
        .ok_or((format!("{key:?} is not a key"), None))?;
    let mut table: &mut dyn TableLike = file.document.as_table_mut();
    for part in above {
        table = table
            .entry(part.get())
            .or_insert_with(implicit_table)
            .as_table_like_mut()
            .ok_or_else(|| (format!("`{}` is not a table", part.get()), None))?;
    }
    let mut wanted = parsed(value, &row.kind);
    match table.get_mut(last.get()).and_then(Item::as_value_mut) {
        Some(now) => {
            *wanted.decor_mut() = now.decor().clone();
            *now = wanted;
        }
        None => drop(table.insert(last.get(), Item::Value(wanted))),
    }
    Ok(file.text())
}

fn row(names: &[&str]) -> Result<&'static Row, Refused> {
    let unknown = |table: &table::Table, name: &str| {
        let what = format!("there is no key `{}`", names.join("."));
        (what, Some(table.likely(name)))
    };
    let find = |table: &'static table::Table, name: &str| {
        table.row(name).ok_or_else(|| unknown(table, name))
    };
    let (first, rest) = names.split_first().ok_or((String::new(), None))?;
    let top = find(&ROOT, first)?;
    match (&top.kind, rest) {
        (Kind::Map(table), [name]) => find(table, name),
        (Kind::Named { settings, .. }, [name]) => find(settings, name),
        (Kind::Named { each, .. }, [_, name]) => find(each, name),
        (Kind::Map(_) | Kind::Named { .. } | Kind::Maps(_), _) => {
            let fix = "name one value, for example `gates.base` or `gates.test.timeout`".to_owned();
            Err((
                format!("`{}` is not a single value", names.join(".")),
                Some(fix),
            ))
        }
        (_, []) => Ok(top),
        (_, [name, ..]) => Err((format!("`{first}` has no `{name}`"), None)),
    }
}

/// A value as a person types it: quotes are for the shell, so a plain text needs none.
fn parsed(value: &str, kind: &Kind) -> Value {
    let literal = value.parse::<Value>().ok();
    match kind {
        Kind::Text | Kind::Duration | Kind::OneOf(_) | Kind::Word(_) => {
            let quoted = literal.filter(Value::is_str);
            quoted.unwrap_or_else(|| value.into())
        }
        Kind::Texts
        | Kind::Globs
        | Kind::Patterns
        | Kind::Words(_)
        | Kind::NamesOrMaps(_)
        | Kind::Examples(_) => {
            let list = literal.filter(Value::is_array);
            list.unwrap_or_else(|| Value::Array(Array::from_iter([value])))
        }
        Kind::Bool
        | Kind::Whole(_)
        | Kind::Between(..)
        | Kind::Amount
        | Kind::Map(_)
        | Kind::Maps(_)
        | Kind::Named { .. }
        | Kind::TrueOrMaps(_)
        | Kind::Anything => literal.unwrap_or_else(|| value.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_the_other_lines_stay() {
        let set = |text: &str| set(text, "gates.base", "dev").unwrap();
        assert_eq!(
            set("# a\r\n[gates]\r\nbase = \"main\"\r\n"),
            "# a\r\n[gates]\r\nbase = \"dev\"\r\n"
        );
        assert_eq!(
            set("\u{feff}[gates]\nbase = \"main\"\n"),
            "\u{feff}[gates]\nbase = \"dev\"\n"
        );
        // The parser makes them all the same; those of most lines count.
        let mixed = set("# a\r\n# b\n[gates]\nbase = \"main\"\n");
        assert_eq!(mixed, "# a\n# b\n[gates]\nbase = \"dev\"\n");
    }

    #[test]
    fn a_change_keeps_everything_else() {
        let text = "# Mine.\n[gates]\nbase = \"main\" # why\n\n[gates.test] # x\nrun = 'a'\n";
        let set = |key, value| set(text, key, value).unwrap();
        assert_eq!(
            set("gates.base", "dev"),
            text.replace("\"main\"", "\"dev\"")
        );
        assert_eq!(
            set("gates.test.timeout", "10m"),
            format!("{text}timeout = \"10m\"\n")
        );
        assert!(set("gates.parallel", "2").contains("\nparallel = 2\n"));
        assert!(set("gates.reviewers", "codex").contains("\nreviewers = [\"codex\"]\n"));
        assert!(set("plans.timeout", "5m").ends_with("\n[plans]\ntimeout = \"5m\"\n"));
        assert_eq!(
            set("requires", ">=0.1"),
            format!("requires = \">=0.1\"\n{text}")
        );
        let crlf = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        let changed = super::set(&crlf, "gates.base", "dev").unwrap();
        assert_eq!(changed, crlf.replace("\"main\"", "\"dev\""));
        assert_eq!(
            super::set("", "gates.base", "x").unwrap(),
            "[gates]\nbase = \"x\"\n"
        );
    }

    #[test]
    fn only_a_known_value_is_set() {
        for (key, part) in [
            ("gates.bse", "did you mean `base`"),
            ("gates.test.timout", "did you mean `timeout`"),
            ("gates", "one value"),
            ("gates.test", "did you mean"),
            ("nothing", "known here"),
            ("requires.x", "has no"),
            ("a b", "is not a key"),
        ] {
            let (what, fix) = set("", key, "1").unwrap_err();
            let said = format!("{what} {}", fix.unwrap_or_default());
            assert!(said.contains(part) || key == "gates.test", "{key}: {said}");
        }
    }
}
