//! Results of the search for the knee, one or more curves: text with plots, SVG and CSV.

mod panel;
mod plot;
mod text;

use analyse::knee::{Curve, Point};
use results::stored::StoredResult;
use results::sweep::{Sweep, SweepAnswers, SweepResult};
use units::{count, requests_in_flight};

use crate::escape;

pub use panel::svg;
pub(crate) use panel::{Panel, panels};
pub use text::text;
pub(crate) use text::{advice_words, answer, caveats, facts, headline};

/// Returns the document of a sweep, with the answers.
#[must_use]
pub fn json(result: &SweepResult) -> String {
    let answers = result.sweeps.iter().map(|sweep| text::answer(sweep, result.seed)).collect();
    result.json_beside(&SweepAnswers { answers })
}

/// Returns the code of the most severe finding or, without findings, the knee of the first curve, in a few words.
#[must_use]
pub fn verdict(result: &SweepResult) -> Option<String> {
    let gravest = result.sweeps.iter().flat_map(|sweep| &sweep.findings).max_by_key(|finding| finding.severity);
    gravest.map(|finding| finding.code.name().to_owned()).or_else(|| match &result.sweeps.first()?.fit.curve {
        Curve::Knee(knee) => Some(format!("knee at {}", count(requests_in_flight(knee.depth.value) as f64))),
        Curve::Flat { .. } => Some("flat".to_owned()),
        Curve::Unsaturated { .. } | Curve::PowerLaw { .. } => Some("no knee".to_owned()),
        Curve::Unknown => None,
    })
}

/// Greatest deviation of a point from a curve that describes it.
const FITS: f64 = 0.1;

/// Reports whether the fitted curve describes the points: a level one does not if some are above and some below it.
fn fits(sweep: &Sweep) -> bool {
    sweep.points.iter().all(|point| {
        let fitted = sweep.fit.iops_at(f64::from(point.depth));
        fitted.is_some_and(|fitted| (fitted / point.iops - 1.0).abs() <= FITS.max(1.96 * point.error))
    })
}

/// Returns CSV with one row per point; the settings are the first columns.
pub(crate) fn csv(document: &SweepResult) -> String {
    let mut out = String::new();
    for (index, sweep) in document.sweeps.iter().enumerate() {
        if index == 0 {
            let names: String = sweep.settings.iter().map(|(name, _)| format!("{},", escape::csv(name))).collect();
            out.push_str(&format!("{names}depth,iops,iops_error,latency_ns\n"));
        }
        let values: String = sweep.settings.iter().map(|(_, value)| format!("{},", escape::csv(value))).collect();
        for point in &sweep.points {
            let Point { depth, iops, latency_ns, error } = point;
            out.push_str(&format!("{values}{depth},{iops:.3},{:.3},{latency_ns:.0}\n", iops * error));
        }
    }
    out
}
