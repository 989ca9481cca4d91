//! A queueing station: several servers with one queue.

use units::Nanos;

use crate::limiter::LimiterCounts;
use crate::spec::Station;

/// When each server becomes free, in 1/1024 ns. Requests are served in order of arrival.
#[derive(Clone, Debug)]
pub(crate) struct Servers {
    /// With equal service times, servers become free in turn; otherwise the first free one is searched.
    free_at: Vec<u128>,
    service_fixed: u64,
    bytes_per_sec: Option<u64>,
    next: usize,
    /// Whether the service time has changed, so that servers may not become free in turn.
    uneven: bool,
    pub counts: LimiterCounts,
}

impl Servers {
    pub(crate) fn servers(&self) -> usize {
        self.free_at.len()
    }

    pub(crate) fn new(station: &Station) -> Self {
        Self {
            free_at: vec![0; station.servers.max(1) as usize],
            service_fixed: station.service_fixed,
            bytes_per_sec: station.bytes_per_sec,
            next: 0,
            uneven: false,
            counts: LimiterCounts::default(),
        }
    }

    /// Switches to another service time and number of servers. Requests in service keep their times; if servers are
    /// removed, the busiest stay.
    pub(crate) fn reconfigure(&mut self, station: &Station) {
        let Self { mut free_at, service_fixed, bytes_per_sec, .. } = Self::new(station);
        let unchanged = (service_fixed, bytes_per_sec) == (self.service_fixed, self.bytes_per_sec);
        if unchanged && free_at.len() == self.free_at.len() {
            return;
        }
        self.free_at.sort_unstable_by(|one, other| other.cmp(one));
        for (new, old) in free_at.iter_mut().zip(&self.free_at) {
            *new = *old;
        }
        *self = Self { free_at, service_fixed, bytes_per_sec, next: 0, uneven: true, counts: self.counts };
    }

    /// Returns when a request that arrives at `now` leaves. Waits for a server are counted.
    #[inline]
    pub(crate) fn serve(&mut self, now: Nanos, length: u32) -> Nanos {
        let arrival = u128::from(now.get()) << Station::FRACTION_BITS;
        let service = match self.bytes_per_sec {
            None => u128::from(self.service_fixed),
            Some(rate) => u128::from(self.service_fixed) + transfer(length, rate),
        };
        let even = self.bytes_per_sec.is_none() && !self.uneven;
        let server = if even { self.next_in_turn() } else { self.first_free() };
        let free_at = &mut self.free_at[server];
        let begin = arrival.max(*free_at);
        *free_at = begin + service;
        let waited = ((begin - arrival) >> Station::FRACTION_BITS) as u64;
        self.counts.requests += 1;
        self.counts.delayed += u64::from(waited > 0);
        self.counts.delay_ns += waited;
        self.counts.busy_ns += (service >> Station::FRACTION_BITS) as u64;
        Nanos::new(((begin + service) >> Station::FRACTION_BITS) as u64)
    }

    /// Returns the next server. With equal service times and arrivals in order, the one that began first is free first.
    #[inline]
    fn next_in_turn(&mut self) -> usize {
        let server = self.next;
        self.next = if server + 1 == self.free_at.len() { 0 } else { server + 1 };
        server
    }

    fn first_free(&self) -> usize {
        let least = self.free_at.iter().enumerate().min_by_key(|(_, free_at)| **free_at);
        least.map_or(0, |(server, _)| server)
    }
}

fn transfer(length: u32, bytes_per_sec: u64) -> u128 {
    ((u128::from(length) * 1_000_000_000) << Station::FRACTION_BITS) / u128::from(bytes_per_sec.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{LimitSource, Scope};

    fn station(servers: u32, service_ns: f64, bytes_per_sec: Option<u64>) -> Station {
        Station {
            name: "test".to_owned(),
            scope: Scope::Machine,
            servers,
            service_fixed: Station::service_ns(service_ns),
            bytes_per_sec,
            rule: String::new(),
            source: LimitSource::default(),
        }
    }

    fn servers(servers: u32, service_ns: f64, bytes_per_sec: Option<u64>) -> Servers {
        Servers::new(&station(servers, service_ns, bytes_per_sec))
    }

    #[test]
    fn a_reconfigured_pool_keeps_its_requests_in_service() {
        let mut pool = servers(2, 1000.0, None);
        let serve = |pool: &mut Servers| pool.serve(Nanos::ZERO, 4096).get();
        assert_eq!([(); 3].map(|()| serve(&mut pool)), [1000, 1000, 2000]);
        pool.reconfigure(&station(3, 100.0, None));
        assert_eq!([(); 3].map(|()| serve(&mut pool)), [100, 200, 300], "the third server is free");
        pool.reconfigure(&station(1, 100.0, None));
        assert_eq!([(); 2].map(|()| serve(&mut pool)), [2100, 2200], "the busiest server stays");
    }

    #[test]
    fn a_pool_serves_at_the_rate_of_its_servers() {
        let mut pool = servers(12, 5946.0, None);
        let last = (0..2_018_164).map(|_| pool.serve(Nanos::ZERO, 4096)).max();
        assert!(last.is_some_and(|last| last.get().abs_diff(1_000_000_000) < 20_000), "{last:?}");
    }

    #[test]
    fn transfers_take_time_per_byte() {
        let mut wire = servers(1, 0.0, Some(1 << 30));
        assert_eq!(wire.serve(Nanos::ZERO, 1 << 20), Nanos::new(976_562));
        assert_eq!(wire.serve(Nanos::ZERO, 1 << 20), Nanos::new(1_953_125));
        assert_eq!((wire.counts.requests, wire.counts.delayed), (2, 1));
    }
}
