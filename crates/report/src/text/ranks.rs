//! The ranks of a run on many hosts, as text.

use record::{FleetRecord, RankRecord};
use units::{Bytes, Nanos, count, percent};

use super::RunPage;
use crate::sheet::Tone;

/// Maximum number of ranks listed.
const LISTED: usize = 16;

impl RunPage {
    /// Appends the ranks: all of few, otherwise the slowest and the fastest.
    pub(super) fn ranks(&mut self, fleet: &FleetRecord) {
        self.sheet.gap();
        let (present, hosts) = (fleet.members.len(), fleet.hosts());
        let noun = if hosts == 1 { "host" } else { "hosts" };
        let mut together = format!("{present} of {} on {hosts} {noun}", fleet.ranks);
        if let Some(skew) = fleet.start_skew_ns() {
            let error = fleet.members.iter().filter_map(|member| Some(member.clock?.error_ns)).max().unwrap_or(0);
            together += &format!(", started within {} (clocks within {})", Nanos::new(skew), Nanos::new(error));
        }
        self.sheet.field("ranks", &together);
        for lost in fleet.missing() {
            self.sheet.toned_field("missing", &lost.to_string(), Some(Tone::Bad));
        }
        if let Some(merge) = &fleet.merge {
            let memory = fleet.members.iter().map(|member| member.memory_bytes).max().unwrap_or(0);
            let sent = fleet.members.iter().map(|member| member.sent_bytes).max().unwrap_or(0);
            self.sheet.field(
                "merged",
                &format!(
                    "in {}; at most {} of memory and {} sent by a rank, {} received by rank 0",
                    Nanos::new(merge.wall_ns),
                    Bytes::new(memory),
                    Bytes::new(sent),
                    Bytes::new(merge.received_bytes)
                ),
            );
        }
        if present > 1 {
            self.rank_table(fleet);
        }
    }

    fn rank_table(&mut self, fleet: &FleetRecord) {
        let width = fleet.members.iter().map(|member| member.hostname.chars().count()).max().unwrap_or(0).clamp(4, 24);
        let total: f64 = fleet.members.iter().map(|member| member.iops).sum();
        let title = format!(
            "{:>6}  {:<width$}  {:>12}  {:>6}  {:>12}  {:>9}  {:>9}  {:>6}",
            "rank", "host", "IOPS", "share", "bandwidth", "p50", "p99", "CPU"
        );
        self.sheet.line(&self.sheet.faint(&title));
        let mut members: Vec<&RankRecord> = fleet.members.iter().collect();
        let hidden = members.len().saturating_sub(LISTED);
        if hidden > 0 {
            members.sort_by(|a, b| a.iops.total_cmp(&b.iops));
            members.drain(LISTED / 2..LISTED / 2 + hidden);
        }
        for (index, member) in members.iter().enumerate() {
            if hidden > 0 && index == LISTED / 2 {
                self.sheet.line(&self.sheet.faint(&format!("{:>6}  {hidden} more between these", "")));
            }
            self.sheet.line(&row(member, width, total));
        }
    }
}

fn row(member: &RankRecord, width: usize, total: f64) -> String {
    let share = if total > 0.0 { percent(member.iops / total) } else { "-".to_owned() };
    let latency =
        |index: usize| member.latency_ns.map_or_else(|| "-".to_owned(), |ns| Nanos::new(ns[index]).to_string());
    let bandwidth = format!("{}/s", Bytes::new(member.bytes_per_second as u64));
    let host: String = member.hostname.chars().take(width).collect();
    format!(
        "{:>6}  {host:<width$}  {:>12}  {share:>6}  {bandwidth:>12}  {:>9}  {:>9}  {:>6}",
        member.rank,
        count(member.iops),
        latency(0),
        latency(1),
        percent(member.cpu_share)
    )
}

#[cfg(test)]
mod tests {
    use record::{ClockRecord, LostRank, MergeRecord, Run};

    use crate::SheetStyle;

    use super::*;

    fn fleet(ranks: u32) -> Run {
        let member = |rank: u32| RankRecord {
            rank,
            hostname: format!("node{}", rank / 4),
            clock: Some(ClockRecord { error_ns: 4_000 + u64::from(rank), ..ClockRecord::default() }),
            start_delay_ns: Some(10_000 * u64::from(rank)),
            iops: 1_000.0 + f64::from(rank),
            bytes_per_second: 4_096_000.0,
            latency_ns: Some([100_000, 900_000, 2_000_000]),
            cpu_share: 0.25,
            memory_bytes: 20 << 20,
            ..RankRecord::default()
        };
        let fleet = FleetRecord {
            id: "x".to_owned(),
            ranks: ranks + 1,
            members: (0..ranks).map(member).collect(),
            lost: vec![LostRank { rank: ranks, reason: "no heartbeat for 10.2 s".to_owned() }],
            merge: Some(MergeRecord { wall_ns: 12_000_000, received_bytes: 50_000, ..MergeRecord::default() }),
        };
        Run { fleet: Some(fleet), ..Run::default() }
    }

    #[test]
    fn ranks_are_listed_with_those_that_are_missing() {
        let text = crate::text(&fleet(3), &[], SheetStyle { width: 100, ..SheetStyle::default() });
        let lines: Vec<&str> = text.lines().collect();
        let at = lines.iter().position(|line| line.trim_start().starts_with("ranks ")).unwrap();
        let expected = [
            "  ranks         3 of 4 on 1 host, started within 20.0 us (clocks within 4.00 us)",
            "  missing       rank 3: no heartbeat for 10.2 s",
            "  merged        in 12.0 ms; at most 20 MiB of memory and 0 B sent by a rank, 48.8 KiB received by",
            "                rank 0",
            "  rank  host           IOPS   share     bandwidth        p50        p99     CPU",
            "     0  node0         1.00k   33.3%    3.91 MiB/s     100 us     900 us   25.0%",
        ];
        assert_eq!(&lines[at..at + expected.len()], &expected, "{text}");
    }

    #[test]
    fn of_many_ranks_the_slowest_and_the_fastest_are_listed() {
        let text = crate::text(&fleet(100), &[], SheetStyle { width: 100, ..SheetStyle::default() });
        let ranks: Vec<u32> = text
            .lines()
            .filter(|line| line.contains("  node"))
            .filter_map(|line| line.split_whitespace().next()?.parse().ok())
            .collect();
        assert_eq!(ranks, [0, 1, 2, 3, 4, 5, 6, 7, 92, 93, 94, 95, 96, 97, 98, 99]);
        assert!(text.contains("84 more between these"), "{text}");
    }
}
