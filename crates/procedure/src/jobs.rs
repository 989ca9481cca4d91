//! Job files and job options with varying settings.

use job::{Diagnostic, Dialect, HostSource, InjectedOptions, Job, Plan, StatOptions};
use sim::model::with_key;

/// Job arguments to be parsed with different settings.
pub struct VariedJobs<'a> {
    /// Job files and job options.
    pub jobs: &'a [String],
    /// Sections of the job files; all if empty.
    pub sections: &'a [String],
    /// Options before and after those of all jobs.
    pub around: InjectedOptions,
    /// Source of job files.
    pub outside: &'a dyn HostSource,
}

impl VariedJobs<'_> {
    /// Returns the jobs with some settings changed: options of the jobs, or keys of their volumes.
    ///
    /// # Errors
    ///
    /// Returns all problems of the jobs, including log files that several runs would overwrite.
    pub fn with(&self, settings: &[(String, String)]) -> Result<Plan, Vec<Diagnostic>> {
        let of_volume = |key: &str| key.strip_prefix(ON).map(str::to_owned);
        let is_option = |key: &str| !job::table::find_all(key).is_empty();
        let mut around = self.around.clone();
        around.after.extend(settings.iter().filter(|(key, _)| is_option(key)).cloned());
        let parsed = job::parse_job_arguments(self.jobs, self.sections, &around, Dialect::Strict, self.outside);
        let (mut plan, _) = parsed.into_result()?;
        for (key, value) in settings.iter().filter(|(key, _)| !is_option(key)) {
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

fn unloggable(job: &Job) -> Diagnostic {
    let message =
        format!("job `{}` writes log files, and the points of a sweep would write over one another's", job.name);
    let options = ["write_lat_log", "write_iops_log", "write_bw_log"];
    let given = job.origin.options.iter().find(|(name, _)| options.contains(name));
    Diagnostic::error("logs-of-sweep", message)
        .at(given.map(|(_, place)| place.clone()))
        .remedy("leave out `write_*_log`, or simulate one point")
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
