//! Parses jobs once for each simulated host, as ranks of `fathom-fleet` do.

use std::cell::Cell;
use units::{Problem, ProblemCode, ProblemLevel};

use crate::Dialect;
use crate::limits::INHERITED_MAX;
use crate::model::{Plan, PlanHosts, SplitKind};
use crate::parse::parse_job_arguments;
use crate::parsed::Parsed;
use crate::raw::InjectedOptions;
use crate::source::HostSource;

/// Job files and job options, and what applies to all of them.
#[derive(Clone, Copy)]
pub struct JobArguments<'a> {
    /// Job files and job options.
    pub words: &'a [String],
    /// Sections of the job files; all if empty.
    pub sections: &'a [String],
    /// Options before and after the jobs' own.
    pub around: &'a InjectedOptions,
    /// Source of job files and variables.
    pub source: &'a dyn HostSource,
}

/// Parses jobs in the strict dialect, for one process or for simulated hosts.
///
/// Host number k stands for rank k of `fathom-fleet`, and `split` divides the work of each job as it does there. In job
/// files, job options and volumes, `${RANK}` is the number of the host from 0, `${RANKS}` the number of hosts and
/// `${HOST}` its name. Text that has the first or the last of them is parsed once for each host, other text once.
#[must_use]
pub fn parse_on_hosts(arguments: JobArguments<'_>, hosts: Option<u32>, split: Option<SplitKind>) -> Parsed<Plan> {
    let JobArguments { words, sections, around, source } = arguments;
    let Some(count) = hosts else {
        let mut one = parse_job_arguments(words, sections, around, Dialect::Strict, source);
        one.diagnostics.extend(split.map(|_| undivided()));
        return one;
    };
    let (mut all, is_alike) = parse_for(arguments, 0, count);
    let mut plan_hosts = PlanHosts { count, split, own_jobs: Vec::new() };
    if !is_alike && !all.has_errors() {
        plan_hosts.own_jobs.push(all.value.jobs.len());
        for rank in 1..count {
            let (one, _) = parse_for(arguments, rank, count);
            if one.has_errors() {
                let note = format!("the problem is in the jobs of {}", PlanHosts::name(rank));
                let noted = |problem: Problem| match problem.level {
                    ProblemLevel::Error => problem.note(note.clone()),
                    _ => problem,
                };
                all.diagnostics = one.diagnostics.into_iter().map(noted).collect();
                return all;
            }
            plan_hosts.own_jobs.push(one.value.jobs.len());
            all.value.jobs.extend(one.value.jobs);
            for global in one.value.globals {
                if !all.value.globals.contains(&global) {
                    all.value.globals.push(global);
                }
            }
            if let Some(problem) = too_many(&all.value) {
                all.diagnostics.push(problem);
                return all;
            }
        }
    }
    all.value.hosts = Some(plan_hosts);
    all
}

/// Parses the jobs of one host. Reports whether those of the others are the same.
fn parse_for(arguments: JobArguments<'_>, rank: u32, ranks: u32) -> (Parsed<Plan>, bool) {
    let variables = HostVariables { rank, ranks, outside: arguments.source, differs: Cell::new(false) };
    let expand = |text: &String| variables.expand(text);
    let words: Vec<String> = arguments.words.iter().map(expand).collect();
    let pairs = |pairs: &[(String, String)]| pairs.iter().map(|(name, value)| (name.clone(), expand(value))).collect();
    let InjectedOptions { before, after } = arguments.around;
    let around = InjectedOptions { before: pairs(before), after: pairs(after) };
    let parsed = parse_job_arguments(&words, arguments.sections, &around, Dialect::Strict, &variables);
    (parsed, !variables.differs.get())
}

/// Reports work that is to be divided although no hosts are simulated.
fn undivided() -> Problem {
    Problem::error(ProblemCode::Hosts, "--split needs simulated hosts").help("add `--hosts N` or `--vary hosts=RANGE`")
}

/// Reports jobs of all hosts with more options than one command may have.
fn too_many(plan: &Plan) -> Option<Problem> {
    let options: usize = plan.jobs.iter().map(|job| 1 + job.origin.options.len() + job.files.filenames.len()).sum();
    (options > INHERITED_MAX).then(|| {
        let message = format!("the jobs of all hosts have more than {INHERITED_MAX} options");
        Problem::error(ProblemCode::TooManyOptions, message)
            .help("simulate fewer hosts, or share the jobs among hosts by leaving ${RANK} and ${HOST} out")
    })
}

/// Variables that ranks and simulated hosts have.
const RANK_VARIABLES: [&str; 3] = ["RANK", "RANKS", "HOST"];

/// Replaces `${RANK}`, `${RANKS}` and `${HOST}` in a text by their values, which are requested only if they occur.
pub fn expand_rank_variables(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    RANK_VARIABLES.iter().fold(text.to_owned(), |text, name| {
        let variable = format!("${{{name}}}");
        let value = text.contains(&variable).then(|| value(name)).flatten();
        value.map_or(text.clone(), |value| text.replace(&variable, &value))
    })
}

/// The variables of one host before those of the environment.
struct HostVariables<'a> {
    rank: u32,
    ranks: u32,
    outside: &'a dyn HostSource,
    /// Whether a variable was used that differs from host to host.
    differs: Cell<bool>,
}

impl HostVariables<'_> {
    fn own(&self, name: &str) -> Option<String> {
        let value = match name {
            "RANK" => self.rank.to_string(),
            "RANKS" => return Some(self.ranks.to_string()),
            "HOST" => PlanHosts::name(self.rank),
            _ => return None,
        };
        self.differs.set(true);
        Some(value)
    }

    /// Replaces the variables in an argument, where those of the environment are left to the shell.
    fn expand(&self, text: &str) -> String {
        expand_rank_variables(text, |name| self.own(name))
    }
}

impl HostSource for HostVariables<'_> {
    fn read(&self, path: &str) -> Result<Vec<u8>, Problem> {
        self.outside.read(path)
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.own(name).or_else(|| self.outside.variable(name))
    }

    fn is_not_text(&self, name: &str) -> bool {
        !RANK_VARIABLES.contains(&name) && self.outside.is_not_text(name)
    }

    fn page_size_bytes(&self) -> u64 {
        self.outside.page_size_bytes()
    }

    fn memory_mib(&self) -> u64 {
        self.outside.memory_mib()
    }

    fn cpus(&self) -> u64 {
        self.outside.cpus()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::EmptySource;

    fn parse(words: &[&str], volume: &str, hosts: Option<u32>) -> Parsed<Plan> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let before =
            [("ioengine", "model"), ("volume", volume)].map(|(name, value)| (name.to_owned(), value.to_owned()));
        let around = InjectedOptions { before: before.into(), after: Vec::new() };
        let arguments = JobArguments { words: &words, sections: &[], around: &around, source: &EmptySource };
        parse_on_hosts(arguments, hosts, None)
    }

    #[test]
    fn jobs_without_variables_are_shared_by_all_hosts() {
        let one = parse(&["--name=a", "--rw=read", "--size=1m"], "x", None).into_result().unwrap().0;
        let plan = parse(&["--name=a", "--rw=read", "--size=1m"], "x", Some(10_000)).into_result().unwrap().0;
        assert_eq!(plan.hosts, Some(PlanHosts { count: 10_000, ..PlanHosts::default() }));
        assert_eq!((&plan.jobs, plan.jobs_by_host().len()), (&one.jobs, 10_000));
        let plan = parse(&["--name=a", "--rw=read", "--size=${RANKS}m"], "x", Some(4)).into_result().unwrap().0;
        assert_eq!((plan.jobs.len(), plan.jobs_by_host()), (1, vec![0..1; 4]));
    }

    #[test]
    fn variables_give_each_host_jobs_of_its_own() {
        let words = [
            "--name=a",
            "--rw=read",
            "--size=1m",
            "--filename=/dev/${HOST}",
            "--name=b",
            "--rw=read",
            "--size=${RANK}1m",
        ];
        let plan = parse(&words, "custom,iops=1${RANK}", Some(3)).into_result().unwrap().0;
        assert_eq!(plan.jobs_by_host(), [0..2, 2..4, 4..6]);
        let files: Vec<_> = plan.jobs.iter().flat_map(|job| job.files.filenames.clone()).collect();
        assert_eq!(files, ["/dev/host0", "/dev/host1", "/dev/host2"]);
        let volumes: Vec<_> = plan.jobs.iter().filter_map(|job| job.engine.volume.as_deref()).collect();
        assert_eq!(volumes[1..4], ["custom,iops=10", "custom,iops=11", "custom,iops=11"]);
        assert_eq!(plan.part(2..4).jobs[1].name, "b");
    }

    #[test]
    fn a_problem_of_one_host_is_reported_with_the_host() {
        let parsed = parse(&["--name=a", "--rw=randrw", "--size=1m", "--rwmixread=10${RANK}"], "x", Some(3));
        let problems = parsed.into_result().unwrap_err();
        assert!(format!("{problems:?}").contains("the jobs of host1"), "{problems:?}");
    }
}
