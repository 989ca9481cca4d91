//! Sizes of a volume on sale.

use volume::catalogue::Bounds;

/// Sizes of a volume on sale, in its unit.
pub(crate) struct SizeRange {
    pub(crate) least: u64,
    pub(crate) most: u64,
    /// Bytes per unit.
    pub(crate) unit_bytes: f64,
    pub(crate) bounds: Bounds,
}

impl SizeRange {
    /// Returns the smallest size on sale that is at least `size`, as a key's value.
    pub(crate) fn sold_from(&self, size: u64) -> String {
        let sold = self.bounds.sold_from(size as f64).map_or(self.most, |sold| sold as u64);
        format!("{sold}{}", self.bounds.unit)
    }
}
