//! NVMe commands that pass the block layer: [`Passthrough`] sends them through a ring to the character devices of
//! namespaces (`/dev/ngXnY`).

mod command;
mod protection;
mod setup;
mod target;

pub use setup::{NvmeSetup, ProtectionChecks, WriteCommand};
pub(crate) use target::Passthrough;
