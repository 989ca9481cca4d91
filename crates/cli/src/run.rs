//! `fathom run`: measure real devices and files.

use std::path::{Path, PathBuf};

use analyse::analyse;
use engine::files::Layout;
use job::{Dialect, Plan};
use record::Run;
use report::Event;
use units::Nanos;

use crate::args::RunOptions;
use crate::display::Display;
use crate::events::Events;
use crate::exit::Exit;
use crate::growth::Growth;
use crate::measure::{self, Measurement, Request, Show};
use crate::members::{self, HostGround, Member};
use crate::modelled::{Pace, Use};
use crate::onlookers::Invited;
use crate::outputs::{self, OF_A_RUN, Output};
use crate::refusal::Refusal;
use crate::seeds::Seeds;
use crate::signals::Signals;
use crate::source::Outside;
use crate::terminal::{Terminal, tell, why};
use crate::worker::{Finished, unix_ms};
use crate::{diagnostics, dump, growth, layout, modelled, preview, safety, sim};

/// Reads, checks, measures, explains.
pub(crate) fn command(options: &RunOptions, jobs: &[String], words: &[String]) -> Result<Exit, Exit> {
    let plan = read(options, jobs)?;
    match modelled::used(&plan) {
        Use::Nowhere => on_host(options, &plan, words),
        Use::Everywhere => sim::carry_out(options, plan, words, Pace::Real),
        Use::Mixed => {
            let problem = "some jobs are on modelled volumes and some are not: run them one after the other";
            Err(Refusal::Words(vec![problem.to_owned()]).told())
        }
    }
}

/// Jobs on the devices and files of this host.
fn on_host(options: &RunOptions, plan: &Plan, words: &[String]) -> Result<Exit, Exit> {
    let seeds = Seeds::new(options.conduct.seed);
    let members = enlist(plan, seeds)?;
    if options.of_jobs.explain {
        return Ok(outputs::say(&preview::jobs(plan)));
    }
    let Checked { members, layouts, growths, dangers } =
        Checked::of(plan, members, seeds, &options.conduct.allow_destroy);
    if options.conduct.dry_run {
        let said = outputs::say(&preview::dry_run(plan, &members, &growths, &dangers));
        return Ok(if dangers.is_empty() { said } else { Exit::Usage });
    }
    if !dangers.is_empty() {
        return Err(Refusal::Words(dangers).told());
    }
    let request = Request {
        plan,
        dialect: Dialect::Strict,
        members: &members,
        layouts: &layouts,
        seeds,
        command_line: command_line(words),
        status_every: None,
        interval: measure::INTERVAL,
    };
    measure_and_print(options, &request, measure::measure)
}

/// What a run would do to the files of this host, and what stands against it.
pub(crate) struct Checked {
    pub(crate) members: Vec<Member>,
    pub(crate) layouts: Vec<Layout>,
    pub(crate) growths: Vec<Growth>,
    /// Why it must not begin, a line each.
    pub(crate) dangers: Vec<String>,
}

impl Checked {
    pub(crate) fn of(plan: &Plan, members: Vec<Member>, seeds: Seeds, allow_destroy: &[PathBuf]) -> Self {
        let layouts = layout::wanted(plan, &members, seeds);
        let growths = growth::of(&layouts);
        let mut dangers = safety::check(plan, &members, allow_destroy);
        dangers.extend(growth::against_no_creation(plan, &members));
        dangers.extend(growth::against_surprise(&growths, allow_destroy));
        dangers.extend(layout::without_room(&layouts));
        Self { members, layouts, growths, dangers }
    }

    /// Measures as one run of many, whose command line and status nobody asks for.
    ///
    /// # Errors
    ///
    /// What went wrong, a line each.
    pub(crate) fn measure_one(
        &self,
        plan: &Plan,
        (seeds, interval): (Seeds, Nanos),
        signals: &Signals,
        show: &mut dyn Show,
    ) -> Result<Run, Vec<String>> {
        let request = Request {
            plan,
            dialect: Dialect::Strict,
            members: &self.members,
            layouts: &self.layouts,
            seeds,
            command_line: Vec::new(),
            status_every: None,
            interval,
        };
        let measured = measure::measure(&request, signals, show).map_err(|error| vec![error.to_string()])?;
        let failures = failures(plan, &self.members, &measured.finished);
        if failures.is_empty() { Ok(measured.run) } else { Err(failures) }
    }
}

/// The command line, as results repeat it.
pub(crate) fn command_line(words: &[String]) -> Vec<String> {
    std::iter::once("fathom".to_owned()).chain(words.iter().cloned()).collect()
}

/// Opens what results go to, measures, and says how it all ended.
pub(crate) fn measure_and_print(
    options: &RunOptions,
    request: &Request<'_>,
    measure: impl FnOnce(&Request<'_>, &Signals, &mut dyn Show) -> Result<Measurement, engine::Error>,
) -> Result<Exit, Exit> {
    let (mut files, mut events, invited) =
        open_outputs(options).map_err(|problem| Refusal::Words(vec![problem]).told())?;
    let signals = Signals::listen()?;
    events.tell(&Event::Start { unix_ms: unix_ms(), command_line: request.command_line.clone() });
    let mut display = Display::new(options.conduct.progress, events).shown_to(invited);
    let measured = measure(request, &signals, &mut display);
    let mut events = display.end();
    match measured {
        Ok(measured) => {
            events.tell(&Event::end(&measured.run));
            Ok(conclude(options, request, &measured, &mut files, &mut events))
        }
        Err(error) => {
            let exit = Exit::environment(&error.to_string());
            Err(signals.end().map_or(exit, Exit::Signal))
        }
    }
}

/// The jobs, with all that is wrong with them on standard error.
pub(crate) fn read(options: &RunOptions, jobs: &[String]) -> Result<Plan, Exit> {
    let around = sim::around(options.on.as_deref());
    let parsed = job::parse_job_arguments(jobs, &options.of_jobs.section, &around, Dialect::Strict, &Outside);
    diagnostics::print(&parsed.diagnostics);
    parsed.into_result().map(|(plan, _)| plan).map_err(|_| Exit::Usage)
}

fn enlist(plan: &Plan, seeds: Seeds) -> Result<Vec<Member>, Exit> {
    let (members, unfit) = members::enlist(plan, Dialect::Strict, seeds, &HostGround::new(Dialect::Strict));
    if unfit.is_empty() {
        return Ok(members);
    }
    Err(Refusal::Jobs(unfit.iter().map(|unfit| unfit.diagnostic(plan)).collect()).told())
}

/// The files for results and for events, and those who look on: before time is spent.
fn open_outputs(options: &RunOptions) -> Result<(Vec<Output>, Events, Invited), String> {
    let invited = Invited::invite(&options.scrape, options.live.then_some("fathom run"))?;
    let files = Output::open(&options.output, OF_A_RUN)?;
    Ok((files, Events::open(options.events.as_deref())?, invited))
}

/// Writes the results and says how it all ended.
fn conclude(
    options: &RunOptions,
    request: &Request<'_>,
    measured: &Measurement,
    files: &mut [Output],
    events: &mut Events,
) -> Exit {
    let (plan, members) = (request.plan, request.members);
    let verdicts = analyse(&measured.run);
    let document = outputs::document(&measured.run, &verdicts, options.format, Terminal::stdout());
    let unprinted = outputs::print(&document).err().map(|error| format!("standard output: {}", why(&error)));
    let written = files.iter_mut().map(|file| file.write(&measured.run, &verdicts).err());
    let unwritten: Vec<String> = written.flatten().chain(events.problem()).chain(unprinted).collect();
    let undumped = dump::write(Path::new("."), members, &measured.finished);
    for problem in unwritten.iter().chain(&undumped).chain(&failures(plan, members, &measured.finished)) {
        tell(&format!("fathom: {problem}\n"));
    }
    if let Some(signal) = measured.signal {
        return Exit::Signal(signal);
    }
    let worst = measured.finished.iter().filter_map(|one| one.exit(&plan.jobs[members[one.number].job])).max();
    match worst {
        Some(exit) => exit,
        None if !unwritten.is_empty() => Exit::Environment,
        None if analyse::distrusted(&verdicts) => Exit::Distrust,
        None => Exit::Good,
    }
}

/// What went wrong, a line each.
pub(crate) fn failures(plan: &Plan, members: &[Member], finished: &[Finished]) -> Vec<String> {
    let mut lines = Vec::new();
    for one in finished {
        let member = &members[one.number];
        let (name, engine) = (&plan.jobs[member.job].name, plan.jobs[member.job].engine.engine);
        lines.extend(one.trouble.as_ref().map(|trouble| format!("{name}: {}", trouble.text)));
        lines.extend(
            one.failures.iter().map(|failure| format!("{name}: {}", preview::failure(failure, member, engine))),
        );
        let untold = one.summary.errors.saturating_sub(one.failures.len() as u64);
        if untold > 0 && !one.failures.is_empty() {
            lines.push(format!("{name}: {untold} more operations failed"));
        }
    }
    lines
}
