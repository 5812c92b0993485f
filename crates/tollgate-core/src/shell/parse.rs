//! Commands: lists, pipelines, compound commands, functions, redirections.
//!
//! A second half of the [`Cursor`]. Text that is no shell sets its `broken` mark and is stepped
//! over, so that the commands around it are still seen.

use std::rc::Rc;

use super::lex::{Cursor, Stop, is_meta};
use super::syntax::{AndOr, Assign, BETWEEN, Command, Join, Kind, List, Piece, Pipeline, RawWord};

/// Words that end a list when they stand where a command would.
const CLOSERS: [&str; 8] = ["then", "else", "elif", "fi", "do", "done", "esac", "}"];

impl Cursor<'_> {
    /// The whole text as a list.
    pub(crate) fn script(&mut self) -> List {
        let mut list = List::default();
        loop {
            list.0.extend(self.list().0);
            if self.done() {
                return list;
            }
            // A closer without its opener, or a stray `)` or `;;`.
            self.broken = true;
            self.skip_stray();
        }
    }

    /// The list up to and over the `)` that closes it.
    pub(crate) fn list_until_paren(&mut self) -> List {
        let mut list = List::default();
        loop {
            list.0.extend(self.list().0);
            if self.done() {
                self.broken = true;
                return list;
            }
            if self.peek(0) == b')' {
                self.at += 1;
                return list;
            }
            self.broken = true;
            self.skip_stray();
        }
    }

    fn skip_stray(&mut self) {
        let before = self.at;
        let _stray = self.word(Stop::Word);
        if self.at == before {
            self.at += 1;
        }
    }

    /// Skips blanks, newlines and comments.
    fn skip_lines(&mut self) {
        loop {
            self.skip_blanks();
            if self.peek(0) != b'\n' {
                return;
            }
            self.newline();
        }
    }

    /// Commands up to a closing word, `)`, `;;` or the end; the closer is left in place.
    fn list(&mut self) -> List {
        let mut list = List::default();
        loop {
            self.skip_lines();
            while self.peek(0) == b';' && self.peek(1) != b';' && self.peek(1) != b'&' {
                self.at += 1;
                self.skip_lines();
            }
            if self.done() || matches!(self.peek(0), b')' | b';') || self.at_closer() {
                return list;
            }
            let before = self.at;
            let mut and_or = self.and_or();
            self.skip_blanks();
            if self.peek(0) == b'&' && self.peek(1) != b'&' {
                self.at += 1;
                and_or.background = true;
            }
            list.0.push(and_or);
            if self.at == before {
                // An operator where a command should be.
                self.broken = true;
                self.at += 1;
            }
        }
    }

    /// The bare word at the position, without stepping over it.
    fn ahead(&self) -> &str {
        let rest = self.rest();
        let length = rest
            .iter()
            .take(10)
            .take_while(|&&byte| !is_meta(byte))
            .count();
        std::str::from_utf8(rest.get(..length).unwrap_or_default()).unwrap_or("")
    }

    fn at_closer(&self) -> bool {
        CLOSERS.contains(&self.ahead())
    }

    fn eat_word(&mut self, word: &str) -> bool {
        self.skip_lines();
        let found = self.ahead() == word;
        if found {
            self.at += word.len();
        }
        found
    }

    fn expect_word(&mut self, word: &str) {
        if !self.eat_word(word) {
            self.broken = true;
        }
    }

    fn and_or(&mut self) -> AndOr {
        let mut pipelines = vec![(Join::Start, self.pipeline())];
        loop {
            self.skip_blanks();
            let join = if self.eat(b"&&") {
                Join::And
            } else if self.eat(b"||") {
                Join::Or
            } else {
                return AndOr {
                    pipelines,
                    background: false,
                };
            };
            self.skip_lines();
            pipelines.push((join, self.pipeline()));
        }
    }

    fn pipeline(&mut self) -> Pipeline {
        let mut pipeline = Pipeline::default();
        loop {
            self.skip_blanks();
            match self.ahead() {
                "!" => {
                    self.at += 1;
                    pipeline.negated = !pipeline.negated;
                }
                "time" => {
                    self.at += 4;
                    self.skip_blanks();
                    while matches!(self.ahead(), "-p" | "--") {
                        self.at += 2;
                        self.skip_blanks();
                    }
                }
                _ => break,
            }
        }
        loop {
            pipeline.stages.push(self.command());
            self.skip_blanks();
            if self.peek(0) == b'|' && self.peek(1) != b'|' {
                self.at += 1;
                if self.peek(0) == b'&' {
                    self.at += 1;
                }
                self.skip_lines();
            } else {
                return pipeline;
            }
        }
    }

    fn command(&mut self) -> Command {
        let mut command = Command {
            kind: Kind::Group(List::default()),
            redirects: Vec::new(),
        };
        self.deeper(|cursor| command = cursor.command_inner());
        command
    }

    fn command_inner(&mut self) -> Command {
        self.skip_blanks();
        let Some(kind) = self.compound() else {
            return self.simple();
        };
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirect() {
                Some(redirect) => redirects.push(redirect),
                None => return Command { kind, redirects },
            }
        }
    }

    fn compound(&mut self) -> Option<Kind> {
        if self.peek(0) == b'(' {
            if self.peek(1) == b'(' && self.is_arithmetic(0) {
                self.at += 2;
                return Some(Kind::Test(vec![self.arithmetic()]));
            }
            self.at += 1;
            return Some(Kind::Subshell(self.list_until_paren()));
        }
        // The name's length is what the match below steps over.
        let word = self.ahead();
        let length = word.len();
        let opens = matches!(
            word,
            "{" | "[["
                | "if"
                | "while"
                | "until"
                | "for"
                | "select"
                | "case"
                | "function"
                | "coproc"
        );
        if !opens {
            return None;
        }
        let word = word.to_owned();
        self.at += length;
        Some(match word.as_str() {
            "{" => {
                let list = self.list();
                self.expect_word("}");
                Kind::Group(list)
            }
            "[[" => self.test(),
            "if" => self.conditional(),
            "while" | "until" => {
                let condition = self.list();
                let body = self.do_group();
                Kind::While {
                    condition,
                    body,
                    until: word == "until",
                }
            }
            "case" => self.case(),
            "function" => {
                self.skip_blanks();
                let name = self.word(Stop::Word).bare().unwrap_or_default().to_owned();
                self.skip_blanks();
                if self.eat(b"()") {
                    self.skip_blanks();
                }
                self.skip_lines();
                Kind::Function {
                    name,
                    body: Rc::new(self.command()),
                }
            }
            "coproc" => {
                self.skip_blanks();
                // `coproc NAME { …; }` names a compound command; a simple one has no name. Only a
                // plain name is read here: what is stepped back over is parsed twice, and with a
                // substitution in it twice for every level.
                let back = self.at;
                let _name = self.name();
                self.skip_blanks();
                let named = matches!(
                    self.ahead(),
                    "{" | "[[" | "if" | "while" | "until" | "for" | "case"
                ) || self.peek(0) == b'(';
                if !named {
                    self.at = back;
                }
                Kind::Coproc(Box::new(self.command()))
            }
            _ => self.for_loop(),
        })
    }

    /// After `[[`: the words up to `]]`.
    fn test(&mut self) -> Kind {
        let mut words = Vec::new();
        while !self.done() {
            self.skip_blanks();
            if self.peek(0) == b'\n' {
                self.newline();
                continue;
            }
            let before = self.at;
            let word = self.word(Stop::Word);
            if word.bare() == Some("]]") {
                break;
            }
            if self.at == before {
                self.at += 1;
            } else {
                words.push(word);
            }
        }
        Kind::Test(words)
    }

    fn conditional(&mut self) -> Kind {
        let mut arms = Vec::new();
        let mut otherwise = List::default();
        loop {
            let condition = self.list();
            self.expect_word("then");
            let body = self.list();
            arms.push((condition, body));
            if self.done() {
                self.broken = true;
                break;
            }
            if self.eat_word("elif") {
                continue;
            }
            if self.eat_word("else") {
                otherwise = self.list();
            }
            self.expect_word("fi");
            break;
        }
        Kind::If { arms, otherwise }
    }

    fn do_group(&mut self) -> List {
        self.skip_blanks();
        if self.peek(0) == b';' {
            self.at += 1;
        }
        if self.eat_word("{") {
            let body = self.list();
            self.expect_word("}");
            return body;
        }
        self.expect_word("do");
        let body = self.list();
        self.expect_word("done");
        body
    }

    fn for_loop(&mut self) -> Kind {
        self.skip_blanks();
        if self.eat(b"((") {
            let header = self.arithmetic();
            let items = Some(vec![RawWord(vec![Piece::Opaque {
                inner: header,
                quoted: true,
            }])]);
            return Kind::For {
                name: String::new(),
                items,
                body: self.do_group(),
            };
        }
        let name = self.word(Stop::Word).bare().unwrap_or_default().to_owned();
        let mut items = None;
        if self.eat_word("in") {
            let mut words = Vec::new();
            loop {
                self.skip_blanks();
                if self.done() || is_meta(self.peek(0)) && !self.at_process() {
                    break;
                }
                words.push(self.word(Stop::Word));
            }
            items = Some(words);
        }
        Kind::For {
            name,
            items,
            body: self.do_group(),
        }
    }

    fn at_process(&self) -> bool {
        matches!(self.peek(0), b'<' | b'>') && self.peek(1) == b'('
    }

    fn case(&mut self) -> Kind {
        self.skip_blanks();
        let subject = self.word(Stop::Word);
        self.expect_word("in");
        let mut arms = Vec::new();
        loop {
            if self.eat_word("esac") {
                break;
            }
            if self.done() {
                self.broken = true;
                break;
            }
            let before = self.at;
            let _open = self.eat(b"(");
            let mut patterns = Vec::new();
            loop {
                self.skip_blanks();
                patterns.push(self.word(Stop::Word));
                self.skip_blanks();
                if !self.eat(b"|") {
                    break;
                }
            }
            if !self.eat(b")") {
                self.broken = true;
            }
            let body = self.list();
            arms.push((patterns, body));
            let _end = self.eat(b";;&") || self.eat(b";;") || self.eat(b";&");
            if self.at == before {
                self.at += 1;
            }
        }
        Kind::Case { subject, arms }
    }

    fn simple(&mut self) -> Command {
        let mut assigns = Vec::new();
        let mut words: Vec<RawWord> = Vec::new();
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            if let Some(redirect) = self.redirect() {
                redirects.push(redirect);
                continue;
            }
            if self.done() || is_meta(self.peek(0)) && !self.at_process() {
                // `name ()`: a function.
                let name = match words.as_slice() {
                    [only] if assigns.is_empty() => only.bare(),
                    _ => None,
                };
                if let Some(name) = name
                    && self.peek(0) == b'('
                {
                    let name = name.to_owned();
                    self.at += 1;
                    self.skip_blanks();
                    if !self.eat(b")") {
                        self.broken = true;
                    }
                    self.skip_lines();
                    let body = Rc::new(self.command());
                    return Command {
                        kind: Kind::Function { name, body },
                        redirects,
                    };
                }
                return Command {
                    kind: Kind::Simple { assigns, words },
                    redirects,
                };
            }
            if words.is_empty()
                && let Some(assign) = self.assignment()
            {
                assigns.push(assign);
                continue;
            }
            let declares = words.first().and_then(RawWord::bare).is_some_and(|first| {
                matches!(
                    first,
                    "declare" | "local" | "typeset" | "export" | "readonly"
                )
            });
            words.push(self.word(Stop::Word));
            // `declare -a x=(…)`: the elements are parts of one value.
            if declares && self.peek(0) == b'(' {
                self.at += 1;
                let elements = self.array();
                if let Some(word) = words.last_mut() {
                    for (index, element) in elements.into_iter().enumerate() {
                        if index > 0 {
                            word.0.push(Piece::Quoted(BETWEEN.to_string()));
                        }
                        word.0.extend(element.0);
                    }
                }
            }
        }
    }

    /// `name=…`, `name+=…`, `name[i]=…` where a command may start.
    fn assignment(&mut self) -> Option<Assign> {
        let rest = self.rest();
        let first = rest.first()?;
        if !(first.is_ascii_alphabetic() || *first == b'_') {
            return None;
        }
        let length = rest
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
            .count();
        let mut end = length;
        let mut index = None;
        if rest.get(end) == Some(&b'[') {
            // A subscript holds nothing that runs here; a stranger one is left to be a word.
            let inner = rest
                .get(end..)?
                .iter()
                .take(64)
                .position(|&byte| matches!(byte, b']' | b'$' | b'`'))?;
            if rest.get(end + inner) != Some(&b']') {
                return None;
            }
            let text = rest.get(end + 1..end + inner)?;
            index = Some(String::from_utf8_lossy(text).into_owned());
            end += inner + 1;
        }
        let append = rest.get(end) == Some(&b'+');
        end += usize::from(append);
        if rest.get(end) != Some(&b'=') {
            return None;
        }
        let name = String::from_utf8_lossy(rest.get(..length)?).into_owned();
        self.at += end + 1;
        if self.peek(0) == b'(' {
            self.at += 1;
            let array = Some(self.array());
            return Some(Assign {
                name,
                append,
                index,
                value: RawWord::default(),
                array,
            });
        }
        let value = self.word(Stop::Word);
        Some(Assign {
            name,
            append,
            index,
            value,
            array: None,
        })
    }

    /// After `=(`: the elements up to and over `)`.
    fn array(&mut self) -> Vec<RawWord> {
        let mut words = Vec::new();
        while !self.done() {
            self.skip_lines();
            if self.eat(b")") {
                break;
            }
            let before = self.at;
            words.push(self.word(Stop::Word));
            if self.at == before {
                self.at += 1;
            }
        }
        words
    }
}
