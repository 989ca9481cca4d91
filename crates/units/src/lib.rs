//! Quantities, kinds of operations and seeded randomness, for every other crate.
//!
//! A duration is [`Nanos`], a size is [`Bytes`], a frequency is [`Rate`]; binary (`KiB`) and decimal (`kB`)
//! units are printed by different functions so that one is never taken for the other. Everything random in
//! Fathom comes from [`random::Random`], which is made from a seed and a stream number and from nothing else.
//!
//! What is *not* here: reading units as fio reads them (that is a quirk of the job language and lives in
//! `job`), and any clock.

mod bytes;
mod cpu_use;
mod nanos;
mod nearest;
mod operation;
mod printable;
pub mod random;
mod rate;
mod text;

pub use bytes::Bytes;
pub use cpu_use::CpuUse;
pub use nanos::Nanos;
pub use nearest::closest;
pub use operation::{OpKind, PerKind};
pub use printable::{is_hidden, printable, push_printable};
pub use rate::{Rate, Schedule};
pub use text::{count, grouped, percent, significant};
