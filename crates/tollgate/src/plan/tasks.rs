//! The table of tasks, and whether a task's own file says that it is finished.

use super::phase::TaskId;

/// Whether work is left besides the current task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Remaining {
    #[default]
    Some,
    None,
}

/// One row of `tasks.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    /// The first column.
    pub(crate) id: String,
    /// The second column.
    pub(crate) status: String,
}

/// What `tasks.md` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tasks(Vec<Task>);

/// A task with one of these words is nobody's work any more.
const CLOSED: [&str; 3] = ["done", "cancelled", "postponed"];

/// A subtask with one of these words is not finished.
const UNFINISHED: [&str; 5] = [
    "pending",
    "awaiting-review",
    "review-changes-requested",
    "in-progress",
    "in progress",
];

impl Tasks {
    /// Reads the rows after the header and its separator.
    pub(crate) fn parse(text: &str) -> Self {
        let rows = text
            .lines()
            .map(str::trim)
            .filter(|line| line.starts_with('|'))
            .skip(2);
        let task = |row: &str| {
            let mut cells = row.strip_prefix('|').unwrap_or(row).split('|').map(bare);
            Task {
                // It names files, so its case counts.
                id: cells.next().unwrap_or_default().to_owned(),
                status: cells.next().unwrap_or_default().to_lowercase(),
            }
        };
        Self(rows.map(task).collect())
    }

    /// The files of the tasks with numeric ids, in the table's order, as the specification lists
    /// them for a reviewer.
    pub(crate) fn files(&self) -> Vec<String> {
        let ids = self.0.iter().filter_map(|task| TaskId::new(&task.id));
        ids.filter(|id| id.as_str().bytes().all(|b| b.is_ascii_digit()))
            .map(|id| id.file())
            .collect()
    }

    /// Whether any task but the current one is still open.
    pub(crate) fn remaining(&self, current: Option<&TaskId>) -> Remaining {
        let current = current.map(TaskId::as_str);
        let mut others = self
            .0
            .iter()
            .filter(|task| Some(task.id.as_str()) != current);
        if others.any(Task::is_open) {
            Remaining::Some
        } else {
            Remaining::None
        }
    }

    /// The first task that is open and can be named.
    pub(crate) fn first_open(&self) -> Option<TaskId> {
        let mut open = self.0.iter().filter(|task| task.is_open());
        open.find_map(|task| TaskId::new(&task.id))
    }

    /// How many tasks are closed, and how many there are.
    pub(crate) fn progress(&self) -> (usize, usize) {
        let closed = self.0.iter().filter(|task| !task.is_open()).count();
        (closed, self.0.len())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Task {
    fn is_open(&self) -> bool {
        !CLOSED.contains(&self.status.as_str())
    }
}

/// A cell without blanks and emphasis.
fn bare(cell: &str) -> &str {
    cell.trim().trim_matches(['*', '_', '`', '~']).trim()
}

/// Whether a task's file says that all its subtasks are finished. A file without any status says
/// nothing against it.
pub(crate) fn is_finished(text: &str) -> bool {
    let mut lines = text.lines().map(str::to_lowercase);
    !lines.any(|line| {
        let line = line.trim();
        if line.starts_with("- [ ]") || line.starts_with("* [ ]") {
            return true;
        }
        let names_status = line.contains("status") && !line.starts_with('|');
        let cells = line.starts_with('|').then(|| line.split('|').map(bare));
        let in_table = cells
            .into_iter()
            .flatten()
            .any(|cell| UNFINISHED.contains(&cell));
        let in_line = names_status
            && line
                .split_once(':')
                .is_some_and(|(_, value)| UNFINISHED.contains(&bare(value)));
        in_table || in_line
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "| Id | Status | Description |\r\n|---|---|---|\r\n| 1 | done | a |\r\n| 2 | **In-Progress** | b |\r\n| 3 | cancelled | pending? |\r\n| x | postponed | c |\r\n";

    #[test]
    fn decision_21_open_is_what_is_not_closed() {
        let tasks = Tasks::parse(TABLE);
        assert_eq!(tasks.files(), ["task-1.md", "task-2.md", "task-3.md"]);
        assert_eq!(tasks.first_open().unwrap().as_str(), "2");
        assert_eq!(tasks.remaining(TaskId::new("1").as_ref()), Remaining::Some);
        assert_eq!(tasks.remaining(TaskId::new("2").as_ref()), Remaining::None);
        assert_eq!(tasks.progress(), (3, 4));
    }

    #[test]
    fn odd_tables_are_read_as_far_as_they_go() {
        for (text, files) in [
            ("", 0),
            ("prose", 0),
            ("| Id |\n|--|\n| 1 |\n| 2 |", 2),
            ("| 1 | pending |\n| 2 | pending |", 0),
            ("|\n||\n|||\n", 0),
        ] {
            assert_eq!(Tasks::parse(text).files().len(), files, "{text:?}");
        }
        let many = "| 1 | done | x |\n".repeat(5000);
        let tasks = Tasks::parse(&format!("| Id | Status |\n|---|---|\n{many}"));
        assert_eq!(tasks.progress(), (5000, 5000));
    }

    #[test]
    fn a_task_is_finished_when_no_subtask_says_otherwise() {
        for yes in [
            "",
            "# Task",
            "**Status**: completed",
            "| 1.1 | completed | x |",
            "- [x] a",
        ] {
            assert!(is_finished(yes), "{yes}");
        }
        for no in [
            "**Status**: pending",
            "Status: `awaiting-review`",
            "| 1.1 | pending |",
            "- [ ] a",
        ] {
            assert!(!is_finished(no), "{no}");
        }
    }
}
