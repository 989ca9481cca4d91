//! Characteristics of a trace as JSON.
//!
//! The types of a trace's profile are not serialized themselves. Each has a form with the same fields here, so that the
//! layout of the document changes only where this file does.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};
use trace::{TraceEnd, TraceFinding, TraceOperation, TraceStudy, TraceWindow};

use super::job::JobForm;
use super::{advice, figures, rates, severity, statement, summary, warnings};
use crate::explain::severity_name;

/// Version of the document's layout.
const SCHEMA: u32 = 1;

/// A value with a form that is serialized.
trait Formed {
    type Form;
    fn form(&self) -> Self::Form;
}

macro_rules! plain {
    ($($plain:ty),*) => {
        $(impl Formed for $plain {
            type Form = Self;
            fn form(&self) -> Self {
                *self
            }
        })*
    };
}

plain!(u16, u32, u64, f64);

impl<T: Formed> Formed for Option<T> {
    type Form = Option<T::Form>;
    fn form(&self) -> Self::Form {
        self.as_ref().map(Formed::form)
    }
}

impl<T: Formed> Formed for Vec<T> {
    type Form = Vec<T::Form>;
    fn form(&self) -> Self::Form {
        self.iter().map(Formed::form).collect()
    }
}

/// Defines the form of a type: its fields, with their types.
macro_rules! form {
    ($name:ident of $type:ident { $($field:ident: $of:ty),* $(,)? }) => {
        #[derive(Serialize)]
        struct $name {
            $($field: <$of as Formed>::Form,)*
        }
        impl Formed for trace::$type {
            type Form = $name;
            fn form(&self) -> $name {
                $name { $($field: self.$field.form(),)* }
            }
        }
    };
}

/// Values of the operations, those that occur anywhere in the trace.
#[derive(Serialize)]
struct OperationForms<T> {
    read: T,
    write: T,
    flush: T,
    discard: T,
    write_zeroes: T,
    other: T,
}

impl<T: Formed> Formed for trace::PerOperation<T> {
    type Form = OperationForms<T::Form>;
    fn form(&self) -> Self::Form {
        OperationForms {
            read: self.read.form(),
            write: self.write.form(),
            flush: self.flush.form(),
            discard: self.discard.form(),
            write_zeroes: self.write_zeroes.form(),
            other: self.other.form(),
        }
    }
}

form!(TotalsForm of TraceTotals {
    requests: trace::PerOperation<u64>, bytes: trace::PerOperation<u64>, sync_requests: u64, sync_bytes: u64,
    sync_writes: u64, meta_requests: u64, meta_bytes: u64, fua_requests: u64, fua_bytes: u64, preflush_requests: u64,
    readahead_requests: u64, readahead_bytes: u64, failed_requests: u64, incomplete_requests: u64, late_requests: u64,
    late_ns_max: u64, first_issue_ns: u64, issue_duration_ns: u64, duration_ns: u64,
});
form!(DistributionForm of TraceDistribution {
    weight: u64, min: u64, max: u64, mean: f64, coefficient_of_variation: f64, p10: u64, p50: u64, p90: u64, p95: u64,
    p99: u64, p99_9: u64,
});

/// Columns of the intervals; operations that do not occur have none.
#[derive(Serialize)]
struct SeriesForm {
    width_ns: u64,
    requests: BTreeMap<&'static str, Vec<u64>>,
    bytes: BTreeMap<&'static str, Vec<u64>>,
    in_flight_mean: Vec<f64>,
    in_flight_max: Vec<u64>,
    new_blocks: Vec<f64>,
}

impl Formed for trace::TraceSeries {
    type Form = SeriesForm;
    fn form(&self) -> SeriesForm {
        let columns = |of: fn(&trace::TraceInterval) -> &trace::PerOperation<u64>| {
            let column = |operation| self.intervals.iter().map(|interval| *of(interval).get(operation)).collect();
            let columns = TraceOperation::ALL.into_iter().map(|operation| (operation.name(), column(operation)));
            columns.filter(|(_, values): &(_, Vec<u64>)| values.iter().any(|value| *value > 0)).collect()
        };
        let width = self.width_ns.max(1) as f64;
        SeriesForm {
            width_ns: self.width_ns,
            requests: columns(|interval| &interval.requests),
            bytes: columns(|interval| &interval.bytes),
            in_flight_mean: self.intervals.iter().map(|interval| interval.in_flight_ns as f64 / width).collect(),
            in_flight_max: self.intervals.iter().map(|interval| interval.in_flight_max).collect(),
            new_blocks: self.intervals.iter().map(|interval| interval.new_blocks).collect(),
        }
    }
}

form!(SizesForm of SizeProfile { frequent: Vec<trace::TraceSizeCount>, others: Vec<trace::TraceSizeRange> });
form!(SizeCountForm of TraceSizeCount { bytes: u32, requests: u64 });
form!(SizeRangeForm of TraceSizeRange { bytes_min: u64, bytes_end: u64, requests: u64 });
form!(SequentialForm of SequentialProfile { reads: trace::RunProfile, writes: trace::RunProfile });
form!(RunsForm of RunProfile {
    requests: u64, bytes: u64, continuing_requests: u64, continuing_bytes: u64, chance_requests: u64,
    run_requests: Option<trace::TraceDistribution>, run_bytes: Option<trace::TraceDistribution>,
    interleaved_streams: Option<trace::TraceDistribution>,
});
form!(DepthForm of DepthProfile {
    depth: Option<trace::TraceDistribution>, depth_at_issue: trace::TraceDistribution, busy_time_fraction: f64,
    above_one_time_fraction: f64, dropped: u64,
});
form!(ArrivalsForm of ArrivalProfile {
    rate_per_s: Option<f64>, gap_ns: Option<trace::TraceDistribution>, windows: Vec<trace::WindowProfile>,
    hurst: Option<trace::HurstEstimate>, bursts: Option<trace::BurstProfile>,
});
form!(WindowForm of WindowProfile {
    width_ns: u64, requests_max: u64, bytes_max: u64, peak_to_mean: f64, index_of_dispersion: Option<f64>,
});
form!(HurstForm of HurstEstimate {
    exponent: f64, standard_error: f64, residual: f64, scale_ns_min: f64, scale_ns_max: f64,
});
form!(BurstsForm of BurstProfile {
    bursts: u64, duration_ns: trace::TraceDistribution, interval_ns: Option<trace::TraceDistribution>,
    requests_fraction: f64, time_fraction: f64, rate_to_mean: f64, bytes: u64, writes_fraction: f64,
});
form!(LoopsForm of LoopProfile {
    think_ns: Option<trace::TraceDistribution>, closed_loop_score: f64, scored_fraction: f64,
});
form!(ReuseForm of ReuseProfile {
    block_bytes: u64, accesses: u64, skipped_blocks: u64, footprint_bytes: f64, read_footprint_bytes: f64,
    written_footprint_bytes: f64, footprint_relative_error: f64, windows: Vec<trace::WorkingSetWindow>,
    miss_ratios: Vec<trace::MissRatioPoint>, hot: trace::HotProfile,
});
form!(WorkingSetForm of WorkingSetWindow {
    width_ns: u64, bytes_mean: f64, bytes_max: f64, read_bytes_mean: f64, read_bytes_max: f64, written_bytes_mean: f64,
    written_bytes_max: f64,
});
form!(MissRatioForm of MissRatioPoint { cache_bytes: u64, miss_ratio: f64, read_miss_ratio: f64 });
form!(HotForm of HotProfile { shares: Vec<trace::HotShare>, zipf: Option<trace::ZipfFit> });
form!(HotShareForm of HotShare { blocks_percent: f64, accesses_fraction: f64 });
form!(ZipfForm of ZipfFit { theta: f64, units: f64, unit_bytes: f64, difference_max: f64 });
form!(ProcessForm of ProcessProfile {
    process: u16, requests: trace::PerOperation<u64>, bytes: trace::PerOperation<u64>, sync_requests: u64,
    depth_mean: Option<f64>, think_ns_mean: Option<f64>, following_fraction: Option<f64>,
    closed_loop_score: Option<f64>,
});
form!(DeviceForm of DeviceProfile { device: u16, requests: u64, bytes: u64, end_offset: u64 });
form!(ProfileForm of TraceProfile {
    totals: trace::TraceTotals, series: trace::TraceSeries, sizes: trace::PerOperation<trace::SizeProfile>,
    sequential: trace::SequentialProfile, depth: Option<trace::DepthProfile>, arrivals: trace::ArrivalProfile,
    loops: Option<trace::LoopProfile>, reuse: Option<trace::ReuseProfile>,
    service_ns: trace::PerOperation<Option<trace::TraceDistribution>>,
    queued_ns: trace::PerOperation<Option<trace::TraceDistribution>>, processes: Vec<trace::ProcessProfile>,
    devices: Vec<trace::DeviceProfile>,
});

#[derive(Serialize)]
struct TraceEnvelope<'a> {
    /// Layout version; its key identifies the document.
    fathom_trace: u32,
    version: &'static str,
    name: &'a str,
    summary: String,
    rates: String,
    source: SourceForm<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<WindowBounds>,
    /// Whether requests are missing.
    is_incomplete: bool,
    warnings: Vec<String>,
    findings: Vec<FindingForm>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    copies: Vec<CopyForm<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<JobForm<'a>>,
    process_names: &'a [String],
    device_names: Vec<DeviceNameForm<'a>>,
    #[serde(flatten)]
    profile: ProfileForm,
}

#[derive(Serialize)]
struct SourceForm<'a> {
    program: &'a str,
    format: &'static str,
    resolution_ns: u64,
    started_unix_ms: Option<u64>,
    end: &'static str,
    requests_read: u64,
    requests_lost: Option<u64>,
    requests_missing: u64,
    errors: u64,
    is_anonymous: bool,
}

#[derive(Serialize)]
struct WindowBounds {
    from_ns: u64,
    end_ns: Option<u64>,
}

#[derive(Serialize)]
struct FindingForm {
    code: &'static str,
    severity: &'static str,
    statement: String,
    advice: &'static str,
    figures: Map<String, Value>,
}

#[derive(Serialize)]
struct CopyForm<'a> {
    file: &'a str,
    format: &'static str,
    requests: u64,
    requests_omitted: u64,
    bytes: u64,
}

#[derive(Serialize)]
struct DeviceNameForm<'a> {
    name: &'a str,
    bytes: Option<u64>,
}

/// Returns everything that is known of the trace.
pub(crate) fn json(report: &TraceStudy) -> String {
    let (condition, info, window) = (&report.condition, &report.condition.info, report.window);
    let bounds = WindowBounds { from_ns: window.from_ns, end_ns: Some(window.end_ns).filter(|end| *end < u64::MAX) };
    let copies = report.copies.iter().map(|copy| CopyForm {
        file: &copy.file,
        format: copy.format.name(),
        requests: copy.requests,
        requests_omitted: copy.omitted,
        bytes: copy.bytes,
    });
    crate::own::pretty(&TraceEnvelope {
        fathom_trace: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        name: &report.name,
        summary: summary(report),
        rates: rates(report),
        source: SourceForm {
            program: &info.source,
            format: condition.format.name(),
            resolution_ns: condition.format.resolution_ns(),
            started_unix_ms: info.started_unix_ms,
            end: match condition.end {
                TraceEnd::Complete => "complete",
                TraceEnd::Unfinished => "unfinished",
                TraceEnd::Truncated { .. } => "truncated",
            },
            requests_read: condition.requests,
            requests_lost: info.lost,
            requests_missing: condition.missing,
            errors: condition.error_count,
            is_anonymous: info.is_anonymous,
        },
        window: (window != TraceWindow::ALL).then_some(bounds),
        is_incomplete: condition.is_incomplete(),
        warnings: warnings(report).into_iter().map(|warning| warning.text).collect(),
        findings: report.findings.iter().map(finding).collect(),
        copies: copies.collect(),
        job: report.job.as_deref().map(JobForm::new),
        process_names: &info.processes,
        device_names: info.devices.iter().map(|(name, bytes)| DeviceNameForm { name, bytes: *bytes }).collect(),
        profile: report.profile.form(),
    })
}

fn finding(finding: &TraceFinding) -> FindingForm {
    let number = |value: f64| if value.fract() == 0.0 && value >= 0.0 { (value as u64).into() } else { value.into() };
    FindingForm {
        code: finding.code(),
        severity: severity_name(severity(finding)),
        statement: statement(finding),
        advice: advice(finding),
        figures: figures(finding).iter().map(|figure| (figure.name.to_owned(), number(figure.value))).collect(),
    }
}
