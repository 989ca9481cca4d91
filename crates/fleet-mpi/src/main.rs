//! The `fathom-fleet` program, whose ranks exchange messages by MPI.

mod transport;

fn main() -> ! {
    cli::main_of_fleet(transport::connect)
}
