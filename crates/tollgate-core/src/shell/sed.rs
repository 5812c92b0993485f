//! `sed`: its scripts and files. What a script runs with `e` is not followed.

use super::word::Word;

/// A call of `sed`.
pub(crate) struct Sed {
    pub(crate) in_place: bool,
    pub(crate) scripts: Vec<Word>,
    /// The files that it reads.
    pub(crate) operands: Vec<Word>,
}

impl Sed {
    /// Reads the words after the program.
    pub(crate) fn read(words: &[Word]) -> Self {
        let mut sed = Self {
            in_place: false,
            scripts: Vec::new(),
            operands: Vec::new(),
        };
        let mut scripted = false;
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            let text = word.raw();
            if let Some(option) = text.strip_prefix("--") {
                sed.in_place |= option.starts_with("in-place");
                let (name, joined) = match option.split_once('=') {
                    Some((name, value)) => (name, Some(Word::new(value))),
                    None => (option, None),
                };
                if matches!(name, "expression" | "file") {
                    scripted = true;
                    at += usize::from(joined.is_none());
                    let value = joined.or_else(|| words.get(at - 1).cloned());
                    sed.scripts.extend(value.filter(|_| name == "expression"));
                }
                continue;
            }
            let Some(cluster) = text.strip_prefix('-').filter(|cluster| !cluster.is_empty()) else {
                sed.operands.push(word.clone());
                continue;
            };
            // After `i` comes a suffix, after `e` and `f` a value.
            let Some(index) = cluster.find(['i', 'e', 'f', 'l']) else {
                continue;
            };
            let (_, tail) = cluster.split_at(index);
            let (option, joined) = tail.split_at(1);
            if option == "i" {
                sed.in_place = true;
            } else if option != "l" {
                scripted = true;
                at += usize::from(joined.is_empty());
                let value = if joined.is_empty() {
                    words.get(at - 1).cloned()
                } else {
                    Some(Word::new(joined))
                };
                sed.scripts.extend(value.filter(|_| option == "e"));
            }
        }
        if !scripted && !sed.operands.is_empty() {
            sed.scripts.push(sed.operands.remove(0));
        }
        sed
    }
}
