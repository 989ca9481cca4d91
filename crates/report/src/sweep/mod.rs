//! The search for the knee: one curve or several, as text with plots, as a picture, as a document.

mod panel;
mod picture;
mod plot;
mod text;

use analyse::Finding;
use analyse::knee::search::{End, ProbeResult};
use analyse::knee::{Curve, Fit, Point};
use serde::{Deserialize, Serialize};
use units::count;

use crate::escape;

pub(crate) use panel::{Panel, panels};
pub use picture::svg;
pub use text::text;
pub(crate) use text::{caveats, facts, headline};

/// Everything that one call found.
#[derive(Clone, Debug, Default)]
pub struct SweepDocument {
    /// The command line, a word each.
    pub command_line: Vec<String>,
    /// What everything random was derived from.
    pub seed: u64,
    /// One curve for each combination of settings.
    pub sweeps: Vec<Sweep>,
}

/// One curve.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sweep {
    /// What was set for it: names and values.
    pub settings: Vec<(String, String)>,
    /// The volume, file or device.
    pub target: String,
    /// What was done: `randread 4 KiB`.
    pub load: String,
    /// By which engine.
    pub engine: String,
    /// Past the page cache.
    pub direct: bool,
    /// Whether time was virtual.
    pub virtual_time: bool,
    /// Seconds that all probes took together.
    pub spent_s: f64,
    /// Why the search ended; `None` where it was interrupted.
    pub end: Option<End>,
    /// The curve.
    pub fit: Fit,
    /// What holds operations back at the deepest point; `None` where it is unknown.
    pub limit: Option<String>,
    /// What is given while credits last.
    pub burst: Option<SweepBurst>,
    /// What to set.
    pub advice: Option<SweepAdvice>,
    /// What was measured, a point for each depth.
    pub points: Vec<Point>,
    /// Every single measurement, in the order of time.
    pub probes: Vec<ProbeResult>,
    /// Why the figures may not mean what they seem to.
    pub findings: Vec<Finding>,
}

/// A level above the lasting one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepBurst {
    /// Operations a second.
    pub iops: f64,
    /// How long it lasts from the start on; `None` where it is unknown.
    pub seconds: Option<f64>,
}

/// Settings for the knee.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepAdvice {
    /// Operations in flight, all jobs together.
    pub depth: u32,
    /// In flight for each job.
    pub iodepth: u32,
    /// Jobs.
    pub numjobs: u32,
    /// The command line for fio; `None` where several curves would need several.
    pub fio: Option<String>,
    /// Processor time for each operation, where it was measured.
    pub cpu_per_io_ns: Option<f64>,
}

/// The version of the document's layout.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct SweepEnvelope<'a> {
    /// Tells readers what this is.
    fathom_sweep: u32,
    version: &'static str,
    command_line: &'a [String],
    seed: u64,
    sweeps: &'a [Sweep],
}

/// One JSON document.
#[must_use]
pub fn json(document: &SweepDocument) -> String {
    let SweepDocument { command_line, seed, sweeps } = document;
    let version = env!("CARGO_PKG_VERSION");
    let envelope = SweepEnvelope { fathom_sweep: SCHEMA, version, command_line, seed: *seed, sweeps };
    let mut text = serde_json::to_string_pretty(&envelope).unwrap_or_default();
    text.push('\n');
    text
}

#[derive(Deserialize)]
struct StoredSweep {
    fathom_sweep: u32,
    command_line: Vec<String>,
    seed: u64,
    sweeps: Vec<Sweep>,
}

/// Reads what [`json`] wrote.
///
/// # Errors
///
/// Text of another kind, or of a later version.
pub fn read(text: &str) -> Result<SweepDocument, String> {
    let kept: StoredSweep = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if kept.fathom_sweep > SCHEMA {
        return Err(crate::own::too_new(kept.fathom_sweep, SCHEMA));
    }
    Ok(SweepDocument { command_line: kept.command_line, seed: kept.seed, sweeps: kept.sweeps })
}

/// Comma-separated values: the settings, then the points of each curve.
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

/// State of a search for the progress line: `, knee at 205 to 218 so far`.
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
    /// What was set for it, in words.
    pub(crate) fn label(&self) -> String {
        self.settings.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    }

    /// The knee, where there is one.
    pub(crate) fn knee(&self) -> Option<f64> {
        match &self.fit.curve {
            Curve::Knee(knee) => Some(knee.depth.value),
            _ => None,
        }
    }
}
