//! The workflow's state: its typed view, and where it is kept (`tollgate_store`).

pub use crate::record::{activity, excerpt};
pub use crate::workflow::state as view;
pub use tollgate_store::{
    chain, document, edit, history, journal, kept, lock, once, patch, redact, spool, store,
    timestamp, version, watch,
};
