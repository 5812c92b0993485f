//! Commands: lists, pipelines, compound commands, functions.

use std::ops::ControlFlow;
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

/// What joins and groups the words of `[[ … ]]`.
const TEST_OPERATORS: [&str; 6] = ["&&", "||", "(", ")", "<", ">"];

impl Parser<'_> {
    /// The whole text as a list.
    pub(super) fn script(&mut self) -> List {
        let mut list = List::default();
        self.repeat(|parser| {
            list.0.extend(parser.list().0);
            if !parser.text.done() {
                // A closer without its opener, or a stray `)` or `;;`.
                parser.broken = true;
                parser.skip_stray();
            }
            ControlFlow::Continue(())
        });
        list
    }

    /// The list up to and over the `)` that closes it.
    pub(super) fn list_until_paren(&mut self) -> List {
        let mut list = List::default();
        let mut closed = false;
        self.repeat(|parser| {
            list.0.extend(parser.list().0);
            closed = parser.text.eat(b")");
            if closed {
                return ControlFlow::Break(());
            }
            parser.broken = true;
            parser.skip_stray();
            ControlFlow::Continue(())
        });
        self.broken |= !closed;
        list
    }

    fn skip_stray(&mut self) {
        let before = self.text.position();
        let _stray = self.word(Stop::Word);
        if self.text.position() == before {
            self.text.skip(1);
        }
    }

    /// Skips blanks, newlines and comments.
    fn skip_lines(&mut self) {
        self.repeat(|parser| {
            parser.text.skip_blanks();
            if parser.text.peek(0) != b'\n' {
                return ControlFlow::Break(());
            }
            parser.newline();
            ControlFlow::Continue(())
        });
    }

    /// A `;` that ends a command, and no arm of a `case`.
    fn at_semicolon(&self) -> bool {
        self.text.peek(0) == b';' && !matches!(self.text.peek(1), b';' | b'&')
    }

    /// Commands up to a closing word, `)`, `;;` or the end; the closer is left in place.
    fn list(&mut self) -> List {
        let mut list = List::default();
        self.repeat(|parser| {
            parser.skip_lines();
            if parser.at_semicolon() {
                parser.text.skip(1);
                return ControlFlow::Continue(());
            }
            if parser.text.done()
                || matches!(parser.text.peek(0), b')' | b';')
                || CLOSERS.contains(&parser.text.word_ahead())
            {
                return ControlFlow::Break(());
            }
            // An operator where a command should be is read as none, and stepped over.
            let mut and_or = parser.and_or();
            parser.text.skip_blanks();
            if parser.text.peek(0) == b'&' && parser.text.peek(1) != b'&' {
                parser.text.skip(1);
                and_or.background = true;
            }
            list.0.push(and_or);
            ControlFlow::Continue(())
        });
        list
    }

    fn eat_word(&mut self, word: &str) -> bool {
        self.skip_lines();
        let found = self.text.word_ahead() == word;
        if found {
            self.text.skip(word.len());
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
        self.repeat(|parser| {
            parser.text.skip_blanks();
            let join = if parser.text.eat(b"&&") {
                Join::And
            } else if parser.text.eat(b"||") {
                Join::Or
            } else {
                return ControlFlow::Break(());
            };
            parser.skip_lines();
            pipelines.push((join, parser.pipeline()));
            ControlFlow::Continue(())
        });
        AndOr {
            pipelines,
            background: false,
        }
    }

    fn pipeline(&mut self) -> Pipeline {
        let mut pipeline = Pipeline::default();
        self.repeat(|parser| {
            parser.text.skip_blanks();
            match parser.text.word_ahead() {
                "!" => {
                    parser.text.skip(1);
                    pipeline.negated = !pipeline.negated;
                }
                // How a coprocess is named and talked to does not matter here.
                "coproc" => parser.text.skip("coproc".len()),
                "time" => parser.time(),
                _ => return ControlFlow::Break(()),
            }
            ControlFlow::Continue(())
        });
        pipeline.stages.push(self.command());
        self.repeat(|parser| {
            parser.text.skip_blanks();
            if parser.text.peek(0) != b'|' || parser.text.peek(1) == b'|' {
                return ControlFlow::Break(());
            }
            parser.text.skip(1);
            let _with_errors = parser.text.eat(b"&");
            parser.skip_lines();
            pipeline.stages.push(parser.command());
            ControlFlow::Continue(())
        });
        pipeline
    }

    /// The word `time` and its options.
    fn time(&mut self) {
        self.text.skip("time".len());
        self.repeat(|parser| {
            parser.text.skip_blanks();
            if !matches!(parser.text.word_ahead(), "-p" | "--") {
                return ControlFlow::Break(());
            }
            parser.text.skip(2);
            ControlFlow::Continue(())
        });
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
        self.repeat(|parser| {
            parser.text.skip_blanks();
            match parser.redirect() {
                Some(redirect) => redirects.push(redirect),
                None => return ControlFlow::Break(()),
            }
            ControlFlow::Continue(())
        });
        Command { kind, redirects }
    }

    fn compound(&mut self) -> Option<Kind> {
        if self.text.peek(0) == b'(' {
            if self.text.peek(1) == b'(' && self.text.is_arithmetic(0) {
                self.text.skip(2);
                return Some(Kind::Test(vec![self.arithmetic()]));
            }
            self.text.skip(1);
            return Some(Kind::Subshell(self.list_until_paren()));
        }
        let word = self.text.word_ahead();
        if !OPENERS.contains(&word) {
            return None;
        }
        self.text.skip(word.len());
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

    /// After `[[`: the words up to `]]`, with the operators between them.
    fn test(&mut self) -> Kind {
        let mut words: Vec<RawWord> = Vec::new();
        self.repeat(|parser| {
            parser.text.skip_blanks();
            if parser.text.peek(0) == b'\n' {
                parser.newline();
                return ControlFlow::Continue(());
            }
            let operator = TEST_OPERATORS
                .iter()
                .find(|sign| parser.text.eat(sign.as_bytes()));
            if let Some(operator) = operator {
                words.push(RawWord(vec![Piece::Bare((*operator).to_owned())]));
                return ControlFlow::Continue(());
            }
            let expression = words.last().and_then(RawWord::bare) == Some("=~");
            let stop = if expression { Stop::Blank } else { Stop::Word };
            let word = parser.word(stop);
            if word.bare() == Some("]]") {
                return ControlFlow::Break(());
            }
            if !word.0.is_empty() {
                words.push(word);
            }
            ControlFlow::Continue(())
        });
        Kind::Test(words)
    }

    fn conditional(&mut self) -> Kind {
        let mut arms = Vec::new();
        let mut otherwise = List::default();
        self.repeat(|parser| {
            let condition = parser.list();
            parser.expect_word("then");
            arms.push((condition, parser.list()));
            if parser.eat_word("elif") {
                return ControlFlow::Continue(());
            }
            if parser.eat_word("else") {
                otherwise = parser.list();
            }
            parser.expect_word("fi");
            ControlFlow::Break(())
        });
        self.broken |= arms.is_empty();
        Kind::If { arms, otherwise }
    }

    fn do_group(&mut self) -> List {
        self.text.skip_blanks();
        if self.text.peek(0) == b';' {
            self.text.skip(1);
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
            self.repeat(|parser| {
                parser.text.skip_blanks();
                if parser.text.ends_words() {
                    return ControlFlow::Break(());
                }
                words.push(parser.word(Stop::Word));
                ControlFlow::Continue(())
            });
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
        let (mut closed, mut falls) = (false, false);
        self.repeat(|parser| {
            closed = parser.eat_word("esac");
            if closed {
                return ControlFlow::Break(());
            }
            let _open = parser.text.eat(b"(");
            let mut patterns = Vec::new();
            parser.repeat(|parser| {
                parser.text.skip_blanks();
                patterns.push(parser.word(Stop::Word));
                parser.text.skip_blanks();
                if parser.text.eat(b"|") {
                    return ControlFlow::Continue(());
                }
                ControlFlow::Break(())
            });
            if !parser.text.eat(b")") {
                parser.broken = true;
            }
            arms.push((patterns, parser.list()));
            let on = parser.text.eat(b";;&") || !parser.text.eat(b";;") && parser.text.eat(b";&");
            falls |= on;
            ControlFlow::Continue(())
        });
        self.broken |= !closed;
        Kind::Case {
            subject,
            arms,
            falls,
        }
    }

    fn simple(&mut self) -> Command {
        let mut assigns = Vec::new();
        let mut words: Vec<RawWord> = Vec::new();
        let mut redirects = Vec::new();
        self.repeat(|parser| {
            parser.text.skip_blanks();
            if let Some(redirect) = parser.redirect() {
                redirects.push(redirect);
            } else if parser.text.ends_words() {
                return ControlFlow::Break(());
            } else if words.is_empty()
                && let Some(assign) = parser.assignment()
            {
                assigns.push(assign);
            } else {
                parser.argument(&mut words);
            }
            ControlFlow::Continue(())
        });
        // `name ()`: a function.
        let name = match words.as_slice() {
            [only] if assigns.is_empty() => only.bare(),
            _ => None,
        };
        let kind = match name.filter(|_| self.text.eat(b"(")) {
            Some(name) => {
                self.text.skip_blanks();
                self.broken |= !self.text.eat(b")");
                self.skip_lines();
                Kind::Function {
                    name: name.to_owned(),
                    body: Rc::new(self.command()),
                }
            }
            None => Kind::Simple { assigns, words },
        };
        Command { kind, redirects }
    }

    /// One more word of a command.
    fn argument(&mut self, words: &mut Vec<RawWord>) {
        let declares = words.first().and_then(RawWord::bare).is_some_and(|first| {
            matches!(
                first,
                "declare" | "local" | "typeset" | "export" | "readonly"
            )
        });
        let mut word = self.word(Stop::Word);
        // `declare -a x=(…)`: the elements are parts of one value.
        if declares && self.text.eat(b"(") {
            for (index, element) in self.array().into_iter().enumerate() {
                if index > 0 {
                    word.0.push(Piece::Quoted(BETWEEN.to_string()));
                }
                word.0.extend(element.0);
            }
        }
        words.push(word);
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
        self.text.skip(length + index + usize::from(plus) + 1);
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
        self.repeat(|parser| {
            parser.skip_lines();
            if parser.text.eat(b")") {
                return ControlFlow::Break(());
            }
            words.push(parser.word(Stop::Word));
            ControlFlow::Continue(())
        });
        words
    }
}
