//! Capacity of the host for the workers of a run, for [`job::limits`].

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use engine::gate::HELD_SHARE;
use job::limits::{Capacity, HostLimit};
use rustix::process::{Resource, getrlimit};

use crate::control_groups;
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
        ring_entries: Some(limit(MAX_RING_ENTRIES, "the kernel's IORING_MAX_ENTRIES")),
        stack_bytes: STACK_BYTES as u64,
        buffers: true,
    }
}

/// Returns the capacity for workers on models, which have no threads and whose operations have no data. So many
/// simulations run `at_once`.
pub fn of_models(at_once: usize) -> Capacity {
    let divided = |limit: HostLimit| match at_once as u64 {
        0 | 1 => limit,
        count => HostLimit {
            most: limit.most / count,
            source: format!("{}, divided among {count} concurrent simulations", limit.source),
        },
    };
    Capacity { memory: memory().map(divided), address_space: address_space().map(divided), ..Capacity::default() }
}

fn limit(most: u64, source: &str) -> HostLimit {
    HostLimit { most, source: source.to_owned() }
}

fn lowest(limits: impl IntoIterator<Item = Option<HostLimit>>) -> Option<HostLimit> {
    limits.into_iter().flatten().min_by_key(|limit| limit.most)
}

/// Returns how many threads can still be started. As in the kernel, root is exempt from the user's limit.
fn threads() -> Option<HostLimit> {
    let tasks = tasks().unwrap_or(0);
    let of_system = |path: &str, name: &str| number(path).map(|most| limit(most.saturating_sub(tasks), name));
    let of_user = getrlimit(Resource::Nproc).current.filter(|_| !rustix::process::getuid().is_root());
    let of_cgroups = ControlGroup::of_process("pids").into_iter().map(|group| {
        let current = |group: &Path| number(group.join("pids.current")).unwrap_or(0);
        group.remainder("pids.max", current)
    });
    let of_host = [
        of_system("/proc/sys/kernel/threads-max", "kernel.threads-max"),
        of_system("/proc/sys/kernel/pid_max", "kernel.pid_max"),
        of_user.map(|most| limit(most, "RLIMIT_NPROC, see `ulimit -u`")),
    ];
    lowest(of_host.into_iter().chain(of_cgroups))
}

/// Returns the memory available without taking it from other programs: free memory and caches that the kernel can drop.
pub fn memory() -> Option<HostLimit> {
    let text = text("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    let of_cgroups = ControlGroup::of_process("memory").into_iter().map(|group| group.memory());
    lowest([kib.map(|kib| limit(kib.saturating_mul(1024), "MemAvailable"))].into_iter().chain(of_cgroups))
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

/// A control group of this process, in one hierarchy.
#[derive(Debug, PartialEq, Eq)]
struct ControlGroup {
    version: GroupVersion,
    /// Where the hierarchy is mounted.
    root: PathBuf,
    /// Path of the group below the root. In a container it may be that of the host, where only the root exists.
    own: PathBuf,
}

/// Versions of control groups, which name their files differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GroupVersion {
    V1,
    V2,
}

impl ControlGroup {
    /// Returns the groups of this process that may limit what `controller` controls.
    fn of_process(controller: &str) -> Vec<Self> {
        let read = |name: &str| std::fs::read_to_string(name).unwrap_or_default();
        Self::among(&read("/proc/self/cgroup"), &read("/proc/self/mounts"), controller)
    }

    /// Finds groups in the text of `/proc/self/cgroup` and `/proc/self/mounts`.
    fn among(groups: &str, mounts: &str, controller: &str) -> Vec<Self> {
        let groups = groups.lines().filter_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let (controllers, own) = (fields.next()?, fields.next()?.trim_start_matches('/'));
            let (version, root) = match controllers {
                "" => (GroupVersion::V2, control_groups::mount_of("cgroup2", None, mounts)?),
                _ if controllers.split(',').any(|one| one == controller) => {
                    (GroupVersion::V1, control_groups::mount_of("cgroup", Some(controller), mounts)?)
                }
                _ => return None,
            };
            Some(Self { version, root, own: own.into() })
        });
        groups.collect()
    }

    /// Returns the smallest remainder of the limit in the file `most`, of the group and its ancestors.
    fn remainder(&self, most: &str, used: impl Fn(&Path) -> u64) -> Option<HostLimit> {
        let own = self.root.join(&self.own);
        let groups = own.ancestors().take_while(|group| group.starts_with(&self.root));
        lowest(groups.map(|group| {
            let file = group.join(most);
            Some(limit(number(&file)?.saturating_sub(used(group)), &file.display().to_string()))
        }))
    }

    /// Returns the memory that the group and its ancestors leave.
    fn memory(&self) -> Option<HostLimit> {
        let (most, current) = match self.version {
            GroupVersion::V1 => ("memory.limit_in_bytes", "memory.usage_in_bytes"),
            GroupVersion::V2 => ("memory.max", "memory.current"),
        };
        self.remainder(most, |group| {
            let used = number(group.join(current)).unwrap_or(0);
            used.saturating_sub(reclaimable(&text(group.join("memory.stat")).unwrap_or_default()))
        })
    }
}

/// Returns how much of the memory of a control group the kernel can reclaim: page cache, inode caches and the like.
/// Version 1 counts those of subgroups in `total_*` alone, and no inode caches.
fn reclaimable(stat: &str) -> u64 {
    let of = |names: &[&str]| -> u64 {
        let lines = stat.lines().filter_map(|line| line.split_once(' '));
        lines.filter(|(name, _)| names.contains(name)).filter_map(|(_, bytes)| bytes.trim().parse::<u64>().ok()).sum()
    };
    match of(&["total_inactive_file", "total_active_file"]) {
        0 => of(&["inactive_file", "active_file", "slab_reclaimable"]),
        total => total,
    }
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
        let [one, four] = [1, 4].map(|count| of_models(count).memory.unwrap());
        assert!(
            of_models(1).threads.is_none() && four.most < one.most / 2 && four.source.contains("among 4"),
            "{four:?}"
        );
    }

    /// Writes the files of a group. `files` are pairs of name and content.
    fn group(own: &Path, files: &[(&str, &str)]) {
        std::fs::create_dir_all(own).unwrap();
        files.iter().for_each(|(name, text)| std::fs::write(own.join(name), text).unwrap());
    }

    #[test]
    fn a_container_whose_page_cache_had_filled_its_limit_had_no_memory_left() {
        let root = tempfile::tempdir().unwrap();
        let own = root.path().join("pod/container");
        let stat = "anon 99000\nfile 850000\ninactive_file 700000\nactive_file 100000\nslab_reclaimable 50000\n";
        group(&own, &[("memory.max", "1000000\n"), ("memory.current", "999000\n"), ("memory.stat", stat)]);
        group(&root.path().join("pod"), &[("memory.max", "max\n")]);
        let mounts = format!("cgroup2 {} cgroup2 rw 0 0\n", root.path().display());
        let [found] = &ControlGroup::among("0::/pod/container\n", &mounts, "memory")[..] else { panic!("{mounts}") };
        let left = || found.memory().unwrap();
        assert_eq!((left().most, left().source), (851_000, own.join("memory.max").display().to_string()));
        std::fs::remove_file(own.join("memory.stat")).unwrap();
        assert_eq!(left().most, 1000, "nothing is known to be reclaimable");
    }

    #[test]
    fn limits_of_control_groups_of_version_1_were_not_seen() {
        let root = tempfile::tempdir().unwrap();
        let own = root.path().join("memory/pod/container");
        let stat = "cache 9\ninactive_file 9\nactive_file 9\ntotal_inactive_file 700000\ntotal_active_file 100000\n";
        group(&own, &[("memory.limit_in_bytes", "9223372036854771712\n"), ("memory.usage_in_bytes", "1000\n")]);
        group(
            &root.path().join("memory/pod"),
            &[("memory.limit_in_bytes", "1000000\n"), ("memory.usage_in_bytes", "999000\n"), ("memory.stat", stat)],
        );
        let [memory, pids, unified] = ["memory", "pids", "unified"].map(|name| root.path().join(name));
        let mounts = format!(
            "tmpfs {0} tmpfs rw 0 0\ncgroup {1} cgroup rw,memory 0 0\ncgroup {2} cgroup rw,cpu,pids 0 0\n\
             cgroup2 {3} cgroup2 rw 0 0\n",
            root.path().display(),
            memory.display(),
            pids.display(),
            unified.display()
        );
        let groups = "9:cpu,pids:/a\n4:memory:/pod/container\n1:name=systemd:/\n0::/\n";
        let found = ControlGroup::among(groups, &mounts, "memory");
        let roots: Vec<_> = found.iter().map(|group| (group.version, &group.root)).collect();
        assert_eq!(roots, [(GroupVersion::V1, &memory), (GroupVersion::V2, &unified)]);
        let left = found[0].memory().unwrap();
        let source = memory.join("pod/memory.limit_in_bytes").display().to_string();
        assert_eq!((left.most, left.source), (801_000, source));
        assert_eq!(found[1].memory(), None);
        group(&pids.join("a"), &[("pids.max", "100\n")]);
        let of_pids = &ControlGroup::among(groups, &mounts, "pids")[0];
        assert_eq!(of_pids.remainder("pids.max", |_| 40).map(|left| left.most), Some(60));
        // In a container, the path may be that of the host, and its root that of the container.
        let hidden =
            ControlGroup { own: "docker/1234".into(), ..ControlGroup::among(groups, &mounts, "memory").remove(0) };
        group(&memory, &[("memory.limit_in_bytes", "5000\n"), ("memory.usage_in_bytes", "1000\n")]);
        assert_eq!(hidden.memory().map(|left| left.most), Some(4000));
    }
}
