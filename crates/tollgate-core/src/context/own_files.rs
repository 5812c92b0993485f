//! What of Tollgate itself a call could take away.

use std::path::PathBuf;

use super::inputs::{Inputs, SettingsChange};
use crate::person;

/// The settings that register Tollgate, its program, and what it keeps about the person.
#[derive(Debug)]
pub struct OwnFiles<'a> {
    pub(super) inputs: &'a Inputs,
}

impl OwnFiles<'_> {
    /// Every file that an agent takes hooks from.
    pub fn settings_files(&self) -> Vec<PathBuf> {
        let Inputs { layout, env, .. } = self.inputs;
        let ask = self.inputs.sources.settings;
        ask.map(|ask| (ask.files)(layout, env)).unwrap_or_default()
    }

    /// How a change would take Tollgate out of a settings file; nothing if it would not.
    pub fn settings_loss(&self, change: &SettingsChange<'_>) -> Option<String> {
        let Inputs { layout, env, .. } = self.inputs;
        (self.inputs.sources.settings?.loss)(layout, env, change)
    }

    /// The running program.
    pub fn running_program(&self) -> Option<PathBuf> {
        self.inputs.sources.program.and_then(|ask| ask())
    }

    /// The running program and every place where another one of its name would be started in its
    /// stead: on the search path, and where login shells look first.
    pub fn programs(&self) -> Vec<PathBuf> {
        let running = self.running_program();
        let directories = self.inputs.env.path.iter().flat_map(std::env::split_paths);
        let home = self.inputs.env.home.as_deref().into_iter();
        let first = home.flat_map(|home| [".local/bin", "bin"].map(|name| home.join(name)));
        let named = directories.filter(|directory| directory.is_absolute());
        let named = named
            .chain(first)
            .map(|directory| directory.join("tollgate"));
        running.into_iter().chain(named).collect()
    }

    /// What Tollgate keeps about the person.
    pub fn person(&self) -> Option<PathBuf> {
        person::state_home(&self.inputs.env)
    }
}
