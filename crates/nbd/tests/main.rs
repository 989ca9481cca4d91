//! Tests the server with well-behaved and misbehaving clients.

mod client;
mod controlled;
mod extended;
#[path = "../../cli/tests/common/host.rs"]
#[allow(dead_code, reason = "the tests of the program use more of it")]
mod host;
mod hosted;
mod neighbours;
mod requests;
mod timing;
