//! What `run` and `fio` share: from a plan to the record of a run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use engine::Clock;
use engine::files::Layout;
use engine::gate::Gate;
use job::{Dialect, Engine, Plan};
use meter::Widths;
use record::Run;

use crate::board::Board;
use crate::crew::{self, Workers};
use crate::layout::{self, Unmade};
use crate::members::Member;
use crate::overseer::{Moment, Overseer, Screen};
use crate::results::{self, Frame, Scene, Stand};
use crate::seeds::Seeds;
use crate::shutdown::{self, Unattended, attended, attended_for};
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
    /// Lengths of the intervals of which the results keep a series.
    pub(crate) intervals: Widths,
}

/// Looks at the targets after a run may take this long however short the grace period is.
const AFTER_LEAST: Duration = Duration::from_secs(2);

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
/// Whatever may hang in a target is done by other threads than this one, so that there is an end to it.
///
/// # Errors
///
/// When there is no room for the files, or they were not waited for; nothing has been measured then.
pub(crate) fn measure(
    request: &Request<'_>,
    gate: &Arc<Gate>,
    signals: &Signals,
    show: &mut dyn Show,
) -> Result<Measurement, engine::Error> {
    let started_unix_ms = worker::unix_ms();
    engine::thread::raise_file_limit();
    gate.begin();
    let unmade = lay_out(request.layouts, gate, signals, show)?;
    let surroundings = look_around(request, signals)?;
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
            nonce: if request.dialect == Dialect::Strict { Seeds::nonce() } else { 0 },
            board: Arc::clone(&board),
            turn: crew::turn(request.members),
            intervals: request.intervals,
            unmade,
            gate: Arc::clone(gate),
        };
        let (plan, members) = (request.plan.clone(), request.members.to_vec());
        let devices = surroundings.devices(request.members);
        crew::run(&Arc::new(Workers { plan, members, shared, grace: signals.grace(), devices }), &mut overseer)
    };
    let surroundings = look_back(surroundings, request.plan, signals);
    if let Err(problem) = note_what_is_left(gate, signals) {
        show.note(&problem);
    }
    let signal = signals.end();
    let is_cut_short = signal.is_some() || finished.iter().any(|one| !one.stuck.is_empty());
    let stand = if is_cut_short { Stand::Interrupted } else { Stand::Over };
    let run = results::run(&request.frame(started_unix_ms, Scene::Host(&surroundings)), &board, &finished, stand);
    Ok(Measurement { run, finished, signal })
}

fn lay_out(
    layouts: &[Layout],
    gate: &Arc<Gate>,
    signals: &Signals,
    show: &mut dyn Show,
) -> Result<Unmade, engine::Error> {
    // A thread costs as much as all else that a short run does.
    if layouts.is_empty() {
        return Ok(Unmade::new());
    }
    let cancel = Arc::new(AtomicBool::new(false));
    let (sender, progress) = mpsc::channel::<(PathBuf, u64, u64)>();
    let mut last = None;
    let mut tick = || {
        if signals.end().is_some() {
            cancel.store(true, Ordering::Relaxed);
        }
        if let Some((path, written, total)) = progress.try_iter().last() {
            show.layout(&path, written, total);
            last = Some(path);
        }
    };
    let (layouts, gate, cancelled) = (layouts.to_vec(), Arc::clone(gate), Arc::clone(&cancel));
    let work = move || {
        layout::make(&layouts, &gate, &cancelled, &mut |path, written, total| {
            let _ = sender.send((path.to_owned(), written, total));
        })
    };
    let made = attended(signals, &mut tick, work);
    made.unwrap_or_else(|why| Err(undone("lay out", last.as_deref(), &why)))
}

/// What the run stands on. A signal that comes meanwhile is for the run to see.
fn look_around(request: &Request<'_>, signals: &Signals) -> Result<Surroundings, engine::Error> {
    if !reaches_targets(request.plan) {
        return Ok(Surroundings::before(request.plan, request.members));
    }
    let (plan, members) = (request.plan.clone(), request.members.to_vec());
    let seen = attended(signals, &mut || {}, move || Surroundings::before(&plan, &members));
    seen.map_err(|why| undone("look at", None, &why))
}

/// Whether any job has a target that may not answer.
fn reaches_targets(plan: &Plan) -> bool {
    plan.jobs.iter().any(|job| job.engine.engine != Engine::Null)
}

/// What the run stands on after it. Of a target that does not answer, what was known before it stands.
fn look_back(before: Surroundings, plan: &Plan, signals: &Signals) -> Surroundings {
    if shutdown::is_stuck() || signals.is_urgent() || !reaches_targets(plan) {
        return before;
    }
    let mut surroundings = before.clone();
    let look = move || {
        surroundings.after();
        surroundings
    };
    attended_for(signals, most_after(signals), look).unwrap_or(before)
}

/// How long looks at the targets after a run may take.
fn most_after(signals: &Signals) -> Duration {
    signals.grace().max(AFTER_LEAST)
}

/// Has the gate note what the run left, so that the next run recognizes it.
fn note_what_is_left(gate: &Arc<Gate>, signals: &Signals) -> Result<(), String> {
    if shutdown::is_stuck() || signals.is_urgent() {
        gate.abandon();
        return Ok(());
    }
    if gate.is_empty() {
        return Ok(());
    }
    let finishing = Arc::clone(gate);
    let noted = attended_for(signals, most_after(signals), move || finishing.finish());
    noted.map(drop).map_err(|why| {
        let why = match why {
            Unattended::NoThread(error) => format!("no thread can be started: {error}"),
            Unattended::GivenUp => "a file or device has not answered in time".to_owned(),
        };
        format!(
            "what the run has written to is not noted: {why}; if the next run refuses it, permit it with \
             --allow-overwrite=FILE or --allow-destroy=DEVICE"
        )
    })
}

/// What was to be done to targets, and was not.
fn undone(operation: &'static str, path: Option<&Path>, why: &Unattended) -> engine::Error {
    let place = path.map_or_else(|| "the files of the jobs".to_owned(), |path| path.display().to_string());
    let (kind, reason, errno, remedy) = match why {
        Unattended::GivenUp => (
            engine::ErrorKind::Cancelled,
            "the device or filesystem does not answer".to_owned(),
            None,
            "check the device or its server (see dmesg)",
        ),
        Unattended::NoThread(error) => (
            engine::ErrorKind::Engine,
            format!("cannot start a thread: {error}"),
            error.raw_os_error(),
            "raise the limits of processes and memory (ulimit -u, -v)",
        ),
    };
    engine::Error { kind, place, operation, reason, errno, remedy: Some(remedy.to_owned()) }
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
