//! Content of writes that storage can compress or deduplicate.

use job::{DedupeOptions, Job};
use units::random::mix;

use crate::decision::Decision;
use crate::filling::{fill_random, repeat};

/// Seed of working sets that all jobs share.
const GLOBAL_SEED: u64 = 0xdedb_0b5e;

/// Content of writes by how far it can be reduced. It depends on the number of the write alone.
#[derive(Clone, Debug)]
pub(crate) struct ReduciblePayload {
    seed: u64,
    /// Percentage of each chunk that is fixed.
    fixed_percent: u32,
    /// Size of a chunk in bytes; zero for the whole buffer.
    chunk: usize,
    /// Fixed part of chunks; zeroes if empty.
    pattern: Vec<u8>,
    dedupe: DedupeOptions,
    /// Number of different buffers of the working set.
    working_set: u64,
}

impl ReduciblePayload {
    /// Returns `None` for a job whose buffers are as random as they can be.
    pub(crate) fn new(job: &Job, seed: u64, blocks: u64) -> Option<Self> {
        let payload = &job.payload;
        let dedupe = payload.dedupe;
        if payload.compress_percent.is_none() && dedupe.percent == 0 {
            return None;
        }
        let working_set = blocks.saturating_mul(dedupe.working_set_percent.into()) / 100;
        Some(Self {
            seed,
            fixed_percent: payload.compress_percent.unwrap_or(0).min(100),
            chunk: payload.compress_chunk as usize,
            pattern: payload.pattern.as_ref().map_or_else(Vec::new, |pattern| pattern.bytes.clone()),
            dedupe,
            working_set: working_set.max(1),
        })
    }

    pub(crate) fn fill(&self, op: &Decision, buffer: &mut [u8]) {
        let key = self.key(op.sequence);
        let chunk = if self.chunk == 0 { buffer.len() } else { self.chunk.min(buffer.len()) };
        for (index, chunk) in (0..).zip(buffer.chunks_mut(chunk.max(1))) {
            let random = chunk.len() - (chunk.len() as u64 * u64::from(self.fixed_percent) / 100) as usize;
            let (random, fixed) = chunk.split_at_mut(random);
            fill_random(mix(key, index), random);
            if self.pattern.is_empty() { fixed.fill(0) } else { repeat(&self.pattern, fixed) }
        }
    }

    /// Returns the key of a write's content. Writes with equal keys and lengths are equal.
    fn key(&self, sequence: u64) -> u64 {
        if !self.is_duplicate(sequence) {
            return mix(self.seed, sequence);
        }
        if self.dedupe.has_working_set {
            let seed = if self.dedupe.is_global { GLOBAL_SEED } else { self.seed };
            return mix(mix(seed, !0), mix(self.seed, sequence) % self.working_set);
        }
        // Where all are duplicates there is no original.
        let original =
            if self.dedupe.percent >= 100 { None } else { (0..sequence).rev().find(|n| !self.is_duplicate(*n)) };
        mix(self.seed, original.unwrap_or(0))
    }

    fn is_duplicate(&self, sequence: u64) -> bool {
        mix(mix(self.seed, 1), sequence) % 100 < u64::from(self.dedupe.percent)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use units::OpKind;

    use super::*;

    fn payload(percent: u32, has_working_set: bool, compress: u32) -> ReduciblePayload {
        let dedupe = DedupeOptions { percent, has_working_set, ..DedupeOptions::default() };
        ReduciblePayload { seed: 7, fixed_percent: compress, chunk: 512, pattern: Vec::new(), dedupe, working_set: 50 }
    }

    /// Returns this many written buffers.
    fn buffers(payload: &ReduciblePayload, count: u64) -> Vec<Vec<u8>> {
        let write = |sequence| {
            let mut buffer = vec![1; 4096];
            payload.fill(&Decision { sequence, ..Decision::of(OpKind::Write, 4096) }, &mut buffer);
            buffer
        };
        (0..count).map(write).collect()
    }

    #[test]
    fn duplicates_are_as_many_as_the_job_asks_for() {
        for percent in [0, 30, 90, 100] {
            let different: BTreeSet<_> = buffers(&payload(percent, false, 0), 2000).into_iter().collect();
            let expected = (2000 * (100 - percent as usize) / 100).max(1);
            assert!(different.len().abs_diff(expected) < 60, "{percent} %: {} instead of {expected}", different.len());
        }
        let of_set: BTreeSet<_> = buffers(&payload(100, true, 0), 2000).into_iter().collect();
        assert_eq!(of_set.len(), 50);
    }

    #[test]
    fn the_fixed_part_of_each_chunk_is_zeroes() {
        for buffer in buffers(&payload(0, false, 75), 10) {
            for chunk in buffer.chunks(512) {
                assert!(chunk[128..].iter().all(|&byte| byte == 0));
                assert!(chunk[..128].iter().filter(|&&byte| byte == 0).count() < 10);
            }
        }
    }
}
