//! Round trips between clients and the server, which are no part of a volume's latency.
//!
//! A client in a closed loop sends a request as soon as it receives a reply. By Little's law, its rate is its number of
//! requests in flight over the mean time from one request to the next, of which only the modelled latency belongs to
//! the volume. The rate is the model's if each request counts as sent when the preceding reply was due. Then wake-ups
//! of the server and the client cost no throughput, and what they cost one request is returned to the next, so the
//! median latency is the model's too. Subtracting a typical round trip instead gave fio 4 to 10 % fewer operations at 1
//! ms: wake-ups have a long tail that a median does not see.
//!
//! A client that does other work between a reply and its next request is recognized by the time it takes. Its requests
//! count as sent one typical round trip before they are read.

use std::collections::VecDeque;

use units::Nanos;

/// The round trip that is subtracted from modelled latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundTripDeduction {
    /// A fixed time.
    Fixed(Nanos),
    /// The time learnt from each client; this value until then, and for clients that are not in a closed loop.
    Learnt(Nanos),
}

#[derive(Debug)]
pub(super) struct RoundTrips {
    round_trip: RoundTripDeduction,
    clients: Vec<TurnaroundEstimate>,
    /// Total of all deductions, and the number of requests.
    deducted_ns: i64,
    requests: u64,
}

impl RoundTrips {
    pub(super) fn new(round_trip: RoundTripDeduction) -> Self {
        Self { round_trip, clients: Vec::new(), deducted_ns: 0, requests: 0 }
    }

    /// Records that a reply which was due at `due` leaves at `now`. Its request was read at `read`.
    #[inline]
    pub(super) fn answered(&mut self, client: u32, read: Nanos, due: Nanos, now: Nanos) {
        if let RoundTripDeduction::Learnt(first) = self.round_trip {
            self.client(client, first).record_reply(read, due, now);
        }
    }

    #[inline]
    fn client(&mut self, client: u32, first: Nanos) -> &mut TurnaroundEstimate {
        let client = client as usize;
        if client >= self.clients.len() {
            self.clients.resize_with(client + 1, || TurnaroundEstimate::new(first));
        }
        &mut self.clients[client]
    }

    /// Returns when a request that was read at `now` counts as sent.
    #[inline]
    pub(super) fn sent(&mut self, client: u32, now: Nanos) -> Nanos {
        let sent = match self.round_trip {
            RoundTripDeduction::Learnt(first) => {
                self.client(client, first).record_request(now).unwrap_or_else(|| earlier(now, first))
            }
            RoundTripDeduction::Fixed(round_trip) => earlier(now, round_trip),
        };
        self.deducted_ns += now.get() as i64 - sent.get() as i64;
        self.requests += 1;
        sent
    }

    /// Returns the earliest instant at which a request that is read from now on may count as sent.
    pub(super) fn earliest(&self, now: Nanos) -> Nanos {
        let (RoundTripDeduction::Learnt(usual) | RoundTripDeduction::Fixed(usual)) = self.round_trip;
        let of_clients = self.clients.iter().map(|client| client.earliest(now));
        of_clients.chain([earlier(now, usual)]).min().unwrap_or(now)
    }

    /// Returns when no request counts any more as sent before `at`, if none is read until then.
    pub(super) fn passes(&self, at: Nanos, now: Nanos) -> Nanos {
        let (RoundTripDeduction::Learnt(usual) | RoundTripDeduction::Fixed(usual)) = self.round_trip;
        let of_clients = self.clients.iter().map(|client| client.passes(at, now));
        of_clients.chain([at + usual]).max().unwrap_or(at) + Nanos::new(1)
    }

    /// Forgets a client whose index is reused.
    pub(super) fn forget(&mut self, client: u32) {
        if let (RoundTripDeduction::Learnt(first), Some(client)) =
            (self.round_trip, self.clients.get_mut(client as usize))
        {
            *client = TurnaroundEstimate::new(first);
        }
    }

    pub(super) fn mean(&self) -> Nanos {
        Nanos::new(u64::try_from(self.deducted_ns).unwrap_or(0) / self.requests.max(1))
    }
}

fn earlier(now: Nanos, by: Nanos) -> Nanos {
    Nanos::new(now.get().saturating_sub(by.get()))
}

/// A reply that no request has followed yet.
#[derive(Clone, Copy, Debug)]
struct Answered {
    due: Nanos,
    left: Nanos,
    /// Time by which a request has to follow to count as soon.
    soon_ns: u64,
}

impl Answered {
    /// Returns from when on a request of a closed loop no longer counts as sent when this reply was due.
    fn delayed_until(&self) -> Nanos {
        self.due + Nanos::new(MAX_DELAYED * self.soon_ns)
    }
}

/// The typical turnaround of one client.
#[derive(Debug)]
struct TurnaroundEstimate {
    /// Replies that no request has followed yet, in order.
    answered: VecDeque<Answered>,
    in_flight: u32,
    /// Maximum requests in flight, in this period and the previous one.
    peak: u32,
    peak_before: u32,
    requests_left: u32,
    usual_ns: u64,
    /// Fraction of its requests, of [`ONE`], that follow soon enough for a closed loop.
    soon: u32,
    /// Inverse weight of the last request in that fraction: the first weigh more.
    weight: u32,
    is_closed: bool,
}

/// A client that takes longer does other work between a reply and its next request,
const SOON_NS: u64 = 120_000;
/// unless this takes less than this fraction of the latency, which would change the rate by no more: a host that waits for
/// milliseconds sleeps more deeply and wakes up later,
const SOON_FRACTION: u64 = 50;
/// but within this time.
const SOON_MAX_NS: u64 = 400_000;
/// Additional time for each earlier unread reply: the client reads it and sends another request first.
const SOON_EACH_NS: u64 = 16_000;
/// In a closed loop, a request that follows within this multiple of the limit was delayed by the host; a later one, by
/// a pause of the client.
const MAX_DELAYED: u64 = 2;
const STEP_NS: u64 = 500;
const PERIOD: u32 = 256;
/// Fixed-point representation of 1.
const ONE: u32 = 1 << 16;
/// Fraction of soon requests above which the loop counts as closed,
const CLOSED: u32 = ONE / 4 * 3;
/// and below which it counts as open: a busy host delays many requests of a closed loop.
const OPEN: u32 = ONE / 4;
/// Inverse weight of one request in the average: of the first, and of all once there were enough.
const FIRST_WEIGHT: u32 = 8;
const WEIGHT: u32 = 64;

impl TurnaroundEstimate {
    fn new(first: Nanos) -> Self {
        Self {
            answered: VecDeque::new(),
            in_flight: 0,
            peak: 0,
            peak_before: 0,
            requests_left: PERIOD,
            usual_ns: first.get(),
            soon: 0,
            weight: FIRST_WEIGHT,
            is_closed: false,
        }
    }

    #[inline]
    fn record_reply(&mut self, read: Nanos, due: Nanos, left: Nanos) {
        self.in_flight = self.in_flight.saturating_sub(1);
        // A client that has fewer requests in flight than before will not follow all replies.
        if self.answered.len() >= self.depth() as usize {
            self.answered.pop_front();
        }
        let alone_ns = (due.since(read).get() / SOON_FRACTION).clamp(SOON_NS, SOON_MAX_NS);
        let soon_ns = alone_ns + SOON_EACH_NS * self.answered.len() as u64;
        self.answered.push_back(Answered { due, left, soon_ns });
    }

    /// Records a request; returns when it counts as sent, if known.
    #[inline]
    fn record_request(&mut self, now: Nanos) -> Option<Nanos> {
        self.in_flight += 1;
        self.peak = self.peak.max(self.in_flight);
        self.requests_left -= 1;
        if self.requests_left == 0 {
            (self.peak_before, self.peak, self.requests_left) = (self.peak, self.in_flight, PERIOD);
        }
        let reply = self.answered.pop_front();
        if let Some(reply) = &reply {
            self.learn(reply, now);
        }
        if !self.is_closed {
            return None;
        }
        let is_delayed = |reply: &Answered| now < reply.delayed_until();
        Some(reply.filter(is_delayed).map_or_else(|| self.usual(now), |reply| reply.due))
    }

    fn usual(&self, now: Nanos) -> Nanos {
        earlier(now, Nanos::new(self.usual_ns))
    }

    /// Returns the first reply that a request of a closed loop may still follow.
    fn awaited(&self, now: Nanos) -> Option<&Answered> {
        self.answered.iter().find(|reply| self.is_closed && now < reply.delayed_until())
    }

    /// Implements [`RoundTrips::earliest`] for this client.
    fn earliest(&self, now: Nanos) -> Nanos {
        self.awaited(now).map_or(self.usual(now), |reply| self.usual(now).min(reply.due))
    }

    /// Implements [`RoundTrips::passes`] for this client.
    fn passes(&self, at: Nanos, now: Nanos) -> Nanos {
        let awaited = self.awaited(now).filter(|reply| reply.due <= at).map(Answered::delayed_until);
        (at + Nanos::new(self.usual_ns)).max(awaited.unwrap_or(at))
    }

    /// Records that a request follows a reply.
    #[inline]
    fn learn(&mut self, reply: &Answered, now: Nanos) {
        self.weight = (self.weight + 1).min(WEIGHT);
        self.soon -= self.soon / self.weight;
        if now.since(reply.left).get() < reply.soon_ns {
            self.soon += ONE / self.weight;
            self.usual_ns = step(self.usual_ns, now.since(reply.due).get(), STEP_NS);
        }
        self.is_closed = self.soon >= if self.is_closed { OPEN } else { CLOSED };
    }

    fn depth(&self) -> u32 {
        self.peak.max(self.peak_before)
    }
}

/// Moves a step towards a value, and so converges to the median.
pub(super) fn step(usual: u64, sample: u64, step: u64) -> u64 {
    if sample > usual { usual + step } else { usual.saturating_sub(step) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const FIRST: Nanos = Nanos::from_micros(10);
    const LATENCY: u64 = 1_000_000;

    /// The next event: time, request number and, for a reply, its due time and when the request was read.
    type Next = (u64, u64, Option<(u64, u64)>);

    /// Simulates a client in a closed loop. Returns requests per second, the median time from reading a request to
    /// sending its reply, and the deduction of the last request. `late` returns the lateness of a reply, `pause` the
    /// time until the next request is read.
    fn closed(
        depth: u32,
        requests: u64,
        mut late: impl FnMut(u64) -> u64,
        mut pause: impl FnMut(u64, u64) -> u64,
    ) -> (f64, u64, u64) {
        let mut round_trips = RoundTrips::new(RoundTripDeduction::Learnt(FIRST));
        let (mut round_trip, mut last, mut number) = (0, 0, u64::from(depth));
        let mut latencies = Vec::new();
        let mut agenda: BTreeSet<Next> = (0..number).map(|number| (number * 60_000, number, None)).collect();
        let (half, mut began) = (requests / 2, 0);
        while let Some((at, which, reply)) = agenda.pop_first().filter(|_| number < requests) {
            match reply {
                None => {
                    let sent = round_trips.sent(3, Nanos::new(at)).get();
                    round_trip = at.saturating_sub(sent);
                    let due = sent + LATENCY;
                    agenda.insert((due.max(at) + late(which), which, Some((due, at))));
                }
                Some((due, read)) => {
                    round_trips.answered(3, Nanos::new(read), Nanos::new(due), Nanos::new(at));
                    agenda.insert((at + pause(at, number), number, None));
                    number += 1;
                    began = if number <= half { at } else { began };
                    if number > half {
                        latencies.push(at - read);
                    }
                    last = at;
                }
            }
        }
        latencies.sort_unstable();
        let rate = (number - half) as f64 * 1e9 / (last - began) as f64;
        (rate, latencies[latencies.len() / 2], round_trip)
    }

    /// Returns the deduction of a client's last request.
    fn learnt(depth: u32, requests: u64, mut pause: impl FnMut(u64) -> u64) -> Nanos {
        Nanos::new(closed(depth, requests, |_| 0, |_, number| pause(number)).2)
    }

    /// Returns the deduction of a request.
    fn round_trip(round_trips: &mut RoundTrips, at: u64) -> Nanos {
        Nanos::new(at).since(round_trips.sent(0, Nanos::new(at)))
    }

    /// Records a reply that leaves when it is due.
    fn answered(round_trips: &mut RoundTrips, due: u64) {
        round_trips.answered(0, Nanos::new(due - LATENCY), Nanos::new(due), Nanos::new(due));
    }

    #[track_caller]
    fn near(round_trip: Nanos, us: u64) {
        assert!(round_trip.get().abs_diff(us * 1000) < 2_000, "{round_trip:?} for {us} us");
    }

    #[test]
    fn learns_the_round_trip_of_a_closed_loop() {
        near(learnt(1, 1000, |_| 60_000), 60);
        near(learnt(1, 1000, |_| 7_000), 7);
        near(learnt(16, 4000, |_| 110_000), 110);
    }

    #[test]
    fn clients_of_a_slow_device_may_take_a_fiftieth_of_its_latency() {
        let round_trip = |latency_us: u64, pause_us: u64| {
            let mut round_trips = RoundTrips::new(RoundTripDeduction::Learnt(FIRST));
            let (mut at, mut last) = (Nanos::from_secs(1), Nanos::ZERO);
            for _ in 0..1000 {
                last = at.since(round_trips.sent(0, at));
                let due = at + Nanos::from_micros(latency_us);
                round_trips.answered(0, at, due, due);
                at = due + Nanos::from_micros(pause_us);
            }
            last
        };
        near(round_trip(12_000, 200), 200);
        assert_eq!(round_trip(5_000, 200), FIRST);
        assert_eq!(round_trip(200_000, 1_000), FIRST);
    }

    /// On 748fabe, the median round trip was subtracted: at 8 in flight that gave 4 to 10 % fewer operations.
    #[test]
    fn a_closed_loop_runs_at_the_models_rate_despite_slow_wake_ups() {
        let mut random = units::random::Random::new(3, 1);
        let mut tail = move |usual: u64| if random.below(8) == 0 { usual * 5 } else { usual + random.below(usual / 2) };
        let mut wake = tail.clone();
        for depth in [1, 8, 16, 64] {
            let (rate, p50, _) = closed(depth, 40_000, |_| wake(15_000), |_, _| tail(25_000));
            let wanted = f64::from(depth) * 1e9 / LATENCY as f64;
            assert!((rate / wanted - 1.0).abs() < 0.01, "{rate} for {wanted} at depth {depth}");
            // The round trip takes the rest.
            assert!(p50 < LATENCY && p50 > LATENCY - 60_000, "{p50} at depth {depth}");
        }
    }

    #[test]
    fn a_client_that_reads_replies_one_by_one_is_in_a_closed_loop() {
        for depth in [8, 64] {
            let mut free = 0;
            let (rate, p50, _) = closed(
                depth,
                40_000,
                |_| 0,
                |at, _| {
                    // 30 us for the wake-up, then 10 us per reply.
                    free = (at + 30_000).max(free) + 10_000;
                    free - at
                },
            );
            let wanted = f64::from(depth) * 1000.0;
            // A reply consumed while the client was still adding requests stays missing.
            assert!((rate / wanted - 1.0).abs() < 0.02, "{rate} for {wanted}");
            assert!(p50 <= LATENCY, "{p50}");
        }
    }

    #[test]
    fn a_closed_loop_on_a_busy_host_stays_closed() {
        let mut random = units::random::Random::new(5, 5);
        let mut busy = move |number| if number > 2000 && random.below(2) == 0 { 200_000 } else { 40_000 };
        let (rate, ..) = closed(1, 20_000, |_| 0, |_, number| busy(number));
        assert!((rate / 1000.0 - 1.0).abs() < 0.01, "{rate}");
    }

    #[test]
    fn long_pauses_are_not_deducted() {
        // Every 50th request follows after 5 ms, too late for a delay by the host.
        let (rate, ..) = closed(1, 20_000, |_| 0, |_, number| if number % 50 == 0 { 5_000_000 } else { 30_000 });
        let wanted = 50.0 * 1e9 / (50 * LATENCY + 5_000_000 - 30_000) as f64;
        assert!((rate / wanted - 1.0).abs() < 0.01, "{rate} for {wanted}");
    }

    #[test]
    fn think_time_is_not_deducted() {
        assert_eq!(learnt(1, 4000, |_| 150_000), FIRST);
        assert_eq!(learnt(8, 4000, |_| 300_000), FIRST);
        assert_eq!(learnt(1, 4000, |_| 5_000_000), FIRST);
        // One soon request in five does not make a closed loop.
        assert_eq!(learnt(1, 4000, |number| if number % 5 == 0 { 20_000 } else { 400_000 }), FIRST);
    }

    #[test]
    fn random_arrivals_show_no_round_trip() {
        for rate in [5_000, 20_000] {
            let mut random = units::random::Random::new(7, 7);
            let mut round_trips = RoundTrips::new(RoundTripDeduction::Learnt(FIRST));
            let (mut now, mut in_flight) = (0, VecDeque::new());
            for _ in 0..20_000 {
                now += (-(1.0 - random.unit()).ln() * 1e9 / f64::from(rate)) as u64;
                while in_flight.front().is_some_and(|due| *due <= now) {
                    let due = Nanos::new(in_flight.pop_front().expect("one"));
                    round_trips.answered(0, due, due, due);
                }
                assert_eq!(
                    round_trips.sent(0, Nanos::new(now)).get(),
                    now.saturating_sub(FIRST.get()),
                    "{rate} a second"
                );
                in_flight.push_back(now + LATENCY);
            }
        }
    }

    #[test]
    fn learns_the_round_trip_after_the_queue_depth_decreases() {
        let mut round_trips = RoundTrips::new(RoundTripDeduction::Learnt(FIRST));
        (0..64).for_each(|_| assert_eq!(round_trip(&mut round_trips, LATENCY), FIRST));
        (0..64).for_each(|_| answered(&mut round_trips, 2 * LATENCY));
        let mut last = FIRST;
        for number in 1..1000_u64 {
            let at = 2 * LATENCY + number * 1_050_000;
            last = round_trip(&mut round_trips, at);
            answered(&mut round_trips, at + LATENCY);
        }
        near(last, 50);
    }

    #[test]
    fn forgets_the_round_trip_of_a_disconnected_client() {
        let mut round_trips = RoundTrips::new(RoundTripDeduction::Learnt(FIRST));
        for number in 0..1000_u64 {
            round_trip(&mut round_trips, number * 1_050_000);
            answered(&mut round_trips, number * 1_050_000 + LATENCY);
        }
        near(round_trip(&mut round_trips, 1_050_000_000), 50);
        assert!(round_trips.mean() > Nanos::from_micros(40), "{:?}", round_trips.mean());
        round_trips.forget(0);
        assert_eq!(round_trip(&mut round_trips, 1_051_000_000), FIRST);
    }

    #[test]
    fn a_fixed_round_trip_is_always_deducted() {
        let mut round_trips = RoundTrips::new(RoundTripDeduction::Fixed(Nanos::from_micros(20)));
        for number in 1..1000_u64 {
            assert_eq!(round_trip(&mut round_trips, number * 1_050_000), Nanos::from_micros(20));
            answered(&mut round_trips, number * 1_050_000 + LATENCY);
        }
    }

    #[test]
    fn replies_without_following_requests_take_no_memory() {
        let mut round_trips = RoundTrips::new(RoundTripDeduction::Learnt(FIRST));
        for round in 0..1000_u64 {
            let at = round * 10_000_000;
            for _ in 0..100 {
                round_trip(&mut round_trips, at);
            }
            (0..100).for_each(|_| answered(&mut round_trips, at + LATENCY));
            round_trip(&mut round_trips, at + 9_000_000);
            assert!(round_trips.clients[0].answered.len() <= 100);
        }
    }
}
