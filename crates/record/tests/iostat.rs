//! The installed `iostat` as reference: all options must give the same columns in the same units.

#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "tests run iostat and say what they skip")]

use std::process::Command;

use record::{Input, Iostat, IostatDevice, IostatReport, read_input};
use units::{Place, Problem};

/// Returns the output of `iostat`, or `None` after printing that the test is skipped.
fn at(problem: &Problem) -> &Place {
    problem.place.as_deref().expect("a place")
}

fn printed(words: &str) -> Option<String> {
    let words: Vec<&str> = words.split(' ').collect();
    let variables = words.iter().take_while(|word| word.contains('=') && !word.starts_with('-')).count();
    let mut command = Command::new("iostat");
    command.args(&words[variables..]).env("LC_ALL", "C");
    command.envs(words[..variables].iter().filter_map(|word| word.split_once('=')));
    let Ok(output) = command.output() else {
        assert!(std::env::var("FATHOM_NO_SKIP").as_deref() != Ok("1"), "no iostat on the PATH");
        println!("skipped: no iostat on the PATH");
        return None;
    };
    assert!(output.status.success(), "iostat {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("iostat prints UTF-8"))
}

fn answer(words: &str) -> Option<Result<Iostat, Problem>> {
    let text = printed(words)?;
    Some(match read_input(words, text.as_bytes(), None) {
        Ok(Input::Iostat(iostat)) => Ok(iostat),
        Ok(other) => panic!("{words}: {other:?}"),
        Err(error) => Err(error),
    })
}

#[track_caller]
fn read(words: &str) -> Option<Iostat> {
    answer(words).map(|answer| answer.unwrap_or_else(|error| panic!("{words}: {error}")))
}

/// Returns the device with the most reads per second since boot.
fn busiest(iostat: &Iostat) -> &IostatDevice {
    let devices = &iostat.reports[0].devices;
    devices.iter().max_by(|a, b| a.read.per_second.partial_cmp(&b.read.per_second).unwrap()).unwrap()
}

fn device<'a>(report: &'a IostatReport, name: &str) -> &'a IostatDevice {
    report.devices.iter().find(|device| device.name == name).unwrap_or_else(|| panic!("no {name} in {report:?}"))
}

/// Averages since boot hardly change between two calls, so all formats must agree.
#[test]
fn all_formats_agree_since_boot() {
    let Some(plain) = read("-x 1 1") else { return };
    let known = busiest(&plain);
    let options = [
        "-x -m",
        "-x -k -d",
        "-x -d -t",
        "-x -d -c -t -z",
        "-x -N",
        "-x -p ALL",
        "-x -o JSON",
        "-x -m -t -o JSON",
        "S_COLORS=always -x",
        "S_TIME_FORMAT=ISO -x -t",
        "POSIXLY_CORRECT=1 -x -d",
        "-x --dec=1",
    ];
    for words in options {
        let Some(iostat) = read(words) else { return };
        let [report] = &iostat.reports[..] else { panic!("{words}: {iostat:?}") };
        assert!(report.since_boot && report.seconds.is_none(), "{words}");
        assert_eq!(
            (report.when.is_some(), report.cpu.is_some()),
            (words.contains("-t"), !words.contains("-d ") && !words.ends_with("-d") || words.contains("-c")),
            "{words}"
        );
        assert_eq!((&iostat.host, iostat.cpus), (&plain.host, plain.cpus), "{words}");
        let found = device(report, &known.name);
        for (a, b) in [(found.read, known.read), (found.write, known.write), (found.discard, known.discard)] {
            near(words, a.per_second, b.per_second, 0.1);
            near(words, a.bytes_per_second, b.bytes_per_second, 0.1 * 1_048_576.0);
            near(words, a.merges_per_second, b.merges_per_second, 0.1);
            near(words, a.merged, b.merged, 0.001);
            near(words, a.await_ns, b.await_ns, 0.1e6);
            near(words, a.request_bytes, b.request_bytes, 0.1 * 1024.0);
        }
        near(words, found.flush.per_second, known.flush.per_second, 0.1);
        near(words, found.in_flight, known.in_flight, 0.1);
        near(words, found.util, known.util, 0.01);
    }
}

/// Checks equality within two percent, or within the last digit.
#[track_caller]
fn near(words: &str, found: Option<f64>, known: Option<f64>, digit: f64) {
    assert_eq!(found.is_some(), known.is_some(), "{words}");
    let (found, known) = (found.unwrap_or(0.0), known.unwrap_or(0.0));
    assert!((found - known).abs() <= digit.max(known * 0.02), "{words}: {found} and {known}");
}

/// The disk with the most requests was taken for the busiest, beside one that hardly completed any more.
#[test]
fn the_busiest_disk_is_that_with_the_highest_utilization() {
    let text = "Device r/s w/s rkB/s wkB/s await aqu-sz %util\n\
                vda 133.00 209.50 13846.00 94554.00 583.47 117.76 93.95\n\
                vdb 486.50 1.50 33824.00 16.00 9.28 4.50 10.20\n";
    let Ok(Input::Iostat(iostat)) = read_input("pasted", text.as_bytes(), None) else { panic!("{text}") };
    assert_eq!(iostat.disks().iter().map(|disk| disk.name.as_str()).collect::<Vec<_>>(), ["vda", "vdb"]);
}

/// A sentence with as many words as the table has columns was taken for a row.
#[test]
fn a_sentence_below_a_table_is_no_row() {
    let text = "Device tps kB_read/s kB_wrtn/s kB_read kB_wrtn\nsda 45.23 512.45 234.12 51234567 23456789\n\
                Show only disk statistics (no CPU)\n";
    let Ok(Input::Iostat(iostat)) = read_input("pasted", text.as_bytes(), None) else { panic!("{text}") };
    assert_eq!(iostat.reports.iter().map(|report| report.devices.len()).collect::<Vec<_>>(), [1]);
}

/// An indented or quoted banner, and that of old versions, was none: the first report counted as the load.
#[test]
fn a_quoted_report_is_the_average_since_boot() {
    let table = "Device:            tps   Blk_read/s   Blk_wrtn/s   Blk_read   Blk_wrtn\n\
                 sda              40.00        20.00       100.00    6479462  286537372\n";
    for banner in ["Linux 5.6.8 (db) \t2020-05-11 \t_x86_64_\t(8 CPU)", "Linux 2.6.9-42.ELsmp (db) \t12/01/2008"] {
        for prefix in ["", "> ", "\t", "    "] {
            let quoted: String =
                format!("{banner}\n\n{table}").lines().map(|line| format!("{prefix}{line}\n")).collect();
            let Ok(Input::Iostat(iostat)) = read_input("pasted", quoted.as_bytes(), None) else { panic!("{quoted}") };
            assert_eq!(iostat.reports.iter().map(|report| report.since_boot).collect::<Vec<_>>(), [true], "{quoted}");
        }
    }
}

#[test]
fn reports_are_averages_since_boot_or_of_intervals() {
    for (words, since_boot) in [
        ("-x -t 1 2", &[true, false][..]),
        ("-x -t -y 1 2", &[false, false]),
        ("-x -t -o JSON 1 2", &[true, false]),
        ("-x -y -o JSON 1 1", &[false]),
    ] {
        let Some(iostat) = read(words) else { return };
        let found: Vec<bool> = iostat.reports.iter().map(|report| report.since_boot).collect();
        assert_eq!(found, since_boot, "{words}");
        if let [_, second] = &iostat.reports[..] {
            assert!(second.seconds.is_some_and(|seconds| (1.0..=3.0).contains(&seconds)), "{words}: {second:?}");
        }
    }
}

#[test]
fn output_of_all_kinds_together_is_read() {
    for words in ["-x -s", "-d", "-d -m", "-x -s -o JSON", "-x -s -m", "-d -o JSON", "-d -h", "-d --human"] {
        let Some(iostat) = read(words) else { return };
        let devices = iostat.reports.iter().flat_map(|report| &report.devices);
        let all: Vec<&IostatDevice> = devices.filter(|device| !device.is_idle()).collect();
        assert!(!all.is_empty() && all.iter().all(|device| !device.tells_kinds_apart()), "{words}: {iostat:?}");
        assert!(all.iter().any(|device| device.bytes_per_second() > 0.0), "{words}: {iostat:?}");
    }
}

#[test]
fn output_for_people_is_read() {
    for words in ["-x -h", "-x --pretty", "-x --human", "-x -h -m -t"] {
        let Some(iostat) = read(words) else { return };
        let mut devices = iostat.reports.iter().flat_map(|report| &report.devices);
        assert!(devices.any(|device| device.iops() > 0.0 && device.util.is_some()), "{words}: {iostat:?}");
    }
}

#[test]
fn output_without_devices_is_refused() {
    let Some(answer) = answer("-c") else { return };
    let error = answer.unwrap_err();
    assert!(error.help.as_deref().unwrap_or_default().contains("iostat -x") && at(&error).line > 2, "{error}");
}

/// Without the banner, the average since boot counted as an interval.
#[test]
fn a_first_report_unlike_all_others_is_left_out_without_its_banner() {
    let report =
        |iops: u32| format!("Device r/s w/s rkB/s wkB/s await %util\nsda {iops}.00 0.00 4.00 0.00 1.00 9.00\n\n");
    let first = |text: String| {
        let Ok(Input::Iostat(iostat)) = read_input("input", text.as_bytes(), None) else { panic!("not read: {text}") };
        (iostat.reports[0].since_boot, iostat.notes.len())
    };
    assert_eq!(first(report(12) + &report(900) + &report(800)), (true, 1));
    assert_eq!(first(report(700) + &report(900) + &report(800)), (false, 0));
    assert_eq!(first("$ iostat -xy 1\n".to_owned() + &report(12) + &report(900)), (false, 0));
    assert_eq!(first(report(12)), (false, 1));
}

#[test]
fn a_column_may_stand_right_beside_the_word_device() {
    let text = "Device:rrqm/s wrqm/s r/s w/s rkB/s wkB/s await %util\nsda 0.00 1.00 12.00 3.00 48.00 12.00 1.00 9.00\n";
    let Ok(Input::Iostat(iostat)) = read_input("input", text.as_bytes(), None) else { panic!("not read") };
    assert_eq!(iostat.reports[0].devices[0].iops(), 15.0);
}

/// A line of smartctl was taken for the names of columns, and the text was refused.
#[test]
fn a_line_that_begins_with_device_needs_columns() {
    let text = "Device r/s w/s rkB/s wkB/s await %util\nsda 12.00 0.00 4.00 0.00 1.00 9.00\n\nDevice Model:     X9\n";
    assert!(
        matches!(read_input("input", text.as_bytes(), None), Ok(Input::Iostat(iostat)) if iostat.reports.len() == 1)
    );
}

/// The average since boot decided which disk was the busiest of a load.
#[test]
fn the_busiest_disk_is_that_of_the_intervals() {
    let report = |sda: u32, sdb: u32| {
        format!("Device r/s w/s await %util\nsda {sda}.00 0.00 1.00 9.00\nsdb {sdb}.00 0.00 1.00 9.00\n\n")
    };
    let banner = "Linux 6.1.0 (db1) \t11/29/2026 \t_x86_64_\t(8 CPU)\n\n";
    let text = format!("{banner}{}{}", report(9_000, 1), report(10, 500));
    let Ok(Input::Iostat(iostat)) = read_input("input", text.as_bytes(), None) else { panic!("not read") };
    assert_eq!(iostat.disks()[0].name, "sdb");
}

/// Lines of several hosts in turn, each behind the name of its host, were read as those of one host, as far as their names
/// differ only in numbers.
#[test]
fn lines_behind_the_names_of_hosts_are_divided_by_host() {
    let report = |host: &str, second: u32, iops: f64| {
        let lines = [
            format!("11/29/26 10:00:{second:02}"),
            "Device r/s w/s rkB/s wkB/s await aqu-sz %util".to_owned(),
            format!("sda {iops:.2} 0.00 {:.2} 0.00 1.00 0.50 40.00", 4.0 * iops),
            String::new(),
        ];
        lines.iter().map(|line| format!("{host}: {line}\n")).collect::<String>()
    };
    let turn =
        |second: u32| report("node1", second, 100.0) + &report("node2", second, 7.0) + &report("web", second, 5.0);
    let text = (0..4).map(turn).collect::<String>();
    let results = record::read_inputs("input", text.as_bytes()).unwrap();
    assert!(results.unreadable.is_empty());
    let of = |part: &record::InputResult| {
        let Input::Iostat(iostat) = &part.input else { panic!() };
        let device = &iostat.reports[3].devices[0];
        (part.line, iostat.host.clone().unwrap(), iostat.reports.len(), device.iops(), device.line)
    };
    let found: Vec<_> = results.parts.iter().map(of).collect();
    let host = |line: usize, name: &str, iops: f64| (line, name.to_owned(), 4, iops, line as u32 + 38);
    assert_eq!(found, [host(1, "node1", 100.0), host(5, "node2", 7.0), host(9, "web", 5.0)]);
}

/// A mark of left-out rows between the names of the columns and a row ended the table before its first row.
#[test]
fn marks_of_rows_that_were_left_out_end_no_table() {
    let text = "avg-cpu: %user %nice %system %iowait %steal %idle\n 9.38 0.00 4.62 18.38 1.50 66.12\n\n\
                Device r/s w/s rkB/s wkB/s await aqu-sz %util\n...\nsda 10.00 0.00 40.00 0.00 1.00 0.50 40.00\n\
                [...]\nsdb 20.00 0.00 80.00 0.00 1.00 0.50 40.00\n...\nIt is slow.\n";
    let Ok(Input::Iostat(iostat)) = read_input("input", text.as_bytes(), None) else { panic!() };
    let rates: Vec<f64> = iostat.reports[0].devices.iter().map(IostatDevice::iops).collect();
    assert_eq!((rates, iostat.reports.len()), (vec![10.0, 20.0], 1));
    let sar = "10:00:01 DEV tps rkB/s wkB/s areq-sz aqu-sz await %util\n...\n\
               10:00:11 sda 500.00 1500.00 500.00 4.00 1.00 2.00 40.00\n";
    assert!(read_input("input", sar.as_bytes(), None).is_ok());
}

/// One report of processors only, in a page with tables of devices, refused the page.
#[test]
fn a_report_of_processors_only_is_left_out() {
    let banner = "Linux 5.14.0 (db1) \t11/29/2026 \t_x86_64_\t(8 CPU)\n\n";
    let cpu = "avg-cpu: %user %nice %system %iowait %steal %idle\n 9.38 0.00 4.62 18.38 1.50 66.12\n\n";
    let table = "Device r/s w/s rkB/s wkB/s await aqu-sz %util\nsda 10.00 0.00 40.00 0.00 1.00 0.50 40.00\n\n";
    let text = format!("$ iostat -c\n{banner}{cpu}### Devices\n$ iostat -x\n{banner}{cpu}{table}{cpu}{table}");
    let Ok(Input::Iostat(iostat)) = read_input("input", text.as_bytes(), None) else { panic!() };
    assert_eq!(iostat.reports.iter().map(|report| report.since_boot).collect::<Vec<_>>(), [true, false]);
    let refused = read_input("input", format!("{cpu}Device r/s w/s\n{cpu}").as_bytes(), None).unwrap_err();
    assert!(refused.what.contains("devices"), "{refused}");
}

/// A first report without its banner was left out for its rates only, which are of an interval: 134 requests in 1.01 s.
#[test]
fn a_first_report_with_whole_requests_in_its_seconds_is_an_interval() {
    let head = "Device r/s w/s rrqm/s wrqm/s rkB/s wkB/s await aqu-sz %util\n";
    let report = |rates: &str| format!("{head}sda {rates} 0.00 40.00 1.00 0.50 40.00\n\n");
    let first = |rates: &str| {
        let text = report(rates) + &report("0.00 500.00 0.00 3.00") + &report("0.00 600.00 0.00 4.00");
        let Ok(Input::Iostat(iostat)) = read_input("input", text.as_bytes(), None) else { panic!() };
        (iostat.reports[0].since_boot, iostat.notes.len())
    };
    for interval in ["0.00 132.67 0.00 19.80", "1.00 1.00 0.00 0.00"] {
        assert_eq!(first(interval), (false, 0), "{interval}");
    }
    for average in ["4.34 3.35 0.00 3.09", "0.00 3.35 0.00 0.00", "0.00 3.00 0.00 0.00"] {
        assert_eq!(first(average), (true, 1), "{average}");
    }
    // A row above it is of a report before.
    let text = "sda 0.00 132.67 0.00 19.80 0.00 40.00 1.00 0.50 40.00\n\n".to_owned() + &report("0.00 3.00 0.00 0.00");
    let more = report("0.00 60.00 0.00 4.00");
    let Ok(Input::Iostat(iostat)) = read_input("input", (text + &more).as_bytes(), None) else { panic!() };
    assert_eq!((iostat.reports[0].since_boot, iostat.notes.len()), (false, 1));
}
