//! Job files and job options with varying settings.

use job::{HostSource, InjectedOptions, Job, JobArguments, Plan, PlanHosts, SplitKind, StatOptions};
use sim::model::with_key;
use units::{Problem, ProblemCode};

/// Job arguments to be parsed with different settings.
pub struct VariedJobs<'a> {
    /// Job files and job options.
    pub jobs: &'a [String],
    /// Sections of the job files; all if empty.
    pub sections: &'a [String],
    /// Options before and after the jobs' own.
    pub around: InjectedOptions,
    /// Source of job files.
    pub outside: &'a dyn HostSource,
    /// Where they run.
    pub place: VariedPlace,
}

/// Where varied jobs run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VariedPlace {
    #[default]
    OneProcess,
    /// In a simulation, which `hosts` settings may give other numbers of hosts than this one, and which divides work among
    /// them.
    SimulatedHosts(Option<u32>, Option<SplitKind>),
}

/// Setting that is the number of simulated hosts.
const HOSTS: &str = "hosts";

impl VariedJobs<'_> {
    /// Returns the jobs with some settings changed: options of the jobs, or keys of their volumes.
    ///
    /// # Errors
    ///
    /// Returns all problems of the jobs, including log files that several runs would overwrite.
    pub fn with(&self, settings: &[(String, String)]) -> Result<Plan, Vec<Problem>> {
        let of_volume = |key: &str| key.strip_prefix(ON).map(str::to_owned);
        let is_option = |key: &str| !job::table::find_all(key).is_empty();
        let mut around = self.around.clone();
        around.after.extend(settings.iter().filter(|(key, _)| is_option(key)).cloned());
        let (hosts, split, is_hosts) = match self.place {
            VariedPlace::OneProcess => (None, None, false),
            VariedPlace::SimulatedHosts(hosts, split) => (varied_hosts(settings)?.or(hosts), split, true),
        };
        let (words, sections, around) = (self.jobs, self.sections, &around);
        let parsed = job::parse_on_hosts(JobArguments { words, sections, around, source: self.outside }, hosts, split);
        let (mut plan, _) = parsed.into_result()?;
        for (key, value) in settings.iter().filter(|(key, _)| !(is_option(key) || is_hosts && key == HOSTS)) {
            let key = of_volume(key).unwrap_or_else(|| key.clone());
            for job in &mut plan.jobs {
                let Some(words) = &mut job.engine.volume else { continue };
                *words = with_key(words, &key, value);
                job.echo.retain(|(name, _)| name != "volume");
                job.echo.push(("volume".to_owned(), words.clone()));
            }
        }
        match plan.jobs.iter().find(|job| writes_logs(&job.stats)) {
            Some(job) => Err(vec![unloggable(job)]),
            None => Ok(plan),
        }
    }
}

/// Returns the number of hosts among the settings.
fn varied_hosts(settings: &[(String, String)]) -> Result<Option<u32>, Vec<Problem>> {
    let Some((_, value)) = settings.iter().find(|(key, _)| key == HOSTS) else { return Ok(None) };
    let hosts = value.parse().ok().filter(|hosts| (1..=PlanHosts::MAX).contains(hosts));
    hosts.map(Some).ok_or_else(|| {
        let most = PlanHosts::MAX;
        let problem = Problem::error(ProblemCode::Hosts, format!("hosts={value} is not a number from 1 to {most}"));
        vec![problem.help("use, for example, `--vary hosts=1,2,4,8` or `--vary hosts=1..64`")]
    })
}

fn unloggable(job: &Job) -> Problem {
    let message = format!("job `{}` writes log files, which the points of a sweep would overwrite", job.name);
    let options = ["write_lat_log", "write_iops_log", "write_bw_log"];
    let given = job.origin.options.iter().find(|(name, _)| options.contains(name));
    Problem::error(ProblemCode::Unsweepable, message)
        .at(given.map(|(_, place)| place.clone()))
        .help("omit `write_*_log`, or simulate a single point")
}

/// Prefix for keys of the volume with the name of a job option.
const ON: &str = "on.";

/// Returns the options that `--on` sets for jobs without their own.
pub fn around(volume: Option<&str>) -> InjectedOptions {
    let options =
        |volume: &str| vec![("ioengine".to_owned(), "model".to_owned()), ("volume".to_owned(), volume.to_owned())];
    InjectedOptions { before: volume.map(options).unwrap_or_default(), after: Vec::new() }
}

fn writes_logs(stats: &StatOptions) -> bool {
    [&stats.write_lat_log, &stats.write_bw_log, &stats.write_iops_log].into_iter().any(Option::is_some)
}
