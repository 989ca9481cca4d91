//! Regions of providers near a place.

use std::collections::BTreeMap;

use volume::catalogue::{self, CloudRegion, Position};

use crate::need::{NearRegion, Need};
use crate::search::regions;

/// Returns for each provider of the need the nearest region with known prices, or without any the nearest.
#[must_use]
pub fn near(need: &Need, place: Position) -> Vec<NearRegion> {
    let priced = regions(need);
    let has_price = |region: &CloudRegion| priced.iter().any(|known| known.eq_ignore_ascii_case(&region.name));
    let mut providers: BTreeMap<&str, Vec<(f64, &CloudRegion)>> = BTreeMap::new();
    for region in catalogue::regions() {
        providers.entry(&region.provider).or_default().push((place.km_to(region.position), region));
    }
    let nearest = |mut regions: Vec<(f64, &CloudRegion)>| {
        // Regions of governments take no other customers.
        regions.retain(|(_, region)| !region.name.contains("-gov-"));
        regions.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let first = *regions.first()?;
        let (km, region) = regions.into_iter().find(|(_, region)| has_price(region)).unwrap_or(first);
        let unpriced = (first.1.name != region.name).then(|| first.1.clone());
        Some(NearRegion { region: region.clone(), km, unpriced })
    };
    providers.into_values().filter_map(nearest).collect()
}
