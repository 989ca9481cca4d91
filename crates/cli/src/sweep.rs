//! `fathom sweep`: measures latency and IOPS against queue depth, and finds the knee.
//!
//! The search itself is `analyse::knee::search`; each of its probes is an ordinary run or simulation.

use analyse::Severity;
use analyse::knee::Curve;
use job::{Job, Plan};
use live::EventLog;
use procedure::ProcedureObserver;
use procedure::sweep::{PreparedSweep, SweepQuestion, SweepRequest, UNNAMED, search_all};
use record::RunOutcome;
use report::sweep::{Sweep, SweepDocument};
use report::{Event, ResultDocument, ResultFormat, preview};
use store::RunKind;

use crate::args::SweepOptions;
use crate::display::Display;
use crate::exit::Exit;
use crate::observers::RequestedObservers;
use crate::outputs::{self, IN_FILES, Output};
use crate::save::{self, RunToSave};
use crate::signals::Signals;
use crate::source::LocalSource;
use crate::{argv, runners, trial};

/// Checks the job, searches for the knee of each combination of settings, and saves and reports the curves.
pub(crate) fn command(options: &SweepOptions, jobs: &[String], words: &[String]) -> Result<Exit, Exit> {
    let source = LocalSource::default();
    let gate = options.common.gate();
    let runner = |place| runners::runner(place, &gate);
    let request = SweepRequest {
        jobs: jobs.to_vec(),
        sections: options.job_files.section.clone(),
        on: options.on.clone(),
        vary: options.vary.clone(),
        precision: options.precision.clone(),
        time_limit: options.time_limit.clone(),
        depth_max: options.depth_max,
        real_time: options.real_time,
        seeds: runners::seeds(options.common.seed),
    };
    let host = runners::procedure_host(&source, &runner);
    let question = SweepQuestion::read(&request, host).map_err(Exit::refused)?;
    let prepare = |settings| PreparedSweep::set(&question, settings).map_err(Exit::refused);
    let mut prepared = question.combinations().into_iter().map(prepare).collect::<Result<Vec<_>, _>>()?;
    if options.job_files.show_jobs {
        return Ok(outputs::print_text(&prepared.iter().map(|sweep| preview::jobs(sweep.plan())).collect::<String>()));
    }
    if options.common.dry_run {
        return Ok(outputs::print_text(&prepared.iter().map(PreparedSweep::told).collect::<String>()));
    }
    let observers = RequestedObservers::acquire(&options.endpoint, None).map_err(Exit::usage)?;
    let mut files = Output::open(&options.output, ResultFormat::OF_SWEEP).map_err(Exit::usage)?;
    let signals = Signals::listen(options.common.grace)?;
    let mut display = Display::new(options.common.progress, EventLog::none()).with_observers(observers);
    let (started_unix_ms, command_line) = (device::unix_ms(), argv::command_line(words));
    display.event(&Event::Start { unix_ms: started_unix_ms, command_line: command_line.clone() });
    let sweeps = search_all(&mut prepared, &signals, &mut display);
    display.close();
    signals.conclude();
    let sweeps = sweeps.map_err(|problem| signals.end().map_or_else(|| Exit::environment(problem), Exit::Signal))?;
    let document =
        SweepDocument { command_line, seed: question.seed(prepared.first().map(PreparedSweep::plan)), sweeps };
    let pending_save = options.common.saves_run().then(|| {
        let mut run =
            save::of_parts(prepared.iter().flat_map(PreparedSweep::parts).collect(), words, Some(document.seed));
        if signals.end().is_some() || device::stuck::is_stuck() {
            run.outcome = RunOutcome::Interrupted;
        }
        display.event(&Event::end(&run));
        let name = prepared.first().map(|sweep| name_of(question.jobs(), sweep.plan())).unwrap_or_default();
        RunToSave {
            job: source.written(question.jobs()),
            events: display.take_events(),
            verdict: verdict(&document.sweeps),
            attached: vec![
                (save::SWEEP, report::sweep::json(&document)),
                (save::TEXT, report::sweep::text(&document, IN_FILES)),
            ],
            ..RunToSave::of(RunKind::Sweep, &name, run, started_unix_ms)
        }
        .start()
    });
    let exit = conclude(options, &document, &mut files, &signals);
    save::report_saved(pending_save);
    Ok(exit)
}

/// Returns the name of a sweep: its job file, its job or, for an unnamed job, its target.
fn name_of(jobs: &[String], plan: &Plan) -> String {
    let name = trial::name_of(jobs, plan);
    let is_unnamed = name == UNNAMED;
    plan.jobs.first().filter(|_| is_unnamed).map_or(name, Job::target)
}

/// Returns the most severe finding or, without findings, the knee of the first curve.
fn verdict(sweeps: &[Sweep]) -> Option<String> {
    let gravest = sweeps.iter().flat_map(|sweep| &sweep.findings).max_by_key(|finding| finding.severity);
    gravest.map(|finding| finding.code.name().to_owned()).or_else(|| match &sweeps.first()?.fit.curve {
        Curve::Knee(knee) => Some(format!("knee at {}", units::count(knee.depth.value.round()))),
        Curve::Flat { .. } => Some("flat".to_owned()),
        Curve::Unsaturated { .. } | Curve::PowerLaw { .. } => Some("no knee".to_owned()),
        Curve::Unknown => None,
    })
}

fn is_distrusted(sweep: &Sweep) -> bool {
    sweep.findings.iter().any(|finding| finding.severity == Severity::Distrust)
}

fn conclude(options: &SweepOptions, document: &SweepDocument, files: &mut [Output], signals: &Signals) -> Exit {
    let delivered = outputs::deliver_as(files, ResultDocument::Sweep(document), options.format);
    match signals.end() {
        Some(signal) => Exit::Signal(signal),
        None if device::stuck::is_stuck() => Exit::Environment,
        None if delivered == Exit::Good && document.sweeps.iter().any(is_distrusted) => Exit::Distrust,
        None => delivered,
    }
}
