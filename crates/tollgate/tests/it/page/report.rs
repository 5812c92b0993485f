//! The report: the page as one file.

use super::states::{self, HOSTILE};
use crate::outputs::filters;
use crate::project::run;
use crate::terminal::Terminal;

#[test]
fn a_report_is_one_file_that_fetches_nothing() {
    let project = states::busy();
    let run = project.run(&["report", "--html", "report.html"], b"");
    assert_eq!(run.code, 0, "{run:?}");
    let html = project.read("report.html");
    assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"));
    assert!(html.contains("Pay by invoice") && html.contains("<svg") && html.contains("<style"));
    for forbidden in [
        "<script",
        "src=",
        "href=\"http",
        "url(",
        "@import",
        "<link rel=\"stylesheet",
    ] {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
    let printed = project.run(&["report", "--html"], b"");
    assert!(printed.stdout.starts_with("<!doctype html>"), "{printed:?}");
}

/// What a page says: its text, a line for each piece, without style and drawings.
fn text_of(html: &str) -> String {
    let mut rest = html.to_owned();
    for element in ["style", "svg"] {
        let (start, end) = (format!("<{element}"), format!("</{element}>"));
        while let Some((before, after)) = rest.split_once(&start) {
            let (_, after) = after.split_once(&end).unwrap();
            rest = format!("{before}{after}");
        }
    }
    let pieces = rest
        .split('<')
        .skip(1)
        .filter_map(|piece| piece.split_once('>'));
    let lines = pieces.map(|(_, text)| text.trim());
    let lines: Vec<_> = lines.filter(|text| !text.is_empty()).collect();
    lines.join("\n")
}

#[test]
fn a_report_tells_of_work_that_goes_on() {
    let project = states::busy();
    let journal = ".tollgate/local/journal.jsonl";
    let lines: String = project
        .text(journal)
        .split_inclusive('\n')
        .take(5)
        .collect();
    project.file(journal, lines);
    let html = project.must(&["report", "--html"]).stdout;
    let process = format!("Process {} is", std::process::id());
    let html = html.replace(&process, "Process [pid] is");
    filters(&project).bind(|| insta::assert_snapshot!(text_of(&html)));
}

/// Nobody verified the gates of a phase that needs them.
#[test]
fn every_display_says_that_a_phase_was_not_verified() {
    let project = states::stepping();
    let html = project.must(&["report", "--html"]).stdout;
    assert!(html.contains("completed, not verified"), "{html}");
    for args in [&["status"][..], &["workflow", "status"]] {
        let shown = project.tollgate(args).stdout;
        assert!(shown.contains("completed, not verified"), "{shown}");
    }
    assert!(project.must(&["top", "--once"]).stdout.contains("● build"));
}

/// Of three events the 95th percentile would be the largest one.
#[test]
fn few_events_have_no_percentile() {
    let project = states::stepping();
    let html = project.must(&["report", "--html"]).stdout;
    assert!(
        html.contains("median 0.5 ms, one event") && !html.contains("95 %"),
        "{html}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&project.must(&["report", "--json"]).stdout).unwrap();
    assert_eq!(
        json["journal"]["latency"]["p95_ms"],
        serde_json::Value::Null
    );
    let html = states::long().must(&["report", "--html"]).stdout;
    assert!(html.contains("95 % within 0.6 ms"), "{html}");
}

#[test]
fn a_report_tells_of_files_that_cannot_be_read() {
    let project = states::broken();
    let html = project.must(&["report", "--html"]).stdout;
    filters(&project).bind(|| insta::assert_snapshot!(text_of(&html)));
}

#[test]
fn a_report_of_anything_is_made_and_text_stays_text() {
    for project in [
        states::empty(),
        states::broken(),
        states::hostile(),
        states::long(),
    ] {
        let run = project.run(&["report", "--html"], b"");
        assert_eq!(run.code, 0, "{run:?}");
        assert!(!run.stdout.contains("<img"), "{}", run.stdout);
        assert!(!run.stdout.contains('\u{1b}') && !run.stdout.contains('\u{7}'));
    }
    let json = states::hostile().run(&["report", "--json"], b"");
    let value: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(value["workflow"]["description"], HOSTILE);
}

#[test]
fn outside_of_a_project_it_says_what_to_do() {
    let run = crate::project::TestProject::empty().run(&["report", "--html"], b"");
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("not in a project"), "{run:?}");
}

#[test]
fn what_a_person_allowed_is_told() {
    let project = states::blocked();
    let command = |args: &[&str]| project.command(args);
    let allow = command(&["allow", "BG-001", "--once", "--reason", "agreed <b>"]);
    let (screen, code) = Terminal::start(&allow).retypes().ends();
    assert_eq!(code, 0, "{screen}");
    let page = run(command(&["report", "--html"]), b"").stdout;
    assert!(
        page.contains("allowed BG-001 once") && page.contains("agreed &lt;b&gt;"),
        "{page}"
    );
    let top = run(command(&["top", "--once"]), b"").stdout;
    assert!(top.contains("allowed BG-001 once"), "{top}");
}

/// A reviewer that gives no verdict counts as one that is not content; a plan without a state has
/// no limit of reviews, not one of 0.
#[test]
fn a_plan_is_shown_as_it_is() {
    let project = states::empty();
    project.file(".tollgate/plans/old/plan.md", "# Plan\n");
    project.file(
        ".tollgate/local/journal.jsonl",
        "{\"ts\":\"2026-02-08T09:00:00.000Z\",\"verdict\":\"review\",\"guard\":\"plan\",\"code\":\"no verdict (counts as FAIL)\",\"ms\":7.0}\n",
    );
    let html = project.run(&["report", "--html"], b"").stdout;
    assert!(html.contains("0 of 0 tasks closed.</p>"), "{html}");
    assert!(html.contains("1 failed: those are red"), "{html}");
    assert!(
        html.contains("<span class=\"badge bad\">no verdict"),
        "{html}"
    );
}

/// A report and a run's result are for others to read.
#[test]
fn what_is_written_for_others_can_be_read_by_them() {
    use std::os::unix::fs::PermissionsExt as _;
    let gate = "[gates.test]\nrun = \"true\"\n";
    let project = crate::project::TestProject::empty()
        .on_branch("main")
        .with_toml(gate);
    project.must(&["report", "--html", "report.html"]);
    project.must(&["run", "--junit", "result.xml"]);
    for file in ["report.html", "result.xml"] {
        let metadata = project.path(file).metadata().unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o644, "{file}");
    }
}
