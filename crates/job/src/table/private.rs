//! Options of a single engine.

use super::spec::OptionKind::{Bool, Flag, Int, Long, Text, Word};
use super::spec::{ANY, OptionSpec, Setter, accepted, flag, later, text};

const RINGS: &[&str] = &["io_uring", "io_uring_cmd"];

pub(super) static OPTIONS: &[OptionSpec] = &[
    flag("hipri", "Poll for completions instead of waiting for interrupts.", |d, on| d.job.engine.hipri = on)
        .engines(&["io_uring", "io_uring_cmd", "pvsync2", "sg", "xnvme", "libblkio"]),
    flag("fixedbufs", "Register buffers with the kernel before the run.", |d, on| d.job.engine.fixedbufs = on)
        .engines(RINGS),
    flag("registerfiles", "Register files with the kernel before the run.", |d, on| d.job.engine.registerfiles = on)
        .engines(RINGS),
    flag("sqthread_poll", "A kernel thread submits operations.", |d, on| d.job.engine.sqthread_poll = on).engines(&[
        "io_uring",
        "io_uring_cmd",
        "xnvme",
    ]),
    OptionSpec::new(
        "sqthread_poll_cpu",
        Int(i64::MIN, ANY),
        Setter::Number(|d, n| d.job.engine.sqthread_poll_cpu = Some(n as u32)),
        "The processor of that thread.",
    )
    .engines(RINGS),
    accepted(
        "nonvectored",
        Int(i64::MIN, ANY),
        "Use plain reads and writes instead of vectored ones.",
        "Fathom uses plain ones always",
    )
    .default("-1")
    .engines(RINGS),
    accepted("userspace_reap", Flag, "Collect completions without a system call.", "it changes no result")
        .engines(&["libaio"]),
    later("libaio_vectored", Bool, "Use vectored reads and writes.").engines(&["libaio"]),
    later("force_async", Int(i64::MIN, ANY), "Hand every so-manieth operation to a kernel worker.").engines(RINGS),
    later("nowait", Bool, "Fail operations that would have to wait (RWF_NOWAIT).").engines(&[
        "io_uring",
        "io_uring_cmd",
        "libaio",
        "pvsync2",
    ]),
    later("uncached", Int(i64::MIN, ANY), "Leave nothing in the page cache (RWF_DONTCACHE).").engines(&[
        "io_uring",
        "io_uring_cmd",
        "pvsync2",
    ]),
    later("hipri_percentage", Int(0, 100), "Share of operations that are polled, in per cent.")
        .default("100")
        .engines(&["pvsync2"]),
    later("cmdprio_percentage", Int(0, 100), "Share of operations with high priority, in per cent.").engines(PRIORITY),
    later("cmdprio_class", Int(1, 3), "Class of that priority.").engines(PRIORITY),
    later("cmdprio_hint", Int(0, 1023), "Hint that goes with that priority.").engines(PRIORITY),
    later("cmdprio", Int(0, 7), "Level of that priority.").engines(PRIORITY),
    later("cmdprio_bssplit", Text, "Shares of high priority for each block size.").engines(PRIORITY),
    later("readfua", Bool, "Reads go to the medium (FUA).").default("0").engines(&["sg", "io_uring", "io_uring_cmd"]),
    later("writefua", Bool, "Writes reach the medium before they are complete (FUA).").default("0").engines(&[
        "sg",
        "io_uring",
        "io_uring_cmd",
    ]),
    later("write_mode", Text, "Which commands write, with a share each.").default("write").engines(RINGS),
    later("verify_mode", Word(&["read", "compare"]), "Which command checks.").default("read").engines(RINGS),
    later("cmd_type", Word(&["nvme", "bsg"]), "Which kind of command passes through.").default("nvme").engines(RINGS),
    later("cdb_len", Word(&["0", "10", "16", "32"]), "Length of SCSI commands.").default("0").engines(RINGS),
    later("verify_bytchk", Word(&["0", "1", "3"]), "What a SCSI verify compares.").default("0").engines(RINGS),
    later("read_mode", Word(&["read", "prefetch"]), "Which command reads.").default("read").engines(RINGS),
    later("md_per_io_size", Int(0, ANY), "Bytes of separate metadata for each operation.").default("0").engines(NVME),
    later("pi_act", Bool, "The device makes and removes protection information.").default("1").engines(NVME),
    later("pi_chk", Text, "Which fields of protection information are checked.").engines(NVME),
    later("apptag", Int(0, ANY), "Application tag of protection information.").default("0x1234").engines(NVME),
    later("apptag_mask", Int(0, ANY), "Which bits of that tag are compared.").default("0xffff").engines(NVME),
    later("deac", Bool, "Deallocate when zeroes are written.").default("0").engines(RINGS),
    later("thp", Int(i64::MIN, ANY), "Ask for huge pages behind the mapping.").engines(&["mmap"]),
    later("cpuload", Int(i64::MIN, ANY), "Share of a processor to burn, in per cent.").engines(&["cpuio"]),
    later("cpumode", Word(&["noop", "qsort"]), "How it is burnt.").default("noop").engines(&["cpuio"]),
    later("cpuchunks", Int(0, ANY), "Length of each burst in microseconds.").default("50000").engines(&["cpuio"]),
    later("exit_on_io_done", Bool, "End when the other jobs have ended.").default("0").engines(&["cpuio"]),
    later("hostname", Text, "Host to connect to or address to listen on.").engines(&["net", "netsplice", "rdma"]),
    later("port", Int(1, 65_535), "Port to connect to or listen on.").engines(&["net", "netsplice", "rdma", "libhdfs"]),
    later("protocol", Word(&["tcp", "tcpv6", "udp", "udpv6", "unix", "vsock"]), "Protocol of the connection.")
        .alias(&["proto"])
        .default("tcp")
        .engines(NETWORK),
    later("nodelay", Bool, "Send small packets at once (TCP_NODELAY).").engines(NETWORK),
    later("listen", Flag, "Wait for a connection instead of making one.").engines(NETWORK),
    later("pingpong", Flag, "Answer every operation with one.").engines(NETWORK),
    later("interface", Text, "Network interface of multicasts.").engines(NETWORK),
    later("ttl", Int(i64::MIN, ANY), "How many hops a multicast goes.").default("1").engines(NETWORK),
    later("window_size", Int(i64::MIN, ANY), "Size of the socket's window.").engines(NETWORK),
    later("mss", Int(i64::MIN, ANY), "Largest segment that TCP sends.").engines(NETWORK),
    later("stat_type", Word(&["stat", "lstat", "statx"]), "Which call is measured.")
        .default("stat")
        .engines(&["filestat", "dirstat"]),
    later("program", Text, "Program to run.").engines(&["exec"]),
    later("arguments", Text, "Its arguments.").engines(&["exec"]),
    later("grace_time", Int(i64::MIN, ANY), "Seconds it gets to end by itself.").default("1").engines(&["exec"]),
    later("std_redirect", Bool, "Its output goes to files.").default("1").engines(&["exec"]),
    later("donorname", Text, "File that gives blocks.").engines(&["e4defrag"]),
    later("inplace", Int(0, 1), "When blocks are given back.").engines(&["e4defrag"]),
    later("skip_bad", Bool, "Leave out blocks that are known to be bad.").default("0").engines(&["mtd"]),
    later(
        "sg_write_mode",
        Word(&[
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
        ]),
        "Which SCSI command writes.",
    )
    .default("write")
    .engines(&["sg"]),
    later("stream_id", Int(i64::MIN, ANY), "Stream of SCSI stream writes.").default("0").engines(&["sg"]),
    later("clustername", Text, "Name of the Ceph cluster.").engines(CEPH),
    later("rbdname", Text, "Name of the RADOS block device.").engines(&["rbd"]),
    later("pool", Text, "Pool of the cluster, or label of the DAOS pool.").engines(&["rbd", "rados", "dfs"]),
    later("clientname", Text, "Name of the Ceph user, without `client.`.").engines(CEPH),
    later("conf", Text, "Ceph's configuration file.").default("/etc/ceph/ceph.conf").engines(&["rados"]),
    later("busy_poll", Bool, "Poll for completions instead of sleeping.").default("0").engines(CEPH),
    later("touch_objects", Bool, "Make the objects before the run.").default("1").engines(&["rados"]),
    later("rbd_encryption_format", Text, "Format of the encrypted image.").engines(&["rbd"]),
    later("rbd_encryption_passphrase", Text, "Passphrase of the encrypted image.").engines(&["rbd"]),
    later("cont", Text, "Container of the DAOS pool.").engines(&["dfs"]),
    later("chunk_size", Long(0), "Size of a chunk of the file.").engines(&["dfs", "libhdfs"]),
    later("object_class", Text, "Class of the DAOS object.").engines(&["dfs"]),
    later("namenode", Text, "Host of the HDFS name node.").engines(&["libhdfs"]),
    later("hdfsdirectory", Text, "Directory in HDFS.").engines(&["libhdfs"]),
    later("hdfs_use_direct", Bool, "Read without copying where HDFS can.").engines(&["libhdfs"]),
    later("single_instance", Bool, "One connection for all workers.").engines(&["libhdfs"]),
    later("verb", Word(&["write", "read", "send", "recv"]), "Which RDMA operation is used.")
        .default("write")
        .engines(&["rdma"]),
    later("bindname", Text, "Local address of the connection.").engines(&["rdma"]),
    text("volume", "The modelled volume in place of the files: `fathom catalog` lists them.", |d, text| {
        d.job.engine.volume = (!text.is_empty()).then(|| text.to_owned());
    })
    .engines(&["model"]),
    later("volume", Text, "Name of the Gluster volume.").engines(&["gfapi", "gfapi_async"]),
    later("brick", Text, "Host of a brick of that volume.").engines(&["gfapi", "gfapi_async"]),
    text(
        "uri",
        "The export: nbd://HOST[:PORT]/EXPORT or nbd+unix:///EXPORT?socket=PATH; its size is the default.",
        |d, text| d.job.engine.uri = (!text.is_empty()).then(|| text.to_owned()),
    )
    .engines(&["nbd"]),
    later("nfs_url", Text, "Address of the share.").engines(&["nfs"]),
    later("https", Word(&["off", "on", "insecure"]), "Whether the connection is encrypted.")
        .default("off")
        .engines(&["http"]),
    later("http_host", Text, "Host to connect to.").default("localhost").engines(&["http"]),
    later("http_user", Text, "User name.").engines(&["http"]),
    later("http_pass", Text, "Password.").engines(&["http"]),
    later("http_mode", Word(&["webdav", "s3", "swift"]), "Kind of object store.").default("webdav").engines(&["http"]),
    later("http_s3_key", Text, "Secret key.").engines(&["http"]),
    later("http_s3_keyid", Text, "Name of the key.").engines(&["http"]),
    later("http_s3_security_token", Text, "Token of a session.").engines(&["http"]),
    later("http_s3_region", Text, "Region of the store.").default("us-east-1").engines(&["http"]),
    later("http_s3_sse_customer_key", Text, "Key of the customer's encryption.").engines(&["http"]),
    later("http_s3_sse_customer_algorithm", Text, "Algorithm of the customer's encryption.")
        .default("AES256")
        .engines(&["http"]),
    later("http_s3_storage_class", Text, "Storage class of objects.").default("STANDARD").engines(&["http"]),
    later("http_swift_auth_token", Text, "Token of the Swift store.").engines(&["http"]),
    later("http_object_mode", Word(&["block", "range"]), "An object for each block, or ranges of one.")
        .default("block")
        .engines(&["http"]),
    later("http_verbose", Int(0, ANY), "Verbosity per request.").default("0").engines(&["http"]),
    later("gpu_dev_ids", Text, "Graphics processors that are used.").engines(&["libcufile", "libhipfile"]),
    later("cuda_io", Word(&["cufile", "posix"]), "How data gets to the graphics processor.")
        .default("cufile")
        .engines(&["libcufile"]),
    later("rocm_io", Word(&["hipfile", "posix"]), "How data gets to the graphics processor.").engines(&["libhipfile"]),
    later("xnvme_async", Text, "Asynchronous interface.").engines(&["xnvme"]),
    later("xnvme_sync", Text, "Synchronous interface.").engines(&["xnvme"]),
    later("xnvme_admin", Text, "Interface of admin commands.").engines(&["xnvme"]),
    later("xnvme_dev_nsid", Int(0, ANY), "Namespace of the device.").engines(&["xnvme"]),
    later("xnvme_dev_subnqn", Text, "Subsystem of the device.").engines(&["xnvme"]),
    later("xnvme_mem", Text, "Where buffers come from.").engines(&["xnvme"]),
    later("xnvme_iovec", Flag, "Use vectored commands.").engines(&["xnvme"]),
    later("libblkio_driver", Text, "Driver.").engines(&["libblkio"]),
    later("libblkio_path", Text, "Path of the device.").engines(&["libblkio"]),
    later("libblkio_pre_connect_props", Text, "Properties before connecting.").engines(&["libblkio"]),
    later("libblkio_num_entries", Int(0, ANY), "Entries of the queue.").engines(&["libblkio"]),
    later("libblkio_queue_size", Int(0, ANY), "Size of the queue.").engines(&["libblkio"]),
    later("libblkio_pre_start_props", Text, "Properties before starting.").engines(&["libblkio"]),
    later("libblkio_vectored", Flag, "Use vectored operations.").engines(&["libblkio"]),
    later("libblkio_write_zeroes_on_trim", Flag, "Trims write zeroes.").engines(&["libblkio"]),
    later("libblkio_wait_mode", Word(&["block", "eventfd", "loop"]), "How completions are waited for.")
        .engines(&["libblkio"]),
    later("libblkio_force_enable_completion_eventfd", Flag, "Keep the completion event on.").engines(&["libblkio"]),
    later("no_completion_thread", Flag, "Collect completions in the worker.").engines(&["windowsaio"]),
];

const PRIORITY: &[&str] = &["io_uring", "io_uring_cmd", "libaio"];
const NVME: &[&str] = &["io_uring", "io_uring_cmd", "xnvme"];
const NETWORK: &[&str] = &["net", "netsplice"];
const CEPH: &[&str] = &["rbd", "rados"];
