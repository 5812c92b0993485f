//! No command line takes long to read: scripts of the grammar, and the corpora's commands as people
//! put them together.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tollgate_core::git::Disk;
use tollgate_shell::{World, changed_paths, follow, survey, touches};

use crate::chance::Chance;
use crate::{SEED, generate, number, seeds};

/// How many lines; `scripts/prove shell` asks for 100,000 of an optimised build.
const LINES: &str = "TOLLGATE_PROVE_LINES";
/// What one line may take of the processor.
const BOUND: Duration = Duration::from_millis(50);
/// A build without optimisation is so much slower.
const SLOWER: u32 = 8;

const CORPORA: [&str; 3] = [
    include_str!("../corpus/shell-commit.jsonl"),
    include_str!("../corpus/state-write.jsonl"),
    include_str!("../../../tollgate/tests/corpus/practice.jsonl"),
];

fn idioms() -> Vec<String> {
    let lines = CORPORA.iter().flat_map(|corpus| corpus.lines());
    let command = |line: &str| {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        row["command"].as_str().unwrap().to_owned()
    };
    lines.map(command).collect()
}

/// A text quoted for a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// One line: a script of the grammar, or idioms that are joined, wrapped and repeated.
fn line(seed: u64, idioms: &[String]) -> String {
    let mut chance = Chance::new(seed);
    if chance.below(3) == 0 {
        return generate::script(seed).text;
    }
    let joins = ["; ", " && ", " || ", " | ", "\n", " & "];
    let mut text = String::new();
    for index in 0..=chance.below(6) {
        if index > 0 {
            text.push_str(chance.of(&joins));
        }
        text.push_str(&idioms[chance.below(idioms.len())]);
    }
    for _ in 0..chance.below(4) {
        text = match chance.below(9) {
            0 => format!("bash -c {}", quoted(&text)),
            1 => format!("( {text}\n)"),
            2 => format!("{{ {text}\n}}"),
            3 => format!("x=$({text}\n); echo \"$x\""),
            4 => format!("if true; then {text}\nfi"),
            5 => format!("for i in 1 2 3 4; do {text}\ndone"),
            6 => format!("f() {{ {text}\n}}; f a b"),
            7 => format!("cat > s.sh <<'END_OF_IT'\n{text}\nEND_OF_IT\nsh s.sh"),
            _ => format!(
                "find . -name '*.json' | xargs -I{{}} sh -c {}",
                quoted(&text)
            ),
        };
    }
    text
}

/// Lines that once took longer than they may.
const SLOW: [&str; 1] = [
    r#"f() { for i in 1 2 3 4; do for i in 1 2 3 4; do false && git commit -m x | f() { "$@"; }; f git commit -m x
perl -pe 's/a/b/' .isdlc/state.json & chmod --reference=.isdlc/state.json a.txt & echo 'git commit -m x' > s.sh; echo 'git status' > s.sh; sh s.sh
done
done
}; f a b"#,
];

/// How long this thread has worked; a busy machine is not the text's fault.
fn worked() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap()
}

#[test]
fn no_command_line_takes_long() {
    let dir = tempfile::tempdir().unwrap();
    let made = Command::new("git")
        .args(["init", "-q", "-b", "main"])
        .arg(dir.path())
        .status();
    assert!(made.unwrap().success());
    let idioms = idioms();
    let first = seeds(1).start;
    let asked = number(LINES);
    let lines = asked.unwrap_or(1_500);
    let bound = BOUND * if asked.is_some() { 1 } else { SLOWER };
    let (mut longest, mut slow) = (Duration::ZERO, Vec::new());
    let made = (first..first + lines).map(|seed| (seed, line(seed, &idioms)));
    for (seed, command) in made.chain(SLOW.map(|text| (0, text.to_owned()))) {
        let began = worked();
        let world = World {
            dir: Some(dir.path()),
            home: Some(Path::new("/nowhere")),
            files: &Disk::default(),
        };
        let found = survey(&command, &world);
        let followed = follow(&found, &world);
        touches(
            &followed.effects,
            &[Path::new(".isdlc/state.json")],
            dir.path(),
            &world,
        );
        changed_paths(&followed.effects);
        let took = worked().saturating_sub(began);
        longest = longest.max(took);
        if took > bound {
            slow.push(format!("--- {SEED}={seed}: {took:?}\n{command}"));
        }
    }
    println!("{lines} command lines from {SEED}={first}, the longest in {longest:?}");
    assert!(
        slow.is_empty(),
        "{} over {bound:?}:\n{}",
        slow.len(),
        slow.join("\n")
    );
}
