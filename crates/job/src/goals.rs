//! Checks what a job must reach while it runs, and what it waits for.

use units::{Nanos, Problem, ProblemCode};

use crate::model::Job;
use crate::strict::StrictContext;

/// Checks goals that fio refuses too.
pub(crate) fn check(job: &Job, context: &StrictContext<'_>) -> Option<Problem> {
    let (rates, floors) = (&job.pace, &job.pace.floor);
    let kinds = |rate: &units::PerKind<Option<units::Rate>>| [rate.read, rate.write, rate.trim];
    let pairs = [("rate_min", &rates.rate, &floors.bytes), ("rate_iops_min", &rates.rate_iops, &floors.operations)];
    let unreachable = pairs.into_iter().find(|(_, rate, floor)| {
        kinds(rate).into_iter().zip(kinds(floor)).any(|(rate, floor)| rate.is_some_and(|rate| floor > Some(rate)))
    });
    unreachable.map(|(option, ..)| {
        context
            .error(ProblemCode::ConflictingOptions, option, &format!("{option}: the minimum exceeds the rate limit"))
            .note("fio refuses the job")
            .help(format!("lower `{option}`, or raise the rate"))
    })
}

/// Checks goals that fio would ignore.
pub(crate) fn check_strictly(job: &Job, context: &StrictContext<'_>) -> Option<Problem> {
    let target = &job.pace.target;
    (target.latency > Nanos::ZERO && target.window == Nanos::ZERO).then(|| {
        context
            .error(ProblemCode::MissingOption, "latency_target", "`latency_target` needs a `latency_window`")
            .note("fio does not search without one")
            .help("write for example `latency_window=5s`: the time spent at each queue depth")
    })
}

/// Checks the job that a job waits for among those before it.
pub(crate) fn check_wait(job: &Job, before: &[Job], context: &StrictContext<'_>) -> Option<Problem> {
    let name = job.grouping.wait_for.as_ref()?;
    let message = match before.iter().filter(|other| other.name == *name).count() {
        1 => return None,
        0 if *name == job.name => format!("the job `{name}` cannot wait for itself"),
        0 => format!("there is no job `{name}` before this one"),
        count => format!("there are {count} jobs `{name}` before this one"),
    };
    let help = "name exactly one earlier job, with a unique name";
    Some(context.error(ProblemCode::WaitFor, "wait_for", &format!("wait_for: {message}")).help(help))
}
