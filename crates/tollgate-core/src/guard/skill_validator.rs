//! skill-validator: sees every delegation and lets all of them pass.
//!
//! In the original every enforcement mode (`observe`, `strict`, `warn`, `audit`) allows, and who
//! used which agent is recorded afterwards by log-skill-usage. The row is here so that settings
//! which register it by name keep working.

use super::{Class, EventKind, Guard};

pub(super) const GUARD: Guard = Guard {
    name: "skill-validator",
    about: "allows every delegation; log-skill-usage records it afterwards",
    is_general: false,
    on: &[(EventKind::PreTool, Class::Delegate)],
    codes: &[],
    reads: &[],
    sample: None,
    check: |_| None,
};
