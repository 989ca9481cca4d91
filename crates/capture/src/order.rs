//! Requests in the order of their issue, out of records in the order of their completion, so that the characterization
//! needs no sorting. `pairing` does the same for events.

use std::collections::VecDeque;

use trace::TraceRequest;

/// Maximum number of requests that wait for an earlier one.
const WINDOW_MAX: usize = 1 << 17;
/// Time after which requests no longer wait for an earlier one.
const LATE_NS: u64 = 10_000_000_000;

/// Sorts requests by their numbers, which count issues from zero and wrap around.
///
/// A request comes out once all with lower numbers did. Those that take longer than [`LATE_NS`] come out of order.
#[derive(Debug, Default)]
pub(crate) struct IssueOrder {
    /// Requests from number `base` on; `None` for those of which nothing is known yet.
    window: VecDeque<Option<OrderedRequest>>,
    base: u32,
}

/// What became of a request.
#[derive(Clone, Copy, Debug)]
enum OrderedRequest {
    Done(TraceRequest),
    /// The driver gave it back: it has another number when it is issued again.
    Void,
}

impl IssueOrder {
    /// Adds the request of a number, or `None` for one that the driver gave back. `now_ns` is the present.
    #[inline]
    pub(crate) fn add(&mut self, number: u32, request: Option<TraceRequest>, now_ns: u64, out: &mut Vec<TraceRequest>) {
        let index = number.wrapping_sub(self.base) as usize;
        if index == 0 && self.window.is_empty() {
            out.extend(request);
            self.base = self.base.wrapping_add(1);
            return;
        }
        if index >= WINDOW_MAX {
            // One that the others no longer waited for, unless more numbers are missing than the window has.
            if index < 1 << 31 {
                self.skip_to(number, out);
                return self.add(number, request, now_ns, out);
            }
            out.extend(request);
            return;
        }
        if index >= self.window.len() {
            self.window.resize(index + 1, None);
        }
        if let Some(place) = self.window.get_mut(index) {
            *place = Some(request.map_or(OrderedRequest::Void, OrderedRequest::Done));
        }
        self.advance(out);
        if self.is_late(now_ns) {
            self.skip_missing(out);
        }
    }

    /// Takes known requests from the front.
    #[inline]
    fn advance(&mut self, out: &mut Vec<TraceRequest>) {
        while let Some(Some(first)) = self.window.front() {
            if let OrderedRequest::Done(request) = first {
                out.push(*request);
            }
            self.window.pop_front();
            self.base = self.base.wrapping_add(1);
        }
    }

    /// Reports whether the first known request has waited too long.
    fn is_late(&self, now_ns: u64) -> bool {
        // All known ones were issued after the missing one; the newest is looked at first, because it is the last to be late.
        let issued = |place: &Option<OrderedRequest>| match place {
            Some(OrderedRequest::Done(request)) => Some(request.issued_ns),
            _ => None,
        };
        let newest_ns = self.window.back().and_then(issued);
        newest_ns.is_some_and(|issued_ns| now_ns.saturating_sub(issued_ns) > LATE_NS)
            || self.window.get(1).and_then(issued).is_some_and(|issued_ns| now_ns.saturating_sub(issued_ns) > LATE_NS)
    }

    /// Goes on without the missing requests at the front.
    fn skip_missing(&mut self, out: &mut Vec<TraceRequest>) {
        while let Some(None) = self.window.front() {
            self.window.pop_front();
            self.base = self.base.wrapping_add(1);
        }
        self.advance(out);
    }

    /// Goes on without missing requests until a number fits into the window.
    fn skip_to(&mut self, number: u32, out: &mut Vec<TraceRequest>) {
        while number.wrapping_sub(self.base) as usize >= WINDOW_MAX {
            if self.window.is_empty() {
                self.base = number;
                return;
            }
            self.skip_missing(out);
        }
    }

    /// Ends: all requests come out.
    pub(crate) fn finish(&mut self, out: &mut Vec<TraceRequest>) {
        let done = self.window.drain(..).flatten().filter_map(|request| match request {
            OrderedRequest::Done(request) => Some(request),
            OrderedRequest::Void => None,
        });
        out.extend(done);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(issued_ns: u64) -> Option<TraceRequest> {
        Some(TraceRequest { issued_ns, ..TraceRequest::default() })
    }

    fn issues(out: &[TraceRequest]) -> Vec<u64> {
        out.iter().map(|request| request.issued_ns).collect()
    }

    #[test]
    fn requests_come_out_by_number_and_without_void_ones() {
        for start in [0, u32::MAX - 2] {
            let (mut order, mut out) = (IssueOrder { base: start, ..IssueOrder::default() }, Vec::new());
            for (number, is_void) in [(2, false), (1, true), (4, false), (0, false), (3, false), (5, false)] {
                let request = request(number.into()).filter(|_| !is_void);
                order.add(start.wrapping_add(number), request, 10, &mut out);
            }
            assert_eq!(issues(&out), [0, 2, 3, 4, 5]);
            order.finish(&mut out);
            assert_eq!(out.len(), 5);
        }
    }

    #[test]
    fn a_request_of_ten_seconds_does_not_delay_the_others() {
        let (mut order, mut out) = (IssueOrder::default(), Vec::new());
        order.add(1, request(1), 1, &mut out);
        order.add(2, request(2), 2, &mut out);
        assert!(out.is_empty());
        order.add(3, request(LATE_NS), LATE_NS + 2, &mut out);
        assert_eq!(issues(&out), [1, 2, LATE_NS]);
        order.add(0, request(0), LATE_NS + 3, &mut out);
        order.add(4, request(LATE_NS + 3), LATE_NS + 3, &mut out);
        assert_eq!(issues(&out), [1, 2, LATE_NS, 0, LATE_NS + 3]);
    }

    #[test]
    fn many_missing_numbers_are_skipped_in_bounded_memory() {
        let (mut order, mut out) = (IssueOrder::default(), Vec::new());
        for number in 1..=WINDOW_MAX as u32 + 10 {
            order.add(number, request(number.into()), 0, &mut out);
            assert!(order.window.len() <= WINDOW_MAX);
        }
        assert_eq!(out.len(), WINDOW_MAX + 10);
        order.add(1 << 30, request(7), 0, &mut out);
        assert_eq!((out.len(), order.window.len()), (WINDOW_MAX + 11, 0));
    }

    #[test]
    fn random_orders_come_out_sorted() {
        let mut random = units::random::Random::new(3, 0);
        let (mut order, mut out) = (IssueOrder::default(), Vec::new());
        let mut flight: Vec<u32> = Vec::new();
        for next in 0..20_000_u32 {
            flight.push(next);
            while flight.len() > 32 || next == 19_999 && !flight.is_empty() {
                let number = flight.swap_remove(random.below(flight.len() as u64) as usize);
                order.add(number, request(number.into()), 0, &mut out);
            }
        }
        assert_eq!(issues(&out), (0..20_000).collect::<Vec<u64>>());
    }
}
