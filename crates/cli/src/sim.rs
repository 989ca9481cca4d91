//! `fathom sim`: runs jobs on modelled volumes, in virtual time.

use procedure::grid;
use procedure::jobs::{VariedJobs, VariedPlace, around};
use procedure::simulation::{GridSimulation, PointError, PreparedPoint};
use record::{Note, RunKind, Shard};
use report::{ResultDocument, preview};
use results::grid::GridResult;
use results::stored::StoredResult;
use runner::{PreparedRun, RunOptions};
use store::RunToSave;
use units::{Problem, ProblemCode};

use crate::args::{RunCommandOptions, SimOptions};
use crate::exit::Exit;
use crate::shards::PointDivision;
use crate::signals::Signals;
use crate::source::LocalSource;
use crate::terminal::write_stderr;
use crate::{argv, diagnostics, outputs, rank, run, runners, save, trial};

/// Simulates the jobs, or a grid of them with `--vary`.
pub(crate) fn command(options: &SimOptions, jobs: &[String], words: &[String]) -> Result<Exit, Exit> {
    let jobs = &named(jobs);
    if !options.vary.is_empty() {
        return grid(options, jobs, words);
    }
    if options.run.live {
        return Err(Exit::invalid(
            Problem::error(ProblemCode::Arguments, "--live: virtual time passes too fast to watch")
                .help("use `fathom run --on VOLUME --live`, which runs in real time"),
        ));
    }
    let (hosts, split) = (options.hosts, options.split);
    run::command(&RunCommandOptions { hosts, split, ..options.run.clone() }, jobs, words, true)
}

/// Name of a job without one.
const UNNAMED: &str = "sim";

/// Names the job of options without a job file: nothing is written, so its name does not matter.
fn named(jobs: &[String]) -> Vec<String> {
    let is_named = jobs.iter().any(|word| !word.starts_with("--") || word.starts_with("--name"));
    let name = (!is_named && !jobs.is_empty()).then(|| format!("--name={UNNAMED}"));
    name.into_iter().chain(jobs.iter().cloned()).collect()
}

/// Simulates every point of a grid of settings, or those of a shard.
fn grid(options: &SimOptions, jobs: &[String], words: &[String]) -> Result<Exit, Exit> {
    let source = LocalSource::default();
    let combinations = grid::combinations(&grid::axes("--vary", &options.vary).map_err(Exit::invalid)?);
    let division = PointDivision::of(options.shard.as_deref(), true)?;
    division.mention_empty(combinations.len());
    let place = VariedPlace::SimulatedHosts(options.hosts, options.split);
    // Options beside the jobs and the settings that determine the results.
    let identity = {
        let SimOptions { run, hosts, split, .. } = options;
        format!("{:?}", (&run.on, &run.job_files.section, run.common.seed, hosts, split))
    };
    let options = &options.run;
    let (sections, around) = (options.job_files.section.as_slice(), around(options.on.as_deref()));
    let varied = VariedJobs { jobs, sections, around, outside: &source, place };
    let seeds = runners::seeds(options.common.seed);
    let simulation = GridSimulation { jobs: varied, runner: &runners::models(), seeds, parallel: runners::for_each };
    let describe = |prepared: &dyn PreparedRun| match (options.job_files.show_jobs, options.common.dry_run) {
        (true, _) => preview::jobs(prepared.plan()),
        (false, true) => preview::prepared(prepared),
        (false, false) => String::new(),
    };
    // Checks every point before simulating the first. Those of other shards too, so that all tasks of an array and all
    // ranks refuse the same.
    let prepare = |settings| simulation.prepare(settings, describe).map_err(rejected);
    let points = combinations.into_iter().map(prepare).collect::<Result<Vec<_>, Exit>>()?;
    let (points, described): (Vec<PreparedPoint>, Vec<String>) = points.into_iter().unzip();
    let labels: Vec<String> = points.iter().map(|point| grid::label(&point.settings)).collect();
    if options.job_files.show_jobs || options.common.dry_run {
        let described = division.described().of(labels.iter().zip(described).collect()).into_iter();
        let text = described.map(|(label, text)| format!("with {label}:\n{text}\n"));
        return Ok(outputs::print_text(&text.collect::<String>()));
    }
    let mut files = outputs::open_for_grid(options).map_err(Exit::invalid)?;
    let signals = Signals::listen(options.common.grace)?;
    let started_unix_ms = device::unix_ms();
    let written = source.written(jobs);
    let command_line = argv::command_line(words);
    let run_options = RunOptions { command_line: command_line.clone(), ..RunOptions::default() };
    let simulate = |shard: Shard| {
        let words = labels.iter().chain([&written, &identity]);
        Ok(GridResult {
            command_line: command_line.clone(),
            shard: division.record(shard, points.len(), words.map(String::as_str)),
            missing: None,
            points: simulation.run(&shard.of(points.iter().collect()), &run_options, &signals),
        })
    };
    let document = division.gather(simulate)?;
    signals.conclude();
    if signals.end().is_some() && !rank::is_silent() {
        let shard = document.shard.as_ref().map_or(Shard::WHOLE, |record| record.shard);
        let (begun, all) = (document.points.len(), shard.items(points.len() as u64));
        write_stderr(&format!(
            "fathom: interrupted: {begun} of {all} points started, and the last ones are incomplete\n"
        ));
    }
    let first = points.first().filter(|_| options.common.saves_run());
    let pending_save = first.map(|first| {
        let name = trial::name_of(jobs, &first.plan);
        RunToSave { job: written.clone(), ..to_save(&name, &document, words, started_unix_ms) }.start(save::POLICY)
    });
    let delivered = outputs::deliver_as(&mut files, ResultDocument::Grid(&document), options.format, options.details);
    save::report_saved(pending_save);
    Ok(signals.end().map_or(delivered, Exit::Signal))
}

/// Maximum number of points saved with their records, which have histograms. The table has all points.
const RECORDED_MAX: usize = 2000;

/// Returns the data of a grid to be saved.
fn to_save(name: &str, document: &GridResult, words: &[String], started_unix_ms: u64) -> RunToSave {
    let points = &document.points;
    let recorded = points.iter().take(RECORDED_MAX);
    let parts = recorded.map(|point| (point.label(), point.run.clone())).collect::<Vec<_>>();
    let seed = points.first().and_then(|point| point.run.seed);
    let mut run = save::of_parts(parts, words, seed);
    if points.len() > RECORDED_MAX {
        let text = format!("the first {RECORDED_MAX} of {} points are recorded; grid.json has all", points.len());
        run.notes.push(Note::of_run(text));
    }
    RunToSave {
        events: save::events_of(&run, started_unix_ms),
        attached: vec![(save::GRID, document.json()), (save::TEXT, report::grid::text(document, outputs::IN_FILES))],
        ..RunToSave::of(RunKind::Sweep, name, run, started_unix_ms)
    }
}

/// Prints the problems of one point.
fn rejected(PointError { settings, problems }: PointError) -> Exit {
    diagnostics::print(&problems);
    write_stderr(&format!("fathom: the problem is in the jobs with {}\n", grid::label(&settings)));
    Exit::Usage
}
