//! What a person sees of a project: one read-only view
//! ([`crate::project_view`]), shown as a page in the browser ([`serve`]), as a file, and in the terminal ([`top`]).
//!
//! Nothing here changes anything, and nothing here is reached by `tollgate hook`.

pub(crate) mod page;
pub(crate) mod serve;
pub(crate) mod top;
