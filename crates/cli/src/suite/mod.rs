//! `fathom suite`: published benchmark procedures, step by step, beside the figures that were published of them.
//!
//! A procedure is data (`suites/*.toml`); each of its steps is a run or a simulation like any other.

pub(crate) mod args;
mod ask;
mod bench;
mod builtin;
mod fields;
mod read;
mod schema;
mod state;

pub(crate) use builtin::names;

use std::path::PathBuf;
use std::time::Instant;

use analyse::knee::steady::SteadyWindow;
use record::{Note, Run};
use report::Event;
use report::suite::{SuiteDocument, SuiteOutcome, SuiteRow, suites_json, suites_markdown, suites_text};
use runner::Seeds;
use store::RunKind;

use crate::args::PageFormat;
use crate::argv;
use crate::display::Display;
use crate::events::EventLog;
use crate::exit::Exit;
use crate::home;
use crate::keep::{self, Keepsake};
use crate::onlookers::Invited;
use crate::outputs::{self, IN_FILES, OF_A_SUITE, Output};
use crate::refusal::Refused;
use crate::runners;
use crate::signals::Signals;
use crate::terminal::{Terminal, tell};
use args::{SuiteCommand, SuiteOptions, SuiteRunOptions};
use ask::{SuitePlace, SuiteQuestion};
use bench::SuiteBench;
use runner::Refusal;
use schema::{StepSpec, Suite};
use state::{SuiteLock, SuiteState, TakenStep};

/// Lists, describes or runs suites.
pub(crate) fn command(options: &SuiteOptions, words: &[String]) -> Result<Exit, Exit> {
    match &options.command {
        SuiteCommand::List(options) => Ok(list(options.format)),
        SuiteCommand::Show(options) => {
            let suite = builtin::find(&options.name).map_err(|problems| Refusal::Jobs(problems).told())?;
            Ok(show(&suite, options.format))
        }
        SuiteCommand::Run(options) => carry_out(options, words),
    }
}

/// Lists all suites.
fn list(format: PageFormat) -> Exit {
    let suites = builtin::all();
    let procedures: Vec<_> = suites.iter().map(Suite::procedure).collect();
    outputs::say(&match format {
        PageFormat::Text => suites_text(&procedures),
        PageFormat::Json => suites_json(&procedures),
        PageFormat::Md => suites_markdown(&procedures),
    })
}

/// Describes one suite.
fn show(suite: &Suite, format: PageFormat) -> Exit {
    let procedure = suite.procedure();
    outputs::say(&match format {
        PageFormat::Text => procedure.text(Terminal::stdout().style()),
        PageFormat::Json => procedure.json(),
        PageFormat::Md => procedure.markdown(),
    })
}

/// Checks everything, resumes an interrupted run, and reports the result.
fn carry_out(options: &SuiteRunOptions, words: &[String]) -> Result<Exit, Exit> {
    let question = read(options).map_err(Refusal::told)?;
    let seed = options.conduct.seed.unwrap_or_else(|| runners::seed_for_many(question.target.is_none()));
    let checked = bench::check_all(&question, Seeds::fixed(seed));
    if options.conduct.dry_run {
        return Ok(dry_run(&question, seed, checked));
    }
    let opened = checked.and_then(|()| open(options, &question));
    let OpenedSuite { path, kept, mut files, invited, _lock } = opened.map_err(Refusal::told)?;
    let signals = Signals::listen()?.with_grace(options.conduct.grace);
    let state = kept.unwrap_or_else(|| SuiteState::new(&question, seed));
    let display = Display::new(options.conduct.progress, EventLog::none()).shown_to(invited);
    let began = device::unix_ms();
    let mut session = SuiteSession {
        question: &question,
        state,
        path,
        signals: &signals,
        display,
        parts: Vec::new(),
        begun: Instant::now(),
    };
    session.display.tell(&Event::Start { unix_ms: began, command_line: argv::command_line(words) });
    if session.state.done() > 0 {
        session.display.say(&format!("going on: {} steps were done before", session.state.done()));
    }
    let ended = session.all_steps();
    let SuiteSession { mut state, path, mut display, parts, .. } = session;
    display.close();
    signals.conclude();
    let document = document(&question, &state, words, ended.is_ok_and_finished());
    let keeping = options.conduct.records().then(|| keepsake(&document, parts, &state, &mut display, (words, began)));
    let keeping = keeping.map(|keepsake| Keepsake { attached: attached(&question, &document), ..keepsake }.keep());
    let (exit, written) = conclude(options, &document, &mut files);
    state.kept = keep::tell(keeping).or(state.kept);
    match ended {
        StepEnd::Unkept(problem) => {
            tell(&format!("fathom: {problem}\n"));
            Ok(Exit::Environment)
        }
        StepEnd::Signal | StepEnd::Stuck => {
            // So that the record of the rest can be completed by that of the beginning.
            let _ = state.save(&path);
            tell(&format!("fathom: interrupted; what is done is in {}\n", path.display()));
            Ok(signals.end().map_or(Exit::Environment, Exit::Signal))
        }
        StepEnd::Finished => {
            // The next run of the same command is a new one. A file that stays is only in its way.
            if written {
                let _ = std::fs::remove_file(&path);
            }
            Ok(exit)
        }
    }
}

fn read(options: &SuiteRunOptions) -> Result<SuiteQuestion, Refusal> {
    let suite = builtin::find(&options.name).map_err(Refusal::Jobs)?;
    SuiteQuestion::read(options, suite)
}

/// What a run writes to, opened before it begins.
struct OpenedSuite {
    /// Where what is done is kept, and what was kept there.
    path: PathBuf,
    kept: Option<SuiteState>,
    files: Vec<Output>,
    invited: Invited,
    _lock: SuiteLock,
}

fn open(options: &SuiteRunOptions, question: &SuiteQuestion) -> Result<OpenedSuite, Refusal> {
    let refused = |problem| Refusal::Words(vec![problem]);
    let usual = || state::usual_path(question).map_err(Refusal::Host);
    let path = options.state.clone().map_or_else(usual, Ok)?;
    let lock = SuiteLock::take(&path).map_err(refused)?;
    let kept = if options.restart {
        None
    } else {
        SuiteState::load(&path, question, options.conduct.seed).map_err(refused)?
    };
    let files = Output::open(&options.output, OF_A_SUITE).map_err(refused)?;
    let invited = Invited::invite(&options.scrape, None).map_err(refused)?;
    Ok(OpenedSuite { path, kept, files, invited, _lock: lock })
}

/// The last line of every dry run; of many steps it stands once.
const TOUCHED: &str = "nothing was touched";

/// What would be done.
fn dry_run(question: &SuiteQuestion, seed: u64, checked: Result<(), Refusal>) -> Exit {
    if let Err(refusal @ Refusal::Jobs(_)) = checked {
        return refusal.told();
    }
    let mut text = question.suite.procedure().preview(&question.targets());
    for step in &question.suite.steps {
        let bench = SuiteBench { question, step, seeds: Seeds::fixed(seed) };
        match bench.told() {
            Ok(told) => {
                let told: String =
                    told.lines().filter(|line| *line != TOUCHED).map(|line| format!("  {line}\n")).collect();
                text.push_str(&format!("\n{}\n{told}", step.name));
            }
            Err(refusal) => return refusal.told(),
        }
    }
    text.push_str(&format!("\n{TOUCHED}\n"));
    match (outputs::say(&text), checked) {
        (_, Err(refusal)) => refusal.told(),
        (said, Ok(())) => said,
    }
}

/// A suite that is carried out.
struct SuiteSession<'a> {
    question: &'a SuiteQuestion,
    state: SuiteState,
    path: PathBuf,
    signals: &'a Signals,
    display: Display,
    /// The records of the steps that were carried out now, with their names.
    parts: Vec<(String, Run)>,
    begun: Instant,
}

/// How it ended.
enum StepEnd {
    Finished,
    Signal,
    /// A target has not answered.
    Stuck,
    /// What was done cannot be kept.
    Unkept(String),
}

impl StepEnd {
    fn is_ok_and_finished(&self) -> bool {
        matches!(self, Self::Finished)
    }
}

impl SuiteSession<'_> {
    fn all_steps(&mut self) -> StepEnd {
        let suite = &self.question.suite;
        // Before the first step: a place that cannot be written to is known before an hour is spent.
        if let Err(problem) = self.state.save(&self.path) {
            return StepEnd::Unkept(problem);
        }
        let once = |step: &&StepSpec| step.once || suite.rounds.is_none();
        for step in suite.steps.iter().filter(once) {
            if let Some(ended) = self.one(step, 0) {
                return ended;
            }
        }
        for round in 1..=suite.rounds.as_ref().map_or(0, |rounds| rounds.most) {
            if rounds_end(self.question, &self.state, round - 1) {
                break;
            }
            for step in suite.steps.iter().filter(|step| !step.once) {
                if let Some(ended) = self.one(step, round) {
                    return ended;
                }
            }
        }
        StepEnd::Finished
    }

    /// One step of one round, unless it is done.
    fn one(&mut self, step: &StepSpec, round: usize) -> Option<StepEnd> {
        if self.state.of(&step.name, round).is_some() {
            return None;
        }
        let seeds = Seeds::fixed(self.state.seed.wrapping_add(round as u64));
        let steps = &self.question.suite.steps;
        let number = steps.iter().position(|known| known.name == step.name).map_or(0, |at| at + 1);
        let of_round = if round > 0 { format!("round {round}, ") } else { String::new() };
        self.display.lead(&format!("{of_round}step {number} of {}, {}: ", steps.len(), step.name));
        self.display.say("begins");
        let credits = self.state.credits();
        let mut taken = TakenStep { step: step.name.clone(), round, measured: None, modelled: None, credits };
        let bench = SuiteBench { question: self.question, step, seeds };
        for place in self.question.places() {
            let outcome = bench.carry_out(place, self.signals, &mut self.display, &mut taken.credits);
            let Some((outcome, run)) = outcome else { return self.signals.end().map(|_| StepEnd::Signal) };
            run.into_iter().for_each(|run| self.add_part(step, round, place, run));
            if let (SuiteOutcome::Failed(reason), true) = (&outcome, device::stuck::is_stuck()) {
                self.display.warn(&format!("fathom: {}: {reason}\n", step.name));
                return Some(StepEnd::Stuck);
            }
            if let SuiteOutcome::Failed(reason) = &outcome {
                self.display.warn(&format!("fathom: {}: failed: {reason}; the other steps go on\n", step.name));
            }
            match place {
                SuitePlace::Host => taken.measured = Some(outcome),
                SuitePlace::Model => taken.modelled = Some(outcome),
            }
        }
        self.state.add(taken);
        self.state.save(&self.path).err().map(StepEnd::Unkept)
    }
}

impl SuiteSession<'_> {
    fn add_part(&mut self, step: &StepSpec, round: usize, place: SuitePlace, run: Run) {
        let of_round = if round > 0 { format!("@{round}") } else { String::new() };
        let is_beside = place == SuitePlace::Model && self.question.target.is_some();
        let name = format!("{}{of_round}{}", step.name, if is_beside { ":model" } else { "" });
        let elapsed_s = self.begun.elapsed().as_secs_f64();
        Event::parts(&name, &run, elapsed_s).for_each(|event| self.display.tell(&event));
        self.parts.push((name, run));
    }
}

/// What is kept of a suite: the steps that were carried out now, behind those that an earlier command has kept.
fn keepsake(
    document: &SuiteDocument,
    parts: Vec<(String, Run)>,
    state: &SuiteState,
    display: &mut Display,
    (words, began_unix_ms): (&[String], u64),
) -> Keepsake {
    let done_now = parts.len();
    let mut run = keep::of_parts(parts, words, Some(document.seed));
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
    display.tell(&Event::end(&run));
    let told = outcomes(document).flat_map(SuiteOutcome::findings).max_by_key(|told| told.severity);
    Keepsake {
        events: display.take_events(),
        verdict: told.map(|told| told.code.clone()),
        ..Keepsake::of(RunKind::Suite, &document.suite, run, began_unix_ms)
    }
}

fn attached(question: &SuiteQuestion, document: &SuiteDocument) -> Vec<(&'static str, String)> {
    vec![
        (keep::SUITE, report::suite::json(document)),
        (keep::TEXT, report::suite::text(document, IN_FILES)),
        ("suite.toml", question.suite.text.text.to_string()),
    ]
}

/// The first figure of a step in each of the first `rounds` rounds; `None` where one failed.
fn followed(question: &SuiteQuestion, state: &SuiteState, step: &str, rounds: usize) -> Option<Vec<f64>> {
    let value = |round| {
        let taken = state.of(step, round)?;
        let outcome = if question.target.is_some() { &taken.measured } else { &taken.modelled };
        outcome.as_ref()?.value(0)
    };
    (1..=rounds).map(value).collect()
}

fn is_steady(question: &SuiteQuestion, state: &SuiteState, rounds: usize) -> bool {
    let steady = |step: &String| {
        let values = followed(question, state, step, rounds).unwrap_or_default();
        SteadyWindow::of(&values).is_some_and(|window| window.is_steady())
    };
    question.suite.rounds.as_ref().is_some_and(|of| of.follow.iter().all(steady))
}

/// Whether no more rounds are to be done after this many: they are steady, or that cannot be determined.
fn rounds_end(question: &SuiteQuestion, state: &SuiteState, rounds: usize) -> bool {
    let Some(of) = &question.suite.rounds else { return true };
    let lost = of.follow.iter().any(|step| followed(question, state, step, rounds).is_none());
    lost || is_steady(question, state, rounds)
}

/// Rounds whose mean is the result of a step.
const WINDOW: usize = 5;

/// What is done, in the order of the steps.
fn document(question: &SuiteQuestion, state: &SuiteState, words: &[String], finished: bool) -> SuiteDocument {
    let suite = &question.suite;
    let steps = suite.steps.iter().filter_map(|step| result(step, state)).collect();
    let rounds = suite.rounds.as_ref().map(|rounds| {
        let complete = |round: &usize| {
            suite.steps.iter().filter(|step| !step.once).all(|step| state.of(&step.name, *round).is_some())
        };
        let done = (1..=rounds.most).take_while(complete).count();
        report::suite::SuiteRounds { done, most: rounds.most, steady: is_steady(question, state, done) }
    });
    SuiteDocument {
        suite: suite.name.clone(),
        title: suite.title.clone(),
        source: suite.source.clone(),
        date: suite.date.clone(),
        command_line: argv::command_line(words),
        seed: state.seed,
        target: question.target.clone(),
        on: question.on.clone(),
        scale: question.scale,
        target_bytes: question.target_bytes,
        volume_bytes: question.volume_bytes,
        drained: suite.drained,
        preconditions: suite.preconditions.clone(),
        rounds,
        steps,
        of_steps: suite.steps.len(),
        finished,
    }
}

/// What a step brought: of several rounds the means of the last five, and what was found in the last.
fn result(step: &StepSpec, state: &SuiteState) -> Option<report::suite::SuiteStep> {
    let rounds = (1..).take_while(|round| state.of(&step.name, *round).is_some()).count();
    let window: Vec<&TakenStep> = match rounds {
        0 => state.of(&step.name, 0).into_iter().collect(),
        rounds => {
            let first = rounds.saturating_sub(WINDOW) + 1;
            (first..=rounds).filter_map(|round| state.of(&step.name, round)).collect()
        }
    };
    let last = *window.last()?;
    let mean = |of: fn(&TakenStep) -> &Option<SuiteOutcome>, index: usize| {
        let values: Option<Vec<f64>> = window.iter().map(|taken| of(taken).as_ref()?.value(index)).collect();
        values.filter(|values| !values.is_empty()).map(|values| values.iter().sum::<f64>() / values.len() as f64)
    };
    let row = |(index, measured): (usize, &schema::MeasuredStep)| SuiteRow {
        figure: measured.figure,
        published: measured.published.clone(),
        measured: mean(|taken| &taken.measured, index),
        modelled: mean(|taken| &taken.modelled, index),
    };
    Some(report::suite::SuiteStep {
        name: step.name.clone(),
        title: step.title.clone(),
        measured: last.measured.clone(),
        modelled: last.modelled.clone(),
        rows: step.figures.iter().enumerate().map(row).collect(),
    })
}

fn outcomes(document: &SuiteDocument) -> impl Iterator<Item = &SuiteOutcome> {
    document.steps.iter().flat_map(|step| step.measured.iter().chain(&step.modelled))
}

fn has_failed(document: &SuiteDocument) -> bool {
    outcomes(document).any(|outcome| matches!(outcome, SuiteOutcome::Failed(_)))
}

/// Writes the results and says how it all ended, and whether all of them are written.
fn conclude(options: &SuiteRunOptions, document: &SuiteDocument, files: &mut [Output]) -> (Exit, bool) {
    let style = Terminal::stdout().style();
    let text = match options.format {
        PageFormat::Text => report::suite::text(document, style),
        PageFormat::Json => report::suite::json(document),
        PageFormat::Md => report::suite::markdown(document),
    };
    let delivered = outputs::deliver_and_say(files, &text, |file| file.write_suite(document));
    let exit = match delivered {
        Exit::Good if has_failed(document) => Exit::Environment,
        Exit::Good if outcomes(document).any(SuiteOutcome::is_distrusted) => Exit::Distrust,
        delivered => delivered,
    };
    (exit, delivered == Exit::Good)
}
