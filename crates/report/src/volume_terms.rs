//! Prices and sources of modelled volumes, printed alike in every report.

use plan::MonthlyCost;
use serde_json::{Map, Value, json};
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

/// Returns a price with its total, and `more`, for a JSON document.
pub(crate) fn price_json(money: &MonthlyCost, more: Value) -> Value {
    let total = json!({
        "usd_per_month": money.usd_per_month, "stands_for": money.stands_for, "date": money.price.source.date,
    });
    let parts = [json!(money.price), total, more];
    parts.into_iter().flat_map(|part| part.as_object().cloned()).flatten().collect::<Map<_, _>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_groups_and_cents() {
        assert_eq!([0.0, 9.999, 1234.5].map(amount), ["0.00", "10.00", "1,234.50"]);
    }
}
