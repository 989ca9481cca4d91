//! One run on many hosts.
//!
//! Every rank executes the same command. A [`FleetRunner`] wraps the runner of this host: all ranks prepare together,
//! begin each stage at one agreed instant, write their own records, and receive the merged record, so that whatever
//! follows (another probe, another repeat, the report) is decided alike everywhere. No rank commands another. Only rank
//! 0 prints.
//!
//! Messages travel by a [`Transport`]: MPI in the program `fathom-fleet`, memory in tests. One thread exchanges them,
//! so no other waits for another host longer than that host sends heartbeats.
//!
//! Out of scope: MPI itself (`fleet-mpi`), merging (`record`), judgements (`analyse`), output (`cli`).

mod agreement;
mod clock;
mod control;
mod exchange;
mod fleet;
mod leaving;
mod message;
mod results;
mod runner;
mod transport;
mod tree;

pub use clock::{ClockOffset, HostClock, SystemClock};
pub use exchange::ExchangeOptions;
pub use fleet::Fleet;
pub use leaving::messages_elsewhere;
pub use message::LeavingRank;
pub use runner::{FleetRunner, RankHost, SaveRecord};
pub use transport::Transport;
