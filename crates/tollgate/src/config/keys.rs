//! The keys of `tollgate.toml`. A default that is written as a TOML value is the value that holds;
//! any other is words for people.

use super::table::Kind::{
    Between, Bool, Duration, Examples, Globs, Map, Maps, Named, NamesOrMaps, OneOf, Patterns, Text,
    Texts, TrueOrMaps, Whole, Word, Words,
};
use super::table::Need::{OfCheck, OfReview, Optional, Required};
use super::table::{Table, row};
use crate::review::Reviewer;
use tollgate_core::protocol::Protocol;

/// The whole file.
#[rustfmt::skip]
pub(crate) static ROOT: Table = Table {
    about: "What Tollgate does in this project.",
    keys: &[
        row("requires", Text, Optional, "", "The oldest version of Tollgate that can read this file, such as \">=0.2\". An older one reports that and verifies nothing."),
        row("gates", Named { settings: &GATES, each: &GATE }, Optional, "", "What must pass before an agent may stop: settings for all gates, and a table `[gates.NAME]` for each."),
        row("plans", Map(&PLANS), Optional, "", "How plans are reviewed."),
        row("workflow", Named { settings: &NONE, each: &WORKFLOW }, Optional, "", "Workflows: a table `[workflow.NAME]` for each."),
        row("rule", Maps(&RULE), Optional, "", "What agents must not do here: a table `[[rule]]` for each rule. See [rules.md](rules.md)."),
    ],
};

/// `[gates]`
#[rustfmt::skip]
pub(crate) static GATES: Table = Table {
    about: "Settings for all gates.",
    keys: &[
        row("base", Text, Optional, "\"origin/main\"", "The branch or commit that the work is compared with."),
        row("exclude", Globs, Optional, "[]", "Files that are inputs of no gate, as patterns relative to the project's root."),
        row("parallel", Whole(1), Optional, "the number of cores", "How many gates run at once."),
        row("max_retries", Whole(0), Optional, "3", "How many times the gates run again in one turn before the agent is released as not verified."),
        row("reviewers", Words(reviewers), Optional, "[]", "The reviewers: the first that is installed and has quota left is used. A review may name its own."),
        row("new_findings", OneOf(&["critical", "high", "medium", "low"]), Optional, "\"high\"", "In a repeated review, a new finding below this priority is only advisory."),
        row("on_stop", Bool, Optional, "true", "Whether the gates run when an agent stops."),
        row("deadline", Duration, Optional, "14m30s (`tollgate stop-hook`: 4m45s)", "The time after which a stop is answered even if gates still run. Keep it below the timeout in the agent's settings."),
        row("loop_guard", OneOf(&["progress", "strict"]), Optional, "\"progress\"", "`strict`: a stop after a block is always allowed. `progress`: only if nothing changed since."),
        row("keep_logs", Whole(0), Optional, "3", "How many generations of archived logs are kept."),
    ],
};

/// `[gates.NAME]`
#[rustfmt::skip]
pub(crate) static GATE: Table = Table {
    about: "A gate. With `run` it is a check: a command that must succeed. With `prompt` or `prompt_file` it is a review by an independent agent.",
    keys: &[
        row("run", Text, OfCheck, "", "The command, for `sh -c`. $BASE_BRANCH is the base's name."),
        row("prompt", Text, OfReview, "", "What to look for."),
        row("prompt_file", Text, OfReview, "", "A file in the project that says what to look for."),
        row("dir", Text, Optional, "\".\"", "The gate's directory: where it runs, and where its inputs are."),
        row("inputs", Globs, Optional, "every file in `dir` that git does not ignore", "Its input files, as patterns relative to `dir`."),
        row("exclude", Globs, Optional, "[]", "Files that are not inputs, as patterns relative to `dir`."),
        row("timeout", Duration, Optional, "\"5m\"", "The time limit; \"0s\" means none. For a review: of each reviewer."),
        row("parallel", Bool, Optional, "false for a check, true for a review", "Whether it may run beside other gates."),
        row("ci", Bool, Optional, "true", "Whether it runs in CI (`CI=true`)."),
        row("local", Bool, Optional, "true", "Whether it runs outside of CI."),
        row("max_age", Duration, Optional, "\"7d\"", "How long a pass counts; an older one is stale."),
        row("cache", Bool, Optional, "true", "`false`: it runs at every gated stop, even if it passed on the same content."),
        row("fail_fast", Bool, OfCheck, "false", "Whether no further gate starts after it failed. Not with `parallel`."),
        row("fix", Text, OfCheck, "", "How to fix a failure, for the agent: a text, or the path of a file."),
        row("reviewers", Words(reviewers), OfReview, "those of `[gates]`", "The reviewers, in this order."),
        row("reviews", Between(1, 32), OfReview, "1", "The number of independent reviews."),
        row("model", Text, OfReview, "the reviewer's own", "The model of the reviewer."),
        row("command", Text, OfReview, "", "The program of the reviewer `command`, for `sh -c`."),
    ],
};

/// `[plans]`
#[rustfmt::skip]
static PLANS: Table = Table {
    about: "How plans are reviewed.",
    keys: &[
        row("reviewer", Word(agents), Optional, "\"claude\"", "The reviewer of plans."),
        row("timeout", Duration, Optional, "\"14m\"", "The time limit of a review; a stop has no more than 14m25s."),
        row("loop_guard", OneOf(&["progress", "strict"]), Optional, "\"progress\"", "`strict`: a stop after a block is always allowed. `progress`: only if there was no progress since."),
    ],
};

/// `[workflow.NAME]`
#[rustfmt::skip]
static WORKFLOW: Table = Table {
    about: "A workflow: phases that are completed in order.",
    keys: &[
        row("label", Text, Optional, "its name", "Its name for people."),
        row("phases", NamesOrMaps(&PHASE), Required, "", "The phases, in order: names, or tables."),
        row("branch", Bool, Optional, "true", "Whether the workflow has its own branch."),
        row("branch_prefix", Text, Optional, "its name and `/`", "The beginning of the branch's name."),
        row("gate_mode", OneOf(&["strict", "permissive"]), Optional, "\"strict\"", "`strict`: a phase that lacks what it needs is not completed. `permissive`: it is, and counts as *completed, not verified*."),
    ],
};

#[rustfmt::skip]
static PHASE: Table = Table {
    about: "A phase.",
    keys: &[
        row("name", Text, Required, "", "Its name."),
        row("writes", Globs, Optional, "every file", "The files that may be written in this phase."),
        row("needs", Texts, Optional, "", "What it needs to be completed: `gates`, or paths of files that must exist."),
    ],
};

/// `[[rule]]`
#[rustfmt::skip]
pub(crate) static RULE: Table = Table {
    about: "A rule: what an agent must not do, by its effects. It has one of `deny`, `ask` and `warn`.",
    keys: &[
        row("id", Text, Required, "", "Its name: letters, digits, `_`, `-` and `.`. Answers and the journal call it `RULE:id`."),
        row("deny", Map(&EFFECTS), Optional, "", "The effects that are blocked."),
        row("ask", Map(&EFFECTS), Optional, "", "The effects that need the person's permission. In agents that do not support asking, they are blocked."),
        row("warn", Map(&EFFECTS), Optional, "", "The effects that are allowed with a warning."),
        row("when", Map(&CONDITION), Optional, "", "The rule applies only if all of these conditions are true."),
        row("unless", Map(&CONDITION), Optional, "", "The rule does not apply if all of these conditions are true."),
        row("after", Map(&EFFECTS), Optional, "", "The rule applies only after one of these effects in the same session."),
        row("changed_with", Patterns, Optional, "", "Decided when the agent stops: if files of `write` or `delete` changed, one of these must have changed too."),
        row("unknown", OneOf(&["pass", "ask", "deny"]), Optional, "\"pass\"", "What happens if a command does not show whether it has such an effect."),
        row("mode", OneOf(&["enforce", "warn", "watch"]), Optional, "\"enforce\"", "`warn`: it never blocks. `watch`: it only writes to the journal."),
        row("until", Text, Optional, "", "The last day on which it applies, such as \"2026-12-31\"."),
        row("reason", Text, Optional, "", "Why, for the agent and the person."),
        row("instead", Text, Optional, "", "What to do instead, for the agent."),
        row("match", Examples(&EXAMPLE), Optional, "[]", "Examples that it must match: command lines, or tables."),
        row("not_match", Examples(&EXAMPLE), Optional, "[]", "Examples that it must not match."),
    ],
};

#[rustfmt::skip]
pub(crate) static EFFECTS: Table = Table {
    about: "Effects; one of them is enough. A pattern that begins with `!` excludes files from the patterns before it.",
    keys: &[
        row("write", Patterns, Optional, "", "Files that are made or changed."),
        row("delete", Patterns, Optional, "", "Files that are removed or moved away."),
        row("read", Patterns, Optional, "", "Files whose contents are read."),
        row("run", Texts, Optional, "", "Programs with leading arguments, such as \"terraform destroy\". Options may be in any place; `*` matches any text."),
        row("fetch", Texts, Optional, "", "Hosts, such as \"*.example.com\"."),
        row("commit", TrueOrMaps(&COMMIT), Optional, "", "Commits."),
        row("push", TrueOrMaps(&PUSH), Optional, "", "Pushes."),
    ],
};

#[rustfmt::skip]
pub(crate) static COMMIT: Table = Table {
    about: "A kind of commit: all of these must be true.",
    keys: &[
        row("branch", Texts, Optional, "every branch", "The branches that it is made on."),
    ],
};

#[rustfmt::skip]
pub(crate) static PUSH: Table = Table {
    about: "A kind of push: all of these must be true.",
    keys: &[
        row("remote", Texts, Optional, "every remote", "The remote's name or address."),
        row("branch", Texts, Optional, "every branch", "The branches of the remote."),
        row("force", Bool, Optional, "", "Whether the remote's history may be replaced."),
        row("delete", Bool, Optional, "", "Whether a branch is removed."),
        row("tags", Bool, Optional, "", "Whether tags are pushed."),
        row("mirror", Bool, Optional, "", "Whether it is a mirror push (`--mirror`)."),
    ],
};

#[rustfmt::skip]
pub(crate) static CONDITION: Table = Table {
    about: "A condition: all of these must be true. `*` matches any text.",
    keys: &[
        row("branch", Texts, Optional, "", "The branch that is checked out."),
        row("phase", Texts, Optional, "", "The phase of the workflow that runs."),
        row("agent", Words(callers), Optional, "", "The agent."),
        row("subagent", Texts, Optional, "", "The kind of the sub-agent; `*` for any."),
    ],
};

#[rustfmt::skip]
pub(crate) static EXAMPLE: Table = Table {
    about: "An example: one call of a tool. Branch, phase, agent, sub-agent and earlier effects that it does not mention are as the rule requires.",
    keys: &[
        row("run", Text, Optional, "", "A command line."),
        row("write", Text, Optional, "", "A file that is written as a whole."),
        row("edit", Text, Optional, "", "A file that is edited."),
        row("delete", Text, Optional, "", "A file that is removed by a tool."),
        row("read", Text, Optional, "", "A file that is read by a tool."),
        row("fetch", Text, Optional, "", "An address that is fetched by a tool."),
        row("changed", Texts, Optional, "", "The files that changed when the agent stops (for `changed_with`)."),
        row("branch", Text, Optional, "", "The branch that is checked out."),
        row("phase", Text, Optional, "", "The phase."),
        row("agent", Word(callers), Optional, "", "The agent."),
        row("subagent", Text, Optional, "", "The kind of the sub-agent; \"\" is not allowed, leave it out."),
        row("after", Bool, Optional, "true", "Whether an effect of `after` happened before."),
    ],
};

static NONE: Table = Table {
    about: "Workflows.",
    keys: &[],
};

/// The agents that a rule can name.
fn callers() -> Vec<&'static str> {
    let real = Protocol::ALL.iter().filter(|protocol| protocol.is_agent());
    real.map(|protocol| protocol.agent_name()).collect()
}

fn reviewers() -> Vec<&'static str> {
    Reviewer::names().collect()
}

/// Who can review a plan: those that need no command.
fn agents() -> Vec<&'static str> {
    let names = Reviewer::names();
    names
        .filter(|name| Reviewer::named(name, None).is_some())
        .collect()
}
