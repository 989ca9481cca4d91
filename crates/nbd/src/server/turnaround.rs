//! When requests count as sent: what they and their replies spend between client and server is no part of a volume.
//!
//! A client in a closed loop sends a request as soon as a reply has reached it. By Little's law its rate is the number of its
//! requests in flight over the mean time from one request to the next, of which only the model's part belongs to the volume:
//! the rate is that of the model if each request counts as sent at the instant at which the reply before it was due. Then
//! wake-ups, of the server and of the client, cost no throughput, and what they cost one request the next one gets back, so
//! that the median of latencies is the model's too. To subtract a usual round trip instead gave fio 4 to 10 % fewer
//! operations at 1 ms: wake-ups have a long tail, which a median does not see.
//!
//! A client that does something else between a reply and the next request shows that by the time it takes. Its requests
//! count as sent one usual round trip before they are read.

use std::collections::VecDeque;

use units::Nanos;

/// The round trip that is subtracted from each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundTripDeduction {
    /// Always this.
    Fixed(Nanos),
    /// What clients show it to be; until then, and for those who do not show it, this.
    Learnt(Nanos),
}

/// The round trip of each client.
#[derive(Debug)]
pub(super) struct RoundTrips {
    round_trip: RoundTripDeduction,
    clients: Vec<Turnaround>,
    /// What was taken off all together, and of how many requests.
    taken_ns: i64,
    requests: u64,
}

impl RoundTrips {
    pub(super) fn new(round_trip: RoundTripDeduction) -> Self {
        Self { round_trip, clients: Vec::new(), taken_ns: 0, requests: 0 }
    }

    /// A reply to a client was due at an instant, and leaves now.
    #[inline]
    pub(super) fn answered(&mut self, client: u32, due: Nanos, now: Nanos) {
        if let RoundTripDeduction::Learnt(first) = self.round_trip {
            self.client(client, first).is_answered(due, now);
        }
    }

    #[inline]
    fn client(&mut self, client: u32, first: Nanos) -> &mut Turnaround {
        let client = client as usize;
        if client >= self.clients.len() {
            self.clients.resize_with(client + 1, || Turnaround::new(first));
        }
        &mut self.clients[client]
    }

    /// When a request of a client that was read at an instant counts as sent.
    #[inline]
    pub(super) fn sent(&mut self, client: u32, now: Nanos) -> Nanos {
        let earlier = |by: Nanos| Nanos::new(now.get().saturating_sub(by.get()));
        let sent = match self.round_trip {
            RoundTripDeduction::Learnt(first) => self.client(client, first).asks(now).unwrap_or_else(|| earlier(first)),
            RoundTripDeduction::Fixed(round_trip) => earlier(round_trip),
        };
        self.taken_ns += now.get() as i64 - sent.get() as i64;
        self.requests += 1;
        sent
    }

    /// Another client has the place of this one from now on.
    pub(super) fn forget(&mut self, client: u32) {
        if let (RoundTripDeduction::Learnt(first), Some(client)) =
            (self.round_trip, self.clients.get_mut(client as usize))
        {
            *client = Turnaround::new(first);
        }
    }

    /// What was taken off on average.
    pub(super) fn mean(&self) -> Nanos {
        Nanos::new(u64::try_from(self.taken_ns).unwrap_or(0) / self.requests.max(1))
    }
}

/// A reply that no request has followed yet.
#[derive(Clone, Copy, Debug)]
struct Answered {
    due: Nanos,
    left: Nanos,
    /// How many others there were when it left.
    before: u32,
}

impl Answered {
    /// A request that follows by then follows soon.
    fn soon_ns(&self) -> u64 {
        SOON_NS + SOON_EACH_NS * u64::from(self.before)
    }
}

/// The usual turnaround of one client.
#[derive(Debug)]
struct Turnaround {
    /// Replies that no request has followed yet, in their order.
    answered: VecDeque<Answered>,
    in_flight: u32,
    /// How many requests it had in flight at most, in this spell and in the one before.
    deepest: u32,
    deepest_before: u32,
    /// How many requests are left of this spell.
    left: u32,
    usual_ns: u64,
    /// The share of its requests, of [`ALL`], that follow so soon that the loop is closed.
    soon: u32,
    is_closed: bool,
}

/// A client that takes longer has something else to do between a reply and the next request,
const SOON_NS: u64 = 120_000;
/// and longer for each reply that waits before this one: the client reads it and sends another request first.
const SOON_EACH_NS: u64 = 16_000;
/// A request that follows no later than so many times that, of a client whose loop is closed, was delayed by the host;
/// one that follows later still, by a pause.
const DELAYED_MOST: u64 = 2;
/// Step of the running median, in nanoseconds.
const STEP_NS: u64 = 500;
/// Number of requests per period.
const SPELL: u32 = 256;
/// The whole of shares.
const ALL: u32 = 1 << 16;
/// From this share on the loop of a client counts as closed,
const CLOSED: u32 = ALL / 4 * 3;
/// and below this one no longer: a busy host delays many requests of a loop that is closed.
const OPEN: u32 = ALL / 4;
/// Weight of one request in the average.
const WEIGHT: u32 = 64;

impl Turnaround {
    fn new(first: Nanos) -> Self {
        Self {
            answered: VecDeque::new(),
            in_flight: 0,
            deepest: 0,
            deepest_before: 0,
            left: SPELL,
            usual_ns: first.get(),
            soon: 0,
            is_closed: false,
        }
    }

    #[inline]
    fn is_answered(&mut self, due: Nanos, left: Nanos) {
        self.in_flight = self.in_flight.saturating_sub(1);
        // One that has fewer requests in flight than before will not replace them all.
        if self.answered.len() >= self.depth() as usize {
            self.answered.pop_front();
        }
        let before = self.answered.len() as u32;
        self.answered.push_back(Answered { due, left, before });
    }

    /// It asks for something; when that counts as sent, where that is known.
    #[inline]
    fn asks(&mut self, now: Nanos) -> Option<Nanos> {
        self.in_flight += 1;
        self.deepest = self.deepest.max(self.in_flight);
        self.left -= 1;
        if self.left == 0 {
            (self.deepest_before, self.deepest, self.left) = (self.deepest, self.in_flight, SPELL);
        }
        let reply = self.answered.pop_front();
        if let Some(reply) = &reply {
            self.follows(reply, now);
        }
        if !self.is_closed {
            return None;
        }
        let is_delayed = |reply: &Answered| now.since(reply.due).get() < DELAYED_MOST * reply.soon_ns();
        let usual = Nanos::new(now.get().saturating_sub(self.usual_ns));
        Some(reply.filter(is_delayed).map_or(usual, |reply| reply.due))
    }

    /// A request follows a reply.
    #[inline]
    fn follows(&mut self, reply: &Answered, now: Nanos) {
        self.soon -= self.soon / WEIGHT;
        if now.since(reply.left).get() < reply.soon_ns() {
            self.soon += ALL / WEIGHT;
            self.usual_ns = step(self.usual_ns, now.since(reply.due).get());
        }
        self.is_closed = self.soon >= if self.is_closed { OPEN } else { CLOSED };
    }

    fn depth(&self) -> u32 {
        self.deepest.max(self.deepest_before)
    }
}

/// A step towards a figure, and so in the end to where as many are above as below.
fn step(usual: u64, figure: u64) -> u64 {
    if figure > usual { usual + STEP_NS } else { usual.saturating_sub(STEP_NS) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const FIRST: Nanos = Nanos::from_micros(10);
    const LATENCY: u64 = 1_000_000;

    /// What happens next: an instant, the number of a request, and of its reply when that was due and the request read.
    type Next = (u64, u64, Option<(u64, u64)>);

    /// What a client in a closed loop gets: requests a second, the median of the times from when a request is read to when its
    /// reply leaves, and how long before it was read the last of its requests counts as sent. `late` says how late a reply leaves, `pause` how long after that the next
    /// request is read.
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
                    round_trips.answered(3, Nanos::new(due), Nanos::new(at));
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

    /// How long before it was read the last request of a client counts as sent.
    fn learnt(depth: u32, requests: u64, mut pause: impl FnMut(u64) -> u64) -> Nanos {
        Nanos::new(closed(depth, requests, |_| 0, |_, number| pause(number)).2)
    }

    /// How long before it was read a request counts as sent.
    fn round_trip(round_trips: &mut RoundTrips, at: u64) -> Nanos {
        Nanos::new(at).since(round_trips.sent(0, Nanos::new(at)))
    }

    /// A reply leaves when it is due.
    fn answered(round_trips: &mut RoundTrips, due: u64) {
        round_trips.answered(0, Nanos::new(due), Nanos::new(due));
    }

    #[track_caller]
    fn near(round_trip: Nanos, us: u64) {
        assert!(round_trip.get().abs_diff(us * 1000) < 2_000, "{round_trip:?} for {us} us");
    }

    #[test]
    fn who_asks_at_once_shows_the_way() {
        near(learnt(1, 1000, |_| 60_000), 60);
        near(learnt(1, 1000, |_| 7_000), 7);
        near(learnt(16, 4000, |_| 110_000), 110);
    }

    /// On 748fabe the median of the times between was subtracted: at 8 in flight that gave 4 to 10 % fewer operations.
    #[test]
    fn a_closed_loop_goes_at_the_rate_of_the_model_though_wake_ups_have_a_long_tail() {
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
    fn a_client_that_takes_replies_one_after_the_other_is_in_a_closed_loop() {
        for depth in [8, 64] {
            let mut free = 0;
            let (rate, p50, _) = closed(
                depth,
                40_000,
                |_| 0,
                |at, _| {
                    // 30 us for the wake-up, then 10 us for each.
                    free = (at + 30_000).max(free) + 10_000;
                    free - at
                },
            );
            let wanted = f64::from(depth) * 1000.0;
            // A reply that a request has taken while the client was still adding requests is missing ever after.
            assert!((rate / wanted - 1.0).abs() < 0.02, "{rate} for {wanted}");
            assert!(p50 <= LATENCY, "{p50}");
        }
    }

    #[test]
    fn a_loop_that_a_busy_host_delays_stays_closed() {
        let mut random = units::random::Random::new(5, 5);
        let mut busy = move |number| if number > 2000 && random.below(2) == 0 { 200_000 } else { 40_000 };
        let (rate, ..) = closed(1, 20_000, |_| 0, |_, number| busy(number));
        assert!((rate / 1000.0 - 1.0).abs() < 0.01, "{rate}");
    }

    #[test]
    fn a_long_pause_is_the_clients_own() {
        // Of 50 requests one comes 5 ms late, which no host explains.
        let (rate, ..) = closed(1, 20_000, |_| 0, |_, number| if number % 50 == 0 { 5_000_000 } else { 30_000 });
        let wanted = 50.0 * 1e9 / (50 * LATENCY + 5_000_000 - 30_000) as f64;
        assert!((rate / wanted - 1.0).abs() < 0.01, "{rate} for {wanted}");
    }

    #[test]
    fn who_thinks_between_requests_does_not_hide_it() {
        assert_eq!(learnt(1, 4000, |_| 150_000), FIRST);
        assert_eq!(learnt(8, 4000, |_| 300_000), FIRST);
        assert_eq!(learnt(1, 4000, |_| 5_000_000), FIRST);
        // One in five of them soon is no sign of haste.
        assert_eq!(learnt(1, 4000, |number| if number % 5 == 0 { 20_000 } else { 400_000 }), FIRST);
    }

    #[test]
    fn requests_at_random_instants_are_nobodys_way() {
        for rate in [5_000, 20_000] {
            let mut random = units::random::Random::new(7, 7);
            let mut round_trips = RoundTrips::new(RoundTripDeduction::Learnt(FIRST));
            let (mut now, mut under_way) = (0, VecDeque::new());
            for _ in 0..20_000 {
                now += (-(1.0 - random.unit()).ln() * 1e9 / f64::from(rate)) as u64;
                while under_way.front().is_some_and(|due| *due <= now) {
                    let due = Nanos::new(under_way.pop_front().expect("one"));
                    round_trips.answered(0, due, due);
                }
                assert_eq!(
                    round_trips.sent(0, Nanos::new(now)).get(),
                    now.saturating_sub(FIRST.get()),
                    "{rate} a second"
                );
                under_way.push_back(now + LATENCY);
            }
        }
    }

    #[test]
    fn who_has_fewer_requests_under_way_than_before_still_shows_the_way() {
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
    fn what_was_learnt_goes_with_the_client() {
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
    fn a_way_that_is_given_is_taken() {
        let mut round_trips = RoundTrips::new(RoundTripDeduction::Fixed(Nanos::from_micros(20)));
        for number in 1..1000_u64 {
            assert_eq!(round_trip(&mut round_trips, number * 1_050_000), Nanos::from_micros(20));
            answered(&mut round_trips, number * 1_050_000 + LATENCY);
        }
    }

    #[test]
    fn replies_that_nobody_follows_take_no_memory() {
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
