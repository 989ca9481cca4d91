//! Figures of plans in words.

use plan::{Candidate, Failure, Money, Need, Requirement, WithAndWithout};
use units::{Bytes, Nanos, count, grouped, significant};
use volume::catalogue::Origin;

use report::volume_terms::amount;

/// `141.92 USD a month`, and of another currency `4.75 EUR = 5.59 USD a month`.
pub(super) fn price(money: &Money) -> String {
    let least = if money.whole() { "" } else { "at least " };
    let own = own_currency(money).map_or_else(String::new, |own| format!("{own} = "));
    format!("{least}{own}{} USD a month", amount(money.usd_per_month))
}

/// A price in its own currency, where that is not the US dollar: `4.75 EUR`.
pub(super) fn own_currency(money: &Money) -> Option<String> {
    (money.currency != "USD").then(|| format!("{} {}", amount(money.per_month), money.currency))
}

/// Where a price holds and when it was seen: `us-central1, 2026-09-24`.
pub(super) fn holds(money: &Money) -> String {
    let date = if money.source.date.is_empty() { "no date" } else { &money.source.date };
    format!("{}, {date}", region(money))
}

/// The region of a price: `a US region, for us-east-1` where it is published under another name.
pub(super) fn region(money: &Money) -> String {
    let region = money.region.as_deref().unwrap_or("region not stated");
    money.stands_for.as_ref().map_or_else(|| region.to_owned(), |asked| format!("{region}, for {asked}"))
}

/// The rate at which prices in other currencies are compared; `None` where there are none.
pub(super) fn exchange(need: &Need, candidates: &[Candidate]) -> Option<String> {
    let converted = |candidate: &Candidate| candidate.price.as_ref().is_some_and(|money| money.currency != "USD");
    let plan::Exchange { usd_per_eur, source } = &need.exchange;
    let said = match source.date.as_str() {
        "" => source.title.clone(),
        date => format!("{}, {date}; --eur-usd sets another rate", source.title),
    };
    candidates.iter().any(converted).then(|| format!("1 EUR = {} USD ({said})", significant(*usd_per_eur, 5)))
}

/// What headroom comes to for a need, in one line; `None` where there is none.
pub(super) fn headroom(need: &Need) -> Option<String> {
    if need.headroom <= 0.0 || need.demands().is_empty() {
        return None;
    }
    let percent = significant(100.0 * need.headroom, 2);
    let factor = significant(1.0 + need.headroom, 3);
    let mut said = format!("headroom {percent} %: a volume sustains {factor} times the rate");
    let bounds = [("mean latency", need.mean), (percentile_name(need), need.percentile.map(|(_, bound)| bound))];
    for (name, bound) in bounds {
        let Some(bound) = bound else { continue };
        said.push_str(&format!(
            "; {name} at the rate itself is at most {bound} / {factor} = {}",
            time(need.planned_secs(bound))
        ));
    }
    Some(said)
}

/// `p99`, `p99.9`: the percentile that was asked for, or the usual one.
pub(super) fn percentile_name(need: &Need) -> &'static str {
    match need.percentile {
        Some((share, _)) if share > 0.99 => "p99.9",
        _ => "p99",
    }
}

/// `1.32 ms (measured)`.
pub(super) fn latency(candidate: &Candidate) -> Option<String> {
    Some(format!("{} ({})", time(candidate.mean_secs?), candidate.about.latency_basis.name()))
}

/// What its bounded latencies would be without jitter, in one sentence; `None` where that makes no difference.
pub(super) fn jitter(candidate: &Candidate, need: &Need) -> Option<String> {
    let effect = candidate.jitter.as_ref()?;
    let bounds = [
        (percentile_name(need), effect.percentile_secs, need.percentile.map(|(_, bound)| bound)),
        ("mean latency", effect.mean_secs, need.mean),
    ];
    let differs = |(name, secs, bound): (&str, Option<WithAndWithout>, Option<Nanos>)| {
        let (WithAndWithout { with, without }, bound) = (secs?, bound?);
        let missed = if without > bound.secs_f64() { format!(", above the bound of {bound}") } else { String::new() };
        Some(format!("{name} {}, without jitter {}{missed}", time(with), time(without)))
    };
    let said: Vec<String> = bounds.into_iter().filter_map(differs).collect();
    let how =
        format!("{} admits operations up to {} ahead of schedule", effect.limit, volume::cited_jitter(&effect.jitter));
    let source = if effect.is_simulated { "simulated" } else { "by formula" };
    Some(format!("{how}: {} ({source})", said.join("; ")))
}

/// The limit that it keeps within because the provider merges sequential operations.
pub(super) fn merging(candidate: &Candidate) -> Option<String> {
    let effect = candidate.merging.as_ref()?;
    let each = format!("{} sustains {} IOPS where each operation counts", effect.limit, whole(effect.iops));
    Some(format!("{each}; sequential ones are merged ({})", volume::cited_merging(&effect.merging)))
}

/// The machine that was named, with the need or with the volume.
pub(super) fn machine(candidate: &Candidate) -> Option<&str> {
    let key = candidate.about.keys.iter().find(|key| key.name == "machine")?;
    Some(key.value.as_str()).filter(|name| !name.is_empty())
}

/// What a machine that was named may hold back, where the catalogue has no figure for it.
pub(super) fn unknown_machine(candidate: &Candidate) -> Option<String> {
    let machine = machine(candidate)?;
    let unknown = &candidate.spec.unknown_limits;
    (!unknown.is_empty()).then(|| {
        let names = unknown.join(", ");
        format!("machine limit unknown: the catalogue has no {names} of {machine}; the plan counts none in its place")
    })
}

/// The same three in a few words, for a row of a table.
pub(super) fn in_short(candidate: &Candidate, need: &Need) -> Vec<String> {
    let effect = candidate.jitter.as_ref();
    let percentile = effect.and_then(|effect| effect.percentile_secs).map(|secs| (percentile_name(need), secs));
    let mean = effect.and_then(|effect| effect.mean_secs).map(|secs| ("mean", secs));
    let without = percentile.or(mean).map(|(name, secs)| format!("{name} {} without jitter", time(secs.without)));
    let merging = candidate.merging.is_some().then(|| "by merging".to_owned());
    let unknown = unknown_machine(candidate).map(|_| "machine limit unknown".to_owned());
    without.into_iter().chain(merging).chain(unknown).collect()
}

/// Prices and latencies are assumptions in part: what a reader must know of a plan.
pub(super) fn scope(need: &Need, candidates: &[Candidate]) -> Vec<String> {
    let mut said = vec!["Not considered: several volumes striped together (RAID 0); prices of machines.".to_owned()];
    said.extend(exchange(need, candidates).map(|rate| format!("Prices in euros are compared in US dollars: {rate}.")));
    said
}

/// `capacity 81.92, IOPS 60.00`; nothing where all of it is for one thing.
pub(super) fn split(money: &Money) -> String {
    let parts = [
        ("capacity", money.parts.capacity),
        ("IOPS", money.parts.iops),
        ("throughput", money.parts.throughput),
        ("performance", money.parts.performance),
    ];
    let paid: Vec<String> =
        parts.iter().filter(|(_, part)| *part > 0.0).map(|(what, part)| format!("{what} {}", amount(*part))).collect();
    paid.join(", ")
}

pub(super) fn time(secs: f64) -> String {
    Nanos::from_secs_f64(secs).to_string()
}

/// The size as it is sold: `1,024 GiB`.
pub(super) fn size(candidate: &Candidate) -> String {
    let key = candidate.about.keys.iter().find(|key| key.name == "size");
    key.map_or_else(|| candidate.spec.size.to_string(), |key| key.value.clone())
}

/// What is to be provisioned besides: `15,000 IOPS, 240 MiB/s`.
pub(super) fn provisioned(candidate: &Candidate) -> String {
    let asked = candidate.about.keys.iter().filter(|key| key.origin == Origin::Asked && key.name != "size");
    let said = asked.filter(|key| key.name != "machine").map(|key| match key.bounds.value {
        Some(_) => key.value.clone(),
        None => format!("{} {}", key.name, key.value),
    });
    let said = said.map(|said| match said.strip_prefix("1 ").and_then(|unit| unit.strip_suffix('s')) {
        Some(unit) if !unit.ends_with('/') && !unit.ends_with("bp") => format!("1 {unit}"),
        _ => said,
    });
    said.collect::<Vec<_>>().join(", ")
}

/// What is wanted, in one line.
pub(super) fn wanted(need: &Need) -> String {
    let mut parts = Vec::new();
    parts.extend(need.iops.map(|iops| format!("{} IOPS", whole(iops))));
    parts.extend(need.bytes_per_sec.map(|rate| format!("{}/s", Bytes::new(rate as u64))));
    let rates = parts.join(" and ");
    let order = if need.sequential { "sequential" } else { "random" };
    let kind = match need.read_share {
        1.0 => "reads".to_owned(),
        0.0 => "writes".to_owned(),
        share => format!("operations, {} % reads", significant(100.0 * share, 2)),
    };
    let block = need.block.map_or_else(
        || if need.iops.is_some() { "4 KiB".to_owned() } else { "1 MiB".to_owned() },
        |block| Bytes::new(u64::from(block)).to_string(),
    );
    let mut said = Vec::new();
    if !rates.is_empty() {
        said.push(format!("{rates}, {order} {kind} of {block}"));
    }
    said.extend(need.capacity.map(|bytes| format!("{} of capacity", Bytes::new(bytes))));
    said.extend(need.mean.map(|mean| format!("{mean} on average at most")));
    said.extend(need.percentile.map(|(share, bound)| {
        let share = significant(100.0 * share, if share > 0.99 { 3 } else { 2 });
        format!("{share} % within {bound}")
    }));
    if need.machines > 1 {
        let how = if need.shared { "reading one volume" } else { "with a volume each" };
        said.push(format!("{} machines {how}", grouped(u64::from(need.machines))));
    }
    said.extend(need.machine.iter().map(|machine| format!("on {machine}")));
    said.extend(need.vcpus.map(|vcpus| format!("{vcpus} vCPUs")));
    said.extend(need.region.iter().map(|region| format!("prices of {region}")));
    said.extend(need.budget.map(|budget| format!("up to {} USD a month", amount(budget))));
    if need.growth > 0.0 {
        said.push(format!("and {} % more in a year", significant(100.0 * need.growth, 2)));
    }
    said.join("; ")
}

/// Operations in flight: a whole number, and at least one.
pub(super) fn depth(in_flight: f64) -> String {
    grouped((in_flight * (1.0 - 1e-9)).ceil().max(1.0) as u64)
}

pub(super) fn whole(value: f64) -> String {
    if value >= 100.0 { grouped(value.round() as u64) } else { significant(value, 3) }
}

/// `30 MiB/s` or `15,000 IOPS`, as a requirement is counted.
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

/// Why a candidate is not enough: `volume IOPS: 9,600 of 15,000 IOPS`.
pub(super) fn failure(failure: &Failure) -> String {
    let Failure { requirement, limit, wanted, reached } = failure;
    let (wanted, reached) = (measured(*requirement, *wanted), measured(*requirement, *reached));
    match requirement {
        Requirement::Iops | Requirement::Throughput | Requirement::Capacity if reached == wanted => {
            format!("{limit}: a hair less than {wanted}")
        }
        Requirement::Iops | Requirement::Throughput | Requirement::Capacity => {
            format!("{limit}: {reached} of {wanted}")
        }
        // What waits without end is told by how long it takes where it need not wait.
        Requirement::Mean | Requirement::Percentile if failure.reached < failure.wanted => {
            format!("{limit}, which has no end at this rate: {reached} before it")
        }
        Requirement::Mean if reached == wanted => format!("{limit}: a hair more than {wanted} on average"),
        Requirement::Mean => format!("{limit}: {reached} on average, not {wanted}"),
        Requirement::Percentile => format!("{limit}: {reached} at the percentile, not {wanted}"),
        Requirement::Budget => format!("{limit}: {reached} a month, not {wanted}"),
        _ => limit.clone(),
    }
}

/// Volumes that fall short of one requirement for one reason.
pub(super) struct Refused {
    /// `sustains less than 18,000 IOPS`.
    pub(super) reason: String,
    /// Each with what it reaches, the nearest first: `vultr/hdd-block 500 IOPS`.
    pub(super) volumes: Vec<String>,
}

/// The volumes that do not meet a need, by reason. One with several reasons is in each.
pub(super) fn refused<'a>(missing: impl Iterator<Item = &'a Candidate>) -> Vec<Refused> {
    let mut groups: Vec<Refused> = Vec::new();
    for candidate in missing {
        let mut said: Vec<String> = Vec::new();
        for failure in &candidate.failures {
            let (reason, reached) = reason(failure);
            if said.contains(&reason) {
                continue;
            }
            let volume =
                reached.map_or_else(|| candidate.listed.clone(), |reached| format!("{} {reached}", candidate.listed));
            match groups.iter_mut().find(|group| group.reason == reason) {
                Some(group) => group.volumes.push(volume),
                None => groups.push(Refused { reason: reason.clone(), volumes: vec![volume] }),
            }
            said.push(reason);
        }
    }
    groups
}

/// Why, without what is the volume's own, and what the volume reaches.
fn reason(failure: &Failure) -> (String, Option<String>) {
    let Failure { requirement, limit, wanted, reached } = failure;
    let (wants, has) = (measured(*requirement, *wanted), measured(*requirement, *reached));
    let waits = reached < wanted;
    match requirement {
        Requirement::Iops | Requirement::Throughput => (format!("sustains less than {wants}"), Some(has)),
        Requirement::Capacity => (format!("holds less than {wants}"), Some(has)),
        Requirement::Mean | Requirement::Percentile if waits => ("queueing without end at this rate".to_owned(), None),
        Requirement::Mean => (format!("mean latency above {wants}"), Some(has)),
        Requirement::Percentile => (format!("percentile of latency above {wants}"), Some(has)),
        Requirement::Budget => (format!("costs more than {wants} a month"), Some(has)),
        Requirement::Price => ("price not known".to_owned(), None),
        _ => (limit.clone(), None),
    }
}

/// What a requirement is called.
pub(super) const fn name(requirement: Requirement) -> &'static str {
    match requirement {
        Requirement::Iops => "IOPS",
        Requirement::Throughput => "throughput",
        Requirement::Capacity => "capacity",
        Requirement::Mean => "mean latency",
        Requirement::Percentile => "percentile of latency",
        Requirement::Sharing => "one volume for many machines",
        Requirement::Size => "a size that is sold",
        Requirement::Durability => "outliving the machine",
        Requirement::Machine => "the machine",
        Requirement::Budget => "the budget",
        Requirement::Price => "a known price",
        Requirement::Unknown => "a closed form",
    }
}

/// What holds a candidate back first and how far away that is: `volume IOPS, 2 % above`.
pub(super) fn limit(candidate: &Candidate) -> String {
    let Some(cap) = &candidate.limit else { return String::new() };
    let room = match candidate.headroom {
        room if room < 0.005 => "nothing to spare".to_owned(),
        room if room > 10.0 => format!("{} times as much", significant(room + 1.0, 2)),
        room => format!("{:.0} % to spare", 100.0 * room),
    };
    format!("{}, {room}", cap.name)
}
