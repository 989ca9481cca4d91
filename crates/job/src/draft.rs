//! A job under construction, and fio's defaults.

use units::{Bytes, Nanos, PerKind};

use crate::model::*;

/// Percentiles reported unless `percentile_list` names others.
pub(crate) const PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];

/// A job whose interdependent settings are kept apart until all options have been read.
#[derive(Clone, Debug)]
pub(crate) struct JobDraft {
    pub(crate) job: Job,
    /// `bs`, for reads, writes and trims.
    pub(crate) bs: [u64; 3],
    /// `bsrange`, which takes precedence over `bs`.
    pub(crate) ranges: [Option<(u64, u64)>; 3],
    /// `bssplit`, which takes precedence over both.
    pub(crate) splits: [Option<Vec<(u64, u32)>>; 3],
    /// `ba`.
    pub(crate) align: [Option<u64>; 3],
    /// Options of a replay, which apply if there is a trace.
    pub(crate) replay: ReplayOptions,
    /// Whether `sprandom` is on, and its options.
    pub(crate) preconditioning: (bool, Preconditioning),
    /// `merge_blktrace_file` and its lists.
    pub(crate) merge: MergeDraft,
    /// `steadystate` and its times, which apply if there is a duration.
    pub(crate) steady: SteadyState,
    /// `random_sequence_stride`.
    pub(crate) sequence_stride: bool,
    /// Options of zones.
    pub(crate) zones: ZoneDraft,
    /// `replay_no_stall`, which takes precedence over any speed.
    pub(crate) no_stall: bool,
    /// `replay_redirect`, which takes precedence over `filename`.
    pub(crate) redirect: Option<String>,
    /// `name`, which overrides the title of the section.
    pub(crate) name: Option<String>,
    /// Whether `ioengine` named an engine that Fathom supports.
    pub(crate) engine_known: bool,
}

/// Options of merged traces.
#[derive(Clone, Debug, Default)]
pub(crate) struct MergeDraft {
    /// `merge_blktrace_file`; empty if traces are not merged.
    pub(crate) file: String,
    /// `merge_blktrace_scalars`, one percentage for each trace; empty for the times of the traces.
    pub(crate) percentages: Vec<f64>,
    /// `merge_blktrace_iters`, one number for each trace; empty for one iteration of each.
    pub(crate) iterations: Vec<f64>,
}

/// Values of `zonemode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ZoneMode {
    #[default]
    None,
    Strided,
    Zbd,
}

/// Options of zones.
#[derive(Clone, Debug, Default)]
pub(crate) struct ZoneDraft {
    /// `zonemode`.
    pub(crate) mode: ZoneMode,
    /// Options of `zonemode=zbd` beside `zonesize`.
    pub(crate) zoned: ZonedOptions,
    pub(crate) size: u64,
    pub(crate) range: u64,
    pub(crate) skip: Option<Size>,
}

impl JobDraft {
    /// Returns `kb_base` as set by the options read so far.
    pub(crate) const fn kb_base(&self) -> u32 {
        self.job.stats.kb_base
    }

    /// As [`Self::fill`], for the values of reads, writes and trims.
    pub(crate) fn fill_kinds<T: Clone>(kinds: &mut PerKind<T>, slot: usize, last: bool, value: &T) {
        let end = if last { 3 } else { (slot + 1).min(3) };
        (slot..end).for_each(|slot| *kinds.slot(slot) = value.clone());
    }

    /// Sets the value of one slot, and of all later slots if it is the last value of its list.
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
            replay: ReplayOptions::default(),
            preconditioning: (false, Preconditioning::default()),
            merge: MergeDraft::default(),
            steady: SteadyState::default(),
            sequence_stride: false,
            zones: ZoneDraft::default(),
            no_stall: false,
            redirect: None,
            name: None,
            engine_known: true,
        }
    }
}

/// fio's defaults.
impl Default for Job {
    fn default() -> Self {
        Self {
            name: String::new(),
            title: None,
            description: None,
            echo: Vec::new(),
            grouping: Grouping { numjobs: 1, ..Grouping::default() },
            ranks: JobRanks::default(),
            host: HostAttributes::default(),
            engine: EngineSpec::default(),
            command_priorities: CommandPriorities::default(),
            files: default_files(),
            extent: default_extent(),
            pattern: default_pattern(),
            pace: JobPace { iodepth: 1, batch_complete_min: 1, thinktime_blocks: 1, ..JobPace::default() },
            replay: None,
            sync: SyncOptions::default(),
            payload: JobPayload { scramble_buffers: true, compress_chunk: 512, ..JobPayload::default() },
            verify: VerifyOptions { do_verify: true, state_save: true, ..VerifyOptions::default() },
            stats: default_stats(),
            on_error: ErrorOptions::default(),
            origin: JobOrigin::default(),
        }
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
        create_fsync: true,
        create_only: false,
        file_append: false,
        fill_device: false,
        pre_read: false,
        unlink: false,
        unlink_each_loop: false,
        locking: FileLocking::None,
        advice: CacheHint::OfPattern,
        write_hint: None,
        opendir: None,
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
        offset_align: Bytes::ZERO,
        number_ios: None,
        loops: 1,
        runtime: Nanos::ZERO,
        time_based: false,
        ramp_time: Nanos::ZERO,
        ramp_size: Bytes::ZERO,
        steady: None,
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
        sizes_by_order: false,
        repeats_offset: false,
        zones: None,
        zoned: None,
        preconditioning: None,
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

fn default_stats() -> StatOptions {
    StatOptions {
        clat_percentiles: true,
        percentile_list: PERCENTILES.to_vec(),
        per_job_logs: true,
        disk_util: true,
        kb_base: 1024,
        significant_figures: 4,
        block_errors: false,
        stats: true,
        ..StatOptions::default()
    }
}
