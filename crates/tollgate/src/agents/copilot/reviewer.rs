//! GitHub Copilot: `copilot -p`, free text.

use crate::agents::reviewer::{Heard, Invocation, Question, ReviewerRow};

pub(super) const REVIEWER: ReviewerRow = ReviewerRow {
    name: "github-copilot",
    programs: &["copilot"],
    prepare,
    hear: Heard::plainly,
    limits: &["premium requests", "exceeded your copilot"],
    login_file: "config.json",
    login_variables: &["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"],
};

/// Programs that only read. (The original also allowed `find`, which can delete and run.)
const MAY_RUN: [&str; 5] = ["cat", "grep", "ls", "head", "tail"];

/// With either of these the repository's hooks run inside it.
const LETS_HOOKS_RUN: [&str; 2] = ["COPILOT_ALLOW_ALL", "GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS"];

fn prepare(question: &Question<'_>, invocation: &mut Invocation) {
    let program = &mut invocation.program;
    for name in LETS_HOOKS_RUN {
        program.env_remove(name);
    }
    // Only the answer; no questions; the project's instructions are for those who write code.
    program.args(["-s", "--no-ask-user", "--no-custom-instructions"]);
    for name in MAY_RUN {
        program.arg(format!("--allow-tool=shell({name})"));
    }
    program.arg("--deny-tool=write");
    if let Some(model) = question.model {
        program.args(["--model", model]);
    }
    invocation.say("-p", question.prompt);
}
