//! What a command would do, in order.

use super::accesses::{Reach, accesses};
use super::commits::commits;
use super::effect::{Action, Argument, Certainty, Effect};
use super::run::{Mode, Run, Survey};
use super::target::{Extent, Target};
use super::word::Word;
use super::world::{Head, World};

/// Longer sources are cut.
const MAX_SOURCE: usize = 200;

/// What a command would do, in order.
pub fn effects(survey: &Survey, world: &World<'_>) -> Vec<Effect> {
    let mut found = Vec::new();
    for run in survey.runs() {
        of_run(run, &mut found);
    }
    for commit in commits(survey, world) {
        let branches = commit.heads.iter().map(Head::branch);
        found.push(Effect {
            action: Action::Commit {
                branches: branches.map(|name| name.map(str::to_owned)).collect(),
                repository: commit.repository,
                relation: commit.relation,
            },
            certainty: Certainty::Certain,
            source: "git commit".to_owned(),
        });
    }
    if survey.opaque {
        found.push(Effect {
            action: Action::Opaque,
            certainty: Certainty::Unknown,
            source: String::new(),
        });
    }
    found
}

fn of_run(run: &Run, found: &mut Vec<Effect>) {
    let source = source(run);
    let mut add = |action, certainty| {
        found.push(Effect {
            action,
            certainty,
            source: source.clone(),
        });
    };
    let dir = run.dir.as_deref();
    for redirect in run.redirects.iter().filter(|file| file.mode == Mode::Read) {
        let target = Target::named(&redirect.target, dir, Extent::Path);
        add(Action::Read(target), Certainty::Possible);
    }
    if let Some(program) = run.program() {
        let args = run.args().iter().map(|word| match word.literal() {
            Some(text) => Argument::Literal(text.to_owned()),
            None => Argument::Unknown,
        });
        let action = Action::Run {
            program: program.to_owned(),
            args: args.collect(),
        };
        add(action, Certainty::Possible);
    }
    for access in accesses(run) {
        let extent = match access.reach {
            Reach::File => Extent::Path,
            Reach::Tree | Reach::Perhaps => Extent::Tree,
        };
        let target = Target::named(&access.path, dir, extent);
        let action = match run.program() {
            Some("rm" | "unlink" | "grm" | "shred") => Action::Delete(target),
            _ => Action::Write(target),
        };
        add(action, Certainty::Possible);
    }
}

/// The words of a command, bounded.
fn source(run: &Run) -> String {
    let words: Vec<String> = run.words.iter().map(Word::display).collect();
    let mut text = words.join(" ");
    if text.len() > MAX_SOURCE {
        let end = (0..=MAX_SOURCE).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or(0));
        text.push('…');
    }
    text
}
