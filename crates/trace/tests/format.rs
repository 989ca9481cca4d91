//! Traces in Fathom's format survive, however they are fed and whatever happens to the file.

#![allow(clippy::disallowed_macros, reason = "tests print what they measured")]

use trace::{
    TRACE_HEADER_BYTES, TraceBlockHeader, TraceBlockKind, TraceEnd, TraceRequest, TraceWriter, TraceWriterOptions,
};
use units::random::Random;

use crate::common::{database, info, read, sequential, uniform, wild, write};

const EXACT: TraceWriterOptions = TraceWriterOptions { tick_ns: 1, block_requests: 1_000 };

fn sorted(mut requests: Vec<TraceRequest>) -> Vec<TraceRequest> {
    requests.sort_by_key(|request| request.issued_ns);
    requests
}

#[test]
fn any_requests_survive_exactly_in_ticks_of_a_nanosecond() {
    for seed in 0..60 {
        let count = Random::new(seed, 9).below(3_000) as usize;
        let mut requests = wild(count, seed);
        for request in &mut requests {
            // What is before the start of the trace or after the end of time is cut.
            request.queued_ns = request.queued_ns.map(|queued| queued.min(request.issued_ns));
        }
        let options = TraceWriterOptions { block_requests: 4_096, ..EXACT };
        let whole = read(&write(&requests, options), 1 + seed as usize * 100);
        assert!(whole.requests == sorted(requests), "seed {seed}, {count} requests");
        assert_eq!((whole.end, whole.damage.len()), (TraceEnd::Complete, 0), "seed {seed}");
        assert_eq!(whole.info, info());
    }
}

#[test]
fn ticks_keep_the_order_of_completions_and_issues() {
    let requests = database(20_000, 3);
    for tick_ns in [1, 100, 1_000, 4_096] {
        let options = TraceWriterOptions { tick_ns, ..TraceWriterOptions::default() };
        let read = read(&write(&requests, options), 1 << 16).requests;
        let tick = u64::from(tick_ns);
        let mut sums = [0i64; 2];
        for (request, read) in requests.iter().zip(&read) {
            assert_eq!(read.issued_ns, request.issued_ns / tick * tick);
            let (service, read_service) = (request.service_ns.unwrap(), read.service_ns.unwrap());
            assert_eq!(read.issued_ns + read_service, (request.issued_ns + service) / tick * tick);
            assert!(
                read_service.abs_diff(service) < tick
                    && read.queued_ns.unwrap().abs_diff(request.queued_ns.unwrap()) < tick
            );
            sums[0] += service as i64;
            sums[1] += read_service as i64;
            let times = TraceRequest {
                issued_ns: request.issued_ns,
                queued_ns: request.queued_ns,
                service_ns: request.service_ns,
                ..*read
            };
            assert_eq!(times, *request);
        }
        assert!(
            (sums[0] - sums[1]).abs() < i64::from(tick_ns) * 20_000 / 50,
            "biased by {} ns",
            (sums[0] - sums[1]) / 20_000
        );
    }
}

#[test]
fn requests_in_the_order_of_completion_are_sorted() {
    let requests = database(50_000, 4);
    let mut completed = requests.clone();
    completed.sort_by_key(|request| request.issued_ns + request.service_ns.unwrap());
    assert!(completed != requests);
    let mut read = read(&write(&completed, EXACT), 5_000).requests;
    assert!(read.is_sorted_by_key(|request| request.issued_ns));
    // Those of the same instant are in the order in which they came.
    read.sort_by_key(|request| (request.issued_ns, request.offset));
    let mut requests = requests;
    requests.sort_by_key(|request| (request.issued_ns, request.offset));
    assert!(read == requests);
}

#[test]
fn a_trace_is_readable_up_to_the_last_complete_block_wherever_it_is_cut() {
    let requests = database(300, 5);
    let bytes = write(&requests, TraceWriterOptions { block_requests: 50, ..EXACT });
    let mut ends = vec![];
    let mut at = 0;
    while let Some(header) = TraceBlockHeader::parse(&bytes[at..]) {
        at += header.bytes() as usize;
        ends.push((at, header.requests_before as usize + header.requests as usize));
    }
    assert_eq!((at, ends.len()), (bytes.len(), 8), "facts, six blocks and the end");
    for cut in 0..bytes.len() {
        let whole = read(&bytes[..cut], 64);
        let (complete, count) = ends.iter().copied().rfind(|(end, _)| *end <= cut).unwrap_or((0, 0));
        assert!(whole.requests == requests[..count], "cut at {cut}");
        let expected = match cut - complete {
            0 => TraceEnd::Unfinished,
            rest => TraceEnd::Truncated { position: complete as u64, bytes: rest as u64 },
        };
        assert_eq!((whole.end, whole.damage.len()), (expected, 0), "cut at {cut}");
    }
}

#[test]
fn a_flipped_bit_costs_one_block_and_is_located() {
    let requests = database(200, 6);
    let bytes = write(&requests, TraceWriterOptions { block_requests: 50, ..EXACT });
    let mut random = Random::new(6, 1);
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << random.below(8);
        let whole = read(&damaged, 97);
        assert_eq!(whole.damage.len(), 1, "bit {at}: {:?}", whole.damage);
        let damage = &whole.damage[0];
        assert!((damage.position..damage.position + damage.bytes).contains(&(at as u64)), "byte {at}: {damage:?}");
        let header = TraceBlockHeader::parse(&bytes[damage.position as usize..]).expect("position of a block");
        assert_eq!(damage.bytes, header.bytes(), "byte {at}");
        let (from, to) = (header.requests_before as usize, header.requests_before as usize + header.requests as usize);
        assert!(whole.requests == [&requests[..from], &requests[to..]].concat(), "byte {at}");
        assert_eq!(whole.missing, u64::from(header.requests), "byte {at}");
        let is_end = header.kind == TraceBlockKind::End;
        assert_eq!(whole.end, if is_end { TraceEnd::Unfinished } else { TraceEnd::Complete }, "byte {at}");
    }
}

#[test]
fn lost_and_inserted_bytes_are_passed_over() {
    let requests = database(500, 7);
    let bytes = write(&requests, TraceWriterOptions { block_requests: 50, ..EXACT });
    let mut random = Random::new(7, 1);
    for round in 0..500 {
        let at = random.below(bytes.len() as u64) as usize;
        let count = random.below(300) as usize;
        let mut changed = bytes.clone();
        if round % 2 == 0 {
            changed.drain(at..(at + count).min(bytes.len()));
        } else {
            let mut noise = vec![0; count];
            random.fill(&mut noise);
            changed.splice(at..at, noise);
        }
        let whole = read(&changed, 1_000);
        assert!(whole.requests.len() >= requests.len() - 200, "round {round}: {} read", whole.requests.len());
        assert!(whole.requests.iter().all(|request| requests.contains(request)), "round {round}");
    }
}

#[test]
fn any_bytes_are_read_without_panic() {
    let mut random = Random::new(8, 1);
    let bytes = write(&wild(300, 8), EXACT);
    for round in 0..3_000 {
        let mut changed = bytes.clone();
        for _ in 0..=random.below(8) {
            let at = random.below(changed.len() as u64) as usize;
            changed[at] = random.bits() as u8;
        }
        repair_checksums(&mut changed);
        let whole = read(&changed, 4_096);
        assert!(whole.requests.len() <= 40_000, "round {round}");
    }
}

/// Makes the checksums of a changed trace right, so that its content is decoded.
fn repair_checksums(bytes: &mut [u8]) {
    let mut at = 0;
    while at + TRACE_HEADER_BYTES <= bytes.len() {
        let (header, rest) = bytes[at..].split_at_mut(TRACE_HEADER_BYTES);
        header[..8].copy_from_slice(&trace::TRACE_MARK);
        header[8..10].copy_from_slice(&trace::TRACE_VERSION.to_le_bytes());
        let length = u32::from_le_bytes(header[12..16].try_into().unwrap()) as usize;
        let Some(content) = rest.get(..length) else { return };
        header[48..52].copy_from_slice(&crc32c::crc32c(content).to_le_bytes());
        let checksum = crc32c::crc32c(&header[..52]);
        header[52..].copy_from_slice(&checksum.to_le_bytes());
        at += TRACE_HEADER_BYTES + length;
    }
}

#[test]
fn names_and_counts_come_when_they_are_known() {
    let mut writer = TraceWriter::new(info(), EXACT);
    let requests = database(10, 9);
    writer.push(&requests[0]);
    writer.write_before(u64::MAX);
    let first = std::mem::take(writer.output());
    writer.info.processes.push("late \u{1f4be}".repeat(100));
    writer.info.devices.push(("sdb".to_owned(), None));
    writer.info.lost = Some(17);
    writer.push(&requests[1]);
    writer.write_before(u64::MAX);
    let second = std::mem::take(writer.output());
    let before = read(&first, 10);
    assert_eq!((before.info, before.end), (info(), TraceEnd::Unfinished));
    let after = read(&[first, second].concat(), 10);
    assert_eq!((after.requests.len(), after.info.lost, after.info.devices.len()), (2, Some(17), 2));
    let name = &after.info.processes[8];
    assert!(name.len() <= 255 && name.starts_with("late \u{1f4be}late"), "{name}");
}

#[test]
fn blocks_can_be_read_alone_from_an_index() {
    let requests = database(5_000, 10);
    let bytes = write(&requests, EXACT);
    let mut at = 0;
    while let Some(header) = TraceBlockHeader::parse(&bytes[at..]) {
        let end = at + header.bytes() as usize;
        if header.requests > 0 {
            let whole = read(&bytes[at..end], 1 << 20);
            let from = header.requests_before as usize;
            assert!(whole.requests == requests[from..from + header.requests as usize]);
            assert_eq!(header.first_ns(), whole.requests[0].issued_ns);
            assert_eq!(header.last_ns(), whole.requests.last().unwrap().issued_ns);
        }
        at = end;
    }
    assert_eq!(at, bytes.len());
}

#[test]
fn requests_take_few_bytes() {
    let size = |requests: &[TraceRequest], options| write(requests, options).len() as f64 / requests.len() as f64;
    let options = TraceWriterOptions::default();
    let second = |requests: &[TraceRequest]| {
        let mut writer = TraceWriter::new(info(), options);
        let mut next = 1_000_000_000;
        for request in requests {
            if request.issued_ns >= next {
                writer.write_before(next);
                next += 1_000_000_000;
            }
            writer.push(request);
        }
        writer.finish().len() as f64 / requests.len() as f64
    };
    let loads = [
        ("database", database(200_000, 1), 5.8),
        ("sequential", sequential(100_000, 1), 2.3),
        ("uniform", uniform(200_000, 1), 5.4),
    ];
    for (name, requests, most) in loads {
        let bytes = size(&requests, options);
        for tick_ns in [1, 100, 250, 500, 1_000] {
            println!(
                "{name}: {:.2} in ticks of {tick_ns} ns",
                size(&requests, TraceWriterOptions { tick_ns, ..options })
            );
        }
        let often = second(&requests);
        println!("{name}: {bytes:.2} bytes per request, {often:.2} in blocks of a second");
        assert!(bytes <= most && often <= most + 0.2, "{name}");
    }
}
