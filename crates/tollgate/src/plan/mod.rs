//! Plans: a directory of Markdown and a state file, driven by reviews that converge.
//!
//! A plan, its tasks and each task's code are reviewed by an independent process, models taking
//! turns, until two reviews in a row find nothing. Here is, in the order of a reader's questions:
//!
//! * [`phase`]: the words: phases, actions, kinds of review and the files they write.
//! * [`state`]: `state.json` as it is read (wrong types become warnings), and [`transition`]: every
//!   change of it as a pure function.
//! * [`directory`]: the rules for the files of a plan, and [`tasks`]: its table of tasks.
//! * [`choice`]: which plan is meant.
//! * [`step`]: what a stop leads to, as a pure function of what was observed.
//! * [`reviewer`]: one review by another process; [`review_run`]: its record, so that a review that was
//!   paid for is not paid for again.
//! * [`other`]: the same by another agent.
//! * [`log`]: every stop and every step with the state as it was then; [`rebuild`]: a state that was
//!   destroyed, from there.
//! * [`view`]: what can be seen of a plan, each thing read once.
//! * [`routing`]: what to do next, for an agent that resumes.
//!
//! A stop of an agent that works on a plan is decided in [`crate::stop`]. What this deliberately does not
//! do: print, or know an agent's dialect.

pub(crate) mod choice;
pub(crate) mod config;
pub(crate) mod directory;
pub(crate) mod findings;
pub(crate) mod home;
pub(crate) mod log;
pub(crate) mod other;
pub(crate) mod phase;
pub(crate) mod prompts;
pub(crate) mod rebuild;
pub(crate) mod review_run;
pub(crate) mod reviewer;
pub(crate) mod rounds;
pub(crate) mod routing;
pub(crate) mod state;
pub(crate) mod step;
pub(crate) mod tasks;
pub(crate) mod texts;
pub(crate) mod transition;
pub(crate) mod view;
