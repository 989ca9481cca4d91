//! Device stacks: partitions, mappings, RAID, loop devices, filesystems without a device.

use crate::common::flat;
use crate::common::json::Json;
use crate::doctor::tree::{MOUNTS, Tree};

fn stack(tree: &Tree, name: &str) -> String {
    let document = Json::read(&tree.ask(&format!("{name} --format json")).expect_code(0).stdout);
    document.text("subjects/0/stack").to_owned()
}

#[test]
fn a_file_belongs_to_the_nearest_mount() {
    let tree = Tree::healthy();
    let below = "nvme0n1p1 (1023 MiB) on nvme0n1 (Fast SSD 1000, nvme, 1 GiB)";
    assert_eq!(stack(&tree, "/srv/data/x"), format!("ext4 at /srv on {below}"));
    assert_eq!(stack(&tree, "/dev/nvme0n1p1"), format!("ext4 at /srv on {below}"));
    assert_eq!(stack(&tree, "nvme0n1"), "ext4 at /srv on nvme0n1 (Fast SSD 1000, nvme, 1 GiB)");
    assert_eq!(stack(&tree, "/elsewhere"), "the host does not expose the device");
}

#[test]
fn filesystems_without_a_device_are_described() {
    let tree = Tree::healthy();
    let kinds = [
        ("tmpfs", "tmpfs", "rw", "in memory"),
        ("nfs4", "server:/export", "rw", "on another host"),
        ("fuse.sshfs", "me@there:", "rw", "a program or the hypervisor's host"),
        ("zfs", "tank/data", "rw", "zpool status"),
        ("proc", "proc", "rw", "a virtual filesystem of the kernel"),
        ("overlay", "overlay", "rw,lowerdir=/a", "overlay layers that are not visible"),
        ("novelfs", "what", "rw", "does not expose the device"),
    ];
    for (kind, source, options, expected) in kinds {
        tree.put("proc/self/mountinfo", format!("{MOUNTS}40 1 0:50 / /odd rw - {kind} {source} {options}\n"));
        let page = flat(&tree.ask("/odd").expect_code(0).stdout);
        assert!(page.starts_with("ANSWER Cannot tell: most settings of /odd could not be read."), "{kind}: {page}");
        assert!(page.contains(expected), "{kind}: {page}");
    }
}

#[test]
fn an_overlay_is_followed_to_the_filesystem_of_its_upper_directory() {
    let tree = Tree::healthy();
    let overlay = "40 1 0:50 / /merged rw - overlay overlay rw,lowerdir=/srv/a,upperdir=/srv/b,workdir=/srv/c\n";
    tree.put("proc/self/mountinfo", format!("{MOUNTS}{overlay}"));
    assert!(stack(&tree, "/merged").starts_with("overlay at /merged on nvme0n1p1 "));
}

#[test]
fn btrfs_is_followed_to_all_of_its_devices() {
    let tree = Tree::healthy();
    tree.mechanical();
    tree.put("proc/self/mountinfo", format!("{MOUNTS}40 1 0:50 /sub /pool rw,relatime - btrfs /dev/sda rw\n"));
    tree.put("sys/fs/btrfs/0123-ab/devices/sda", "");
    tree.put("sys/fs/btrfs/0123-ab/devices/nvme0n1", "");
    tree.put("sys/fs/btrfs/features/x", "");
    let stack = stack(&tree, "/pool/x");
    assert!(stack.starts_with("btrfs at /pool on sda ") && stack.contains("nvme0n1"), "{stack}");
}

#[test]
fn mappings_and_raid_are_followed_down() {
    let tree = Tree::healthy();
    tree.mechanical();
    tree.stacked(
        "md0",
        "9:0",
        &[("md/level", "raid5"), ("md/degraded", "0"), ("slaves/sda", ""), ("slaves/nvme0n1", "")],
    );
    tree.stacked("dm-0", "252:0", &[("dm/name", "data-my--vol"), ("dm/uuid", "LVM-abc"), ("slaves/md0", "")]);
    tree.put("proc/self/mountinfo", format!("{MOUNTS}40 1 252:0 / /data rw,relatime - xfs /dev/mapper/data rw\n"));
    let expected = "xfs at /data on dm-0 (LVM, data-my--vol, 2 MiB) on md0 (raid5, 2 MiB) on nvme0n1 ";
    for name in ["/data", "dm-0", "/dev/mapper/data-my--vol", "/dev/data/my-vol"] {
        let stack = stack(&tree, name);
        assert!(stack.starts_with(expected) && stack.contains("sda"), "{name}: {stack}");
    }
    assert_eq!(tree.states("/data", "raid"), ["good"]);
    tree.put("sys/devices/virtual/block/md0/md/degraded", "1");
    assert_eq!(tree.states("/data", "raid"), ["problem"]);
}

#[test]
fn loop_devices_are_followed_to_the_disk_of_their_file() {
    let tree = Tree::healthy();
    let files = [("loop/backing_file", "/srv/image"), ("loop/dio", "0"), ("loop/offset", "0")];
    tree.stacked("loop7", "7:7", &files);
    assert!(stack(&tree, "loop7").starts_with("loop7 (/srv/image, 2 MiB) on nvme0n1p1 "));
    assert_eq!(tree.states("loop7", "loop-direct"), ["could_be_better"]);
    tree.put("sys/devices/virtual/block/loop7/loop/dio", "1");
    assert_eq!(tree.states("loop7", "loop-direct"), ["good"]);
    let alignment = |offset: &str| {
        tree.put("sys/devices/virtual/block/loop7/loop/offset", offset);
        tree.states("loop7", "alignment").contains(&"problem".to_owned())
    };
    assert!(alignment("512"));
    assert!(!alignment("1048576"));
}

/// The kernel keeps unused loop devices, and reports them as rotational.
#[test]
fn a_loop_device_without_a_file_is_refused() {
    let tree = Tree::healthy();
    tree.stacked("loop6", "7:6", &[("queue/rotational", "1")]);
    let outcome = tree.ask("loop6").expect_code(2);
    assert!(outcome.stderr.contains("has no backing file"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("did you mean"), "{}", outcome.stderr);
}

#[test]
fn cyclic_stacks_end() {
    let tree = Tree::healthy();
    tree.stacked("dm-1", "252:1", &[("dm/name", "a"), ("slaves/dm-2", "")]);
    tree.stacked("dm-2", "252:2", &[("dm/name", "b"), ("slaves/dm-1", "")]);
    assert!(stack(&tree, "dm-1").contains("dm-2"));
    tree.stacked("loop8", "7:8", &[("loop/backing_file", "/round/image"), ("loop/dio", "1"), ("loop/offset", "0")]);
    tree.put("proc/self/mountinfo", format!("{MOUNTS}40 1 7:8 / /round rw,relatime - ext4 /dev/loop8 rw\n"));
    assert!(stack(&tree, "loop8").contains("loop8"));
}

#[test]
fn several_names_are_reported_in_order() {
    let tree = Tree::healthy();
    tree.mechanical();
    let page = tree.ask("nvme0n1 sda /srv").expect_code(0).stdout;
    let answer = "ANSWER 3 settings of nvme0n1, sda and /srv cost performance: rotational flag (sda, IOPS only), read-ahead \
                  (nvme0n1 and sda, throughput only).";
    assert!(flat(&page).starts_with(answer), "{page}");
    let page = tree.ask("nvme0n1 sda /srv --details").expect_code(0).stdout;
    let (_, tallies) = page.split_once("\n\n").expect("the answer is a paragraph");
    let heads: Vec<&str> = tallies.lines().filter(|line| !line.starts_with(' ')).take(4).collect();
    let starts = ["nvme0n1: ", "sda: ", "/srv: ", "this host: "];
    assert!(heads.iter().zip(starts).all(|(head, start)| head.starts_with(start)), "{page}");
    assert_eq!(
        page.matches("\nread-ahead, nvme0n1").count(),
        1,
        "findings of a shared device are reported once:\n{page}"
    );
}
