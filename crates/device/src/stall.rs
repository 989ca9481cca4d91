//! Detects progress of workers and of the devices below their files.

use std::time::{Duration, Instant};

use probe::Number;

use crate::root;

/// Factor by which requests completed on the same device, perhaps of other programs, extend the grace period.
const GRACE_FACTOR: u32 = 6;

/// The devices below the files of all workers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Devices {
    numbers: Vec<Number>,
    /// Indexes of the devices that each worker uses, by worker number. Empty for files without a device on this host.
    by_worker: Vec<Vec<usize>>,
}

impl Devices {
    /// Creates the set from the device numbers of each worker.
    pub(crate) fn new(by_worker: impl IntoIterator<Item = Vec<Number>>) -> Self {
        let mut devices = Self::default();
        for numbers in by_worker {
            let mut indexes: Vec<usize> = numbers.into_iter().map(|number| devices.index_of(number)).collect();
            indexes.sort_unstable();
            indexes.dedup();
            devices.by_worker.push(indexes);
        }
        devices
    }

    fn index_of(&mut self, number: Number) -> usize {
        let known = self.numbers.iter().position(|known| *known == number);
        known.unwrap_or_else(|| {
            self.numbers.push(number);
            self.numbers.len() - 1
        })
    }

    /// Returns the completed requests of each device and, last, the pages that the host has written back. The latter is
    /// the only sign of progress of an `fsync` in a filesystem without a device, such as NFS.
    pub(crate) fn completed(&self) -> Vec<u64> {
        let completed = |number: &Number| {
            probe::counters(root(), *number).map_or(0, |seen| seen.read.requests + seen.write.requests)
        };
        self.numbers.iter().map(completed).chain([pages_written()]).collect()
    }
}

/// Returns the pages that the host has written back since it started: `nr_written` of `/proc/vmstat`.
fn pages_written() -> u64 {
    let text = std::fs::read_to_string("/proc/vmstat").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("nr_written "));
    line.and_then(|pages| pages.trim().parse().ok()).unwrap_or(0)
}

/// A worker that has not ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StalledWorker {
    pub(crate) number: usize,
    /// When the worker last completed an operation.
    pub(crate) progressed: Instant,
    /// Whether its thread is in an `fsync` or `fdatasync`.
    pub(crate) syncs: bool,
}

/// Device activity since all workers passed their ends.
#[derive(Debug)]
pub(crate) struct DeviceActivity {
    since: Instant,
    /// Completed requests of each device, and when they last changed.
    devices: Vec<(u64, Instant)>,
}

impl DeviceActivity {
    pub(crate) fn new(completed: &[u64], now: Instant) -> Self {
        Self { since: now, devices: completed.iter().map(|completed| (*completed, now)).collect() }
    }

    /// Updates the completed requests of the devices at `now`.
    pub(crate) fn update(&mut self, completed: &[u64], now: Instant) {
        for (device, completed) in self.devices.iter_mut().zip(completed) {
            if device.0 != *completed {
                *device = (*completed, now);
            }
        }
    }

    /// Reports whether to stop waiting for a worker at `now`: neither the worker nor its devices have made progress for
    /// the grace period. The devices' requests may come from other programs, so they only extend the wait up to a
    /// limit.
    pub(crate) fn is_over(&self, devices: &Devices, worker: &StalledWorker, grace: Duration, now: Instant) -> bool {
        let is_active = |device: &(u64, Instant)| now.saturating_duration_since(device.1) <= grace;
        let own = devices.by_worker.get(worker.number).map_or(&[][..], Vec::as_slice);
        let extends = match own {
            [] => worker.syncs && self.devices.last().is_some_and(is_active),
            own => own.iter().any(|device| is_active(&self.devices[*device])),
        };
        let most = if extends { grace.saturating_mul(GRACE_FACTOR) } else { grace };
        now.saturating_duration_since(worker.progressed.max(self.since)) > most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_secs(10);

    fn ended_after(devices: &Devices, number: usize, syncs: bool, busy: &[usize]) -> Option<u64> {
        let begin = Instant::now();
        let worker = StalledWorker { number, progressed: begin, syncs };
        let mut completed = vec![0; devices.numbers.len() + 1];
        let mut activity = DeviceActivity::new(&completed, begin);
        (1..200).find(|seconds| {
            busy.iter().for_each(|device| completed[*device] += 1);
            let now = begin + Duration::from_secs(*seconds);
            activity.update(&completed, now);
            activity.is_over(devices, &worker, GRACE, now)
        })
    }

    /// Requests of any program on any disk extended the wait without a limit.
    #[test]
    fn a_busy_disk_extended_the_wait_for_a_hung_target_without_limit() {
        let devices = Devices::new([vec![(8, 0), (8, 0)], vec![(8, 16)], vec![]]);
        assert_eq!(devices.by_worker, [vec![0], vec![1], vec![]]);
        let ended_after = |number, syncs, busy: &[usize]| ended_after(&devices, number, syncs, busy);
        assert_eq!(ended_after(0, false, &[]), Some(11));
        assert_eq!(ended_after(0, true, &[1, 2]), Some(11), "the other disk is busy");
        assert_eq!(ended_after(1, false, &[1]), Some(61), "its disk is busy with something");
        assert_eq!(ended_after(2, false, &[0, 1, 2]), Some(11), "it has no disk");
        assert_eq!(ended_after(2, true, &[2]), Some(61), "pages are being written back, perhaps by its fsync");
    }
}
