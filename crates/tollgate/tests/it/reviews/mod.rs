//! Reviews, seen from outside: scripted reviewers, first on `PATH` under the names of the real
//! ones, that behave well and badly.

mod bad_reviewers;
mod command_lines;
mod findings;
mod slots;

use serde_json::{Value, json};

use crate::gates::Gates;
use crate::project::Run;

/// Gates with one review, and somewhere to put reviewers.
pub(super) struct Reviews {
    pub(super) gates: Gates,
}

/// Reads all it is asked, as a real one does, and keeps it.
const LISTEN: &str = "cat > \"$0.asked\"\nprintf '%s\\n' \"$@\" > \"$0.args\"\nenv > \"$0.env\"\necho x >> \"$0.calls\"\n";

impl Reviews {
    /// One review of `src` by these, with this front matter.
    pub(super) fn by(reviewers: &str, front: &str) -> Self {
        let config = format!(
            "base_branch: main\nmax_retries: 9\ncli: {{ default_preference: [{reviewers}] }}\nstop_hook: {{ run_interval_minutes: 0 }}\nentry_points:\n  - path: src\n    exclude: [src/generated]\n    reviews: [q]\n"
        );
        let gates = Gates::raw(&[], &config);
        gates.file(
            ".gauntlet/reviews/q.md",
            format!("---\n{front}\n---\nLook for bugs.\n"),
        );
        Self { gates }
    }

    /// A reviewer that is this script, after it listened.
    pub(super) fn install(&self, program: &str, script: &str) -> &Self {
        let text = format!("#!/bin/sh\n{LISTEN}{script}\n");
        self.gates.program(program, &text);
        self
    }

    /// A Claude Code that answers with this object.
    pub(super) fn claude(&self, object: &Value) -> &Self {
        self.install("claude", &format!("cat <<'END'\n{}\nEND", claude(object)))
    }

    /// `asked`, `args`, `env` or `calls` of a program.
    pub(super) fn heard(&self, program: &str, what: &str) -> String {
        let path = self.gates.programs().join(format!("{program}.{what}"));
        std::fs::read_to_string(path).unwrap_or_default()
    }

    pub(super) fn calls(&self, program: &str) -> usize {
        self.heard(program, "calls").lines().count()
    }

    pub(super) fn tollgate(&self, args: &[&str]) -> Run {
        self.gates.tollgate(args)
    }

    pub(super) fn review(&self) -> Run {
        self.tollgate(&["run"])
    }

    /// The gate of the review, as `--json` has it.
    pub(super) fn gate(&self) -> Value {
        let run = self.tollgate(&["run", "--json"]);
        run.json()["gates"][0].clone()
    }

    /// The result of the gate and its message.
    #[track_caller]
    pub(super) fn comes_to(&self, result: &str, message: &str) {
        let gate = self.gate();
        assert_eq!(gate["result"], result, "{gate:#}");
        let said = gate["message"].as_str().unwrap();
        assert!(said.contains(message), "{gate:#}");
    }

    /// A file of a review, by the end of its name.
    pub(super) fn file(&self, end: &str) -> Value {
        let text = self
            .gates
            .read(&format!("gauntlet_logs/{}", self.name(end)));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{end}: {error}: {text}"))
    }

    fn name(&self, end: &str) -> String {
        let names = self.gates.logs(end);
        let seen: Vec<_> = names.iter().filter(|name| !name.starts_with('.')).collect();
        assert_eq!(seen.len(), 1, "{end}: {names:?}");
        seen[0].clone()
    }

    /// The agent answers the first finding in a file.
    pub(super) fn answer(&self, end: &str, status: &str, result: Option<&str>) {
        let mut file = self.file(end);
        file["violations"][0]["status"] = json!(status);
        file["violations"][0]["result"] = json!(result);
        self.gates.file(
            &format!("gauntlet_logs/{}", self.name(end)),
            format!("{file:#}"),
        );
    }
}

/// What Claude Code prints around a structured output.
pub(super) fn claude(object: &Value) -> Value {
    json!({
        "type": "result", "subtype": "success", "is_error": false, "num_turns": 2,
        "result": object.to_string(), "structured_output": object, "session_id": "s",
        "total_cost_usd": 0.25, "usage": { "input_tokens": 100, "output_tokens": 20 },
    })
}

pub(super) fn pass() -> Value {
    json!({ "status": "pass", "message": null, "violations": [] })
}

/// A fail with one finding in the changed file.
pub(super) fn fail(issue: &str) -> Value {
    json!({ "status": "fail", "message": null, "violations": [
        { "id": null, "file": "src/b.txt", "line": 1, "issue": issue, "fix": "mend it", "priority": "high" },
    ] })
}
