//! How long a request and its reply are on their way between client and server, learnt from the clients themselves.
//!
//! A client that keeps so many requests under way asks for something new as soon as a reply has reached it, so the time from
//! when a reply was due to when the next request is read is the way, both directions of it. Which wake-ups it holds depends
//! on where the kernel lets the two processes run, which it changes as it likes: on two virtual processors it was found
//! to be 8 µs or 110 µs.

use std::collections::VecDeque;

use units::Nanos;

/// What is taken off each request for the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Always this.
    Fixed(Nanos),
    /// What clients show it to be; until then, and for those who do not show it, this.
    Learnt(Nanos),
}

/// The way of each client.
#[derive(Debug)]
pub(super) struct Ways {
    way: Way,
    clients: Vec<Turnaround>,
    /// What was taken off all together, and of how many requests.
    taken_ns: u64,
    requests: u64,
}

impl Ways {
    pub(super) fn new(way: Way) -> Self {
        Self { way, clients: Vec::new(), taken_ns: 0, requests: 0 }
    }

    /// A reply to a client was due at an instant, and leaves.
    #[inline]
    pub(super) fn answered(&mut self, client: u32, due: Nanos) {
        if let Way::Learnt(first) = self.way {
            self.client(client, first).is_answered(due);
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

    /// The way of a request of a client that was read at an instant.
    #[inline]
    pub(super) fn of(&mut self, client: u32, now: Nanos) -> Nanos {
        let way = match self.way {
            Way::Learnt(first) => self.client(client, first).asks(now).unwrap_or(first),
            Way::Fixed(way) => way,
        };
        self.taken_ns += way.get();
        self.requests += 1;
        way
    }

    /// Another client has the place of this one from now on.
    pub(super) fn forget(&mut self, client: u32) {
        if let (Way::Learnt(first), Some(client)) = (self.way, self.clients.get_mut(client as usize)) {
            *client = Turnaround::new(first);
        }
    }

    /// What was taken off on average.
    pub(super) fn mean(&self) -> Nanos {
        Nanos::new(self.taken_ns / self.requests.max(1))
    }
}

/// How soon one client comes back.
#[derive(Debug)]
struct Turnaround {
    /// When replies were due that no request has followed yet, in their order.
    due: VecDeque<Nanos>,
    in_flight: u32,
    /// How many requests it had under way at most, in this spell and in the one before.
    deepest: u32,
    deepest_before: u32,
    /// How many requests are left of this spell.
    left: u32,
    usual_ns: u64,
    /// The share of its requests, of [`ALL`], that follow so soon that nothing but the way can be between.
    soon: u32,
}

/// Who takes longer has something else to do between a reply and the next request,
const SOON_NS: u64 = 120_000;
/// where it has a single one under way: replies to many come together, and each takes the client some time to read and to
/// replace by the next request.
const SOON_EACH_NS: u64 = 6_000;
/// How far one request moves what is usual.
const STEP_NS: u64 = 500;
/// How many requests make a spell.
const SPELL: u32 = 256;
/// The whole of shares.
const ALL: u32 = 1 << 16;
/// From this share on a client counts as one that asks as soon as it can.
const EAGER: u32 = ALL / 8 * 7;
/// How much one request says of what requests usually do.
const WEIGHT: u32 = 64;

impl Turnaround {
    fn new(first: Nanos) -> Self {
        Self {
            due: VecDeque::new(),
            in_flight: 0,
            deepest: 0,
            deepest_before: 0,
            left: SPELL,
            usual_ns: first.get(),
            soon: 0,
        }
    }

    #[inline]
    fn is_answered(&mut self, due: Nanos) {
        self.in_flight = self.in_flight.saturating_sub(1);
        // One that has fewer requests under way than before will not replace them all.
        if self.due.len() >= self.depth() as usize {
            self.due.pop_front();
        }
        self.due.push_back(due);
    }

    /// It asks for something; its way, where that is known.
    #[inline]
    fn asks(&mut self, now: Nanos) -> Option<Nanos> {
        self.in_flight += 1;
        self.deepest = self.deepest.max(self.in_flight);
        self.left -= 1;
        if self.left == 0 {
            (self.deepest_before, self.deepest, self.left) = (self.deepest, self.in_flight, SPELL);
        }
        if let Some(due) = self.due.pop_front() {
            self.follows(now.since(due).get());
        }
        (self.soon >= EAGER).then(|| Nanos::new(self.usual_ns))
    }

    /// A request follows a reply after so long.
    #[inline]
    fn follows(&mut self, took_ns: u64) {
        self.soon -= self.soon / WEIGHT;
        if took_ns < SOON_NS + SOON_EACH_NS * u64::from(self.depth()) {
            self.soon += ALL / WEIGHT;
            self.usual_ns = step(self.usual_ns, took_ns);
        }
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

    /// The way of the last of many requests: `pause` says how long after a reply was due the next request is read.
    fn learnt(depth: u32, requests: u64, mut pause: impl FnMut(u64) -> u64) -> Nanos {
        let mut ways = Ways::new(Way::Learnt(FIRST));
        let mut way = Nanos::ZERO;
        // Instants at which something happens: a request is read, or a reply is due.
        let mut agenda: BTreeSet<(u64, u64, bool)> =
            (0..u64::from(depth)).map(|number| (number * 60_000, number, true)).collect();
        let mut number = u64::from(depth);
        while let Some((at, which, is_read)) = agenda.pop_first().filter(|_| number < requests) {
            if is_read {
                way = ways.of(3, Nanos::new(at));
                agenda.insert((at + LATENCY, which, false));
            } else {
                ways.answered(3, Nanos::new(at));
                agenda.insert((at + pause(number), number, true));
                number += 1;
            }
        }
        way
    }

    #[track_caller]
    fn near(way: Nanos, us: u64) {
        assert!(way.get().abs_diff(us * 1000) < 2_000, "{way:?} for {us} us");
    }

    #[test]
    fn who_asks_at_once_shows_the_way() {
        near(learnt(1, 1000, |_| 60_000), 60);
        near(learnt(1, 1000, |_| 7_000), 7);
        near(learnt(16, 4000, |_| 180_000), 180);
    }

    #[test]
    fn the_way_is_what_it_usually_is() {
        near(learnt(1, 4000, |number| if number % 3 == 0 { 8_000 } else { 90_000 }), 90);
        near(learnt(1, 4000, |number| if number % 3 == 0 { 90_000 } else { 8_000 }), 8);
    }

    #[test]
    fn who_thinks_between_requests_does_not_hide_it() {
        assert_eq!(learnt(1, 4000, |_| 150_000), FIRST);
        assert_eq!(learnt(1, 4000, |_| 5_000_000), FIRST);
        // One in five of them soon is no sign of haste.
        assert_eq!(learnt(1, 4000, |number| if number % 5 == 0 { 20_000 } else { 400_000 }), FIRST);
    }

    #[test]
    fn requests_at_random_instants_are_nobodys_way() {
        let mut random = units::random::Random::new(7, 7);
        let mut ways = Ways::new(Way::Learnt(FIRST));
        let (mut now, mut under_way) = (0, std::collections::VecDeque::new());
        for _ in 0..20_000 {
            // Five thousand a second.
            now += (-(1.0 - random.unit()).ln() * 200_000.0) as u64;
            while under_way.front().is_some_and(|due| *due <= now) {
                ways.answered(0, Nanos::new(under_way.pop_front().expect("one")));
            }
            assert_eq!(ways.of(0, Nanos::new(now)), FIRST);
            under_way.push_back(now + LATENCY);
        }
    }

    #[test]
    fn who_has_fewer_requests_under_way_than_before_still_shows_the_way() {
        let mut ways = Ways::new(Way::Learnt(FIRST));
        (0..64).for_each(|_| assert_eq!(ways.of(0, Nanos::ZERO), FIRST));
        (0..64).for_each(|_| ways.answered(0, Nanos::new(LATENCY)));
        let mut way = FIRST;
        for number in 1..1000_u64 {
            let at = LATENCY + number * 1_050_000;
            way = ways.of(0, Nanos::new(at));
            ways.answered(0, Nanos::new(at + LATENCY));
        }
        near(way, 50);
    }

    #[test]
    fn what_was_learnt_goes_with_the_client() {
        let mut ways = Ways::new(Way::Learnt(FIRST));
        for number in 0..1000_u64 {
            ways.of(0, Nanos::new(number * 1_050_000));
            ways.answered(0, Nanos::new(number * 1_050_000 + LATENCY));
        }
        near(ways.of(0, Nanos::new(1_050_000_000)), 50);
        assert!(ways.mean() > Nanos::from_micros(40), "{:?}", ways.mean());
        ways.forget(0);
        assert_eq!(ways.of(0, Nanos::new(1_051_000_000)), FIRST);
    }

    #[test]
    fn a_way_that_is_given_is_taken() {
        let mut ways = Ways::new(Way::Fixed(Nanos::from_micros(20)));
        for number in 0..1000_u64 {
            assert_eq!(ways.of(0, Nanos::new(number * 1_050_000)), Nanos::from_micros(20));
            ways.answered(0, Nanos::new(number * 1_050_000 + LATENCY));
        }
    }

    #[test]
    fn replies_that_nobody_follows_take_no_memory() {
        let mut ways = Ways::new(Way::Learnt(FIRST));
        for round in 0..1000_u64 {
            let at = round * 10_000_000;
            for _ in 0..100 {
                ways.of(0, Nanos::new(at));
            }
            (0..100).for_each(|_| ways.answered(0, Nanos::new(at + LATENCY)));
            ways.of(0, Nanos::new(at + 9_000_000));
            assert!(ways.clients[0].due.len() <= 100);
        }
    }
}
