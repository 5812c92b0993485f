//! The answers without git held against git's own: in random repositories, with every kind of
//! change, rule and name.

mod changes;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::Command;

use super::*;
use changes::{Dice, age, change, clear, rules};

/// What is left out of every tree here.
const LOGS: &str = "logs";

/// What git is told about the files that it has seen before.
#[derive(Clone, Copy)]
enum Knowledge {
    Own,
    None,
}

/// A repository, and a home without settings.
struct Ground {
    dir: tempfile::TempDir,
    home: tempfile::TempDir,
}

impl Ground {
    fn new() -> Self {
        let ground = Self {
            dir: tempfile::tempdir().unwrap(),
            home: tempfile::tempdir().unwrap(),
        };
        ground.git(&["init", "-q", "-b", "main", "--template="]);
        ground
    }

    fn top(&self) -> &Path {
        self.dir.path()
    }

    fn variables(&self) -> Vec<(OsString, OsString)> {
        let path = std::env::vars_os()
            .find(|(name, _)| name == "PATH")
            .unwrap();
        let home = self.home.path().as_os_str().to_owned();
        vec![
            path,
            ("HOME".into(), home),
            ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
        ]
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("git");
        command
            .args(["-c", "user.name=x", "-c", "user.email=x@example.org"])
            .args(["-c", "core.quotePath=false"])
            .args(args)
            .current_dir(self.top())
            .env_clear()
            .envs(self.variables());
        command
    }

    #[track_caller]
    fn git(&self, args: &[&str]) -> Vec<u8> {
        said(&mut self.command(args))
    }

    /// Whether git says yes.
    fn tries(&self, args: &[&str]) -> bool {
        self.command(args).output().unwrap().status.success()
    }

    fn put(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.top().join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).unwrap();
        }
        put(&path, text.as_ref());
        path
    }

    fn opened(&self) -> Git {
        Git::at(self.top()).unwrap()
    }

    fn plain(&self) -> Option<Plain> {
        let around = Surroundings::of(self.variables().into_iter());
        Plain::take_in(&self.opened(), Some(Path::new(LOGS)), &around)
    }

    /// The tree that git writes.
    fn tree_by_git(&self, index: Knowledge) -> String {
        let own = self.top().join(".git/index");
        let other = self.home.path().join("index");
        let _none = std::fs::remove_file(&other);
        match index {
            Knowledge::Own if own.exists() => {
                std::fs::copy(&own, &other).unwrap();
                let written = own.metadata().unwrap().modified().unwrap();
                let file = std::fs::File::options().write(true).open(&other).unwrap();
                file.set_modified(written).unwrap();
            }
            Knowledge::Own => {}
            Knowledge::None => {
                let list = self.home.path().join("list");
                put(&list, &self.git(&["ls-files", "-s", "-z"]));
                let mut command = self.command(&["update-index", "-z", "--index-info"]);
                command.stdin(std::fs::File::open(&list).unwrap());
                said(command.env("GIT_INDEX_FILE", &other));
            }
        }
        let besides = format!(":(top,exclude,literal){LOGS}");
        let add = ["add", "--all", "--ignore-errors", "--", ":/", &besides];
        let added = self
            .command(&add)
            .env("GIT_INDEX_FILE", &other)
            .output()
            .unwrap();
        // With 1 git says that the logs are ignored.
        assert!(matches!(added.status.code(), Some(0 | 1)), "{added:?}");
        let tree = said(self.command(&["write-tree"]).env("GIT_INDEX_FILE", &other));
        String::from_utf8(tree).unwrap().trim().to_owned()
    }

    fn differing_by_git(&self, base: &str, tree: &str) -> BTreeSet<String> {
        let args = [
            "diff-tree",
            "-r",
            "-z",
            "--name-only",
            "--no-renames",
            base,
            tree,
        ];
        let paths = self.git(&args);
        let paths = paths
            .split(|byte| *byte == 0)
            .filter(|path| !path.is_empty());
        paths
            .map(|path| String::from_utf8_lossy(path).into_owned())
            .collect()
    }

    fn head(&self, spec: &str) -> Option<String> {
        let output = self
            .command(&["rev-parse", "-q", "--verify", spec])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        output.status.success().then(|| text.trim().to_owned())
    }

    /// Everything that a person has: the index, and all files with their times.
    fn belongings(&self) -> Vec<(PathBuf, Vec<u8>, (i64, i64))> {
        let mut all = Vec::new();
        let mut places = vec![self.top().to_owned()];
        while let Some(place) = places.pop() {
            for entry in std::fs::read_dir(&place).unwrap() {
                let path = entry.unwrap().path();
                let found = path.symlink_metadata().unwrap();
                if found.is_dir() && path.file_name().unwrap() != "objects" {
                    places.push(path.clone());
                }
                let content = if found.is_file() {
                    std::fs::read(&path).unwrap()
                } else {
                    Vec::new()
                };
                all.push((path, content, (found.mtime(), found.mtime_nsec())));
            }
        }
        all.retain(|(path, ..)| !path.ends_with("objects"));
        all.sort();
        all
    }
}

#[expect(clippy::disallowed_methods, reason = "a fixture, not state")]
fn put(path: &Path, text: &[u8]) {
    std::fs::write(path, text).unwrap();
}

#[track_caller]
fn said(command: &mut Command) -> Vec<u8> {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?} {output:?}");
    output.stdout
}

/// One random repository. Says whether it was plain.
fn play(seed: u64) -> bool {
    let dice = &mut Dice(seed.wrapping_mul(0x5851_f42d_4c95_7f2d));
    let ground = Ground::new();
    let has_set_back = &mut false;
    if dice.is(30) {
        ground.put(".git/info/exclude", rules(dice));
    }
    if dice.is(30) {
        let place = ground.home.path().join(".config/git");
        std::fs::create_dir_all(&place).unwrap();
        put(&place.join("ignore"), rules(dice).as_bytes());
    }
    for round in 0..dice.roll(3) {
        for _ in 0..dice.roll(25) {
            change(dice, &ground, has_set_back);
        }
        if dice.is(80) {
            age(dice, ground.top(), 9 - round as u64);
        }
        if dice.is(90) {
            ground.tries(&["add", "-A"]);
        }
        if dice.is(80) {
            ground.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
        }
    }
    match dice.roll(8) {
        0 => drop(ground.git(&["gc", "-q"])),
        1 => drop(ground.git(&[
            "repack",
            "-q",
            "-a",
            "-d",
            "-f",
            "--depth=50",
            "--window=50",
        ])),
        2 => drop(ground.git(&[
            "-c",
            "repack.useDeltaBaseOffset=false",
            "repack",
            "-q",
            "-d",
        ])),
        _ => {}
    }
    for _ in 0..dice.roll(10) {
        change(dice, &ground, has_set_back);
    }
    let base = ground.head(dice.pick(&["HEAD", "HEAD~1", "HEAD^{tree}"]));
    let before = ground.belongings();
    let Some(plain) = ground.plain() else {
        // It must be a rule of which nobody knows.
        return false;
    };
    let git = ground.opened();
    let unwritten = plain.tree();
    let since = base.as_deref().map(|base| plain.since(&git, base));
    unwritten.write().unwrap();
    assert_eq!(before, ground.belongings(), "{seed}");
    let name = &unwritten.name;
    if dice.is(30) {
        let said = ground.git(&["fsck", "--no-dangling", "--no-progress", "--strict", name]);
        assert_eq!(String::from_utf8_lossy(&said), "", "{seed}");
    }
    let listed = ground.git(&["ls-tree", "-r", "-z", name]);
    // Only seconds tell git whether a file changed; where somebody set them back, it has to look.
    let by_git = [Knowledge::Own, Knowledge::None].map(|index| ground.tree_by_git(index));
    if !by_git.contains(name) || (by_git[0] != *name && !*has_set_back) {
        let [expected, _] = by_git;
        let expected = ground.git(&["ls-tree", "-r", "-z", &expected]);
        let lines = |text: &[u8]| String::from_utf8_lossy(text).replace('\0', "\n");
        panic!("{seed}: {}\n-- git:\n{}", lines(&listed), lines(&expected));
    }
    if let (Some(base), Some(since)) = (base, since) {
        let since = since.unwrap_or_else(|| panic!("{seed}: {base} cannot be read"));
        let since: BTreeSet<String> = since.into_iter().collect();
        assert_eq!(since, ground.differing_by_git(&base, name), "{seed}");
    }
    assert_eq!(plain.moved(&git), Moved::No, "{seed}");
    moves(dice, &ground, &plain, seed);
    true
}

/// Changes one of the files that were seen; that must be noticed.
fn moves(dice: &mut Dice, ground: &Ground, plain: &Plain, seed: u64) {
    let listed = ground.git(&["ls-tree", "-r", "-z", "--name-only", &plain.unwritten.name]);
    let names: Vec<&[u8]> = listed
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
        .collect();
    if names.is_empty() {
        return;
    }
    let name = OsString::from_vec(names[dice.roll(names.len())].to_vec());
    let path = ground.top().join(&name);
    let found = path.symlink_metadata().unwrap();
    match dice.roll(4) {
        0 => clear(&path),
        1 if found.is_file() => {
            let mode = found.mode() ^ 0o100;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        2 if found.is_file() && found.len() > 0 => {
            let mut text = std::fs::read(&path).unwrap();
            text[0] ^= 1;
            put(&path, &text);
            let file = std::fs::File::open(&path).unwrap();
            file.set_modified(found.modified().unwrap()).unwrap();
        }
        _ => {
            clear(&path);
            symlink("elsewhere now", &path).unwrap();
        }
    }
    assert_eq!(plain.moved(&ground.opened()), Moved::Yes, "{seed} {name:?}");
}

/// What would take without end here is git's, which is ended when it takes too long.
#[test]
fn what_is_made_to_take_long_is_left_to_git() {
    let ground = Ground::new();
    ground.put(format!("{}a", "a/".repeat(60)), "");
    let doubts = |rules: &str| {
        ground.put(".gitignore", rules);
        ground.plain().is_none()
    };
    assert!(!doubts("**/*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a/**/b\n"));
    assert!(doubts(&format!("{}b\n", "**/".repeat(40))));
    assert!(doubts(&"b\n".repeat(3_000)));
    // Each of these trees has ten entries, which are all the same one.
    ground.put(".gitignore", "a\n");
    ground.put("one", "1");
    ground.git(&["add", "one"]);
    let mut tree = String::from_utf8(ground.git(&["write-tree"])).unwrap();
    for _ in 0..12 {
        let list = (0..10).map(|name| format!("040000 tree {}\t{name}\n", tree.trim()));
        let list = list.collect::<Vec<_>>().concat();
        put(&ground.home.path().join("list"), list.as_bytes());
        let mut command = ground.command(&["mktree"]);
        command.stdin(std::fs::File::open(ground.home.path().join("list")).unwrap());
        tree = String::from_utf8(said(&mut command)).unwrap();
    }
    let plain = ground.plain().unwrap();
    assert_eq!(plain.since(&ground.opened(), tree.trim()), None);
}

/// `TOLLGATE_PLAIN=20000:5` plays so many, from this seed on.
#[test]
fn in_random_repositories_the_answer_is_gits_own() {
    let asked = std::env::vars_os().find(|(name, _)| name == "TOLLGATE_PLAIN");
    let asked = asked.map(|(_, value)| value.into_string().unwrap());
    let (count, first) = match asked.as_deref().map(|asked| asked.split_once(':')) {
        Some(Some((count, first))) => (count.parse().unwrap(), first.parse().unwrap()),
        Some(None) | None => (120, 1),
    };
    let mut plain = 0;
    for seed in first..first + count {
        plain += u64::from(play(seed));
    }
    println!("{plain} of {count} were plain");
    // A test that always asks git says nothing.
    assert!(plain * 10 >= count * 6, "{plain} of {count}");
}
