//! Parameters of a hard disk; [`crate::disk`] has its mechanics.

use units::{Bytes, Nanos};

/// Parameters of a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct HardDisk {
    /// Time from the end of one command to the choice of the next, and from the arrival of a command at an idle drive
    /// to its start. A request from a host that responds within this time takes part in the choice.
    pub overhead: Nanos,
    /// Fixed part of a seek to another track: the arm's settling. A seek over the distance `d`, 1 being the whole
    /// surface, takes `seek_least + seek_stroke·√d`; the mean over all pairs of places is `seek_least +
    /// 8/15·seek_stroke`.
    pub seek_least: Nanos,
    /// Additional time of a seek over the whole surface.
    pub seek_stroke: Nanos,
    /// Additional time of seeks before writes.
    pub write_settle: Nanos,
    /// Time of one turn of the platters.
    pub rotation: Nanos,
    /// Sustained bytes per second at the outer edge, where the volume begins.
    pub outer_bytes_per_sec: u64,
    /// Sustained bytes per second at the inner edge, where it ends.
    pub inner_bytes_per_sec: u64,
    /// Number of zones with equal bytes per track; all hold the same fraction of the volume.
    pub zones: u32,
    /// Requests among which the drive chooses: the depth of its queue (32 in SATA).
    pub sched_window: u32,
    /// Reduction of a request's cost per nanosecond of waiting, in nanoseconds; zero to disable.
    pub age_weight: f64,
    /// Age from which requests come first, the oldest before the others.
    pub max_age: Option<Nanos>,
    /// Whether writes complete in the cache; otherwise they complete on the platters.
    pub write_cache: bool,
    /// Number of writes that the cache holds, of any length.
    pub cache_slots: u32,
    /// Bytes that the cache holds. It always accepts one write.
    pub cache_bytes: Bytes,
    /// Whether the cache is full of random 4 KiB writes at the start.
    pub cache_full_at_start: bool,
    /// How far an idle drive reads on after a read.
    pub readahead: Bytes,
    /// Fixed time of commands that do not need the platters.
    pub interface_fixed: Nanos,
    /// Bytes per second between host and cache, in addition.
    pub interface_bytes_per_sec: u64,
}

impl HardDisk {
    /// Returns a 3.5-inch SATA drive at 7,200 rpm.
    ///
    /// * Positioning takes 1.40 ms + 12.937 ms·√d and the rest of a turn, of which 0.10 ms are the drive's overhead.
    ///   The mean of 8.30 ms agrees with the seeks of the datasheets (HGST Ultrastar 7K4000: 8.2 ms, Deskstar 7K1000.C:
    ///   8.5 ms); it and the full stroke of 14.3 ms were fitted to measured curves over the number of threads.
    /// * 150 MB/s at the outer edge, half of it at the inner one.
    /// * A queue of 32 commands, as in SATA, ordered by positioning time alone.
    /// * The cache holds 32 writes and is full at the start, so that a run of any length shows the sustained rate: 181
    ///   random writes per second. The size of a full cache does not matter. For a drive after a pause, set
    ///   [`HardDisk::cache_slots`] to 16,384 (64 MiB of 4 KiB) and [`HardDisk::cache_full_at_start`] to false: then the
    ///   first 16,384 writes complete at interface speed, and a flush after them takes as long as they saved.
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

    /// Returns the time of a transfer between host and cache.
    pub(crate) fn interface(&self, bytes: u32) -> Nanos {
        self.interface_fixed + Nanos::new(u64::from(bytes) * 1_000_000_000 / self.interface_bytes_per_sec.max(1))
    }
}
