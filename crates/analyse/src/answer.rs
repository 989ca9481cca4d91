//! What the findings answer to "is the storage the limit, and what helps?".

use serde::Serialize;

use crate::{Code, Finding, Quantity, Remedy, Severity};

/// Whether the storage is the limit of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The volume, its disk or a model of it.
    Storage,
    /// The machine, a cgroup, the CPUs, the generator, the queue depth or a requested rate.
    Other,
    /// Nothing: all that was requested was done.
    Nothing,
    /// The figures do not decide it.
    Unknown,
}

/// The findings that answer the question, most important first.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer<'a> {
    pub limit: Limit,
    /// Finding that decides it; `None` if there is nothing to decide it with.
    pub deciding: Option<&'a Finding>,
    /// Finding that names a limit although another one invalidates the figures, or the errors because of which there
    /// are none.
    pub doubtful: Option<&'a Finding>,
    /// Findings with a change that helps.
    pub helping: Vec<&'a Finding>,
    /// Findings that restrict what the figures stand for: a burst, a drift, a cache.
    pub restricting: Vec<&'a Finding>,
}

/// What a finding contributes to the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The figures describe something else than the load.
    Invalid,
    /// It names the limit.
    Limit(Limit),
    /// It restricts what the figures stand for.
    Restriction,
    /// It names a change, for a limit that another finding names.
    Change,
    Remark,
}

/// Returns what a finding contributes.
fn part(finding: &Finding) -> Part {
    if finding.severity == Severity::Distrust {
        return Part::Invalid;
    }
    match finding.code {
        Code::NothingMeasured
        | Code::NotVerified
        | Code::SeveralRuns
        | Code::PageCacheMeasured
        | Code::BufferedWritesUnsynced
        | Code::HolesRead
        | Code::LittleContradicted
        | Code::FiguresDisagree
        | Code::UnitsMixed
        | Code::SinceBoot
        | Code::UnwrittenBlocks
        | Code::AboveExpectation => Part::Invalid,
        Code::VolumeIopsCap
        | Code::VolumeThroughputCap
        | Code::StationCap
        | Code::ModelHeldBack
        | Code::DeviceBound
        | Code::DeviceFlat
        | Code::BelowExpectation
        | Code::SyncsTooSlow
        | Code::SharedLimit
        | Code::Throttled
        | Code::MechanicalDisk => Part::Limit(Limit::Storage),
        Code::RateNotReached if finding.subject.is_some() => Part::Limit(Limit::Storage),
        Code::MachineCap
        | Code::EgressCap
        | Code::CgroupThrottle
        | Code::EngineNotAsynchronous
        | Code::QueueTooShallow
        | Code::HostCpuBound
        | Code::HostLinkBound
        | Code::GeneratorCpuBound
        | Code::LatencyTarget
        | Code::LatencyBound
        | Code::DepthBound
        | Code::QueueNotFilled
        | Code::ModelNotReached
        | Code::NoDevice
        | Code::MetadataOnly => Part::Limit(Limit::Other),
        Code::RateKept => Part::Limit(Limit::Nothing),
        Code::RateNotReached
        | Code::RanksMissedRate
        | Code::NearKnee
        | Code::NotRepeated
        | Code::QueueFull
        | Code::LimitUnknown
        | Code::DepthNeeded
        | Code::LittleHolds => Part::Limit(Limit::Unknown),
        Code::ErrorsSeen
        | Code::NotSteady
        | Code::LatenessSignificant
        | Code::BurstRunning
        | Code::BurstUsedUp
        | Code::BurstOrDrift
        | Code::WarmupCounted
        | Code::ShortRun
        | Code::Interrupted
        | Code::RankStraggler
        | Code::RankSharesUnequal => Part::Restriction,
        Code::SizeTooSmall | Code::ProvisionedTooLow | Code::BeyondKnee => Part::Change,
        Code::UtilContradicted
        | Code::CpusShort
        | Code::BytesBeforeIops
        | Code::SharedBudget
        | Code::RequestsSplit
        | Code::OddBlockSize
        | Code::SmallRegion
        | Code::UtilMisread
        | Code::MeanWithoutSpread => Part::Remark,
    }
}

/// Returns the answer of findings that are in order of importance.
#[must_use]
pub fn answer(findings: &[Finding]) -> Answer<'_> {
    let of = |wanted: Part| findings.iter().filter(move |finding| part(finding) == wanted);
    let limit_of = |finding: &&Finding| if let Part::Limit(limit) = part(finding) { Some(limit) } else { None };
    let invalid = of(Part::Invalid).next();
    // What is known comes before what is open, whatever its severity.
    let limits = || findings.iter().filter(|finding| limit_of(finding).is_some());
    let known = limits().find(|finding| !matches!(limit_of(finding), Some(Limit::Unknown | Limit::Nothing)));
    let named = known.or_else(|| limits().find(|finding| limit_of(finding) == Some(Limit::Nothing)));
    let deciding = invalid.or(named).or_else(|| limits().next());
    let limit = match deciding {
        Some(finding) if invalid.is_none() => limit_of(&finding).unwrap_or(Limit::Unknown),
        _ => Limit::Unknown,
    };
    // A purchase comes before a smaller load, and both before what only explains.
    let purchases = of(Part::Change).filter(|finding| finding.code != Code::BeyondKnee);
    let own = deciding.into_iter().filter(|finding| part(finding) != Part::Change);
    let reductions = of(Part::Change).filter(|finding| finding.code == Code::BeyondKnee);
    let of_restrictions = of(Part::Restriction);
    let helping: Vec<&Finding> = match invalid {
        Some(finding) => vec![finding],
        None => own.chain(purchases).chain(reductions).chain(of_restrictions).collect(),
    };
    let helping = helping.into_iter().filter(|finding| finding.remedy.is_some()).collect();
    let failed = deciding.filter(|finding| finding.code == Code::NothingMeasured);
    let errors = failed.and_then(|_| findings.iter().find(|finding| finding.code == Code::ErrorsSeen));
    let doubtful = errors.or(invalid.and(known));
    Answer { limit, deciding, doubtful, helping, restricting: of(Part::Restriction).collect() }
}

impl Answer<'_> {
    /// Returns the mean latency, and what it would be without queueing, if requests wait in a queue.
    #[must_use]
    pub fn queueing_ns(&self) -> Option<(f64, f64)> {
        let finding = self.helping.iter().find(|finding| finding.code == Code::BeyondKnee)?;
        Some((finding.value(Quantity::LatencyMean)?, finding.counterfactual?.latency_ns))
    }

    /// Returns the change that a purchase would be.
    #[must_use]
    pub fn purchase(&self) -> Option<&Remedy> {
        let is_purchase = |remedy: &&Remedy| {
            matches!(
                remedy,
                Remedy::GrowVolume { .. } | Remedy::ProvisionIops { .. } | Remedy::ProvisionThroughput { .. }
            )
        };
        self.helping.iter().filter_map(|finding| finding.remedy.as_ref()).find(is_purchase)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(code: Code, severity: Severity) -> Finding {
        Finding::new(code, severity)
    }

    #[test]
    fn what_invalidates_decides_before_any_limit() {
        let findings = [finding(Code::SinceBoot, Severity::Warning), finding(Code::VolumeIopsCap, Severity::Info)];
        let found = answer(&findings);
        assert_eq!((found.limit, found.deciding.map(|one| one.code)), (Limit::Unknown, Some(Code::SinceBoot)));
    }

    #[test]
    fn a_known_limit_decides_before_an_open_question() {
        let findings = [finding(Code::LimitUnknown, Severity::Advice), finding(Code::VolumeIopsCap, Severity::Info)];
        assert_eq!(answer(&findings).limit, Limit::Storage);
        assert_eq!(answer(&findings[..1]).limit, Limit::Unknown);
        assert_eq!(answer(&[]).deciding, None);
    }

    #[test]
    fn purchases_come_before_smaller_loads() {
        let with = |code, remedy: Remedy| finding(code, Severity::Info).remedy(remedy);
        let findings = [
            with(Code::BeyondKnee, Remedy::FewerInFlight { in_flight: 3 }),
            with(Code::ProvisionedTooLow, Remedy::ProvisionIops { iops: 6000 }),
            finding(Code::VolumeIopsCap, Severity::Info),
        ];
        let found = answer(&findings);
        let codes: Vec<Code> = found.helping.iter().map(|one| one.code).collect();
        assert_eq!(codes, [Code::ProvisionedTooLow, Code::BeyondKnee]);
        assert_eq!(found.purchase(), Some(&Remedy::ProvisionIops { iops: 6000 }));
    }
}
