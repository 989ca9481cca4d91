//! `fathom plan`: the volume for a load, by price.
//!
//! `plan` searches and `report::plan` renders; this module reads the need and simulates the candidates.

pub(crate) mod args;
mod ask;
mod verify;

use std::time::Duration;

use args::PlanOptions;
use plan::{Laws, Need};
use report::ResultDocument;
use report::ResultFormat;
use report::plan::PlanReport;

use crate::exit::Exit;
use crate::outputs::{self, Output};
use crate::refusal::Refused;
use crate::runners;
use crate::signals::Signals;
use runner::Refusal;

/// Plans for the need that the options state. A need that no volume meets is a result, not a failure.
pub(crate) fn command(options: &PlanOptions) -> Result<Exit, Exit> {
    let question = ask::read(options).map_err(|problems| Refusal::Jobs(problems).told())?;
    let mut files = Output::open(&options.output, ResultFormat::OF_PLAN).map_err(|problem| Exit::usage(&problem))?;
    let signals = Signals::listen()?.with_grace(Duration::ZERO);
    let report = search(question, options, &signals);
    if let Some(signal) = signals.end() {
        return Ok(Exit::Signal(signal));
    }
    signals.conclude();
    Ok(outputs::deliver_as(&mut files, ResultDocument::Plan(&report, options.show_math), options.format))
}

/// Ranks all volumes for the need, and looks for the next step.
fn search(question: ask::PlanQuestion, options: &PlanOptions, signals: &Signals) -> PlanReport {
    let ask::PlanQuestion { need, lines } = question;
    let mut laws = Laws::default();
    let seed = options.seed.unwrap_or(1);
    let runner = runners::model();
    let mut simulate = |trial: &plan::PlanTrial| {
        (!options.no_simulation && signals.end().is_none())
            .then(|| verify::simulate(&runner, trial, seed, signals))
            .flatten()
    };
    let (mut candidates, ranking) = plan::plan(&need, &mut laws, &mut simulate);
    for index in &ranking.meeting {
        plan::simulate_jitter(&need, &mut candidates[*index], &mut simulate);
    }
    let next_step = (!need.demands().is_empty() && !ranking.meeting.is_empty()).then(|| {
        // The budget applies to the need of today, not to twice of it.
        let twice = Need { budget: None, ..need.times(2.0) };
        plan::best(&twice, &mut laws, &mut simulate)
    });
    let without_headroom = (ranking.meeting.is_empty() && need.headroom > 0.0).then(|| {
        let tight = Need { headroom: 0.0, ..need.clone() };
        plan::best(&tight, &mut laws, &mut simulate)
    });
    let first = ranking.meeting.first().copied();
    let described = [ranking.best.or(first), ranking.fastest];
    let mut machines: Vec<(usize, Vec<String>)> = Vec::new();
    for index in described.into_iter().flatten() {
        if !machines.iter().any(|(known, _)| *known == index) {
            machines.push((index, plan::machines(&candidates[index], &need, &mut laws)));
        }
    }
    PlanReport {
        need,
        derivation: lines,
        candidates,
        ranking,
        next_step: next_step.flatten(),
        without_headroom: without_headroom.flatten(),
        machines,
        seed,
        is_simulated: !options.no_simulation,
    }
}

#[cfg(test)]
mod tests {
    use plan::Candidate;
    use units::random::Random;

    use super::*;

    /// Some volumes of the catalogue, and everything now and then.
    fn volumes(random: &mut Random, all: bool) -> Vec<String> {
        if all {
            return Vec::new();
        }
        let listed = plan::named(&Need::default()).unwrap();
        (0..3).map(|_| listed[random.below(listed.len() as u64) as usize].0.name.clone()).collect()
    }

    fn any(seed: u64) -> Need {
        let random = &mut Random::new(seed, 7);
        let chance = |random: &mut Random, share: f64| random.unit() < share;
        let between = |random: &mut Random, low: f64, high: f64| low * (high / low).powf(random.unit());
        let by_rate = chance(random, 0.7);
        let iops = by_rate.then(|| between(random, 50.0, 400_000.0).round());
        let bytes_per_sec = (!by_rate || chance(random, 0.2)).then(|| between(random, 1e6, 4e9).round());
        let block = chance(random, 0.6).then(|| 512_u32 << random.below(12));
        let mean = chance(random, 0.3).then(|| units::Nanos::from_secs_f64(between(random, 3e-4, 3e-2)));
        let percentile = chance(random, 0.2).then(|| (0.99, units::Nanos::from_secs_f64(between(random, 1e-3, 5e-2))));
        let shared = chance(random, 0.1);
        let machines = if chance(random, 0.2) { 1 + random.below(8) as u32 } else { 1 };
        Need {
            iops,
            bytes_per_sec,
            block,
            read_share: if shared { 1.0 } else { [1.0, 0.0, 0.7, 0.5][random.below(4) as usize] },
            sequential: chance(random, 0.3),
            capacity: chance(random, 0.7).then(|| between(random, 1e9, 3e13) as u64),
            mean,
            percentile,
            machines,
            shared,
            scratch: chance(random, 0.3),
            budget: chance(random, 0.2).then(|| between(random, 10.0, 10_000.0)),
            growth: if chance(random, 0.2) { random.unit() } else { 0.0 },
            headroom: if chance(random, 0.5) { 0.2 } else { 0.0 },
            volumes: volumes(random, seed.is_multiple_of(100)),
            ..Need::default()
        }
    }

    fn is_beaten(one: &Candidate, by: &Candidate) -> bool {
        let (Some(mine), Some(other)) = (one.known_price(), by.known_price()) else { return false };
        let secs = |candidate: &Candidate| candidate.mean_secs.unwrap_or(f64::INFINITY);
        let no_worse = other.usd_per_month <= mine.usd_per_month && secs(by) <= secs(one);
        let better = other.usd_per_month < mine.usd_per_month || secs(by) < secs(one);
        let is_as_well_known = by.about.latency_basis <= one.about.latency_basis;
        is_as_well_known && no_worse && better
    }

    fn hold(seed: u64, laws: &mut Laws, signals: &Signals) {
        let (need, runner) = (any(seed), runners::model());
        let said = || format!("seed {seed}: {need:?}");
        let (found, ranking) =
            plan::plan(&need, laws, &mut |trial: &plan::PlanTrial| verify::simulate(&runner, trial, seed, signals));
        for index in ranking.front.iter().chain(&ranking.best).chain(&ranking.fastest) {
            let beaten = ranking.meeting.iter().find(|other| is_beaten(&found[*index], &found[**other]));
            assert!(beaten.is_none(), "{}: {} is beaten", said(), found[*index].spec.name);
        }
        for index in &ranking.meeting {
            let candidate = &found[*index];
            assert!(
                candidate.failures.is_empty() && candidate.survived == Some(true),
                "{}: {}",
                said(),
                candidate.spec.name
            );
            // What it was confirmed by was one simulation: another one comes to the same within a tenth.
            if seed.is_multiple_of(5) {
                let wider = |bound: units::Nanos| units::Nanos::from_secs_f64(1.1 * bound.secs_f64());
                let percentile = need.percentile.map(|(share, bound)| (share, wider(bound)));
                let headroom = 0.9 * need.headroom;
                let need = Need { mean: need.mean.map(wider), percentile, headroom, ..need.clone() };
                let again = &mut |trial: &plan::PlanTrial| verify::simulate(&runner, trial, seed + 1_000, signals);
                assert_eq!(plan::confirm(&need, candidate, again), Some(true), "{}: {}", said(), candidate.spec.name);
            }
        }
        for index in &ranking.missing {
            let candidate = &found[*index];
            let named = candidate.failures.iter().all(|failure| !failure.limit.is_empty());
            assert!(named && !candidate.failures.is_empty(), "{}: {}", said(), candidate.spec.name);
        }
        assert!(!ranking.meeting.is_empty() || ranking.nearest.is_some(), "{}", said());
    }

    #[test]
    fn of_any_needs_no_best_is_beaten_and_all_that_meets_survives() {
        let signals = Signals::install().unwrap();
        let seeds: Vec<u64> = (0..500).collect();
        let halves: Vec<Vec<u64>> = seeds.chunks(50).map(<[u64]>::to_vec).collect();
        crate::parallel::on_all_processors(&halves, |seeds| {
            let laws = &mut Laws::default();
            seeds.iter().for_each(|seed| hold(*seed, laws, &signals));
        });
    }
}
