//! Inline code of other languages (`python3 -c`, `node -e` …): which files does it use?
//!
//! No language is parsed. The code is cut into names, strings and signs, which is enough to see
//! that a string is a path, that a variable holds it, and that one of the well-known
//! calls is made with it ([`files`]). Strings that are given to a shell are handed back to the
//! caller, if the code certainly runs there ([`certain`]).

mod certain;
mod files;
mod tokens;

use certain::Certain;
pub(crate) use files::{FileUse, Use};
use tokens::{Token, tokens};

use super::run::Run;
use super::word::{Word, has, quoted};

/// Flags of `open(2)` that say so.
const OPEN_FLAGS: &str = "O_WRONLY O_RDWR O_CREAT O_TRUNC O_APPEND";

/// Calls that give a text to a shell.
const SHELLS: &str = "capture2 capture2e capture3 execa execaCommand execaCommandSync execaSync \
    execl execlp execute execv execvp getstatusoutput passthru posix_spawn proc_open qx spawnlp \
    spawnvp system exec execSync execFileSync execFile spawn spawnSync popen Popen run call \
    check_call check_output shell_exec getoutput";

/// Code in pieces.
pub(crate) struct Code {
    tokens: Vec<Token>,
}

impl Code {
    pub(crate) fn read(code: &str, given: &Given<'_>) -> Self {
        Self {
            tokens: with_values(tokens(code, given.language), given),
        }
    }

    /// The commands that it certainly gives to a shell, itself or through its own function.
    pub(crate) fn commands(&self) -> Vec<String> {
        let certain = Certain::of(&self.tokens);
        let wrappers = self.wrappers(&certain);
        let is_wrapper = |name: &str| wrappers.iter().any(|(wrapper, _)| *wrapper == name);
        let starts = |at: &usize| {
            let name = self.name(*at).filter(|_| certain.runs(*at));
            name.is_some_and(|name| has(SHELLS, name) || is_wrapper(name))
        };
        let calls = (0..self.tokens.len()).filter(starts).take(MAX_CALLS);
        let command = |at: usize| {
            let args = at + 1..self.call_end(at);
            let is_call = self.sign(at + 1) == Some('(');
            let mut known = wrappers.iter().filter(|_| is_call);
            match known.find(|(wrapper, _)| self.name(at) == Some(wrapper)) {
                Some((_, words)) => self.command(words, args),
                None => self.command(&[], args),
            }
        };
        calls.filter_map(command).take(MAX_COMMANDS).collect()
    }

    /// Functions of the code that give what they are given to a shell, with the words that they put
    /// before it: `def git(*args): subprocess.run(["git", *args])`.
    fn wrappers<'c>(&'c self, certain: &'c Certain) -> Vec<(&'c str, Vec<&'c str>)> {
        let functions = certain.functions.iter();
        let wrapper = |function: &'c certain::Function| {
            let mut body = function.body.clone().take(MAX_BACK);
            let at = body.find(|at| self.name(*at).is_some_and(|name| has(SHELLS, name)))?;
            let args = at + 1..self.call_end(at).min(function.body.end);
            let head = (function.head..function.body.start).take(64);
            let given = |name: &str| {
                head.clone()
                    .filter_map(|at| self.name(at))
                    .any(|own| own == name)
            };
            let passes = |at: &usize| {
                let name = self.name(*at);
                name.is_some_and(|name| name != function.name && given(name))
            };
            let passed = args.clone().find(passes)?;
            let words = self.texts(args.start..passed).collect();
            Some((function.name.as_str(), words))
        };
        functions.filter_map(wrapper).collect()
    }

    fn name(&self, at: usize) -> Option<&str> {
        match self.tokens.get(at)? {
            Token::Name(name) => Some(name),
            Token::Text(_) | Token::Sign(_) => None,
        }
    }

    fn text(&self, at: usize) -> Option<&str> {
        match self.tokens.get(at)? {
            Token::Text(text) => Some(text),
            Token::Name(_) | Token::Sign(_) => None,
        }
    }

    fn sign(&self, at: usize) -> Option<char> {
        match self.tokens.get(at)? {
            Token::Sign(sign) => Some(*sign),
            Token::Name(_) | Token::Text(_) => None,
        }
    }

    /// The first place between `from` and `to` whose sign ends something at its depth of brackets.
    /// A bracket that closes counts with the depth before it.
    fn end(&self, from: usize, to: usize, ends: impl Fn(usize, u32, char) -> bool) -> usize {
        let to = to.min(self.tokens.len()).min(from + 400);
        let mut depth = 0_u32;
        for index in from..to {
            let Some(sign) = self.sign(index) else {
                continue;
            };
            if ends(index, depth, sign) {
                return index;
            }
            match sign {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        to
    }

    /// The end of an assigned value: the statement's, or a comma outside brackets.
    fn value_end(&self, at: usize) -> usize {
        self.end(at, usize::MAX, |_, depth, sign| {
            matches!(sign, ';' | '\n') || sign == ',' && depth == 0
        })
    }

    /// The end of the call's arguments: the closing parenthesis, or the statement's end for the
    /// languages that need none.
    fn call_end(&self, at: usize) -> usize {
        self.end(at + 1, usize::MAX, |index, depth, sign| match sign {
            ')' | ']' | '}' => depth <= 1,
            ';' | '\n' => depth == 0,
            '=' | '.' | ':' => depth == 0 && index == at + 1,
            _ => false,
        })
    }

    /// Where begins what ends before the dot of a call.
    fn receiver_start(&self, dot: usize) -> usize {
        let mut depth = 0_u32;
        let mut start = dot;
        while let Some(index) = start.checked_sub(1).filter(|index| dot - index < 60) {
            match self.sign(index) {
                Some(')' | ']') => depth += 1,
                Some('(' | '[') if depth > 0 => depth -= 1,
                Some(sign) if depth == 0 && sign != '.' => break,
                Some(_) | None => {}
            }
            start = index;
        }
        start
    }

    fn opens_to_write(&self, args: std::ops::Range<usize>) -> bool {
        let says = |text: &str| {
            let mode = |letter| "rwaxbt+U".contains(letter);
            text.starts_with('>')
                || text.starts_with("+<")
                || text.len() <= 4 && text.chars().all(mode) && text.contains(['w', 'a', 'x', '+'])
        };
        args.into_iter().any(|index| {
            let flag = self.name(index).is_some_and(|name| has(OPEN_FLAGS, name));
            flag || self.text(index).is_some_and(says)
        })
    }

    /// The command in a call's arguments, behind the words of a wrapper: one text, or a list of words.
    fn command(&self, before: &[&str], args: std::ops::Range<usize>) -> Option<String> {
        let texts = before.iter().copied();
        let mut texts: Vec<&str> = texts.chain(self.texts(args.clone())).collect();
        if texts.is_empty() {
            let mut names = args.clone().take(8);
            texts = names.find_map(|at| self.held_texts(at)).unwrap_or_default();
        }
        match texts.as_slice() {
            // `qw(git commit)`, `qx(git commit)`
            [] => {
                let names = args.filter_map(|index| self.name(index));
                let names: Vec<&str> = names.filter(|name| *name != "qw").collect();
                (names.first() == Some(&"git")).then(|| names.join(" "))
            }
            // The program, and again as the first of its own arguments.
            [program, again, ..] if !program.contains(' ') && program == again => {
                Some(command_of(texts.get(1..).unwrap_or_default()))
            }
            [first, ..] if first.contains(' ') => Some((*first).to_owned()),
            words => Some(command_of(words)),
        }
    }

    fn texts(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = &str> {
        range.filter_map(|index| self.text(index))
    }

    /// The texts of a variable that is named at a place, as it was last set before.
    fn held_texts(&self, at: usize) -> Option<Vec<&str>> {
        let texts: Vec<&str> = self.texts(self.held_range(self.name(at)?, at)?).collect();
        Some(texts).filter(|texts| !texts.is_empty())
    }

    /// The value of a variable at a place; nothing when a loop sets it.
    fn held_range(&self, name: &str, at: usize) -> Option<std::ops::Range<usize>> {
        let loops = |place: usize| {
            let before = place.checked_sub(1).and_then(|before| self.name(before));
            let after = self.name(place + 1);
            before.is_some_and(|before| has("for const let var", before))
                && matches!(after, Some("in" | "of"))
        };
        let sets = |place: usize| {
            self.sign(place + 1) == Some('=') && !matches!(self.sign(place + 2), Some('=' | '>'))
        };
        let mut before = (at.saturating_sub(MAX_BACK)..at).rev();
        let set = before
            .find(|place| self.name(*place) == Some(name) && (sets(*place) || loops(*place)))?;
        sets(set).then(|| set + 2..self.value_end(set + 2))
    }
}

fn command_of(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

/// More commands than this are not taken from one code.
const MAX_COMMANDS: usize = 32;
/// The same for calls that could be one.
const MAX_CALLS: usize = 256;
/// The value of a variable is searched for in so many tokens before its use.
const MAX_BACK: usize = 400;

/// The commands that code runs where they stand in full. Code that changes its directory is left
/// alone: they may be meant for another repository.
pub(crate) fn commands(code: &str, language: Language, vars: &[(String, Word)]) -> Vec<String> {
    let given = Given {
        language: Some(language),
        vars,
        ..Given::default()
    };
    let code = Code::read(code, &given);
    let mut names = (0..code.tokens.len()).filter_map(|at| code.name(at));
    if names.any(|name| matches!(name, "cwd" | "chdir")) {
        return Vec::new();
    }
    let mut commands = code.commands();
    commands.retain(|command| !command.contains(['{', '$', '%']));
    commands
}

/// What the command line gives to the code.
#[derive(Default)]
pub(crate) struct Given<'r> {
    pub(crate) language: Option<Language>,
    /// The words that follow the code.
    pub(crate) args: &'r [Word],
    /// The number of the first of them in the language's list of arguments.
    pub(crate) first: usize,
    /// The variables set before the command.
    pub(crate) vars: &'r [(String, Word)],
}

/// Puts the words of the command line where the code asks for them by number, and the values of
/// variables where it asks for them by name.
fn with_values(tokens: Vec<Token>, given: &Given<'_>) -> Vec<Token> {
    let asks = |token: &Token| matches!(token, Token::Name(name) if is_given(name));
    if !tokens.iter().any(asks) {
        return tokens;
    }
    let value = |name: &str, key: Option<&Token>| match key? {
        Token::Name(index) if name.ends_with("argv") || name.ends_with("ARGV") => {
            let index = index.parse::<usize>().ok()?.checked_sub(given.first)?;
            given.args.get(index)
        }
        Token::Name(key) | Token::Text(key) => {
            let known = given.vars.iter().rev().find(|(known, _)| known == key);
            known.map(|(_, value)| value)
        }
        Token::Sign(_) => None,
    };
    let mut out = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        // `argv[1]`, `environ['F']`, `env.F`, `getenv("F")`
        let opens = matches!(tokens.get(at), Some(Token::Sign('[' | '.' | '(' | '{')));
        match token {
            Token::Name(name) if opens && is_given(name) => match value(name, tokens.get(at + 1)) {
                Some(word) => {
                    out.push(Token::Text(word.raw().to_owned()));
                    let closed = !matches!(tokens.get(at), Some(Token::Sign('.')));
                    at += 2 + usize::from(closed);
                }
                None => out.push(token.clone()),
            },
            Token::Name(_) | Token::Text(_) | Token::Sign(_) => out.push(token.clone()),
        }
    }
    out
}

fn is_given(name: &str) -> bool {
    has("argv ARGV $ARGV environ env ENV $ENV getenv", name)
}

/// Languages whose code is read here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Python,
    JavaScript,
    /// And Ruby, which is near enough.
    Perl,
    Php,
}

/// The language that a program interprets.
pub(crate) fn language(program: &str) -> Option<Language> {
    let starts = |names: &[&str]| names.iter().any(|name| program.starts_with(name));
    if matches!(
        program,
        "node" | "nodejs" | "deno" | "bun" | "tsx" | "ts-node"
    ) {
        Some(Language::JavaScript)
    } else if starts(&["python", "pypy"]) {
        Some(Language::Python)
    } else if starts(&["perl", "ruby"]) {
        Some(Language::Perl)
    } else {
        starts(&["php"]).then_some(Language::Php)
    }
}

impl Language {
    /// Whether a word says that the next one is code.
    fn takes_code(self, word: &str) -> bool {
        let Some(cluster) = word.strip_prefix('-').filter(|cluster| !cluster.is_empty()) else {
            return self == Self::JavaScript && word == "eval";
        };
        if cluster.starts_with('-') {
            return matches!(cluster, "-eval" | "-print" | "-command");
        }
        match self {
            Self::Python => cluster.ends_with('c'),
            Self::JavaScript => cluster.ends_with(['e', 'E', 'p']),
            // `perl -p` alone is a loop around code.
            Self::Perl => cluster.ends_with(['e', 'E']),
            Self::Php => cluster.ends_with('r'),
        }
    }
}

/// The code an interpreter is given on its command line, on standard input, or in a file that
/// the command wrote.
pub(crate) fn inline_code(
    language: Language,
    args: &[Word],
    input: Option<&Word>,
    script: Option<&Word>,
) -> Vec<Word> {
    let mut codes = Vec::new();
    let mut scripted = false;
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let text = word.raw();
        if language.takes_code(text) {
            codes.extend(words.next().cloned());
            scripted = true;
        } else if let Some(code) = text.strip_prefix("--eval=") {
            codes.push(Word::new(code));
            scripted = true;
        } else if text == "-" {
            break;
        } else if !text.starts_with('-') {
            scripted = true;
            break;
        }
    }
    if !scripted {
        codes.extend(input.cloned());
    }
    if codes.is_empty() {
        codes.extend(script.cloned());
    }
    codes
}

/// The code of a command, and what it is given beside its text.
pub(crate) fn code_of(run: &Run) -> (Vec<Word>, Given<'_>) {
    let args = run.args();
    let Some(language) = run.program().and_then(language) else {
        return (Vec::new(), Given::default());
    };
    // Code on the command line stands behind an option, a script is the first operand; `-` is
    // standard input.
    let coded = args.iter().position(|word| language.takes_code(word.raw()));
    let operand = |word: &Word| word.raw() == "-" || !word.starts_with("-");
    let after = match coded {
        Some(at) => Some(at + 2),
        None => args.iter().position(operand).map(|at| at + 1),
    };
    let given = Given {
        language: Some(language),
        args: after
            .and_then(|after| args.get(after..))
            .unwrap_or_default(),
        first: match language {
            Language::Perl => 0,
            Language::JavaScript if coded.is_none() => 2,
            Language::JavaScript | Language::Python | Language::Php => 1,
        },
        vars: &run.vars,
    };
    let codes = inline_code(language, args, run.input.as_ref(), run.script.as_ref());
    (codes, given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_those_that_certainly_run() {
        let python = |code: &str| commands(code, Language::Python, &[]);
        for (code, runs) in [
            ("os.system('git commit')", true),
            ("c = ['git', 'commit']\nrun(c)", true),
            ("def f(c):\n    run(c)\nf('git commit')", true),
            ("def f(*a):\n    run(['git', *a])\nf('commit')", true),
            (
                "def f():\n    run('git commit')\nif __name__ == '__main__':\n    f()",
                true,
            ),
            ("try:\n    run('git commit')\nexcept E:\n    pass", true),
            ("for x in y:\n    run('git commit')", true),
            ("def f():\n    run('git commit')", false),
            ("if x:\n    run('git commit')", false),
            ("if x: run('git commit')", false),
            ("if x:\n    sys.exit(1)\nrun('git commit')", false),
            ("sys.exit(0)\nrun('git commit')", false),
            (
                "class A:\n    def f(self):\n        run('git commit')",
                false,
            ),
            ("'''\nrun('git commit')\n'''", false),
        ] {
            let commits = |command: &String| command.replace('\'', "") == "git commit";
            assert_eq!(python(code).iter().any(commits), runs, "{code}");
        }
        let script = |code: &str| commands(code, Language::JavaScript, &[]);
        for (code, runs) in [
            ("execSync('git commit')", true),
            ("const f = c => execSync(c); f('git commit')", true),
            ("function f() { execSync('git commit') } f()", true),
            ("(() => { execSync('git commit') })()", true),
            ("if (x) { exit(1) } execSync('git commit')", false),
            ("if (x) execSync('git commit')", false),
            ("function f() { execSync('git commit') }", false),
            ("x = { f() { execSync('git commit') } }", false),
        ] {
            let found = script(code);
            assert_eq!(
                found.iter().any(|command| command == "git commit"),
                runs,
                "{code}"
            );
        }
    }
}
