//! What limits a trace on one volume.

use analyse::{Observation, Quantity, explain_job};
use plan::replay::{ReplayLimit, ReplayResult, ReplayTrial};
use results::explain::Explained;
use runner::{RunControl, Runner};
use units::{Nanos, percent, portion};

use super::PreparedTrace;

impl PreparedTrace {
    /// Replays the trace on a volume and explains what limits it there; `runner` opens traces by [`Self::traces`]. `None`
    /// after a request to stop, or if it cannot be replayed.
    #[must_use]
    pub fn explain(&self, volume: &str, runner: &dyn Runner, seed: u64, control: &dyn RunControl) -> Option<Explained> {
        let trial = ReplayTrial { volume: volume.to_owned(), speed: 1.0, until_missed: None };
        let (run, result) = self.replayer(runner, seed, control).run(&trial)?;
        let job = run.jobs.first()?;
        let mut explanation = explain_job(&run, 0, &Observation::of(&run, job), None);
        // Findings about jobs do not apply: the trace decided its rate and its course.
        explanation.findings.clear();
        explanation.figures.retain(|figure| figure.quantity != Quantity::InFlightPossible);
        let described = self.described();
        explanation.notes.push(verdict(&result));
        explanation.notes.extend(latencies(described.service_secs, &result));
        explanation.notes.extend(result.limits.iter().filter_map(throttled));
        explanation.notes.extend(result.limits.iter().filter_map(credits));
        if let Some((from, to)) = described.replayed.secs {
            let [from, to] = [from, to].map(|secs| Nanos::from_secs_f64(secs).to_string());
            explanation
                .notes
                .push(format!("replayed only the busiest part, from {from} to {to} (--full replays the whole trace)"));
        }
        explanation.notes.extend(described.notes);
        let name = described.name;
        Some(Explained {
            input: name,
            kind: "trace",
            expected: Some(volume.to_owned()),
            explanations: vec![explanation],
            idle: Vec::new(),
        })
    }
}

fn time(secs: f64) -> String {
    Nanos::from_secs_f64(secs).to_string()
}

/// Describes whether the volume keeps up, and what limits it.
fn verdict(result: &ReplayResult) -> String {
    let limit = match result.bottleneck() {
        Some(limit) => format!("{} is the limit", limit.name),
        None => "no limit delays requests: only the volume's base latency matters".to_owned(),
    };
    let behind = result.behind_secs();
    match behind > ReplayResult::slack_secs(result.intended_secs) {
        true => {
            format!("the volume does not sustain the load: the replay ends {} after the trace; {limit}", time(behind))
        }
        false => format!("the volume sustains the load; {limit}"),
    }
}

/// Compares the latencies of the replay with those of the device from which the trace comes.
fn latencies(service_secs: Option<[f64; 3]>, result: &ReplayResult) -> Option<String> {
    let at = |share: f64| result.percentile_secs(share).map(time);
    let (p50, p99, p999) = (at(0.5)?, at(0.99)?, at(0.999)?);
    let here = format!("this volume: p50 {p50}, p99 {p99}, p99.9 {p999}");
    Some(match service_secs.map(|secs| secs.map(time)) {
        Some([p50, p99, p999]) => {
            format!("original device: p50 {p50}, p99 {p99}, p99.9 {p999}; {here}")
        }
        None => format!("{here}; the trace has no completions to compare with"),
    })
}

fn throttled(limit: &ReplayLimit) -> Option<String> {
    (limit.delay_secs > 0.0).then(|| {
        let (delayed, throttled) = (portion(limit.delayed), portion(limit.throttled));
        format!("{} throttled {delayed} of the requests during {throttled} of the time", limit.name)
    })
}

fn credits(limit: &ReplayLimit) -> Option<String> {
    let held = limit.credits.as_ref()?;
    let level = percent((held.low.0 / held.capacity.max(1e-9)).clamp(0.0, 1.0));
    Some(match held.empty_at_secs {
        Some(at) => format!("the burst credits of {} ran out after {}", limit.name, time(at)),
        None => format!("the burst credits of {} were lowest at {level}, after {}", limit.name, time(held.low.1)),
    })
}
