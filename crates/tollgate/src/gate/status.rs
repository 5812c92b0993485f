//! What a run or a stop came to: the thirteen statuses, one table.

/// The one status type, of runs and of stops alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Passed,
    PassedWithWarnings,
    NoApplicableGates,
    NoChanges,
    Failed,
    RetryLimitExceeded,
    LockConflict,
    Error,
    NoConfig,
    StopHookActive,
    IntervalNotElapsed,
    InvalidInput,
    StopHookDisabled,
}

/// All that is known about a status.
struct Row {
    status: Status,
    /// As answers and files have it.
    name: &'static str,
    /// As the summary has it, after `Status: `.
    label: &'static str,
    /// What `run` exits with.
    exit: u8,
    /// What is said without anything more to say.
    message: &'static str,
}

#[rustfmt::skip]
static ROWS: [Row; 13] = [
    Row { status: Status::Passed, name: "passed", label: "Passed", exit: 0, message: "✓ Gates passed: every gate that the changes call for is green." },
    Row { status: Status::PassedWithWarnings, name: "passed_with_warnings", label: "Passed with warnings", exit: 0, message: "✓ Gates passed with warnings." },
    Row { status: Status::NoApplicableGates, name: "no_applicable_gates", label: "No applicable gates", exit: 0, message: "✓ No applicable gates: none guards what changed." },
    Row { status: Status::NoChanges, name: "no_changes", label: "No changes", exit: 0, message: "✓ No changes detected, so there is nothing to check." },
    Row { status: Status::Failed, name: "failed", label: "Failed", exit: 1, message: "✗ Gates failed: the issues must be fixed before stopping." },
    Row { status: Status::RetryLimitExceeded, name: "retry_limit_exceeded", label: "Retry limit exceeded", exit: 1, message: "⚠ Retry limit exceeded: the gates still fail and a person must decide." },
    Row { status: Status::LockConflict, name: "lock_conflict", label: "Lock conflict", exit: 1, message: "⏭ Another run of the gates is already in progress." },
    Row { status: Status::Error, name: "error", label: "Error", exit: 1, message: "⚠ The gates could not be run." },
    Row { status: Status::NoConfig, name: "no_config", label: "No configuration", exit: 1, message: "○ No gates here: there is no tollgate.toml, .gauntlet/config.yml or .tollgate/config.yml." },
    Row { status: Status::StopHookActive, name: "stop_hook_active", label: "Stop hook active", exit: 0, message: "↺ This stop follows a stop that was blocked; it is allowed to prevent an infinite loop." },
    Row { status: Status::IntervalNotElapsed, name: "interval_not_elapsed", label: "Interval not elapsed", exit: 0, message: "⏭ The gates passed a short while ago; they are not run again yet." },
    Row { status: Status::InvalidInput, name: "invalid_input", label: "Invalid input", exit: 0, message: "⚠ The hook's input could not be parsed as JSON; the stop is allowed." },
    Row { status: Status::StopHookDisabled, name: "stop_hook_disabled", label: "Stop hook disabled", exit: 0, message: "○ The stop hook is disabled in the configuration." },
];

impl serde::Serialize for Status {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> serde::Deserialize<'de> for Status {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::from_name(&name).ok_or_else(|| serde::de::Error::custom("no status"))
    }
}

impl Status {
    fn row(self) -> &'static Row {
        // The table has a row for each; a test sees to it.
        let [first, ..] = &ROWS;
        ROWS.iter().find(|row| row.status == self).unwrap_or(first)
    }

    /// As answers and files have it.
    pub(crate) fn as_str(self) -> &'static str {
        self.row().name
    }

    /// The status with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        ROWS.iter()
            .find(|row| row.name == name)
            .map(|row| row.status)
    }

    /// As the summary has it, after `Status: `.
    pub(crate) fn label(self) -> &'static str {
        self.row().label
    }

    /// What `run` exits with.
    pub(crate) fn exit(self) -> u8 {
        self.row().exit
    }

    /// What is said when there is nothing more to say.
    pub(crate) fn message(self) -> &'static str {
        self.row().message
    }

    /// Whether a stop is blocked. Only one status does that.
    pub(crate) fn is_blocking(self) -> bool {
        self == Self::Failed
    }

    /// Whether all gates were seen to be green.
    pub(crate) fn is_pass(self) -> bool {
        matches!(self, Self::Passed | Self::PassedWithWarnings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_its_row() {
        let names: std::collections::BTreeSet<_> = ROWS.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), 13);
        for row in &ROWS {
            assert_eq!(Status::from_name(row.name), Some(row.status));
            assert_eq!(row.status.as_str(), row.name);
        }
        assert_eq!(
            ROWS.iter().filter(|row| row.status.is_blocking()).count(),
            1
        );
    }
}
