//! A healthy host made of files, for tests to change.

use std::os::unix::fs::symlink;
use std::path::Path;

use crate::common::json::Json;
use crate::common::{Outcome, Scratch, fathom, run};

const DISK: &str = "sys/devices/pci0/nvme/nvme0/nvme0n1";
const CONTROLLER: &str = "sys/devices/pci0/nvme/nvme0";

/// A host with 4 processors and the disk `nvme0n1` (259:0), whose partition `nvme0n1p1` is mounted at `/srv`.
pub(crate) struct Tree(Scratch);

impl Tree {
    pub(crate) fn healthy() -> Self {
        let tree = Self(Scratch::new());
        for (name, text) in QUEUE {
            tree.put(&format!("{DISK}/queue/{name}"), text);
        }
        for (path, text) in HOST {
            tree.put(path, text);
        }
        for cpu in 0..4 {
            tree.put(&format!("{DISK}/mq/{cpu}/cpu_list"), cpu.to_string());
            tree.put(&format!("sys/devices/pci0/msi_irqs/{}", 40 + cpu), "msix");
            tree.put(&format!("proc/irq/{}/effective_affinity_list", 40 + cpu), cpu.to_string());
            tree.put(&format!("sys/devices/system/cpu/cpufreq/policy{cpu}/scaling_governor"), "performance");
        }
        for (file, text) in [("dev", "259:0"), ("size", "2097152"), ("alignment_offset", "0")] {
            tree.put(&format!("{DISK}/{file}"), text);
        }
        for (file, text) in [("dev", "259:1"), ("size", "2095104"), ("partition", "1"), ("start", "2048")] {
            tree.put(&format!("{DISK}/nvme0n1p1/{file}"), text);
        }
        tree.put(&format!("{CONTROLLER}/model"), "Fast SSD 1000");
        tree.put("sys/devices/pci0/numa_node", "0");
        tree.link("sys/bus/pci/drivers/nvme", "sys/devices/pci0/driver");
        tree.link(CONTROLLER, &format!("{DISK}/device"));
        tree.device("nvme0n1", "259:0", DISK);
        tree.device("nvme0n1p1", "259:1", &format!("{DISK}/nvme0n1p1"));
        tree
    }

    /// Registers a directory as a block device.
    pub(crate) fn device(&self, name: &str, number: &str, home: &str) {
        self.link(home, &format!("sys/class/block/{name}"));
        self.link(home, &format!("sys/dev/block/{number}"));
    }

    /// Adds a stacked device or a disk without a queue.
    pub(crate) fn stacked(&self, name: &str, number: &str, files: &[(&str, &str)]) {
        let home = format!("sys/devices/virtual/block/{name}");
        self.put(&format!("{home}/dev"), number);
        self.put(&format!("{home}/size"), "4096");
        files.iter().for_each(|(file, text)| self.put(&format!("{home}/{file}"), text));
        self.device(name, number, &home);
    }

    /// Adds the rotational SATA disk `sda`.
    pub(crate) fn mechanical(&self) {
        self.stacked("sda", "8:0", &[("device/model", "WDC WD40")]);
        for (name, text) in QUEUE {
            self.put(&format!("sys/devices/virtual/block/sda/queue/{name}"), text);
        }
        self.put("sys/devices/virtual/block/sda/queue/rotational", "1");
        self.put("sys/devices/virtual/block/sda/queue/scheduler", "none [mq-deadline]");
        self.put("sys/devices/virtual/block/sda/device/queue_depth", "32");
        self.link("sys/bus/scsi/drivers/sd", "sys/devices/virtual/block/sda/device/driver");
    }

    pub(crate) fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        // `queue/` stands for the queue of the disk.
        let path = path.strip_prefix("queue/").map_or(path.to_owned(), |name| format!("{DISK}/queue/{name}"));
        let place = self.0.path(&path);
        std::fs::create_dir_all(place.parent().expect("it is below the root")).expect("the scratch can be written to");
        std::fs::write(place, content).expect("the scratch can be written to");
    }

    pub(crate) fn remove(&self, path: &str) {
        let place = self.0.path(path);
        let removed = if place.is_dir() { std::fs::remove_dir_all(&place) } else { std::fs::remove_file(&place) };
        removed.unwrap_or_else(|error| panic!("{path}: {error}"));
    }

    /// Creates a relative link, as in `/sys`.
    pub(crate) fn link(&self, target: &str, path: &str) {
        let place = self.0.path(path);
        std::fs::create_dir_all(place.parent().expect("it is below the root")).expect("the scratch can be written to");
        let up = "../".repeat(Path::new(path).components().count() - 1);
        symlink(format!("{up}{target}"), place).expect("the scratch can be written to");
    }

    pub(crate) fn root(&self) -> String {
        self.0.text("")
    }

    /// Runs the doctor on this host.
    pub(crate) fn ask(&self, words: &str) -> Outcome {
        let root = self.root();
        run(&mut fathom(["doctor", "--root", &root].into_iter().chain(words.split_whitespace())))
    }

    /// Returns all findings, of all subjects and the host.
    pub(crate) fn all_findings(&self, words: &str) -> Vec<Json> {
        let document = Json::read(&self.ask(&format!("{words} --format json")).expect_code(0).stdout);
        let of_subjects = document.items("subjects").iter().flat_map(|subject| subject.items("findings").to_vec());
        of_subjects.chain(document.items("host/findings").to_vec()).collect()
    }

    /// Returns the findings of a check.
    pub(crate) fn findings(&self, words: &str, check: &str) -> Vec<Json> {
        self.all_findings(words).into_iter().filter(|finding| finding.text("check") == check).collect()
    }

    /// Returns the states of a check.
    pub(crate) fn states(&self, words: &str, check: &str) -> Vec<String> {
        self.findings(words, check).iter().map(|finding| finding.text("state").to_owned()).collect()
    }
}

const QUEUE: &[(&str, &str)] = &[
    ("scheduler", "[none] mq-deadline bfq"),
    ("nr_requests", "1023"),
    ("read_ahead_kb", "128"),
    ("logical_block_size", "512"),
    ("physical_block_size", "4096"),
    ("optimal_io_size", "0"),
    ("rotational", "0"),
    ("write_cache", "write back"),
    ("fua", "1"),
    ("rq_affinity", "1"),
    ("nomerges", "0"),
    ("max_sectors_kb", "1280"),
    ("max_hw_sectors_kb", "2048"),
    ("discard_max_bytes", "2147450880"),
    ("discard_max_hw_bytes", "2147450880"),
    ("discard_granularity", "512"),
    ("iostats", "1"),
    ("io_poll", "0"),
];

const HOST: &[(&str, &str)] = &[
    ("proc/sys/kernel/osrelease", "6.12.1"),
    ("proc/loadavg", "0.10 0.20 0.30 1/200 4242"),
    ("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1"),
    (
        "proc/self/status",
        "Name:\tfathom\nGid:\t1000\t1000\t1000\t1000\nGroups:\t1000 \nCapEff:\t0000000000000000\nSeccomp:\t0\nCpus_allowed_list:\t0-3",
    ),
    ("proc/self/cgroup", "0::/db.slice/db.service"),
    ("proc/self/mountinfo", MOUNTS),
    ("sys/fs/cgroup/db.slice/db.service/cgroup.procs", "1"),
    ("proc/sys/fs/aio-nr", "0"),
    ("proc/sys/fs/aio-max-nr", "65536"),
    ("proc/sys/kernel/io_uring_disabled", "0"),
    ("proc/sys/kernel/io_uring_group", "-1"),
    ("proc/sys/vm/dirty_background_bytes", "0"),
    ("proc/sys/vm/dirty_bytes", "0"),
    ("proc/sys/vm/dirty_background_ratio", "10"),
    ("proc/sys/vm/dirty_ratio", "20"),
    ("proc/meminfo", "MemTotal:       16384000 kB\n"),
    ("proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n"),
    (
        "proc/interrupts",
        "  CPU0\n 40: 1 PCI-MSIX nvme0q1\n 41: 1 PCI-MSIX nvme0q2\n 42: 1 PCI-MSIX nvme0q3\n 43: 1 PCI-MSIX nvme0q4\n",
    ),
    ("proc/1/comm", "init"),
    ("proc/fs/ext4/nvme0n1p1/options", "rw\nbarrier\nstripe=0\ninit_itable=10"),
    ("sys/devices/system/cpu/online", "0-3"),
    ("sys/devices/system/cpu/cpufreq/policy0/scaling_driver", "acpi-cpufreq"),
    ("sys/devices/system/node/online", "0-1"),
    ("sys/devices/system/node/node0/cpulist", "0-3"),
    ("sys/devices/system/node/node1/cpulist", ""),
];

/// Mounts of the healthy host.
pub(crate) const MOUNTS: &str = "\
21 1 0:20 / /proc rw - proc proc rw
22 1 0:21 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw
30 1 259:1 / /srv rw,noatime shared:1 - ext4 /dev/nvme0n1p1 rw,discard
";
