//! The fuzzer that `fuzz/run` builds: libFuzzer's `main` over the target that `TOLLGATE_FUZZ` names.

// Under a fuzzer libFuzzer brings `main`.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    use tollgate_fuzz::{TARGETS, Target};
    static TARGET: std::sync::OnceLock<&'static Target> = std::sync::OnceLock::new();
    let target = TARGET.get_or_init(|| {
        #[expect(clippy::disallowed_methods, reason = "libFuzzer owns the command line")]
        let name = std::env::var("TOLLGATE_FUZZ").unwrap_or_default();
        #[expect(clippy::expect_used, reason = "`fuzz/run` names one")]
        TARGETS
            .iter()
            .find(|target| target.name == name)
            .expect("TOLLGATE_FUZZ names a target")
    });
    (target.run)(bytes);
});

#[cfg(not(fuzzing))]
#[expect(clippy::print_stderr, reason = "it is all that it does")]
fn main() -> std::process::ExitCode {
    eprintln!("this is no fuzzer: `fuzz/run` builds and runs them");
    std::process::ExitCode::FAILURE
}
