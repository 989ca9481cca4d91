//! Everything that is tested on the real host: files, loop devices, `/proc` and `/sys`.

mod conformance;
mod files;
mod loops;
mod probe;
mod refusals;
mod scratch;
