//! The `fathom-fleet` program, whose ranks exchange messages by MPI.
//!
//! A crate of its own, and no default member, because it needs an MPI library and libclang to be built. It only carries
//! messages: ranks, agreements and merging are in `fleet`, commands in `cli`.

mod transport;

fn main() -> ! {
    cli::main_of_fleet(cli::RankLaunch { connect: transport::connect, variables: LAUNCHER_VARIABLES })
}

/// Variables that Open MPI, MPICH (also Slurm's PMI) and PMIx set for each rank.
const LAUNCHER_VARIABLES: &[&str] = &["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"];
