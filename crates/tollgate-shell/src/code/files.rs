//! The files that code reads, writes and removes, where a well-known call is given a path that
//! is there in full, or in a variable that was set to it.

use std::ops::Range;

use super::certain::Certain;
use super::tokens::Token;
use super::{Code, Language};
use crate::path::MAX_PATH;
use crate::word::has;

/// One use of a file by code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileUse {
    pub(crate) how: Use,
    /// The path; nothing when it is not known.
    pub(crate) path: Option<String>,
    /// Whether all below it is meant.
    pub(crate) tree: bool,
    /// Whether it certainly happens when the code runs.
    pub(crate) certain: bool,
}

/// What code does with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Reads,
    Writes,
    Makes,
    Deletes,
}

/// Calls by name whose first argument is the file, of any object.
const PLAIN: &[(&str, Use)] = &[
    (
        "writeFile writeFileSync appendFile appendFileSync createWriteStream outputFile \
         outputFileSync outputJson outputJsonSync writeJson writeJsonSync writeTextFile \
         writeTextFileSync file_put_contents write_file truncateSync chmodSync utimesSync",
        Use::Writes,
    ),
    (
        "readFile readFileSync file_get_contents createReadStream readTextFile readTextFileSync \
         readJson readJsonSync getsize",
        Use::Reads,
    ),
    (
        "unlinkSync rmSync rmdirSync rmtree rm_f rm_rf removeSync",
        Use::Deletes,
    ),
    ("mkdirSync makedirs mkdir_p ensureDirSync", Use::Makes),
];

/// The same, of these modules only: lists and sets have such methods, too.
const OF_MODULES: &[(&str, Use)] = &[
    (
        "write binwrite truncate chmod chown utime symlink",
        Use::Writes,
    ),
    ("read readlines foreach binread", Use::Reads),
    ("unlink remove rm rmdir delete", Use::Deletes),
    ("mkdir", Use::Makes),
];

/// The modules and classes that deal with files.
const MODULES: &str = "os fs fsp promises shutil File IO FileUtils Dir Bun Deno io codecs";

/// Methods of a path.
const METHODS: &[(&str, Use)] = &[
    ("write_text write_bytes touch chmod", Use::Writes),
    ("read_text read_bytes", Use::Reads),
    ("unlink rmdir", Use::Deletes),
    ("mkdir", Use::Makes),
];

/// Calls that take a file from one place to another: the first argument is gone afterwards, or not.
const MOVES: &str = "rename renameSync renames replace move moveSync mv";
const COPIES: &str = "copyFile copyFileSync cpSync cp copy copy2 copyfile copytree cp_r";

/// Calls that reach all below the path.
const TREES: &str = "rmtree rmSync rm_rf removeSync copytree cpSync cp_r rename renames renameSync \
    move moveSync mv replace";

/// Calls that may put a file into the directory they are given.
const INTO: &str = "copy copy2 move mv cp";

/// Names that stand around a path without changing it, in front of a dot or a bracket.
const AROUND: &str = "Path PurePath pathlib os path join joinpath resolve str fspath posix fs sys \
    process";

/// What stands in front of a text and belongs to it.
const PREFIXES: &str = "f r b u fr rf rb br F R B U";

/// So many variables may stand for each other.
const MAX_HELD: u32 = 4;

/// Methods that nothing else has than a path.
const PATH_ONLY: &str = "write_text write_bytes read_text read_bytes";

impl Code {
    /// The files that it uses, in order.
    pub(crate) fn files(&self, language: Language) -> Vec<FileUse> {
        let certain = Certain::of(&self.tokens);
        let mut found = Vec::new();
        // Where the code has gone; nothing when that is not known.
        let mut base = Some(String::new());
        for at in 0..self.tokens.len() {
            let Some(name) = self.name(at) else { continue };
            let before = found.len();
            self.used(name, at, language, &mut found);
            for used in found.iter_mut().skip(before) {
                let path = used
                    .path
                    .take()
                    .filter(|path| base.is_some() || path.starts_with('/'));
                used.path = path.map(|path| match base.as_deref() {
                    Some(base) if !base.is_empty() && !path.starts_with('/') => {
                        format!("{base}/{path}")
                    }
                    Some(_) | None => path,
                });
                used.certain &= certain.runs(at) && used.path.is_some();
            }
            if name == "chdir" {
                let to = self
                    .arguments(at)
                    .first()
                    .and_then(|to| self.path(to.clone()));
                base = to.zip(base).map(|(to, base)| match base.as_str() {
                    _ if to.starts_with('/') => to,
                    "" => to,
                    base => format!("{base}/{to}"),
                });
            }
        }
        found
    }

    fn used(&self, name: &str, at: usize, language: Language, found: &mut Vec<FileUse>) {
        let args = self.arguments(at);
        let path = |index: usize| args.get(index).and_then(|range| self.path(range.clone()));
        let mut add = |how, path| {
            found.push(FileUse {
                how,
                path,
                tree: has(TREES, name),
                certain: !has(INTO, name),
            });
        };
        let is_method = self.sign(at.wrapping_sub(1)) == Some('.');
        let of_module = is_method
            && at
                .checked_sub(2)
                .and_then(|at| self.name(at))
                .is_some_and(|module| has(MODULES, module));
        let bare = !is_method && matches!(language, Language::Perl | Language::Php);
        let in_table = |table: &[(&str, Use)]| {
            let row = table.iter().find(|(names, _)| has(names, name));
            row.map(|(_, how)| *how)
        };
        let called = !args.is_empty();
        // `require('fs').renameSync`: nothing else ends so.
        let sync = is_method && name.ends_with("Sync");
        if (of_module || bare || sync) && called && (has(MOVES, name) || has(COPIES, name)) {
            let first = if has(MOVES, name) {
                Use::Deletes
            } else {
                Use::Reads
            };
            add(first, path(0));
            add(Use::Writes, path(1));
        } else if matches!(name, "open" | "openSync" | "fopen") {
            self.opened(at, language, &args, &mut add);
        } else if let Some(how) = in_table(PLAIN).filter(|_| called) {
            add(how, path(0));
        } else if let Some(how) = in_table(OF_MODULES).filter(|_| (of_module || bare) && called) {
            // Perl and Ruby have the mode, the owner or the times in front.
            let last = language == Language::Perl && has("chmod chown utime", name);
            add(how, path(if last { args.len() - 1 } else { 0 }));
        } else if name == "input"
            && args
                .iter()
                .any(|arg| self.name(arg.start) == Some("inplace"))
        {
            add(Use::Writes, path(0));
        } else if is_method && language == Language::Python {
            let receiver = self.receiver(at).and_then(|range| self.path(range));
            if let (Some(how), true) = (
                in_table(METHODS),
                receiver.is_some() || has(PATH_ONLY, name),
            ) {
                add(how, receiver);
            } else if let (true, Some(from)) = (has("rename replace", name), &receiver)
                && from.contains(['/', '.'])
                && self.receiver_is_path(at)
            {
                add(Use::Deletes, Some(from.clone()));
                add(Use::Writes, path(0));
            }
        }
    }

    /// `open('f', 'w')`, `Path('f').open()`, `open(my $fh, '>', 'f')`
    fn opened(
        &self,
        at: usize,
        language: Language,
        args: &[Range<usize>],
        add: &mut impl FnMut(Use, Option<String>),
    ) {
        let text = |index: usize| {
            let mut range = args.get(index)?.clone();
            range.find_map(|at| self.text(at))
        };
        // Perl's mode stands before the path, or with it.
        if language == Language::Perl
            && let Some(mode) = text(1).filter(|mode| mode.starts_with(['>', '<', '+']))
        {
            let how = if mode.contains('>') || mode.contains('+') {
                Use::Writes
            } else {
                Use::Reads
            };
            let joined = mode.trim_start_matches(['>', '<', '+', ' ']);
            let path = match args.get(2) {
                Some(range) => self.path(range.clone()),
                None => Some(joined.to_owned()).filter(|path| !path.contains('$')),
            };
            add(how, path);
            return;
        }
        // `open(F, "f")`
        if let (Language::Perl, [handle, file]) = (language, args)
            && handle.clone().all(|at| self.text(at).is_none())
        {
            add(Use::Reads, self.path(file.clone()));
            return;
        }
        let receiver = self.receiver(at).filter(|_| self.receiver_is_path(at));
        // The mode follows the path.
        let modes = args
            .get(usize::from(receiver.is_none())..)
            .unwrap_or_default();
        let writes = modes.iter().any(|range| self.opens_to_write(range.clone()));
        let how = if writes { Use::Writes } else { Use::Reads };
        let path = match receiver {
            Some(range) => self.path(range),
            None => args.first().and_then(|range| self.path(range.clone())),
        };
        if path.is_some() || !args.is_empty() {
            add(how, path);
        }
    }

    /// The arguments of a call, one range each.
    fn arguments(&self, at: usize) -> Vec<Range<usize>> {
        let end = self.call_end(at);
        let open = self.sign(at + 1) == Some('(');
        let from = at + 1 + usize::from(open);
        // `unlink $f`, `open my $f`, `chmod 0600`
        let is_given = |name: &str| {
            name == "my" || name.starts_with(|first: char| first == '$' || first.is_ascii_digit())
        };
        let begins = match self.tokens.get(from) {
            Some(Token::Text(_)) => true,
            Some(Token::Name(name)) => open || is_given(name),
            Some(Token::Sign(_)) | None => open,
        };
        if from >= end || !begins {
            return Vec::new();
        }
        let mut found = Vec::new();
        let mut start = from;
        while start < end {
            let stop = self.end(start, end, |_, depth, sign| sign == ',' && depth == 0);
            found.push(start..stop);
            start = stop + 1;
        }
        found
    }

    /// What precedes `.name`.
    fn receiver(&self, at: usize) -> Option<Range<usize>> {
        let dot = at
            .checked_sub(1)
            .filter(|dot| self.sign(*dot) == Some('.'))?;
        Some(self.receiver_start(dot)..dot)
    }

    /// Whether that is `Path(…)`, or a variable that holds a text.
    fn receiver_is_path(&self, at: usize) -> bool {
        let Some(mut range) = self.receiver(at) else {
            return false;
        };
        let single = range.len() == 1;
        range.any(|at| self.name(at) == Some("Path") || single && self.held_texts(at).is_some())
    }

    /// The path that a part of the code is, if it is one and stands there.
    fn path(&self, range: Range<usize>) -> Option<String> {
        self.path_through(range, MAX_HELD)
    }

    /// The same, with so many variables in variables.
    fn path_through(&self, range: Range<usize>, depth: u32) -> Option<String> {
        let mut path = String::new();
        // Whether a comma stands between the parts of a path, and whether braces between variables.
        let (mut lists, mut formats) = (false, false);
        let mut at = range.start;
        // `open(file='x')`
        if self.name(at).is_some() && self.sign(at + 1) == Some('=') {
            at += 2;
        }
        while at < range.end {
            // Variables of variables could make it long.
            if path.len() > MAX_PATH {
                return None;
            }
            match self.tokens.get(at)? {
                Token::Text(text) => path.push_str(&self.filled(text, at, formats, depth)?),
                // Before a text they belong to it, everywhere else they are variables.
                Token::Name(name) if has(PREFIXES, name) && self.text(at + 1).is_some() => {
                    formats |= name.contains(['f', 'F']);
                }
                // `require('path').join`
                Token::Name(name) if name == "require" => at += 3,
                Token::Name(name) if has("cwd getcwd", name) => path.push('.'),
                // A variable may have such a name, too.
                Token::Name(name)
                    if has(AROUND, name)
                        && self.held_path(at, depth).is_none()
                        && matches!(self.sign(at + 1), Some('.' | '(')) =>
                {
                    lists |= has("Path PurePath join joinpath resolve", name);
                    if name == "joinpath" {
                        path.push('/');
                    }
                }
                Token::Name(_) => path.push_str(&self.held_path(at, depth)?),
                Token::Sign('(' | ')' | '.' | '+' | '\n') => {}
                Token::Sign(',') if lists => path.push('/'),
                Token::Sign('/') => path.push('/'),
                Token::Sign(_) => return None,
            }
            at += 1;
        }
        let plain = !path.is_empty() && !path.contains(['\n', '\0']);
        (plain && !path.contains("%s")).then_some(path)
    }

    /// A text with the variables that it names: `f'{d}/x'`, `${d}/x`, `#{d}/x`.
    fn filled(&self, text: &str, at: usize, formats: bool, depth: u32) -> Option<String> {
        let names = formats || text.contains("${") || text.contains("#{");
        let mut parts = text.split('{');
        let mut filled = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            if !names {
                filled.push('{');
                filled.push_str(part);
                continue;
            }
            let (name, rest) = part.split_once('}')?;
            let before = filled.trim_end_matches(['$', '#']).len();
            filled.truncate(before);
            let depth = depth.checked_sub(1)?;
            filled.push_str(&self.path_through(self.held_range(name, at)?, depth)?);
            filled.push_str(rest);
        }
        Some(filled)
    }

    /// The path that a variable holds which is named at a place.
    fn held_path(&self, at: usize, depth: u32) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        self.path_through(self.held_range(self.name(at)?, at)?, depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Given;

    fn used(language: Language, code: &str) -> Vec<String> {
        let given = Given {
            language: Some(language),
            ..Given::default()
        };
        let found = Code::read(code, &given).files(language);
        let shown = found.iter().map(|used| {
            let path = used.path.as_deref().unwrap_or("?");
            let mark = if used.certain { "" } else { "~" };
            format!("{mark}{:?} {path}", used.how)
        });
        shown.collect()
    }

    #[test]
    fn plain_calls_of_python_name_their_files() {
        for (code, expected) in [
            ("open('x','w').write('a')", &["Writes x"][..]),
            ("open('x')", &["Reads x"]),
            ("p='a/x'\nopen(p,'a').write('y')", &["Writes a/x"]),
            (
                "from pathlib import Path; Path('x').write_text('y')",
                &["Writes x"],
            ),
            ("print(Path('a/b').read_text())", &["Reads a/b"]),
            ("import os; os.remove('x')", &["Deletes x"]),
            ("import os; os.rename('a','b')", &["Deletes a", "Writes b"]),
            ("import shutil; shutil.rmtree('d')", &["Deletes d"]),
            (
                "import shutil; shutil.copy('a','b')",
                &["~Reads a", "~Writes b"],
            ),
            ("if x:\n    open('x','w')", &["~Writes x"]),
            ("open(f'{n}.txt','w')", &["~Writes ?"]),
            ("items.remove('x')", &[]),
            ("s = 'a'.replace('a', 'b')", &[]),
            ("open(os.path.join('a','b'),'w')", &["Writes a/b"]),
            ("for p in ['a']: open('src/'+p,'w')", &["~Writes ?"]),
            ("f='a'\nfor f in x: os.remove('src/'+f)", &["~Deletes ?"]),
            ("f='a/b'\nwith open(f,'w') as h: pass", &["Writes a/b"]),
            ("open(r'a\\b','w')", &["Writes ab"]),
            (
                "root = Path('a'); p = root / 'b' / 'c'; p.write_text('x')",
                &["Writes a/b/c"],
            ),
            (
                "for p in Path('a').glob('*'): p.write_text('x')",
                &["~Writes ?"],
            ),
            ("Path('a').joinpath('b').write_text('x')", &["Writes a/b"]),
            ("pathlib.Path('a','b').write_bytes(b'x')", &["Writes a/b"]),
            ("open(file='a',mode='w').write('x')", &["Writes a"]),
            ("d='a'; open(f'{d}/b','w')", &["Writes a/b"]),
            ("open(os.getcwd()+'/a','w')", &["Writes ./a"]),
            (
                "os.chdir('a'); open('b','w'); open('/c','w')",
                &["Writes a/b", "Writes /c"],
            ),
            ("os.chdir(x); open('b','w')", &["~Writes ?"]),
            (
                "for l in fileinput.input('a', inplace=True): print(l)",
                &["Writes a"],
            ),
        ] {
            assert_eq!(used(Language::Python, code), expected, "{code}");
        }
    }

    #[test]
    fn plain_calls_of_other_languages_name_their_files() {
        for (code, expected) in [
            ("require('fs').writeFileSync('x','y')", &["Writes x"][..]),
            ("const fs=require('fs');fs.unlinkSync('x')", &["Deletes x"]),
            ("fs.renameSync('a','b')", &["Deletes a", "Writes b"]),
            ("console.log(fs.readFileSync('x','utf8'))", &["Reads x"]),
            ("new Map().delete('x')", &[]),
            (
                "require('fs').renameSync('a','b')",
                &["Deletes a", "Writes b"],
            ),
            (
                "const p=require('path').join(process.cwd(),'a','b'); fs.writeFileSync(p,'x')",
                &["Writes ./a/b"],
            ),
            (
                "const p=require('path').resolve('a/b'); fs.writeFileSync(p,'x')",
                &["Writes a/b"],
            ),
            (
                "const d='a'; fs.writeFileSync(`${d}/b`,'x')",
                &["Writes a/b"],
            ),
            ("require('fs').cpSync('a','b')", &["Reads a", "Writes b"]),
            (
                "const f='a'; if (fs.existsSync(f)) fs.unlinkSync(f)",
                &["~Deletes a"],
            ),
        ] {
            assert_eq!(used(Language::JavaScript, code), expected, "{code}");
        }
        for (code, expected) in [
            ("open(my $f, '>', 'x'); print $f 'y'", &["Writes x"][..]),
            ("unlink 'x'", &["Deletes x"]),
            ("$f='x'; unlink $f", &["Deletes x"]),
            ("open my $f, '>', 'x'; print $f 'y'", &["Writes x"]),
            ("chmod 0600, 'x'", &["Writes x"]),
            ("File.write('x', 'y')", &["Writes x"]),
            ("File.open('x', 'w') { |f| f.puts 1 }", &["Writes x"]),
            ("puts File.read('x')", &["Reads x"]),
        ] {
            assert_eq!(used(Language::Perl, code), expected, "{code}");
        }
    }
}
