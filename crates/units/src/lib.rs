//! Quantities, kinds of operations, problems and seeded randomness, for all other crates.
//!
//! A duration is [`Nanos`], a size is [`Bytes`], a frequency is [`Rate`]; binary (`KiB`) and decimal (`kB`) units have
//! different print functions so that they cannot be confused. Everything random in Fathom comes from
//! [`random::Random`], which depends only on a seed and a stream number.
//!
//! Out of scope: clocks, and parsing of fio's units, which are specific to the job language (`job`).

mod bytes;
mod cpu_use;
mod nanos;
mod nearest;
mod operation;
mod printable;
mod problem;
pub mod random;
mod rate;
mod text;
mod zone;

pub use bytes::{Bytes, block_bytes};
pub use cpu_use::CpuUse;
pub use nanos::Nanos;
pub use nearest::{closest, suggestion};
pub use operation::{CallKind, DataKind, OpKind, PerKind};
pub use printable::{is_hidden, printable, push_printable};
pub use problem::{Place, Problem, ProblemClass, ProblemCode, ProblemLevel};
pub use rate::{Rate, Schedule};
pub use text::{count, counted, grouped, percent, portion, requests_in_flight, significant};
pub use zone::{Zone, ZoneCommand, ZoneCondition, ZoneKind, ZoneReport};
