//! docs/rules.md: every snippet in it works.

use super::ruled;
use crate::project::TestProject;

const PAGE: &str = include_str!("../../../../../docs/rules.md");

/// The blocks of code in the page, each with its language.
fn blocks() -> Vec<(&'static str, &'static str)> {
    let mut blocks = Vec::new();
    for part in PAGE.split("\n```").skip(1).step_by(2) {
        let (language, text) = part.split_once('\n').unwrap();
        blocks.push((language, text));
    }
    blocks
}

/// Commands and what is printed, in the project of the file that the page showed last.
fn play(project: &TestProject, session: &str) {
    let mut printed = String::new();
    for line in session.lines().filter(|line| !line.trim().is_empty()) {
        match line.strip_prefix("$ tollgate ") {
            Some(command) => {
                let shell = format!("tollgate {command}");
                let mut run = project.command_of("/bin/sh".as_ref(), &["-c", &shell]);
                let program = std::path::Path::new(crate::project::TOLLGATE)
                    .parent()
                    .unwrap();
                run.env("PATH", format!("{}:/usr/bin:/bin", program.display()));
                let ran = crate::project::run(run, b"");
                assert_eq!(ran.code, 0, "{command}: {ran:?}");
                printed = format!("{}{}", ran.stdout, ran.stderr);
            }
            None => assert!(
                printed.contains(line.trim()),
                "{line:?} is not in {printed}"
            ),
        }
    }
}

#[test]
fn every_snippet_of_the_page_works() {
    let mut project = ruled("");
    let mut tried = 0;
    for (language, text) in blocks() {
        match language {
            "toml" => {
                project = ruled(text);
                project.must(&["validate"]);
                project.must(&["rules", "test"]).says("all as expected");
            }
            "console" => play(&project, text),
            _ => continue,
        }
        tried += 1;
    }
    assert!(tried >= 8, "{tried}");
}
