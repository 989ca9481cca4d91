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
        flag("sqthread_poll", "Submit operations by a kernel polling thread (SQPOLL).", |d, on| d.job.engine.sqthread_poll = on)
            .engines(&["io_uring", "io_uring_cmd", "xnvme"]),
        OptionSpec::new(
            "sqthread_poll_cpu",
            OptionKind::Int(i64::MIN, ANY),
            Setter::Number(|d, n| d.job.engine.sqthread_poll_cpu = Some(n as u32)),
            "CPU of the SQPOLL thread.",
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
        later("force_async", OptionKind::Int(i64::MIN, ANY), "Number of operations between those forced to asynchronous execution.")
            .engines(RINGS),
        later("nowait", OptionKind::Bool, "Fail operations that would block (RWF_NOWAIT).").engines(&[
            "io_uring",
            "io_uring_cmd",
            "libaio",
            "pvsync2",
        ]),
        later("uncached", OptionKind::Int(i64::MIN, ANY), "Do not keep data in the page cache (RWF_DONTCACHE).")
            .engines(&["io_uring", "io_uring_cmd", "pvsync2"]),
        later("hipri_percentage", OptionKind::Int(0, 100), "Percentage of operations to poll.")
            .default("100")
            .engines(&["pvsync2"]),
        later("cmdprio_percentage", OptionKind::Int(0, 100), "Percentage of operations with high priority.")
            .engines(PRIORITY),
        later("cmdprio_class", OptionKind::Int(1, 3), "I/O priority class of those operations.").engines(PRIORITY),
        later("cmdprio_hint", OptionKind::Int(0, 1023), "I/O priority hint of those operations.").engines(PRIORITY),
        later("cmdprio", OptionKind::Int(0, 7), "I/O priority level of those operations.").engines(PRIORITY),
        later("cmdprio_bssplit", OptionKind::Text, "Percentages of high priority for each block size.").engines(PRIORITY),
        later("readfua", OptionKind::Bool, "Set FUA for reads.").default("0").engines(&[
            "sg",
            "io_uring",
            "io_uring_cmd",
        ]),
        later("writefua", OptionKind::Bool, "Set FUA for writes.")
            .default("0")
            .engines(&["sg", "io_uring", "io_uring_cmd"]),
        later("write_mode", OptionKind::Text, "Write commands, with a percentage each.")
            .default("write")
            .engines(RINGS),
        later("verify_mode", OptionKind::Word(&["read", "compare"]), "Command for verification.")
            .default("read")
            .engines(RINGS),
        later("cmd_type", OptionKind::Word(&["nvme", "bsg"]), "Kind of passthrough command.")
            .default("nvme")
            .engines(RINGS),
        later("cdb_len", OptionKind::Word(&["0", "10", "16", "32"]), "Length of SCSI commands in bytes.")
            .default("0")
            .engines(RINGS),
        later("verify_bytchk", OptionKind::Word(&["0", "1", "3"]), "BYTCHK field of SCSI VERIFY.")
            .default("0")
            .engines(RINGS),
        later("read_mode", OptionKind::Word(&["read", "prefetch"]), "Command for reads.")
            .default("read")
            .engines(RINGS),
        later("md_per_io_size", OptionKind::Int(0, ANY), "Size of the separate metadata buffer per operation, in bytes.")
            .default("0")
            .engines(NVME),
        later("pi_act", OptionKind::Bool, "Let the device insert and strip protection information (PRACT).")
            .default("1")
            .engines(NVME),
        later("pi_chk", OptionKind::Text, "Fields of protection information to check.").engines(NVME),
        later("apptag", OptionKind::Int(0, ANY), "Application tag of protection information.")
            .default("0x1234")
            .engines(NVME),
        later("apptag_mask", OptionKind::Int(0, ANY), "Mask of the application tag.")
            .default("0xffff")
            .engines(NVME),
        later("deac", OptionKind::Bool, "Set DEAC for write zeroes.").default("0").engines(RINGS),
        later("thp", OptionKind::Int(i64::MIN, ANY), "Use transparent huge pages for the mapping.").engines(&["mmap"]),
        later("cpuload", OptionKind::Int(i64::MIN, ANY), "Percentage of CPU time to consume.")
            .engines(&["cpuio"]),
        later("cpumode", OptionKind::Word(&["noop", "qsort"]), "Kind of CPU load.").default("noop").engines(&["cpuio"]),
        later("cpuchunks", OptionKind::Int(0, ANY), "Length of each CPU burst, in microseconds.")
            .default("50000")
            .engines(&["cpuio"]),
        later("exit_on_io_done", OptionKind::Bool, "End when all other jobs have ended.")
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
        later("listen", OptionKind::Flag, "Wait for a connection instead of opening one.").engines(NETWORK),
        later("pingpong", OptionKind::Flag, "Answer each message with one of the same size.").engines(NETWORK),
        later("interface", OptionKind::Text, "Network interface of multicasts.").engines(NETWORK),
        later("ttl", OptionKind::Int(i64::MIN, ANY), "Time to live of multicast packets.").default("1").engines(NETWORK),
        later("window_size", OptionKind::Int(i64::MIN, ANY), "Size of the socket's window.").engines(NETWORK),
        later("mss", OptionKind::Int(i64::MIN, ANY), "Maximum segment size of TCP.").engines(NETWORK),
        later("stat_type", OptionKind::Word(&["stat", "lstat", "statx"]), "System call to measure.")
            .default("stat")
            .engines(&["filestat", "dirstat"]),
        later("program", OptionKind::Text, "Program to run.").engines(&["exec"]),
        later("arguments", OptionKind::Text, "Arguments of the program.").engines(&["exec"]),
        later("grace_time", OptionKind::Int(i64::MIN, ANY), "Time for the program to end by itself, in seconds.")
            .default("1")
            .engines(&["exec"]),
        later("std_redirect", OptionKind::Bool, "Redirect the output of the program to files.").default("1").engines(&["exec"]),
        later("donorname", OptionKind::Text, "Donor file for blocks.").engines(&["e4defrag"]),
        later("inplace", OptionKind::Int(0, 1), "Time of block reallocation: after the donor or in place.").engines(&["e4defrag"]),
        later("skip_bad", OptionKind::Bool, "Skip known bad blocks.")
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
            "SCSI command for writes.",
        )
        .default("write")
        .engines(&["sg"]),
        later("stream_id", OptionKind::Int(i64::MIN, ANY), "Stream ID of SCSI stream writes.")
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
        later("touch_objects", OptionKind::Bool, "Create the objects before the run.").default("1").engines(&["rados"]),
        later("rbd_encryption_format", OptionKind::Text, "Format of the encrypted image.").engines(&["rbd"]),
        later("rbd_encryption_passphrase", OptionKind::Text, "Passphrase of the encrypted image.").engines(&["rbd"]),
        later("cont", OptionKind::Text, "Container of the DAOS pool.").engines(&["dfs"]),
        later("chunk_size", OptionKind::Long(0), "Size of a chunk of the file.").engines(&["dfs", "libhdfs"]),
        later("object_class", OptionKind::Text, "Class of the DAOS object.").engines(&["dfs"]),
        later("namenode", OptionKind::Text, "Host of the HDFS name node.").engines(&["libhdfs"]),
        later("hdfsdirectory", OptionKind::Text, "Directory in HDFS.").engines(&["libhdfs"]),
        later("hdfs_use_direct", OptionKind::Bool, "Use zero-copy reads where HDFS supports them.").engines(&["libhdfs"]),
        later("single_instance", OptionKind::Bool, "Share one connection among all workers.").engines(&["libhdfs"]),
        later("verb", OptionKind::Word(&["write", "read", "send", "recv"]), "RDMA operation.")
            .default("write")
            .engines(&["rdma"]),
        later("bindname", OptionKind::Text, "Local address of the connection.").engines(&["rdma"]),
        text("volume", "Modelled volume to use instead of files; `fathom catalog` lists all volumes.", |d, text| {
            d.job.engine.volume = (!text.is_empty()).then(|| text.to_owned());
        })
        .engines(&["model"]),
        later("volume", OptionKind::Text, "Name of the Gluster volume.").engines(&["gfapi", "gfapi_async"]),
        later("brick", OptionKind::Text, "Host of a brick of that volume.").engines(&["gfapi", "gfapi_async"]),
        text(
            "uri",
            "URI of the export: nbd://HOST[:PORT]/EXPORT or nbd+unix:///EXPORT?socket=PATH; `size` defaults to its size.",
            |d, text| {
                d.job.engine.uri = (!text.is_empty()).then(|| text.to_owned());
            },
        )
        .engines(&["nbd"]),
        later("nfs_url", OptionKind::Text, "Address of the share.").engines(&["nfs"]),
        later("https", OptionKind::Word(&["off", "on", "insecure"]), "Encrypt the connection.")
            .default("off")
            .engines(&["http"]),
        later("http_host", OptionKind::Text, "Host to connect to.").default("localhost").engines(&["http"]),
        later("http_user", OptionKind::Text, "User name.").engines(&["http"]),
        later("http_pass", OptionKind::Text, "Password.").engines(&["http"]),
        later("http_mode", OptionKind::Word(&["webdav", "s3", "swift"]), "Kind of object store.")
            .default("webdav")
            .engines(&["http"]),
        later("http_s3_key", OptionKind::Text, "Secret key.").engines(&["http"]),
        later("http_s3_keyid", OptionKind::Text, "Access key ID.").engines(&["http"]),
        later("http_s3_security_token", OptionKind::Text, "Session token.").engines(&["http"]),
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
        later("gpu_dev_ids", OptionKind::Text, "GPUs to use.")
            .engines(&["libcufile", "libhipfile"]),
        later("cuda_io", OptionKind::Word(&["cufile", "posix"]), "Method of transferring data to the GPU.")
            .default("cufile")
            .engines(&["libcufile"]),
        later("rocm_io", OptionKind::Word(&["hipfile", "posix"]), "Method of transferring data to the GPU.")
            .engines(&["libhipfile"]),
        later("xnvme_async", OptionKind::Text, "Asynchronous interface.").engines(&["xnvme"]),
        later("xnvme_sync", OptionKind::Text, "Synchronous interface.").engines(&["xnvme"]),
        later("xnvme_admin", OptionKind::Text, "Interface of admin commands.").engines(&["xnvme"]),
        later("xnvme_dev_nsid", OptionKind::Int(0, ANY), "Namespace of the device.").engines(&["xnvme"]),
        later("xnvme_dev_subnqn", OptionKind::Text, "Subsystem of the device.").engines(&["xnvme"]),
        later("xnvme_mem", OptionKind::Text, "Type of memory for buffers.").engines(&["xnvme"]),
        later("xnvme_iovec", OptionKind::Flag, "Use vectored commands.").engines(&["xnvme"]),
        later("libblkio_driver", OptionKind::Text, "Driver.").engines(&["libblkio"]),
        later("libblkio_path", OptionKind::Text, "Path of the device.").engines(&["libblkio"]),
        later("libblkio_pre_connect_props", OptionKind::Text, "Properties before connecting.").engines(&["libblkio"]),
        later("libblkio_num_entries", OptionKind::Int(0, ANY), "Entries of the queue.").engines(&["libblkio"]),
        later("libblkio_queue_size", OptionKind::Int(0, ANY), "Size of the queue.").engines(&["libblkio"]),
        later("libblkio_pre_start_props", OptionKind::Text, "Properties before starting.").engines(&["libblkio"]),
        later("libblkio_vectored", OptionKind::Flag, "Use vectored operations.").engines(&["libblkio"]),
        later("libblkio_write_zeroes_on_trim", OptionKind::Flag, "Trims write zeroes.").engines(&["libblkio"]),
        later("libblkio_wait_mode", OptionKind::Word(&["block", "eventfd", "loop"]), "Method of waiting for completions.")
            .engines(&["libblkio"]),
        later("libblkio_force_enable_completion_eventfd", OptionKind::Flag, "Keep the completion eventfd enabled.")
            .engines(&["libblkio"]),
        later("no_completion_thread", OptionKind::Flag, "Collect completions in the worker.").engines(&["windowsaio"]),
    ],
);

const PRIORITY: &[&str] = &["io_uring", "io_uring_cmd", "libaio"];
const NVME: &[&str] = &["io_uring", "io_uring_cmd", "xnvme"];
const NETWORK: &[&str] = &["net", "netsplice"];
const CEPH: &[&str] = &["rbd", "rados"];
