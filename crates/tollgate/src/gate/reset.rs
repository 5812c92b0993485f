//! Starting over: logs away, attempts forgotten.

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
    let logs = Logs::of(config);
    let _lock = match logs.lock(Duration::ZERO) {
        Ok(Locking::Held { guard, .. }) => guard,
        Ok(Locking::Busy(owner)) => {
            return Err(RunResult::locked_out(owner.as_deref(), config.words).message);
        }
        Err(error) => return Err(format!("{}: {error}", logs.directory().display())),
    };
    logs.debug(Timestamp::now(), "CLEAN type=manual reason=command");
    let archived = logs.archive().map_err(|error| error.to_string())?;
    // What failed is not forgotten with its logs, and what was found is still to be answered.
    let forget = |record: &mut GateRecord| {
        if let Some(last) = record.last.as_mut().filter(|last| last.is_own) {
            last.attempts = 0;
            last.spent = 0;
        }
    };
    let saved = GateRecord::change(layout, config, env, forget);
    saved.map_err(|error| error.to_string())?;
    Ok(archived)
}
