//! What a person can see of a project from outside: the page, the report, the terminal view, and
//! what goes to a collector. All of it comes from the journal and the files that are there.

mod journal;
