//! The server against clients that behave and clients that do not.

mod client;
mod controlled;
mod extended;
#[path = "../../../cli/tests/common/host.rs"]
#[allow(dead_code, reason = "the tests of the program use more of it")]
mod host;
mod hosted;
mod manners;
mod neighbours;
mod timing;
