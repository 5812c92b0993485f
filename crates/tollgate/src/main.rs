//! The program. All of it is in the library, which the fuzzers build too.

use std::process::ExitCode;

// musl's own allocator is slow; elsewhere the system's is fine.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    tollgate::main()
}
