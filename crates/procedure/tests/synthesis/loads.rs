//! Traces of known loads.

use trace::{TraceOperation, TraceRequest};
use units::random::Random;

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const S: u64 = 1_000_000_000;

/// Returns a time with an exponential distribution, in nanoseconds.
pub(crate) fn exponential(random: &mut Random, mean_ns: f64) -> u64 {
    (-(1.0 - random.unit()).ln() * mean_ns) as u64
}

/// Returns a time with a log-normal distribution, in nanoseconds.
pub(crate) fn log_normal(random: &mut Random, median_ns: f64, sigma: f64) -> u64 {
    let normal = (-2.0 * (1.0 - random.unit()).ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos();
    (median_ns * (sigma * normal).exp()) as u64
}

/// Draws pages with probabilities proportional to `rank^-theta`, scattered over some pages.
pub(crate) struct ZipfPages {
    cumulated: Vec<f64>,
}

impl ZipfPages {
    pub(crate) fn new(pages: usize, theta: f64) -> Self {
        let mut sum = 0.0;
        let cumulated = (1..=pages).map(|rank| {
            sum += (rank as f64).powf(-theta);
            sum
        });
        Self { cumulated: cumulated.collect() }
    }

    pub(crate) fn page(&self, random: &mut Random) -> u64 {
        let at = random.unit() * self.cumulated.last().unwrap();
        let rank = self.cumulated.partition_point(|sum| *sum <= at) as u64;
        // A bijection, as the number of pages is a power of two and the multiplier is odd.
        (rank * 2_654_435_761) % self.cumulated.len() as u64
    }
}

/// Arrivals of a stream of requests.
pub(crate) struct Arrivals {
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) rate: f64,
}

/// Adds Poisson arrivals, whose requests `of` makes of their number.
pub(crate) fn poisson(
    all: &mut Vec<TraceRequest>,
    random: &mut Random,
    arrivals: &Arrivals,
    mut of: impl FnMut(&mut Random, u64) -> TraceRequest,
) {
    let (mut at, mut number) = (arrivals.begin, 0);
    loop {
        at += exponential(random, 1e9 / arrivals.rate);
        if at >= arrivals.end {
            return;
        }
        let request = of(random, number);
        all.push(TraceRequest { issued_ns: at, ..request });
        number += 1;
    }
}

pub(crate) fn sorted(mut all: Vec<TraceRequest>) -> Vec<TraceRequest> {
    all.sort_by_key(|request| request.issued_ns);
    all
}

pub(crate) fn read(offset: u64, length: u32, service_ns: u64) -> TraceRequest {
    TraceRequest { offset, length, service_ns: Some(service_ns), is_sync: true, ..TraceRequest::default() }
}

fn write(offset: u64, length: u32, service_ns: u64) -> TraceRequest {
    TraceRequest { operation: TraceOperation::Write, is_sync: false, ..read(offset, length, service_ns) }
}

/// Uniform random reads of 4 KiB, with equal gaps or Poisson arrivals.
pub(crate) fn plain_reads(seed: u64, rate: f64, secs: u64, is_poisson: bool) -> Vec<TraceRequest> {
    let (mut random, mut all) = (Random::new(seed, 0), Vec::new());
    let any = |random: &mut Random, _| {
        let service = log_normal(random, 150_000.0, 0.2);
        read(random.below(1 << 18) << 12, 4096, service)
    };
    if is_poisson {
        poisson(&mut all, &mut random, &Arrivals { begin: 0, end: secs * S, rate }, any);
    } else {
        for number in 0..(rate * secs as f64) as u64 {
            let request = any(&mut random, number);
            all.push(TraceRequest { issued_ns: (number as f64 * 1e9 / rate) as u64, ..request });
        }
    }
    all
}

/// A mix of reads and writes of several sizes in Poisson arrivals, zipf over 4 GiB.
pub(crate) fn mixed(seed: u64, rate: f64, secs: u64) -> Vec<TraceRequest> {
    let (mut random, mut all) = (Random::new(seed, 0), Vec::new());
    let zipf = ZipfPages::new(1 << 19, 0.8);
    poisson(&mut all, &mut random, &Arrivals { begin: 0, end: secs * S, rate }, |random, _| {
        let offset = zipf.page(random) << 13;
        let length = if random.below(10) < 8 { 8192 } else { 16_384 };
        let service = log_normal(random, 200_000.0, 0.3);
        if random.below(10) < 7 { read(offset, length, service) } else { write(offset, 8192, service) }
    });
    all
}

/// A database: random reads of 8 KiB pages by eight backends, a log with a flush after most writes, and a checkpoint of
/// 6 s every 20 s, at twice the rate of which the rest is.
pub(crate) fn database(seed: u64, secs: u64) -> Vec<TraceRequest> {
    let (mut random, mut all) = (Random::new(seed, 0), Vec::new());
    let zipf = ZipfPages::new(1 << 18, 0.9);
    let whole = Arrivals { begin: 0, end: secs * S, rate: 1000.0 };
    poisson(&mut all, &mut random, &whole, |random, _| {
        let service = log_normal(random, 300_000.0, 0.3);
        TraceRequest { process: 1 + random.below(8) as u16, ..read(zipf.page(random) << 13, 8192, service) }
    });
    let mut log = 0;
    let mut flushes = Vec::new();
    let log_writes = Arrivals { rate: 300.0, ..whole };
    let first = all.len();
    poisson(&mut all, &mut random, &log_writes, |random, _| {
        let length = 8192 * (1 + random.below(4) as u32);
        let offset = (64 << 30) + log;
        log = (log + u64::from(length)) % (256 << 20);
        TraceRequest { is_sync: true, process: 9, ..write(offset, length, log_normal(random, 100_000.0, 0.3)) }
    });
    for (number, request) in all[first..].iter().enumerate() {
        if number % 3 < 2 {
            let issued_ns = request.issued_ns + request.service_ns.unwrap();
            let flush = TraceRequest { operation: TraceOperation::Flush, length: 0, offset: 0, issued_ns, ..*request };
            flushes.push(TraceRequest { service_ns: Some(log_normal(&mut random, 400_000.0, 0.3)), ..flush });
        }
    }
    all.extend(flushes);
    for checkpoint in 0..secs / 20 {
        let begin = (checkpoint * 20 + 10) * S;
        let part = Arrivals { begin, end: begin + 6 * S, rate: 1200.0 };
        poisson(&mut all, &mut random, &part, |random, _| {
            let service = log_normal(random, 100_000.0, 0.3);
            TraceRequest { process: 10, ..write(zipf.page(random) << 13, 8192, service) }
        });
    }
    sorted(all)
}

/// A database whose kernel submits writes together: about every 200 ms one to four batches of 32, every 15 s a
/// checkpoint of many batches, and commits of which each waits for the flush of the one before.
pub(crate) fn write_back(seed: u64, secs: u64) -> Vec<TraceRequest> {
    let (mut random, mut all) = (Random::new(seed, 0), Vec::new());
    let batch = |all: &mut Vec<TraceRequest>, random: &mut Random, begin: u64| {
        for number in 0..32 {
            let service = log_normal(random, 300_000.0, 0.3);
            let request = TraceRequest { process: 2, ..write(random.below(1 << 18) << 13, 8192, service) };
            all.push(TraceRequest { issued_ns: begin + number * 4000, ..request });
        }
    };
    let mut at = 0;
    while at < secs * S {
        at += 150 * MS + random.below(100 * MS);
        (0..1 + random.below(4)).for_each(|number| batch(&mut all, &mut random, at + number * 1_500_000));
    }
    for checkpoint in 0..secs / 15 {
        let mut at = (checkpoint * 15 + 7) * S + random.below(2 * S);
        for _ in 0..60 + random.below(60) {
            at += exponential(&mut random, 2e6);
            batch(&mut all, &mut random, at);
        }
    }
    let (mut at, mut log) = (0, 64 << 30);
    while at < secs * S {
        let commit = TraceRequest { is_sync: true, process: 3, ..write(log, 16_384, 120_000) };
        all.push(TraceRequest { issued_ns: at, ..commit });
        at += 120_000;
        let flush = TraceRequest { operation: TraceOperation::Flush, offset: 0, length: 0, issued_ns: at, ..commit };
        let service = log_normal(&mut random, 500_000.0, 0.4);
        all.push(TraceRequest { service_ns: Some(service), ..flush });
        at += service + exponential(&mut random, 4e6);
        log += 16_384;
    }
    sorted(all)
}

/// Bursts of 10 to 30 writes about every 150 ms, each followed by a few reads.
pub(crate) fn many_bursts(seed: u64, bursts: u64) -> Vec<TraceRequest> {
    let (mut random, mut all, mut at) = (Random::new(seed, 0), Vec::new(), 0);
    for _ in 0..bursts {
        let (writes, reads) = (10 + random.below(21), random.below(5));
        for number in 0..writes {
            let request = write(random.below(1 << 18) << 13, 8192, 300_000);
            all.push(TraceRequest { issued_ns: at + number * 4000, ..request });
        }
        for number in 1..=reads {
            let request = read(random.below(1 << 18) << 13, 8192, 200_000);
            all.push(TraceRequest { issued_ns: at + number * 5 * MS, ..request });
        }
        at += 100 * MS + random.below(100 * MS);
    }
    sorted(all)
}

/// Compactions of 4 s every 12 s: two streams of reads and one of writes of 256 KiB, beside random reads of 4 KiB.
pub(crate) fn compaction(seed: u64, secs: u64) -> Vec<TraceRequest> {
    let (mut random, mut all) = (Random::new(seed, 0), Vec::new());
    let zipf = ZipfPages::new(1 << 19, 0.7);
    poisson(&mut all, &mut random, &Arrivals { begin: 0, end: secs * S, rate: 800.0 }, |random, _| {
        let service = log_normal(random, 200_000.0, 0.3);
        read(zipf.page(random) << 12, 4096, service)
    });
    let mut heads = [8u64 << 30, 16 << 30, 32 << 30];
    for round in 0..secs / 12 {
        let begin = (round * 12 + 4) * S;
        for (stream, rate) in [(0, 60.0), (1, 60.0), (2, 100.0)] {
            let part = Arrivals { begin, end: begin + 4 * S, rate };
            poisson(&mut all, &mut random, &part, |random, _| {
                let offset = heads[stream];
                heads[stream] += 256 << 10;
                let service = log_normal(random, 900_000.0, 0.2);
                let request =
                    if stream < 2 { read(offset, 256 << 10, service) } else { write(offset, 256 << 10, service) };
                TraceRequest { process: 3, ..request }
            });
        }
    }
    sorted(all)
}

/// Random writes with bursts of 40 ms at 20 times the rate, each second or at random.
pub(crate) fn bursts(seed: u64, secs: u64, is_periodic: bool) -> Vec<TraceRequest> {
    let (mut random, mut all) = (Random::new(seed, 0), Vec::new());
    let one = |random: &mut Random, _| {
        let service = log_normal(random, 150_000.0, 0.2);
        write(random.below(1 << 18) << 12, 4096, service)
    };
    poisson(&mut all, &mut random, &Arrivals { begin: 0, end: secs * S, rate: 400.0 }, one);
    let mut begin = S / 2;
    while begin + 40 * MS < secs * S {
        poisson(&mut all, &mut random, &Arrivals { begin, end: begin + 40 * MS, rate: 8000.0 }, one);
        begin += if is_periodic { S } else { 50 * MS + exponential(&mut random, 950e6) };
    }
    sorted(all)
}

/// Workers that each read or write, wait for the completion, think, and go on.
pub(crate) fn closed(seed: u64, secs: u64, workers: u16, reads_percent: u64, think_ns: f64) -> Vec<TraceRequest> {
    let (mut random, mut all) = (Random::new(seed, 0), Vec::new());
    for process in 0..workers {
        let mut at = random.below(1000);
        while at < secs * S {
            let service = log_normal(&mut random, 400_000.0, 0.2);
            let offset = random.below(1 << 18) << 12;
            let is_read = random.below(100) < reads_percent;
            let request = if is_read { read(offset, 4096, service) } else { write(offset, 4096, service) };
            all.push(TraceRequest { issued_ns: at, process, is_sync: true, ..request });
            at += service + exponential(&mut random, think_ns);
        }
    }
    sorted(all)
}
