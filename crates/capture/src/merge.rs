//! Merges the events of all CPUs by time.

use std::collections::VecDeque;

use crate::event::RequestEvent;

/// Events of one CPU, in the order of their times.
#[derive(Debug, Default)]
pub(crate) struct CpuEvents {
    events: VecDeque<RequestEvent>,
    /// Time of the last event that was read.
    last_ns: u64,
    /// Whether all events up to the time of reading were read.
    is_drained: bool,
}

impl CpuEvents {
    /// Appends an event.
    #[inline]
    pub(crate) fn push(&mut self, event: RequestEvent) {
        self.last_ns = self.last_ns.max(event.time_ns);
        self.events.push_back(event);
    }

    /// Says whether nothing was left to read.
    pub(crate) fn set_drained(&mut self, is_drained: bool) {
        self.is_drained = is_drained;
    }

    /// Reports whether nothing was left to read.
    pub(crate) fn is_drained(&self) -> bool {
        self.is_drained
    }

    /// Returns the number of events that are not merged yet.
    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }
}

/// Takes the events of all CPUs in the order of their times, up to the time until which all were read: `read_ns`
/// for a CPU without further events, the last event for others.
pub(crate) fn merge(cpus: &mut [CpuEvents], read_ns: u64, mut take: impl FnMut(&RequestEvent)) {
    let known = |cpu: &CpuEvents| if cpu.is_drained { read_ns } else { cpu.last_ns };
    let end_ns = cpus.iter().map(known).min().unwrap_or(read_ns);
    loop {
        // The processor with the earliest event, and the time of the earliest event of the others.
        let (mut first, mut first_ns, mut other_ns) = (usize::MAX, u64::MAX, u64::MAX);
        for (index, cpu) in cpus.iter().enumerate() {
            let Some(event) = cpu.events.front() else { continue };
            if first == usize::MAX || event.time_ns < first_ns {
                (first, first_ns, other_ns) = (index, event.time_ns, first_ns.min(other_ns));
            } else {
                other_ns = other_ns.min(event.time_ns);
            }
        }
        let Some(cpu) = cpus.get_mut(first).filter(|_| first_ns <= end_ns) else { return };
        let limit_ns = other_ns.min(end_ns);
        while let Some(event) = cpu.events.front().filter(|event| event.time_ns <= limit_ns) {
            take(event);
            cpu.events.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{RequestAction, RequestPlace};
    use trace::TraceRequest;

    fn event(time_ns: u64) -> RequestEvent {
        let request = TraceRequest::default();
        RequestEvent { time_ns, action: RequestAction::Issue, place: RequestPlace::Flush, request }
    }

    fn merged(cpus: &mut [CpuEvents], read_ns: u64) -> Vec<u64> {
        let mut times = Vec::new();
        merge(cpus, read_ns, |event| times.push(event.time_ns));
        times
    }

    #[test]
    fn events_come_by_time_and_wait_for_processors_that_lag() {
        let mut cpus = [CpuEvents::default(), CpuEvents::default(), CpuEvents::default()];
        [1, 4, 5, 9].into_iter().for_each(|time| cpus[0].push(event(time)));
        [2, 3, 7].into_iter().for_each(|time| cpus[1].push(event(time)));
        cpus.iter_mut().for_each(|cpu| cpu.set_drained(true));
        cpus[1].set_drained(false);
        assert_eq!(merged(&mut cpus, 100), [1, 2, 3, 4, 5, 7]);
        assert!(merged(&mut cpus, 100).is_empty());
        cpus[1].set_drained(true);
        assert!(merged(&mut cpus, 8).is_empty());
        assert_eq!(merged(&mut cpus, 100), [9]);
        assert!(merged(&mut [], 100).is_empty());
    }

    #[test]
    fn random_events_come_by_time() {
        let mut random = units::random::Random::new(1, 0);
        for _ in 0..200 {
            let mut cpus: Vec<CpuEvents> = (0..random.below(5)).map(|_| CpuEvents::default()).collect();
            let mut all = Vec::new();
            for cpu in &mut cpus {
                let mut time = 0;
                for _ in 0..random.below(50) {
                    time += random.below(10);
                    cpu.push(event(time));
                    all.push(time);
                }
                cpu.set_drained(true);
            }
            all.sort_unstable();
            assert_eq!(merged(&mut cpus, u64::MAX), all);
        }
    }
}
