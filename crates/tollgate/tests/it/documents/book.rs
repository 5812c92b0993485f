//! The documentation: every link leads somewhere, every page is in the book, the tutorial's commands
//! run, and the reference of the commands is what `--help` says. None of it needs mdBook.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use crate::project::{TOLLGATE, TestProject, run};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The repository's pages, as paths from its root on.
fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    for directory in ["", "docs"] {
        for entry in Path::new(ROOT).join(directory).read_dir().unwrap() {
            let page = Path::new(directory).join(entry.unwrap().file_name());
            if page.extension().is_some_and(|extension| extension == "md") {
                pages.push(page);
            }
        }
    }
    pages.sort();
    pages
}

fn text(page: &Path) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(page)).unwrap()
}

/// The lines outside of blocks of code.
fn prose(page: &str) -> Vec<&str> {
    let mut fenced = false;
    page.lines()
        .filter(|line| {
            let fence = line.trim_start().starts_with("```");
            fenced ^= fence;
            !fenced && !fence
        })
        .collect()
}

/// A line without what stands between backquotes.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

/// Where the links and pictures of a page lead.
fn links(page: &str) -> Vec<String> {
    let mut links = Vec::new();
    for line in prose(page) {
        for part in without_code(line).split("](").skip(1) {
            links.push(part.split(')').next().unwrap().to_owned());
        }
    }
    links
}

/// The anchors of a page's headings, as GitHub and mdBook make them.
fn anchors(page: &str) -> BTreeSet<String> {
    prose(page)
        .iter()
        .filter(|line| line.starts_with('#'))
        .map(|line| {
            line.trim_start_matches('#')
                .trim()
                .to_lowercase()
                .chars()
                .filter_map(|char| match char {
                    ' ' => Some('-'),
                    '-' | '_' => Some(char),
                    _ => char.is_alphanumeric().then_some(char),
                })
                .collect()
        })
        .collect()
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => assert!(plain.pop(), "{path:?} leaves the repository"),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                plain.push(component);
            }
        }
    }
    plain
}

#[test]
fn every_link_and_anchor_leads_somewhere() {
    let mut broken = Vec::new();
    let mut checked = 0;
    for page in pages() {
        for link in links(&text(&page)) {
            if link.starts_with("http://") || link.starts_with("https://") {
                continue;
            }
            checked += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => page.clone(),
                file => plain(&page.parent().unwrap().join(file)),
            };
            let there = Path::new(ROOT).join(&target).is_file()
                && (anchor.is_empty() || anchors(&text(&target)).contains(anchor));
            // A page of the book cannot link to what is not in it.
            let in_book = !page.starts_with("docs") || target.starts_with("docs");
            if !there || !in_book {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
    assert!(checked > 100, "{checked}");
}

#[test]
fn every_page_is_in_the_book_once() {
    let mut listed = links(&text(Path::new("docs/SUMMARY.md")));
    listed.sort();
    let names: Vec<_> = pages()
        .iter()
        .filter_map(|page| page.strip_prefix("docs").ok())
        .filter(|page| *page != "SUMMARY.md")
        .map(|page| page.to_str().unwrap().to_owned())
        .collect();
    assert_eq!(listed, names);
}

/// Runs one command of the tutorial in the directory that the last one left.
fn enter(project: &TestProject, command: &str) -> String {
    let kept = project.home().join("directory");
    let script = format!(
        "cd \"$(cat {0} 2>/dev/null || pwd)\" || exit 1\n{command}\nended=$?; pwd > {0}; exit $ended",
        kept.display()
    );
    let mut shell = project.command_of("/bin/sh".as_ref(), &["-c", &script]);
    let programs = Path::new(TOLLGATE).parent().unwrap();
    shell.env("PATH", format!("{}:/usr/bin:/bin", programs.display()));
    let ran = run(shell, b"");
    assert_eq!(ran.code, 0, "{command}: {ran:?}");
    format!("{}{}", ran.stdout, ran.stderr)
}

/// In a `console` block, what follows a command must be in what it prints.
#[test]
fn the_tutorials_commands_run() {
    let project = TestProject::empty();
    for (key, value) in [("user.name", "Test"), ("user.email", "test@example.org")] {
        enter(&project, &format!("git config --global {key} {value}"));
    }
    let page = text(Path::new("docs/first-hour.md"));
    let mut commands = 0;
    for block in page.split("\n```").skip(1).step_by(2) {
        let (language, block) = block.split_once('\n').unwrap();
        if language == "sh" {
            enter(&project, block);
            commands += 1;
        }
        if language == "console" {
            let mut printed = String::new();
            for line in block.lines() {
                if let Some(command) = line.strip_prefix("$ ") {
                    printed = enter(&project, command);
                    commands += 1;
                } else {
                    assert!(
                        printed.contains(line.trim()),
                        "{line:?} is not in {printed}"
                    );
                }
            }
        }
    }
    assert!(commands > 15, "{commands}");
}

/// The picture in the README has the lines of a real run.
#[test]
fn the_pictured_session_is_what_the_program_prints() {
    let picture = std::fs::read_to_string(format!("{ROOT}/docs/pictures/session.svg")).unwrap();
    let shown: Vec<_> = picture
        .lines()
        .filter(|line| line.starts_with("<text"))
        .map(|line| {
            let text: String = line
                .split('<')
                .map(|part| part.split_once('>').map_or("", |(_, text)| text))
                .collect();
            let text = text
                .replace('\u{a0}', " ")
                .replace("&lt;", "<")
                .replace("&gt;", ">");
            let text = text
                .replace("&quot;", "\"")
                .replace("&#x27;", "'")
                .replace("&amp;", "&");
            crate::demo::without_time(&text)
        })
        .collect();
    let ran = TestProject::empty().run(&["demo", "--fast"], b"");
    let mut printed = ran.stdout.lines().map(crate::demo::without_time);
    for line in &shown[2..] {
        assert!(
            printed.any(|other| other == *line),
            "{line:?} is not printed there: make the picture anew with scripts/pictures"
        );
    }
    assert!(shown.len() > 20, "{shown:?}");
}

const COMMANDS: &str = "docs/commands.md";

/// The help of a command and of the commands below it.
fn helped(project: &TestProject, command: &[&str], into: &mut String) {
    let made = project.run(&[command, &["--help"]].concat(), b"");
    assert_eq!(made.code, 0, "{command:?}: {made:?}");
    let name = [&["tollgate"], command].concat().join(" ");
    let level = "#".repeat(command.len().clamp(1, 2) + 1);
    let help = made.stdout.trim_end();
    let _ = write!(into, "{level} {name}\n\n```text\n{help}\n```\n\n");
    for line in made.stdout.lines() {
        let Some(row) = line.strip_prefix("  ") else {
            continue;
        };
        // A command with what it does, or several without.
        let names: Vec<&str> = match row.split_once("  ") {
            Some((name, _)) => vec![name],
            None if row.contains(", ") => row.split(", ").collect(),
            None => continue,
        };
        let is_name = |name: &&str| {
            let is_plain = |c: char| c.is_ascii_lowercase() || c == '-';
            !name.is_empty() && name.chars().all(is_plain) && !name.starts_with('-')
        };
        if !names.iter().all(is_name) {
            continue;
        }
        for below in names.into_iter().filter(|name| *name != "help") {
            helped(project, &[command, &[below]].concat(), into);
        }
    }
}

/// The reference of the commands, as it should be.
fn commands() -> String {
    let mut page =
        "<!-- Made from `--help`; the test `documents::book` says how. -->\n\n# Commands\n\n"
            .to_owned();
    helped(&TestProject::empty(), &[], &mut page);
    format!("{}\n", page.trim_end())
}

#[test]
fn the_reference_of_commands_is_what_help_says() {
    assert_eq!(
        commands(),
        text(Path::new(COMMANDS)),
        "make it anew: cargo test -p tollgate --test it write_the_reference_of_commands -- --ignored"
    );
}

#[test]
#[ignore = "it writes docs/commands.md"]
fn write_the_reference_of_commands() {
    crate::project::put(&Path::new(ROOT).join(COMMANDS), commands());
}
