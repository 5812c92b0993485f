//! From a word as written to the words a command gets: braces, tilde, variables, splitting.

use super::parameter::{element, operate, plain_element, slice};
use super::scope::Scope;
use super::{Io, MAX_TEXT, Walker};
use crate::run::{Link, Mode, Redirect};
use crate::syntax::{Piece, RawWord, Redirect as RawRedirect, RedirectOp, VarOp};
use crate::word::{DEEP, HOLE, STAR, Word, activate, hole};

/// More alternatives than this are not written out.
const MAX_BRACES: usize = 64;
/// Braces in a longer word are not written out.
const MAX_BRACED: usize = 2048;

/// The words being built from one written word.
#[derive(Default)]
struct Fields {
    done: Vec<Word>,
    text: String,
    /// Whether the current field exists even if it is empty.
    started: bool,
    /// What splits a value, when the command sets `IFS`.
    separators: Option<String>,
    /// Globs stay plain letters and blanks do not split: an assignment, a quoted text.
    whole: bool,
    /// Globs cover hidden names as well.
    dotglob: bool,
}

impl Fields {
    fn quoted(&mut self, text: &str) {
        self.started = true;
        self.text.push_str(text);
    }

    fn bare(&mut self, text: &str) {
        self.started |= !text.is_empty();
        if self.whole {
            self.text.push_str(text);
        } else if text == "[" {
            // The program, not the start of a glob.
            self.text.push_str(text);
        } else if text.contains(['*', '?', '[', HOLE]) {
            let marks = text.chars().map(activate);
            self.text.extend(marks.map(|mark| match mark {
                STAR if self.dotglob => DEEP,
                mark => mark,
            }));
        } else {
            self.text.push_str(text);
        }
    }

    /// The value of a variable or a substitution.
    fn value(&mut self, value: &str, quoted: bool) {
        if quoted {
            self.quoted(value);
        } else {
            self.split(value);
        }
    }

    fn split(&mut self, value: &str) {
        if self.whole {
            self.quoted(value);
            return;
        }
        for letter in value.chars() {
            let cuts = match &self.separators {
                Some(separators) => separators.contains(letter),
                None => letter.is_ascii_whitespace(),
            };
            if cuts {
                self.cut();
            } else {
                self.started = true;
                self.text.push(activate(letter));
            }
        }
    }

    fn cut(&mut self) {
        if self.started {
            self.done.push(Word::new(std::mem::take(&mut self.text)));
            self.started = false;
        }
    }
}

/// Words being expanded in a scope: their values, and what runs on the way.
pub(super) struct Expansion<'w, 'a> {
    walker: &'w mut Walker<'a>,
    scope: &'w mut Scope,
}

impl<'a> Walker<'a> {
    /// Expands words in a scope.
    pub(super) fn expanding<'w>(&'w mut self, scope: &'w mut Scope) -> Expansion<'w, 'a> {
        Expansion {
            walker: self,
            scope,
        }
    }
}

impl Expansion<'_, '_> {
    /// The words of a command.
    pub(super) fn words(&mut self, raw: &[RawWord]) -> Vec<Word> {
        let mut words = Vec::with_capacity(raw.len());
        for word in raw {
            if let [Piece::Bare(text)] = word.0.as_slice()
                && !text.contains(['*', '?', '[', '{', '~', HOLE])
            {
                words.push(Word::new(text.as_str()));
                continue;
            }
            let alternatives = braces(word);
            if self.walker.budget.spend(alternatives.len()) {
                break;
            }
            for word in alternatives {
                let separators = self.scope.value("IFS").map(str::to_owned);
                let mut fields = Fields {
                    separators,
                    dotglob: self.scope.dotglob,
                    ..Fields::default()
                };
                self.fill(&word, &mut fields);
                fields.cut();
                words.append(&mut fields.done);
            }
        }
        words
    }

    /// The one text of an assignment, a redirection or a heredoc.
    pub(super) fn text(&mut self, raw: &RawWord) -> String {
        let mut fields = Fields {
            whole: true,
            ..Fields::default()
        };
        self.fill(raw, &mut fields);
        fields.text
    }

    /// The target of a redirection: one word, in which globs are active.
    pub(super) fn target(&mut self, raw: &RawWord) -> Word {
        self.words(std::slice::from_ref(raw))
            .into_iter()
            .next()
            .unwrap_or_default()
    }

    fn fill(&mut self, raw: &RawWord, fields: &mut Fields) {
        let mut paid = fields.done.len();
        for (index, piece) in raw.0.iter().enumerate() {
            match piece {
                Piece::Bare(text) if index == 0 && text.starts_with('~') => {
                    let home = tilde(text, self.scope);
                    fields.bare(&home);
                }
                Piece::Bare(text) => fields.bare(text),
                Piece::Quoted(text) => fields.quoted(text),
                Piece::Variable { name, op, quoted } => {
                    self.variable(name, op, *quoted, fields);
                }
                Piece::Command { body, quoted } => {
                    let mut inner = self.scope.clone();
                    let mut value = self.walker.within(Link::Shell, |walker| {
                        walker.list(body, &mut inner, &Io::capture())
                    });
                    value.truncate(value.trim_end_matches('\n').len());
                    fields.value(&value, *quoted);
                }
                Piece::Process { body } => {
                    let mut inner = self.scope.clone();
                    let text = self.walker.within(Link::Shell, |walker| {
                        walker.list(body, &mut inner, &Io::capture())
                    });
                    fields.quoted(&self.walker.written.stream(text));
                }
                Piece::Opaque { inner, quoted } => {
                    let _only_its_substitutions_run = self.text(inner);
                    fields.value(&hole(), *quoted);
                }
            }
            if fields.text.len() > MAX_TEXT {
                fields.text = hole();
            }
            // A long value costs as much as many words do, and many words do as well.
            let cost = fields.text.len() / 32 + (fields.done.len() - paid) / 4;
            paid = fields.done.len();
            if self.walker.budget.spend(cost) {
                return;
            }
        }
    }

    fn variable(&mut self, name: &str, op: &VarOp, quoted: bool, fields: &mut Fields) {
        if quoted
            && !fields.whole
            && let Some(args) = self.scope.elements(name)
        {
            let args = match op {
                VarOp::Plain => Some(args.as_slice()),
                VarOp::Other(word) => {
                    let range = self.text(word);
                    range
                        .strip_prefix(':')
                        .and_then(|range| slice(&args, range, usize::from(name == "@")))
                }
                VarOp::Default(_) | VarOp::Assign(_) | VarOp::Instead(_) | VarOp::Unknown(_) => {
                    None
                }
            };
            if let Some(args) = args {
                for (index, arg) in args.iter().enumerate() {
                    if index > 0 {
                        fields.cut();
                    }
                    fields.quoted(plain_element(arg));
                }
                return;
            }
        }
        let value = self.scope.lookup(name);
        let value = match op {
            VarOp::Plain => value.unwrap_or_else(hole),
            VarOp::Default(word) => {
                let other = self.text(word);
                // Not set in the command itself: most likely not set at all.
                value.filter(|value| !value.is_empty()).unwrap_or(other)
            }
            VarOp::Assign(word) => {
                let other = self.text(word);
                if let Some(value) = value.filter(|value| !value.is_empty()) {
                    value
                } else {
                    self.scope.assign(name, other.clone());
                    other
                }
            }
            VarOp::Instead(word) => {
                let other = self.text(word);
                match value {
                    Some(value) if value.is_empty() => value,
                    Some(_) => other,
                    None => hole(),
                }
            }
            VarOp::Other(word) => {
                let operation = self.text(word);
                let length = value.as_ref().map_or(0, String::len).min(512);
                // A pattern is tried at every place of the value.
                let cost = length * length * operation.len() / 512;
                if self.walker.budget.spend(cost) {
                    return;
                }
                operated(name, &operation, self.scope).unwrap_or_else(hole)
            }
            VarOp::Unknown(word) => {
                let _only_its_substitutions_run = self.text(word);
                hole()
            }
        };
        fields.value(&value, quoted);
    }

    /// Expands redirections: the files they open, and the text they supply.
    pub(super) fn redirects(&mut self, raw: &[RawRedirect], io: &mut Io) -> Vec<Redirect> {
        let mut redirects = Vec::new();
        for redirect in raw {
            let stdin = redirect.fd.unwrap_or(0) == 0;
            if matches!(redirect.op, RedirectOp::HereString | RedirectOp::HereDoc) {
                let text = match &redirect.body {
                    Some(body) => self.text(&body.borrow()),
                    None => self.text(&redirect.target) + "\n",
                };
                if stdin {
                    io.input = Some(text.into());
                }
                continue;
            }
            let target = self.target(&redirect.target);
            let mode = match redirect.op {
                RedirectOp::HereString | RedirectOp::HereDoc | RedirectOp::DupIn => continue,
                RedirectOp::DupOut => {
                    // `>&2` and `>&-` name descriptors; `>&file` is `&>file`.
                    let name = target.raw().trim_end_matches('-');
                    let fd = name.bytes().all(|byte| byte.is_ascii_digit());
                    if fd || redirect.fd.is_some() || target.has_holes() {
                        continue;
                    }
                    Mode::Write
                }
                RedirectOp::Read => {
                    if stdin {
                        let name = target.literal().filter(|name| *name != "/dev/stdin");
                        let dir = self.scope.dir.as_deref();
                        let text = name.and_then(|name| self.walker.written.text(name, dir));
                        io.input = Some(text.unwrap_or_else(hole).into());
                    }
                    Mode::Read
                }
                RedirectOp::Write
                | RedirectOp::Append
                | RedirectOp::ReadWrite
                | RedirectOp::Both
                | RedirectOp::BothAppend => Mode::Write,
            };
            redirects.push(Redirect { mode, target });
        }
        redirects
    }
}

fn tilde(text: &str, scope: &Scope) -> String {
    let (user, rest) = text
        .find('/')
        .map_or((text, ""), |slash| text.split_at(slash));
    let base = match user {
        "~" => scope.lookup("HOME"),
        "~+" => scope.lookup("PWD"),
        "~-" => scope.lookup("OLDPWD"),
        _ => None,
    };
    format!("{}{rest}", base.unwrap_or_else(hole))
}

/// What an operation behind a name makes of its value; nothing when that is not known.
fn operated(name: &str, operation: &str, scope: &Scope) -> Option<String> {
    if let (Some(all), Some(range)) = (scope.elements(name), operation.strip_prefix(':')) {
        return Some(slice(&all, range, usize::from(name == "@"))?.join(" "));
    }
    if let Some(rest) = operation.strip_prefix('[') {
        let (index, rest) = rest.split_once(']')?;
        let all = scope.elements(&format!("{name}[@]"))?;
        let value = element(&all, index)?;
        return if rest.is_empty() {
            Some(value.to_owned())
        } else {
            operate(value, rest)
        };
    }
    operate(&scope.lookup(name)?, operation)
}

/// Writes out `a{b,c}d` as `abd acd`; only where the braces stand in one bare piece.
fn braces(word: &RawWord) -> Vec<RawWord> {
    let bare = || {
        word.0.iter().filter_map(|piece| match piece {
            Piece::Bare(text) => Some(text),
            Piece::Quoted(_)
            | Piece::Variable { .. }
            | Piece::Command { .. }
            | Piece::Process { .. }
            | Piece::Opaque { .. } => None,
        })
    };
    // Every alternative is a copy of the whole word.
    let large = bare().any(|text| text.len() > MAX_BRACED);
    if large || !bare().any(|text| text.contains('{')) {
        return vec![word.clone()];
    }
    let mut done = Vec::new();
    let mut open = vec![word.clone()];
    // Newest first, so that the alternatives come out in their order.
    while let Some(word) = open.pop() {
        match first_brace(&word).filter(|_| done.len() + open.len() <= MAX_BRACES) {
            Some(alternatives) => open.extend(alternatives.into_iter().rev()),
            None => done.push(word),
        }
    }
    done
}

fn first_brace(word: &RawWord) -> Option<Vec<RawWord>> {
    word.0.iter().enumerate().find_map(|(index, piece)| {
        let Piece::Bare(text) = piece else {
            return None;
        };
        let (before, parts, after) = split_brace(text)?;
        let alternatives = parts.into_iter().map(|part| {
            let mut word = word.clone();
            if let Some(piece) = word.0.get_mut(index) {
                *piece = Piece::Bare(format!("{before}{part}{after}"));
            }
            word
        });
        Some(alternatives.collect())
    })
}

/// The first `{a,b}` or `{1..3}` of a text: before it, its alternatives, after it.
fn split_brace(text: &str) -> Option<(&str, Vec<String>, &str)> {
    let (before, rest) = text.split_once('{')?;
    let mut depth = 0_u32;
    let mut parts = vec![String::new()];
    for (index, letter) in rest.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => {
                let after = rest.get(index + 1..).unwrap_or_default();
                if parts.len() == 1 {
                    parts = range(parts.first()?)?;
                }
                return Some((before, parts, after));
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut()?.push(letter);
    }
    None
}

/// `1..3` and `a..c`.
fn range(text: &str) -> Option<Vec<String>> {
    let (low, high) = text.split_once("..")?;
    if let (Ok(low), Ok(high)) = (low.parse::<i32>(), high.parse::<i32>()) {
        let most = i32::try_from(MAX_BRACES).unwrap_or(64);
        return (low <= high && high.checked_sub(low)? < most)
            .then(|| (low..=high).map(|number| number.to_string()).collect());
    }
    let ([low], [high]) = (low.as_bytes(), high.as_bytes()) else {
        return None;
    };
    let letters = low.is_ascii_alphabetic() && high.is_ascii_alphabetic() && low <= high;
    letters.then(|| {
        (*low..=*high)
            .map(|letter| char::from(letter).into())
            .collect()
    })
}
