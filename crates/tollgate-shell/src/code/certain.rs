//! Which parts of a piece of code certainly run when it is started.
//!
//! A call counts if it stands outside of conditions and functions, or in a function that is called
//! from there, and if nothing before it may have ended the program: `if branch == "main":
//! sys.exit()`. Loops, `with` and `try` count as run. The blocks of Python are in braces here.

use super::tokens::Token;
use crate::word::has;

/// Words that begin what may not run.
const CONDITIONS: &str = "if elif else elsif while until unless catch except switch case class";
/// Words before the name of a function.
const FUNCTIONS: &str = "def function sub";
/// Words that end a function or the program.
const ENDS: &str = "exit _exit quit die raise throw return abort";
/// More functions than this are not kept apart.
const MAX_FUNCTIONS: usize = 64;

/// A function that the code defines.
pub(super) struct Function {
    pub(super) name: String,
    /// Where its head begins.
    pub(super) head: usize,
    /// The places of its body.
    pub(super) body: std::ops::Range<usize>,
}

/// What is known of each place of the code.
pub(super) struct Certain {
    runs: Vec<bool>,
    pub(super) functions: Vec<Function>,
}

impl Certain {
    pub(super) fn of(tokens: &[Token]) -> Self {
        let mut reader = Reader {
            tokens,
            places: Vec::with_capacity(tokens.len()),
            functions: Vec::new(),
            over: vec![false],
            frames: Vec::new(),
            statement: Statement::default(),
        };
        reader.read();
        let Reader {
            places, functions, ..
        } = reader;
        // The calls of functions that the code defines, each with where it stands.
        let mut calls = Vec::new();
        for (at, (token, place)) in tokens.iter().zip(&places).enumerate() {
            if let (Token::Name(name), Some(Token::Sign('('))) = (token, tokens.get(at + 1)) {
                let is_called = |function: &Function| {
                    let head = function.head..function.body.start;
                    function.name == *name && !head.contains(&at)
                };
                let called = functions.iter().position(is_called);
                calls.extend(
                    called
                        .filter(|_| place.sure)
                        .map(|called| (called + 1, *place)),
                );
            }
        }
        let mut called = vec![false; functions.len() + 1];
        let mut new = vec![0];
        while let Some(function) = new.pop() {
            if let Some(slot) = called.get_mut(function).filter(|slot| !**slot) {
                *slot = true;
                let from = calls.iter().filter(|(_, place)| place.function == function);
                new.extend(from.map(|(called, _)| *called));
            }
        }
        let runs = |place: &TokenPlace| place.sure && called.get(place.function) == Some(&true);
        Self {
            runs: places.iter().map(runs).collect(),
            functions,
        }
    }

    /// Whether what stands at a place certainly runs.
    pub(super) fn runs(&self, at: usize) -> bool {
        self.runs.get(at).copied().unwrap_or(false)
    }
}

/// Where a token stands: in which function, the first being none, and whether it runs with it.
#[derive(Clone, Copy)]
struct TokenPlace {
    function: usize,
    sure: bool,
}

/// A bracket that is open.
#[derive(Clone, Copy)]
struct Frame {
    /// A block of statements, and no list or arguments.
    block: bool,
    function: usize,
    sure: bool,
}

/// The statement that is read.
#[derive(Clone, Copy, Default)]
struct Statement {
    start: usize,
    /// Brackets around it.
    depth: usize,
    /// Its first word is a condition, which runs itself.
    asks: bool,
    /// The rest may not run.
    doubtful: bool,
    /// It ends its function.
    ends: bool,
    /// The rest is the body of this function.
    function: Option<usize>,
}

struct Reader<'t> {
    tokens: &'t [Token],
    places: Vec<TokenPlace>,
    functions: Vec<Function>,
    /// Functions that something may have ended.
    over: Vec<bool>,
    frames: Vec<Frame>,
    statement: Statement,
}

impl Reader<'_> {
    fn frame(&self) -> Frame {
        self.frames.last().copied().unwrap_or(Frame {
            block: true,
            function: 0,
            sure: true,
        })
    }

    fn place(&self) -> TokenPlace {
        let frame = self.frame();
        let function = self.statement.function.unwrap_or(frame.function);
        let over = self.over.get(function).copied().unwrap_or(true);
        // The body of a function of one statement runs when that is called.
        let sure = self.statement.function.is_some() || frame.sure;
        TokenPlace {
            function,
            sure: sure && !over && !self.statement.doubtful,
        }
    }

    fn read(&mut self) {
        for (at, token) in self.tokens.iter().enumerate() {
            self.places.push(self.place());
            match token {
                Token::Name(name) => self.name(at, name),
                Token::Sign(sign) => self.sign(at, *sign),
                Token::Text(_) => {}
            }
        }
    }

    fn name(&mut self, at: usize, name: &str) {
        let first = at == self.statement.start;
        let before = at.checked_sub(1).and_then(|at| self.tokens.get(at));
        if has(CONDITIONS, name) && before != Some(&Token::Sign('.')) {
            self.statement.asks = first && has("if while until unless elif elsif", name);
            // Python has `"__main__"` there; `x if y` asks about what precedes it.
            if !self.statement.asks && !self.statement.doubtful {
                self.statement.doubtful = true;
                let places = self.places.iter_mut().skip(self.statement.start);
                places.for_each(|place| place.sure = false);
            }
            self.statement.asks &= !has("elif elsif", name);
            self.statement.doubtful |= has("elif elsif", name);
        } else if name == "__name__" {
            self.statement.asks = false;
        } else if name == "lambda" {
            self.begin_function(at);
        } else if has(ENDS, name) {
            if self.place().sure {
                self.statement.ends = true;
            } else {
                self.end_here();
            }
        }
    }

    /// Something may have ended the function that is read.
    fn end_here(&mut self) {
        let function = self.place().function;
        if let Some(over) = self.over.get_mut(function) {
            *over = true;
        }
    }

    fn sign(&mut self, at: usize, sign: char) {
        match sign {
            '(' | '[' => self.open(Frame {
                block: false,
                ..self.inner()
            }),
            ')' | ']' => self.close(at),
            '{' => {
                let frame = self.block(at);
                self.open(frame);
                self.next_statement(at);
            }
            '}' => {
                self.close(at);
                self.next_statement(at);
            }
            ';' | '\n' if self.frame().block => self.next_statement(at),
            ':' if self.statement.asks && self.frames.len() == self.statement.depth => {
                self.statement.doubtful = true;
            }
            // `=> …` without a block.
            '>' if self.is_arrow(at) => self.begin_function(at),
            _ => {}
        }
        let closed = sign == ')' && self.frames.len() == self.statement.depth;
        self.statement.doubtful |= closed && self.statement.asks;
    }

    /// What is inside of a bracket that opens here.
    fn inner(&self) -> Frame {
        let place = self.place();
        Frame {
            block: true,
            function: place.function,
            sure: place.sure
                || self.frame().sure
                    && self.statement.function.is_none()
                    && !self.statement.doubtful,
        }
    }

    fn open(&mut self, frame: Frame) {
        self.frames.push(frame);
    }

    /// Ends a bracket, and the function whose body it is around.
    fn close(&mut self, at: usize) {
        let closed = self.frames.pop().map_or(0, |frame| frame.function);
        if closed != self.frame().function {
            self.end_function(closed, at);
        }
    }

    fn end_function(&mut self, function: usize, at: usize) {
        let function = function.checked_sub(1);
        if let Some(function) = function.and_then(|index| self.functions.get_mut(index)) {
            function.body.end = at;
        }
    }

    fn next_statement(&mut self, at: usize) {
        if self.statement.ends {
            self.end_here();
        }
        self.end_function(self.statement.function.unwrap_or(0), at);
        self.statement = Statement {
            start: at + 1,
            depth: self.frames.len(),
            ..Statement::default()
        };
    }

    fn is_arrow(&self, at: usize) -> bool {
        at.checked_sub(1).and_then(|at| self.tokens.get(at)) == Some(&Token::Sign('='))
            && !matches!(self.tokens.get(at + 1), Some(Token::Sign('{')))
    }

    /// `name = lambda …`, `const name = (…) => …`: the rest of the statement is a function.
    fn begin_function(&mut self, at: usize) {
        match self.assigned_name(at) {
            Some(name) => self.statement.function = self.define(name, at + 1),
            None => self.statement.doubtful = true,
        }
    }

    /// The name that the statement gives to what follows: `name = `, `const name = `.
    fn assigned_name(&self, at: usize) -> Option<String> {
        let head = self.tokens.get(self.statement.start..at)?;
        let mut start = head.iter().take(3);
        let equals = start.position(|token| *token == Token::Sign('='))?;
        match head.get(equals.checked_sub(1)?)? {
            Token::Name(name) => Some(name.clone()),
            Token::Text(_) | Token::Sign(_) => None,
        }
    }

    fn define(&mut self, name: String, body: usize) -> Option<usize> {
        if self.functions.len() >= MAX_FUNCTIONS {
            return None;
        }
        self.functions.push(Function {
            name,
            head: self.statement.start,
            // Until its end is found, that of the code.
            body: body..self.tokens.len(),
        });
        self.over.push(false);
        Some(self.functions.len())
    }

    /// What a block that opens here is, by the words before it.
    fn block(&mut self, at: usize) -> Frame {
        let inner = self.inner();
        let maybe = Frame {
            sure: false,
            ..inner
        };
        let head = self
            .tokens
            .get(self.statement.start..at)
            .unwrap_or_default();
        let named = |word: &str| {
            head.iter()
                .position(|token| matches!(token, Token::Name(name) if has(word, name)))
        };
        let name_at = |at: usize| match head.get(at) {
            Some(Token::Name(name)) => Some(name.clone()),
            Some(Token::Text(_) | Token::Sign(_)) | None => None,
        };
        if let Some(word) = named(FUNCTIONS) {
            let name = name_at(word + 1).or_else(|| self.assigned_name(at));
            return self.function_block(name, at, maybe);
        }
        let arrow = matches!(head, [.., Token::Sign('='), Token::Sign('>')]);
        if arrow {
            // `(() => { … })()` runs at once.
            let at_once = head.first() == Some(&Token::Sign('('));
            return match self.assigned_name(at) {
                None if at_once => inner,
                name => self.function_block(name, at, maybe),
            };
        }
        if self.statement.doubtful || named("class").is_some() {
            return maybe;
        }
        // `commit() {`: a method.
        let method =
            matches!(head, [.., Token::Sign(')')]) && matches!(head.get(1), Some(Token::Sign('(')));
        match name_at(0).filter(|name| method && !has("if for while with switch foreach", name)) {
            Some(name) => self.function_block(Some(name), at, maybe),
            None => inner,
        }
    }

    fn function_block(&mut self, name: Option<String>, at: usize, maybe: Frame) -> Frame {
        let function = name.and_then(|name| self.define(name, at + 1));
        function.map_or(maybe, |function| Frame {
            block: true,
            function,
            sure: true,
        })
    }
}
