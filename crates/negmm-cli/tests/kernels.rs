//! Kernels are inlined completely. An intrinsic that is a function of its own in the program is called from code for another
//! instruction set: the bits are the same, and training takes twice as long.

use crate::common;

use std::process::Command;

#[test]
fn no_intrinsic_is_called() {
    let program = env!("CARGO_BIN_EXE_negmm");
    let symbols = Command::new("nm").args(["-C", program]).output().ok();
    let Some(symbols) = common::external::tool("nm", symbols) else { return };
    let symbols = String::from_utf8_lossy(&symbols.stdout).into_owned();
    assert!(symbols.contains("negmm_dist::math"), "the program has its symbols");
    // Dependencies use intrinsics for bytes.
    let of_numbers =
        |line: &&str| line.contains("core_arch::x86::avx") && (line.ends_with("_ps") || line.ends_with("_pd"));
    let called: Vec<&str> = symbols.lines().filter(of_numbers).collect();
    assert!(called.is_empty(), "{} intrinsics are called, among them {}", called.len(), called[0]);
}
