//! Files opened by redirections, and the texts of files that the command itself writes.

use super::effects::Args;
use super::sed::Sed;
use super::syntax::{HOLE, Redirect as RawRedirect, RedirectOp};
use super::walk::{Call, Io, Scope, Walker};
use super::word::Word;
use super::{Mode, Redirect, join, program_name};

impl Walker<'_> {
    pub(crate) fn remember_stream(&mut self, text: String) -> String {
        let path = format!("/dev/fd/{}", self.streams);
        self.streams += 1;
        self.remember_file(path.clone(), text);
        path
    }

    pub(crate) fn remember_file(&mut self, path: String, text: String) {
        if let Some((_, known)) = self.files.iter_mut().find(|(known, _)| *known == path) {
            *known = text;
        } else if self.files.len() < 64 {
            self.files.push((path, text));
        }
    }

    /// Expands redirections: the files they open, and the text they supply.
    pub(crate) fn redirects(
        &mut self,
        raw: &[RawRedirect],
        scope: &mut Scope,
        io: &mut Io,
    ) -> Vec<Redirect> {
        let mut redirects = Vec::new();
        for redirect in raw {
            let stdin = redirect.fd.unwrap_or(0) == 0;
            let mode = match redirect.op {
                RedirectOp::HereString => {
                    let mut text = self.text(&redirect.target, scope);
                    text.push('\n');
                    self.supply(redirect.fd, text, io);
                    continue;
                }
                RedirectOp::HereDoc => {
                    let body = redirect.body.as_ref().map(|body| body.borrow().clone());
                    let text = self.text(&body.unwrap_or_default(), scope);
                    self.supply(redirect.fd, text, io);
                    continue;
                }
                RedirectOp::DupIn => {
                    let target = self.target(&redirect.target, scope);
                    let known = self.file_text(&format!("/dev/fd/{}", target.raw()), None);
                    if stdin && known.is_some() {
                        io.input = known.map(Into::into);
                    }
                    continue;
                }
                RedirectOp::DupOut => {
                    let target = self.target(&redirect.target, scope);
                    // `>&2` and `>&-` name descriptors; `>&file` is `&>file`.
                    let name = target.raw();
                    let fd = name
                        .trim_end_matches('-')
                        .bytes()
                        .all(|byte| byte.is_ascii_digit());
                    if !fd && redirect.fd.is_none() && !target.has_holes() {
                        redirects.push(Redirect {
                            mode: Mode::Write,
                            target,
                        });
                    }
                    continue;
                }
                RedirectOp::Read => Mode::Read,
                RedirectOp::Write
                | RedirectOp::Append
                | RedirectOp::ReadWrite
                | RedirectOp::Both
                | RedirectOp::BothAppend => Mode::Write,
            };
            let target = self.target(&redirect.target, scope);
            if mode == Mode::Read && stdin {
                io.input = target
                    .literal()
                    .filter(|name| *name != "/dev/stdin")
                    .and_then(|name| self.file_text(name, scope.dir.as_deref()))
                    .map(Into::into)
                    .or_else(|| Some(String::from(HOLE).into()));
            }
            redirects.push(Redirect { mode, target });
        }
        redirects
    }

    /// Puts a text on standard input, or on another descriptor, which has a name as a file.
    fn supply(&mut self, fd: Option<u32>, text: String, io: &mut Io) {
        match fd.unwrap_or(0) {
            0 => io.input = Some(text.into()),
            fd => self.remember_file(format!("/dev/fd/{fd}"), text),
        }
    }

    /// Remembers what a command makes of a text that is known: `tee file`, `cp from to`. A copy of
    /// git, or a link to it, is git.
    pub(crate) fn note_copied(&mut self, name: &str, call: &Call) {
        let Some(dir) = call.dir.as_deref() else {
            return;
        };
        let valued = if name == "install" { "gmotS" } else { "tS" };
        let args = Args::read(call.words.get(1..).unwrap_or_default(), valued, &["mode"]);
        let operands: Vec<&str> = args.operands.iter().filter_map(Word::literal).collect();
        let (text, to) = match (name, operands.as_slice()) {
            ("tee", to) => (call.io.input.as_deref().map(str::to_owned), to),
            (_, ["/dev/stdin", to]) => (
                call.io.input.as_deref().map(str::to_owned),
                std::slice::from_ref(to),
            ),
            (_, [from, to]) => {
                let known = self.file_text(from, Some(dir));
                let git = || (program_name(from) == Some("git")).then(|| "git \"$@\"".to_owned());
                (known.or_else(git), std::slice::from_ref(to))
            }
            _ => return,
        };
        // What it holds now is not what lies there.
        let text = text.unwrap_or_else(|| String::from(HOLE));
        for name in to {
            self.remember_file(join(dir, name), text.clone());
        }
        // Into a directory.
        if let (true, [from, to]) = (name != "tee", operands.as_slice()) {
            let base = from.rsplit('/').next().unwrap_or_default();
            self.remember_file(join(dir, &format!("{to}/{base}")), text);
        }
    }

    /// Remembers that files are gone or empty: `rm file`, `mv file elsewhere`, `truncate -s 0 file`.
    pub(crate) fn note_gone(&mut self, call: &Call) {
        let Some(dir) = call.dir.as_deref().filter(|_| self.is_certain()) else {
            return;
        };
        let name = call.words.first().and_then(Word::literal);
        let name = name.and_then(program_name).unwrap_or_default();
        let valued = match name {
            "truncate" => "sro",
            "mv" => "tS",
            "shred" => "ns",
            _ => "",
        };
        let args = Args::read(call.words.get(1..).unwrap_or_default(), valued, &["size"]);
        let kept = match name {
            // Only what comes first is moved.
            "mv" => args.operands.len().saturating_sub(1),
            "truncate" if args.value(&["s", "size"]).map(Word::raw) != Some("0") => 0,
            _ => args.operands.len(),
        };
        for path in args.operands.iter().take(kept).filter_map(Word::literal) {
            let path = join(dir, path);
            // So that the file is not looked for.
            self.remember_file(path.clone(), String::new());
            for (known, text) in &mut self.files {
                let below = known.strip_prefix(path.as_str());
                if below.is_some_and(|below| below.is_empty() || below.starts_with('/')) {
                    text.clear();
                }
            }
        }
    }

    /// Remembers that `sed -i` makes something else of files whose texts were known.
    pub(crate) fn note_edited(&mut self, call: &Call) {
        let sed = Sed::read(call.words.get(1..).unwrap_or_default());
        let Some(dir) = call.dir.as_deref().filter(|_| sed.in_place) else {
            return;
        };
        for name in sed.operands.iter().filter_map(Word::literal) {
            if self.file_text(name, Some(dir)).is_some() {
                self.remember_file(join(dir, name), String::from(HOLE));
            }
        }
    }

    /// The text of a file of this name in whatever directory.
    pub(crate) fn file_named(&self, name: &str) -> Option<String> {
        let named = |path: &str| path.rsplit('/').next() == Some(name);
        let found = self.files.iter().rev().find(|(path, _)| named(path));
        found.map(|(_, text)| text.clone())
    }

    /// The text of a file, when this very command wrote it.
    pub(crate) fn file_text(&self, name: &str, dir: Option<&str>) -> Option<String> {
        let path = if name.starts_with('/') {
            join("/", name)
        } else {
            join(dir?, name)
        };
        self.files
            .iter()
            .rev()
            .find(|(file, _)| *file == path)
            .map(|(_, text)| text.clone())
    }

    pub(crate) fn note_written(
        &mut self,
        redirects: &[Redirect],
        appends: bool,
        output: &str,
        scope: &Scope,
    ) {
        let written = redirects
            .iter()
            .find(|redirect| redirect.mode == Mode::Write);
        if let Some(name) = written.and_then(|redirect| redirect.target.literal())
            && let Some(dir) = scope.dir.as_deref()
            && !name.starts_with("/dev/")
        {
            let path = join(dir, name);
            let before = appends.then(|| self.file_text(&path, None)).flatten();
            let mut text = before.unwrap_or_default();
            text.push_str(output);
            if text.len() > 64 * 1024 {
                text = String::from(HOLE);
            }
            self.remember_file(path, text);
        }
    }
}

/// Whether a redirection adds to its file.
pub(crate) fn appends(redirect: &RawRedirect) -> bool {
    matches!(redirect.op, RedirectOp::Append | RedirectOp::BothAppend)
}

/// Whether a redirection takes standard output elsewhere.
pub(crate) fn is_stdout(redirect: &RawRedirect) -> bool {
    match redirect.op {
        RedirectOp::Write | RedirectOp::Append => redirect.fd.unwrap_or(1) == 1,
        RedirectOp::Both | RedirectOp::BothAppend => true,
        RedirectOp::Read
        | RedirectOp::ReadWrite
        | RedirectOp::DupIn
        | RedirectOp::DupOut
        | RedirectOp::HereString
        | RedirectOp::HereDoc => false,
    }
}
