//! Open loop: each request is issued at its instant, whatever completes.

use units::Nanos;

use super::speed::Speed;
use super::{LATEST, LoopStep, NO_HANDLE, PlacedFeed, PlacedRequest};

/// Issues requests at their instants, or at once if there is no speed.
#[derive(Debug)]
pub(super) struct OpenLoop {
    speed: Option<Speed>,
    /// The next request and its instant, from the start of the replay.
    next: Option<(PlacedRequest, Nanos)>,
}

impl OpenLoop {
    pub(super) fn new(speed: Option<Speed>) -> Self {
        Self { speed, next: None }
    }

    #[inline]
    pub(super) fn next(&mut self, requests: &mut PlacedFeed, start: Nanos, now: Nanos) -> LoopStep {
        let (request, at) = match self.next.take() {
            Some(next) => next,
            None => {
                let Some((fed, request)) = requests.next() else { return LoopStep::Ended };
                (request, self.speed.map_or(Nanos::ZERO, |speed| Nanos::new(speed.apply(fed.at))))
            }
        };
        if self.speed.is_none() {
            return LoopStep::Issue(request, now, NO_HANDLE);
        }
        let intended = (start + at).min(LATEST);
        if intended > now {
            self.next = Some((request, at));
            return LoopStep::Until(intended);
        }
        LoopStep::Issue(request, intended, NO_HANDLE)
    }

    pub(super) fn finish(&mut self) {
        self.next = None;
    }
}
