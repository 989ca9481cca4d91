//! What is compared, and what is wanted of it.

/// A command line that both programs run.
pub(super) struct BenchCase {
    pub(super) name: &'static str,
    /// Pairs that count, after one that does not.
    pub(super) pairs: u32,
    /// Whether `{file}` has to be a file of 1 GiB in the page cache.
    pub(super) needs_file: bool,
    pub(super) words: &'static [&'static str],
    pub(super) targets: &'static [BenchTarget],
}

/// A figure and its bound.
pub(super) struct BenchTarget {
    pub(super) figure: BenchFigure,
    pub(super) at_least: bool,
    pub(super) value: f64,
}

/// What is bounded: ratios are Fathom's figure over fio's.
pub(super) enum BenchFigure {
    IopsRatio,
    UserPerIoRatio,
    WallMillis,
}

pub(super) const CASES: &[BenchCase] = &[
    BenchCase {
        name: "null",
        pairs: 5,
        needs_file: false,
        words: &[
            "--name=null",
            "--ioengine=null",
            "--rw=randread",
            "--bs=4k",
            "--size=1g",
            "--iodepth=32",
            "--thread",
            "--time_based",
            "--runtime=3",
        ],
        targets: &[BenchTarget { figure: BenchFigure::IopsRatio, at_least: true, value: 8.0 }],
    },
    BenchCase {
        name: "cached",
        pairs: 5,
        needs_file: true,
        words: &[
            "--name=cached",
            "--filename={file}",
            "--ioengine=io_uring",
            "--rw=randread",
            "--bs=4k",
            "--size=1g",
            "--iodepth=32",
            "--invalidate=0",
            "--thread",
            "--time_based",
            "--runtime=3",
        ],
        targets: &[BenchTarget { figure: BenchFigure::IopsRatio, at_least: true, value: 2.0 }],
    },
    BenchCase {
        name: "direct",
        pairs: 5,
        needs_file: true,
        words: &[
            "--name=direct",
            "--filename={file}",
            "--ioengine=io_uring",
            "--rw=randread",
            "--bs=4k",
            "--size=1g",
            "--iodepth=32",
            "--direct=1",
            "--thread",
            "--time_based",
            "--runtime=5",
        ],
        targets: &[
            BenchTarget { figure: BenchFigure::IopsRatio, at_least: true, value: 1.0 },
            BenchTarget { figure: BenchFigure::UserPerIoRatio, at_least: false, value: 0.5 },
        ],
    },
    BenchCase {
        name: "start",
        pairs: 11,
        needs_file: false,
        words: &["--name=start", "--ioengine=null", "--rw=read", "--bs=4k", "--size=4k", "--thread"],
        targets: &[BenchTarget { figure: BenchFigure::WallMillis, at_least: false, value: 30.0 }],
    },
];
