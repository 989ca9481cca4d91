//! Working sets of windows of time: the blocks that are used in a window.

use super::profile::WorkingSetWindow;
use super::sampled::{BLOCK_BYTES, NEVER};

/// Widths of the windows in seconds.
const WIDTHS_S: [u32; WINDOW_COUNT] = [1, 10, 60, 600, 3600];
/// Number of widths.
pub(super) const WINDOW_COUNT: usize = 5;

/// Blocks of the current window of one width, and of those before: all, read, written.
#[derive(Clone, Copy, Debug, Default)]
struct Touched {
    window: u32,
    current: [f64; 3],
    sum: [f64; 3],
    max: [f64; 3],
}

impl Touched {
    fn close(&mut self, window: u32) {
        for kind in 0..3 {
            self.sum[kind] += self.current[kind];
            self.max[kind] = self.max[kind].max(self.current[kind]);
        }
        self.current = [0.0; 3];
        self.window = window;
    }
}

/// Working sets of all widths.
#[derive(Clone, Debug, Default)]
pub(super) struct TouchedSets {
    now_s: u32,
    sets: [Touched; WINDOW_COUNT],
}

impl TouchedSets {
    /// Adds an access; `before` has the seconds of the last read and write of the block.
    #[inline]
    pub(super) fn add(&mut self, now_s: u32, before: (u32, u32), is_write: bool, weight: f64) {
        if now_s != self.now_s {
            self.now_s = now_s;
            for (set, width) in self.sets.iter_mut().zip(WIDTHS_S) {
                if now_s / width != set.window {
                    set.close(now_s / width);
                }
            }
        }
        let same = if is_write { before.1 } else { before.0 };
        if same == now_s {
            return;
        }
        for (set, width) in self.sets.iter_mut().zip(WIDTHS_S) {
            let begin = set.window * width;
            let is_new = |last: u32| last == NEVER || last < begin;
            if is_new(same) {
                set.current[1 + usize::from(is_write)] += weight;
                if is_new(before.0) && is_new(before.1) {
                    set.current[0] += weight;
                }
            }
        }
    }

    /// Returns the working sets of the widths that are at most as long as the trace.
    pub(super) fn finish(&mut self, duration_ns: u64) -> [Option<WorkingSetWindow>; WINDOW_COUNT] {
        std::array::from_fn(|index| {
            let (set, width_ns) = (&mut self.sets[index], u64::from(WIDTHS_S[index]) * 1_000_000_000);
            set.close(0);
            let windows = (duration_ns / width_ns) as f64 + 1.0;
            let bytes = |blocks: f64| blocks * BLOCK_BYTES as f64;
            (duration_ns >= width_ns).then(|| WorkingSetWindow {
                width_ns,
                bytes_mean: bytes(set.sum[0] / windows),
                bytes_max: bytes(set.max[0]),
                read_bytes_mean: bytes(set.sum[1] / windows),
                read_bytes_max: bytes(set.max[1]),
                written_bytes_mean: bytes(set.sum[2] / windows),
                written_bytes_max: bytes(set.max[2]),
            })
        })
    }
}
