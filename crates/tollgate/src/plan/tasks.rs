//! The table of tasks, and whether a task's own file says that it is finished.

use super::phase::TaskId;

/// One row of `tasks.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    /// What its file is named by, whatever is written around it.
    pub(crate) id: String,
    pub(crate) status: String,
}

/// What `tasks.md` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tasks(Vec<Task>);

/// Where a table has what is looked for.
#[derive(Clone, Copy, Debug)]
struct Columns {
    id: usize,
    status: usize,
}

/// A task or subtask with one of these words is finished.
const CLOSED: [&str; 6] = [
    "done",
    "completed",
    "complete",
    "cancelled",
    "canceled",
    "postponed",
];

/// One with these is not finished; a subtask wherever the word stands.
const UNFINISHED: [&str; 5] = [
    "pending",
    "awaiting-review",
    "review-changes-requested",
    "in-progress",
    "in progress",
];

/// A table of fewer rows has no task, as the rules for it say.
pub(crate) const FEWEST_ROWS: usize = 3;

impl Tasks {
    /// Reads the rows after the header and its separator. A file without one of these two
    /// lines has tasks all the same, and none of them goes without a review.
    pub(crate) fn parse(text: &str) -> Self {
        let text = text.trim_start_matches('\u{feff}');
        let lines = text.lines().map(str::trim);
        let rows: Vec<Vec<&str>> = lines
            .filter(|line| line.starts_with('|'))
            .map(cells)
            .collect();
        if rows.len() < FEWEST_ROWS {
            return Self::default();
        }
        let first = rows.first().map(Vec::as_slice).unwrap_or_default();
        let is_separated = rows.get(1).is_some_and(|row| is_separator(row));
        let is_task = !is_separated && first.first().is_some_and(|cell| is_number(id(cell)));
        let columns = if is_task {
            Columns::USUAL
        } else {
            Columns::named(first)
        };
        let headers = usize::from(!is_task) + usize::from(is_separated);
        let task = |row: &Vec<&str>| {
            let cell = |at: usize| row.get(at).copied().unwrap_or_default();
            Task {
                // It names files, so its case counts.
                id: id(cell(columns.id)).to_owned(),
                status: status(cell(columns.status)),
            }
        };
        Self(rows.iter().skip(headers).map(task).collect())
    }

    /// The files of the tasks for a reviewer, in the table's order: of those with numbers, as
    /// the specification lists them, and of those with other names that have a file.
    pub(crate) fn files(&self, is_there: impl Fn(&str) -> bool) -> Vec<String> {
        let ids = self.0.iter().filter_map(|task| TaskId::new(&task.id));
        ids.map(|id| (is_number(id.as_str()), id.file()))
            .filter(|(is_numbered, file)| *is_numbered || is_there(file))
            .map(|(_, file)| file)
            .collect()
    }

    /// The files of the tasks that are open and can be named.
    pub(crate) fn open_files(&self) -> Vec<String> {
        let open = self.0.iter().filter(|task| task.is_open());
        let ids = open.filter_map(|task| TaskId::new(&task.id));
        ids.map(|id| id.file()).collect()
    }

    /// Whether any task but the current one is still open.
    pub(crate) fn has_open_besides(&self, current: Option<&TaskId>) -> bool {
        let current = current.map(TaskId::as_str);
        let mut others = self
            .0
            .iter()
            .filter(|task| Some(task.id.as_str()) != current);
        others.any(Task::is_open)
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

    /// Tasks with an unknown status. They count as open.
    pub(crate) fn unknown(&self) -> impl Iterator<Item = &Task> {
        let is_known = |status: &str| CLOSED.contains(&status) || UNFINISHED.contains(&status);
        let tasks = self.0.iter().filter(|task| !task.id.is_empty());
        tasks.filter(move |task| !is_known(&task.status))
    }
}

impl Task {
    fn is_open(&self) -> bool {
        !CLOSED.contains(&self.status.as_str())
    }
}

impl Columns {
    /// Where the specification's table has them.
    const USUAL: Self = Self { id: 0, status: 1 };

    /// Where a header says they are.
    fn named(header: &[&str]) -> Self {
        let at = |name: &str| {
            let mut cells = header.iter();
            cells.position(|cell| bare(cell).eq_ignore_ascii_case(name))
        };
        Self {
            id: at("id").unwrap_or(Self::USUAL.id),
            status: at("status").unwrap_or(Self::USUAL.status),
        }
    }
}

/// The cells of a row. A pipe behind a backslash is part of its cell.
fn cells(row: &str) -> Vec<&str> {
    let row = row.strip_prefix('|').unwrap_or(row);
    let mut was_backslash = false;
    row.split(move |c| {
        let ends = c == '|' && !was_backslash;
        was_backslash = c == '\\' && !was_backslash;
        ends
    })
    .collect()
}

/// Whether a row only draws the line below a header.
fn is_separator(row: &[&str]) -> bool {
    let mut cells = row.iter().map(|cell| cell.trim());
    cells.all(|cell| cell.chars().all(|c| matches!(c, '-' | ':')))
}

/// The id in a cell: `1`, and what people write for it, as `**1**`, `#1`, `Task 1` or
/// `[task-1](task-1.md)`.
fn id(cell: &str) -> &str {
    let cell = bare(cell);
    let link = cell
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]("));
    let shown = bare(link.map_or(cell, |(shown, _)| shown));
    let number = shown.strip_suffix(".md").unwrap_or(shown);
    let number = strip_word(number, "task").unwrap_or(number);
    let number = number.trim_start_matches(['-', '#', ' ']);
    let number = number.trim_end_matches(['.', ':']);
    if is_number(number) { number } else { shown }
}

/// `text` behind a word at its beginning, in any case.
fn strip_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let (start, rest) = text.split_at_checked(word.len())?;
    start.eq_ignore_ascii_case(word).then_some(rest)
}

/// The word in a cell of statuses, without what decorates it.
fn status(cell: &str) -> String {
    let word = cell.trim_matches(|c: char| !c.is_alphanumeric());
    word.to_lowercase()
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// A cell without blanks and emphasis.
fn bare(cell: &str) -> &str {
    cell.trim().trim_matches(['*', '_', '`', '~']).trim()
}

/// Whether a task's file says that all its subtasks are finished. A file without any status says
/// nothing against it.
pub(crate) fn is_finished(text: &str) -> bool {
    let mut column = None;
    !text.lines().map(str::trim).any(|line| {
        if !line.starts_with('|') {
            column = None;
            return is_unchecked(line) || line_status(line).is_some_and(|word| !is_over(word));
        }
        let row = cells(line);
        let word = column.and_then(|at: usize| row.get(at).copied());
        let named = row.iter().position(|cell| is_status(cell));
        column = named.or(column);
        let is_said = word.filter(|cell| !bare(cell).is_empty() && !is_separator(&[cell]));
        named.is_none() && is_said.is_some_and(|word| !is_over(word))
            || row
                .iter()
                .any(|cell| UNFINISHED.contains(&status(cell).as_str()))
    })
}

fn is_unchecked(line: &str) -> bool {
    ["- [ ]", "* [ ]"].iter().any(|mark| line.starts_with(mark))
}

/// What a line like `- **Status**: pending` says.
fn line_status(line: &str) -> Option<&str> {
    let (name, word) = line.split_once(':')?;
    let name = name.trim_start_matches(['-', '*', '+', '#', ' ']);
    (is_status(name) && !bare(word).is_empty()).then_some(word)
}

fn is_status(name: &str) -> bool {
    bare(name).eq_ignore_ascii_case("status")
}

/// Whether a subtask with this status is finished. What is said behind the word
/// does not matter.
fn is_over(said: &str) -> bool {
    let word = status(said.split(['(', ',', ';', '–', '—']).next().unwrap_or(said));
    let word = word.split(" - ").next().unwrap_or_default().trim_end();
    CLOSED.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "| Id | Status | Description |\r\n|---|---|---|\r\n| 1 | done | a |\r\n| 2 | **In-Progress** | b |\r\n| 3 | cancelled | pending? |\r\n| x | postponed | c |\r\n";

    #[test]
    fn decision_21_open_is_what_is_not_closed() {
        let tasks = Tasks::parse(TABLE);
        let files = tasks.files(|_| false);
        assert_eq!(files, ["task-1.md", "task-2.md", "task-3.md"]);
        assert_eq!(tasks.first_open().unwrap().as_str(), "2");
        assert!(tasks.has_open_besides(TaskId::new("1").as_ref()));
        assert!(!tasks.has_open_besides(TaskId::new("2").as_ref()));
        assert_eq!(tasks.progress(), (3, 4));
        let tasks = Tasks::parse(
            "| Id | Status |\n|---|---|\n| 1 | Completed ✅ |\n| 2 | complete |\n| 3 | incomplete |\n",
        );
        assert_eq!(tasks.first_open().unwrap().as_str(), "3");
        assert_eq!(tasks.progress(), (2, 3));
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
            let found = Tasks::parse(text).files(|_| false);
            assert_eq!(found.len(), files, "{text:?}");
        }
        let many = "| 1 | done | x |\n".repeat(5000);
        let tasks = Tasks::parse(&format!("| Id | Status |\n|---|---|\n{many}"));
        assert_eq!(tasks.progress(), (5000, 5000));
    }

    #[test]
    fn an_id_is_known_in_what_people_write_for_it() {
        for (cell, expected) in [
            (" 1 ", "1"),
            ("**1**", "1"),
            ("`12`", "12"),
            ("#3", "3"),
            ("4.", "4"),
            ("Task 5", "5"),
            ("task-6", "6"),
            ("[7](task-7.md)", "7"),
            ("[`task-8.md`](./task-8.md)", "8"),
            ("4-5", "4-5"),
            ("A_b", "A_b"),
            ("[T1](task-T1.md)", "T1"),
            ("taskforce", "taskforce"),
            ("task", "task"),
            ("", ""),
            ("[", "["),
            ("日本", "日本"),
        ] {
            assert_eq!(id(cell), expected, "{cell:?}");
        }
    }

    #[test]
    fn columns_are_where_the_header_says() {
        let found = |text: &str| {
            let tasks = Tasks::parse(text);
            (tasks.files(|_| false), tasks.progress())
        };
        let both = vec!["task-1.md".to_owned(), "task-2.md".to_owned()];
        for text in [
            "| Id | Status |\n|---|---|\n| 1 | done |\n| 2 | pending |\n",
            "| Status | **ID** |\n|:--|--:|\n| done | 1 |\n| pending | 2 |\n",
            "| # | Task | Status |\n|---|---|---|\n| 1 | a \\| done | Done ✅ |\n| 2 | done | no |\n",
            "\u{feff}| Id | Status |\r\n|---|---|\r\n| 1 | done |\r\n| 2 | |\r\n",
            "| Id | Status |\n| 1 | done |\n| 2 | pending |\n",
            "| 1 | done |\n| 2 | pending |\n\n|||\n",
        ] {
            let (files, (closed, _)) = found(text);
            assert_eq!((&files, closed), (&both, 1), "{text}");
        }
    }

    #[test]
    fn a_task_is_finished_when_no_subtask_says_otherwise() {
        for yes in [
            "",
            "# Task",
            "**Status**: completed",
            "| 1.1 | completed | x |",
            "- [x] a",
            "- **Status:** Completed ✅",
            "Status: done (2026-01-02)",
            "Status: completed - see the commit",
            "The status: nothing is pending.",
            "**Status**:",
            "| Id | Status |\n|---|---|\n| 1.1 | completed |\n| 1.2 | postponed |\n\n| a | b |\n|---|---|\n| 1 | todo |",
        ] {
            assert!(is_finished(yes), "{yes}");
        }
        for no in [
            "**Status**: pending",
            "Status: `awaiting-review`",
            "| 1.1 | pending |",
            "- [ ] a",
            "### Status: todo",
            "* **Status**: not started",
            "Status: not completed",
            "| Id | Status |\n|---|---|\n| 1.1 | completed |\n| 1.2 | blocked |",
        ] {
            assert!(!is_finished(no), "{no}");
        }
    }
}
