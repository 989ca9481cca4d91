//! Counts active clients.

use units::Nanos;

/// Clients waiting for replies, and their recent maximum.
///
/// A client with one request at a time does not wait between a reply and its next request. If it were not counted then,
/// other clients would overtake it and all together would exceed the volume's throughput. Counting too many clients
/// only means that fewer are overtaken.
#[derive(Debug, Default)]
pub(super) struct ActiveClients {
    waiting: u32,
    /// Maxima of this period and the previous one.
    peak: u32,
    peak_before: u32,
    period_end: Nanos,
}

/// Longer than the pauses of a client that others would notice.
const PERIOD: Nanos = Nanos::from_secs(1);

impl ActiveClients {
    /// Records that an idle client waits for a reply.
    #[inline]
    pub(super) fn enter(&mut self) {
        self.waiting += 1;
        self.peak = self.peak.max(self.waiting);
    }

    /// Records that a client has received all replies.
    #[inline]
    pub(super) fn leave(&mut self) {
        self.waiting -= 1;
    }

    /// Returns how many clients share the volume.
    #[inline]
    pub(super) fn sharing(&mut self, now: Nanos) -> u32 {
        if now >= self.period_end {
            self.peak_before = if now >= self.period_end + PERIOD { self.waiting } else { self.peak };
            self.peak = self.waiting;
            self.period_end = now + PERIOD;
        }
        self.peak.max(self.peak_before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_clients_that_pause_briefly_but_not_idle_ones() {
        let mut clients = ActiveClients::default();
        let at = |ms: u64| Nanos::from_millis(ms);
        clients.enter();
        assert_eq!(clients.sharing(at(0)), 1);
        for ms in 1..2500 {
            clients.enter();
            assert_eq!(clients.sharing(at(ms)), 2);
            clients.leave();
            assert_eq!(clients.sharing(at(ms)), 2, "after {ms} ms");
        }
        assert_eq!(clients.sharing(at(3400)), 2);
        assert_eq!(clients.sharing(at(4500)), 1);
        clients.leave();
        assert_eq!(clients.sharing(at(9000)), 0);
    }
}
