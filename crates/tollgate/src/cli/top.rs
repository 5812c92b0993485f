//! `tollgate top`: the project in the terminal, kept up to date.

use std::io::{IsTerminal as _, Write as _};
use std::os::fd::AsFd as _;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use rustix::event::{PollFd, PollFlags};
use rustix::termios::{self, OptionalActions, Termios};

use super::{CommandResult, Trouble};
use crate::plain::in_locale;
use crate::project_view::Observer;
use crate::ui::top::{Line, Room, frame};

/// How often the files are checked.
const PAUSE: Duration = Duration::from_millis(500);

/// What is assumed of a terminal that does not say its size.
const USUAL: Room = Room {
    width: 80,
    height: 24,
};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Print it once and end, as when standard output is no terminal
    #[arg(long)]
    once: bool,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let mut observer = super::observer()?;
    let is_dumb = crate::environment::variable("TERM").is_none_or(|name| name == "dumb");
    let watched = !is_dumb && std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
    if arguments.once || !watched {
        let room = if std::io::stdout().is_terminal() {
            size()
        } else {
            USUAL
        };
        for line in frame(&observer.view(Timestamp::now()), room) {
            out!("{}", line.text(true));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let trouble = |error: std::io::Error| Trouble::new(format!("the terminal: {error}"));
    let ended = super::interrupted().map_err(trouble)?;
    let screen = Screen::take().map_err(trouble)?;
    let shown = show(&mut observer, &ended);
    drop(screen);
    shown.map(|()| ExitCode::SUCCESS).map_err(trouble)
}

/// Shows what is going on until a key or signal ends it.
fn show(observer: &mut Observer, ended: &AtomicBool) -> std::io::Result<()> {
    let mut drawn = None;
    while !ended.load(Ordering::Acquire) {
        observer.poll();
        let room = size();
        let now = (observer.print(), room.width, room.height);
        if drawn != Some(now) {
            draw(&frame(&observer.view(Timestamp::now()), room))?;
            // As it was before the view was made: what changed since then is not on the screen.
            drawn = Some(now);
        }
        if is_quit(wait_for_key()?) {
            break;
        }
    }
    Ok(())
}

fn is_quit(keys: Option<Vec<u8>>) -> bool {
    // `q`, Ctrl-C, Ctrl-D; no bytes at all is the end of the input.
    keys.is_some_and(|keys| {
        keys.is_empty() || keys.iter().any(|key| matches!(key, b'q' | b'Q' | 3 | 4))
    })
}

/// What was typed within a while.
fn wait_for_key() -> std::io::Result<Option<Vec<u8>>> {
    let stdin = std::io::stdin();
    let mut files = [PollFd::new(&stdin, PollFlags::IN)];
    let patience = rustix::event::Timespec {
        tv_sec: 0,
        tv_nsec: i64::from(PAUSE.subsec_nanos()),
    };
    match rustix::event::poll(&mut files, Some(&patience)) {
        // A signal: the window has another size, or it is time to end.
        Ok(0) | Err(rustix::io::Errno::INTR) => Ok(None),
        Ok(_) => {
            let mut keys = [0; 64];
            let count = rustix::io::read(stdin.as_fd(), &mut keys)?;
            Ok(Some(keys.get(..count).unwrap_or_default().to_vec()))
        }
        Err(error) => Err(error.into()),
    }
}

/// Over the lines before, so that nothing flickers. Who wants no colours still wants the cursor
/// moved, so this does not go through what takes colours away.
fn draw(lines: &[Line]) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let is_coloured = anstream::AutoStream::choice(&out) != anstream::ColorChoice::Never;
    let mut text = "\u{1b}[H".to_owned();
    for (index, line) in lines.iter().enumerate() {
        if index > 0 {
            text.push_str("\r\n");
        }
        text.push_str(&in_locale(line.text(is_coloured)));
        text.push_str("\u{1b}[K");
    }
    text.push_str("\u{1b}[J");
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn size() -> Room {
    match termios::tcgetwinsize(std::io::stdout()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => Room {
            width: usize::from(size.ws_col),
            height: usize::from(size.ws_row),
        },
        Ok(_) | Err(_) => USUAL,
    }
}

/// The terminal in our hands: the other screen, no cursor, keys as they are typed. Given back as
/// it was, whatever happens.
struct Screen {
    before: Termios,
}

const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[2J";
const LEAVE: &[u8] = b"\x1b[?25h\x1b[?1049l";

impl Screen {
    fn take() -> std::io::Result<Self> {
        let before = termios::tcgetattr(std::io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        termios::tcsetattr(std::io::stdin(), OptionalActions::Flush, &raw)?;
        let screen = Self { before };
        screen.give_back_on_panic();
        std::io::stdout().write_all(ENTER)?;
        Ok(screen)
    }

    /// A panic ends the process where it is: nothing is dropped.
    fn give_back_on_panic(&self) {
        let before = self.before.clone();
        let print_panic = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            give_back(&before);
            print_panic(info);
        }));
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back(&self.before);
    }
}

fn give_back(before: &Termios) {
    let mut out = std::io::stdout();
    let _gone = out.write_all(LEAVE).and_then(|()| out.flush());
    let _gone = termios::tcsetattr(std::io::stdin(), OptionalActions::Flush, before);
}
