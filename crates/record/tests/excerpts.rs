//! Excerpts of fio's normal output: lines selected out of logs, and texts that end within a line.

use record::{DataKind, UnifiedReport, read_inputs};

use crate::inputs::run;

/// Returns the announcement of a job.
fn announced(name: &str, rw: &str, engine: &str, depth: u32) -> String {
    let size = "4096B-4096B";
    format!("{name}: (g=0): rw={rw}, bs=(R) {size}, (W) {size}, (T) {size}, ioengine={engine}, iodepth={depth}\n")
}

/// Returns the result of a job that issues 10,000 operations of 100 us each in a second.
fn result(name: &str, kind: &str, total: &str) -> String {
    format!(
        "{name}: (groupid=0, jobs=1): err= 0: pid=7: Sun Nov 22 10:00:00 2026\n  \
         {kind}: IOPS=10.0k, BW=39.1MiB/s (41.0MB/s)(39.1MiB/1000msec)\n    \
         clat (usec): min=50, max=900, avg=99.00, stdev=10.00\n     \
         lat (usec): min=51, max=901, avg=100.00, stdev=10.00\n  \
         cpu          : usr=1.00%, sys=2.00%, ctx=9, majf=0, minf=1\n  \
         IO depths    : 1=100.0%, 2=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%\n     \
         issued rwts: total={total} short=0,0,0,0 dropped=0,0,0,0\n     \
         latency   : target=0, window=0, percentile=100.00%, depth=1\n"
    )
}

/// Refused although all that is missing says nothing of the rate and the latencies.
#[test]
fn a_result_that_ends_behind_the_latencies_of_its_only_kind_is_read() {
    let whole = result("a", "write", "0,10000,0,0");
    let (cut, _) = whole.split_once("  cpu ").unwrap();
    let read = run(&format!("{}{cut}", announced("a", "randwrite", "psync", 1)));
    let write = &read.jobs[0].result.write;
    assert_eq!((write.iops().round(), write.latency.mean_ns), (10_000.0, 100_000.0));
    assert!(read.notes.iter().any(|note| note.text.ends_with("is truncated after its latencies")), "{:?}", read.notes);
    // The writes may be missing.
    let mixed = format!("{}{}", announced("a", "randrw", "psync", 1), cut.replace("write:", "read:"));
    assert!(read_inputs("pasted", mixed.as_bytes()).is_err());
}

/// Half of the texts were refused, and the second of two results was lost, because a line behind the rates was damaged.
#[test]
fn rates_are_read_wherever_a_text_ends_behind_them() {
    let job =
        |name: &str| format!("{}{}", announced(name, "randwrite", "psync", 512), result(name, "write", "0,10000,0,0"));
    let groups = "\nRun status group 0 (all jobs):\n  WRITE: bw=39.1MiB/s (41.0MB/s), 39.1MiB/s-39.1MiB/s \
                  (41.0MB/s-41.0MB/s), io=39.1MiB (41.0MB), run=1000-1000msec\n\nDisk stats (read/write):\n  sda: \
                  ios=0/10000, merge=0/0, ticks=0/1000, in_queue=1000, util=99.20%\n";
    let percentiles = "    clat percentiles (usec):\n     |  1.00th=[   60], 99.00th=[  150]\n  lat (usec)   : 100=90.00%, \
                       250=10.00%\n";
    let first = format!("{}{groups}", job("a")).replace("  cpu", &format!("{percentiles}  cpu"));
    let text = format!("{first}\n{}{groups}", job("b"));
    let behind_rates = |from: usize| from + text[from..].find("1000msec)\n").unwrap() + "1000msec)".len();
    for end in behind_rates(0)..=text.len() {
        for text in [text[..end].to_owned(), format!("{}\n", &text[..end])] {
            let read = read_inputs("pasted", text.as_bytes()).unwrap_or_else(|error| panic!("{error}:\n{text}"));
            let rates = read.parts.iter().map(|part| {
                let record::Input::Run(run) = &part.input else { panic!("no run") };
                run.jobs[0].result.write.iops().round()
            });
            let results = 1 + usize::from(end >= behind_rates(first.len()));
            assert_eq!(rates.collect::<Vec<_>>(), vec![10_000.0; results], "{text}");
        }
    }
    let damaged = run(&first.replace("sys=2.00%", "sys=2"));
    assert_eq!(damaged.jobs[0].result.write.latency.mean_ns, 100_000.0);
    assert!(damaged.notes.iter().any(|note| note.text.contains("line 9 is damaged")), "{:?}", damaged.notes);
}

/// They were left out without a word, and the result after them began on a line of theirs.
#[test]
fn rates_without_the_line_that_begins_a_result_are_read_or_noted() {
    let rates = "  read: IOPS=2893, BW=11.3MiB/s (11.8MB/s)(678MiB/60021msec)\n";
    let short = format!("{}{rates}", announced("test", "randread", "posixaio", 32));
    let whole = format!("{}{}", announced("test", "read", "posixaio", 1), result("test", "read", "10000,0,0,0"));
    let text = format!("some words\n{}\n{short}\n# fio\n{whole}", rates.replace("2893", "1674"));
    let read = read_inputs("pasted", text.as_bytes()).unwrap();
    let of = |part: &record::InputResult| {
        let record::Input::Run(run) = &part.input else { panic!("no run") };
        (part.line, run.jobs[0].result.iops().round(), run.jobs[0].declared.iodepth)
    };
    assert_eq!(read.parts.iter().map(of).collect::<Vec<_>>(), [(4, 2893.0, 32), (8, 10_000.0, 1)]);
    let record::Input::Run(first) = &read.parts[0].input else { panic!("no run") };
    assert!(first.notes.iter().any(|note| note.text.contains("the rates on line 2,")), "{:?}", first.notes);
}

/// The line was refused because of the words behind its last number.
#[test]
fn numbers_with_remarks_behind_them_are_read() {
    let whole = result("a", "write", "0,10000,0,0");
    let text = whole.replace("stdev=10.00", "stdev=10.00      lat \u{603b}\u{5ef6}\u{8fdf}");
    let text = text.replace(">=64=0.0%", ">=64=0.0%   all of them at one");
    assert_eq!(run(&text).jobs, run(&whole).jobs);
}

/// The greater-than sign of `>=64` was taken for that of a quotation, and its line for another one.
#[test]
fn distributions_that_mails_wrapped_are_read() {
    let whole = result("a", "write", "0,10000,0,0");
    let text = whole.replace(", >=64=0.0%\n     issued", ",  \n=64=0.0% issued");
    assert_eq!(run(&text).jobs[0].result.write.latency, run(&whole).jobs[0].result.write.latency);
    assert_eq!(run(&text).jobs[0].result.depth, run(&whole).jobs[0].result.depth);
}

/// Refused as cut off, or left out beside another result: what is missing is not known without a header, and said.
#[test]
fn a_result_without_header_that_is_cut_off_is_read() {
    let whole = result("All clients", "read", "10000,0,0,0");
    let (latencies, _) = whole.split_once("  cpu ").unwrap();
    let (rate, _) = whole.split_once("    clat").unwrap();
    let read = run(latencies);
    assert_eq!((read.jobs[0].result.iops(), read.jobs[0].result.read.latency.mean_ns), (10_000.0, 100_000.0));
    assert!(read.notes.iter().any(|note| note.text.contains("other kinds")), "{:?}", read.notes);
    let both = read_inputs("pasted", format!("{latencies}Again\n{rate}").as_bytes()).unwrap();
    assert_eq!((both.parts.len(), both.unreadable.len()), (2, 0));
    assert!(read_inputs("pasted", &rate.as_bytes()[..rate.len() - 5]).is_err(), "the line is truncated");
}

/// The mark of clones on the line of the header hid the header, so that sequential writes were planned for as random.
#[test]
fn the_mark_of_clones_may_be_on_the_line_of_the_header() {
    let header = announced("a", "write", "libaio", 4).replace('\n', " ...\n");
    let text = result("a", "write", "0,10000,0,0").replace("jobs=1", "jobs=6");
    for repeated in [header.clone(), format!("{header}{header}")] {
        let declared = &run(&format!("{repeated}{text}")).jobs[0].declared;
        assert_eq!((declared.rw.as_str(), declared.numjobs, declared.in_flight_possible), ("write", 6, Some(24)));
    }
}

/// Bold figures were refused, and a header whose name alone is bold had no result.
#[test]
fn bold_words_of_markdown_are_read() {
    let text = format!("{}{}", announced("**a**", "read", "libaio", 4), result("a", "read", "10000,0,0,0"));
    let read = run(&text.replace("IOPS=10.0k", "**IOPS=10.0k**"));
    assert_eq!((read.jobs[0].result.read.ios, read.jobs[0].declared.engine.as_str()), (10_000, "libaio"));
}

/// A result of `unified_rw_reporting` counted as reads even of a job that only writes.
#[test]
fn unified_results_count_as_the_only_kind_of_the_job() {
    let result = result("a", "mixed", "10000,0,0,0");
    for (rw, kind) in [("randwrite", DataKind::Write), ("read", DataKind::Read), ("trim", DataKind::Trim)] {
        let run = run(&format!("{}{result}", announced("a", rw, "psync", 1)));
        let counts = DataKind::ALL.map(|kind| run.jobs[0].result.kind(kind).ios);
        assert_eq!(counts, DataKind::ALL.map(|of| if of == kind { 10_000 } else { 0 }), "{rw}");
        assert_eq!(run.jobs[0].result.kind(kind).latency.mean_ns, 100_000.0);
        assert!(run.jobs[0].quotes.iter().all(|quote| quote.kind.is_none_or(|of| of == kind)));
        assert!(run.notes.iter().any(|note| note.text.ends_with("only")), "{:?}", run.notes);
    }
    let run = run(&format!("{}{result}", announced("a", "randrw", "psync", 1)));
    assert_eq!((run.jobs[0].result.read.ios, run.jobs[0].result.write.ios), (10_000, 0));
    assert_eq!(run.jobs[0].declared.unified, UnifiedReport::Mixed);
    assert!(run.notes.iter().any(|note| note.text.ends_with("count as reads")), "{:?}", run.notes);
}

#[test]
fn unified_results_of_json_count_as_the_only_kind_of_the_job() {
    let json = |rw: &str| {
        format!(
            "{{\"fio version\": \"fio-3.33\", \"global options\": {{\"rw\": \"{rw}\"}}, \"jobs\": [{{\"jobname\": \"a\", \
             \"job options\": {{\"bs\": \"4k\"}}, \"mixed\": {{\"io_bytes\": 4096000, \"total_ios\": 1000, \"runtime\": \
             1000}}}}]}}"
        )
    };
    let counts = |rw| {
        let result = run(&json(rw)).jobs.remove(0).result;
        (result.read.ios, result.write.ios)
    };
    assert_eq!((counts("randwrite"), counts("randread"), counts("randrw")), ((0, 1000), (1000, 0), (1000, 0)));
}

/// A job with `rate_iops=500` of reads and writes each that did 1,000 as one was said to be held to 500.
#[test]
fn unified_results_have_the_rates_of_all_kinds_of_the_pattern() {
    let json = |rw: &str, rate: &str| {
        format!(
            "{{\"fio version\": \"fio-3.33\", \"jobs\": [{{\"jobname\": \"a\", \"job options\": {{\"rw\": \"{rw}\", \"rate_iops\": \
             \"{rate}\"}}, \"mixed\": {{\"io_bytes\": 4096000, \"total_ios\": 1000, \"runtime\": 1000}}}}]}}"
        )
    };
    let rates = |rw, rate| {
        let declared = run(&json(rw, rate)).jobs.remove(0).declared;
        (declared.unified, declared.rate_iops.read, declared.rate_iops.write)
    };
    assert_eq!(rates("randrw", "500"), (UnifiedReport::Mixed, Some(1000), None));
    assert_eq!(rates("rw", "300,700"), (UnifiedReport::Mixed, Some(1000), None));
    assert_eq!(rates("trimwrite", "500"), (UnifiedReport::Mixed, Some(1000), None));
    assert_eq!(rates("randwrite", "500"), (UnifiedReport::None, None, Some(500)));
}

/// Only the last one of the totals in a log was read, and its number of results was taken for a depth.
#[test]
fn every_total_of_clients_is_a_run_of_unknown_depth() {
    let lines: Vec<String> = result("All clients", "read", "10000,0,0,0").lines().take(4).map(str::to_owned).collect();
    let total = lines.join("\n").replace("jobs=1", "jobs=3");
    let log = format!("$ oc logs fio-client\n*** Job ***\n{total}\n*** Job ***\n{total}\n*** Job ***\n{total}\n");
    let read = read_inputs("log", log.as_bytes()).unwrap();
    assert_eq!((read.parts.len(), read.unreadable.len()), (3, 0));
    for part in &read.parts {
        let record::Input::Run(run) = &part.input else { panic!("no run") };
        let job = &run.jobs[0];
        assert_eq!((job.declared.in_flight_asked, job.declared.in_flight_possible), (None, None));
        assert_eq!((job.result.read.ios, job.result.read.latency.mean_ns), (10_000, 100_000.0));
    }
}

/// The last one of several lines that were selected out of a log was called cut off, and left out.
#[test]
fn results_of_equally_many_lines_are_selected() {
    let first = |name: &str| result(name, "read", "").lines().take(2).collect::<Vec<_>>().join("\n");
    let run = run(&format!("{}\n{}\n", first("a"), first("b")));
    assert_eq!(
        run.jobs.iter().map(|job| (job.name.as_str(), job.result.read.ios)).collect::<Vec<_>>(),
        [("a", 10_000), ("b", 10_000)]
    );
    assert_eq!(run.jobs[0].declared.in_flight_possible, None, "nothing says how many were in flight");
}

/// Without its end, which editors and pages leave out, the last of such results was called cut off.
#[test]
fn the_last_line_of_selected_results_may_have_no_end() {
    let first = |name: &str| result(name, "read", "").lines().take(4).collect::<Vec<_>>().join("\n");
    let whole = format!("{}\n{}\n", first("a"), first("b"));
    let (ended, open) = (run(&whole), run(whole.trim_end()));
    assert_eq!((ended.jobs.len(), open.jobs.len()), (2, 2));
    let of_last = |run: &record::Run| (run.jobs[1].result.read.ios, run.jobs[1].result.read.latency.mean_ns);
    assert_eq!((of_last(&ended), of_last(&open)), ((10_000, 100_000.0), (10_000, 0.0)));
    assert!(open.notes.iter().any(|note| note.text.contains("truncated")), "{:?}", open.notes);
    assert_eq!(
        run(result("a", "read", "10000,0,0,0").trim_end()).jobs[0].result,
        run(&result("a", "read", "10000,0,0,0")).jobs[0].result
    );
}

#[test]
fn the_processor_may_be_shortened_to_its_percentages() {
    let whole = result("a", "read", "10000,0,0,0");
    let short = whole.replace(", ctx=9, majf=0, minf=1", "");
    let cpu = |text: &str| run(text).jobs[0].result.cpu;
    assert_eq!((cpu(&short).user_ns, cpu(&short).context_switches), (cpu(&whole).user_ns, 0));
}

/// The depth of all jobs of a group was given to the only one whose result a text has.
#[test]
fn the_depth_of_a_group_is_not_of_one_of_its_jobs() {
    let headers = |depth| announced("a", "randread", "libaio", depth) + &announced("b", "randread", "libaio", 8);
    let run = run(&(headers(1) + &result("a", "read", "10000,0,0,0")));
    assert_eq!(run.jobs[0].declared.in_flight_possible, Some(1));
    assert_eq!(run.asked[0].declared.numjobs, 1);
}

/// An engine measured completion latencies from a wrong clock, and 100,300 operations were said to be in flight. Their
/// percentiles were those of the operations.
#[test]
fn operations_do_not_take_longer_to_complete_than_in_total() {
    let wrong = result("a", "read", "10000,0,0,0")
        .replace("clat (usec): min=50, max=900, avg=99.00", "clat (msec): min=50, max=9000, avg=5052.96");
    let run = run(&wrong);
    let result = &run.jobs[0].result;
    assert_eq!((result.service_mean_ns(), result.read.service.count), (Some(100_000.0), 0));
    assert!((result.in_flight().unwrap() - 1.0).abs() < 0.01, "{:?}", result.in_flight());
    assert!(run.notes.iter().any(|note| note.text.starts_with("`clat` exceeds")), "{:?}", run.notes);
}

/// With `disable_lat`, submission times came from a wrong clock, and the job was said to wait for its submissions.
#[test]
fn submissions_do_not_take_longer_than_the_queue_holds() {
    let lines = |slat: &str| format!("    slat (msec): min=1, max=2266, avg={slat}, stdev=5.00\n    clat ");
    let text =
        result("a", "read", "10000,0,0,0").replace("     lat (usec): min=51, max=901, avg=100.00, stdev=10.00\n", "");
    let slat = |slat: &str| {
        let printed = text.replace("    clat ", &lines(slat));
        run(&format!("{}{printed}", announced("a", "randread", "libaio", 1)))
            .jobs
            .remove(0)
            .result
            .read
            .submission
            .count
    };
    assert_eq!((slat("1293.78"), slat("0.01")), (0, 10_000));
}

/// Mail programs wrap lines at 72 characters.
#[test]
fn wrapped_lines_are_joined() {
    let whole = announced("a", "randread", "libaio", 1) + &result("a", "read", "10000,0,0,0");
    let wrapped = [" ioengine=", " stdev=", " majf=", " 32=0.0%", " short=", " depth="]
        .iter()
        .fold(whole.clone(), |text, part| text.replace(part, &format!("\n{}", part.trim())));
    assert_eq!(wrapped.lines().count(), whole.lines().count() + 7);
    let (read, expected) = (run(&wrapped), run(&whole));
    assert_eq!(read.jobs[0].result, expected.jobs[0].result);
    assert_eq!(read.asked, expected.asked);
    // A job file is none of it.
    let file = format!("{whole}bs=4k\ndirect=1\n");
    assert_eq!(run(&file).jobs[0].result, expected.jobs[0].result);
}

/// Syncs are published alone, because databases wait for them; they were refused as of no known program.
#[test]
fn syncs_alone_are_read() {
    let syncs = "fsync/fdatasync/sync_file_range:\n  sync (usec): min=534, max=15766, avg=1273.08, stdev=1084.70\n  sync \
                 percentiles (usec):\n  |...,\n  | 99.00th=[ 6376], 99.50th=[ 9634]\n";
    let run = run(&format!("Results:\n```\n {syncs}```\nand another one\n {syncs}"));
    assert_eq!(run.jobs.iter().map(|job| job.name.as_str()).collect::<Vec<_>>(), ["syncs", "syncs 2"]);
    let sync = &run.jobs[1].result.sync;
    assert_eq!((sync.mean_ns, sync.max_ns, sync.percentile_ns(99.0)), (1_273_080.0, 15_766_000, Some(6_376_000)));
    assert!(run.notes[0].text.contains("unknown"), "{:?}", run.notes);
    let with_transfers = format!("  write: IOPS=58, BW=132KiB/s (135kB/s)(21.0MiB/170299msec)\n  {syncs}");
    let of_job = self::run(&with_transfers).jobs.remove(0).result;
    assert_eq!((of_job.sync.mean_ns, of_job.write.iops().round()), (1_273_080.0, 58.0));
}

/// Versions from 2.17 print wrong decimals of sizes, such as 17.1 for 17.9.
#[test]
fn bytes_that_the_rates_contradict_follow_from_operations() {
    let printed = |bytes: &str| {
        let result = result("a", "read", "10000,0,0,0").replace("(39.1MiB/1000msec)", &format!("({bytes}/1000msec)"));
        run(&format!("{}{result}", announced("a", "randread", "psync", 1))).jobs.remove(0).result.read.bytes
    };
    assert_eq!((printed("31.1MiB"), printed("39MiB")), (40_960_000, 40_960_000));
    let without = result("a", "read", "10000,0,0,0").replace("(39.1MiB/1000msec)", "(31.1MiB/1000msec)");
    let bytes = run(&without).jobs[0].result.read.bytes as f64;
    assert!((bytes / 40_960_000.0 - 1.0).abs() < 0.002, "no announcement states the size: {bytes}");
}

/// A number at the end of an unterminated line was taken for whole.
#[test]
fn the_last_number_of_a_truncated_line_is_not_whole() {
    let header = announced("a", "randread", "libaio", 32).replace("a:", "b:");
    let deep =
        [("avg=100.00", "avg=3200.00"), ("1=100.0%", "1=0.0%"), ("32=0.0%", "32=100.0%"), ("depth=1\n", "depth=32\n")];
    let whole = deep.iter().fold(result("a", "read", "10000,0,0,0"), |text, (of, to)| text.replace(of, to));
    let found = |text: &str| run(text).jobs.remove(0);
    let cut = whole.trim_end().strip_suffix('2').unwrap();
    assert_eq!(found(&whole).declared.in_flight_possible, Some(32));
    assert_ne!(found(cut).declared.in_flight_possible, Some(3), "32 is cut to 3");
    let second = result("b", "read", "10000,0,0,0");
    for end in second.match_indices(char::is_numeric).map(|(at, _)| at + 1).filter(|at| *at > 70) {
        let run = run(&format!("{header}{whole}{}", &second[..end]));
        assert_eq!(run.jobs[0].result.read.ios, 10_000, "{}", &second[..end]);
        assert!(run.jobs.len() == 1 || run.jobs[1].result.read.ios == 10_000, "{}", &second[..end]);
    }
}

/// Pastes of the lines with rates alone were refused, although they have the figures.
#[test]
fn lines_with_rates_alone_are_read() {
    let text = "test A\nread: IOPS=3000, BW=11.7MiB/s (12.3MB/s)(117MiB/10001msec)\nwrite: IOPS=1000, BW=4000KiB/s \
                (4096kB/s)(39.1MiB/10001msec)\n\ntest B\n  read: IOPS=258k, BW=1009MiB/s (1058MB/s)(1024MiB/1015msec)\n    \
                clat (usec): min=3, max=90, avg=3.50, stdev=1.00\n";
    let run = run(text);
    assert_eq!(run.jobs.iter().map(|job| job.name.as_str()).collect::<Vec<_>>(), ["result 1", "result 2"]);
    let rates = |job: usize, kind| (run.jobs[job].result.kind(kind).iops() / 100.0).round() * 100.0;
    assert_eq!((rates(0, DataKind::Read), rates(0, DataKind::Write)), (3_000.0, 1_000.0));
    assert_eq!((rates(1, DataKind::Read), rates(1, DataKind::Write)), (258_000.0, 0.0));
    assert_eq!((run.jobs[1].result.read.service.mean_ns, run.jobs[0].group, run.jobs[1].group), (3_500.0, 0, 1));
}

/// A generator with a wrong clock printed 210 hours for each operation of a run of 30 s.
#[test]
fn latencies_longer_than_the_run_are_left_out() {
    let text = announced("a", "read", "libaio", 4) + &result("a", "read", "10000,0,0,0");
    assert!(run(&text).jobs[0].result.read.service.mean_ns > 0.0, "{text}");
    let long = text.replace("avg=100.00", "avg=756537530000.85");
    assert_ne!(long, text);
    let run = run(&long);
    let read = &run.jobs[0].result.read;
    assert_eq!((read.latency.mean_ns, read.service.mean_ns, read.ios), (0.0, 99_000.0, 10_000));
    assert!(run.notes.iter().any(|note| note.text.contains("impossible")), "{:?}", run.notes);
}

/// Writes whose lines an author left out were left out too, so that the rate of all was that of the reads, and the queue
/// seemed empty.
#[test]
fn counted_kinds_without_lines_have_a_rate_and_no_latency() {
    let counted = result("a", "read", "10000,4000,0,0");
    // A job of both kinds issues them at the same time.
    let read = run(&(announced("a", "randrw", "libaio", 4) + &counted));
    let result = &read.jobs[0].result;
    assert_eq!((result.ios(), result.iops().round(), result.write.bytes), (14_000, 14_000.0, 4_000 * 4096));
    assert_eq!((result.in_flight(), result.timed_alone()), (None, Some(DataKind::Read)));
    assert!(read.notes.iter().any(|note| note.text.contains("the write lines are missing")), "{:?}", read.notes);
    // The status of the group tells how long they ran.
    let status = "\nRun status group 0 (all jobs):\n  WRITE: bw=7813KiB/s (8000kB/s), 7813KiB/s-7813KiB/s \
                  (8000kB/s-8000kB/s), io=15.6MiB (16.4MB), run=2000-2000msec\n";
    let read = run(&format!("{counted}{status}"));
    assert_eq!(read.jobs[0].result.write.iops().round(), 2_000.0);
    // Otherwise when they ran is not known.
    let read = run(&(announced("a", "randread", "libaio", 1) + &counted));
    assert_eq!((read.jobs[0].result.ios(), read.jobs[0].result.write.ios), (10_000, 0));
    assert!(read.notes.iter().any(|note| note.text.starts_with("ignored: 4000 writes")), "{:?}", read.notes);
}

/// The mean of the reads was multiplied by the rate of both kinds, so that a full queue seemed half empty.
#[test]
fn the_mean_of_one_kind_is_not_that_of_all() {
    let text = announced("a", "randrw", "libaio", 2) + &result("a", "read", "0,0,0,0");
    let (cut, _) = text.split_once("  cpu ").unwrap();
    let write = "  write: IOPS=10.0k, BW=39.1MiB/s (41.0MB/s)(39.1MiB/1000msec)\n    clat (usec): mi";
    let result = &run(&format!("{cut}{write}")).jobs[0].result;
    assert_eq!((result.iops().round(), result.service_mean_ns(), result.in_flight()), (20_000.0, None, None));
    assert_eq!((result.timed_alone(), result.in_flight_known()), (Some(DataKind::Read), Some(0.99)));
}

/// Refused: the results above such a line were left out too.
#[test]
fn the_status_of_groups_may_be_shortened() {
    let closing =
        |line: &str| format!("{}\nRun status group 0 (all jobs):\n{line}\n\n", result("a", "read", "10000,0,0,0"));
    for line in [
        "   READ: bw=39.1MiB/s",
        "   READ: bw=39.1MiB/s (41.0MB/s), 39.1MiB/s-39.1MiB/s (41.0MB/s-41.0MB/s), io=39.1MiB (41.0MB),",
        "   READ: bw=39.1MiB/s (41.0MB/s), io=39.1MiB (41.0MB), run=1000-1000msec",
    ] {
        let run = run(&closing(line));
        assert_eq!(
            (run.jobs[0].result.read.ios, run.quotes.len()),
            (10_000, line.matches('=').count() + usize::from(line.contains("run=")))
        );
    }
    let wrapped =
        closing("   READ: io=40000KB, aggrb=40000KB/s, minb=40000KB/s,\nmaxb=40000KB/s, mint=1000msec, maxt=1000msec");
    assert_eq!(run(&wrapped).quotes.len(), 4);
}

/// fio 1 counts context switches alone, and no discards.
#[test]
fn the_first_versions_are_read() {
    let whole = result("a", "read", "10000,0,0,0");
    let issued = whole.lines().find(|line| line.contains("issued")).unwrap();
    let first =
        whole.replace(issued, "     issued r/w: total=10000/0, short=0/0").replace("ctx=9, majf=0, minf=1", "ctx=9");
    let read = |text: &str| {
        let result = run(text).jobs.remove(0).result;
        (result.read.ios, result.cpu.context_switches)
    };
    assert_eq!((read(&first), read(&whole)), ((10_000, 9), (10_000, 9)));
}

/// Rates of unified kinds alone were refused.
#[test]
fn lines_of_unified_kinds_alone_are_read() {
    let whole = result("a", "mixed", "10000,0,0,0");
    let (_, lines) = whole.split_once('\n').unwrap();
    let run = run(lines);
    assert_eq!(run.jobs[0].result.read.ios, 10_000);
    assert!(run.notes.iter().any(|note| note.text.ends_with("count as reads")), "{:?}", run.notes);
}

#[test]
fn the_status_of_groups_alone_is_named() {
    for text in [
        "Run status group 0 (all jobs):\n   READ: bw=39.1MiB/s (41.0MB/s), io=39.1MiB (41.0MB), run=1000-1000msec\n",
        "  WRITE: bw=39.1MiB/s (41.0MB/s), 39.1MiB/s-39.1MiB/s (41.0MB/s-41.0MB/s), io=39MiB (41MB), run=1-1msec\n",
        "   READ: io=25604MB, aggrb=123856KB/s, minb=966KB/s, maxb=979KB/s, mint=209216msec, maxt=211684msec\n",
    ] {
        let error = read_inputs("input", text.as_bytes()).unwrap_err();
        assert!(error.what.contains("fio's group status"), "{error}");
    }
}

/// Without the line of the total latency, the time of submission was left out of it.
#[test]
fn the_total_latency_of_a_cut_text_is_the_sum_of_its_parts() {
    let text = "a: (g=0): rw=write, bs=(R) 1024KiB-1024KiB, (W) 1024KiB-1024KiB, (T) 1024KiB-1024KiB, ioengine=libaio, \
                iodepth=1\nfio-3.7\nStarting 1 process\na: (groupid=0, jobs=1): err= 0: pid=9: Thu May 30 10:59:33 2019\n  \
                write: IOPS=202, BW=202MiB/s (212MB/s)(32.0GiB/161967msec)\n    slat (usec): min=243, max=110517, \
                avg=4550.92, stdev=3093.61\n    clat (nsec): min=1551, max=116593, avg=4120.43, stdev=2327.25\n";
    let write = &run(text).jobs[0].result.write;
    assert_eq!(write.latency.mean_ns.round(), 4_555_040.0);
}

/// One job was assumed, so that the figures of many contradicted its depth.
#[test]
fn the_number_of_jobs_of_a_result_without_its_first_line_is_estimated_or_not_known() {
    let read = |samples: &str, depth: u32| {
        let text = format!(
            "  write: IOPS=15.8k, BW=61.7MiB/s (64.7MB/s)(1851MiB/30009msec)\n    clat (usec): min=28, max=299243, \
             avg=3101.30, stdev=2857.36\n     lat (usec): min=43, max=299247, avg=3105.21, stdev=2857.71\n{samples}     \
             latency   : target=0, window=0, percentile=100.00%, depth={depth}\n"
        );
        let job = run(&text).jobs.remove(0);
        (job.workers, job.declared.in_flight_possible, job.declared.estimated.is_none())
    };
    let samples = |per: &str, count: u32| {
        format!("   bw (  KiB/s): min=  894, max= 2912,{per} avg=1968.50, stdev=259.64, samples={count}\n")
    };
    assert_eq!(read(&samples(" per=3.12%,", 1906), 8), (32, Some(256), false));
    assert_eq!(read(&samples(" per=100.00%,", 1906), 8), (32, Some(256), false));
    assert_eq!(read(&samples("", 1906), 8), (32, Some(256), false));
    // Contradictions, and nothing at all.
    assert_eq!(read(&samples(" per=50.00%,", 1906), 8).1, None);
    assert_eq!(read("", 8).1, None);
    // Samples of longer windows: more was in flight than so few jobs could have.
    assert_eq!(read(&samples("", 60), 8).1, None);
}

/// It was called cut off.
#[test]
fn whole_outputs_without_operations_say_so() {
    let text = announced("a", "read", "libaio", 8)
        + "fio-3.13\nStarting 1 process\n\n\nRun status group 0 (all jobs):\n\nDisk stats (read/write):\n  sdd: ios=0/0, \
           merge=0/0, ticks=0/0, in_queue=0, util=0.00%\n";
    let error = read_inputs("pasted", text.as_bytes()).unwrap_err();
    assert_eq!(error.what, "no job of this run completed an operation");
    // The status above is of another run.
    let results = read_inputs("pasted", format!("{text}\n{}", announced("b", "read", "libaio", 8)).as_bytes());
    assert_eq!(results.unwrap_err().what, "no job of this run completed an operation");
    let cut = format!(
        "{}Run status group 0 (all jobs):\n{}",
        result("a", "read", "10000,0,0,0"),
        announced("b", "read", "psync", 1)
    );
    let results = read_inputs("pasted", cut.as_bytes()).unwrap();
    assert_eq!(results.unreadable[0].what, "the output is truncated before the first result");
}

/// The status of a group above the first result was left out without a note.
#[test]
fn rates_of_groups_above_the_first_result_are_named() {
    let text = format!("  WRITE: bw=251MiB/s (263MB/s), io=2048MiB\n\n{}", result("a", "read", "10000,0,0,0"));
    let notes = run(&text).notes;
    assert!(notes.iter().any(|note| note.text.starts_with("ignored: the rates on line 1")), "{notes:?}");
}
