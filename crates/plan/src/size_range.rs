//! The sizes in which a volume is sold.

use volume::catalogue::Bounds;

/// The sizes of a volume that are sold, in its unit.
pub(crate) struct SizeRange {
    pub(crate) least: u64,
    pub(crate) most: u64,
    /// Bytes of the unit.
    pub(crate) unit_bytes: f64,
    pub(crate) bounds: Bounds,
}

impl SizeRange {
    /// The least size that is sold and no less than this, as it is asked for.
    pub(crate) fn sold_from(&self, size: u64) -> String {
        let sold = self.bounds.sold_from(size as f64).map_or(self.most, |sold| sold as u64);
        format!("{sold}{}", self.bounds.unit)
    }
}
