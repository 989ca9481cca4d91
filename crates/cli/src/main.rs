//! The `fathom` program.
//!
//! Everything is in the library of this crate, which `fathom-fleet` uses too. This file only starts it, so it has no
//! options and no logic of its own.

fn main() -> ! {
    cli::main()
}
