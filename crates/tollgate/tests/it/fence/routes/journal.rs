//! The journal.

use super::super::route_of_all;
use super::End::{Found, Said, Stopped};
use super::Step::{Hidden, Shell, Write};
use super::{Class, Route};

const JOURNAL: &str = ".tollgate/local/journal.jsonl";

pub(super) const CLASS: Class = Class {
    title: "Journal",
    about: "Lines of the journal are added, changed or removed.",
    routes: ROUTES,
};

const ROUTES: &[Route] = &[
    route_of_all(
        "journal-rm",
        "`rm` of the journal",
        &[Shell("rm .tollgate/local/journal.jsonl")],
        Stopped("SFG-003"),
    ),
    route_of_all(
        "journal-append",
        "a line is appended",
        &[Shell("echo '{}' >> .tollgate/local/journal.jsonl")],
        Stopped("SFG-003"),
    ),
    route_of_all(
        "journal-sed",
        "`sed -i` removes lines",
        &[Shell("sed -i 1d .tollgate/local/journal.jsonl")],
        Stopped("SFG-003"),
    ),
    route_of_all(
        "journal-truncate",
        "it is emptied",
        &[Shell(": > .tollgate/local/journal.jsonl")],
        Stopped("SFG-003"),
    ),
    route_of_all(
        "journal-write",
        "the Write tool replaces it",
        &[Write(JOURNAL, "")],
        Stopped("SFG-003"),
    ),
    route_of_all(
        "journal-tail",
        "the chain's end is removed",
        &[Shell("rm .tollgate/local/journal.tail")],
        Stopped("SFG-003"),
    ),
    route_of_all(
        "journal-hidden-cut",
        "a script cuts lines off",
        &[Hidden("sed -i '$d' .tollgate/local/journal.jsonl")],
        Found("tollgate log --verify"),
    ),
    route_of_all(
        "journal-hidden-change",
        "a script changes a line",
        &[Hidden(
            "sed -i 's/change/record/' .tollgate/local/journal.jsonl",
        )],
        Found("tollgate log --verify"),
    ),
    route_of_all(
        "journal-hidden-add",
        "a script adds a line",
        &[Hidden(
            "echo '{\"ts\":\"2026-11-18T00:00:00Z\",\"verdict\":\"record\"}' >> .tollgate/local/journal.jsonl",
        )],
        Found("tollgate log --verify"),
    ),
    route_of_all(
        "journal-hidden-rm",
        "a script removes it with its end",
        &[Hidden("rm -f .tollgate/local/journal.*")],
        Said("SW-005"),
    ),
];
