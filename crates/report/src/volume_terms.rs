//! Prices and sources of modelled volumes, printed alike in every report.

use units::grouped;
use volume::spec::PriceParts;

/// Formats an amount of money with two decimals: `1,234.50`.
pub(crate) fn amount(value: f64) -> String {
    let cents = (value * 100.0).round() as u64;
    format!("{}.{:02}", grouped(cents / 100), cents % 100)
}

/// Returns what each part of a price buys, and its amount.
pub(crate) fn price_parts(parts: &PriceParts) -> [(&'static str, f64); 4] {
    let PriceParts { capacity, iops, throughput, performance } = *parts;
    [("capacity", capacity), ("IOPS", iops), ("throughput", throughput), ("performance", performance)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_groups_and_cents() {
        assert_eq!([0.0, 9.999, 1234.5].map(amount), ["0.00", "10.00", "1,234.50"]);
    }
}
