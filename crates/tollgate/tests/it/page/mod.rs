//! What a person can see of a project from outside: the page, the report, the terminal view, and
//! what goes to a collector. All of it comes from the journal and the files that are there.

mod browser;
mod collector;
mod export;
mod http;
mod journal;
mod overrides;
mod report;
mod served;
pub(crate) mod states;
mod top;
mod webdriver;
