//! Options of the engine `cpuio`.

use units::Nanos;

/// Load of the CPU by a job without I/O.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessorLoad {
    /// Percentage of the time in which a worker is busy, at most 100 (`cpuload`); zero if the job does not say.
    pub percent: u32,
    /// Length of each burst (`cpuchunks`).
    pub burst: Nanos,
    /// What a burst does (`cpumode`).
    pub work: ProcessorWork,
    /// The job ends with the other jobs (`exit_on_io_done`).
    pub ends_with_others: bool,
}

impl ProcessorLoad {
    /// Returns the idle time after each burst.
    #[must_use]
    pub fn pause(&self) -> Nanos {
        let percent = u64::from(self.percent.clamp(1, 100));
        Nanos::new(self.burst.get() * (100 - percent) / percent)
    }
}

impl Default for ProcessorLoad {
    fn default() -> Self {
        let (burst, work) = (Nanos::from_millis(50), ProcessorWork::default());
        Self { percent: 0, burst, work, ends_with_others: false }
    }
}

/// Work of a burst (`cpumode`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProcessorWork {
    /// Counting.
    #[default]
    Noop,
    /// Sorting.
    Qsort,
}

impl ProcessorWork {
    /// Returns fio's name of the work.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Noop => "noop",
            Self::Qsort => "qsort",
        }
    }
}
