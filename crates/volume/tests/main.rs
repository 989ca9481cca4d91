//! The integration tests of `volume`, in one program.

mod assumptions;
mod disk;
mod facts;
mod shares;
mod sold;
mod stripes;
mod vectors;
