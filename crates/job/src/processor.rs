//! Jobs that transfer nothing: `cpuio` loads the CPU, and `exec` runs a program.

use units::{Bytes, Nanos, PerKind, Problem, ProblemCode};

use crate::draft::JobDraft;
use crate::model::{BlockSizes, EngineKind, Job, JobExtent, Pattern, Size, ThinktimeBlocks};
use crate::strict::StrictContext;

/// Size of the operation that stands for a burst, or for a slice of the program's time, in bytes. It moves no data.
const BURST_BYTES: u32 = 4096;

/// Makes each burst or slice a read of the same block, followed by the idle time of a load. As in fio, the directions,
/// sizes and rates of the job have no effect.
pub(crate) fn complete(job: &mut Job) {
    let engine = job.engine.kind;
    if !engine.moves_nothing() {
        return;
    }
    job.engine.program.outlasts_program = job.extent.time_based;
    let defaults = JobDraft::default().job;
    job.pattern = Pattern {
        block_sizes: PerKind::from_slots(|_| BlockSizes::Fixed(BURST_BYTES)),
        randrepeat: job.pattern.randrepeat,
        randseed: job.pattern.randseed,
        ..defaults.pattern
    };
    job.extent = JobExtent {
        size: Some(Size::Bytes(Bytes::new(u64::from(BURST_BYTES)))),
        // A number of bursts is also an amount of data.
        time_based: job.extent.number_ios.is_none(),
        io_size: job.extent.number_ios.map(|bursts| Size::Bytes(Bytes::new(bursts.saturating_mul(BURST_BYTES.into())))),
        number_ios: job.extent.number_ios,
        runtime: job.extent.runtime,
        ramp_time: job.extent.ramp_time,
        steady: job.extent.steady,
        startdelay: job.extent.startdelay,
        ..defaults.extent
    };
    job.files = defaults.files;
    job.verify = defaults.verify;
    let pace = &mut job.pace;
    pace.rate = PerKind::default();
    pace.thinktime = if engine == EngineKind::Cpuio { job.engine.processor.pause() } else { Nanos::ZERO };
    pace.thinktime_blocks = 1;
    pace.thinktime_blocks_type = ThinktimeBlocks::Complete;
    pace.thinktime_iotime = defaults.pace.thinktime_iotime;
}

/// Returns what makes such a job impossible.
pub(crate) fn check(job: &Job, context: &StrictContext<'_>) -> Option<Problem> {
    let engine = job.engine.kind;
    if !engine.moves_nothing() {
        return None;
    }
    if job.replay.is_some() {
        let message = format!("`{}` transfers no data to record in a trace", engine.name());
        return Some(
            context
                .error(ProblemCode::MissingOption, "ioengine", &message)
                .help("choose a storage engine, such as io_uring"),
        );
    }
    if engine == EngineKind::Exec {
        return job.engine.program.path.is_empty().then(|| {
            context
                .error(ProblemCode::MissingOption, "ioengine", "`exec` needs a program")
                .note("fio refuses the job")
                .help("write for example `program=/usr/bin/iostat`, and `arguments=-x 1`")
        });
    }
    (job.engine.processor.percent == 0).then(|| {
        context
            .error(ProblemCode::MissingOption, "ioengine", "`cpuio` needs a load")
            .note("fio refuses the job")
            .help("write for example `cpuload=50`, in percent")
    })
}
