//! Rules for runs on many hosts. They concern all jobs together, because ranks are recorded as a whole.

mod ranks;
mod shared;

use record::{FleetRecord, RankRecord, Run};

use crate::{Code, EvidenceSource, Finding, Quantity, Remedy, Severity, hosts};

/// Returns the findings about the ranks of a run.
pub(crate) fn findings(run: &Run) -> Vec<Finding> {
    let Some(fleet) = run.fleet.as_ref().filter(|fleet| fleet.members.len() > 1) else { return Vec::new() };
    let of_host: Vec<Finding> = cpu(run, fleet).into_iter().chain(link(fleet)).collect();
    let proven = shared::limit(run, fleet);
    // A host at its limit explains a missed rate.
    let missed = if proven.is_none() && of_host.is_empty() { shared::missed_rate(run, fleet) } else { None };
    let slow = ranks::straggler(fleet);
    let unequal = if slow.is_none() { ranks::unequal(run, fleet) } else { None };
    of_host.into_iter().chain(proven).chain(missed).chain(slow).chain(unequal).collect()
}

/// Removes what the findings about ranks explain better.
pub(crate) fn remove_explained(findings: &mut Vec<Finding>) {
    let at_limit = |code: Code| findings.iter().any(|finding| finding.code == code && is_of_all_hosts(finding));
    let (busy, full) = (at_limit(Code::HostCpuBound), at_limit(Code::HostLinkBound));
    let shared = findings.iter().find(|finding| finding.code == Code::SharedLimit);
    let asked =
        |finding: &Finding| [Quantity::RateAsked, Quantity::ByteRateAsked].map(|of| finding.value(of)) != [None; 2];
    let (known, missed) = (busy || full || shared.is_some(), shared.is_some_and(asked));
    findings.retain(|finding| match finding.code {
        Code::GeneratorCpuBound => !busy,
        // Where ranks share a limit, a deeper queue of each gives nothing.
        Code::QueueTooShallow | Code::RateNotReached => !missed,
        // They leave open what the limit was.
        Code::QueueFull | Code::DeviceFlat => !known,
        _ => true,
    });
}

fn is_of_all_hosts(finding: &Finding) -> bool {
    finding.value(Quantity::HostsAtLimit) == finding.value(Quantity::Hosts)
}

/// Names ranks: `ranks 3, 4 and 5 on node1`, `rank 3 on node1, rank 9 on node2 and 4 others`.
fn named(ranks: &[&RankRecord]) -> String {
    /// Maximum number of ranks named.
    const NAMED: usize = 3;
    let [first, .., last] = ranks else { return ranks.first().map_or_else(String::new, |rank| rank.label()) };
    let one_host = ranks.iter().all(|rank| rank.hostname == first.hostname) && !first.hostname.is_empty();
    if !one_host || ranks.len() > NAMED {
        let names: Vec<String> = ranks.iter().take(NAMED).map(|rank| rank.label()).collect();
        return match ranks.len() - names.len() {
            0 => format!("{} and {}", names[..names.len() - 1].join(", "), last.label()),
            1 => format!("{} and 1 other", names.join(", ")),
            others => format!("{} and {others} others", names.join(", ")),
        };
    }
    let numbers: Vec<String> = ranks.iter().map(|rank| rank.rank.to_string()).collect();
    format!("ranks {} and {} on {}", numbers[..numbers.len() - 1].join(", "), last.rank, first.hostname)
}

/// Returns the median; `None` without values.
fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    let upper = *values.get(half)?;
    Some(if values.len() % 2 == 1 { upper } else { values[half - 1] / 2.0 + upper / 2.0 })
}

/// Returns the mean and the sample variance; both are zero for no value, the variance for one.
fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, squares / (count - 1.0).max(1.0))
}

/// Fractions of a link's speed at which it is the limit. Headers take 6 % of it at the usual frame size, and those of
/// the storage protocol more. A host that gets more than its fastest link carries has several.
const LINK: std::ops::RangeInclusive<f64> = 0.85..=1.05;

/// Checks for hosts whose ranks together use nearly all CPUs.
fn cpu(run: &Run, fleet: &FleetRecord) -> Option<Finding> {
    let hosts = hosts::all(fleet);
    let busy = hosts::busy(run, &hosts);
    let (host, share) = busy.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let finding = Finding::new(Code::HostCpuBound, Severity::Warning)
        .about(host.name)
        .with(Quantity::HostCpuShare, share.min(1.0), EvidenceSource::ProcessorTime)
        .with(Quantity::Cpus, f64::from(host.cpus()), EvidenceSource::Host)
        .with(Quantity::Ranks, host.members.len() as f64, EvidenceSource::Counters)
        .remedy(Remedy::MoreHosts);
    Some(counted(finding, busy.len(), hosts.len()))
}

/// Checks for hosts whose ranks together use the whole speed of their network link.
fn link(fleet: &FleetRecord) -> Option<Finding> {
    let hosts = hosts::all(fleet);
    let known = hosts.iter().filter_map(|host| Some((host, host.link_share()?)));
    let full: Vec<_> = known.filter(|(_, share)| LINK.contains(share)).collect();
    let (host, share) = full.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let bytes = host.bytes_per_second();
    let finding = Finding::new(Code::HostLinkBound, Severity::Warning)
        .about(host.name)
        .with(Quantity::HostBytesPerSecond, bytes, EvidenceSource::Counters)
        .with(Quantity::LinkBytesPerSecond, bytes / share, EvidenceSource::Host)
        .with(Quantity::LinkShare, *share, EvidenceSource::Counters)
        .with(Quantity::Ranks, host.members.len() as f64, EvidenceSource::Counters)
        .remedy(Remedy::MoreHosts);
    Some(counted(finding, full.len(), hosts.len()))
}

fn counted(finding: Finding, at_limit: usize, hosts: usize) -> Finding {
    finding.with(Quantity::HostsAtLimit, at_limit as f64, EvidenceSource::Counters).with(
        Quantity::Hosts,
        hosts as f64,
        EvidenceSource::Counters,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_named_with_their_hosts() {
        let rank = |rank: u32, host: &str| RankRecord { rank, hostname: host.to_owned(), ..RankRecord::default() };
        let (a, b, c, d) = (rank(3, "n1"), rank(4, "n1"), rank(9, "n2"), rank(10, "n2"));
        assert_eq!(named(&[&a]), "rank 3 on n1");
        assert_eq!(named(&[&a, &b]), "ranks 3 and 4 on n1");
        assert_eq!(named(&[&a, &c]), "rank 3 on n1 and rank 9 on n2");
        assert_eq!(named(&[&a, &b, &c, &d]), "rank 3 on n1, rank 4 on n1, rank 9 on n2 and 1 other");
        assert_eq!(named(&[&a, &b, &c, &d, &d]), "rank 3 on n1, rank 4 on n1, rank 9 on n2 and 2 others");
        assert_eq!(named(&[]), "");
    }

    #[test]
    fn medians_and_variances_are_exact() {
        assert_eq!([median([3.0, 1.0, 2.0]), median([4.0, 1.0]), median([])], [Some(2.0), Some(2.5), None]);
        assert_eq!(median([f64::MAX, f64::MAX]), Some(f64::MAX));
        assert_eq!(mean_and_variance(&[1.0, 3.0]), (2.0, 2.0));
        assert_eq!((mean_and_variance(&[5.0]), mean_and_variance(&[])), ((5.0, 0.0), (0.0, 0.0)));
    }
}
