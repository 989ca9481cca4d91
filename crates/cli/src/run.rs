//! `fathom run`: measures devices and files. `fathom sim` takes the same steps.

use std::path::Path;

use analyse::{Verdict, analyse};
use engine::describe;
use job::Plan;
use live::EventLog;
use procedure::depth_probe;
use record::{Repeat, Run, RunOutcome};
use report::{Event, RepeatsDocument, ResultDocument, ResultFormat, preview};
use runner::{FileGrowth, PreparedRun, Preview, Refusal, RunOptions as Measuring, Silent};

use crate::args::RunCommandOptions;
use crate::argv::command_line;
use crate::display::Display;
use crate::exit::Exit;
use crate::observers::RequestedObservers;
use crate::outputs::{self, Output};
use crate::refusal::Refused;
use crate::runners::{failures, worst_exit};
use crate::save::{self, PendingSave, RunToSave};
use crate::signals::Signals;
use crate::terminal::write_stderr;
use crate::trial::RunTrial;
use crate::{diagnostics, dump};

/// Measures.
pub(crate) fn command(options: &RunCommandOptions, jobs: &[String], words: &[String]) -> Result<Exit, Exit> {
    execute(options, jobs, words, false)
}

/// Reads, checks, measures, saves and explains; on models in real or in virtual time.
pub(crate) fn execute(
    options: &RunCommandOptions,
    jobs: &[String],
    words: &[String],
    is_virtual: bool,
) -> Result<Exit, Exit> {
    let trials = RunTrial::all(options, jobs, is_virtual)?;
    let ready: Result<Vec<Prepared<'_>>, Refusal> = trials.iter().map(|trial| trial.ready(0)).collect();
    let ready = ready.map_err(Refusal::report)?;
    if options.job_files.show_jobs {
        return Ok(outputs::print_text(&ready.iter().map(|ready| preview::jobs(ready.plan())).collect::<String>()));
    }
    let dangers: Vec<String> = ready.iter().flat_map(|ready| ready.refusals()).cloned().collect();
    if options.common.dry_run {
        let said = outputs::print_text(&ready.iter().map(|ready| preview::prepared(&**ready)).collect::<String>());
        return Ok(if dangers.is_empty() { said } else { Exit::Usage });
    }
    if !dangers.is_empty() {
        return Err(Refusal::Words(dangers).report());
    }
    let opened = open_outputs(options).map_err(|problem| Refusal::Words(vec![problem]).report());
    let (mut files, events, observers) = opened?;
    let signals = Signals::listen()?.with_grace(options.common.grace);
    let display = Display::new(options.common.progress, events).with_observers(observers);
    let mut session = RunSession { options, words, signals: &signals, display, taken: Vec::new() };
    let broken = session.all(&trials, ready);
    let RunSession { taken, display, .. } = session;
    signals.conclude();
    let problem = display.end().problem();
    match broken {
        Some(exit) if taken.is_empty() => Err(exit),
        broken => {
            let exit = conclude(options, &trials, taken, &mut files, problem);
            Ok(broken.unwrap_or(exit))
        }
    }
}

/// A run that can begin.
type Prepared<'a> = Box<dyn PreparedRun + 'a>;

/// The measurements of one call.
struct RunSession<'a> {
    options: &'a RunCommandOptions,
    words: &'a [String],
    signals: &'a Signals,
    display: Display,
    taken: Vec<FinishedRun>,
}

/// A finished run with its findings.
struct FinishedRun {
    /// Which of the trials it is of.
    trial: usize,
    run: Run,
    verdicts: Vec<Verdict>,
    /// What went wrong, a line each.
    failures: Vec<String>,
    exit: Option<Exit>,
    /// Files that it made and that stay.
    left: Option<String>,
    pending_save: Option<PendingSave>,
}

impl RunSession<'_> {
    /// All trials in turns, as often as is asked for or until it is interrupted. Returns why it ended before.
    fn all<'t>(&mut self, trials: &'t [RunTrial], ready: Vec<Prepared<'t>>) -> Option<Exit> {
        let mut ready = ready.into_iter();
        let again = |trial: &'t RunTrial, round| match trial.ready(round) {
            Ok(ready) if ready.refusals().is_empty() => Ok(ready),
            Ok(ready) => Err(Exit::environment(&ready.refusals().join("\n"))),
            Err(refusal) => Err(Exit::environment(&refusal.line())),
        };
        for round in 0..self.options.repeat.unwrap_or(1) {
            for (index, trial) in trials.iter().enumerate() {
                if !self.taken.is_empty() {
                    if self.signals.end().is_some() {
                        return None;
                    }
                    if device::stuck::is_stuck() {
                        return Some(self.ended_early(trials.len()));
                    }
                }
                let taken = match ready.next().map_or_else(|| again(trial, round), Ok) {
                    Ok(ready) => self.take((index, trial), &*ready, round),
                    Err(exit) => Err(exit),
                };
                match taken {
                    Ok(taken) => self.taken.push(taken),
                    Err(exit) => return Some(exit),
                }
            }
        }
        None
    }

    /// A target is stuck, so that nothing more is asked of any.
    fn ended_early(&self, trials: usize) -> Exit {
        let (done, all) = (self.taken.len(), trials * self.options.repeat.unwrap_or(1) as usize);
        Exit::environment(&format!(
            "ended after {done} of {all} runs: a file or device does not answer\nhelp: check it or its server (see dmesg), or \
             wait longer for it with --grace DURATION"
        ))
    }

    fn measuring(&self) -> Measuring {
        Measuring { command_line: command_line(self.words), ..Measuring::default() }
    }

    /// Measures, and keeps what was measured.
    fn take(
        &mut self,
        (index, trial): (usize, &RunTrial),
        ready: &dyn PreparedRun,
        round: u32,
    ) -> Result<FinishedRun, Exit> {
        let (measuring, began_unix_ms) = (self.measuring(), device::unix_ms());
        let repeat = self.options.repeat.map(|of| Repeat { series: trial.series.clone(), number: round + 1, of });
        if let Some(Repeat { number, of, .. }) = &repeat {
            self.display.set_prefix(&format!("repeat {number} of {of}, {}: ", trial.name));
        }
        self.display
            .record_event(&Event::Start { unix_ms: began_unix_ms, command_line: measuring.command_line.clone() });
        let mut measured = ready.run(&measuring, self.signals, &mut self.display).map_err(|error| {
            self.display.close();
            let exit = Exit::environment(&error.to_string());
            self.signals.end().map_or(exit, Exit::Signal)
        })?;
        measured.run.repeat = repeat;
        self.display.record_event(&Event::end(&measured.run));
        self.display.clear();
        let mut verdicts = analyse(&measured.run);
        if self.options.probe && self.probe(trial, ready, &mut measured.run, &verdicts) {
            verdicts = analyse(&measured.run);
        }
        let pending_save = self.keep(trial, &measured.run, &verdicts, began_unix_ms);
        let (plan, workers) = (ready.plan(), ready.workers());
        let mut problems = dump::write(Path::new("."), workers, &measured.workers);
        problems.extend(failures(ready, &measured));
        let exit = measured.signal.map(Exit::Signal).or_else(|| worst_exit(&measured, plan, workers));
        let left = files_left(&ready.preview());
        Ok(FinishedRun { trial: index, run: measured.run, verdicts, failures: problems, exit, left, pending_save })
    }

    /// Runs the same jobs for a moment at twice the depth where that answers what the run left open, and for a moment at
    /// their own. Says whether it did.
    fn probe(&mut self, trial: &RunTrial, ready: &dyn PreparedRun, run: &mut Run, verdicts: &[Verdict]) -> bool {
        if self.signals.end().is_some() || device::stuck::is_stuck() {
            return false;
        }
        let Some(plan) = depth_probe::plan(ready.plan(), ready.workers(), run, verdicts) else { return false };
        let again = depth_probe::again(&plan, ready.plan());
        self.display.show_status("probing at twice the depth, and once more at the same");
        let both = self.moment(trial, &plan).and_then(|probed| match probed {
            Some(probed) => Ok(self.moment(trial, &again)?.map(|again| (probed, again))),
            None => Ok(None),
        });
        self.display.clear();
        match both {
            Ok(Some((probed, again))) => {
                depth_probe::add(run, verdicts, &probed, &again);
                true
            }
            Ok(None) => false,
            Err(problem) => {
                diagnostics::warning(&format!("--probe: {problem}"));
                false
            }
        }
    }

    /// A run without display; `None` where it was interrupted.
    fn moment(&self, trial: &RunTrial, plan: &Plan) -> Result<Option<Run>, String> {
        let ready = trial.ready_with(plan).map_err(|refusal| refusal.line())?;
        if let refusals @ [_, ..] = ready.refusals() {
            return Err(refusals.join("; "));
        }
        let measured = ready.run(&self.measuring(), self.signals, &mut Silent);
        let run = measured.map_err(|error| error.to_string())?.run;
        Ok((run.outcome == RunOutcome::Completed).then_some(run))
    }

    /// Begins to keep a run; the next one of a series is not disturbed by it.
    fn keep(&mut self, trial: &RunTrial, run: &Run, verdicts: &[Verdict], began_unix_ms: u64) -> Option<PendingSave> {
        let events = self.display.take_events();
        let kept = RunToSave {
            job: trial.written.clone(),
            events,
            verdict: save::verdict(verdicts),
            ..RunToSave::of(trial.kind, &trial.name, run.clone(), began_unix_ms)
        };
        let pending_save = self.options.common.records().then(|| kept.keep());
        if self.options.repeat.is_some() { pending_save.map(PendingSave::settle) } else { pending_save }
    }
}

/// The files for results and for events, and those who look on: before time is spent.
fn open_outputs(options: &RunCommandOptions) -> Result<(Vec<Output>, EventLog, RequestedObservers), String> {
    let observers = RequestedObservers::acquire(&options.endpoint, options.live.then_some("fathom run"))?;
    let files = match options.repeat {
        Some(_) => outputs::open_for_many(options, "a series of repeats")?,
        None => Output::open(&options.output, ResultFormat::OF_RUN)?,
    };
    Ok((files, EventLog::open(options.events.as_deref())?, observers))
}

/// Writes the results and says how it all ended.
fn conclude(
    options: &RunCommandOptions,
    trials: &[RunTrial],
    taken: Vec<FinishedRun>,
    files: &mut [Output],
    events: Option<String>,
) -> Exit {
    let worst = taken.iter().filter_map(|taken| taken.exit).max();
    let left: Vec<String> = taken.iter().flat_map(|taken| taken.left.clone()).collect();
    let is_distrusted = taken.iter().any(|taken| analyse::distrusted(&taken.verdicts));
    let failures: Vec<String> = taken.iter().flat_map(|taken| taken.failures.clone()).collect();
    let (results, pending_saves): (Vec<_>, Vec<_>) =
        taken.into_iter().map(|taken| ((taken.trial, taken.run, taken.verdicts), taken.pending_save)).unzip();
    let results = Results::of(options, trials, results);
    // Files first: the reader of standard output may have stopped.
    let unwritten: Vec<String> = files.iter_mut().filter_map(|file| file.write(results.document()).err()).collect();
    let unprinted = outputs::print(&outputs::printed(results.document(), options.format)).err();
    let unprinted = unprinted.map(|error| format!("standard output: {}", describe(&error)));
    let unwritten: Vec<String> = unwritten.into_iter().chain(events).chain(unprinted).collect();
    let is_lost = !unwritten.is_empty();
    diagnostics::error(&unwritten.into_iter().chain(failures).collect::<Vec<_>>().join("\n"));
    left.iter().for_each(|left| write_stderr(&format!("{left}\n")));
    match &results {
        Results::One(..) => drop(save::report_saved(pending_saves.into_iter().flatten().next())),
        Results::Many(series) => {
            let names: Vec<String> = series.iter().map(|repeats| repeats.series.clone()).collect();
            save::report_saved_series(pending_saves.into_iter().flatten(), &names);
        }
    }
    match worst {
        Some(exit) => exit,
        None if is_lost => Exit::Environment,
        None if is_distrusted => Exit::Distrust,
        None => Exit::Good,
    }
}

/// Results to print.
enum Results {
    One(Box<Run>, Vec<Verdict>),
    Many(Vec<RepeatsDocument>),
}

impl Results {
    fn of(options: &RunCommandOptions, trials: &[RunTrial], mut taken: Vec<(usize, Run, Vec<Verdict>)>) -> Self {
        let Some(of) = options.repeat else {
            let (_, run, verdicts) = taken.pop().unwrap_or_default();
            return Self::One(Box::new(run), verdicts);
        };
        let repeats = |(index, trial): (usize, &RunTrial)| {
            let own = taken.iter().filter(|(of, ..)| *of == index);
            let runs: Vec<(Run, Vec<Verdict>)> = own.map(|(_, run, found)| (run.clone(), found.clone())).collect();
            let jobs = analyse::repeats(&runs.iter().map(|(run, _)| run).collect::<Vec<_>>());
            RepeatsDocument { series: trial.series.clone(), name: trial.name.clone(), of, runs, jobs }
        };
        let all = trials.iter().enumerate().map(repeats);
        Self::Many(all.filter(|repeats| !repeats.runs.is_empty()).collect())
    }

    fn document(&self) -> ResultDocument<'_> {
        match self {
            Self::One(run, verdicts) => ResultDocument::Run(run, verdicts),
            Self::Many(series) => ResultDocument::Repeats(series),
        }
    }
}

/// Returns the files that a run created and that still exist, in a line, with the command that removes them.
fn files_left(preview: &Preview<'_>) -> Option<String> {
    /// So many are named.
    const NAMED: usize = 3;
    let Preview::Device { growths } = preview else { return None };
    let made: Vec<&FileGrowth> =
        growths.iter().filter(|growth| growth.from.is_none() && growth.path.is_file()).collect();
    let bytes = units::Bytes::new(made.iter().map(|growth| growth.to).sum());
    let names = |growths: &[&FileGrowth]| growths.iter().map(|growth| word(&growth.path)).collect::<Vec<_>>().join(" ");
    match made.as_slice() {
        [] => None,
        few if few.len() <= NAMED => Some(format!("left behind: {bytes}; remove it with: rm {}", names(few))),
        many => {
            let (shown, more) = (names(&many[..NAMED]), many.len() - NAMED);
            Some(format!("left behind: {bytes} in {shown} and {more} more files; remove them with rm"))
        }
    }
}

/// Returns a path as a word of a shell command: a leading dash is no option.
fn word(path: &Path) -> String {
    let path = path.to_string_lossy();
    report::escape::shell(&if path.starts_with('-') { format!("./{path}") } else { path.into_owned() })
}
