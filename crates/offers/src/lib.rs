//! Prices and limits of volumes and machines, read from the files that cloud providers publish or their tools print.
//!
//! [`OfferReader`] recognizes each file by its content, reads it as a stream, and merges all files into one [`OfferList`],
//! whose names are those of the catalogue. [`DatedFile`] writes them as tables of the catalogue. A price list can have hundreds of megabytes: memory depends on the number of
//! offers, not on the size of the file. Only what a catalogue needs is kept; the rest is counted with its
//! [`SkipReason`]. What cannot be interpreted without guessing (units, currencies, contradicting prices) is an error.
//!
//! Out of scope: opening files, and changing the catalogue.

mod aws;
mod azure;
mod collect;
mod dated;
mod formats;
mod gcp;
mod input;
mod json;
mod list;
mod reader;
mod table;

pub use collect::OfferOptions;
pub use dated::{DatedCounts, DatedFile};
pub use formats::{OfferFormat, Provider};
pub use list::{MachineLimits, MachineOffer, OfferList, PriceComponent, PriceUnit, SkipReason, VolumePrice};
pub use reader::OfferReader;
