//! Regions of providers near a place.

use std::collections::{BTreeMap, BTreeSet};

use volume::catalogue::{self, CloudRegion, Position};

use crate::machine::provider;
use crate::need::{NearRegion, Need};
use crate::search::{named, regions};

/// Returns for each provider of the need the nearest region with known prices, also of machines if the plan chooses one;
/// without any the nearest.
#[must_use]
pub fn near(need: &Need, place: Position) -> Vec<NearRegion> {
    let priced = regions(need);
    let has_machines = |region: &CloudRegion| {
        let types = catalogue::machine_types(&region.provider);
        types.iter().any(|machine| machine.price(need.machine.term, Some(&region.name)).is_some())
    };
    let has_price = |region: &CloudRegion| {
        priced.iter().any(|known| known.eq_ignore_ascii_case(&region.name))
            && (!need.machine.is_open() || has_machines(region))
    };
    let considered = providers_of(need);
    let mut providers: BTreeMap<&str, Vec<(f64, &CloudRegion)>> = BTreeMap::new();
    for region in catalogue::regions().iter().filter(|region| considered.contains(&region.provider)) {
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

/// Returns the providers of the volumes that a need considers.
fn providers_of(need: &Need) -> BTreeSet<String> {
    let volumes = named(need).unwrap_or_default();
    volumes.iter().map(|(listed, _)| provider(&listed.name).to_owned()).collect()
}

/// Returns the regions of the need in which none of its volumes has a price, except those of providers that it does not
/// consider.
#[must_use]
pub fn regions_without_prices(need: &Need) -> Vec<&str> {
    if need.regions.is_empty() {
        return Vec::new();
    }
    let (priced, considered) = (regions(need), providers_of(need));
    let is_foreign = |name: &str| {
        let mut of_name =
            catalogue::regions().iter().filter(|region| region.name.eq_ignore_ascii_case(name)).peekable();
        of_name.peek().is_some() && of_name.all(|region| !considered.contains(&region.provider))
    };
    let is_priced = |name: &str| priced.iter().any(|known| known.eq_ignore_ascii_case(name));
    need.regions.iter().map(String::as_str).filter(|name| !is_priced(name) && !is_foreign(name)).collect()
}
