//! How to satisfy each finding, for the reference that people read. The messages tell the agent
//! the same at the moment it needs it.

/// Code and remedy; a test keeps it complete.
const REMEDIES: &[(&str, &str)] = &[
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
    ("PS-001", "write the task plan, `docs/isdlc/tasks.md`"),
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
