//! Results of the search for the knee, one or more curves: text with plots, SVG, CSV and JSON.

mod panel;
mod plot;
mod text;

use analyse::knee::search::{End, ProbeResult};
use analyse::knee::{Curve, Fit, Point};
use analyse::{Finding, Severity};
use record::{MissingItems, ShardRecord};
use serde::{Deserialize, Serialize};
use units::{Problem, count, requests_in_flight};

use crate::answer::Answer;
use crate::escape;

pub use panel::svg;
pub(crate) use panel::{Panel, panels};
pub use text::text;
pub(crate) use text::{advice_words, answer, caveats, facts, headline};

/// The result of a sweep.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SweepDocument {
    /// Command line, one argument per element.
    pub command_line: Vec<String>,
    /// Seed of all random choices.
    pub seed: u64,
    /// The shard; `None` for all combinations of settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardRecord>,
    /// Curves that no shard has; `None` if there are all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingItems>,
    /// One curve per combination of settings.
    pub sweeps: Vec<Sweep>,
}

/// One curve.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sweep {
    /// Names and values of the settings that differ between curves.
    pub settings: Vec<(String, String)>,
    /// Volume, file or device.
    pub target: String,
    /// Workload: `randread 4 KiB`.
    pub load: String,
    /// I/O engine.
    pub engine: String,
    /// Whether the page cache was bypassed.
    pub direct: bool,
    pub virtual_time: bool,
    /// Total duration of all probes in seconds.
    pub spent_s: f64,
    /// Why the search ended; `None` if it was interrupted.
    pub end: Option<End>,
    /// Fitted curve.
    pub fit: Fit,
    /// Limit that throttles operations at the deepest point; `None` if unknown.
    pub limit: Option<String>,
    /// Rate while burst credits last.
    pub burst: Option<SweepBurst>,
    /// Recommended settings.
    pub advice: Option<SweepAdvice>,
    /// Measured points, one per depth.
    pub points: Vec<Point>,
    /// All measurements in chronological order.
    pub probes: Vec<ProbeResult>,
    /// Reasons to distrust the figures.
    pub findings: Vec<Finding>,
}

/// A rate above the sustained one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepBurst {
    /// Operations per second.
    pub iops: f64,
    /// Duration from the start in seconds; `None` if unknown.
    pub seconds: Option<f64>,
}

/// Recommended settings for the knee.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepAdvice {
    /// Operations in flight over all jobs.
    pub depth: u32,
    /// Queue depth of each job.
    pub iodepth: u32,
    /// Number of jobs.
    pub numjobs: u32,
    /// fio command line; `None` if several curves need different ones.
    pub fio: Option<String>,
    /// CPU time per operation in nanoseconds, if it was measured.
    pub cpu_per_io_ns: Option<f64>,
    /// Whether the depth is the one that providers ask for, above what the model needs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_of_provider: bool,
}

/// Version of the document's layout.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct SweepEnvelope<'a> {
    /// Layout version; its key identifies the document.
    fathom_sweep: u32,
    version: &'static str,
    /// One answer per curve.
    answers: Vec<Answer>,
    #[serde(flatten)]
    document: &'a SweepDocument,
}

impl SweepDocument {
    /// Returns the code of the most severe finding or, without findings, the knee of the first curve, in a few words.
    #[must_use]
    pub fn verdict(&self) -> Option<String> {
        let gravest = self.sweeps.iter().flat_map(|sweep| &sweep.findings).max_by_key(|finding| finding.severity);
        gravest.map(|finding| finding.code.name().to_owned()).or_else(|| match &self.sweeps.first()?.fit.curve {
            Curve::Knee(knee) => Some(format!("knee at {}", count(requests_in_flight(knee.depth.value) as f64))),
            Curve::Flat { .. } => Some("flat".to_owned()),
            Curve::Unsaturated { .. } | Curve::PowerLaw { .. } => Some("no knee".to_owned()),
            Curve::Unknown => None,
        })
    }

    /// Reports whether the figures of a curve cannot be trusted.
    #[must_use]
    pub fn is_distrusted(&self) -> bool {
        let mut findings = self.sweeps.iter().flat_map(|sweep| &sweep.findings);
        findings.any(|finding| finding.severity == Severity::Distrust)
    }
}

#[must_use]
pub fn json(document: &SweepDocument) -> String {
    let answers = document.sweeps.iter().map(|sweep| text::answer(sweep, document.seed)).collect();
    crate::own::pretty(&SweepEnvelope { fathom_sweep: SCHEMA, version: env!("CARGO_PKG_VERSION"), answers, document })
}

#[derive(Deserialize)]
struct VersionedSweep {
    fathom_sweep: u32,
}

/// Parses the output of [`json`].
///
/// # Errors
///
/// Returns an error if the text is not such a document, or has a later layout version.
pub fn read(text: &str) -> Result<SweepDocument, Problem> {
    let VersionedSweep { fathom_sweep } = crate::own::parsed(text)?;
    if fathom_sweep > SCHEMA {
        return Err(crate::own::too_new(fathom_sweep, SCHEMA));
    }
    crate::own::parsed(text)
}

/// Returns CSV with one row per point; the settings are the first columns.
#[must_use]
pub fn csv(document: &SweepDocument) -> String {
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

/// Describes a search in progress for the progress line: `, knee at 205 to 218 so far`.
#[must_use]
pub fn so_far(fit: &Fit) -> String {
    match &fit.curve {
        Curve::Knee(knee) => format!(", knee at {} to {} so far", count(knee.depth.low), count(knee.depth.high)),
        Curve::Flat { xmax, .. } => format!(", flat at {} IOPS so far", count(xmax.value)),
        Curve::Unsaturated { iops, .. } => format!(", {} IOPS and rising so far", count(*iops)),
        Curve::PowerLaw { .. } => ", no knee so far".to_owned(),
        Curve::Unknown => String::new(),
    }
}

impl Sweep {
    /// Returns the settings as `name=value`, separated by blanks.
    pub(crate) fn label(&self) -> String {
        crate::grid::assignments(&self.settings)
    }

    /// Returns the depth of the knee, if there is one.
    pub(crate) fn knee(&self) -> Option<f64> {
        match &self.fit.curve {
            Curve::Knee(knee) => Some(knee.depth.value),
            _ => None,
        }
    }
}
