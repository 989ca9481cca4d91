//! Each rule with the smallest change to a healthy host that triggers it, and with a near miss that does not.

use std::path::Path;

use crate::doctor::tree::{MOUNTS, Tree};

/// Files and their new content.
type Changes = &'static [(&'static str, &'static str)];

/// A check, the expected state, the changes that cause it, and a near miss.
type Case = (&'static str, &'static str, Changes, Changes);

/// Returns the worst state of each check on a host with these changes.
fn states<'a>(purpose: &str, of_checks: impl Iterator<Item = (&'a str, Changes)>) -> Vec<&'static str> {
    let tree = Tree::healthy();
    let put = |(check, changes): (&'a str, Changes)| {
        changes.iter().for_each(|(path, text)| tree.put(path, text));
        check
    };
    let checks: Vec<&str> = of_checks.map(put).collect();
    let findings = tree.all_findings(&format!("/srv --for {purpose}"));
    let worst = |check: &&str| {
        let found =
            |state: &&str| findings.iter().any(|one| one.text("check") == *check && one.text("state") == *state);
        ["problem", "could_be_better", "unknown", "good"].into_iter().find(found).unwrap_or("none")
    };
    checks.iter().map(worst).collect()
}

/// Reports whether two cases are about different checks and files.
fn are_apart(a: &Case, b: &Case) -> bool {
    let files = |case: &Case| case.2.iter().chain(case.3).map(|(path, _)| *path).collect::<Vec<_>>();
    a.0 != b.0 && !files(a).iter().any(|path| files(b).contains(path))
}

/// Checks cases, those about different checks and files on one host.
#[track_caller]
fn check_cases(purpose: &str, cases: &[Case]) {
    let mut left: Vec<&Case> = cases.iter().collect();
    while !left.is_empty() {
        let mut together: Vec<&Case> = Vec::new();
        left.retain(|case| {
            let is_apart = together.iter().all(|other| are_apart(case, other));
            if is_apart {
                together.push(case);
            }
            !is_apart
        });
        let found = states(purpose, together.iter().map(|case| (case.0, case.2)));
        let near = states(purpose, together.iter().map(|case| (case.0, case.3)));
        for ((check, expected, changes, near_miss), (found, near)) in together.into_iter().zip(found.iter().zip(near)) {
            assert_eq!(found, expected, "{check} for {purpose} with {changes:?}");
            assert!(["good", "none"].contains(&near), "{check} for {purpose} is {near} with {near_miss:?}");
        }
    }
}

const PROBLEM: &str = "problem";
const BETTER: &str = "could_be_better";

#[test]
fn queue_rules() {
    check_cases(
        "iops",
        &[
            (
                "scheduler",
                BETTER,
                &[("queue/scheduler", "none [mq-deadline]")],
                &[("queue/scheduler", "[noop] deadline")],
            ),
            ("scheduler", PROBLEM, &[("queue/scheduler", "none [bfq]")], &[("queue/scheduler", "none")]),
            ("nr-requests", PROBLEM, &[("queue/nr_requests", "7")], &[("queue/nr_requests", "32")]),
            ("nr-requests", BETTER, &[("queue/nr_requests", "31")], &[("queue/nr_requests", "32")]),
            ("rotational", BETTER, &[("queue/rotational", "1")], &[("queue/rotational", "0")]),
            ("iostats", BETTER, &[("queue/iostats", "0")], &[("queue/iostats", "1")]),
            ("rq-affinity", BETTER, &[("queue/rq_affinity", "0")], &[("queue/rq_affinity", "2")]),
            ("block-size", BETTER, &[("queue/physical_block_size", "16384")], &[("queue/physical_block_size", "4096")]),
            ("read-ahead", BETTER, &[("queue/read_ahead_kb", "129")], &[("queue/read_ahead_kb", "128")]),
            ("discard-support", BETTER, &[("queue/discard_max_bytes", "0")], &[("queue/discard_max_bytes", "4096")]),
        ],
    );
    check_cases(
        "throughput",
        &[
            ("scheduler", BETTER, &[("queue/scheduler", "none [bfq]")], &[("queue/scheduler", "none [mq-deadline]")]),
            ("max-request", BETTER, &[("queue/max_sectors_kb", "512")], &[("queue/max_sectors_kb", "1024")]),
            (
                "max-request",
                PROBLEM,
                &[("queue/max_sectors_kb", "64")],
                &[("queue/max_sectors_kb", "64"), ("queue/max_hw_sectors_kb", "64")],
            ),
            ("merges", BETTER, &[("queue/nomerges", "2")], &[("queue/nomerges", "0")]),
            ("read-ahead", BETTER, &[("queue/read_ahead_kb", "1023")], &[("queue/read_ahead_kb", "1024")]),
        ],
    );
}

#[test]
fn rules_of_queues_per_processor() {
    let tree = Tree::healthy();
    tree.put("sys/devices/system/cpu/online", "0-7");
    let state = |check: &str| tree.states("/srv --for iops", check);
    assert_eq!(state("hardware-queues"), ["good"], "four queues for eight processors");
    assert_eq!(state("queue-spread"), [BETTER], "four processors have no queue");
    tree.put("sys/devices/pci0/nvme/nvme0/nvme0n1/mq/3/cpu_list", "3, 4, 5, 6, 7");
    assert_eq!(state("queue-spread"), [BETTER], "one queue serves five of eight");
    for queue in 0..4 {
        tree.put(
            &format!("sys/devices/pci0/nvme/nvme0/nvme0n1/mq/{queue}/cpu_list"),
            format!("{queue}, {}", queue + 4),
        );
    }
    assert_eq!(state("queue-spread"), ["good"]);
    for queue in 1..4 {
        tree.remove(&format!("sys/devices/pci0/nvme/nvme0/nvme0n1/mq/{queue}"));
    }
    assert_eq!(state("hardware-queues"), [PROBLEM], "one queue for eight processors");
    assert_eq!(state("rq-affinity"), [BETTER], "only 2 spreads what one queue brings");
    tree.put("queue/rq_affinity", "2");
    assert_eq!(state("rq-affinity"), ["good"]);
    tree.put("sys/devices/system/cpu/online", "0");
    assert_eq!(state("hardware-queues"), ["good"], "one queue for one processor");
}

#[test]
fn interrupts_on_one_processor() {
    let tree = Tree::healthy();
    let to = |cpus: [&str; 4]| {
        for (index, cpu) in cpus.iter().enumerate() {
            tree.put(&format!("proc/irq/{}/effective_affinity_list", 40 + index), cpu);
        }
        tree.states("/srv --for iops", "interrupt-spread")
    };
    assert_eq!(to(["2", "2", "2", "2"]), [PROBLEM]);
    assert_eq!(to(["2", "2", "1", "1"]), [BETTER]);
    assert_eq!(to(["2", "2", "1", "0"]), ["good"]);
    // The interrupt of the admin queue does not count.
    tree.put(
        "proc/interrupts",
        " 40: 1 PCI nvme0q0\n 41: 1 PCI nvme0q1\n 42: 1 PCI virtio0-config\n 43: 1 PCI nvme0q3\n",
    );
    assert_eq!(to(["1", "2", "1", "2"]), [PROBLEM]);
    assert_eq!(to(["1", "2", "2", "1"]), ["good"]);
    // Interrupts of a SCSI controller can be moved, all by one command.
    tree.remove("sys/devices/pci0/driver");
    tree.link("sys/bus/pci/drivers/mpt3sas", "sys/devices/pci0/driver");
    tree.stacked("sdb", "8:16", &[]);
    tree.link("sys/devices/pci0/nvme", "sys/devices/virtual/block/sdb/device");
    to(["2", "2", "2", "2"]);
    let finding = &tree.findings("sdb --for iops", "interrupt-spread")[0];
    let command = "set -- 0 1; for irq in 41 43; do echo $1 | sudo tee /proc/irq/$irq/smp_affinity_list; shift; done";
    assert_eq!(finding.text("commands/0/now"), command);
}

#[test]
fn a_device_on_another_numa_node() {
    let tree = Tree::healthy();
    let on = |node: &str, cpus: &str| {
        tree.put("sys/devices/pci0/numa_node", node);
        tree.put("sys/devices/system/node/node0/cpulist", "0-1");
        tree.put("sys/devices/system/node/node1/cpulist", "2-3");
        tree.put("proc/self/status", format!("Cpus_allowed_list:\t{cpus}\n"));
        tree.states("/srv --for iops", "numa-node")
    };
    assert_eq!(on("1", "0-1"), [BETTER]);
    assert_eq!(on("1", "1-2"), ["good"]);
    assert_eq!(on("-1", "0"), ["unknown"]);
    tree.put("sys/devices/system/node/online", "0");
    assert_eq!(on("1", "0-1"), [""; 0], "one node is no choice");
}

#[test]
fn filesystem_rules() {
    let mounted = |options: &str, more: &str| {
        let tree = Tree::healthy();
        let line = MOUNTS.replace("rw,noatime", options).replace("rw,discard", more);
        tree.put("proc/self/mountinfo", line);
        tree
    };
    let cases = [
        ("access-times", BETTER, "rw", "rw,discard", "rw,relatime", "rw,discard"),
        ("synchronous", PROBLEM, "rw,sync,noatime", "rw", "rw,dirsync", "rw"),
        ("barriers", BETTER, "rw,noatime", "rw,nobarrier", "rw,noatime", "rw,barrier=1"),
        ("barriers", BETTER, "rw,noatime", "rw,barrier=0", "rw,noatime", "rw"),
        ("discard", BETTER, "rw,noatime", "rw", "rw,noatime", "rw,discard=async"),
    ];
    for (check, expected, options, more, near_options, near_more) in cases {
        assert_eq!(mounted(options, more).states("/srv", check), [expected], "{check}: {options} {more}");
        assert_eq!(mounted(near_options, near_more).states("/srv", check), ["good"], "{check}: {near_options}");
    }
    let journal = mounted("rw,noatime", "rw,data=journal");
    assert_eq!(journal.states("/srv --for throughput", "synchronous"), [PROBLEM]);
    assert_eq!(journal.states("/srv --for iops", "synchronous"), [BETTER]);
    assert_eq!(mounted("rw,noatime", "rw,data=ordered").states("/srv", "synchronous"), ["good"]);
    // A read-only filesystem writes no access times.
    assert_eq!(mounted("ro", "ro").states("/srv", "access-times"), [""; 0]);
    // A timer trims as well as a mount option.
    let trimmed = mounted("rw,noatime", "rw");
    trimmed.link("lib/fstrim.timer", "etc/systemd/system/timers.target.wants/fstrim.timer");
    assert_eq!(trimmed.states("/srv", "discard"), ["good"]);
    trimmed.put("queue/discard_max_bytes", "0");
    assert_eq!(trimmed.states("/srv", "discard"), [""; 0], "a device without discard needs none");
}

#[test]
fn running_lazy_initialisation() {
    let tree = Tree::healthy();
    tree.put("proc/77/comm", "ext4lazyinit-not");
    assert_eq!(tree.states("/srv", "lazy-init"), ["good"]);
    tree.put("proc/77/comm", "ext4lazyinit\n");
    assert_eq!(tree.states("/srv", "lazy-init"), [BETTER]);
    tree.put("proc/fs/ext4/nvme0n1p1/options", "rw\nnoinit_itable\n");
    assert_eq!(tree.states("/srv", "lazy-init"), ["good"], "another filesystem is being initialised");
    tree.put("proc/self/mountinfo", MOUNTS.replace("ext4", "xfs"));
    assert_eq!(tree.states("/srv", "lazy-init"), [""; 0]);
}

#[test]
fn misaligned_partitions_and_stripes() {
    let tree = Tree::healthy();
    let start = "sys/devices/pci0/nvme/nvme0/nvme0n1/nvme0n1p1/start";
    let partition = |tree: &Tree| {
        tree.findings("/srv", "alignment").into_iter().find(|of| of.text("about") == "nvme0n1p1").unwrap()
    };
    tree.put(start, "63");
    let found = partition(&tree);
    assert_eq!(found.text("state"), PROBLEM);
    assert_eq!(found.text("commands/0/now"), "echo '2048,' | sudo sfdisk --move-data /dev/nvme0n1 -N 1");
    tree.put(start, "64");
    assert_eq!(partition(&tree).text("state"), "good");
    // A stripe of 384 KiB, and a bogus value of USB bridges.
    tree.put("queue/optimal_io_size", "393216");
    assert_eq!(partition(&tree).text("state"), BETTER);
    assert_eq!(tree.states("/srv --for throughput", "stripe"), [BETTER]);
    tree.put("proc/fs/ext4/nvme0n1p1/options", "rw\nstripe=96\n");
    assert_eq!(tree.states("/srv --for throughput", "stripe"), ["good"]);
    tree.put("queue/optimal_io_size", "33553920");
    assert_eq!(partition(&tree).text("state"), "good");
    assert_eq!(tree.states("/srv", "stripe"), [""; 0]);
    tree.put("sys/devices/pci0/nvme/nvme0/nvme0n1/alignment_offset", "-1");
    assert!(tree.states("/srv", "alignment").contains(&PROBLEM.to_owned()));
}

#[test]
fn host_rules() {
    const STATUS: &str = "Gid:\t7\nGroups:\t1000 \nCapEff:\t0000000000000000\nCpus_allowed_list:\t0-3\n";
    const ADMIN: &str = "Gid:\t7\nGroups:\t1000 \nCapEff:\t0000000000200000\nCpus_allowed_list:\t0-3\n";
    const STARVED: &str = "some avg10=90.00 avg60=60.00 avg300=1.00 total=1";
    check_cases(
        "iops",
        &[
            (
                "kernel",
                PROBLEM,
                &[("proc/sys/kernel/osrelease", "4.19.0-27-amd64")],
                &[("proc/sys/kernel/osrelease", "5.11")],
            ),
            ("kernel", BETTER, &[("proc/sys/kernel/osrelease", "5.4.0")], &[("proc/sys/kernel/osrelease", "10.0")]),
            ("free-cpus", BETTER, &[("proc/loadavg", "2.1 0 0 1/2 3")], &[("proc/loadavg", "2.0 0 0 1/2 3")]),
            (
                "free-cpus",
                PROBLEM,
                &[("proc/loadavg", "9.0 0 0 1/2 3"), ("proc/pressure/cpu", STARVED)],
                &[("proc/loadavg", "1.0 0 0 1/2 3"), ("proc/pressure/cpu", STARVED)],
            ),
            ("libaio", PROBLEM, &[("proc/sys/fs/aio-nr", "65000")], &[("proc/sys/fs/aio-nr", "49152")]),
            ("libaio", BETTER, &[("proc/sys/fs/aio-nr", "49153")], &[("proc/sys/fs/aio-nr", "0")]),
            (
                "io-uring",
                PROBLEM,
                &[("proc/sys/kernel/io_uring_disabled", "1"), ("proc/self/status", STATUS)],
                &[("proc/sys/kernel/io_uring_disabled", "1"), ("proc/self/status", ADMIN)],
            ),
            (
                "io-uring",
                PROBLEM,
                &[("proc/sys/kernel/io_uring_disabled", "2"), ("proc/self/status", ADMIN)],
                &[("proc/sys/kernel/io_uring_disabled", "1"), ("proc/sys/kernel/io_uring_group", "1000")],
            ),
            (
                "dirty-pages",
                BETTER,
                &[("proc/meminfo", "MemTotal: 67108864 kB")],
                &[("proc/meminfo", "MemTotal: 67108864 kB"), ("proc/sys/vm/dirty_background_bytes", "268435456")],
            ),
            (
                "swap",
                BETTER,
                &[("proc/swaps", "Filename\n/dev/sda2 partition 8388604 1024 -2\n")],
                &[("proc/swaps", "Filename\n/dev/sda2 partition 8388604 0 -2\n")],
            ),
            (
                "governor",
                PROBLEM,
                &[("sys/devices/system/cpu/cpufreq/policy2/scaling_governor", "powersave")],
                &[("sys/devices/system/cpu/cpufreq/policy2/scaling_governor", "performance")],
            ),
            (
                "governor",
                BETTER,
                &[
                    ("sys/devices/system/cpu/cpufreq/policy2/scaling_governor", "powersave"),
                    ("sys/devices/system/cpu/cpufreq/policy0/scaling_driver", "intel_pstate"),
                ],
                &[],
            ),
        ],
    );
    check_cases(
        "throughput",
        &[(
            "dirty-pages",
            BETTER,
            &[("proc/sys/vm/dirty_bytes", "33554432")],
            &[("proc/sys/vm/dirty_bytes", "67108864")],
        )],
    );
}

#[test]
fn a_kernel_without_the_switch_allows_io_uring() {
    let tree = Tree::healthy();
    tree.remove("proc/sys/kernel/io_uring_disabled");
    assert_eq!(tree.findings("/srv", "io-uring")[0].text("case"), "unrestricted");
    tree.put("proc/self/status", "Seccomp:\t2\nCpus_allowed_list:\t0-3\n");
    assert_eq!(tree.findings("/srv", "io-uring")[0].text("case"), "filtered");
    tree.put("proc/sys/kernel/osrelease", "4.4.0");
    assert_eq!(tree.states("/srv", "io-uring"), ["unknown"]);
}

#[test]
fn the_providers_processor_rule_applies_only_to_its_disks() {
    let tree = Tree::healthy();
    assert_eq!(tree.findings("/srv", "free-cpus")[0].text("found_text"), "3.9 free of 4");
    tree.put("sys/devices/pci0/nvme/nvme0/model", "nvme_card-pd");
    tree.put("proc/loadavg", "0.00 0.00 0.00 1/2 3");
    let found = &tree.findings("/srv", "free-cpus")[0];
    assert_eq!(found.text("found_text"), "4 free of 4, random reads 8.00k/s, random writes 10.0k/s");
    assert_eq!(found.text("case"), "rule_of_thumb");
}

/// Returns the throttles below a path on the disk of a tree, as a run records them.
fn throttles(tree: &Tree, path: &str) -> Vec<String> {
    let found = device::doctor_facts::throttles(Path::new(&tree.root()), Path::new(path));
    let line = |throttle: &record::Throttle| {
        assert_eq!(throttle.device, "nvme0n1");
        let file = throttle.file.trim_start_matches("/sys/fs/cgroup/");
        format!("{} {} of {file}", throttle.key, throttle.value)
    };
    found.iter().map(line).collect()
}

#[test]
fn limits_of_all_parent_cgroups() {
    let own = "sys/fs/cgroup/db.slice/db.service/io.max";
    let tree = Tree::healthy();
    tree.put(own, "8:0 rbps=max wbps=max riops=100 wiops=max\n259:0 rbps=max wbps=max riops=max wiops=max\n");
    assert_eq!(tree.states("/srv", "cgroup-limits"), ["good"], "another device, and no limit");
    tree.put("sys/fs/cgroup/db.slice/io.max", "259:0 rbps=1048576 wbps=max riops=24000 wiops=max\n");
    let found = &tree.findings("/srv", "cgroup-limits")[0];
    assert_eq!((found.text("state"), found.text("about")), (PROBLEM, "nvme0n1"));
    assert_eq!(found.text("found_text"), "riops 24.0k/s, rbps 1 MiB/s");
    let lift = "echo '259:0 rbps=max riops=max' | sudo tee /sys/fs/cgroup/db.slice/io.max";
    assert_eq!(found.text("commands/0/now"), lift);
    assert_eq!(
        found.text("commands/0/always"),
        "sudo systemctl set-property db.slice IOReadBandwidthMax= IOReadIOPSMax="
    );
    // A run records the same limits, the strictest of all groups.
    tree.put(own, "259:0 rbps=max wbps=max riops=max wiops=700\n259:0 riops=30000\n");
    assert_eq!(
        throttles(&tree, "/srv"),
        [
            "riops 24000 of db.slice/io.max",
            "wiops 700 of db.slice/db.service/io.max",
            "rbps 1048576 of db.slice/io.max"
        ]
    );
    tree.remove(own);
    tree.remove("sys/fs/cgroup/db.slice/io.max");
    tree.put("sys/fs/cgroup/db.slice/db.service/io.weight", "default 100\n");
    tree.put("sys/fs/cgroup/db.slice/db.service/io.latency", "259:0 target=5000\n");
    assert_eq!(tree.states("/srv", "cgroup-limits"), ["good"]);
    tree.put("sys/fs/cgroup/db.slice/db.service/io.weight", "default 10\n");
    assert_eq!(tree.states("/srv", "cgroup-limits"), [BETTER]);
}

#[test]
fn limits_of_cgroup_v1() {
    let tree = Tree::healthy();
    let line = "25 1 0:24 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n";
    tree.put("proc/self/mountinfo", format!("{line}{MOUNTS}"));
    tree.put("proc/self/cgroup", "7:blkio:/batch\n3:cpu:/x\n");
    let file = "sys/fs/cgroup/blkio/batch/blkio.throttle.write_iops_device";
    tree.put(file, "8:0 50\n");
    assert_eq!(tree.states("/srv", "cgroup-limits"), ["good"]);
    tree.put(file, "259:0 500\n");
    let found = &tree.findings("/srv", "cgroup-limits")[0];
    assert_eq!((found.text("state"), found.text("found_text")), (PROBLEM, "wiops 500/s"));
    assert_eq!(throttles(&tree, "/srv"), ["wiops 500 of blkio/batch/blkio.throttle.write_iops_device"]);
    assert_eq!(found.text("commands/0/now"), format!("echo '259:0 0' | sudo tee /{file}"));
    tree.put("proc/self/cgroup", "nonsense");
    assert_eq!(tree.states("/srv", "cgroup-limits"), ["unknown"]);
}

#[test]
fn rotational_disk_rules() {
    let tree = Tree::healthy();
    tree.mechanical();
    let state = |purpose: &str, check: &str| tree.states(&format!("sda --for {purpose}"), check);
    assert_eq!(state("iops", "rotational"), [PROBLEM]);
    assert_eq!(state("throughput", "rotational"), ["good"]);
    assert_eq!(state("iops", "scheduler"), ["good"]);
    assert_eq!(state("iops", "discard-support"), [""; 0]);
    assert_eq!(state("iops", "write-cache"), ["good"]);
    assert_eq!(state("iops", "device-depth"), ["good"]);
    let queue = "sys/devices/virtual/block/sda/queue";
    tree.put(&format!("{queue}/scheduler"), "[none] mq-deadline");
    assert_eq!(
        tree.findings("sda", "scheduler")[0].text("commands/0/now"),
        "echo mq-deadline | sudo tee /sys/block/sda/queue/scheduler"
    );
    tree.put(&format!("{queue}/write_cache"), "write through");
    assert_eq!(tree.findings("sda", "write-cache")[0].text("commands/0/now"), "sudo hdparm -W 1 /dev/sda");
    tree.put("sys/devices/virtual/block/sda/device/queue_depth", "1");
    assert_eq!(state("iops", "device-depth"), [PROBLEM]);
    // On a provider's disk only the flag is wrong.
    tree.put("sys/devices/virtual/block/sda/device/model", "PersistentDisk");
    assert_eq!(state("iops", "rotational"), [BETTER]);
    assert_eq!(state("iops", "write-cache"), ["good"]);
}

#[test]
fn a_kernel_without_blk_mq() {
    let tree = Tree::healthy();
    tree.mechanical();
    tree.put("sys/devices/virtual/block/sda/queue/scheduler", "noop deadline [cfq]");
    tree.put("sys/devices/virtual/block/sda/queue/rotational", "0");
    let found = &tree.findings("sda --for iops", "hardware-queues")[0];
    assert_eq!((found.text("state"), found.text("case")), (PROBLEM, "legacy"));
    assert!(found.text("commands/0/always").contains("scsi_mod.use_blk_mq=Y"), "{found:?}");
    tree.put("sys/devices/virtual/block/sda/queue/scheduler", "none [mq-deadline]");
    assert_eq!(
        tree.states("sda --for iops", "hardware-queues"),
        ["unknown"],
        "a newer kernel that does not show its queues"
    );
}
