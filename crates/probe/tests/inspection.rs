//! Probes on a host made of files, and on loop devices with real data.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::loops::{Loop, skip};
use crate::scratch::Scratch;
use probe::{Occupant, SignatureClass};

/// Creates a host with the disk `sda` (8:0), its partitions `sda1` and `sda2`, and `dm-0` (252:0) stacked on `sda2`.
fn host(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    let files = [
        ("sys/devices/sda/size", "2097152"),
        ("sys/devices/sda/dev", "8:0"),
        ("sys/devices/sda/ro", "0"),
        ("sys/devices/sda/stat", "  10 1 80 5 20 2 160 6 0 7 11 0 0 0 0"),
        ("sys/devices/sda/queue/logical_block_size", "4096"),
        ("sys/devices/sda/queue/physical_block_size", "4096"),
        ("sys/devices/sda/queue/rotational", "1"),
        ("sys/devices/sda/queue/scheduler", "none [mq-deadline] kyber"),
        ("sys/devices/sda/device/model", "PERSISTENT-DISK "),
        ("sys/devices/sda/sda1/partition", "1"),
        ("sys/devices/sda/sda1/dev", "8:1"),
        ("sys/devices/sda/sda1/size", "2048"),
        ("sys/devices/sda/sda2/partition", "2"),
        ("sys/devices/sda/sda2/dev", "8:2"),
        ("sys/devices/sda/sda2/size", "4096"),
        ("sys/devices/sda/sda2/holders/dm-0", ""),
        ("sys/devices/dm-0/dev", "252:0"),
        ("sys/devices/dm-0/size", "4096"),
        ("sys/devices/dm-0/slaves/sda2", ""),
        ("proc/sys/kernel/hostname", "bench-1"),
        ("proc/sys/kernel/osrelease", "6.1.0-test"),
        ("proc/meminfo", "MemTotal:       2048 kB\nMemFree:        1024 kB\n"),
        ("proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n/dev/sda1 partition 8 0 -2\n"),
        ("proc/self/mountinfo", "30 1 252:0 / /srv/my\\040data rw - xfs /dev/mapper/data rw\n"),
    ];
    for (path, text) in files {
        let path = scratch.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let places =
        [("8:0", "sda", "sda"), ("8:1", "sda1", "sda/sda1"), ("8:2", "sda2", "sda/sda2"), ("252:0", "dm-0", "dm-0")];
    for (number, name, place) in places {
        link(&scratch.path(&format!("sys/devices/{place}")), &scratch.path(&format!("sys/dev/block/{number}")));
        link(&scratch.path(&format!("sys/devices/{place}")), &scratch.path(&format!("sys/class/block/{name}")));
    }
    scratch
}

fn link(to: &Path, at: &Path) {
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    symlink(to, at).unwrap();
}

#[test]
fn properties_of_a_disk_are_read() {
    let scratch = host("disk");
    let root = scratch.path("");
    let disk = probe::device(&root, (8, 0)).unwrap();
    assert_eq!((disk.relations.name.as_str(), disk.bytes), ("sda", 1 << 30));
    assert_eq!(disk.model.as_deref(), Some("PERSISTENT-DISK"));
    assert!(!disk.read_only && disk.relations.disk.is_none());
    assert_eq!(disk.relations.partitions, ["sda1", "sda2"]);
    let queue = probe::queue(&root, "sda");
    assert_eq!((queue.rotational, queue.logical_block_bytes), (Ok(true), Ok(4096)));
    assert_eq!(queue.scheduler.unwrap().0, "mq-deadline");
    let part = probe::device(&root, (8, 2)).unwrap();
    assert_eq!((part.relations.name.as_str(), part.relations.disk.as_deref()), ("sda2", Some("sda")));
    let of_part = probe::queue(&root, part.relations.disk.as_deref().unwrap());
    assert_eq!(of_part.logical_block_bytes, Ok(4096), "a partition has the blocks of its disk");
    assert_eq!((part.model, part.relations.holders), (disk.model, vec!["dm-0".to_owned()]));
    assert_eq!(probe::device(&root, (9, 9)), None);
}

#[test]
fn properties_of_the_host_are_read() {
    let host = probe::host(&host("name").path(""));
    assert_eq!((host.name.as_str(), host.kernel.as_str()), ("bench-1", "6.1.0-test"));
    assert_eq!(host.memory_bytes, 2 << 20);
}

#[test]
fn counters_are_read_and_subtracted() {
    let scratch = host("counters");
    let root = scratch.path("");
    let before = probe::counters(&root, (8, 0)).unwrap();
    assert_eq!((before.read.requests, before.read.sectors, before.write.merges), (10, 80, 2));
    assert_eq!((before.busy_ms, before.weighted_ms), (7, 11));
    fs::write(scratch.path("sys/devices/sda/stat"), "15 1 80 5 20 2 200 6 0 9 11").unwrap();
    let grown = probe::counters(&root, (8, 0)).unwrap().since(&before).unwrap();
    assert_eq!((grown.read.requests, grown.write.sectors, grown.busy_ms), (5, 40, 2));
    fs::write(scratch.path("sys/devices/sda/stat"), "15 1").unwrap();
    assert_eq!(probe::counters(&root, (8, 0)), None);
}

#[test]
fn a_partition_is_counted_with_its_disk() {
    let scratch = host("stack");
    let stacked = probe::disk(&scratch.path(""), (252, 0)).unwrap();
    assert_eq!((stacked.name.as_str(), stacked.number), ("dm-0", (252, 0)));
    let whole = probe::ProbedDisk { name: "sda".into(), number: (8, 0) };
    assert_eq!(probe::disk(&scratch.path(""), (8, 1)), Some(whole.clone()));
    // The device below the stacked one counts as that disk, too.
    let below = probe::relations(&scratch.path(""), (252, 0)).unwrap().slaves;
    let disks: Vec<_> = below
        .iter()
        .filter_map(|name| probe::number_named(&scratch.path(""), name))
        .filter_map(|number| probe::disk(&scratch.path(""), number))
        .collect();
    assert_eq!(disks, [whole]);
}

#[test]
fn the_disk_of_this_directory_has_counters() {
    let (root, here) = (Path::new("/"), Path::new(env!("CARGO_MANIFEST_DIR")));
    let Some(disk) = probe::disk_under(root, here) else {
        skip::<()>("this directory is on no disk");
        return;
    };
    assert!(probe::relations(root, disk.number).is_some_and(|device| device.disk.is_none()));
    assert!(probe::counters(root, disk.number).is_some_and(|counters| counters.read.requests > 0));
}

#[test]
fn mount_points_with_blanks_are_decoded() {
    let mounts = probe::mounts(&host("mounts").path(""));
    assert_eq!(mounts.len(), 1);
    assert_eq!((mounts[0].at.to_str(), mounts[0].filesystem.as_str()), (Some("/srv/my data"), "xfs"));
}

/// Returns the signatures in the bytes of a device.
fn data(path: &Path) -> Vec<(&'static str, SignatureClass)> {
    let mut device = fs::File::open(path).unwrap();
    let bytes = std::io::Seek::seek(&mut device, std::io::SeekFrom::End(0)).unwrap();
    let found = probe::examine(&mut device, bytes).unwrap();
    found.signatures.iter().map(|signature| (signature.name, signature.class)).collect()
}

/// Runs a program such as `mkfs` on a new loop device and returns the signatures found there afterwards.
fn found_after(name: &str, program: &str, arguments: &[&str]) -> Option<Vec<(&'static str, SignatureClass)>> {
    let scratch = Scratch::new(name);
    let device = Loop::over(&scratch.file("image", 64 << 20))?;
    assert_eq!(data(device.path()), []);
    match Command::new(program).args(arguments).arg(device.path()).output() {
        Ok(output) => assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => return skip(&format!("{program}: {error}")),
    }
    Some(data(device.path()))
}

#[test]
fn real_filesystems_are_found() {
    if let Some(found) = found_after("mkfs", "mkfs.ext4", &["-q", "-F"]) {
        assert_eq!(found, [("ext4", SignatureClass::Filesystem)]);
    }
    if let Some(found) = found_after("mkswap", "mkswap", &[]) {
        assert_eq!(found, [("swap", SignatureClass::Swap)]);
    }
}

#[test]
fn users_of_partitions_count_for_the_disk() {
    let scratch = host("users");
    let users = probe::users(&scratch.path(""), (8, 0));
    let expected = [
        Occupant::Partition("sda1".into()),
        Occupant::Partition("sda2".into()),
        Occupant::Swap { device: "sda1".into() },
        Occupant::Holder { device: "sda2".into(), holder: "dm-0".into() },
    ];
    assert_eq!(users, expected);
    let mounted = Occupant::Mount { device: "dm-0".into(), at: "/srv/my data".into() };
    assert_eq!(probe::users(&scratch.path(""), (252, 0)), [mounted]);
    assert_eq!(probe::users(&scratch.path(""), (9, 9)), []);
}

#[test]
fn the_disk_under_this_directory_is_mounted() {
    let (root, here) = (Path::new("/"), Path::new(env!("CARGO_MANIFEST_DIR")));
    let Some(disk) = probe::disk_under(root, here) else {
        skip::<()>("this directory is on no disk");
        return;
    };
    let users = probe::users(root, disk.number);
    assert!(users.iter().any(|user| matches!(user, Occupant::Mount { .. } | Occupant::Holder { .. })), "{users:?}");
}

#[test]
fn serial_numbers_are_read_from_every_kind_of_device() {
    let scratch = Scratch::new("identity");
    let write = |path: &str, bytes: &[u8]| {
        let path = scratch.path("sys/class/block").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    write("nvme0n1/device/serial", b"S4EV  \n");
    write("nvme0n1/device/firmware_rev", b"2B2Q\n");
    write("nvme0n1/wwid", b"eui.0025\n");
    write("vda/serial", b"disk-7");
    // Ten bytes long: the length is a line feed.
    write("sda/device/vpd_pg80", b"\0\x80\0\x0a  WD-12345");
    write("sda/device/rev", b"0001");
    write("dm-0/dm/uuid", b"LVM-abc");
    write("sdb/device/vpd_pg80", b"\0\x80\0\0");
    write("sdb/device/wwid", b"naa.5000");
    write("vdb/serial", b"");
    let of = |name: &str| {
        let probe::DeviceIdentity { serial, firmware } = probe::identity(&scratch.path(""), name);
        (serial.unwrap_or_default(), firmware.unwrap_or_default())
    };
    let expected = [
        ("nvme0n1", "S4EV", "2B2Q"),
        ("vda", "disk-7", ""),
        ("sda", "WD-12345", "0001"),
        ("dm-0", "LVM-abc", ""),
        ("sdb", "naa.5000", ""),
        ("vdb", "", ""),
        ("none", "", ""),
    ];
    for (name, serial, firmware) in expected {
        assert_eq!(of(name), (serial.to_owned(), firmware.to_owned()), "{name}");
    }
}
