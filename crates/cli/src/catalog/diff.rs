//! `fathom catalog diff`: compares the dated files with the built-in catalogue, and plans with both.

use offers::Provider;
use plan::{LatencyCache, Need};
use report::ResultFormat;
use report::catalog::diff_text;
use results::catalog::{CatalogDiff, PlanChange, PlanChoice, ProviderDiff};
use results::stored::sorted;
use units::{Bytes, Nanos, grouped};
use volume::catalogue::{self, RenewedFigure};

use super::options::CatalogDiffOptions;
use super::{dated, style};
use crate::exit::Exit;
use crate::outputs::print_text;

/// Compares all dated files.
pub(super) fn command(options: &CatalogDiffOptions) -> Result<Exit, Exit> {
    let mut diff = CatalogDiff { providers: Vec::new(), compared_plans: 0, plans: Vec::new() };
    for provider in Provider::ALL {
        let dated = dated::of(provider.name()).map_err(Exit::refused)?;
        let Some(text) = &dated.text else { continue };
        let path = dated.path.display().to_string();
        let figures = catalogue::renewed_figures(provider.name(), &path, text).map_err(Exit::refused)?;
        compare_plans(provider.name(), &figures, &mut diff);
        diff.providers.push(ProviderDiff::new(provider.name(), path, &figures));
    }
    let is_json = options.format == ResultFormat::Json;
    Ok(print_text(&if is_json { sorted(&diff) } else { diff_text(&diff, style()) }))
}

const IOPS: [u32; 4] = [3_000, 16_000, 50_000, 120_000];
const SMALL: u64 = 500 << 30;
const LARGE: u64 = 10 << 40;
/// Bound on the mean latency.
const BOUND: Nanos = Nanos::new(1_500_000);
/// Most regions of a provider for which plans are compared.
const REGIONS_MAX: usize = 2;

/// Plans a fixed set of needs with the built-in and the dated figures of a provider.
fn compare_plans(provider: &str, figures: &[RenewedFigure], diff: &mut CatalogDiff) {
    let mut laws = LatencyCache::default();
    for region in regions(provider, figures) {
        for need in needs(provider) {
            diff.compared_plans += 1;
            let need = Need { regions: region.iter().cloned().collect(), ..need };
            let old = catalogue::built_in_only(|| best(&need, &mut laws));
            let new = best(&need, &mut laws);
            if old != new {
                let (need, region, provider) = (words(&need), region.clone(), provider.to_owned());
                diff.plans.push(PlanChange { need, provider, region, old, new });
            }
        }
    }
}

/// Returns the regions with changed prices, first the default one and those of the built-in catalogue; without any, the
/// default one.
fn regions(provider: &str, figures: &[RenewedFigure]) -> Vec<Option<String>> {
    let own = catalogue::list().into_iter().find(|volume| volume.name.starts_with(&format!("{provider}/")));
    let default = own.and_then(|volume| catalogue::resolve(&volume.name).ok()?.price?.region);
    let is_changed = |figure: &&RenewedFigure| {
        figure.table.ends_with("prices") && !figure.is_older && figure.new.is_some() && figure.new != figure.old
    };
    let mut changed: Vec<&RenewedFigure> = figures.iter().filter(is_changed).collect();
    changed.sort_by_key(|figure| (default.as_ref() != Some(&figure.row), figure.old.is_none()));
    let mut regions: Vec<Option<String>> = Vec::new();
    for figure in changed {
        let region = Some(figure.row.clone());
        if regions.len() < REGIONS_MAX && !regions.contains(&region) {
            regions.push(region);
        }
    }
    if regions.is_empty() { vec![default] } else { regions }
}

/// Returns the needs: each rate with a small and a large capacity, and with a bound on latency.
fn needs(provider: &str) -> Vec<Need> {
    let need = |iops: u32, (capacity, mean)| Need {
        iops: Some(f64::from(iops)),
        capacity: Some(capacity),
        mean,
        volumes: vec![provider.to_owned()],
        ..Need::default()
    };
    let kinds = [(SMALL, None), (LARGE, None), (SMALL, Some(BOUND))];
    IOPS.into_iter().flat_map(|iops| kinds.map(|kind| need(iops, kind))).collect()
}

/// Describes a need: `16,000 IOPS, 500 GiB, mean 1.5 ms`.
fn words(need: &Need) -> String {
    let iops = grouped(need.iops.unwrap_or(0.0) as u64);
    let mean = need.mean.map_or_else(String::new, |mean| format!(", mean {mean}"));
    format!("{iops} IOPS, {}{mean}", Bytes::new(need.bytes()))
}

/// Returns the cheapest volume that meets a need by the closed form.
fn best(need: &Need, laws: &mut LatencyCache) -> Option<PlanChoice> {
    let candidates = plan::candidates(need, laws);
    let ranking = plan::rank(&candidates, need);
    let best = &candidates[ranking.chosen()?];
    let usd_per_month = best.known_price()?.usd_per_month;
    Some(PlanChoice { volume: best.spec.name.clone(), usd_per_month: (100.0 * usd_per_month).round() / 100.0 })
}
