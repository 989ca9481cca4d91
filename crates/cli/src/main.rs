//! The `fathom` program.

fn main() -> ! {
    cli::main()
}
