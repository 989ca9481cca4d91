//! NVMe commands that pass the block layer: [`Passthrough`] sends them through a ring to the character devices of
//! namespaces (`/dev/ngXnY`).

mod command;
mod fit;
mod placement;
mod protection;
mod ranges;
mod target;

pub use placement::parse_placement_scheme;
pub(crate) use target::Passthrough;
