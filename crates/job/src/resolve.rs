//! The second stage of parsing: jobs from keys and values.

use std::collections::BTreeSet;
use units::{Place, Problem, ProblemCode, ProblemLevel};

use crate::apply::apply;
use crate::draft::JobDraft;
use crate::model::{Job, JobOrigin, Plan, VerifyFormat, VerifyMethod, VerifyOptions};
use crate::raw::{InjectedOptions, RawFile, RawJob, RawOption};
use crate::read::{Findings, ReadProblem};
use crate::reconcile::reconcile;
use crate::redact::{redacted_line, redacted_value};
use crate::table::{self, OptionSpec, Status};
use crate::{Dialect, goals, limits, object_store, replay, strict, warn};

/// Aliases that are options of their own in fio, whose results show them under these names.
const OPTIONS_OF_FIO: [&str; 2] = ["allrandrepeat", "log_unix_epoch"];

/// Turns sections into jobs, file by file.
pub(crate) struct Resolver<'a> {
    dialect: Dialect,
    sections: &'a [String],
    /// Defaults at the start of each file.
    first: DraftState,
    /// Defaults of the next job.
    defaults: DraftState,
    /// Options applied to every job after all others.
    after: Vec<RawOption>,
    /// Options of the command line that override those of every job in a file.
    imposed: Vec<RawOption>,
    plan: Plan,
    diagnostics: Vec<Problem>,
    /// Number of errors among the diagnostics.
    errors: usize,
    /// Number of options and list elements of all jobs so far.
    inherited: usize,
}

/// A draft and the options applied to it, latest last.
#[derive(Clone, Default)]
struct DraftState {
    draft: JobDraft,
    given: Vec<(&'static OptionSpec, RawOption)>,
}

impl DraftState {
    /// Returns its number of options and list elements, to be compared with [`limits::INHERITED_MAX`].
    fn weight(&self) -> usize {
        let files = &self.draft.job.files;
        let cpus = self.draft.job.grouping.cpus_allowed.as_ref().map_or(0, Vec::len);
        1 + 4 * self.given.len() + files.filenames.len() + files.directories.len() + cpus / 8
    }
}

impl<'a> Resolver<'a> {
    /// Creates a resolver that keeps only the sections of files named in `sections`, or all if it is empty.
    pub(crate) fn new(dialect: Dialect, sections: &'a [String], around: &InjectedOptions) -> Self {
        let options = |pairs: &[(String, String)]| -> Vec<RawOption> {
            pairs.iter().map(|(key, value)| RawOption::of_words(key, value)).collect()
        };
        let (plan, diagnostics) = (Plan::default(), Vec::new());
        let (defaults, first) = (DraftState::default(), DraftState::default());
        let (after, imposed) = (options(&around.after), Vec::new());
        let mut resolver =
            Self { dialect, sections, first, defaults, after, imposed, plan, diagnostics, errors: 0, inherited: 0 };
        let mut first = DraftState::default();
        resolver.apply_all(&mut first, &mut options(&around.before).iter());
        // The user did not write these options, so the strict dialect must not check them against those of a job.
        first.given.clear();
        resolver.defaults = first.clone();
        Self { first, ..resolver }
    }

    /// Makes the resolver apply `imposed` to every job of a file after the job's own options.
    pub(crate) fn imposing(self, imposed: Vec<RawOption>) -> Self {
        Self { imposed, ..self }
    }

    /// Adds the jobs of a file. Each file but the first starts from fio's defaults, and its first job waits for all
    /// earlier jobs.
    pub(crate) fn add(&mut self, file: &RawFile, first: bool) {
        if !first {
            self.defaults = self.first.clone();
            // Results repeat the global options of the last file only.
            self.plan.globals.clear();
        }
        let before = self.plan.jobs.len();
        for job in &file.jobs {
            if self.is_exhausted() {
                break;
            }
            self.section(job);
        }
        if let Some(job) = self.plan.jobs.get_mut(before).filter(|_| !first) {
            job.grouping.stonewall = true;
        }
    }

    /// Returns the jobs, and each diagnostic once.
    pub(crate) fn finish(mut self) -> (Plan, Vec<Problem>) {
        let mut seen = BTreeSet::new();
        self.diagnostics.retain(|d| seen.insert((d.code, d.place.clone(), d.what.clone())));
        (self.plan, self.diagnostics)
    }

    /// Reports whether to stop: after many errors, or at the limit on options.
    fn is_exhausted(&self) -> bool {
        self.errors >= limits::PROBLEMS_MAX || self.inherited > limits::INHERITED_MAX
    }

    /// Counts a job's own and inherited options.
    fn charge(&mut self, inherited: usize, raw: &RawJob) {
        let within = self.inherited <= limits::INHERITED_MAX;
        self.inherited += inherited + 4 * raw.options.len();
        if within && self.inherited > limits::INHERITED_MAX {
            let most = limits::INHERITED_MAX;
            let message = format!("the jobs exceed {most} options and list elements, including inherited ones");
            let help = "use `numjobs=` for identical workers, or split the jobs into several runs";
            self.report(Problem::error(ProblemCode::TooManyOptions, message).at(raw.place.clone()).help(help));
        }
    }

    fn report(&mut self, problem: Problem) {
        self.errors += usize::from(problem.level == ProblemLevel::Error);
        self.diagnostics.push(problem);
    }

    fn report_all(&mut self, problems: impl IntoIterator<Item = Problem>) {
        problems.into_iter().for_each(|problem| self.report(problem));
    }

    fn section(&mut self, raw: &RawJob) {
        if raw.global {
            let mut base = std::mem::take(&mut self.defaults);
            let echo = self.apply_all(&mut base, &mut raw.in_order().into_iter());
            self.plan.globals.extend(echo);
            self.defaults = base;
        } else if raw.ordered || self.sections.is_empty() || self.sections.contains(&raw.title) {
            self.charge(self.defaults.weight(), raw);
            if self.is_exhausted() {
                return;
            }
            let mut base = self.defaults.clone();
            base.draft.name = None;
            let mut echo = self.apply_all(&mut base, &mut raw.in_order().into_iter());
            if !raw.ordered {
                let imposed = self.imposed.clone();
                for option in &imposed {
                    let replaced = replaced_by(option, &base);
                    self.apply_last(&mut base, option, &mut echo);
                    self.report_all(replaced);
                }
            }
            let after = self.after.clone();
            after.iter().for_each(|option| self.apply_last(&mut base, option, &mut echo));
            let job = self.job(base, raw, echo);
            self.plan.jobs.push(job);
        }
    }

    /// Applies an option that replaces earlier ones of its name.
    fn apply_last(&mut self, base: &mut DraftState, option: &RawOption, echo: &mut Vec<(String, String)>) {
        for (name, text) in self.apply_all(base, &mut std::iter::once(option)) {
            echo.retain(|(known, _)| *known != name);
            echo.push((name, text));
        }
    }

    fn job(&mut self, base: DraftState, raw: &RawJob, echo: Vec<(String, String)>) -> Job {
        let DraftState { mut draft, given } = base;
        let title = raw.title.clone();
        (draft.job.name, draft.job.title) = match draft.name.clone() {
            Some(name) if name != title => (name, Some(title)),
            _ => (title, None),
        };
        draft.job.echo = echo;
        draft.job.origin = JobOrigin {
            title: Some(raw.place.clone()),
            options: given.iter().map(|(spec, option)| (spec.name, option.value_place.clone())).collect(),
        };
        let context = strict::StrictContext { given: &given, place: &raw.place, dialect: self.dialect };
        choose_verification(&mut draft.job.verify, self.dialect, &context);
        if self.dialect == Dialect::Strict {
            replay::choose_defaults(&mut draft, &context);
            self.report_all(strict::check(&draft, &context));
            self.report_all(replay::check_strictly(&draft, &context));
            self.report_all(object_store::check_strictly(&draft, &context));
        }
        let asked = warn::JobRequest::of(&draft);
        let (job, problems) = reconcile(draft, &context);
        self.report_all(problems);
        self.report_all(small_block(&job, self.dialect, &context));
        self.report_all(goals::check(&job, &context));
        self.report_all(goals::check_wait(&job, &self.plan.jobs, &context));
        if self.dialect == Dialect::Strict {
            self.report_all(goals::check_strictly(&job, &context));
        }
        self.report_all(warn::check(&job, &asked, self.dialect, &context));
        job
    }

    /// Applies options and returns them as results repeat them.
    fn apply_all(
        &mut self,
        base: &mut DraftState,
        options: &mut dyn Iterator<Item = &RawOption>,
    ) -> Vec<(String, String)> {
        let mut echo = Vec::new();
        for option in options {
            if self.is_exhausted() {
                break;
            }
            let engine = base.draft.job.engine.kind.name();
            let known = table::find_all(&option.key);
            match table::find(&option.key, engine) {
                Some(spec) => self.option(base, spec, option, &mut echo),
                // The unknown engine has been reported; its options cannot be checked.
                None if !base.draft.engine_known && !known.is_empty() => {}
                None => self.report(unknown_option(option, engine, known)),
            }
        }
        echo
    }

    fn option(
        &mut self,
        base: &mut DraftState,
        spec: &'static OptionSpec,
        option: &RawOption,
        echo: &mut Vec<(String, String)>,
    ) {
        let text = redacted_value(spec.name, option.value.as_deref().unwrap_or_default());
        let shown = OPTIONS_OF_FIO.iter().find(|name| **name == option.key).unwrap_or(&spec.name);
        echo.push(((*shown).to_owned(), text.into_owned()));
        if self.dialect == Dialect::Strict {
            let found = strict::check_writing(spec, option);
            if !found.is_empty() {
                return self.report_all(found);
            }
        }
        if !self.status(spec, option) {
            return;
        }
        let mut findings = Findings::default();
        apply(&mut base.draft, spec, option.value.as_deref(), &mut findings);
        base.given.push((spec, option.clone()));
        let dialect = self.dialect;
        let reported = findings.items.iter().filter(|finding| finding.weight.is_error_in(dialect));
        self.report_all(reported.map(|finding| diagnose(spec, option, finding)));
    }

    /// Reports whether to apply the option, and adds a diagnostic if its status forbids it.
    fn status(&mut self, spec: &OptionSpec, option: &RawOption) -> bool {
        let text = option.value.as_deref().unwrap_or("1");
        let place = option.key_place.clone();
        match spec.status {
            Status::Supported | Status::Accepted(_) => return true,
            Status::OfFathom if self.dialect == Dialect::Strict => return true,
            Status::OfFathom => self.report(unknown_option(option, "", &[])),
            Status::NotYet if spec.is_default(text) => {}
            Status::NotYet => self.report(not_yet(spec, place)),
            Status::Profile | Status::Deprecated if self.dialect == Dialect::Fio => {}
            Status::Profile => self.report(
                Problem::error(ProblemCode::IgnoredOption, format!("`{}` has no effect in a job", option.key))
                    .at(place)
                    .note("it is an option of fio's built-in profiles; fio accepts and ignores it")
                    .help(profile_remedy(spec)),
            ),
            Status::Deprecated => self.report(
                Problem::warning(ProblemCode::Deprecated, format!("`{}` no longer has an effect", option.key))
                    .at(place)
                    .note("fio accepts and ignores it")
                    .help("omit it"),
            ),
            Status::Removed => self.report(
                Problem::error(ProblemCode::Removed, format!("`{}` is no longer an option of fio", option.key))
                    .at(place)
                    .help("omit it"),
            ),
        }
        false
    }
}

/// Returns a note if an option of the command line replaces another value in a job file.
fn replaced_by(option: &RawOption, base: &DraftState) -> Option<Problem> {
    let spec = table::find(&option.key, base.draft.job.engine.kind.name())?;
    let (_, latest) = base.given.iter().rev().find(|(known, _)| std::ptr::eq(*known, spec))?;
    let place = &latest.key_place;
    let is_the_same = latest.value == option.value || place.source == option.key_place.source;
    let message = || {
        let (new, old) = (option.line(), latest.line());
        let (new, old) = (redacted_line(&new), redacted_line(&old));
        format!("`--{new}` replaces `{old}` of {}:{}", place.source, place.line)
    };
    (!is_the_same).then(|| Problem::remark(ProblemCode::Replaced, message()))
}

fn profile_remedy(spec: &OptionSpec) -> String {
    match spec.name {
        "threads" => "write `numjobs=` for workers or `thread` for threads, or omit it".to_owned(),
        "dir" => "write `directory=`".to_owned(),
        "block" => "write `bs=`".to_owned(),
        "numruns" => "write `loops=`".to_owned(),
        _ => "omit it".to_owned(),
    }
}

fn not_yet(spec: &OptionSpec, place: Place) -> Problem {
    Problem::error(ProblemCode::NotSupported, format!("`{}` is a fio option that is not supported yet", spec.name))
        .at(place)
        .note(spec.doc)
        .help("omit it, or run this job with fio")
}

/// Applies the rules of the dialect: fio writes its own headers, also before a pattern that no method goes with.
fn choose_verification(verify: &mut VerifyOptions, dialect: Dialect, context: &strict::StrictContext<'_>) {
    if dialect == Dialect::Fio {
        verify.format = VerifyFormat::Fio;
    } else {
        verify.state_save &= context.last("verify_state_save").is_some();
    }
    if !verify.pattern.is_empty() {
        let as_fio = verify.format == VerifyFormat::Fio;
        let method = if as_fio { VerifyMethod::PatternHdr } else { VerifyMethod::Pattern };
        verify.method.get_or_insert(method);
    }
}

/// Returns an error if a block is too small for its verification header.
fn small_block(job: &Job, dialect: Dialect, context: &strict::StrictContext<'_>) -> Option<Problem> {
    let small = job.small_block(dialect == Dialect::Strict)?;
    Some(context.error(ProblemCode::BlockSize, small.option, &small.message()).help(small.help()))
}

fn unknown_option(option: &RawOption, engine: &str, known: &[&OptionSpec]) -> Problem {
    let key = &option.key;
    if let Some(spec) = known.first() {
        return Problem::error(ProblemCode::EngineOption, format!("`{key}` is not an option of the engine `{engine}`"))
            .at(option.key_place.clone())
            .note(format!("it is an option of {}", spec.engines.join(", ")))
            .help(format!("write `ioengine={}` before it, or omit it", spec.engines[0]));
    }
    let diagnostic =
        Problem::error(ProblemCode::UnknownOption, format!("unknown option `{key}`")).at(option.key_place.clone());
    match table::suggest(key) {
        Some(name) => diagnostic.label(format!("did you mean `{name}`?")).help(format!("write `{name}`")),
        None => diagnostic,
    }
}

fn diagnose(spec: &OptionSpec, option: &RawOption, finding: &ReadProblem) -> Problem {
    let place = if option.value.is_some() { option.place_of(&finding.at) } else { option.key_place.clone() };
    let mut diagnostic = Problem::error(finding.code, format!("{}: {}", spec.name, finding.message)).at(place);
    if !finding.note.is_empty() {
        diagnostic = diagnostic.note(&*finding.note);
    }
    Problem { help: help(option, finding), ..diagnostic }
}

/// Returns the help, which is the option without its leading blank if it has one.
fn help(option: &RawOption, finding: &ReadProblem) -> Option<String> {
    let value = option.value.as_deref().unwrap_or("");
    if value.starts_with(char::is_whitespace) && !value.trim().is_empty() {
        return Some(format!("write `{}={}`", option.key, redacted_value(&option.key, value.trim())));
    }
    (!finding.help.is_empty()).then(|| finding.help.clone())
}
