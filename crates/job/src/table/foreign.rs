//! fio's engines that Fathom does not have, with the reason and what to use instead.

/// Engines that Fathom does not have.
pub(super) struct ForeignEngines {
    /// Their names, separated by blanks.
    names: &'static str,
    /// Why Fathom does not have them.
    pub(super) reason: &'static str,
    /// What to use instead.
    pub(super) help: &'static str,
}

/// Returns the entry of an engine of fio that Fathom does not have.
pub(super) fn find(name: &str) -> Option<&'static ForeignEngines> {
    FOREIGN.iter().find(|foreign| foreign.names.split(' ').any(|known| known == name))
}

const fn foreign(names: &'static str, reason: &'static str, help: &'static str) -> ForeignEngines {
    ForeignEngines { names, reason, help }
}

static FOREIGN: &[ForeignEngines] = &[
    foreign(
        "xnvme libblkio",
        "it needs a user-space driver library",
        "write `ioengine=io_uring` and the block device as `filename`",
    ),
    foreign(
        "rbd rados",
        "it needs the Ceph libraries",
        "map the image (`rbd map`) and write `ioengine=io_uring` with /dev/rbdN as `filename`",
    ),
    foreign(
        "gfapi gfapi_async",
        "it needs the Gluster library",
        "mount the volume and write `ioengine=io_uring` with a `directory` on it",
    ),
    foreign(
        "libhdfs",
        "it needs Hadoop's Java library",
        "mount the filesystem (NFS gateway or FUSE) and write `ioengine=psync` with a `directory` on it",
    ),
    foreign(
        "nfs",
        "it needs a user-space NFS client (libnfs)",
        "mount the share and write `ioengine=io_uring` with a `directory` on it",
    ),
    foreign(
        "libiscsi",
        "it needs a user-space iSCSI client",
        "log in to the target (`iscsiadm --login`) and write `ioengine=io_uring` with the block device as `filename`",
    ),
    foreign(
        "dfs",
        "it needs the DAOS libraries",
        "mount the container (`dfuse`) and write `ioengine=io_uring` with a `directory` on it",
    ),
    foreign(
        "ime_psync ime_psyncv ime_aio",
        "it needs the library of DDN Infinite Memory Engine",
        "use its mounted filesystem and write `ioengine=psync` with a `directory` on it",
    ),
    foreign(
        "libpmem pmemblk dev-dax",
        "it needs the Persistent Memory Development Kit",
        "write `ioengine=mmap` with a file on a filesystem that is mounted with `-o dax`",
    ),
    foreign(
        "libzbc",
        "Fathom uses zoned devices through the kernel, without this library",
        "write `ioengine=libaio` or `io_uring` with `zonemode=zbd` and the block device",
    ),
    foreign(
        "libcufile libhipfile",
        "it needs a GPU and its vendor's library",
        "write `ioengine=io_uring` and `direct=1`, which measures the storage without the GPU",
    ),
    foreign(
        "mtd",
        "it erases and writes raw flash (/dev/mtdN), which is not a block device",
        "write `ioengine=psync` with a volume on top of the flash (/dev/ubiblockN_M, or a file on UBIFS)",
    ),
    foreign(
        "librpma_apm_client librpma_apm_server librpma_gpspm_client librpma_gpspm_server",
        "it needs persistent memory, an RDMA adapter and a library; newer fio versions dropped it",
        "measure the network with `ib_write_bw`, and the memory with `ioengine=mmap`",
    ),
    foreign(
        "cpp_null",
        "it is an example engine in C++ and transfers nothing",
        "write `ioengine=null`, which does the same",
    ),
    foreign(
        "rdma",
        "it needs an RDMA adapter and its library",
        "measure the network with `ib_write_bw`, and the storage behind it through its block device",
    ),
    foreign("page_fault", "it loads memory, not storage", "run `stress-ng --vm` at the same time"),
    foreign(
        "external",
        "it loads a library built against fio's sources",
        "use a built-in engine, such as `ioengine=io_uring`",
    ),
    foreign(
        "windowsaio solarisaio guasi",
        "it belongs to another operating system",
        "write `ioengine=io_uring` or `ioengine=libaio`",
    ),
];
