//! Results of verification.

use serde::{Deserialize, Serialize};

/// Counts of verified blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    /// Blocks written by this run: one per write or, if offsets may repeat, one for all writes to a block between two
    /// read-backs. Zero for jobs that check an earlier run.
    pub written: u64,
    /// Blocks read back and compared.
    pub checked: u64,
    /// Checked blocks of which only the headers were compared: all with `verify=meta`.
    #[serde(default)]
    pub headers_only: u64,
    /// Checked blocks whose content was wrong.
    pub mismatches: u64,
    /// Nonces in the block headers in ascending order: one, unless blocks belong to several runs; none without headers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nonces: Vec<u32>,
    /// Reason why some blocks were not checked; `None` if all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<Unchecked>,
}

/// Reason why written blocks were not checked, in ascending order of severity. Unless the user chose it, a job that
/// wrote them makes the exit code 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unchecked {
    /// `do_verify=0`.
    DoVerify,
    /// `verify=null`, which compares nothing.
    NullMethod,
    /// `ioengine=null`, which keeps no data.
    NullEngine,
    /// The checksum covers nothing of the payload, and the payload does not follow from the header either.
    Payload,
    /// Blocks were read from a cache that could not be dropped.
    Cached,
    /// A modelled volume, which keeps no data.
    Model,
    /// The job wrote no blocks, and does not check an earlier run.
    Unwritten,
    /// There was nothing to read.
    Nothing,
    /// Reads or the job failed.
    Failed,
    /// Other workers write the same blocks, so a lost write cannot be distinguished from an overwritten one.
    Overwritten,
    /// The runtime was over.
    Runtime,
    /// The job was stopped: by a signal, or by `exitall`.
    Stopped,
}

impl Unchecked {
    /// Reports whether the job chose not to check.
    #[must_use]
    pub const fn is_chosen(self) -> bool {
        matches!(self, Self::DoVerify | Self::NullMethod | Self::NullEngine | Self::Model)
    }
}

impl Verified {
    /// Adds the counts of another worker.
    pub fn merge(&mut self, other: &Self) {
        self.written += other.written;
        self.checked += other.checked;
        self.headers_only += other.headers_only;
        self.mismatches += other.mismatches;
        self.nonces.extend_from_slice(&other.nonces);
        self.nonces.sort_unstable();
        self.nonces.dedup();
        self.unchecked = self.unchecked.max(other.unchecked);
    }
}
