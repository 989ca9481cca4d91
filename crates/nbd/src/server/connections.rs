//! Counts active clients.

use units::Nanos;

/// Clients that wait for replies, and how many did at once of late.
///
/// One with a single request at a time waits for none between a reply and its next request. If it were not counted then,
/// others would be let in front of it on no account of theirs, and all together would get more than a volume has. To count
/// too many instead only means that fewer are let in front of others.
#[derive(Debug, Default)]
pub(super) struct Connections {
    waiting: u32,
    /// The most of this spell, and of that before it.
    most: u32,
    most_before: u32,
    ends: Nanos,
}

/// Longer than a client pauses whom others would notice.
const SPELL: Nanos = Nanos::from_secs(1);

impl Connections {
    /// A client waits that did not.
    #[inline]
    pub(super) fn comes(&mut self) {
        self.waiting += 1;
        self.most = self.most.max(self.waiting);
    }

    /// A client has all its replies.
    #[inline]
    pub(super) fn goes(&mut self) {
        self.waiting -= 1;
    }

    /// How many share what there is.
    #[inline]
    pub(super) fn sharing(&mut self, now: Nanos) -> u32 {
        if now >= self.ends {
            self.most_before = if now >= self.ends + SPELL { self.waiting } else { self.most };
            self.most = self.waiting;
            self.ends = now + SPELL;
        }
        self.most.max(self.most_before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_pauses_between_requests_still_shares_and_who_stays_away_does_not() {
        let mut connections = Connections::default();
        let at = |ms: u64| Nanos::from_millis(ms);
        connections.comes();
        assert_eq!(connections.sharing(at(0)), 1);
        for ms in 1..2500 {
            connections.comes();
            assert_eq!(connections.sharing(at(ms)), 2);
            connections.goes();
            assert_eq!(connections.sharing(at(ms)), 2, "after {ms} ms");
        }
        assert_eq!(connections.sharing(at(3400)), 2);
        assert_eq!(connections.sharing(at(4500)), 1);
        connections.goes();
        assert_eq!(connections.sharing(at(9000)), 0);
    }
}
