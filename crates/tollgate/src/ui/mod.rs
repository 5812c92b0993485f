//! What a person sees of a project: one read-only [`snapshot`], shown as a page in the browser
//! ([`serve`]), as a file, and in the terminal ([`top`]).
//!
//! Nothing here changes anything, and nothing here is reached by `tollgate hook`.

pub(crate) mod page;
pub(crate) mod plain;
pub(crate) mod serve;
pub(crate) mod snapshot;
pub(crate) mod top;
