//! Starts over: archives the logs and forgets the attempts.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use tollgate_core::env::Env;
use tollgate_core::project::Layout;

use super::config::Config;
use super::logs::{Locking, Logs};
use super::record::GateRecord;
use super::request::RunResult;

/// Archives all logs and forgets the attempts; the evidence stays. Says whether there were logs.
pub(crate) fn reset(layout: &Layout, config: &Config, env: &Env) -> Result<bool, String> {
    archive(config, || {
        // What failed is not forgotten with its logs, and what was found is still to be answered.
        let saved = GateRecord::change(layout, config, env, GateRecord::forgive);
        saved.map(drop).map_err(|error| error.to_string())
    })
}

/// Archives the logs below a directory where nothing is configured.
pub(crate) fn archive_default(directory: &Path) -> Result<bool, String> {
    let config = Config::of_nothing(directory);
    if !config.log_dir.is_dir() {
        return Ok(false);
    }
    archive(&config, || Ok(()))
}

/// Archives all logs and does what else there is to do under their lock.
fn archive(config: &Config, then: impl FnOnce() -> Result<(), String>) -> Result<bool, String> {
    let logs = Logs::of(config);
    let _lock = match logs.lock(Duration::ZERO) {
        Ok(Locking::Held { guard, .. }) => guard,
        Ok(Locking::Busy(owner)) => {
            return Err(
                RunResult::locked_out(owner.as_deref(), &logs.lock_file(), config.words).message,
            );
        }
        Err(error) => return Err(format!("{}: {error}", logs.directory().display())),
    };
    logs.debug(Timestamp::now(), "CLEAN type=manual reason=command");
    let archived = logs.archive().map_err(|error| error.to_string())?;
    then()?;
    Ok(archived > 0)
}
