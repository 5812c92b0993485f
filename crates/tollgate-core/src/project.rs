//! Where the project is, and where its things live.
//!
//! One walk up finds the root; one [`Layout`], made from it, answers every "where is". Nothing
//! else knows a directory name.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use crate::decision::Fault;
use crate::env::Env;
use crate::git::{Disk, Repository};
use tollgate_shell::Files as _;
use tollgate_store::fs::canonical;
use tollgate_store::json::Object;

/// A project's root and the homes found in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    root: PathBuf,
    /// The workflow's home is `.isdlc`.
    isdlc: bool,
    /// The same project in the main work tree, if this one is in a linked one and that one has a
    /// `tollgate.toml`.
    main: Option<PathBuf>,
}

/// The directories that make a project, that of the workflow's original first.
const HOMES: [&str; 4] = [".isdlc", ".tollgate", ".gauntlet", ".taskie"];

/// The homes of plans: the original's and Tollgate's own.
pub const TASKIE_PLANS: &str = ".taskie/plans";
const PLANS: &str = ".tollgate/plans";

/// The file that makes a project.
pub const CONFIG: &str = "tollgate.toml";

/// What one person wants otherwise in a project.
pub const LOCAL_CONFIG: &str = "tollgate.local.toml";

/// The id of one project of a monorepo. It becomes part of a path, so it cannot leave its
/// directory: letters, digits, `.`, `_` and `-`, beginning with a letter or digit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectId(String);

/// A file of the workflow's configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigFile {
    /// `skills-manifest.json`
    Manifest,
    /// `iteration-requirements.json`
    Requirements,
    /// `workflows.json`
    Workflows,
    /// `artifact-paths.json`
    ArtifactPaths,
}

impl Layout {
    /// Finds the project that an event in `event_cwd` belongs to.
    ///
    /// `CLAUDE_PROJECT_DIR` is where the session started. It does not follow the agent into
    /// another worktree of the same repository, so a worktree that has its own home goes
    /// before it. A session started in a subdirectory still belongs to the project above; one
    /// started above or beside every project belongs to the project that it works in.
    pub fn find(env: &Env, event_cwd: Option<&Path>) -> Option<Self> {
        let here = event_cwd.filter(|cwd| cwd.is_absolute());
        let around = here.or(env.cwd.as_deref());
        let Some(started) = &env.project_dir else {
            return Self::above(around?);
        };
        let elsewhere = here.filter(|here| *here != started);
        let worktree = elsewhere.and_then(|here| other_worktree(started, here));
        // What is above both is asked once.
        let places = around.into_iter().flat_map(Path::ancestors);
        let apart = places.take_while(|place| !started.starts_with(place));
        worktree
            .and_then(|root| Self::at(&root).or_else(|| Self::linked(&root)))
            .or_else(|| Self::above(started))
            .or_else(|| Self::nearest(apart))
    }

    /// The nearest directory at or above `start` that has a home, or is a linked work tree of a
    /// project that has one.
    pub fn above(start: &Path) -> Option<Self> {
        Self::nearest(start.ancestors())
    }

    /// The layout of the first of these directories for which there is one in the same way.
    pub fn nearest<'p>(mut places: impl Iterator<Item = &'p Path>) -> Option<Self> {
        places.find_map(|place| Self::at(place).or_else(|| Self::linked(place)))
    }

    /// The layout of a linked work tree without a home, by that of the main one.
    fn linked(root: &Path) -> Option<Self> {
        root.join(".git")
            .is_file()
            .then(|| main_project(root))?
            .map(|main| Self {
                root: root.to_owned(),
                isdlc: false,
                main: Some(main),
            })
    }

    /// The layout of a directory that need not be a project, or is none any more.
    pub fn of_root(root: &Path) -> Self {
        Self::at(root).unwrap_or_else(|| Self::bare(root))
    }

    /// A directory that is no project, for those who must know where things would be.
    pub fn bare(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            isdlc: false,
            main: None,
        }
    }

    /// The layout of exactly this directory, if it has a home or a `tollgate.toml`, whatever that
    /// is: one that cannot be read is an error, and not no project.
    pub fn at(root: &Path) -> Option<Self> {
        let [isdlc, others @ ..] = HOMES;
        let has = |name: &str| root.join(name).is_dir();
        let isdlc = has(isdlc);
        let is_project =
            isdlc || others.into_iter().any(has) || root.join(CONFIG).symlink_metadata().is_ok();
        is_project.then(|| Self {
            root: root.to_owned(),
            isdlc,
            main: main_project(root),
        })
    }

    /// The project's root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path as messages say it: relative to the root if it lies below.
    pub fn shown<'p>(&self, path: &'p Path) -> &'p Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }

    /// The workflow's home: `.isdlc` where it exists, else `.tollgate/workflow`.
    pub fn workflow_home(&self) -> PathBuf {
        self.workflow_root().join(if self.isdlc {
            ".isdlc"
        } else {
            ".tollgate/workflow"
        })
    }

    /// The project whose workflow this one is under: that of the main work tree, unless this one
    /// has its own state.
    pub fn workflow_root(&self) -> &Path {
        let has_state = |root: &Path| {
            let home = root.join(".tollgate/workflow");
            home.join("state.json").exists() || home.join("projects").is_dir()
        };
        let main = self.main.as_deref().filter(|_| !self.isdlc);
        main.filter(|main| !has_state(&self.root) && has_state(main))
            .unwrap_or(&self.root)
    }

    /// What Tollgate keeps about the workflow's state.
    pub fn workflow_local(&self) -> PathBuf {
        self.workflow_root().join(".tollgate/local")
    }

    /// Whether the workflow's home is that of a project that used the original.
    pub fn is_isdlc(&self) -> bool {
        self.isdlc
    }

    /// The workflow's state file; of one project, in a monorepo.
    pub fn state_file(&self, project: Option<&ProjectId>) -> PathBuf {
        let home = self.workflow_home();
        match project {
            Some(ProjectId(id)) => home.join("projects").join(id).join("state.json"),
            None => home.join("state.json"),
        }
    }

    /// Where the store keeps the lock and the pending changes of a state file.
    pub fn store_home(&self, project: Option<&ProjectId>) -> PathBuf {
        match project {
            Some(ProjectId(id)) => self
                .workflow_local()
                .join("projects")
                .join(id)
                .join("state"),
            None => self.workflow_local().join("state"),
        }
    }

    /// What is kept of workflows that ended, beside the state.
    pub fn archive_file(&self, project: Option<&ProjectId>) -> PathBuf {
        self.state_file(project)
            .with_file_name("state-archive.json")
    }

    /// The file whose presence makes the project a monorepo.
    pub fn monorepo_file(&self) -> PathBuf {
        self.workflow_home().join("monorepo.json")
    }

    /// The places of a configuration file, best first.
    pub fn config_files(&self, file: ConfigFile) -> Vec<PathBuf> {
        let own = self.workflow_home().join("config").join(file.name());
        if !self.isdlc {
            return vec![own];
        }
        let hooks = self.root.join(".claude/hooks/config").join(file.name());
        match file {
            // The original's order, which its users rely on.
            ConfigFile::Workflows => vec![own, hooks],
            ConfigFile::Manifest | ConfigFile::Requirements | ConfigFile::ArtifactPaths => {
                vec![hooks, own]
            }
        }
    }

    /// Where a document of the workflow (`tasks.md`, `constitution.md`) is, or belongs: the
    /// first place that has it, else the first place.
    pub fn document(&self, project: Option<&ProjectId>, name: &str) -> PathBuf {
        let places: Vec<PathBuf> = match (self.isdlc, project) {
            (true, None) => {
                vec![
                    self.root.join("docs/isdlc").join(name),
                    self.workflow_home().join(name),
                ]
            }
            (true, Some(ProjectId(id))) => vec![
                self.root.join("docs/isdlc/projects").join(id).join(name),
                self.workflow_home().join("projects").join(id).join(name),
            ],
            (false, None) => vec![self.workflow_home().join(name)],
            (false, Some(ProjectId(id))) => {
                vec![self.workflow_home().join("projects").join(id).join(name)]
            }
        };
        let found = places
            .iter()
            .find(|place| place.exists())
            .or(places.first());
        found
            .cloned()
            .unwrap_or_else(|| self.workflow_home().join(name))
    }

    /// The state files of all projects of a monorepo.
    pub fn project_state_files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.workflow_home().join("projects"));
        let found = entries.into_iter().flatten().flatten();
        found.map(|entry| entry.path().join("state.json")).collect()
    }

    /// The specification's `hook-activity.log`, in projects that have it.
    pub fn activity_log(&self) -> Option<PathBuf> {
        self.isdlc
            .then(|| self.workflow_home().join("hook-activity.log"))
    }

    /// The name of the plans' home, as messages and reviewers read it: relative to the root.
    pub fn plans_home_name(&self) -> &'static str {
        if self.root.join(".taskie").is_dir() {
            TASKIE_PLANS
        } else {
            PLANS
        }
    }

    /// Whether a path, relative to the root, could be in the plans' home. Nothing is looked at.
    pub fn is_in_plans(inside: &Path) -> bool {
        inside.starts_with(TASKIE_PLANS) || inside.starts_with(PLANS)
    }

    /// The plans' home: `.taskie/plans` where `.taskie` exists, else `.tollgate/plans`.
    pub fn plans_home(&self) -> PathBuf {
        self.root.join(self.plans_home_name())
    }

    /// How plans are reviewed in this project.
    pub fn plans_config(&self) -> PathBuf {
        self.root.join(".tollgate/plans.json")
    }

    /// What Tollgate keeps about all plans: which one is pinned, and a directory for each.
    pub fn plans_local(&self) -> PathBuf {
        self.local().join("plans")
    }

    /// The gates' home: `.gauntlet` where it exists, else `.tollgate`.
    pub fn gates_home(&self) -> PathBuf {
        self.root.join(self.gates_home_name())
    }

    /// The name of the gates' home, as messages say it.
    pub fn gates_home_name(&self) -> &'static str {
        if self.is_gauntlet() {
            ".gauntlet"
        } else {
            ".tollgate"
        }
    }

    /// Asked only where gates are concerned: most events are not about them.
    fn is_gauntlet(&self) -> bool {
        self.root.join(".gauntlet").is_dir()
    }

    /// The gates' configuration: that of the existing home, else the project's one file. A project
    /// has gates only if this file exists.
    pub fn gates_config(&self) -> PathBuf {
        let existing = self.gates_home().join("config.yml");
        let own = self.config_file();
        if !existing.exists() && own.exists() {
            own
        } else {
            existing
        }
    }

    /// The project's configuration in one file. A linked work tree that has none is under that of
    /// the main one.
    pub fn config_file(&self) -> PathBuf {
        self.own_or_main(CONFIG)
    }

    fn own_or_main(&self, name: &str) -> PathBuf {
        let own = self.root.join(name);
        match &self.main {
            Some(main) if own.symlink_metadata().is_err() => main.join(name),
            Some(_) | None => own,
        }
    }

    /// What one person wants otherwise in this project; git ignores it.
    pub fn local_config_file(&self) -> PathBuf {
        self.own_or_main(LOCAL_CONFIG)
    }

    /// The last configuration that was right.
    pub fn last_good_config(&self) -> PathBuf {
        self.local().join(CONFIG)
    }

    /// Where the original keeps its logs.
    pub const ORIGINAL_LOGS: &'static str = "gauntlet_logs";

    /// Where the gates' logs go unless the configuration says otherwise.
    pub fn default_log_dir(&self) -> &'static str {
        if self.is_gauntlet() {
            Self::ORIGINAL_LOGS
        } else {
            ".tollgate/logs"
        }
    }

    /// A person's own configuration of the gates: that of the original where it exists.
    pub fn global_gates_config(home: &Path) -> PathBuf {
        let original = home.join(".config/agent-gauntlet/config.yml");
        if original.exists() {
            original
        } else {
            home.join(".config/tollgate/config.yml")
        }
    }

    /// What Tollgate keeps for itself, ignored by git: journal, ledger, locks.
    pub fn local(&self) -> PathBuf {
        self.root.join(".tollgate/local")
    }

    /// Whether `path` is a state file of this project, however it is written.
    ///
    /// By its text first, as the specification has it, then by what it leads to: a symlinked
    /// directory, another spelling of the root, a second name of the same file or, where case does
    /// not count, capitals must not hide it.
    pub fn is_state_file(&self, path: &Path) -> bool {
        let path = lexical(path);
        if names_state_file(&path) {
            return true;
        }
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return false;
        };
        if let Ok(meta) = std::fs::symlink_metadata(&path) {
            if meta.is_symlink() {
                return path
                    .canonicalize()
                    .is_ok_and(|real| names_state_file(&real));
            }
            let may_be_the_same = meta.nlink() > 1 || name.eq_ignore_ascii_case("state.json");
            let is_the_same = |state: PathBuf| {
                std::fs::symlink_metadata(state)
                    .is_ok_and(|state| (state.dev(), state.ino()) == (meta.dev(), meta.ino()))
            };
            if meta.is_file()
                && may_be_the_same
                && std::iter::once(self.state_file(None))
                    .chain(self.project_state_files())
                    .any(is_the_same)
            {
                return true;
            }
        }
        name == "state.json"
            && canonical(parent).is_some_and(|real| names_state_file(&real.join(name)))
    }
}

impl ConfigFile {
    /// The file's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Manifest => "skills-manifest.json",
            Self::Requirements => "iteration-requirements.json",
            Self::Workflows => "workflows.json",
            Self::ArtifactPaths => "artifact-paths.json",
        }
    }

    /// The kind of fault when it cannot be read.
    pub fn unreadable(self) -> &'static str {
        match self {
            Self::Manifest => "manifest-unreadable",
            Self::Requirements => "requirements-unreadable",
            Self::Workflows => "workflows-unreadable",
            Self::ArtifactPaths => "artifact-paths-unreadable",
        }
    }
}

impl ProjectId {
    /// An id that is safe to put in a path.
    pub fn new(id: &str) -> Option<Self> {
        let safe = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
        let ok = id.len() <= 64
            && id.bytes().all(safe)
            && id.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric());
        ok.then(|| Self(id.to_owned()))
    }

    /// The id.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Where the artifacts of phases are, relative to the root: `docs`, or in a monorepo
    /// `docs/<id>`, or the project's own `docs` where `monorepo` says so.
    pub fn docs_base(project: Option<&Self>, monorepo: Option<&str>) -> String {
        let Some(Self(id)) = project else {
            return "docs".to_owned();
        };
        let config = monorepo
            .and_then(|text| Object::parse(text).ok())
            .unwrap_or_default();
        let own = config.str("docs_location").as_deref() == Some("project");
        let path = config.object("projects").and_then(|projects| {
            projects
                .object(id)?
                .str("path")
                .map(|path| lexical(Path::new(path.as_ref())))
        });
        // A path that climbs out of the root is no place for documents.
        let inside = path.filter(|path| {
            path.components()
                .all(|part| matches!(part, Component::Normal(_)))
        });
        match inside.filter(|_| own) {
            // A project that is the root itself.
            Some(path) if path.as_os_str().is_empty() => "docs".to_owned(),
            Some(path) => format!("{}/docs", path.display()),
            None => format!("docs/{id}"),
        }
    }

    /// Which project of the monorepo an event belongs to: `ISDLC_PROJECT`, else the registered
    /// path that holds `cwd`, else the default.
    pub fn resolve(
        monorepo: &str,
        root: &Path,
        cwd: Option<&Path>,
        wanted: Option<&str>,
    ) -> Result<Option<Self>, Fault> {
        let checked = |id: &str, from: &str| {
            Self::new(id).map(Some).ok_or_else(|| {
                Fault::new(
                    "monorepo-project",
                    format!("{from} names the project {id:?}, which is not an id: use letters, digits, '.', '_' and '-'"),
                )
            })
        };
        if let Some(id) = wanted {
            return checked(id, "ISDLC_PROJECT");
        }
        let config = Object::parse(monorepo).map_err(|error| {
            Fault::new(
                "monorepo-corrupt",
                format!("monorepo.json cannot be read: {error}"),
            )
        })?;
        let inside = cwd.and_then(|cwd| within(root, cwd));
        let projects = config.object("projects").unwrap_or_default();
        let mut best: Option<(usize, String)> = None;
        for (id, entry) in projects.members() {
            let Some(path) = entry.get("path").and_then(tollgate_store::json::Node::str) else {
                continue;
            };
            let path = lexical(Path::new(path.trim_end_matches('/')));
            let length = path.components().count();
            let holds = inside
                .as_deref()
                .is_some_and(|inside| inside.starts_with(&path));
            if length > 0 && holds && best.as_ref().is_none_or(|(longest, _)| length > *longest) {
                best = Some((length, id.to_owned()));
            }
        }
        match best {
            Some((_, id)) => checked(&id, "monorepo.json"),
            None => match config.get("default_project").filter(|id| id.truthy()) {
                // A number taken for "none" would switch every guard off.
                Some(id) => checked(&id.str().unwrap_or(id.text().into()), "monorepo.json"),
                None => Ok(None),
            },
        }
    }
}

/// Where in `root` the directory `cwd` is, by its text, else by what it leads to: the agent may
/// have gone there by another name of the root.
fn within(root: &Path, cwd: &Path) -> Option<PathBuf> {
    if let Ok(inside) = lexical(cwd).strip_prefix(root) {
        return Some(inside.to_owned());
    }
    let (root, cwd) = (canonical(root)?, canonical(cwd)?);
    cwd.strip_prefix(root).ok().map(Path::to_owned)
}

/// A configured path of an artifact, relative to the root: `docs/` stands for `base`, wherever
/// the project keeps its documents.
pub fn under_docs(base: &str, path: &str) -> String {
    let path = path.trim_start_matches("./");
    match path.strip_prefix("docs/") {
        Some(rest) => format!("{base}/{rest}"),
        None => path.to_owned(),
    }
}

/// Whether a relative path from a file or a name stays below the directory it is joined to.
pub fn stays_inside(path: &str) -> bool {
    let mut parts = Path::new(path).components().peekable();
    parts.peek().is_some()
        && parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// The path with the links of its directories followed, as far as they exist.
pub fn real(path: &Path) -> PathBuf {
    real_on(&Disk::default(), path)
}

/// The same on a disk that was asked before.
pub fn real_on(disk: &Disk, path: &Path) -> PathBuf {
    let path = lexical(path);
    let existing = path
        .ancestors()
        .find_map(|above| Some((above, disk.canonical(above)?)));
    match existing {
        Some((above, real)) => match path.strip_prefix(above) {
            Ok(below) if !below.as_os_str().is_empty() => real.join(below),
            // Joined with nothing, a file's path would end like that of a directory.
            Ok(_) | Err(_) => real,
        },
        None => path,
    }
}

/// Resolves `.`, `..` and doubled slashes without asking the file system.
pub fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => match out.components().next_back() {
                Some(Component::Normal(_)) => drop(out.pop()),
                Some(Component::RootDir | Component::Prefix(_)) => {}
                Some(Component::CurDir | Component::ParentDir) | None => out.push(part),
            },
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => out.push(part),
        }
    }
    out
}

/// `…/.isdlc/state.json`, `…/.isdlc/projects/<id>/state.json`, and the same under
/// `.tollgate/workflow`. Backslashes count, as in paths that a Windows agent writes.
pub fn names_state_file(path: &Path) -> bool {
    let text = path.to_string_lossy();
    let mut parts = text
        .rsplit(['/', '\\'])
        .filter(|part| !part.is_empty() && *part != ".");
    if parts.next() != Some("state.json") {
        return false;
    }
    let (first, second, third) = (parts.next(), parts.next(), parts.next());
    let is_home = |name: Option<&str>, above: Option<&str>| {
        name == Some(".isdlc") || (name == Some("workflow") && above == Some(".tollgate"))
    };
    is_home(first, second) || (second == Some("projects") && is_home(third, parts.next()))
}

/// The root of the worktree that `here` lies in, if it is another one of the repository that
/// `started` belongs to.
fn other_worktree(started: &Path, here: &Path) -> Option<PathBuf> {
    let there = Repository::discover(here)?;
    let home = Repository::discover(started)?;
    let other = there.work_tree != home.work_tree && there.same_repository(&home);
    other.then_some(there.work_tree)
}

/// The same project in the main work tree, if `root` is in a linked one and the main one has a
/// `tollgate.toml` for it. The repository must know the work tree: a `.git` file alone, which any
/// archive may bring, leads nowhere.
fn main_project(root: &Path) -> Option<PathBuf> {
    let is_top = |place: &&Path| place.join(".git").symlink_metadata().is_ok();
    let top = root.ancestors().find(is_top)?;
    if !top.join(".git").is_file() {
        return None;
    }
    let repository = Repository::discover(top)?;
    let common = &repository.common_dir;
    if common.file_name()? != ".git" || !repository.confirms_work_tree() {
        return None;
    }
    let main = common.parent()?.join(root.strip_prefix(top).ok()?);
    main.join(CONFIG).symlink_metadata().is_ok().then_some(main)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_files_are_known_by_every_spelling() {
        for yes in [
            ".isdlc/state.json",
            "/p/.isdlc/state.json",
            "/p/.isdlc//state.json",
            "/p/.isdlc/./state.json",
            "/p/.isdlc/projects/api/state.json",
            "/p/.isdlc/projects/a/../../state.json",
            r"C:\p\.isdlc\state.json",
            r"C:\p\.isdlc\projects\api\state.json",
            "/p/.tollgate/workflow/state.json",
        ] {
            assert!(names_state_file(&lexical(Path::new(yes))), "{yes}");
        }
        for no in [
            "state.json",
            "/p/isdlc/state.json",
            "/p/.isdlc/x/state.json",
            "/p/.isdlc/state.json.bak",
        ] {
            assert!(!names_state_file(&lexical(Path::new(no))), "{no}");
        }
    }

    #[test]
    fn paths_are_resolved_by_their_text() {
        for (path, expected) in [
            ("/a/./b//c/../d", "/a/b/d"),
            ("../../etc", "../../etc"),
            ("a/../../b", "../b"),
            ("/../x", "/x"),
        ] {
            assert_eq!(lexical(Path::new(path)), Path::new(expected), "{path}");
        }
    }

    /// E8: a project id of a monorepo led outside, or to a project without a state, which switched
    /// all guards off.
    #[test]
    fn e8_project_ids_cannot_leave_their_directory() {
        for bad in [
            "../../../escape",
            "..",
            "",
            "a/b",
            ".hidden",
            &"x".repeat(65),
            "a\0b",
        ] {
            assert_eq!(ProjectId::new(bad), None, "{bad:?}");
        }
        assert!(ProjectId::new("api-service_2.0").is_some());
        let fault = ProjectId::resolve("{}", Path::new("/p"), None, Some("../..")).unwrap_err();
        assert_eq!(fault.kind, "monorepo-project");
    }

    /// AC-007e: a monorepo's documents belong to its project.
    #[test]
    fn ac_007e_documents_of_a_monorepos_project_have_their_own_place() {
        let api = ProjectId::new("api").unwrap();
        let at = |location: &str, path: &str| {
            let config = format!(
                r#"{{"docs_location":"{location}","projects":{{"api":{{"path":"{path}"}}}}}}"#
            );
            ProjectId::docs_base(Some(&api), Some(&config))
        };
        assert_eq!(at("root", "apps/api"), "docs/api");
        assert_eq!(at("project", "apps/api/"), "apps/api/docs");
        assert_eq!(at("project", "../../etc"), "docs/api");
        assert_eq!(ProjectId::docs_base(None, None), "docs");
    }

    #[test]
    fn a_monorepo_project_is_the_longest_registered_path() {
        let config = r#"{"default_project":"web","projects":{
            "apps":{"path":"apps/"},"api":{"path":"apps/api"},"web":{"path":"apps/web"}}}"#;
        let at = |cwd: &str| {
            let id = ProjectId::resolve(config, Path::new("/p"), Some(Path::new(cwd)), None);
            id.unwrap().unwrap().0
        };
        assert_eq!(at("/p/apps/api/src"), "api");
        assert_eq!(at("/p/apps/api"), "api");
        assert_eq!(at("/p/apps/api-x"), "apps");
        assert_eq!(at("/p/docs"), "web");
        assert_eq!(at("/elsewhere"), "web");
    }
}
