//! From text to the shape of a script: words, commands, redirections, heredocs.
//!
//! The [`Parser`] walks the text once, byte by byte. Substitutions are parsed in place by
//! recursion, never by looking for their end first, which is what keeps the time linear; the
//! depth of that recursion has a cap. All its loops are [`Parser::repeat`], which reads something
//! in every turn. Text that is no shell marks the script as broken and is
//! stepped over, so that the commands around it are still seen.

mod command;
mod cursor;
mod redirect;
#[cfg(test)]
mod tests;
mod word;

use std::ops::ControlFlow;

use super::syntax::List;
use cursor::Cursor;
use redirect::Pending;

/// Deeper nesting than this is not followed.
const MAX_DEPTH: u32 = 64;

/// A text as commands.
pub(crate) struct Script {
    pub(crate) list: List,
    /// Something could not be parsed or was nested too deeply.
    pub(crate) broken: bool,
}

/// Parses a whole text.
pub(crate) fn parse(text: &str) -> Script {
    let mut parser = Parser::new(text.as_bytes(), 0);
    Script {
        list: parser.script(),
        broken: parser.broken,
    }
}

/// The text and what must be remembered across it.
struct Parser<'a> {
    text: Cursor<'a>,
    depth: u32,
    /// Heredocs whose bodies start after the next newline.
    pending: Vec<Pending>,
    broken: bool,
    #[cfg(test)]
    turns: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a [u8], depth: u32) -> Self {
        Self {
            text: Cursor::new(text),
            depth,
            pending: Vec::new(),
            broken: false,
            #[cfg(test)]
            turns: 0,
        }
    }

    /// Repeats a step until it breaks off or the text ends. A step that has read nothing stands
    /// before something that it does not know: that is stepped over, so there are never more turns
    /// than bytes.
    fn repeat(&mut self, mut step: impl FnMut(&mut Self) -> ControlFlow<()>) {
        while !self.text.done() {
            #[cfg(test)]
            {
                self.turns += 1;
            }
            let before = self.text.position();
            if step(self).is_break() {
                return;
            }
            if self.text.position() == before {
                self.broken = true;
                self.text.skip(1);
            }
        }
    }

    /// Runs `inner` one level deeper, or gives the whole text up.
    fn deeper<T: Default>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        if self.depth >= MAX_DEPTH {
            self.broken = true;
            self.text.finish();
            return T::default();
        }
        self.depth += 1;
        let found = inner(self);
        self.depth -= 1;
        found
    }
}
