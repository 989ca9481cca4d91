//! Which process waits for a request that a thread of the kernel issued.
//!
//! A process that syncs a file issues the data itself. Threads of the kernel issue what follows: the journal (`jbd2`),
//! flushes and commit records (`kworker`). The process issues nothing before they have completed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::{TraceOperation, TraceRequest};

/// Time from the completion of one step of a sync to the issue of the next one, at most: threads have to be woken, on
/// busy hosts too.
const PROMPT_NS: u64 = 20_000_000;

/// Steps in flight, and processes that may wait for a flush, at most: more decide nothing.
const STEPS_MAX: usize = 65_536;
const UNFLUSHED_MAX: usize = 64;

/// Names of threads of the kernel that issue requests, up to a `/`, a digit or the end.
const KERNEL_THREADS: [&str; 12] = [
    "kworker",
    "jbd2",
    "swapper",
    "ksoftirqd",
    "irq",
    "xfsaild",
    "dmcrypt_write",
    "md",
    "loop",
    "txg_sync",
    "btrfs-transacti",
    "migration",
];

/// Returns the name of a thread of the kernel without its number; `None` for other processes.
#[must_use]
pub fn kernel_thread(name: &str) -> Option<&'static str> {
    let is_end = |rest: &str| rest.is_empty() || rest.starts_with(|next: char| next == '/' || next.is_ascii_digit());
    KERNEL_THREADS.into_iter().find(|thread| name.strip_prefix(thread).is_some_and(is_end))
}

/// A step of a sync that has not completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    completed_ns: u64,
    issued_ns: u64,
    process: u16,
    /// Whether a flush may have to follow.
    is_data: bool,
}

impl Step {
    fn is_continued_at(self, at: u64) -> bool {
        at.checked_sub(self.completed_ns).is_some_and(|pause| pause <= PROMPT_NS)
    }
}

/// Finds out which processes wait for the requests of threads of the kernel. It sees all requests, in the order of issue.
#[derive(Clone, Debug, Default)]
pub struct WaitingProcesses {
    /// Whether each known process is a thread of the kernel.
    are_kernel: Vec<bool>,
    steps: BinaryHeap<Reverse<Step>>,
    /// The last one that completed.
    last: Option<Step>,
    /// Data that have completed, of processes that have issued nothing since and may wait for a flush.
    unflushed: Vec<Step>,
}

impl WaitingProcesses {
    /// Sets [`TraceRequest::waiting`]; `names` are those of the processes.
    #[inline]
    pub fn set(&mut self, request: &mut TraceRequest, names: &[String]) {
        let known = self.are_kernel.len();
        if known < names.len() {
            self.are_kernel.extend(names[known..].iter().map(|name| kernel_thread(name).is_some()));
        }
        let at = request.issued_ns;
        while let Some(&Reverse(step)) = self.steps.peek().filter(|next| next.0.completed_ns <= at) {
            self.steps.pop();
            self.last = Some(step);
            if step.is_data {
                self.unflushed.retain(|other| other.process != step.process);
                if self.unflushed.len() == UNFLUSHED_MAX {
                    self.unflushed.remove(0);
                }
                self.unflushed.push(step);
            }
        }
        let is_kernel = self.are_kernel.get(usize::from(request.process)).is_some_and(|is_kernel| *is_kernel);
        if !is_kernel {
            self.unflushed.retain(|step| step.process != request.process);
        }
        let is_write = !matches!(request.operation, TraceOperation::Read | TraceOperation::Flush);
        let is_flush = request.operation == TraceOperation::Flush;
        if !is_flush && !(is_write && (request.is_sync || request.is_preflush || request.is_fua)) {
            return;
        }
        if is_kernel && let Some(last) = self.last.filter(|last| last.is_continued_at(at)) {
            // Data that completed during the step before, such as another flush, had to wait for it.
            let waited = self.unflushed.last().filter(|data| is_flush && data.completed_ns >= last.issued_ns);
            request.waiting = Some(waited.unwrap_or(&last).process);
        }
        if is_flush {
            self.unflushed.clear();
        }
        if let Some(service) = request.service_ns.filter(|_| self.steps.len() < STEPS_MAX) {
            let (process, completed_ns) = (request.owner(), at.saturating_add(service));
            self.steps.push(Reverse(Step { completed_ns, issued_ns: at, process, is_data: is_write && !is_kernel }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQLITE: u16 = 0;
    const JOURNAL: u16 = 1;
    const WORKER: u16 = 2;
    const READER: u16 = 3;

    /// Returns who waits for each request, of which process, operation and times in microseconds are given.
    fn owners(requests: &[(u16, TraceOperation, bool, u64, u64)]) -> Vec<u16> {
        let names = ["sqlite3/17", "jbd2/vda1-8/5", "kworker/0:1H-kblockd/9", "postgres/18"].map(str::to_owned);
        let mut waiting = WaitingProcesses::default();
        let owner = |&(process, operation, is_sync, from, until): &(u16, TraceOperation, bool, u64, u64)| {
            let service_ns = Some((until - from) * 1_000);
            let (issued_ns, base) = (from * 1_000, TraceRequest::default());
            let mut request = TraceRequest { issued_ns, service_ns, operation, is_sync, process, ..base };
            waiting.set(&mut request, &names);
            request.owner()
        };
        requests.iter().map(owner).collect()
    }

    #[test]
    fn names_of_kernel_threads_are_known() {
        let known =
            ["kworker/0:1H-kblockd/9", "jbd2/vda1-8", "swapper/3", "loop0", "md127_raid1", "dmcrypt_write/253:0"];
        known.iter().for_each(|name| assert!(kernel_thread(name).is_some(), "{name}"));
        for name in ["sqlite3/17", "loopback/2", "mdadm", "", "kworkers"] {
            assert_eq!(kernel_thread(name), None, "{name}");
        }
    }

    /// A closed replay of SQLite's commits took half of their serial time, for their flushes were a kernel worker's.
    #[test]
    fn the_steps_of_a_sync_belong_to_the_process_that_waits_for_them() {
        use TraceOperation::{Flush, Read, Write};
        let commit = [
            (SQLITE, Write, true, 0, 100),
            (JOURNAL, Write, true, 120, 200),
            (WORKER, Flush, false, 210, 900),
            (WORKER, Write, true, 905, 1_000),
            (WORKER, Flush, false, 1_010, 1_700),
            (SQLITE, Write, true, 1_900, 2_000),
        ];
        assert_eq!(owners(&commit), [SQLITE; 6]);
        let written_back = [
            (SQLITE, Write, true, 0, 100),
            (WORKER, Write, false, 110, 300),
            (JOURNAL, Write, true, 5_000_000, 5_000_100),
            (WORKER, Flush, false, 5_000_110, 5_000_800),
            (READER, Read, true, 5_000_900, 5_001_000),
        ];
        assert_eq!(
            owners(&written_back),
            [SQLITE, WORKER, JOURNAL, JOURNAL, READER],
            "write-back, and a timer's commit"
        );
    }

    #[test]
    fn a_flush_belongs_to_the_last_process_that_has_written_and_issued_nothing_since() {
        use TraceOperation::{Flush, Write};
        let two = [
            (SQLITE, Write, true, 0, 100),
            (WORKER, Flush, false, 110, 900),
            (READER, Write, true, 200, 300),
            (WORKER, Flush, false, 910, 1_700),
            (SQLITE, Write, true, 950, 1_000),
        ];
        assert_eq!(owners(&two), [SQLITE, SQLITE, READER, READER, SQLITE]);
    }
}
