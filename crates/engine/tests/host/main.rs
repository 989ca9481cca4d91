//! Tests on the real host: files, loop devices, `/proc` and `/sys`.

mod block;
mod conformance;
mod disk;
mod exports;
mod faults;
mod files;
mod gate;
mod later;
#[path = "../../../probe/tests/host/loops.rs"]
mod loops;
mod objections;
mod refusals;
#[path = "../../../probe/tests/host/scratch.rs"]
mod scratch;
mod served;
