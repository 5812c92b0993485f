use std::path::Path;

use super::*;

/// In `/p`, with a home, and without files.
fn world() -> World<'static> {
    World {
        dir: Some(Path::new("/p")),
        home: Some(Path::new("/h")),
        files: &NoFiles,
    }
}

fn seen(command: &str) -> Vec<String> {
    let survey = survey(command, &world());
    survey
        .runs()
        .map(|run| {
            let words: Vec<String> = run.words.iter().map(Word::display).collect();
            words.join(" ")
        })
        .collect()
}

#[test]
fn commands_are_found_where_a_shell_would_run_them() {
    for (command, expected) in [
        ("git commit -m 'a b'", &["git commit -m a b"][..]),
        ("a; b && c || d & e | f", &["a", "b", "c", "d", "e", "f"]),
        ("echo 'a; b' # c; d", &["echo a; b"]),
        ("G=git; $G commit", &["git commit"]),
        ("G='git commit'; $G -m x", &["git commit -m x"]),
        ("git com\\\nmit", &["git commit"]),
        ("git $'\\x63ommit'", &["git commit"]),
        ("{git,commit,-m,x}", &["git commit -m x"]),
        ("git${IFS}commit", &["git commit"]),
        ("env -i A=b -u C git commit", &["git commit"]),
        ("env -S 'git commit' -m x", &["git commit -m x"]),
        (
            "sudo -u bob -E nice -n 5 timeout -k 1 5 git commit",
            &["git commit"],
        ),
        ("bash -lc 'git commit'", &["git commit"]),
        ("bash -o pipefail -c 'git commit'", &["git commit"]),
        ("echo 'git commit' | sh", &["echo git commit", "git commit"]),
        ("sh <<EOF\ngit commit\nEOF\nls", &["git commit", "ls"]),
        ("cat <<'EOF'\ngit commit\nEOF", &["cat"]),
        ("eval git commit", &["git commit"]),
        ("f() { git \"$@\"; }; f commit -m x", &["git commit -m x"]),
        ("function f { git commit; }", &[]),
        (
            "if true; then git commit; else ls; fi",
            &["true", "git commit", "ls"],
        ),
        (
            "while read x; do git commit; done < f",
            &["", "read x", "git commit"],
        ),
        ("for i in a b; do git $i; done", &["git a", "git b"]),
        (
            "case $x in a|b) git commit;; *) ls;; esac",
            &["git commit", "ls"],
        ),
        (
            "echo \"$(git commit)\" `ls`",
            &["git commit", "ls", "echo … *"],
        ),
        (
            "diff <(git show a) <(git show b)",
            &["git show a", "git show b", "diff /dev/fd/63 /dev/fd/64"],
        ),
        (
            "[[ -n $(ls) && a > b ]] && git commit",
            &["ls", "[[ -n * && a > b", "git commit"],
        ),
        ("(( x = 1 )); git commit", &["git commit"]),
        ("((git commit); ls)", &["git commit", "ls"]),
        (
            "find . -name x -exec git commit \\;",
            &["git commit", "find . -name x -exec git commit ;"],
        ),
        ("echo a | xargs git commit", &["echo a", "git commit a"]),
        ("ls | xargs -n1 git commit", &["ls", "git commit *"]),
        (
            "x=$(cat <<EOF\nhi 'there\nEOF\n); git commit",
            &["cat", "git commit"],
        ),
        (
            "git commit -m \"$(cat <<'EOF'\nmsg's\nEOF\n)\"",
            &["cat", "git commit -m msg's"],
        ),
        (
            "printf 'git commit\\n' > s.sh; sh s.sh",
            &["printf git commit\\n", "git commit"],
        ),
        ("busybox sh -c 'git commit'", &["git commit"]),
        ("! time git commit", &["git commit"]),
        ("$SUDO git commit", &["git commit"]),
        ("a=(1 2 3); git commit", &["git commit"]),
        ("cmd 2>&1 >/dev/null; ls", &["cmd", "ls"]),
        (
            "source <(echo git commit)",
            &["echo git commit", "git commit"],
        ),
        ("coproc git commit", &["git commit"]),
        (
            "flock /tmp/l git commit",
            &["git commit", "flock /tmp/l git commit"],
        ),
        (
            "trap 'git commit' EXIT; ls",
            &["trap git commit EXIT", "ls", "git commit"],
        ),
    ] {
        assert_eq!(seen(command), expected, "{command}");
    }
}

#[test]
fn the_directory_is_followed() {
    for (command, expected) in [
        ("cd a && x", Some("/p/a")),
        ("(cd a); x", Some("/p")),
        ("cd a; cd ..; x", Some("/p")),
        ("cd; x", Some("/h")),
        ("cd ~/b; x", Some("/h/b")),
        ("cd a; cd -; x", Some("/p")),
        ("pushd a; popd; x", Some("/p")),
        ("cd $Q; x", None),
        ("cd a | b; x", Some("/p")),
        ("if a; then cd b; fi; x", None),
        ("cd b || exit 1; x", Some("/p/b")),
        ("env -C d x", Some("/p/d")),
        ("D=e; cd \"$PWD/$D\" && x", Some("/p/e")),
    ] {
        let survey = survey(command, &world());
        let last = survey.runs().last().unwrap();
        assert_eq!(last.dir.as_deref(), expected, "{command}");
    }
}

#[test]
fn conditions_are_kept() {
    let links = |command: &str| -> Vec<Link> {
        survey(command, &World::unknown())
            .runs()
            .map(|run| run.link)
            .collect()
    };
    assert_eq!(
        links("a; b && c || d"),
        [Link::Then, Link::Then, Link::And, Link::Or]
    );
    assert_eq!(
        links("if a; then b; else c; fi"),
        [Link::Then, Link::If, Link::Else]
    );
    assert_eq!(links("a | b"), [Link::Then, Link::Pipe]);
}

#[test]
fn what_cannot_be_seen_is_opaque() {
    for (command, opaque) in [
        ("base64 -d x | sh", true),
        ("\"$X\" commit", true),
        ("echo 'unclosed", true),
        ("eval \"$X\"", true),
        ("f() { f; f; }; f", true),
        ("git commit", false),
        ("[ -n \"$x\" ] && git commit", false),
        ("ls $X", false),
    ] {
        assert_eq!(
            survey(command, &World::unknown()).opaque,
            opaque,
            "{command}"
        );
    }
}
