//! Options around those of all jobs.

/// Options that every job gets beside its own. Results do not repeat them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Around {
    /// Options before all others, which a job may set anew: names and values.
    pub before: Vec<(String, String)>,
    /// Options after all others.
    pub after: Vec<(String, String)>,
}
