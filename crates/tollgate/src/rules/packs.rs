//! Packs: rules that many teams want, as files that they can read and change.

/// A pack that comes with Tollgate.
#[derive(Debug)]
pub(crate) struct Pack {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// The file: rules with their examples.
    pub(crate) text: &'static str,
}

/// All of them, those that `init` proposes first.
pub(crate) static PACKS: &[Pack] = &[
    Pack {
        name: "git-safety",
        about: "force pushes, rewritten history, and uncommitted work that is thrown away",
        text: include_str!("packs/git-safety.toml"),
    },
    Pack {
        name: "destructive",
        about: "deletes outside of the project, disks, databases, cloud resources, publishing",
        text: include_str!("packs/destructive.toml"),
    },
    Pack {
        name: "secrets",
        about: "reads and writes of keys and `.env`, and sending after reading one",
        text: include_str!("packs/secrets.toml"),
    },
    Pack {
        name: "migrations",
        about: "applied migrations stay as they are",
        text: include_str!("packs/migrations.toml"),
    },
    Pack {
        name: "phase-order",
        about: "what belongs in which phase, and tests that change with code",
        text: include_str!("packs/phase-order.toml"),
    },
];

/// Those that `init` proposes, to be watched only.
pub(crate) fn proposed() -> impl Iterator<Item = &'static Pack> {
    PACKS.iter().take(2)
}

impl Pack {
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        PACKS.iter().find(|pack| pack.name == name)
    }

    /// The ids of its rules.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &'static str> {
        let lines = self.text.lines();
        let ids = lines.filter_map(|line| line.strip_prefix("id = "));
        ids.map(|id| id.trim_matches('"'))
    }

    /// Its text with a mode in every rule.
    pub(crate) fn in_mode(&self, mode: &str) -> String {
        if mode == "enforce" {
            return self.text.to_owned();
        }
        let mut text = String::with_capacity(self.text.len() + 512);
        for line in self.text.split_inclusive('\n') {
            text.push_str(line);
            if line.starts_with("id = ") {
                text.push_str("mode = \"");
                text.push_str(mode);
                text.push_str("\"\n");
            }
        }
        text
    }
}
