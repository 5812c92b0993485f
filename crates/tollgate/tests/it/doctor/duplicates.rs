//! Tollgate registered more than once: what only repeats another registration is taken out, and
//! not a byte besides it.

use serde_json::json;

use super::Ward;

const SETTINGS: &str = ".claude/settings.json";
const LOCAL: &str = ".claude/settings.local.json";

/// Settings as somebody keeps them, beside hooks of their own.
const MINE: &str = r#"{
    // the model
    "model":   "opus",
    "hooks": {
        "PreToolUse": [
            { "matcher": "Bash", "hooks": [ { "type": "command", "command": "./mine.sh" } ] }, // first
            { "matcher": "*",    "hooks": [ { "type": "command", "command": "tollgate hook", "timeout": 10 } ] }
        ],
        "PostToolUse": [ { "hooks": [ {"type":"command","command":"tollgate hook","timeout":10} ] } ],
        "PostToolUseFailure": [ { "hooks": [ {"type":"command","command":"tollgate hook","timeout":10} ] } ],
        "SessionStart": [ { "hooks": [ {"type":"command","command":"tollgate hook","timeout":10} ] } ],
        "Stop": [ { "hooks": [
            { "type": "command", "command": "./mine-too.sh" }, /* slow */
            { "type": "command", "command": "tollgate hook", "timeout": 900 }
        ] } ],
        "SessionEnd": [ { "hooks": [ {"type":"command","command":"tollgate hook","timeout":3} ] } ],
        "ConfigChange": [ { "hooks": [ {"type":"command","command":"tollgate hook","timeout":10} ] } ]
    },
    "last": [1,2 , 3]
}
"#;

fn ward() -> Ward {
    let ward = Ward::empty();
    ward.file(SETTINGS, MINE);
    ward.is_healthy();
    ward
}

impl Ward {
    /// With this changed once in the settings, one registration is too many; repairing gives back
    /// exactly what was there, or `expected`.
    #[track_caller]
    fn repairs(&self, (old, new): (&str, &str), expected: Option<&str>) {
        self.file(SETTINGS, MINE);
        self.tamper(|text| text.replacen(old, new, 1));
        self.has_and_repairs("registered-twice");
        assert_eq!(self.settings(), expected.unwrap_or(MINE));
    }

    /// It is found, `--fix` does not offer to repair it, and changes nothing.
    #[track_caller]
    fn leaves(&self) {
        let before = self.settings();
        let (report, code) = self.report(&["--fix"]);
        assert_eq!(code, 1, "{report:#}");
        assert_eq!(
            report["findings"][0]["name"], "registered-twice",
            "{report:#}"
        );
        assert_eq!(report["findings"][0]["repairable"], false, "{report:#}");
        assert_eq!(report["repairs"], json!([]), "{report:#}");
        assert_eq!(self.settings(), before);
    }
}

#[test]
fn a_group_that_is_there_twice() {
    let ward = ward();
    let group = r#"{ "matcher": "*",    "hooks": [ { "type": "command", "command": "tollgate hook", "timeout": 10 } ] }"#;
    let behind = format!("{group},\n            {group}");
    ward.repairs((group, &behind), None);
    // A narrower one before the wide one, and one that is written otherwise.
    let bash = r#"{ "matcher": "Bash", "hooks": [ { "type": "command", "command": "/usr/bin/env tollgate hook" } ] }"#;
    let before = format!("{bash},\n            {group}");
    ward.repairs((group, &before), None);
}

#[test]
fn a_handler_beside_somebody_elses() {
    let ward = ward();
    let mine = r#"{ "type": "command", "command": "./mine.sh" }"#;
    let ours = r#"{ "type": "command", "command": "tollgate hook", "timeout": 5 }"#;
    ward.repairs((mine, &format!("{mine}, {ours}")), None);
    ward.repairs((mine, &format!("{ours}, {mine}")), None);
    let stop = r#"{ "type": "command", "command": "tollgate hook", "timeout": 900 }"#;
    ward.repairs((stop, &format!("{stop},\n            {stop}")), None);
}

#[test]
fn the_one_that_waits_longer_stays() {
    let ward = ward();
    let stop = r#"{ "type": "command", "command": "tollgate hook", "timeout": 900 }"#;
    let longer = stop.replace("900", "1200");
    let expected = MINE.replace(stop, &longer);
    let both = format!("{stop},\n            {longer}");
    ward.repairs((stop, &both), Some(&expected));
}

#[test]
fn what_does_more_or_something_else_is_no_repetition() {
    let ward = ward();
    let group = r#""timeout": 10 } ] }
        ],"#;
    for other in [
        // Other options: nobody can tell which is meant.
        r#"{ "hooks": [ { "type": "command", "command": "tollgate hook --require-trust", "timeout": 10 } ] }"#,
        // Stricter, but for fewer tools.
        r#"{ "matcher": "Bash", "hooks": [ { "type": "command", "command": "tollgate hook", "timeout": 10, "onFailure": "block" } ] }"#,
    ] {
        let both = group.replace('\n', &format!(",\n            {other}\n"));
        ward.file(SETTINGS, MINE.replacen(group, &both, 1));
        ward.has("registered-twice");
        ward.leaves();
    }
    // Each for tools of its own: that is once.
    let apart = MINE.replace(
        r#"{ "matcher": "*",    "hooks""#,
        r#"{ "matcher": "Write", "hooks": [ { "type": "command", "command": "tollgate hook" } ] },
            { "matcher": "Bash", "hooks""#,
    );
    ward.file(SETTINGS, &apart);
    ward.is_healthy();
}

#[test]
fn a_registration_of_ones_own_that_the_projects_repeats() {
    let ward = Ward::new();
    let shared = ward.settings();
    ward.install_for("local");
    ward.has_and_repairs("registered-twice");
    assert_eq!(ward.settings(), shared);
    assert!(!ward.path(LOCAL).exists());
    // What else is in it stays.
    let mine = "{\n  \"permissions\": { \"allow\": [] }\n}\n";
    ward.file(LOCAL, mine);
    ward.install_for("local");
    ward.has_and_repairs("registered-twice");
    assert_eq!(ward.text(LOCAL), mine);
}

#[test]
fn between_project_and_person_a_person_decides() {
    let ward = Ward::new();
    ward.install_for("user");
    let own = std::fs::read(ward.home().join(SETTINGS)).unwrap();
    ward.leaves();
    assert_eq!(std::fs::read(ward.home().join(SETTINGS)).unwrap(), own);
}

#[test]
fn an_uninstall_afterwards_gives_back_what_was_there_before() {
    let ward = Ward::empty();
    let mine = "{ \"model\": \"opus\" }\n";
    ward.file(SETTINGS, mine);
    ward.must(&["install", "--agent", "claude-code", "--yes"]);
    let list = "\"Stop\": [\n";
    let again = format!(
        "{list}      {{\"hooks\":[{{\"type\":\"command\",\"command\":\"tollgate\",\"args\":[\"hook\"]}}]}},\n"
    );
    ward.tamper(|text| text.replacen(list, &again, 1));
    ward.has_and_repairs("registered-twice");
    ward.uninstall(&[]);
    assert_eq!(ward.settings(), mine);
}

#[test]
fn hooks_in_toml() {
    let ward = Ward::empty();
    let file = ".codex/config.toml";
    ward.file(file, "# mine\nmodel = \"x\"\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"mine\"\n");
    ward.must(&["install", "--agent", "codex", "--yes"]);
    let once = ward.text(file);
    let line = "command = \"tollgate hook --protocol codex\"\n";
    assert!(once.contains(line), "{once}");
    let again = format!(
        "{once}\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\n{line}timeout = 900\n"
    );
    // Registrations of earlier versions say `--wire`.
    for again in [again.clone(), again.replacen("--protocol", "--wire", 5)] {
        ward.file(file, again);
        // Codex asks for trust, which nothing repairs.
        let (report, _) = ward.report(&["--fix"]);
        assert_eq!(super::names(&report), ["agent-untrusted"], "{report:#}");
        assert_eq!(
            report["repairs"][0]["name"], "registered-twice",
            "{report:#}"
        );
        assert_eq!(ward.text(file).replace("--wire", "--protocol"), once);
    }
}

#[test]
fn a_line_that_also_runs_something_else_repeats_nothing() {
    let ward = ward();
    let stop = r#"{ "type": "command", "command": "tollgate hook", "timeout": 900 }"#;
    let more = r#"{ "type": "command", "command": "./notify.sh; tollgate hook", "timeout": 900 }"#;
    ward.tamper(|text| text.replacen(stop, &format!("{stop},\n            {more}"), 1));
    ward.leaves();
}
