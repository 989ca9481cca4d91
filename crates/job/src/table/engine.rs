//! Options of engines.

use super::foreign;
use super::spec::OptionKind::{Int, Text, Word};
use super::spec::{ANY, OptionSpec, accepted, int, special, switch, word};
use units::ProblemCode;

use crate::draft::JobDraft;
use crate::model::{BufferMemory, EngineKind};
use crate::read::Findings;

pub(super) static OPTIONS: &[OptionSpec] = &[
    special("ioengine", Text, ioengine, "I/O engine.").default("psync"),
    switch("direct", "0", "Bypass the page cache (O_DIRECT).", |d, on| d.job.engine.direct = on),
    switch("buffered", "1", "Use the page cache; the opposite of `direct`.", |d, on| d.job.engine.direct = !on),
    switch(
        "atomic",
        "0",
        "Issue atomic writes (RWF_ATOMIC, Linux 6.11) with io_uring, libaio and pvsync2; implies `direct`.",
        |d, on| d.job.engine.atomic = on,
    ),
    int("iodepth", (1, ANY), "Queue depth: the number of operations kept in flight.", |d, n| {
        d.job.pace.iodepth = n as u32;
    })
    .default("1"),
    int(
        "iodepth_batch",
        (0, ANY),
        "Number of operations to submit per call, 0 for all available; chosen automatically by default.",
        |d, n| d.job.pace.batch = Some(if n == 0 { u32::MAX } else { n as u32 }),
    )
    .alias(&["iodepth_batch_submit"]),
    int(
        "iodepth_batch_complete_min",
        (0, ANY),
        "Minimum number of completions to collect per call; 0 to poll.",
        |d, n| {
            d.job.pace.batch_complete_min = n as u32;
        },
    )
    .alias(&["iodepth_batch_complete"])
    .default("1"),
    int(
        "iodepth_batch_complete_max",
        (0, ANY),
        "Maximum number of completions to collect per call; all by default.",
        |d, n| {
            d.job.pace.batch_complete_max = (n > 0).then_some(n as u32);
        },
    ),
    int("iodepth_low", (0, ANY), "Refill the queue once the operations in flight drop to this number.", |d, n| {
        d.job.pace.iodepth_low = (n > 0).then_some(n as u32);
    }),
    switch("serialize_overlap", "0", "Delay operations that overlap one in flight.", |d, on| {
        d.job.pace.serialize_overlap = on;
    }),
    word(
        "io_submit_mode",
        &["inline", "offload"],
        "Submit from the worker, or from one helper thread per operation in flight.",
        |d, word, _, _| d.job.engine.offloads = word == "offload",
    )
    .default("inline"),
    word(
        "mem",
        &["malloc", "shm", "shmhuge", "mmap", "mmapshared", "mmaphuge"],
        "Memory type of buffers.",
        |d, w, _, _| d.job.engine.mem = memory(w),
    )
    .alias(&["iomem"])
    .default("malloc"),
    int("iomem_align", (0, ANY), "Buffer alignment in bytes; Fathom uses at least 4096.", |d, n| {
        d.job.engine.iomem_align = n as u32;
    })
    .alias(&["mem_align"])
    .default("0"),
    int("hugepage-size", (0, ANY), "Huge page size of `mem=mmaphuge` and `mem=shmhuge`, a power of two.", |d, n| {
        d.job.engine.hugepage_bytes = n as u32;
    })
    .default("2097152"),
    accepted(
        "clocksource",
        Word(&["gettimeofday", "clock_gettime", "cpu"]),
        "Clock for latencies.",
        "Fathom uses the fastest precise clock",
    ),
    accepted("gtod_cpu", Int(0, ANY), "CPU dedicated to reading the clock.", "reading the clock is cheap"),
];

fn memory(word: &str) -> BufferMemory {
    match word {
        "shm" => BufferMemory::Shm,
        "shmhuge" => BufferMemory::ShmHuge,
        "mmap" => BufferMemory::Mmap,
        "mmapshared" => BufferMemory::MmapShared,
        "mmaphuge" => BufferMemory::MmapHuge,
        _ => BufferMemory::Malloc,
    }
}

/// All engines that Fathom supports.
pub(crate) const ENGINES: [EngineKind; 29] = {
    use EngineKind::{
        Cpuio, Dircreate, Dirdelete, Dirstat, E4defrag, Exec, Falloc, Filecreate, Filedelete, Filestat, Ftruncate,
        Http, IoUring, IoUringCmd, Libaio, Mmap, Model, Nbd, Net, Netsplice, Null, Posixaio, Psync, Pvsync, Pvsync2,
        Sg, Splice, Sync, Vsync,
    };
    [
        IoUring, IoUringCmd, Libaio, Psync, Sync, Vsync, Pvsync, Pvsync2, Posixaio, Mmap, Splice, Filecreate, Filestat,
        Filedelete, Dircreate, Dirstat, Dirdelete, Ftruncate, Falloc, E4defrag, Sg, Nbd, Net, Netsplice, Http, Cpuio,
        Exec, Null, Model,
    ]
};

/// Resolves an alias of an engine. As in fio, any name that begins with `aio` or `linuxaio` is libaio.
pub(crate) fn engine_name(name: &str) -> &str {
    if ["aio", "linuxaio"].iter().any(|alias| name.starts_with(alias)) { EngineKind::Libaio.name() } else { name }
}

fn ioengine(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    // As in fio, what follows a colon is for the engine.
    let name = engine_name(text.split(':').next().unwrap_or(text));
    if let Some(engine) = ENGINES.into_iter().find(|engine| engine.name() == name) {
        draft.job.engine.kind = engine;
        draft.engine_known = true;
        return;
    }
    draft.engine_known = false;
    if let Some(foreign) = foreign::find(name) {
        findings
            .fault(
                0..text.len(),
                ProblemCode::NotSupported,
                format!("fio's engine `{name}` is not supported: {}", foreign.reason),
            )
            .help(foreign.help);
        return;
    }
    let names = ENGINES.map(EngineKind::name);
    let finding = findings.fault(0..text.len(), ProblemCode::UnknownValue, format!("unknown engine `{name}`"));
    match units::closest(name.trim(), names.into_iter()) {
        Some(near) => finding.help(format!("write `{near}`")),
        None => finding.help(format!("one of {}", names.join(", "))),
    };
}
