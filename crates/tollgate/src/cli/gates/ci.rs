//! `tollgate ci init` and `ci list-jobs`: the checks in continuous integration.

use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};
use tollgate_core::project::Layout;
use tollgate_store::fs;

use super::super::{CommandResult, Trouble};
use super::{Project, unconfigured};
use crate::gate::config::{CI_STARTER, Check, Ci, ConfigError, Step, Words};
use crate::gate::jobs::{Gate, Instance, Site, instances};
use crate::init::CONFIG;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Write ci.yml and a workflow of GitHub Actions that runs the checks
    Init {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the checks as one line of JSON, for a matrix of jobs
    ListJobs {
        /// No effect: the list is always JSON
        #[arg(long)]
        json: bool,
    },
}

const WORKFLOW: &str = r#"# The job `discover` needs `tollgate` on the PATH of its runner: put a step that installs it before
# `list`, or use a runner that has it.
name: Gates
on: [pull_request]
jobs:
  discover:
    runs-on: ubuntu-latest
    outputs:
      jobs: ${{ steps.list.outputs.jobs }}
    steps:
      - uses: actions/checkout@v4
      - id: list
        run: echo "jobs=$(tollgate ci list-jobs)" >> "$GITHUB_OUTPUT"
  check:
    needs: discover
    if: ${{ fromJson(needs.discover.outputs.jobs).matrix[0] != null }}
    runs-on: ubuntu-latest
    strategy:
      fail-fast: false
      matrix:
        job: ${{ fromJson(needs.discover.outputs.jobs).matrix }}
    name: ${{ matrix.job.name }} (${{ matrix.job.entry_point }})
    env:
      BASE_BRANCH: origin/${{ github.base_ref }}
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
      - run: ${{ matrix.job.global_setup }}
        if: ${{ matrix.job.global_setup != '' }}
      - run: ${{ matrix.job.setup }}
        if: ${{ matrix.job.setup != '' }}
      - run: ${{ matrix.job.command }}
        working-directory: ${{ matrix.job.working_directory }}
"#;

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    match arguments.command {
        Command::Init { json } => init(json),
        Command::ListJobs { json: _ } => list_jobs(),
    }
}

fn init(as_json: bool) -> CommandResult {
    let env = crate::environment::current();
    let Some(layout) = Layout::find(&env, env.cwd.as_deref()) else {
        let here = env.cwd.unwrap_or_default().join(CONFIG);
        return Err(unconfigured(&ConfigError::Missing(here), as_json));
    };
    let workflows = layout.root().join(".github/workflows");
    let files = if layout.gates_config() == layout.config_file() {
        // Every check names all it needs.
        vec![(workflows.join("gates.yml"), WORKFLOW)]
    } else {
        vec![
            (layout.gates_home().join("ci.yml"), CI_STARTER),
            (workflows.join("gauntlet.yml"), WORKFLOW),
        ]
    };
    let mut written = Vec::new();
    for (path, text) in &files {
        let created = create(path, text).map_err(|error| Trouble::about(path, &error))?;
        if !as_json {
            let state = if created { "Created" } else { "Kept" };
            out!("{state} {}", path.display());
        }
        written.push(json!({ "file": path, "created": created }));
    }
    if as_json {
        anstream::println!("{:#}", Value::from(written));
    }
    Ok(ExitCode::SUCCESS)
}

/// Creates a file that is not there yet. Says whether it was not.
fn create(path: &Path, text: &str) -> std::io::Result<bool> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    fs::create(path, text.as_bytes()).map_err(|fault| std::io::Error::other(fault.to_string()))
}

fn list_jobs() -> CommandResult {
    let Project { layout, config, .. } = &Project::open(false)?;
    let ci = match Ci::load(layout) {
        Ok(ci) => ci,
        Err(ConfigError::Missing(_)) if config.words == Words::Own => Ci::empty(),
        Err(error) => return Err(unconfigured(&error, false)),
    };
    let matrix: Vec<Value> = instances(config, Site::Ci)
        .iter()
        .filter_map(|Instance { job, .. }| match &job.gate {
            Gate::Check { check, directory } => {
                Some(to_json(&ci, job.name, &job.entry_point, directory, check))
            }
            Gate::Review(_) => None,
        })
        .collect();
    let all = json!({
        "matrix": matrix, "services": ci.mapping("services"), "runtimes": ci.mapping("runtimes"),
    });
    anstream::println!("{all}");
    Ok(ExitCode::SUCCESS)
}

fn to_json(ci: &Ci, name: &str, path: &str, directory: &str, check: &Check) -> Value {
    json!({
        "id": format!("{name}-{}", path.replace('/', "-")),
        "name": name,
        "entry_point": path,
        "working_directory": directory,
        "command": check.command,
        "runtimes": ci.required_names("runtimes", name),
        "services": ci.required("services", name),
        "setup": script(&ci.setup_of(name)),
        "global_setup": script(&ci.setup()),
    })
}

fn script(steps: &[Step]) -> String {
    let steps: Vec<String> = steps
        .iter()
        .map(|step| {
            let run = match &step.working_directory {
                Some(directory) => format!("(cd {directory:?} && {})", step.run),
                None => step.run.clone(),
            };
            format!(
                "echo \"::group::{}\"\n{run}\necho \"::endgroup::\"",
                step.name
            )
        })
        .collect();
    steps.join("\n")
}
