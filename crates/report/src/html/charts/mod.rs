//! The charts of a page. Functions return `None` if there is nothing to draw.

mod credits;
mod flow;
pub(super) mod grid;
mod heat;
pub(super) mod knee;
mod latency;
mod percentiles;
pub(super) mod published;
pub(super) mod ranks;
mod rows;
mod sides;
mod stages;
mod timeline;
pub(super) mod trace;

use super::figure::ChartFigure;
use super::part::SectionPart;

/// Returns all charts of a job, in page order.
pub(super) fn of(part: &SectionPart<'_>) -> Vec<ChartFigure> {
    let over_time: [fn(&SectionPart<'_>) -> Option<ChartFigure>; 3] = [flow::iops, flow::bytes, latency::over_time];
    let of_all: [fn(&SectionPart<'_>) -> Option<ChartFigure>; 4] =
        [percentiles::curve, sides::bars, stages::bars, credits::balance];
    let mut charts: Vec<ChartFigure> = over_time.iter().filter_map(|chart| chart(part)).collect();
    charts.extend(heat::maps(part));
    charts.extend(of_all.iter().filter_map(|chart| chart(part)));
    charts
}
