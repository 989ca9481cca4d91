//! `fathom run`: measure real devices and files.

use std::path::Path;
use std::time::{Duration, Instant};

use analyse::analyse;
use job::{Diagnostic, Dialect, Plan};
use record::Run;
use report::progress;
use units::Nanos;

use crate::args::{Progress, RunOptions};
use crate::exit::Exit;
use crate::measure::{self, Measurement, Request, Show};
use crate::members::{self, Member};
use crate::outputs::{self, Output};
use crate::overseer::Moment;
use crate::seeds::Seeds;
use crate::signals::Signals;
use crate::source::Outside;
use crate::terminal::Terminal;
use crate::worker::Finished;
use crate::{diagnostics, dump, explain, layout, safety};

/// Reads, checks, measures, explains.
pub(crate) fn command(options: &RunOptions, jobs: &[String], words: &[String]) -> Exit {
    let Some(plan) = read(options, jobs) else { return Exit::Usage };
    let seeds = Seeds::new(options.seed);
    let Some(members) = enlist(&plan, seeds) else { return Exit::Usage };
    if options.explain {
        outputs::print(&explain::jobs(&plan));
        return Exit::Good;
    }
    let layouts = layout::wanted(&plan, &members, seeds);
    let dangers = safety::check(&plan, &members, &options.allow_destroy);
    if options.dry_run {
        outputs::print(&explain::dry_run(&plan, &members, &layouts, &dangers));
        return if dangers.is_empty() { Exit::Good } else { Exit::Usage };
    }
    if !dangers.is_empty() {
        complain(dangers.iter().map(String::as_str));
        return Exit::Usage;
    }
    let mut files = match open_outputs(options) {
        Ok(files) => files,
        Err(exit) => return exit,
    };
    let command_line = std::iter::once("fathom".to_owned()).chain(words.iter().cloned()).collect();
    let request =
        Request { plan: &plan, members: &members, layouts: &layouts, seeds, command_line, status_every: None };
    let signals = match Signals::install() {
        Ok(signals) => signals,
        Err(error) => return environment(&format!("cannot listen to signals: {error}")),
    };
    let mut display = Display::new(options.progress);
    let measured = measure::measure(&request, &signals, &mut display);
    display.clear();
    match measured {
        Ok(measured) => conclude(options, &plan, &members, &measured, &mut files),
        Err(error) => environment(&error.to_string()),
    }
}

/// The jobs, with all that is wrong with them on standard error.
fn read(options: &RunOptions, jobs: &[String]) -> Option<Plan> {
    let parsed = job::parse_job_arguments(jobs, &options.section, Dialect::Strict, &Outside);
    diagnostics::print(&parsed.diagnostics);
    parsed.into_result().ok().map(|(plan, _)| plan)
}

fn enlist(plan: &Plan, seeds: Seeds) -> Option<Vec<Member>> {
    let (members, unfit) = members::enlist(plan, seeds);
    if unfit.is_empty() {
        return Some(members);
    }
    let problems: Vec<Diagnostic> = unfit.iter().map(|unfit| unfit.diagnostic(plan)).collect();
    diagnostics::print(&problems);
    None
}

fn complain<'a>(problems: impl Iterator<Item = &'a str>) {
    for problem in problems {
        eprintln!("fathom: {problem}");
    }
    eprintln!("fathom: nothing was touched");
}

fn environment(problem: &str) -> Exit {
    eprintln!("fathom: {problem}");
    Exit::Environment
}

fn open_outputs(options: &RunOptions) -> Result<Vec<Output>, Exit> {
    options.output.iter().map(|path| Output::open(path)).collect::<Result<_, _>>().map_err(|problem| {
        complain(std::iter::once(problem.as_str()));
        Exit::Usage
    })
}

/// Writes the results and says how it all ended.
fn conclude(
    options: &RunOptions,
    plan: &Plan,
    members: &[Member],
    measured: &Measurement,
    files: &mut [Output],
) -> Exit {
    let verdicts = analyse(&measured.run);
    outputs::print(&outputs::document(&measured.run, &verdicts, options.format, Terminal::stdout()));
    let unwritten: Vec<String> =
        files.iter_mut().filter_map(|file| file.write(&measured.run, &verdicts).err()).collect();
    let undumped = dump::write(Path::new("."), members, &measured.finished);
    for problem in unwritten.iter().chain(&undumped).chain(&failures(plan, members, &measured.finished)) {
        eprintln!("fathom: {problem}");
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
        let name = &plan.jobs[member.job].name;
        lines.extend(one.trouble.as_ref().map(|trouble| format!("{name}: {}", trouble.text)));
        lines.extend(one.failures.iter().map(|failure| format!("{name}: {}", explain::failure(failure, member))));
        let untold = one.summary.errors.saturating_sub(one.failures.len() as u64);
        if untold > 0 && !one.failures.is_empty() {
            lines.push(format!("{name}: {untold} more operations failed"));
        }
    }
    lines
}

/// Progress on standard error.
struct Display {
    manner: Manner,
    started: Instant,
    shown: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// A line that is written over.
    Line,
    /// A line now and then.
    Lines,
    Nothing,
}

/// A line this often where it is not written over: silence looks like hanging.
const LINE_EVERY: Duration = Duration::from_secs(10);

impl Display {
    fn new(progress: Progress) -> Self {
        let manner = match progress {
            Progress::Off => Manner::Nothing,
            Progress::Auto if Terminal::stderr().interactive => Manner::Line,
            Progress::Auto | Progress::Plain => Manner::Lines,
        };
        Self { manner, started: Instant::now(), shown: None }
    }

    fn show(&mut self, text: &str) {
        match self.manner {
            Manner::Line => eprint!("\r\x1b[2K{text}"),
            Manner::Lines if self.shown.unwrap_or(self.started).elapsed() < LINE_EVERY => return,
            Manner::Lines => eprintln!("fathom: {text}"),
            Manner::Nothing => {}
        }
        self.shown = Some(Instant::now());
    }

    /// Takes the line away, so that results begin on a clean one.
    fn clear(&mut self) {
        if self.manner == Manner::Line && self.shown.is_some() {
            eprint!("\r\x1b[2K");
        }
    }
}

impl Show for Display {
    fn layout(&mut self, path: &Path, written: u64, total: u64) {
        let due = self.shown.is_none_or(|shown| shown.elapsed() > Duration::from_millis(200));
        if due {
            let share = 100.0 * written as f64 / total.max(1) as f64;
            self.show(&format!("{share:5.1}%  writing {} before the run", path.display()));
        }
    }

    fn progress(&mut self, moment: &Moment) {
        self.show(&progress::line(&progress::Progress {
            fraction: moment.fraction,
            elapsed: nanos(moment.elapsed),
            eta: moment.eta.map(nanos),
            iops: moment.iops,
            bytes_per_second: moment.bytes_per_second.iter().sum(),
            errors: moment.errors,
        }));
    }

    fn status(&mut self, run: &Run) {
        self.clear();
        let terminal = Terminal::stderr();
        let style = report::Style { width: terminal.width, colour: terminal.colour };
        eprintln!("{}", report::text(run, &analyse(run), style));
    }
}

fn nanos(duration: Duration) -> Nanos {
    Nanos::new(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}
