//! The answer of a plan: which volume to buy, at what price, and what to run to create it.

use plan::workload::LoadDoubt;
use plan::{Candidate, MonthlyCost, PlannedMachine, Requirement};
use results::plan::{FigureAge, PlanResult};
use units::significant;

use super::figures::{self, failure, headroom_words, price, region, size, time, whole};
use crate::volume_terms::amount;
use crate::words::{create_machine, create_volume};
use results::answer::{Action, Answer, Outcome};

/// Maximum number of machine types that are named.
const MACHINES: usize = 3;

/// Returns which volume to buy, or why there is none.
pub(super) fn answer(plan: &PlanResult) -> Answer {
    let ranking = &plan.ranking;
    let Some(index) = ranking.chosen() else { return impossible(plan) };
    if ranking.meeting.is_empty() {
        return assumed(plan, index);
    }
    if let Some(doubt) = &plan.doubt {
        return unknown(plan, doubt, index);
    }
    let best = &plan.candidates[index];
    let bought = format!("Buy {}{}", figures::volumes(best), on_machine(best));
    let cost = match &best.price {
        Some(money) => format!(": {} ({}){}", price(money), region(money), of_machine(best, money)),
        None if ranking.meeting.len() == 1 => ", the only volume that meets the need; no price is known".to_owned(),
        None => ", the fastest volume that meets the need; no price is known".to_owned(),
    };
    let verdict = format!("{bought}{cost}. {}", sustains(plan, best)).trim_end().to_owned();
    Answer { outcome: Outcome::Good, verdict, actions: actions(plan, index), basis: basis(plan, best) }
}

/// Says that only volumes with an assumed latency may meet a bound on it.
fn assumed(plan: &PlanResult, index: usize) -> Answer {
    let best = &plan.candidates[index];
    let cost = best.price.as_ref().map_or_else(|| "unpriced".to_owned(), price);
    let latency = best.mean_secs.map_or_else(String::new, |secs| format!(" at {}", time(secs)));
    let verdict = format!(
        "Cannot tell: no volume of measured or published latency meets the need. {} may{latency}, {cost}; that latency is \
         assumed.",
        figures::volumes(best)
    );
    let measure =
        Action { what: "Measure one before you rely on it:".to_owned(), command: Some(measurement(plan, best)) };
    let actions = std::iter::once(measure).chain(actions(plan, index)).collect();
    Answer { outcome: Outcome::Unknown, verdict, actions, basis: basis(plan, best) }
}

/// Returns the command that measures the latency of a volume under the load of the plan.
fn measurement(plan: &PlanResult, best: &Candidate) -> String {
    let kind = match (plan.need.read_share, plan.need.sequential) {
        (1.0, true) => "read".to_owned(),
        (1.0, false) => "randread".to_owned(),
        (0.0, true) => "write".to_owned(),
        (0.0, false) => "randwrite".to_owned(),
        (share, is_sequential) => {
            let order = if is_sequential { "" } else { "rand" };
            format!("{order}rw --rwmixread={:.0}", 100.0 * share)
        }
    };
    format!(
        "fathom run --name=a --filename=DEVICE --direct=1 --rw={kind} --bs={} --rate_iops={:.0} \
         --rate_process=poisson --iodepth={} --time_based --runtime=60",
        best.block as u64,
        best.rate,
        figures::depth(4.0 * best.in_flight.unwrap_or(1.0)).replace(',', "")
    )
}

/// Names the machine with its size: `, on m7i.4xlarge (16 vCPUs, 64 GiB)`.
fn on_machine(best: &Candidate) -> String {
    best.machine.as_ref().map_or_else(String::new, |machine| format!(", on {}", figures::machine_type(machine)))
}

/// Returns the part of the machine in a price: `, of which the machine 588.67`.
fn of_machine(best: &Candidate, money: &MonthlyCost) -> String {
    match (money.machines_usd, &best.machine) {
        (Some(usd), _) => {
            format!(", of which the machine {}", amount(usd * money.per_month / money.usd_per_month.max(0.01)))
        }
        (None, Some(_)) => ", without the machine (price unknown)".to_owned(),
        (None, None) => String::new(),
    }
}

/// Says that the source shows what its volume gave, not what the load needs; the plan is for at least that.
fn unknown(plan: &PlanResult, doubt: &LoadDoubt, index: usize) -> Answer {
    let best = &plan.candidates[index];
    let cost = best.price.as_ref().map_or_else(String::new, |money| format!(", {}", price(money)));
    let rates = figures::rates(&plan.need);
    let (verdict, measure) = match doubt {
        LoadDoubt::Ceiling(reason) => (
            format!("Cannot tell: the load may need more than the measured {rates}, because {reason}."),
            Action::from(
                "Measure it on a volume that does not limit it, or set the rate it needs with --iops N.".to_owned(),
            ),
        ),
        LoadDoubt::SinceBoot => (
            format!("Cannot tell: {rates} is the average since boot, not the load."),
            Action {
                what: "Measure while the load runs:".to_owned(),
                command: Some("iostat -xy 1 30 | fathom plan --from -".to_owned()),
            },
        ),
    };
    let measured = Action::from(format!("For the measured rate alone: {}{cost}.", best.spec.name));
    Answer { outcome: Outcome::Unknown, verdict, actions: vec![measure, measured], basis: basis(plan, best) }
}

/// Describes what the volume does under the load: `It sustains 9,000 IOPS at 1.00 ms (p99 1.57 ms), with 20% headroom.`
fn sustains(plan: &PlanResult, best: &Candidate) -> String {
    if best.rate <= 0.0 {
        return String::new();
    }
    let mean = best.mean_secs.map_or_else(String::new, |secs| format!(" at {}", time(secs)));
    let name = figures::percentile_name(&plan.need);
    let percentile = best.percentile_secs.map_or_else(String::new, |secs| format!(" ({name} {})", time(secs)));
    let limit = best
        .limit
        .as_ref()
        .map_or_else(String::new, |cap| format!(", {} (limit: {})", headroom_words(best.headroom), cap.name));
    let subject = if best.volumes > 1 { "Each" } else { "It" };
    format!("{subject} sustains {} IOPS{mean}{percentile}{limit}.", whole(best.rate))
}

fn actions(plan: &PlanResult, index: usize) -> Vec<Action> {
    let best = &plan.candidates[index];
    let command = |command: String| Action { what: String::new(), command: Some(command) };
    let launch = best.machine.as_ref().filter(|machine| machine.is_chosen);
    let launch =
        launch.and_then(|machine| create_machine(&best.listed, &machine.kind.name, best.machines)).map(command);
    let create = create_volume(&best.spec.name).into_iter().map(command);
    let lift = lift(plan, best).map(Action::from);
    let machines = plan.machines_of(index);
    let named = (!machines.is_empty()).then(|| {
        let priced = |machine: &PlannedMachine| {
            let price = machine.price.as_ref();
            let price = price.map(|price| format!(" ({} a month)", figures::sum(&plan.need, price.usd_per_month)));
            format!("{}{}", machine.kind.name, price.unwrap_or_default())
        };
        let few = machines.iter().take(MACHINES).map(priced).collect::<Vec<_>>().join(", ");
        Action::from(format!("Attach it to {few} or a larger machine."))
    });
    let depth = best.jobs().filter(|_| best.rate > 0.0).map(|(jobs, depth)| {
        let total = figures::depth(best.in_flight.unwrap_or(0.0));
        let plural = if jobs == 1 { "" } else { "s" };
        let requests = if total == "1" { "request" } else { "requests" };
        Action::from(format!("Keep {total} {requests} in flight ({jobs} job{plural} with iodepth={depth})."))
    });
    let instead = instead(plan, best).map(Action::from);
    launch.into_iter().chain(create).chain(instead).chain(named).chain(depth).chain(lift).collect()
}

/// Says which of machine and volumes is the bottleneck, and what more costs.
fn lift(plan: &PlanResult, best: &Candidate) -> Option<String> {
    let machine = best.machine.as_ref().filter(|_| best.rate > 0.0)?;
    let cap = best.limit.as_ref()?;
    let is_machine = best.is_limited_by_machine();
    let subject = if is_machine { machine.kind.name.as_str() } else { "the volume" };
    let bottleneck = format!("The bottleneck is {subject} ({}, {} IOPS)", cap.name, whole(cap.iops));
    let Some(lifted) = &plan.lift else { return Some(format!("{bottleneck}: nothing of this type sustains more.")) };
    let other = lifted.machine.as_ref().map(|larger| larger.kind.name.as_str());
    let other = other.filter(|name| *name != machine.kind.name);
    let volumes = figures::provisioned(lifted);
    let volumes = if volumes.is_empty() { size(lifted) } else { volumes };
    let what = match other {
        Some(name) if is_machine => name.to_owned(),
        Some(name) => format!("{volumes} on {name}"),
        None => volumes,
    };
    let more = lifted.known_price().zip(best.known_price());
    let more = more.map(|(lifted, best)| {
        format!(", {} a month more", figures::sum(&plan.need, lifted.usd_per_month - best.usd_per_month))
    });
    let reached = lifted.limit.as_ref().map_or_else(String::new, |cap| format!(" to {} IOPS", whole(cap.iops)));
    Some(format!("{bottleneck}: {what} lifts it{reached}{}.", more.unwrap_or_default()))
}

fn basis(plan: &PlanResult, best: &Candidate) -> Vec<String> {
    // A load that is derived from a run or a workload is known from here only.
    let mut basis = Vec::new();
    if !plan.derivation.is_empty() {
        basis.push(format!("the need is {}", figures::wanted(&plan.need)));
        basis.extend(plan.derivation.iter().cloned());
    }
    if plan.need.capacity.is_none() {
        basis.push("no --capacity given: the size is the smallest that sustains the load".to_owned());
    }
    basis.extend(dated(plan, best));
    let year = best.known_price().map(|money| 12.0 * money.usd_per_month);
    basis.extend(year.map(|usd| format!("{} a year, without taxes", figures::sum(&plan.need, usd))));
    if let Some(lacks) = best.price.as_ref().and_then(|money| money.lacks.as_ref()) {
        basis.push(format!("the price excludes {lacks} (price unknown)"));
    }
    basis.push(match best.survived {
        Some(true) => format!("simulated with seed {}", plan.seed),
        _ => "calculated, not simulated".to_owned(),
    });
    let name = best.about.latency_basis.name();
    let latency = best.about.latency_assumed.as_ref().map(|why| format!("its latency is {name}: {why}"));
    let below = best.about.latency_below_secs.zip(plan.need.mean);
    let below = below.filter(|_| !best.has_known_latency() && !plan.ranking.meeting.is_empty());
    basis.extend(below.map(|(below, _)| format!("its published mean latency is below {}", time(below))));
    basis.extend(
        latency.or_else(|| best.mean_secs.map(|_| format!("its latency is {}", best.about.latency_basis.name()))),
    );
    basis.extend(figures::near(&plan.need));
    let unknown = figures::unknown_region(&plan.need);
    let unknown = unknown.and_then(|text| Some(text.split_once(':')?.0.to_owned()));
    basis.extend(unknown.map(|region| format!("{region} (--details lists the regions)")));
    basis.extend(stripe(best));
    basis.extend(figures::unknown_machine(best));
    basis.extend(best.spec.on_request().map(str::to_owned));
    basis.extend(figures::jitter(best, &plan.need));
    basis.extend(figures::merging(best));
    basis.extend(figures::exchange(&plan.need, std::slice::from_ref(best)));
    basis.extend(plan.ranking.best.and_then(|_| figures::unpriced(plan, best)));
    basis.extend(may_meet(plan, best));
    basis
}

/// Providers whose own files `fathom catalog update` reads.
const RENEWABLE: [&str; 3] = ["aws/", "azure/", "gcp/"];

/// Returns the date of the price, or of the figures if they are old, with the age of old ones and what renews them.
fn dated(plan: &PlanResult, best: &Candidate) -> Option<String> {
    let price = best.price.as_ref().map(|money| &money.price.source.date).filter(|date| !date.is_empty());
    let Some(age) = plan.age(best).filter(|age| age.days > FigureAge::OLD) else {
        return price.map(|date| format!("price of {date}"));
    };
    let (subject, date, object) = price.map_or(("figures", &best.about.as_of, "them"), |date| ("price", date, "it"));
    let up_to = if age.is_exact { "" } else { "up to " };
    let is_renewable = RENEWABLE.iter().any(|provider| best.listed.starts_with(provider));
    let remedy = format!(": `fathom catalog update --from FILE` renews {object}");
    let remedy = if is_renewable { remedy.as_str() } else { "" };
    Some(format!("{subject} of {date} ({up_to}{} days old){remedy}", age.days))
}

/// Names one volume that does without the risk of RAID 0.
fn instead(plan: &PlanResult, best: &Candidate) -> Option<String> {
    let mut others = plan.meeting().filter(|other| other.members() == 1 && other.known_price().is_some());
    let single = others.find(|_| best.members() > 1)?;
    let cost = single.price.as_ref().map(price)?;
    Some(format!("Or buy one volume: {}{}, {cost}.", figures::volumes(single), on_machine(single)))
}

/// Names cheaper volumes that meet the need by an assumed latency alone.
fn may_meet(plan: &PlanResult, best: &Candidate) -> Option<String> {
    const NAMED: usize = 3;
    let limit = best.known_price().map_or(f64::INFINITY, |price| price.usd_per_month);
    let is_cheaper = |other: &&Candidate| other.known_price().is_some_and(|price| price.usd_per_month < limit);
    let named = |other: &Candidate| {
        let cost = other.price.as_ref().map_or_else(String::new, |money| format!(" ({})", price(money)));
        format!("{}{cost}", figures::kind(other))
    };
    let cheaper: Vec<String> = plan.may_meet().filter(is_cheaper).take(NAMED).map(named).collect();
    let is_answer = plan.ranking.meeting.is_empty() || cheaper.is_empty();
    (!is_answer).then(|| format!("cheaper if their assumed latency holds: {}", cheaper.join(", ")))
}

/// Says what a stripe risks.
fn stripe(best: &Candidate) -> Option<String> {
    let members = Some(best.members()).filter(|members| *members > 1)?;
    let rate = best.about.annual_failure.as_ref().map_or_else(String::new, |failure| {
        let set = 100.0 * (1.0 - (1.0 - failure.percent / 100.0).powi(members as i32));
        if set < 1e-3 {
            return ": less than 0.001% a year".to_owned();
        }
        let [set, one] = [set, failure.percent].map(|percent| significant(percent, 2));
        format!(": up to {set}% a year, {one}% for one")
    });
    Some(format!("RAID 0 of {members} loses all data with any one of them{rate}"))
}

/// Says what no volume has, and what comes nearest.
fn impossible(plan: &PlanResult) -> Answer {
    let ranking = &plan.ranking;
    let of_one = ranking.impossible.first().map(|nearest| {
        use Requirement::{Iops, Mean, Percentile, Throughput};
        let has_headroom = matches!(nearest.failure.requirement, Iops | Throughput | Mean | Percentile);
        let headroom = match plan.need.headroom {
            share if !has_headroom || share == 0.0 => String::new(),
            share => format!(" (with {}% headroom)", significant(100.0 * share, 2)),
        };
        let lacked = figures::lacked(&nearest.failure);
        format!("No volume {lacked}{headroom}. Nearest is {}, {}.", nearest.volume, failure(&nearest.failure))
    });
    let together = || {
        let nearest = figures::nearest(plan).map_or_else(String::new, |nearest| format!(" Nearest is {nearest}."));
        format!("No single volume meets all requirements at once.{nearest}")
    };
    let mut actions = Vec::new();
    if let Some(tight) = &plan.without_headroom {
        let cost = tight.price.as_ref().map_or_else(|| "unpriced".to_owned(), price);
        actions.push(Action::from(format!("Accept it without headroom (--headroom 0): {}, {cost}.", tight.spec.name)));
    }
    actions.extend(closed_loop(plan).map(Action::from));
    Answer { outcome: Outcome::Bad, verdict: of_one.unwrap_or_else(together), actions, basis: Vec::new() }
}

/// Returns the closed-loop depth that suffices, if only the queueing of random arrivals exceeds the latency bound.
fn closed_loop(plan: &PlanResult) -> Option<String> {
    let mean = plan.need.mean?;
    let waits_only = |candidate: &&Candidate| {
        let waits = |unmet: &plan::UnmetNeed| unmet.requirement == Requirement::Mean;
        candidate.failures.iter().all(|unmet| waits(unmet) && unmet.is_without_end())
    };
    let candidate = plan.missing().find(waits_only)?;
    Some(format!(
        "Random arrivals queue at a limit; a closed loop of {} requests gets {} IOPS at {mean} from {}: leave --latency \
         out to plan for that.",
        figures::depth(candidate.rate * mean.secs_f64()),
        whole(candidate.rate),
        candidate.listed
    ))
}

/// Returns the volumes of the years of growth, and when to enlarge; one line each.
pub(super) fn years(plan: &PlanResult) -> Vec<String> {
    if plan.years.is_empty() {
        return Vec::new();
    }
    let Some(first) = plan.ranking.chosen().map(|index| &plan.candidates[index]) else {
        return Vec::new();
    };
    let mut held = first;
    let mut sum = first.known_price().map(|money| 12.0 * money.usd_per_month);
    let cost = |one: &Candidate| one.price.as_ref().map_or_else(|| "unpriced".to_owned(), price);
    let mut lines = vec![format!("Year 1: {}, {}.", figures::volumes(first), cost(first))];
    for (year, found) in (2..).zip(&plan.years) {
        let Some(found) = found else {
            lines.push(format!("Year {year}: no priced volume sustains it."));
            sum = None;
            break;
        };
        lines.push(match found.spec.name == held.spec.name {
            true => format!("Year {year}: the same suffices."),
            false => {
                let verb = if found.listed == held.listed { "enlarge to" } else { "move to" };
                format!("Year {year}: {verb} {}, {}.", figures::volumes(found), cost(found))
            }
        });
        sum = sum.zip(found.known_price()).map(|(sum, money)| sum + 12.0 * money.usd_per_month);
        held = found;
    }
    lines
        .extend(sum.map(|sum| format!("{} years: {}, without taxes.", plan.need.years, figures::sum(&plan.need, sum))));
    lines
}

/// Returns the volume for twice the load, with the factor of its price.
pub(super) fn next_step(plan: &PlanResult) -> Option<String> {
    let best = &plan.candidates[plan.ranking.chosen()?];
    if plan.need.demands().is_empty() {
        return None;
    }
    let Some(next) = &plan.next_step else {
        return Some("Twice the load: no priced volume sustains it.".to_owned());
    };
    if next.spec.name == best.spec.name {
        return Some(format!("Twice the load: {} sustains that already.", best.listed));
    }
    let factor = next.known_price().zip(best.known_price()).map_or_else(String::new, |(next, best)| {
        format!(", {} times the price", significant(next.usd_per_month / best.usd_per_month.max(0.01), 2))
    });
    let cost = next.price.as_ref().map_or_else(String::new, |money| format!(", {}", price(money)));
    Some(format!("Twice the load: {}{cost}{factor}.", next.spec.name))
}
