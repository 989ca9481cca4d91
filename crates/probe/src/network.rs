//! Network links.

use std::path::Path;

use super::reading::{line, names, number, resolve};

/// Directory of the network interfaces (`Documentation/ABI/testing/sysfs-class-net`).
const INTERFACES: &str = "sys/class/net";

/// Megabits per second in bytes per second.
const MEGABIT: u64 = 125_000;

/// Returns the speed of the fastest network link that is up, in bytes per second; `None` if no link reports a speed.
///
/// Only interfaces of devices and bonds of them count: bridges, tunnels and the interfaces of containers report made-up
/// speeds, and some virtual network cards none.
#[must_use]
pub fn link_bytes_per_second(root: &Path) -> Option<u64> {
    let interfaces = names(root, INTERFACES).ok()?;
    let speeds = interfaces.iter().filter_map(|name| {
        let at = format!("{INTERFACES}/{name}");
        let is_link = ["device", "bonding"].iter().any(|part| resolve(root, &format!("{at}/{part}")).is_ok());
        let is_up = line(root, &format!("{at}/operstate")).is_ok_and(|state| state == "up");
        // Unknown speeds are -1, as signed or unsigned numbers of 32 bits.
        let speed = number::<i64>(root, &format!("{at}/speed")).ok().filter(|speed| (1..1 << 31).contains(speed))?;
        (is_link && is_up).then(|| speed.unsigned_abs() * MEGABIT)
    });
    speeds.max()
}

/// Reports whether a filesystem is on other hosts, by its type: `nfs4`, `ceph`.
#[must_use]
pub fn is_network_filesystem(kind: &str) -> bool {
    const KINDS: [&str; 9] = ["cifs", "smb3", "ceph", "afs", "lustre", "gpfs", "glusterfs", "fuse.glusterfs", "beegfs"];
    kind.starts_with("nfs") || KINDS.contains(&kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A host with interfaces: name, what makes it a link, state, speed.
    fn speed_of(interfaces: &[(&str, &str, &str, &str)]) -> Option<u64> {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("fathom-links-{}-{number}", std::process::id()));
        for (name, part, state, speed) in interfaces {
            let at = root.join(INTERFACES).join(name);
            std::fs::create_dir_all(at.join(part)).unwrap();
            std::fs::write(at.join("operstate"), format!("{state}\n")).unwrap();
            std::fs::write(at.join("speed"), format!("{speed}\n")).unwrap();
        }
        let speed = link_bytes_per_second(&root);
        let _ = std::fs::remove_dir_all(&root);
        speed
    }

    #[test]
    fn the_fastest_link_that_is_up_counts() {
        let links = [
            ("eth0", "device", "up", "10000"),
            ("eth1", "device", "up", "25000"),
            ("eth2", "device", "down", "100000"),
        ];
        assert_eq!(speed_of(&links), Some(3_125_000_000));
        assert_eq!(speed_of(&[("bond0", "bonding", "up", "20000"), links[0]]), Some(2_500_000_000));
    }

    #[test]
    fn made_up_and_unknown_speeds_do_not_count() {
        assert_eq!(speed_of(&[("veth1", "queues", "up", "10000"), ("docker0", "bridge", "up", "10000")]), None);
        for unknown in ["-1", "4294967295", "0", "", "fast", "99999999999999999999"] {
            assert_eq!(speed_of(&[("eth0", "device", "up", unknown)]), None, "{unknown:?}");
        }
        assert_eq!(speed_of(&[]), None);
    }

    #[test]
    fn filesystems_of_other_hosts_are_known_by_type() {
        let on_network = ["nfs", "nfs4", "ceph", "fuse.glusterfs"].map(is_network_filesystem);
        assert_eq!(
            (on_network, ["ext4", "xfs", "fuse.sshfs", "overlay"].map(is_network_filesystem)),
            ([true; 4], [false; 4])
        );
    }
}
