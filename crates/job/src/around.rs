//! Options around those of all jobs.

/// What every job is given beside what it says itself. Results do not repeat it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Around {
    /// Options before all others, which a job may set anew: names and values.
    pub before: Vec<(String, String)>,
    /// Options after all others.
    pub after: Vec<(String, String)>,
}
