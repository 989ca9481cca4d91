//! Job files and job options, read once and again.

use job::{Around, Diagnostic, Dialect, Job, Plan};
use sim::model::with_key;

use crate::logs;
use crate::source::Outside;

/// The words that jobs are made of, once and again.
pub(crate) struct VariedJobs<'a> {
    pub(crate) jobs: &'a [String],
    pub(crate) sections: &'a [String],
    pub(crate) around: Around,
    pub(crate) outside: &'a Outside,
}

impl VariedJobs<'_> {
    /// The jobs with some settings set anew: options of theirs, or keys of their volumes.
    pub(crate) fn with(&self, settings: &[(String, String)]) -> Result<Plan, Vec<Diagnostic>> {
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
        match plan.jobs.iter().find(|job| logs::are_wanted(&job.stats)) {
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

/// What stands before the key of a volume where a job option has the same name.
const ON: &str = "on.";

/// What `--on` says of every job, as far as it says nothing else itself.
pub(crate) fn around(volume: Option<&str>) -> Around {
    let options =
        |volume: &str| vec![("ioengine".to_owned(), "model".to_owned()), ("volume".to_owned(), volume.to_owned())];
    Around { before: volume.map(options).unwrap_or_default(), after: Vec::new() }
}
