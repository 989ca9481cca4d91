//! What `run` and `fio` share: from a plan to the record of a run.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::Clock;
use engine::files::Layout;
use job::{Dialect, Plan};
use record::Run;
use units::Nanos;

use crate::board::Board;
use crate::crew;
use crate::layout::{self, Unmade};
use crate::members::Member;
use crate::overseer::{Moment, Overseer, Screen};
use crate::results::{self, Frame, Scene, Stand};
use crate::seeds::Seeds;
use crate::signals::Signals;
use crate::surroundings::Surroundings;
use crate::worker::{self, Finished, Shared};

/// What is to be measured.
pub(crate) struct Request<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) dialect: Dialect,
    pub(crate) members: &'a [Member],
    pub(crate) layouts: &'a [Layout],
    pub(crate) seeds: Seeds,
    pub(crate) command_line: Vec<String>,
    pub(crate) status_every: Option<Duration>,
    /// Length of the intervals of which the results keep a series.
    pub(crate) interval: Nanos,
}

/// The usual length of intervals.
pub(crate) const INTERVAL: Nanos = Nanos::from_secs(1);

impl Request<'_> {
    /// What is known beside the workers.
    pub(crate) fn frame<'a>(&'a self, started_unix_ms: u64, scene: Scene<'a>) -> Frame<'a> {
        let (plan, members, command_line) = (self.plan, self.members, &self.command_line);
        Frame { plan, members, command_line, seed: self.seeds.printed(plan), started_unix_ms, scene }
    }
}

/// What was measured.
pub(crate) struct Measurement {
    pub(crate) run: Run,
    /// The workers in their order.
    pub(crate) finished: Vec<Finished>,
    /// The signal that ended the run, if one did.
    pub(crate) signal: Option<i32>,
}

/// Shows a run while it goes on.
pub(crate) trait Show {
    /// Workers begin: those who look on find what they have counted on the board.
    fn begin(&mut self, request: &Request<'_>, board: &Arc<Board>) {
        let _ = (request, board);
    }

    /// Something has gone wrong with one of them.
    fn note(&mut self, text: &str) {
        let _ = text;
    }

    /// Files are being made: which, how many bytes are written, and how many there will be.
    fn layout(&mut self, path: &Path, written: u64, total: u64);

    /// How far the run is.
    fn progress(&mut self, moment: &Moment);

    /// The results so far.
    fn status(&mut self, run: &Run);
}

/// Lays out the files, runs all jobs and gathers their results.
///
/// # Errors
///
/// When there is no room for the files, or they were not waited for; nothing has been measured then.
pub(crate) fn measure(
    request: &Request<'_>,
    signals: &Signals,
    show: &mut dyn Show,
) -> Result<Measurement, engine::Error> {
    let started_unix_ms = worker::unix_ms();
    engine::thread::raise_file_limit();
    let unmade = lay_out(request.layouts, signals, show)?;
    let mut surroundings = Surroundings::before(request.plan, request.members);
    let board = Arc::new(Board::new(request.members.len()));
    show.begin(request, &board);
    let finished = {
        let mut screen = Recorder { frame: request.frame(started_unix_ms, Scene::Host(&surroundings)), show };
        let mut overseer =
            Overseer::new(request.plan, request.members, &board, signals, request.status_every, &mut screen);
        let shared = Shared {
            clock: Clock::start(),
            seeds: request.seeds,
            dialect: request.dialect,
            board: &board,
            turn: crew::turn(request.members),
            interval: request.interval,
            unmade: &unmade,
        };
        crew::run(request.plan, request.members, &shared, &mut overseer)
    };
    surroundings.after();
    let signal = signals.end();
    let stand = if signal.is_some() { Stand::Interrupted } else { Stand::Over };
    let run = results::run(&request.frame(started_unix_ms, Scene::Host(&surroundings)), &board, &finished, stand);
    Ok(Measurement { run, finished, signal })
}

fn lay_out(layouts: &[Layout], signals: &Signals, show: &mut dyn Show) -> Result<Unmade, engine::Error> {
    let cancel = AtomicBool::new(false);
    layout::make(layouts, &cancel, &mut |path, written, total| {
        if signals.end().is_some() {
            cancel.store(true, Ordering::Relaxed);
        }
        show.layout(path, written, total);
    })
}

/// Makes records of what is on the board for those who show them.
struct Recorder<'a> {
    frame: Frame<'a>,
    show: &'a mut dyn Show,
}

impl Screen for Recorder<'_> {
    fn progress(&mut self, moment: &Moment) {
        self.show.progress(moment);
    }

    fn note(&mut self, finished: &Finished) {
        let job = &self.frame.plan.jobs[self.frame.members[finished.number].job];
        if let Some(trouble) = &finished.trouble {
            self.show.note(&format!("{}: {}", job.name, trouble.text));
        }
    }

    fn status(&mut self, board: &Board, finished: &[Finished]) {
        self.show.status(&results::run(&self.frame, board, finished, Stand::Running));
    }
}
