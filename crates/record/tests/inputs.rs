//! Inputs of all kinds: correct figures, and no truncated input taken for complete.

use record::{DataKind, Input, Iostat, Quote, Quoted, Run, read_input, read_inputs};
use units::{Place, Problem, random::Random};

use crate::cases::{at_night, cases};

fn at(problem: &Problem) -> &Place {
    problem.place.as_deref().expect("a place")
}

const FIRST_TRY: &str = include_str!("data/first_try.txt");
const FIO_GROUPS: &str = include_str!("data/fio_groups.txt");
const FIO_2: &str = include_str!("data/fio2.txt");
const FIO_JSON: &str = include_str!("data/fio.json");
const IOSTAT_12: &str = include_str!("data/iostat12.txt");
const IOSTAT_12_JSON: &str = include_str!("data/iostat12.json");
const IOSTAT_11: &str = include_str!("data/iostat11.txt");

#[track_caller]
pub(crate) fn run(text: &str) -> Run {
    match read_input("input", text.as_bytes(), None) {
        Ok(Input::Run(run)) => *run,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn iostat(text: &str) -> Iostat {
    match read_input("input", text.as_bytes(), None) {
        Ok(Input::Iostat(iostat)) => iostat,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn refused(bytes: impl AsRef<[u8]>) -> Problem {
    match read_input("input", bytes.as_ref(), None) {
        Err(error) => error,
        Ok(input) => panic!("{input:?}"),
    }
}

#[track_caller]
fn quotes(quotes: &[Quote], what: Quoted) -> Vec<(f64, f64, u32)> {
    quotes.iter().filter(|quote| quote.what == what).map(|quote| (quote.value, quote.step, quote.line)).collect()
}

const MIB: f64 = 1_048_576.0;

#[test]
fn figures_of_normal_output_are_read() {
    let run = run(FIRST_TRY);
    assert_eq!((run.tool.name.as_str(), run.tool.version.as_str()), ("fio", "3.35"));
    assert_eq!(run.taken_unix_ms, 1_774_799_656_000);
    let job = &run.jobs[0];
    assert_eq!((job.name.as_str(), job.group, job.workers, job.pid), ("randread-iops-first-try", 0, 1, 12345));
    let declared = &job.declared;
    assert_eq!((declared.rw.as_str(), declared.engine.as_str(), declared.iodepth), ("randread", "libaio", 32));
    assert_eq!((declared.in_flight_asked, declared.in_flight_possible, declared.numjobs), (Some(32), Some(32), 1));
    assert_eq!((declared.block_sizes.read.min, declared.block_sizes.read.max), (4096, 4096));
    assert!(declared.header_only);

    let read = &job.result.read;
    assert_eq!((read.ios, read.bytes, read.runtime_ns), (722_944, 2823 * 1_048_576, 30_001_000_000));
    let mean = |ns: f64| (ns * 1e3).round() / 1e3;
    assert_eq!((read.submission.min_ns, mean(read.submission.mean_ns)), (1200, 4100.32));
    assert_eq!((mean(read.service.mean_ns), mean(read.latency.mean_ns)), (1_310_450.0, 1_314_620.0));
    assert_eq!((read.latency.count, read.latency.max_ns), (722_944, 4_210_000));
    let percentiles: Vec<_> =
        [1.0, 5.0, 10.0, 50.0, 90.0, 95.0, 99.0, 99.9].iter().map(|&p| read.service.percentile_ns(p)).collect();
    let microseconds = [980, 1057, 1123, 1303, 1565, 1696, 2057, 2933];
    assert_eq!(percentiles, microseconds.map(|us| Some(us * 1000)));
    assert_eq!(job.result.cpu.context_switches, 18_012);
    assert!((job.result.depth.percent()[5] - 98.7).abs() < 1e-6);
    let in_flight = job.result.in_flight().unwrap();
    assert!((in_flight - 31.58).abs() < 0.01, "{in_flight}");

    let of = |what| quotes(&job.quotes, what);
    assert_eq!(of(Quoted::Iops), [(24_100.0, 100.0, 7)]);
    assert_eq!(of(Quoted::Bytes), [(2823.0 * MIB, MIB, 7)]);
    let rates = of(Quoted::BytesPerSecond);
    assert_eq!((rates.len(), rates[0].0, rates[1].0.round()), (2, 94.1 * MIB, 98_700_000.0));
    assert_eq!(of(Quoted::RuntimeNs), [(30_001e6, 1e6, 7)]);
    assert_eq!(of(Quoted::Operations), [(722_944.0, 1.0, 18)]);
    assert_eq!(quotes(&run.quotes, Quoted::DeviceTicksNs), [(913_000e6, 1e6, 25)]);
    assert_eq!(quotes(&run.quotes, Quoted::DeviceOperations), [(722_944.0, 1.0, 25)]);
    assert_eq!(quotes(&run.quotes, Quoted::GroupBytes), [(2823.0 * MIB, MIB, 22)]);
    // Sums that do not match are preserved: operations × size are 2824 MiB.
    let bytes = job.quotes.iter().find(|quote| quote.what == Quoted::Bytes).unwrap();
    assert!(bytes.agrees_with(722_944.0 * 4096.0) && !bytes.agrees_with(722_944.0 * 4096.0 + 4096.0));
    let disk = &run.disks[0];
    assert_eq!((disk.name.as_str(), disk.read_ios, disk.in_queue_ms), ("nvme0n1", 722_944, 913_000));
    assert_eq!(disk.util_percent, 99.2);
}

#[test]
fn groups_and_clones_are_distinguished() {
    let run = run(FIO_GROUPS);
    let [mix, two] = &run.jobs[..] else { panic!("{:?}", run.jobs) };
    assert_eq!((mix.group, mix.workers, mix.declared.numjobs, mix.declared.in_flight_asked), (0, 2, 2, Some(16)));
    assert_eq!((two.group, two.workers, two.declared.in_flight_asked), (1, 1, Some(1)));
    assert_eq!(mix.declared.block_sizes.write.max, 16 << 10);
    assert!(mix.declared.syncs && !mix.declared.only_data_syncs && mix.result.sync.count > 0);
    assert!(!mix.declared.verify && mix.result.read.ios > 0 && mix.result.write.ios > 0);
    assert_eq!(two.declared.percentiles, [50.0, 99.0, 99.995]);
    assert!(two.declared.kept.clat_percentiles && two.declared.kept.lat_percentiles);
    assert_eq!(run.asked.len(), 2);
    let with_groups = |group: &str| run.quotes.iter().filter(|quote| quote.of.as_deref() == Some(group)).count();
    assert_eq!((with_groups("0"), with_groups("1")), (8, 4));
}

#[test]
fn version_2_counts_in_1024() {
    let run = run(FIO_2);
    let job = &run.jobs[0];
    assert_eq!((job.result.read.ios, job.result.read.bytes), (25_600, 100 << 20));
    assert_eq!((job.result.write.ios, job.result.write.runtime_ns), (25_599, 2_000_000_000));
    assert_eq!(job.result.read.service.percentile_ns(99.99), Some(9_024_000));
    assert_eq!(job.declared.block_sizes.write.max, 4096);
    assert_eq!(job.result.latency_shares().us[8], 80.0);
    let names: Vec<&str> = run.disks.iter().map(|disk| disk.name.as_str()).collect();
    assert_eq!(names, ["dm-0", "sda"], "a device below another one has a line of its own");
    assert_eq!((run.disks[0].in_queue_ms, run.disks[1].in_queue_ms), (31_700, 31_500));
}

#[test]
fn last_of_several_reports_counts_with_a_note() {
    let results = FIRST_TRY.split_once("\n\n").unwrap().1;
    let later = results.replace("total=722944", "total=722945");
    let run = run(&format!("{FIRST_TRY}\n{later}"));
    assert_eq!(run.jobs[0].result.read.ios, 722_945);
    assert_eq!(run.jobs[0].declared.iodepth, 32, "by the header before the first report");
    assert!(run.notes[0].text.contains("reported 2 times"), "{:?}", run.notes);
}

#[test]
fn iostat_columns_are_converted_to_base_units() {
    let stat = iostat(IOSTAT_11);
    assert_eq!((stat.host.as_deref(), stat.cpus, stat.reports.len()), (Some("stein"), Some(4), 2));
    let [first, second] = &stat.reports[..] else { panic!() };
    assert!(first.since_boot && !second.since_boot);
    assert_eq!((first.seconds, second.seconds), (None, Some(5.0)));
    assert_eq!(second.when.as_deref(), Some("21.11.2018 10:44:17"));
    assert_eq!(second.cpu.map(|cpu| (cpu.iowait, cpu.line)), Some((0.4, 13)));
    let sda = &second.devices[0];
    assert_eq!((sda.name.as_str(), sda.line, sda.decimals), ("sda", 16, 2));
    assert_eq!((sda.read.per_second, sda.write.per_second, sda.discard.per_second), (Some(120.0), Some(80.0), None));
    assert_eq!((sda.read.bytes_per_second, sda.read.await_ns), (Some(480.0 * 1024.0), Some(8e6)));
    assert_eq!((sda.all.await_ns, sda.all.request_bytes), (Some(10e6), Some(4096.0)));
    assert_eq!((sda.in_flight, sda.util, sda.svctm_ns), (Some(2.0), Some(1.0), Some(5e6)));
    assert_eq!((sda.read.merges_per_second, sda.read.merged, sda.read.request_bytes), (Some(0.0), None, None));
    assert!(second.devices[1].is_idle() && !sda.is_idle());
    assert_eq!((sda.iops(), sda.bytes_per_second(), stat.intervals().count()), (200.0, 800.0 * 1024.0, 1));
}

#[test]
fn text_and_json_of_iostat_agree() {
    let (text, json) = (iostat(IOSTAT_12), iostat(IOSTAT_12_JSON));
    assert_eq!((text.reports.len(), json.reports.len()), (3, 2));
    assert_eq!((&text.host, text.cpus), (&json.host, json.cpus));
    for stat in [&text, &json] {
        assert_eq!(stat.reports.iter().map(|report| report.since_boot).collect::<Vec<_>>()[..2], [true, false]);
        assert_eq!(stat.reports[1].seconds, Some(1.0));
        let device = &stat.reports[0].devices[0];
        assert_eq!((device.name.as_str(), device.decimals), ("vda", 2));
        for kind in [device.read, device.write, device.discard] {
            let all = [kind.per_second, kind.bytes_per_second, kind.merges_per_second, kind.merged, kind.await_ns];
            assert!(all.iter().all(Option::is_some) && kind.request_bytes.is_some(), "{kind:?}");
        }
        assert!(device.flush.per_second.is_some() && device.flush.await_ns.is_some());
        assert!(device.in_flight.is_some() && device.util.is_some() && device.svctm_ns.is_none());
        let line = if stat == &text { IOSTAT_12 } else { IOSTAT_12_JSON }.lines().nth(device.line as usize - 1);
        assert!(line.is_some_and(|line| line.contains("vda") && !line.contains("_x86")), "{line:?}");
    }
}

/// Each prefix of each sample, by day every fifth, is refused, or agrees with the whole sample as far as it goes.
#[test]
fn prefixes_are_not_misread() {
    let step = if at_night() { 1 } else { 5 };
    let own = record::to_json(&run(FIO_JSON));
    for text in [FIRST_TRY, FIO_GROUPS, FIO_2, FIO_JSON, IOSTAT_12, IOSTAT_12_JSON, IOSTAT_11, &own] {
        let whole = read_input("input", text.as_bytes(), None).unwrap();
        let (mut accepted, mut refused) = (0, 0);
        for end in (0..text.len()).step_by(step) {
            match read_input("input", &text.as_bytes()[..end], None) {
                Ok(prefix) => {
                    accepted += 1;
                    assert!(is_part(&prefix, &whole), "cut at {end}: {}", &text[..end]);
                }
                Err(error) => {
                    refused += 1;
                    assert!(at(&error).line >= 1 && at(&error).column >= 1, "{error}");
                    assert!(!error.what.is_empty() && error.help.is_some(), "{error}");
                }
            }
        }
        assert!(refused > accepted / 10, "{refused} refused, {accepted} accepted");
    }
}

const DAMAGE: &[u8] = b"0123456789.,=()[]/%-kM \n\r\x1b{}\"x\xff";

/// Samples with removed, repeated or changed bytes give a result or an error within the text, never a panic.
#[test]
fn damaged_inputs_do_not_panic() {
    const SEED: u64 = 0xda3a_9ed0;
    let mut random = Random::new(SEED, 0);
    let mut below = |bound: usize| random.below(bound.max(1) as u64) as usize;
    for text in [FIRST_TRY, FIO_GROUPS, FIO_2, FIO_JSON, IOSTAT_12, IOSTAT_12_JSON, IOSTAT_11] {
        for _ in 0..cases(400) {
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..=below(3) {
                let (start, length) = (below(bytes.len()), below(40));
                let end = (start + length).min(bytes.len());
                match below(4) {
                    0 => drop(bytes.drain(start..end)),
                    1 => {
                        let twice = bytes[start..end].to_vec();
                        bytes.splice(start..start, twice);
                    }
                    2 if start < bytes.len() => bytes[start] = DAMAGE[below(DAMAGE.len())],
                    _ => bytes.splice(start..start, *b"99999999999999999999").for_each(drop),
                }
            }
            if let Err(error) = read_input("input", &bytes, None) {
                let lines = bytes.split(|&b| b == b'\n').count();
                assert!((1..=lines).contains(&at(&error).line), "seed {SEED}: {error}");
            }
        }
    }
}

fn is_part(prefix: &Input, whole: &Input) -> bool {
    match (prefix, whole) {
        (Input::Run(prefix), Input::Run(whole)) => {
            let mut filled = prefix.clone();
            // The rate of a result that is cut off behind it is the printed one, which is rounded.
            let is_cut = filled.notes.iter().any(|note| note.text.contains("is truncated after its"));
            if let Some(last) = is_cut.then(|| filled.jobs.pop()).flatten() {
                let of_whole = &whole.jobs[filled.jobs.len()];
                let near = |a: f64, b: f64| (a / b - 1.0).abs() < 0.02;
                let same = |a: f64, b: f64| a == 0.0 || a == b;
                if last.name != of_whole.name
                    || !near(last.result.iops(), of_whole.result.iops())
                    || !record::DataKind::ALL.into_iter().all(|kind| {
                        let (last, whole) = (last.result.kind(kind), of_whole.result.kind(kind));
                        same(last.service.mean_ns, whole.service.mean_ns)
                            // Before the line of the total, it is the sum of its parts.
                            && (last.latency.mean_ns == 0.0 || near(last.latency.mean_ns, whole.latency.mean_ns))
                    })
                {
                    return false;
                }
            }
            let starts = whole.disks.starts_with(&filled.disks)
                && whole.quotes.starts_with(&filled.quotes)
                && whole.jobs.starts_with(&filled.jobs);
            let is_said = filled.jobs.len() == whole.jobs.len() || filled.notes.len() > whole.notes.len();
            filled.disks.clone_from(&whole.disks);
            filled.quotes.clone_from(&whole.quotes);
            filled.jobs.clone_from(&whole.jobs);
            filled.notes.clone_from(&whole.notes);
            starts && is_said && filled == *whole
        }
        (Input::Iostat(prefix), Input::Iostat(whole)) => {
            let reports = prefix.reports.iter().zip(&whole.reports);
            prefix.reports.len() <= whole.reports.len()
                && reports.into_iter().all(|(prefix, whole)| {
                    (prefix.when.as_ref(), prefix.seconds, prefix.cpu)
                        == (whole.when.as_ref(), whole.seconds, whole.cpu)
                        && whole.devices.starts_with(&prefix.devices)
                })
        }
        _ => false,
    }
}

#[test]
fn foreign_inputs_are_recognized_with_a_remedy() {
    let cases: &[(&str, &str, &str)] = &[
        ("", "the input is empty", "iostat -x"),
        (" \n\t\n", "the input is empty", "iostat -x"),
        ("<!DOCTYPE html>\n<html>", "web page", "as text"),
        ("a,b,c\n1,2,3\n", "CSV", "iostat -x"),
        ("procs -----------memory---------- ---swap--\n r  b   swpd   free\n", "vmstat", "iostat -x -o JSON 1 30"),
        ("3;fio-3.33;a;0;0;1;2\n", "terse", "--output-format=json"),
        ("read: IOPS=2018k\nlat (usec): avg=570.3\n", "a part of fio's normal output", "--claim"),
        ("[global]\nrw=read\n", "job file", "fathom run"),
        ("$ sudo fio --name=a --filename=/dev/sdb --rw=read\n", "a fio command line", "fathom fio"),
        ("  trim: IOPS=21.6k, BW=84.4MiB/s\nfrom\n[trim]\nrw=randtrim\n", "a part of fio's normal output", "--claim"),
        ("{\"sweep\": []}", "sweep", "one run"),
        ("{\"a\": 1}", "`a`", "iostat -x"),
        ("[1, 2]", "neither", "iostat -x"),
        ("{\"a\": ", "truncated", "iostat -x"),
        ("{\"event\": 1}\n{\"event\": 2}\n", "several documents", "fathom run"),
        ("hello\n", "neither", "iostat -x"),
    ];
    for (text, what, remedy) in cases {
        let error = refused(text);
        assert!(error.what.contains(what), "{text:?}: {error}");
        assert!(error.help.as_deref().unwrap_or_default().contains(remedy), "{text:?}: {error}");
        assert!(error.to_string().starts_with("input:1:"), "{error}");
    }
    assert!(refused("[trim]\nrw=randtrim\n  trim: IOPS=21.6k, BW=84.4MiB/s\n").what.contains("a part of fio's"));
    assert!(refused(b"\x1f\x8b\x08\x00").help.unwrap_or_default().contains("gunzip"));
    let error = refused(b"some\ntext \x00\x01");
    assert_eq!((at(&error).line, at(&error).column), (2, 6), "{error}");
}

#[test]
fn broken_figures_are_located() {
    let broken = FIRST_TRY.replace("IOPS=24.1k", "IOPS=24.1x");
    let error = refused(broken);
    assert_eq!((at(&error).line, at(&error).column, at(&error).length), (7, 14, 5), "{error}");
    let broken = FIRST_TRY.replace("avg=1310.45", "avg=13i0.45");
    let error = refused(broken);
    assert_eq!((at(&error).line, error.what.contains("13i0.45")), (9, true), "{error}");
    let error = refused(IOSTAT_11.replace("100,00\nsdb", "100,0\nsdb"));
    assert_eq!((at(&error).line, error.what.contains("truncated")), (16, true), "{error}");
    let error = refused(FIO_JSON.replace("\"jobs\"", "\"jibs\""));
    assert!(error.what.contains("missing field `jobs`"), "{error}");
    let error = refused(FIO_JSON.replace("\"error\" : 0", "\"error\" : zero"));
    let line = FIO_JSON.lines().position(|line| line.contains("\"error\" : 0")).unwrap() + 1;
    assert_eq!(at(&error).line, line, "{error}");
    let broken = refused("{\n \"fio version\" : \"fio-3.33\",\n \"time\" : \"Sat\n");
    assert_eq!((at(&broken).line, at(&broken).column), (3, 15), "a string without an end on its line: {broken}");
}

/// It was called cut off.
#[test]
fn output_of_a_run_that_failed_says_so() {
    let text = "a: (g=0): rw=read, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=sync, iodepth=1\n\
                fio-3.28\nStarting 1 process\nfio: pid=0, err=13/file:filesetup.c:174, func=open, error=Permission denied\n\n\n\
                Run status group 0 (all jobs):\n";
    let error = refused(text);
    assert!(error.what.contains("fio exited with this error") && at(&error).line == 4, "{error}");
}

#[test]
fn human_readable_iostat_output_is_read() {
    let short =
        r#"{"sysstat": {"hosts": [{"statistics": [{"disk": [{"disk_device": "vda", "tps": 1.0, "aqu-sz": 1}]}]}]}}"#;
    assert_eq!(iostat(short).reports[0].devices[0].iops(), 1.0, "of `-s`");
    let parts = |io: &str| {
        format!(
            "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n          22.7%    0.0%    3.4%    0.2%    0.0%   73.6%\n\n\
             \x20    r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz Device\n  {io}     14.5M    90.49   4.1%    0.37     7.0k vda\n\
             \x20   0.00      0.0k     0.00   0.0%    0.00     0.0k vdb\n\n\
             \x20    w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz Device\n   12.00     96.0k     0.00   0.0%    0.50     8.0k vda\n\
             \x20   0.00      0.0k     0.00   0.0%    0.00     0.0k vdb\n\n\
             \x20    f/s f_await  aqu-sz  %util Device\n    1.00    0.06    0.80  20.5% vda\n    0.00    0.00    0.00   0.0% vdb\n\n\n"
        )
    };
    let found = iostat(&(parts("2139.82") + &parts("2000.00")));
    assert_eq!(found.reports.len(), 2);
    let [vda, vdb] = &found.reports[0].devices[..] else { panic!("{found:?}") };
    assert_eq!((vda.name.as_str(), vda.iops(), vdb.iops()), ("vda", 2151.82, 0.0));
    assert_eq!(vda.bytes_per_second(), (14.5 * 1024.0 + 96.0) * 1024.0);
    assert_eq!((vda.read.await_ns, vda.in_flight, vda.util), (Some(370_000.0), Some(0.8), Some(0.205)));
    let usual =
        "Device            r/s     rkB/s  r_await   %util\nsda           2000.00     14.5M     0.37   20.5%\n\n";
    let sda = &iostat(usual).reports[0].devices[0];
    assert_eq!((sda.iops(), sda.bytes_per_second(), sda.util), (2000.0, 14.5 * 1024.0 * 1024.0, Some(0.205)));
}

#[test]
fn terminal_effects_are_removed() {
    let coloured = IOSTAT_11.replace("sda  ", "\u{1b}[32;22msda  \u{1b}[0m\u{1b}[34;1m").replace('\n', "\r\n");
    assert_eq!(iostat(&coloured), iostat(IOSTAT_11));
    let eta = FIRST_TRY.replace("Jobs: 1", "Jobs: 1 (f=1): [r(1)][50.0%]\rJobs: 1");
    assert_eq!(run(&eta), run(FIRST_TRY));
    let around = format!("$ fio job.fio\n{FIRST_TRY}\n$ exit\n");
    assert_eq!(run(&around).jobs[0].result, run(FIRST_TRY).jobs[0].result);
}

#[test]
fn report_since_boot_is_recognized_by_the_preceding_lines() {
    let without_first = IOSTAT_12.replacen("\n\n", "\n\n\n", 1);
    assert!(!iostat(&without_first).reports[0].since_boot, "`-y` prints one more line");
    let twice = format!("{IOSTAT_12}{IOSTAT_12}");
    let since: Vec<bool> = iostat(&twice).reports.iter().map(|report| report.since_boot).collect();
    assert_eq!(since, [true, false, false, true, false, false]);
    let excerpt = IOSTAT_12.split_once("\n\n").unwrap().1;
    assert!(iostat(excerpt).reports[0].since_boot, "it differs from the others");
    let same = excerpt.split("\n\n").find(|part| part.starts_with("Device")).unwrap();
    assert!(!iostat(&format!("{same}\n\n{same}\n\n")).reports[0].since_boot, "an interval by default");
}

/// In the log of a container, standard error output of a run precedes or follows its record.
#[test]
fn messages_around_a_record_are_ignored() {
    let own = format!("{}\n", record::to_json(&run(FIO_JSON)));
    let messages = "left behind: 1 MiB; remove it with: rm data\nkept as a; fathom report last\n";
    assert_eq!(run(&format!("{own}{messages}")), run(&own));
    assert_eq!(run(&format!("{messages}{own}{messages}")), run(&own));
    for more in ["{\"a\": 1}\n", "}\n", "  \"jobs\": []\n"] {
        let error = refused(format!("{own}{messages}{more}"));
        assert!(error.to_string().contains("trailing characters"), "{more}: {error}");
    }
}

#[test]
fn records_and_fio_json_are_recognized_by_content() {
    let fio = run(FIO_JSON);
    assert_eq!(run(&format!("note: something\n{FIO_JSON}j: (groupid=0, jobs=1)")).jobs, fio.jobs);
    assert_eq!(run(&record::to_json(&fio)), fio);
    let compact: serde_json::Value = serde_json::from_str(FIO_JSON).unwrap();
    assert_eq!(run(&compact.to_string()).jobs[0].result.read.ios, 1024, "on one line, keys sorted");
    let too_new = record::to_json(&Run { schema: 99, ..fio });
    assert!(refused(too_new).what.contains("schema 99"));
    assert_eq!(run(&record::to_json(&run(FIRST_TRY))), run(FIRST_TRY), "quotes too");
    assert_eq!(run(FIO_GROUPS).jobs[0].result.kind(DataKind::Trim).ios, 0);
}

/// Formats a direction as in fio 2: KiB, microseconds, no numbers of latencies, and unused percentile slots.
fn fio_2_direction(figures: &str, clat: &str, lat: &str, percentiles: &str) -> String {
    format!(
        "{{{figures}, \"slat\":{{\"min\":0,\"max\":0,\"mean\":0.00,\"stddev\":0.00}}, \
         \"clat\":{{{clat},\"percentile\":{{{percentiles},\"0.00\":0,\"0.00\":0}}}}, \"lat\":{{{lat}}}}}"
    )
}

/// Figures of real outputs of 2.2.10 and 2.1.4, which were read as bytes and nanoseconds, or not at all.
#[test]
fn json_of_fio_2_is_read_in_kib_and_microseconds() {
    let write = fio_2_direction(
        "\"io_bytes\":37500272,\"bw\":62499,\"iops\":15624.70,\"runtime\":600008,\"total_ios\":9374944",
        "\"min\":964,\"max\":261110,\"mean\":8151.19,\"stddev\":3262.83",
        "\"min\":989,\"max\":261142,\"mean\":8182.26,\"stddev\":3262.73",
        "\"1.000000\":1752,\"50.000000\":8160,\"99.000000\":8640",
    );
    let document = format!(
        "{{\"fio version\":\"fio-2.2.10\",\"timestamp\":1510963172,\"jobs\":[{{\"jobname\":\"test\",\"write\":{write}}}]}}"
    );
    let run = run(&document);
    let write = &run.jobs[0].result.write;
    assert_eq!((write.ios, write.bytes), (9_374_944, 37_500_272 * 1024));
    assert_eq!(write.bytes / write.ios, 4096);
    assert_eq!((write.latency.count, write.latency.min_ns, write.latency.max_ns), (9_374_944, 989_000, 261_142_000));
    assert!((write.latency.mean_ns - 8_182_260.0).abs() < 1.0);
    assert_eq!(write.service.quoted, [(1.0, 1_752_000), (50.0, 8_160_000), (99.0, 8_640_000)]);
    assert!(run.jobs[0].declared.kept.lat && !run.jobs[0].declared.kept.slat);

    let read = fio_2_direction(
        "\"io_bytes\":44920,\"bw\":21,\"iops\":5,\"runtime\":2127550",
        "\"min\":0,\"max\":1684,\"mean\":11.34,\"stddev\":31.27",
        "\"min\":0,\"max\":1684,\"mean\":11.58,\"stddev\":31.32",
        "\"50.000000\":8",
    );
    let run =
        self::run(&format!("{{\"fio version\":\"fio-2.1.11\",\"jobs\":[{{\"jobname\":\"r\",\"read\":{read}}}]}}"));
    let read = &run.jobs[0].result.read;
    assert_eq!((read.ios, read.bytes, read.latency.count), (10_638, 44_920 * 1024, 10_638));
}

/// All runs of a log but the last one were dropped.
#[test]
fn all_runs_of_a_log_are_read() {
    let log = format!("{FIRST_TRY}\n{FIO_GROUPS}\n{FIO_2}");
    let read = read_inputs("log", log.as_bytes()).unwrap();
    let versions: Vec<&str> = read.parts.iter().map(|part| version(&part.input)).collect();
    assert_eq!(versions[0], "3.35");
    assert_eq!((read.parts.len(), read.unreadable.len(), read.parts[0].line), (3, 0, 1));
    let error = refused(&log);
    assert!(
        error.what.starts_with("it contains 3 runs")
            && error.help.as_deref().unwrap_or_default().contains("`input#1` to `input#3`"),
        "{error}"
    );
    let second = read_input("log", log.as_bytes(), Some(2)).unwrap();
    assert_eq!(second, read.parts[1].input);
    assert!(read_input("log", log.as_bytes(), Some(4)).is_err() && read_input("log", log.as_bytes(), Some(0)).is_err());
    let twice = format!("{FIO_JSON}\n{FIO_JSON}");
    assert_eq!(read_inputs("log", twice.as_bytes()).unwrap().parts.len(), 2, "equal figures do not prove equal runs");
    let cut = format!("{FIRST_TRY}\n{}", &FIO_GROUPS[..FIO_GROUPS.find("IOPS=").unwrap()]);
    let read = read_inputs("log", cut.as_bytes()).unwrap();
    assert_eq!(
        (read.parts.len(), read.unreadable.len()),
        (1, 1),
        "unreadable parts are reported next to readable ones"
    );
    // `plan`, `gate` and `compare` refused the complete run.
    let Ok(Input::Run(whole)) = read_input("log", cut.as_bytes(), None) else { panic!("{cut}") };
    let last = cut.lines().count();
    assert_eq!(whole.tool.version, "3.35");
    assert!(whole.notes.iter().any(|note| note.text.contains(&format!("ends on line {last}"))), "{:?}", whole.notes);
    let broken = format!("{FIRST_TRY}\n{}", FIO_GROUPS.replace("min=822", "min=x"));
    assert!(read_input("log", broken.as_bytes(), None).is_err());
}

fn version(input: &Input) -> &str {
    match input {
        Input::Run(run) => &run.tool.version,
        Input::Iostat(_) => "iostat",
    }
}

/// Versions before 3.26 lose the carry of a fraction that is rounded up: 19.97 is printed as `19.0`.
#[test]
fn lost_carry_of_fio_is_corrected() {
    let line = "  read: IOPS=2043, BW=2043MiB/s (2142MB/s)(19.0GiB/10001msec)";
    let text = FIRST_TRY.replace("  read: IOPS=24.1k, BW=94.1MiB/s (98.7MB/s)(2823MiB/30001msec)", line);
    assert_ne!(text, FIRST_TRY);
    let bytes = run(&text).jobs[0].result.read.bytes as f64;
    assert!((bytes / (19.97 * 1024.0 * MIB) - 1.0).abs() < 0.003, "{bytes}");
    let kept = line.replace("19.0GiB", "19.9GiB");
    let bytes = run(&text.replace(line, &kept)).jobs[0].result.read.bytes as f64;
    assert!((bytes / (2142e6 * 10.001) - 1.0).abs() < 1e-6, "the rates have more digits: {bytes}");
}

#[test]
fn terse_fields_are_read() {
    let latency = "10;900;100.500000;20.250000";
    let percentiles = (0..20).map(|slot| if slot == 0 { "99.000000%=800".to_owned() } else { "0%=0".to_owned() });
    let percentiles = percentiles.collect::<Vec<_>>().join(";");
    let read =
        format!("40960;4096;1024;10000;{latency};{latency};{percentiles};{latency};0;0;0.000000%;0.000000;0.000000");
    let zero = "0;0;0.000000;0.000000";
    let unused = ["0%=0"; 20].join(";");
    let write = format!("0;0;0;0;{zero};{zero};{unused};{zero};0;0;0.000000%;0.000000;0.000000");
    let shares = format!("100.0%;{};{}", ["0.0%"; 6].join(";"), ["0.00%"; 22].join(";"));
    let line = format!("3;fio-3.28;a;0;0;{read};{write};1.000000%;2.000000%;5;0;1;{shares};sda;1;2;0;0;3;4;5;99.50%");
    let found = run(&format!("12:00 log: {line}\n"));
    let job = &found.jobs[0];
    assert_eq!((job.name.as_str(), found.tool.version.as_str(), found.disks[0].name.as_str()), ("a", "3.28", "sda"));
    let read = &job.result.read;
    assert_eq!((read.bytes, read.runtime_ns, read.latency.mean_ns), (40 << 20, 10_000_000_000, 100_500.0));
    assert_eq!(read.service.percentile_ns(99.0), Some(800_000));
    assert!((read.iops() - 1024.0).abs() < 0.1, "by blocks of 4 KiB");
    let unlike = run(&line.replacen(";40960;", ";40000;", 1)).jobs[0].result.read.iops();
    assert!((unlike - 1024.5).abs() < 0.1, "between 1,024 and 1,025: {unlike}");
    assert_eq!(job.declared.in_flight_possible, None, "0.10 in flight: of how many is not known");
    let full = line.replace(latency, "10;1900;976.000000;20.250000");
    assert_eq!(run(&full).jobs[0].declared.in_flight_possible, Some(1), "1.00 in flight, and never more");
    assert_eq!(read_inputs("log", format!("{line}\n{line}\n").as_bytes()).unwrap().parts.len(), 2);
    assert!(refused(line.split_at(300).0).what.contains("truncated"));
}

/// A megabyte of results took gigabytes of memory.
#[test]
fn numbers_of_results_and_devices_are_limited() {
    let entries = vec!["{\"jobname\":\"a\",\"read\":{\"iops\":1}}"; 10_001].join(",");
    let wide = format!("{{\"fio version\":\"fio-3.33\",\"jobs\":[{entries}]}}");
    assert!(refused(&wide).what.contains("10001 results"), "{}", refused(&wide));
    let devices: String = (0..4_097).map(|number| format!("sd{number} 1.0 1.0\n")).collect();
    let wide = format!("Device r/s w/s\n{devices}\n");
    assert!(refused(&wide).what.contains("4097 devices"), "{}", refused(&wide));
}

/// `iostat -s` and `iostat` without `-x` were refused.
#[test]
fn tables_of_all_kinds_together_are_read() {
    let stat = iostat(include_str!("data/iostat_s.txt"));
    assert_eq!(stat.intervals().count(), 1);
    let device = &stat.reports[1].devices[0];
    assert_eq!((device.iops(), device.tells_kinds_apart(), device.in_flight), (344.0, false, Some(0.34)));
    assert_eq!((device.bytes_per_second(), device.all.await_ns), (2.69 * MIB, Some(1e6)));
    let plain = "Linux 6.1.0 (host) \t02/14/2026 \t_x86_64_\t(8 CPU)\n\n\
                 avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n           1.00    0.00    1.00    0.00    0.00   98.00\n\n\
                 Device             tps    kB_read/s    kB_wrtn/s    kB_dscd/s    kB_read    kB_wrtn    kB_dscd\n\
                 sda             120.00       400.00        80.00         0.00        400         80          0\n\n";
    let device = &iostat(plain).reports[0].devices[0];
    assert_eq!((device.iops(), device.bytes_per_second()), (120.0, 480.0 * 1024.0));
}

/// Output that is complete but for its summary was refused, and so was what was pasted with prompts and fences.
#[test]
fn what_is_complete_counts() {
    const CUT: &str = include_str!("data/cut_after_job.txt");
    let cut = run(CUT);
    assert!((cut.jobs[0].result.read.iops() - 64.8).abs() < 0.1);
    assert!(cut.notes.iter().any(|note| note.text.contains("Run status group")), "{:?}", cut.notes);
    let end = CUT.find("    clat").unwrap();
    let rates = run(&CUT[..end]);
    assert!((rates.jobs[0].result.read.iops() - 64.8).abs() < 1.0);
    assert!(rates.notes.iter().any(|note| note.text.ends_with("after its rates")), "{:?}", rates.notes);
    let end = CUT.find("  read:").unwrap();
    assert!(refused(&CUT[..end]).what.contains("within the result of `job1`"));
    // Before the rates of a second result, the first one counts.
    let second =
        CUT.lines().skip(4).collect::<Vec<_>>().join("\n").replace("job1: (g", "job2: (g").replace("job1", "job2");
    let half = format!("{CUT}{}", &second[..second.find("  read:").unwrap()]);
    let half = run(&half);
    assert_eq!(half.jobs.iter().map(|job| job.name.as_str()).collect::<Vec<_>>(), ["job1"]);
    assert!(half.notes.iter().any(|note| note.text.contains("`job2` is truncated")), "{:?}", half.notes);
    let pasted = format!("```\n$ fio x.fio\n{}\n^C```\n", CUT.replace("  read:", "\u{a0}\u{a0}read:"));
    assert_eq!(run(&pasted).jobs[0].result, cut.jobs[0].result);
    let quoted = FIO_JSON.lines().map(|line| format!("2026-02-03T10:00:01.5Z pod/fio-7 {line}\n")).collect::<String>();
    assert_eq!(run(&quoted), run(FIO_JSON));
    let indented = FIO_JSON.lines().map(|line| format!("    {line}\n")).collect::<String>();
    assert_eq!(run(&indented), run(FIO_JSON));
}

/// A document whose list of jobs is empty was explained with nothing, as a success.
#[test]
fn a_run_without_results_is_an_error() {
    let error = refused("{\n \"fio version\": \"fio-3.33\",\n \"jobs\": []\n}\n");
    assert!(error.what.contains("it contains no result"), "{error}");
}

/// Sums of such counts overflowed.
#[test]
fn counts_beyond_any_measurement_are_refused() {
    let of = |ios: u64| FIO_JSON.replacen("\"total_ios\" : 1024", &format!("\"total_ios\" : {ios}"), 1);
    assert_ne!(of(7), FIO_JSON);
    assert_eq!(run(&of(1 << 50)).jobs[0].result.ios() >> 50, 1);
    for ios in [1 << 63, u64::MAX] {
        assert!(refused(of(ios)).what.contains("impossibly large"), "{ios}");
    }
    let view = format!("backend_type,context,reads,read_time\nclient backend,normal,{},7\n", 1_u64 << 63);
    assert!(refused(view).what.contains("impossibly large"));
}

/// A record of Fathom was not checked, as other inputs are.
#[test]
fn records_with_impossible_counts_are_refused() {
    let mut record = run(FIRST_TRY);
    assert!(record::from_json(&record::to_json(&record)).is_ok());
    record.jobs[0].result.read.ios = u64::MAX;
    assert!(refused(record::to_json(&record)).what.contains("impossibly large"));
    record.jobs[0].result.read.ios = 7;
    record.jobs[0].result.read.latency.mean_ns = -1.0;
    assert!(refused(record::to_json(&record)).what.contains("impossibly large"));
}

/// `util=1000000000000000000.00%` was printed as it stood.
#[test]
fn impossible_statistics_of_devices_are_left_out() {
    for impossible in ["util=1000000000000000000.00%", "util=110.10%"] {
        let text = FIRST_TRY.replace("util=99.20%", impossible);
        assert_ne!(text, FIRST_TRY);
        let run = run(&text);
        assert_eq!((run.disks.len(), run.jobs[0].result.read.ios), (0, 722_944));
        assert!(run.notes.iter().any(|note| note.text.contains("impossible statistics")), "{:?}", run.notes);
    }
    let text = IOSTAT_11.replace("99.90", "18446744073709.55");
    let iostat = iostat(&text);
    let note = iostat.notes.iter().any(|note| note.contains("they are impossible"));
    assert_eq!(note, text != IOSTAT_11, "{:?}", iostat.notes);
}

/// A forum cut the paste, which ends in three dots without a line break.
#[test]
fn fio_output_that_ends_in_dots_is_an_excerpt() {
    let lines = |count: usize| FIRST_TRY.lines().take(count).collect::<Vec<_>>().join("\n");
    for (count, end) in [(10, "\n..."), (14, "\n[...]"), (20, "\n\u{2026}")] {
        let run = run(&(lines(count) + end));
        assert!((run.jobs[0].result.iops() / 24_100.0 - 1.0).abs() < 0.01, "{count}");
    }
}

/// An author shortened a line that is of no importance, and the output was refused.
#[test]
fn shortened_lines_of_fio_output_are_left_out() {
    let text =
        FIRST_TRY.replace("16=0.6%, 32=98.7%, >=64=0.0%", "...").replace(" pid=12345: Sun Mar 29", " pid=12345: ...");
    assert_eq!(run(&text).jobs[0].result.read, run(FIRST_TRY).jobs[0].result.read);
}

#[test]
fn the_status_of_groups_alone_is_refused_by_name() {
    for text in [
        "Run status group 0 (all jobs):\n   READ: bw=94.1MiB/s (98.7MB/s), 94.1MiB/s-94.1MiB/s (98.7MB/s-98.7MB/s), io=2823MiB (2960MB), run=30001-30001msec\n",
        "   READ: io=2823.0MB, aggrb=96354KB/s, minb=96354KB/s, maxb=96354KB/s, mint=30001msec, maxt=30001msec\n",
    ] {
        let error = refused(text);
        assert!(error.what.contains("fio's group status"), "{error}");
    }
}
