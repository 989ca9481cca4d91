//! The state of writes in fio's file `local-JOB-N-verify.state`, by which a later job checks only what was written.
//!
//! | bytes | field |
//! |---|---|
//! | 0..8 | version: 3 |
//! | 8..16 | size of what follows byte 24 |
//! | 16..24 | CRC-32C of it, not inverted |
//! | 24..32 | number of completions, at the end of the file |
//! | 32..36, 36..40 | queue depth, number of files |
//! | 40..48 | writes issued |
//! | 48..56 | number of the worker |
//! | 56..112 | state of fio's random numbers, which fio does not use; see below |
//! | 112..176 | name of the job, padded with zeroes |
//! | from 176 | file and offset of each completion, 8 bytes each |
//!
//! In place of the random numbers, Fathom writes `FATHOM` at 72, its nonce at 80 and its seed at 88. The last write to
//! each block follows from them. At 96 is the number of writes issued before the last sync that succeeded, and at 104 one
//! more than the number of those that were in flight then, whose files and offsets follow the completions; zero if no
//! sync has succeeded. Numbers are little-endian. Learned from files that fio 3.33 wrote.

use units::{Problem, ProblemCode};

use crate::decision::Decision;

const VERSION: u64 = 3;
const PREFIX_BYTES: usize = 24;
const COMPLETIONS_AT: usize = 176;
const NAME_AT: usize = 112;
const NAME_BYTES: usize = COMPLETIONS_AT - NAME_AT;
const ORIGIN_AT: usize = 72;
const SYNCED_AT: usize = 96;
const MARK: [u8; 8] = *b"FATHOM\0\x01";
const COMPLETION_BYTES: usize = 16;

/// What a job had written when it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyState {
    /// Name of the job.
    pub name: String,
    /// Index of the worker among all of the run.
    pub worker: u32,
    /// Queue depth.
    pub depth: u32,
    pub files: u32,
    /// Number of writes issued.
    pub issued: u64,
    /// File and offset of the last writes that completed, up to the queue depth for each file.
    pub completed: Vec<(u64, u64)>,
    /// What the blocks depend on, if Fathom wrote them.
    pub origin: Option<WriteOrigin>,
    /// What a sync has made durable, if Fathom wrote the state and one has succeeded.
    pub synced: Option<SyncedWrites>,
    /// Whether only those writes are checked (`verify_policy=fsynced`).
    pub synced_only: bool,
}

/// The writes that a sync covers: those that had completed when it was issued.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncedWrites {
    /// Number of writes issued before it.
    pub issued: u64,
    /// File and offset of those that were in flight, which it need not cover.
    pub in_flight: Vec<(u64, u64)>,
}

impl SyncedWrites {
    /// Reports whether the sync covers the write with this number, from zero.
    pub(crate) fn covers(&self, number: u64, op: &Decision) -> bool {
        number < self.issued && !self.in_flight.contains(&(u64::from(op.file), op.offset))
    }
}

/// What the decisions and headers of a job depend on beside the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteOrigin {
    /// Seed of the job.
    pub seed: u64,
    /// Nonce of the run; 0 for none.
    pub nonce: u32,
}

impl VerifyState {
    #[must_use]
    pub fn file_name(job: &str, worker: usize) -> String {
        format!("local-{job}-{worker}-verify.state")
    }

    /// Returns the content of the file.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; COMPLETIONS_AT];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        let in_flight = self.synced.as_ref().map_or(&[][..], |synced| &synced.in_flight);
        let size = COMPLETIONS_AT - PREFIX_BYTES + (self.completed.len() + in_flight.len()) * COMPLETION_BYTES;
        put(0, &VERSION.to_le_bytes());
        put(8, &(size as u64).to_le_bytes());
        put(24, &(self.completed.len() as u64).to_le_bytes());
        put(32, &self.depth.to_le_bytes());
        put(36, &self.files.to_le_bytes());
        put(40, &self.issued.to_le_bytes());
        put(48, &u64::from(self.worker).to_le_bytes());
        put(NAME_AT, &self.name.as_bytes()[..self.name.len().min(NAME_BYTES - 1)]);
        if let Some(WriteOrigin { seed, nonce }) = self.origin {
            put(ORIGIN_AT, &MARK);
            put(ORIGIN_AT + 8, &nonce.to_le_bytes());
            put(ORIGIN_AT + 16, &seed.to_le_bytes());
        }
        if let Some(synced) = &self.synced {
            put(SYNCED_AT, &synced.issued.to_le_bytes());
            put(SYNCED_AT + 8, &(synced.in_flight.len() as u64 + 1).to_le_bytes());
        }
        for (file, offset) in self.completed.iter().chain(in_flight) {
            bytes.extend_from_slice(&file.to_le_bytes());
            bytes.extend_from_slice(&offset.to_le_bytes());
        }
        let crc = u64::from(!crc32c::crc32c(&bytes[PREFIX_BYTES..]));
        bytes[16..PREFIX_BYTES].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Parses the content of such a file.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with it.
    pub fn decode(bytes: &[u8]) -> Result<Self, Problem> {
        let whole =
            |at: usize| bytes.get(at..at + 8).map(|field| u64::from_le_bytes(field.try_into().unwrap_or([0; 8])));
        let half = |at: usize| whole(at).map(|both| both as u32);
        let wrong = |what: String| Problem::error(ProblemCode::UnreadableInput, what);
        let cut = || wrong("it is shorter than a job's state".to_owned());
        let version = whole(0).ok_or_else(cut)?;
        if version != VERSION {
            return Err(wrong(format!("its version is {version}; Fathom reads version {VERSION} (fio 3.33)")));
        }
        let content = bytes.get(PREFIX_BYTES..).filter(|content| content.len() >= COMPLETIONS_AT - PREFIX_BYTES);
        let content = content.ok_or_else(cut)?;
        let (size, count) = (whole(8).ok_or_else(cut)?, whole(24).ok_or_else(cut)?);
        let is_marked = bytes[ORIGIN_AT..ORIGIN_AT + 8] == MARK;
        let in_flight = whole(SYNCED_AT + 8).filter(|_| is_marked).and_then(|number| number.checked_sub(1));
        let pairs = u128::from(count) + u128::from(in_flight.unwrap_or(0));
        let expected = pairs * COMPLETION_BYTES as u128 + (COMPLETIONS_AT - PREFIX_BYTES) as u128;
        // fio leaves room for a whole queue.
        if size != content.len() as u64 || (content.len() as u128) < expected {
            let asked = expected + PREFIX_BYTES as u128;
            return Err(wrong(format!("it has {} bytes, but its fields require {asked}", bytes.len())));
        }
        if whole(16) != Some(u64::from(!crc32c::crc32c(content))) {
            return Err(wrong("checksum mismatch".to_owned()));
        }
        let name = &bytes[NAME_AT..COMPLETIONS_AT];
        let name = &name[..name.iter().position(|&byte| byte == 0).unwrap_or(NAME_BYTES)];
        let origin = half(ORIGIN_AT + 8).zip(whole(ORIGIN_AT + 16)).filter(|_| is_marked);
        let pairs = bytes[COMPLETIONS_AT..].as_chunks::<COMPLETION_BYTES>().0.iter().map(|pair| {
            let number = |at: usize| u64::from_le_bytes(pair[at..at + 8].try_into().unwrap_or([0; 8]));
            (number(0), number(8))
        });
        let completed = pairs.clone().take(count as usize);
        let synced = in_flight.zip(whole(SYNCED_AT)).map(|(in_flight, issued)| SyncedWrites {
            issued,
            in_flight: pairs.skip(count as usize).take(in_flight as usize).collect(),
        });
        Ok(Self {
            name: String::from_utf8_lossy(name).into_owned(),
            worker: half(48).ok_or_else(cut)?,
            depth: half(32).ok_or_else(cut)?,
            files: half(36).ok_or_else(cut)?,
            issued: whole(40).ok_or_else(cut)?,
            completed: completed.collect(),
            origin: origin.map(|(nonce, seed)| WriteOrigin { seed, nonce }),
            synced,
            synced_only: false,
        })
    }

    /// Reports whether the job had written the block that the read with this number, from zero, is to check.
    ///
    /// As in fio: writes are assumed to have completed if more than a queue of later ones was issued; the others are
    /// looked up.
    pub(crate) fn had_written(&self, number: u64, op: &Decision) -> bool {
        if self.synced_only {
            return self.synced.as_ref().is_some_and(|synced| synced.covers(number, op));
        }
        let depth = u64::from(self.depth);
        let is_long_ago = number < depth || self.issued.saturating_sub(number) > depth;
        if is_long_ago && self.issued > depth {
            return true;
        }
        self.completed.contains(&(u64::from(op.file), op.offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::OpKind;

    fn state() -> VerifyState {
        let completed = vec![(0, 4096 * 18), (0, 4096 * 19), (1, 0)];
        VerifyState {
            name: "x".to_owned(),
            worker: 2,
            depth: 4,
            files: 2,
            issued: 20,
            completed,
            ..VerifyState::default()
        }
    }

    #[test]
    fn a_state_is_read_as_it_was_written_and_damage_is_refused() {
        let fios = state();
        assert_eq!(VerifyState::decode(&fios.encode()), Ok(fios));
        let synced = Some(SyncedWrites { issued: 12, in_flight: vec![(1, 4096 * 11), (0, 4096 * 9)] });
        let ours = VerifyState { origin: Some(WriteOrigin { seed: 77, nonce: 5 }), synced, ..state() };
        let bytes = ours.encode();
        assert_eq!(VerifyState::decode(&bytes), Ok(ours));
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x41;
            assert!(VerifyState::decode(&damaged).is_err(), "byte {at}");
            assert!(VerifyState::decode(&bytes[..at]).is_err(), "{at} bytes");
        }
    }

    #[test]
    fn a_sync_covers_what_had_completed_before_it() {
        let op = |block: u64| Decision { offset: block * 4096, ..Decision::of(OpKind::Read, 4096) };
        let checked = |synced: Option<SyncedWrites>| {
            let state = VerifyState { synced, synced_only: true, ..state() };
            (0..20).filter(|&block| state.had_written(block, &op(block))).collect::<Vec<_>>()
        };
        let synced = |issued, in_flight: &[(u64, u64)]| Some(SyncedWrites { issued, in_flight: in_flight.to_vec() });
        assert_eq!(checked(None), [0; 0]);
        assert_eq!(checked(synced(0, &[])), [0; 0]);
        assert_eq!(checked(synced(3, &[])), [0, 1, 2]);
        assert_eq!(checked(synced(5, &[(0, 4096 * 2), (1, 4096)])), [0, 1, 3, 4]);
    }

    /// What fio 3.33 does with such files.
    #[test]
    fn only_the_last_writes_are_looked_up() {
        let op = |block: u64| Decision { offset: block * 4096, ..Decision::of(OpKind::Read, 4096) };
        let checked = |issued, depth, blocks: &[u64]| {
            let completed = blocks.iter().map(|block| (0, block * 4096)).collect();
            let state = VerifyState { depth, issued, completed, ..state() };
            (0..32).take_while(|&block| state.had_written(block, &op(block))).count()
        };
        for (issued, depth, blocks, expected) in [
            (20, 1, &[19][..], 20),
            (20, 4, &[16, 18, 19], 17),
            (20, 4, &[17, 18, 19, 16], 20),
            (20, 4, &[], 16),
            (3, 4, &[0, 2], 1),
            (3, 4, &[], 0),
            (4, 4, &[0, 1, 2, 3], 4),
            (5, 4, &[4, 1, 2, 3], 5),
            (32, 4, &[28, 29, 30, 31], 32),
        ] {
            assert_eq!(checked(issued, depth, blocks), expected, "{issued} {depth} {blocks:?}");
        }
    }
}
