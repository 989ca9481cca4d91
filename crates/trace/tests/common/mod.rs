//! Synthetic traces.
#![allow(dead_code, reason = "each test uses some")]

use trace::{
    TraceEnd, TraceInfo, TraceOperation, TraceReader, TraceRequest, TraceStep, TraceWriter, TraceWriterOptions,
};
use units::random::Random;

/// Returns a time with an exponential distribution, in nanoseconds.
pub(crate) fn exponential(random: &mut Random, mean_ns: f64) -> u64 {
    (-(1.0 - random.unit()).ln() * mean_ns) as u64
}

/// Returns a time with a log-normal distribution, in nanoseconds.
pub(crate) fn log_normal(random: &mut Random, median_ns: f64, sigma: f64) -> u64 {
    let normal = (-2.0 * (1.0 - random.unit()).ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos();
    (median_ns * (sigma * normal).exp()) as u64
}

/// Returns ranks with probabilities proportional to `rank^-theta`, scattered over `0..pages`.
pub(crate) struct Zipf {
    cumulated: Vec<f64>,
    pages: u64,
}

impl Zipf {
    pub(crate) fn new(ranks: usize, theta: f64, pages: u64) -> Self {
        let mut sum = 0.0;
        let cumulated = (1..=ranks)
            .map(|rank| {
                sum += (rank as f64).powf(-theta);
                sum
            })
            .collect();
        Self { cumulated, pages }
    }

    pub(crate) fn page(&self, random: &mut Random) -> u64 {
        let at = random.unit() * self.cumulated.last().unwrap();
        let rank = self.cumulated.partition_point(|sum| *sum <= at) as u64;
        units::random::mix(rank, 5) % self.pages
    }
}

/// A database: 20,000 requests/s in Poisson arrivals; 55 % reads of 8 KiB and 10 % of 16 KiB by six backends, 15 % page
/// writes by a checkpointer, 20 % synchronous log writes of 8 to 32 KiB, with a flush after each tenth.
pub(crate) fn database(count: usize, seed: u64) -> Vec<TraceRequest> {
    const PAGES: u64 = 200 << 30 >> 13;
    let mut random = Random::new(seed, 0);
    let zipf = Zipf::new(4_000_000, 0.9, PAGES);
    let (mut now, mut log) = (1_000_000, 0u64);
    (0..count)
        .map(|_| {
            now += exponential(&mut random, 50_000.0);
            let mut request = TraceRequest { issued_ns: now, ..TraceRequest::default() };
            let backend = 1 + random.below(6) as u16;
            match random.below(100) {
                0..65 => {
                    request.offset = zipf.page(&mut random) << 13;
                    request.length = if random.below(65) < 10 { 16_384 } else { 8_192 };
                    request.process = backend;
                    request.service_ns = Some(log_normal(&mut random, 110_000.0, 0.35));
                }
                65..80 => {
                    request.operation = TraceOperation::Write;
                    request.offset = zipf.page(&mut random) << 13;
                    request.length = 8_192;
                    request.service_ns = Some(log_normal(&mut random, 30_000.0, 0.4));
                }
                80..98 => {
                    request.operation = TraceOperation::Write;
                    request.is_sync = true;
                    request.length = 8_192 * (1 + random.below(4) as u32);
                    request.offset = (300 << 30) + log;
                    log = (log + u64::from(request.length)) % (16 << 20);
                    request.process = backend;
                    request.service_ns = Some(log_normal(&mut random, 25_000.0, 0.3));
                }
                _ => {
                    request.operation = TraceOperation::Flush;
                    request.is_preflush = true;
                    request.process = backend;
                    request.service_ns = Some(log_normal(&mut random, 300_000.0, 0.5));
                }
            }
            request.queued_ns = Some(exponential(&mut random, 2_500.0));
            request
        })
        .collect()
}

/// Reads of 128 KiB in order, at a queue depth of about four.
pub(crate) fn sequential(count: usize, seed: u64) -> Vec<TraceRequest> {
    let mut random = Random::new(seed, 0);
    let mut now = 0;
    (0..count as u64)
        .map(|index| {
            now += exponential(&mut random, 60_000.0);
            TraceRequest {
                issued_ns: now,
                service_ns: Some(log_normal(&mut random, 240_000.0, 0.2)),
                offset: index << 17,
                length: 1 << 17,
                is_readahead: true,
                process: 3,
                ..TraceRequest::default()
            }
        })
        .collect()
}

/// Uniformly random reads and writes of 4 KiB over 1 TiB, 100,000 requests/s.
pub(crate) fn uniform(count: usize, seed: u64) -> Vec<TraceRequest> {
    let mut random = Random::new(seed, 0);
    let mut now = 0;
    (0..count)
        .map(|_| {
            now += exponential(&mut random, 10_000.0);
            let is_write = random.below(10) < 3;
            TraceRequest {
                issued_ns: now,
                service_ns: Some(log_normal(&mut random, if is_write { 20_000.0 } else { 80_000.0 }, 0.25)),
                offset: random.below(1 << 28) << 12,
                length: 4_096,
                operation: if is_write { TraceOperation::Write } else { TraceOperation::Read },
                is_sync: true,
                process: 1,
                ..TraceRequest::default()
            }
        })
        .collect()
}

/// Requests whose fields are all drawn from wide ranges, in no order.
pub(crate) fn wild(count: usize, seed: u64) -> Vec<TraceRequest> {
    let mut random = Random::new(seed, 0);
    let mut wide = |bits: u64| random.bits() >> (64 - random.below(bits + 1)).min(63);
    (0..count)
        .map(|_| {
            let flags = wide(12);
            TraceRequest {
                issued_ns: wide(62),
                queued_ns: Some(wide(63)).filter(|_| flags & 1 == 1),
                service_ns: Some(wide(62)).filter(|_| flags & 2 == 2),
                offset: wide(63),
                length: wide(32) as u32,
                operation: [
                    TraceOperation::Read,
                    TraceOperation::Write,
                    TraceOperation::Flush,
                    TraceOperation::Discard,
                    TraceOperation::WriteZeroes,
                    TraceOperation::Other,
                ][wide(32) as usize % 6],
                is_sync: flags & 4 == 4,
                is_meta: flags & 8 == 8,
                is_fua: flags & 16 == 16,
                is_preflush: flags & 32 == 32,
                is_readahead: flags & 64 == 64,
                has_failed: flags & 128 == 128,
                process: wide(16) as u16,
                waiting: None,
                device: wide(16) as u16,
            }
        })
        .collect()
}

pub(crate) fn info() -> TraceInfo {
    TraceInfo {
        source: "test".to_owned(),
        started_unix_ms: Some(1_700_000_000_123),
        devices: vec![("nvme0n1".to_owned(), Some(400 << 30))],
        names_are_paths: false,
        processes: (0..8).map(|index| format!("postgres {index}")).collect(),
        lost: Some(0),
        is_anonymous: false,
    }
}

pub(crate) fn write(requests: &[TraceRequest], options: TraceWriterOptions) -> Vec<u8> {
    let mut writer = TraceWriter::new(info(), options);
    requests.iter().for_each(|request| writer.push(request));
    writer.finish()
}

/// A whole trace as it was read.
#[derive(Debug)]
pub(crate) struct Whole {
    pub(crate) requests: Vec<TraceRequest>,
    pub(crate) info: TraceInfo,
    pub(crate) damage: Vec<trace::TraceDamage>,
    pub(crate) end: TraceEnd,
    pub(crate) missing: u64,
}

/// Reads a trace, fed in pieces of `piece` bytes.
pub(crate) fn read(bytes: &[u8], piece: usize) -> Whole {
    let mut reader = TraceReader::new();
    let (mut requests, mut damage) = (Vec::new(), Vec::new());
    let mut pieces = bytes.chunks(piece);
    let end = loop {
        match reader.next(&mut requests) {
            Ok(TraceStep::Requests) => {}
            Ok(TraceStep::NeedsInput(_)) => match pieces.next() {
                Some(piece) => reader.feed(piece),
                None => reader.end_input(),
            },
            Err(found) => damage.push(found),
            Ok(TraceStep::End(end)) => break end,
        }
    };
    Whole { requests, info: reader.info().clone(), damage, end, missing: reader.missing() }
}
