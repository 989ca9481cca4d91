//! NVMe commands that pass the block layer: [`Passthrough`] sends them through a ring to the character devices of
//! namespaces (`/dev/ngXnY`).

mod command;
mod fit;
mod placement;
mod protection;
mod ranges;
mod setup;
mod target;

pub use placement::{PlacementDirective, PlacementOrder, PlacementRange, PlacementSetup, parse_placement_scheme};
pub use setup::{NvmeSetup, ProtectionChecks, WriteCommand};
pub(crate) use target::Passthrough;
