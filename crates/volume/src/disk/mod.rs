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

use units::{Bytes, Nanos};

pub(crate) use mechanics::Mechanics;

use crate::closed::Load;

/// The parameters of a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct HardDisk {
    /// From the end of one command to the choice of the next, and from the arrival of a command at an idle drive to its
    /// start. A host that answers within this time is heard before the drive chooses.
    pub overhead: Nanos,
    /// What every seek to another track takes: the arm's settling. `seek_least + seek_stroke·√d` is the seek over the
    /// distance `d`, 1 being the whole surface; over all pairs of places its mean is `seek_least + 8/15·seek_stroke`.
    pub seek_least: Nanos,
    /// What the seek over the whole surface takes beyond `seek_least`.
    pub seek_stroke: Nanos,
    /// What seeks before writes take beyond others.
    pub write_settle: Nanos,
    /// One turn of the platters.
    pub rotation: Nanos,
    /// Sustained bytes a second at the outer edge, where the volume begins.
    pub outer_bytes_per_sec: u64,
    /// Sustained bytes a second at the inner edge, where it ends.
    pub inner_bytes_per_sec: u64,
    /// Into how many zones of equal bytes a track the surface is cut; all zones hold the same share of the volume.
    pub zones: u32,
    /// Among how many requests the drive chooses: the depth of its queue (32 in SATA).
    pub sched_window: u32,
    /// By how much a request looks nearer for each nanosecond it has waited, in nanoseconds. Zero: never.
    pub age_weight: f64,
    /// Requests that have waited this long come first, the oldest before the others.
    pub max_age: Option<Nanos>,
    /// Whether writes are done when the cache has them. Without it they are done when they are on the platters.
    pub write_cache: bool,
    /// How many writes the cache holds, whatever their lengths.
    pub cache_slots: u32,
    /// How many bytes it holds. It always takes one write.
    pub cache_bytes: Bytes,
    /// Whether it is full of random 4 KiB writes at the start.
    pub cache_full_at_start: bool,
    /// How far the drive reads on behind a read while nothing else is asked of it.
    pub readahead: Bytes,
    /// What anything takes that needs no platters.
    pub interface_fixed: Nanos,
    /// Bytes a second between host and cache, on top of that.
    pub interface_bytes_per_sec: u64,
}

/// How much more a drive does the more it can choose among.
const GAIN: f64 = 0.2342;

impl HardDisk {
    /// A 3.5-inch SATA drive of 7,200 turns a minute.
    ///
    /// * A positioning takes 1.40 ms + 12.937 ms·√d and the rest of a turn, of which 0.10 ms are the drive's overhead.
    ///   The mean of 8.30 ms lies with the seeks of the datasheets (HGST Ultrastar 7K4000: 8.2 ms, Deskstar 7K1000.C:
    ///   8.5 ms); that and the whole stroke of 14.3 ms were fitted to measured curves over the number of threads.
    /// * 150 MB/s at the outer edge, half of it at the inner one.
    /// * 32 commands are queued, as SATA has it, and the choice is by positioning time alone.
    /// * The cache holds 32 writes and is full at the start, so that a run of any length shows what the drive can
    ///   sustain: 181 random writes a second. How large a cache is does not show once it is full. For a drive that is
    ///   fresh from a pause, set [`HardDisk::cache_slots`] to 16,384 (64 MiB of 4 KiB) and
    ///   [`HardDisk::cache_full_at_start`] to false: then the first 16,384 writes are done as fast as the interface takes
    ///   them, and a flush after them takes as long as they spared.
    #[must_use]
    pub const fn sata_7200rpm() -> Self {
        Self {
            overhead: Nanos::from_micros(100),
            seek_least: Nanos::from_micros(1_300),
            seek_stroke: Nanos::from_micros(12_937),
            write_settle: Nanos::ZERO,
            rotation: Nanos::new(60_000_000_000 / 7_200),
            outer_bytes_per_sec: 150_000_000,
            inner_bytes_per_sec: 75_000_000,
            zones: 16,
            sched_window: 32,
            age_weight: 0.0,
            max_age: None,
            write_cache: true,
            cache_slots: 32,
            cache_bytes: Bytes::new(64 * Bytes::MIB),
            cache_full_at_start: true,
            readahead: Bytes::new(Bytes::MIB),
            interface_fixed: Nanos::from_micros(5),
            interface_bytes_per_sec: 600_000_000,
        }
    }

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

    /// What `bytes` take between host and cache.
    pub(crate) fn interface(&self, bytes: u32) -> Nanos {
        self.interface_fixed + Nanos::new(u64::from(bytes) * 1_000_000_000 / self.interface_bytes_per_sec.max(1))
    }
}
