//! The integration tests of `record`, in one program.

mod claims;
mod collect;
mod corpus;
mod diskstats;
mod inputs;
mod iostat;
mod servers;
mod store;
