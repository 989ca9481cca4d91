//! Rules for hosts that are at a limit of their own, which is not that of the storage.

use record::{FleetRecord, Run};

use crate::{Code, EvidenceSource, Finding, Quantity, Remedy, Severity, hosts};

/// Fractions of a link's speed at which it is the limit. Headers take 6 % of it at the usual frame size, and those of
/// the storage protocol more. A host that gets more than its fastest link carries has several.
const LINK: std::ops::RangeInclusive<f64> = 0.85..=1.05;

/// Checks for hosts whose ranks together use nearly all processors.
pub(super) fn cpu(run: &Run, fleet: &FleetRecord) -> Option<Finding> {
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
pub(super) fn link(fleet: &FleetRecord) -> Option<Finding> {
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
