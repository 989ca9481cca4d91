//! The charts of a trace.

mod blocks;
mod curves;
mod over_time;
mod sizes;

use trace::TraceOperation;

use super::super::figure::{ChartFigure, SeriesStyle};
use trace::TraceStudy;

/// Returns all charts of a trace, in page order.
pub(in super::super) fn of(report: &TraceStudy) -> Vec<ChartFigure> {
    let all: [fn(&TraceStudy) -> Option<ChartFigure>; 10] = [
        over_time::iops,
        over_time::bytes,
        over_time::depth,
        over_time::footprint,
        sizes::bars,
        curves::latency,
        curves::peaks,
        curves::dispersion,
        blocks::misses,
        blocks::hot,
    ];
    all.iter().filter_map(|chart| chart(report)).collect()
}

/// Returns the style of an operation: the colours of reads, writes and discards are those of runs.
const fn style(operation: TraceOperation) -> SeriesStyle {
    let colour = match operation {
        TraceOperation::Read => 0,
        TraceOperation::Write => 1,
        TraceOperation::Discard => 2,
        TraceOperation::Flush => 3,
        TraceOperation::WriteZeroes => 4,
        TraceOperation::Other => 5,
    };
    SeriesStyle { colour, dash: 0 }
}
