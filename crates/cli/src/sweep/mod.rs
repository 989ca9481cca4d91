//! `fathom sweep`: how many operations in flight a device or a modelled volume needs, and what more of them cost.
//!
//! The search itself is `analyse::knee::search`; each of its probes is a run or a simulation like any other.

mod advice;
mod ask;
mod bench;

use analyse::Severity;
use analyse::knee::search::{Search, Settings};
use report::sweep::{Document, Sweep};

use crate::args::SweepOptions;
use crate::display::Display;
use crate::events::Events;
use crate::exit::Exit;
use crate::outputs::{self, Output};
use crate::run;
use crate::signals::Signals;
use crate::terminal::{Terminal, tell};
use crate::{diagnostics, preview};
use ask::Question;
use bench::Bench;

/// Reads, checks, searches, tells.
pub(crate) fn command(options: &SweepOptions, jobs: &[String], words: &[String]) -> Exit {
    let question = match Question::read(options, jobs) {
        Ok(question) => question,
        Err(refusal) => return refuse(&refusal),
    };
    let mut benches = Vec::new();
    for settings in question.combinations() {
        match Bench::set(&question, settings) {
            Ok(bench) => benches.push(bench),
            Err(refusal) => return refuse(&refusal),
        }
    }
    if options.explain {
        return outputs::say(&benches.iter().map(|bench| preview::jobs(bench.plan())).collect::<String>());
    }
    if options.dry_run {
        return outputs::say(&benches.iter().map(|bench| bench.told(&question)).collect::<String>());
    }
    let opened = Output::open_for_sweep(&options.output);
    let (mut files, signals) = match opened.map(|files| (files, Signals::install())) {
        Ok((files, Ok(signals))) => (files, signals),
        Ok((_, Err(error))) => return environment(&format!("cannot listen to signals: {error}")),
        Err(problem) => return refuse(&Refusal::Words(vec![problem])),
    };
    let mut display = Display::new(options.progress, Events::none());
    let mut sweeps = Vec::new();
    for bench in &mut benches {
        match search(&question, bench, &signals, &mut display) {
            Ok(sweep) => sweeps.push(sweep),
            Err(problem) => {
                drop(display.end());
                return signals.end().map_or_else(|| environment(&problem), Exit::Signal);
            }
        }
        if signals.end().is_some() {
            break;
        }
    }
    drop(display.end());
    let document = Document { command_line: run::command_line(words), seed: question.seed(&benches), sweeps };
    conclude(options, &document, &mut files, &signals)
}

/// Why nothing was touched.
pub(crate) enum Refusal {
    /// What is wrong with the jobs.
    Jobs(Vec<job::Diagnostic>),
    /// Everything else, a line each.
    Words(Vec<String>),
}

fn refuse(refusal: &Refusal) -> Exit {
    match refusal {
        // Which says by itself that nothing was touched.
        Refusal::Jobs(problems) => diagnostics::print(problems),
        Refusal::Words(problems) => {
            problems.iter().for_each(|problem| tell(&format!("fathom: {problem}\n")));
            tell("fathom: nothing was touched\n");
        }
    }
    Exit::Usage
}

fn environment(problem: &str) -> Exit {
    tell(&format!("fathom: {problem}\n"));
    Exit::Environment
}

/// Asks the search for probes and makes them, until it has seen enough.
fn search(question: &Question, bench: &mut Bench, signals: &Signals, display: &mut Display) -> Result<Sweep, String> {
    let mut search = Search::new(Settings { step: bench.workers(), ..question.settings(bench) });
    loop {
        let probes: Vec<_> = std::iter::from_fn(|| search.next_probe()).take(bench.side_by_side()).collect();
        if probes.is_empty() {
            break;
        }
        display.say(&progress(&search, &probes, question.settings(bench).budget_s));
        let readings = bench.measure(question, &probes, signals, display)?;
        if signals.end().is_some() {
            break;
        }
        for (probe, reading) in probes.iter().zip(readings) {
            search.tell(probe, reading);
        }
    }
    bench.conclude(question, &search, signals)
}

fn progress(search: &Search, probes: &[analyse::knee::search::Probe], budget_s: f64) -> String {
    let depths: Vec<String> = probes.iter().map(|probe| probe.depth.to_string()).collect();
    let share = if budget_s.is_finite() { format!(" of at most {budget_s:.0} s") } else { String::new() };
    let known = report::sweep::so_far(&search.fit());
    format!("{:.0} s{share}, at depth {}{known}", search.spent_s(), depths.join(", "))
}

fn is_distrusted(sweep: &Sweep) -> bool {
    sweep.findings.iter().any(|finding| finding.severity == Severity::Distrust)
}

fn conclude(options: &SweepOptions, document: &Document, files: &mut [Output], signals: &Signals) -> Exit {
    let style = Terminal::stdout().style();
    let text = if options.json() { report::sweep::json(document) } else { report::sweep::text(document, style) };
    let said = outputs::say(&text);
    let unwritten: Vec<String> = files.iter_mut().filter_map(|file| file.write_sweep(document).err()).collect();
    unwritten.iter().for_each(|problem| tell(&format!("fathom: {problem}\n")));
    match signals.end() {
        Some(signal) => Exit::Signal(signal),
        None if !unwritten.is_empty() => Exit::Environment,
        None if said == Exit::Good && document.sweeps.iter().any(is_distrusted) => Exit::Distrust,
        None => said,
    }
}
