//! The parameters of a hard disk; [`crate::disk`] has its mechanics.

use units::{Bytes, Nanos};

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

    /// What `bytes` take between host and cache.
    pub(crate) fn interface(&self, bytes: u32) -> Nanos {
        self.interface_fixed + Nanos::new(u64::from(bytes) * 1_000_000_000 / self.interface_bytes_per_sec.max(1))
    }
}
