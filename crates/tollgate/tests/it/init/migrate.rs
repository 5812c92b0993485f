//! `init --migrate`: every shape of files that version 0.1 could write becomes one `tollgate.toml`
//! with the same gates.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::Repository;

/// What version 0.1's `init` made its files from.
#[derive(Default)]
struct Shape {
    name: &'static str,
    base: &'static str,
    /// A path, and the names, commands and further lines of its checks.
    parts: &'static [(&'static str, &'static [Check])],
    reviewers: &'static [&'static str],
    homes: &'static [&'static str],
    has_gates: bool,
    has_workflow: bool,
    has_plans: bool,
}

/// A check's name, its command as YAML, and its last line.
type Check = (&'static str, &'static str, &'static str);

const LINT: Check = ("lint", "go vet ./...", "parallel: true");
const TEST: Check = ("test", "go test ./...", "timeout: 600");

const SHAPES: &[Shape] = &[
    Shape {
        name: "everything",
        base: "main",
        parts: &[(".", &[LINT, TEST])],
        reviewers: &["claude"],
        homes: &[],
        has_gates: true,
        has_workflow: true,
        has_plans: true,
    },
    Shape {
        name: "no reviewer",
        base: "origin/main",
        parts: &[(".", &[TEST])],
        reviewers: &[],
        homes: &[],
        has_gates: true,
        has_workflow: true,
        has_plans: true,
    },
    Shape {
        name: "only gates, parts, two reviewers",
        base: "\"release/1.x: y\"",
        parts: &[
            (
                ".",
                &[
                    ("format", "cargo fmt --all --check", "parallel: true"),
                    LINT,
                    TEST,
                ],
            ),
            (
                "backend",
                &[("backend-test", "\"./mvnw -q -B verify\"", "timeout: 600")],
            ),
            (
                "apps/web",
                &[
                    ("web-types", "npm run typecheck", "parallel: true"),
                    ("web-test", "\"CI=true npm test\"", "timeout: 600"),
                    (
                        "web-build",
                        "\"cmake -S . -B build && cmake --build build\"",
                        "timeout: 600",
                    ),
                ],
            ),
        ],
        reviewers: &["codex", "claude"],
        homes: &[],
        has_gates: true,
        has_workflow: false,
        has_plans: false,
    },
    Shape {
        name: "nothing to check at the root",
        base: "main",
        parts: &[
            (".", &[]),
            (
                "backend",
                &[("backend-test", "go test ./...", "timeout: 600")],
            ),
        ],
        reviewers: &[],
        homes: &[],
        has_gates: true,
        has_workflow: false,
        has_plans: false,
    },
    Shape {
        name: "nothing found, reviewed",
        base: "main",
        parts: &[(".", &[])],
        reviewers: &["claude"],
        homes: &[],
        has_gates: true,
        has_workflow: false,
        has_plans: false,
    },
    Shape {
        name: "nothing found at all",
        base: "main",
        parts: &[(".", &[])],
        reviewers: &[],
        homes: &[],
        has_gates: true,
        has_workflow: false,
        has_plans: false,
    },
    Shape {
        name: "beside existing homes",
        base: "main",
        parts: &[(".", &[LINT, TEST])],
        reviewers: &["claude"],
        homes: &[".isdlc", ".taskie"],
        has_gates: true,
        has_workflow: false,
        has_plans: false,
    },
    Shape {
        name: "only a workflow",
        base: "main",
        parts: &[],
        reviewers: &[],
        homes: &[],
        has_gates: false,
        has_workflow: true,
        has_plans: false,
    },
    Shape {
        name: "only plans",
        base: "main",
        parts: &[],
        reviewers: &["codex"],
        homes: &[],
        has_gates: false,
        has_workflow: false,
        has_plans: true,
    },
];

const REVIEW: &str = "---
timeout: 300
run_in_ci: false
---
Look for defects that you would block a pull request for: wrong results,
lost data, races, holes in security, swallowed errors, promises of the
change that it does not keep, and new behaviour that no test would notice.

Do not report style or naming, nor what a formatter, linter or compiler
finds.
";

const WORKFLOWS: &str = r#"{
  "workflows": {
    "change": {
      "label": "Small change",
      "phases": [
        "01-requirements",
        "06-implementation",
        "08-code-review"
      ],
      "requires_branch": true,
      "branch_prefix": "change"
    }
  }
}
"#;

impl Shape {
    /// The files as version 0.1 wrote them.
    fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        if self.has_gates {
            self.gates(&mut files);
        }
        if self.has_workflow {
            let path = ".tollgate/workflow/config/workflows.json";
            files.insert(path.to_owned(), WORKFLOWS.to_owned());
        }
        if self.has_plans {
            let reviewer = self.reviewers.first().unwrap_or(&"claude");
            let text = format!(
                "{{\n  \"reviewer\": \"{reviewer}\",\n  \"timeout_seconds\": 840,\n  \"loop_guard\": \"progress\"\n}}\n"
            );
            files.insert(".tollgate/plans.json".to_owned(), text);
        }
        files
    }

    fn gates(&self, files: &mut BTreeMap<String, String>) {
        let mut entries = String::new();
        for (path, checks) in self.parts {
            let quoted = if *path == "." { "\".\"" } else { path };
            writeln!(entries, "  - path: {quoted}").unwrap();
            if *path == "." {
                let mut exclude = vec!["\"**/*.md\"", ".tollgate/workflow", ".tollgate/plans"];
                exclude.extend(self.homes);
                writeln!(entries, "    exclude: [{}]", exclude.join(", ")).unwrap();
            }
            if !checks.is_empty() {
                let names: Vec<_> = checks.iter().map(|(name, ..)| *name).collect();
                writeln!(entries, "    checks: [{}]", names.join(", ")).unwrap();
            }
            if *path == "." && !self.reviewers.is_empty() {
                entries.push_str("    reviews: [quality]\n");
            }
            for (name, command, more) in *checks {
                let text = format!("# From go.mod\ncommand: {command}\n{more}\n");
                files.insert(format!(".tollgate/checks/{name}.yml"), text);
            }
        }
        let reviewers = if self.reviewers.is_empty() {
            String::new()
        } else {
            files.insert(".tollgate/reviews/quality.md".to_owned(), REVIEW.to_owned());
            format!(
                "\n# Who reviews: the first that is installed and has quota left.\ncli:\n  default_preference: [{}]\n",
                self.reviewers.join(", ")
            )
        };
        let text = format!(
            "# What must hold before an agent may stop. Keys: tollgate schema config\n\n# What the work is compared with.\nbase_branch: {}\n{reviewers}\nentry_points:\n{entries}",
            self.base
        );
        files.insert(".tollgate/config.yml".to_owned(), text);
    }

    fn repository(&self) -> Repository {
        let repository = Repository::with(&[
            ("README.md", ""),
            ("main.go", ""),
            ("backend/a.go", ""),
            ("backend/README.md", ""),
            ("apps/web/a.ts", ""),
            (".tollgate/plans/a/plan.md", "# A\n"),
        ]);
        for home in self.homes {
            repository.file(&format!("{home}/state.json"), "{}");
        }
        for (path, text) in self.files() {
            repository.file(&path, &text);
        }
        repository.commit("version 0.1");
        repository
    }
}

/// The gates as `list` shows them, and which a change of each file calls for.
fn gates(repository: &Repository) -> Value {
    let list = repository.must(&["list", "--json"]).json();
    let mut called = BTreeMap::new();
    for path in [
        "README.md",
        "main.go",
        "backend/a.go",
        "backend/README.md",
        "apps/web/a.ts",
    ] {
        repository.file(path, "changed");
        let detected = repository
            .tollgate(&["detect", "--uncommitted", "--json"])
            .json();
        let ids = detected["gates"].as_array().unwrap().iter();
        // Gates have shorter ids in tollgate.toml.
        let ids =
            ids.map(|gate| format!("{}:{}:{}", gate["kind"], gate["entry_point"], gate["name"]));
        called.insert(path, ids.collect::<std::collections::BTreeSet<_>>());
        repository.git(&["checkout", "-q", "--", path]);
    }
    json!({ "checks": list["checks"], "reviews": list["reviews"], "called": called })
}

#[test]
fn every_shape_of_version_0_1_gives_the_same_gates() {
    for shape in SHAPES {
        let repository = shape.repository();
        let before = shape.has_gates.then(|| gates(&repository));
        let run = repository.init(&["--migrate"]);
        assert!(
            run.stdout.contains("tollgate.toml is written"),
            "{}: {run:?}",
            shape.name
        );
        for path in shape.files().keys() {
            assert!(!repository.exists(path), "{}: {path} is gone", shape.name);
        }
        assert!(
            repository.exists(".tollgate/plans/a/plan.md"),
            "{}",
            shape.name
        );
        let valid = repository.tollgate(&["validate"]);
        assert_eq!(
            (valid.code, valid.stderr.as_str()),
            (0, ""),
            "{}",
            shape.name
        );
        repository.commit("migrated");
        let after = shape.has_gates.then(|| gates(&repository));
        assert_eq!(
            before,
            after,
            "{}\n{}",
            shape.name,
            repository.read("tollgate.toml")
        );
        let text = repository.read("tollgate.toml");
        assert_eq!(
            text.contains("[workflow.change]"),
            shape.has_workflow,
            "{text}"
        );
        assert_eq!(text.contains("[plans]"), shape.has_plans, "{text}");
        if shape.has_workflow {
            let run = repository.must(&["workflow", "start", "change", "Greet people"]);
            for part in [
                "change/REQ-0001-greet-people",
                "01-requirements → 06-implementation → 08-code-review",
            ] {
                assert!(run.stdout.contains(part), "{part}: {run:?}");
            }
        }
    }
}

#[test]
fn what_is_written_and_what_goes_is_shown_first() {
    let repository = SHAPES[0].repository();
    let before = repository.files();
    let run = repository.must(&["init", "--migrate", "--dry-run"]);
    insta::assert_snapshot!(run.stdout);
    assert_eq!(repository.files(), before, "--dry-run writes nothing");
    let run = repository.tollgate(&["init", "--migrate"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(
        run.stderr.contains("there is no terminal to ask at"),
        "{run:?}"
    );
    let json = repository
        .must(&["init", "--migrate", "--dry-run", "--json"])
        .json();
    assert_eq!(json["migrated"], false);
    assert_eq!(json["removes"].as_array().unwrap().len(), 6);
    assert_eq!(repository.files(), before);
    let (screen, code) = repository
        .terminal(&["init", "--migrate"])
        .shows("Write tollgate.toml and remove the old files? [Y/n] ")
        .types("y")
        .ends();
    assert_eq!(code, 0, "{screen}");
    assert!(repository.exists("tollgate.toml"));
    assert!(!repository.exists(".tollgate/config.yml"));
}

#[test]
fn what_people_added_is_migrated_too() {
    let repository = Repository::with(&[
        (
            ".tollgate/config.yml",
            "base_branch: main\nallow_parallel: false\nmax_retries: 5\nmax_previous_logs: 1\n\
             rerun_new_issue_threshold: low\ncli:\n  default_preference: [claude, codex]\n\
             stop_hook:\n  enabled: false\n  deadline_seconds: 90\n  loop_guard: strict\n  run_interval_minutes: 5\n\
             entry_points:\n  - path: .\n    exclude: [docs, '*.txt', src/gen]\n    checks: [a, b]\n    reviews: [r]\n  \
             - path: web/\n    exclude: [web/dist]\n    checks: [a]\n",
        ),
        (
            ".tollgate/checks/a.yml",
            "command: |\n  echo \"a\\b\"\n  true\ntimeout: 1.5\nfail_fast: true\nrun_in_ci: false\nfix_instructions: fix.md\n",
        ),
        (
            ".tollgate/checks/b.yaml",
            "command: 'true'\ntimeout: 0\nrun_locally: false\n",
        ),
        (".tollgate/fix.md", "Run `make fix`.\n"),
        (
            ".tollgate/reviews/r.yml",
            "prompt: Look.\nmodel: m\ncli_preference: [codex]\nnum_reviews: 2\nparallel: false\nenabled: false\n",
        ),
        ("main.go", ""),
        ("a.txt", ""),
        ("docs/a", ""),
        ("src/gen/a", ""),
        ("sub/docs/a", ""),
        ("web/a", ""),
        ("web/dist/a", ""),
    ]);
    let run = repository.init(&["--migrate"]);
    assert_eq!(run.stderr, "", "{run:?}");
    insta::assert_snapshot!(repository.read("tollgate.toml"));
    assert_eq!(repository.tollgate(&["validate"]).code, 0);
}

#[test]
fn what_cannot_be_said_is_named_and_nothing_is_written() {
    let config = |entry: &str| format!("entry_points:\n{entry}");
    let check = (".tollgate/checks/a.yml", "command: 'true'\n");
    for (entry, check, said) in [
        (
            "  - path: packages/*\n    checks: [a]\n",
            check,
            "entry point \"packages/*\"",
        ),
        (
            "  - path: src/**/*.ts\n    checks: [a]\n",
            check,
            "entry point \"src/**/*.ts\"",
        ),
        (
            "  - path: .\n    checks: [a]\n",
            (check.0, "command: 'true'\nworking_directory: web\n"),
            "working_directory",
        ),
        ("  - path: .\n", check, "no entry point names it"),
        (
            "  - path: .\n    checks: [a]\nlog_dir: logs\n",
            check,
            "log_dir",
        ),
        (
            "  - path: .\n    checks: [a]\nstop_hook:\n  interval: letter\n",
            check,
            "stop_hook.interval",
        ),
        (
            "  - path: web\n    exclude: [api]\n    checks: [a]\n  - path: packages\n    checks: [a]\n",
            check,
            "\"api\"",
        ),
    ] {
        let repository = Repository::with(&[
            (".tollgate/config.yml", &config(entry)),
            check,
            ("web/a", ""),
            ("packages/a/b", ""),
        ]);
        let before = repository.files();
        let run = repository.tollgate(&["init", "--migrate", "--yes"]);
        assert_eq!(run.code, 1, "{said}: {run:?}");
        assert!(run.stderr.contains(said), "{said}: {run:?}");
        assert!(run.stderr.contains("nothing was written"), "{run:?}");
        assert_eq!(repository.files(), before, "{said}");
    }
    for (path, text, said) in [
        (
            ".tollgate/workflow/config/workflows.json",
            r#"{"workflows":{"a":{"phases":["x"],"gate_mode":"permissive"}}}"#,
            "gate_mode",
        ),
        (".tollgate/plans.json", "{\"speed\":1}", "speed"),
        (".tollgate/plans.json", "[]", "not a JSON object"),
    ] {
        let repository = Repository::with(&[(path, text)]);
        let run = repository.tollgate(&["init", "--migrate", "--yes"]);
        assert_eq!(run.code, 1, "{said}: {run:?}");
        assert!(run.stderr.contains(said), "{said}: {run:?}");
        assert!(!repository.exists("tollgate.toml"));
    }
}

#[test]
fn broken_files_and_a_second_configuration_are_left_alone() {
    let repository = Repository::with(&[(".tollgate/config.yml", "entry_points: [\n")]);
    let run = repository.tollgate(&["init", "--migrate", "--yes"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("the old files have errors"), "{run:?}");
    let repository = Repository::with(&[(".tollgate/plans.json", "{}"), ("tollgate.toml", "")]);
    let run = repository.tollgate(&["init", "--migrate", "--yes"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(
        run.stderr.contains("tollgate.toml is there already"),
        "{run:?}"
    );
    assert!(repository.exists(".tollgate/plans.json"));
    let repository = Repository::with(&[(".gauntlet/config.yml", "entry_points:\n  - path: .\n")]);
    let run = repository.tollgate(&["init", "--migrate", "--yes"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("nothing to migrate"), "{run:?}");
    assert!(repository.exists(".gauntlet/config.yml"));
}
