//! Characteristics of a trace, with their sentences.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use trace::{LoadDifference, TraceCopy, TraceFormat, TraceProfile, VolumeComparison};

use crate::answer::Answer;

/// Everything that is known of a trace.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TraceDocument<'a> {
    /// Version of the document's layout.
    pub fathom_trace: u32,
    /// Version of Fathom.
    pub version: &'static str,
    pub answer: Answer,
    /// Name of the file.
    pub name: &'a str,
    /// The load in one sentence.
    pub summary: String,
    /// Its rates in one sentence.
    pub rates: String,
    pub source: TraceSource<'a>,
    /// The described part; missing for the whole trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<TraceBounds>,
    /// Whether requests are missing.
    pub is_incomplete: bool,
    pub warnings: Vec<String>,
    /// Findings, the most important first.
    pub findings: Vec<DescribedFinding>,
    /// Written copies.
    #[serde(skip_serializing_if = "<[TraceCopy]>::is_empty")]
    pub copies: &'a [TraceCopy],
    /// The job of `--to-job`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<TraceJob<'a>>,
    /// Names of processes by index.
    pub process_names: &'a [String],
    /// Devices by index.
    pub device_names: Vec<TraceDevice<'a>>,
    #[serde(flatten)]
    pub profile: &'a TraceProfile,
}

impl TraceDocument<'_> {
    /// Version of the layout.
    pub const SCHEMA: u32 = 1;
}

/// Where a trace comes from, and how much of it was read.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TraceSource<'a> {
    /// Program that recorded it.
    pub program: &'a str,
    pub format: TraceFormat,
    /// Resolution of its times in nanoseconds.
    pub resolution_ns: u64,
    /// Start in milliseconds since the Unix epoch; `null` if unknown.
    pub started_unix_ms: Option<u64>,
    /// `complete`, `unfinished` or `truncated`.
    pub end: &'static str,
    pub requests_read: u64,
    /// Requests that the recorder lost; `null` if unknown.
    pub requests_lost: Option<u64>,
    /// Requests that the file should have and has not.
    pub requests_missing: u64,
    /// Lines or blocks that could not be read.
    pub errors: u64,
    /// Whether offsets and names were replaced.
    pub is_anonymous: bool,
}

/// The described part of a trace, in nanoseconds since its start.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TraceBounds {
    pub from_ns: u64,
    /// `null` for the end of the trace.
    pub end_ns: Option<u64>,
}

/// A finding about a trace.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DescribedFinding {
    pub code: &'static str,
    pub severity: &'static str,
    pub statement: String,
    pub advice: &'static str,
    /// Figures by name.
    #[schemars(with = "BTreeMap<String, f64>")]
    pub figures: BTreeMap<String, Value>,
}

/// A device of a trace.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TraceDevice<'a> {
    pub name: &'a str,
    /// Its size; `null` if unknown.
    pub bytes: Option<u64>,
}

/// A job that behaves like a trace, and its differences.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TraceJob<'a> {
    /// Path of the job file.
    pub file: &'a str,
    /// Number of its jobs.
    pub sections: usize,
    /// `open` or `closed`.
    pub job_loop: &'static str,
    /// Bytes that it needs of its target.
    pub bytes: u64,
    /// What it does not have of the trace, one phrase each.
    pub left_out: Vec<String>,
    pub differences: &'a [LoadDifference],
    /// Both loads on modelled volumes.
    pub volumes: Vec<TraceJobVolume<'a>>,
    /// Why they were not simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_simulated: Option<&'a str>,
}

/// A trace and its job on a modelled volume.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TraceJobVolume<'a> {
    #[serde(flatten)]
    pub compared: &'a VolumeComparison,
    /// Relative difference of the IOPS.
    pub iops_difference: f64,
    /// Relative difference of the 99th percentiles.
    pub p99_difference: f64,
    /// Whether both are within their tolerances.
    pub is_matched: bool,
}
