//! A disk drive with moving parts: seeks, rotation, a command queue ordered by positioning time, a write-back cache.
//!
//! # Model
//!
//! One arm and one set of platters serve one request at a time. The service time follows from the position of the arm
//! and the angle of the platters (`geometry`); nothing is random. Among the oldest [`HardDisk::sched_window`] requests
//! the drive chooses the one whose data the head reaches first (`queue`). Writes complete in the cache, and reach the
//! platters when there are no reads, or when a write must wait for space (`cache`). Sequential reads are served without
//! seeks (`stream`).
//!
//! # Accuracy
//!
//! Random 4 KiB reads: 80 per second with one outstanding, 137 with ten, 181 with 32; within 1 % of 80.26·*N*^0.2342
//! for all *N* from 1 to 32. There is no knee: more outstanding requests always offer the head something nearer. Writes
//! faster than the platters: 181 per second however many wait, since the drive chooses among those in its cache. The
//! longest of many reads takes most of a second, because distant requests are passed over.
//!
//! The parts are those of C. Ruemmler and J. Wilkes, *An introduction to disk drive modeling*, IEEE Computer 27(3),
//! 1994, who found seek curve, rotation and cache to be essential for a model, on an HP C2200A and an HP 97560. Not
//! modelled because their effect is small beside these: head switches (included in the sustained rates), more than one
//! segment of readahead, reads of blocks that are still dirty in the cache, remapped sectors, retries.

mod cache;
mod geometry;
mod mechanics;
mod queue;
mod stream;

pub(crate) use mechanics::Mechanics;

use crate::closed::Load;
use crate::hard_disk::HardDisk;

/// Exponent by which throughput grows with the number of queued commands.
const GAIN: f64 = 0.2342;

impl HardDisk {
    /// Returns the rate of small random requests with `in_flight` outstanding. `None` if there is no simple formula:
    /// for mixtures, for sequential requests, and for a queue that is not ordered by positioning time alone.
    ///
    /// A power law: 80.26·*N*^0.2342 for the drive of [`HardDisk::sata_7200rpm`]. The exponent was found by simulation
    /// and holds within 1 % for *N* from 1 to 32. Cached writes are chosen among the whole window.
    #[must_use]
    pub fn random_iops(&self, load: &Load) -> Option<f64> {
        let greedy = self.age_weight == 0.0 && self.max_age.is_none();
        let window = f64::from(self.sched_window);
        let among = match (load.share.read, load.share.write) {
            (1.0, _) => load.in_flight.min(window),
            (_, 1.0) if self.write_cache => window,
            (_, 1.0) => load.in_flight.min(window),
            _ => return None,
        };
        let seek = self.seek_least.secs_f64() + self.seek_stroke.secs_f64() * 8.0 / 15.0;
        let bytes_per_sec = (self.outer_bytes_per_sec + self.inner_bytes_per_sec) as f64 / 2.0;
        let transfer = load.mean_bytes() / bytes_per_sec;
        let settle = self.write_settle.secs_f64() * load.share.write;
        let alone = self.overhead.secs_f64() + seek + settle + self.rotation.secs_f64() / 2.0 + transfer;
        (greedy && !load.sequential).then(|| libm::pow(among.max(1.0), GAIN) / alone)
    }
}
