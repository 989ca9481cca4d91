//! The answer of a run: what it did, and what limited it.

use analyse::{Code, Finding, Limit, Quantity, Severity, Verdict, answer};
use record::{DataKind, DirectionResult, JobResult, Run};
use units::{Bytes, Nanos, count};

use super::SentenceContext;
use super::explain::{Origin, action, cause};
use super::totals::{LARGE_BYTES, TotalFigures, limit};
use results::answer::{Answer, Outcome};

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

/// Number of jobs up to which each has its whole answer and its figures.
pub(crate) const JOBS_ANSWERED: usize = 2;

/// Returns the answer of a run: what its job did, what each of two did, or what many did together; `None` without jobs.
pub(crate) fn run_answers(run: &Run, verdicts: &[Verdict]) -> Option<Answer> {
    let of_job = |verdict: &Verdict| Some(run_answer(run, verdict, run.jobs.get(verdict.job)?));
    match verdicts {
        [] => None,
        [verdict] => of_job(verdict),
        many if many.len() > JOBS_ANSWERED => Some(jobs_answer(run, many)),
        several => {
            let named =
                several.iter().filter_map(|verdict| Some((run.jobs.get(verdict.job)?.name.clone(), of_job(verdict)?)));
            Some(Answer::of_several(named.collect()))
        }
    }
}

/// Returns the rate of all jobs together or, if they did not run at the same time, the range of their rates.
fn together(run: &Run) -> String {
    let jobs = units::counted(run.jobs.len() as u64, "job");
    let is_timed =
        |job: &JobResult| job.result.used_kinds().all(|(_, kind)| job.known_transfers(kind).runtime_ns.is_some());
    let groups = run.jobs.iter().all(|job| job.group == run.jobs[0].group && is_timed(job));
    if groups {
        let total = TotalFigures::of(run);
        return format!("{jobs} together: {}{}", total.rate(), total.at());
    }
    let each = run.jobs.iter().map(|job| (&job.name, TotalFigures::of_jobs(std::slice::from_ref(job))));
    let mut each: Vec<(&String, TotalFigures)> =
        each.filter(|(_, figures)| figures.iops + figures.bytes_per_second > 0.0).collect();
    each.sort_by(|(_, a), (_, b)| {
        (a.iops, a.bytes_per_second).partial_cmp(&(b.iops, b.bytes_per_second)).unwrap_or(std::cmp::Ordering::Equal)
    });
    match each.as_slice() {
        [(least, low), .., (most, high)] => {
            format!("{jobs}, from {}{} ({least}) to {}{} ({most})", low.rate(), low.at(), high.rate(), high.at())
        }
        [(name, only)] => format!("{jobs}, of which {name} has figures: {}{}", only.rate(), only.at()),
        [] => format!("{jobs}, without rates"),
    }
}

/// Number of jobs whose doubts the answer about many jobs spells out; more are counted.
const DOUBTED: usize = 4;

/// Returns what many jobs did together, what limited them, and what invalidates any of them.
fn jobs_answer(run: &Run, verdicts: &[Verdict]) -> Answer {
    let answered = verdicts.iter().filter_map(|verdict| {
        let job = run.jobs.get(verdict.job)?;
        Some((job, run_answer(run, verdict, job)))
    });
    let answered: Vec<(&JobResult, Answer)> = answered.collect();
    let mut limits: Vec<(String, usize)> = Vec::new();
    for verdict in verdicts {
        let found = limit(verdicts, verdict.job);
        match limits.iter_mut().find(|(known, _)| *known == found) {
            Some((_, count)) => *count += 1,
            None if found.is_empty() => {}
            None => limits.push((found, 1)),
        }
    }
    limits.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let of = limits.iter().map(|(limit, count)| match *count == run.jobs.len() {
        true => format!("{limit} is the limit of all"),
        false => format!("{limit} is the limit of {count}"),
    });
    let of = super::joined(&of.collect::<Vec<_>>(), "and");
    let limited = if of.is_empty() { String::new() } else { format!(" {}.", super::capitalized(&of)) };
    let mut lines = vec![format!("{}.{limited}", together(run))];
    let is_doubtful = |answer: &Answer| matches!(answer.outcome, Outcome::Bad | Outcome::Unknown);
    let doubtful: Vec<String> = answered
        .iter()
        .filter(|(_, answer)| is_doubtful(answer))
        .map(|(job, answer)| format!("{}: {}", job.name, answer.verdict))
        .collect();
    lines.extend(doubtful.iter().take(DOUBTED).cloned());
    if doubtful.len() > DOUBTED {
        lines
            .push(format!("and {} to doubt: --details", units::counted((doubtful.len() - DOUBTED) as u64, "more job")));
    }
    let outcomes = answered.into_iter().map(|(job, answer)| (job.name.clone(), answer)).collect();
    let Answer { outcome, actions, basis, .. } = Answer::of_several(outcomes);
    // What helps one job alone is in the details; what helps all is said once.
    let actions = if doubtful.is_empty() { Vec::new() } else { actions.into_iter().take(1).collect() };
    Answer { outcome, verdict: lines.join("\n"), actions, basis }
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
    let made = format!("{clock}: {} for {}{seed}", names.join(", "), Nanos::new(model.elapsed_ns));
    std::iter::once(made).chain(rests_on(run)).collect()
}

/// Returns what the figures of a simulation rest on beside published limits.
pub(crate) fn rests_on(run: &Run) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for note in notes(run) {
        if RESTS_ON.iter().any(|word| note.contains(word)) && !found.contains(note) {
            found.push(note.clone());
        }
    }
    found
}

fn notes(run: &Run) -> impl Iterator<Item = &String> {
    run.model.iter().flat_map(|model| &model.volumes).flat_map(|volume| &volume.notes)
}

/// Reports whether the slowest operations of a run follow from an assumed distribution of latencies.
pub(crate) fn tail_is_assumed(run: &Run) -> bool {
    notes(run).any(|note| note.starts_with("latency is assumed"))
}
