//! NVMe commands that pass the block layer: [`Passthrough`] sends them through a ring to the character devices of
//! namespaces (`/dev/ngXnY`).

mod command;
mod fit;
pub(crate) mod namespace;
mod placement;
mod protection;
mod ranges;
mod target;

pub use placement::{PlacementRange, parse_placement_scheme};
pub(crate) use target::Passthrough;

/// What a worker does with namespaces, besides the settings of its engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NvmeUse {
    /// Bytes of the largest read or write; zero for jobs that only trim.
    pub transfer_bytes: u32,
    /// Unit of all offsets and lengths, in bytes.
    pub block_unit: u32,
    /// Whether what is written is verified byte by byte.
    pub verifies: bool,
    /// Placements by offset, if a file has them.
    pub scheme: Option<Vec<PlacementRange>>,
    /// Seed of random choices.
    pub seed: u64,
}
