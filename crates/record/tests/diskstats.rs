//! Series of copies of `/proc/diskstats`.

use record::{CounterFormat, Input, Iostat, IostatReport, read_input};
use units::{Place, Problem};

fn at(problem: &Problem) -> &Place {
    problem.place.as_deref().expect("a place")
}

fn read(text: &str) -> Result<Iostat, Problem> {
    match read_input("series", text.as_bytes(), None) {
        Ok(Input::Iostat(iostat)) => Ok(iostat),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error),
    }
}

/// As `fathom capture --sample` writes it.
const OURS: &str = "\
# fathom capture --sample 500ms: counters of vda (1073741824 bytes), below their times, as in /proc/diskstats
# host: vm
# cpus: 2
1764152855.000000000
cpu  100 0 50 800 50 0 0 0 0 0
 254       0 vda 1000 10 80000 500 2000 20 160000 4000 0 900 4500 5 0 1024 7 9 11
1764152855.500000000
cpu  120 0 60 850 70 0 0 0 0 0
 254       0 vda 1100 20 80800 700 2050 20 161600 4100 2 1150 4800 5 0 1024 7 19 31
1764152857.500000000
 254       0 vda 1100 20 80800 700 2050 20 161600 4100 0 1150 4800 5 0 1024 7 19 31
";

#[test]
fn two_copies_make_an_interval() {
    let iostat = read(OURS).unwrap();
    assert_eq!((iostat.format, iostat.cpus, iostat.host.as_deref()), (CounterFormat::Diskstats, Some(2), Some("vm")));
    assert_eq!(iostat.reports.len(), 2);
    assert_eq!(iostat.intervals().count(), 2);
    let report = &iostat.reports[0];
    assert_eq!((report.seconds, report.line, report.when.as_deref()), (Some(0.5), 7, Some("1764152855.500000000")));
    let device = &report.devices[0];
    assert_eq!((device.name.as_str(), device.line), ("vda", 9));
    assert_eq!((device.read.per_second, device.read.bytes_per_second), (Some(200.0), Some(819_200.0)));
    assert_eq!((device.read.await_ns, device.read.request_bytes), (Some(2e6), Some(4096.0)));
    assert_eq!((device.read.merges_per_second, device.read.merged), (Some(20.0), Some(10.0 / 110.0)));
    assert_eq!((device.write.per_second, device.write.request_bytes), (Some(100.0), Some(16_384.0)));
    assert_eq!((device.discard.per_second, device.flush.per_second), (Some(0.0), Some(20.0)));
    assert_eq!(device.flush.await_ns, Some(2e6));
    assert_eq!((device.in_flight, device.util), (Some(0.6), Some(0.5)));
    let cpu = report.cpu.unwrap();
    assert_eq!((cpu.user, cpu.system, cpu.idle, cpu.iowait), (0.2, 0.1, 0.5, 0.2));
    assert_eq!(iostat.reports[1].seconds, Some(2.0));
    assert!(iostat.reports[1].devices[0].is_idle() && iostat.reports[1].cpu.is_none());
}

#[test]
fn a_loop_of_date_and_cat_is_such_a_series() {
    let copy = |time: &str, reads: u64| {
        format!(
            "{time}\ncpu  1 0 1 {reads}\ncpu0 1 0 1 9\nintr 1 2\nctxt 5\nbtime 6\nprocs_running 1\n\n   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0\n   8       0 sda {reads} 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n   8       1 sda1 {reads} 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 99\n"
        )
    };
    let iostat = read(&(copy("1764152855", 5) + &copy("1764152856.5", 35))).unwrap();
    let devices = &iostat.reports[0].devices;
    assert_eq!(devices.iter().map(|device| device.name.as_str()).collect::<Vec<_>>(), ["loop0", "sda", "sda1"]);
    assert_eq!(devices[1].read.per_second, Some(20.0));
    assert_eq!((devices[0].discard.per_second, devices[1].discard.per_second), (None, Some(0.0)));
    assert_eq!((devices[1].flush.per_second, devices[2].flush.per_second), (None, Some(0.0)));
}

#[test]
fn counters_that_wrap_go_on_and_those_that_begin_anew_have_no_interval() {
    let at = |second: u64, reads: u64, ms: u64| format!("{second}\n8 0 sda {reads} 0 {reads} {ms} 0 0 0 0 0 0 0\n");
    let iostat = read(&(at(1, 4_294_967_290, 4_294_967_000) + &at(2, 14, 704) + &at(3, 24, 714))).unwrap();
    assert_eq!(iostat.reports[0].devices[0].read.per_second, Some(20.0));
    assert_eq!(iostat.reports[0].devices[0].read.await_ns, Some(50e6));
    let iostat = read(&(at(1, 1000, 50) + &at(2, 3, 1) + &at(3, 13, 1))).unwrap();
    let rates: Vec<_> = iostat.reports.iter().map(|report| report.devices.len()).collect();
    assert_eq!(rates, [0, 1]);
}

#[test]
fn what_cannot_be_read_is_refused_at_its_place() {
    let copy = "8 0 sda 1 0 8 1 0 0 0 0 0 0 0\n";
    for (text, line, what) in [
        (format!("{copy}{copy}"), 1, "no timestamp above it"),
        (format!("5\n{copy}"), 2, "no device has two copies"),
        (format!("5\n{copy}5\n{copy}"), 3, "not later than the previous one"),
        (format!("6\n{copy}5.9\n{copy}"), 3, "not later than the previous one"),
        (format!("5\n{copy}6\n8 0 sda 1 0 8 1\n{copy}"), 4, "14, 18 or 20 fields"),
        (format!("5\n{copy}6\n8 0 sda 1 0 8 1 0 0 0 0 0 0 18446744073709551616\n"), 4, "14, 18 or 20 fields"),
        (format!("5\n{copy}6\n8 0 sda 9 0 18446744073709551615 1 0 0 0 0 0 0 0\n"), 3, "impossibly large"),
        (format!("4 5\n5\n{copy}6\n{copy}"), 1, "neither a time nor a line of /proc/diskstats"),
        (format!("5\n{copy}6\n{}", copy.trim_end()), 4, "the last line has no newline"),
    ] {
        let error = read(&text).unwrap_err();
        assert_eq!(at(&error).line, line, "{text}: {error}");
        assert!(error.what.contains(what) && error.help.is_some(), "{text}: {error}");
    }
}

#[test]
fn no_end_of_a_series_is_taken_for_more_than_it_is() {
    let whole = read(OURS).unwrap();
    for end in 0..OURS.len() {
        if let Ok(part) = read(&OURS[..end]) {
            let are_whole = |(part, whole): (&IostatReport, &IostatReport)| whole.devices.starts_with(&part.devices);
            assert!(part.reports.iter().zip(&whole.reports).all(are_whole), "{end}");
            let rest = OURS[..end].rsplit('\n').next().unwrap_or_default();
            assert_eq!(part.notes.is_empty(), rest.trim().is_empty(), "{end}");
        }
    }
}

#[test]
fn series_of_pt_diskstats_are_read() {
    let copy = |time: &str, reads: u32| {
        format!("TS {time}\n8 0 sda {reads} 0 {reads} 10 0 0 0 0 0 0 0\n8 1 sda1 {reads} 8 0 0\n")
    };
    let text = copy("1764152855", 10) + &copy("1764152857.500000000 2025-11-26T10:27:37", 60);
    let iostat = read(&text).unwrap();
    let devices = &iostat.reports[0].devices;
    assert_eq!((devices.len(), devices[0].read.per_second, iostat.notes.len()), (1, Some(20.0), 1));
    let dated = copy("1764152855 2025-11-26 10:27:35", 10) + &copy("1764152857 2025-11-26 10:27:37", 60);
    assert_eq!(read(&dated).unwrap().reports[0].devices[0].read.per_second, Some(25.0));
}

/// `cat /proc/diskstats` was refused for lack of a time, though its counts have mean times.
#[test]
fn a_single_copy_has_times_since_boot() {
    let text = "   8       0 sda 100 5 8000 200 50 5 4000 400 0 300 600\n   8       1 sda1 100 5 8000 200 50 5 4000 400 0 300 600\n";
    let Ok(Input::Run(run)) = read_input("diskstats", text.as_bytes(), None) else { panic!("not read") };
    let job = &run.jobs[0];
    assert_eq!((run.jobs.len(), job.name.as_str(), job.untimed), (1, "sda", true));
    assert_eq!((job.result.read.latency.mean_ns, job.result.write.latency.mean_ns), (2e6, 8e6));
}

/// Copies above their times were refused, as old versions of `pt-diskstats` save them.
#[test]
fn times_may_stand_below_their_copies() {
    let copy = |reads: u64| format!("   8       0 sda {reads} 0 80 5 0 0 0 0 0 5 5\n");
    let text = format!("{}TS 100\n{}TS 101\n{}TS 103\n", copy(10), copy(40), copy(240));
    let rates =
        |iostat: &Iostat| -> Vec<f64> { iostat.reports.iter().map(|report| report.devices[0].iops()).collect() };
    assert_eq!(rates(&read(&text).unwrap()), [30.0, 100.0]);
    let cut = read(&(text + &copy(999))).unwrap();
    assert_eq!((rates(&cut), cut.notes.len()), (vec![30.0, 100.0], 1), "{:?}", cut.notes);
}
