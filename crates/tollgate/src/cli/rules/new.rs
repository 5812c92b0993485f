//! `tollgate rules new`: three questions, and a rule with its examples.

use std::io::{BufRead as _, stdin};
use std::path::Path;
use std::process::ExitCode;

use tollgate_core::project::Layout;
use toml_edit::{Array, Value};

use super::super::question::{Default, agrees, can_ask};
use super::super::{BOLD, CommandResult, GOOD, HINT, Trouble};
use super::{Where, append};
use crate::agents::command::quoted as quoted_word;
use crate::rules::id_of;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    place: Where,
}

/// What is protected.
enum Protected {
    /// Files, by a pattern.
    Files(String),
    /// A command.
    Command(String),
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let what = ask(
        "What do you want to protect? (a path or pattern such as db/migrations/**, or a command such as `terraform destroy`)",
    )?;
    let env = crate::environment::current();
    let root = Layout::find(&env, None).map(|layout| layout.root().to_owned());
    let root = root.or_else(|| env.cwd.clone()).unwrap_or_default();
    let protected = read(&what, &root);
    let how = match &protected {
        Protected::Files(_) => ask(
            "What must an agent not do with it? (change, delete, read; several with commas) [change]",
        )?,
        Protected::Command(_) => ask("What happens when it tries? (deny, ask, warn) [deny]")?,
    };
    let why = ask("Why, and what should it do instead? (one line; instead behind a semicolon)")?;
    let rule = rule(&protected, &how, &why)?;
    if arguments.place.print {
        anstream::print!("{rule}");
        return Ok(ExitCode::SUCCESS);
    }
    out!("\n{rule}");
    if can_ask() && !agrees("Write this rule?", Default::Yes) {
        out!("Nothing was written.");
        return Ok(ExitCode::FAILURE);
    }
    let path = append(arguments.place, &rule)?;
    out!(
        "{GOOD}●{GOOD:#} the rule is in {}, and its examples hold",
        path.display()
    );
    out!("{HINT}next{HINT:#}: `tollgate rules try` shows what it would have done lately");
    Ok(ExitCode::SUCCESS)
}

fn ask(question: &str) -> Result<String, Trouble> {
    err!("{BOLD}{question}{BOLD:#}");
    let mut line = String::new();
    let read = stdin().lock().read_line(&mut line);
    let read = read.map_err(|error| Trouble::new(format!("the terminal: {error}")))?;
    if read == 0 {
        return Err(
            Trouble::new("there is no answer").hint("answer on standard input, one line each")
        );
    }
    Ok(line.trim().to_owned())
}

/// What is there is a path, however it is written. Else a path has a slash, a star or a dot, and no
/// blank.
fn read(what: &str, root: &Path) -> Protected {
    let what = what.trim_matches('`').trim();
    let there = root.join(what);
    if !what.is_empty() && there.is_dir() {
        Protected::Files(format!("{}/**", what.trim_end_matches('/')))
    } else if what.contains(['/', '*', '.']) && !what.contains(' ') || there.is_file() {
        Protected::Files(what.to_owned())
    } else {
        Protected::Command(what.to_owned())
    }
}

fn rule(protected: &Protected, how: &str, why: &str) -> Result<String, Trouble> {
    let (verdict, effects, examples, others) = match protected {
        Protected::Files(pattern) => files(pattern, how)?,
        Protected::Command(command) => {
            let verdict = match how.to_lowercase().as_str() {
                "" | "deny" => "deny",
                "ask" => "ask",
                "warn" => "warn",
                other => {
                    return Err(Trouble::new(format!(
                        "{other:?} is none of deny, ask and warn"
                    )));
                }
            };
            if command.is_empty() {
                return Err(Trouble::new("there is nothing to protect"));
            }
            if command.contains(['\'', '"', '\\', '$', ';', '|', '&', '<', '>', '(']) {
                let what = format!("{command}: a rule names a program and its first words");
                return Err(Trouble::new(what)
                    .hint("leave out quotes and signs of the shell, for example `git commit`"));
            }
            let effects = vec![format!("run = {}", list(std::slice::from_ref(command)))];
            let others = vec![format!("echo '{command}'")];
            (
                verdict,
                effects,
                vec![command.clone(), format!("sh -c '{command}'")],
                others,
            )
        }
    };
    let (reason, instead) = why.split_once(';').unwrap_or((why, ""));
    let mut text = format!(
        "[[rule]]\nid = {}\n{verdict} = {{ {} }}\n",
        quoted(&name(protected)),
        effects.join(", ")
    );
    for (key, value) in [("reason", reason.trim()), ("instead", instead.trim())] {
        if !value.is_empty() {
            text = format!("{text}{key} = {}\n", quoted(value));
        }
    }
    Ok(format!(
        "{text}match = {}\nnot_match = {}\n",
        list(&examples),
        list(&others)
    ))
}

type Parts = (&'static str, Vec<String>, Vec<String>, Vec<String>);

fn files(pattern: &str, how: &str) -> Result<Parts, Trouble> {
    let sample = sample(pattern);
    let directory = sample.rsplit_once('/').map_or(".", |(dir, _)| dir);
    let mut others = vec![format!("ls {}", quoted_word(directory))];
    let sample = quoted_word(&sample);
    let mut effects = Vec::new();
    let mut examples = Vec::new();
    let how = if how.is_empty() { "change" } else { how };
    let mut reads = false;
    for word in how.split(',').map(str::trim) {
        let (keys, example): (&[&str], _) = match word.to_lowercase().as_str() {
            "change" | "write" | "edit" => (&["write", "delete"], format!("echo x > {sample}")),
            "delete" | "remove" => (&["delete"], format!("rm {sample}")),
            "read" => (&["read"], format!("cat {sample}")),
            other => {
                return Err(Trouble::new(format!(
                    "{other:?} is none of change, delete and read"
                )));
            }
        };
        reads |= keys.contains(&"read");
        for key in keys {
            let effect = format!("{key} = {}", list(&[pattern.to_owned()]));
            if !effects.contains(&effect) {
                effects.push(effect);
            }
        }
        examples.push(example);
    }
    if !reads {
        others.push(format!("cat {sample}"));
    }
    Ok(("deny", effects, examples, others))
}

/// A file that a pattern covers.
fn sample(pattern: &str) -> String {
    let path = pattern
        .replace("**/", "a/")
        .replace("**", "file")
        .replace('*', "file");
    if path.ends_with('/') {
        format!("{path}file")
    } else {
        path
    }
}

fn name(protected: &Protected) -> String {
    let (Protected::Files(text) | Protected::Command(text)) = protected;
    id_of(text)
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string().trim().to_owned()
}

fn list(texts: &[String]) -> String {
    let array: Array = texts.iter().map(String::as_str).collect();
    Value::Array(array).to_string().trim().to_owned()
}
