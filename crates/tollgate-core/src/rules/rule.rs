//! One rule in its compiled form, and whether an effect meets it.

use tollgate_shell::{Action, Argument, Certainty, Effect, Extent, Relation, Target};
use tollgate_store::json::{Node, Object};

use super::pattern::{ANY, Matched, Places, covered, is_like, is_listed};

/// What a rule wants of an effect that it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It is written down, and nothing else happens.
    Watch,
    /// The agent goes on and reads a warning.
    Warn,
    /// The person is asked.
    Ask,
    /// It does not happen.
    Deny,
}

/// A rule as the compiled file has it.
#[derive(Clone, Debug)]
pub struct Rule<'a>(Object<'a>);

/// An effect that a rule covers.
#[derive(Clone, Debug)]
pub struct Hit<'e> {
    /// The effect.
    pub effect: &'e Effect,
    /// What of the rule covers it: `write db/migrations/**`.
    pub by: String,
    /// Whether it certainly is what the rule is about.
    pub matched: Matched,
}

/// What a condition of a rule asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// The branch that is checked out.
    Branch,
    /// The phase of the workflow that runs.
    Phase,
    /// The agent.
    Agent,
    /// The kind of the sub-agent.
    Subagent,
}

/// What is so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// An example that does not say it: as the rule wants it.
    AsWanted,
    /// There is none.
    None,
    /// Whoever asks cannot know: a rule that wants to know it does not hold.
    Unknown,
    /// This.
    Known(String),
}

/// The kinds of effects, by the key that a rule names them with and the letter that the compiled file
/// has for them.
pub const KINDS: &[(&str, char)] = &[
    ("write", 'w'),
    ("delete", 'd'),
    ("read", 'r'),
    ("run", 'x'),
    ("fetch", 'f'),
    ("commit", 'c'),
    ("push", 'p'),
];

/// The letter of rules that say something about effects that are unknown.
pub const UNKNOWN: char = 'u';
/// The letter of rules that are decided at a stop.
pub const STOP: char = 's';
/// The letter in front of those of `after`.
pub const AFTER: char = '<';

const QUESTIONS: &[(&str, Question)] = &[
    ("branch", Question::Branch),
    ("phase", Question::Phase),
    ("agent", Question::Agent),
    ("subagent", Question::Subagent),
];

/// The letter of an action.
pub fn letter(action: &Action) -> char {
    match action {
        Action::Write(_) => 'w',
        Action::Delete(_) => 'd',
        Action::Read(_) => 'r',
        Action::Run { .. } => 'x',
        Action::Fetch { .. } => 'f',
        Action::Commit { .. } => 'c',
        Action::Push { .. } => 'p',
        Action::Opaque => UNKNOWN,
    }
}

/// The key of an action.
pub fn key(action: &Action) -> &'static str {
    let letter = letter(action);
    let found = KINDS.iter().find(|(_, known)| *known == letter);
    found.map_or("opaque", |(key, _)| key)
}

impl<'a> Rule<'a> {
    /// A rule of the compiled file.
    pub fn parse(text: &'a str) -> Option<Self> {
        Object::parse(text).ok().map(Self)
    }

    fn text(&self, key: &str) -> Option<String> {
        self.0.str(key).map(std::borrow::Cow::into_owned)
    }

    /// Its name.
    pub fn id(&self) -> String {
        self.text("id").unwrap_or_default()
    }

    /// Why it is there, in its author's words.
    pub fn reason(&self) -> Option<String> {
        self.text("reason")
    }

    /// What to do instead, in its author's words.
    pub fn instead(&self) -> Option<String> {
        self.text("instead")
    }

    /// Whether the person wrote it for all projects.
    pub fn is_persons(&self) -> bool {
        self.0.truthy("own")
    }

    /// Whether it holds on a day, as `2026-12-31`.
    pub fn holds_on(&self, day: &str) -> bool {
        self.0.str("until").is_none_or(|until| *day <= *until)
    }

    /// Whether it has a last day.
    pub fn ends(&self) -> bool {
        self.0.has("until")
    }

    /// What it wants, in its mode.
    pub fn verdict(&self) -> Verdict {
        self.in_mode(match self.0.str("verdict").as_deref() {
            Some("warn") => Verdict::Warn,
            Some("ask") => Verdict::Ask,
            Some(_) | None => Verdict::Deny,
        })
    }

    /// What it wants of effects that are unknown; nothing where that passes.
    pub fn unknown(&self) -> Option<Verdict> {
        let verdict = match self.0.str("unknown").as_deref() {
            Some("deny") => Verdict::Deny,
            Some("ask") => Verdict::Ask,
            Some(_) | None => return None,
        };
        Some(self.in_mode(verdict))
    }

    fn in_mode(&self, verdict: Verdict) -> Verdict {
        match self.0.str("mode").as_deref() {
            Some("watch") => Verdict::Watch,
            Some("warn") => verdict.min(Verdict::Warn),
            Some(_) | None => verdict,
        }
    }

    /// The patterns of files that must change with those of `write` and `delete`.
    pub fn changed_with(&self) -> Option<Vec<String>> {
        self.0.get("changed_with").and_then(Node::texts)
    }

    /// Whether it holds where things are so: `when` is so, and `unless` is not.
    pub fn holds(&self, fact: &dyn Fn(Question) -> Fact) -> bool {
        let is_so = |condition: &Object<'_>, as_wanted: bool| {
            let mut asked = QUESTIONS.iter().filter(|(key, _)| condition.has(key));
            asked.all(|(key, question)| match fact(*question) {
                Fact::AsWanted => as_wanted,
                Fact::Unknown => !as_wanted,
                Fact::None => false,
                Fact::Known(value) => {
                    is_listed(&condition.texts(key), Some(&value)).0 == Matched::Yes
                }
            })
        };
        let when = self.0.object("when");
        let unless = self.0.object("unless");
        when.is_none_or(|when| is_so(&when, true))
            && unless.is_none_or(|unless| !is_so(&unless, false))
    }

    /// Whether it holds only after an effect of the session.
    pub fn is_conditional(&self) -> bool {
        self.0.has("after")
    }

    /// The first effect that it covers, a certain one if there is one.
    pub fn hit<'e>(&self, effects: &'e [Effect], places: &Places<'_>) -> Option<Hit<'e>> {
        first(&self.0, effects, places)
    }

    /// The first effect that `after` names.
    pub fn prepared_by<'e>(&self, effects: &'e [Effect], places: &Places<'_>) -> Option<Hit<'e>> {
        let found = first(&self.0.object("after")?, effects, places)?;
        (found.matched == Matched::Yes).then_some(found)
    }
}

fn first<'e>(rule: &Object<'_>, effects: &'e [Effect], places: &Places<'_>) -> Option<Hit<'e>> {
    let mut best: Option<Hit<'e>> = None;
    for effect in effects {
        let (matched, by) = covers(rule, effect, places);
        let is_better = best.as_ref().is_none_or(|best| matched > best.matched);
        if matched != Matched::No && is_better {
            let by = by.unwrap_or_default();
            best = Some(Hit {
                effect,
                by: format!("{} {by}", key(&effect.action))
                    .trim_end()
                    .to_owned(),
                matched,
            });
        }
        if matched == Matched::Yes {
            break;
        }
    }
    best
}

/// Whether a rule's effects cover one, and what of it does.
fn covers(rule: &Object<'_>, effect: &Effect, places: &Places<'_>) -> (Matched, Option<String>) {
    const NO: (Matched, Option<String>) = (Matched::No, None);
    if effect.action == Action::Opaque {
        return (Matched::Unknown, None);
    }
    let Some(node) = rule.get(key(&effect.action)) else {
        return NO;
    };
    let (matched, by) = match &effect.action {
        Action::Write(target) | Action::Delete(target) => {
            covered(&node.texts().unwrap_or_default(), target, places)
        }
        // A search is about the directory that it names, for which a file in it stands: `grep -r x .`
        // would otherwise be a read of every file that somebody protects, whether it is there or not.
        Action::Read(target) => {
            let top = target.path().filter(|_| target.extent() != Extent::Path);
            let inside = top.map(|top| Target::file(&format!("{top}/{ANY}")));
            let target = inside.as_ref().unwrap_or(target);
            covered(&node.texts().unwrap_or_default(), target, places)
        }
        Action::Run { program, args } => runs(&node.texts().unwrap_or_default(), program, args),
        Action::Fetch { host } => is_listed(&node.texts().unwrap_or_default(), host.as_deref()),
        Action::Commit {
            branches, relation, ..
        } => match relation {
            Relation::Here | Relation::Linked => kinds(node, |kind| on_branch(kind, branches)),
            Relation::Elsewhere => NO,
        },
        Action::Push {
            remote,
            branches,
            force,
            delete,
            tags,
            mirror,
        } => kinds(node, |kind| {
            let flags = [
                ("force", *force),
                ("delete", *delete),
                ("tags", *tags),
                ("mirror", *mirror),
            ];
            let is_so = |(key, is): &(&str, bool)| match kind.get(key).and_then(Node::bool) {
                Some(wanted) => wanted == *is,
                None => true,
            };
            if !flags.iter().all(is_so) {
                return Matched::No;
            }
            let remotes = kind.get("remote").and_then(Node::texts);
            let remote = remotes.map_or(Matched::Yes, |all| is_listed(&all, remote.as_deref()).0);
            // All references: whatever the rule names is among them.
            let branch = if *mirror {
                Matched::Yes
            } else {
                on_branch(kind, branches)
            };
            remote.min(branch)
        }),
        Action::Opaque => NO,
    };
    match effect.certainty {
        // That a program may do it is not enough.
        Certainty::Unknown => (matched.min(Matched::Unknown), by),
        Certainty::Possible | Certainty::Certain => (matched, by),
    }
}

/// The best of several kinds; a list without any stands for all.
fn kinds(node: Node<'_>, is_one: impl Fn(&Object<'_>) -> Matched) -> (Matched, Option<String>) {
    let all = node.array().unwrap_or_default().into_iter();
    let all = all.filter_map(|kind| Some((is_one(&kind.object()?), kind.text().to_owned())));
    let best = all.max_by_key(|(matched, _)| *matched);
    best.map_or((Matched::No, None), |(matched, by)| (matched, Some(by)))
}

fn on_branch(kind: &Object<'_>, branches: &[Option<String>]) -> Matched {
    let Some(wanted) = kind.get("branch").and_then(Node::texts) else {
        return Matched::Yes;
    };
    let found = branches
        .iter()
        .map(|branch| is_listed(&wanted, branch.as_deref()).0);
    found.max().unwrap_or(Matched::No)
}

/// Whether a command is one of those that a list names; `!` takes out.
fn runs(patterns: &[String], program: &str, args: &[Argument]) -> (Matched, Option<String>) {
    let mut found = (Matched::No, None);
    for pattern in patterns {
        let bare = pattern.strip_prefix('!').unwrap_or(pattern);
        let matched = runs_like(bare, program, args);
        if bare.len() == pattern.len() {
            if matched > found.0 {
                found = (matched, Some(pattern.clone()));
            }
        } else if matched == Matched::Yes {
            found = (Matched::No, None);
        }
    }
    found
}

/// Whether a command begins with the words of a pattern. Options of a pattern may stand anywhere, and
/// options of the command, with or without a value, between its other words.
fn runs_like(pattern: &str, program: &str, args: &[Argument]) -> Matched {
    let mut words = pattern.split_whitespace();
    if !words.next().is_some_and(|wanted| is_like(wanted, program)) {
        return Matched::No;
    }
    let (options, leading): (Vec<_>, Vec<_>) = words.partition(|word| word.starts_with('-'));
    let has_option = |wanted: &&str| {
        let mut all = args.iter().take_while(|arg| !is_text(arg, "--"));
        let literal = all
            .clone()
            .any(|arg| matches!(arg, Argument::Literal(word) if is_option(wanted, word)));
        if literal {
            Matched::Yes
        } else if all.any(|arg| *arg == Argument::Unknown) {
            Matched::Unknown
        } else {
            Matched::No
        }
    };
    let options = options.iter().map(has_option).min().unwrap_or(Matched::Yes);
    options.min(leads(&leading, args))
}

fn is_text(arg: &Argument, text: &str) -> bool {
    matches!(arg, Argument::Literal(word) if word == text)
}

/// `--force` is there as itself or with a value, `-f` also among others as in `-xf`.
fn is_option(wanted: &str, word: &str) -> bool {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    if is_like(wanted, word) || is_like(wanted, name) {
        return true;
    }
    let mut letters = wanted.chars().skip(1);
    match (letters.next(), letters.next()) {
        (Some(letter), None) if letter != '-' => {
            word.starts_with('-') && !word.starts_with("--") && name.contains(letter)
        }
        _ => false,
    }
}

fn leads(leading: &[&str], args: &[Argument]) -> Matched {
    let mut rest = args.iter();
    let mut best = Matched::Yes;
    for wanted in leading {
        let mut may_be_value = false;
        loop {
            match rest.next() {
                None => return Matched::No,
                Some(Argument::Unknown) => {
                    best = Matched::Unknown;
                    break;
                }
                Some(Argument::Literal(word)) if is_like(wanted, word) => break,
                Some(Argument::Literal(word)) if word.starts_with('-') => {
                    may_be_value = !word.contains('=');
                }
                Some(Argument::Literal(_)) if may_be_value => may_be_value = false,
                Some(Argument::Literal(_)) => return Matched::No,
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &str) -> Vec<Argument> {
        let words = command.split(' ').filter(|word| !word.is_empty());
        let word = |word: &str| match word {
            "?" => Argument::Unknown,
            word => Argument::Literal(word.to_owned()),
        };
        words.map(word).collect()
    }

    #[test]
    fn commands_are_known_by_their_leading_words_and_options() {
        for (pattern, program, args, expected) in [
            (
                "terraform destroy",
                "terraform",
                "destroy -auto-approve",
                Matched::Yes,
            ),
            (
                "terraform destroy",
                "terraform",
                "-chdir=x destroy",
                Matched::Yes,
            ),
            (
                "terraform destroy",
                "terraform",
                "plan -destroy",
                Matched::No,
            ),
            ("git reset --hard", "git", "reset --hard HEAD", Matched::Yes),
            (
                "git reset --hard",
                "git",
                "-C sub reset -q --hard",
                Matched::Yes,
            ),
            ("git reset --hard", "git", "reset HEAD", Matched::No),
            ("git clean -f", "git", "clean -xdf", Matched::Yes),
            ("git clean -f", "git", "clean -n", Matched::No),
            ("git clean -f", "git", "clean -- -f", Matched::No),
            ("npm publish", "npm", "run publish", Matched::No),
            ("npm publish", "npm", "?", Matched::Unknown),
            ("dropdb", "dropdb", "shop", Matched::Yes),
            ("mkfs*", "mkfs.ext4", "/dev/sda", Matched::Yes),
            (
                "git push --force*",
                "git",
                "push --force-with-lease",
                Matched::Yes,
            ),
        ] {
            let found = runs_like(pattern, program, &words(args));
            assert_eq!(found, expected, "{pattern}: {program} {args}");
        }
    }
}
