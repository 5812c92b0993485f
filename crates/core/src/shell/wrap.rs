//! Programs that only start another one: `env`, `nohup`, `timeout 5`, `sudo -u x` …
//!
//! A table says which of a wrapper's options take a value and how many operands stand before the
//! command. Wrappers whose command is a text (`sh -c`, `eval`) or comes from elsewhere (`xargs`,
//! `find`) are in `nested`.

use super::walk::{Call, Scope, Walker};
use super::word::Word;
use super::{join, program_name};

/// How to step over a wrapper's own words.
struct Wrapper {
    name: &'static str,
    /// Short options whose value may be the next word.
    short: &'static str,
    /// Long options whose value is the next word unless joined by `=`.
    long: &'static [&'static str],
    /// Operands before the command.
    operands: usize,
}

const fn wrapper(
    name: &'static str,
    short: &'static str,
    long: &'static [&'static str],
    operands: usize,
) -> Wrapper {
    Wrapper {
        name,
        short,
        long,
        operands,
    }
}

const WRAPPERS: &[Wrapper] = &[
    wrapper("env", "uCS", &["unset", "chdir", "split-string"], 0),
    wrapper("command", "", &[], 0),
    wrapper("exec", "a", &[], 0),
    wrapper("builtin", "", &[], 0),
    wrapper("nohup", "", &[], 0),
    wrapper("time", "fo", &["format", "output"], 0),
    wrapper("gtime", "fo", &["format", "output"], 0),
    wrapper("timeout", "ks", &["kill-after", "signal"], 1),
    wrapper("gtimeout", "ks", &["kill-after", "signal"], 1),
    wrapper("nice", "n", &["adjustment"], 0),
    wrapper("ionice", "cnpPu", &["class", "classdata", "pid"], 0),
    wrapper("chrt", "TPD", &[], 1),
    wrapper("taskset", "", &[], 1),
    wrapper("setsid", "", &[], 0),
    wrapper("stdbuf", "ioe", &["input", "output", "error"], 0),
    wrapper("unbuffer", "", &[], 0),
    wrapper(
        "sudo",
        "ugpCDhrtTUR",
        &["user", "group", "prompt", "chdir", "host", "chroot"],
        0,
    ),
    wrapper("doas", "uC", &[], 0),
    wrapper("catchsegv", "", &[], 0),
    wrapper("chronic", "", &[], 0),
    wrapper("caffeinate", "tw", &[], 0),
    wrapper("setarch", "", &[], 1),
    wrapper("linux64", "", &[], 0),
    wrapper("unshare", "", &[], 0),
    wrapper("strace", "eopsaEPuIO", &[], 0),
    wrapper("ltrace", "eopsaEPu", &[], 0),
    wrapper("valgrind", "", &[], 0),
    wrapper("prlimit", "", &[], 0),
    wrapper("numactl", "", &[], 0),
    wrapper("dbus-run-session", "", &[], 0),
    wrapper("xvfb-run", "nse", &[], 0),
    wrapper("noglob", "", &[], 0),
    wrapper("nocorrect", "", &[], 0),
    wrapper("cmd.exe", "", &[], 1),
    wrapper("choom", "n", &["adjust"], 0),
    wrapper("ssh-agent", "aEPt", &[], 0),
    wrapper("fakeroot", "lfsiub", &["lib", "faked"], 0),
    wrapper("faketime", "p", &[], 1),
    wrapper("nsenter", "tSGW", &["target", "setuid", "setgid"], 0),
    wrapper(
        "setpriv",
        "",
        &[
            "reuid",
            "ruid",
            "euid",
            "regid",
            "rgid",
            "egid",
            "groups",
            "inh-caps",
            "ambient-caps",
            "bounding-set",
            "securebits",
            "pdeathsig",
            "selinux-label",
            "apparmor-profile",
        ],
        0,
    ),
    wrapper(
        "systemd-run",
        "puHMtE",
        &[
            "unit",
            "property",
            "description",
            "slice",
            "uid",
            "gid",
            "nice",
            "working-directory",
            "setenv",
        ],
        0,
    ),
];

/// Two words that start a third: `poetry run git commit`.
const RUNNERS: &[(&str, &[&str])] = &[
    ("poetry", &["run"]),
    ("pipenv", &["run"]),
    ("uv", &["run"]),
    ("bundle", &["exec"]),
    ("npm", &["exec"]),
    ("pnpm", &["exec"]),
    ("yarn", &["exec"]),
    ("mise", &["exec", "x"]),
    ("op", &["run"]),
    ("rtk", &["proxy"]),
];

impl Walker<'_> {
    /// Follows wrappers to the command they start, then runs that.
    pub(crate) fn dispatch(&mut self, mut call: Call, scope: &mut Scope) -> String {
        let mut unwrapped = call
            .words
            .first()
            .is_some_and(|word| word.starts_with("\\"));
        loop {
            if self.spent(1) {
                return String::new();
            }
            // An unknown word outside quotes before a command is most often nothing (`$SUDO git`).
            if call.words.len() > 1 && call.words.first().is_some_and(Word::may_vanish) {
                call.words.remove(0);
                unwrapped = true;
                continue;
            }
            let Some(first) = call.words.first().and_then(Word::literal) else {
                break;
            };
            let Some(name) = program_name(first) else {
                break;
            };
            let alias = scope
                .aliases
                .as_ref()
                .and_then(|aliases| aliases.get(first));
            if !unwrapped && let Some(text) = alias {
                let words = split_words(text);
                call.words.splice(..1, words);
                unwrapped = true;
                continue;
            }
            if !unwrapped && let Some(body) = scope.functions.get(first).cloned() {
                return self.call_function(&body, &call, scope);
            }
            let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == name) else {
                match runner(name, &call.words) {
                    Some(skip) => {
                        call.words.drain(..skip);
                        unwrapped = true;
                        continue;
                    }
                    None => break,
                }
            };
            let Some(inner) = Self::unwrap(wrapper, &call) else {
                break;
            };
            call = inner;
            unwrapped = true;
        }
        self.perform(call, scope)
    }

    /// The call inside a wrapper; nothing when there is none.
    fn unwrap(wrapper: &Wrapper, call: &Call) -> Option<Call> {
        let mut inner = call.clone();
        let words = &call.words;
        let mut at = 1;
        let mut operands = wrapper.operands;
        while let Some(word) = words.get(at) {
            let text = word.raw();
            if text == "--" {
                at += 1;
                if operands == 0 {
                    break;
                }
                continue;
            }
            // `env -` is `env -i`.
            if text == "-" && wrapper.name == "env" {
                at += 1;
                continue;
            }
            if let Some(option) = text.strip_prefix("--") {
                at += 1;
                let (name, mut value) = match option.split_once('=') {
                    Some((name, value)) => (name, Some(Word::new(value))),
                    None => (option, None),
                };
                if value.is_none() && wrapper.long.contains(&name) {
                    value = words.get(at).cloned();
                    at += 1;
                }
                if name == "split-string" {
                    return split_env(value?.raw(), words.get(at..)?, inner);
                }
                option_effect(name, value.as_ref(), &mut inner);
                continue;
            }
            if let Some(cluster) = text.strip_prefix('-').filter(|cluster| !cluster.is_empty()) {
                at += 1;
                if wrapper.name == "command" && cluster.contains(['v', 'V']) {
                    return None;
                }
                if wrapper.name == "sudo" && cluster.contains(['l', 'v', 'k', 'K', 'e']) {
                    return None;
                }
                let Some(index) = cluster.find(|letter| wrapper.short.contains(letter)) else {
                    continue;
                };
                let (_, tail) = cluster.split_at(index);
                let letter = tail.chars().next()?;
                let joined: String = tail.chars().skip(1).collect();
                let value = if joined.is_empty() {
                    at += 1;
                    words.get(at - 1).cloned()
                } else {
                    Some(Word::new(joined))
                };
                if letter == 'S' && wrapper.name == "env" {
                    return split_env(value?.raw(), words.get(at..)?, inner);
                }
                let name = match (wrapper.name, letter) {
                    ("env", 'C') | ("sudo", 'D') => "chdir",
                    _ => "",
                };
                option_effect(name, value.as_ref(), &mut inner);
                continue;
            }
            if matches!(wrapper.name, "env" | "sudo" | "doas")
                && let Some((name, value)) = text.split_once('=')
            {
                inner.vars.push((name.to_owned(), Word::new(value)));
                at += 1;
                continue;
            }
            // `env $X git commit`: the unknown word is an assignment or nothing.
            if word.may_vanish() {
                at += 1;
                continue;
            }
            if operands > 0 {
                operands -= 1;
                at += 1;
                continue;
            }
            break;
        }
        inner.words = words.get(at..).filter(|rest| !rest.is_empty())?.to_vec();
        Some(inner)
    }
}

/// `env -S 'git commit' -m x`.
fn split_env(text: &str, rest: &[Word], mut inner: Call) -> Option<Call> {
    let mut words = split_words(text);
    words.extend_from_slice(rest);
    while let Some((name, value)) = words.first().and_then(|word| word.raw().split_once('=')) {
        inner.vars.push((name.to_owned(), Word::new(value)));
        words.remove(0);
    }
    (!words.is_empty()).then(|| {
        inner.words = words;
        inner
    })
}

fn option_effect(name: &str, value: Option<&Word>, inner: &mut Call) {
    if name == "chdir" {
        inner.dir = match (value.and_then(Word::literal), &inner.dir) {
            (Some(path), Some(dir)) => Some(join(dir, path)),
            (Some(path), None) if path.starts_with('/') => Some(join("/", path)),
            _ => None,
        };
    }
}

fn runner(name: &str, words: &[Word]) -> Option<usize> {
    if name == "npx" {
        return None;
    }
    let (_, verbs) = RUNNERS.iter().find(|(runner, _)| *runner == name)?;
    let verb = words.get(1)?.literal()?;
    let skip = if words.get(2).is_some_and(|word| word.raw() == "--") {
        3
    } else {
        2
    };
    let command = words.get(skip)?;
    (verbs.contains(&verb) && !command.starts_with("-")).then_some(skip)
}

/// Splits a text at blanks, honouring quotes and backslashes: what `env -S`, git's aliases and
/// `xargs` do.
pub(crate) fn split_words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut current = String::new();
    let mut started = false;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', None | Some('"')) => {
                current.extend(letters.next());
                started = true;
            }
            (_, Some(open)) if letter == open => quote = None,
            (_, Some(_)) => current.push(letter),
            ('\'' | '"', None) => {
                quote = Some(letter);
                started = true;
            }
            (_, None) if letter.is_whitespace() || letter == '\0' => {
                if started {
                    words.push(Word::new(std::mem::take(&mut current)));
                    started = false;
                }
            }
            (_, None) => {
                current.push(letter);
                started = true;
            }
        }
    }
    if started {
        words.push(Word::new(current));
    }
    words
}
