//! The integration tests of `offers`, in one program.

mod common;
mod formats;
mod merging;
mod random;
mod refusals;
