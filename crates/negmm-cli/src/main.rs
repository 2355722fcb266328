//! The program `negmm`.

fn main() {}
