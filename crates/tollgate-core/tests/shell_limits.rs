//! Whatever text arrives, the survey ends, soon, and without a panic.

use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use rustix::time::{ClockId, clock_gettime};
use tollgate_core::git::Disk;
use tollgate_shell::{MAX_COMMAND, Survey, World, follow, survey, touches};

/// A debug build on a loaded machine stays far below this; a quadratic scan does not.
const BOUND: Duration = Duration::from_secs(6);

fn read(command: &str) -> Survey {
    let world = World {
        dir: Some(Path::new("/nowhere/project")),
        home: Some(Path::new("/nowhere")),
        files: &Disk::default(),
    };
    let found = survey(command, &world);
    let followed = follow(&found, &world);
    touches(
        &followed.effects,
        &[Path::new(".isdlc/state.json")],
        Path::new("/nowhere/project"),
        &world,
    );
    found
}

/// Pieces that mean something to a shell, so that random texts reach deep into the parser.
fn shellish() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "git ",
        "commit ",
        "'",
        "\"",
        "`",
        "$(",
        ")",
        "((",
        "))",
        "${",
        "}",
        "{",
        "<<EOF\n",
        "EOF\n",
        "<<<",
        ">",
        "<(",
        "|",
        "||",
        "&&",
        "&",
        ";",
        ";;",
        "\n",
        "\\",
        "#",
        "if ",
        "then ",
        "else ",
        "fi ",
        "for x in ",
        "do ",
        "done ",
        "case x in ",
        "esac ",
        "f() ",
        "function g ",
        "[[ ",
        "]] ",
        "a=",
        "$a",
        "$'\\x",
        "eval ",
        "sh -c ",
        "xargs ",
        "env -S ",
        "find . -exec ",
        "cd ",
        "..",
        "/",
        "~",
        "*",
        "[",
        "{a,b}",
        "{1..9}",
        "!",
        "time ",
        "coproc ",
        "é",
        "\u{FDD0}",
        "\0",
        "-",
        " ",
        "$((",
        "$@",
        "python3 -c ",
        "sed -i ",
        "trap x EXIT USR1 ",
        "declare -n ",
        "hash -p ",
        "tar x ",
        "mv ",
        "@",
    ]);
    prop::collection::vec(pieces, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_without_a_panic(command in ".{0,300}") {
        read(&command);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        read(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_shell_like_text_is_read_without_a_panic(command in shellish()) {
        read(&command);
    }
}

/// How long this thread has worked. Not the time on the wall: a busy machine is not the text's fault.
fn worked() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

#[test]
fn hostile_texts_take_linear_time() {
    let full = |piece: &str| piece.repeat(MAX_COMMAND / piece.len());
    let doubling = (0..40).map(|_| "a=$a$a;").collect::<String>();
    let calls = (1..20)
        .map(|n| format!("f{n}() {{ f{0}; f{0}; f{0}; }};", n - 1))
        .collect::<Vec<_>>()
        .concat();
    for (name, command) in [
        ("heredoc markers", full("<<EOF ")),
        ("heredoc markers on lines", full("<<A\n")),
        ("heredocs", full("cat <<E\nx\nE\n")),
        ("substitutions", full("$(")),
        ("closed substitutions", full("$(a)")),
        ("quotes", full("\"")),
        ("single quotes", full("'")),
        ("backticks", full("`")),
        ("escaped backticks", full("\\`")),
        ("braces", full("{a,")),
        ("brace pairs", full("{a,b}")),
        ("parameter braces", full("${a:-")),
        ("arithmetic", full("$((")),
        (
            "closed arithmetic",
            format!("{}{}", "$((".repeat(40_000), "))".repeat(40_000)),
        ),
        ("subshells", full("(")),
        ("double parentheses", full("((a ")),
        ("groups", full("{ ")),
        ("conditions", full("if ")),
        ("cases", full("case x in x) ")),
        ("pipes", full("a|")),
        ("commands", full("a;")),
        ("git commands", full("git checkout x;")),
        ("git chains", full("git checkout -b x&&")),
        ("assignments", full("a=$a;")),
        ("subshell assignments", full("(b=1);")),
        (
            "doubling",
            format!("a=xxxxxxxx;{doubling}{}", "echo $a;".repeat(1000)),
        ),
        ("calls", format!("f0() {{ :; }};{calls} f19")),
        (
            "loops",
            "for a in 1 2 3 4 5 6 7 8; do ".repeat(20) + ":" + &";done".repeat(20),
        ),
        ("eval of itself", "x='eval \"$x\"'; eval \"$x\"".to_owned()),
        ("globs", format!("rm {}", full("*").split_at(200_000).0)),
        ("writes", full("echo x > .isdlc/a*b*c*d*e;")),
        (
            "one line of many commands of sed",
            format!("sed '{}'", "p;".repeat(120_000)),
        ),
        (
            "addresses of sed",
            format!("sed '{}'", "/a/,".repeat(60_000)),
        ),
        (
            "traps",
            "trap 'trap a EXIT' EXIT; (trap b EXIT);".repeat(5_000),
        ),
        (
            "names for names",
            "declare -n a=b b=c c=a; a=$a;".repeat(8_000),
        ),
        (
            "code",
            format!("python3 -c '{}'", "a = open(x".repeat(20_000)),
        ),
        (
            "names in code",
            format!("python3 -c '{}'", "rm ".repeat(60_000)),
        ),
        (
            "calls in code",
            format!("python3 -c '{}'", "run(git a ".repeat(20_000)),
        ),
        (
            "brackets in code",
            format!(
                "node -e '{}{}'",
                "f=()=>{(".repeat(20_000),
                ")}".repeat(20_000)
            ),
        ),
        (
            "conditions in code",
            format!("python3 -c '{}'", "git if ".repeat(30_000)),
        ),
        (
            "arrows in code",
            format!("node -e '{}'", "git => ".repeat(30_000)),
        ),
        (
            "functions in code",
            format!(
                "node -e '{}'",
                "function git(a) { system(a) } ".repeat(8_000)
            ),
        ),
        ("links", full("ln -s a b;")),
        ("process substitutions", full("<(")),
        ("functions", full("f() ")),
        ("tests", full("[[ ")),
        ("comments", full("#")),
        ("continuations", full("\\\n")),
        ("worktrees", full("git worktree add ../a;")),
        ("directories", full("cd a;git add b;")),
        ("wrappers", full("env ")),
        ("wrappers with operands", full("timeout 1 ")),
        ("unknown words", full("$a ")),
        (
            "actions of find",
            format!("find . {}", "-exec a ; ".repeat(20_000)),
        ),
        ("redirections", full(">a ")),
        ("written files", full("echo a>b;")),
        (
            "directories of git",
            format!("git {}commit", "-C a ".repeat(50_000)),
        ),
        (
            "split values",
            format!("a='{}';{}", "x ".repeat(20_000), "echo $a;".repeat(20_000)),
        ),
        (
            "patterns",
            format!(
                "a={};{}",
                "x".repeat(500),
                format!("echo ${{a##*{}y}};", "x*".repeat(200)).repeat(500)
            ),
        ),
        (
            "replacements",
            format!(
                "a={};b={};{}",
                "x".repeat(500),
                "y".repeat(60_000),
                "echo ${a//x/$b};".repeat(5_000)
            ),
        ),
        (
            "replaced marks",
            format!(
                "echo {} | xargs -Ia sh {}",
                "b".repeat(60_000),
                "a".repeat(60_000)
            ),
        ),
        (
            "brace alternatives",
            full("echo {a,b}{c,d}{e,f}{g,h}{i,j}{k,l};"),
        ),
        (
            "assignments in code",
            format!("python3 -c '{}'", "a=".repeat(120_000)),
        ),
        (
            "aliases",
            format!(
                "shopt -s expand_aliases\nalias a='a a '\n{}",
                "a ".repeat(60_000)
            ),
        ),
        ("evals", full("eval ")),
        (
            "directories kept",
            format!(
                "{}{}",
                "pushd aaaaaaaaaaaaaaaa;".repeat(64),
                "(a);".repeat(50_000)
            ),
        ),
    ] {
        let started = worked();
        read(
            command
                .get(..MAX_COMMAND.min(command.len()))
                .unwrap_or(&command),
        );
        let took = worked().saturating_sub(started);
        assert!(took < BOUND, "{name}: {took:?}");
    }
}

/// Runs `work` beside the test, which fails after a minute even if the work never ends.
fn ends(name: &str, work: impl FnOnce() + Send + 'static) {
    let (done, waits) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        work();
        // Nobody listens any more after a minute.
        let _late = done.send(());
    });
    let ended = waits.recv_timeout(Duration::from_mins(1));
    assert!(ended.is_ok(), "it does not end: {name}");
}

/// What each scanner has open when the text ends in the middle of it.
#[test]
fn a_text_that_ends_anywhere_is_read_to_its_end() {
    let opened = [
        "",
        "a",
        "a=",
        "a=(",
        "a[",
        "f() ",
        "if ",
        "while ",
        "for x in ",
        "select x in ",
        "case x in ",
        "case x in a) ",
        "[[ ",
        "((",
        "{ ",
        "( ",
        "! ",
        "time -p ",
        "coproc ",
        "function ",
        "declare -a x=(",
        "${a",
        "${a:-",
        "${a[",
        "$'\\x",
        "$\"",
        "echo {a,",
        "cat <<",
        "cat <<'E",
        "cat <<-E\n",
        "cat <<E\n$(",
        "cat <<<",
        "2>",
        "{a}>",
        "<(",
        "sed '",
        "sed 's/a/b/w",
        "sed '\\,",
        "awk '",
        "python3 -c '",
        "python3 -c 'open(",
        "perl -e '",
        "printf '",
        "printf '%",
        "echo -e '",
        "env -S '",
        "echo a | xargs -d '",
        "find . -exec ",
        "eval '",
        "sh -c '",
        "trap '",
        "alias a='",
        "git -c alias.a='",
        "a=${a//",
    ];
    let ends_with = [
        "\\", "\\\\", "\\\\\\", "\\\n", "\\\n\\", "'", "\"", "`", "$", "$(", "$((", "${", "$'",
        "<(", "<<", "<<<", "<<E", "<", ">", "[", "[[", "{", "{a,", "{a..", "(", "((", ")", "))",
        "}", ";", ";;", "|", "||", "&", "&&", "!", "#", "=", "+=", "\0", "\r", "\n", "\u{FDD0}",
        "é", "\\é", "",
    ];
    ends("awkward ends", move || {
        for open in opened {
            for end in ends_with {
                for close in ["", "'", "' f", "' f; git commit -m x", "\n"] {
                    read(&format!("{open}{end}{close}"));
                    read(&format!("{open}{end}{end}{close}"));
                }
            }
        }
    });
}

/// A text that is parsed twice at every level takes a time without end.
#[test]
fn nested_texts_are_parsed_once() {
    for open in [
        "coproc $(",
        "coproc a $(",
        "coproc `",
        "function $(",
        "f() { $(",
        "((a $(",
        "$((a $(",
        "case $(",
        "[[ $(",
        "a=($(",
        "a[$(",
        "${a:-$(",
        "\"$(",
        "<<$(",
        "> $(",
        "<(",
        "time $(",
    ] {
        let text = open.repeat(60);
        ends(open, move || {
            read(&text);
        });
    }
}

/// Scripts that a command names are as hostile as the command may be, and there are several.
#[test]
#[expect(clippy::disallowed_methods, reason = "fixtures are not state")]
fn hostile_scripts_take_no_longer() {
    let full = |piece: &str| piece.repeat(64 * 1024 / piece.len());
    for (name, file, text) in [
        ("functions", "s.sh", "f() { f; f; }; f; f; f;".to_owned()),
        ("itself", "s.sh", full("sh s.sh\n")),
        ("groups", "s.sh", full("(")),
        ("commands", "s.sh", full("a;")),
        ("writes", "s.sh", full("echo x > .isdlc/a*b*c*d*e;")),
        ("package", "package.json", full("[")),
    ] {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(file), text).unwrap();
        let command = "sh s.sh; npm run x; ./s.sh;".repeat(200);
        let started = worked();
        let world = World {
            dir: Some(dir.path()),
            home: None,
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
        let took = worked().saturating_sub(started);
        assert!(took < BOUND, "{name}: {took:?}");
    }
}

/// A pipe in a script's place is not waited for.
#[test]
fn a_script_that_is_a_pipe_is_not_read() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["s.sh", "package.json"] {
        let made = std::process::Command::new("mkfifo")
            .arg(dir.path().join(name))
            .status();
        assert!(made.unwrap().success());
    }
    let world = World {
        dir: Some(dir.path()),
        home: None,
        files: &Disk::default(),
    };
    let found = survey("sh s.sh; ./s.sh; npm run x", &world);
    assert!(follow(&found, &world).commits.is_empty());
}

#[test]
fn a_nul_inside_a_word_does_not_hide_it() {
    let command = "g\0it commit -m x";
    let found = read(command);
    assert!(found.runs().any(|run| run.program() == Some("git")));
}

#[test]
fn a_longer_command_is_opaque() {
    assert!(read(&"a".repeat(MAX_COMMAND + 1)).opaque);
}
