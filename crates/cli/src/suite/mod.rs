//! `fathom suite`: published benchmark procedures.
//!
//! A procedure is data (`suites/*.toml`); each of its steps is a run or a simulation like any other.

pub(crate) mod args;
mod state_file;

use std::path::PathBuf;

use args::{SuiteCommand, SuiteOptions, SuiteRunOptions};
use live::EventLog;
use procedure::ProcedureHost;
use procedure::suite::{self, Suite, SuiteEnd, SuiteQuestion, SuiteRequest, SuiteSession, SuiteState};
use record::{Note, Run};
use report::suite::{SuiteDocument, SuiteOutcome, suites_json, suites_markdown, suites_text};
use report::{Event, ResultDocument, ResultFormat};
use runner::{Refusal, RunControl, Seeds};
use state_file::SuiteLock;
use store::RunKind;

use crate::args::PageFormat;
use crate::display::Display;
use crate::exit::Exit;
use crate::observers::RequestedObservers;
use crate::outputs::{self, IN_FILES, Output};
use crate::refusal::Refused;
use crate::save::{self, RunToSave};
use crate::signals::Signals;
use crate::source::LocalSource;
use crate::terminal::{Terminal, write_stderr};
use crate::{argv, home, runners};

/// Lists, describes or runs suites.
pub(crate) fn command(options: &SuiteOptions, words: &[String]) -> Result<Exit, Exit> {
    match &options.command {
        SuiteCommand::List(options) => Ok(list(options.format)),
        SuiteCommand::Show(options) => {
            let suite = suite::find(&options.name, read_suite).map_err(|problems| Refusal::Jobs(problems).report())?;
            Ok(show(&suite, options.format))
        }
        SuiteCommand::Run(options) => execute(options, words),
    }
}

/// Lists all suites.
fn list(format: PageFormat) -> Exit {
    let suites = suite::all();
    let procedures: Vec<_> = suites.iter().map(Suite::procedure).collect();
    outputs::print_text(&match format {
        PageFormat::Text => suites_text(&procedures),
        PageFormat::Json => suites_json(&procedures),
        PageFormat::Md => suites_markdown(&procedures),
    })
}

/// Describes one suite.
fn show(suite: &Suite, format: PageFormat) -> Exit {
    let procedure = suite.procedure();
    outputs::print_text(&match format {
        PageFormat::Text => procedure.text(Terminal::stdout().style()),
        PageFormat::Json => procedure.json(),
        PageFormat::Md => procedure.markdown(),
    })
}

/// Checks everything, resumes an interrupted run, and reports the result.
fn execute(options: &SuiteRunOptions, words: &[String]) -> Result<Exit, Exit> {
    let source = LocalSource::default();
    let gate = options.common.gate();
    let runner = |place| runners::runner(place, &gate);
    let host = runners::procedure_host(&source, &runner);
    let question = read(options, host).map_err(Refusal::report)?;
    let seed = options.common.seed.unwrap_or_else(|| runners::seed_for_many(options.target.is_none()));
    let checked = suite::check_all(&question, Seeds::fixed(seed));
    if options.common.dry_run {
        return Ok(dry_run(&question, seed, checked));
    }
    let opened = checked.and_then(|()| open(options, &question));
    let OpenedSuite { path, kept, mut files, observers, _lock } = opened.map_err(Refusal::report)?;
    let signals = Signals::listen()?.with_grace(options.common.grace);
    let state = kept.unwrap_or_else(|| SuiteState::new(&question, seed));
    let mut display = Display::new(options.common.progress, EventLog::none()).with_observers(observers);
    let began = device::unix_ms();
    display.record_event(&Event::Start { unix_ms: began, command_line: argv::command_line(words) });
    if state.done() > 0 {
        display.show_status(&format!("going on: {} steps were done before", state.done()));
    }
    let mut session = SuiteSession {
        question: &question,
        state,
        save: &|state| state_file::save(state, &path),
        control: &signals,
        observer: &mut display,
        parts: Vec::new(),
        begun: signals.elapsed(),
    };
    let ended = session.all_steps();
    let SuiteSession { mut state, parts, .. } = session;
    display.close();
    signals.conclude();
    let document = suite::document(&question, &state, argv::command_line(words), ended == SuiteEnd::Finished);
    let pending_save =
        options.common.records().then(|| to_save(&document, parts, &state, &mut display, (words, began)));
    let pending_save =
        pending_save.map(|to_save| RunToSave { attached: attached(&question, &document), ..to_save }.keep());
    let (exit, written) = conclude(options, &document, &mut files);
    state.kept = save::report_saved(pending_save).or(state.kept);
    match ended {
        SuiteEnd::Unkept(problem) => Ok(Exit::environment(&problem)),
        SuiteEnd::Signal | SuiteEnd::Stuck => {
            // So that the record of the rest can be completed by that of the beginning.
            let _ = state_file::save(&state, &path);
            write_stderr(&format!("fathom: interrupted; what is done is in {}\n", path.display()));
            Ok(signals.end().map_or(Exit::Environment, Exit::Signal))
        }
        SuiteEnd::Finished => {
            // The next run of the same command is a new one. A file that stays is only in its way.
            if written {
                let _ = std::fs::remove_file(&path);
            }
            Ok(exit)
        }
    }
}

/// Reads a suite file.
fn read_suite(path: &str) -> Result<String, String> {
    runners::read_text(path, "suite")
}

fn read<'a>(options: &SuiteRunOptions, host: ProcedureHost<'a>) -> Result<SuiteQuestion<'a>, Refusal> {
    let suite = suite::find(&options.name, read_suite).map_err(Refusal::Jobs)?;
    let request = SuiteRequest {
        target: options.target.clone(),
        target_path: options.target.as_deref().map(state_file::absolute),
        on: options.on.clone(),
        size: options.size.clone(),
        scale: options.scale.clone(),
    };
    SuiteQuestion::read(&request, suite, host)
}

/// Outputs of a suite run, opened before it begins.
struct OpenedSuite {
    /// Where what is done is kept, and what was kept there.
    path: PathBuf,
    kept: Option<SuiteState>,
    files: Vec<Output>,
    observers: RequestedObservers,
    _lock: SuiteLock,
}

fn open(options: &SuiteRunOptions, question: &SuiteQuestion<'_>) -> Result<OpenedSuite, Refusal> {
    let refused = |problem| Refusal::Words(vec![problem]);
    let usual = || state_file::usual_path(question).map_err(Refusal::Host);
    let path = options.state.clone().map_or_else(usual, Ok)?;
    let lock = SuiteLock::take(&path).map_err(refused)?;
    let kept =
        if options.restart { None } else { state_file::load(&path, question, options.common.seed).map_err(refused)? };
    let files = Output::open(&options.output, ResultFormat::OF_SUITE).map_err(refused)?;
    let observers = RequestedObservers::acquire(&options.endpoint, None).map_err(refused)?;
    Ok(OpenedSuite { path, kept, files, observers, _lock: lock })
}

/// The last line of every dry run; of many steps it stands once.
const TOUCHED: &str = "nothing was touched";

/// Prints what a suite run would do.
fn dry_run(question: &SuiteQuestion<'_>, seed: u64, checked: Result<(), Refusal>) -> Exit {
    if let Err(refusal @ Refusal::Jobs(_)) = checked {
        return refusal.report();
    }
    let mut text = question.suite().procedure().preview(&question.targets());
    match suite::described(question, Seeds::fixed(seed)) {
        Ok(steps) => {
            for (name, told) in steps {
                let told: String =
                    told.lines().filter(|line| *line != TOUCHED).map(|line| format!("  {line}\n")).collect();
                text.push_str(&format!("\n{name}\n{told}"));
            }
        }
        Err(refusal) => return refusal.report(),
    }
    text.push_str(&format!("\n{TOUCHED}\n"));
    match (outputs::print_text(&text), checked) {
        (_, Err(refusal)) => refusal.report(),
        (said, Ok(())) => said,
    }
}

/// Data of a suite to be saved: steps of this command, behind those of an earlier one.
fn to_save(
    document: &SuiteDocument,
    parts: Vec<(String, Run)>,
    state: &SuiteState,
    display: &mut Display,
    (words, began_unix_ms): (&[String], u64),
) -> RunToSave {
    let done_now = parts.len();
    let mut run = save::of_parts(parts, words, Some(document.seed));
    let earlier = state.kept.as_deref().and_then(|id| home::store().ok()??.load(id).ok());
    let is_whole = earlier.is_some() || done_now >= state.done();
    if let Some(earlier) = earlier {
        run = Run { command_line: run.command_line.clone(), seed: run.seed, ..earlier.run.then(run) };
    }
    if !is_whole {
        let text = "steps that were done by an earlier command are in suite.json alone";
        run.notes.push(Note { job: None, text: text.to_owned() });
    }
    run.outcome = match document.finished {
        false => record::RunOutcome::Interrupted,
        true if has_failed(document) => record::RunOutcome::Failed,
        true => record::RunOutcome::Completed,
    };
    display.record_event(&Event::end(&run));
    let told = outcomes(document).flat_map(SuiteOutcome::findings).max_by_key(|told| told.severity);
    RunToSave {
        events: display.take_events(),
        verdict: told.map(|told| told.code.clone()),
        ..RunToSave::of(RunKind::Suite, &document.suite, run, began_unix_ms)
    }
}

fn attached(question: &SuiteQuestion<'_>, document: &SuiteDocument) -> Vec<(&'static str, String)> {
    vec![
        (save::SUITE, report::suite::json(document)),
        (save::TEXT, report::suite::text(document, IN_FILES)),
        ("suite.toml", question.suite().toml().to_owned()),
    ]
}

fn outcomes(document: &SuiteDocument) -> impl Iterator<Item = &SuiteOutcome> {
    document.steps.iter().flat_map(|step| step.measured.iter().chain(&step.modelled))
}

fn has_failed(document: &SuiteDocument) -> bool {
    outcomes(document).any(|outcome| matches!(outcome, SuiteOutcome::Failed(_)))
}

/// Writes the results and says how it all ended, and whether all of them are written.
fn conclude(options: &SuiteRunOptions, document: &SuiteDocument, files: &mut [Output]) -> (Exit, bool) {
    let delivered = outputs::deliver_as(files, ResultDocument::Suite(document), options.format);
    let exit = match delivered {
        Exit::Good if has_failed(document) => Exit::Environment,
        Exit::Good if outcomes(document).any(SuiteOutcome::is_distrusted) => Exit::Distrust,
        delivered => delivered,
    };
    (exit, delivered == Exit::Good)
}
