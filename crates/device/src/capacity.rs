//! Capacity of the host for the workers of a run, for [`job::limits`].

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use engine::gate::HELD_SHARE;
use job::limits::{Capacity, HostLimit};
use rustix::process::{Resource, getrlimit};

use crate::stages::STACK_BYTES;

/// Maximum number of entries of one `io_uring`.
const MAX_RING_ENTRIES: u64 = 32_768;

/// Returns the capacity for workers with threads, buffers and open files.
pub fn of_host() -> Capacity {
    let descriptors = getrlimit(Resource::Nofile).maximum;
    let descriptors = descriptors.map(|most| limit(most, "RLIMIT_NOFILE, see `ulimit -Hn`"));
    Capacity {
        threads: threads(),
        held_files: descriptors.as_ref().map_or(0, |limit| limit.most / HELD_SHARE),
        descriptors,
        mappings: number("/proc/sys/vm/max_map_count").map(|most| limit(most, "vm.max_map_count")),
        memory: memory(),
        address_space: address_space(),
        ring_entries: Some(limit(MAX_RING_ENTRIES, "IORING_MAX_ENTRIES of the kernel")),
        stack_bytes: STACK_BYTES as u64,
        buffers: true,
    }
}

/// Returns the capacity for workers on models, which have no threads and whose operations have no data.
pub fn of_models() -> Capacity {
    Capacity { memory: memory(), address_space: address_space(), ..Capacity::default() }
}

fn limit(most: u64, source: &str) -> HostLimit {
    HostLimit { most, source: source.to_owned() }
}

/// Returns the limit with the lowest value.
fn lowest(limits: impl IntoIterator<Item = Option<HostLimit>>) -> Option<HostLimit> {
    limits.into_iter().flatten().min_by_key(|limit| limit.most)
}

/// Returns how many threads can still be started. As in the kernel, root is exempt from the user's limit.
fn threads() -> Option<HostLimit> {
    let tasks = tasks().unwrap_or(0);
    let of_system = |path: &str, name: &str| number(path).map(|most| limit(most.saturating_sub(tasks), name));
    let of_user = getrlimit(Resource::Nproc).current.filter(|_| !rustix::process::getuid().is_root());
    lowest([
        of_system("/proc/sys/kernel/threads-max", "kernel.threads-max"),
        of_system("/proc/sys/kernel/pid_max", "kernel.pid_max"),
        of_user.map(|most| limit(most, "RLIMIT_NPROC, see `ulimit -u`")),
        of_cgroups("pids.max", |group| number(group.join("pids.current")).unwrap_or(0)),
    ])
}

/// Returns the memory available without taking it from other programs: free memory and caches that the kernel can drop.
pub fn memory() -> Option<HostLimit> {
    let text = text("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    lowest([kib.map(|kib| limit(kib.saturating_mul(1024), "MemAvailable")), of_cgroups("memory.max", memory_used)])
}

/// Returns the memory that a control group uses, except what the kernel can reclaim: page cache, inode caches and the
/// like.
fn memory_used(group: &Path) -> u64 {
    let stat = text(group.join("memory.stat")).unwrap_or_default();
    let reclaimable = stat.lines().filter_map(|line| match line.split_once(' ')? {
        ("inactive_file" | "active_file" | "slab_reclaimable", bytes) => bytes.trim().parse::<u64>().ok(),
        _ => None,
    });
    number(group.join("memory.current")).unwrap_or(0).saturating_sub(reclaimable.sum())
}

/// Returns the remaining address space (`ulimit -v`).
fn address_space() -> Option<HostLimit> {
    let most = getrlimit(Resource::As).current?;
    let pages = text("/proc/self/statm")?;
    let used = pages.split(' ').next()?.parse::<u64>().ok()?.saturating_mul(probe::page_bytes());
    Some(limit(most.saturating_sub(used), "RLIMIT_AS, see `ulimit -v`"))
}

/// Returns the number of tasks on the system: the number after the `/` in `/proc/loadavg`.
fn tasks() -> Option<u64> {
    text("/proc/loadavg")?.split(' ').nth(3)?.split('/').nth(1)?.parse().ok()
}

fn number(path: impl AsRef<Path>) -> Option<u64> {
    text(path)?.trim().parse().ok()
}

/// Reads a small file of the kernel in one call, because such files report no size.
fn text(path: impl AsRef<Path>) -> Option<String> {
    let mut bytes = [0; 16384];
    let read = File::open(path).ok()?.read(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes[..read]).into_owned())
}

/// Returns the smallest remainder of a limit in this process's control group and its ancestors (version 2).
fn of_cgroups(most: &str, used: impl Fn(&Path) -> u64) -> Option<HostLimit> {
    let text = text("/proc/self/cgroup")?;
    let own = text.lines().find_map(|line| line.strip_prefix("0::/"))?;
    remainder_in(Path::new("/sys/fs/cgroup"), own, most, used)
}

/// Returns the smallest remainder of a limit in the group `own` below `root` and its ancestors up to `root`.
fn remainder_in(root: &Path, own: &str, most: &str, used: impl Fn(&Path) -> u64) -> Option<HostLimit> {
    let own: PathBuf = root.join(own);
    let groups = own.ancestors().take_while(|group| group.starts_with(root));
    lowest(groups.map(|group| {
        let file = group.join(most);
        Some(limit(number(&file)?.saturating_sub(used(group)), &file.display().to_string()))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_reports_its_limits() {
        let host = of_host();
        for known in [&host.threads, &host.mappings, &host.memory, &host.descriptors] {
            assert!(known.as_ref().is_some_and(|limit| limit.most > 16 && !limit.source.is_empty()), "{host:?}");
        }
        assert!(of_models().threads.is_none() && of_models().memory.is_some());
    }

    #[test]
    fn a_container_whose_page_cache_had_filled_its_limit_had_no_memory_left() {
        let root = tempfile::tempdir().unwrap();
        let own = root.path().join("pod/container");
        std::fs::create_dir_all(&own).unwrap();
        let write = |name: &str, text: &str| std::fs::write(own.join(name), text).unwrap();
        write("memory.max", "1000000\n");
        write("memory.current", "999000\n");
        write(
            "memory.stat",
            "anon 99000\nfile 850000\ninactive_file 700000\nactive_file 100000\nslab_reclaimable 50000\n",
        );
        std::fs::write(root.path().join("pod/memory.max"), "max\n").unwrap();
        let left = || remainder_in(root.path(), "pod/container", "memory.max", memory_used).unwrap();
        assert_eq!((left().most, left().source), (851_000, own.join("memory.max").display().to_string()));
        std::fs::remove_file(own.join("memory.stat")).unwrap();
        assert_eq!(left().most, 1000, "nothing is known to be reclaimable");
    }
}
