//! The main thread while workers work: signals, progress, results so far.

use std::time::{Duration, Instant};

use job::Plan;
use units::Nanos;

use crate::board::{Board, Totals};
use crate::crew::{self, Wish};
use crate::members::Member;
use crate::shutdown;
use crate::signals::Signals;
use crate::worker::Finished;

/// What is shown while a run goes on.
pub(crate) trait Screen {
    /// How far the run is; called a few times a second.
    fn progress(&mut self, moment: &Moment);

    /// A worker has ended.
    fn note(&mut self, finished: &Finished);

    /// The results so far were asked for, and are on the board.
    fn status(&mut self, board: &Board, finished: &[Finished]);
}

/// How far a run is.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    /// How much is done, from 0 to 1; `None` where the end is not known.
    pub(crate) fraction: Option<f64>,
    /// Since the first stage began.
    pub(crate) elapsed: Duration,
    /// To the end; `None` where it is not known.
    pub(crate) eta: Option<Duration>,
    /// The runtime is over, and what was written is read back: for how long is not known.
    pub(crate) reads_back: bool,
    /// Totals now.
    pub(crate) totals: Totals,
    /// What was done since the last moment, per second: operations and bytes of each kind.
    pub(crate) iops: [f64; 3],
    pub(crate) bytes_per_second: [f64; 3],
    /// Operations that failed, and workers that could not begin.
    pub(crate) errors: u64,
}

/// How often progress is worked out.
const PROGRESS_EVERY: Duration = Duration::from_millis(250);

/// Watches over a run.
pub(crate) struct Overseer<'a> {
    pub(crate) board: &'a Board,
    pub(crate) signals: &'a Signals,
    pub(crate) status_every: Option<Duration>,
    pub(crate) screen: &'a mut dyn Screen,
    forecast: Forecast,
    started: Instant,
    last_progress: (Instant, Totals),
    last_status: Instant,
    asking: bool,
    /// How many of those that have ended were told of.
    noted: usize,
}

impl<'a> Overseer<'a> {
    pub(crate) fn new(
        plan: &Plan,
        members: &[Member],
        board: &'a Board,
        signals: &'a Signals,
        status_every: Option<Duration>,
        screen: &'a mut dyn Screen,
    ) -> Self {
        let now = Instant::now();
        let forecast = Forecast::new(plan, members, now);
        let last_progress = (now, Totals::default());
        Self {
            board,
            signals,
            status_every,
            screen,
            forecast,
            started: now,
            last_progress,
            last_status: now,
            asking: false,
            noted: 0,
        }
    }

    fn show_progress(&mut self, now: Instant, finished: &[Finished]) {
        shutdown::panic_if_asked("overseer");
        let totals = self.board.totals();
        let (then, before) = std::mem::replace(&mut self.last_progress, (now, totals));
        let seconds = now.duration_since(then).as_secs_f64().max(1e-9);
        let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
        let eta = self.forecast.eta(self.board, finished.len(), now);
        let reads_back = self.forecast.reads_back(now);
        let elapsed = now.duration_since(self.started);
        let total = eta.map(|eta| (elapsed + eta).as_secs_f64());
        let errors = |one: &Finished| one.summary.errors + u64::from(one.trouble.is_some());
        self.screen.progress(&Moment {
            fraction: total.map(|total| if total > 0.0 { elapsed.as_secs_f64() / total } else { 1.0 }),
            elapsed,
            eta,
            reads_back,
            totals,
            iops: std::array::from_fn(|kind| rate(totals.ios[kind], before.ios[kind])),
            bytes_per_second: std::array::from_fn(|kind| rate(totals.bytes[kind], before.bytes[kind])),
            errors: finished.iter().map(errors).sum(),
        });
    }

    fn see_to_status(&mut self, now: Instant, finished: &[Finished]) {
        let due = self.status_every.is_some_and(|every| now.duration_since(self.last_status) >= every);
        let requested = self.signals.take_status_request();
        if (due || requested) && !self.asking {
            self.last_status = now;
            self.board.ask();
            self.asking = true;
        }
        if self.asking && self.board.answered() {
            self.asking = false;
            self.screen.status(self.board, finished);
        }
    }
}

impl crew::Overseer for Overseer<'_> {
    fn tick(&mut self, finished: &[Finished]) -> Wish {
        let now = Instant::now();
        for one in finished.iter().skip(std::mem::replace(&mut self.noted, finished.len())) {
            self.screen.note(one);
        }
        if now.duration_since(self.last_progress.0) >= PROGRESS_EVERY {
            self.show_progress(now, finished);
        }
        self.see_to_status(now, finished);
        match self.signals.end() {
            None => Wish::GoOn,
            Some(_) if self.signals.gives_up() => Wish::Abandon,
            Some(_) => Wish::Stop,
        }
    }
}

/// When the run will end, as far as one can know.
#[derive(Debug)]
struct Forecast {
    stages: Vec<Stage>,
    current: usize,
    current_started: Instant,
}

#[derive(Debug, Default)]
struct Stage {
    /// Members up to the end of this stage.
    members_until: usize,
    first: usize,
    /// It ends after this long at the latest.
    longest: Option<Duration>,
    /// What it writes may be read back after that.
    reads_back: bool,
    /// It ends when so many bytes are transferred, at the latest.
    bytes: Option<u64>,
}

impl Forecast {
    fn new(plan: &Plan, members: &[Member], now: Instant) -> Self {
        let stages = members.chunk_by(|a, b| a.stage == b.stage).map(|members| Stage::new(plan, members)).collect();
        Self { stages, current: 0, current_started: now }
    }

    fn eta(&mut self, board: &Board, finished: usize, now: Instant) -> Option<Duration> {
        while self.current + 1 < self.stages.len() && finished >= self.stages[self.current].members_until {
            self.current += 1;
            self.current_started = now;
        }
        let stage = self.stages.get(self.current)?;
        if self.reads_back(now) {
            return None;
        }
        let elapsed = now.duration_since(self.current_started);
        let mut eta = stage.eta(board, elapsed)?;
        for later in &self.stages[self.current + 1..] {
            eta += later.longest?;
        }
        Some(eta)
    }

    /// Whether the runtime of the current stage is over, and what it wrote is read back.
    fn reads_back(&self, now: Instant) -> bool {
        let is_over = |stage: &Stage| stage.longest.is_some_and(|most| now.duration_since(self.current_started) > most);
        self.stages.get(self.current).is_some_and(|stage| stage.reads_back && is_over(stage))
    }
}

/// Whether a job reads back what it has written.
fn reads_back(job: &job::Job) -> bool {
    job.verify.method.is_some() && job.verify.do_verify && job.pattern.direction.writes()
}

impl Stage {
    fn new(plan: &Plan, members: &[Member]) -> Self {
        let times: Option<Vec<Duration>> = members.iter().map(|member| longest(plan, member)).collect();
        let bytes = members.iter().try_fold(0, |sum: u64, member| Some(sum.saturating_add(most_bytes(plan, member)?)));
        let last = members.last().map_or(0, |member| member.number);
        let first = members.first().map_or(0, |member| member.number);
        let reads_back = members.iter().any(|member| reads_back(&plan.jobs[member.job]));
        Self {
            members_until: last + 1,
            first,
            reads_back,
            longest: times.and_then(|times| times.into_iter().max()),
            bytes,
        }
    }

    fn eta(&self, board: &Board, elapsed: Duration) -> Option<Duration> {
        let by_time = self.longest.map(|longest| longest.saturating_sub(elapsed));
        let done: u64 = (self.first..self.members_until).map(|number| board.seat(number).bytes()).sum();
        let by_bytes = self.bytes.filter(|_| done > 0).map(|bytes| {
            let per_byte = elapsed.as_secs_f64() / done as f64;
            Duration::from_secs_f64((bytes.saturating_sub(done) as f64 * per_byte).min(1e9))
        });
        match (by_time, by_bytes) {
            (Some(time), Some(bytes)) => Some(time.min(bytes)),
            (time, bytes) => time.or(bytes),
        }
    }
}

fn longest(plan: &Plan, member: &Member) -> Option<Duration> {
    let extent = &plan.jobs[member.job].extent;
    let whole = extent.startdelay.1 + extent.ramp_time + extent.runtime;
    (extent.runtime > Nanos::ZERO).then(|| Duration::from_nanos(whole.get()))
}

fn most_bytes(plan: &Plan, member: &Member) -> Option<u64> {
    let job = &plan.jobs[member.job];
    let reads_back = reads_back(job);
    let once = member.files.transfer_bytes().saturating_mul(u64::from(job.extent.loops.max(1)));
    (!job.extent.time_based).then(|| once.saturating_mul(1 + u64::from(reads_back)))
}
