//! Everything that is tested on the real host: files, loop devices, `/proc` and `/sys`.

mod block;
mod conformance;
mod disk;
mod exports;
mod faults;
mod files;
mod gate;
mod loops;
mod probe;
mod refusals;
mod scratch;
mod served;
mod signatures;
