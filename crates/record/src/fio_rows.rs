//! Rows of fio's outputs: reads, writes and trims, or all of them together (`unified_rw_reporting`).

use std::borrow::Cow;

use meter::DirectionSummary;

use crate::{DataKind, DirectionResult, GroupTotals, JobResult, Measured, Run, UnifiedReport};

/// What a row of fio's outputs counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioRow {
    Kind(DataKind),
    /// Reads, writes and trims together.
    Mixed,
}

impl FioRow {
    /// Returns fio's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kind(kind) => kind.name(),
            Self::Mixed => "mixed",
        }
    }
}

impl JobResult {
    /// Returns the rows of the job in fio's outputs.
    #[must_use]
    pub fn fio_rows(&self) -> &'static [FioRow] {
        const KINDS: [FioRow; 4] =
            [FioRow::Kind(DataKind::Read), FioRow::Kind(DataKind::Write), FioRow::Kind(DataKind::Trim), FioRow::Mixed];
        match self.declared.unified {
            UnifiedReport::None => &KINDS[..3],
            UnifiedReport::Mixed => &KINDS[3..],
            UnifiedReport::Both => &KINDS,
        }
    }
}

impl Measured {
    /// Returns the results of a row of fio's outputs.
    #[must_use]
    pub fn fio_row(&self, row: FioRow) -> Cow<'_, DirectionResult> {
        match row {
            FioRow::Kind(kind) => Cow::Borrowed(self.kind(kind)),
            FioRow::Mixed => Cow::Owned(self.mixed()),
        }
    }

    /// Merges reads, writes and trims. Their rates add up, because they share the runtime.
    fn mixed(&self) -> DirectionResult {
        let mut all = DirectionSummary::from(&self.read);
        all.merge(&(&self.write).into());
        all.merge(&(&self.trim).into());
        DirectionResult::from(&all)
    }
}

impl Run {
    /// Returns the totals of a group in a row of fio's outputs; `None` if no job of the group has done any of it.
    #[must_use]
    pub fn row_totals(&self, group: u32, row: FioRow) -> Option<GroupTotals> {
        match row {
            FioRow::Kind(kind) => self.group_totals(group, kind),
            FioRow::Mixed => {
                let mixed: Vec<_> = self.in_group(group).map(|job| job.result.mixed()).collect();
                GroupTotals::of(&mixed.iter().collect::<Vec<_>>())
            }
        }
    }
}
