//! The comparisons with fio and their targets.

/// A command line that both programs run.
pub(super) struct BenchCase {
    pub(super) name: &'static str,
    /// Counted pairs, after one warm-up pair.
    pub(super) pairs: u32,
    /// Whether `{file}` stands for a file of 1 GiB in the page cache.
    pub(super) needs_file: bool,
    pub(super) arguments: &'static str,
    pub(super) targets: &'static [BenchTarget],
}

/// A bound of a figure.
pub(super) struct BenchTarget {
    pub(super) figure: BenchFigure,
    pub(super) at_least: bool,
    pub(super) value: f64,
}

/// A bounded figure; ratios are Fathom's figure divided by fio's.
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
        arguments: "--name=null --ioengine=null --rw=randread --bs=4k --size=1g --iodepth=32 --thread --time_based --runtime=3",
        targets: &[BenchTarget { figure: BenchFigure::IopsRatio, at_least: true, value: 8.0 }],
    },
    BenchCase {
        name: "cached",
        pairs: 5,
        needs_file: true,
        arguments: "--name=cached --filename={file} --ioengine=io_uring --rw=randread --bs=4k --size=1g --iodepth=32 \
                    --invalidate=0 --thread --time_based --runtime=3",
        targets: &[BenchTarget { figure: BenchFigure::IopsRatio, at_least: true, value: 2.0 }],
    },
    BenchCase {
        name: "direct",
        pairs: 5,
        needs_file: true,
        arguments: "--name=direct --filename={file} --ioengine=io_uring --rw=randread --bs=4k --size=1g --iodepth=32 \
                    --direct=1 --thread --time_based --runtime=5",
        targets: &[
            BenchTarget { figure: BenchFigure::IopsRatio, at_least: true, value: 1.0 },
            BenchTarget { figure: BenchFigure::UserPerIoRatio, at_least: false, value: 0.5 },
        ],
    },
    BenchCase {
        name: "start",
        pairs: 11,
        needs_file: false,
        arguments: "--name=start --ioengine=null --rw=read --bs=4k --size=4k --thread",
        targets: &[BenchTarget { figure: BenchFigure::WallMillis, at_least: false, value: 30.0 }],
    },
];
