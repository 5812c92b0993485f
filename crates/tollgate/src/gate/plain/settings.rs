//! Whether a repository is a plain one: nothing in its configuration, the person's, or the
//! environment that would have git see other files, or read them in another way.
//!
//! What is known to be harmless is listed. Everything else is a doubt, and then git is asked.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::configuration::{Settings, is_true};
use super::ignore::Rules;
use crate::gate::git::LEADING_ASTRAY;
use tollgate_core::git::Repository;

/// No file of settings or rules that is read is larger.
const CAP: u64 = 1 << 18;

/// A git that lies in one of these has the settings of the machine in the other. One in `/usr/local`
/// may also be another's copy.
const PROGRAMS: [(&str, &[&str]); 3] = [
    ("/usr/bin", &["/etc"]),
    ("/bin", &["/etc"]),
    ("/usr/local/bin", &["/etc", "/usr/local/etc"]),
];

/// What is no longer than this is a script that may start git with settings of its own.
const SCRIPT: u64 = 256 << 10;

/// Variables of git that have nothing to do with which files there are and what is in them, beside
/// those that no question is asked with.
const HARMLESS_VARIABLES: [&str; 37] = [
    "GIT_ASKPASS",
    "GIT_AUTHOR_DATE",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_COMMITTER_DATE",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_EDITOR",
    "GIT_EXEC_PATH",
    "GIT_EXTERNAL_DIFF",
    "GIT_HTTP_LOW_SPEED_LIMIT",
    "GIT_HTTP_LOW_SPEED_TIME",
    "GIT_HTTP_PROXY_AUTHMETHOD",
    "GIT_HTTP_USER_AGENT",
    "GIT_MERGE_AUTOEDIT",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OPTIONAL_LOCKS",
    "GIT_PAGER",
    "GIT_PAGER_IN_USE",
    "GIT_PS1_SHOWDIRTYSTATE",
    "GIT_PS1_SHOWSTASHSTATE",
    "GIT_PS1_SHOWUNTRACKEDFILES",
    "GIT_PS1_SHOWUPSTREAM",
    "GIT_REFLOG_ACTION",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GIT_SSL_CERT",
    "GIT_SSL_KEY",
    "GIT_SSL_NO_VERIFY",
    "GIT_TERMINAL_PROMPT",
];

/// What the environment says, as git will see it.
#[derive(Debug, Default)]
pub(super) struct Surroundings {
    home: Option<PathBuf>,
    config_home: Option<PathBuf>,
    search: Option<OsString>,
    /// Variables that begin with `GIT_`.
    variables: Vec<(OsString, OsString)>,
}

impl Surroundings {
    /// Those that git inherits from this process.
    pub(super) fn of_process() -> Self {
        Self::of(std::env::vars_os())
    }

    pub(super) fn of(variables: impl Iterator<Item = (OsString, OsString)>) -> Self {
        let mut around = Self::default();
        for (name, value) in variables {
            match name.as_bytes() {
                b"HOME" => around.home = Some(value.into()),
                b"XDG_CONFIG_HOME" => around.config_home = Some(value.into()),
                b"PATH" => around.search = Some(value),
                other if other.starts_with(b"GIT_") => around.variables.push((name, value)),
                _ => {}
            }
        }
        around
    }

    /// What is ignored in the whole of a plain repository. None if it is no plain one.
    pub(super) fn rules(&self, repository: &Repository) -> Option<Rules> {
        let machine = self.machine()?;
        self.has_harmless_variables()?;
        let home = self.home.as_deref().filter(|home| home.is_absolute())?;
        let xdg = match &self.config_home {
            Some(place) if !place.as_os_str().is_empty() => place.join("git"),
            Some(_) | None => home.join(".config/git"),
        };
        let common = &repository.common_dir;
        let mut settings = Settings::default();
        for path in self.of_machine(machine)? {
            settings.read(&path, home)?;
        }
        if machine.len() > 1 && settings.excludes.is_some() {
            return None;
        }
        for path in self.of_person(home, &xdg)? {
            settings.read(&path, home)?;
        }
        settings.read(&common.join("config"), home)?;
        let of_machine = machine
            .iter()
            .map(|place| Path::new(place).join("gitattributes"));
        let own = [xdg.join("attributes"), common.join("info/attributes")];
        let mut attributes = of_machine.chain(own);
        if !attributes.all(|path| is_missing(&path)) {
            return None;
        }
        let personal = settings.excludes.unwrap_or_else(|| xdg.join("ignore"));
        let mut rules = Rules::default();
        for path in [personal, common.join("info/exclude")] {
            rules.add_general(&text(&path)?.unwrap_or_default())?;
        }
        Some(rules)
    }

    /// Where the git that would be started may have the settings of the machine.
    fn machine(&self) -> Option<&'static [&'static str]> {
        for directory in std::env::split_paths(self.search.as_ref()?) {
            if !directory.is_absolute() {
                return None;
            }
            match directory.join("git").symlink_metadata() {
                Ok(found) => {
                    let is_git = found.is_file() && found.mode() & 0o111 != 0;
                    let mut known = PROGRAMS.iter();
                    let known = known.find(|(place, _)| directory == Path::new(place));
                    return known
                        .filter(|_| is_git && found.len() > SCRIPT)
                        .map(|(_, machine)| *machine);
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(_) => return None,
            }
        }
        None
    }

    fn has_harmless_variables(&self) -> Option<()> {
        let mut names = self.variables.iter().map(|(name, _)| name);
        let are_harmless = names.all(|name| {
            let known = HARMLESS_VARIABLES.iter().chain(&LEADING_ASTRAY);
            known.into_iter().any(|known| name == *known)
        });
        are_harmless.then_some(())
    }

    fn variable(&self, name: &str) -> Option<&OsString> {
        let mut variables = self.variables.iter();
        variables
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    /// The files with settings of the machine.
    fn of_machine(&self, machine: &[&str]) -> Option<Vec<PathBuf>> {
        let is_without = match self.variable("GIT_CONFIG_NOSYSTEM") {
            Some(value) => is_true(value.to_str()?)?,
            None => false,
        };
        if is_without {
            return Some(Vec::new());
        }
        if let Some(place) = self.variable("GIT_CONFIG_SYSTEM").map(PathBuf::from) {
            return place.is_absolute().then(|| vec![place]);
        }
        let files = machine
            .iter()
            .map(|place| Path::new(place).join("gitconfig"));
        Some(files.collect())
    }

    /// The files with settings of the person, the stronger later.
    fn of_person(&self, home: &Path, xdg: &Path) -> Option<Vec<PathBuf>> {
        match self.variable("GIT_CONFIG_GLOBAL").map(PathBuf::from) {
            Some(place) => place.is_absolute().then(|| vec![place]),
            None => Some(vec![xdg.join("config"), home.join(".gitconfig")]),
        }
    }
}

/// What is in a file, if there is one. None if that cannot be told.
#[expect(clippy::option_option, reason = "a doubt is not the same as nothing")]
pub(super) fn text(path: &Path) -> Option<Option<Vec<u8>>> {
    if path == Path::new("/dev/null") {
        return Some(None);
    }
    let file = tollgate_core::fs::read_regular(path, CAP).ok()?;
    Some(file.map(|file| file.bytes))
}

fn is_missing(path: &Path) -> bool {
    let found = path.symlink_metadata();
    found.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

/// Whether a repository is where git would look for it, and belongs to whoever asks; about others
/// git has rules of its own.
pub(super) fn is_ours(repository: &Repository, root: &Path) -> Option<()> {
    let Repository {
        work_tree,
        git_dir,
        common_dir,
    } = repository;
    let us = rustix::process::geteuid().as_raw();
    let dot_git = work_tree.join(".git");
    let mut places = vec![work_tree, &dot_git];
    if *git_dir != dot_git {
        places.push(git_dir);
    }
    for place in places {
        let found = place.symlink_metadata().ok()?;
        if found.uid() != us || found.is_symlink() {
            return None;
        }
    }
    common_dir
        .join("refs")
        .metadata()
        .ok()?
        .is_dir()
        .then_some(())?;
    if root != work_tree {
        // git goes up by the real directories, and not beyond a file system.
        let is_real = |path: &Path| path.canonicalize().ok().is_some_and(|real| real == path);
        let device = |path: &Path| path.metadata().ok().map(|found| found.dev());
        let is_below = is_real(root) && device(root) == device(work_tree);
        is_below.then_some(())?;
    }
    Some(())
}
