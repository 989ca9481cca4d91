//! `fathom run` and, without `--vary`, `fathom sim`: check, run, save and report jobs.

use std::path::Path;

use analyse::{Verdict, analyse};
use job::Plan;
use live::EventLog;
use procedure::{ProcedureObserver, depth_probe};
use record::{Repeat, Run, RunOutcome};
use report::{ResultDocument, ResultFormat, preview};
use results::events::Event;
use results::run::{RepeatsResult, RunResult};
use runner::{FileGrowth, NullObserver, PreparedRun, Preview, RunOptions, RunPlace};
use store::{PendingSave, RunToSave};
use units::{Problem, ProblemCode};

use crate::args::RunCommandOptions;
use crate::argv::command_line;
use crate::display::Display;
use crate::exit::Exit;
use crate::observers::RequestedObservers;
use crate::outputs::{self, Output};
use crate::runners::{self, worst_exit};
use crate::save;
use crate::signals::Signals;
use crate::terminal::write_stderr;
use crate::trial::RunTrial;
use crate::{diagnostics, rank};

/// Checks, runs, saves and reports jobs, on devices or on models in real or virtual time.
pub(crate) fn command(
    options: &RunCommandOptions,
    jobs: &[String],
    words: &[String],
    is_virtual: bool,
) -> Result<Exit, Exit> {
    let trials = RunTrial::all(options, jobs, is_virtual)?;
    claim_outputs(options).map_err(Exit::invalid)?;
    let prepared: Result<Vec<Prepared<'_>>, Vec<Problem>> = trials.iter().map(|trial| trial.prepare(0)).collect();
    let prepared = prepared.map_err(Exit::refused)?;
    if options.job_files.show_jobs {
        return Ok(outputs::print_text(&prepared.iter().map(|run| preview::jobs(run.plan())).collect::<String>()));
    }
    let on_models = prepared.iter().zip(&trials).filter(|(_, trial)| trial.place != RunPlace::Device);
    let logs_refused = |run: &Prepared<'_>| device::outputs::refusals(run.plan(), run.workers(), Path::new("."));
    let refusals: Vec<Problem> = on_models.flat_map(|(run, _)| logs_refused(run)).collect();
    if !refusals.is_empty() {
        return Err(Exit::invalid(refusals));
    }
    let refusals: Vec<Problem> = prepared.iter().flat_map(|run| run.refusals()).cloned().collect();
    if options.common.dry_run {
        let exit = outputs::print_text(&prepared.iter().map(|run| preview::prepared(&**run)).collect::<String>());
        return Ok(if refusals.is_empty() { exit } else { Exit::Usage });
    }
    if !refusals.is_empty() {
        return Err(Exit::invalid(refusals));
    }
    let (mut files, events, observers) = open_outputs(options).map_err(Exit::invalid)?;
    let signals = Signals::listen(options.common.grace)?;
    let display = Display::new(options.common.progress, events).with_observers(observers);
    let mut session = RunSession { options, words, signals: &signals, display, finished: Vec::new() };
    let ended = session.run_all(&trials, prepared);
    let RunSession { finished, display, .. } = session;
    signals.conclude();
    let events_problem = display.end().problem();
    if finished.is_empty() {
        ended?;
    }
    let exit = conclude(options, &trials, finished, &mut files, events_problem);
    Ok(ended.err().unwrap_or(exit))
}

/// A checked run.
type Prepared<'a> = Box<dyn PreparedRun + 'a>;

/// The runs of one command.
struct RunSession<'a> {
    options: &'a RunCommandOptions,
    words: &'a [String],
    signals: &'a Signals,
    display: Display,
    finished: Vec<FinishedRun>,
}

/// A finished run with its verdicts.
struct FinishedRun {
    /// Index of its trial.
    trial: usize,
    run: Run,
    verdicts: Vec<Verdict>,
    failures: Vec<Problem>,
    exit: Option<Exit>,
    /// Line about files that it created and that remain.
    left_behind: Option<String>,
    pending_save: Option<PendingSave>,
}

impl RunSession<'_> {
    /// Runs all trials in turn, `--repeat` times or until a signal. Fails if a run cannot start or a target is stuck.
    fn run_all<'t>(&mut self, trials: &'t [RunTrial], first_round: Vec<Prepared<'t>>) -> Result<(), Exit> {
        let mut first_round = first_round.into_iter();
        let prepare_again = |trial: &'t RunTrial, round| match trial.prepare(round) {
            Ok(prepared) if prepared.refusals().is_empty() => Ok(prepared),
            Ok(prepared) => Err(Exit::environment(prepared.refusals())),
            Err(problems) => Err(Exit::environment(problems)),
        };
        for round in 0..self.options.repeat.unwrap_or(1) {
            for (index, trial) in trials.iter().enumerate() {
                if !self.finished.is_empty() {
                    if self.signals.end().is_some() {
                        return Ok(());
                    }
                    if device::stuck::is_stuck() {
                        return Err(self.ended_early(trials.len()));
                    }
                }
                let prepared = first_round.next().map_or_else(|| prepare_again(trial, round), Ok)?;
                let finished = self.run_one((index, trial), &*prepared, round)?;
                self.finished.push(finished);
            }
        }
        Ok(())
    }

    /// Reports that a stuck target ended a series of runs.
    fn ended_early(&self, trials: usize) -> Exit {
        let (done, all) = (self.finished.len(), trials * self.options.repeat.unwrap_or(1) as usize);
        let what = format!("ended after {done} of {all} runs: a file or device does not respond");
        let help = "check it or its server (see dmesg), or wait longer for it with --grace DURATION";
        Exit::environment(Problem::error(ProblemCode::Operation, what).help(help))
    }

    fn run_options(&self) -> RunOptions {
        RunOptions { command_line: command_line(self.words), ..RunOptions::default() }
    }

    /// Runs a prepared trial, analyses the result and starts to save it.
    fn run_one(
        &mut self,
        (index, trial): (usize, &RunTrial),
        prepared: &dyn PreparedRun,
        round: u32,
    ) -> Result<FinishedRun, Exit> {
        let (run_options, started_unix_ms) = (self.run_options(), device::unix_ms());
        let repeat = self.options.repeat.map(|of| Repeat { series: trial.series.clone(), number: round + 1, of });
        if let Some(Repeat { number, of, .. }) = &repeat {
            self.display.set_prefix(&format!("repeat {number} of {of}, {}: ", trial.name));
        }
        let command_line = run_options.command_line.clone();
        self.display.event(&Event::Start { unix_ms: started_unix_ms, command_line });
        let mut completed = prepared.run(&run_options, self.signals, &mut self.display).map_err(|error| {
            self.display.close();
            let exit = Exit::environment(error);
            self.signals.end().map_or(exit, Exit::Signal)
        })?;
        completed.run.repeat = repeat;
        self.display.event(&Event::end(&completed.run));
        self.display.clear();
        let mut verdicts = analyse(&completed.run);
        if self.options.probe && self.probe(trial, prepared, &mut completed.run, &verdicts) {
            verdicts = analyse(&completed.run);
        }
        let pending_save = self.save(trial, &completed.run, &verdicts, started_unix_ms);
        let mut failures =
            device::verify_files::write(Path::new("."), prepared.plan(), prepared.workers(), &completed.workers);
        let unwritten = (!failures.is_empty()).then_some(Exit::Environment);
        failures.extend(runners::failures(prepared, &completed));
        let exit = completed.signal.map(Exit::Signal).or_else(|| worst_exit(&completed, prepared)).or(unwritten);
        let left_behind = left_behind(&prepared.preview());
        Ok(FinishedRun { trial: index, run: completed.run, verdicts, failures, exit, left_behind, pending_save })
    }

    /// Decides whether the queue depth limits the run, by a short run at twice the depth and one at its own depth.
    /// Reports whether it added the answer to `run`: it runs nothing if there is no question.
    fn probe(&mut self, trial: &RunTrial, prepared: &dyn PreparedRun, run: &mut Run, verdicts: &[Verdict]) -> bool {
        if self.signals.end().is_some() || device::stuck::is_stuck() {
            return false;
        }
        let Some(plan) = depth_probe::plan(prepared.plan(), prepared.workers(), run, verdicts) else { return false };
        let same_depth = depth_probe::again(&plan, prepared.plan());
        self.display.show_status("probing at twice the depth, then again at the original depth");
        let both = self.run_silently(trial, &plan).and_then(|probed| match probed {
            Some(probed) => Ok(self.run_silently(trial, &same_depth)?.map(|again| (probed, again))),
            None => Ok(None),
        });
        self.display.clear();
        match both {
            Ok(Some((probed, again))) => {
                depth_probe::add(run, verdicts, &probed, &again);
                return true;
            }
            Ok(None) => {}
            Err(problems) => problems.into_iter().for_each(|problem| diagnostics::warning(&problem.of("--probe"))),
        }
        false
    }

    /// Runs a plan without display. Returns `None` if it was interrupted.
    fn run_silently(&self, trial: &RunTrial, plan: &Plan) -> Result<Option<Run>, Vec<Problem>> {
        let prepared = trial.prepare_plan(plan)?;
        if let refusals @ [_, ..] = prepared.refusals() {
            return Err(refusals.to_vec());
        }
        let completed = prepared.run(&self.run_options(), self.signals, &mut NullObserver);
        let run = completed?.run;
        Ok((run.outcome == RunOutcome::Completed).then_some(run))
    }

    /// Starts to save a run. Waits for the save in a series, where it would disturb the next run.
    fn save(&mut self, trial: &RunTrial, run: &Run, verdicts: &[Verdict], started_unix_ms: u64) -> Option<PendingSave> {
        let to_save = RunToSave {
            job: trial.written.clone(),
            events: self.display.take_events(),
            verdict: save::verdict(verdicts),
            ..RunToSave::of(trial.kind, &trial.name, run.clone(), started_unix_ms)
        };
        let pending_save = self.options.common.saves_run().then(|| to_save.start(save::POLICY));
        if self.options.repeat.is_some() { pending_save.map(PendingSave::settle) } else { pending_save }
    }
}

/// Enters the result files and the event log into the register of outputs, before jobs are checked against it.
fn claim_outputs(options: &RunCommandOptions) -> Result<(), Problem> {
    outputs::claim(&options.output)?;
    let events = options.events.as_deref().filter(|_| !rank::is_silent());
    events.map_or(Ok(()), |path| outputs::claim_as("--events", path))
}

/// Opens the result files, the event log and the observers, before time is spent on the run.
fn open_outputs(options: &RunCommandOptions) -> Result<(Vec<Output>, EventLog, RequestedObservers), Problem> {
    let observers = RequestedObservers::acquire(&options.common, options.live.then_some("fathom run"))?;
    let files = match options.repeat {
        Some(_) => outputs::open_for_many(options, "a series of repeats")?,
        None => Output::open(&options.output, ResultFormat::OF_RUN)?,
    };
    Ok((files, EventLog::open(options.events.as_deref().filter(|_| !rank::is_silent()))?, observers))
}

/// Writes the results, prints errors and the names of saved runs, and returns the exit status of the command.
fn conclude(
    options: &RunCommandOptions,
    trials: &[RunTrial],
    finished: Vec<FinishedRun>,
    files: &mut [Output],
    events_problem: Option<Problem>,
) -> Exit {
    let series = options.repeat.map(|of| repeats(trials, &finished, of));
    let document = match &series {
        Some(series) => ResultDocument::Repeats(series),
        // Without --repeat there is one trial.
        None => ResultDocument::Run(&finished[0].run, &finished[0].verdicts),
    };
    // Files first: the reader of standard output may have stopped.
    let mut errors: Vec<Problem> = files.iter_mut().filter_map(|file| file.write(document).err()).collect();
    let printed = outputs::print(&outputs::printed(document, options.format, options.details));
    errors.extend(events_problem);
    errors.extend(printed.err().map(|error| outputs::unprinted(&error)));
    let is_incomplete = !errors.is_empty();
    errors.extend(finished.iter().flat_map(|one| one.failures.iter().cloned()));
    diagnostics::errors(&errors);
    finished.iter().filter_map(|one| one.left_behind.as_ref()).for_each(|line| write_stderr(&format!("{line}\n")));
    let worst = finished.iter().filter_map(|one| one.exit).max();
    let is_distrusted = finished.iter().any(|one| analyse::distrusted(&one.verdicts));
    let names: Option<Vec<String>> = series.map(|series| series.into_iter().map(|repeats| repeats.series).collect());
    let mut pending_saves = finished.into_iter().filter_map(|one| one.pending_save);
    match names {
        None => drop(save::report_saved(pending_saves.next())),
        Some(names) => save::report_saved_series(pending_saves, &names),
    }
    match worst {
        Some(exit) => exit,
        None if is_incomplete => Exit::Environment,
        None if is_distrusted => Exit::Distrust,
        None => Exit::Good,
    }
}

/// Returns the finished runs of each trial that has any, as a series.
fn repeats<'a>(trials: &[RunTrial], finished: &'a [FinishedRun], of: u32) -> Vec<RepeatsResult<'a>> {
    let series = trials.iter().enumerate().map(|(index, trial)| {
        let own = finished.iter().filter(|one| one.trial == index);
        let runs: Vec<RunResult<'_>> = own.map(|one| RunResult::new(&one.run, &one.verdicts)).collect();
        let jobs = analyse::repeats(&runs.iter().map(|one| &*one.run).collect::<Vec<_>>());
        RepeatsResult { series: trial.series.clone(), name: trial.name.clone(), of, jobs, runs }
    });
    series.filter(|repeats| !repeats.runs.is_empty()).collect()
}

/// Returns a line about the files that a run created and that still exist, with the command that removes them.
fn left_behind(preview: &Preview<'_>) -> Option<String> {
    /// Maximum number of files named.
    const NAMED: usize = 3;
    let Preview::Device { growths } = preview else { return None };
    let created: Vec<&FileGrowth> =
        growths.iter().filter(|growth| growth.from.is_none() && growth.path.is_file()).collect();
    let bytes = units::Bytes::new(created.iter().map(|growth| growth.to).sum());
    let names =
        |growths: &[&FileGrowth]| growths.iter().map(|growth| shell_word(&growth.path)).collect::<Vec<_>>().join(" ");
    match created.as_slice() {
        [] => None,
        few if few.len() <= NAMED => Some(format!("left behind: {bytes}; remove it with: rm {}", names(few))),
        many => {
            let (shown, more) = (names(&many[..NAMED]), many.len() - NAMED);
            Some(format!("left behind: {bytes} in {shown} and {more} more files; remove them with rm"))
        }
    }
}

/// Quotes a path for a shell command, so that a leading dash starts no option.
fn shell_word(path: &Path) -> String {
    let path = path.to_string_lossy();
    report::escape::shell(&if path.starts_with('-') { format!("./{path}") } else { path.into_owned() })
}
