//! Runs jobs on modelled volumes, from job text to counters.
#![allow(dead_code, reason = "each test file uses a part of it")]

use drive::{DriveWorker, NoObserver, Policy, Stop};
use job::{Dialect, EmptySource, Job};
use meter::{Meter, Summary};
use sim::{Buffered, ClientPlace, ModelClient, Virtual, World};
use units::{Bytes, Nanos};
use volume::pagecache::{AccessAdvice, PageCache, PageCacheCounts};
use volume::{
    Attachment, Behaviour, Buffering, Burst, CountedUnit, Jitter, LatencySpec, Law, Limit, LimitSource, PerRequestKind,
    Scope, ServiceStage, Spec, System,
};
use workload::{FileFact, Issuer};

/// Results of a run.
pub(crate) struct Outcome {
    /// Workers of the jobs, in order.
    pub(crate) summaries: Vec<Summary>,
    /// Limits and stations.
    pub(crate) stages: Vec<ServiceStage>,
    /// When the last worker ended.
    pub(crate) ended: Nanos,
    /// Counters and content of the page cache, if it was used.
    pub(crate) cache: Option<PageCacheCounts>,
    pub(crate) unwritten: u64,
    pub(crate) cached: u64,
}

impl Outcome {
    /// Returns the operations per second of all workers and kinds.
    pub(crate) fn iops(&self) -> f64 {
        self.ios() as f64 / self.ended.secs_f64()
    }

    /// Returns the operations of all workers and kinds.
    pub(crate) fn ios(&self) -> u64 {
        self.summaries.iter().flat_map(|summary| &summary.directions).map(|direction| direction.ios).sum()
    }
}

/// Runs the jobs of a job file's text on one volume, in one virtual world.
pub(crate) fn run(spec: &Spec, text: &str, seed: u64) -> Outcome {
    let plan = job::parse_file_text("test.fio", text.as_bytes(), Dialect::Fio, &EmptySource);
    let (plan, _) = plan.into_result().expect("the job is well formed");
    let (mut workers, mut clients) = (Vec::new(), Vec::new());
    for job in &plan.jobs {
        for clone in 0..job.grouping.numjobs {
            let index = workers.len() as u32;
            let (worker, depth, files) = member(spec, job, workload::WorkerIndex { index, clone }, seed);
            workers.push(worker);
            let bytes = spec.size.get();
            clients.push(ModelClient {
                depth,
                files: vec![ClientPlace { route: 0, base: 0, bytes }; files],
                buffered: buffered(job),
            });
        }
    }
    let system = System::new(&[Attachment { spec: spec.clone(), volume: "volume".to_owned() }], seed);
    let mut world = World::new(system, Virtual::default());
    world.connect(clients);
    drive::drive(&mut workers, &mut world, &Stop::new(), &mut NoObserver);
    let ended = target::Target::now(&mut world);
    let summaries = workers.iter_mut().map(|worker| worker.meter_mut().finished()).collect();
    let cache = world.page_cache(0);
    Outcome {
        summaries,
        stages: world.system().stages(ended),
        ended,
        cache: cache.map(PageCache::counts),
        unwritten: cache.map_or(0, |cache| cache.unwritten().get()),
        cached: cache.map_or(0, |cache| cache.held_bytes().get()),
    }
}

/// A volume without limits and with constant latency.
pub(crate) fn constant(latency: Nanos) -> Spec {
    let law = Law::Constant(latency);
    Spec {
        striping: None,
        name: "constant".to_owned(),
        title: "constant latency".to_owned(),
        size: Bytes::new(1 << 40),
        host: "host".to_owned(),
        limits: Vec::new(),
        stations: Vec::new(),
        behaviour: Behaviour::Latency(LatencySpec {
            law: PerRequestKind { read: law.clone(), write: law.clone(), trim: law.clone(), flush: law },
            unwritten: None,
            written_share: 1.0,
            bytes_per_sec: None,
            spells: None,
            source: LimitSource::default(),
        }),
        buffering: Buffering::default(),
        price: None,
        unknown_limits: Vec::new(),
        notes: Vec::new(),
    }
}

/// The same with a limit in bytes per second.
pub(crate) fn limited(latency: Nanos, bytes_per_sec: u64) -> Spec {
    let rate = PerRequestKind { read: Some(bytes_per_sec), write: Some(bytes_per_sec), ..PerRequestKind::default() };
    let limit = Limit {
        name: "throughput".to_owned(),
        scope: Scope::Volume,
        counted: CountedUnit::Bytes,
        io_unit: None,
        rate,
        larger_than: 0,
        burst: Burst::Jitter(Jitter::assumed(Nanos::from_millis(5))),
        tolerance: None,
        merging: None,
        rule: String::new(),
        source: LimitSource::default(),
    };
    Spec { limits: vec![limit], ..constant(latency) }
}

/// Reports whether the options make a job bypass the page cache: `ioengine=model` and `direct=1` do.
fn buffered(job: &Job) -> Option<Buffered> {
    let past = job.engine.direct || job.engine.kind == job::EngineKind::Model;
    (!past).then(|| Buffered {
        blocking: job.engine.kind != job::EngineKind::IoUring,
        durable: job.files.open_sync != job::OpenSync::None,
        advice: if job.pattern.random { AccessAdvice::Random } else { AccessAdvice::Sequential },
    })
}

fn member(spec: &Spec, job: &Job, worker: workload::WorkerIndex, seed: u64) -> (DriveWorker, u32, usize) {
    let fact = |_: &str| Some(FileFact { size: spec.size.get(), block_device: true, ..FileFact::default() });
    let files = workload::plan_files(job, Dialect::Strict, worker, seed, &fact).expect("the files fit");
    let issuer = Issuer::new(job, worker, &files.layout(), seed).expect("the job can run");
    let depth = job.pace.iodepth;
    let runtime = if job.extent.runtime == Nanos::ZERO { Nanos::MAX } else { job.extent.runtime };
    let ramp = job.extent.ramp_time;
    let policy = Policy { depth, batch: Some(depth), ramp, runtime, ..Policy::default() };
    (DriveWorker::new(issuer, Meter::new(meter::MeterOptions::default()), policy), depth, files.files.len())
}
