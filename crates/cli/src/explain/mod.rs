//! `fathom explain`: what limited a result, from any source, and what to change.

pub(crate) mod args;
mod expected;

use std::path::Path;
use std::time::Duration;

use analyse::{
    Database, EvidenceSource, Expectation, ExpectedPoint, Explanation, KnownFigure, Observation, explain_job,
    explain_observation, explain_together,
};
use job::{Diagnostic, DiagnosticLevel};
use record::{Claim, Input, InputError, InputResults, Iostat, Run};
use report::Explained;
use report::ResultDocument;
use report::ResultFormat;

use crate::diagnostics;
use crate::exit::Exit;
use crate::input_file;
use crate::outputs::{Output, deliver_as, say};
use crate::recall::{is_file, recall_all};
use crate::signals::Signals;
use args::ExplainOptions;
use expected::ExpectedVolume;
use runner::problems;

/// Reads everything, then explains it.
pub(crate) fn command(options: &ExplainOptions) -> Result<Exit, Exit> {
    if options.findings {
        return Ok(say(&report::findings_markdown()));
    }
    let words = ExplainQuestion::read(options)?;
    let mut files =
        Output::open(&options.output, ResultFormat::OF_FINDINGS).map_err(|problem| Exit::usage(&problem))?;
    let signals = Signals::listen()?.with_grace(Duration::ZERO);
    let explained = Explainer { said: words.said(), words: &words, signals: &signals }.all();
    if let Some(signal) = signals.end() {
        return Ok(Exit::Signal(signal));
    }
    signals.conclude();
    diagnostics::print(&words.unreadable);
    Ok(deliver_as(&mut files, ResultDocument::Explanations(&explained), options.format))
}

/// All that was given, understood.
struct ExplainQuestion {
    inputs: Vec<Named>,
    /// What stands between runs that were read, and cannot be.
    unreadable: Vec<Diagnostic>,
    claims: Vec<(String, Claim)>,
    expected: Option<(String, ExpectedVolume)>,
    database: Option<Database>,
}

impl ExplainQuestion {
    /// Reads all that was given; all that is wrong with it is told at once.
    fn read(options: &ExplainOptions) -> Result<Self, Exit> {
        let (mut problems, mut exit) = (Vec::new(), Exit::Usage);
        if options.inputs.is_empty() && options.claim.is_empty() {
            problems.push(nothing_given());
        }
        let (mut inputs, mut unreadable) = (Vec::new(), Vec::new());
        for path in &options.inputs {
            match read_inputs(path) {
                Ok((read, unread)) => {
                    inputs.extend(read);
                    unreadable.extend(unread);
                }
                Err(input_file::Unopened { diagnostic, usage }) => {
                    problems.push(*diagnostic);
                    exit = if usage { exit } else { Exit::Environment };
                }
            }
        }
        let mut claims = Vec::new();
        for text in &options.claim {
            match Claim::parse(text) {
                Ok(claim) => claims.push((text.clone(), claim)),
                Err(found) => problems.extend(found),
            }
        }
        let mut expected = None;
        if let Some(words) = &options.volume {
            match ExpectedVolume::look_up(words) {
                Ok(volume) => expected = Some((words.clone(), volume)),
                Err(found) => problems.extend(
                    found.iter().map(|problem| problems::of_volume(problem, problems::place_in_volume(problem))),
                ),
            }
        }
        if problems.is_empty() {
            let database = options.database.map(Database::from);
            return Ok(Self { inputs, unreadable, claims, expected, database });
        }
        diagnostics::print(&problems);
        Err(exit)
    }

    /// All that is claimed, as far as it completes what the inputs know.
    fn said(&self) -> Observation {
        let claims = self.claims.iter().map(|(_, claim)| Observation::of_claim(claim));
        let said = claims.reduce(|said, more| said.completed_by(&more)).unwrap_or_default();
        let vcpus = self.expected.as_ref().and_then(|(_, volume)| volume.vcpus());
        let cpus = vcpus.map(|cpus| KnownFigure::exact(cpus, EvidenceSource::Model));
        Observation { cpus: said.cpus.or(cpus), database: self.database, ..said }
    }
}

/// An input and what it is called.
type Named = (String, Input);

/// All runs in a file, and what cannot be read beside them; or a run that was kept, of a series all of its runs.
fn read_inputs(path: &Path) -> Result<(Vec<Named>, Vec<Diagnostic>), input_file::Unopened> {
    // Runs that are kept have names of plain text; everything else is a file.
    if let Some(which) = path.to_str().filter(|which| !is_file(which)) {
        let recalled = recall_all(which).map_err(|problem| input_file::Unopened::unknown(path, problem))?;
        let runs = recalled.into_iter().map(|one| (one.name, Input::Run(Box::new(one.run))));
        return Ok((runs.collect(), Vec::new()));
    }
    let refused = |error: InputError| input_file::Unopened { diagnostic: Box::new(error.into()), usage: true };
    let (file, number) = input_file::numbered(path);
    let (name, bytes) = (input_file::name(file), input_file::bytes(file)?);
    if number.is_some() {
        let input = record::read_input(&name, &bytes, number).map_err(refused)?;
        return Ok((vec![(input_file::name(path), input)], Vec::new()));
    }
    let InputResults { parts, unreadable } = record::read_inputs(&name, &bytes).map_err(refused)?;
    let is_alone = parts.len() == 1;
    let named = parts.into_iter().enumerate().map(|(index, part)| {
        let of_several = || match &part.input {
            Input::Run(run) if run.repeat.is_some() => format!("{name}#{}", index + 1),
            _ => format!("{name}#{} (line {})", index + 1, part.line),
        };
        (if is_alone { name.clone() } else { of_several() }, part.input)
    });
    let left_out = |error: InputError| Diagnostic { severity: DiagnosticLevel::Warning, ..error.into() };
    Ok((named.collect(), unreadable.into_iter().map(left_out).collect()))
}

/// Explains what was given, until it is interrupted.
struct Explainer<'a> {
    words: &'a ExplainQuestion,
    /// What completes the inputs.
    said: Observation,
    signals: &'a Signals,
}

impl Explainer<'_> {
    fn all(&self) -> Vec<Explained> {
        let ExplainQuestion { inputs, claims, .. } = self.words;
        let mut explained: Vec<Explained> = inputs.iter().map(|(name, input)| self.input(name, input)).collect();
        // A claim beside inputs is about the load they are of: what it leaves open they tell.
        let first = inputs.first().map(|(_, input)| first_observation(input).completed_by(&self.said));
        for (text, claim) in claims {
            let mut seen = Observation { database: self.words.database, ..Observation::of_claim(claim) };
            if let Some(first) = &first {
                if seen.iops.is_none() {
                    continue;
                }
                seen.latency_ns = seen.latency_ns.or(first.latency_ns);
            }
            explained.push(self.of(format!("--claim {text}"), "claim", vec![self.observed("", &seen)]));
        }
        explained
    }

    fn input(&self, name: &str, input: &Input) -> Explained {
        match input {
            Input::Run(run) => self.of(name.to_owned(), "run", self.run(run)),
            Input::Iostat(iostat) => self.of(name.to_owned(), "iostat", self.iostat(iostat)),
        }
    }

    fn of(&self, input: String, kind: &'static str, explanations: Vec<Explanation>) -> Explained {
        Explained { input, kind, expected: self.words.expected.as_ref().map(|(words, _)| words.clone()), explanations }
    }

    fn run(&self, run: &Run) -> Vec<Explanation> {
        let seen: Vec<Observation> =
            run.jobs.iter().map(|job| Observation::of(run, job).completed_by(&self.said)).collect();
        run.groups().into_iter().flat_map(|group| self.group(run, group, &seen)).collect()
    }

    /// The jobs of one reporting group, which run at the same time. Several have the expected volume together.
    fn group(&self, run: &Run, group: u32, seen: &[Observation]) -> Vec<Explanation> {
        let members: Vec<usize> = (0..run.jobs.len()).filter(|&index| run.jobs[index].group == group).collect();
        let Some((_, volume)) = self.words.expected.as_ref().filter(|_| members.len() > 1) else {
            let explained = |&index: &usize| {
                let seen = &seen[index];
                self.against(seen, |expectation| explain_job(run, index, seen, expectation))
            };
            return members.iter().map(explained).collect();
        };
        let mut jobs: Vec<Explanation> =
            members.iter().map(|&index| explain_job(run, index, &seen[index], None)).collect();
        let together = Observation::together(&members.iter().map(|&index| seen[index].clone()).collect::<Vec<_>>());
        let at = |in_flight: f64| self.at(&together, in_flight);
        let subject = format!("{} jobs together", members.len());
        let whole = explain_together(&subject, &together, &volume.of(&together, &at), &mut jobs);
        std::iter::once(whole).chain(jobs).collect()
    }

    fn iostat(&self, iostat: &Iostat) -> Vec<Explanation> {
        let names = devices(iostat);
        let explained = |name: &String| {
            let seen = Observation::of_device(iostat, name).completed_by(&self.said);
            self.observed(name, &seen)
        };
        names.iter().map(explained).collect()
    }

    fn observed(&self, subject: &str, seen: &Observation) -> Explanation {
        self.against(seen, |expectation| explain_observation(subject, seen, expectation))
    }

    /// What `explain` makes of the expected volume, if there is one; it answers for as long as that takes.
    fn against<T>(&self, seen: &Observation, explain: impl FnOnce(Option<&Expectation<'_>>) -> T) -> T {
        let at = |in_flight: f64| self.at(seen, in_flight);
        let expectation = self.words.expected.as_ref().map(|(_, volume)| volume.of(seen, &at));
        explain(expectation.as_ref())
    }

    fn at(&self, seen: &Observation, in_flight: f64) -> Option<ExpectedPoint> {
        self.words.expected.as_ref()?.1.at(seen, in_flight, self.signals)
    }
}

/// Returns the first observation of an input, which a claim beside it complements.
fn first_observation(input: &Input) -> Observation {
    match input {
        Input::Run(run) => run.jobs.first().map(|job| Observation::of(run, job)).unwrap_or_default(),
        Input::Iostat(iostat) => {
            devices(iostat).first().map(|name| Observation::of_device(iostat, name)).unwrap_or_default()
        }
    }
}

/// The devices that did something, in the order in which they were first printed.
fn devices(iostat: &Iostat) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    // The first report is of all the time since boot, in which everything did something once.
    let only_boot = iostat.intervals().next().is_none();
    let reports = iostat.reports.iter().filter(|report| report.since_boot == only_boot);
    let busy = reports.flat_map(|report| &report.devices).filter(|device| !device.is_idle());
    for device in busy {
        if !names.contains(&device.name) {
            names.push(device.name.clone());
        }
    }
    names
}

fn nothing_given() -> Diagnostic {
    let message = "there is nothing to explain";
    let remedy = "give a record, fio's output or that of `iostat -x`, or figures: --claim iops=10000,lat=3ms,qd=32";
    Diagnostic::error("no-input", message.to_owned()).remedy(remedy)
}
