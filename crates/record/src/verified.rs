//! Results of verification.

use serde::{Deserialize, Serialize};

/// Counts of verified blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    /// Blocks written by this run: one for each write, or for all writes to a block between two read-backs where offsets
    /// may repeat. Zero for jobs that check what an earlier run wrote.
    pub written: u64,
    /// Blocks read back and compared.
    pub checked: u64,
    /// Checked blocks that are not what was written.
    pub mismatches: u64,
    /// The nonces in the headers of the blocks, in rising order: one, unless they are of several runs; none where
    /// blocks have no headers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nonces: Vec<u32>,
    /// Why not all was checked; `None` where all was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<Unchecked>,
}

/// Reason why written blocks were not checked, in rising order of severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unchecked {
    /// `do_verify=0`.
    DoVerify,
    /// `verify=null`, which compares nothing.
    NullMethod,
    /// `ioengine=null`, which keeps no data.
    NullEngine,
    /// Blocks were read back while a cache that could not be emptied held them.
    Cached,
    /// A modelled volume, which keeps no data.
    Model,
    /// The job wrote no block, and checks none of an earlier run.
    Unwritten,
    /// There was nothing to read.
    Nothing,
    /// Reads failed, or the job did.
    Failed,
    /// Other workers write the same blocks, so that a lost write cannot be told from one that was overwritten.
    Overwritten,
    /// The runtime was over.
    Runtime,
    /// The job was stopped: by a signal, or by `exitall`.
    Stopped,
}

impl Unchecked {
    /// Whether the job asked for it.
    #[must_use]
    pub const fn is_chosen(self) -> bool {
        matches!(self, Self::DoVerify | Self::NullMethod | Self::NullEngine | Self::Model)
    }
}

impl Verified {
    /// Adds what another worker verified.
    pub fn merge(&mut self, other: &Self) {
        self.written += other.written;
        self.checked += other.checked;
        self.mismatches += other.mismatches;
        self.nonces.extend_from_slice(&other.nonces);
        self.nonces.sort_unstable();
        self.nonces.dedup();
        self.unchecked = self.unchecked.max(other.unchecked);
    }
}
