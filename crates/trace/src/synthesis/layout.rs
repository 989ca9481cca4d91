//! Where the classes of a load lie on the device of the job.

use super::class::LoadClass;
use crate::characterize::{ReuseProfile, TraceProfile};

/// Alignment of regions in bytes.
const ALIGN: u64 = 4096;
/// Greatest region in bytes.
const REGION_MAX: f64 = (1u64 << 56) as f64;
/// Least exponent for a zipf distribution; below it, offsets are uniform.
const THETA_MIN: f64 = 0.15;
/// Greatest difference of the footprint from that of uniform offsets that are taken as uniform.
const UNIFORM_ERROR_MAX: f64 = 0.02;
/// Greatest region of uniform offsets, as a multiple of the footprint: larger ones have no more repetitions.
const SPARSE_MAX: f64 = 64.0;
/// Fraction of bytes that are used only once from which no offset is repeated.
const ONCE_MIN: f64 = 0.9;
/// Fraction of the positions that all random classes have in common, and of the overlap of independent requests, from
/// which they have one region.
const OVERLAP_MIN: f64 = 0.5;

/// Greatest overlap by chance, as a fraction of the footprint, that cannot be told from none, and the fraction of the
/// positions that classes have in common from which they have one region then.
const SPARSE_OVERLAP_MAX: f64 = 0.05;
const SAME_SPAN_MIN: f64 = 0.9;

/// A region of the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Region {
    pub(super) offset: u64,
    pub(super) bytes: u64,
    pub(super) zipf_theta: Option<f64>,
    /// Whether each offset comes once before any comes again.
    pub(super) is_permuted: bool,
}

/// Returns the region of each class and the size of the device in bytes. Regions lie next to each other in the order of
/// the trace; gaps between them are left out.
pub(super) fn regions(classes: &[LoadClass], profile: &TraceProfile) -> (Vec<Region>, u64) {
    let mut regions: Vec<Region> = classes.iter().map(region).collect();
    let shared = shares_region(classes, profile);
    let is_shared = |at: usize| shared && !classes[at].key.is_sequential && !classes[at].key.is_trim();
    let shared_bytes = (0..classes.len()).filter(|at| is_shared(*at)).map(|at| regions[at].bytes).max().unwrap_or(0);
    let mut order: Vec<usize> = (0..classes.len()).collect();
    order.sort_by_key(|at| (classes[*at].span.0, *at));
    let (mut next, mut shared_offset) = (0u64, None);
    for at in order {
        if is_shared(at) {
            regions[at].bytes = shared_bytes;
            if let Some(offset) = shared_offset {
                regions[at].offset = offset;
                continue;
            }
            shared_offset = Some(next);
        }
        regions[at].offset = next;
        next = next.saturating_add(regions[at].bytes).next_multiple_of(ALIGN);
    }
    (regions, next)
}

fn region(class: &LoadClass) -> Region {
    let span = class.span.1.saturating_sub(class.span.0) as f64;
    let largest = f64::from(class.sizes.max_bytes());
    let reuse = class.profile.reuse.as_ref();
    let once = |bytes| RegionUse { bytes, zipf_theta: None, is_permuted: true };
    let RegionUse { bytes, zipf_theta, is_permuted } = match reuse {
        // Discards.
        None => once(span.min(class.bytes as f64)),
        Some(reuse) if class.key.is_sequential => once(reuse.footprint_bytes),
        Some(reuse) => random_region(class, reuse, span),
    };
    let unit = u64::from(class.sizes.max_bytes()).next_multiple_of(ALIGN);
    let bytes = bytes.clamp(largest, REGION_MAX) as u64;
    Region { offset: 0, bytes: bytes.next_multiple_of(unit), zipf_theta, is_permuted }
}

/// How requests use their region.
struct RegionUse {
    bytes: f64,
    zipf_theta: Option<f64>,
    is_permuted: bool,
}

fn random_region(class: &LoadClass, reuse: &ReuseProfile, span: f64) -> RegionUse {
    let independent = |bytes: f64, zipf_theta| RegionUse { bytes, zipf_theta, is_permuted: false };
    let used = (class.profile.totals.bytes.total() as f64).max(1.0);
    let footprint = reuse.footprint_bytes.min(span);
    // Uniform draws leave out exp(-draws / blocks) of the blocks.
    let uniform = -span.max(1.0) * (-used / span.max(1.0)).exp_m1();
    if reuse.hot.zipf.is_some() && (footprint / uniform - 1.0).abs() <= UNIFORM_ERROR_MAX {
        return independent(span.min(SPARSE_MAX * footprint), None);
    }
    match reuse.hot.zipf {
        Some(fit) if fit.theta >= THETA_MIN => {
            // fio does not take an exponent of exactly one.
            let theta = if (fit.theta - 1.0).abs() < 5e-4 { 0.999 } else { fit.theta };
            independent((fit.units * fit.unit_bytes).min(span), Some(theta))
        }
        Some(fit) => independent((fit.units * fit.unit_bytes).min(span).max(footprint), None),
        // Different sizes would divide a region in which no block comes twice.
        None => {
            let is_permuted = class.sizes.0.len() == 1 && footprint / used >= ONCE_MIN;
            RegionUse { bytes: footprint, zipf_theta: None, is_permuted }
        }
    }
}

/// Reports whether random requests of several classes use the same bytes: whether their footprints overlap at least half
/// as much as those of independent requests in one region.
fn shares_region(classes: &[LoadClass], profile: &TraceProfile) -> bool {
    let Some(all) = &profile.reuse else { return false };
    let footprint = |class: &LoadClass| class.profile.reuse.as_ref().map_or(0.0, |reuse| reuse.footprint_bytes);
    let (mut sum, mut random_sum, mut random_max) = (0.0, 0.0, 0.0f64);
    let (mut outer, mut inner) = ((u64::MAX, 0), (0, u64::MAX));
    for class in classes.iter().filter(|class| !class.key.is_trim()) {
        let bytes = footprint(class);
        sum += bytes;
        if !class.key.is_sequential {
            random_sum += bytes;
            random_max = random_max.max(bytes);
            outer = (class.span.0.min(outer.0), class.span.1.max(outer.1));
            inner = (class.span.0.max(inner.0), class.span.1.min(inner.1));
        }
    }
    let length = |span: (u64, u64)| span.1.saturating_sub(span.0) as f64;
    let smaller = random_sum - random_max;
    let by_chance = smaller * (random_max / length(outer).max(1.0)).min(1.0);
    // Where requests are few, no overlap is to be seen, and footprints are estimates.
    let is_sparse =
        by_chance <= SPARSE_OVERLAP_MAX * all.footprint_bytes && length(inner) >= SAME_SPAN_MIN * length(outer);
    let overlaps = sum - all.footprint_bytes >= OVERLAP_MIN * by_chance;
    smaller > 0.0 && length(inner) >= OVERLAP_MIN * length(outer) && (overlaps || is_sparse)
}
