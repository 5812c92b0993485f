//! Where the things of a person are, outside of every project.

use std::path::PathBuf;

use crate::env::Env;
use crate::project::CONFIG;

/// What one person wants in all projects. None without a home directory.
pub fn config_file(env: &Env) -> Option<PathBuf> {
    let own = || Some(env.home.as_ref()?.join(".config"));
    let configs = env.config_home.clone().or_else(own)?;
    Some(configs.join("tollgate").join(CONFIG))
}

/// What Tollgate keeps about a person, outside of every project: whom they trust and what
/// they allowed. None without a home directory.
pub fn state_home(env: &Env) -> Option<PathBuf> {
    let own = || Some(env.home.as_ref()?.join(".local/state"));
    let state = env.state_home.clone().or_else(own)?;
    state.is_absolute().then(|| state.join("tollgate"))
}
