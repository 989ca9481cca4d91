//! Due times of replies, and how punctual the server is.
//!
//! The model runs on schedule time: late replies do not delay later ones, so rates are exact however late single
//! replies are. The server asks to be woken earlier by the usual lateness of wake-ups. It subtracts the round trip of a
//! request and its reply between client and server from the modelled latency, so that the client observes the modelled
//! one; [`RoundTrips`] estimates the round trip.
//!
//! So a request arrives in the model earlier than it is read. A drive that chooses its next command after a reply waits for
//! the request that may follow this reply, which takes part in the choice if it counts as sent before.

use meter::Histogram;
use units::Nanos;
use volume::{Attachment, Request, ServiceStage, Share, System};

use super::turnaround::{RoundTripDeduction, RoundTrips, step};

/// The model of a server on the server's clock.
#[derive(Debug)]
pub(super) struct Timeline {
    system: System,
    /// When the server started, the model's zero.
    began: Nanos,
    round_trips: RoundTrips,
    spin: bool,
    /// Usual lateness of wake-ups.
    wake_late_ns: u64,
    /// Mean interval between due times.
    gap_ns: u64,
    last_due: Nanos,
    /// Requested time of the wake-up that the server waits for.
    wake_requested: Option<Nanos>,
    /// Whether there are drives, whose choices may have to wait for requests.
    has_drives: bool,
    punctuality: Punctuality,
}

/// Deviation of replies from their due times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Punctuality {
    /// Lateness of each reply; zero if early.
    pub late: Histogram,
    /// Sum of all deviations; early ones are negative.
    pub sum_ns: i64,
    pub replies: u64,
}

/// Time before a due reply during which the CPU is kept busy instead of sleeping, if allowed.
const SPIN_NS: u64 = 80_000;

impl Timeline {
    pub(super) fn new(mut system: System, now: Nanos, round_trip: RoundTripDeduction, spin: bool) -> Self {
        (0..system.homes().len()).for_each(|route| system.measure(Nanos::ZERO, route, true));
        let has_drives = system.has_drives();
        Self {
            system,
            began: now,
            round_trips: RoundTrips::new(round_trip),
            spin,
            wake_late_ns: 30_000,
            gap_ns: GROUP_NS,
            last_due: now,
            wake_requested: None,
            has_drives,
            punctuality: Punctuality::default(),
        }
    }

    /// Passes a request read at `now` to the model. Clients with simultaneous requests get equal shares.
    #[inline]
    pub(super) fn arrive(&mut self, now: Nanos, route: usize, request: Request, share: Share) {
        let sent = self.round_trips.sent(share.user, now).since(self.began);
        let sent = sent.max(self.system.moved());
        if share.among > 1 {
            self.system.arrive_shared(sent, route, request, share);
        } else {
            self.system.arrive(sent, route, request);
        }
    }

    pub(super) fn delay_until(&mut self, at: Nanos, slot: u32) {
        self.system.enter(at.since(self.began), slot);
    }

    /// Returns the next request whose reply should leave now, and its due time.
    #[inline]
    pub(super) fn next_due(&mut self, now: Nanos) -> Option<(Nanos, u32)> {
        // Waiting for less than half of the usual lateness of a wake-up would only make the reply later.
        let near = if self.spins() { 0 } else { (self.wake_late_ns / 2).max(self.group_ns() / 2) };
        let until = now.since(self.began) + Nanos::new(near);
        let open = if self.has_drives { self.round_trips.earliest(now).since(self.began) } else { Nanos::MAX };
        let (due, slot) = self.system.next_done_held(until, open)?;
        Some((self.began + due, slot))
    }

    /// Returns how long the server may sleep; `None` until the next request.
    pub(super) fn sleep(&mut self, now: Nanos) -> Option<Nanos> {
        let early = if self.spins() { SPIN_NS } else { self.wake_late_ns };
        let late = self.group_ns() / 2;
        let wake = |at: Nanos| Nanos::new(((self.began + at).get() + late).saturating_sub(early));
        let due = self.system.next_event().map(wake);
        let held = self.system.held().map(|at| self.round_trips.passes(self.began + at, now));
        let aim = due.into_iter().chain(held).min()?;
        self.wake_requested = (aim > now && !self.spins()).then_some(aim);
        Some(aim.since(now))
    }

    /// Records a wake-up, by the timer or by an event (`called`).
    pub(super) fn woke(&mut self, now: Nanos, called: bool) {
        if let Some(wake_requested) = self.wake_requested.take()
            && !called
        {
            let late = now.since(wake_requested).get();
            self.wake_late_ns = step(self.wake_late_ns, late, WAKE_STEP_NS).min(MAX_WAKE_LATE_NS);
        }
    }

    /// Returns the window in which due replies leave together, none further from its due time than half of it: each
    /// alone would cost both sides a wake-up. Zero if replies are further apart.
    fn group_ns(&self) -> u64 {
        if self.gap_ns < GROUP_NS { GROUP_NS } else { 0 }
    }

    /// Reports whether to keep the CPU busy. Not with grouped replies: it would take the CPU from clients
    /// without making replies more punctual.
    fn spins(&self) -> bool {
        self.spin && self.gap_ns >= GROUP_NS
    }

    /// Records a reply that leaves now, to a request that was read at `read`.
    #[inline]
    pub(super) fn released(&mut self, client: u32, read: Nanos, due: Nanos, now: Nanos) {
        self.round_trips.answered(client, read, due, now);
        let gap = due.since(self.last_due).get();
        self.gap_ns = self.gap_ns - self.gap_ns / 16 + gap.min(16 * GROUP_NS) / 16;
        self.last_due = due;
        let late = now.since(due);
        self.punctuality.late.add(late.get(), 1);
        self.punctuality.sum_ns += late.get() as i64 - due.since(now).get() as i64;
        self.punctuality.replies += 1;
    }

    pub(super) fn change(&mut self, now: Nanos, attachments: &[Attachment]) {
        self.system.change(now.since(self.began).max(self.system.moved()), attachments);
    }

    pub(super) fn forget(&mut self, client: u32) {
        self.round_trips.forget(client);
    }

    pub(super) fn round_trip(&self) -> Nanos {
        self.round_trips.mean()
    }

    pub(super) fn punctuality(&self) -> &Punctuality {
        &self.punctuality
    }

    pub(super) fn stages(&self, now: Nanos) -> Vec<ServiceStage> {
        self.system.stages(now.since(self.began))
    }
}

/// Window in which due replies are sent together.
const GROUP_NS: u64 = 50_000;

/// Step of the running median of wake-ups, in nanoseconds.
const WAKE_STEP_NS: u64 = 250;
/// Upper limit of that median. Later wake-ups come from a busy host; compensating for them would make replies early when
/// it is idle.
const MAX_WAKE_LATE_NS: u64 = 50_000;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use units::random::Random;
    use volume::RequestKind;

    use super::*;

    /// On 748fabe, no request counted as sent before the last one of any client, so a second client cancelled what was
    /// subtracted for the first.
    #[test]
    fn one_client_does_not_reduce_the_deduction_of_another() {
        let latency = Nanos::from_millis(1);
        let spec = volume::catalogue::resolve("custom,latency=1ms").expect("a volume");
        let system = System::new(&[Attachment { spec, volume: "disk".to_owned() }], 1);
        let mut timeline = Timeline::new(system, Nanos::ZERO, RoundTripDeduction::Learnt(Nanos::ZERO), true);
        let ask = |timeline: &mut Timeline, user: u32, at: Nanos| {
            let request = Request { id: user, kind: RequestKind::Read, offset: 0, length: 4096 };
            timeline.arrive(at, 0, request, Share { user, among: 1 });
        };
        let (mut at, mut before) = (latency, Nanos::ZERO);
        for round in 0..600 {
            // The other client pauses, then sends a request shortly before this one.
            if round % 3 == 0 {
                ask(&mut timeline, 1, Nanos::new(at.get() - 10_000));
            }
            ask(&mut timeline, 0, at);
            let mut due = Nanos::ZERO;
            while let Some((at, user)) = timeline.next_due(Nanos::from_secs(10)) {
                timeline.released(user, at, at, at);
                due = if user == 0 { at } else { due };
            }
            assert!(round < 200 || due == before + latency, "{due} after {before} in round {round}");
            (at, before) = (due + Nanos::from_micros(60), due);
        }
    }

    const HARD_DISK: &str = "hdd/7200rpm";
    const SPAN: Nanos = Nanos::from_secs(60);

    fn hard_disk() -> System {
        let spec = volume::catalogue::resolve(HARD_DISK).expect("a volume");
        System::new(&[Attachment { spec, volume: "disk".to_owned() }], 1)
    }

    fn random_read(random: &mut Random, id: u32) -> Request {
        let offset = random.below(900_000_000) * 4096;
        Request { id, kind: RequestKind::Read, offset, length: 4096 }
    }

    /// Returns the reads of a closed loop on the model itself.
    fn simulated(depth: u32) -> u64 {
        let (mut system, mut random, mut reads) = (hard_disk(), Random::new(5, 1), 0);
        (0..depth).for_each(|id| system.arrive(Nanos::ZERO, 0, random_read(&mut random, id)));
        while let Some((at, id)) = system.next_done(SPAN) {
            reads += 1;
            system.arrive(at, 0, random_read(&mut random, id));
        }
        reads
    }

    /// Returns the reads of a closed loop whose requests follow replies after `turnaround`, from a server that wakes up
    /// late.
    fn served(depth: u32, mut turnaround: impl FnMut(&mut Random) -> u64) -> u64 {
        let mut timeline = Timeline::new(hard_disk(), Nanos::ZERO, RoundTripDeduction::Learnt(Nanos::ZERO), false);
        let (mut random, mut times) = (Random::new(5, 1), Random::new(5, 2));
        let mut requests: BTreeSet<(Nanos, u32)> = (0..depth).map(|id| (Nanos::ZERO, id)).collect();
        let (mut now, mut reads, mut read) = (Nanos::ZERO, 0, vec![Nanos::ZERO; depth as usize]);
        while now < SPAN {
            let timer = timeline.sleep(now).map(|sleep| now + sleep + Nanos::new(10_000 + times.below(40_000)));
            let request = requests.first().map(|&(at, _)| at);
            now = timer.into_iter().chain(request).min().expect("the loop goes on").max(now);
            timeline.woke(now, timer != Some(now));
            while let Some(&(at, id)) = requests.first().filter(|(at, _)| *at <= now) {
                requests.remove(&(at, id));
                read[id as usize] = now;
                timeline.arrive(now, 0, random_read(&mut random, id), Share { user: 0, among: 1 });
            }
            while let Some((due, id)) = timeline.next_due(now) {
                timeline.released(0, read[id as usize], due, now);
                requests.insert((now + Nanos::new(turnaround(&mut times)), id));
                reads += 1;
            }
        }
        reads
    }

    /// Revision 5aa1e091 had the drive choose before the request that counted as sent earlier was read: at depth 2 it gave
    /// 16 % fewer IOPS than the simulation, those of depth 1.
    #[test]
    fn a_served_hard_disk_chose_without_the_next_request() {
        for depth in [1, 2, 8, 32] {
            let wanted = simulated(depth) as f64;
            for turnaround in [20_000, 100_000, 170_000] {
                let found = served(depth, |times| turnaround + times.below(15_000)) as f64;
                assert!((found / wanted - 1.0).abs() < 0.02, "{found} reads for {wanted}: {depth}, {turnaround} ns");
            }
        }
        // Think time is the client's, and the drive does not wait for it.
        let (thinking, wanted) = (served(2, |_| 500_000) as f64, simulated(1) as f64);
        assert!((thinking / wanted - 1.0).abs() < 0.03, "{thinking} reads for {wanted}");
    }
}
