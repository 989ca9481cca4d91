//! Targets of this host: files, loop devices, exports, block devices of a model, and what the gate admits.

mod block;
mod conformance;
mod disk;
mod exports;
mod faults;
mod files;
mod gate;
#[path = "../../cli/tests/common/host.rs"]
#[allow(dead_code, reason = "the tests of the program use more of it")]
mod host;
mod later;
#[path = "../../probe/tests/loops.rs"]
mod loops;
mod objections;
mod refusals;
#[path = "../../probe/tests/scratch.rs"]
mod scratch;
mod served;
mod timing;
