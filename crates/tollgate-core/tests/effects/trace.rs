//! What strace says happened: files that were opened, made, changed and removed, and programs that
//! were started.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What was done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Did {
    Read,
    Write,
    Delete,
}

/// One use of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Use {
    pub(crate) did: Did,
    pub(crate) path: String,
    /// The program that did it, behind those that started it and do more than that.
    pub(crate) by: String,
}

/// A program that was started, and by which.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Start {
    pub(crate) program: String,
    pub(crate) by: String,
}

#[derive(Default)]
pub(crate) struct Trace {
    pub(crate) uses: BTreeSet<Use>,
    pub(crate) starts: Vec<Start>,
}

/// Programs that do nothing but start others.
pub(crate) const STARTERS: &str =
    "bash sh dash timeout env nice nohup xargs find setsid stdbuf time script.sh go.sh";

pub(crate) fn has(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == name)
}

/// The outermost programs, which the test itself starts: `timeout` and `bash`.
const OWN: usize = 2;

impl Trace {
    /// Reads the files that `strace -ff -y` wrote, one for each process, whose first began in `cwd`.
    pub(crate) fn read(dir: &Path, cwd: &str) -> Self {
        let mut texts = BTreeMap::new();
        for entry in std::fs::read_dir(dir).unwrap().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let text = String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()).into_owned();
            texts.insert(name.rsplit('.').next().unwrap().to_owned(), text);
        }
        let children: BTreeSet<&str> = texts
            .values()
            .flat_map(|text| text.lines().filter_map(Call::parse))
            .filter_map(|call| call.child())
            .collect();
        let root = texts.keys().find(|pid| !children.contains(pid.as_str()));
        let mut trace = Self::default();
        if let Some(root) = root {
            trace.process(root, cwd.to_owned(), String::new(), &texts);
        }
        trace.starts.drain(..OWN.min(trace.starts.len()));
        trace
    }

    fn process(
        &mut self,
        pid: &str,
        mut cwd: String,
        mut program: String,
        texts: &BTreeMap<String, String>,
    ) {
        let Some(text) = texts.get(pid) else { return };
        for call in text.lines().filter_map(Call::parse) {
            if let Some(child) = call.child() {
                self.process(child, cwd.clone(), program.clone(), texts);
            }
            let at = |index: usize| call.path(index, &cwd);
            let uses: Vec<(Did, Option<String>)> = match call.name {
                "execve" => {
                    let started = call.text(0).unwrap_or_default();
                    let started = started.rsplit('/').next().unwrap_or_default().to_owned();
                    // What a program starts through a shell is started by the program.
                    let image = if program.is_empty() || has(STARTERS, &program) {
                        started.clone()
                    } else {
                        format!("{program} {started}")
                    };
                    self.starts.push(Start {
                        program: started,
                        by: std::mem::replace(&mut program, image),
                    });
                    continue;
                }
                "chdir" => {
                    cwd = at(0).unwrap_or(cwd);
                    continue;
                }
                "fchdir" => {
                    cwd = call.descriptor(0).unwrap_or(cwd);
                    continue;
                }
                "open" | "creat" | "openat" | "openat2" => {
                    let index = usize::from(call.name.starts_with("openat"));
                    let flags = call.args.get(index + 1).copied().unwrap_or_default();
                    let writes = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"];
                    let did =
                        if call.name == "creat" || writes.iter().any(|flag| flags.contains(flag)) {
                            Did::Write
                        } else if flags.contains("O_DIRECTORY") || flags.contains("O_PATH") {
                            continue;
                        } else {
                            Did::Read
                        };
                    vec![(did, call.place(index, &cwd))]
                }
                "unlink" | "rmdir" => vec![(Did::Delete, at(0))],
                "unlinkat" => vec![(Did::Delete, call.place(1, &cwd))],
                "rename" => vec![(Did::Delete, at(0)), (Did::Write, at(1))],
                "renameat" | "renameat2" => vec![
                    (Did::Delete, call.place(1, &cwd)),
                    (Did::Write, call.place(3, &cwd)),
                ],
                "mkdir" | "truncate" | "chmod" | "chown" | "lchown" | "utime" | "utimes"
                | "mknod" => {
                    vec![(Did::Write, at(0))]
                }
                "mkdirat" | "fchmodat" | "fchownat" | "mknodat" | "futimesat" => {
                    vec![(Did::Write, call.place(1, &cwd))]
                }
                // `touch` changes the times of what it has opened.
                "utimensat" => match call.text(1) {
                    Some(_) => vec![(Did::Write, call.place(1, &cwd))],
                    None => vec![(Did::Write, call.descriptor(0))],
                },
                "link" | "symlink" => vec![(Did::Write, at(1))],
                "linkat" => vec![(Did::Write, call.place(3, &cwd))],
                "symlinkat" => vec![(Did::Write, call.place(2, &cwd))],
                "fchmod" | "fchown" | "ftruncate" => vec![(Did::Write, call.descriptor(0))],
                _ => continue,
            };
            for (did, path) in uses {
                self.uses.extend(path.map(|path| Use {
                    did,
                    path,
                    by: program.clone(),
                }));
            }
        }
    }
}

/// One line of strace: a call that succeeded.
struct Call<'t> {
    name: &'t str,
    args: Vec<&'t str>,
    result: &'t str,
}

impl<'t> Call<'t> {
    fn parse(line: &'t str) -> Option<Self> {
        let (name, rest) = line.split_once('(')?;
        let (inside, result) = rest.rsplit_once(" = ")?;
        let inside = inside.trim_end().strip_suffix(')')?;
        if result.starts_with("-1") || result.starts_with('?') {
            return None;
        }
        Some(Self {
            name,
            args: split(inside),
            result,
        })
    }

    /// The process that it made.
    fn child(&self) -> Option<&'t str> {
        let makes = matches!(self.name, "clone" | "clone3" | "fork" | "vfork");
        let pid = self.result.split([' ', '<']).next()?;
        makes.then_some(pid)
    }

    /// An argument that is a text.
    fn text(&self, index: usize) -> Option<String> {
        let quoted = self.args.get(index)?.strip_prefix('"')?;
        Some(unescape(quoted.strip_suffix('"')?))
    }

    /// What a descriptor stands for.
    fn descriptor(&self, index: usize) -> Option<String> {
        let (_, path) = self.args.get(index)?.split_once('<')?;
        Some(unescape(path.strip_suffix('>')?))
    }

    /// A path below the working directory.
    fn path(&self, index: usize, cwd: &str) -> Option<String> {
        Some(join(cwd, &self.text(index)?))
    }

    /// A path below the directory that the argument before it is.
    fn place(&self, index: usize, cwd: &str) -> Option<String> {
        let dir = index
            .checked_sub(1)
            .and_then(|before| self.descriptor(before));
        self.path(index, dir.as_deref().unwrap_or(cwd))
    }
}

/// The arguments, cut at the commas outside of quotes and brackets.
fn split(text: &str) -> Vec<&str> {
    let mut args = Vec::new();
    let (mut start, mut depth, mut quoted, mut escaped) = (0, 0_i32, false, false);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '[' | '{' | '(' | '<' => depth += 1,
            ']' | '}' | ')' | '>' => depth -= 1,
            ',' if depth == 0 => {
                args.push(text.get(start..at).unwrap().trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    args.push(text.get(start..).unwrap().trim());
    args
}

fn unescape(text: &str) -> String {
    text.replace("\\\"", "\"").replace("\\\\", "\\")
}

/// Joined and cleaned as text.
fn join(dir: &str, path: &str) -> String {
    let whole = Path::new(dir).join(path);
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.to_str().unwrap().split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

#[test]
fn lines_of_strace_are_read() {
    let call =
        Call::parse("openat(AT_FDCWD</w>, \"a, b\", O_RDONLY|O_CLOEXEC) = 3</w/a, b>").unwrap();
    assert_eq!((call.name, call.args.len()), ("openat", 3));
    assert_eq!(call.place(1, "/other").as_deref(), Some("/w/a, b"));
    assert!(Call::parse("unlink(\"x\") = -1 ENOENT (No such file or directory)").is_none());
    let call =
        Call::parse("clone(child_stack=NULL, flags=SIGCHLD, child_tidptr=0x7f) = 42").unwrap();
    assert_eq!(call.child(), Some("42"));
}
