//! Commands: lists, pipelines, compound commands, functions.

use std::rc::Rc;

use super::Parser;
use super::cursor::{is_name, string};
use super::word::Stop;
use crate::syntax::{AndOr, Assign, Command, Join, Kind, List, Piece, Pipeline, RawWord};
use crate::word::BETWEEN;

/// Words that open a compound command.
const OPENERS: [&str; 9] = [
    "{", "[[", "if", "while", "until", "for", "select", "case", "function",
];

/// Words that end a list when they stand where a command would.
const CLOSERS: [&str; 8] = ["then", "else", "elif", "fi", "do", "done", "esac", "}"];

impl Parser<'_> {
    /// The whole text as a list.
    pub(super) fn script(&mut self) -> List {
        let mut list = List::default();
        loop {
            list.0.extend(self.list().0);
            if self.text.done() {
                return list;
            }
            // A closer without its opener, or a stray `)` or `;;`.
            self.broken = true;
            self.skip_stray();
        }
    }

    /// The list up to and over the `)` that closes it.
    pub(super) fn list_until_paren(&mut self) -> List {
        let mut list = List::default();
        loop {
            list.0.extend(self.list().0);
            if self.text.done() {
                self.broken = true;
                return list;
            }
            if self.text.peek(0) == b')' {
                self.text.at += 1;
                return list;
            }
            self.broken = true;
            self.skip_stray();
        }
    }

    fn skip_stray(&mut self) {
        let before = self.text.at;
        let _stray = self.word(Stop::Word);
        if self.text.at == before {
            self.text.at += 1;
        }
    }

    /// Skips blanks, newlines and comments.
    fn skip_lines(&mut self) {
        loop {
            self.text.skip_blanks();
            if self.text.peek(0) != b'\n' {
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
            while self.text.peek(0) == b';'
                && self.text.peek(1) != b';'
                && self.text.peek(1) != b'&'
            {
                self.text.at += 1;
                self.skip_lines();
            }
            if self.text.done()
                || matches!(self.text.peek(0), b')' | b';')
                || CLOSERS.contains(&self.text.word_ahead())
            {
                return list;
            }
            let before = self.text.at;
            let mut and_or = self.and_or();
            self.text.skip_blanks();
            if self.text.peek(0) == b'&' && self.text.peek(1) != b'&' {
                self.text.at += 1;
                and_or.background = true;
            }
            list.0.push(and_or);
            if self.text.at == before {
                // An operator where a command should be.
                self.broken = true;
                self.text.at += 1;
            }
        }
    }

    fn eat_word(&mut self, word: &str) -> bool {
        self.skip_lines();
        let found = self.text.word_ahead() == word;
        if found {
            self.text.at += word.len();
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
            self.text.skip_blanks();
            let join = if self.text.eat(b"&&") {
                Join::And
            } else if self.text.eat(b"||") {
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
            self.text.skip_blanks();
            match self.text.word_ahead() {
                "!" => {
                    self.text.at += 1;
                    pipeline.negated = !pipeline.negated;
                }
                // How a coprocess is named and talked to does not matter here.
                "coproc" => self.text.at += "coproc".len(),
                "time" => {
                    self.text.at += "time".len();
                    self.text.skip_blanks();
                    while matches!(self.text.word_ahead(), "-p" | "--") {
                        self.text.at += 2;
                        self.text.skip_blanks();
                    }
                }
                _ => break,
            }
        }
        loop {
            pipeline.stages.push(self.command());
            self.text.skip_blanks();
            if self.text.peek(0) == b'|' && self.text.peek(1) != b'|' {
                self.text.at += 1;
                if self.text.peek(0) == b'&' {
                    self.text.at += 1;
                }
                self.skip_lines();
            } else {
                return pipeline;
            }
        }
    }

    fn command(&mut self) -> Command {
        self.deeper(Self::command_inner)
    }

    fn command_inner(&mut self) -> Command {
        self.text.skip_blanks();
        let Some(kind) = self.compound() else {
            return self.simple();
        };
        let mut redirects = Vec::new();
        loop {
            self.text.skip_blanks();
            match self.redirect() {
                Some(redirect) => redirects.push(redirect),
                None => return Command { kind, redirects },
            }
        }
    }

    fn compound(&mut self) -> Option<Kind> {
        if self.text.peek(0) == b'(' {
            if self.text.peek(1) == b'(' && self.text.is_arithmetic(0) {
                self.text.at += 2;
                return Some(Kind::Test(vec![self.arithmetic()]));
            }
            self.text.at += 1;
            return Some(Kind::Subshell(self.list_until_paren()));
        }
        let word = self.text.word_ahead();
        if !OPENERS.contains(&word) {
            return None;
        }
        self.text.at += word.len();
        Some(match word {
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
                self.text.skip_blanks();
                let name = self.word(Stop::Word).bare().unwrap_or_default().to_owned();
                self.text.skip_blanks();
                if self.text.eat(b"()") {
                    self.text.skip_blanks();
                }
                self.skip_lines();
                Kind::Function {
                    name,
                    body: Rc::new(self.command()),
                }
            }
            _ => self.for_loop(),
        })
    }

    /// After `[[`: the words up to `]]`.
    fn test(&mut self) -> Kind {
        let mut words = Vec::new();
        while !self.text.done() {
            self.text.skip_blanks();
            if self.text.peek(0) == b'\n' {
                self.newline();
                continue;
            }
            let before = self.text.at;
            let word = self.word(Stop::Word);
            if word.bare() == Some("]]") {
                break;
            }
            if self.text.at == before {
                self.text.at += 1;
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
            if self.text.done() {
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
        self.text.skip_blanks();
        if self.text.peek(0) == b';' {
            self.text.at += 1;
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
        self.text.skip_blanks();
        if self.text.eat(b"((") {
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
                self.text.skip_blanks();
                if self.text.ends_words() {
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

    fn case(&mut self) -> Kind {
        self.text.skip_blanks();
        let subject = self.word(Stop::Word);
        self.expect_word("in");
        let mut arms = Vec::new();
        loop {
            if self.eat_word("esac") {
                break;
            }
            if self.text.done() {
                self.broken = true;
                break;
            }
            let before = self.text.at;
            let _open = self.text.eat(b"(");
            let mut patterns = Vec::new();
            loop {
                self.text.skip_blanks();
                patterns.push(self.word(Stop::Word));
                self.text.skip_blanks();
                if !self.text.eat(b"|") {
                    break;
                }
            }
            if !self.text.eat(b")") {
                self.broken = true;
            }
            let body = self.list();
            arms.push((patterns, body));
            let _end = self.text.eat(b";;&") || self.text.eat(b";;") || self.text.eat(b";&");
            if self.text.at == before {
                self.text.at += 1;
            }
        }
        Kind::Case { subject, arms }
    }

    fn simple(&mut self) -> Command {
        let mut assigns = Vec::new();
        let mut words: Vec<RawWord> = Vec::new();
        let mut redirects = Vec::new();
        loop {
            self.text.skip_blanks();
            if let Some(redirect) = self.redirect() {
                redirects.push(redirect);
                continue;
            }
            if self.text.ends_words() {
                // `name ()`: a function.
                let name = match words.as_slice() {
                    [only] if assigns.is_empty() => only.bare(),
                    _ => None,
                };
                if let Some(name) = name
                    && self.text.peek(0) == b'('
                {
                    let name = name.to_owned();
                    self.text.at += 1;
                    self.text.skip_blanks();
                    if !self.text.eat(b")") {
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
            if declares && self.text.peek(0) == b'(' {
                self.text.at += 1;
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

    /// `name=…`, `name+=…` where a command may start.
    fn assignment(&mut self) -> Option<Assign> {
        let rest = self.text.rest();
        let length = rest.iter().take_while(|byte| is_name(**byte)).count();
        let name = rest.get(..length)?;
        if name.first()?.is_ascii_digit() {
            return None;
        }
        // A subscript holds nothing that runs here; a stranger one is left to be a word.
        let after = rest.get(length..)?;
        let plain = |byte: &u8| is_name(*byte) || *byte == b'-';
        let index = match after.split_first() {
            Some((b'[', index)) => index.iter().take(64).take_while(|byte| plain(byte)).count() + 2,
            _ => 0,
        };
        if index > 0 && after.get(index - 1) != Some(&b']') {
            return None;
        }
        let plus = after.get(index) == Some(&b'+');
        if after.get(index + usize::from(plus)) != Some(&b'=') {
            return None;
        }
        self.text.at += length + index + usize::from(plus) + 1;
        let array = self.text.eat(b"(").then(|| self.array());
        let value = match array {
            Some(_) => RawWord::default(),
            None => self.word(Stop::Word),
        };
        // Elements that are set one by one are taken to come in their order.
        let append = plus || index > 0;
        let (value, array) = match array {
            None if index > 0 => (RawWord::default(), Some(vec![value])),
            array => (value, array),
        };
        Some(Assign {
            name: string(name),
            append,
            value,
            array,
        })
    }

    /// After `=(`: the elements up to and over `)`.
    fn array(&mut self) -> Vec<RawWord> {
        let mut words = Vec::new();
        while !self.text.done() {
            self.skip_lines();
            if self.text.eat(b")") {
                break;
            }
            let before = self.text.at;
            words.push(self.word(Stop::Word));
            if self.text.at == before {
                self.text.at += 1;
            }
        }
        words
    }
}
