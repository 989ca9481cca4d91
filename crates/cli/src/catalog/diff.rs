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
const CAPACITIES: [u64; 2] = [500 << 30, 10 << 40];
/// Bounds on the mean latency.
const BOUNDS: [Option<Nanos>; 2] = [None, Some(Nanos::new(1_500_000))];
/// Most regions of a provider for which plans are compared, besides the default one.
const REGIONS_MAX: usize = 3;

/// Plans a fixed set of needs with the built-in and the dated figures of a provider.
fn compare_plans(provider: &str, figures: &[RenewedFigure], diff: &mut CatalogDiff) {
    let mut regions: Vec<Option<&str>> = vec![None];
    for figure in figures.iter().filter(|figure| figure.table.ends_with("prices") && figure.new != figure.old) {
        if regions.len() <= REGIONS_MAX && !regions.contains(&Some(figure.row.as_str())) {
            regions.push(Some(&figure.row));
        }
    }
    let mut laws = LatencyCache::default();
    for need in needs(provider) {
        let mut before: Vec<PlanChange> = Vec::new();
        for region in &regions {
            diff.compared_plans += 1;
            let need = Need { region: region.map(str::to_owned), ..need.clone() };
            let old = catalogue::built_in_only(|| best(&need, &mut laws));
            let change = PlanChange {
                need: words(&need),
                provider: provider.to_owned(),
                region: need.region.clone(),
                new: best(&need, &mut laws),
                old,
            };
            // The default region may be one of the others.
            let is_known = before.iter().any(|known| known.old == change.old && known.new == change.new);
            if change.old != change.new && !is_known {
                before.push(change);
            }
        }
        diff.plans.append(&mut before);
    }
}

fn needs(provider: &str) -> Vec<Need> {
    let mut needs = Vec::new();
    for (iops, capacity) in IOPS.into_iter().flat_map(|iops| CAPACITIES.map(|capacity| (iops, capacity))) {
        needs.extend(BOUNDS.map(|mean| Need {
            iops: Some(f64::from(iops)),
            capacity: Some(capacity),
            mean,
            volumes: vec![provider.to_owned()],
            ..Need::default()
        }));
    }
    needs
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
    let best = candidates.get(plan::rank(&candidates).best?)?;
    let usd_per_month = best.known_price()?.usd_per_month;
    Some(PlanChoice { volume: best.spec.name.clone(), usd_per_month: (100.0 * usd_per_month).round() / 100.0 })
}
