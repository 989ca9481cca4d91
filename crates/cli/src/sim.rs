//! `fathom sim`: the same jobs on modelled volumes, in virtual time.

use job::{Diagnostic, Plan};
use procedure::grid::{self, GridAxis};
use procedure::jobs::{VariedJobs, around};
use record::Note;
use report::{GridPoint, ResultDocument, preview};
use runner::{RunOptions as Measuring, Runner, Silent};
use store::RunKind;

use crate::args::SimOptions;
use crate::exit::Exit;
use crate::parallel::on_all_processors;
use crate::save::{self, RunToSave};
use crate::signals::Signals;
use crate::source::LocalSource;
use crate::terminal::write_stderr;
use crate::{argv, diagnostics, outputs, run, runners, trial};

/// Simulates.
pub(crate) fn command(options: &SimOptions, jobs: &[String], words: &[String]) -> Result<Exit, Exit> {
    if !options.vary.is_empty() {
        return grid(options, jobs, words);
    }
    if options.run.live {
        return Err(unsimulated(UNSEEN));
    }
    run::execute(&options.run, jobs, words, true)
}

const UNSEEN: &str =
    "--live: virtual time passes too fast to watch\nhelp: use `fathom run --on VOLUME --live`, which runs in real time";

/// Simulates every combination of settings.
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
        Ok(format!("with {}:\n{text}\n", words_of(settings)))
    });
    // Every point is checked before the first is simulated.
    let described = described.collect::<Result<String, Exit>>()?;
    if options.job_files.show_jobs || options.common.dry_run {
        return Ok(outputs::print_text(&described));
    }
    let mut files = outputs::open_for_grid(options).map_err(|problem| unsimulated(&problem))?;
    let signals = Signals::listen()?.with_grace(options.common.grace);
    let began_unix_ms = device::unix_ms();
    let measuring = Measuring { command_line: argv::command_line(words), ..Measuring::default() };
    let simulated = on_all_processors(&points, |(settings, plan)| {
        // After a request to end, no empty rows.
        if signals.end().is_some() {
            return None;
        }
        let run = runner.prepare(plan, seeds).ok()?.run(&measuring, &signals, &mut Silent).ok()?.run;
        let verdicts = analyse::analyse(&run);
        Some(GridPoint { settings: settings.clone(), run, verdicts })
    });
    let simulated: Vec<GridPoint> = simulated.into_iter().flatten().collect();
    signals.conclude();
    if signals.end().is_some() {
        let (begun, all) = (simulated.len(), points.len());
        write_stderr(&format!(
            "fathom: interrupted: {begun} of {all} points were begun, and the last of them are cut short\n"
        ));
    }
    let pending_save = options.common.records().then(|| {
        let name = trial::name_of(jobs, &points[0].1);
        RunToSave { job: source.written(jobs), ..of_grid(&name, &simulated, words, began_unix_ms) }.keep()
    });
    let delivered = outputs::deliver_as(&mut files, ResultDocument::Grid(&simulated), options.format);
    save::report_saved(pending_save);
    Ok(signals.end().map_or(delivered, Exit::Signal))
}

/// More results than this are kept as a table alone, for a record has a histogram of each.
const RECORDS_MOST: usize = 2000;

/// Data of a grid to be saved.
fn of_grid(name: &str, points: &[GridPoint], words: &[String], began_unix_ms: u64) -> RunToSave {
    let recorded = points.iter().take(RECORDS_MOST);
    let parts = recorded.map(|point| (words_of(&point.settings), point.run.clone())).collect::<Vec<_>>();
    let seed = points.first().and_then(|point| point.run.seed);
    let mut run = save::of_parts(parts, words, seed);
    if points.len() > RECORDS_MOST {
        let text = format!("the first {RECORDS_MOST} of {} points are recorded; grid.json has all", points.len());
        run.notes.push(Note { job: None, text });
    }
    RunToSave {
        events: save::events_of(&run, began_unix_ms),
        attached: vec![(save::GRID, report::grid_json(points)), (save::TEXT, report::grid_text(points))],
        ..RunToSave::of(RunKind::Sweep, name, run, began_unix_ms)
    }
}

/// Tells why no point was simulated.
fn unsimulated(problem: &str) -> Exit {
    Exit::usage(problem)
}

fn words_of(settings: &[(String, String)]) -> String {
    settings.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
}

/// The settings of one point of a grid, and its jobs.
type Point = (Vec<(String, String)>, Plan);

/// Reads every point of a grid; problems of the first that is wrong are printed on standard error.
fn points(options: &SimOptions, jobs: &[String], source: &LocalSource) -> Result<Vec<Point>, Exit> {
    let axes: Result<Vec<GridAxis>, String> = options.vary.iter().map(|text| GridAxis::parse("--vary", text)).collect();
    let axes =
        axes.and_then(|axes| grid::check("--vary", &axes).map(|()| axes)).map_err(|problem| unsimulated(&problem))?;
    let (sections, around) = (options.run.job_files.section.as_slice(), around(options.run.on.as_deref()));
    let words = VariedJobs { jobs, sections, around, outside: source };
    let read = |settings: Vec<(String, String)>| {
        let plan = words.with(&settings).map_err(|problems| rejected(&settings, &problems))?;
        Ok((settings, plan))
    };
    grid::combinations(&axes).into_iter().map(read).collect()
}

/// Prints the problems of one point.
fn rejected(settings: &[(String, String)], problems: &[Diagnostic]) -> Exit {
    diagnostics::print(problems);
    write_stderr(&format!("fathom: the problem is in the jobs with {}\n", words_of(settings)));
    Exit::Usage
}
