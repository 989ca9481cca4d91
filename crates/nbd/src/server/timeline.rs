//! Due times of replies, and how well the server keeps them.
//!
//! The model runs on schedule time: what the server does late does not move what is due later, so rates are exact however
//! late single replies are. A wake-up is asked for by as much early as wake-ups are usually late. What a request and its
//! reply spend on their way between client and server is taken out of what the model says, so that the client sees what
//! the model says; [`RoundTrips`] knows that time.

use meter::Histogram;
use units::Nanos;
use volume::{Attachment, Request, ServiceStage, Share, System};

use super::turnaround::{RoundTripDeduction, RoundTrips};

/// The model of a server, and how well it is kept.
#[derive(Debug)]
pub(super) struct Timeline {
    system: System,
    /// When the server started: zero for the model.
    began: Nanos,
    round_trips: RoundTrips,
    spin: bool,
    /// How late wake-ups are.
    wake_late: Usual,
    /// The usual time between two replies that are due.
    gap_ns: u64,
    /// When the last reply was due.
    last_due: Nanos,
    /// When the last wake-up was asked for, if the last wait was for that.
    asked: Option<Nanos>,
    /// Before this the model takes no request: when the last one was sent and, of a drive that has moved, the last instant
    /// that was looked at.
    seen: Nanos,
    moves: bool,
    punctuality: Punctuality,
}

/// Deviation of replies from their due times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Punctuality {
    /// How late they were, those that were early counting as zero.
    pub late: Histogram,
    /// All together, those that were early taken off.
    pub sum_ns: i64,
    /// How many there were.
    pub replies: u64,
}

/// Below this a processor is kept busy rather than put to sleep, where the server may.
const SPIN_NS: u64 = 80_000;

impl Timeline {
    pub(super) fn new(mut system: System, now: Nanos, round_trip: RoundTripDeduction, spin: bool) -> Self {
        (0..system.homes().len()).for_each(|route| system.measure(Nanos::ZERO, route, true));
        let moves = system.moves();
        let wake_late = Usual::new(30_000);
        Self {
            system,
            began: now,
            round_trips: RoundTrips::new(round_trip),
            spin,
            wake_late,
            gap_ns: GROUP_NS,
            last_due: now,
            asked: None,
            seen: Nanos::ZERO,
            moves,
            punctuality: Punctuality::default(),
        }
    }

    /// Takes a request that was read at an instant. Clients who want something at the same time have equal shares.
    #[inline]
    pub(super) fn arrive(&mut self, now: Nanos, route: usize, request: Request, share: Share) {
        let sent = self.round_trips.sent(share.user, now).since(self.began);
        let sent = if self.moves { sent.max(self.seen) } else { sent };
        self.seen = self.seen.max(sent);
        if share.among > 1 {
            self.system.arrive_shared(sent, route, request, share);
        } else {
            self.system.arrive(sent, route, request);
        }
    }

    /// A request has to wait at least until an instant.
    pub(super) fn alarm(&mut self, at: Nanos, slot: u32) {
        self.system.enter(at.since(self.began), slot);
    }

    /// The next request whose reply is to leave now, and when it was due.
    #[inline]
    pub(super) fn next_due(&mut self, now: Nanos) -> Option<(Nanos, u32)> {
        // Nearer than half of what a wake-up is late, waiting would only make it later.
        let near = if self.spins() { 0 } else { (self.wake_late.value / 2).max(self.group_ns() / 2) };
        let until = now.since(self.began) + Nanos::new(near);
        if self.moves {
            self.seen = self.seen.max(until);
        }
        let (due, slot) = self.system.next_done(until)?;
        Some((self.began + due, slot))
    }

    /// How long the server may sleep; `None` until the next request.
    pub(super) fn sleep(&mut self, now: Nanos) -> Option<Nanos> {
        let due = self.began + self.system.next_event()?;
        let early = if self.spins() { SPIN_NS } else { self.wake_late.value };
        let aim = Nanos::new((due.get() + self.group_ns() / 2).saturating_sub(early));
        self.asked = (aim > now && !self.spins()).then_some(aim);
        Some(aim.since(now))
    }

    /// The server woke up, because time had come or because it was called.
    pub(super) fn woke(&mut self, now: Nanos, called: bool) {
        if let Some(asked) = self.asked.take()
            && !called
        {
            self.wake_late.learn(now.since(asked).get());
        }
    }

    /// Replies that are due within this time leave together, none further from its instant than half of it: each alone would
    /// cost both sides a wake-up. Zero where they are further apart than that.
    fn group_ns(&self) -> u64 {
        if self.gap_ns < GROUP_NS { GROUP_NS } else { 0 }
    }

    /// Whether to keep a processor busy: not where replies leave in groups, which would take the processor from clients
    /// without making replies more punctual.
    fn spins(&self) -> bool {
        self.spin && self.gap_ns >= GROUP_NS
    }

    /// A reply that was due at an instant leaves now.
    #[inline]
    pub(super) fn released(&mut self, client: u32, due: Nanos, now: Nanos) {
        self.round_trips.answered(client, due, now);
        let gap = due.since(self.last_due).get();
        self.gap_ns = self.gap_ns - self.gap_ns / 16 + gap.min(16 * GROUP_NS) / 16;
        self.last_due = due;
        let late = now.since(due);
        self.punctuality.late.add(late.get(), 1);
        self.punctuality.sum_ns += late.get() as i64 - due.since(now).get() as i64;
        self.punctuality.replies += 1;
    }

    /// The model goes by other specs from an instant on.
    pub(super) fn change(&mut self, now: Nanos, attachments: &[Attachment]) {
        self.system.change(now.since(self.began).max(self.seen), attachments);
    }

    /// A client is gone.
    pub(super) fn forget(&mut self, client: u32) {
        self.round_trips.forget(client);
    }

    /// What was taken off for the round trip between client and server, on average.
    pub(super) fn round_trip(&self) -> Nanos {
        self.round_trips.mean()
    }

    pub(super) fn punctuality(&self) -> &Punctuality {
        &self.punctuality
    }

    /// What limits and stations have done.
    pub(super) fn stages(&self, now: Nanos) -> Vec<ServiceStage> {
        self.system.stages(now.since(self.began))
    }
}

/// Time window in which due replies are sent together.
const GROUP_NS: u64 = 50_000;

/// A running median, updated in small steps.
#[derive(Clone, Copy, Debug)]
struct Usual {
    value: u64,
}

impl Usual {
    const STEP_NS: u64 = 250;
    /// More is the doing of a busy host, and what leaves early because of it would be too early where it is not late.
    const MOST_NS: u64 = 50_000;

    fn new(value: u64) -> Self {
        Self { value }
    }

    /// One more figure: the value goes a step towards it, and so to where as many are above as below.
    fn learn(&mut self, figure: u64) {
        self.value = if figure > self.value {
            (self.value + Self::STEP_NS).min(Self::MOST_NS)
        } else {
            self.value.saturating_sub(Self::STEP_NS)
        };
    }
}

#[cfg(test)]
mod tests {
    use volume::RequestKind;

    use super::*;

    /// On 748fabe no request counted as sent before the last one of any client, so that a second client took away what was
    /// subtracted for the first.
    #[test]
    fn one_client_does_not_shorten_what_is_subtracted_for_another() {
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
            // The other client does something else for a while, and asks shortly before this one.
            if round % 3 == 0 {
                ask(&mut timeline, 1, Nanos::new(at.get() - 10_000));
            }
            ask(&mut timeline, 0, at);
            let mut due = Nanos::ZERO;
            while let Some((at, user)) = timeline.next_due(Nanos::from_secs(10)) {
                timeline.released(user, at, at);
                due = if user == 0 { at } else { due };
            }
            assert!(round < 200 || due == before + latency, "{due} after {before} in round {round}");
            (at, before) = (due + Nanos::from_micros(60), due);
        }
    }
}
