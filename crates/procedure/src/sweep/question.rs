//! The request for a sweep: jobs, range, time limit.

use analyse::knee::search::KneeSettings;
use clap::Args;
use job::{InjectedOptions, Job, Plan};
use runner::Seeds;
use sim::model::{Use, used};
use units::{Nanos, Problem, ProblemCode};

use crate::grid::{self, GridAxis};
use crate::host::ProcedureHost;
use crate::jobs::{VariedJobs, VariedPlace, around};

/// The request for a sweep.
#[derive(Clone, Debug, Args)]
pub struct SweepRequest {
    /// Job files and job options.
    #[arg(skip)]
    pub jobs: Vec<String>,
    /// Sections of the job files; all where it is empty.
    #[arg(skip)]
    pub sections: Vec<String>,
    /// Seeds of all probes.
    #[arg(skip = Seeds::fixed(0))]
    pub seeds: Seeds,
    /// Use this modelled volume instead of the job's files
    #[arg(long, value_name = "VOLUME", value_parser = clap::builder::NonEmptyStringValueParser::new(), help_heading = "Workload")]
    pub on: Option<String>,
    /// Highest queue depth [default: 1024, in virtual time 4096]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536), help_heading = "Search")]
    pub depth_max: Option<u32>,
    /// Target precision of the knee (half-width of its interval)
    #[arg(long, value_name = "SHARE", default_value = "5%", help_heading = "Search")]
    pub precision: String,
    /// Time limit of all probes of one search [default: 60s; none in virtual time]
    #[arg(long, value_name = "TIME", help_heading = "Search")]
    pub time_limit: Option<String>,
    /// Run a model in real time, as if it were a device
    #[arg(long, help_heading = "Search")]
    pub real_time: bool,
    /// Run one search per value of a job option or volume key: KEY=V,V,V or A..B (repeatable)
    #[arg(long, value_name = "KEY=LIST", help_heading = "Workload")]
    pub vary: Vec<String>,
}

/// Name of a job without one.
pub const UNNAMED: &str = "sweep";

/// A validated sweep request.
#[derive(Debug)]
pub struct SweepQuestion<'a> {
    pub(crate) host: ProcedureHost<'a>,
    pub(crate) request: SweepRequest,
    around: InjectedOptions,
    axes: Vec<GridAxis>,
    precision: f64,
    budget_s: Option<f64>,
}

/// Default load: the one for which providers state IOPS.
const DEFAULTS: [(&str, &str); 3] = [("rw", "randread"), ("bs", "4k"), ("direct", "1")];
/// Default maximum depth.
const DEPTH_MAX: u32 = 4096;
/// Default maximum depth on devices: blk-mq queues are seldom deeper.
const DEVICE_DEPTH_MAX: u32 = 1024;
/// Default time limit of all probes on a device, in seconds.
const BUDGET_S: f64 = 60.0;

impl<'a> SweepQuestion<'a> {
    /// Validates the request.
    ///
    /// # Errors
    ///
    /// Returns all problems of its options.
    pub fn read(options: &SweepRequest, host: ProcedureHost<'a>) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut note = |problem: Problem| problems.push(problem);
        let precision = fraction(&options.precision).unwrap_or_else(|| {
            let what = format!("--precision {}: not a percentage from 0.5% to 50%", options.precision);
            note(Problem::error(ProblemCode::Arguments, what).help("use, for example, --precision 5%"));
            0.05
        });
        let budget_s = options.time_limit.as_deref().and_then(|text| {
            let budget = seconds(text);
            if budget.is_none() {
                let what = format!("--time-limit {text}: not a time of at least 1 s");
                note(Problem::error(ProblemCode::Arguments, what).help("use, for example, --time-limit 60s or 5m"));
            }
            budget
        });
        let axes: Vec<GridAxis> =
            options.vary.iter().filter_map(|text| GridAxis::parse("--vary", text).map_err(&mut note).ok()).collect();
        if let Some(axis) = axes.iter().find(|axis| matches!(axis.key.as_str(), "iodepth" | "runtime" | "ramp_time")) {
            let what = format!("--vary {}=…: a sweep already varies it", axis.key);
            note(Problem::error(ProblemCode::Vary, what).help("omit it"));
        }
        if let Err(problem) = grid::check("--vary", &axes) {
            note(problem);
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut around = around(options.on.as_deref());
        around.before.splice(0..0, DEFAULTS.map(|(name, value)| (name.to_owned(), value.to_owned())));
        if options.on.is_none() {
            around.before.push(("ioengine".to_owned(), host.default_engine.to_owned()));
        }
        // One result per probe, whatever the number of its workers.
        around.after.push(("group_reporting".to_owned(), "1".to_owned()));
        let mut question = Self { host, request: options.clone(), around, axes, precision, budget_s };
        question.ensure_job_name();
        Ok(question)
    }

    fn ensure_job_name(&mut self) {
        let unnamed = |problems: Vec<Problem>| problems.iter().all(|problem| problem.code == ProblemCode::NoJobs);
        if self.plan(&[]).err().is_some_and(unnamed) {
            self.request.jobs.push(format!("--name={UNNAMED}"));
        }
    }

    /// Returns the combinations of varied settings; the depth is swept for each.
    #[must_use]
    pub fn combinations(&self) -> Vec<Vec<(String, String)>> {
        grid::combinations(&self.axes)
    }

    /// Parses the jobs with some settings changed.
    pub(crate) fn plan(&self, settings: &[(String, String)]) -> Result<Plan, Vec<Problem>> {
        let SweepRequest { jobs, sections, .. } = &self.request;
        VariedJobs {
            jobs,
            sections,
            around: self.around.clone(),
            outside: self.host.source,
            place: VariedPlace::OneProcess,
        }
        .with(settings)
    }

    /// Returns the job arguments, including a name.
    #[must_use]
    pub fn jobs(&self) -> &[String] {
        &self.request.jobs
    }

    pub(crate) fn settings(&self, plan: &Plan, virtual_time: bool) -> KneeSettings {
        let most = self.request.depth_max.unwrap_or(if virtual_time { DEPTH_MAX } else { DEVICE_DEPTH_MAX });
        let common = KneeSettings {
            step: 1,
            most,
            precision: self.precision,
            budget_s: self.budget_s.unwrap_or(f64::INFINITY),
            short_s: 0.05,
            rung_s: 7200.0,
            long_s: 7200.0,
            operations: 40_000.0,
            operations_max: 4e6,
            warm_up_s: 0.03,
            seed: self.request.seeds.printed(plan),
        };
        if virtual_time {
            return common;
        }
        let budget_s = self.budget_s.unwrap_or(BUDGET_S);
        let scale = budget_s / BUDGET_S;
        KneeSettings {
            budget_s,
            short_s: scale.min(1.0),
            rung_s: 2.0 * scale.min(1.0),
            long_s: 6.0 * scale,
            operations: 5_000.0 * scale.max(1.0),
            operations_max: f64::INFINITY,
            warm_up_s: 0.3 * scale.min(1.0),
            ..common
        }
    }

    /// Returns the seed that repeats the sweep with `--seed`.
    #[must_use]
    pub fn seed(&self, plan: Option<&Plan>) -> u64 {
        plan.map_or(0, |plan| self.request.seeds.printed(plan))
    }
}

/// Returns the single job of a plan if its depth can be swept.
pub(crate) fn only_job(plan: &Plan) -> Result<&Job, Vec<Problem>> {
    let [job] = plan.jobs.as_slice() else {
        let names: Vec<&str> = plan.jobs.iter().map(|job| job.name.as_str()).collect();
        let what = format!("a sweep needs exactly one job, found {}", names.len());
        let help = format!("select one of {} with --section", names.join(", "));
        return Err(vec![Problem::error(ProblemCode::Unsweepable, what).help(help)]);
    };
    let (extent, pace) = (&job.extent, &job.pace);
    let paced =
        [&pace.rate, &pace.rate_iops].iter().any(|rate| [rate.read, rate.write, rate.trim].iter().any(Option::is_some));
    let verifies = job.verify.method.is_some();
    let wrong = [
        ("number_ios", extent.number_ios.is_some(), "ends probes early"),
        ("io_size", extent.io_size.is_some(), "ends probes early"),
        ("rate_iops", paced, "limits the rate independently of queue depth"),
        ("thinktime", pace.thinktime > Nanos::ZERO, "lets the queue drain"),
        ("startdelay", extent.startdelay.1 > Nanos::ZERO, "delays every probe"),
        ("verify", verifies, "reads back between probes"),
    ];
    let problems: Vec<Problem> = wrong
        .iter()
        .filter(|(_, given, _)| *given)
        .map(|(option, _, why)| {
            Problem::error(ProblemCode::Unsweepable, format!("job `{}`: `{option}` {why}", job.name))
                .at(job.origin.of(option).cloned())
                .help(match *option {
                    "verify" => "a sweep does not verify data: use `fathom run`",
                    _ => "omit it: a sweep sets depth and runtime",
                })
        })
        .collect();
    if problems.is_empty() { Ok(job) } else { Err(problems) }
}

pub(crate) fn is_modelled(plan: &Plan) -> bool {
    used(plan) == Use::Everywhere
}

/// Parses `5%` or `0.05`.
fn fraction(text: &str) -> Option<f64> {
    let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    let fraction = number.trim().parse::<f64>().ok()? / unit;
    (0.005..=0.5).contains(&fraction).then_some(fraction)
}

/// Parses `90`, `60s`, `5m`, `1h`.
fn seconds(text: &str) -> Option<f64> {
    let (number, unit) = match text.trim_end_matches(|c: char| c.is_ascii_alphabetic()) {
        number if number.len() == text.len() => (number, "s"),
        number => (number, &text[number.len()..]),
    };
    let unit_s = match unit {
        "ms" => 1e-3,
        "s" | "sec" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let seconds = number.parse::<f64>().ok()? * unit_s;
    (1.0..=1e7).contains(&seconds).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_and_times_are_parsed_with_their_units() {
        assert_eq!((fraction("5%"), fraction("0.02"), fraction("2 %")), (Some(0.05), Some(0.02), Some(0.02)));
        assert_eq!((fraction("5"), fraction("0"), fraction("x%")), (None, None, None));
        let times = ["90", "60s", "5m", "1h", "1500ms", "0.5s", "s", "5 days"].map(seconds);
        let wanted = [Some(90.0), Some(60.0), Some(300.0), Some(3600.0), Some(1.5), None, None, None];
        assert_eq!(times, wanted);
    }
}
