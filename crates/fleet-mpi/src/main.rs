//! The `fathom-fleet` program, whose ranks exchange messages by MPI.
//!
//! A crate of its own, and no default member, because it needs an MPI library and libclang to be built. It only carries
//! messages: ranks, agreements and merging are in `fleet`, commands in `cli`.

mod transport;

fn main() -> ! {
    cli::main_of_fleet(transport::connect)
}
