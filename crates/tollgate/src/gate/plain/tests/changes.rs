//! What people and agents do in a work tree, thrown with dice.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{Ground, put};

/// Numbers that look random, and are the same again for the same seed.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.0;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((number ^ (number >> 31)) % sides as u64).unwrap()
    }

    pub(super) fn is(&mut self, percent: usize) -> bool {
        self.roll(100) < percent
    }

    pub(super) fn pick<'p>(&mut self, from: &[&'p str]) -> &'p str {
        from[self.roll(from.len())]
    }
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

pub(super) fn rules(dice: &mut Dice) -> String {
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
    if dice.is(2) {
        return OsStr::from_bytes(b"no text: \xff").into();
    }
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
pub(super) fn clear(path: &Path) {
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

/// As if the files were written so many hours ago, some of them. Never twice at the same time, by
/// which git would take one for the other.
pub(super) fn age(dice: &mut Dice, top: &Path, hours: u64) {
    for file in files(top) {
        let path = top.join(file);
        let is_file = path.symlink_metadata().unwrap().is_file();
        if is_file && dice.is(80) {
            let then = SystemTime::now() - Duration::from_hours(hours);
            // Whoever may not write it leaves it as it is.
            if let Ok(file) = std::fs::File::open(&path) {
                file.set_modified(then).unwrap();
            }
        }
    }
}

/// Changes one thing, as people and agents do.
pub(super) fn change(dice: &mut Dice, ground: &Ground, has_set_back: &mut bool) {
    let top = ground.top();
    let at = some_file(dice, top);
    let full = top.join(&at);
    let parent = at.parent().unwrap().to_owned();
    match dice.roll(16) {
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
                let inside = full.join(dice.pick(&["in", "in2"]));
                clear(&inside);
                put(&inside, b"in\n");
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
            ground.tries(&["rm", "-q", "-r", "--cached", "--", &at.to_string_lossy()]);
        }
        13 => {
            make(top, &parent);
            if full.symlink_metadata().is_err() {
                let mode = rustix::fs::Mode::from(0o644);
                rustix::fs::mknodat(rustix::fs::CWD, &full, rustix::fs::FileType::Fifo, mode, 0)
                    .unwrap();
            }
        }
        9.. => {
            let flag = dice.pick(&["-f", "-A", "-u"]);
            ground.tries(&[
                "--literal-pathspecs",
                "add",
                flag,
                "--",
                &at.to_string_lossy(),
            ]);
        }
    }
}
