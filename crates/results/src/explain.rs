//! Explanations of figures from any source.

use analyse::Explanation;
use serde::Serialize;

/// Findings about one input.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explained {
    /// Input file or claim.
    pub input: String,
    /// Kind of input: `run`, `iostat`, `claim` or `trace`.
    pub kind: &'static str,
    /// Expected volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// One explanation per job or device; `report` serializes them with their sentences.
    #[serde(skip)]
    pub explanations: Vec<Explanation>,
    /// Devices without a request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub idle: Vec<String>,
}
