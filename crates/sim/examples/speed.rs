//! How many modelled operations a second one core can carry.

#![expect(clippy::disallowed_methods, clippy::disallowed_macros, reason = "a program that takes the real time")]

use std::time::Instant;

use drive::{Policy, Stop, Unwatched, Worker, drive};
use job::Dialect;
use meter::Meter;
use sim::{Place, Seat, Virtual, World};
use units::{Bytes, Nanos};
use volume::*;
use workload::Issuer;

fn spec() -> Spec {
    let law = Law::LogLogistic {
        shift: Nanos::new(815_440),
        scale: Nanos::new(469_290),
        shape: 4.6212,
        most: Nanos::from_micros(4200),
    };
    let all = PerKind { read: law.clone(), write: law.clone(), trim: law.clone(), flush: law };
    let limit = |name: &str, counted, rate| Limit {
        name: name.to_owned(),
        scope: Scope::Volume,
        counted,
        rate: PerKind { read: Some(rate), write: Some(rate), ..PerKind::default() },
        larger_than: 0,
        burst: Burst::Jitter(Nanos::from_millis(5)),
        rule: String::new(),
        source: Source::default(),
    };
    Spec {
        name: "x".into(),
        title: "x".into(),
        size: Bytes::new(1 << 40),
        host: "h".into(),
        limits: vec![
            limit("iops", Counted::Operations { unit: None, merged: false }, 160_000),
            limit("bytes", Counted::Bytes, 2400 << 20),
        ],
        stations: vec![],
        behaviour: Behaviour::Latency(Latency {
            law: all,
            unwritten: None,
            written_share: 1.0,
            bytes_per_sec: None,
            spells: None,
            source: Source::default(),
        }),
        buffering: Buffering::default(),
        price: None,
        notes: vec![],
    }
}

struct Nobody;
impl job::Source for Nobody {
    fn read(&self, _: &str) -> Result<Vec<u8>, String> {
        Err("no".into())
    }
    fn variable(&self, _: &str) -> Option<String> {
        None
    }
    fn page_size_bytes(&self) -> u64 {
        4096
    }
    fn memory_mib(&self) -> u64 {
        1024
    }
    fn cpus(&self) -> u64 {
        1
    }
}

fn main() {
    let depth: u32 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(256);
    let text = format!(
        "[a]\nfilename=/dev/nvme0n1\nsize=1t\nrw=randread\nbs=4k\nioengine=libaio\ndirect=1\niodepth={depth}\nruntime=60\ntime_based\n"
    );
    let parsed = job::parse_file_text("x", text.as_bytes(), Dialect::Fio, &Nobody);
    let plan = parsed.into_result().unwrap().0;
    let job = &plan.jobs[0];
    let fact = |_: &str| Some(workload::FileFact { size: 1 << 40, block_device: true });
    let worker = workload::Worker { index: 0, clone: 0 };
    let files = workload::plan_files(job, Dialect::Strict, worker, 1, &fact).unwrap();
    let issuer = Issuer::new(job, worker, &files.layout(), 1).unwrap();
    let policy = Policy { depth, batch: Some(depth), runtime: Nanos::from_secs(60), ..Policy::default() };
    let mut workers = [Worker::new(issuer, Meter::new(meter::Options::default()), policy)];
    let system = System::new(&[Attachment { spec: spec(), volume: "v".into() }], 1);
    let mut world = World::new(system, Virtual::default());
    world.seat(vec![Seat { depth, files: vec![Place { route: 0, base: 0, bytes: 1 << 40 }], buffered: None }]);
    let start = Instant::now();
    drive(&mut workers, &mut world, &Stop::new(), &mut Unwatched);
    let secs = start.elapsed().as_secs_f64();
    let ios = workers[0].meter_mut().ios().iter().sum::<u64>();
    println!("{ios} in {secs:.3} s: {:.2} M/s; IOPS {}", ios as f64 / secs / 1e6, ios / 60);
    println!("{:?}", world.system().stages(Nanos::from_secs(60)));
}
