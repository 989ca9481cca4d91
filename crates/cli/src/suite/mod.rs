//! `fathom suite`: runs published benchmark procedures.
//!
//! A procedure is data (`suites/*.toml`); each of its steps is an ordinary run or simulation.

mod state;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use device::state_file::StateLock;
use fleet::Fleet;
use live::EventLog;
use procedure::suite::{self, Suite, SuiteEnd, SuiteQuestion, SuiteRequest, SuiteSession, SuiteState};
use procedure::{ProcedureHost, ProcedureObserver};
use record::{Note, Run, RunKind};
use report::suite::{preview as suite_preview, procedure_markdown, procedure_text, suites_markdown, suites_text};
use report::{ResultDocument, ResultFormat};
use results::events::Event;
use results::stored::{StoredResult, sorted};
use results::suite::{SuiteOutcome, SuiteResult};
use runner::{RunControl, Seeds};
use store::RunToSave;
use units::{Problem, ProblemCode};

use crate::args::{CommonOptions, Details, PAGES, one_of};
use crate::display::Display;
use crate::exit::Exit;
use crate::observers::RequestedObservers;
use crate::outputs::{self, IN_FILES, Output};
use crate::signals::Signals;
use crate::source::LocalSource;
use crate::terminal::{Terminal, write_stderr};
use crate::{argv, home, rank, runners, save};

/// Lists, describes or runs suites.
pub(crate) fn command(options: &SuiteOptions, words: &[String]) -> Result<Exit, Exit> {
    match &options.command {
        SuiteCommand::List(options) => Ok(list(options.format)),
        SuiteCommand::Show(options) => {
            let suite = suite::find(&options.name, read_suite).map_err(Exit::invalid)?;
            Ok(show(&suite, options.format))
        }
        SuiteCommand::Run(options) => execute(options, words),
    }
}

/// Lists all suites.
fn list(format: ResultFormat) -> Exit {
    let suites = suite::all();
    let procedures: Vec<_> = suites.iter().map(Suite::procedure).collect();
    outputs::print_text(&match format {
        ResultFormat::Json => sorted(&procedures),
        ResultFormat::Markdown => suites_markdown(&procedures),
        _ => suites_text(&procedures),
    })
}

/// Describes one suite.
fn show(suite: &Suite, format: ResultFormat) -> Exit {
    let procedure = suite.procedure();
    outputs::print_text(&match format {
        ResultFormat::Json => sorted(&procedure),
        ResultFormat::Markdown => procedure_markdown(&procedure),
        _ => procedure_text(&procedure, Terminal::stdout().style(true)),
    })
}

/// Checks all steps, runs those not yet done, and saves and reports the result.
fn execute(options: &SuiteRunOptions, words: &[String]) -> Result<Exit, Exit> {
    let source = LocalSource::default();
    let gate = options.common.gate();
    let runner = |place| runners::runner(place, &gate);
    let host = runners::procedure_host(&source, &runner);
    let question = parse(options, host).map_err(Exit::refused)?;
    outputs::claim(&options.output).map_err(Exit::invalid)?;
    let seed = options.common.seed.unwrap_or_else(|| runners::seed_for_many(options.request.target.is_none()));
    let seed = Fleet::value_of_rank_0(rank::joined(), seed).map_err(Exit::environment)?;
    let checked = suite::check_all(&question, Seeds::fixed(seed));
    if options.common.dry_run {
        return Ok(dry_run(&question, seed, checked));
    }
    let opened = checked.and_then(|()| open(options, &question));
    let OpenedSuite { path, saved, mut files, observers, _lock } = opened.map_err(Exit::refused)?;
    let signals = Signals::listen(options.common.grace)?;
    let saved = Fleet::value_of_rank_0(rank::joined(), saved).map_err(Exit::environment)?;
    let state = saved.unwrap_or_else(|| SuiteState::new(&question, seed));
    let mut display = Display::new(options.common.progress, EventLog::none()).with_observers(observers);
    let started_unix_ms = device::unix_ms();
    display.event(&Event::Start { unix_ms: started_unix_ms, command_line: argv::command_line(words) });
    if state.done() > 0 {
        display.show_status(&format!("resuming after {} finished steps", state.done()));
    }
    let mut session = SuiteSession {
        question: &question,
        state,
        save: &|state| if rank::is_silent() { Ok(()) } else { state::save(state, &path) },
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
    let pending_save = options.common.saves_run().then(|| {
        let to_save = to_save(&document, parts, &state, &mut display, (words, started_unix_ms));
        let suite_file = ("suite.toml", question.suite().toml().to_owned());
        let text = (save::TEXT, report::suite::text(&document, IN_FILES));
        let document = (save::SUITE, document.json());
        RunToSave { attached: vec![document, text, suite_file], ..to_save }.start(save::POLICY)
    });
    let (exit, is_written) = conclude(options, &document, &mut files);
    state.kept = save::report_saved(pending_save).or(state.kept);
    match ended {
        SuiteEnd::Unkept(problem) => Ok(Exit::environment(problem)),
        SuiteEnd::Signal | SuiteEnd::Stuck => {
            // Saves the ID of this record, so that the record of the remaining steps can include it.
            if !rank::is_silent() {
                let _ = state::save(&state, &path);
            }
            write_stderr(&format!("fathom: interrupted; finished steps are saved in {}\n", path.display()));
            Ok(signals.end().map_or(Exit::Environment, Exit::Signal))
        }
        SuiteEnd::Finished => {
            // Without its state, the same command starts anew. A failure to remove the file is not reported.
            if is_written && !rank::is_silent() {
                let _ = std::fs::remove_file(&path);
            }
            Ok(exit)
        }
    }
}

/// Reads a suite file.
fn read_suite(path: &str) -> Result<String, Problem> {
    runners::read_text(path, "suite")
}

fn parse<'a>(options: &SuiteRunOptions, host: ProcedureHost<'a>) -> Result<SuiteQuestion<'a>, Vec<Problem>> {
    let suite = suite::find(&options.name, read_suite)?;
    let target_path = options.request.target.as_deref().map(state::absolute);
    let request = SuiteRequest { target_path, ..options.request.clone() };
    SuiteQuestion::read(&request, suite, host)
}

/// Resources of a suite run, opened before its first step.
struct OpenedSuite {
    /// Path of the state file.
    path: PathBuf,
    /// State of an interrupted run; on other ranks than 0 none.
    saved: Option<SuiteState>,
    files: Vec<Output>,
    observers: RequestedObservers,
    _lock: Option<StateLock>,
}

fn open(options: &SuiteRunOptions, question: &SuiteQuestion<'_>) -> Result<OpenedSuite, Vec<Problem>> {
    let default = || state::default_path(question);
    // Without its state, the suite does not begin.
    let refused = |problem: Problem| Problem { code: ProblemCode::Suite, ..problem };
    let path = options.state.clone().map_or_else(default, Ok)?;
    let (mut saved, mut lock) = (None, None);
    if !rank::is_silent() {
        outputs::claim_as("--state", &path)?;
        lock = Some(StateLock::acquire(&path).map_err(refused)?);
        if !options.restart {
            saved = state::load(&path, question, options.common.seed).map_err(refused)?;
        }
    }
    let files = Output::open(&options.output, ResultFormat::OF_SUITE)?;
    let observers = RequestedObservers::acquire(&options.common, None)?;
    Ok(OpenedSuite { path, saved, files, observers, _lock: lock })
}

/// Last line of every dry run, printed once for all steps.
const TOUCHED: &str = "nothing was touched";

/// Prints what a suite run would do.
fn dry_run(question: &SuiteQuestion<'_>, seed: u64, checked: Result<(), Vec<Problem>>) -> Exit {
    let mut text = suite_preview(&question.suite().procedure(), &question.targets());
    match suite::described(question, Seeds::fixed(seed)) {
        Ok(steps) => {
            for (name, preview) in steps {
                let lines = preview.lines().filter(|line| *line != TOUCHED);
                let preview: String = lines.map(|line| format!("  {line}\n")).collect();
                text.push_str(&format!("\n{name}\n{preview}"));
            }
        }
        Err(refusal) => return Exit::refused(refusal),
    }
    text.push_str(&format!("\n{TOUCHED}\n"));
    match (outputs::print_text(&text), checked) {
        (_, Err(refusal)) => Exit::refused(refusal),
        (exit, Ok(())) => exit,
    }
}

/// Returns the record to save, without attached files: this command's steps after those of an interrupted run.
fn to_save(
    document: &SuiteResult,
    parts: Vec<(String, Run)>,
    state: &SuiteState,
    display: &mut Display,
    (words, started_unix_ms): (&[String], u64),
) -> RunToSave {
    let done_now = parts.len();
    let mut run = save::of_parts(parts, words, Some(document.seed));
    let earlier = state.kept.as_deref().and_then(|id| home::store().ok()??.load(id).ok());
    let is_complete = earlier.is_some() || done_now >= state.done();
    if let Some(earlier) = earlier {
        run = Run { command_line: run.command_line.clone(), seed: run.seed, ..earlier.run.then(run) };
    }
    if !is_complete {
        let text = "steps completed by an earlier command are only in suite.json";
        run.notes.push(Note::of_run(text));
    }
    run.outcome = match document.finished {
        false => record::RunOutcome::Interrupted,
        true if has_failed(document) => record::RunOutcome::Failed,
        true => record::RunOutcome::Completed,
    };
    display.event(&Event::end(&run));
    let gravest = outcomes(document).flat_map(SuiteOutcome::findings).max_by_key(|finding| finding.severity);
    RunToSave {
        events: display.take_events(),
        verdict: gravest.map(|finding| finding.code.clone()),
        ..RunToSave::of(RunKind::Suite, &document.suite, run, started_unix_ms)
    }
}

fn outcomes(document: &SuiteResult) -> impl Iterator<Item = &SuiteOutcome> {
    document.steps.iter().flat_map(|step| step.measured.iter().chain(&step.modelled))
}

fn has_failed(document: &SuiteResult) -> bool {
    outcomes(document).any(|outcome| matches!(outcome, SuiteOutcome::Failed(_)))
}

/// Writes the results. Returns the exit status, and whether all results are written.
fn conclude(options: &SuiteRunOptions, document: &SuiteResult, files: &mut [Output]) -> (Exit, bool) {
    let delivered = outputs::deliver_as(files, ResultDocument::Suite(document), options.format, options.details);
    let exit = match delivered {
        Exit::Good if has_failed(document) => Exit::Environment,
        Exit::Good if outcomes(document).any(SuiteOutcome::is_distrusted) => Exit::Distrust,
        delivered => delivered,
    };
    (exit, delivered == Exit::Good)
}

pub(crate) const HELP: &str = "\
A suite is a published benchmark procedure: its steps in order, its preconditions, the meaning of each \
result, and the published figures to compare with. `suite run` runs it on a file or device, on a modelled \
volume, or on both. After an interruption, the same command continues with the first unfinished step. A \
custom suite is a file: ./mine.toml (see docs/suites.md for the format).

Examples:
  fathom suite show gcp-pd
  fathom suite run gcp-pd --on gcp/pd-ssd@2019,size=2500GB,vcpus=32
  fathom suite run hyperdisk --target scratch.bin --size 1g --scale 0.1

Exit codes of suite run:
  0 success
  2 usage, or refused: nothing was touched
  3 a step failed, or an I/O error
  4 measured, but unreliable
  128+n ended by signal n: finished steps are saved";

/// Options of `fathom suite`.
#[derive(Clone, Debug, Args)]
pub(crate) struct SuiteOptions {
    #[command(subcommand)]
    pub(crate) command: SuiteCommand,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum SuiteCommand {
    /// List all suites
    List(SuiteListOptions),
    /// Show the steps, options, meaning and published figures of a suite
    Show(SuiteShowOptions),
    /// Run a suite, or continue an interrupted run
    Run(Box<SuiteRunOptions>),
}

#[derive(Clone, Debug, Args)]
pub(crate) struct SuiteListOptions {
    /// Format of standard output; md describes all suites
    #[arg(long, value_parser = one_of(PAGES), default_value = "text")]
    format: ResultFormat,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct SuiteShowOptions {
    /// Name of the suite, or a suite file
    name: String,
    /// Format of standard output
    #[arg(long, value_parser = one_of(PAGES), default_value = "text")]
    format: ResultFormat,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct SuiteRunOptions {
    /// Name of the suite, or a suite file
    name: String,
    #[command(flatten)]
    pub(crate) request: SuiteRequest,
    /// Save finished steps in FILE [default: in $XDG_STATE_HOME/fathom/suites, or ~/.local/state/fathom/suites]
    #[arg(long, value_name = "FILE", help_heading = "Procedure")]
    state: Option<PathBuf>,
    /// Start again from the first step
    #[arg(long, help_heading = "Procedure")]
    restart: bool,
    /// Format of standard output
    #[arg(long, value_parser = one_of(PAGES), default_value = "text", help_heading = "Output")]
    format: ResultFormat,
    /// Write additional output to FILE: .json .html .md .txt (repeatable)
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Vec<PathBuf>,
    #[command(flatten)]
    details: Details,
    #[command(flatten)]
    common: CommonOptions,
}
