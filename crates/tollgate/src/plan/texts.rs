//! The texts for agents and people. The block texts are the specification's, to the letter.

use tollgate_core::project::{Layout, TASKIE_PLANS};

use super::phase::Review;

/// The file that the agent's answer goes to: named after the review it answers.
pub(crate) fn post_file(review_file: &str) -> String {
    // The last one: a task may be called `review-1`.
    match review_file.rsplit_once("-review-") {
        Some((base, number)) => format!("{base}-post-review-{number}"),
        None => String::new(),
    }
}

/// The text that asks an agent to answer the review in `file`, in the plan's directory `dir`.
pub(crate) fn block(review: Review, iteration: u64, dir: &str, file: &str) -> String {
    let (opening, work) = match review {
        Review::Plan => ("A plan review", "address all issues in plan.md"),
        Review::Tasks => (
            "A tasks review",
            "address all issues in tasks.md and task files",
        ),
        Review::Code => ("A code review", "address all issues, update the code"),
        Review::AllCode => ("An all-code review", "address all issues across all tasks"),
    };
    let end = match review {
        Review::Plan | Review::Tasks => "Push to remote.",
        Review::Code | Review::AllCode => "Update tasks.md and push to remote.",
    };
    let (post, name, answer) = (review.post(), review.as_str(), post_file(file));
    format!(
        "{opening} (iteration {iteration}) has been written to {dir}/{file} by an independent reviewer. Read this review file and perform the {post} action: {work}, then create {dir}/{answer} documenting your fixes. AFTER completing all post-review work and writing the post-review file, update state.json atomically (read current file, modify only phase and next_phase, write complete JSON back): set phase to \"{post}\", set next_phase to \"{name}\". Keep all other fields (max_reviews, current_task, phase_iteration, review_model, consecutive_clean) unchanged. Write via temp file then mv to prevent corruption. {end} (To stop the review loop, set next_phase to null in state.json.)"
    )
}

/// Said after the specification's text, which asks for fixes whatever the verdict was.
pub(crate) const CLEAN: &str = "This review was clean: its verdict is PASS, and nothing has to change. One more clean review in a row is needed before the plan goes on. Write the post-review file all the same; that nothing was to fix is an answer.";

/// The same steps as commands, after the specification's text.
pub(crate) fn commands(review: Review) -> String {
    format!(
        "The post-review file itself is the proof: once it is there, `tollgate plan done {}` makes the change of state.json for you (or Tollgate does at your next stop). `tollgate plan release` leaves the loop, `tollgate plan status` shows it.",
        review.post()
    )
}

/// How a plan goes on, in the words of its home.
fn proceed(layout: &Layout) -> &'static str {
    if layout.plans_home_name() == TASKIE_PLANS {
        "Run /taskie:continue-plan to proceed."
    } else {
        "`tollgate plan next` says how to go on."
    }
}

/// A cycle has passed.
pub(crate) fn passed(layout: &Layout, review: Review, next: &str) -> String {
    let proceed = proceed(layout);
    format!("{review} passed: two reviews in a row found nothing. Next is {next}. {proceed}")
}

/// Reviews are switched off.
pub(crate) fn skipped(layout: &Layout, next: &str) -> String {
    let proceed = proceed(layout);
    format!("Reviews disabled (max_reviews=0). Auto-advanced to {next}. {proceed}")
}

/// The limit is reached.
pub(crate) fn limit(review: Review, limit: u64) -> String {
    format!(
        "Max review limit ({limit}) reached for {review}, and it did not pass: a person decides. Raise it with `tollgate plan set max_reviews N`, or leave the loop with `tollgate plan release`."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::phase::TaskId;

    #[test]
    fn every_review_has_its_words() {
        for review in Review::ALL {
            let task = TaskId::new("3");
            let files = review.files(task.as_ref(), 2);
            let text = block(review, 2, ".taskie/plans/p", &files[0]);
            let post = &review.post_files(task.as_ref(), 2)[0];
            assert!(
                text.contains(&format!("then create .taskie/plans/p/{post} ")),
                "{text}"
            );
            assert!(
                text.contains(&format!("set phase to \"{}\"", review.post())),
                "{text}"
            );
        }
    }
}
