//! What limits the meaning of a trace's figures.

use trace::{TraceEnd, TraceStudy};
use units::{Nanos, count, grouped};

use super::requests;

/// A limit of the figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TraceWarning {
    /// Whether requests are missing, rather than facts about them.
    pub(crate) is_incomplete: bool,
    pub(crate) text: String,
}

/// Returns all warnings, those about missing requests first.
pub(crate) fn warnings(report: &TraceStudy) -> Vec<TraceWarning> {
    let incomplete = missing(report).into_iter().map(|text| TraceWarning { is_incomplete: true, text });
    let limits = limits(report).into_iter().map(|text| TraceWarning { is_incomplete: false, text });
    incomplete.chain(limits).collect()
}

fn missing(report: &TraceStudy) -> Vec<String> {
    let condition = &report.condition;
    let mut found = Vec::new();
    if let Some(lost) = condition.info.lost.filter(|lost| *lost > 0) {
        found.push(format!("{} lost during capture: rates and depth are too low", requests(lost)));
    }
    if let TraceEnd::Truncated { position, bytes } = condition.end {
        found.push(format!(
            "{}: byte {position}: the file ends after {} bytes of a block or an event: requests from there on are \
             missing",
            report.name,
            grouped(bytes)
        ));
    }
    found.extend(condition.errors.iter().map(ToString::to_string));
    let more = condition.error_count.saturating_sub(condition.errors.len() as u64);
    if more > 0 {
        found.push(format!("{} more errors like these", grouped(more)));
    }
    if condition.missing > 0 {
        let text = "missing: in damaged parts, or issued before the trace began";
        found.push(format!("{} {text}", requests(condition.missing)));
    }
    found
}

fn limits(report: &TraceStudy) -> Vec<String> {
    let (condition, totals) = (&report.condition, &report.profile.totals);
    let mut found = Vec::new();
    if condition.end == TraceEnd::Unfinished {
        found.push("the trace is incomplete: its writer was killed or is still running".to_owned());
    }
    if condition.early > 0 {
        let text = "out of order and before the start of the trace; they count as issued at the start: sort the trace";
        found.push(format!("{} {text}", requests(condition.early)));
    }
    if totals.requests.total() == 0 {
        let empty = if report.copies.is_empty() { "" } else { ": the copy is empty" };
        found.push(format!("no request of the trace is in this window{empty}"));
    }
    let resolution = condition.format.resolution_ns();
    let gap = report.profile.arrivals.gap_ns.map_or(u64::MAX, |gap| gap.p50);
    if resolution >= 1_000_000 || (resolution > 1 && gap <= resolution) {
        found.push(format!(
            "times have a resolution of {}: narrower windows, gaps and depth are rounding artifacts",
            Nanos::new(resolution)
        ));
    }
    let (all, incomplete) = (totals.requests.total(), totals.incomplete_requests);
    if all > 0 && incomplete == all {
        let what = if condition.format.has_service_times() {
            "trace has no completions"
        } else {
            "format has no service times"
        };
        found.push(format!("the {what}: latency, depth and think time are unknown"));
    } else if incomplete > 0 {
        found.push(format!("{} without a completion in the trace", requests(incomplete)));
    }
    if condition.info.is_anonymous {
        found.push("offsets are scrambled and names removed: only runs within a region are preserved".to_owned());
    }
    if let Some(skipped) = report.profile.reuse.as_ref().map(|reuse| reuse.skipped_blocks).filter(|blocks| *blocks > 0)
    {
        let text = "blocks of requests above 16 MiB are not counted in the reuse figures";
        found.push(format!("{} {text}", count(skipped as f64)));
    }
    if let Some(dropped) = report.profile.depth.map(|depth| depth.dropped).filter(|dropped| *dropped > 0) {
        found.push(format!("over 65,536 requests are in flight; the depth omits {}", count(dropped as f64)));
    }
    found
}
