//! The answer of a plan for a trace: which volume to buy, and how it takes the load.

use plan::replay::ReplayedCandidate;
use results::plan::TracePlanResult;
use units::significant;

use super::figures::{
    accuracy, assumptions, cautions, latencies, limit, load, margin, percentile_name, refusal, requirements,
};
use crate::plan::figures::{price, region, volumes};
use crate::words::create_volume;
use results::answer::{Action, Answer, Outcome};

/// Returns which volume to buy, or what stands against the nearest one.
pub(super) fn answer(plan: &TracePlanResult) -> Answer {
    let ranking = &plan.ranking;
    let accuracy = accuracy(plan).trim_end_matches('.').to_owned();
    let basis: Vec<String> =
        [load(plan), requirements(plan)].into_iter().chain(cautions(plan)).chain([accuracy]).collect();
    let Some(index) = ranking.chosen() else {
        return Answer { basis, ..Answer::new(Outcome::Bad, impossible(plan)) };
    };
    let best = &plan.candidates[index];
    let candidate = &best.candidate;
    let cost = match &candidate.price {
        Some(money) => format!("{} ({})", price(money), region(money)),
        None => "at an unpublished price".to_owned(),
    };
    let outcome = best.outcome.as_ref().map_or_else(String::new, |outcome| {
        let limit = outcome.bottleneck().map_or_else(String::new, |of| format!("; {}", limit(of)));
        format!(" Replayed on it: {}{limit}.", latencies(outcome))
    });
    let headroom = best.margin.map_or_else(String::new, |of| match plan.bounds.percentiles.first() {
        _ if of.is_open => format!(" It takes {}.", margin(&of)),
        Some((share, bound)) => {
            format!(" It takes {} before {} exceeds {bound}.", margin(&of), percentile_name(*share))
        }
        None => format!(" It takes {} before it falls behind.", margin(&of)),
    });
    let bought = match ranking.meeting.is_empty() {
        true => "Cannot tell: no volume of measured or published latency meets the need. By its assumed latency it is ",
        false => "Buy ",
    };
    let verdict = format!("{bought}{}: {cost}.{outcome}{headroom}", volumes(candidate));
    let create = create_volume(&candidate.spec.name);
    let actions = create.into_iter().map(|command| Action { what: String::new(), command: Some(command) }).collect();
    let basis =
        basis.into_iter().chain(assumptions(candidate).into_iter().map(|what| format!("assumed: {what}"))).collect();
    let result = if ranking.meeting.is_empty() { Outcome::Unknown } else { Outcome::Good };
    Answer { outcome: result, verdict, actions, basis }
}

fn impossible(plan: &TracePlanResult) -> String {
    let Some(nearest) = plan.missing().next() else { return "No volume was considered.".to_owned() };
    let why: Vec<String> = nearest
        .candidate
        .failures
        .iter()
        .map(|unmet| {
            let (reason, value) = refusal(plan, nearest, unmet);
            value.map_or_else(|| reason.clone(), |value| format!("{reason}: {value}"))
        })
        .collect();
    format!("No volume meets the need. Nearest is {}: {}.", nearest.candidate.listed, why.join("; "))
}

/// Returns the volume for twice the load, with the factor of its price.
pub(super) fn next_step(plan: &TracePlanResult) -> Option<String> {
    let best = &plan.candidates[plan.ranking.chosen()?];
    let Some(next) = &plan.next_step else { return Some("Twice the load: no priced volume sustains it.".to_owned()) };
    let factor =
        next.candidate.known_price().zip(best.candidate.known_price()).map_or_else(String::new, |(next, best)| {
            format!(", {} times the price", significant(next.usd_per_month / best.usd_per_month.max(0.01), 2))
        });
    Some(format!("Twice the load: {}{factor}.", name_and_price(next)))
}

/// Returns a volume with its price.
fn name_and_price(one: &ReplayedCandidate) -> String {
    let cost = one.candidate.price.as_ref().map_or_else(|| "unpriced".to_owned(), price);
    format!("{}, {cost}", one.candidate.spec.name)
}
