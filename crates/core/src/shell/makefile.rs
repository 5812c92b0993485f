//! The recipes of a makefile, as far as they can be told without make.
//!
//! Only rules with plain targets are known. What stands between `ifeq` and `endif` is not, since
//! nobody here decides which side holds.

use std::cell::Cell;

use super::syntax::HOLE;

/// Lines of all recipes together, and targets.
const MAX_LINES: usize = 64;
/// Targets that need targets, variables in variables.
const MAX_DEPTH: u32 = 8;
/// Variables are looked up so often.
const MAX_LOOKUPS: u32 = 4000;
/// A longer value is unknown.
const MAX_VALUE: usize = 16 * 1024;

/// The rules and variables of a makefile.
#[derive(Debug, Default)]
pub(crate) struct Makefile {
    rules: Vec<Rule>,
    vars: Vec<(String, String)>,
    phony: Vec<String>,
    /// Variables that may still be looked up.
    left: Cell<u32>,
}

#[derive(Debug)]
struct Rule {
    targets: Vec<String>,
    needs: Vec<String>,
    lines: Vec<String>,
}

impl Makefile {
    pub(crate) fn read(text: &str) -> Self {
        let mut makefile = Self {
            left: Cell::new(MAX_LOOKUPS),
            ..Self::default()
        };
        let mut conditions = 0_u32;
        let mut defines = false;
        // Whether the lines that follow are a recipe.
        let mut open = false;
        let mut lines = text.lines();
        while let Some(first) = lines.next() {
            let mut line = first.to_owned();
            while line.ends_with('\\') && line.len() < MAX_VALUE {
                let Some(next) = lines.next() else { break };
                line.push('\n');
                line.push_str(next);
            }
            if let Some(recipe) = line.strip_prefix('\t').filter(|_| open) {
                let rule = makefile.rules.last_mut().filter(|_| conditions == 0);
                if let Some(rule) = rule {
                    rule.lines.push(recipe.to_owned());
                }
                continue;
            }
            let line = line.replace("\\\n", " ");
            let line = line.split('#').next().unwrap_or_default().trim();
            let word = line.split_whitespace().next().unwrap_or_default();
            match word {
                "" => {}
                "ifeq" | "ifneq" | "ifdef" | "ifndef" => conditions += 1,
                "endif" => conditions = conditions.saturating_sub(1),
                "define" => defines = true,
                "endef" => defines = false,
                _ if defines || conditions > 0 => {}
                _ => open = makefile.line(line),
            }
        }
        makefile
    }

    /// Reads a line that is no recipe; whether it opens one.
    fn line(&mut self, line: &str) -> bool {
        let line = line.strip_prefix("export ").unwrap_or(line);
        let sign = line.find(['=', ':']).unwrap_or(line.len());
        let (before, after) = line.split_at(sign);
        let after_colons = after.trim_start_matches(':');
        if let Some(value) = after_colons.strip_prefix('=') {
            let adds = before.ends_with('+');
            let defaults = before.ends_with('?');
            let name = before.trim_end_matches(['+', '?', '!']).trim();
            let known = self.vars.iter().any(|(known, _)| known == name);
            let value = match self.vars.iter().rev().find(|(known, _)| known == name) {
                Some((_, old)) if adds => format!("{old} {}", value.trim()),
                _ => value.trim().to_owned(),
            };
            if !(defaults && known) && value.len() <= MAX_VALUE && self.vars.len() < 256 {
                self.vars.push((name.to_owned(), value));
            }
            return false;
        }
        if after.is_empty() {
            return false;
        }
        let (needs, recipe) = match after_colons.split_once(';') {
            Some((needs, recipe)) => (needs, Some(recipe.trim().to_owned())),
            None => (after_colons, None),
        };
        let words = |text: &str| -> Vec<String> {
            let text = self.expanded(text, "", 0);
            text.split_whitespace().map(str::to_owned).collect()
        };
        let (targets, needs) = (words(before), words(needs));
        if targets.iter().any(|target| target == ".PHONY") {
            self.phony.extend(needs);
            return true;
        }
        self.rules.push(Rule {
            targets,
            needs,
            lines: recipe.into_iter().collect(),
        });
        true
    }

    /// A variable of the command line, which wins over those of the file.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.vars.push((name.to_owned(), value.to_owned()));
    }

    /// The lines that are run for these targets, or for the first one.
    pub(crate) fn recipe(&self, targets: &[&str], exists: &dyn Fn(&str) -> bool) -> Vec<String> {
        let plain = |target: &&String| !target.starts_with('.') && !target.contains('%');
        let mut known = self.rules.iter().flat_map(|rule| &rule.targets);
        let first: Vec<&str> = known.find(plain).map(String::as_str).into_iter().collect();
        let mut making = Making {
            makefile: self,
            exists,
            done: Vec::new(),
            lines: Vec::new(),
        };
        let targets = if targets.is_empty() { &first } else { targets };
        for target in targets {
            making.target(target, 0);
        }
        making.lines
    }

    /// The text with its variables replaced; what is not known is a mark.
    fn expanded(&self, text: &str, target: &str, depth: u32) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            out.push_str(before);
            let mut letters = after.chars();
            let open = letters.next();
            rest = letters.as_str();
            let close = match open {
                Some('$') => {
                    out.push('$');
                    continue;
                }
                Some('@') => {
                    out.push_str(target);
                    continue;
                }
                Some('(') => ')',
                Some('{') => '}',
                _ => {
                    out.push(HOLE);
                    continue;
                }
            };
            let Some((name, after)) = rest.split_once(close) else {
                out.push(HOLE);
                break;
            };
            rest = after;
            let Some(left) = self.left.get().checked_sub(1) else {
                return String::from(HOLE);
            };
            self.left.set(left);
            let known = self.vars.iter().rev().find(|(known, _)| known == name);
            match known {
                Some((_, value)) if depth < MAX_DEPTH => {
                    out.push_str(&self.expanded(value, target, depth + 1));
                }
                None if name == "MAKE" => out.push_str("make"),
                _ => out.push(HOLE),
            }
            if out.len() > MAX_VALUE {
                return String::from(HOLE);
            }
        }
        out.push_str(rest);
        out
    }
}

/// Which targets were made already, and what that ran.
struct Making<'m> {
    makefile: &'m Makefile,
    exists: &'m dyn Fn(&str) -> bool,
    done: Vec<String>,
    lines: Vec<String>,
}

impl Making<'_> {
    fn target(&mut self, target: &str, depth: u32) {
        let done = self.done.iter().any(|done| done == target);
        let enough = self.lines.len().max(self.done.len()) >= MAX_LINES;
        if done || depth >= MAX_DEPTH || enough {
            return;
        }
        self.done.push(target.to_owned());
        let is_it = |name: &String| name == target;
        let rules = self.makefile.rules.iter();
        let rules: Vec<&Rule> = rules
            .filter(|rule| rule.targets.iter().any(is_it))
            .collect();
        for need in rules.iter().flat_map(|rule| &rule.needs) {
            self.target(need, depth + 1);
        }
        // A file that is there may be new enough.
        if !self.makefile.phony.iter().any(is_it) && (self.exists)(target) {
            return;
        }
        for line in rules.iter().flat_map(|rule| &rule.lines) {
            let line = line.trim_start_matches(['@', '-', '+', ' ', '\t']);
            self.lines.push(self.makefile.expanded(line, target, 0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Makefile;

    const TEXT: &str = "MSG ?= x y\nGIT := git\nall: build\n\techo done\n\
        build: ; $(GIT) status\n.PHONY: rel out\nrel: build\n\t@$(GIT) commit -m '$(MSG)' # $@\n\
        \t-echo $$HOME $(shell date) \\\n\t  more\nifdef X\nodd:\n\tgit commit\nendif\n\
        out:\n\ttrue\n";

    #[test]
    fn a_target_runs_its_recipe_after_what_it_needs() {
        let makefile = Makefile::read(TEXT);
        let lines =
            |targets: &[&str]| makefile.recipe(targets, &|name| name == "build" || name == "out");
        let none = |targets: &[&str]| makefile.recipe(targets, &|_| false);
        assert_eq!(none(&[]), ["git status", "echo done"]);
        assert_eq!(lines(&[]), ["echo done"], "what is there is not made");
        assert_eq!(lines(&["out"]), ["true"], "unless it is no file");
        assert_eq!(
            none(&["rel"]),
            [
                "git status",
                "git commit -m 'x y' # rel",
                "echo $HOME \u{FDD0} \\\n\t  more"
            ]
        );
        assert!(none(&["odd"]).is_empty());
        assert!(none(&["missing"]).is_empty());
    }
}
