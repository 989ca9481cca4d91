//! Results on their way to rank 0, merged at each rank of the tree.

use std::time::{Duration, Instant};

use record::{LostRank, MergeRecord, RankRecord, Run};

use crate::agreement::Combine;

/// Results of some ranks: the merged record without its table of ranks, and that table as JSON.
///
/// The merged record is as large for many ranks as for one. The table grows with the ranks, so it is passed on without
/// being read; otherwise every rank of the tree would parse the lines of all ranks below it.
pub(crate) struct RankResults {
    run: Run,
    /// Elements of a JSON array, separated by commas.
    members: Vec<u8>,
}

impl RankResults {
    /// Prepares the record of one rank.
    pub(crate) fn of(mut run: Run) -> Self {
        let members = run.fleet.as_mut().map(|fleet| std::mem::take(&mut fleet.members)).unwrap_or_default();
        let members: Vec<Vec<u8>> =
            members.iter().map(|member| serde_json::to_vec(member).unwrap_or_default()).collect();
        Self { run, members: members.join(&b',') }
    }

    /// Returns a message: the length of the table in 8 bytes, little-endian, the table and the record.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let record = record::to_json(&self.run);
        [&(self.members.len() as u64).to_le_bytes()[..], &self.members, record.as_bytes()].concat()
    }

    /// Reads a message; `None` if it is not one.
    fn decode(message: &[u8]) -> Option<Self> {
        let (length, rest) = message.split_first_chunk()?;
        let (members, record) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        Some(Self { run: read(record)?, members: members.to_vec() })
    }

    fn add(&mut self, other: Self) {
        self.run.add_rank(other.run);
        if !self.members.is_empty() && !other.members.is_empty() {
            self.members.push(b',');
        }
        self.members.extend(other.members);
    }

    /// Returns the merged record with its table of ranks.
    fn into_run(self) -> Run {
        let mut run = self.run;
        let table = [b"[", &self.members[..], b"]"].concat();
        if let Some(fleet) = &mut run.fleet {
            fleet.members = serde_json::from_slice::<Vec<RankRecord>>(&table).unwrap_or_default();
            fleet.members.sort_by_key(|member| member.rank);
            fleet.members.dedup_by_key(|member| member.rank);
        }
        run
    }
}

/// Reads a record.
pub(crate) fn read(json: &[u8]) -> Option<Run> {
    record::from_json(std::str::from_utf8(json).ok()?).ok()
}

/// Merges results, and measures what that costs.
pub(crate) struct RecordMerge {
    started: Instant,
    /// Time spent on clocks.
    measured: Duration,
    busy: Duration,
    received_bytes: u64,
}

impl RecordMerge {
    /// Begins to merge. `started` is the end of this rank's own run, `measured` the time spent on clocks since.
    pub(crate) const fn new(started: Instant, measured: Duration) -> Self {
        Self { started, measured, busy: Duration::ZERO, received_bytes: 0 }
    }
}

impl Combine for RecordMerge {
    fn combine(&mut self, parts: Vec<Vec<u8>>) -> Vec<u8> {
        let began = Instant::now();
        self.received_bytes += parts.iter().skip(1).map(|part| part.len() as u64).sum::<u64>();
        let mut results = parts.iter().filter_map(|part| RankResults::decode(part));
        let Some(mut merged) = results.next() else { return Vec::new() };
        results.for_each(|one| merged.add(one));
        let message = merged.encode();
        self.busy += began.elapsed();
        message
    }

    fn conclude(&mut self, combined: Vec<u8>, lost: &[(u32, String)]) -> Vec<u8> {
        let began = Instant::now();
        let Some(results) = RankResults::decode(&combined) else { return combined };
        self.busy += began.elapsed();
        let began = Instant::now();
        let mut run = results.into_run();
        let table = began.elapsed();
        if let Some(fleet) = &mut run.fleet {
            fleet.lost = lost.iter().map(|(rank, reason)| LostRank { rank: *rank, reason: reason.clone() }).collect();
            fleet.merge = Some(MergeRecord {
                wall_ns: nanos(self.started.elapsed().saturating_sub(self.measured)),
                busy_ns: nanos(self.busy),
                table_ns: nanos(table),
                received_bytes: self.received_bytes,
            });
        }
        record::to_json(&run).into_bytes()
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use record::FleetRecord;

    use super::*;

    fn of_rank(rank: u32) -> Run {
        let member =
            RankRecord { rank, hostname: format!("n{rank}"), iops: 0.1 * f64::from(rank), ..RankRecord::default() };
        Run { fleet: Some(FleetRecord::of_rank("id".to_owned(), 5, member)), ..Run::default() }
    }

    #[test]
    fn tables_of_ranks_survive_any_order_of_merging() {
        let mut merge = RecordMerge::new(Instant::now(), Duration::ZERO);
        let parts: Vec<Vec<u8>> = [4, 1, 3, 0].map(|rank| RankResults::of(of_rank(rank)).encode()).to_vec();
        let (left, right) = (merge.combine(parts[..2].to_vec()), merge.combine(parts[2..].to_vec()));
        let whole = merge.combine(vec![right, left]);
        let concluded = merge.conclude(whole, &[(2, "gone".to_owned())]);
        let fleet = read(&concluded).unwrap().fleet.unwrap();
        let expected: Vec<RankRecord> =
            [0, 1, 3, 4].map(|rank| of_rank(rank).fleet.unwrap().members.remove(0)).to_vec();
        assert_eq!((fleet.members.clone(), fleet.missing()[0].reason.as_str()), (expected, "gone"));
    }

    #[test]
    fn messages_that_are_cut_or_foreign_are_no_results() {
        let message = RankResults::of(of_rank(1)).encode();
        assert!(RankResults::decode(&message).is_some());
        for cut in [0, 7, 8, 20, message.len() - 1] {
            assert!(RankResults::decode(&message[..cut]).is_none(), "{cut}");
        }
        assert!(RankResults::decode(&[0xff; 64]).is_none());
    }
}
