//! `fathom fio`: accepts fio's command line, with fio's output and exit codes.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use device::HostIdleness;
use engine::gate::{Existing, create_output};
use job::{Dialect, Eta, HostOptions, IdleProfile, Invocation, OutputFormat, Plan};
use live::AggregateLog;
use record::{Run, Unchecked};
use report::fio::{self, FioOptions, FioVersion, Terse};
use report::progress::{FioProgress, fio_letter, fio_line};
use runner::{Observer, RunOptions, RunProgress, Runner, WorkerPlan, requested};
use units::{Problem, ProblemCode};

use crate::exit::Exit;
use crate::runners::{self, failures};
use crate::signals::Signals;
use crate::source::LocalSource;
use crate::terminal::{Terminal, write_stderr};
use crate::{argv, outputs};

/// fio's exit code for errors before a run.
const USAGE: Exit = Exit::Fio(1);

/// Runs a command line as fio does.
pub(crate) fn command(words: &[OsString]) -> Exit {
    let words = &match argv::as_text(words) {
        Ok(words) => words,
        Err(problem) => return refuse(problem),
    };
    let parsed = job::parse_command_line(words, Dialect::Fio, &LocalSource::default());
    let failed = parsed.has_errors() || (parsed.value.host.warnings_fatal && parsed.has_warnings());
    if !parsed.diagnostics.is_empty() && (failed || !parsed.value.host.parse_only) {
        let terminal = Terminal::stderr();
        write_stderr(&report::diagnostics_text(&parsed.diagnostics, terminal.colour, terminal.width));
    }
    if parsed.diagnostics.iter().any(|problem| problem.code == units::ProblemCode::NoJobs) {
        // On standard output even with --output, as in fio.
        let _ = outputs::print(&usage());
    }
    if failed {
        return USAGE;
    }
    let Invocation { host, plan, showcmd } = parsed.value;
    if let Some(name) = host.enghelp.as_deref().filter(|name| job::docs::engine_help(name).is_none()) {
        let what = format!("--enghelp={name}: no such engine or option; --enghelp without a value lists the engines");
        return refuse(Problem::error(ProblemCode::UnknownArgument, what));
    }
    if let Some(path) = &host.inflate_log {
        let subject = format!("--inflate-log: {path}");
        let log = device::input::open_file(Path::new(path))
            .map_err(|error| engine::io_problem(ProblemCode::File, &subject, &error));
        let inflate =
            |mut log| live::inflate(&mut log, &mut std::io::stdout().lock()).map_err(|problem| problem.of(&subject));
        return log.and_then(inflate).map_or_else(refuse, |()| Exit::Good);
    }
    for subject in &host.debug.silent {
        let subjects = job::debug_subjects();
        write_stderr(&format!("fio: --debug={subject} prints nothing; available: {subjects}\n"));
    }
    if let Some(text) = informational_text(&host, &showcmd) {
        return outputs::print(&text).map_or_else(|error| refuse(outputs::unprinted(&error)), |()| Exit::Good);
    }
    device::print_options(&host.debug, &plan, write_stderr);
    if host.parse_only {
        return Exit::Good;
    }
    if host.merge_blktrace_only {
        return device::merge_only(&plan).map_or_else(refuse, |()| Exit::Good);
    }
    run_and_print(&host, &plan, words)
}

/// Returns the version, the synopsis and every option of the program itself.
fn usage() -> String {
    let name = FioVersion::default().name();
    format!(
        "{name}\nfathom fio [OPTION]... [--name=NAME --JOBOPTION=VALUE...]... [JOBFILE]...\n{}",
        job::docs::host_help()
    )
}

/// Returns the text of options such as `--help`, which replace a run.
fn informational_text(host: &HostOptions, showcmd: &[String]) -> Option<String> {
    if host.version {
        return Some(format!("{}\n", FioVersion::default().name()));
    }
    if host.help {
        return Some(usage());
    }
    if host.debug.lists {
        return Some(format!("fio: dumping debug options:{}\n", job::debug_subjects()));
    }
    if host.idle_prof == Some(IdleProfile::Calibrate) {
        return Some(fio::calibration(&device::calibrated_idleness()));
    }
    if let Some(name) = &host.cmdhelp {
        let unknown = || format!("unknown option `{name}`\n");
        return Some(job::docs::option_help(name).unwrap_or_else(unknown));
    }
    if let Some(name) = &host.enghelp {
        return job::docs::engine_help(name);
    }
    host.showcmd.then(|| showcmd.iter().map(|line| format!("{line}\n")).collect())
}

/// Runs the jobs and prints the results and errors as fio does.
fn run_and_print(host: &HostOptions, plan: &Plan, words: &[String]) -> Exit {
    if let Err(problem) = FioOutput::claim(host) {
        return refuse(problem);
    }
    let directory = Path::new(host.aux_path.as_deref().unwrap_or("."));
    let runner = runners::as_fio(host.readonly).with_aux_path(directory).with_debug(&host.debug, write_stderr);
    let prepared = match runner.prepare(plan, runners::seeds(None)) {
        Ok(prepared) => prepared,
        Err(problems) => return refuse(problems),
    };
    if let refusals @ [_, ..] = prepared.refusals() {
        return refuse(refusals);
    }
    let mut out = match FioOutput::open(host) {
        Ok(out) => out,
        Err(problem) => return refuse(problem),
    };
    let options = RunOptions {
        command_line: std::iter::once("fio".to_owned()).chain(job::redacted_words(words)).collect(),
        status_every: host.status_interval.map(|interval| Duration::from_nanos(interval.get())),
        ..RunOptions::default()
    };
    let signals = match Signals::install() {
        Ok(signals) => signals,
        Err(error) => return refuse(engine::io_problem(ProblemCode::Host, "cannot install signal handlers", &error)),
    };
    let (plan, workers) = (prepared.plan(), prepared.workers());
    device::opening::listeners(plan, workers)
        .for_each(|problem| write_stderr(&format!("fio: warning: {}\n", problem.what)));
    out.write(&fio::opening(&requested(plan, workers), &out.formats, out.options));
    for (job, files, bytes) in device::layout::of_each(plan, workers) {
        out.write(&fio::laying_out(&plan.jobs[job].name, files, bytes, &out.formats));
    }
    let idleness = match HostIdleness::begin(host.idle_prof) {
        Ok(idleness) => idleness,
        Err(problem) => return refuse(problem),
    };
    let mut completed = match prepared.run(&options, &signals, &mut FioDisplay::new(host, plan, workers, &mut out)) {
        Ok(completed) => completed,
        Err(error) => {
            let exit = refuse(error);
            return signals.end().map_or(exit, |_| Exit::FIO_SIGNAL);
        }
    };
    completed.run.idleness = idleness.finish();
    signals.conclude();
    out.write(&fio::results(&completed.run, &out.formats, out.options));
    if let Some(Err(problem)) = out.bandwidth.take().map(AggregateLog::finish) {
        out.report(&problem);
    }
    let job = |number: usize| &plan.jobs[workers[number].job];
    let mut failed = completed.workers.iter().filter(|one| one.fails_as_in_fio(job(one.number))).count();
    let unwritten = device::verify_files::write(directory, plan, workers, &completed.workers);
    // What was written cannot be verified later.
    failed = failed.max(unwritten.len().min(1));
    unwritten.iter().for_each(|problem| out.report(problem));
    for job in &completed.run.jobs {
        if job.verified.as_ref().is_some_and(|verified| verified.unchecked == Some(Unchecked::Payload)) {
            let what = format!("{}: the payload of some blocks was not compared; verify with crc32c", job.name);
            out.report(&Problem::warning(ProblemCode::Operation, what));
        }
    }
    if failed > 0 || plan.jobs.iter().any(|job| job.on_error.error_dump) {
        failures(&*prepared, &completed).iter().for_each(|problem| out.report(problem));
    }
    match out.problem.take() {
        Some(problem) => refuse(problem),
        None if completed.signal.is_some() => Exit::FIO_SIGNAL,
        None => Exit::fio_failures(failed),
    }
}

fn refuse(problems: impl Into<Vec<Problem>>) -> Exit {
    problems.into().iter().for_each(|problem| write_stderr(&lines(problem)));
    USAGE
}

/// Returns a problem as fio prints errors, with the remedy on a line of its own.
fn lines(problem: &Problem) -> String {
    let place: String = problem.place.iter().map(|place| format!("{place}: ")).collect();
    let help: String = problem.help.iter().map(|help| format!("help: {help}\n")).collect();
    format!("fio: {place}{}\n{help}", problem.what)
}

/// Destinations and formats of results.
struct FioOutput {
    file: Option<File>,
    formats: Vec<OutputFormat>,
    options: FioOptions,
    bandwidth: Option<AggregateLog>,
    problem: Option<Problem>,
}

impl FioOutput {
    /// Enters the files into the register of outputs, before jobs are checked against it.
    fn claim(host: &HostOptions) -> Result<(), Problem> {
        let output = host.output.iter().map(|path| ("--output", path.clone()));
        let logs = host.bandwidth_log.iter().flat_map(|prefix| AggregateLog::paths(prefix));
        let mut files = output.chain(logs.map(|path| ("--bandwidth-log", path)));
        files.try_for_each(|(option, path)| outputs::claim_as(option, Path::new(&path)))
    }

    fn open(host: &HostOptions) -> Result<Self, Problem> {
        let file = host.output.as_ref().map(|path| {
            create_output(Path::new(path), Existing::Replace)
                .map_err(|denied| denied.of_output(format_args!("--output {path}")))
        });
        let terse = match host.terse_version {
            2 => Terse::V2,
            4 => Terse::V4,
            5 => Terse::V5,
            _ => Terse::V3,
        };
        let options = FioOptions { terse, ..FioOptions::default() };
        let bandwidth = host.bandwidth_log.as_deref().map(AggregateLog::create).transpose()?;
        Ok(Self { file: file.transpose()?, formats: host.output_formats.clone(), options, bandwidth, problem: None })
    }

    fn write(&mut self, text: &str) {
        let written = match &mut self.file {
            None => outputs::print(text),
            Some(file) => file.write_all(text.as_bytes()),
        };
        if let Err(error) = written {
            self.problem
                .get_or_insert_with(|| engine::io_problem(ProblemCode::File, "the results cannot be written", &error));
        }
    }

    /// Prints an error on standard error, and in the output file if that is text.
    fn report(&mut self, problem: &Problem) {
        let lines = lines(problem);
        write_stderr(&lines);
        if self.file.is_some() && self.formats == [OutputFormat::Normal] {
            self.write(&lines);
        }
    }
}

/// fio's progress line, and results so far.
struct FioDisplay<'a> {
    out: &'a mut FioOutput,
    shows_eta: bool,
    letters: Vec<(char, u32)>,
    files: u32,
    /// Length of the last progress line, which the next one has to cover.
    shown: usize,
}

impl<'a> FioDisplay<'a> {
    fn new(host: &HostOptions, plan: &Plan, workers: &[WorkerPlan], out: &'a mut FioOutput) -> Self {
        let is_text = out.formats.contains(&OutputFormat::Normal) && out.file.is_none();
        let shows_eta = match host.eta {
            Eta::Always => true,
            Eta::Never => false,
            Eta::Auto => is_text && Terminal::stdout().interactive,
        };
        let letter = |worker: &WorkerPlan| fio_letter(&plan.jobs[worker.job].pattern);
        let runs = workers.chunk_by(|a, b| letter(a) == letter(b));
        let letters = runs.map(|run| (letter(&run[0]), run.len() as u32)).collect();
        let files = workers.iter().map(|worker| worker.files.files.len() as u32).sum();
        Self { out, shows_eta, letters, files, shown: 0 }
    }
}

impl Observer for FioDisplay<'_> {
    fn request(&mut self, line: &str) {
        write_stderr(&format!("{line}\n"));
    }

    fn progress(&mut self, now: &RunProgress) {
        if let Some(log) = &mut self.out.bandwidth {
            log.see(now.elapsed.into(), now.totals.bytes);
        }
        if !self.shows_eta {
            return;
        }
        let line = fio_line(&FioProgress {
            jobs: now.totals.running as u32,
            files: self.files,
            rate: None,
            states: self.letters.clone(),
            fraction: now.fraction,
            bytes_per_second: now.bytes_per_second.map(|rate| rate as u64),
            iops: now.iops.map(|rate| rate as u64),
            eta_s: now.eta.map(|eta| eta.secs_f64() as u64),
        });
        // A lost progress line does not matter: printing the results reports the error.
        let _ = outputs::print_over(&format!("{line:width$}", width = self.shown));
        self.shown = line.len();
    }

    fn status(&mut self, run: &Run) {
        let text = fio::results(run, &self.out.formats, self.out.options);
        self.out.write(&text);
    }
}
