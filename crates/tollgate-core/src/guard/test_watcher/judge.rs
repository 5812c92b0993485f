//! Whether a command's tests passed, from how it ended and what it printed.

use super::runners::Runner;
use super::scripts;
use super::summary::{Summary, Tally};
use crate::context::EventContext;
use crate::protocol::Exit;
use crate::text;
use tollgate_shell::{Link, Run, Step, Survey};

#[derive(Debug)]
pub(crate) struct TestRun {
    pub(crate) outcome: Outcome,
    /// What was counted, if anything was.
    pub(crate) tally: Option<Tally>,
    /// What it printed, without colours.
    pub(crate) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    Failed,
    /// It is not known. That is a separate answer: it proves neither.
    Inconclusive(Doubt),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    Silent,
    NoTests,
    Interrupted,
    Contradiction,
    /// What it printed went through a program that picks lines.
    Filtered,
}

impl Doubt {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Silent => "neither its exit status nor a summary could be read",
            Self::NoTests => "it ran no tests",
            Self::Interrupted => "it was interrupted before it ended",
            Self::Contradiction => "it exited with 0, but what it printed tells of a failure",
            Self::Filtered => "its output was filtered, so a failure may not be seen",
        }
    }

    /// What would tell.
    pub(crate) fn remedy(self) -> &'static str {
        match self {
            Self::Silent | Self::Filtered => {
                "Run the tests as a command of their own, not in a pipe, so that their result can \
                 be read."
            }
            Self::NoTests => "Run tests that exist, without a filter that leaves none.",
            Self::Interrupted => "Run them to their end.",
            Self::Contradiction => {
                "Look for what failed and for what hides its exit status, and run the tests again."
            }
        }
    }
}

/// The runners that the event's command starts in this project.
fn runners(context: &EventContext<'_>) -> impl Iterator<Item = &'static Runner> {
    let root = context.layout().root();
    // Another project's tests prove nothing about this one.
    let is_here = move |dir: &String| std::path::Path::new(dir).starts_with(root);
    let runs = context.call.survey().into_iter().flat_map(Survey::runs);
    let runs = runs.filter(move |run| run.dir.as_ref().is_none_or(&is_here));
    runs.filter_map(Runner::of)
}

/// Whether the event is about tests of this project.
pub(crate) fn is_test_run(context: &EventContext<'_>) -> bool {
    runners(context).next().is_some()
}

/// The event's test run, if it is one in this project that has ended.
pub(crate) fn test_run(context: &EventContext<'_>) -> Option<TestRun> {
    let command = context.call.shell_command()?;
    let survey = context.call.survey()?;
    if !is_test_run(context) {
        return None;
    }
    let output = context.event.output();
    if output.exit == Exit::Running {
        return None;
    }
    let text = text::plain(&output.text).into_owned();
    let mut read = Vec::new();
    let mut known: Vec<&str> = Vec::new();
    for runner in runners(context) {
        if !known.contains(&runner.name) {
            known.push(runner.name);
            read.extend(runner.read(&text));
        }
    }
    let summary = read.into_iter().reduce(Summary::and);
    let tally = match summary {
        Some(Summary::Counted(tally)) => Some(tally),
        Some(Summary::Succeeded | Summary::Broken) | None => None,
    };
    let outcome = judge(output.exit, Bearing::of(survey, command), summary);
    Some(TestRun {
        outcome,
        tally,
        text,
    })
}

/// What the exit status of a whole command says about the tests in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bearing {
    /// 0 means that the tests exited with 0.
    zero: bool,
    /// Another status means that the tests failed.
    other: Proof,
    /// What the tests print is shown whole, or at least to its end.
    whole: bool,
}

/// Programs that show some lines of what they are given: those that tell of a failure may not be
/// among them. The end of an output has the summary.
const FILTERS: &[&str] = &[
    "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "awk", "gawk", "mawk", "sed", "head",
    "cut", "uniq", "jq",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    Sure,
    /// Something that follows the tests may have failed instead.
    Likely,
    None,
}

impl Bearing {
    fn of(survey: &Survey, command: &str) -> Self {
        let runs: Vec<_> = survey.runs().collect();
        // All that follows the first of the tests: `npm test; cargo test` ends as the second does.
        let first = runs.iter().position(|run| Runner::of(run).is_some());
        let after = first.and_then(|at| runs.get(at + 1..)).unwrap_or_default();
        let is_filter = |run: &&&Run| {
            let program = run.program().unwrap_or_default();
            run.link == Link::Pipe && FILTERS.contains(&program)
        };
        let whole = !after.iter().any(|run| is_filter(&run));
        let nothing = Self {
            zero: false,
            other: Proof::None,
            whole,
        };
        let has_conditions = survey.steps.iter().any(|step| {
            let Step::Enter(link) = step else {
                return false;
            };
            !matches!(link, Link::Shell | Link::Call)
        });
        if survey.opaque || has_conditions || turns_status(command) {
            return nothing;
        }
        let pipefail = survey.runs().any(|run| {
            let mut args = run.args().iter();
            run.program() == Some("set") && args.any(|arg| arg.literal() == Some("pipefail"))
        });
        let tests = first.and_then(|at| runs.get(at));
        let hides = tests.is_some_and(|run| scripts::may_hide_failures(run));
        let mut bearing = Self {
            zero: !hides,
            other: Proof::Sure,
            whole,
        };
        for run in after {
            match run.link {
                // Further tests that fail are tests that fail.
                Link::And | Link::If if Runner::of(run).is_some() => {}
                Link::And | Link::If => {
                    if bearing.other == Proof::Sure {
                        bearing.other = Proof::Likely;
                    }
                }
                Link::Pipe if pipefail => {}
                Link::Or => bearing.zero = false,
                Link::Then | Link::Else | Link::Pipe | Link::Maybe | Link::Shell | Link::Call => {
                    return nothing;
                }
            }
        }
        bearing
    }
}

/// Whether the command has words that change what its exit status means: `!`, `if`, a job in the
/// background. Text in quotes counts too; then the summary decides, which is never wrong.
fn turns_status(command: &str) -> bool {
    let words = command.split(|c: char| c.is_whitespace() || c == ';' || c == '(');
    let mut words = words.filter(|word| !word.is_empty());
    words.any(|word| {
        matches!(word, "!" | "if" | "while" | "until" | "for" | "case" | "&")
            || (word.ends_with('&') && !word.ends_with("&&"))
    })
}

/// Statuses of a run that was ended: `timeout`, Ctrl-C, KILL, TERM.
const ENDED: &[u64] = &[124, 130, 137, 143];

fn judge(exit: Exit, bearing: Bearing, summary: Option<Summary>) -> Outcome {
    let code = match exit {
        Exit::Code(code) => Some(code),
        Exit::Interrupted | Exit::Running | Exit::Unknown => None,
    };
    let says_failure = summary.is_some_and(Summary::is_failure);
    let ran_nothing =
        matches!(summary, Some(Summary::Counted(t)) if t.passed == 0 && t.failed == 0);
    match code {
        Some(0) if bearing.zero => {
            return match summary {
                // Tests that were counted as failed do not pass because a script or a setting
                // hides the status; a word about a broken build may belong to another program.
                Some(Summary::Counted(_)) if says_failure => Outcome::Failed,
                _ if says_failure => Outcome::Inconclusive(Doubt::Contradiction),
                // A filter that matches nothing exits with 0 and proves nothing.
                _ if ran_nothing => Outcome::Inconclusive(Doubt::NoTests),
                _ => Outcome::Passed,
            };
        }
        Some(code) if ENDED.contains(&code) && !says_failure => {
            return Outcome::Inconclusive(Doubt::Interrupted);
        }
        Some(1..) if bearing.other == Proof::Sure => return Outcome::Failed,
        Some(1..) if bearing.other == Proof::Likely && summary.is_none() => return Outcome::Failed,
        Some(_) | None => {}
    }
    match summary {
        _ if says_failure => Outcome::Failed,
        _ if exit == Exit::Interrupted => Outcome::Inconclusive(Doubt::Interrupted),
        Some(_) if ran_nothing => Outcome::Inconclusive(Doubt::NoTests),
        Some(_) if !bearing.whole => Outcome::Inconclusive(Doubt::Filtered),
        Some(_) => Outcome::Passed,
        None => Outcome::Inconclusive(Doubt::Silent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_shell::{World, survey};

    fn verdict(command: &str, exit: Exit, summary: impl Into<Option<Summary>>) -> Outcome {
        let summary = summary.into();
        let survey = survey(command, &World::unknown());
        judge(exit, Bearing::of(&survey, command), summary)
    }

    fn counted(passed: u64, failed: u64) -> Summary {
        Summary::Counted(Tally {
            passed,
            failed,
            skipped: 0,
        })
    }

    #[test]
    fn the_exit_status_counts_first_where_it_is_the_tests_own() {
        let (ok, bad) = (Exit::Code(0), Exit::Code(101));
        for command in ["cargo test", "cd x && cargo test", "cargo test && echo ok"] {
            assert_eq!(verdict(command, ok, None), Outcome::Passed, "{command}");
            assert_eq!(verdict(command, bad, None), Outcome::Failed, "{command}");
        }
        assert_eq!(verdict("cargo test", bad, counted(5, 0)), Outcome::Failed);
        // Here another program has the last word.
        for command in [
            "make -i test",
            "make -ki test",
            "npm run test --if-present",
            "cargo test | tail -5",
            "cargo test || true",
            "cargo test; echo done",
            "! cargo test",
            "if cargo test; then echo ok; fi",
            "cargo test &",
        ] {
            let silent = Outcome::Inconclusive(Doubt::Silent);
            assert_eq!(verdict(command, ok, None), silent, "{command}");
            assert_eq!(
                verdict(command, ok, counted(5, 1)),
                Outcome::Failed,
                "{command}"
            );
            assert_eq!(
                verdict(command, ok, counted(5, 0)),
                Outcome::Passed,
                "{command}"
            );
        }
        let piped = "set -o pipefail; cargo test | tee log";
        assert_eq!(verdict(piped, bad, None), Outcome::Failed);
        assert_eq!(
            verdict("cargo test && ./deploy", bad, counted(5, 0)),
            Outcome::Passed
        );
    }

    /// BUG-0007-test-watcher: output that cannot be read counted as a failure and tripped the
    /// breaker.
    #[test]
    fn bug_0007_test_watcher_what_is_not_known_is_no_failure() {
        let doubt = |doubt| Outcome::Inconclusive(doubt);
        let unknown = Exit::Unknown;
        assert_eq!(verdict("npm test", unknown, None), doubt(Doubt::Silent));
        assert_eq!(
            verdict("npm test", Exit::Interrupted, None),
            doubt(Doubt::Interrupted)
        );
        assert_eq!(
            verdict("npm test", Exit::Code(124), None),
            doubt(Doubt::Interrupted)
        );
        assert_eq!(
            verdict("npm test", Exit::Code(0), counted(0, 0)),
            doubt(Doubt::NoTests)
        );
        assert_eq!(
            verdict("npm test", Exit::Code(0), Some(Summary::Broken)),
            doubt(Doubt::Contradiction)
        );
        assert_eq!(
            verdict("npm test", Exit::Code(0), counted(3, 1)),
            Outcome::Failed
        );
        assert_eq!(verdict("npm test", unknown, counted(3, 0)), Outcome::Passed);
        assert_eq!(
            verdict("npm test", unknown, Some(Summary::Broken)),
            Outcome::Failed
        );
    }
}
