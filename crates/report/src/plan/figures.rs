//! Figures of plans as phrases, shared by all formats.

use plan::workload::LoadDoubt;
use plan::{Candidate, Currency, JitterComparison, MonthlyCost, Need, PlannedMachine, Requirement, UnmetNeed};
use results::plan::PlanResult;
use units::{Bytes, Nanos, count, grouped, requests_in_flight, significant};
use volume::catalogue::FigureOrigin;
use volume::{cited_jitter, cited_merging};

use crate::volume_terms::{amount, price_parts};

/// Formats a monthly total: `141.92 USD a month`, `4.75 EUR = 5.59 USD a month`.
pub(super) fn price(money: &MonthlyCost) -> String {
    let least = if money.whole() { "" } else { "at least " };
    let own = own_currency(money).map_or_else(String::new, |own| format!("{own} = "));
    format!("{least}{own}{} {} a month", amount(money.per_month), money.currency.code())
}

/// Formats an amount of US dollars in the currency of totals: `41.00 EUR`.
pub(super) fn sum(need: &Need, usd: f64) -> String {
    format!("{} {}", amount(need.in_currency(usd)), need.currency.code())
}

/// Formats the price of the volumes in its own currency, if that is not the one of totals: `4.75 EUR`.
pub(super) fn own_currency(money: &MonthlyCost) -> Option<String> {
    let is_own = money.price.currency != money.currency.code() && money.machines_usd.is_none();
    let is_converted = is_own && money.price.currency != "USD";
    is_converted.then(|| format!("{} {}", amount(money.price.per_month), money.price.currency))
}

/// Returns the region and the date of a price: `us-central1, 2026-09-24`.
pub(super) fn holds(money: &MonthlyCost) -> String {
    let date = if money.price.source.date.is_empty() { "no date" } else { &money.price.source.date };
    format!("{}, {date}", region(money))
}

/// Returns the region of a price: `a US region, for us-east-1` if it is published under another name.
pub(super) fn region(money: &MonthlyCost) -> String {
    let region = money.price.region.as_deref().unwrap_or("region not stated");
    money.stands_for.as_ref().map_or_else(|| region.to_owned(), |asked| format!("{region}, for {asked}"))
}

/// Returns the derivation of the need, its headroom, and a warning about an unknown region.
pub(super) fn remarks(plan: &PlanResult) -> impl Iterator<Item = String> {
    let figures = headroom(&plan.need).into_iter().chain(near(&plan.need)).chain(unknown_region(&plan.need));
    plan.derivation.iter().cloned().chain(figures)
}

/// Names the regions of the need that were found near a place: `eu-central-1 (Frankfurt), westeurope (365 km; ...)`.
pub(super) fn near(need: &Need) -> Option<String> {
    let one = |near: &plan::NearRegion| {
        let unpriced = near.unpriced.as_ref().map(|nearer| format!("; no prices are known for {}", nearer.name));
        format!("{} ({} km{})", near.region.name, whole(near.km.round()), unpriced.unwrap_or_default())
    };
    let regions: Vec<String> = need.near.iter().map(one).collect();
    (!regions.is_empty()).then(|| format!("nearest regions: {}", regions.join(", ")))
}

/// Names the regions of the need in which no price is known, and which have prices; `None` if all are known.
pub(super) fn unknown_region(need: &Need) -> Option<String> {
    let unknown = plan::regions_without_prices(need);
    if unknown.is_empty() {
        return None;
    }
    let regions = plan::regions(need);
    let known = match regions.is_empty() {
        true => "no price states a region".to_owned(),
        false => format!("prices are known for {}", regions.join(", ")),
    };
    let unknown = unknown.join(", ");
    Some(format!("no price is known for {unknown}: {known}; prices without a region are assumed to apply"))
}

/// Describes the exchange rates of the plan; `None` if all prices and totals are in US dollars.
pub(super) fn exchange(need: &Need, candidates: &[Candidate]) -> Option<String> {
    let converted = |candidate: &Candidate| candidate.price.as_ref().is_some_and(|money| money.price.currency != "USD");
    let plan::Exchange { usd_per_eur, usd_per_gbp, source } = &need.exchange;
    let basis = match source.date.as_str() {
        "" => source.title.clone(),
        date => format!("{}, {date}; --eur-usd sets another rate", source.title),
    };
    let has_euros = candidates.iter().any(converted) || need.currency == Currency::Eur;
    let rates = [("EUR", usd_per_eur, has_euros), ("GBP", usd_per_gbp, need.currency == Currency::Gbp)];
    let used = rates.into_iter().filter(|(_, _, is_used)| *is_used);
    let used: Vec<String> = used.map(|(code, rate, _)| format!("1 {code} = {} USD", significant(*rate, 5))).collect();
    (!used.is_empty()).then(|| format!("{} ({basis})", used.join(", ")))
}

/// Describes in one line what the headroom of a need demands; `None` if there is none.
pub(super) fn headroom(need: &Need) -> Option<String> {
    if need.headroom <= 0.0 || need.demands().is_empty() {
        return None;
    }
    let percent = significant(100.0 * need.headroom, 2);
    let factor = significant(1.0 + need.headroom, 3);
    let mut text = format!("headroom {percent}%: the volume sustains {factor} times the rate");
    let bounds = [("mean latency", need.mean), (percentile_name(need), need.percentile.map(|(_, bound)| bound))];
    for (name, bound) in bounds {
        let Some(bound) = bound else { continue };
        text.push_str(&format!(
            "; {name} at the rate itself is at most {bound} / {factor} = {}",
            time(need.planned_secs(bound))
        ));
    }
    Some(text)
}

/// Names the bounded percentile, by default the 99th: `p99`, `p99.9`.
pub(super) fn percentile_name(need: &Need) -> &'static str {
    match need.percentile {
        Some((share, _)) if share > 0.99 => "p99.9",
        _ => "p99",
    }
}

/// Formats the mean latency with its basis: `1.32 ms (measured)`. On a disk drive it includes the queue.
pub(super) fn latency(candidate: &Candidate) -> Option<String> {
    let mean = candidate.mean_secs?;
    let alone = candidate.alone_secs.filter(|alone| candidate.is_drive() && mean > 1.01 * alone);
    let alone = alone.map_or_else(String::new, |alone| format!(", with queueing; {} without", time(alone)));
    Some(format!("{} ({}){alone}", time(mean), candidate.about.latency_basis.name()))
}

/// Compares the bounded latencies of a candidate with those without jitter; `None` if they do not differ.
pub(super) fn jitter(candidate: &Candidate, need: &Need) -> Option<String> {
    let effect = candidate.jitter.as_ref()?;
    let bounds = [
        (percentile_name(need), effect.percentile_secs, need.percentile.map(|(_, bound)| bound)),
        ("mean latency", effect.mean_secs, need.mean),
    ];
    let differs = |(name, secs, bound): (&str, Option<JitterComparison>, Option<Nanos>)| {
        let (JitterComparison { with, without }, bound) = (secs?, bound?);
        let missed = if without > bound.secs_f64() { format!(", above the bound of {bound}") } else { String::new() };
        Some(format!("{name} {}, {} with no burst tolerance{missed}", time(with), time(without)))
    };
    let phrases: Vec<String> = bounds.into_iter().filter_map(differs).collect();
    let how = format!("{}: burst tolerance {}", effect.limit, cited_jitter(&effect.jitter));
    let source = if effect.is_simulated { "simulated" } else { "by formula" };
    Some(format!("{how}: {} ({source})", phrases.join("; ")))
}

/// Names the limit that the candidate meets only because the provider merges sequential operations.
pub(super) fn merging(candidate: &Candidate) -> Option<String> {
    let effect = candidate.merging.as_ref()?;
    let each = format!("{} sustains {} IOPS if each operation counts", effect.limit, whole(effect.iops));
    Some(format!("{each}; sequential ones are merged ({})", cited_merging(&effect.merging)))
}

/// Returns the machine type that the need or the volume names, or that the plan chose.
pub(super) fn machine(candidate: &Candidate) -> Option<&str> {
    let key = candidate.about.keys.iter().find(|key| key.name == "machine")?;
    Some(key.value.as_str()).filter(|name| !name.is_empty())
}

/// Names the limits of the machine that the catalogue does not know.
pub(super) fn unknown_machine(candidate: &Candidate) -> Option<String> {
    let machine = machine(candidate)?;
    let unknown = &candidate.spec.unknown_limits;
    (!unknown.is_empty()).then(|| {
        let names = unknown.join(", ");
        format!("machine limit unknown: the catalogue has no {names} of {machine}; the plan assumes none")
    })
}

/// Summarizes [`jitter`], [`merging`], [`unknown_machine`] and volumes on request for a row of a table.
pub(super) fn in_short(candidate: &Candidate, need: &Need) -> Vec<String> {
    let effect = candidate.jitter.as_ref();
    let percentile = effect.and_then(|effect| effect.percentile_secs).map(|secs| (percentile_name(need), secs));
    let mean = effect.and_then(|effect| effect.mean_secs).map(|secs| ("mean", secs));
    let without =
        percentile.or(mean).map(|(name, secs)| format!("{name} {} with no burst tolerance", time(secs.without)));
    let merging = candidate.merging.is_some().then(|| "by merging".to_owned());
    let unknown = unknown_machine(candidate).map(|_| "machine limit unknown".to_owned());
    let on_request = candidate.spec.on_request().map(|_| "on request only".to_owned());
    without.into_iter().chain(merging).chain(unknown).chain(on_request).collect()
}

pub(super) const NOT_CONSIDERED: &str = "Not considered: snapshots, network traffic, taxes.";

/// Lists what the plan does not consider, and the exchange rate of its prices.
pub(super) fn scope(need: &Need, candidates: &[Candidate]) -> Vec<String> {
    let mut lines = vec![NOT_CONSIDERED.to_owned()];
    lines.extend(exchange(need, candidates).map(|rate| format!("Prices are compared in US dollars: {rate}.")));
    lines
}

/// Names the volumes that meet the need and may be cheaper than the best one: what is known of their prices is less.
pub(super) fn unpriced(plan: &PlanResult, best: &Candidate) -> Option<String> {
    let most = best.known_price().map_or(f64::INFINITY, |price| price.usd_per_month);
    let may_cost_less = |candidate: &&Candidate| {
        candidate.price.as_ref().is_none_or(|price| !price.whole() && price.usd_per_month < most)
    };
    let mut names: Vec<&str> = plan
        .ranking
        .meeting
        .iter()
        .map(|&index| &plan.candidates[index])
        .filter(may_cost_less)
        .map(|candidate| candidate.spec.name.split(',').next().unwrap_or_default())
        .collect();
    names.dedup();
    (!names.is_empty()).then(|| format!("unpriced, may cost less: {}", names.join(", ")))
}

/// Lists the parts of a price: `capacity 81.92, IOPS 60.00`.
pub(super) fn split(money: &MonthlyCost) -> String {
    let paid = price_parts(&money.price.parts).into_iter().filter(|(_, part)| *part > 0.0);
    let paid = paid.map(|(what, part)| format!("{what} {}", amount(part)));
    let machine = money.machines_usd.map(|usd| format!("machine {}", amount(usd)));
    paid.chain(machine).collect::<Vec<_>>().join(", ")
}

pub(super) fn time(secs: f64) -> String {
    Nanos::from_secs_f64(secs).to_string()
}

/// Returns the volumes of a candidate with what is provisioned: `aws/gp3, 1,024 GiB`, `2 x 4 aws/gp3 in RAID 0, each
/// 256 GiB, 3,000 IOPS`.
pub(super) fn volumes(candidate: &Candidate) -> String {
    let parts: Vec<String> =
        [size(candidate), provisioned(candidate)].into_iter().filter(|part| !part.is_empty()).collect();
    let (sets, members) = (candidate.volumes, candidate.members());
    let times = |count: u32| if count > 1 { format!("{count} x ") } else { String::new() };
    let each = if members > 1 { " in RAID 0, each" } else { "," };
    format!("{}{}{}{each} {}", times(sets), times(members), candidate.listed, parts.join(", "))
}

/// Returns the type of a candidate, with the number of volumes in RAID 0: `4 x aws/gp3`.
pub(super) fn kind(candidate: &Candidate) -> String {
    match candidate.members() {
        1 => candidate.listed.clone(),
        members => format!("{members} x {}", candidate.listed),
    }
}

/// Describes the chosen machine: `m7i.4xlarge (16 vCPUs, 64 GiB)`.
pub(super) fn machine_type(machine: &PlannedMachine) -> String {
    let kind = &machine.kind;
    let memory = kind.memory_bytes.map(|bytes| Bytes::new(bytes).to_string());
    let facts: Vec<String> =
        (kind.vcpus > 0).then(|| format!("{} vCPUs", kind.vcpus)).into_iter().chain(memory).collect();
    if facts.is_empty() { kind.name.clone() } else { format!("{} ({})", kind.name, facts.join(", ")) }
}

/// Says why the measured load is not the need.
pub(super) fn doubt(doubt: &LoadDoubt) -> String {
    match doubt {
        LoadDoubt::Ceiling(reason) => reason.clone(),
        LoadDoubt::SinceBoot => "it is the average since boot".to_owned(),
    }
}

/// Returns the size in the provider's unit: `1,024 GiB`.
pub(super) fn size(candidate: &Candidate) -> String {
    let key = candidate.about.keys.iter().find(|key| key.name == "size");
    key.map_or_else(|| candidate.spec.size.to_string(), |key| key.value.clone())
}

/// Lists the values to provision besides the size: `15,000 IOPS, 240 MiB/s`.
pub(super) fn provisioned(candidate: &Candidate) -> String {
    let asked = candidate.about.keys.iter().filter(|key| key.origin == FigureOrigin::Asked && key.name != "size");
    let values = asked.filter(|key| !["machine", "region", "stripe"].contains(&key.name.as_str())).map(|key| match key
        .bounds
        .value
    {
        Some(_) => key.value.clone(),
        None => format!("{} {}", key.name, key.value),
    });
    let values = values.map(|value| match value.strip_prefix("1 ").and_then(|unit| unit.strip_suffix('s')) {
        Some(unit) if !unit.ends_with('/') && !unit.ends_with("bp") => format!("1 {unit}"),
        _ => value,
    });
    values.collect::<Vec<_>>().join(", ")
}

/// Returns the rates of a need: `15,000 IOPS`.
pub(super) fn rates(need: &Need) -> String {
    let mut parts = Vec::new();
    parts.extend(need.iops.map(|iops| format!("{} IOPS", whole(iops))));
    parts.extend(need.bytes_per_sec.map(|rate| format!("{}/s", Bytes::new(rate as u64))));
    parts.join(" and ")
}

/// Describes the need in one line.
pub(super) fn wanted(need: &Need) -> String {
    let rates = rates(need);
    let order = if need.sequential { "sequential" } else { "random" };
    let kind = match need.read_share {
        1.0 => "reads".to_owned(),
        0.0 => "writes".to_owned(),
        share => format!("operations, {}% reads", significant(100.0 * share, 2)),
    };
    let block = need.block.map_or_else(
        || if need.iops.is_some() { "4 KiB".to_owned() } else { "1 MiB".to_owned() },
        |block| Bytes::new(u64::from(block)).to_string(),
    );
    let mut phrases = Vec::new();
    if !rates.is_empty() {
        phrases.push(format!("{rates}, {order} {kind} of {block}"));
    }
    phrases.extend(need.capacity.map(|bytes| format!("{} of capacity", Bytes::new(bytes))));
    phrases.extend(need.mean.map(|mean| format!("{mean} on average at most")));
    phrases.extend(need.percentile.map(|(share, bound)| {
        let share = significant(100.0 * share, if share > 0.99 { 3 } else { 2 });
        format!("{share}% within {bound}")
    }));
    if need.machines > 1 {
        let how = if need.shared { "reading one volume" } else { "with a volume each" };
        phrases.push(format!("{} machines {how}", grouped(u64::from(need.machines))));
    }
    phrases.extend(surroundings(need));
    phrases.join("; ")
}

/// Returns phrases for the machine, prices and growth of a need.
pub(super) fn surroundings(need: &Need) -> Vec<String> {
    let machine = &need.machine;
    let mut phrases: Vec<String> = machine.name.iter().map(|machine| format!("on {machine}")).collect();
    let least = [
        machine.vcpus.map(|vcpus| format!("{vcpus} vCPUs")),
        machine.memory_bytes.map(|bytes| format!("{} of memory", Bytes::new(bytes))),
        machine.arch.clone(),
        machine.family.as_ref().map(|family| format!("{family} family")),
    ];
    let least: Vec<String> = least.into_iter().flatten().collect();
    if !least.is_empty() {
        phrases.push(format!("a machine with {}", least.join(", ")));
    }
    if !need.regions.is_empty() {
        phrases.push(format!("prices of {}", need.regions.join(", ")));
    }
    phrases.extend(need.budget.map(|budget| format!("up to {} a month", sum(need, budget))));
    if need.growth > 0.0 {
        phrases.push(format!("and {}% more in a year", significant(100.0 * need.growth, 2)));
    }
    phrases
}

/// Rounds operations in flight up to a whole number of at least one.
pub(super) fn depth(in_flight: f64) -> String {
    grouped(requests_in_flight(in_flight))
}

pub(super) fn whole(value: f64) -> String {
    if value >= 100.0 { grouped(value.round() as u64) } else { significant(value, 3) }
}

/// Formats a value in the unit of its requirement: `30 MiB/s`, `15,000 IOPS`.
fn measured(requirement: Requirement, value: f64) -> String {
    match requirement {
        Requirement::Iops => format!("{} IOPS", whole(value)),
        Requirement::Throughput => format!("{}/s", Bytes::new(value as u64)),
        Requirement::Capacity => Bytes::new(value as u64).to_string(),
        Requirement::Mean | Requirement::Percentile => time(value),
        Requirement::Budget => format!("{} USD", amount(value)),
        _ => count(value),
    }
}

/// Explains why a candidate fails a requirement: `volume IOPS: 9,600 of 15,000 IOPS`.
pub(super) fn failure(failure: &UnmetNeed) -> String {
    let UnmetNeed { requirement, limit, wanted, reached } = failure;
    let (wanted, reached) = (measured(*requirement, *wanted), measured(*requirement, *reached));
    match requirement {
        Requirement::Iops | Requirement::Throughput | Requirement::Capacity if reached == wanted => {
            format!("{limit}: slightly less than {wanted}")
        }
        Requirement::Iops => format!("{limit}: {} of {wanted}", reached.trim_end_matches(" IOPS")),
        Requirement::Throughput | Requirement::Capacity => format!("{limit}: {reached} of {wanted}"),
        // If a queue grows without bound, the latency without queueing is printed.
        Requirement::Mean | Requirement::Percentile if failure.is_without_end() => {
            format!("{limit}: the queue grows without bound at this rate ({reached} without queueing)")
        }
        Requirement::Mean if reached == wanted => format!("{limit}: slightly more than {wanted} on average"),
        Requirement::Mean => format!("{limit}: {reached} on average, not {wanted}"),
        Requirement::Percentile => format!("{limit}: {reached} at the percentile, not {wanted}"),
        Requirement::Budget => format!("{limit}: {reached} a month, not {wanted}"),
        _ => limit.clone(),
    }
}

/// Says that no requirement stands alone against a need that no volume meets; `None` if one does.
pub(super) fn only_together(plan: &PlanResult) -> Option<&'static str> {
    plan.ranking.impossible.is_empty().then_some("no single volume meets all requirements at once")
}

/// Names the nearest candidate with what it lacks.
pub(super) fn nearest(plan: &PlanResult) -> Option<String> {
    let nearest = &plan.candidates[plan.ranking.nearest?];
    let failures: Vec<String> = nearest.failures.iter().map(failure).collect();
    Some(format!("{}: {}", nearest.spec.name, failures.join("; ")))
}

/// Volumes that fail the need for the same reason.
pub(super) struct RefusedVolumes {
    /// `sustains less than 18,000 IOPS`.
    pub(super) reason: String,
    /// Each volume and its value, the nearest first: `vultr/hdd-block 500 IOPS`.
    pub(super) volumes: Vec<String>,
}

/// Groups the volumes that do not meet a need by reason. A volume with several reasons is in several groups.
pub(super) fn refused<'a>(missing: impl Iterator<Item = &'a Candidate>) -> Vec<RefusedVolumes> {
    let mut groups: Vec<RefusedVolumes> = Vec::new();
    for candidate in missing {
        let mut reasons: Vec<String> = Vec::new();
        for failure in &candidate.failures {
            let (reason, reached) = reason(failure);
            if reasons.contains(&reason) {
                continue;
            }
            let volume =
                reached.map_or_else(|| candidate.listed.clone(), |reached| format!("{} {reached}", candidate.listed));
            match groups.iter_mut().find(|group| group.reason == reason) {
                Some(group) => group.volumes.push(volume),
                None => groups.push(RefusedVolumes { reason: reason.clone(), volumes: vec![volume] }),
            }
            reasons.push(reason);
        }
    }
    groups
}

/// Returns the reason without the volume's figures, and the value that the volume reaches.
fn reason(failure: &UnmetNeed) -> (String, Option<String>) {
    let UnmetNeed { requirement, limit, wanted, reached } = failure;
    let (wants, has) = (measured(*requirement, *wanted), measured(*requirement, *reached));
    match requirement {
        Requirement::Iops | Requirement::Throughput => (format!("sustains less than {wants}"), Some(has)),
        Requirement::Capacity => (format!("holds less than {wants}"), Some(has)),
        Requirement::Mean | Requirement::Percentile if failure.is_without_end() => {
            ("the queue grows without bound at this rate".to_owned(), None)
        }
        Requirement::Mean => (format!("mean latency above {wants}"), Some(has)),
        Requirement::Percentile => (format!("percentile of latency above {wants}"), Some(has)),
        Requirement::Budget => (format!("costs more than {wants} a month"), Some(has)),
        Requirement::Price => ("price unknown".to_owned(), None),
        _ => (limit.clone(), None),
    }
}

/// Says what no volume does, after `No volume `: `sustains 48,000 IOPS`.
pub(super) fn lacked(failure: &UnmetNeed) -> String {
    let wanted = measured(failure.requirement, failure.wanted);
    match failure.requirement {
        Requirement::Iops | Requirement::Throughput => format!("sustains {wanted}"),
        Requirement::Capacity => format!("holds {wanted}"),
        Requirement::Mean => format!("has a mean latency of {wanted}"),
        Requirement::Percentile => format!("keeps the percentile of latency within {wanted}"),
        Requirement::Budget => format!("meets the need for {wanted} a month"),
        other => format!("meets the need: {}", name(other)),
    }
}

pub(super) const fn name(requirement: Requirement) -> &'static str {
    match requirement {
        Requirement::Iops => "IOPS",
        Requirement::Throughput => "throughput",
        Requirement::Capacity => "capacity",
        Requirement::Mean => "mean latency",
        Requirement::Percentile => "percentile of latency",
        Requirement::Sharing => "one volume for many machines",
        Requirement::Size => "an available size",
        Requirement::Durability => "durability",
        Requirement::Machine => "the machine",
        Requirement::Budget => "the budget",
        Requirement::Price => "a known price",
        Requirement::Unknown => "a closed form",
    }
}

/// Names the limit that binds a candidate first, with the headroom to it: `volume IOPS, 2% headroom`.
pub(super) fn limit(candidate: &Candidate) -> String {
    let Some(cap) = &candidate.limit else { return String::new() };
    format!("{}, {}", cap.name, headroom_words(candidate.headroom))
}

/// Formats the headroom to a limit: `20% headroom`, `12 x the need`.
pub(super) fn headroom_words(headroom: f64) -> String {
    match headroom {
        headroom if headroom < 0.005 => "no headroom".to_owned(),
        headroom if headroom > 10.0 => format!("{} x the need", significant(headroom + 1.0, 2)),
        headroom => format!("{:.0}% headroom", 100.0 * headroom),
    }
}
