//! Choice of the kind of the next operation.

use job::{Direction, Job, Pattern};
use units::random::Random;

use units::OpKind;

/// Chooses between reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mix {
    Only(OpKind),
    /// Reads in parts per million, drawn independently for each operation; the rest are writes.
    Reads(u32),
}

impl Mix {
    pub(crate) fn new(job: &Job) -> Self {
        match (job.pattern.direction, job.pattern.read_ppm) {
            (Direction::Read, _) | (Direction::ReadWrite, Pattern::PPM..) => Self::Only(OpKind::Read),
            (Direction::Write, _) | (Direction::ReadWrite, 0) => Self::Only(OpKind::Write),
            // A write follows each trim, so only trims are chosen.
            (Direction::Trim | Direction::TrimWrite, _) => Self::Only(OpKind::Trim),
            // The writes are omitted and not read back: without a method there is nothing to check.
            (Direction::ReadWrite, _) if job.verify.only && job.verify.method.is_none() => Self::Only(OpKind::Read),
            (Direction::ReadWrite, ppm) => Self::Reads(ppm),
        }
    }

    /// Reports whether `kind` is ever chosen.
    pub(crate) fn includes(self, kind: OpKind) -> bool {
        match self {
            Self::Only(only) => only == kind,
            Self::Reads(_) => matches!(kind, OpKind::Read | OpKind::Write),
        }
    }

    #[inline]
    pub(crate) fn draw(self, random: &mut Random) -> OpKind {
        match self {
            Self::Only(kind) => kind,
            Self::Reads(ppm) if random.below(Pattern::PPM.into()) < u64::from(ppm) => OpKind::Read,
            Self::Reads(_) => OpKind::Write,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_have_the_given_fraction() {
        let mut random = Random::new(1, 1);
        let reads = (0..100_000).filter(|_| Mix::Reads(700_000).draw(&mut random) == OpKind::Read).count();
        assert!((69_000..71_000).contains(&reads), "{reads}");
    }
}
