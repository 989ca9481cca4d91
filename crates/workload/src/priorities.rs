//! Draws the I/O priorities of single operations (`cmdprio*`).

use job::Job;
use units::OpKind;
use units::random::Random;

/// Which operations have which priority, by index in [`Job::priorities`].
#[derive(Clone, Debug)]
pub(crate) struct Priorities {
    /// Rules of reads and of writes.
    rules: [Vec<DrawRule>; 2],
    random: Random,
}

#[derive(Clone, Copy, Debug)]
struct DrawRule {
    /// Block size in bytes; `None` for all.
    bytes: Option<u64>,
    percentage: u32,
    index: u8,
}

impl Priorities {
    /// Returns the draw of a job; `None` if no operation has a priority of its own.
    pub(crate) fn new(job: &Job, seed: u64) -> Option<Self> {
        let known = job.priorities();
        if known.is_empty() {
            return None;
        }
        let rules = job.priority_rules().map(|rules| {
            let index = |priority| known.iter().position(|one| *one == priority).unwrap_or(0) as u8;
            let rules = rules.into_iter();
            rules
                .map(|rule| DrawRule { bytes: rule.bytes, percentage: rule.percentage, index: index(rule.priority) })
                .collect()
        });
        Some(Self { rules, random: Random::new(seed, 4) })
    }

    /// Returns the index of an operation's priority, zero for the process's.
    #[cold]
    pub(crate) fn draw(&mut self, kind: OpKind, length: u32) -> u8 {
        let rules = match kind {
            OpKind::Read => &self.rules[0],
            OpKind::Write => &self.rules[1],
            _ => return 0,
        };
        let drawn = self.random.below(100) as u32;
        let mut below = 0;
        for rule in rules.iter().filter(|rule| rule.bytes.is_none_or(|bytes| bytes == u64::from(length))) {
            below += rule.percentage;
            if drawn < below {
                return rule.index;
            }
        }
        0
    }
}
