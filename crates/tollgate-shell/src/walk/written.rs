//! The texts of files that the command itself writes.

use super::{Call, MAX_TEXT};
use crate::args::{Args, edited_by_sed};
use crate::path::{is_device, join};
use crate::run::{Mode, Redirect, program_name};
use crate::syntax::{Redirect as RawRedirect, RedirectOp};
use crate::word::{Word, hole};

/// More files than this are not remembered.
const MAX_FILES: usize = 64;

/// Files by their absolute paths, and the texts of `<(…)` under the names that they get.
#[derive(Default)]
pub(super) struct Written {
    files: Vec<(String, String)>,
    streams: u32,
}

impl Written {
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The files, without what only this command can open.
    pub(super) fn into_files(mut self) -> Vec<(String, String)> {
        self.files.retain(|(path, _)| !is_device(path));
        self.files
    }

    /// Gives a text a name as a file.
    pub(super) fn stream(&mut self, text: String) -> String {
        let path = format!("/dev/fd/{}", 63 + self.streams);
        self.streams += 1;
        self.put(path.clone(), text);
        path
    }

    fn put(&mut self, path: String, text: String) {
        if let Some((_, known)) = self.files.iter_mut().find(|(known, _)| *known == path) {
            *known = text;
        } else if self.files.len() < MAX_FILES {
            self.files.push((path, text));
        }
    }

    /// The text of a file, when this very command wrote it.
    pub(super) fn text(&self, name: &str, dir: Option<&str>) -> Option<String> {
        if self.files.is_empty() {
            return None;
        }
        let dir = dir.or_else(|| name.starts_with('/').then_some("/"))?;
        let path = join(dir, name);
        let found = self.files.iter().rev().find(|(file, _)| *file == path);
        found.map(|(_, text)| text.clone())
    }

    /// The text of a file of this name in whatever directory.
    pub(super) fn named(&self, name: &str) -> Option<String> {
        let named = |path: &str| path.rsplit('/').next() == Some(name);
        let found = self.files.iter().rev().find(|(path, _)| named(path));
        found.map(|(_, text)| text.clone())
    }

    /// The text of the script file that an interpreter is given.
    pub(super) fn script(&self, words: &[Word], dir: Option<&str>) -> Option<Word> {
        let operand = words.iter().skip(1).find(|word| !word.starts_with("-"))?;
        self.text(operand.literal()?, dir).map(Word::new)
    }

    /// Remembers what a command makes of a text that is known: `tee file`, `cp from to`. A copy of
    /// git, or a link to it, is git.
    pub(super) fn note_copied(&mut self, name: &str, call: &Call) {
        let Some(dir) = call.dir.as_deref() else {
            return;
        };
        let valued = if name == "install" { "gmotS" } else { "tS" };
        let args = Args::read(call.args(), valued, &["mode"]);
        let operands: Vec<&str> = args.operands.iter().filter_map(Word::literal).collect();
        let (text, to) = match (name, operands.as_slice()) {
            ("tee", to) => (Some(call.io.text()), to),
            (_, ["/dev/stdin", to]) => (Some(call.io.text()), std::slice::from_ref(to)),
            (_, [from, to]) => {
                let known = self.text(from, Some(dir));
                let git = || (program_name(from) == Some("git")).then(|| "git \"$@\"".to_owned());
                (known.or_else(git), std::slice::from_ref(to))
            }
            _ => return,
        };
        // What it holds now is not what lies there.
        let text = text.unwrap_or_else(hole);
        for name in to {
            self.put(join(dir, name), text.clone());
        }
        // Into a directory.
        if let (true, [from, to]) = (name != "tee", operands.as_slice()) {
            let base = from.rsplit('/').next().unwrap_or_default();
            self.put(join(dir, &format!("{to}/{base}")), text);
        }
    }

    /// Remembers that files are gone or empty: `rm file`, `mv file elsewhere`, `truncate -s 0 file`.
    pub(super) fn note_gone(&mut self, call: &Call) {
        let Some(dir) = call.dir.as_deref() else {
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
        let args = Args::read(call.args(), valued, &["size"]);
        let kept = match name {
            // Only what comes first is moved.
            "mv" => args.operands.len().saturating_sub(1),
            "truncate" if args.value(&["s", "size"]).map(Word::raw) != Some("0") => 0,
            _ => args.operands.len(),
        };
        for path in args.operands.iter().take(kept).filter_map(Word::literal) {
            let path = join(dir, path);
            // So that the file is not looked for.
            self.put(path.clone(), String::new());
            for (known, text) in &mut self.files {
                let below = known.strip_prefix(path.as_str());
                if below.is_some_and(|below| below.is_empty() || below.starts_with('/')) {
                    text.clear();
                }
            }
        }
    }

    /// Remembers that `sed -i` makes something else of files whose texts were known.
    pub(super) fn note_edited(&mut self, call: &Call) {
        let Some(dir) = call.dir.as_deref() else {
            return;
        };
        for name in edited_by_sed(call.args()).iter().filter_map(Word::literal) {
            if self.text(name, Some(dir)).is_some() {
                self.put(join(dir, name), hole());
            }
        }
    }

    /// Remembers what a command prints into a file.
    pub(super) fn note_output(
        &mut self,
        redirects: &[Redirect],
        appends: bool,
        output: &str,
        dir: Option<&str>,
    ) {
        let mut files = redirects.iter().filter(|file| file.mode == Mode::Write);
        let name = files.next().and_then(|file| file.target.literal());
        if let (Some(name), Some(dir)) = (name, dir)
            && !is_device(name)
        {
            let path = join(dir, name);
            let before = appends.then(|| self.text(&path, None)).flatten();
            let mut text = before.unwrap_or_default();
            text.push_str(output);
            if text.len() > MAX_TEXT {
                text = hole();
            }
            self.put(path, text);
        }
    }
}

/// Whether a redirection adds to its file.
pub(super) fn appends(redirect: &RawRedirect) -> bool {
    matches!(redirect.op, RedirectOp::Append | RedirectOp::BothAppend)
}

/// Whether a redirection takes standard output elsewhere.
pub(super) fn is_stdout(redirect: &RawRedirect) -> bool {
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
