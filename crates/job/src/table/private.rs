//! Options that one engine alone understands.

use super::spec::{ANY, Category, Kind, OptionSpec, Setter, accepted, flag, in_category, later};

const RINGS: &[&str] = &["io_uring", "io_uring_cmd"];

pub(super) static OPTIONS: &[OptionSpec] = &in_category(
    Category::Private,
    [
        flag("hipri", "Poll for completions instead of waiting for interrupts.", |d, on| d.job.engine.hipri = on)
            .engines(&["io_uring", "io_uring_cmd", "pvsync2", "sg", "xnvme", "libblkio"]),
        flag("fixedbufs", "Register buffers with the kernel before the run.", |d, on| d.job.engine.fixedbufs = on)
            .engines(RINGS),
        flag("registerfiles", "Register files with the kernel before the run.", |d, on| {
            d.job.engine.registerfiles = on
        })
        .engines(RINGS),
        flag("sqthread_poll", "A kernel thread submits operations.", |d, on| d.job.engine.sqthread_poll = on)
            .engines(&["io_uring", "io_uring_cmd", "xnvme"]),
        OptionSpec::new(
            "sqthread_poll_cpu",
            Kind::Int(i64::MIN, ANY),
            Setter::Number(|d, n| d.job.engine.sqthread_poll_cpu = Some(n as u32)),
            "The processor of that thread.",
        )
        .engines(RINGS),
        accepted(
            "nonvectored",
            Kind::Int(i64::MIN, ANY),
            "Use plain reads and writes instead of vectored ones.",
            "Fathom uses plain ones always",
        )
        .default("-1")
        .engines(RINGS),
        accepted("userspace_reap", Kind::Flag, "Collect completions without a system call.", "it changes no result")
            .engines(&["libaio"]),
        later("libaio_vectored", Kind::Bool, "Use vectored reads and writes.").engines(&["libaio"]),
        later("force_async", Kind::Int(i64::MIN, ANY), "Hand every so-manieth operation to a kernel worker.")
            .engines(RINGS),
        later("nowait", Kind::Bool, "Fail operations that would have to wait (RWF_NOWAIT).").engines(&[
            "io_uring",
            "io_uring_cmd",
            "libaio",
            "pvsync2",
        ]),
        later("uncached", Kind::Int(i64::MIN, ANY), "Leave nothing in the page cache (RWF_DONTCACHE).").engines(&[
            "io_uring",
            "io_uring_cmd",
            "pvsync2",
        ]),
        later("hipri_percentage", Kind::Int(0, 100), "Share of operations that are polled, in per cent.")
            .default("100")
            .engines(&["pvsync2"]),
        later("cmdprio_percentage", Kind::Int(0, 100), "Share of operations with high priority.").engines(PRIORITY),
    ],
);

const PRIORITY: &[&str] = &["io_uring", "io_uring_cmd", "libaio"];
