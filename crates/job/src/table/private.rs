//! Options of a single engine.

use units::Nanos;

use super::spec::OptionKind::{Bool, Flag, Int, Long, Text, Word};
use super::spec::{ANY, OptionSpec, Setter, accepted, flag, int, later, special, switch, text, word};
use crate::draft::JobDraft;
use crate::model::{NetworkProtocol, ProcessorWork, ScsiWriteCommand, StatCall};
use crate::read::{Findings, lists, priorities};

const PROCESSOR: &[&str] = &["cpuio"];
/// Maximum length of a burst: a worker notices its end only after one.
const BURST_MAX_US: i64 = 10_000_000;
const SCSI: &[&str] = &["sg"];
const COMMANDS: &[&str] = &["sg", "io_uring_cmd"];
const PROGRAM: &[&str] = &["exec"];
/// Maximum time for a program to end.
const GRACE_MAX_S: i64 = 86_400;
const RINGS: &[&str] = &["io_uring", "io_uring_cmd"];

pub(super) static OPTIONS: &[OptionSpec] = &[
    flag("hipri", "Poll for completions instead of waiting for interrupts.", |d, on| d.job.engine.hipri = on)
        .engines(&["io_uring", "io_uring_cmd", "pvsync2", "sg", "xnvme", "libblkio"]),
    flag("fixedbufs", "Register buffers with the kernel before the run.", |d, on| d.job.engine.fixedbufs = on)
        .engines(RINGS),
    flag("registerfiles", "Register files with the kernel before the run.", |d, on| d.job.engine.registerfiles = on)
        .engines(RINGS),
    flag("sqthread_poll", "Submit operations through a kernel polling thread (SQPOLL).", |d, on| {
        d.job.engine.sqthread_poll = on;
    })
    .engines(&["io_uring", "io_uring_cmd", "xnvme"]),
    int("sqthread_poll_cpu", (i64::MIN, ANY), "CPU of the SQPOLL thread.", |d, n| {
        d.job.engine.sqthread_poll_cpu = Some(n as u32);
    })
    .engines(RINGS),
    int(
        "nonvectored",
        (i64::MIN, ANY),
        "Use plain instead of vectored reads and writes; 0 for vectored ones.",
        |d, n| d.job.engine.vectored = n == 0,
    )
    .default("-1")
    .engines(RINGS),
    accepted("userspace_reap", Flag, "Collect completions without a system call.", "it does not change results")
        .engines(&["libaio"]),
    switch("libaio_vectored", "0", "Use vectored reads and writes.", |d, on| d.job.engine.vectored = on)
        .engines(&["libaio"]),
    int(
        "force_async",
        (i64::MIN, ANY),
        "Force asynchronous execution of one in this many operations; 0 for none.",
        |d, n| d.job.engine.force_async = n as u32,
    )
    .default("0")
    .engines(RINGS),
    switch("nowait", "0", "Fail operations that would block, with EAGAIN (RWF_NOWAIT).", |d, on| {
        d.job.engine.nowait = on;
    })
    .engines(&["io_uring", "io_uring_cmd", "libaio", "pvsync2"]),
    int("uncached", (i64::MIN, ANY), "Do not keep data in the page cache (RWF_DONTCACHE, Linux 6.14).", |d, n| {
        d.job.engine.uncached = n != 0;
    })
    .default("0")
    .engines(&["io_uring", "io_uring_cmd", "pvsync2"]),
    int("hipri_percentage", (0, 100), "Percentage of operations to poll.", |d, n| {
        d.job.engine.hipri_percentage = n as u32;
    })
    .default("100")
    .engines(&["pvsync2"]),
    priority("cmdprio_percentage", (0, 100), "Percentage of operations with a priority, for reads and writes.", |d| {
        &mut d.job.command_priorities.percentage
    })
    .default("0"),
    priority("cmdprio_class", (1, 3), "I/O priority class of those operations; 1, real time, by default.", |d| {
        &mut d.job.command_priorities.class
    }),
    priority("cmdprio_hint", (0, 1023), "I/O priority hint of those operations.", |d| {
        &mut d.job.command_priorities.hint
    })
    .default("0"),
    priority("cmdprio", (0, 7), "I/O priority level of those operations; 0 is the highest.", |d| {
        &mut d.job.command_priorities.level
    })
    .default("0"),
    special(
        "cmdprio_bssplit",
        Text,
        cmdprio_bssplit,
        "Percentages with a priority for each block size: `4k/50:64k/10/1/0`, with class and level.",
    )
    .engines(PRIORITY),
    switch("readfua", "0", "Set FUA for reads, which the device then serves from the medium.", |d, on| {
        d.job.engine.read_fua = on;
    })
    .engines(COMMANDS),
    accepted("readfua", Bool, "Set FUA for reads.", ONLY_COMMANDS).default("0").engines(&["io_uring"]),
    switch("writefua", "0", "Set FUA for writes, which then reach the medium before they complete.", |d, on| {
        d.job.engine.write_fua = on;
    })
    .engines(COMMANDS),
    accepted("writefua", Bool, "Set FUA for writes.", ONLY_COMMANDS).default("0").engines(&["io_uring"]),
    int("thp", (i64::MIN, ANY), "Use transparent huge pages for the mapping (MADV_HUGEPAGE).", |d, n| {
        d.job.engine.thp = n != 0;
    })
    .default("0")
    .engines(&["mmap"]),
    int("cpuload", (1, ANY), "CPU utilization in percent; values above 100 mean 100.", |d, n| {
        d.job.engine.processor.percent = n.min(100) as u32;
    })
    .engines(PROCESSOR),
    word("cpumode", &["noop", "qsort"], "CPU workload: counting or sorting.", |d, w, _, _| {
        d.job.engine.processor.work = if w == "qsort" { ProcessorWork::Qsort } else { ProcessorWork::Noop };
    })
    .default("noop")
    .engines(PROCESSOR),
    int("cpuchunks", (1, BURST_MAX_US), "Length of each busy burst, in microseconds.", |d, n| {
        d.job.engine.processor.burst = Nanos::from_micros(n);
    })
    .default("50000")
    .engines(PROCESSOR),
    switch("exit_on_io_done", "0", "Stop when all jobs of other engines have finished.", |d, on| {
        d.job.engine.processor.ends_with_others = on;
    })
    .engines(PROCESSOR),
    text(
        "hostname",
        "Host to connect to, local address to listen on, multicast group, or path of a Unix socket.",
        |d, text| {
            d.job.engine.network.hostname = (!text.is_empty()).then(|| text.to_owned());
        },
    )
    .engines(NETWORK),
    later("hostname", Text, "Host to connect to or address to listen on.").engines(&["rdma"]),
    int("port", (1, 65_535), "Port to connect to or listen on, plus the number of the clone.", |d, n| {
        d.job.engine.network.port = Some(n as u16);
    })
    .engines(NETWORK),
    later("port", Int(1, 65_535), "Port to connect to or listen on.").engines(&["rdma", "libhdfs"]),
    word(
        "protocol",
        &["tcp", "tcpv6", "udp", "udpv6", "unix", "vsock"],
        "Protocol of the connection.",
        |d, w, _, _| {
            d.job.engine.network.protocol = match w {
                "tcpv6" => NetworkProtocol::TcpV6,
                "udp" => NetworkProtocol::Udp,
                "udpv6" => NetworkProtocol::UdpV6,
                "unix" => NetworkProtocol::Unix,
                "vsock" => NetworkProtocol::Vsock,
                _ => NetworkProtocol::Tcp,
            };
        },
    )
    .alias(&["proto"])
    .default("tcp")
    .engines(NETWORK),
    switch("nodelay", "0", "Send small packets immediately (TCP_NODELAY).", |d, on| d.job.engine.network.nodelay = on)
        .engines(NETWORK),
    flag("listen", "Accept a TCP or vsock connection instead of opening one.", |d, on| {
        d.job.engine.network.listen = on;
    })
    .engines(NETWORK),
    flag("pingpong", "Echo each block to its sender; set it in both jobs.", |d, on| d.job.engine.network.pingpong = on)
        .engines(NETWORK),
    text("interface", "IPv4 address of the local interface for multicast.", |d, text| {
        d.job.engine.network.interface = (!text.is_empty()).then(|| text.to_owned());
    })
    .engines(NETWORK),
    int("ttl", (0, 255), "Time to live of multicast packets.", |d, n| d.job.engine.network.ttl = n as u32)
        .default("1")
        .engines(NETWORK),
    int("window_size", (0, i32::MAX as i64), "Socket buffer size in bytes; 0 for the default.", |d, n| {
        d.job.engine.network.window_bytes = n as u32;
    })
    .engines(NETWORK),
    int("mss", (0, i32::MAX as i64), "TCP maximum segment size in bytes; 0 for the default.", |d, n| {
        d.job.engine.network.segment_bytes = n as u32;
    })
    .engines(NETWORK),
    word("stat_type", &["stat", "lstat", "statx"], "System call to measure.", |d, w, _, _| {
        d.job.engine.stat_call = match w {
            "lstat" => StatCall::Lstat,
            "statx" => StatCall::Statx,
            _ => StatCall::Stat,
        };
    })
    .default("stat")
    .engines(&["filestat", "dirstat"]),
    text("program", "Program to run until it exits or the job ends.", |d, text| {
        d.job.engine.program.path = text.to_owned();
    })
    .engines(PROGRAM),
    text(
        "arguments",
        "Arguments of the program, separated by spaces; %r is the runtime in seconds, %n the job name.",
        |d, text| d.job.engine.program.arguments = text.to_owned(),
    )
    .engines(PROGRAM),
    int(
        "grace_time",
        (0, GRACE_MAX_S),
        "Time between SIGTERM and SIGKILL at the end of the job, in seconds.",
        |d, n| {
            d.job.engine.program.grace = Nanos::from_secs(n);
        },
    )
    .default("1")
    .engines(PROGRAM),
    switch("std_redirect", "1", "Write the output of the program to NAME.stdout and NAME.stderr.", |d, on| {
        d.job.engine.program.redirects = on;
    })
    .engines(PROGRAM),
    text("donorname", "Donor file for the extent exchange; its data is lost.", |d, text| {
        d.job.engine.defragment.donor = text.to_owned();
    })
    .engines(&["e4defrag"]),
    int(
        "inplace",
        (0, 1),
        "Allocate and free the donor's space in each operation instead of once before the run.",
        |d, n| {
            d.job.engine.defragment.in_place = n == 1;
        },
    )
    .engines(&["e4defrag"]),
    later("skip_bad", Bool, "Skip known bad blocks.").default("0").engines(&["mtd"]),
    word(
        "sg_write_mode",
        &[
            "write",
            "write_and_verify",
            "verify",
            "write_same",
            "same",
            "write_same_ndob",
            "verify_bytchk_00",
            "verify_bytchk_01",
            "verify_bytchk_11",
            "write_stream",
        ],
        "SCSI command for writes.",
        |d, w, _, _| d.job.engine.scsi.write_command = ScsiWriteCommand::of_name(w),
    )
    .default("write")
    .engines(SCSI),
    int("stream_id", (0, u16::MAX as i64), "Stream of SCSI stream writes; 0 opens one for the run.", |d, n| {
        d.job.engine.scsi.stream = n as u16;
    })
    .default("0")
    .engines(SCSI),
    later("clustername", Text, "Name of the Ceph cluster.").engines(CEPH),
    later("rbdname", Text, "Name of the RADOS block device.").engines(&["rbd"]),
    later("pool", Text, "Pool of the cluster, or label of the DAOS pool.").engines(&["rbd", "rados", "dfs"]),
    later("clientname", Text, "Name of the Ceph user, without `client.`.").engines(CEPH),
    later("conf", Text, "Ceph's configuration file.").default("/etc/ceph/ceph.conf").engines(&["rados"]),
    later("busy_poll", Bool, "Poll for completions instead of sleeping.").default("0").engines(CEPH),
    later("touch_objects", Bool, "Create the objects before the run.").default("1").engines(&["rados"]),
    later("rbd_encryption_format", Text, "Format of the encrypted image.").engines(&["rbd"]),
    later("rbd_encryption_passphrase", Text, "Passphrase of the encrypted image.").engines(&["rbd"]),
    later("cont", Text, "Container of the DAOS pool.").engines(&["dfs"]),
    later("chunk_size", Long(0), "Size of a chunk of the file.").engines(&["dfs", "libhdfs"]),
    later("object_class", Text, "Class of the DAOS object.").engines(&["dfs"]),
    later("namenode", Text, "Host of the HDFS name node.").engines(&["libhdfs"]),
    later("hdfsdirectory", Text, "Directory in HDFS.").engines(&["libhdfs"]),
    later("hdfs_use_direct", Bool, "Use zero-copy reads where HDFS supports them.").engines(&["libhdfs"]),
    later("single_instance", Bool, "Share one connection among all workers.").engines(&["libhdfs"]),
    later("verb", Word(&["write", "read", "send", "recv"]), "RDMA operation.").default("write").engines(&["rdma"]),
    later("bindname", Text, "Local address of the connection.").engines(&["rdma"]),
    text("volume", "Modelled volume to use instead of files; `fathom catalog` lists all volumes.", |d, text| {
        d.job.engine.volume = (!text.is_empty()).then(|| text.to_owned());
    })
    .engines(&["model"]),
    later("volume", Text, "Name of the Gluster volume.").engines(&["gfapi", "gfapi_async"]),
    later("brick", Text, "Host of a brick of that volume.").engines(&["gfapi", "gfapi_async"]),
    text(
        "uri",
        "URI of the export: nbd://HOST[:PORT]/EXPORT or nbd+unix:///EXPORT?socket=PATH; `size` defaults to its size.",
        |d, text| d.job.engine.uri = (!text.is_empty()).then(|| text.to_owned()),
    )
    .engines(&["nbd"]),
    later("nfs_url", Text, "Address of the share.").engines(&["nfs"]),
    later("gpu_dev_ids", Text, "GPUs to use.").engines(&["libcufile", "libhipfile"]),
    later("cuda_io", Word(&["cufile", "posix"]), "Method of transferring data to the GPU.")
        .default("cufile")
        .engines(&["libcufile"]),
    later("rocm_io", Word(&["hipfile", "posix"]), "Method of transferring data to the GPU.").engines(&["libhipfile"]),
    later("xnvme_async", Text, "Asynchronous interface.").engines(&["xnvme"]),
    later("xnvme_sync", Text, "Synchronous interface.").engines(&["xnvme"]),
    later("xnvme_admin", Text, "Interface of admin commands.").engines(&["xnvme"]),
    later("xnvme_dev_nsid", Int(0, ANY), "Namespace of the device.").engines(&["xnvme"]),
    later("xnvme_dev_subnqn", Text, "Subsystem of the device.").engines(&["xnvme"]),
    later("xnvme_mem", Text, "Type of memory for buffers.").engines(&["xnvme"]),
    later("xnvme_iovec", Flag, "Use vectored commands.").engines(&["xnvme"]),
    later("libblkio_driver", Text, "Driver.").engines(&["libblkio"]),
    later("libblkio_path", Text, "Path of the device.").engines(&["libblkio"]),
    later("libblkio_pre_connect_props", Text, "Properties before connecting.").engines(&["libblkio"]),
    later("libblkio_num_entries", Int(0, ANY), "Entries of the queue.").engines(&["libblkio"]),
    later("libblkio_queue_size", Int(0, ANY), "Size of the queue.").engines(&["libblkio"]),
    later("libblkio_pre_start_props", Text, "Properties before starting.").engines(&["libblkio"]),
    later("libblkio_vectored", Flag, "Use vectored operations.").engines(&["libblkio"]),
    later("libblkio_write_zeroes_on_trim", Flag, "Write zeroes on trims.").engines(&["libblkio"]),
    later("libblkio_wait_mode", Word(&["block", "eventfd", "loop"]), "Method of waiting for completions.")
        .engines(&["libblkio"]),
    later("libblkio_force_enable_completion_eventfd", Flag, "Keep the completion eventfd enabled.")
        .engines(&["libblkio"]),
    later("no_completion_thread", Flag, "Collect completions in the worker.").engines(&["windowsaio"]),
];

const ONLY_COMMANDS: &str = "it applies to commands, which `io_uring_cmd` sends";
const PRIORITY: &[&str] = &["io_uring", "io_uring_cmd", "libaio"];
const NETWORK: &[&str] = &["net", "netsplice"];
const CEPH: &[&str] = &["rbd", "rados"];

/// Returns an option of priorities, with a number for reads and one for writes.
const fn priority(
    name: &'static str,
    bounds: (i64, i64),
    doc: &'static str,
    of: fn(&mut JobDraft) -> &mut [u32; 2],
) -> OptionSpec {
    OptionSpec::new(name, Int(bounds.0, bounds.1), Setter::Pair(of), doc).engines(PRIORITY)
}

fn cmdprio_bssplit(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    let parts = lists::split(text, ',');
    for (slot, &(start, part)) in parts.iter().enumerate().take(2) {
        let kb_base = draft.kb_base();
        let Some(shares) = findings.within(start, |findings| priorities::shares(part, kb_base, findings)) else {
            continue;
        };
        JobDraft::fill(&mut draft.job.command_priorities.split, slot, slot + 1 == parts.len(), &shares);
    }
}
