//! How to satisfy each finding, for the reference that people read. The messages tell the agent
//! the same at the moment it needs it.

/// Code and remedy; a test keeps it complete.
const REMEDIES: &[(&str, &str)] = &[
    (
        "PT-001",
        "finish the phase, do less in it, or ask the person",
    ),
    ("IC-001", "make the tests pass"),
    ("IC-002", "finish the constitutional validation"),
    ("IC-100", "nothing; it is in the log"),
    ("GB-001", "do what the message lists, then advance again"),
    (
        "GB-002",
        "`tollgate workflow audit --repair` puts the fields right",
    ),
    (
        "GB-003",
        "wait for the review, or redo the phase as it asks",
    ),
    (
        "GB-004",
        "`tollgate workflow finalize`, then start the next workflow",
    ),
    ("GB-100", "nothing; it is in the log"),
    (
        "CV-001",
        "validate the work against the listed articles first",
    ),
    ("CV-100", "nothing; it is in the log"),
    (
        "CIV-001",
        "finish the validation and record its iterations, status and articles",
    ),
    ("TAB-001", "write tests first, then run the discovery again"),
    (
        "BRV-001",
        "change the listed files, or defer each with a reason",
    ),
    ("BRV-002", "write the impact analysis as a table of files"),
    (
        "SFG-001",
        "move the workflow with `tollgate phase` and `tollgate workflow`",
    ),
    ("SFG-002", "leave the registry of projects to the person"),
    ("SFG-003", "leave Tollgate's own files alone"),
    (
        "SFG-004",
        "keep its registrations; a person takes it out with `tollgate uninstall`",
    ),
    ("ERE-001", "leave Chat/Explore mode before changing files"),
    (
        "DG-001",
        "delegate to the orchestrator that the message names",
    ),
    ("DG-100", "nothing; it is in the log"),
    (
        "PSG-001",
        "finish the current phase first, or delegate to its agent",
    ),
    (
        "PSG-002",
        "name a phase of the workflow in the `Phase key:` line",
    ),
    (
        "PLC-001",
        "mark the phase as in progress (`tollgate phase begin`) before delegating",
    ),
    ("PLC-100", "nothing; it is in the log"),
    ("PS-001", "write the task plan where the message says"),
    ("PS-002", "put the plan right, or leave the format line out"),
    (
        "BG-001",
        "commit on the workflow's branch; finish or cancel a workflow that is over",
    ),
    (
        "BG-002",
        "keep the changes until the last phase; `git stash` sets them aside",
    ),
    (
        "SWV-001",
        "run the validation, then record it with its iterations",
    ),
    (
        "SWV-002",
        "hold the elicitation, then record it with its menu interactions",
    ),
    (
        "SWV-003",
        "run the tests; their runs are recorded by themselves",
    ),
    (
        "SWV-007",
        "re-read the state and write it with its `state_version`",
    ),
    (
        "SWV-008",
        "move phases with `tollgate phase`; end a workflow with `tollgate workflow`",
    ),
    (
        "SWV-009",
        "use `tollgate phase`, which writes all redundant fields at once",
    ),
    ("WT-001", "walk through the constitution with the person"),
    ("DMG-001", "show the three options of the menu"),
    ("DMG-002", "leave out the options that were removed"),
    ("LSU-001", "nothing; the log was begun anew"),
    ("MT-001", "nothing; the record was begun anew"),
    (
        "SDE-001",
        "hand the command to the named orchestrator before the turn ends",
    ),
    ("PTE-001", "go on to the next phase without asking"),
    (
        "MHE-001",
        "stop after a menu and wait for the person's choice",
    ),
    (
        "TW-001",
        "stop and ask the person; they approve or change the course",
    ),
    (
        "TW-002",
        "stop and ask the person; they approve or raise the limit",
    ),
    (
        "TW-003",
        "stop and ask the person; they approve or lower the threshold",
    ),
    ("TW-004", "make the skipped acceptance tests run"),
    ("TW-005", "nothing; the record was begun anew"),
    (
        "RR-001",
        "have the commit read, or set `code_review.enabled` in the state",
    ),
    (
        "ACV-001",
        "make the tests of the higher priority pass first",
    ),
    ("OFV-001", "add the missing parts and write the file again"),
    (
        "WCE-001",
        "nothing; `tollgate workflow finalize` writes all of it at once",
    ),
    ("WCE-002", "nothing; look at the phases that took longest"),
    (
        "SW-001",
        "move the workflow with its commands instead of editing the file",
    ),
    ("SW-002", "nothing; it is in the journal"),
    ("SW-003", "nothing, if it was you"),
    (
        "SW-004",
        "let it be seen: run the tests, show the menu, delegate; a person approves escalations",
    ),
];

/// What to do about a finding.
pub fn remedy(code: &str) -> Option<&'static str> {
    REMEDIES
        .iter()
        .find(|(known, _)| *known == code)
        .map(|(_, remedy)| *remedy)
}

#[cfg(test)]
mod tests {
    use super::remedy;
    use crate::guard::GUARDS;
    use crate::integrity;

    #[test]
    fn every_code_says_what_to_do() {
        let codes = GUARDS
            .iter()
            .flat_map(|guard| guard.codes)
            .chain(integrity::CODES);
        for (code, _) in codes {
            assert!(remedy(code).is_some(), "{code} has no remedy");
        }
    }
}
