//! Facts 1.9.

use serde_json::json;

use crate::events::task;
use crate::project::{TestProject, running};

#[test]
fn it_never_blocks_logs_or_writes_in_any_mode() {
    for mode in ["observe", "strict", "warn", "audit"] {
        let mut state = running("03-architecture", "in_progress");
        state["skill_enforcement"] = json!({ "enabled": true, "mode": mode });
        let project = TestProject::new().state(&state);
        let before = project.read(".isdlc/state.json");
        project
            .guard("skill-validator", &task("software-developer", "x"))
            .says_nothing();
        assert_eq!(project.read(".isdlc/state.json"), before);
        assert!(project.journal().is_empty());
    }
}
