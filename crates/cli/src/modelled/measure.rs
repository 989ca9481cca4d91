//! The run of jobs on modelled volumes, and what it leaves.

use std::sync::Arc;
use std::time::{Duration, Instant};

use drive::{Stop, Watch};
use engine::Clock;
use job::{Engine, Job, OpenSync};
use meter::Meter;
use record::{
    Model, ModelCredits, ModelEarly, ModelMerging, ModelPageCache, ModelStage, ModelStageKind, ModelledVolume,
};
use sim::{Buffered, Seat, Virtual, World};
use units::Nanos;
use volume::pagecache::Advice;
use volume::{Attachment, StageKind, System};
use workload::Issuer;

use super::{Fitting, assumptions};
use crate::board::{Board, Totals};
use crate::logs::LogFiles;
use crate::measure::{Measurement, Request, Show};
use crate::members::Member;
use crate::overseer::Moment;
use crate::results::{self, Scene, Stand};
use crate::signals::Signals;
use crate::worker::{self, Finished, Trouble};

/// How a run's time passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// From event to event.
    Virtual,
    /// By itself.
    Real,
}

/// Runs all stages of a plan, all workers of a stage in one loop.
pub(crate) fn measure(
    request: &Request<'_>,
    fitting: &Fitting,
    pace: Pace,
    signals: &Signals,
    show: &mut dyn Show,
) -> Measurement {
    let mut system = System::new(&fitting.attachments, request.seeds.printed(request.plan));
    assumptions::open_routes(request, fitting).for_each(|route| system.account_for_jitter(route));
    let board = Arc::new(Board::new(request.members.len()));
    show.begin(request, &board);
    let has_credits = system.credit_levels(Nanos::ZERO).next().is_some();
    let theatre = Theatre { request, fitting, signals, board: &board, has_credits };
    let started_unix_ms = if pace == Pace::Real { worker::unix_ms() } else { 0 };
    let (finished, model) = match pace {
        Pace::Virtual => theatre.play(World::new(system, Virtual::default()), pace, show),
        Pace::Real => theatre.play(World::new(system, Paced(Clock::start())), pace, show),
    };
    let signal = signals.end();
    let stand = if signal.is_some() { Stand::Interrupted } else { Stand::Over };
    let frame = request.frame(started_unix_ms, Scene::Model(&model));
    let run = results::run(&frame, &board, &finished, stand);
    Measurement { run, finished, signal }
}

/// A clock that passes by itself.
struct Paced(Clock);

impl sim::Clock for Paced {
    fn now(&mut self) -> Nanos {
        self.0.now()
    }

    fn wait_until(&mut self, instant: Nanos) {
        self.0.sleep_until(instant);
    }
}

/// What all stages share.
struct Theatre<'a> {
    request: &'a Request<'a>,
    fitting: &'a Fitting,
    signals: &'a Signals,
    board: &'a Arc<Board>,
    /// Whether any volume has a bucket of credits, of which an account is kept.
    has_credits: bool,
}

impl Theatre<'_> {
    fn play<C: sim::Clock>(&self, mut world: World<C>, pace: Pace, show: &mut dyn Show) -> (Vec<Finished>, Model) {
        let (mut finished, stop) = (Vec::new(), Stop::new());
        if self.board.is_watched() {
            let board = Arc::clone(self.board);
            world.show(SHOW_EVERY, move |now, system| board.show_stages(now, system.stages(now)));
        }
        for stage in self.request.members.chunk_by(|a, b| a.stage == b.stage) {
            if self.signals.end().is_some() {
                break;
            }
            finished.extend(self.stage(stage, &mut world, &stop, (pace, show)));
        }
        finished.sort_by_key(|finished: &Finished| finished.number);
        let elapsed = target::Target::now(&mut world);
        let model = self.model(&world, elapsed, pace, &finished);
        (finished, Model { page_caches: page_caches(&world, &self.fitting.attachments), ..model })
    }

    fn stage<C: sim::Clock>(
        &self,
        members: &[Member],
        world: &mut World<C>,
        stop: &Stop,
        (pace, show): (Pace, &mut dyn Show),
    ) -> Vec<Finished> {
        let (mut cast, mut out) = (Cast::default(), Vec::new());
        for member in members {
            let job = verifiable(self.job(member));
            if let Err(trouble) = self.prepare(member, &job, &mut cast) {
                out.push(Finished { number: member.number, trouble: Some(trouble), ..Finished::default() });
            }
        }
        let Cast { mut workers, seats, logs, numbers } = cast;
        world.seat(seats);
        self.invalidate(&numbers, &workers, world);
        let end = self.expected_end(members, target::Target::now(world));
        let mut watch = Lookout {
            theatre: self,
            numbers: &numbers,
            logs,
            stop,
            show,
            pace,
            end,
            stride: Nanos::from_millis(10),
            looked: Instant::now(),
            last: (Nanos::ZERO, Totals::default()),
        };
        self.set_running(&numbers, true);
        drive::drive(&mut workers, world, stop, &mut watch);
        self.set_running(&numbers, false);
        let now = target::Target::now(world);
        for (index, worker) in workers.iter_mut().enumerate() {
            watch.look(index, worker.meter_mut(), now);
            self.board.see_last(self.board.seat(numbers[index]), worker.meter_mut(), now);
        }
        if self.board.is_watched() {
            self.board.show_stages(now, world.system().stages(now));
        }
        let logs = watch.logs;
        out.extend(workers.into_iter().zip(&numbers).zip(logs).map(|((mut worker, &number), logs)| {
            let trouble = match logs.map(LogFiles::finish) {
                Some(Err(text)) => Some(Trouble { text, errno: 0 }),
                _ => None,
            };
            let summary = worker.meter_mut().finished();
            let (ending, failures) = (worker.ending(), worker.failures().to_vec());
            let verification = worker.verification();
            Finished { number, summary, ending, verification, failures, trouble, ..Finished::default() }
        }));
        out
    }

    fn set_running(&self, numbers: &[usize], running: bool) {
        numbers.iter().for_each(|&number| self.board.seat(number).set_running(running));
    }

    /// When a stage that begins now is over at the latest; `None` where only its data ends it.
    fn expected_end(&self, members: &[Member], now: Nanos) -> Option<Nanos> {
        let ends = members.iter().map(|member| {
            let extent = &self.job(member).extent;
            let whole = extent.startdelay.1 + extent.ramp_time + extent.runtime;
            (extent.runtime > Nanos::ZERO).then_some(now + whole)
        });
        ends.collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    /// Jobs begin with caches that hold nothing of their files, unless they say `invalidate=0`.
    fn invalidate<C: sim::Clock>(&self, numbers: &[usize], workers: &[drive::Worker], world: &mut World<C>) {
        let mut first = 0;
        for (&number, worker) in numbers.iter().zip(workers) {
            let member = &self.request.members[number];
            target::Target::turn_to(world, target::Tag(first));
            let files = (0..).zip(&member.files.files).filter(|_| self.job(member).files.invalidate);
            for (file, planned) in files {
                target::Target::invalidate(world, file, planned.extent.start, planned.extent.length);
            }
            first += worker.depth();
        }
    }

    fn job(&self, member: &Member) -> &Job {
        &self.request.plan.jobs[member.job]
    }

    fn prepare(&self, member: &Member, job: &Job, cast: &mut Cast) -> Result<(), Trouble> {
        let seed = self.request.seeds.of(job);
        let issuer = Issuer::new(job, member.worker(), &member.files.layout(), seed)
            .map_err(|error| Trouble::new(error.to_string()))?;
        cast.logs.push(LogFiles::create(&job.stats, member.number).map_err(Trouble::new)?);
        let mut policy = worker::policy(member, job, seed);
        // A model's time stands still while operations are handed over: there is nothing to win by small groups.
        policy.batch = policy.batch.or(Some(policy.depth));
        cast.workers.push(drive::Worker::new(
            issuer,
            Meter::new(worker::meter_options(job, self.request.intervals, self.request.members.len())),
            policy,
        ));
        cast.seats.push(Seat {
            depth: worker::depth(job),
            files: self.fitting.places[member.number].clone(),
            buffered: buffered(job),
        });
        cast.numbers.push(member.number);
        Ok(())
    }

    fn model<C: sim::Clock>(&self, world: &World<C>, elapsed: Nanos, pace: Pace, finished: &[Finished]) -> Model {
        let mut volumes: Vec<ModelledVolume> = Vec::new();
        // Of each way, which of the volumes it leads to.
        let mut ends = Vec::with_capacity(self.fitting.attachments.len());
        for (route, attachment) in self.fitting.attachments.iter().enumerate() {
            let spec = &attachment.spec;
            let path = attachment.volume.starts_with('/').then(|| attachment.volume.clone());
            let known = volumes.iter().position(|known| known.path == path && known.name == spec.name);
            let end = known.unwrap_or_else(|| {
                let (name, title, notes) = (spec.name.clone(), spec.title.clone(), spec.notes.clone());
                volumes.push(ModelledVolume { path, name, title, bytes: spec.size.get(), notes, workers: Vec::new() });
                volumes.len() - 1
            });
            ends.push(end);
            let workers = &mut volumes[end].workers;
            let users =
                (0..).zip(&self.fitting.places).filter(|(_, files)| files.iter().any(|file| file.route == route));
            workers.extend(users.map(|(number, _): (u32, _)| number));
            workers.sort_unstable();
            workers.dedup();
        }
        let virtual_time = pace == Pace::Virtual;
        let mut told = world.system().stages(elapsed);
        for stage in &mut told {
            let p99 = assumptions::open_p99(self.request, self.fitting, finished, stage);
            // Of a closed loop nothing is known: its operations would have come later.
            stage.early = stage.early.take().filter(|_| p99.is_some());
            let end = stage.routes.first().map(|&route| ends[route]);
            end.into_iter().for_each(|end| volumes[end].notes.extend(assumptions::jitter(stage, p99)));
        }
        for (index, volume) in volumes.iter_mut().enumerate() {
            let own = told.iter().filter(|stage| stage.routes.first().is_some_and(|&route| ends[route] == index));
            let limits = own.filter_map(|stage| Some((assumptions::limit(&self.fitting.attachments, stage)?, stage)));
            volume.notes.extend(assumptions::merging(limits));
        }
        let mut stages: Vec<ModelStage> = told.into_iter().map(|told| stage(told, &ends)).collect();
        let buckets = stages.iter_mut().filter(|stage| stage.credits.is_some());
        for (bucket, stage) in buckets.enumerate() {
            stage.levels = world.ledger().levels(bucket).map(|(at, left)| (at.get(), left)).collect();
        }
        Model { virtual_time, elapsed_ns: elapsed.get(), volumes, stages, page_caches: Vec::new() }
    }
}

/// How a job goes through the page cache of its machine. The model itself has none.
pub(crate) fn buffered(job: &Job) -> Option<Buffered> {
    let engine = job.engine.engine;
    let past = matches!(engine, Engine::Model | Engine::Null) || job.engine.direct && engine != Engine::Mmap;
    (!past).then(|| Buffered {
        blocking: !matches!(engine, Engine::IoUring | Engine::Posixaio),
        durable: job.files.open_sync != OpenSync::None,
        advice: if job.pattern.random { Advice::Random } else { Advice::Sequential },
    })
}

/// What the page caches of all machines have done, as far as anybody went through them.
fn page_caches<C: sim::Clock>(world: &World<C>, attachments: &[Attachment]) -> Vec<ModelPageCache> {
    let mut machines: Vec<(usize, &str)> = Vec::new();
    for (home, attachment) in world.system().homes().iter().zip(attachments) {
        if machines.iter().all(|(machine, _)| *machine != home.machine) {
            machines.push((home.machine, &attachment.spec.host));
        }
    }
    let caches = machines.iter().filter_map(|&(machine, host)| Some((world.page_cache(machine)?, host)));
    let told = caches.map(|(cache, host)| {
        let counts = cache.counts();
        ModelPageCache {
            host: host.to_owned(),
            memory_bytes: cache.settings().memory.get(),
            reads: counts.reads,
            read_hits: counts.hits,
            read_bytes: counts.read_bytes,
            fetched_bytes: counts.fetched_bytes,
            writes: counts.writes,
            writes_held: counts.held,
            held_ns: counts.held_ns,
            written_bytes: counts.written_bytes,
            written_back_bytes: counts.written_back_bytes,
            unwritten_bytes: cache.unwritten().get(),
        }
    });
    told.filter(|cache| cache.reads + cache.writes > 0).collect()
}

/// What a stage tells; `ends` says to which volume each way leads.
fn stage(stage: volume::Stage, ends: &[usize]) -> ModelStage {
    let mut volumes: Vec<usize> = stage.routes.iter().map(|&route| ends[route]).collect();
    volumes.sort_unstable();
    volumes.dedup();
    ModelStage {
        volumes,
        name: stage.name,
        owner: stage.owner,
        kind: match stage.kind {
            StageKind::Limit => ModelStageKind::Limit,
            StageKind::Station => ModelStageKind::Station,
        },
        rule: stage.rule,
        requests: stage.requests,
        delayed: stage.delayed,
        decided: stage.decided,
        delay_ns: stage.delay_ns,
        utilisation: stage.utilisation,
        credits: stage.credits.map(|credits| ModelCredits {
            bytes: credits.bytes,
            most: credits.most,
            left: credits.left,
            spent_per_sec: credits.spent_per_sec,
            empty_at_ns: credits.empty_at.map(Nanos::get),
        }),
        early: stage.early.map(|early| ModelEarly {
            jitter_ns: early.jitter.time.get(),
            basis: early.jitter.basis.name().to_owned(),
            requests: early.requests,
            p99_wait_ns: early.p99.get(),
            p99_wait_without_ns: early.p99_without.get(),
        }),
        merging: (stage.merged + stage.unmerged > 0)
            .then_some(ModelMerging { merged: stage.merged, unmerged: stage.unmerged }),
        levels: Vec::new(),
    }
}

/// Models keep no bytes: nothing that was written can be verified.
fn verifiable(job: &Job) -> Job {
    let mut job = job.clone();
    job.verify.method = None;
    job
}

/// How often those who look on are shown what the limits do, in the time of the model.
const SHOW_EVERY: Nanos = Nanos::from_millis(250);
/// How often somebody looks up from a model, in real time.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Members of a stage that are ready to run.
#[derive(Default)]
struct Cast {
    workers: Vec<drive::Worker>,
    seats: Vec<Seat>,
    logs: Vec<Option<LogFiles>>,
    numbers: Vec<usize>,
}

/// Sees to signals, progress and log files while the loop runs.
struct Lookout<'a> {
    theatre: &'a Theatre<'a>,
    numbers: &'a [usize],
    logs: Vec<Option<LogFiles>>,
    stop: &'a Stop,
    show: &'a mut dyn Show,
    pace: Pace,
    end: Option<Nanos>,
    /// How much modelled time passes between two looks: about as much as takes [`LOOK_EVERY`].
    stride: Nanos,
    looked: Instant,
    last: (Nanos, Totals),
}

impl Lookout<'_> {
    fn report(&mut self, now: Nanos) {
        let totals = self.theatre.board.totals();
        let (then, before) = std::mem::replace(&mut self.last, (now, totals));
        let seconds = now.since(then).secs_f64().max(1e-9);
        let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
        self.show.progress(&Moment {
            fraction: self.end.map(|end| (now.secs_f64() / end.secs_f64().max(1e-9)).min(1.0)),
            elapsed: Duration::from_nanos(now.get()),
            reads_back: false,
            eta: self.end.filter(|_| self.pace == Pace::Real).map(|end| Duration::from_nanos(end.since(now).get())),
            totals,
            iops: [0, 1, 2].map(|kind| rate(totals.ios[kind], before.ios[kind])),
            bytes_per_second: [0, 1, 2].map(|kind| rate(totals.bytes[kind], before.bytes[kind])),
            errors: 0,
        });
    }
}

impl Watch for Lookout<'_> {
    fn next_look(&mut self, now: Nanos) -> Nanos {
        let took = self.looked.elapsed();
        self.looked = Instant::now();
        if took < LOOK_EVERY / 2 {
            self.stride = self.stride + self.stride;
        } else if took > LOOK_EVERY * 2 {
            self.stride = Nanos::new((self.stride.get() / 2).max(1_000_000));
        }
        let look = now + self.stride;
        if self.theatre.has_credits { look.min(sim::next_note(now)) } else { look }
    }

    fn is_overdue(&mut self) -> bool {
        self.looked.elapsed() > LOOK_EVERY * 2
    }

    fn look(&mut self, index: usize, meter: &mut Meter, now: Nanos) {
        self.theatre.board.see(self.theatre.board.seat(self.numbers[index]), meter, now);
        if let Some(logs) = &mut self.logs[index] {
            logs.write(&meter.take_log());
        }
        if index == 0 {
            if self.theatre.signals.end().is_some() {
                self.stop.set();
            }
            // What a model still has to do may take it longer than anybody wants to wait.
            if self.theatre.signals.gives_up() {
                self.stop.abandon();
            }
            self.report(now);
        }
    }
}
