//! The integration tests of `trace`, in one program.

mod characterize;
mod characterize_extremes;
mod common;
mod format;
mod import;
mod scan;
