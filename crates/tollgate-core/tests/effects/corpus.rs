//! The command lines: idioms of agents, each alone and inside of what agents put around them.

use std::collections::BTreeSet;

const IDIOMS: &str = include_str!("idioms.txt");

/// One command line.
pub(crate) struct Row {
    pub(crate) kind: String,
    /// The kind's place in the corpus.
    pub(crate) order: usize,
    pub(crate) command: String,
    /// A program without which it cannot run.
    pub(crate) needs: Option<String>,
}

/// What stands around a command line. The mark is replaced by it, and the quoted mark by it in
/// single quotes.
const AROUND: &[&str] = &[
    "bash -c {quoted}",
    "(\n{}\n)",
    "true && {\n{}\n}",
    "if true; then\n{}\nfi",
    "cd docs && cd .. && {\n{}\n}",
    "run() {\n{}\n}; run",
    "set -o pipefail\n{}",
    "env LC_ALL=C bash -c {quoted}",
    "for once in 1; do\n{}\ndone",
    "timeout 60 bash -c {quoted}",
    "set -o pipefail; {\n{}\n} 2>&1 | cat",
    "cat <<'AROUND' | bash\n{}\nAROUND",
    "cd src; cd ..\n{}",
    "echo start; {\n{}\n} && echo end",
    "eval {quoted}",
];

/// How many of those each idiom is put into.
const EACH: usize = 2;

/// Every command line, each once.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut known = BTreeSet::new();
    for (index, idiom) in idioms().into_iter().enumerate() {
        let around = (0..EACH).filter_map(|turn| AROUND.get((index + turn * 7) % AROUND.len()));
        let commands = std::iter::once(&"{}").chain(around).map(|around| {
            let quoted = format!("'{}'", idiom.command.replace('\'', "'\\''"));
            around
                .replace("{quoted}", &quoted)
                .replacen("{}", &idiom.command, 1)
        });
        for command in commands {
            if known.insert(command.clone()) {
                rows.push(Row {
                    kind: idiom.kind.clone(),
                    order: idiom.order,
                    command,
                    needs: idiom.needs.clone(),
                });
            }
        }
    }
    rows
}

fn idioms() -> Vec<Row> {
    let mut found: Vec<Row> = Vec::new();
    let mut kind = String::new();
    let mut order = 0;
    for line in IDIOMS.lines() {
        if let Some(name) = line.strip_prefix("== ") {
            name.clone_into(&mut kind);
            order += 1;
        } else if let Some(more) = line.strip_prefix('|') {
            let last = found.last_mut().unwrap();
            last.command.push('\n');
            last.command
                .push_str(more.strip_prefix(' ').unwrap_or(more));
        } else if !line.is_empty() && !line.starts_with('#') {
            let (needs, command) = match line.strip_prefix('@') {
                Some(rest) => {
                    let (program, command) = rest.split_once(' ').unwrap();
                    (Some(program.to_owned()), command)
                }
                None => (None, line),
            };
            found.push(Row {
                kind: kind.clone(),
                order,
                command: command.to_owned(),
                needs,
            });
        }
    }
    found
}
