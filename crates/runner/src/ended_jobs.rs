//! Jobs that end with another one.

/// Jobs that end with another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EndedJobs {
    /// Those of a reporting group.
    Group(u32),
    /// Those of a stage.
    Stage(usize),
    /// All of the run.
    All,
}
