//! A disk drive with moving parts: seeks, rotation, a command queue ordered by positioning time, a write-back cache.
//!
//! # How it works
//!
//! One arm and one set of platters serve one request at a time. What that takes is decided by where the arm is and how
//! far the platters have turned (`geometry`); nothing is left to chance. Out of the oldest [`HardDisk::sched_window`]
//! requests the drive takes the one under whose data the head can be first (`queue`). Writes are done when
//! the cache has them, and reach the platters when nothing is being read, or when a write has to wait for room
//! (`cache`). Reads that follow one another are served while the platters turn on (`stream`).
//!
//! # How far it is right
//!
//! Random 4 KiB reads: 80 a second with one outstanding, 137 with ten, 181 with 32; within 1 % of
//! 80.26·*N*^0.2342 for all *N* from 1 to 32. There is no knee: more outstanding requests always give the head something
//! nearer. Writes that come faster than the platters take them: 181 a second however many wait, since the drive chooses
//! among what is in its cache. The longest of many reads takes most of a second, because the far ones are not waited for.
//!
//! The parts are those of C. Ruemmler and J. Wilkes, *An introduction to disk drive modeling*, IEEE Computer 27(3),
//! 1994, who found seek curve, rotation and cache to be what a model cannot do without, on an HP C2200A and an
//! HP 97560. Not modelled, because it hardly shows beside these: head switches (they are in the sustained rates), more
//! than one segment of read-ahead, reads of blocks that are still dirty in the cache, remapped sectors, retries.

mod cache;
mod geometry;
mod mechanics;
mod queue;
mod stream;

pub(crate) use mechanics::Mechanics;

use crate::closed::Load;
use crate::hard_disk::HardDisk;

/// Gain of throughput with the number of queued commands, as an exponent.
const GAIN: f64 = 0.2342;

impl HardDisk {
    /// Random requests of a few blocks a second with `in_flight` outstanding, none of them sequential. `None` where
    /// nothing simple is known: for mixtures, and for a queue that is not ordered by positioning time alone.
    ///
    /// A power law: 80.26·*N*^0.2342 for the drive of [`HardDisk::sata_7200rpm`], whose exponent was found by simulation
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
