//! `fathom serve`: clients, devices, limits, start and end, errors.

#[expect(dead_code, reason = "the tests of the server itself use the rest of it")]
#[path = "../../../../nbd/tests/client.rs"]
mod client;
mod controlled;
mod device;
mod durability;
mod encrypted;
mod fair;
mod ledger;
mod life;
mod memory;
mod peers;
mod place;
mod refusals;
mod reports;
mod stores;
