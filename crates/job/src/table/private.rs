//! Options of a single engine.

use super::spec::{ANY, Category, OptionKind, OptionSpec, Setter, accepted, flag, in_category, later, text};

const RINGS: &[&str] = &["io_uring", "io_uring_cmd"];

pub(super) static OPTIONS: &[OptionSpec] = &in_category(
    Category::Private,
    [
        flag("hipri", "Poll for completions instead of waiting for interrupts.", |d, on| d.job.engine.hipri = on)
            .engines(&["io_uring", "io_uring_cmd", "pvsync2", "sg", "xnvme", "libblkio"]),
        flag("fixedbufs", "Register buffers with the kernel before the run.", |d, on| d.job.engine.fixedbufs = on)
            .engines(RINGS),
        flag("registerfiles", "Register files with the kernel before the run.", |d, on| {
            d.job.engine.registerfiles = on;
        })
        .engines(RINGS),
        flag("sqthread_poll", "A kernel thread submits operations.", |d, on| d.job.engine.sqthread_poll = on)
            .engines(&["io_uring", "io_uring_cmd", "xnvme"]),
        OptionSpec::new(
            "sqthread_poll_cpu",
            OptionKind::Int(i64::MIN, ANY),
            Setter::Number(|d, n| d.job.engine.sqthread_poll_cpu = Some(n as u32)),
            "The processor of that thread.",
        )
        .engines(RINGS),
        accepted(
            "nonvectored",
            OptionKind::Int(i64::MIN, ANY),
            "Use plain reads and writes instead of vectored ones.",
            "Fathom uses plain ones always",
        )
        .default("-1")
        .engines(RINGS),
        accepted(
            "userspace_reap",
            OptionKind::Flag,
            "Collect completions without a system call.",
            "it changes no result",
        )
        .engines(&["libaio"]),
        later("libaio_vectored", OptionKind::Bool, "Use vectored reads and writes.").engines(&["libaio"]),
        later("force_async", OptionKind::Int(i64::MIN, ANY), "Hand every so-manieth operation to a kernel worker.")
            .engines(RINGS),
        later("nowait", OptionKind::Bool, "Fail operations that would have to wait (RWF_NOWAIT).").engines(&[
            "io_uring",
            "io_uring_cmd",
            "libaio",
            "pvsync2",
        ]),
        later("uncached", OptionKind::Int(i64::MIN, ANY), "Leave nothing in the page cache (RWF_DONTCACHE).")
            .engines(&["io_uring", "io_uring_cmd", "pvsync2"]),
        later("hipri_percentage", OptionKind::Int(0, 100), "Share of operations that are polled, in per cent.")
            .default("100")
            .engines(&["pvsync2"]),
        later("cmdprio_percentage", OptionKind::Int(0, 100), "Share of operations with high priority, in per cent.")
            .engines(PRIORITY),
        later("cmdprio_class", OptionKind::Int(1, 3), "Class of that priority.").engines(PRIORITY),
        later("cmdprio_hint", OptionKind::Int(0, 1023), "Hint that goes with that priority.").engines(PRIORITY),
        later("cmdprio", OptionKind::Int(0, 7), "Level of that priority.").engines(PRIORITY),
        later("cmdprio_bssplit", OptionKind::Text, "Shares of high priority for each block size.").engines(PRIORITY),
        later("readfua", OptionKind::Bool, "Reads go to the medium (FUA).").default("0").engines(&[
            "sg",
            "io_uring",
            "io_uring_cmd",
        ]),
        later("writefua", OptionKind::Bool, "Writes reach the medium before they are complete (FUA).")
            .default("0")
            .engines(&["sg", "io_uring", "io_uring_cmd"]),
        later("write_mode", OptionKind::Text, "Which commands write, with a share each.")
            .default("write")
            .engines(RINGS),
        later("verify_mode", OptionKind::Word(&["read", "compare"]), "Which command checks.")
            .default("read")
            .engines(RINGS),
        later("cmd_type", OptionKind::Word(&["nvme", "bsg"]), "Which kind of command passes through.")
            .default("nvme")
            .engines(RINGS),
        later("cdb_len", OptionKind::Word(&["0", "10", "16", "32"]), "Length of SCSI commands.")
            .default("0")
            .engines(RINGS),
        later("verify_bytchk", OptionKind::Word(&["0", "1", "3"]), "What a SCSI verify compares.")
            .default("0")
            .engines(RINGS),
        later("read_mode", OptionKind::Word(&["read", "prefetch"]), "Which command reads.")
            .default("read")
            .engines(RINGS),
        later("md_per_io_size", OptionKind::Int(0, ANY), "Bytes of separate metadata for each operation.")
            .default("0")
            .engines(NVME),
        later("pi_act", OptionKind::Bool, "The device makes and removes protection information.")
            .default("1")
            .engines(NVME),
        later("pi_chk", OptionKind::Text, "Which fields of protection information are checked.").engines(NVME),
        later("apptag", OptionKind::Int(0, ANY), "Application tag of protection information.")
            .default("0x1234")
            .engines(NVME),
        later("apptag_mask", OptionKind::Int(0, ANY), "Which bits of that tag are compared.")
            .default("0xffff")
            .engines(NVME),
        later("deac", OptionKind::Bool, "Deallocate when zeroes are written.").default("0").engines(RINGS),
        later("thp", OptionKind::Int(i64::MIN, ANY), "Ask for huge pages behind the mapping.").engines(&["mmap"]),
        later("cpuload", OptionKind::Int(i64::MIN, ANY), "Share of a processor to burn, in per cent.")
            .engines(&["cpuio"]),
        later("cpumode", OptionKind::Word(&["noop", "qsort"]), "How it is burnt.").default("noop").engines(&["cpuio"]),
        later("cpuchunks", OptionKind::Int(0, ANY), "Length of each burst in microseconds.")
            .default("50000")
            .engines(&["cpuio"]),
        later("exit_on_io_done", OptionKind::Bool, "End when the other jobs have ended.")
            .default("0")
            .engines(&["cpuio"]),
        later("hostname", OptionKind::Text, "Host to connect to or address to listen on.").engines(&[
            "net",
            "netsplice",
            "rdma",
        ]),
        later("port", OptionKind::Int(1, 65_535), "Port to connect to or listen on.").engines(&[
            "net",
            "netsplice",
            "rdma",
            "libhdfs",
        ]),
        later(
            "protocol",
            OptionKind::Word(&["tcp", "tcpv6", "udp", "udpv6", "unix", "vsock"]),
            "Protocol of the connection.",
        )
        .alias(&["proto"])
        .default("tcp")
        .engines(NETWORK),
        later("nodelay", OptionKind::Bool, "Send small packets at once (TCP_NODELAY).").engines(NETWORK),
        later("listen", OptionKind::Flag, "Wait for a connection instead of making one.").engines(NETWORK),
        later("pingpong", OptionKind::Flag, "Answer every operation with one.").engines(NETWORK),
        later("interface", OptionKind::Text, "Network interface of multicasts.").engines(NETWORK),
        later("ttl", OptionKind::Int(i64::MIN, ANY), "How many hops a multicast goes.").default("1").engines(NETWORK),
        later("window_size", OptionKind::Int(i64::MIN, ANY), "Size of the socket's window.").engines(NETWORK),
        later("mss", OptionKind::Int(i64::MIN, ANY), "Largest segment that TCP sends.").engines(NETWORK),
        later("stat_type", OptionKind::Word(&["stat", "lstat", "statx"]), "Which call is measured.")
            .default("stat")
            .engines(&["filestat", "dirstat"]),
        later("program", OptionKind::Text, "Program to run.").engines(&["exec"]),
        later("arguments", OptionKind::Text, "Its arguments.").engines(&["exec"]),
        later("grace_time", OptionKind::Int(i64::MIN, ANY), "Seconds it gets to end by itself.")
            .default("1")
            .engines(&["exec"]),
        later("std_redirect", OptionKind::Bool, "Its output goes to files.").default("1").engines(&["exec"]),
        later("donorname", OptionKind::Text, "File that gives blocks.").engines(&["e4defrag"]),
        later("inplace", OptionKind::Int(0, 1), "When blocks are given back.").engines(&["e4defrag"]),
        later("skip_bad", OptionKind::Bool, "Leave out blocks that are known to be bad.")
            .default("0")
            .engines(&["mtd"]),
        later(
            "sg_write_mode",
            OptionKind::Word(&[
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
        later("stream_id", OptionKind::Int(i64::MIN, ANY), "Stream of SCSI stream writes.")
            .default("0")
            .engines(&["sg"]),
        later("clustername", OptionKind::Text, "Name of the Ceph cluster.").engines(CEPH),
        later("rbdname", OptionKind::Text, "Name of the RADOS block device.").engines(&["rbd"]),
        later("pool", OptionKind::Text, "Pool of the cluster, or label of the DAOS pool.")
            .engines(&["rbd", "rados", "dfs"]),
        later("clientname", OptionKind::Text, "Name of the Ceph user, without `client.`.").engines(CEPH),
        later("conf", OptionKind::Text, "Ceph's configuration file.")
            .default("/etc/ceph/ceph.conf")
            .engines(&["rados"]),
        later("busy_poll", OptionKind::Bool, "Poll for completions instead of sleeping.").default("0").engines(CEPH),
        later("touch_objects", OptionKind::Bool, "Make the objects before the run.").default("1").engines(&["rados"]),
        later("rbd_encryption_format", OptionKind::Text, "Format of the encrypted image.").engines(&["rbd"]),
        later("rbd_encryption_passphrase", OptionKind::Text, "Passphrase of the encrypted image.").engines(&["rbd"]),
        later("cont", OptionKind::Text, "Container of the DAOS pool.").engines(&["dfs"]),
        later("chunk_size", OptionKind::Long(0), "Size of a chunk of the file.").engines(&["dfs", "libhdfs"]),
        later("object_class", OptionKind::Text, "Class of the DAOS object.").engines(&["dfs"]),
        later("namenode", OptionKind::Text, "Host of the HDFS name node.").engines(&["libhdfs"]),
        later("hdfsdirectory", OptionKind::Text, "Directory in HDFS.").engines(&["libhdfs"]),
        later("hdfs_use_direct", OptionKind::Bool, "Read without copying where HDFS can.").engines(&["libhdfs"]),
        later("single_instance", OptionKind::Bool, "One connection for all workers.").engines(&["libhdfs"]),
        later("verb", OptionKind::Word(&["write", "read", "send", "recv"]), "Which RDMA operation is used.")
            .default("write")
            .engines(&["rdma"]),
        later("bindname", OptionKind::Text, "Local address of the connection.").engines(&["rdma"]),
        text("volume", "The modelled volume in place of the files: `fathom catalog` lists them.", |d, text| {
            d.job.engine.volume = (!text.is_empty()).then(|| text.to_owned());
        })
        .engines(&["model"]),
        later("volume", OptionKind::Text, "Name of the Gluster volume.").engines(&["gfapi", "gfapi_async"]),
        later("brick", OptionKind::Text, "Host of a brick of that volume.").engines(&["gfapi", "gfapi_async"]),
        text(
            "uri",
            "The export: nbd://HOST[:PORT]/EXPORT or nbd+unix:///EXPORT?socket=PATH; its size is the default.",
            |d, text| {
                d.job.engine.uri = (!text.is_empty()).then(|| text.to_owned());
            },
        )
        .engines(&["nbd"]),
        later("nfs_url", OptionKind::Text, "Address of the share.").engines(&["nfs"]),
        later("https", OptionKind::Word(&["off", "on", "insecure"]), "Whether the connection is encrypted.")
            .default("off")
            .engines(&["http"]),
        later("http_host", OptionKind::Text, "Host to connect to.").default("localhost").engines(&["http"]),
        later("http_user", OptionKind::Text, "User name.").engines(&["http"]),
        later("http_pass", OptionKind::Text, "Password.").engines(&["http"]),
        later("http_mode", OptionKind::Word(&["webdav", "s3", "swift"]), "Kind of object store.")
            .default("webdav")
            .engines(&["http"]),
        later("http_s3_key", OptionKind::Text, "Secret key.").engines(&["http"]),
        later("http_s3_keyid", OptionKind::Text, "Name of the key.").engines(&["http"]),
        later("http_s3_security_token", OptionKind::Text, "Token of a session.").engines(&["http"]),
        later("http_s3_region", OptionKind::Text, "Region of the store.").default("us-east-1").engines(&["http"]),
        later("http_s3_sse_customer_key", OptionKind::Text, "Key of the customer's encryption.").engines(&["http"]),
        later("http_s3_sse_customer_algorithm", OptionKind::Text, "Algorithm of the customer's encryption.")
            .default("AES256")
            .engines(&["http"]),
        later("http_s3_storage_class", OptionKind::Text, "Storage class of objects.")
            .default("STANDARD")
            .engines(&["http"]),
        later("http_swift_auth_token", OptionKind::Text, "Token of the Swift store.").engines(&["http"]),
        later("http_object_mode", OptionKind::Word(&["block", "range"]), "An object for each block, or ranges of one.")
            .default("block")
            .engines(&["http"]),
        later("http_verbose", OptionKind::Int(0, ANY), "Verbosity per request.").default("0").engines(&["http"]),
        later("gpu_dev_ids", OptionKind::Text, "Graphics processors that are used.")
            .engines(&["libcufile", "libhipfile"]),
        later("cuda_io", OptionKind::Word(&["cufile", "posix"]), "How data gets to the graphics processor.")
            .default("cufile")
            .engines(&["libcufile"]),
        later("rocm_io", OptionKind::Word(&["hipfile", "posix"]), "How data gets to the graphics processor.")
            .engines(&["libhipfile"]),
        later("xnvme_async", OptionKind::Text, "Asynchronous interface.").engines(&["xnvme"]),
        later("xnvme_sync", OptionKind::Text, "Synchronous interface.").engines(&["xnvme"]),
        later("xnvme_admin", OptionKind::Text, "Interface of admin commands.").engines(&["xnvme"]),
        later("xnvme_dev_nsid", OptionKind::Int(0, ANY), "Namespace of the device.").engines(&["xnvme"]),
        later("xnvme_dev_subnqn", OptionKind::Text, "Subsystem of the device.").engines(&["xnvme"]),
        later("xnvme_mem", OptionKind::Text, "Where buffers come from.").engines(&["xnvme"]),
        later("xnvme_iovec", OptionKind::Flag, "Use vectored commands.").engines(&["xnvme"]),
        later("libblkio_driver", OptionKind::Text, "Driver.").engines(&["libblkio"]),
        later("libblkio_path", OptionKind::Text, "Path of the device.").engines(&["libblkio"]),
        later("libblkio_pre_connect_props", OptionKind::Text, "Properties before connecting.").engines(&["libblkio"]),
        later("libblkio_num_entries", OptionKind::Int(0, ANY), "Entries of the queue.").engines(&["libblkio"]),
        later("libblkio_queue_size", OptionKind::Int(0, ANY), "Size of the queue.").engines(&["libblkio"]),
        later("libblkio_pre_start_props", OptionKind::Text, "Properties before starting.").engines(&["libblkio"]),
        later("libblkio_vectored", OptionKind::Flag, "Use vectored operations.").engines(&["libblkio"]),
        later("libblkio_write_zeroes_on_trim", OptionKind::Flag, "Trims write zeroes.").engines(&["libblkio"]),
        later("libblkio_wait_mode", OptionKind::Word(&["block", "eventfd", "loop"]), "How completions are waited for.")
            .engines(&["libblkio"]),
        later("libblkio_force_enable_completion_eventfd", OptionKind::Flag, "Keep the completion event on.")
            .engines(&["libblkio"]),
        later("no_completion_thread", OptionKind::Flag, "Collect completions in the worker.").engines(&["windowsaio"]),
    ],
);

const PRIORITY: &[&str] = &["io_uring", "io_uring_cmd", "libaio"];
const NVME: &[&str] = &["io_uring", "io_uring_cmd", "xnvme"];
const NETWORK: &[&str] = &["net", "netsplice"];
const CEPH: &[&str] = &["rbd", "rados"];
