//! The form of a task plan: what plan-surfacer says about a `tasks.md` of format 2.0.
//!
//! Other plans are anybody's own and are not checked. Nothing here blocks: a plan that is
//! badly written is still a plan.

use std::collections::BTreeSet;

struct Task<'a> {
    id: &'a str,
    blocked_by: Vec<&'a str>,
}

/// What is wrong with the form of a plan, a line each.
pub fn flaws(text: &str) -> Vec<String> {
    if !text.lines().any(is_second_format) {
        return Vec::new();
    }
    let Some(section) = implementation(text) else {
        return vec!["there is no heading `## Phase NN: … Implementation`".to_owned()];
    };
    let mut flaws = Vec::new();
    if !section.iter().any(|line| line.starts_with("  files:")) {
        flaws.push("no task of the implementation has a line `  files:`".to_owned());
    }
    let mut tasks = section.iter().filter(|line| task_id(line).is_some());
    let is_traced = |line: &&str| line.contains("| traces:");
    if tasks.clone().next().is_some() && !tasks.any(is_traced) {
        flaws.push("no task of the implementation has `| traces:`".to_owned());
    }
    if text
        .lines()
        .any(|line| line.starts_with("## Dependency Graph"))
    {
        let circle = circle(&tasks_of(text));
        if !circle.is_empty() {
            flaws.push(format!(
                "tasks depend on each other in a cycle: {}",
                circle.join(", ")
            ));
        }
    }
    flaws
}

fn is_second_format(line: &str) -> bool {
    let version = line.strip_prefix("Format:").map(str::trim_start);
    version.is_some_and(|version| version.starts_with("v2.0"))
}

/// The lines of the section `## Phase 06: Implementation`.
fn implementation(text: &str) -> Option<Vec<&str>> {
    let mut lines = text.lines();
    lines.find(|line| {
        let Some(rest) = line.strip_prefix("## Phase ") else {
            return false;
        };
        let name = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        name.len() < rest.len() && name.starts_with(':') && name.contains("Implementation")
    })?;
    Some(lines.take_while(|line| !line.starts_with("## ")).collect())
}

/// The name of the task on a line `- [ ] T0001 …`.
fn task_id(line: &str) -> Option<&str> {
    let (mark, rest) = line.strip_prefix("- [")?.split_once("] ")?;
    let is_mark = mark.chars().all(|c| " XBLOCKED".contains(c));
    let id = rest.get(..5).filter(|_| is_mark)?;
    let digits = id.strip_prefix('T')?;
    digits.bytes().all(|b| b.is_ascii_digit()).then_some(id)
}

/// Every task of the plan with what it says in `  blocked_by: [T0001, T0002]` below it.
fn tasks_of(text: &str) -> Vec<Task<'_>> {
    let mut tasks: Vec<Task<'_>> = Vec::new();
    for line in text.lines() {
        if let Some(id) = task_id(line) {
            tasks.push(Task {
                id,
                blocked_by: Vec::new(),
            });
        } else if let Some(list) = line.strip_prefix("  blocked_by:")
            && let Some(task) = tasks.last_mut()
            && let Some(list) = list.trim().strip_prefix('[')
        {
            let names = list.trim_end_matches(']').split(',').map(str::trim);
            task.blocked_by
                .extend(names.filter(|name| !name.is_empty()));
        }
    }
    tasks
}

/// No plan of people has more tasks; each round of [`circle`] may take one away.
const MOST_TASKS: usize = 1000;

/// The tasks that are left when those that wait for nothing are taken away, again and again. A
/// name that no task has is nothing to wait for.
fn circle<'a>(tasks: &[Task<'a>]) -> Vec<&'a str> {
    let mut left: Vec<&Task<'a>> = tasks.iter().collect();
    if left.len() > MOST_TASKS {
        return Vec::new();
    }
    loop {
        let names: BTreeSet<&str> = left.iter().map(|task| task.id).collect();
        let before = left.len();
        left.retain(|task| task.blocked_by.iter().any(|name| names.contains(name)));
        if left.len() == before {
            return left.iter().map(|task| task.id).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "# Plan\nFormat: v2.0\n\n## Phase 05: Test Strategy -- COMPLETE\n- [X] T0001 plan\n\n\
        ## Phase 06: Implementation -- IN PROGRESS\n- [ ] T0002 code | traces: FR-01\n  files: a.rs\n  blocked_by: [T0001, T9999]\n\
        - [BLOCKED] T0003 more\n  blocked_by: [T0002]\n\n## Dependency Graph\nT0001 -> T0002\n";

    #[test]
    fn a_plan_in_good_form_has_no_flaws() {
        assert_eq!(flaws(GOOD), Vec::<String>::new());
    }

    #[test]
    fn another_format_is_not_looked_at() {
        for text in ["", "# Plan\n", "Format: v1.0\n", "The Format: v2.0\n"] {
            assert_eq!(flaws(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn without_the_section_nothing_else_is_said() {
        for heading in [
            "## Phase 06: Code",
            "## Phase x: Implementation",
            "### Phase 06: Implementation",
        ] {
            let text = GOOD.replace("## Phase 06: Implementation", heading);
            assert_eq!(
                flaws(&text),
                ["there is no heading `## Phase NN: … Implementation`"]
            );
        }
    }

    #[test]
    fn files_and_traces_belong_to_the_implementation() {
        let text = GOOD.replace("  files: a.rs\n", "");
        assert_eq!(
            flaws(&text),
            ["no task of the implementation has a line `  files:`"]
        );
        // In another section they do not count.
        let text = text.replace(
            "## Dependency",
            "## Phase 08: Review\n  files: b.rs\n\n## Dependency",
        );
        assert_eq!(flaws(&text).len(), 1);
        let text = GOOD.replace(" | traces: FR-01", "");
        assert_eq!(
            flaws(&text),
            ["no task of the implementation has `| traces:`"]
        );
        // Without tasks there is nothing to trace.
        let text = "Format: v2.0\n## Phase 06: Implementation\n- none\n  files: a.rs\n";
        assert_eq!(flaws(text), Vec::<String>::new());
    }

    #[test]
    fn a_circle_is_named_where_there_is_a_graph() {
        let text = GOOD.replace("[T0001, T9999]", "[T0003]");
        assert_eq!(
            flaws(&text),
            ["tasks depend on each other in a cycle: T0002, T0003"]
        );
        let text = text.replace("## Dependency Graph", "## Notes");
        assert_eq!(flaws(&text), Vec::<String>::new());
    }

    #[test]
    fn a_name_is_waited_for_until_the_last_task_of_it() {
        let plan = |tasks: &[(&'static str, &[&'static str])]| -> Vec<&'static str> {
            let task = |(id, blocked_by): &(&'static str, &[&'static str])| Task {
                id,
                blocked_by: blocked_by.to_vec(),
            };
            circle(&tasks.iter().map(task).collect::<Vec<_>>())
        };
        assert_eq!(
            plan(&[("a", &[]), ("a", &["b"]), ("b", &["a"])]),
            ["a", "b"]
        );
        assert_eq!(plan(&[("a", &["a"]), ("b", &[])]), ["a"]);
        assert!(plan(&[("b", &["a", "a", "x"]), ("a", &[]), ("a", &[])]).is_empty());
    }
}
