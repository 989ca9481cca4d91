//! Sentences of findings about runs on many hosts.

use analyse::{Code, Finding, Quantity, Remedy};
use units::{Bytes, counted, grouped};

use super::{SentenceFigures, joined, run, subject};

pub(super) fn straggler(finding: &Finding, figures: &SentenceFigures<'_>) -> String {
    let several = figures.value(Quantity::SlowRanks) > 1.0;
    let name = subject(finding);
    let rates = format!(
        "{} IOPS against a median of {} over {} ranks that run the same work",
        figures.count(Quantity::RankIops),
        figures.count(Quantity::MedianRankIops),
        figures.whole(Quantity::Ranks)
    );
    let statement = if several {
        format!("{} are far slower than the others: the slowest has {rates}.", capitalized(name))
    } else {
        format!("{} is far slower than the others: {rates}.", capitalized(name))
    };
    let marks = distinguishing(figures);
    if marks.is_empty() {
        return format!("{statement} Its record shows no cause.");
    }
    let which = if several { "the slowest" } else { "it" };
    format!("{statement} Unlike the median, {which} {}.", joined(&marks, "and"))
}

/// Returns what distinguishes the slowest rank, as predicates.
fn distinguishing(figures: &SentenceFigures<'_>) -> Vec<String> {
    let mut marks = Vec::new();
    let mut add = |quantity: Quantity, text: &dyn Fn() -> String| {
        if figures.has(quantity) {
            marks.push(text());
        }
    };
    add(Quantity::RankCpuShare, &|| {
        let (own, others) = (figures.share(Quantity::RankCpuShare), figures.share(Quantity::MedianRankCpuShare));
        format!("used {own} of a CPU per worker ({others})")
    });
    add(Quantity::RankP99, &|| {
        let (own, others) = (figures.time(Quantity::RankP99), figures.time(Quantity::MedianRankP99));
        format!("has a p99 of {own} ({others})")
    });
    add(Quantity::RankLate, &|| format!("started {} later", figures.span(Quantity::RankLate)));
    add(Quantity::RankErrors, &|| format!("has {} failed operations", figures.whole(Quantity::RankErrors)));
    add(Quantity::RankLasted, &|| {
        let (own, others) = (figures.span(Quantity::RankLasted), figures.span(Quantity::MedianRankLasted));
        format!("ended after {own} ({others})")
    });
    marks
}

pub(super) fn unequal(finding: &Finding, figures: &SentenceFigures<'_>) -> String {
    let (slow, fast) = (figures.count(Quantity::SlowestRankIops), figures.count(Quantity::FastestRankIops));
    let (ranks, variation) = (figures.whole(Quantity::Ranks), figures.share(Quantity::RankVariation));
    let who = subject(finding);
    if figures.has(Quantity::WithinHostVariation) {
        return format!(
            "Shares depend on the host: {slow} against {fast} IOPS per rank ({who}). They vary by {variation} over \
             {ranks} ranks, by {} among the ranks of one host.",
            figures.share(Quantity::WithinHostVariation)
        );
    }
    format!(
        "Ranks got unequal shares: {slow} against {fast} IOPS ({who}). They vary by {variation} over {ranks} ranks."
    )
}

pub(super) fn host_cpu(finding: &Finding, figures: &SentenceFigures<'_>) -> String {
    format!(
        "{} at the limit of {} CPUs, so the figures describe the {}, not the storage: the ranks on {} used {} of {} \
         CPUs.",
        hosts_are(figures),
        if figures.value(Quantity::HostsAtLimit) == 1.0 { "its" } else { "their" },
        if figures.value(Quantity::HostsAtLimit) == 1.0 { "host" } else { "hosts" },
        name(finding),
        figures.share(Quantity::HostCpuShare),
        figures.whole(Quantity::Cpus)
    )
}

pub(super) fn host_link(finding: &Finding, figures: &SentenceFigures<'_>) -> String {
    format!(
        "{} at the limit of {} network link, so the figures describe the network, not the storage: the ranks on {} \
         transferred {}/s, {} of the {}/s of its fastest link.",
        hosts_are(figures),
        if figures.value(Quantity::HostsAtLimit) == 1.0 { "its" } else { "their" },
        name(finding),
        figures.bytes(Quantity::HostBytesPerSecond),
        figures.share(Quantity::LinkShare),
        Bytes::new(figures.value(Quantity::LinkBytesPerSecond) as u64)
    )
}

/// Returns how many hosts are meant: `2 of 8 hosts are`.
fn hosts_are(figures: &SentenceFigures<'_>) -> String {
    match (figures.value(Quantity::HostsAtLimit) as u64, figures.value(Quantity::Hosts) as u64) {
        (1, 1) => "The host is".to_owned(),
        (1, all) => format!("1 of {} hosts is", grouped(all)),
        (some, all) if some == all => format!("All {} hosts are", grouped(all)),
        (some, all) => format!("{} of {} hosts are", grouped(some), grouped(all)),
    }
}

pub(super) fn shared_limit(figures: &SentenceFigures<'_>) -> String {
    let (ranks, enough) = (figures.whole(Quantity::Ranks), figures.whole(Quantity::RanksEnough));
    let whose = match (figures.value(Quantity::Hosts) > 1.0, figures.value(Quantity::HostsSharing) > 1.0) {
        (true, true) => "",
        (true, false) => " Other ranks on the same host took over the share, so it may be a limit of each host.",
        (false, _) => " All are on one host, so it may be that host's limit.",
    };
    if figures.has(Quantity::AllIops) {
        return format!(
            "The ranks share a limit: {ranks} ranks gave {} IOPS together; when only {enough} were left, these gave \
             {}, after {} before. {ranks} ranks give no more than {enough}.{whose}",
            figures.count(Quantity::AllIops),
            figures.count(Quantity::RemainingIops),
            figures.count(Quantity::RemainingIopsBefore)
        );
    }
    format!(
        "The ranks share a limit. {}: {ranks} ranks give what {enough} would at the requested rate. What one rank lost, \
         others gained: the sum varied by {} of what independent ranks would show.{whose}",
        run::rate_missed(figures),
        figures.share(Quantity::VarianceRatio)
    )
}

pub(super) fn missed_rate(figures: &SentenceFigures<'_>) -> String {
    format!(
        "{}: {} ranks give what {} would at the requested rate. Nearly all of them missed it. Either they share a limit, or \
         each has a limit of its own; this run does not show which.",
        run::rate_missed(figures),
        figures.whole(Quantity::Ranks),
        figures.whole(Quantity::RanksEnough)
    )
}

/// Returns the next step.
pub(super) fn remedy(remedy: &Remedy, finding: &Finding) -> String {
    let figures = &SentenceFigures(finding);
    match *remedy {
        Remedy::CompareHosts if figures.has(Quantity::RankCpuShare) => {
            "Check what else uses the CPUs of that host, and distribute its load over more workers.".to_owned()
        }
        Remedy::CompareHosts if figures.has(Quantity::RankErrors) => {
            "See the log of that host for the cause of the errors.".to_owned()
        }
        Remedy::CompareHosts => {
            "Run `fathom doctor` on the slow host and on another one, and compare their settings and network paths."
                .to_owned()
        }
        Remedy::MoreHosts if finding.code == Code::HostLinkBound => {
            "Distribute the ranks over more hosts, or use hosts with faster links.".to_owned()
        }
        Remedy::MoreHosts => "Distribute the ranks over more hosts, or use hosts with more CPUs.".to_owned(),
        Remedy::FewerRanks { ranks } => format!(
            "Use {}: more only add latency. To get more, raise the limit that they share.",
            counted(ranks, "rank")
        ),
        Remedy::CompareRanks { ranks } => format!(
            "Run again with {}: if each then gets more, they share a limit; if not, each has its own.",
            counted(ranks, "rank")
        ),
        _ => String::new(),
    }
}

fn name(finding: &Finding) -> &str {
    finding.subject.as_deref().filter(|name| !name.is_empty()).unwrap_or("the host")
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use analyse::analyse;
    use record::{FleetRecord, IntervalRecord, JobResult, RankRecord, Run, SeriesRecord};
    use units::PerKind;

    use super::*;
    use crate::words;

    fn member(rank: u32, iops: &[u64]) -> RankRecord {
        let interval = |&ios: &u64| IntervalRecord { ios: [ios, 0, 0], ..IntervalRecord::default() };
        let sum: u64 = iops.iter().sum();
        RankRecord {
            rank,
            hostname: format!("node{}", rank / 2),
            cpus: 8,
            ios: [sum, 0, 0],
            bytes: [4096 * sum, 0, 0],
            iops: sum as f64 / iops.len() as f64,
            bytes_per_second: 4096.0 * sum as f64 / iops.len() as f64,
            latency_ns: Some([500_000, 1_000_000, 2_000_000]),
            workers: 2,
            cpu_share: 0.25,
            series: SeriesRecord {
                width_ns: 1_000_000_000,
                pace_ns: 0,
                intervals: iops.iter().map(interval).collect(),
            },
            ..RankRecord::default()
        }
    }

    fn sentence(members: Vec<RankRecord>, rate_iops: Option<u64>, code: Code) -> String {
        let mut job = JobResult { workers: 2 * members.len() as u32, ..JobResult::default() };
        job.declared.rate_iops = PerKind { read: rate_iops, ..PerKind::default() };
        let fleet = FleetRecord { ranks: members.len() as u32, members, ..FleetRecord::default() };
        let run = Run { jobs: vec![job], fleet: Some(fleet), ..Run::default() };
        let verdict = analyse(&run).remove(0);
        let found = verdict.findings().find(|finding| finding.code == code).cloned();
        words::finding(&found.unwrap_or_else(|| panic!("{code:?} is missing: {verdict:?}")), &run.jobs[0])
    }

    #[test]
    fn a_slow_rank_is_named_with_what_distinguishes_it() {
        let mut members: Vec<RankRecord> = (0..8).map(|rank| member(rank, &[1_000; 10])).collect();
        members[5] = member(5, &[400; 10]);
        assert_eq!(
            sentence(members.clone(), None, Code::RankStraggler),
            "Rank 5 on node2 is far slower than the others: 400 IOPS against a median of 1.00k over 8 ranks that run the \
             same work. Its record shows no cause. Run `fathom doctor` on the slow host and on another one, and compare \
             their settings and network paths."
        );
        (members[5].cpu_share, members[5].latency_ns, members[5].errors) = (0.97, Some([1, 5_000_000, 9]), 3);
        assert_eq!(
            sentence(members, None, Code::RankStraggler),
            "Rank 5 on node2 is far slower than the others: 400 IOPS against a median of 1.00k over 8 ranks that run \
             the same work. Unlike the median, it used 97.0% of a CPU per worker (25.0%), has a p99 of 5.00 ms (1.00 \
             ms) and has 3 failed operations. Check what else uses the CPUs of that host, and distribute its load over \
             more workers."
        );
    }

    #[test]
    fn unequal_shares_name_the_ends() {
        let members = (0..4).map(|rank| member(rank, &[1_000 + 500 * u64::from(rank / 2); 10])).collect();
        assert_eq!(
            sentence(members, None, Code::RankSharesUnequal),
            "Shares depend on the host: 1.00k against 1.50k IOPS per rank (node0 against node1). They vary by 23.1% \
             over 4 ranks, by 0.0% among the ranks of one host. Run `fathom doctor` on the slow host and on another \
             one, and compare their settings and network paths."
        );
    }

    #[test]
    fn hosts_at_a_limit_of_their_own_are_named() {
        let mut members: Vec<RankRecord> = (0..4).map(|rank| member(rank, &[1_000; 10])).collect();
        members[2].cpu_share = 1.9;
        members[3].cpu_share = 1.8;
        assert_eq!(
            sentence(members.clone(), None, Code::HostCpuBound),
            "1 of 2 hosts is at the limit of its CPUs, so the figures describe the host, not the storage: the ranks on \
             node1 used 92.5% of 8 CPUs. Distribute the ranks over more hosts, or use hosts with more CPUs."
        );
        members.iter_mut().for_each(|member| member.link_bytes_per_second = Some(9 << 20));
        assert_eq!(
            sentence(members, None, Code::HostLinkBound),
            "All 2 hosts are at the limit of their network link, so the figures describe the network, not the storage: \
             the ranks on node1 transferred 7.81 MiB/s, 86.8% of the 9 MiB/s of its fastest link. Distribute the ranks \
             over more hosts, or use hosts with faster links."
        );
    }

    #[test]
    fn shared_limits_are_stated_with_the_numbers() {
        let members = (0..4).map(|rank| if rank < 2 { member(rank, &[500; 10]) } else { two_speeds(rank) }).collect();
        assert_eq!(
            sentence(members, None, Code::SharedLimit),
            "The ranks share a limit: 4 ranks gave 2.00k IOPS together; when only 2 were left, these gave 2.00k, after \
             1.00k before. 4 ranks give no more than 2. Use 2 ranks: more only add latency. To get more, raise the \
             limit that they share."
        );
        let members = (0..64).map(|rank| member(rank, &[640; 10])).collect();
        assert_eq!(
            sentence(members, Some(64_000), Code::RanksMissedRate),
            "Missed the requested rate: 41.0k of 64.0k IOPS: 64 ranks give what 41 would at the requested \
             rate. Nearly all of them missed it. Either they share a limit, or each has a limit of its own; this run does \
             not show which. Run again with 32 ranks: if each then gets more, they share a limit; if not, each has its own."
        );
    }

    fn two_speeds(rank: u32) -> RankRecord {
        member(rank, &[[500; 10], [1_000; 10]].concat())
    }
}
