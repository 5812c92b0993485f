//! The keys of `tollgate.toml`. A default that is written as a TOML value is the value that holds;
//! any other is words for people.

use super::table::Kind::{
    Between, Bool, Duration, Globs, Later, Map, Named, NamesOrMaps, OneOf, Text, Texts, Whole,
    Word, Words,
};
use super::table::Need::{OfCheck, OfReview, Optional, Required};
use super::table::{Table, row};
use crate::review::Reviewer;

/// The whole file.
#[rustfmt::skip]
pub(crate) static ROOT: Table = Table {
    about: "What Tollgate does in this project.",
    keys: &[
        row("requires", Text, Optional, "", "The oldest version of Tollgate that understands this file, such as \">=0.2\". An older one says so and verifies nothing."),
        row("gates", Named { settings: &GATES, each: &GATE }, Optional, "", "What must hold before an agent may stop: settings for all gates, and a table `[gates.NAME]` for each."),
        row("plans", Map(&PLANS), Optional, "", "How plans are reviewed."),
        row("workflow", Named { settings: &NONE, each: &WORKFLOW }, Optional, "", "Workflows: a table `[workflow.NAME]` for each."),
        row("rule", Later, Optional, "", "What agents must not do here. This version warns about them and does nothing else."),
    ],
};

/// `[gates]`
#[rustfmt::skip]
pub(crate) static GATES: Table = Table {
    about: "Settings for all gates.",
    keys: &[
        row("base", Text, Optional, "\"origin/main\"", "The branch or commit that the work is compared with."),
        row("exclude", Globs, Optional, "[]", "Files that call for no gate, as patterns from the project's root on."),
        row("parallel", Whole(1), Optional, "the number of cores", "How many gates run at once."),
        row("max_retries", Whole(0), Optional, "3", "How often the gates may run again in a row before an agent is let go as not verified."),
        row("reviewers", Words(reviewers), Optional, "[]", "Who reviews: the first that is installed and has quota left. A review may name its own."),
        row("new_findings", OneOf(&["critical", "high", "medium", "low"]), Optional, "\"high\"", "In a repeated review, a new finding below this priority fails nothing."),
        row("on_stop", Bool, Optional, "true", "Whether the gates run when an agent stops."),
        row("deadline", Duration, Optional, "14m30s (`tollgate stop-hook`: 4m45s)", "When a stop is answered although gates still run. Keep it below the timeout in the agent's settings."),
        row("loop_guard", OneOf(&["progress", "strict"]), Optional, "\"progress\"", "`strict`: a stop that follows a block is always let go. `progress`: only if nothing changed since."),
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
        row("prompt_file", Text, OfReview, "", "A file of the project that says what to look for."),
        row("dir", Text, Optional, "\".\"", "The gate's directory: where it runs, and whose files call for it."),
        row("inputs", Globs, Optional, "every file in `dir` that git does not ignore", "The files that call for it, as patterns from `dir` on."),
        row("exclude", Globs, Optional, "[]", "Files that do not call for it, as patterns from `dir` on."),
        row("timeout", Duration, Optional, "\"5m\"", "When it is ended; \"0s\": never. Of a review: each reviewer."),
        row("parallel", Bool, Optional, "false for a check, true for a review", "Whether it may run beside other gates."),
        row("ci", Bool, Optional, "true", "Whether it runs where CI=true."),
        row("local", Bool, Optional, "true", "Whether it runs elsewhere."),
        row("max_age", Duration, Optional, "\"7d\"", "How long a pass counts; an older one is stale."),
        row("cache", Bool, Optional, "true", "false: it runs at every stop that is gated, whatever it said about the same content before."),
        row("fail_fast", Bool, OfCheck, "false", "Whether its failure keeps further gates from starting. Not with `parallel`."),
        row("fix", Text, OfCheck, "", "What helps with a failure: a text, or the path of a file that has it."),
        row("reviewers", Words(reviewers), OfReview, "those of `[gates]`", "Who reviews, in this order."),
        row("reviews", Between(1, 32), OfReview, "1", "How many independent reviews are made."),
        row("model", Text, OfReview, "the reviewer's own", "The model that reviews."),
        row("command", Text, OfReview, "", "The program of the reviewer `command`, for `sh -c`."),
    ],
};

/// `[plans]`
#[rustfmt::skip]
static PLANS: Table = Table {
    about: "How plans are reviewed.",
    keys: &[
        row("reviewer", Word(agents), Optional, "\"claude\"", "Who reviews plans."),
        row("timeout", Duration, Optional, "\"14m\"", "How long a review may take."),
        row("loop_guard", OneOf(&["progress", "strict"]), Optional, "\"progress\"", "`strict`: a stop that follows a block is always let go. `progress`: only if nothing was done since."),
    ],
};

/// `[workflow.NAME]`
#[rustfmt::skip]
static WORKFLOW: Table = Table {
    about: "A workflow: phases that are worked through in order.",
    keys: &[
        row("label", Text, Optional, "its name", "What people call it."),
        row("phases", NamesOrMaps(&PHASE), Required, "", "The phases, in order: names, or tables."),
        row("branch", Bool, Optional, "true", "Whether the work has a branch of its own."),
        row("branch_prefix", Text, Optional, "its name and `/`", "How the branch's name begins."),
    ],
};

#[rustfmt::skip]
static PHASE: Table = Table {
    about: "A phase.",
    keys: &[
        row("name", Text, Required, "", "Its name."),
        row("writes", Globs, Optional, "every file", "The files that may be written in it."),
        row("needs", Texts, Optional, "", "What must be there before it is completed: `gates`, or the paths of files."),
    ],
};

static NONE: Table = Table {
    about: "Workflows.",
    keys: &[],
};

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
