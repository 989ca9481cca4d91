//! Dirty memory limits and swap.

use std::path::Path;

use record::host::{DirtyMemory, Reading, SwapDevice};

use super::mounts::unescaped;
use super::reading::{foreign, number, text};

/// Returns the dirty thresholds (`Documentation/admin-guide/sysctl/vm.rst`). Ratios apply to the total memory.
pub fn dirty(root: &Path) -> Reading<DirtyMemory> {
    let figure = |name: &str| number::<u64>(root, &format!("proc/sys/vm/{name}"));
    let memory = memory_bytes(root)?;
    let threshold = |bytes: &str, ratio: &str| match figure(bytes) {
        Ok(bytes) if bytes > 0 => Ok(bytes),
        _ => figure(ratio).map(|percent| (memory / 100).saturating_mul(percent.min(100))),
    };
    let background_bytes = threshold("dirty_background_bytes", "dirty_background_ratio")?;
    Ok(DirtyMemory { background_bytes, limit_bytes: threshold("dirty_bytes", "dirty_ratio")? })
}

/// Parses `MemTotal: 32768000 kB`, where a kB is 1024 bytes.
pub(super) fn memory_bytes(root: &Path) -> Reading<u64> {
    let path = "proc/meminfo";
    let text = text(root, path)?;
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = total.and_then(|total| total.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.map(|kib| kib.saturating_mul(1024)).ok_or_else(|| foreign(path, &text))
}

/// Returns all swap devices and files.
pub fn swaps(root: &Path) -> Reading<Vec<SwapDevice>> {
    let text = text(root, "proc/swaps")?;
    let swap = |line: &str| {
        let mut words = line.split_whitespace();
        let path = unescaped(words.next()?);
        let mut kib = words.skip(1).map(|word| word.parse::<u64>().ok());
        let (bytes, used) = (kib.next()??, kib.next()??);
        Some(SwapDevice { path, bytes: bytes.saturating_mul(1024), used_bytes: used.saturating_mul(1024) })
    };
    Ok(text.lines().skip(1).filter_map(swap).collect())
}
