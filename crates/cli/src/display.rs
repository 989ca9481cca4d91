//! Progress on standard error.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use analyse::analyse;
use job::Plan;
use live::{EventLog, RunView};
use procedure::ProcedureObserver;
use record::Run;
use report::{Event, progress};
use runner::{Observer, RunCounters, RunProgress, WorkerPlan};

use crate::args::ProgressStyle;
use crate::diagnostics;
use crate::observers::{RequestedObservers, RunObservers};
use crate::terminal::{Terminal, overwrite_stderr_line, write_stderr};

/// Shows a run while it goes on, to people and to the file of events.
pub(crate) struct Display {
    manner: DisplayMode,
    events: EventLog,
    started: Instant,
    shown: Option<Instant>,
    /// What stands before all that is shown.
    lead: String,
    observers: Option<RunObservers>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DisplayMode {
    /// A line that is written over.
    Line,
    /// A line now and then.
    Lines,
    Nothing,
}

/// A line this often where it is not written over: silence looks like hanging.
const LINE_EVERY: Duration = Duration::from_secs(10);

impl Display {
    pub(crate) fn new(progress: ProgressStyle, events: EventLog) -> Self {
        let manner = match progress {
            ProgressStyle::Off => DisplayMode::Nothing,
            ProgressStyle::Auto if Terminal::stderr().interactive => DisplayMode::Line,
            ProgressStyle::Auto | ProgressStyle::Plain => DisplayMode::Lines,
        };
        Self { manner, events, started: Instant::now(), shown: None, lead: String::new(), observers: None }
    }

    /// The same with others who look on; a full screen takes the place of all progress.
    pub(crate) fn with_observers(mut self, observers: RequestedObservers) -> Self {
        self.observers = observers.begin();
        if self.observers.as_ref().is_some_and(RunObservers::fill_screen) {
            self.manner = DisplayMode::Nothing;
        }
        self
    }

    fn view(&mut self) -> Option<&mut RunView> {
        self.observers.as_mut().map(|observers| &mut observers.view)
    }

    /// Sets what stands before all that is shown from now on.
    pub(crate) fn set_prefix(&mut self, lead: &str) {
        lead.clone_into(&mut self.lead);
        self.view().into_iter().for_each(|view| view.set_lead(lead));
    }

    /// Tells what cannot wait for the results.
    pub(crate) fn warn(&mut self, text: &str) {
        self.note(text);
        self.clear();
        diagnostics::warning(text);
    }

    /// Says how far something is.
    pub(crate) fn show_status(&mut self, text: &str) {
        self.show(text);
    }

    fn show(&mut self, text: &str) {
        let text = &format!("{}{text}", self.lead);
        match self.manner {
            // Cut to the terminal: a line that wraps cannot be written over.
            DisplayMode::Line => {
                overwrite_stderr_line(&format!("{text:.width$}", width = Terminal::stderr().width.saturating_sub(1)));
            }
            DisplayMode::Lines if self.shown.unwrap_or(self.started).elapsed() < LINE_EVERY => return,
            DisplayMode::Lines => write_stderr(&format!("fathom: {text}\n")),
            DisplayMode::Nothing => {}
        }
        self.shown = Some(Instant::now());
    }

    /// Tells programs what happened.
    pub(crate) fn record_event(&mut self, event: &Event) {
        self.events.tell(event);
    }

    /// All that was told to programs since the last call.
    pub(crate) fn take_events(&mut self) -> String {
        self.events.take()
    }

    /// Leaves a clean line for the results, and gives the events back.
    pub(crate) fn end(mut self) -> EventLog {
        self.close();
        self.events
    }

    /// Leaves a clean line for the results: nothing is shown from now on.
    pub(crate) fn close(&mut self) {
        self.observers.iter_mut().for_each(RunObservers::end_screen);
        self.clear();
    }

    /// Takes the line away, so that results begin on a clean one.
    pub(crate) fn clear(&mut self) {
        if self.manner == DisplayMode::Line && self.shown.is_some() {
            overwrite_stderr_line("");
        }
    }
}

impl ProcedureObserver for Display {
    fn set_prefix(&mut self, text: &str) {
        self.set_prefix(text);
    }

    fn show_status(&mut self, text: &str) {
        self.show_status(text);
    }

    fn warn(&mut self, text: &str) {
        self.warn(text);
    }

    fn event(&mut self, event: &Event) {
        self.record_event(event);
    }

    fn layout_only(&mut self) -> Box<dyn Observer + '_> {
        Box::new(OnlyLayout(self))
    }
}

impl Observer for Display {
    fn begin(&mut self, plan: &Plan, workers: &[WorkerPlan], counters: &Arc<RunCounters>) {
        self.view().into_iter().for_each(|view| view.begin(plan, workers, counters));
    }

    fn note(&mut self, text: &str) {
        let first = text.lines().next().unwrap_or_default();
        self.view().into_iter().for_each(|view| view.note(first));
    }

    fn layout(&mut self, path: &Path, written: u64, total: u64) {
        self.view().into_iter().for_each(|view| view.layout(path, written, total));
        let due = self.shown.is_none_or(|shown| shown.elapsed() > Duration::from_millis(200));
        if due {
            let share = 100.0 * written as f64 / total.max(1) as f64;
            self.show(&format!("{share:5.1}%  writing {} before the run", path.display()));
        }
    }

    fn progress(&mut self, now: &RunProgress) {
        self.events.progress(now);
        self.view().into_iter().for_each(|view| view.progress(now));
        self.show(&progress::line(&progress::Progress {
            fraction: now.fraction,
            elapsed: now.elapsed,
            eta: now.eta,
            reads_back: now.reads_back,
            iops: now.iops.iter().sum(),
            bytes_per_second: now.bytes_per_second.iter().sum(),
            errors: now.errors,
        }));
    }

    fn status(&mut self, run: &Run) {
        self.clear();
        write_stderr(&format!("{}\n", report::text(run, &analyse(run), Terminal::stderr().style())));
    }
}

/// Shows the making of files alone: of a run that is one of many.
struct OnlyLayout<'a>(&'a mut Display);

impl Observer for OnlyLayout<'_> {
    fn begin(&mut self, plan: &Plan, workers: &[WorkerPlan], counters: &Arc<RunCounters>) {
        self.0.begin(plan, workers, counters);
    }

    fn layout(&mut self, path: &Path, written: u64, total: u64) {
        self.0.layout(path, written, total);
    }

    fn progress(&mut self, now: &RunProgress) {
        self.0.view().into_iter().for_each(|view| view.progress(now));
    }

    fn status(&mut self, run: &Run) {
        self.0.status(run);
    }
}
