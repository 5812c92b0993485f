//! `awk`: the commands that its program runs, and what it prints.
//!
//! Texts, variables with literal values and the fields of known lines are put together; what a
//! pattern or a condition decides is not asked.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Link;
use super::code::{Code, Token};
use super::effects::Args;
use super::output::printf;
use super::syntax::HOLE;
use super::walk::{Call, Io, Scope, Walker};
use super::word::Word;

/// A known input is read for so many lines.
const MAX_LINES: usize = 32;
/// More commands than this are not taken from one program.
const MAX_RUNS: usize = 32;
/// The value of an assignment is read for so many tokens.
const MAX_VALUE: usize = 400;

/// What a program does.
#[derive(Debug, Default, PartialEq, Eq)]
struct Told {
    /// The commands it gives to a shell, and what each reads from it.
    runs: Vec<(String, Option<String>)>,
    /// What it prints.
    printed: String,
    /// Whether a pattern or a condition decides about something of it.
    doubtful: bool,
}

/// A program with what is known when it runs.
struct Program {
    code: Code,
    /// Variables, and `ENVIRON["name"]` under `ENVIRON` and the name.
    vars: BTreeMap<String, String>,
    separator: Option<String>,
    told: Told,
}

impl Walker<'_> {
    pub(crate) fn awk(&mut self, call: &Call, scope: &Scope) {
        // The program is gone through for every line.
        let size: usize = call.words.iter().map(|word| word.raw().len()).sum();
        let input = call.io.input.as_deref().unwrap_or_default();
        let lines = input.lines().take(MAX_LINES).count().max(1);
        if self.spent(u32::try_from(size * lines / 64).unwrap_or(u32::MAX)) {
            return;
        }
        let Some(told) = self.awk_told(call, scope) else {
            return;
        };
        for (command, input) in told.runs {
            let mut inner = scope.clone();
            inner.dir.clone_from(&call.dir);
            let io = Io {
                input: input.map(Into::into),
                ..Io::default()
            };
            self.enter(Link::Maybe);
            self.nested(&command, &mut inner, &io);
            self.leave();
        }
    }

    /// What the program prints; nothing when that is not known.
    pub(crate) fn awk_printed(&self, call: &Call, scope: &Scope) -> Option<String> {
        let told = self.awk_told(call, scope)?;
        (!told.doubtful).then_some(told.printed)
    }

    fn awk_told(&self, call: &Call, scope: &Scope) -> Option<Told> {
        let words = call.words.get(1..).unwrap_or_default();
        let long = ["assign", "file", "field-separator", "include"];
        let args = Args::read(words, "vFfi", &long);
        let script = args.value(&["f", "file"]);
        let code = match script {
            Some(name) => self.file_text(name.literal()?, call.dir.as_deref())?,
            None => args.operands.first()?.literal()?.to_owned(),
        };
        let exported = scope
            .vars
            .iter()
            .filter(|(name, value)| value.exported && call.sees(name));
        let exported = exported.map(|(name, value)| (name.as_str(), value.text.as_str()));
        let own = call
            .vars
            .iter()
            .map(|(name, value)| (name.as_str(), value.raw()));
        let vars = exported.chain(own);
        let mut vars: BTreeMap<String, String> = vars
            .map(|(name, value)| (format!("ENVIRON{name}"), value.to_owned()))
            .collect();
        let assigned = args
            .values
            .iter()
            .filter(|(name, _)| name.starts_with(['v', 'a']));
        let assigned = assigned.filter_map(|(_, value)| value.raw().split_once('='));
        vars.extend(assigned.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let mut program = Program {
            code: Code::plain(&code, false),
            vars,
            separator: args
                .value(&["F", "field-separator"])
                .map(|word| word.raw().to_owned()),
            told: Told::default(),
        };
        let files = args.operands.len() > usize::from(script.is_none());
        let input = call.io.input.as_deref().filter(|_| !files);
        program.run(input.filter(|text| !text.contains(HOLE)));
        Some(program.told)
    }
}

impl Program {
    /// Runs the rules: `BEGIN` and `END` once, the others for every known line.
    fn run(&mut self, input: Option<&str>) {
        let rules = self.rules();
        let (once, every): (Vec<_>, Vec<_>) = rules.into_iter().partition(|(once, _)| *once);
        for (_, body) in once {
            self.body(body, None);
        }
        if every.is_empty() {
            return;
        }
        let Some(text) = input else {
            self.told.doubtful = true;
            for (_, body) in every {
                self.body(body, None);
            }
            return;
        };
        self.told.doubtful |= text.lines().count() > MAX_LINES;
        for line in text.lines().take(MAX_LINES) {
            for (_, body) in &every {
                self.body(body.clone(), Some(line));
            }
        }
    }

    /// The bodies of the rules, and whether each runs once.
    fn rules(&mut self) -> Vec<(bool, Range<usize>)> {
        let mut rules = Vec::new();
        let (mut depth, mut start, mut pattern) = (0_u32, 0, 0);
        for (at, token) in self.code.tokens.iter().enumerate() {
            match token {
                Token::Sign('{') => {
                    depth += 1;
                    if depth == 1 {
                        start = at + 1;
                    }
                }
                Token::Sign('}') => {
                    // One that nothing opened would make a rule of all that stands before it.
                    let closes = depth == 1;
                    depth = depth.saturating_sub(1);
                    if !closes {
                        continue;
                    }
                    let before = self.code.tokens.get(pattern..start.saturating_sub(1));
                    let before = before.unwrap_or_default().iter();
                    let before: Vec<&Token> = before
                        .filter(|token| !matches!(token, Token::Sign('\n' | ';')))
                        .collect();
                    let once = matches!(
                        before.as_slice(),
                        [Token::Name(name)] if matches!(name.as_str(), "BEGIN" | "END")
                    );
                    self.told.doubtful |= !once && !before.is_empty();
                    rules.push((once, start..at));
                    pattern = at + 1;
                }
                Token::Name(name)
                    if matches!(name.as_str(), "if" | "for" | "while" | "next" | "exit") =>
                {
                    self.told.doubtful = true;
                }
                Token::Name(_) | Token::Text(_) | Token::Sign(_) => {}
            }
        }
        // A pattern without a body prints what it lets through.
        self.told.doubtful |= self.code.tokens.len() > pattern;
        rules
    }

    fn body(&mut self, body: Range<usize>, line: Option<&str>) {
        let mut at = body.start;
        while at < body.end && self.told.runs.len() < MAX_RUNS {
            let next = |sign: char| self.code.tokens.get(at + 1) == Some(&Token::Sign(sign));
            match self.code.tokens.get(at) {
                Some(Token::Name(name)) if name == "system" => {
                    let end = self.code.call_end(at);
                    let command = self.value(at + 1..end, line);
                    self.told.runs.push((command, None));
                }
                Some(Token::Name(name)) if matches!(name.as_str(), "print" | "printf") => {
                    let end = self.statement_end(at, body.end);
                    let formats = name == "printf";
                    self.print(at + 1..end, formats, line);
                    at = end;
                }
                Some(Token::Name(name)) if next('=') => {
                    let compares = self.code.tokens.get(at + 2) == Some(&Token::Sign('='));
                    if !compares && self.vars.len() < 64 {
                        // One in another's value is read again for it: `a = b = c`.
                        let most = body.end.min(at + MAX_VALUE);
                        let end = self.statement_end(at, most);
                        let value = self.value(at + 2..end, line);
                        self.vars.insert(name.clone(), value);
                    }
                }
                // `"command" | getline`
                Some(Token::Sign('|')) if matches!(self.code.tokens.get(at + 1), Some(Token::Name(name)) if name == "getline") =>
                {
                    let command = self.value(at.saturating_sub(1)..at, line);
                    self.told.runs.push((command, None));
                    self.told.doubtful = true;
                }
                Some(Token::Name(_) | Token::Text(_) | Token::Sign(_)) | None => {}
            }
            at += 1;
        }
    }

    fn print(&mut self, range: Range<usize>, formats: bool, line: Option<&str>) {
        let end = self.find(range.clone(), &['|', '>']).unwrap_or(range.end);
        let text = self.shown(range.start..end, formats, line);
        match self.code.tokens.get(end).filter(|_| end < range.end) {
            Some(Token::Sign('|')) => {
                let command = self.value(end + 1..range.end, line);
                self.told.runs.push((command, Some(text)));
            }
            Some(_) => {}
            None if self.told.printed.len() < 64 * 1024 => self.told.printed.push_str(&text),
            None => self.told.doubtful = true,
        }
    }

    /// What `print` and `printf` make of their arguments.
    fn shown(&self, range: Range<usize>, formats: bool, line: Option<&str>) -> String {
        if range.is_empty() {
            return format!(
                "{}\n",
                line.map_or_else(|| String::from(HOLE), str::to_owned)
            );
        }
        let mut values = Vec::new();
        let mut start = range.start;
        while let Some(comma) = self.find(start..range.end, &[',']) {
            values.push(self.value(start..comma, line));
            start = comma + 1;
        }
        values.push(self.value(start..range.end, line));
        if formats {
            let words: Vec<Word> = values.into_iter().map(Word::new).collect();
            return printf(&words).unwrap_or_else(|| String::from(HOLE));
        }
        format!("{}\n", values.join(" "))
    }

    /// The texts, variables and fields of an expression, one after another.
    fn value(&self, range: Range<usize>, line: Option<&str>) -> String {
        let mut value = String::new();
        let mut at = range.start;
        while at < range.end {
            match self.code.tokens.get(at) {
                Some(Token::Text(text)) => value.push_str(text),
                Some(Token::Name(name)) if name == "ENVIRON" => {
                    // ENVIRON [ "name" ]
                    let known = match self.code.tokens.get(at + 2) {
                        Some(Token::Text(key)) => self.vars.get(&format!("ENVIRON{key}")),
                        _ => None,
                    };
                    value.push_str(known.map_or("\u{FDD0}", String::as_str));
                    at += 3;
                }
                Some(Token::Name(name)) => match name.strip_prefix('$') {
                    Some(index) => value.push_str(&self.field(index, line)),
                    None if name.bytes().all(|byte| byte.is_ascii_digit()) => value.push_str(name),
                    None => {
                        let known = self.vars.get(name);
                        value.push_str(known.map_or("\u{FDD0}", String::as_str));
                    }
                },
                Some(Token::Sign('(' | ')')) | None => {}
                Some(Token::Sign(_)) => value.push(HOLE),
            }
            if value.len() > 64 * 1024 {
                return String::from(HOLE);
            }
            at += 1;
        }
        value
    }

    fn field(&self, index: &str, line: Option<&str>) -> String {
        let found = line.and_then(|line| {
            let index: usize = index.parse().ok()?;
            let Some(index) = index.checked_sub(1) else {
                return Some(line);
            };
            let found = match self.separator.as_deref() {
                None | Some(" ") => line.split_whitespace().nth(index),
                Some(cut) if cut.chars().count() == 1 => line.split(cut).nth(index),
                Some(_) => return None,
            };
            Some(found.unwrap_or_default())
        });
        found.map_or_else(|| String::from(HOLE), str::to_owned)
    }

    /// The first of these signs outside parentheses.
    fn find(&self, mut range: Range<usize>, signs: &[char]) -> Option<usize> {
        let mut depth = 0_u32;
        range.find(|at| match self.code.tokens.get(*at) {
            Some(Token::Sign('(' | '[')) => {
                depth += 1;
                false
            }
            Some(Token::Sign(')' | ']')) => {
                depth = depth.saturating_sub(1);
                false
            }
            Some(Token::Sign(sign)) => depth == 0 && signs.contains(sign),
            Some(Token::Name(_) | Token::Text(_)) | None => false,
        })
    }

    fn statement_end(&self, at: usize, end: usize) -> usize {
        self.find(at..end, &[';', '\n', '}']).unwrap_or(end)
    }
}
