//! `fathom sim`: runs jobs on modelled volumes, in virtual time.

use job::{Diagnostic, Plan, SplitKind};
use procedure::grid::{self, GridAxis};
use procedure::jobs::{VariedJobs, VariedPlace, around};
use record::Note;
use report::{GridPoint, ResultDocument, preview};
use runner::{NullObserver, RunOptions, Runner};
use store::RunKind;

use crate::args::{RunCommandOptions, SimOptions};
use crate::exit::Exit;
use crate::parallel::on_all_processors;
use crate::save::{self, RunToSave};
use crate::signals::Signals;
use crate::source::LocalSource;
use crate::terminal::write_stderr;
use crate::{argv, diagnostics, outputs, run, runners, trial};

/// Simulates the jobs, or a grid of them with `--vary`.
pub(crate) fn command(options: &SimOptions, jobs: &[String], words: &[String]) -> Result<Exit, Exit> {
    if !options.vary.is_empty() {
        return grid(options, jobs, words);
    }
    if options.run.live {
        return Err(Exit::usage(LIVE_REFUSED));
    }
    let (hosts, split) = (options.hosts, options.split);
    run::command(&RunCommandOptions { hosts, split, ..options.run.clone() }, jobs, words, true)
}

const LIVE_REFUSED: &str =
    "--live: virtual time passes too fast to watch\nhelp: use `fathom run --on VOLUME --live`, which runs in real time";

/// Simulates every point of a grid of settings.
fn grid(options: &SimOptions, jobs: &[String], words: &[String]) -> Result<Exit, Exit> {
    let source = LocalSource::default();
    let points = points(options, jobs, &source)?;
    let (seeds, options, runner) = (runners::seeds(options.run.common.seed), &options.run, runners::model());
    let prepare = |plan: &Plan, settings: &[(String, String)]| {
        runner.prepare(plan, seeds).map_err(|problems| rejected(settings, &problems))
    };
    let described = points.iter().map(|(settings, plan)| {
        let prepared = prepare(plan, settings)?;
        let show_jobs = options.job_files.show_jobs;
        let text = if show_jobs { preview::jobs(prepared.plan()) } else { preview::prepared(&*prepared) };
        Ok(format!("with {}:\n{text}\n", assignments(settings)))
    });
    // Checks every point before simulating the first.
    let described = described.collect::<Result<String, Exit>>()?;
    if options.job_files.show_jobs || options.common.dry_run {
        return Ok(outputs::print_text(&described));
    }
    let mut files = outputs::open_for_grid(options).map_err(Exit::usage)?;
    let signals = Signals::listen(options.common.grace)?;
    let started_unix_ms = device::unix_ms();
    let run_options = RunOptions { command_line: argv::command_line(words), ..RunOptions::default() };
    let simulated = on_all_processors(&points, |(settings, plan)| {
        // Leaves out points not started before a signal, instead of empty rows.
        if signals.end().is_some() {
            return None;
        }
        let run = runner.prepare(plan, seeds).ok()?.run(&run_options, &signals, &mut NullObserver).ok()?.run;
        let verdicts = analyse::analyse(&run);
        Some(GridPoint { settings: settings.clone(), run, verdicts })
    });
    let simulated: Vec<GridPoint> = simulated.into_iter().flatten().collect();
    signals.conclude();
    if signals.end().is_some() {
        let (begun, all) = (simulated.len(), points.len());
        write_stderr(&format!(
            "fathom: interrupted: {begun} of {all} points started, and the last ones are incomplete\n"
        ));
    }
    let pending_save = options.common.saves_run().then(|| {
        let name = trial::name_of(jobs, &points[0].1);
        RunToSave { job: source.written(jobs), ..to_save(&name, &simulated, words, started_unix_ms) }.start()
    });
    let delivered = outputs::deliver_as(&mut files, ResultDocument::Grid(&simulated), options.format);
    save::report_saved(pending_save);
    Ok(signals.end().map_or(delivered, Exit::Signal))
}

/// Maximum number of points saved with their records, which have histograms. The table has all points.
const RECORDED_MAX: usize = 2000;

/// Returns the data of a grid to be saved.
fn to_save(name: &str, points: &[GridPoint], words: &[String], started_unix_ms: u64) -> RunToSave {
    let recorded = points.iter().take(RECORDED_MAX);
    let parts = recorded.map(|point| (assignments(&point.settings), point.run.clone())).collect::<Vec<_>>();
    let seed = points.first().and_then(|point| point.run.seed);
    let mut run = save::of_parts(parts, words, seed);
    if points.len() > RECORDED_MAX {
        let text = format!("the first {RECORDED_MAX} of {} points are recorded; grid.json has all", points.len());
        run.notes.push(Note { job: None, text });
    }
    RunToSave {
        events: save::events_of(&run, started_unix_ms),
        attached: vec![(save::GRID, report::grid_json(points)), (save::TEXT, report::grid_text(points))],
        ..RunToSave::of(RunKind::Sweep, name, run, started_unix_ms)
    }
}

/// Returns settings as `key=value`, separated by blanks.
fn assignments(settings: &[(String, String)]) -> String {
    settings.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
}

/// The settings of one point of a grid, and its jobs.
type Point = (Vec<(String, String)>, Plan);

/// Parses every point of a grid. Prints the problems of the first invalid one.
fn points(options: &SimOptions, jobs: &[String], source: &LocalSource) -> Result<Vec<Point>, Exit> {
    let axes: Result<Vec<GridAxis>, String> = options.vary.iter().map(|text| GridAxis::parse("--vary", text)).collect();
    let axes = axes.and_then(|axes| grid::check("--vary", &axes).map(|()| axes)).map_err(Exit::usage)?;
    let (sections, around) = (options.run.job_files.section.as_slice(), around(options.run.on.as_deref()));
    let place = VariedPlace::SimulatedHosts(options.hosts, options.split.map(SplitKind::from));
    let varied = VariedJobs { jobs, sections, around, outside: source, place };
    let parse = |settings: Vec<(String, String)>| {
        let plan = varied.with(&settings).map_err(|problems| rejected(&settings, &problems))?;
        Ok((settings, plan))
    };
    grid::combinations(&axes).into_iter().map(parse).collect()
}

/// Prints the problems of one point.
fn rejected(settings: &[(String, String)], problems: &[Diagnostic]) -> Exit {
    diagnostics::print(problems);
    write_stderr(&format!("fathom: the problem is in the jobs with {}\n", assignments(settings)));
    Exit::Usage
}
