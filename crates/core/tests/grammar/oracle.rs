//! The tree-sitter grammar as the judge: the command words it finds, the scanner must find.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use tollgate_core::shell::{Start, Survey, survey};
use tree_sitter::{Node, Parser};

use crate::{SEED, generate, seeds};

const COMMITS: &str = include_str!("../corpus/shell-commit.jsonl");
const WRITES: &str = include_str!("../corpus/state-write.jsonl");

/// How often each command word occurs.
type Count = BTreeMap<String, usize>;

/// What the grammar sees in a text; nothing when it cannot read it whole.
struct Seen {
    words: Count,
    functions: Vec<String>,
}

fn seen(text: &str) -> Option<Seen> {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .unwrap();
    let tree = parser.parse(text, None)?;
    // It takes the reserved word `coproc` for a command, and what follows for its arguments.
    if tree.root_node().has_error() || text.contains("coproc") {
        return None;
    }
    let mut seen = Seen {
        words: Count::new(),
        functions: Vec::new(),
    };
    collect(tree.root_node(), text, &mut seen);
    Some(seen)
}

fn collect(node: Node<'_>, text: &str, seen: &mut Seen) {
    if node.kind() == "function_definition" {
        if let Some(name) = node.child_by_field_name("name") {
            seen.functions.push(text[name.byte_range()].to_owned());
        }
        // A body runs when it is called, and as often as it is.
        return;
    }
    if node.kind() == "command_name"
        && let Some(word) = literal(&text[node.byte_range()])
    {
        *seen.words.entry(word).or_default() += 1;
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        collect(child, text, seen);
    }
}

/// A command word without expansions, as the program's name.
fn literal(word: &str) -> Option<String> {
    if word.contains(['$', '`', '*', '?', '[', '{', '}', '~', '<', '>', '(']) {
        return None;
    }
    let plain: String = word
        .chars()
        .filter(|c| !matches!(c, '\'' | '"' | '\\' | '\n'))
        .collect();
    let name = plain.rsplit('/').next()?;
    let name = name.strip_suffix(".exe").unwrap_or(name);
    (!name.is_empty()).then(|| name.to_owned())
}

fn found(survey: &Survey) -> Count {
    let mut count = Count::new();
    for run in survey.runs() {
        if let Some(name) = run.program() {
            *count.entry(name.to_owned()).or_default() += 1;
        }
    }
    count
}

/// Words of which the survey shows only what they lead to, or what they change.
const FOLLOWED: &[&str] = &[
    // Programs that only start another one.
    "env",
    "command",
    "exec",
    "builtin",
    "nohup",
    "time",
    "timeout",
    "nice",
    "ionice",
    "setsid",
    "stdbuf",
    "sudo",
    "ssh-agent",
    "setpriv", // A reserved word that the grammar takes for a command.
    "coproc",
    "cd",
    "pushd",
    "popd",
    "export",
    "declare",
    "typeset",
    "local",
    "readonly",
    "eval",
    "source",
    ".",
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "mksh",
    "ash",
    "rbash",
    "xargs",
    "gxargs",
    "parallel",
    "annotate-output",
    "asdf",
    "aws-vault",
    "bundle",
    "busybox",
    "bwrap",
    "caffeinate",
    "capsh",
    "catchsegv",
    "cgexec",
    "choom",
    "chpst",
    "chronic",
    "chrt",
    "conda",
    "cpulimit",
    "csh",
    "daemonize",
    "dbus-run-session",
    "devbox",
    "direnv",
    "doas",
    "dotenv",
    "dumb-init",
    "eatmydata",
    "elvish",
    "envchain",
    "fakeroot",
    "faketime",
    "firejail",
    "fish",
    "gosu",
    "guix",
    "heaptrack",
    "linux64",
    "ltrace",
    "mise",
    "nix",
    "npm",
    "nsenter",
    "nu",
    "numactl",
    "oksh",
    "op",
    "perf",
    "pipenv",
    "pkexec",
    "pnpm",
    "poetry",
    "prlimit",
    "proot",
    "proxychains",
    "proxychains4",
    "rlwrap",
    "rr",
    "rtk",
    "run0",
    "s6-setuidgid",
    "sem",
    "setarch",
    "setuidgid",
    "softlimit",
    "strace",
    "su-exec",
    "systemd-cat",
    "systemd-inhibit",
    "systemd-run",
    "taskset",
    "tcsh",
    "tini",
    "torsocks",
    "uname26",
    "unbuffer",
    "unshare",
    "uv",
    "valgrind",
    "winpty",
    "with-contenv",
    "wsl",
    "x86_64",
    "xonsh",
    "xvfb-run",
    "yarn",
    "yash",
];

fn compare(text: &str, label: &str, wrong: &mut String) -> Option<usize> {
    let seen = seen(text)?;
    let survey = survey(
        text,
        Start {
            dir: Some(Path::new("/nowhere/p")),
            home: Some(Path::new("/nowhere")),
        },
    );
    let found = found(&survey);
    let mut words = 0;
    for (word, times) in &seen.words {
        let alias = text.contains(&format!("alias {word}="));
        if FOLLOWED.contains(&word.as_str()) || seen.functions.contains(word) || alias {
            continue;
        }
        words += times;
        let have = found.get(word).copied().unwrap_or(0);
        if have < *times {
            let _infallible = writeln!(
                wrong,
                "--- {label}: `{word}` {times} times in the grammar, {have} in the survey (opaque: {})\n{text}",
                survey.opaque
            );
        }
    }
    Some(words)
}

fn report(wrong: &str, texts: usize, unread: usize, words: usize) {
    println!(
        "{words} command words of {texts} texts found by both; {unread} texts the grammar cannot read"
    );
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_command_word_of_the_corpora_that_the_grammar_finds_is_found() {
    let (mut wrong, mut texts, mut unread, mut words) = (String::new(), 0, 0, 0);
    for line in COMMITS.lines().chain(WRITES.lines()) {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let (id, command) = (
            row["id"].as_str().unwrap(),
            row["command"].as_str().unwrap(),
        );
        texts += 1;
        // The grammar does not join lines inside a word.
        match compare(&command.replace("\\\n", ""), id, &mut wrong) {
            Some(count) => words += count,
            None => unread += 1,
        }
    }
    report(&wrong, texts, unread, words);
}

#[test]
fn every_command_word_of_generated_scripts_that_the_grammar_finds_is_found() {
    let (mut wrong, mut texts, mut unread, mut words) = (String::new(), 0, 0, 0);
    for seed in seeds(2000) {
        let script = generate::script(seed);
        texts += 1;
        // The grammar does not join lines inside a word.
        let text = script.text.replace("\\\n", "");
        match compare(&text, &format!("{SEED}={seed}"), &mut wrong) {
            Some(count) => words += count,
            None => unread += 1,
        }
    }
    report(&wrong, texts, unread, words);
}
