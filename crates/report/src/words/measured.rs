//! The answer of a run: what it did, and what limited it.

use analyse::{Code, Finding, Limit, Quantity, Severity, Verdict, answer};
use record::{DataKind, DirectionResult, JobResult, Run};
use units::{Bytes, Nanos, count};

use super::SentenceContext;
use super::explain::{Origin, action, cause};
use results::answer::{Answer, Outcome};

/// Mean size of operations from which throughput says more than IOPS.
pub(crate) const LARGE_BYTES: f64 = 65_536.0;

/// Returns what a job did and what limited it; `name` is put before it if there are several jobs.
pub(crate) fn run_answer(run: &Run, verdict: &Verdict, job: &JobResult) -> Answer {
    let findings: Vec<Finding> = verdict.findings().cloned().collect();
    let found = answer(&findings);
    let context = SentenceContext::from(job);
    let done: Vec<String> = job.result.used_kinds().filter_map(|(kind, result)| of_kind(job, kind, result)).collect();
    let origin = Origin { kind: "run", volume: None };
    let reason = found.deciding.map(|finding| super::capitalized(&cause(finding, "the device", origin, context)));
    let spent = found.restricting.iter().find(|finding| finding.value(Quantity::CreditsGone).is_some());
    let distrusted = verdict.headline.severity == Severity::Distrust;
    let outcome = match (found.limit, found.deciding.map(|finding| finding.severity)) {
        (_, Some(Severity::Distrust)) => Outcome::Bad,
        (Limit::Unknown, Some(Severity::Warning)) => Outcome::Unknown,
        (Limit::Other | Limit::Storage, Some(Severity::Warning)) => Outcome::Bad,
        (Limit::Nothing, _) => Outcome::Good,
        _ => Outcome::Neutral,
    };
    let restricting = found.restricting.iter().copied().filter(|finding| says_in_answer(finding)).take(1);
    let restrictions =
        found.doubtful.into_iter().chain(restricting).map(|finding| super::parts(finding, context).statement);
    let rate = done.join("; ");
    let verdict = match (spent, distrusted) {
        // The mean of a burst and of what the volume sustains is the rate of neither.
        (Some(phases), false) => format!("{} The mean is {rate}.", super::parts(phases, context).statement),
        _ => {
            let first = match (rate.is_empty(), distrusted) {
                (true, _) => None,
                (false, true) => Some(format!("Do not trust {rate}.")),
                (false, false) => Some(format!("{rate}.")),
            };
            first.into_iter().chain(reason).chain(restrictions).collect::<Vec<_>>().join(" ")
        }
    };
    let actions = found.helping.iter().map(|finding| action(finding, context)).collect();
    Answer { outcome, verdict, actions, basis: basis(run) }
}

/// Reports whether a restriction belongs into the answer: it changes what the figures mean.
fn says_in_answer(finding: &Finding) -> bool {
    finding.severity >= Severity::Warning
        || matches!(finding.code, Code::BurstRunning | Code::BurstUsedUp | Code::BurstOrDrift | Code::ErrorsSeen)
}

/// Returns rate and latency of a kind: `3.00k read IOPS at 1.33 ms (p99 1.96 ms)`. With a schedule, users wait from the due
/// time on.
fn of_kind(job: &JobResult, kind: DataKind, result: &DirectionResult) -> Option<String> {
    let known = job.known_transfers(result);
    let (iops, bytes) = (known.iops, known.bytes_per_second);
    let name = if job.result.used_kinds().count() > 1 { format!("{} ", kind.name()) } else { String::new() };
    let is_large = iops.zip(bytes).is_none_or(|(iops, bytes)| bytes >= LARGE_BYTES * iops);
    let throughput = bytes.map(|bytes| format!("{}/s", Bytes::new(bytes as u64)));
    let rate = match (iops.map(|iops| format!("{} {name}IOPS", count(iops))), throughput) {
        (Some(iops), Some(throughput)) if is_large => format!("{name}{throughput} ({iops})"),
        (Some(iops), _) => iops,
        (None, throughput) => format!("{name}{}", throughput?),
    };
    let (word, latency) = match result.response.count > 0 {
        true => (", response time ", &result.response),
        false => (" at ", result.with_percentiles()),
    };
    let time = |ns: f64| Nanos::new(ns.round() as u64).to_string();
    let mean = job.known_latency(latency).mean_ns.map(|ns| format!("{word}{}", time(ns)));
    let p99 = latency.percentile(99.0).map(|p99| format!(" (p99 {})", super::percentile(Some(p99))));
    Some(format!("{rate}{}{}", mean.unwrap_or_default(), p99.unwrap_or_default()))
}

/// Words of the notes on a volume that its figures rest on.
const RESTS_ON: [&str; 4] = ["assumed", "no `machine`", "machine limit unknown", "on request only"];

fn basis(run: &Run) -> Vec<String> {
    let Some(model) = &run.model else { return Vec::new() };
    let clock = if model.virtual_time { "simulated" } else { "modelled in real time" };
    let mut names: Vec<&str> = model.volumes.iter().map(|volume| volume.name.as_str()).collect();
    names.dedup();
    let seed = run.seed.map_or_else(String::new, |seed| format!(", seed {seed}"));
    let mut basis = vec![format!("{clock}: {} for {}{seed}", names.join(", "), Nanos::new(model.elapsed_ns))];
    for note in model.volumes.iter().flat_map(|volume| &volume.notes) {
        if RESTS_ON.iter().any(|word| note.contains(word)) && !basis.contains(note) {
            basis.push(note.clone());
        }
    }
    basis
}
