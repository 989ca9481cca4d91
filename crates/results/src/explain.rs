//! Explanations of figures from any source.

use analyse::{ActiveIntervals, Database, Evidence, Explanation, Finding, VolumeChange};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Answer;

/// Findings about one input.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Explained {
    /// Input file or claim.
    pub input: String,
    /// Kind of input: `run`, `iostat`, `claim` or `trace`.
    pub kind: &'static str,
    /// Expected volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// One explanation per job or device; the document has them with their sentences.
    #[serde(skip)]
    pub explanations: Vec<Explanation>,
    /// Devices without a request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub idle: Vec<String>,
}

/// Explanations with their sentences.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainDocument<'a> {
    /// Version of the document's layout.
    pub schema: u32,
    pub inputs: Vec<ExplainedInput<'a>>,
}

impl ExplainDocument<'_> {
    /// Version of the layout.
    pub const SCHEMA: u32 = 1;
}

/// Findings about one input with their sentences.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainedInput<'a> {
    #[serde(flatten)]
    pub explained: &'a Explained,
    /// Jobs or devices of the input.
    pub subjects: Vec<ExplainedSubject<'a>>,
}

/// A job or device.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainedSubject<'a> {
    /// Name; empty if the input has only one subject.
    pub subject: &'a str,
    /// Missing for a device that only has figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    pub figures: &'a [Evidence],
    /// Intervals with requests, if the input has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<ActiveIntervals>,
    /// Findings, the most important first.
    pub findings: Vec<ExplainedFinding<'a>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub notes: &'a [String],
    /// Change of the volume that would give more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<&'a VolumeChange>,
}

/// A finding with its sentence.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainedFinding<'a> {
    #[serde(flatten)]
    pub finding: &'a Finding,
    pub text: String,
    /// Settings of the database that carry out the remedy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<DatabaseSetting>,
}

/// A setting of a database with its advice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DatabaseSetting {
    pub database: Database,
    pub name: &'static str,
    pub advice: String,
    /// Title of the document behind it.
    pub document: &'static str,
    /// Version or date of that document.
    pub edition: &'static str,
    pub url: &'static str,
}
