//! blast-radius-validator: the files of the impact analysis have changed, or were deferred with a
//! reason.
//!
//! It checks when the gate is to be passed, and the files as they are, committed or not.

use std::path::PathBuf;

use super::fields::PHASE;
use super::sample::ADVANCE;
use super::{Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample, advance};
use crate::next::{Next, Step};
use crate::project::stays_inside;
use crate::workflow::phases;

pub(super) const GUARD: Guard = Guard {
    name: "blast-radius-validator",
    about: "blocks the end of the implementation while files of the impact analysis are unchanged",
    is_general: false,
    on: &[
        (EventKind::PreTool, Class::Delegate),
        (EventKind::PreTool, Class::Skill),
    ],
    codes: &[
        Code::blocks(
            "BRV-001",
            "affected files are neither changed nor deferred",
            "change the listed files, or defer each with a reason",
        ),
        Code::warns(
            "BRV-002",
            "the impact analysis lists no files that can be read (warning)",
            "write the impact analysis as a table of files",
        ),
    ],
    reads: &[
        PHASE,
        "active_workflow.type",
        "active_workflow.artifact_folder",
        "active_workflow.git_branch.created_from",
    ],
    sample: Some(Sample {
        state: r#"{"active_workflow":{"type":"feature","artifact_folder":"REQ-1",
                "current_phase":"06-implementation"}}"#,
        files: &[(
            "docs/requirements/REQ-1/impact-analysis.md",
            "| `src/a.rs` | MODIFY |\n",
        )],
        event: ADVANCE,
        ..Sample::BLOCKED
    }),
    check,
};

/// What the analysis says happens to a file.
const DEEDS: &[&str] = &["CREATE", "MODIFY", "DELETE", "NO CHANGE"];

/// How many files the next step names; the others are in the list above it.
const MOST_STEPS: usize = 10;

#[derive(Debug, PartialEq, Eq)]
struct Affected {
    path: String,
    deed: &'static str,
}

fn check(context: &EventContext<'_>) -> Option<Decision> {
    let (workflow, phase) = (context.workflow()?, context.current_phase()?);
    let is_ours = workflow.str("type").as_deref() == Some("feature")
        && phases::same(&phase, "06-implementation");
    if !is_ours || !advance::is_attempt(context) {
        return None;
    }
    let folder = workflow.str("artifact_folder");
    let folder = folder.filter(|folder| stays_inside(folder))?;
    let home = context.docs().join("requirements").join(folder.as_ref());
    let analysis = context.file_text(&home.join("impact-analysis.md"))?;
    let listed = affected(&analysis);
    if listed.is_empty() {
        return Some(Decision::warn([unreadable(context, &home).phase(&phase)]));
    }
    let expected = listed.iter().filter(|row| row.deed != "NO CHANGE");
    let expected: Vec<&Affected> = expected.collect();
    if expected.is_empty() {
        return None;
    }
    let base = workflow.git_branch().and_then(|branch| branch.from);
    let changed = context.git.changed_files(base.as_deref())?;
    let coverage = context.file_text(&home.join("blast-radius-coverage.md"));
    let deferred = deferred(&coverage.unwrap_or_default());
    let mut open = expected.clone();
    open.retain(|row| !covers(&changed, &row.path) && !deferred.contains(&row.path));
    if open.is_empty() {
        return None;
    }
    let (count, total) = (open.len(), expected.len());
    let line = |row: &&Affected| format!("  - {} (expected: {})", row.path, row.deed);
    let files = open.iter().map(line).collect::<Vec<_>>().join("\n");
    let text = format!(
        "BLAST RADIUS COVERAGE INCOMPLETE: {count} of {total} affected files are unaddressed.\n\n\
         Unaddressed files:\n{files}\n\n\
         For each of them either\n\
         - make the change that impact-analysis.md announces (it need not be committed), or\n\
         - put it off: a row in blast-radius-coverage.md with the status 'deferred' and the \
         reason in its notes.\n\n\
         Then advance again."
    );
    let line = |row: &&Affected| format!("- {} ({})", row.path, row.deed);
    let files = open.iter().map(line).collect::<Vec<_>>().join("\n");
    let own = format!(
        "{count} of the {total} files that impact-analysis.md lists are not changed yet:\n\n\
         {files}\n\n\
         A file that is to change later needs a row in blast-radius-coverage.md, with the status \
         'deferred' and the reason."
    );
    let reason = format!("{count} of {total} affected files are unaddressed");
    let step = |row: &&Affected| match row.deed {
        "DELETE" => Step::Delete(row.path.clone()),
        _ => Step::Change(row.path.clone()),
    };
    let others = open.len().saturating_sub(MOST_STEPS);
    let others = (others > 0).then(|| {
        let what = format!("do the same for the other {others} files of impact-analysis.md");
        Step::Work(what)
    });
    let next = Next::retry(open.iter().take(MOST_STEPS).map(step).chain(others));
    let finding = Finding::new("BRV-001", context.words(text, own), reason).next(next);
    Some(Decision::block(finding.phase(&phase)))
}

fn unreadable(context: &EventContext<'_>, home: &std::path::Path) -> Finding {
    let path: PathBuf = home.join("impact-analysis.md");
    let text = format!(
        "[blast-radius-validator] WARNING: The impact analysis lists no files.\n  \
         Path: {}\n  \
         Expected table rows with the file in backticks and one of CREATE, MODIFY, DELETE and \
         NO CHANGE in a column of its own. Without them the coverage cannot be checked.",
        path.display()
    );
    let own = format!(
        "{} lists no files, so it is unknown whether they were changed. Write a table with a row \
         for each file: its path in backticks, and CREATE, MODIFY, DELETE or NO CHANGE in a column \
         of its own.",
        path.display()
    );
    let reason = "The impact analysis lists no files";
    Finding::new("BRV-002", context.words(text, own), reason)
}

/// The files of the analysis, each once. The path is the first cell in backticks and what
/// happens to it has its own cell; how many columns there are besides does not matter.
fn affected(text: &str) -> Vec<Affected> {
    let mut found: Vec<Affected> = Vec::new();
    for cells in rows(text) {
        let path = cells.iter().find_map(|cell| {
            let path = cell.strip_prefix('`')?.strip_suffix('`')?;
            (!path.contains('`')).then(|| clean(path))
        });
        let deed = cells.iter().find_map(|cell| {
            let cell = cell.trim_matches(['*', '`', '_']);
            let mut deeds = DEEDS.iter().copied();
            deeds.find(|deed| deed.eq_ignore_ascii_case(cell))
        });
        if let (Some(path), Some(deed)) = (path, deed)
            && !path.is_empty()
            && !found.iter().any(|known| known.path == path)
        {
            found.push(Affected { path, deed });
        }
    }
    found
}

/// The files that were put off with a reason: a cell says so and a later one says why.
fn deferred(text: &str) -> Vec<String> {
    let rows = rows(text).filter_map(|cells| {
        let at = cells.iter().position(|cell| {
            cell.trim_matches(['*', '`', '_'])
                .eq_ignore_ascii_case("deferred")
        })?;
        let reasoned = cells
            .iter()
            .skip(at + 1)
            .any(|cell| cell.contains(char::is_alphanumeric));
        let path = clean(cells.first()?.trim_matches('`'));
        (at > 0 && reasoned).then_some(path)
    });
    rows.collect()
}

fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().filter_map(|line| {
        let line = line.trim().strip_prefix('|')?;
        let line = line.strip_suffix('|').unwrap_or(line);
        Some(line.split('|').map(str::trim).collect())
    })
}

fn clean(path: &str) -> String {
    path.trim().trim_start_matches("./").to_owned()
}

/// Whether the path, or something below it where it is a directory, changed.
fn covers(changed: &[String], path: &str) -> bool {
    let directory = path.strip_suffix('/');
    changed.iter().any(|file| {
        file == path
            || directory.is_some_and(|directory| {
                file.strip_prefix(directory)
                    .is_some_and(|rest| rest.starts_with('/'))
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// GH-127: impact tables of four columns were not read, in silence.
    #[test]
    fn gh_127_rows_are_read_whatever_columns_there_are() {
        let text = "\
| File | Change |\n|---|---|\n| `a.rs` | MODIFY |\n\
| `b.rs` | CREATE | new |\n\
| 3 | `./c.rs` | **DELETE** | gone |\n\
| core | x | `d.rs` | no change | - |\n\
| `a.rs` | CREATE | again |\n\
| e.rs | MODIFY | no backticks |\n| `f.rs` | modified | other word |\n";
        let rows = affected(text);
        let found: Vec<_> = rows
            .iter()
            .map(|row| (row.path.as_str(), row.deed))
            .collect();
        assert_eq!(
            found,
            [
                ("a.rs", "MODIFY"),
                ("b.rs", "CREATE"),
                ("c.rs", "DELETE"),
                ("d.rs", "NO CHANGE")
            ]
        );
    }

    #[test]
    fn a_deferral_needs_a_reason() {
        let text = "| `a.rs` | MODIFY | deferred | next release |\n| b.rs | deferred | |\n\
            | `c.rs` | covered | deferred to nobody |\n| `d.rs` | Deferred | see #7 |";
        assert_eq!(deferred(text), ["a.rs", "d.rs"]);
    }

    #[test]
    fn a_directory_is_covered_by_what_is_in_it() {
        let changed = ["src/a/b.rs".to_owned(), "src/ab.rs".to_owned()];
        assert!(covers(&changed, "src/a/"));
        assert!(!covers(&changed, "src/a"));
        assert!(!covers(&changed, "src/b/"));
    }
}
