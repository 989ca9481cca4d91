//! Terse output: which lines are one run, and in which layouts they are read.

use record::{EstimatedLoad, Input, Run, UnifiedReport, read_inputs};

use crate::inputs::run;

/// A line of terse output, as fio 3.33 prints it.
#[derive(Clone, Copy)]
struct TerseJob {
    version: u32,
    name: &'static str,
    group: u32,
    /// KiB, IOPS and runtime of each printed kind.
    kinds: &'static [(u64, u64, u64)],
    /// Longest service time, in microseconds.
    longest_us: u64,
    context_switches: u64,
    devices: &'static str,
}

const BUSY: &str = ";sdx;4000;0;0;0;210;0;210;21.50%";
const BUSIER: &str = ";sdx;9000;0;0;0;480;0;480;48.50%";

/// Reads of 4 KiB at 250 per second for 4 seconds.
const READS: (u64, u64, u64) = (4000, 250, 4000);
const NONE: (u64, u64, u64) = (0, 0, 0);

const JOB: TerseJob = TerseJob {
    version: 3,
    name: "r",
    group: 0,
    kinds: &[READS, NONE],
    longest_us: 900,
    context_switches: 1000,
    devices: BUSY,
};

impl TerseJob {
    fn line(self) -> String {
        let Self { version, name, group, kinds, longest_us, context_switches, devices } = self;
        let program = if version > 2 { ";fio-3.33" } else { "" };
        let mut line = format!("{version}{program};{name};{group};0");
        for (kib, iops, ms) in kinds {
            let times = if *kib > 0 { format!("50;{longest_us};100.5;20.25") } else { "0;0;0.0;0.0".to_owned() };
            let percentiles = [&["50.000000%=95"][..], &["0%=0"; 19]].concat().join(";");
            line += &format!(";{kib};{};{iops};{ms};0;0;0.0;0.0;{times};{percentiles};{times}", kib / 4);
            line += ";0;0;0.0%;0.0;0.0";
            line += if version == 5 { ";0;0;0;0.0;0.0;0" } else { "" };
        }
        let shares = [&["100.0%"][..], &["0.0%"; 28]].concat().join(";");
        format!("{line};1.0%;2.0%;{context_switches};0;9;{shares}{devices}\n")
    }
}

fn runs(lines: &[TerseJob]) -> Vec<Run> {
    let text: String = lines.iter().map(|line| line.line()).collect();
    let parts = read_inputs("terse", text.as_bytes()).unwrap().parts;
    let run = |input| match input {
        Input::Run(run) => *run,
        other => panic!("{other:?}"),
    };
    parts.into_iter().map(|part| run(part.input)).collect()
}

/// Returns the number of jobs of each run.
fn jobs(lines: &[TerseJob]) -> Vec<usize> {
    runs(lines).iter().map(|run| run.jobs.len()).collect()
}

/// Every line of a repeated name was a run, so that four clones were four runs.
#[test]
fn clones_are_jobs_of_the_run_whose_devices_they_share() {
    let clone = |longest_us, context_switches| TerseJob { longest_us, context_switches, ..JOB };
    let writes = TerseJob { name: "w", ..JOB };
    assert_eq!(jobs(&[clone(900, 1000), clone(800, 1010), clone(950, 990)]), [3]);
    assert_eq!(jobs(&[writes, clone(900, 1000), clone(800, 1010), clone(950, 990)]), [4]);
    let notes = |run: &Run| run.notes.iter().filter(|note| note.text.starts_with("terse output")).count();
    assert_eq!(notes(&runs(&[clone(900, 1000), clone(800, 1010)])[0]), 1, "one note for all clones");
}

#[test]
fn lines_with_other_devices_are_of_other_runs() {
    let other = TerseJob { devices: BUSIER, ..JOB };
    assert_eq!(jobs(&[JOB, other]), [1, 1]);
    assert_eq!(jobs(&[TerseJob { name: "w", ..JOB }, other]), [1, 1]);
    // A few requests may be as many in two runs, and some devices are not reported at all.
    for devices in [";sdx;0;2;0;1;0;3;3;0.10%", ""] {
        let idle = TerseJob { devices, ..JOB };
        let short = TerseJob { longest_us: 800, ..idle };
        assert_eq!(jobs(&[idle, short]), [1, 1], "{devices:?}");
        assert_eq!(jobs(&[TerseJob { name: "w", ..idle }, short]), [2], "{devices:?}");
    }
}

/// A run begins with group 0.
#[test]
fn groups_tell_where_runs_begin() {
    let of = |name, group, longest_us| TerseJob { name, group, longest_us, devices: "", ..JOB };
    assert_eq!(jobs(&[of("w", 0, 900), of("r", 1, 900), of("r", 1, 800), of("w", 0, 900), of("r", 1, 900)]), [3, 2]);
    assert_eq!(jobs(&[of("w", 1, 900), of("r", 0, 900)]), [1, 1]);
    assert_eq!(jobs(&[of("r", 1, 900), of("r", 1, 800)]), [1, 1], "these were selected out of others");
}

/// With `--status-interval`, the last reports have equal counts of devices. Each report was a run.
#[test]
fn later_reports_are_no_clones() {
    let report = |kinds, context_switches| TerseJob { kinds, context_switches, ..JOB };
    let (first, last): (&[_], &[_]) = (&[(3000, 250, 3000), NONE], &[(4000, 250, 4000), NONE]);
    let lines = [report(first, 900), report(first, 800), report(last, 1000), report(last, 990)];
    assert_eq!(jobs(&lines), [2]);
    let found = runs(&lines).remove(0);
    assert!(found.notes.iter().any(|note| note.text.contains("reported 2 times")), "{:?}", found.notes);
}

/// Each report was a run.
#[test]
fn reports_at_equal_intervals_are_on_one_run() {
    let at = |kinds, context_switches| TerseJob { kinds, context_switches, devices: "", ..JOB };
    let lines = [
        at(&[(900, 250, 900), NONE], 300),
        at(&[(1900, 250, 1900), NONE], 400),
        at(&[(2900, 250, 2900), NONE], 500),
        at(&[(3000, 250, 3000), NONE], 600),
    ];
    assert_eq!(runs(&lines).iter().map(|run| run.jobs[0].result.read.bytes >> 10).collect::<Vec<_>>(), [3000]);
    assert_eq!(jobs(&lines[..3]), [1, 1, 1], "these may be runs of different lengths");
}

/// Refused as cut off.
#[test]
fn unified_kinds_of_terse_output_are_read() {
    let unified = TerseJob { kinds: &[(8000, 500, 4000)], devices: "", ..JOB };
    let both: [TerseJob; 2] = [
        TerseJob { kinds: &[READS, READS, (8000, 500, 4000)], ..JOB },
        TerseJob { version: 5, kinds: &[READS, READS, NONE, (8000, 500, 4000)], ..JOB },
    ];
    let found = run(&unified.line());
    let result = &found.jobs[0].result;
    assert_eq!((result.read.ios, result.write.ios), (2000, 0));
    assert_eq!(found.jobs[0].declared.unified, UnifiedReport::Mixed);
    assert!(found.notes.iter().any(|note| note.text.ends_with("count as reads")), "{:?}", found.notes);
    for job in both {
        let found = run(&job.line());
        let result = &found.jobs[0].result;
        assert_eq!((result.read.ios, result.write.ios, found.disks.len()), (1000, 1000, 1), "version {}", job.version);
    }
}

/// Version 2 was said to have no IOPS.
#[test]
fn version_2_of_terse_output_is_read() {
    let found = run(&TerseJob { version: 2, kinds: &[READS, NONE, NONE], devices: "", ..JOB }.line());
    let job = &found.jobs[0];
    assert_eq!((job.name.as_str(), job.result.read.ios, found.tool.version.as_str()), ("r", 1000, ""));
    assert_eq!(job.result.read.service.percentile_ns(50.0), Some(95_000));
}

#[test]
fn shifted_fields_are_not_called_cut_off() {
    let refused = |line: &str| read_inputs("terse", line.as_bytes()).unwrap_err();
    let line = TerseJob { name: "4k;read", ..JOB }.line();
    assert!(refused(&line).what.contains("a name may contain `;`"), "{}", refused(&line));
    let cut = JOB.line();
    assert!(refused(&cut[..300]).what.contains("truncated"), "{}", refused(&cut[..300]));
}

/// A job that only discards had no result to judge, and no reason why.
#[test]
fn version_3_is_said_to_leave_out_discards() {
    let found = run(&TerseJob { kinds: &[NONE, NONE], ..JOB }.line());
    assert!(found.notes.iter().any(|note| note.text.contains("omits discards")), "{:?}", found.notes);
}

/// The estimated depth looked like an option of the job.
#[test]
fn the_load_of_terse_output_is_estimated() {
    assert_eq!(run(&JOB.line()).jobs[0].declared.estimated, EstimatedLoad::DepthAndWorkers);
}

/// A job that wrote and then read back had the rate of both at the same time, and two workers.
#[test]
fn reading_back_after_writing_takes_the_time_of_both() {
    let kinds = &[(4000, 500, 2000), (4000, 250, 4000)];
    let found = run(&TerseJob { kinds, ..JOB }.line());
    let job = &found.jobs[0];
    assert_eq!((job.result.elapsed_ns(), job.workers, job.declared.verify), (6_000_000_000, 1, true));
    assert!((job.result.iops() - 2000.0 / 6.0).abs() < 1.0, "{}", job.result.iops());
    assert!(found.notes.iter().any(|note| note.text.contains("verification after writing")), "{:?}", found.notes);
    // A mix reads for as long as it writes.
    let mixed = run(&TerseJob { kinds: &[READS, READS], ..JOB }.line());
    assert_eq!(mixed.jobs[0].result.elapsed_ns(), 4_000_000_000);
}
