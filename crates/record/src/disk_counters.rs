//! Counters that the kernel keeps for a block device, and their increase over time. They are parsed and subtracted here
//! for the readers of files and for `capture`, which depends on `record` for this.

/// Bytes of a sector in counters, whatever the device.
const SECTOR_BYTES: u64 = 512;

/// Counters of a block device since the host started, or their increase between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskCounters {
    pub read: KindCounters,
    /// Writes. On kernels that count flushes, each call that waited for one is a write without sectors.
    pub write: KindCounters,
    /// Discards; `None` before Linux 4.18.
    pub discard: Option<KindCounters>,
    /// Flushes, which have neither merges nor sectors; `None` before Linux 5.5.
    pub flush: Option<KindCounters>,
    /// Requests in flight when the counters were read.
    pub in_flight: u64,
    /// Milliseconds with at least one request in flight.
    pub busy_ms: u64,
    /// Milliseconds that all requests were in flight together.
    pub weighted_ms: u64,
}

/// Counters of one kind of request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindCounters {
    /// Completed requests, after merges.
    pub requests: u64,
    /// Requests that were merged into others.
    pub merges: u64,
    /// Sectors of 512 bytes.
    pub sectors: u64,
    /// Milliseconds from queueing to completion, over all requests.
    pub wait_ms: u64,
}

impl KindCounters {
    /// Returns the bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.sectors.saturating_mul(SECTOR_BYTES)
    }

    /// Returns the mean time of a request in nanoseconds, if there was one.
    #[must_use]
    pub fn await_ns(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.wait_ms as f64 * 1e6 / self.requests as f64)
    }

    /// Returns the mean size of a request in bytes, if there was one.
    #[must_use]
    pub fn request_bytes(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.bytes() as f64 / self.requests as f64)
    }

    fn since(&self, before: &Self) -> Option<Self> {
        Some(Self {
            requests: increase(self.requests, before.requests)?,
            merges: increase(self.merges, before.merges)?,
            sectors: increase(self.sectors, before.sectors)?,
            wait_ms: increase_ms(self.wait_ms, before.wait_ms),
        })
    }

    fn plus(&self, more: &Self) -> Self {
        Self {
            requests: self.requests.saturating_add(more.requests),
            merges: self.merges.saturating_add(more.merges),
            sectors: self.sectors.saturating_add(more.sectors),
            wait_ms: self.wait_ms.saturating_add(more.wait_ms),
        }
    }
}

impl DiskCounters {
    /// Parses the fields of `/sys/block/DEVICE/stat`, or those of `/proc/diskstats` after the name: 11, 15 with
    /// discards, 17 with flushes. More fields, of later kernels, are ignored.
    #[must_use]
    pub fn parse(fields: &str) -> Option<Self> {
        let fields: Vec<u64> =
            fields.split_ascii_whitespace().map(|field| field.parse().ok()).collect::<Option<_>>()?;
        let kind = |from: usize| match fields.get(from..from + 4)? {
            &[requests, merges, sectors, wait_ms] => Some(KindCounters { requests, merges, sectors, wait_ms }),
            _ => None,
        };
        let flush = |fields: &[u64]| match fields {
            &[requests, wait_ms] => Some(KindCounters { requests, wait_ms, ..KindCounters::default() }),
            _ => None,
        };
        // Old kernels may count one completion too many, and print the negative number without its sign.
        let in_flight = fields.get(8).copied().filter(|number| *number < WRAPPED_MAX);
        Some(Self {
            read: kind(0)?,
            write: kind(4)?,
            in_flight: in_flight.unwrap_or(0),
            busy_ms: *fields.get(9)?,
            weighted_ms: *fields.get(10)?,
            discard: kind(11),
            flush: fields.get(15..17).and_then(flush),
        })
    }

    /// Returns the increase since an earlier reading; `None` if the counters were reset, as those of a device that was
    /// removed and added again. The requests in flight are those of this reading.
    #[must_use]
    pub fn since(&self, before: &Self) -> Option<Self> {
        let optional = |now: &Option<KindCounters>, before: &Option<KindCounters>| match (now, before) {
            (Some(now), Some(before)) => now.since(before).map(Some),
            _ => Some(None),
        };
        Some(Self {
            read: self.read.since(&before.read)?,
            write: self.write.since(&before.write)?,
            discard: optional(&self.discard, &before.discard)?,
            flush: optional(&self.flush, &before.flush)?,
            in_flight: self.in_flight,
            busy_ms: increase_ms(self.busy_ms, before.busy_ms),
            weighted_ms: increase_ms(self.weighted_ms, before.weighted_ms),
        })
    }

    /// Adds a later increase.
    #[must_use]
    pub fn plus(&self, later: &Self) -> Self {
        let optional = |a: Option<KindCounters>, b: Option<KindCounters>| match (a, b) {
            (Some(a), Some(b)) => Some(a.plus(&b)),
            (a, b) => a.or(b),
        };
        Self {
            read: self.read.plus(&later.read),
            write: self.write.plus(&later.write),
            discard: optional(self.discard, later.discard),
            flush: optional(self.flush, later.flush),
            in_flight: later.in_flight,
            busy_ms: self.busy_ms.saturating_add(later.busy_ms),
            weighted_ms: self.weighted_ms.saturating_add(later.weighted_ms),
        }
    }

    /// Returns the requests of all kinds.
    #[must_use]
    pub fn requests(&self) -> u64 {
        let kinds = [Some(self.read), Some(self.write), self.discard, self.flush];
        kinds.into_iter().flatten().map(|kind| kind.requests).fold(0, u64::saturating_add)
    }
}

/// First number that a counter of 32 bits cannot hold.
const WRAP: u64 = 1 << 32;
/// Number from which on an increase of such a counter is not plausible.
const WRAPPED_MAX: u64 = 1 << 31;

/// Returns the increase of a counter. Those of 32-bit hosts wrap around, and so do those of milliseconds on all hosts.
fn increase(now: u64, before: u64) -> Option<u64> {
    if now >= before {
        return Some(now - before);
    }
    (before < WRAP).then(|| now + WRAP - before).filter(|increase| *increase < WRAPPED_MAX)
}

/// Returns the increase of a counter of time. The kernel adds up times of CPUs one after another, so that a sum
/// may be slightly smaller than the one before.
fn increase_ms(now: u64, before: u64) -> u64 {
    increase(now, before).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "100 1 800 50 40 2 640 90 3 70 140";

    #[test]
    fn each_kernel_has_its_own_number_of_fields() {
        let old = DiskCounters::parse(OLD).unwrap();
        let read = KindCounters { requests: 100, merges: 1, sectors: 800, wait_ms: 50 };
        assert_eq!((old.read, old.discard, old.flush), (read, None, None));
        assert_eq!((old.in_flight, old.busy_ms, old.weighted_ms), (3, 70, 140));
        let discards = DiskCounters::parse(&format!("{OLD} 5 0 1024 7")).unwrap();
        assert_eq!((discards.discard.unwrap().bytes(), discards.flush), (524_288, None));
        for more in ["", " 12 13"] {
            let new = DiskCounters::parse(&format!("{OLD} 5 0 1024 7 9 11{more}")).unwrap();
            assert_eq!(new.flush, Some(KindCounters { requests: 9, wait_ms: 11, ..KindCounters::default() }));
            assert_eq!(new.requests(), 154);
        }
        for wrong in ["", "1 2 3 4", "100 1 800 50 40 2 640 90 3 70", "100 1 800 50 40 2 x 90 3 70 140"] {
            assert_eq!(DiskCounters::parse(wrong), None, "{wrong}");
        }
        let negative = DiskCounters::parse("1 0 8 1 0 0 0 0 4294967295 1 1").unwrap();
        assert_eq!(negative.in_flight, 0);
    }

    #[test]
    fn means_are_sums_divided_by_requests() {
        let used = DiskCounters::parse(OLD).unwrap();
        assert_eq!((used.read.await_ns(), used.read.request_bytes()), (Some(500_000.0), Some(4096.0)));
        assert_eq!(KindCounters::default().await_ns(), None);
    }

    #[test]
    fn counters_that_wrap_around_go_on() {
        assert_eq!(increase(5, 3), Some(2));
        assert_eq!(increase(4, u64::from(u32::MAX) - 5), Some(10));
        // A counter that began anew, and one of 64 bits, which never wraps.
        assert_eq!(increase(4, 1_000_000), None);
        assert_eq!(increase(4, 1 << 40), None);
        assert_eq!((increase_ms(99, 100), increase_ms(1, u64::from(u32::MAX))), (0, 2));
    }

    #[test]
    fn increases_add_up() {
        let at = |text: &str| DiskCounters::parse(text).unwrap();
        let first = at("4294967290 0 4294967000 4294967295 10 0 80 5 0 4294967000 0");
        let second = at("4 0 104 9 20 0 160 15 7 704 2000");
        let third = at("14 0 204 19 30 0 240 25 1 804 3000");
        let sum = second.since(&first).unwrap().plus(&third.since(&second).unwrap());
        assert_eq!(sum.read, KindCounters { requests: 20, merges: 0, sectors: 500, wait_ms: 20 });
        assert_eq!((sum.write.requests, sum.in_flight, sum.busy_ms, sum.weighted_ms), (20, 1, 1100, 3000));
        assert_eq!(at("1 0 8 1 0 0 0 0 0 1 1").since(&third), None, "the device was removed and added again");
    }
}
