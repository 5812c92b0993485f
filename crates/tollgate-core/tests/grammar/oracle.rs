//! The tree-sitter grammar as the judge: the command words it finds, the scanner must find.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use tollgate_core::git::Disk;
use tollgate_shell::{Survey, World, survey};
use tree_sitter::{Node, Parser};

use crate::{SEED, generate, seeds};

const COMMITS: &str = include_str!("../corpus/shell-commit.jsonl");
const WRITES: &str = include_str!("../corpus/state-write.jsonl");

/// How often each command word occurs.
type Count = BTreeMap<String, usize>;

/// What the grammar sees in a text; nothing when it cannot read it whole.
struct Seen {
    words: Count,
    starters: Vec<Starter>,
    functions: Vec<String>,
}

/// A program that starts another one.
struct Starter {
    name: String,
    /// The words behind it that are told.
    given: Vec<String>,
    /// Whether that is all of them.
    whole: bool,
}

/// Texts in texts, at most so deep.
const MAX_DEPTH: u32 = 4;

fn seen(text: &str) -> Option<Seen> {
    let mut seen = Seen {
        words: Count::new(),
        starters: Vec::new(),
        functions: Vec::new(),
    };
    look(text, &mut seen, 0).then_some(seen)
}

/// Adds what the grammar sees in a text, if it can read it.
fn look(text: &str, seen: &mut Seen, depth: u32) -> bool {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .unwrap();
    let Some(tree) = parser.parse(text, None) else {
        return false;
    };
    // It takes the reserved word `coproc` for a command, and what follows for its arguments.
    if tree.root_node().has_error() || text.contains("coproc") {
        return false;
    }
    collect(tree.root_node(), text, seen, depth);
    true
}

fn collect(node: Node<'_>, text: &str, seen: &mut Seen, depth: u32) {
    if node.kind() == "function_definition" {
        if let Some(name) = node.child_by_field_name("name") {
            seen.functions.push(text[name.byte_range()].to_owned());
        }
        // A body runs when it is called, and as often as it is.
        return;
    }
    if node.kind() == "command"
        && let Some(name) = node.child_by_field_name("name")
        && let Some(word) = literal(&text[name.byte_range()])
    {
        if STARTERS.contains(&word.as_str()) {
            start(node, word, text, seen, depth);
        } else {
            *seen.words.entry(word).or_default() += 1;
        }
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        collect(child, text, seen, depth);
    }
}

/// A program that starts another one: what a shell is given as a text is read like any other; of
/// the rest, one of the words behind it is what runs.
fn start(node: Node<'_>, word: String, text: &str, seen: &mut Seen, depth: u32) {
    let mut cursor = node.walk();
    let given: Vec<&str> = node
        .children_by_field_name("argument", &mut cursor)
        .map(|argument| &text[argument.byte_range()])
        .collect();
    let is_plain = |text: &str| !text.contains(['$', '`', '\\', '\'', '"']);
    let single = |word: &str| {
        let inner = word.strip_prefix('\'')?.strip_suffix('\'')?;
        is_plain(inner).then(|| inner.to_owned())
    };
    let script = match (word.as_str(), given.as_slice()) {
        ("eval", [one]) => single(one),
        (shell, ["-c" | "-ec" | "-xc" | "-lc", one, ..]) if SHELLS.contains(&shell) => single(one),
        _ => None,
    };
    if let Some(script) = script.filter(|_| depth < MAX_DEPTH) {
        look(&script, seen, depth + 1);
        return;
    }
    // What they are given as a text that is more than a word, or on standard input, is not told
    // by their words.
    if SHELLS.contains(&word.as_str()) || TEXTS.contains(&word.as_str()) {
        return;
    }
    let told = |word: &&str| literal(word).filter(|_| !word.contains(char::is_whitespace));
    let words: Vec<String> = given.iter().filter_map(told).collect();
    seen.starters.push(Starter {
        name: word,
        whole: words.len() == given.len() && !words.is_empty(),
        given: words,
    });
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

/// Builtins of which the survey shows what they change, and not themselves.
const STATE: &[&str] = &[
    "cd", "pushd", "popd", "export", "declare", "typeset", "local", "readonly",
];

/// Shells.
const SHELLS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "csh", "elvish", "fish", "nu",
    "oksh", "tcsh", "xonsh", "yash",
];

/// What runs a text, a file, or words from standard input.
const TEXTS: &[&str] = &["eval", "source", ".", "xargs", "gxargs", "parallel"];

/// Programs of which the survey may show what they start, and not themselves.
const STARTERS: &[&str] = &[
    ".",
    "annotate-output",
    "asdf",
    "ash",
    "aws-vault",
    "bash",
    "builtin",
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
    "command",
    "conda",
    "cpulimit",
    "csh",
    "daemonize",
    "dash",
    "dbus-run-session",
    "devbox",
    "direnv",
    "doas",
    "dotenv",
    "dumb-init",
    "eatmydata",
    "elvish",
    "env",
    "envchain",
    "eval",
    "exec",
    "fakeroot",
    "faketime",
    "firejail",
    "fish",
    "gosu",
    "guix",
    "gxargs",
    "heaptrack",
    "ionice",
    "ksh",
    "linux64",
    "ltrace",
    "mise",
    "mksh",
    "nice",
    "nix",
    "nohup",
    "npm",
    "nsenter",
    "nu",
    "numactl",
    "oksh",
    "op",
    "parallel",
    "perf",
    "pipenv",
    "pkexec",
    "pnpm",
    "poetry",
    "prlimit",
    "proot",
    "proxychains",
    "proxychains4",
    "rbash",
    "rlwrap",
    "rr",
    "rtk",
    "run0",
    "s6-setuidgid",
    "sem",
    "setarch",
    "setpriv",
    "setsid",
    "setuidgid",
    "sh",
    "softlimit",
    "source",
    "ssh-agent",
    "stdbuf",
    "strace",
    "su-exec",
    "sudo",
    "systemd-cat",
    "systemd-inhibit",
    "systemd-run",
    "taskset",
    "tcsh",
    "time",
    "timeout",
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
    "xargs",
    "xonsh",
    "xvfb-run",
    "yarn",
    "yash",
    "zsh",
];

fn compare(text: &str, label: &str, wrong: &mut String) -> Option<usize> {
    let seen = seen(text)?;
    let survey = survey(
        text,
        &World {
            dir: Some(Path::new("/nowhere/p")),
            home: Some(Path::new("/nowhere")),
            files: &Disk::default(),
        },
    );
    let found = found(&survey);
    let mut words = 0;
    let own = |word: &String| {
        let hashed = text.contains("hash -p") && text.contains(&format!(" {word};"));
        // Behind a pipeline in a loop, the grammar takes `function f {` for arguments of the line before.
        let is_function =
            seen.functions.contains(word) || text.contains(&format!("function {word} {{"));
        hashed || is_function || text.contains(&format!("alias {word}="))
    };
    let mut wanted = seen.words.clone();
    // These show what they lead to, or what they change.
    let unseen = |word: &String| {
        let known = [STATE, SHELLS, TEXTS].iter();
        own(word)
            || known
                .flat_map(|list| list.iter())
                .any(|known| known == word)
    };
    for Starter { name, given, whole } in &seen.starters {
        // Itself, or a word behind it, beside all that runs without it.
        let more = |word: &&String| {
            let have = found.get(*word).copied().unwrap_or(0);
            have > wanted.get(*word).copied().unwrap_or(0)
        };
        // What only asks, or runs a script of a file by its name, is shown itself.
        let asks = match (name.as_str(), given.first().map(String::as_str)) {
            ("command", Some("-v" | "-V")) | ("sudo", Some("-l")) | ("npm", Some("run")) => true,
            ("yarn", verb) => verb != Some("exec"),
            _ => false,
        };
        let itself = Some(name).filter(|_| asks);
        let led = itself.into_iter().chain(given).find(more).cloned();
        if let Some(led) = led {
            words += 1;
            *wanted.entry(led).or_default() += 1;
        } else if *whole && !own(name) && !given.iter().any(unseen) {
            let _infallible = writeln!(
                wrong,
                "--- {label}: `{name}` leads to none of {given:?} (opaque: {})\n{text}",
                survey.opaque
            );
        }
    }
    for (word, times) in &seen.words {
        if STATE.contains(&word.as_str()) || own(word) {
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
