//! A job under construction.

use units::PerKind;
use units::{Bytes, Nanos};

use crate::model::*;

/// The 17 percentiles that are reported unless `percentile_list` says otherwise.
pub(crate) const PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];

/// Settings that depend on one another are kept apart here until every option has been seen.
#[derive(Clone, Debug)]
pub(crate) struct JobDraft {
    pub(crate) job: Job,
    /// `bs`, for reads, writes and trims.
    pub(crate) bs: [u64; 3],
    /// `bsrange`, which wins over `bs`.
    pub(crate) ranges: [Option<(u64, u64)>; 3],
    /// `bssplit`, which wins over both.
    pub(crate) splits: [Option<Vec<(u64, u32)>>; 3],
    /// `ba`.
    pub(crate) align: [Option<u64>; 3],
    /// `name`, which overrides the title of the section.
    pub(crate) name: Option<String>,
    /// Whether `ioengine` named an engine that Fathom has.
    pub(crate) engine_known: bool,
}

impl JobDraft {
    /// What fio's base for units is at this point.
    pub(crate) const fn kb_base(&self) -> u32 {
        self.job.stats.kb_base
    }

    /// Sets a value for one slot, and for all behind it if it is the list's last.
    pub(crate) fn fill<T: Clone>(slots: &mut [T], slot: usize, last: bool, value: &T) {
        let end = if last { slots.len() } else { (slot + 1).min(slots.len()) };
        if let Some(slots) = slots.get_mut(slot..end) {
            slots.fill(value.clone());
        }
    }
}

/// fio's defaults.
impl Default for JobDraft {
    fn default() -> Self {
        Self {
            job: Job::default(),
            bs: [4096; 3],
            ranges: [None; 3],
            splits: [None, None, None],
            align: [None; 3],
            name: None,
            engine_known: true,
        }
    }
}

/// fio's defaults.
impl Default for Job {
    fn default() -> Self {
        default_job()
    }
}

fn default_job() -> Job {
    Job {
        name: String::new(),
        description: None,
        echo: Vec::new(),
        grouping: Grouping { numjobs: 1, ..Grouping::default() },
        engine: default_engine(),
        files: default_files(),
        extent: default_extent(),
        pattern: default_pattern(),
        pace: default_pace(),
        sync: SyncOptions::default(),
        payload: JobPayload { scramble_buffers: true, ..JobPayload::default() },
        verify: default_verify(),
        stats: default_stats(),
        on_error: ErrorOptions::default(),
        origin: JobOrigin::default(),
    }
}

fn default_engine() -> EngineOptions {
    EngineOptions {
        engine: Engine::Psync,
        direct: false,
        hipri: false,
        fixedbufs: false,
        registerfiles: false,
        sqthread_poll: false,
        sqthread_poll_cpu: None,
        mem: BufferMemory::Malloc,
        iomem_align: 0,
        volume: None,
        uri: None,
    }
}

fn default_files() -> FileOptions {
    FileOptions {
        filenames: Vec::new(),
        directories: Vec::new(),
        filename_format: "$jobname.$jobnum.$filenum".to_owned(),
        nrfiles: 1,
        openfiles: None,
        service: FileService { order: FileOrder::RoundRobin, switch_every: 1 },
        filesize: None,
        create_on_open: false,
        fallocate: Fallocate::Native,
        overwrite: false,
        invalidate: true,
        open_sync: OpenSync::None,
        allow_mounted_write: false,
        allow_file_create: true,
    }
}

fn default_extent() -> JobExtent {
    JobExtent {
        size: None,
        io_size: None,
        offset: Size::Bytes(Bytes::ZERO),
        offset_increment: Size::Bytes(Bytes::ZERO),
        number_ios: None,
        loops: 1,
        runtime: Nanos::ZERO,
        time_based: false,
        ramp_time: Nanos::ZERO,
        startdelay: (Nanos::ZERO, Nanos::ZERO),
    }
}

fn default_pattern() -> Pattern {
    Pattern {
        direction: Direction::Read,
        random: false,
        modifier: 0,
        read_ppm: 500_000,
        block_sizes: PerKind::from_slots(|_| BlockSizes::Fixed(4096)),
        bs_unaligned: false,
        blockalign: None,
        norandommap: false,
        generator: Generator::Tausworthe,
        distribution: PerKind::default(),
        percentage_random: PerKind::from_slots(|_| 100),
        randrepeat: true,
        randseed: None,
    }
}

fn default_pace() -> JobPace {
    JobPace {
        iodepth: 1,
        batch: None,
        batch_complete_min: 1,
        batch_complete_max: None,
        iodepth_low: None,
        rate: PerKind::default(),
        rate_iops: PerKind::default(),
        process: Arrivals::Linear,
        thinktime: Nanos::ZERO,
        thinktime_spin: Nanos::ZERO,
        thinktime_blocks: 1,
        thinktime_blocks_type: ThinktimeBlocks::Complete,
        thinktime_iotime: Nanos::ZERO,
    }
}

fn default_verify() -> VerifyOptions {
    VerifyOptions {
        method: None,
        do_verify: true,
        fatal: false,
        dump: false,
        only: false,
        pattern: VerifyPattern::default(),
        interval: None,
        nonce: None,
    }
}

fn default_stats() -> StatOptions {
    StatOptions {
        gtod_reduce: false,
        disable_lat: false,
        disable_clat: false,
        disable_slat: false,
        disable_bw: false,
        clat_percentiles: true,
        lat_percentiles: false,
        slat_percentiles: false,
        percentile_list: PERCENTILES.to_vec(),
        write_lat_log: None,
        write_iops_log: None,
        write_bw_log: None,
        log_avg: Nanos::ZERO,
        log_offset: false,
        per_job_logs: true,
        disk_util: true,
        kb_base: 1024,
        unit_base: 0,
        stats: true,
    }
}
