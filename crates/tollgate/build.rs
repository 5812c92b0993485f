//! Has the linker put what hook events run beside each other in the executable, by the list that
//! `scripts/order` writes. Each part of an executable that is touched is a page fault, and page
//! faults were a third of what a small event took.
//!
//! Only for executables that ship. A linker without scripts (mold) cannot do it:
//! `TOLLGATE_UNORDERED=1` leaves it out.

#![expect(
    clippy::disallowed_methods,
    reason = "what holds for the program: cargo talks to build scripts by variables and their output"
)]

use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

const LIST: &str = "order.txt";

/// What runs before `main`, and how the C library finds the kernel's clock: callgrind has no names
/// for the first and does without the second.
const BEGINNING: &[&str] = &[
    "__libc_start_main",
    "libc_start_main_stage2",
    "static_init_tls",
    "cgt_init",
    "__vdsosym",
    "checkver",
    "strcmp",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={LIST}");
    println!("cargo:rerun-if-env-changed=TOLLGATE_UNORDERED");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if !is("PROFILE", "release")
        || !is("CARGO_CFG_TARGET_OS", "linux")
        || env::var_os("TOLLGATE_UNORDERED").is_some()
    {
        return Ok(());
    }
    let script = PathBuf::from(env::var("OUT_DIR")?).join("order.ld");
    fs::write(&script, script_of(&fs::read_to_string(LIST)?)?)?;
    println!(
        "cargo:rustc-link-arg-bin=tollgate=-Wl,-T,{}",
        script.display()
    );
    Ok(())
}

/// A linker script that puts the functions of the list before all others.
fn script_of(list: &str) -> Result<String, std::fmt::Error> {
    let mut script = String::from("SECTIONS {\n.text.hook : {\n");
    // The first instruction, and what the C library has in assembler.
    script.push_str("*crt1.o(.text .text.*)\n*.lo(.text)\n");
    let names = list.lines().filter(|line| !line.starts_with('#'));
    for name in BEGINNING.iter().copied().chain(names) {
        // One that the compiler made twice, or takes for unlikely, is in a section that says so.
        write!(script, "*(.text.{name} .text.{name}.*")?;
        writeln!(script, " .text.unlikely.{name} .text.unlikely.{name}.*)")?;
        if !name.starts_with('_') {
            // The C library's sections have its inner names.
            writeln!(script, "*(.text.__{name})")?;
        }
    }
    script.push_str("}\n}\nINSERT BEFORE .text;\n");
    Ok(script)
}
