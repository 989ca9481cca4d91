//! Kinds of operations that transfer data.

/// A kind of operation that transfers data, as an index into per-direction tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SummaryDirection {
    Read = 0,
    Write = 1,
    Trim = 2,
}

impl SummaryDirection {
    /// All directions, in the order of tables and of fio's log files.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Trim];

    /// Returns fio's lower-case name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
        }
    }
}
