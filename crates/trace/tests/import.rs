//! Traces in other formats are read and written.

#![allow(clippy::disallowed_macros, reason = "tests print what they measured")]

use std::collections::BTreeMap;
use trace::{TraceEnd, TraceExport, TraceFormat, TraceInfo, TraceInput, TraceOperation, TraceRequest, TraceStep};
use units::Problem;
use units::random::Random;

use crate::common::{database, info, wild};

/// What was read of a trace.
#[derive(Debug)]
struct Read {
    requests: Vec<TraceRequest>,
    errors: Vec<Problem>,
    info: TraceInfo,
    end: TraceEnd,
    missing: u64,
}

fn read_files(mut input: TraceInput, files: &[&[u8]], piece: usize) -> Read {
    let (mut requests, mut errors) = (Vec::new(), Vec::new());
    let mut pieces: Vec<_> = files.iter().map(|bytes| bytes.chunks(piece)).collect();
    let end = loop {
        match input.next(&mut requests) {
            Ok(TraceStep::Requests) => {}
            Ok(TraceStep::NeedsInput(file)) => match pieces[file].next() {
                Some(piece) => input.feed(file, piece),
                None => input.end_input(file),
            },
            Ok(TraceStep::End(end)) => break end,
            Err(error) => errors.push(error),
        }
    };
    Read { requests, errors, info: input.info().clone(), end, missing: input.missing() }
}

fn read(bytes: &[u8]) -> Read {
    let input = TraceInput::detect("t", &bytes[..bytes.len().min(4_096)]).expect("known format");
    read_files(input, &[bytes], 1_000)
}

fn read_as(format: TraceFormat, text: &str) -> Read {
    assert_eq!(TraceFormat::detect(text.as_bytes()), Some(format));
    read(text.as_bytes())
}

fn plain(issued_ns: u64, operation: TraceOperation, offset: u64, length: u32) -> TraceRequest {
    TraceRequest { issued_ns, operation, offset, length, ..TraceRequest::default() }
}

use TraceOperation::{Discard, Flush, Read as R, Write as W};

#[test]
fn logs_of_fio_are_read() {
    // Written by fio 3.33 with `--rw=randrw --fsync=4` and `--rw=trim`, shortened.
    let read = read_as(
        TraceFormat::FioIolog3,
        "fio version 3 iolog\n26 /tmp/f add\n143 /tmp/f open\n147 /tmp/f read 61440 4096\n596 /tmp/f write 774144 8192\n\
         739 /tmp/f sync 954368 0\n801 /tmp/f datasync 368640 0\n912 /tmp/f trim 61440 4096\n4385 /tmp/f close\n",
    );
    assert_eq!((read.errors.len(), read.end), (0, TraceEnd::Complete));
    assert_eq!(read.info.devices, [("/tmp/f".to_owned(), None)]);
    let expected = [
        plain(147_000, R, 61_440, 4_096),
        plain(596_000, W, 774_144, 8_192),
        plain(739_000, Flush, 0, 0),
        plain(801_000, Flush, 0, 0),
        plain(912_000, Discard, 61_440, 4_096),
    ];
    assert_eq!(read.requests, expected);
    let read = read_as(
        TraceFormat::FioIolog2,
        "fio version 2 iolog\n/a add\n/a open\n/a read 0 4096\n/a wait 700 0\n/a read 4096 4096\n/a wait 600 0\n\
         /a write 8192 4096\n/a close\n",
    );
    let times: Vec<u64> = read.requests.iter().map(|request| request.issued_ns / 1_000_000).collect();
    assert_eq!((times, read.errors.len()), (vec![0, 700, 700], 0));
}

#[test]
fn files_of_fio_and_the_kernel_are_read() {
    // fio 3.33: `--rw=randrw --bs=4k --fsync=4 --fdatasync=3 --number_ios=24 --write_iolog`.
    let log = read(include_bytes!("data/randrw.iolog"));
    let count = |operation| log.requests.iter().filter(|request| request.operation == operation).count();
    assert_eq!((log.errors.len(), count(R) + count(W), count(Flush)), (0, 24, 11));
    // Events of a loop device under fio, by Linux 6.18 through the `blk` tracer, and some of them as blkparse 1.2 prints
    // them.
    let events = read(include_bytes!("data/loop.blktrace"));
    assert_eq!((events.errors.len(), events.end, events.missing), (0, TraceEnd::Complete, 0));
    assert_eq!(events.info.devices, [("7,0".to_owned(), None)]);
    let text = read(include_bytes!("data/loop.blkparse"));
    assert_eq!((text.errors.len(), text.missing), (0, 0));
    assert!(text.requests.iter().any(|request| request.operation == Flush && request.service_ns == Some(9_920_171)));
    let last_ns = events.requests.iter().map(|request| request.issued_ns).max().unwrap();
    let reads = text.requests.iter().filter(|request| request.operation == R && request.issued_ns < last_ns);
    assert!(reads.clone().count() > 5);
    // blkparse was given the events of one processor: others may have completed these requests.
    for request in reads.filter(|request| request.service_ns.is_some()) {
        let same =
            events.requests.iter().find(|event| event.offset == request.offset && event.issued_ns == request.issued_ns);
        assert!(same.is_some_and(|same| same.service_ns == request.service_ns), "{request:?}");
    }
}

#[test]
fn public_collections_are_read() {
    let msr = read_as(
        TraceFormat::Msr,
        "128166372003061629,hm,0,Read,383496192,32768,113736\n128166372016382155,hm,1,Write,310983680,4096,26\n",
    );
    let expected = [
        TraceRequest { service_ns: Some(11_373_600), ..plain(0, R, 383_496_192, 32_768) },
        TraceRequest { service_ns: Some(2_600), device: 1, ..plain(1_332_052_600, W, 310_983_680, 4_096) },
    ];
    assert_eq!((&msr.requests[..], msr.errors.len()), (&expected[..], 0));
    assert_eq!(msr.info.started_unix_ms, Some(1_172_163_600_306));
    assert_eq!(msr.info.devices, [("hm.0".to_owned(), None), ("hm.1".to_owned(), None)]);

    let systor = read_as(
        TraceFormat::Systor,
        "Timestamp,Response,IOType,LUN,Offset,Size\n1456095145.133076000,0.000806000,R,0,899056122368,131072\n\
         1456095145.133077,,W,4,512,1024\r\n1456095146.0,0.5,,4,0,512",
    );
    let expected = [
        TraceRequest { service_ns: Some(806_000), ..plain(0, R, 899_056_122_368, 131_072) },
        TraceRequest { device: 1, ..plain(1_000, W, 512, 1_024) },
        TraceRequest { service_ns: Some(500_000_000), device: 1, ..plain(866_924_000, TraceOperation::Other, 0, 512) },
    ];
    assert_eq!((&systor.requests[..], systor.errors.len()), (&expected[..], 0));
    assert_eq!(systor.info.started_unix_ms, Some(1_456_095_145_133));

    let alibaba = read_as(
        TraceFormat::Alibaba,
        "0,R,126703661056,4096,1577808000000046\n1,W,19496058880,77824,1577808000000426\n",
    );
    let second = TraceRequest { device: 1, ..plain(380_000, W, 19_496_058_880, 77_824) };
    assert_eq!(alibaba.requests, [plain(0, R, 126_703_661_056, 4_096), second]);

    let tencent = read_as(TraceFormat::Tencent, "1538323200,12910952,128,0,1063\n1538323201,6160447,8,1,1064\n");
    let second = TraceRequest { device: 1, ..plain(1_000_000_000, W, 6_160_447 * 512, 4_096) };
    assert_eq!(tencent.requests, [plain(0, R, 12_910_952 * 512, 65_536), second]);

    let cloud = read_as(TraceFormat::CloudPhysics, "5633898611441,42932745,w,512\n5633898611540,42932746,r,1024\n");
    assert_eq!(cloud.requests, [plain(0, W, 42_932_745 * 512, 512), plain(99_000, R, 42_932_746 * 512, 1_024)]);
    assert_eq!(read(b"ts,lba,op,size\n1,2,w,512\n").requests.len(), 1);

    let vscsi = "version,time,op,size,lbn\n1,33898,2a,6656,40409911\n1,41010,28,24576,46495519\n2,41010,35,0,0\n";
    let expected = [
        plain(0, W, 40_409_911 * 512, 6_656),
        plain(7_112_000_000_000, R, 46_495_519 * 512, 24_576),
        plain(7_112_000_000_000, TraceOperation::Flush, 0, 0),
    ];
    assert_eq!(read_as(TraceFormat::VscsiSeconds, vscsi).requests, expected);
    assert_eq!(read(vscsi.as_bytes()).requests, expected, "it is detected");
    assert_eq!(read(&vscsi.as_bytes()[25..]).requests, expected, "without its header too");
    let fine = "version,time,op,size,lbn\n1,5633898368802,2a,512,42932745\n1,5633898611441,2a,512,42932746\n";
    let expected = [plain(0, W, 42_932_745 * 512, 512), plain(242_639_000, W, 42_932_746 * 512, 512)];
    assert_eq!(read(fine.as_bytes()).requests, expected, "times have 13 digits");
}

#[test]
fn text_of_blkparse_is_read() {
    let read = read_as(
        TraceFormat::Blkparse,
        "  8,0    3        1     0.000000000   697  G   W 223490 + 8 [kjournald]\n\
         \x20 8,0    3        2     0.000001829   697  P   R [kjournald]\n\
         \x20 8,0    3        3     0.000002197   697  Q   W 223490 + 8 [kjournald]\n\
         \x20 8,0    3        4     0.000005533   697  M   W 223498 + 8 [kjournald]\n\
         \x20 8,0    3        5     0.000005800   697  A   W 223498 + 8 <- (8,1) 223435\n\
         \x20 8,0    3        6     0.000007607    88  D   W 223490 + 16 [kworker/3:1H]\n\
         \x20 8,0    3        7     0.000107607   697  C   W 223490 + 16 [0]\n\
         \x20 8,0    3        8     0.000200000    88  D  FN [kworker/3:1H]\n\
         \x20 8,0    3        9     0.000300000     5  D  WS 8 + 8 [postgres]\n\
         \x20 8,0    3       10     0.000400000     0  C  WS 8 + 8 [5]\n\
         \x20 8,0    3       11     0.000500000     0  C  FN 0 [0]\n\
         CPU3 (8,0):\n Reads Queued:           0,        0KiB\t Writes Queued:\n\nThroughput (R/W): 0KiB/s / 0KiB/s\n",
    );
    assert_eq!(read.errors, []);
    let expected = [
        TraceRequest { service_ns: Some(100_000), ..plain(0, W, 223_490 * 512, 8_192) },
        TraceRequest {
            service_ns: Some(100_000),
            is_sync: true,
            has_failed: true,
            process: 2,
            ..plain(292_393, W, 4_096, 4_096)
        },
        TraceRequest { service_ns: Some(300_000), process: 1, ..plain(192_393, Flush, 0, 0) },
    ];
    assert_eq!(read.requests, expected);
    assert_eq!(read.info.processes, ["kjournald/697", "kworker/3:1H/88", "postgres/5"]);
}

/// Its format was unknown because of the fence, and prose above or below it was a damaged event.
#[test]
fn pasted_text_of_blkparse_is_read() {
    let events = "  8,80   1   126283   121.238929396 3328328  D  WS 1457344 + 16 [fio]\n\
                  \x20 8,80   1   126284   121.239029396 3328328  C  WS 1457344 + 16 [0]\n";
    for around in ["```text\n", "$ blkparse -i sdf\n", "```\n# blkparse -i sdf\n", "Reads, run\nin parallel:\n\n```\n"]
    {
        let read = read_as(TraceFormat::Blkparse, &format!("{around}{events}```\nThey are fast.\n"));
        assert_eq!(TraceFormat::detect(format!("{around}{events}").as_bytes()), Some(TraceFormat::Blkparse));
        assert_eq!((read.errors.len(), read.requests.len()), (0, 1), "{around}");
    }
    let cut = read_as(TraceFormat::Blkparse, &format!("344 + 24 [fio]\n{events}"));
    assert_eq!((cut.errors.len(), cut.requests.len()), (1, 1), "the rest of a line is told");
}

/// Requests as a format can express them.
fn database_for(format: TraceFormat) -> Vec<TraceRequest> {
    let mut requests = database(6_000, 21);
    // Events do not tell requests apart that are at one place at the same time.
    let mut busy_until = BTreeMap::new();
    requests.retain(|request| {
        let completed_ns = request.issued_ns + request.service_ns.unwrap();
        let is_free = busy_until.get(&request.offset).is_none_or(|until| *until + 1_000_000 < request.issued_ns);
        is_free && busy_until.insert(request.offset, completed_ns).is_none_or(|until| until < completed_ns)
    });
    let resolution = format.resolution_ns();
    for (index, request) in requests.iter_mut().enumerate() {
        if index % 50 == 0 && request.length > 0 {
            request.operation = Discard;
        }
        if request.operation != W {
            (request.is_preflush, request.is_fua) = (false, false);
        }
        let has_events = matches!(format, TraceFormat::Blktrace | TraceFormat::Blkparse | TraceFormat::Fathom);
        if !has_events {
            (request.queued_ns, request.is_sync, request.process) = (None, false, 0);
            request.issued_ns = request.issued_ns / resolution * resolution;
            request.service_ns =
                request.service_ns.filter(|_| format.has_service_times()).map(|service| service / 100 * 100);
        }
    }
    let is_iolog = matches!(format, TraceFormat::FioIolog2 | TraceFormat::FioIolog3);
    if is_iolog || format.has_service_times() && !matches!(format, TraceFormat::Msr | TraceFormat::Systor) {
        requests
    } else {
        requests.into_iter().filter(|request| matches!(request.operation, R | W)).collect()
    }
}

fn export(format: TraceFormat, requests: &[TraceRequest], info: &TraceInfo) -> Vec<u8> {
    let mut export = TraceExport::new(format, info);
    let mut output = Vec::new();
    requests.iter().for_each(|request| export.push(request, info, &mut output));
    assert_eq!(export.omitted(), 0, "{format:?}");
    export.finish(info, &mut output);
    output
}

/// Sorts requests of the same time as well, and takes the first as the start.
fn comparable(mut requests: Vec<TraceRequest>) -> Vec<TraceRequest> {
    let start = requests.iter().map(|request| request.issued_ns - request.queued_ns.unwrap_or(0)).min().unwrap_or(0);
    requests.iter_mut().for_each(|request| request.issued_ns -= start);
    requests.sort_by_key(|request| {
        (request.issued_ns, request.operation, request.offset, request.length, request.service_ns)
    });
    requests
}

#[test]
fn every_format_gives_back_what_it_was_given() {
    let info = info();
    for format in TraceFormat::ALL {
        let requests = database_for(format);
        let bytes = export(format, &requests, &info);
        println!("{format:?}: {:.1} bytes per request", bytes.len() as f64 / requests.len() as f64);
        assert_eq!(TraceFormat::detect(&bytes[..4_096]), Some(format));
        let read = read(&bytes);
        assert_eq!(
            (read.errors.len(), read.end, read.missing),
            (0, TraceEnd::Complete, 0),
            "{format:?}: {:?}",
            read.errors.first()
        );
        let mut expected = comparable(requests);
        let mut found = comparable(read.requests);
        if format == TraceFormat::Fathom {
            for request in found.iter_mut().chain(&mut expected) {
                (request.issued_ns, request.queued_ns, request.service_ns) = (0, None, None);
            }
            let order = |request: &TraceRequest| (request.operation, request.offset, request.length, request.process);
            found.sort_by_key(order);
            expected.sort_by_key(order);
        }
        if matches!(format, TraceFormat::Blktrace | TraceFormat::Blkparse) {
            let name = |request: &TraceRequest| read.info.processes[usize::from(request.process)].clone();
            for (found, expected) in found.iter_mut().zip(&expected) {
                assert!(name(found).ends_with(&format!("/{}", expected.process + 1)), "{}", name(found));
                found.process = expected.process;
            }
            assert!(read.info.processes[0].contains("postgres"), "{:?}", read.info.processes);
        }
        let different = found.iter().zip(&expected).position(|(found, expected)| found != expected);
        assert_eq!(found.len(), expected.len(), "{format:?}");
        assert!(
            different.is_none(),
            "{format:?}: {:?} instead of {:?}",
            found[different.unwrap()],
            expected[different.unwrap()]
        );
    }
}

#[test]
fn events_of_several_processors_and_both_byte_orders_are_merged() {
    let requests = database_for(TraceFormat::Blktrace);
    let bytes = export(TraceFormat::Blktrace, &requests, &info());
    let whole = read(&bytes);
    let mut files = vec![Vec::new(); 3];
    let (mut at, mut random) = (0, Random::new(22, 0));
    while at < bytes.len() {
        let data = usize::from(u16::from_le_bytes([bytes[at + 46], bytes[at + 47]]));
        let (event, data) = bytes[at..at + 48 + data].split_at(48);
        let mut swapped = Vec::new();
        for range in [0..4, 4..8, 8..16, 16..24, 24..28, 28..32, 32..36, 36..40, 40..44, 44..46, 46..48] {
            swapped.extend(event[range].iter().rev());
        }
        if event[28..30] == [1, 0] && event[30..32] == [0, 4] {
            data.chunks(4).for_each(|word| swapped.extend(word.iter().rev()));
        } else {
            swapped.extend_from_slice(data);
        }
        // Notes come first, as in real traces. A completion interrupts any processor.
        let is_completion = event[28] == 8;
        let file = match data {
            [] if is_completion => random.below(3) as usize,
            [] => usize::from(event[17]) % 3,
            _ => 0,
        };
        files[file].extend(swapped);
        at += 48 + data.len();
    }
    let files: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
    let merged = read_files(TraceInput::new("t", TraceFormat::Blktrace, 3), &files, 500);
    assert_eq!((merged.errors.len(), merged.end), (0, TraceEnd::Complete));
    assert_eq!(merged.info.started_unix_ms, whole.info.started_unix_ms);
    assert!(merged.info.started_unix_ms.unwrap().abs_diff(info().started_unix_ms.unwrap()) < 10);
    // Processes of simultaneous events may be numbered in another order.
    let named = |read: Read| {
        let names: Vec<String> =
            read.requests.iter().map(|request| read.info.processes[usize::from(request.process)].clone()).collect();
        let requests = read.requests.into_iter().map(|request| TraceRequest { process: 0, ..request });
        let mut named: Vec<(TraceRequest, String)> = requests.zip(names).collect();
        named.sort_by_key(|(request, _)| (request.issued_ns, request.offset));
        named
    };
    let (merged, whole) = (named(merged), named(whole));
    let different = merged.iter().zip(&whole).find(|(merged, whole)| merged != whole);
    assert!(different.is_none() && merged.len() == whole.len(), "{different:?}");
}

#[test]
fn events_of_version_8_are_read() {
    let requests = database_for(TraceFormat::Blktrace);
    let bytes = export(TraceFormat::Blktrace, &requests, &info());
    let (mut newer, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let data = usize::from(u16::from_le_bytes([bytes[at + 46], bytes[at + 47]]));
        let (event, data) = bytes[at..at + 48 + data].split_at(48);
        // `struct blk_io_trace2`: the action has 64 bits and is after the process identifier.
        newer.push(8);
        newer.extend_from_slice(&event[1..28]);
        newer.extend_from_slice(&event[32..36]);
        newer.extend_from_slice(&event[28..32]);
        newer.extend_from_slice(&[0; 4]);
        newer.extend_from_slice(&event[36..48]);
        newer.extend_from_slice(&[0; 12]);
        newer.extend_from_slice(data);
        at += 48 + data.len();
    }
    let (older, newer) = (read(&bytes), read(&newer));
    assert_eq!((newer.errors.len(), newer.end, &newer.info), (0, TraceEnd::Complete, &older.info));
    assert!(newer.requests == older.requests && newer.requests.len() == requests.len());
}

#[test]
fn errors_are_located() {
    let wrong = |text: &str| {
        let read = read(text.as_bytes());
        assert_eq!(read.errors.len(), 1, "{text}: {:?}", read.errors);
        (read.errors[0].to_string(), read.requests.len())
    };
    let (text, count) =
        wrong("0,R,1,4096,1577808000000046\n0,R,12x,4096,1577808000000047\n0,W,1,4096,1577808000000048\n");
    assert_eq!(text, "t:2:5: `12x` is not an offset; lines are `device_id,opcode,offset,length,timestamp`");
    assert_eq!(count, 2);
    let (text, _) = wrong("128166372003061629,hm,0,Read,383496192,32768,1\n128166372003061629,hm,0,Read,38349\n");
    assert!(text.starts_with("t:2:35: 5 fields instead of 7; lines are `Timestamp,"), "{text}");
    let (text, _) = wrong("fio version 3 iolog\n1 /f add\n\n2 /f wait 100 0\n");
    assert!(text.starts_with("t:4:6: `wait` is not an action of this version of the log; "), "{text}");
    let (text, _) = wrong("1538323200,18446744073709551615,8,0,1\n1538323200,1,8,0,1\n");
    assert!(text.starts_with("t:1:12: `18446744073709551615` is not an offset below 16 EiB"), "{text}");
    let (text, _) = wrong(&format!("1538323200,1,8,0,1\n{}\n1538323200,1,8,0,1\n", "9".repeat(10_000)));
    assert!(text.starts_with("t:2:1: the line is longer than 4,096 bytes"), "{text}");
    for (start, expected) in [
        (&b"\x1f\x8b\x08"[..], "t: compressed with gzip; decompress it first: `zcat t`"),
        (b"", "t: empty file; use a trace from"),
        (b"hello world\n", "t:1:1: unknown format; use a trace from"),
        (b"\xff\xfe\x00", "t: unknown format"),
    ] {
        let error = TraceInput::detect("t", start).expect_err("unknown format").to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn damaged_events_are_passed_over_and_located() {
    let requests = database_for(TraceFormat::Blktrace);
    let mut bytes = export(TraceFormat::Blktrace, &requests[..400], &info());
    let at = 4_000;
    bytes.splice(at..at, [0xee; 77]);
    let damaged = read(&bytes);
    assert!((1..=3).contains(&damaged.errors.len()), "{:?}", damaged.errors);
    let found = damaged.errors[0].what.strip_prefix("t: byte ").and_then(|rest| rest.split_once(':'));
    let found: u64 = found.and_then(|(byte, _)| byte.parse().ok()).expect("a position");
    assert!(found.abs_diff(at as u64) <= 64, "{}", damaged.errors[0]);
    assert!(damaged.requests.len() >= 395);
    for cut in 0..500 {
        let cut = read(&bytes[..3_000 + cut]);
        assert_eq!(cut.errors.len(), 0);
        assert!(matches!(cut.end, TraceEnd::Truncated { .. } | TraceEnd::Complete));
    }
}

#[test]
fn any_bytes_are_read_without_panic() {
    let info = info();
    for format in TraceFormat::ALL {
        let requests = database_for(format);
        let bytes = export(format, &requests[..200], &info);
        for seed in 0..300 {
            let mut random = Random::new(seed, 30);
            let mut changed = bytes.clone();
            for _ in 0..=random.below(20) {
                let at = random.below(changed.len() as u64) as usize;
                let value = b"0123456789,. \n/\xffRWF[+-"[random.below(21) as usize];
                match random.below(3) {
                    0 => changed[at] = value,
                    1 => changed.insert(at, value),
                    _ => drop(changed.drain(at..(at + random.below(9) as usize).min(bytes.len() - 20).max(at))),
                }
            }
            let read = read_files(TraceInput::new("t", format, 1), &[&changed], 1 + random.below(2_000) as usize);
            assert!(read.requests.len() <= 800, "{format:?}, seed {seed}");
        }
    }
}

#[test]
fn any_requests_are_written_without_panic() {
    for format in TraceFormat::ALL {
        let requests = wild(3_000, 40);
        let info = TraceInfo { started_unix_ms: Some(u64::MAX), ..info() };
        let mut export = TraceExport::new(format, &info);
        let mut output = Vec::new();
        requests.iter().for_each(|request| export.push(request, &info, &mut output));
        export.finish(&info, &mut output);
        assert!(!output.is_empty());
        drop(read_files(TraceInput::new("t", format, 1), &[&output], 4_096));
    }
}

#[test]
fn long_and_many_names_take_bounded_memory() {
    let mut text = String::new();
    for device in 0..70_000 {
        text.push_str(&format!("{device},R,0,4096,1577808000000046\n"));
    }
    text.push_str(&format!("{},R,0,4096,1577808000000046\n", "9".repeat(4_000)));
    let read = read(text.as_bytes());
    assert_eq!((read.requests.len(), read.info.devices.len(), read.errors.len()), (70_001, 65_536, 0));
    assert_eq!(read.info.devices[65_535].0, "others");
    assert!(read.requests[65_535..].iter().all(|request| request.device == u16::MAX));
    let long = TraceInput::new("t", TraceFormat::Alibaba, 1);
    let line = format!("{},R,0,4096,1577808000000046\n", "9".repeat(4_000));
    assert_eq!(read_files(long, &[line.as_bytes()], 100).info.devices[0].0.len(), 255);
}
