//! Messages between ranks: a header in JSON, a line break, and a body.

use runner::EndedJobs;
use serde::{Deserialize, Serialize};

/// The header of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Header {
    /// The sender lives. Sent to neighbours of the tree a few times per second.
    Alive,
    /// Asks for the receiver's clock.
    Ping { number: u64 },
    /// The sender's clock, in nanoseconds.
    Pong { number: u64, at_ns: i64, wall_ns: i64 },
    /// The receiver's clock relative to that of rank 0, as measured by its parent for the nth time.
    Clock { number: u32, offset_ns: i64, error_ns: u64, wall_offset_ns: i64 },
    /// The part of a subtree in the nth agreement, in the body.
    Part { number: u64, presence: Presence },
    /// The outcome of the nth agreement, in the body.
    Whole { number: u64, presence: Presence },
    /// The receiver has no part in the nth agreement, for this reason.
    Excluded { number: u64, reason: String },
    /// All ranks end, because this signal arrived. Passed on to all neighbours.
    End { signal: i32 },
    /// A job has ended with which others end. Passed on to all neighbours, by rank 0 to all ranks.
    EndJobs(EndedPart),
}

/// Jobs of a run that end with another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct EndedPart {
    pub(crate) run: String,
    pub(crate) jobs: EndedJobs,
}

/// Which ranks take part in an agreement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Presence {
    /// Ranks that contributed to the body.
    pub(crate) ranks: Vec<u32>,
    /// Ranks that end their commands.
    pub(crate) leaving: Vec<LeavingRank>,
    /// Ranks without a part, with reasons.
    pub(crate) lost: Vec<(u32, String)>,
}

/// A rank that ends its command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeavingRank {
    pub rank: u32,
    /// Exit code.
    pub code: u8,
    /// What it would have printed on standard error.
    pub text: String,
}

impl Presence {
    /// Reports whether a rank takes part or leaves.
    pub(crate) fn has(&self, rank: u32) -> bool {
        self.ranks.contains(&rank) || self.leaving.iter().any(|leaving| leaving.rank == rank)
    }

    /// Adds the ranks of another subtree.
    pub(crate) fn add(&mut self, other: Self) {
        self.ranks.extend(other.ranks);
        self.leaving.extend(other.leaving);
        self.lost.extend(other.lost);
    }

    /// Sorts all ranks. A rank that took part after all is not lost.
    pub(crate) fn settle(&mut self) {
        self.ranks.sort_unstable();
        self.leaving.sort_by_key(|leaving| leaving.rank);
        let lost = std::mem::take(&mut self.lost);
        self.lost = lost.into_iter().filter(|(rank, _)| !self.has(*rank)).collect();
        self.lost.sort_by_key(|(rank, _)| *rank);
        self.lost.dedup_by_key(|(rank, _)| *rank);
    }
}

/// Writes a message.
pub(crate) fn written(header: &Header, body: &[u8]) -> Vec<u8> {
    // The header has neither maps with keys other than strings nor anything else that JSON cannot express.
    let mut message = serde_json::to_vec(header).unwrap_or_default();
    message.push(b'\n');
    message.extend_from_slice(body);
    message
}

/// Reads a message; `None` if another version of the program wrote it.
pub(crate) fn read(mut message: Vec<u8>) -> Option<(Header, Vec<u8>)> {
    let end = message.iter().position(|byte| *byte == b'\n')?;
    let header = serde_json::from_slice(&message[..end]).ok()?;
    message.drain(..=end);
    Some((header, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_the_way() {
        let leaving = vec![LeavingRank { rank: 4, code: 2, text: "error: no\n".to_owned() }];
        let presence = Presence { ranks: vec![1, 2], leaving, lost: vec![(3, "gone\nfor good".to_owned())] };
        let header = Header::Part { number: 7, presence };
        let body = b"{\"a\":\n1}".to_vec();
        assert_eq!(read(written(&header, &body)), Some((header, body)));
        assert_eq!(read(written(&Header::Alive, b"")), Some((Header::Alive, Vec::new())));
        assert_eq!(read(b"{\"Sung\":1}\nx".to_vec()), None);
        assert_eq!(read(b"no line".to_vec()), None);
    }
}
