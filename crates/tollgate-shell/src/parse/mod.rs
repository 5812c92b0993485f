//! From text to the shape of a script: words, commands, redirections, heredocs.
//!
//! The [`Parser`] walks the text once, byte by byte. Substitutions are parsed in place by
//! recursion, never by looking for their end first, which is what keeps the time linear; the
//! depth of that recursion has a cap. Text that is no shell marks the script as broken and is
//! stepped over, so that the commands around it are still seen.

mod command;
mod cursor;
mod redirect;
mod word;

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
}

impl<'a> Parser<'a> {
    fn new(text: &'a [u8], depth: u32) -> Self {
        Self {
            text: Cursor::new(text),
            depth,
            pending: Vec::new(),
            broken: false,
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
