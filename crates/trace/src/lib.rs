//! Traces of I/O requests.
//!
//! A [`TraceRequest`] is one request of a block device, as the kernel issued and completed it.
//!
//! Out of scope: clocks, files and the kernel's trace buffers. Callers pass bytes and get bytes.

mod characterize;
mod export;
mod format;
mod import;
mod request;
mod scan;
mod study;
mod synthesis;
mod trace_format;
mod waiting;

pub use characterize::{
    ArrivalProfile, BurstProfile, Characterizer, DepthProfile, DeviceProfile, HotProfile, HotShare, HurstEstimate,
    LoopProfile, MissRatioPoint, PerOperation, ProcessProfile, ReuseProfile, RunProfile, SequentialProfile,
    SizeProfile, TraceDistribution, TraceFinding, TraceInterval, TraceProfile, TraceSeries, TraceSizeCount,
    TraceSizeRange, TraceTotals, WindowProfile, WorkingSetWindow, ZipfFit, trace_findings,
};
pub use export::{TraceCopy, TraceExport};
pub use format::{
    TRACE_HEADER_BYTES, TRACE_MARK, TRACE_VERSION, TraceBlockHeader, TraceBlockKind, TraceDamage, TraceEnd,
    TraceReader, TraceStep, TraceWriter, TraceWriterOptions,
};
pub use import::{TraceInput, set_letters};
pub use request::{TraceInfo, TraceOperation, TraceRequest};
pub use scan::{TraceCondition, TraceWindow, scan_trace};
pub use study::TraceStudy;
pub use synthesis::{
    Backlog, BacklogCounts, BacklogLimit, JobComparison, JobLoop, JobOmission, JobSection, JobSynthesizer,
    LoadDifference, LoadDimension, LoadLatency, SectionPace, SectionPattern, SynthesisError, SynthesizedJob,
    VolumeComparison, load_distance, wait_distance,
};
pub use trace_format::TraceFormat;
pub use waiting::{WaitingProcesses, kernel_thread};
