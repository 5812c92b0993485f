//! `tollgate doctor`: is every guard alive here?

use std::process::ExitCode;

use tollgate_core::life;

use super::{ERROR, GOOD};

/// Shows every guard its known-bad event in a temporary place and names those that let it pass.
pub(super) fn run() -> ExitCode {
    let place = std::env::temp_dir().join(format!("tollgate-life-{}", std::process::id()));
    let faults = life::prove(&place);
    for fault in &faults {
        anstream::println!("{ERROR}dead{ERROR:#}   {}", fault.text);
    }
    let alive = life::count() - faults.len();
    anstream::println!(
        "{GOOD}alive{GOOD:#}  {alive} of {} guards stop what they must",
        life::count()
    );
    ExitCode::from(u8::from(!faults.is_empty()))
}
