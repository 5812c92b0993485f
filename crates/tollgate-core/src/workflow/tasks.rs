//! `tasks.md`: what a completed phase ticks.
//!
//! The section of a phase is a heading of level two that names its number (`## Phase 06: …`).
//! Only that section, its heading and its row in a progress table are touched; everything else
//! stays as it was written.

use super::phases;

/// The text with the phase's tasks ticked; nothing if there is nothing to tick.
pub fn tick(text: &str, phase: &str) -> Option<String> {
    let number = phases::gate_number(phase);
    let mut inside = false;
    let mut out = String::with_capacity(text.len() + 64);
    let mut changed = false;
    for line in text.split_inclusive('\n') {
        // Windows ends lines otherwise.
        let body = line.trim_end_matches(['\r', '\n']);
        let end = line.strip_prefix(body).unwrap_or_default();
        if body.starts_with("## ") {
            inside = is_heading(body, number, phase);
        }
        let new = if inside && body.starts_with("## ") {
            heading(body)
        } else if inside {
            task(body)
        } else {
            row(body, number)
        };
        changed |= new.is_some();
        out.push_str(new.as_deref().unwrap_or(body));
        out.push_str(end);
    }
    changed.then_some(out)
}

/// `## Phase 06: Implementation -- PENDING`, also with the whole key.
fn is_heading(line: &str, number: &str, phase: &str) -> bool {
    let rest = line.trim_start_matches('#').trim_start();
    let Some(rest) = rest.strip_prefix("Phase ") else {
        return rest.starts_with(phase);
    };
    let name = rest.split([':', ' ']).next().unwrap_or_default();
    if name == phase {
        return true;
    }
    if name != number {
        return false;
    }
    // Two phases can share a number (02, 12, 15): then the words decide, if there are any.
    let keys = phases::PHASES.iter().map(|(key, _)| *key);
    let twins = keys.filter(|key| phases::gate_number(key) == number);
    let title = phases::title(phase).to_lowercase();
    twins.count() <= 1 || rest.to_lowercase().contains(&title)
}

fn heading(line: &str) -> Option<String> {
    let title = match line.rsplit_once(" -- ") {
        Some((_, "COMPLETE")) => return None,
        Some((title, "PENDING" | "IN PROGRESS" | "IN_PROGRESS" | "BLOCKED")) => title,
        Some(_) | None => line.trim_end(),
    };
    Some(format!("{title} -- COMPLETE"))
}

/// `- [ ] T0001 …`; a blocked task stays blocked.
fn task(line: &str) -> Option<String> {
    let indent = line.len() - line.trim_start().len();
    let (blank, rest) = line.split_at_checked(indent)?;
    let name = rest.strip_prefix("- [ ] ")?;
    let digits = name.strip_prefix('T')?;
    let is_task = digits.starts_with(|c: char| c.is_ascii_digit());
    is_task.then(|| format!("{blank}- [X] {name}"))
}

/// A row of the progress table: `| 06 | Implementation | PENDING | 0/4 |`.
fn row(line: &str, number: &str) -> Option<String> {
    let mut cells: Vec<&str> = line.split('|').collect();
    let first = cells.get(1)?.trim();
    let named = first.strip_prefix("Phase ");
    let named = named.and_then(|rest| rest.split([':', ' ']).next());
    if first != number && named != Some(number) {
        return None;
    }
    let open = |cell: &str| matches!(cell.trim(), "PENDING" | "IN PROGRESS" | "IN_PROGRESS");
    // The first status is the row's; one that is complete already is left alone.
    let is_status = |cell: &&str| open(cell) || cell.trim() == "COMPLETE";
    let status = cells.iter_mut().find(|cell| is_status(cell))?;
    if !open(status) {
        return None;
    }
    *status = " COMPLETE ";
    Some(cells.join("|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASKS: &str = "# Plan\n\n| Phase | Name | Status |\n|---|---|---|\n| 05 | Test Strategy | COMPLETE |\n| 06 | Implementation | PENDING |\n\n\
        ## Phase 05: Test Strategy -- COMPLETE\n- [X] T0001 plan\n\n## Phase 06: Implementation -- IN PROGRESS\n- [ ] T0002 code\n  files: a.rs\n\
        - [BLOCKED] T0003 wait\n- [ ] not a task\n\n## Phase 08: Code Review -- PENDING\n- [ ] T0004 review";

    #[test]
    fn only_the_phases_own_section_is_ticked() {
        let ticked = tick(TASKS, "06-implementation").unwrap();
        let changed: Vec<_> = ticked
            .lines()
            .zip(TASKS.lines())
            .filter(|(a, b)| a != b)
            .map(|(a, _)| a)
            .collect();
        assert_eq!(
            changed,
            [
                "| 06 | Implementation | COMPLETE |",
                "## Phase 06: Implementation -- COMPLETE",
                "- [X] T0002 code"
            ]
        );
        assert!(!ticked.ends_with('\n'));
        assert_eq!(tick(&ticked, "06-implementation"), None);
        assert_eq!(tick(TASKS, "16-quality-loop"), None);
    }

    #[test]
    fn a_row_with_a_second_status_is_ticked_once() {
        let text = "| 06 | IN PROGRESS | PENDING |\n";
        let ticked = tick(text, "06-implementation").unwrap();
        assert_eq!(ticked, "| 06 | COMPLETE | PENDING |\n");
        assert_eq!(tick(&ticked, "06-implementation"), None);
    }

    #[test]
    fn twins_are_told_apart_by_their_words() {
        let text = "## Phase 02: Tracing\n- [ ] T1 a\n## Phase 02: Impact Analysis\n- [ ] T2 b\n";
        let ticked = tick(text, "02-impact-analysis").unwrap();
        assert_eq!(
            ticked,
            "## Phase 02: Tracing\n- [ ] T1 a\n## Phase 02: Impact Analysis -- COMPLETE\n- [X] T2 b\n"
        );
    }
}
