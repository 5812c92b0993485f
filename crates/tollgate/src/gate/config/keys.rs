//! The keys of every configuration file.

use crate::config::table::Kind::{
    Amount, Anything, Between, Bool, Map, Maps, OneOf, Text, Texts, Whole,
};
use crate::config::table::Need::{Ignored, Optional, Required};
use crate::config::table::{Table, row};

/// `config.yml`
#[rustfmt::skip]
pub(crate) static CONFIG: Table = Table {
    about: "Which gates guard which paths, and how they run.",
    keys: &[
        row("base_branch", Text, Optional, "origin/main", "What the work is compared with."),
        row("log_dir", Text, Optional, "gauntlet_logs (in .tollgate/: .tollgate/logs)", "Where logs go, relative to the project's root."),
        row("allow_parallel", Bool, Optional, "true", "Whether gates that allow it run side by side."),
        row("max_parallel", Whole(1), Optional, "the number of cores", "How many gates run at once."),
        row("max_retries", Whole(0), Optional, "3", "How many runs may follow the first one before a person is asked."),
        row("max_previous_logs", Whole(0), Optional, "3", "How many generations of archived logs are kept."),
        row("rerun_new_issue_threshold", OneOf(&["critical", "high", "medium", "low"]), Optional, "high", "New findings below this priority do not fail a verification run."),
        row("cli", Map(&CLI), Optional, "", "The reviewers."),
        row("entry_points", Maps(&ENTRY_POINT), Required, "", "A list of paths with the gates that guard them."),
        row("debug_log", Map(&DEBUG_LOG), Optional, "", "A log of what every run did."),
        row("stop_hook", Map(&STOP_HOOK), Optional, "", "How the agent's stop is gated."),
        row("logging", Anything, Ignored, "", "Never had an effect."),
    ],
};

#[rustfmt::skip]
static CLI: Table = Table {
    about: "The reviewers.",
    keys: &[
        row("default_preference", Texts, Optional, "", "Reviewers in the order they are asked: those that `tollgate health` lists, or command."),
        row("check_usage_limit", Bool, Optional, "false", "Of the original, without effect: a reviewer whose limit is used up makes way for the next one by itself."),
    ],
};

#[rustfmt::skip]
static ENTRY_POINT: Table = Table {
    about: "A path and its gates.",
    keys: &[
        row("path", Text, Required, "", "`.`, a directory, `directory/*` for each of its directories, or a glob."),
        row("exclude", Texts, Optional, "", "Globs or path prefixes that do not count."),
        row("checks", Texts, Optional, "", "Names of checks."),
        row("reviews", Texts, Optional, "", "Names of reviews."),
    ],
};

#[rustfmt::skip]
static DEBUG_LOG: Table = Table {
    about: "A log of what every run did.",
    keys: &[
        row("enabled", Bool, Optional, "false", "Whether it is written."),
        row("max_size_mb", Amount, Optional, "10", "Size at which it is rotated."),
    ],
};

#[rustfmt::skip]
static STOP_HOOK: Table = Table {
    about: "How the agent's stop is gated.",
    keys: &[
        row("enabled", Bool, Optional, "true", "Whether a stop runs the gates."),
        row("run_interval_minutes", Whole(0), Optional, "10", "After a pass, stops on the same tree and branch within this time are let through. 0: never."),
        row("interval", OneOf(&["same_tree", "letter"]), Optional, "same_tree", "letter: the interval lets every stop through, also where files changed since the pass."),
        row("deadline_seconds", Whole(1), Optional, "870 (`tollgate stop-hook`: 285)", "When a stop is answered though gates still run. Keep it below the timeout of the agent's settings."),
        row("loop_guard", OneOf(&["progress", "strict"]), Optional, "progress", "strict: a stop that follows a block is always let through. progress: only if nothing changed since."),
    ],
};

/// `checks/*.yml`
#[rustfmt::skip]
pub(crate) static CHECK: Table = Table {
    about: "A command that must succeed.",
    keys: &[
        row("command", Text, Required, "", "What `sh -c` runs; $BASE_BRANCH is the base's name."),
        row("working_directory", Text, Optional, "the entry point's path", "Where it runs, relative to the project's root."),
        row("parallel", Bool, Optional, "false", "Whether it may run beside other gates."),
        row("run_in_ci", Bool, Optional, "true", "Whether it runs where CI=true."),
        row("run_locally", Bool, Optional, "true", "Whether it runs elsewhere."),
        row("timeout", Amount, Optional, "300", "Seconds until it is ended; 0: never."),
        row("fail_fast", Bool, Optional, "false", "Whether its failure keeps further gates from starting. Only without `parallel`."),
        row("fix_instructions", Text, Optional, "", "A file beside config.yml whose text is added to the log of a failure."),
        row("name", Anything, Ignored, "", "The name is that of the file."),
    ],
};

/// The front matter of `reviews/*.md`, and `reviews/*.yml`
#[rustfmt::skip]
pub(crate) static REVIEW: Table = Table {
    about: "An independent review.",
    keys: &[
        row("model", Text, Optional, "the reviewer's own", "The model that reviews."),
        row("cli_preference", Texts, Optional, "cli.default_preference", "Reviewers in the order they are asked."),
        row("num_reviews", Between(1, 32), Optional, "1", "How many independent reviews are made."),
        row("parallel", Bool, Optional, "true", "Whether it may run beside other gates."),
        row("run_in_ci", Bool, Optional, "true", "Whether it runs where CI=true."),
        row("run_locally", Bool, Optional, "true", "Whether it runs elsewhere."),
        row("timeout", Amount, Optional, "300", "Seconds until a reviewer is ended; 0: never."),
        row("enabled", Bool, Optional, "true", "Whether it runs at all."),
        row("prompt", Text, Optional, "", "What to look for (a Markdown file's body says it there)."),
        row("prompt_file", Text, Optional, "", "A file beside config.yml that says what to look for."),
        row("command", Text, Optional, "", "The program of the reviewer `command`, run by `sh -c`."),
        row("name", Anything, Ignored, "", "The name is that of the file."),
    ],
};

/// `~/.config/agent-gauntlet/config.yml`
#[rustfmt::skip]
pub(crate) static GLOBAL: Table = Table {
    about: "A person's own settings, for all projects.",
    keys: &[
        row("stop_hook", Map(&STOP_HOOK), Optional, "", "How the agent's stop is gated."),
        row("debug_log", Map(&DEBUG_LOG), Optional, "", "A log of what every run did."),
    ],
};

/// `ci.yml`
#[rustfmt::skip]
pub(crate) static CI: Table = Table {
    about: "What continuous integration needs to run the checks.",
    keys: &[
        row("runtimes", Anything, Optional, "", "Versions of languages, by name."),
        row("services", Anything, Optional, "", "Containers, by name."),
        row("setup", Maps(&CI_STEP), Optional, "", "Steps before every check."),
        row("checks", Maps(&CI_CHECK), Optional, "", "What single checks need."),
    ],
};

#[rustfmt::skip]
static CI_STEP: Table = Table {
    about: "A step.",
    keys: &[
        row("name", Text, Required, "", "What it is called."),
        row("run", Text, Required, "", "What the shell runs."),
        row("working_directory", Text, Optional, "", "Where."),
        row("if", Text, Optional, "", "A condition of GitHub Actions."),
    ],
};

#[rustfmt::skip]
static CI_CHECK: Table = Table {
    about: "What one check needs.",
    keys: &[
        row("name", Text, Required, "", "The check."),
        row("requires_runtimes", Texts, Optional, "", "Names of runtimes."),
        row("requires_services", Texts, Optional, "", "Names of services."),
        row("setup", Maps(&CI_STEP), Optional, "", "Steps before it."),
    ],
};
