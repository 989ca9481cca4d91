//! A modelled volume as a disk that any program can use, over NBD.
//!
//! [`ServeQuestion`] checks a request. [`PreparedServer`] opens the stores and all listening sockets; its server runs
//! on the caller's thread. Other threads serve statistics and metrics from published snapshots and forward commands;
//! none of them accesses the server itself.
//!
//! What this crate does *not* do: it reads no argument and no environment, prints nothing and handles no signal. The
//! protocol, the event loop and the stores are in `nbd`, the models in `volume`.

mod addresses;
mod child;
mod control;
mod devices;
mod identity;
mod offers;
mod opening;
mod prepared;
mod question;
mod rejected_clients;
mod request;
mod requested;
mod stats;
mod stats_socket;
mod stores;
mod view;

pub use addresses::RuntimeDirectory;
pub use child::RunningChild;
pub use control::{ControlReply, Located, send_command};
pub use devices::{CleanedDevices, HeldDevices, clean};
pub use opening::{OpenedServer, Opening};
pub use prepared::PreparedServer;
pub use question::ServeQuestion;
pub use rejected_clients::RejectionLog;
pub use request::{HostFiles, ServeRequest};
pub use stats::RecentRates;
pub use stats_socket::read_statistics;
pub use stores::dangers;
pub use view::RecentView;
