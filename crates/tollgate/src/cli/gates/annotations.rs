//! What a run says to GitHub Actions: a note at each failure, beside the change.

use std::path::Path;

use crate::gate::result::GateResult;
use crate::plain::PlainLines;

/// The command that marks a failed gate; nothing for the others.
pub(super) fn of_gate(result: &GateResult, root: &Path) -> Option<String> {
    if !result.outcome.is_failure() {
        return None;
    }
    let mut text = result.message.clone();
    for line in &result.excerpt {
        text = format!("{text}\n{line}");
    }
    let title = format!("gate {}: {}", result.id, result.message);
    let mut words = result
        .excerpt
        .iter()
        .flat_map(|line| line.split_whitespace());
    let place = words.find_map(|word| file_and_line(word, root));
    let place = place.map_or(String::new(), |(file, line)| {
        format!("file={},line={line},", property(file))
    });
    let text = data(&PlainLines(&text).to_string());
    Some(format!("::error {place}title={}::{text}", property(&title)))
}

/// `src/lib.rs:9:27:` is a line of a file, if the file is in the project.
fn file_and_line<'w>(word: &'w str, root: &Path) -> Option<(&'w str, u32)> {
    let word = word.trim_matches(['(', ')', '[', ']', '\'', '"', '`', ',']);
    let mut parts = word.split(':');
    let (file, line) = (parts.next()?, parts.next()?);
    let line = line.parse().ok()?;
    let is_inside = !file.is_empty() && !Path::new(file).is_absolute() && !file.contains("..");
    (is_inside && root.join(file).is_file()).then_some((file, line))
}

/// A command's text, in which line ends would end it.
fn data(text: &str) -> String {
    let text = text.replace('%', "%25");
    text.replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
