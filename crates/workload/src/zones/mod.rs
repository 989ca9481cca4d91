//! Zones of zoned block devices (`zonemode=zbd`): write pointers, choice of zones, and the number of zones in use.
//!
//! A [`ZoneTable`] is the state of a device's zones, which all workers of a run share. It decides where an operation
//! falls and whether a command to a zone must precede it. Files and devices without zones have zones in the table alone.

mod admission;
mod geometry;
mod state;

pub(crate) use admission::{Admission, ZoneRequest, ZoneRules};
pub use geometry::ZoneGeometry;
pub use state::ZoneTable;
pub(crate) use state::ZoneWriter;
