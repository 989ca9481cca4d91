//! Permissions of this process: asynchronous I/O, io_uring, cgroup I/O limits.

use std::path::{Path, PathBuf};

use record::host::{IoLimit, Reading, RingLimits};

use super::cpus::status;
use super::mounts::mounts;
use super::reading::{foreign, line, number, text};

/// Returns the kernel release, such as `6.18.0`.
pub fn kernel(root: &Path) -> Reading<String> {
    line(root, "proc/sys/kernel/osrelease")
}

/// Returns the number of libaio operations reserved by all processes, and the maximum.
pub fn native_operations(root: &Path) -> Reading<(u64, u64)> {
    Ok((number(root, "proc/sys/fs/aio-nr")?, number(root, "proc/sys/fs/aio-max-nr")?))
}

/// Returns the restrictions of io_uring.
pub fn rings(root: &Path) -> Reading<RingLimits> {
    let disabled = number(root, "proc/sys/kernel/io_uring_disabled")?;
    let group = number::<i64>(root, "proc/sys/kernel/io_uring_group").ok().and_then(|group| u32::try_from(group).ok());
    Ok(RingLimits { disabled, member: is_member(root, group) })
}

/// Reports whether this process has a system call filter (seccomp).
#[must_use]
pub fn filtered(root: &Path) -> bool {
    status(root, "Seccomp").is_ok_and(|mode| mode == "2")
}

/// Reports whether the process has `CAP_SYS_ADMIN` or belongs to the group.
fn is_member(root: &Path, group: Option<u32>) -> bool {
    const CAP_SYS_ADMIN: u32 = 21;
    let capable = status(root, "CapEff").ok().and_then(|mask| u64::from_str_radix(&mask, 16).ok());
    let groups = [status(root, "Groups"), status(root, "Gid")].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let in_group = group.is_some_and(|group| groups.split_whitespace().any(|own| own == group.to_string()));
    in_group || capable.is_some_and(|mask| mask >> CAP_SYS_ADMIN & 1 == 1)
}

/// Files of cgroup version 1, and the corresponding keys of version 2.
const V1_FILES: [(&str, &str); 4] = [
    ("blkio.throttle.read_bps_device", "rbps"),
    ("blkio.throttle.write_bps_device", "wbps"),
    ("blkio.throttle.read_iops_device", "riops"),
    ("blkio.throttle.write_iops_device", "wiops"),
];

/// Returns all I/O limits from the cgroup of this process up to the highest visible one.
pub fn io_limits(root: &Path) -> Reading<Vec<IoLimit>> {
    let path = "proc/self/cgroup";
    let membership = text(root, path)?;
    let mounted = mounts(root);
    let mut limits = Vec::new();
    let mut seen = false;
    for line in membership.lines() {
        // `0::/user.slice` in version 2, `7:blkio:/` in version 1.
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(own)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let is_v1 = controllers.split(',').any(|controller| controller == "blkio");
        if !is_v1 && !controllers.is_empty() {
            continue;
        }
        let kind = if is_v1 { "cgroup" } else { "cgroup2" };
        let is_hierarchy = |mount: &&super::MountEntry| {
            mount.filesystem == kind && (!is_v1 || mount.options.iter().any(|option| option == "blkio"))
        };
        let Some(mount) = mounted.iter().find(is_hierarchy) else { continue };
        seen = true;
        for group in groups(own) {
            let home = mount.at.join(&group);
            if is_v1 { v1_limits(root, &home, &mut limits) } else { v2_limits(root, &home, &mut limits) }
        }
    }
    if seen { Ok(limits) } else { Err(foreign(path, "no mounted cgroup")) }
}

/// Returns a cgroup and its ancestors, without leading slashes.
fn groups(own: &str) -> Vec<PathBuf> {
    let plain = Path::new(own.trim_start_matches('/'));
    // Groups outside of the cgroup namespace are named with `..` and are invisible.
    let inside = plain.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    if inside { plain.ancestors().map(Path::to_path_buf).collect() } else { vec![PathBuf::new()] }
}

fn file_text(root: &Path, file: &str) -> Option<String> {
    text(root, file.trim_start_matches('/')).ok()
}

/// Parses `8:0 rbps=1048576 wbps=max riops=120 wiops=max`, `default 100` and `8:0 target=5000`.
fn v2_limits(root: &Path, home: &Path, limits: &mut Vec<IoLimit>) {
    for name in ["io.max", "io.latency"] {
        let file = home.join(name).to_string_lossy().into_owned();
        for line in file_text(root, &file).unwrap_or_default().lines() {
            let mut words = line.split_whitespace();
            let device = words.next().and_then(super::mounts::number);
            let pairs = words.filter_map(|word| word.split_once('='));
            limits.extend(pairs.filter(|_| device.is_some()).filter_map(|(key, value)| {
                Some(IoLimit { file: file.clone(), device, key: key.to_owned(), value: value.parse().ok()? })
            }));
        }
    }
    let file = home.join("io.weight").to_string_lossy().into_owned();
    for line in file_text(root, &file).unwrap_or_default().lines() {
        if let Some((whose, value)) = line.split_once(' ')
            && let Ok(value) = value.trim().parse()
        {
            let device = super::mounts::number(whose);
            limits.push(IoLimit { file: file.clone(), device, key: "weight".to_owned(), value });
        }
    }
}

/// Parses `8:0 1048576`.
fn v1_limits(root: &Path, home: &Path, limits: &mut Vec<IoLimit>) {
    for (name, key) in V1_FILES {
        let file = home.join(name).to_string_lossy().into_owned();
        for line in file_text(root, &file).unwrap_or_default().lines() {
            let Some((device, value)) = line.split_once(' ') else { continue };
            if let (Some(device), Ok(value)) = (super::mounts::number(device), value.trim().parse()) {
                limits.push(IoLimit { file: file.clone(), device: Some(device), key: key.to_owned(), value });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ancestors_end_at_the_root() {
        let names = |own| groups(own).iter().map(|group| group.display().to_string()).collect::<Vec<_>>();
        assert_eq!(names("/a/b"), ["a/b", "a", ""]);
        assert_eq!(names("/"), [""]);
        assert_eq!(names("/../x"), [""]);
    }
}
