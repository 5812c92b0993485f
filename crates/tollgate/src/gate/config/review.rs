//! `reviews/*.md` with front matter, and `reviews/*.yml`.

use std::path::Path;
use std::time::Duration;

use super::{EvidenceRules, Node, Reader, keys, timeout};
use crate::config::Place;

/// An independent review.
#[derive(Clone, Debug)]
pub(crate) struct Review {
    /// What to look for.
    pub(crate) prompt: String,
    pub(crate) model: Option<String>,
    /// Empty: that of the project.
    pub(crate) cli_preference: Vec<String>,
    pub(crate) num_reviews: u64,
    pub(crate) parallel: bool,
    pub(crate) run_in_ci: bool,
    pub(crate) run_locally: bool,
    pub(crate) enabled: bool,
    /// Of each reviewer. None: it may take forever.
    pub(crate) timeout: Option<Duration>,
    /// The program of the reviewer `command`.
    pub(crate) command: Option<String>,
    pub(crate) evidence: EvidenceRules,
}

impl Reader<'_> {
    pub(super) fn review(&mut self, file: &Path, home: &Path) -> Option<Review> {
        let text = self.text(file)?;
        let is_markdown = file.extension().is_some_and(|extension| extension == "md");
        let (front, body) = if is_markdown {
            self.front_matter(file, &text)?
        } else {
            (text.as_str(), None)
        };
        let says_nothing = |line: &str| line.trim().is_empty() || line.trim().starts_with('#');
        let node = if is_markdown && front.lines().all(says_nothing) {
            None
        } else {
            Some(self.parse(file, front, &keys::REVIEW)?)
        };
        let node = node.as_ref();
        let get = |key: &str| node.and_then(|node| node.get(key));
        let bool = |key: &str| get(key).and_then(Node::bool).unwrap_or(true);
        let text_of = |key: &str| get(key).and_then(Node::text).map(str::to_owned);
        let from_file =
            get("prompt_file").and_then(|path| self.beside(home, file, "prompt_file", path));
        let prompt = body
            .map(str::to_owned)
            .filter(|body| !body.trim().is_empty())
            .or_else(|| text_of("prompt"))
            .or(from_file);
        let is_unread = get("prompt_file").is_some() && prompt.is_none();
        if !is_unread && prompt.as_deref().is_none_or(|text| text.trim().is_empty()) {
            let what = "the review does not say what to look for";
            let fix = if is_markdown {
                "write it below the front matter"
            } else {
                "add `prompt:` or `prompt_file:`"
            };
            self.examiner(file)
                .error(Place::default(), "prompt", what, Some(fix));
        }
        if let (Some(node), Some(name)) = (get("cli_preference"), file.file_stem()) {
            let name = name.to_string_lossy().into_owned();
            let place = (file.to_owned(), node.place);
            self.preferences.insert(name, place);
        }
        Some(Review {
            prompt: prompt.unwrap_or_default(),
            model: text_of("model"),
            cli_preference: get("cli_preference").map(Node::texts).unwrap_or_default(),
            num_reviews: get("num_reviews").and_then(Node::whole).unwrap_or(1),
            parallel: bool("parallel"),
            run_in_ci: bool("run_in_ci"),
            run_locally: bool("run_locally"),
            enabled: bool("enabled"),
            timeout: node.map_or(Some(super::DEFAULT_TIMEOUT), timeout),
            command: text_of("command"),
            evidence: EvidenceRules::default(),
        })
    }

    /// Front matter and body. The front matter keeps an empty first line in place of its fence,
    /// so that line numbers are those of the file.
    fn front_matter<'t>(
        &mut self,
        file: &Path,
        text: &'t str,
    ) -> Option<(&'t str, Option<&'t str>)> {
        // Blanks behind a fence are invisible to the author.
        let Some(rest) = text.strip_prefix("---").filter(|rest| {
            let line = rest.split('\n').next().unwrap_or_default();
            line.len() < rest.len() && line.trim().is_empty()
        }) else {
            return Some(("", Some(text)));
        };
        let mut at = 0;
        for line in rest.split_inclusive('\n') {
            if line.trim_end() == "---" && at > 0 {
                let front = rest.get(..at).unwrap_or_default();
                return Some((front, rest.get(at + line.len()..)));
            }
            at += line.len();
        }
        let what = "the front matter is not closed";
        let fix = Some("end it with a line `---`");
        self.examiner(file).error(Place::at_line(1), "", what, fix);
        None
    }
}
