//! Where workers leave copies of what they have counted, for those who look while they run.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use drive::Watch;
use engine::InCall;
use engine::probe::Usage;
use meter::{CpuUse, Glance, Meter, Summary};
use units::Nanos;
use volume::Stage;

use crate::logs::LogFiles;

/// How often a worker looks up from its work; also how soon it notices a stop when nothing completes.
const LOOK_EVERY: Nanos = Nanos::from_millis(200);

/// One worker's place on the board.
#[derive(Debug, Default)]
pub(crate) struct Seat {
    ios: [AtomicU64; 3],
    bytes: [AtomicU64; 3],
    running: AtomicBool,
    /// The number of its worker's thread; zero before it begins.
    thread: AtomicU32,
    started_unix_ms: AtomicU64,
    /// The system call that the thread is in.
    in_call: Arc<InCall>,
    published: AtomicU64,
    summary: Mutex<Option<Summary>>,
    glance: Mutex<Glance>,
}

/// All workers of a run.
#[derive(Debug)]
pub(crate) struct Board {
    seats: Vec<Seat>,
    /// How many times everybody was asked for a full account.
    asked: AtomicU64,
    /// Whether somebody looks on.
    watched: AtomicBool,
    /// What the limits of modelled volumes have done, and until when.
    stages: Mutex<(Nanos, Vec<Stage>)>,
}

/// Totals over all workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Operations completed: reads, writes, trims.
    pub(crate) ios: [u64; 3],
    /// Bytes transferred: reads, writes, trims.
    pub(crate) bytes: [u64; 3],
    /// Workers at work.
    pub(crate) running: usize,
}

impl Board {
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            seats: (0..workers).map(|_| Seat::default()).collect(),
            asked: AtomicU64::new(0),
            watched: AtomicBool::new(false),
            stages: Mutex::default(),
        }
    }

    /// Somebody looks on from now on, so that workers show what they have counted.
    pub(crate) fn watch(&self) {
        self.watched.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_watched(&self) -> bool {
        self.watched.load(Ordering::Relaxed)
    }

    /// The time between two glances at one worker. Each costs some microseconds, so that of a thousand workers all of them
    /// together take less than a hundredth of a processor.
    fn glance_every(&self) -> Nanos {
        Nanos::from_millis((self.seats.len() as u64).max(190))
    }

    /// The time between two full accounts of one worker, in case its thread hangs before it is asked for one. Each costs up
    /// to 0.1 ms, so that all of them together take at most a hundredth of a processor.
    fn account_every(&self) -> Nanos {
        Nanos::from_millis((10 * self.seats.len() as u64).max(1000))
    }

    /// Leaves what the limits of modelled volumes have done.
    pub(crate) fn show_stages(&self, now: Nanos, stages: Vec<Stage>) {
        *held(&self.stages) = (now, stages);
    }

    /// What the limits of modelled volumes have done, and until when.
    pub(crate) fn stages(&self) -> (Nanos, Vec<Stage>) {
        held(&self.stages).clone()
    }

    /// How many workers there are.
    pub(crate) fn workers(&self) -> usize {
        self.seats.len()
    }

    /// The place of worker `number`.
    pub(crate) fn seat(&self, number: usize) -> &Seat {
        &self.seats[number]
    }

    /// What was done so far.
    pub(crate) fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for seat in &self.seats {
            totals.running += usize::from(seat.running.load(Ordering::Relaxed));
            for kind in 0..3 {
                totals.ios[kind] += seat.ios[kind].load(Ordering::Relaxed);
                totals.bytes[kind] += seat.bytes[kind].load(Ordering::Relaxed);
            }
        }
        totals
    }

    /// Asks everybody for a full account; [`Board::answered`] tells when all who are running have given it.
    pub(crate) fn ask(&self) {
        self.asked.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether every running worker has answered the last request.
    pub(crate) fn answered(&self) -> bool {
        let asked = self.asked.load(Ordering::Relaxed);
        let waiting =
            |seat: &Seat| seat.running.load(Ordering::Relaxed) && seat.published.load(Ordering::Acquire) < asked;
        !self.seats.iter().any(waiting)
    }

    /// Shows how much is done, and to those who look on more than that.
    pub(crate) fn see(&self, seat: &Seat, meter: &mut Meter, now: Nanos) {
        seat.count(meter);
        if self.is_watched() {
            seat.show(meter, now, self.glance_every());
        }
    }

    /// Shows what a worker has done in the end.
    pub(crate) fn see_last(&self, seat: &Seat, meter: &mut Meter, now: Nanos) {
        seat.count(meter);
        if self.is_watched() {
            meter.glance(now, &mut held(&seat.glance));
        }
    }

    /// The newest full account of worker `number`, if it has given one.
    pub(crate) fn summary(&self, number: usize) -> Option<Summary> {
        held(&self.seats[number].summary).clone()
    }
}

/// What a lock holds, whether or not somebody broke down who had it.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Seat {
    /// Bytes transferred so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.iter().map(|bytes| bytes.load(Ordering::Relaxed)).sum()
    }

    /// Operations completed so far.
    pub(crate) fn operations(&self) -> u64 {
        self.ios.iter().map(|ios| ios.load(Ordering::Relaxed)).sum()
    }

    /// The number of its worker's thread; zero before it begins.
    pub(crate) fn thread(&self) -> u32 {
        self.thread.load(Ordering::Relaxed)
    }

    pub(crate) fn set_thread(&self, thread: u32) {
        self.thread.store(thread, Ordering::Relaxed);
    }

    /// When its worker began, in milliseconds since 1970; zero before it does.
    pub(crate) fn started_unix_ms(&self) -> u64 {
        self.started_unix_ms.load(Ordering::Relaxed)
    }

    pub(crate) fn set_started_unix_ms(&self, started: u64) {
        self.started_unix_ms.store(started, Ordering::Relaxed);
    }

    /// The system call that its worker is in.
    pub(crate) fn in_call(&self) -> &Arc<InCall> {
        &self.in_call
    }

    pub(crate) fn is_running(&self) -> bool {
        self.running.load(Ordering::Relaxed)
    }

    /// Whether its worker is at work.
    pub(crate) fn set_running(&self, running: bool) {
        self.running.store(running, Ordering::Relaxed);
    }

    /// Shows how much is done.
    fn count(&self, meter: &Meter) {
        for (seen, ios) in self.ios.iter().zip(meter.ios()) {
            seen.store(ios, Ordering::Relaxed);
        }
        for (seen, bytes) in self.bytes.iter().zip(meter.bytes()) {
            seen.store(bytes, Ordering::Relaxed);
        }
    }

    /// What its worker has counted, as it was seen last.
    pub(crate) fn glance(&self) -> MutexGuard<'_, Glance> {
        held(&self.glance)
    }

    /// Shows what is counted to those who look on, unless they have seen it a moment ago. One who is just reading is not
    /// waited for.
    fn show(&self, meter: &mut Meter, now: Nanos, every: Nanos) {
        if let Ok(mut glance) = self.glance.try_lock()
            && now.since(glance.at) >= every
        {
            meter.glance(now, &mut glance);
        }
    }

    fn publish(&self, summary: Summary, answer_to: u64) {
        *held(&self.summary) = Some(summary);
        self.published.store(answer_to, Ordering::Release);
    }

    /// Leaves the results of a worker that has ended, but whose files are still to be closed.
    pub(crate) fn publish_last(&self, summary: Summary) {
        self.publish(summary, u64::MAX);
    }
}

/// Keeps one worker's seat up to date, and its log files.
#[derive(Debug)]
pub(crate) struct SeatWatch<'a> {
    pub(crate) board: &'a Board,
    pub(crate) seat: &'a Seat,
    pub(crate) logs: Option<&'a mut LogFiles>,
    /// What the worker's thread had used before it began.
    pub(crate) used_before: Usage,
    /// After how long it gives way to other workers; `None` where the scheduler sees to that.
    pub(crate) turn: Option<Nanos>,
    /// When a full account is due.
    pub(crate) account_at: Nanos,
}

impl SeatWatch<'_> {
    /// What the worker has used; to be asked on its own thread.
    pub(crate) fn used(&self) -> CpuUse {
        let used = Usage::of_thread().since(self.used_before);
        CpuUse {
            user: used.user,
            system: used.system,
            context_switches: used.context_switches,
            major_faults: used.major_faults,
            minor_faults: used.minor_faults,
        }
    }
}

impl Watch for SeatWatch<'_> {
    fn next_look(&mut self, now: Nanos) -> Nanos {
        now + LOOK_EVERY
    }

    fn next_turn(&mut self, now: Nanos) -> Nanos {
        self.turn.map_or(Nanos::MAX, |turn| now + turn)
    }

    fn give_way(&mut self) {
        std::thread::yield_now();
    }

    fn look(&mut self, _: usize, meter: &mut Meter, now: Nanos) {
        self.board.see(self.seat, meter, now);
        let asked = self.board.asked.load(Ordering::Relaxed);
        if self.seat.published.load(Ordering::Relaxed) < asked || now >= self.account_at {
            self.account_at = now + self.board.account_every();
            self.seat.publish(Summary { cpu: self.used(), ..meter.summary(now) }, asked);
        }
        if let Some(logs) = &mut self.logs {
            logs.write(&meter.take_log());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glances_are_taken_while_somebody_looks_on_and_waits_for_nobody() {
        let board = Board::new(1);
        let seat = board.seat(0);
        let mut meter = Meter::new(meter::Options::default());
        let mut look = |ms| board.see(seat, &mut meter, Nanos::from_millis(ms));
        look(200);
        assert_eq!(seat.glance().at, Nanos::ZERO, "nobody looks on");
        board.watch();
        look(400);
        look(500);
        assert_eq!(seat.glance().at, Nanos::from_millis(400), "once in a while is enough");
        let reader = seat.glance();
        look(800);
        drop(reader);
        assert_eq!(seat.glance().at, Nanos::from_millis(400), "somebody was reading");
        board.see_last(seat, &mut meter, Nanos::from_millis(801));
        assert_eq!(seat.glance().at, Nanos::from_millis(801));
    }

    #[test]
    fn a_request_is_answered_once_by_each_running_worker() {
        let board = Board::new(2);
        assert!(board.answered());
        board.seat(0).set_running(true);
        board.ask();
        assert!(!board.answered());
        let mut meter = Meter::new(meter::Options::default());
        let mut watch = SeatWatch {
            board: &board,
            seat: board.seat(0),
            logs: None,
            used_before: Usage::default(),
            turn: None,
            account_at: Nanos::MAX,
        };
        while watch.used().user + watch.used().system == Nanos::ZERO {
            std::hint::black_box((0..10_000).sum::<u64>());
        }
        watch.look(0, &mut meter, Nanos::from_secs(1));
        assert!(board.answered());
        let cpu = board.summary(0).expect("it answered").cpu;
        assert!(cpu.user + cpu.system > Nanos::ZERO, "status reports showed no processor time");
        assert!(board.summary(1).is_none());
    }
}
