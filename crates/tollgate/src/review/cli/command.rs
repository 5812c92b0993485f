//! Any program as a reviewer: it reads the question and prints the answer.

use super::{Invocation, Question};

/// The line is the project's and goes to the shell; the question never does.
pub(super) fn prepare(line: &str, question: &Question<'_>, invocation: &mut Invocation) {
    let program = &mut invocation.program;
    program
        .args(["-c", line])
        .env("TOLLGATE_REVIEW_SCHEMA", question.schema);
    if let Some(model) = question.model {
        program.env("TOLLGATE_REVIEW_MODEL", model);
    }
    invocation.input = Some(question.prompt.to_owned());
}
