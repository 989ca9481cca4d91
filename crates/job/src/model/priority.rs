//! I/O priorities of single operations (`cmdprio*`).

use super::Job;

/// The priority that an operation is issued with, as `ioprio_set` describes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IoPriority {
    /// Class: 1 for real time, 2 for best effort, 3 for idle; 0 for the priority of the process.
    pub class: u8,
    /// Level within the class, from 0, the highest, to 7.
    pub level: u8,
    /// Hint for the device; 0 for none.
    pub hint: u16,
}

impl IoPriority {
    /// Returns the priority as the kernel encodes it: class, hint and level in 3, 10 and 3 bits.
    #[must_use]
    pub const fn as_raw(self) -> u16 {
        ((self.class as u16) << 13) | ((self.hint & 0x3ff) << 3) | (self.level as u16 & 7)
    }

    /// Returns the priority that the kernel encodes like this.
    #[must_use]
    pub const fn from_raw(raw: u16) -> Self {
        Self { class: (raw >> 13) as u8, level: (raw & 7) as u8, hint: (raw >> 3) & 0x3ff }
    }
}

/// Options of priorities, for reads and for writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandPriorities {
    /// `cmdprio_percentage`: percentage of operations with a priority.
    pub percentage: [u32; 2],
    /// `cmdprio_class`; 0 for the default, real time.
    pub class: [u32; 2],
    /// `cmdprio`: level.
    pub level: [u32; 2],
    /// `cmdprio_hint`.
    pub hint: [u32; 2],
    /// `cmdprio_bssplit`: percentages for each block size.
    pub split: [Vec<PriorityShare>; 2],
}

/// The percentage of operations of one block size that have a priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriorityShare {
    /// Block size in bytes.
    pub bytes: u64,
    /// Percentage of operations of this size.
    pub percentage: u32,
    /// Their priority; `None` for that of `cmdprio_class`, `cmdprio` and `cmdprio_hint`.
    pub priority: Option<IoPriority>,
}

/// Which operations have which priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriorityRule {
    /// Block size in bytes; `None` for all.
    pub bytes: Option<u64>,
    /// Percentage of these operations.
    pub percentage: u32,
    /// Their priority.
    pub priority: IoPriority,
}

impl CommandPriorities {
    /// Reports whether any operation has a priority.
    #[must_use]
    pub fn is_used(&self) -> bool {
        self.percentage.iter().any(|percentage| *percentage > 0) || self.split.iter().any(|split| !split.is_empty())
    }

    fn rules(&self, slot: usize) -> Vec<PriorityRule> {
        let class = if self.class[slot] == 0 { 1 } else { self.class[slot] };
        let common = IoPriority { class: class as u8, level: self.level[slot] as u8, hint: self.hint[slot] as u16 };
        let of_share = |share: &PriorityShare| PriorityRule {
            bytes: Some(share.bytes),
            percentage: share.percentage,
            priority: share.priority.unwrap_or(common),
        };
        let all = PriorityRule { bytes: None, percentage: self.percentage[slot], priority: common };
        let rules = std::iter::once(all).chain(self.split[slot].iter().map(of_share));
        rules.filter(|rule| rule.percentage > 0).collect()
    }
}

impl Job {
    /// Returns which reads and which writes have a priority.
    #[must_use]
    pub fn priority_rules(&self) -> [Vec<PriorityRule>; 2] {
        [0, 1].map(|slot| self.command_priorities.rules(slot))
    }

    /// Returns the priorities that operations can have, without duplicates: first that of the process. Empty if no
    /// operation has one of its own.
    #[must_use]
    pub fn priorities(&self) -> Vec<IoPriority> {
        let mut all = Vec::new();
        for rule in self.priority_rules().into_iter().flatten() {
            if all.is_empty() {
                all.push(IoPriority::default());
            }
            if !all.contains(&rule.priority) {
                all.push(rule.priority);
            }
        }
        // Operations refer to them by one byte.
        all.truncate(usize::from(u8::MAX));
        all
    }
}
