//! What a shell is told to run later: at its end, after a command, or when a signal comes.

use super::nested::operands;
use super::walk::{Call, Io, Scope, Walker};
use super::word::Word;

/// A text that runs at the shell's end or when it gets a signal.
pub(crate) struct Trap {
    signal: String,
    text: String,
    /// What it sees; nothing for a trap of the outermost shell, which sees what is there at its
    /// end.
    scope: Option<Scope>,
}

/// More traps than this are not remembered.
const MAX_TRAPS: usize = 32;

impl Walker<'_> {
    /// `trap text EXIT`: what a shell does by itself runs, what a signal asks for waits for one.
    pub(crate) fn trap(&mut self, call: &Call, scope: &mut Scope) {
        let rest = operands(&call.words, "", 1);
        let Some((text, signals)) = rest.split_first() else {
            return;
        };
        let (text, signals) = match signals {
            // `trap EXIT` takes the trap away, as `trap - EXIT` does.
            [] => ("", rest),
            _ => (text.literal().unwrap_or_default(), signals),
        };
        for signal in signals.iter().filter_map(Word::literal) {
            let signal = name(signal);
            match signal.as_str() {
                "DEBUG" | "ERR" | "CHLD" => {
                    if !matches!(text, "" | "-") {
                        self.nested(text, &mut scope.clone(), &Io::default());
                    }
                    continue;
                }
                _ if self.is_certain() => self.traps.retain(|trap| trap.signal != signal),
                _ => {}
            }
            if !matches!(text, "" | "-") && self.traps.len() < MAX_TRAPS {
                let scope = (!self.is_outermost()).then(|| scope.clone());
                self.traps.push(Trap {
                    signal,
                    text: text.to_owned(),
                    scope,
                });
            }
        }
    }

    /// `kill -USR1 $$`: whom it is for is not asked.
    pub(crate) fn signal(&mut self, call: &Call, scope: &Scope) {
        let mut words = call.words.iter().skip(1).map(Word::raw);
        let given = match words.next() {
            Some("-s" | "-n" | "--signal") => words.next(),
            Some("-l" | "-L" | "--list") => return,
            Some(option) => option.strip_prefix('-'),
            None => None,
        };
        let signal = name(given.unwrap_or("TERM"));
        self.run_traps(&signal, scope);
    }

    /// The end of the outermost shell.
    pub(crate) fn leave_shell(&mut self, scope: &Scope) {
        self.run_traps("EXIT", scope);
    }

    fn run_traps(&mut self, signal: &str, outer: &Scope) {
        let asked = |trap: &Trap| trap.signal == signal;
        if !self.traps.iter().any(asked) {
            return;
        }
        let (asked, kept) = std::mem::take(&mut self.traps).into_iter().partition(asked);
        self.traps = kept;
        let asked: Vec<Trap> = asked;
        for trap in asked {
            let mut scope = trap.scope.unwrap_or_else(|| outer.clone());
            self.nested(&trap.text, &mut scope, &Io::default());
        }
    }
}

/// A signal's name without `SIG`; numbers are those of Linux.
fn name(signal: &str) -> String {
    let upper = signal.to_ascii_uppercase();
    let name = match upper.as_str() {
        "0" => "EXIT",
        "1" => "HUP",
        "2" => "INT",
        "3" => "QUIT",
        "10" => "USR1",
        "12" => "USR2",
        "13" => "PIPE",
        "14" => "ALRM",
        "15" => "TERM",
        "17" => "CHLD",
        // The end is no signal.
        "SIGEXIT" => "SIGEXIT",
        other => other.strip_prefix("SIG").unwrap_or(other),
    };
    name.to_owned()
}
