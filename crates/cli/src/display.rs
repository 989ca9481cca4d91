//! Progress on standard error.

use results::events::Event;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use units::Problem;

use analyse::analyse;
use job::Plan;
use live::{EventLog, RunView};
use procedure::ProcedureObserver;
use record::Run;
use report::progress;
use runner::{Observer, RunCounters, RunProgress, WorkerPlan};

use crate::args::ProgressStyle;
use crate::observers::{RequestedObservers, RunObservers};
use crate::terminal::{Terminal, overwrite_stderr_line, write_stderr};
use crate::{diagnostics, rank};

/// Shows the progress of a run on standard error, to live observers and in the event log.
pub(crate) struct Display {
    mode: DisplayMode,
    events: EventLog,
    started: Instant,
    /// Last update on standard error.
    shown: Option<Instant>,
    /// Text before each progress line.
    prefix: String,
    observers: Option<RunObservers>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DisplayMode {
    /// One line that each update overwrites.
    Line,
    /// A new line every [`LINE_EVERY`].
    Lines,
    Off,
}

/// Interval of progress lines that are not overwritten: silence looks like a hang.
const LINE_EVERY: Duration = Duration::from_secs(10);

impl Display {
    pub(crate) fn new(progress: ProgressStyle, events: EventLog) -> Self {
        let mode = match progress {
            _ if rank::is_silent() => DisplayMode::Off,
            ProgressStyle::Off => DisplayMode::Off,
            ProgressStyle::Auto if Terminal::stderr().interactive => DisplayMode::Line,
            ProgressStyle::Auto | ProgressStyle::Plain => DisplayMode::Lines,
        };
        Self { mode, events, started: Instant::now(), shown: None, prefix: String::new(), observers: None }
    }

    /// Adds live observers. A full screen replaces progress lines.
    pub(crate) fn with_observers(mut self, observers: RequestedObservers) -> Self {
        self.observers = observers.start();
        if self.observers.as_ref().is_some_and(RunObservers::has_screen) {
            self.mode = DisplayMode::Off;
        }
        self
    }

    fn view(&mut self) -> Option<&mut RunView> {
        self.observers.as_mut().map(|observers| &mut observers.view)
    }

    /// Returns the events since the last call, in JSON lines.
    pub(crate) fn take_events(&mut self) -> String {
        self.events.take()
    }

    /// Closes the display and returns its event log.
    pub(crate) fn end(mut self) -> EventLog {
        self.close();
        self.events
    }

    /// Ends the screen and clears the progress line, before results are printed.
    pub(crate) fn close(&mut self) {
        self.observers.iter_mut().for_each(RunObservers::end_screen);
        self.clear();
    }

    /// Clears the progress line.
    pub(crate) fn clear(&mut self) {
        if self.mode == DisplayMode::Line && self.shown.is_some() {
            overwrite_stderr_line("");
        }
    }
}

impl ProcedureObserver for Display {
    fn set_prefix(&mut self, text: &str) {
        text.clone_into(&mut self.prefix);
        self.view().into_iter().for_each(|view| view.set_lead(text));
    }

    fn show_status(&mut self, text: &str) {
        let text = &format!("{}{text}", self.prefix);
        match self.mode {
            // Cut to the width of the terminal: a line that wraps cannot be overwritten.
            DisplayMode::Line => {
                overwrite_stderr_line(&format!("{text:.width$}", width = Terminal::stderr().width.saturating_sub(1)));
            }
            DisplayMode::Lines if self.shown.unwrap_or(self.started).elapsed() < LINE_EVERY => return,
            DisplayMode::Lines => write_stderr(&format!("fathom: {text}\n")),
            DisplayMode::Off => {}
        }
        self.shown = Some(Instant::now());
    }

    fn warn(&mut self, warning: &Problem) {
        self.note(&warning.what);
        self.clear();
        diagnostics::warning(warning);
    }

    fn event(&mut self, event: &Event) {
        self.events.tell(event);
    }

    fn layout_only(&mut self) -> Box<dyn Observer + '_> {
        Box::new(LayoutOnly(self))
    }
}

impl Observer for Display {
    fn begin(&mut self, plan: &Plan, workers: &[WorkerPlan], counters: &Arc<RunCounters>) {
        self.view().into_iter().for_each(|view| view.begin(plan, workers, counters));
    }

    fn note(&mut self, text: &str) {
        self.view().into_iter().for_each(|view| view.note(text));
    }

    fn request(&mut self, line: &str) {
        self.clear();
        write_stderr(&format!("{line}\n"));
    }

    fn layout(&mut self, path: &Path, written: u64, total: u64) {
        self.view().into_iter().for_each(|view| view.layout(path, written, total));
        if self.shown.is_none_or(|shown| shown.elapsed() > Duration::from_millis(200)) {
            let percent = 100.0 * written as f64 / total.max(1) as f64;
            self.show_status(&format!("{percent:5.1}%  laying out {}", path.display()));
        }
    }

    fn progress(&mut self, now: &RunProgress) {
        self.events.progress(now);
        self.view().into_iter().for_each(|view| view.progress(now));
        self.show_status(&progress::line(now));
    }

    fn status(&mut self, run: &Run) {
        self.clear();
        write_stderr(&format!("{}\n", report::text(run, &analyse(run), Terminal::stderr().style(false))));
    }
}

/// Shows only the layout of files, for a run that is one of many.
struct LayoutOnly<'a>(&'a mut Display);

impl Observer for LayoutOnly<'_> {
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
