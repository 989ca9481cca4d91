//! Log files: those of `fathom fio` beside fio's, and their content against its rules on models.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use crate::common::cases::at_night;
use crate::common::host::timed;
use crate::common::json::Json;
use crate::common::pair::{ours, theirs};
use crate::common::{Running, Scratch, fathom, require, run, wait_for, words};

type Program = fn(&Scratch, &str) -> Command;

/// Returns the numbers of each line of a log. Priorities in hexadecimal digits count as decimal ones.
fn table(text: &str) -> Vec<Vec<u64>> {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).expect("hexadecimal digits"),
        None => text.parse().unwrap_or_else(|_| panic!("`{text}` is not a number")),
    };
    text.lines().map(|line| line.split(", ").map(number).collect()).collect()
}

fn column(table: &[Vec<u64>], column: usize) -> Vec<u64> {
    table.iter().map(|line| line[column]).collect()
}

/// Returns the logs that a program writes, by name.
fn logs(program: Program, line: &str) -> BTreeMap<String, String> {
    let scratch = Scratch::new();
    run(&mut program(&scratch, line)).expect_code(0);
    let names = scratch.names().into_iter().filter(|name| name.contains(".log"));
    names
        .map(|name| {
            (name.clone(), String::from_utf8_lossy(&std::fs::read(scratch.path(&name)).expect("a file")).into_owned())
        })
        .collect()
}

/// Returns the columns of a log whose values do not depend on time, all but the first two, in an order that does not
/// depend on which of several operations completed first.
fn shape(text: &str) -> Vec<Vec<u64>> {
    let mut lines: Vec<Vec<u64>> = table(text).into_iter().map(|line| line[2..].to_vec()).collect();
    lines.sort();
    lines
}

const ALL: &str = "--write_lat_log=l --write_bw_log=l --write_iops_log=l";

const BUFFERED: &str = "--name=x --filename=data --size=64k --bs=4k --rw=read --write_lat_log=l";

/// Returns jobs as one command line. Names, files and logs of each have its number.
fn all_jobs(lines: &[String]) -> String {
    let numbered = |(number, line): (usize, &String)| {
        let line = line.replace("=x ", &format!("=x{number} ")).replace("=data ", &format!("=data{number} "));
        // Logs named `l` without a number would be those of all jobs.
        let words = line.split(' ').map(|word| match word.split_once('=') {
            Some((option, prefix @ ("l" | "w"))) => format!("{option}={prefix}{number} "),
            _ => format!("{word} "),
        });
        words.collect::<String>()
    };
    lines.iter().enumerate().map(numbered).collect()
}

#[test]
fn logs_of_operations_are_those_of_fio() {
    require!(Fio);
    // Sequential offsets, so that all columns but time and value are equal.
    let null = "--name=x --ioengine=null --size=64k --bs=4k";
    let lines = [
        format!("{null} --rw=read --iodepth=4 {ALL}"),
        format!("{null} --rw=write --iodepth=4 {ALL} --log_offset=1 --log_prio=1"),
        format!("{null} --rw=trimwrite --iodepth=4 {ALL} --log_offset=1"),
        format!("{null} --rw=trim --bs=8k --iodepth=4 {ALL} --log_offset=1"),
        format!("{null} --rw=read --iodepth=4 {ALL} --log_compression=4k --log_entries=4096"),
        format!("{null} --rw=read --iodepth=4 {ALL} --disable_lat=1"),
        format!("{null} --rw=read --iodepth=4 {ALL} --disable_clat=1"),
        format!("{null} --rw=read --iodepth=4 {ALL} --disable_slat=1"),
        format!("{null} --rw=read --iodepth=4 {ALL} --disable_bw=1"),
        format!("{null} --rw=read --iodepth=4 {ALL} --gtod_reduce=1"),
        format!("{null} --rw=read --iodepth=4 {ALL} --stats=0"),
        format!("{null} --rw=read --numjobs=2 --thread --iodepth=4 {ALL} --per_job_logs=0"),
        "--name=x --filename=data --ioengine=psync --size=64k --bs=4k --rw=write --write_lat_log=l".to_owned(),
        format!("{BUFFERED} --ioengine=psync --prio=3 --log_prio=1"),
        format!("{BUFFERED} --ioengine=psync --prioclass=3 {ALL}"),
        format!("{BUFFERED} --ioengine=libaio --cmdprio_percentage=100 --cmdprio_class=2 --cmdprio=4 --log_prio=1"),
    ];
    let line = format!("--output=out {}", all_jobs(&lines));
    let of = |program: Program| -> BTreeMap<String, Vec<Vec<u64>>> {
        logs(program, &line).into_iter().map(|(name, text)| (name, shape(&text))).collect()
    };
    let (ours, theirs) = (of(ours), of(theirs));
    assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>(), "{line}");
    for (name, log) in &ours {
        assert_eq!(log, &theirs[name], "{name} of {line}");
    }
    for number in 0..lines.len() {
        assert!(ours.keys().any(|name| name.starts_with(&format!("l{number}_"))), "job {number} has no logs");
    }
}

#[test]
fn random_trims_and_writes_alternate_in_logs() {
    require!(Fio);
    let line =
        format!("--output=out --name=x --ioengine=null --size=1m --rw=randtrimwrite --iodepth=1 {ALL} --log_offset=1");
    let of = |program: Program| table(&logs(program, &line)["l_clat.1.log"]);
    let (ours, theirs) = (of(ours), of(theirs));
    assert_eq!((ours.len(), column(&ours, 2)), (theirs.len(), column(&theirs, 2)));
    for log in [ours, theirs] {
        assert!(column(&log, 4).chunks(2).all(|pair| pair[0] == pair[1]), "a block is trimmed, then written");
    }
}

#[test]
fn a_common_log_keeps_what_it_contains() {
    require!(Fio);
    for program in [ours as Program, theirs] {
        let scratch = Scratch::new();
        let line = "--output=out --name=x --ioengine=null --size=64k --numjobs=3 --per_job_logs=0 --write_iops_log=p";
        for runs in 1..=2 {
            run(&mut program(&scratch, line)).expect_code(0);
            assert_eq!(table(&scratch.read("p_iops.log")).len(), runs * 3 * 16);
        }
        assert_eq!(scratch.names(), ["out", "p_iops.log"]);
    }
}

#[test]
fn logs_without_prefix_are_named_after_their_jobs() {
    require!(Fio);
    let job = "[first]\nioengine=null\nsize=64k\nwrite_bw_log\nwrite_lat_log\nwrite_iops_log\nwrite_hist_log\n\
               log_hist_msec=100\n[second]\nioengine=null\nsize=64k\nwrite_iops_log=other\n";
    let names = |program: Program| {
        let scratch = Scratch::new();
        scratch.write("jobs.fio", job);
        run(&mut program(&scratch, "--output=out jobs.fio")).expect_code(0);
        scratch.names()
    };
    let ours = names(ours);
    assert_eq!(ours, names(theirs));
    assert!(ours.contains(&"first_clat_hist.1.log".to_owned()), "{ours:?}");
}

/// Options of all jobs.
const OUTPUT: &str = "--output=out --output-format=json";
/// A job of 1,000 operations per second for two seconds.
const PACED: &str = "--name=x --ioengine=null --size=1g --rw=read --bs=4k --rate_iops=1000 --time_based --runtime=2";

#[test]
fn averages_are_those_of_fio() {
    require!(Fio);
    timed("logs::averages_are_those_of_fio", compare_averages);
}

fn compare_averages() -> Result<(), String> {
    let line = format!("{OUTPUT} {PACED} {ALL} --log_avg_msec=500 --log_offset=1 --log_prio=1");
    let (ours, theirs) = both(|program| logs(program, &line));
    assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
    for (name, rate) in [("l_bw.1.log", 4_000), ("l_iops.1.log", 1_000), ("l_lat.1.log", 0)] {
        let (ours, theirs) = (table(&ours[name]), table(&theirs[name]));
        // fio is late by some milliseconds, and leaves out the last window of rates.
        if column(&ours, 0) != [500, 1_000, 1_500, 2_000] || theirs.len() < 3 {
            return Err(format!("{name}: {ours:?} {theirs:?}"));
        }
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!(ours[2..], theirs[2..], "{name}: averages have neither size nor offset");
            let is_near = ours[1].abs_diff(rate) * 50 <= rate && theirs[1].abs_diff(rate) * 5 <= rate;
            if theirs[0].abs_diff(ours[0]) > 50 || rate > 0 && !is_near {
                return Err(format!("{name}: {ours:?} {theirs:?}"));
            }
        }
    }
    Ok(())
}

/// Returns, for each job, the numbers of samples in the results, and the time between the entries of the bandwidth and the
/// IOPS log.
fn windows(program: Program, jobs: &[String]) -> Vec<[u64; 4]> {
    let scratch = Scratch::new();
    run(&mut program(&scratch, &format!("{OUTPUT} {}", all_jobs(jobs)))).expect_code(0);
    let results = Json::read(&scratch.read("out"));
    let of = |number: usize| {
        let samples = ["bw_samples", "iops_samples"].map(|name| results.whole(&format!("jobs/{number}/read/{name}")));
        let step = |kind: &str| {
            let name = scratch.path(&format!("w{number}_{kind}.{}.log", number + 1));
            let Ok(text) = std::fs::read_to_string(name) else { return 0 };
            let times = column(&table(&text), 0);
            let steps = times.windows(2).map(|pair| pair[1] - pair[0]);
            let (sum, count) = (steps.clone().sum::<u64>(), steps.count() as u64);
            (sum + 50 * count) / (100 * count.max(1)) * 100
        };
        [samples[0], samples[1], step("bw"), step("iops")]
    };
    (0..jobs.len()).map(of).collect()
}

/// Runs both programs at the same time.
fn both<T: Send>(of: impl Fn(Program) -> T + Sync) -> (T, T) {
    std::thread::scope(|scope| {
        let ours = scope.spawn(|| of(ours));
        let theirs = of(theirs);
        (ours.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause)), theirs)
    })
}

#[test]
fn windows_of_samples_and_logs_are_those_of_fio() {
    require!(Fio);
    let logged = "--write_bw_log=w --write_iops_log=w";
    let cases = [
        String::new(),
        "--bwavgtime=200 --iopsavgtime=1000".to_owned(),
        "--log_avg_msec=1000".to_owned(),
        format!("{logged} --log_avg_msec=1000"),
        format!("{logged} --log_avg_msec=300 --bwavgtime=1000 --iopsavgtime=600"),
        format!("{logged} --log_avg_msec=1000 --bwavgtime=200"),
    ];
    let mut jobs = cases.map(|options| format!("{PACED} --runtime=3 {options}")).to_vec();
    // A job that was as in fio once is not repeated.
    timed("logs::windows_of_samples_and_logs_are_those_of_fio", || {
        let (ours, theirs) = both(|program| windows(program, &jobs));
        let near = |(ours, theirs): (&u64, &u64)| ours.abs_diff(*theirs) * 5 <= (*theirs).max(5);
        let mut failures = Vec::new();
        for ((ours, theirs), job) in ours.iter().zip(&theirs).zip(std::mem::take(&mut jobs)) {
            // fio leaves out the sample of the last window, and some where it is late.
            let samples = ours[..2]
                .iter()
                .zip(&theirs[..2])
                .all(|(ours, theirs)| (-1..=4).contains(&(*ours as i64 - *theirs as i64)));
            if !samples || !ours[2..].iter().zip(&theirs[2..]).all(near) {
                failures.push(format!("{ours:?} {theirs:?}: {job}"));
                jobs.push(job);
            }
        }
        if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
    });
}

#[test]
fn histograms_are_those_of_fio() {
    require!(Fio);
    let mut cases = vec![(0, 1856), (2, 464), (6, 29)];
    timed("logs::histograms_are_those_of_fio", || {
        let job = |(coarseness, _): &(u32, usize)| {
            format!("{PACED} --runtime=1 --write_hist_log=l --log_hist_msec=300 --log_hist_coarseness={coarseness}")
        };
        let line = format!("{OUTPUT} {}", all_jobs(&cases.iter().map(job).collect::<Vec<_>>()));
        let (ours, theirs) = both(|program| logs(program, &line));
        let mut failures = Vec::new();
        for (number, (coarseness, buckets)) in std::mem::take(&mut cases).into_iter().enumerate() {
            let log =
                |logs: &BTreeMap<String, String>| table(&logs[&format!("l{number}_clat_hist.{}.log", number + 1)]);
            if let Err(failure) = compare_histograms(coarseness, buckets, &log(&ours), &log(&theirs)) {
                failures.push(failure);
                cases.push((coarseness, buckets));
            }
        }
        if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
    });
}

fn compare_histograms(coarseness: u32, buckets: usize, ours: &[Vec<u64>], theirs: &[Vec<u64>]) -> Result<(), String> {
    for log in [ours, theirs] {
        assert!(log.iter().all(|line| line.len() == buckets + 3 && line[1..3] == [0, 4096]), "{coarseness}");
    }
    // fio leaves out what follows the last whole window.
    let times = [ours, theirs].map(|log| column(log, 0));
    let are_near = times[1].iter().zip(&times[0]).all(|(theirs, ours)| theirs.abs_diff(*ours) <= 150);
    if times[0] != [300, 600, 900, 1_000] || times[1].len() < 2 || !are_near {
        return Err(format!("{coarseness}: {times:?}"));
    }
    let counted = ours.iter().flat_map(|line| &line[3..]).sum::<u64>();
    assert!(counted <= 1_001, "{counted} of 1000");
    if counted >= 990 { Ok(()) } else { Err(format!("{counted} of 1000")) }
}

#[test]
fn log_times_follow_a_clock() {
    require!(Fio);
    let unix_ms = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_millis() as u64;
    let line = format!(
        "{OUTPUT} {PACED} --runtime=1 --write_iops_log=l --write_hist_log=l --log_hist_msec=200 --log_avg_msec=200"
    );
    both(|program| {
        for (options, ends) in [
            ("--log_unix_epoch=1", unix_ms as fn() -> u64),
            ("--log_alternate_epoch=1 --log_alternate_epoch_clock_id=1", uptime_ms),
        ] {
            timed("logs::log_times_follow_a_clock", || {
                let before = ends();
                let logs = logs(program, &format!("{line} {options}"));
                for name in ["l_iops.1.log", "l_clat_hist.1.log"] {
                    let times = column(&table(&logs[name]), 0);
                    let is_within = |time: &u64| (before + 200..=ends() + 50).contains(time);
                    assert!(times.iter().all(is_within), "{options}: {before} {times:?}");
                    if times.len() < 2 || !(180..=300).contains(&(times[1] - times[0])) {
                        return Err(format!("{options}: {times:?}"));
                    }
                }
                Ok(())
            });
        }
    });
    let line = format!("{line} --log_alternate_epoch=1 --log_alternate_epoch_clock_id=99");
    let refused = run(&mut ours(&Scratch::new(), &line)).expect_code(1);
    assert!(refused.stderr.contains("log_alternate_epoch_clock_id=99: cannot read this clock"), "{}", refused.stderr);
}

fn uptime_ms() -> u64 {
    let text = std::fs::read_to_string("/proc/uptime").expect("Linux");
    let seconds: f64 = text.split(' ').next().and_then(|word| word.parse().ok()).expect("seconds");
    (seconds * 1000.0) as u64
}

/// Runs a job that compresses its logs. fio 3.33 sometimes waits forever for its own threads then, and is run again. Its jobs
/// have to be threads: processes would outlive it and keep its output open.
fn logged(program: Program, line: &str) -> Scratch {
    // A slow host needs some seconds.
    for patience_s in [20, 40, 80, 160] {
        let scratch = Scratch::new();
        let mut running = Running::start(&mut program(&scratch, line));
        let began = Instant::now();
        while !running.has_ended() && began.elapsed() < Duration::from_secs(patience_s) {
            std::thread::sleep(Duration::from_millis(20));
        }
        if running.has_ended() {
            running.end().expect_code(0);
            return scratch;
        }
        running.signal("KILL");
        running.end();
    }
    panic!("{line}: it did not end in any of four runs");
}

#[test]
fn each_program_inflates_the_logs_of_the_other() {
    require!(Fio);
    let inflate = |program: Program, scratch: &Scratch, name: &str| {
        run(&mut program(scratch, &format!("--inflate-log={name}"))).expect_code(0).stdout
    };
    let cases = ["", "--log_offset=1", "--log_offset=1 --log_prio=1", "--log_compression=4k", "--log_avg_msec=1"];
    for (number, options) in cases.into_iter().enumerate() {
        let line = format!(
            "--output=out --name=x --thread --ioengine=null --size=20m --rw=read --iodepth=4 {ALL} {options} \
                            --log_store_compressed=1 --log_compression_cpus=0"
        );
        for program in [ours as Program, theirs] {
            let scratch = logged(program, &line);
            let names = ["l_clat.1.log.fz", "l_slat.1.log.fz", "l_lat.1.log.fz", "l_bw.1.log.fz", "l_iops.1.log.fz"];
            // By day two logs of each run, each log with two of the options.
            let is_tried = |of_name: usize| at_night() || [0, 1].contains(&((number + of_name) % names.len()));
            for (_, name) in names.iter().enumerate().filter(|(of_name, _)| is_tried(*of_name)) {
                let (a, b) = (inflate(ours, &scratch, name), inflate(theirs, &scratch, name));
                assert_eq!(a, b, "{name} {options}");
                let lines = table(&a).len();
                assert!(lines == 5120 || options.contains("avg") && lines < 5120, "{name} {options}: {lines}");
            }
        }
    }
    for (name, reason) in [("nothing", "No such file"), ("text", "not a compressed log")] {
        let scratch = Scratch::new();
        scratch.write("text", "500, 1, 0, 4096, 0\n");
        let refused = run(&mut ours(&scratch, &format!("--inflate-log={name}"))).expect_code(1);
        assert!(refused.stderr.contains(reason), "{}", refused.stderr);
    }
}

#[test]
fn the_total_bandwidth_is_logged_under_a_name() {
    timed("logs::the_total_bandwidth_is_logged_under_a_name", || {
        let scratch = Scratch::new();
        run(&mut ours(&scratch, &format!("--bandwidth-log=total {OUTPUT} {PACED}"))).expect_code(0);
        assert_eq!(scratch.names(), ["out", "total-read_bw.log", "total-trim_bw.log", "total-write_bw.log"]);
        let log = table(&scratch.read("total-read_bw.log"));
        assert!(log.iter().all(|line| line[2..] == [0, 0, 0]), "{log:?}");
        if log.iter().all(|line| line[1].abs_diff(4_000) < 1_000) { Ok(()) } else { Err(format!("{log:?}")) }
    });
}

#[test]
fn times_of_submission_need_latencies_and_offsets() {
    let scratch = Scratch::new();
    let line = "--name=x --ioengine=null --size=64k --log_issue_time=1 --write_lat_log=l";
    let refused = run(&mut ours(&scratch, line)).expect_code(1);
    assert!(refused.stderr.contains("`log_issue_time` needs `write_lat_log` and `log_offset`"), "{}", refused.stderr);
    assert_eq!(scratch.names(), [""; 0]);
}

/// Every entry reaches its file within a second, so nothing but the last one is lost.
#[test]
fn logs_of_a_killed_run_are_complete() {
    timed("logs::logs_of_a_killed_run_are_complete", kill_logged_runs);
}

fn kill_logged_runs() -> Result<(), String> {
    let scratch = Scratch::new();
    let line = format!("{OUTPUT} {PACED} --runtime=3000 {ALL} --write_hist_log=l --log_hist_msec=500");
    let averaged = line.replace("=l", "=a") + " --log_avg_msec=500 --log_store_compressed=1";
    let began = Instant::now();
    let mut runs = [line, averaged].map(|line| Running::spawn(&mut ours(&scratch, &line)));
    let names = [
        "l_lat.1.log",
        "l_bw.1.log",
        "l_clat_hist.1.log",
        "a_clat.1.log.fz",
        "a_iops.1.log.fz",
        "a_clat_hist.1.log.fz",
    ];
    let is_filled = |name: &&str| scratch.path(name).metadata().is_ok_and(|file| file.len() > 0);
    wait_for("entries in all logs", || {
        assert!(!runs.iter_mut().any(Running::has_ended), "a run has ended");
        names.iter().all(is_filled)
    });
    std::thread::sleep(Duration::from_millis(2500));
    runs.iter().for_each(|run| run.signal("KILL"));
    let killed_ms = began.elapsed().as_millis() as u64;
    runs.into_iter().for_each(|run| drop(run.end()));
    let inflated = |name: &str| run(&mut ours(&scratch, &format!("--inflate-log={name}"))).expect_code(0).stdout;
    for name in names {
        let text = if name.ends_with(".fz") { inflated(name) } else { scratch.read(name) };
        assert!(text.ends_with('\n'), "{name}");
        let times = column(&table(&text), 0);
        let (last, count) = (times[times.len() - 1], times.len() as u64);
        let step = if name.contains("hist") || name.starts_with('a') { 500 } else { 1 };
        assert!(last <= killed_ms, "{name} ends at {last} ms of {killed_ms}");
        if last < 2_000 || count.abs_diff(last / step + 1) > 2 {
            return Err(format!("{name} ends at {last} ms, after {count} entries"));
        }
    }
    Ok(())
}

#[test]
fn every_operation_at_full_speed_is_logged() {
    let scratch = Scratch::new();
    let line = "--output=out --output-format=json --name=x --ioengine=null --size=1g --rw=randrw --numjobs=2 \
                --group_reporting --time_based --runtime=300ms --write_iops_log=l";
    run(&mut ours(&scratch, line)).expect_code(0);
    let results = Json::read(&scratch.read("out"));
    let ios: u64 = ["read", "write"].iter().map(|kind| results.whole(&format!("jobs/0/{kind}/total_ios"))).sum();
    let lines =
        |name: &str| std::fs::read(scratch.path(name)).expect("a file").iter().filter(|&&byte| byte == b'\n').count();
    assert_eq!(ios, (lines("l_iops.1.log") + lines("l_iops.2.log")) as u64);
}

/// A job on a model, whose operations have the same times in every run.
fn simulated(options: &str) -> BTreeMap<String, String> {
    let scratch = Scratch::new();
    let line = format!(
        "--name=x --ioengine=libaio --direct=1 --rw=randrw --rwmixread=70 --bssplit=4k/50:16k/50 --size=1g --iodepth=4 --runtime=1 --time_based --ramp_time=100ms \
         --write_lat_log=l --write_bw_log=l --write_iops_log=l --write_hist_log=l --log_offset=1 {options}"
    );
    let mut command = fathom(["sim", "--on", "aws/gp3"]);
    run(command.args(words(&line)).current_dir(&scratch)).expect_one_of(&[0, 3, 4]);
    let names = scratch.names().into_iter();
    names.map(|name| (name.clone(), scratch.read(&name))).collect()
}

/// Returns the values of operations by window of 100 ms and kind. The last window ends with the run.
fn by_window(log: &str) -> BTreeMap<(u64, u64), Vec<u64>> {
    let lines = table(log);
    let end = lines[lines.len() - 1][0];
    let mut windows = BTreeMap::<(u64, u64), Vec<u64>>::new();
    for line in lines {
        windows.entry((((line[0] / 100 + 1) * 100).min(end), line[2])).or_default().push(line[1]);
    }
    windows
}

#[test]
fn averages_and_histograms_follow_from_the_operations() {
    let each = simulated("--log_hist_msec=100");
    let averaged =
        |values: &str| simulated(&format!("--log_hist_msec=100 --log_avg_msec=100 --log_window_value={values}"));
    let (means, maxima, both) = (averaged("avg"), averaged("max"), averaged("both"));
    assert_eq!(means, averaged("0"));
    assert_eq!(maxima, averaged("1"));
    for name in ["l_clat.1.log", "l_slat.1.log", "l_lat.1.log"] {
        let operations = by_window(&each[name]);
        assert!(operations.len() >= 20, "{name}: ten windows of reads and of writes");
        let of = |log: &str| -> BTreeMap<(u64, u64), Vec<u64>> {
            let direction = |line: &[u64]| line.len() - 4;
            table(log)
                .iter()
                .map(|line| ((line[0], line[direction(line)]), line[1..direction(line)].to_vec()))
                .collect()
        };
        let expected = |values: fn(&[u64]) -> Vec<u64>| -> BTreeMap<(u64, u64), Vec<u64>> {
            operations.iter().map(|(window, latencies)| (*window, values(latencies))).collect()
        };
        let mean = |latencies: &[u64]| vec![latencies.iter().sum::<u64>() / latencies.len() as u64];
        let max = |latencies: &[u64]| vec![latencies.iter().copied().max().unwrap_or(0)];
        assert_eq!(of(&means[name]), expected(mean), "{name}");
        assert_eq!(of(&maxima[name]), expected(max), "{name}");
        assert_eq!(
            of(&both[name]),
            expected(|all| vec![all.iter().sum::<u64>() / all.len() as u64, all.iter().copied().max().unwrap_or(0)])
        );
    }
    // Rates have one value, twice in a log of both.
    let operations = by_window(&each["l_iops.1.log"]);
    for line in table(&both["l_iops.1.log"]) {
        let rate = operations[&(line[0], line[3])].len() as u64 * 10;
        assert_eq!(line[1..], [rate, rate, line[3], 0, 0, 0]);
    }
    let mut counted = BTreeMap::new();
    for line in table(&each["l_clat_hist.1.log"]) {
        counted.insert((line[0], line[1]), line[3..].to_vec());
    }
    let latencies = by_window(&each["l_clat.1.log"]);
    assert_eq!(counted.keys().collect::<Vec<_>>(), latencies.keys().collect::<Vec<_>>());
    for (window, latencies) in latencies {
        let mut buckets = vec![0; meter::BUCKETS];
        latencies.iter().for_each(|latency| buckets[meter::bucket_of(*latency)] += 1);
        assert_eq!(counted[&window], buckets, "{window:?}");
    }
}

#[test]
fn operations_have_their_times_of_submission() {
    let logs = simulated("--log_hist_msec=100 --log_issue_time=1");
    let of = |name: &str| table(&logs[name]);
    for (time, latency) in of("l_clat.1.log").iter().zip(of("l_lat.1.log")) {
        assert_eq!((time[5], latency[5], latency[6]), (0, 0, 0));
        // The first ones were submitted during the ramp.
        let ends = (time[6] + time[1]) / 1_000_000;
        assert!(ends == time[0] || time[6] == 0, "submission and service end at the completion: {time:?}");
    }
    assert_eq!(column(&of("l_clat.1.log"), 6), column(&of("l_slat.1.log"), 6));
    assert!(of("l_bw.1.log").iter().chain(&of("l_iops.1.log")).all(|line| line[6] == 0));
    // Virtual time begins at zero, on every clock.
    assert_eq!(simulated("--log_hist_msec=100 --log_unix_epoch=1"), simulated("--log_hist_msec=100"));
}

#[test]
fn an_interval_of_histograms_is_required() {
    let scratch = Scratch::new();
    let mut command = fathom(["run", "--name=x", "--ioengine=null", "--size=64k", "--write_hist_log=l"]);
    let refused = run(command.current_dir(&scratch)).expect_code(2);
    assert!(refused.stderr.contains("`write_hist_log` needs `log_hist_msec`"), "{}", refused.stderr);
}
