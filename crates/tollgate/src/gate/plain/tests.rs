//! The answers without git held against git's own: in random repositories, with every kind of
//! change, rule and name.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use super::*;

/// What is left out of every tree here.
const LOGS: &str = "logs";

/// Numbers that look random, and are the same again for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.0;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((number ^ (number >> 31)) % sides as u64).unwrap()
    }

    fn is(&mut self, percent: usize) -> bool {
        self.roll(100) < percent
    }

    fn pick<'p>(&mut self, from: &[&'p str]) -> &'p str {
        from[self.roll(from.len())]
    }
}

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

const NAMES: [&str; 30] = [
    "a",
    "b",
    "c",
    "d.txt",
    "e.o",
    "src",
    "lib",
    "build",
    "x y",
    "ü",
    "new\nline",
    "#hash",
    "!bang",
    "a.b",
    "a-b",
    "A",
    "-dash",
    "[x]",
    "*",
    "end ",
    ".dot",
    "ab",
    "abc",
    "b.txt",
    "foo",
    "bar",
    "foo.txt",
    "node",
    "logs",
    ".gitkeep",
];

const PIECES: [&str; 34] = [
    "a",
    "b",
    "c",
    "d",
    "ab",
    "*",
    "?",
    "**",
    "/",
    "/",
    "[ab]",
    "[!a]",
    "[^b-d]",
    "[[:alpha:]]",
    "[a-",
    "\\a",
    "\\*",
    "\\ ",
    "src",
    "lib",
    "foo",
    "bar",
    ".txt",
    ".o",
    "build",
    "x y",
    "ü",
    "*.",
    "#",
    "!",
    "-",
    "[]-a]",
    "[[:nope:]]",
    "\\",
];

const WHOLE: [&str; 32] = [
    "*.o", "*.txt", "build/", "/build", "src/", "/src/*", "!/src/a", "**/foo", "foo/**", "a/**/b",
    "**/b/", "!*.txt", "*", "!*/", "/*", "!src", "a?", "[a-c]", "foo", "!foo", "lib/*.o", "x y",
    "end\\ ", "end ", "\\#hash", "\\!bang", "#hash", "new", "/a", "a/b", "!a/b", "**",
];

/// A line of a file of rules.
fn rule(dice: &mut Dice) -> String {
    if dice.is(60) {
        return dice.pick(&WHOLE).to_owned();
    }
    let mut line = String::new();
    if dice.is(25) {
        line.push('!');
    }
    if dice.is(20) {
        line.push('/');
    }
    for _ in 0..=dice.roll(4) {
        line.push_str(dice.pick(&PIECES));
    }
    line.push_str(dice.pick(&["", "", "", "/", " ", "\t", "\r"]));
    line
}

fn rules(dice: &mut Dice) -> String {
    let mut text = String::from(dice.pick(&["", "", "", "\u{feff}"]));
    for _ in 0..=dice.roll(5) {
        text.push_str(&rule(dice));
        text.push('\n');
    }
    if dice.is(20) {
        text.push_str(&rule(dice));
    }
    text
}

fn path(dice: &mut Dice) -> PathBuf {
    let mut path = PathBuf::from(dice.pick(&NAMES));
    while dice.is(50) && path.components().count() < 5 {
        path.push(dice.pick(&NAMES));
    }
    path
}

fn content(dice: &mut Dice) -> Vec<u8> {
    match dice.roll(6) {
        0 => Vec::new(),
        1 => vec![b'x'; dice.roll(20_000)],
        2 => b"\r\n\0\xff".repeat(dice.roll(9)),
        _ => format!("{}\n", dice.roll(1000)).into_bytes(),
    }
}

/// Takes away what is there.
fn clear(path: &Path) {
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => std::fs::remove_dir_all(path).unwrap(),
        Ok(_) => std::fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
}

/// Makes sure that a directory is there, whatever stood in its place.
fn make(top: &Path, directory: &Path) {
    let mut path = top.to_owned();
    for part in directory.components() {
        path.push(part);
        if !path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            clear(&path);
            std::fs::create_dir(&path).unwrap();
        }
    }
}

/// All files and links besides git's, relative to the top.
fn files(top: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut places = vec![top.to_owned()];
    while let Some(place) = places.pop() {
        for entry in std::fs::read_dir(&place).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().unwrap() == ".git" {
                continue;
            }
            if path.symlink_metadata().unwrap().is_dir() {
                places.push(path);
            } else {
                files.push(path.strip_prefix(top).unwrap().to_owned());
            }
        }
    }
    files.sort();
    files
}

/// One of the files, or a new path.
fn some_file(dice: &mut Dice, top: &Path) -> PathBuf {
    let files = files(top);
    if files.is_empty() || dice.is(20) {
        return path(dice);
    }
    files[dice.roll(files.len())].clone()
}

/// As if the files were written long ago, some of them.
fn age(dice: &mut Dice, top: &Path) {
    for file in files(top) {
        let path = top.join(file);
        let is_file = path.symlink_metadata().unwrap().is_file();
        if is_file && dice.is(80) {
            let then = SystemTime::now() - Duration::from_secs(3600 + dice.roll(9) as u64);
            // Whoever may not write it leaves it as it is.
            if let Ok(file) = std::fs::File::open(&path) {
                file.set_modified(then).unwrap();
            }
        }
    }
}

/// Changes one thing, as people and agents do.
fn change(dice: &mut Dice, ground: &Ground, has_set_back: &mut bool) {
    let top = ground.top();
    let at = some_file(dice, top);
    let full = top.join(&at);
    let parent = at.parent().unwrap().to_owned();
    match dice.roll(14) {
        0..4 => {
            make(top, &parent);
            clear(&full);
            put(&full, &content(dice));
        }
        4 => clear(&full),
        5 => {
            // As many bytes as before, at the same time as before.
            if let Ok(found) = full.symlink_metadata()
                && found.is_file()
            {
                let mut text = std::fs::read(&full).unwrap();
                if let Some(byte) = text.first_mut() {
                    *byte = byte.wrapping_add(1);
                }
                put(&full, &text);
                if dice.is(50) {
                    let file = std::fs::File::open(&full).unwrap();
                    file.set_modified(found.modified().unwrap()).unwrap();
                    *has_set_back = true;
                }
            }
        }
        6 => {
            if full.symlink_metadata().is_ok_and(|found| found.is_file()) {
                let mode = [0o644, 0o755, 0o744, 0o611, 0o600][dice.roll(5)];
                std::fs::set_permissions(&full, std::fs::Permissions::from_mode(mode)).unwrap();
            }
        }
        7 => {
            make(top, &parent);
            clear(&full);
            symlink(dice.pick(&["a", "src", "nowhere", "../x", "/"]), &full).unwrap();
        }
        8 => {
            // A directory in the place of a file, or a file in the place of a directory.
            make(top, &at);
            if dice.is(70) {
                put(&full.join(dice.pick(&["in", "in2"])), b"in\n");
            }
        }
        9 if !parent.as_os_str().is_empty() => {
            clear(&top.join(&parent));
            if dice.is(50) {
                make(top, parent.parent().unwrap());
                put(&top.join(&parent), b"was a directory\n");
            }
        }
        10 => {
            let to = path(dice);
            make(top, to.parent().unwrap());
            let to = top.join(to);
            if full.symlink_metadata().is_ok_and(|found| found.is_file())
                && to.symlink_metadata().is_err()
            {
                tollgate_core::fs::relocate(&full, &to).unwrap();
            }
        }
        11 => {
            make(top, &parent);
            let place = top.join(&parent).join(".gitignore");
            clear(&place);
            put(&place, rules(dice).as_bytes());
        }
        12 => {
            ground.tries(&["rm", "-q", "-r", "--cached", "--", at.to_str().unwrap()]);
        }
        9.. => {
            let flag = dice.pick(&["-f", "-A", "-u"]);
            ground.tries(&[
                "--literal-pathspecs",
                "add",
                flag,
                "--",
                at.to_str().unwrap(),
            ]);
        }
    }
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
    for _ in 0..dice.roll(3) {
        for _ in 0..dice.roll(25) {
            change(dice, &ground, has_set_back);
        }
        if dice.is(80) {
            age(dice, ground.top());
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
