//! Figures of plans in words.

use plan::{Candidate, Failure, Money, Need, Requirement};
use units::{Bytes, Nanos, count, grouped, significant};
use volume::catalogue::Origin;

use crate::words::amount;

/// `141.92 USD a month`.
pub(super) fn price(money: &Money) -> String {
    let least = if money.whole() { "" } else { "at least " };
    format!("{least}{} {} a month", amount(money.per_month), money.currency)
}

/// Where a price holds and when it was seen: `us-central1, 2026-09-24`.
pub(super) fn holds(money: &Money) -> String {
    let region = money.region.as_deref().unwrap_or("region not stated");
    let date = if money.source.date.is_empty() { "no date" } else { &money.source.date };
    format!("{region}, {date}")
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
