//! `fathom sweep`: measures latency and IOPS against queue depth, and finds the knee.
//!
//! The search itself is `analyse::knee::search`; each of its probes is an ordinary run or simulation.

use job::{Job, Plan};
use live::EventLog;
use procedure::sweep::{PreparedSweep, SweepQuestion, SweepRequest, UNNAMED, search_all};
use procedure::{ProcedureObserver, grid};
use record::{Note, Run, RunKind, RunOutcome, Shard};
use report::{ResultDocument, ResultFormat, preview};
use results::events::Event;
use results::sweep::SweepResult;
use store::RunToSave;
use units::{Problem, ProblemCode};

use crate::args::SweepOptions;
use crate::display::Display;
use crate::exit::Exit;
use crate::observers::RequestedObservers;
use crate::outputs::{self, IN_FILES, Output};
use crate::shards::PointDivision;
use crate::signals::Signals;
use crate::source::LocalSource;
use crate::{argv, rank, runners, save, trial};

/// Checks the job, searches for the knee of each combination of settings, and saves and reports the curves.
pub(crate) fn command(options: &SweepOptions, jobs: &[String], words: &[String]) -> Result<Exit, Exit> {
    let source = LocalSource::default();
    let gate = options.common.gate();
    let runner = |place| runners::parallel_runner(place, &gate);
    let request = SweepRequest {
        jobs: jobs.to_vec(),
        sections: options.job_files.section.clone(),
        seeds: runners::seeds(options.common.seed),
        ..options.request.clone()
    };
    let host = runners::procedure_host(&source, &runner);
    outputs::claim(&options.output).map_err(Exit::invalid)?;
    let question = SweepQuestion::read(&request, host).map_err(Exit::refused)?;
    let combinations = question.combinations();
    let names: Vec<String> = combinations.iter().map(|settings| grid::label(settings)).collect();
    let prepare = |settings| PreparedSweep::set(&question, settings).map_err(Exit::refused);
    // Checks those of other shards too, so that all tasks of an array and all ranks refuse the same.
    let mut prepared = combinations.into_iter().map(prepare).collect::<Result<Vec<_>, _>>()?;
    let division = PointDivision::of(options.shard.as_deref(), prepared.iter().all(PreparedSweep::is_virtual))?;
    refuse_on_ranks(&prepared).map_err(Exit::invalid)?;
    division.mention_empty(prepared.len());
    let own = division.described().of(prepared.iter().collect());
    if options.job_files.show_jobs {
        return Ok(outputs::print_text(&own.iter().map(|sweep| preview::jobs(sweep.plan())).collect::<String>()));
    }
    if options.common.dry_run {
        return Ok(outputs::print_text(&own.iter().map(|sweep| sweep.told()).collect::<String>()));
    }
    let observers = RequestedObservers::acquire(&options.common, None).map_err(Exit::invalid)?;
    let mut files = Output::open(&options.output, ResultFormat::OF_SWEEP).map_err(Exit::invalid)?;
    let signals = Signals::listen(options.common.grace)?;
    let mut display = Display::new(options.common.progress, EventLog::none()).with_observers(observers);
    let (started_unix_ms, command_line) = (device::unix_ms(), argv::command_line(words));
    display.event(&Event::Start { unix_ms: started_unix_ms, command_line: command_line.clone() });
    let failed = |problems: Vec<Problem>| signals.end().map_or_else(|| Exit::environment(problems), Exit::Signal);
    let written = source.written(question.jobs());
    let seed = question.seed(prepared.first().map(PreparedSweep::plan));
    let identity = identity(&request, options.common.seed);
    let search = |shard: Shard| {
        let words = names.iter().chain([&written, &identity]);
        let selected = shard.of(prepared.iter_mut().collect());
        Ok(SweepResult {
            command_line: command_line.clone(),
            seed,
            shard: division.record(shard, names.len(), words.map(String::as_str)),
            missing: None,
            sweeps: search_all(selected, &signals, &mut display).map_err(failed)?,
        })
    };
    let document = division.gather(search);
    display.close();
    signals.conclude();
    let document = document?;
    let pending_save = options.common.saves_run().then(|| {
        let run = recorded(&prepared, &document, words, signals.end().is_some());
        display.event(&Event::end(&run));
        let name = prepared.first().map(|sweep| name_of(question.jobs(), sweep.plan())).unwrap_or_default();
        RunToSave {
            job: written.clone(),
            events: display.take_events(),
            verdict: report::sweep::verdict(&document),
            attached: vec![
                (save::SWEEP, report::sweep::json(&document)),
                (save::TEXT, report::sweep::text(&document, IN_FILES)),
            ],
            ..RunToSave::of(RunKind::Sweep, &name, run, started_unix_ms)
        }
        .start(save::POLICY)
    });
    let exit = conclude(options, &document, &mut files, &signals);
    save::report_saved(pending_save);
    Ok(exit)
}

/// Returns why ranks can neither divide these searches nor make them together.
fn refuse_on_ranks(prepared: &[PreparedSweep<'_>]) -> Result<(), Problem> {
    if rank::joined().is_none() || !prepared.iter().any(PreparedSweep::is_modelled) {
        return Ok(());
    }
    match prepared {
        [one] if one.is_virtual() => {
            Err(Problem::error(ProblemCode::Ranks, "one search on a model cannot be divided among ranks")
                .help("give several values of a setting with --vary, or run `fathom sweep`"))
        }
        // Searches are divided only if `--on` names the volume: jobs that name it may depend on the rank.
        all if rank::has_variables() || !all.iter().all(PreparedSweep::is_virtual) => Err(rank::own_volume()),
        _ => Ok(()),
    }
}

/// Returns the options, beside the jobs and the settings, that determine the results.
fn identity(request: &SweepRequest, seed: Option<u64>) -> String {
    let SweepRequest { on, sections, precision, time_limit, depth_max, real_time, .. } = request;
    format!("{:?}", (on, sections, precision, time_limit, depth_max, real_time, seed))
}

/// Returns the record of all probes of this process.
fn recorded(prepared: &[PreparedSweep<'_>], document: &SweepResult, words: &[String], is_interrupted: bool) -> Run {
    let mut run = save::of_parts(prepared.iter().flat_map(PreparedSweep::parts).collect(), words, Some(document.seed));
    if is_interrupted || device::stuck::is_stuck() {
        run.outcome = RunOutcome::Interrupted;
    }
    if prepared.iter().filter(|sweep| sweep.parts().next().is_some()).count() < document.sweeps.len() {
        let text = "the probes of rank 0 are recorded; sweep.json has the curves of all ranks".to_owned();
        run.notes.push(Note::of_run(text));
    }
    run
}

/// Returns the name of a sweep: its job file, its job or, for an unnamed job, its target.
fn name_of(jobs: &[String], plan: &Plan) -> String {
    let name = trial::name_of(jobs, plan);
    let is_unnamed = name == UNNAMED;
    plan.jobs.first().filter(|_| is_unnamed).map_or(name, Job::target)
}

fn conclude(options: &SweepOptions, document: &SweepResult, files: &mut [Output], signals: &Signals) -> Exit {
    let delivered = outputs::deliver_as(files, ResultDocument::Sweep(document), options.format, options.details);
    match signals.end() {
        Some(signal) => Exit::Signal(signal),
        None if device::stuck::is_stuck() => Exit::Environment,
        None if delivered == Exit::Good && document.is_distrusted() => Exit::Distrust,
        None => delivered,
    }
}
