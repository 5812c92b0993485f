//! What `git push` pushes, and where to.

use super::Tracker;
use crate::accesses::host_of;
use crate::args::Args;
use crate::effect::{Action, Certainty};
use crate::git_call::GitCall;
use crate::run::Run;
use crate::word::Word;

/// Options whose value is the next word.
const VALUED: &[&str] = &["push-option", "receive-pack", "exec", "repo"];

/// One reference to push.
struct Refspec {
    branches: Vec<Option<String>>,
    force: bool,
    delete: bool,
    tags: bool,
}

impl Tracker<'_> {
    /// Notes what a `git push` does.
    pub(super) fn note_push(&mut self, run: &Run, call: &GitCall, place: usize) {
        let args = Args::read(&call.args, "o", VALUED);
        if args.has('n', "dry-run") {
            return;
        }
        let lease = |name: &str| name.starts_with("force-with-lease");
        let force = args.has('f', "force")
            || args.long.iter().any(|name| lease(name))
            || args.values.iter().any(|(name, _)| lease(name));
        let delete = args.has('d', "delete");
        let mirror = args.long.contains(&"mirror");
        let all = args
            .long
            .iter()
            .any(|name| matches!(*name, "all" | "branches"));
        let tags = args.long.contains(&"tags");
        // What the remote has and nobody here is removed there.
        let prunes = args.long.contains(&"prune");
        let remote = match args.operands.first().or(args.value(&["repo"])) {
            Some(word) => word.literal().map(str::to_owned),
            None => Some(self.push_remote(call, place)),
        };
        self.note_remote(run, call, remote.as_deref());
        let mut given = args.operands.iter().skip(1).peekable();
        let mut refspecs = Vec::new();
        let named = given.peek().is_some();
        while let Some(word) = given.next() {
            // `git push origin tag v1`
            let word = match given.peek() {
                Some(tag) if word.raw() == "tag" => {
                    let tag = format!("refs/tags/{}", tag.raw());
                    given.next();
                    Word::new(tag)
                }
                Some(_) | None => word.clone(),
            };
            let mut refspec = self.refspec(&word, place);
            refspec.delete |= delete;
            refspec.force |= force;
            refspecs.push(refspec);
        }
        let anything = Refspec {
            branches: vec![None],
            force: force || mirror,
            delete: mirror || prunes,
            tags: mirror || tags,
        };
        if mirror || all {
            refspecs.push(anything);
        } else if !named && tags {
            refspecs.push(Refspec {
                branches: Vec::new(),
                ..anything
            });
        }
        // Without a name it depends on the configuration what is pushed.
        if !named && !mirror && !all {
            let branches = self.push_default(call, place, remote.as_deref());
            if let Some(branches) = branches.filter(|_| !tags) {
                let action = push(
                    remote.as_deref(),
                    Refspec {
                        branches,
                        force,
                        delete: prunes,
                        tags: false,
                    },
                    mirror,
                );
                self.note(run, action, Certainty::Possible);
            }
        }
        for refspec in refspecs {
            self.note(
                run,
                push(remote.as_deref(), refspec, mirror),
                Certainty::Certain,
            );
        }
    }

    /// What one refspec means: `+main`, `HEAD:main`, `:gone`, `refs/tags/v1`.
    fn refspec(&self, word: &Word, place: usize) -> Refspec {
        let raw = word.raw();
        let (force, raw) = match raw.strip_prefix('+') {
            Some(rest) => (true, rest),
            None => (false, raw),
        };
        let (from, to) = match raw.split_once(':') {
            Some(("", "")) => ("", "*"),
            Some((from, "")) => (from, from),
            Some((from, to)) => (from, to),
            None => (raw, raw),
        };
        let is_tag = |name: &str| {
            let tree = self.trees.get(place);
            let repository = tree.and_then(|tree| tree.repository.as_ref());
            let has = |reference: &str| {
                let name = format!("{reference}/{name}");
                let made = self.trees.made.contains(&name);
                made || repository.is_some_and(|found| self.world.files.has_reference(found, &name))
            };
            has("refs/tags") && !has("refs/heads")
        };
        let tags = to.starts_with("refs/tags/") || !to.starts_with("refs/") && is_tag(to);
        let branches = if tags {
            Vec::new()
        } else if matches!(to, "HEAD" | "@") {
            self.trees.branches(place)
        } else {
            let name = Word::new(to.strip_prefix("refs/heads/").unwrap_or(to));
            let known = name.literal().filter(|name| !name.contains('*'));
            vec![known.map(str::to_owned)]
        };
        Refspec {
            branches,
            force,
            delete: from.is_empty() && !to.contains('*'),
            tags,
        }
    }

    /// The remote that a push without one goes to.
    fn push_remote(&mut self, call: &GitCall, place: usize) -> String {
        let branch = self.trees.branches(place).into_iter().flatten().next();
        let of_branch = |key: &str| branch.as_ref().map(|name| format!("branch.{name}.{key}"));
        let keys = [
            of_branch("pushRemote"),
            Some("remote.pushDefault".to_owned()),
            of_branch("remote"),
        ];
        let mut keys = keys.into_iter().flatten();
        let found = keys.find_map(|key| self.setting(&[key], call));
        found.unwrap_or_else(|| "origin".to_owned())
    }

    /// The branches that a push without names pushes; nothing if it refuses.
    fn push_default(
        &mut self,
        call: &GitCall,
        place: usize,
        remote: Option<&str>,
    ) -> Option<Vec<Option<String>>> {
        let refspecs = remote.map(|remote| format!("remote.{remote}.push"));
        if refspecs.is_some_and(|key| self.setting(&[key], call).is_some()) {
            return Some(vec![None]);
        }
        match self.setting(&["push.default".to_owned()], call).as_deref() {
            Some("nothing") => None,
            Some("matching") => Some(vec![None]),
            Some("upstream" | "tracking") => {
                let branch = self.trees.branches(place).into_iter().flatten().next()?;
                let merge = self.setting(&[format!("branch.{branch}.merge")], call)?;
                let merge = merge.strip_prefix("refs/heads/").unwrap_or(&merge);
                Some(vec![Some(merge.to_owned())])
            }
            Some(_) | None => Some(self.trees.branches(place)),
        }
    }

    /// Notes the host behind a remote, if it is not on this machine.
    pub(super) fn note_remote(&mut self, run: &Run, call: &GitCall, remote: Option<&str>) {
        let Some(remote) = remote else {
            self.note(run, Action::Fetch { host: None }, Certainty::Possible);
            return;
        };
        let named = !remote.contains(['/', ':']) && !matches!(remote, "." | "..");
        let address = if named {
            let pushes = self.setting(&[format!("remote.{remote}.pushurl")], call);
            pushes.or_else(|| self.setting(&[format!("remote.{remote}.url")], call))
        } else {
            Some(remote.to_owned())
        };
        let action = match address.as_deref() {
            Some(address) => match host_of(address) {
                Some(host) => Action::Fetch {
                    host: Some(host.to_owned()),
                },
                // A path of this machine.
                None => return,
            },
            None => Action::Fetch { host: None },
        };
        self.note(run, action, Certainty::Possible);
    }
}

fn push(remote: Option<&str>, refspec: Refspec, mirror: bool) -> Action {
    Action::Push {
        remote: remote.map(str::to_owned),
        branches: refspec.branches,
        force: refspec.force,
        delete: refspec.delete,
        tags: refspec.tags,
        mirror,
    }
}
