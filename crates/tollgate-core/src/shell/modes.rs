//! Commands that change who may use a file, and nothing of what is in it.

use super::syntax::HOLE;
use super::{Mode, Run};

/// Whether the command leaves its files as they are, and their owner able to read them.
pub(crate) fn keeps_content(run: &Run) -> bool {
    if run.redirects.iter().any(|file| file.mode == Mode::Write) {
        return false;
    }
    match run.program() {
        Some("touch" | "chgrp") => true,
        Some("chmod") => mode(run).is_some_and(keeps_readable),
        _ => false,
    }
}

/// The mode of a `chmod`; `chmod -w file` has it in the place of an option.
fn mode(run: &Run) -> Option<&str> {
    let words = run.args().iter().map(super::Word::raw);
    let is_option = |word: &str| match word.strip_prefix('-') {
        Some(option) => option.starts_with('-') || option.contains(['R', 'c', 'f', 'v']),
        None => false,
    };
    let mut words = words.skip_while(|word| is_option(word) && !word.starts_with("--reference"));
    words.next().filter(|mode| !mode.starts_with("--"))
}

/// Whether the owner may still read what has this mode, if it was so before.
fn keeps_readable(mode: &str) -> bool {
    if mode.contains(HOLE) {
        return false;
    }
    if let Ok(bits) = u32::from_str_radix(mode, 8) {
        return bits & 0o400 != 0;
    }
    mode.split(',').all(|clause| {
        let rights = clause.trim_start_matches(['u', 'g', 'o', 'a']);
        let who = clause.strip_suffix(rights).unwrap_or_default();
        if !who.is_empty() && !who.contains(['u', 'a']) {
            return true;
        }
        match rights.split_at_checked(1) {
            Some(("+", added)) => !added.contains(['-', '=']),
            Some(("-", taken)) => !taken.contains(['r', '=']),
            Some(("=", given)) => given.contains('r') && !given.contains('-'),
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_reads_on_unless_a_mode_takes_it_away() {
        for mode in [
            "600", "0644", "755", "444", "+x", "-w", "u+w", "go-rwx", "o=", "u=rw,g=", "a+r",
        ] {
            assert!(keeps_readable(mode), "{mode}");
        }
        for mode in [
            "000", "0", "200", "077", "-r", "a-r", "u-rw", "u=", "=", "a=x", "u+w-r", "go-w,u-r",
            "x",
        ] {
            assert!(!keeps_readable(mode), "{mode}");
        }
    }
}
