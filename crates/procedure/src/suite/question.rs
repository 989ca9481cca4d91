//! The request for a suite run: target, size, scale.

use clap::Args;
use job::{Dialect, InjectedOptions, Plan, Size};
use results::suite::SuiteTargets;
use runner::{RunPlace, Runner};
use units::{Bytes, Nanos, Place, Problem, ProblemCode};
use volume::catalogue;

use super::read::fill_placeholders;
use super::schema::{StepOption, StepSpec, Suite};
use crate::host::ProcedureHost;
use crate::jobs::around;

/// The request for a suite.
#[derive(Clone, Debug, Default, Args)]
pub struct SuiteRequest {
    /// Absolute path of the target, which identifies it in a saved state.
    #[arg(skip)]
    pub target_path: Option<String>,
    /// File or device to measure
    #[arg(long, value_name = "PATH|DEVICE", required_unless_present = "on", help_heading = "Target")]
    pub target: Option<String>,
    /// Modelled volume, in addition to or instead of the target
    #[arg(long, alias = "volume", value_name = "VOLUME", value_parser = clap::builder::NonEmptyStringValueParser::new(), help_heading = "Target")]
    pub on: Option<String>,
    /// Size of the target to use, unscaled [default: the suite's size, scaled]
    #[arg(long, value_name = "SIZE", help_heading = "Target")]
    pub size: Option<String>,
    /// Scale times and sizes by this factor
    #[arg(long, value_name = "SHARE", default_value = "1", help_heading = "Procedure")]
    pub scale: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SuitePlace {
    /// On the files and devices of this host.
    Host,
    /// On a modelled volume, in virtual time.
    Model,
}

/// A validated suite request.
#[derive(Debug)]
pub struct SuiteQuestion<'a> {
    pub(crate) suite: Suite,
    pub(crate) target: Option<String>,
    pub(crate) target_path: Option<String>,
    pub(crate) on: Option<String>,
    pub(crate) scale: f64,
    /// Bytes of the target to use.
    pub(crate) target_bytes: Option<u64>,
    /// Bytes of the volume to use.
    pub(crate) volume_bytes: Option<u64>,
    pub(crate) host: ProcedureHost<'a>,
}

/// Path of the modelled volume in the jobs of steps.
const VOLUME: &str = "/dev/modelled";
/// Granularity and minimum of scaled sizes.
const SIZE_STEP: u64 = 1 << 20;
const SIZE_MIN: u64 = 16 << 20;
/// Maximum number of parts of a size, and their alignment.
const PARTS_MAX: u64 = 16;
const ALIGN: u64 = 4096;
/// Processors available to modelled steps.
const MODEL_CPUS: &str = "0-11";

impl<'a> SuiteQuestion<'a> {
    /// Validates the request.
    ///
    /// # Errors
    ///
    /// Returns its problems.
    pub fn read(options: &SuiteRequest, suite: Suite, host: ProcedureHost<'a>) -> Result<Self, Vec<Problem>> {
        let scale = share(&options.scale).ok_or_else(|| {
            let what = format!("--scale {}: not a fraction greater than 0 and at most 1", options.scale);
            Problem::error(ProblemCode::Arguments, what).help("use, for example, --scale 0.01")
        })?;
        let published = bytes_of(&suite.size).map_err(|problem| problem.at(suite.text.place(&suite.size_at)))?;
        let given = options.size.as_deref().map(bytes_of).transpose();
        let given = given.map_err(|problem| problem.of("--size"))?;
        let scaled = |bytes: u64| {
            let scaled = (bytes as f64 * scale) as u64;
            (scaled / SIZE_STEP * SIZE_STEP).max(SIZE_MIN).min(bytes)
        };
        let used = |as_a_whole: bool, all: Option<u64>| match all {
            Some(all) if as_a_whole => scaled(all),
            all => scaled(published).min(all.unwrap_or(u64::MAX)),
        };
        let of_volume = |all: u64| given.map_or_else(|| used(suite.whole, Some(all)), |given| given.min(all));
        let volume_bytes = options.on.as_deref().map(|words| volume_size(words, host.read_volume).map(of_volume));
        let volume_bytes = volume_bytes.transpose()?;
        let mut question = Self {
            target: options.target.clone(),
            target_path: options.target_path.clone(),
            on: options.on.clone(),
            scale,
            target_bytes: None,
            volume_bytes,
            host,
            suite,
        };
        let device = question.device_bytes();
        // The checks of the run refuse sizes above that of the device.
        question.target_bytes =
            options.target.is_some().then(|| given.unwrap_or_else(|| used(question.suite.whole, device)));
        Ok(question)
    }

    /// Returns the procedure.
    #[must_use]
    pub fn suite(&self) -> &Suite {
        &self.suite
    }

    /// Returns the absolute path of the target.
    #[must_use]
    pub fn target_path(&self) -> Option<&str> {
        self.target_path.as_deref()
    }

    /// Returns the modelled volume, as it was written.
    #[must_use]
    pub fn volume(&self) -> Option<&str> {
        self.on.as_deref()
    }

    /// Returns the size of the target if it is a device.
    fn device_bytes(&self) -> Option<u64> {
        let target = self.target.as_ref()?;
        let names = self.suite.steps.first().and_then(|step| step.jobs.first());
        let name = names.into_iter().flatten().rev().find(|setting| setting.key == "filename");
        let path = name.map_or_else(|| target.clone(), |name| name.value.replace("{target}", target));
        (self.host.device_bytes)(&path)
    }

    pub(crate) fn runner(&self, place: SuitePlace) -> Box<dyn Runner> {
        let place = match place {
            SuitePlace::Host => RunPlace::Device,
            SuitePlace::Model => RunPlace::Virtual,
        };
        (self.host.runner)(place)
    }

    /// Returns the places in which each step runs.
    pub(crate) fn places(&self) -> impl Iterator<Item = SuitePlace> + use<> {
        let places =
            [self.target.is_some().then_some(SuitePlace::Host), self.on.is_some().then_some(SuitePlace::Model)];
        places.into_iter().flatten()
    }

    /// Returns the jobs of a step, with scaled times and sizes.
    pub(crate) fn plan(&self, step: &StepSpec, place: SuitePlace) -> Result<Plan, Vec<Problem>> {
        let words = self.words(step, place);
        let volume = if place == SuitePlace::Model { self.on.as_deref() } else { None };
        let mut around: InjectedOptions = around(volume);
        // One result per step, whatever the number of its workers.
        around.after.push(("group_reporting".to_owned(), "1".to_owned()));
        let args: Vec<String> = words.iter().map(|(word, _)| word.clone()).collect();
        let parsed = job::parse_job_arguments(&args, &[], &around, Dialect::Strict, self.host.source);
        let (mut plan, _) = parsed.into_result().map_err(|problems| self.located(step, place, problems))?;
        for job in &mut plan.jobs {
            job.extent.runtime = self.scaled_time(job.extent.runtime);
            job.extent.ramp_time = self.scaled_time(job.extent.ramp_time);
        }
        Ok(plan)
    }

    fn scaled_time(&self, time: Nanos) -> Nanos {
        if time == Nanos::ZERO {
            time
        } else {
            Nanos::from_secs_f64(time.secs_f64() * self.scale).max(Nanos::from_millis(1))
        }
    }

    /// Returns the step as command-line arguments, each with the option it comes from.
    fn words<'s>(&self, step: &'s StepSpec, place: SuitePlace) -> Vec<(String, Option<&'s StepOption>)> {
        let (target, bytes) = match place {
            SuitePlace::Host => (self.target.clone(), self.target_bytes),
            SuitePlace::Model => (Some(VOLUME.to_owned()), self.volume_bytes),
        };
        let cpus = match (place, self.host.last_processor) {
            (SuitePlace::Model, _) => MODEL_CPUS.to_owned(),
            (SuitePlace::Host, last) => format!("0-{last}"),
        };
        let bytes = bytes.unwrap_or_default();
        let mut names = vec![
            ("target".to_owned(), target.unwrap_or_default()),
            ("size".to_owned(), bytes.to_string()),
            ("cpus".to_owned(), cpus),
        ];
        names.extend(
            (2..=PARTS_MAX).map(|parts| (format!("size/{parts}"), (bytes / parts / ALIGN * ALIGN).to_string())),
        );
        let several = step.jobs.len() > 1;
        let mut words = Vec::new();
        for (index, job) in step.jobs.iter().enumerate() {
            let number = if several { format!("-{}", index + 1) } else { String::new() };
            words.push((format!("--name={}{number}", step.name), None));
            let word =
                |one: &'s StepOption| (format!("--{}={}", one.key, fill_placeholders(&one.value, &names)), Some(one));
            words.extend(job.iter().map(word));
        }
        words
    }

    /// Moves problems of a step's arguments to the options in the suite.
    pub(crate) fn located(&self, step: &StepSpec, place: SuitePlace, problems: Vec<Problem>) -> Vec<Problem> {
        let words = self.words(step, place);
        let setting = |column: usize| {
            let mut begin = 1;
            words.iter().find_map(|(word, setting)| {
                let end = begin + word.chars().count() + 1;
                let hit = (begin..end).contains(&column);
                begin = end;
                hit.then_some(*setting)
            })
        };
        let mut problems = problems;
        for problem in &mut problems {
            let found = problem.place.as_ref().filter(|place| &*place.source == "command line");
            if let Some(setting) = found.and_then(|place| setting(place.column)) {
                let at = setting.map_or(&step.at, |setting| &setting.at);
                problem.place = Some(Box::new(self.suite.text.place(at)));
            }
            problem.notes.push(format!("in step `{}` of suite `{}`", step.name, self.suite.name));
        }
        problems
    }

    /// Returns the targets of the suite, for the preview.
    #[must_use]
    pub fn targets(&self) -> SuiteTargets<'_> {
        SuiteTargets {
            target: self.target.as_deref().map(|target| (target, self.target_bytes)),
            volume: self.on.as_deref().map(|volume| (volume, self.volume_bytes)),
            scale: self.scale,
        }
    }
}

/// Parses a size in fio's notation.
fn bytes_of(text: &str) -> Result<u64, Problem> {
    let words = ["--name=size".to_owned(), format!("--size={text}")];
    let parsed = job::parse_job_arguments(&words, &[], &InjectedOptions::default(), Dialect::Strict, &job::EmptySource);
    let remedy = "use, for example, 100g";
    let (plan, _) = parsed.into_result().map_err(|problems| {
        let said = problems.first().map_or(String::new(), |problem| problem.what.clone());
        Problem::error(ProblemCode::Suite, format!("`{text}` is not a size: {said}")).help(remedy)
    })?;
    match plan.jobs.first().and_then(|job| job.extent.size) {
        Some(Size::Bytes(bytes)) if bytes > Bytes::ZERO => Ok(bytes.get()),
        _ => Err(Problem::error(ProblemCode::Suite, format!("`{text}` is not a number of bytes")).help(remedy)),
    }
}

fn volume_size(words: &str, read_volume: fn(&str) -> Result<String, Problem>) -> Result<u64, Vec<Problem>> {
    match catalogue::resolve_all(&[words], &read_volume) {
        Ok(resolved) => Ok(resolved.first().map_or(0, |volume| volume.spec.size.get())),
        Err(problems) => {
            let on = |place: &Place| Place { source: "--on".into(), ..place.clone() };
            let told = |problem: Problem| match problem.place.as_deref().filter(|place| &*place.source == "volume") {
                Some(place) => {
                    let place = on(place);
                    problem.at(place)
                }
                None => problem,
            };
            Err(problems.into_iter().map(told).collect())
        }
    }
}

/// Parses `0.01` or `1%`.
fn share(text: &str) -> Option<f64> {
    let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    let share = number.trim().parse::<f64>().ok()? / unit;
    (share > 0.0 && share <= 1.0).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_and_sizes_are_parsed_with_their_units() {
        assert_eq!((share("0.01"), share("1%"), share("1")), (Some(0.01), Some(0.01), Some(1.0)));
        assert_eq!((share("0"), share("2"), share("-1"), share("NaN"), share("x")), (None, None, None, None, None));
        assert_eq!(bytes_of("16m"), Ok(16 << 20));
        assert!(bytes_of("10%").is_err() && bytes_of("soon").is_err() && bytes_of("0").is_err());
    }
}
