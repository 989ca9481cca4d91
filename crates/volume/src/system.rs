//! Volumes and machines of a run, and their requests in flight.

mod change;

use std::collections::BTreeMap;

use units::{Bytes, Nanos, random::Random};

use crate::agenda::Agenda;
use crate::ahead::Early;
use crate::burst_credits::BurstCredits;
use crate::disk::Mechanics;
use crate::events::{ADMITTED, DONE, EventQueue, ID_BITS};
use crate::law::LawSampler;
use crate::limiter::{Limiter, LimiterCounts, applying};
use crate::request::{PerRequestKind, Request, Share};
use crate::spec::{Behaviour, Buffering, Burst, Jitter, LatencySpec, Limit, Scope, Spec, Station};
use crate::spells::Calendar;
use crate::station::Servers;
use crate::tally::StageTally;
use crate::written::WrittenRanges;

/// One way from a machine to a volume.
///
/// Most runs have one for each volume. A volume that several machines read has one for each machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Attachment {
    /// What is attached.
    pub spec: Spec,
    /// Which volume it is: attachments with equal names are one volume, with its limits and its state.
    pub volume: String,
}

/// Kinds of stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StageKind {
    /// A limit.
    Limit,
    /// A station.
    Station,
}

/// What one limit or station did to the requests that passed it while a job was measured whose route leads through it:
/// [`System::measure`].
#[derive(Clone, Debug, PartialEq)]
pub struct ServiceStage {
    /// Its name in the spec.
    pub name: String,
    /// Whose it is: a volume's or a machine's name.
    pub owner: String,
    /// What it is.
    pub kind: StageKind,
    /// Requests that passed it.
    pub requests: u64,
    /// Those it held back.
    pub delayed: u64,
    /// Those whose admission it set: nothing held them longer.
    pub decided: u64,
    /// How long it held them back, all together, beyond what the stages before it had. The delays of all stages add
    /// up to all the time that requests waited for admission.
    pub delay_ns: u64,
    /// How much of its capacity was used in that time, from 0 to 1; more than 1 while a bucket of credits is spent.
    pub utilisation: f64,
    /// The attachments whose way leads through it.
    pub routes: Vec<usize>,
    /// Its bucket of credits; `None` where it has none.
    pub credits: Option<BurstCredits>,
    /// What its jitter spared requests; `None` where it has none, or no account of it is kept.
    pub early: Option<Early>,
    /// Requests that a limit did not count because they continued the ones before them.
    pub merged: u64,
    /// Those that continued the ones before them and were too small to be merged.
    pub unmerged: u64,
    /// The rule of the limit.
    pub rule: String,
}

/// The world of a run.
///
/// # How a request goes
///
/// It passes the stations of its way one after the other. Then every limit of its way is asked when it would admit
/// it, and charged; the latest answer holds. Because every limit sees all its requests in the order of their
/// arrival, whatever other limits do to them, its rate is exact even where volumes share machines and machines share
/// volumes. Then the volume takes its time, by chance or by its mechanics.
#[derive(Debug)]
pub struct System {
    routes: Vec<Route>,
    limiters: Vec<Limiter>,
    stations: Vec<Servers>,
    volumes: Vec<Volume>,
    titles: Vec<Title>,
    agenda: Agenda,
    /// Requests that wait for their admission to a drive, and to which, by their ids: those of users, those of hosts.
    waiting: [Vec<(usize, Request)>; 2],
    /// Where each way begins.
    homes: Vec<Home>,
    seed: u64,
    index: StageIndex,
}

/// Location of a volume: machine and page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    /// Which machine: they are numbered in the order in which they are first met.
    pub machine: usize,
    /// What is said of its page cache. The memory is that of the machine, whichever of its volumes says so.
    pub buffering: Buffering,
}

/// Title of a limiter or station in reports.
#[derive(Clone, Debug)]
struct Title {
    name: String,
    owner: String,
    rule: String,
    part: SystemPart,
    tally: StageTally,
    /// What its bucket held at the start.
    credits: Option<u64>,
    /// How far ahead of an even schedule it admits; `None` where that is nothing.
    jitter: Option<Jitter>,
}

#[derive(Clone, Copy, Debug)]
enum SystemPart {
    Limiter(usize),
    Station(usize),
}

#[derive(Debug)]
struct Route {
    stations: Vec<usize>,
    limiters: PerRequestKind<Vec<usize>>,
    volume: usize,
}

impl Route {
    fn leads_through(&self, part: SystemPart) -> bool {
        match part {
            SystemPart::Limiter(index) => self.limiters.each().into_iter().any(|limiters| limiters.contains(&index)),
            SystemPart::Station(index) => self.stations.contains(&index),
        }
    }
}

#[derive(Debug)]
enum Volume {
    Chance(Box<Chance>),
    Drive(Box<Mechanics>),
}

/// A volume whose requests take their time each for itself.
#[derive(Debug)]
struct Chance {
    law: PerRequestKind<LawSampler>,
    unwritten: Option<(LawSampler, WrittenRanges)>,
    bytes_per_sec: Option<u64>,
    spells: Option<Calendar>,
    random: Random,
}

impl System {
    /// Ids of requests are below this.
    pub const IDS_MAX: u32 = 1 << ID_BITS;
    /// Requests that a host makes by itself, beside those of its users, have ids from here on.
    pub const HOST_IDS: u32 = 1 << (ID_BITS - 1);

    /// A world at time zero. Everything random in it comes from `seed`.
    #[must_use]
    pub fn new(attachments: &[Attachment], seed: u64) -> Self {
        let mut builder = SystemBuilder { seed, ..SystemBuilder::default() };
        let routes = attachments.iter().map(|attachment| builder.route(attachment)).collect();
        Self {
            routes,
            limiters: builder.limiters,
            stations: builder.stations,
            volumes: builder.volumes,
            titles: builder.titles,
            agenda: Agenda::default(),
            waiting: [Vec::new(), Vec::new()],
            homes: homes(attachments),
            seed,
            index: builder.index,
        }
    }

    /// Takes a request by the `route`-th attachment. Where a volume [moves](System::moves), `now` is never earlier than
    /// before; elsewhere it may go back a little, as where each of several clients has a round trip of its own.
    #[inline]
    pub fn arrive(&mut self, now: Nanos, route: usize, request: Request) {
        self.take(now, route, request, |limiter| limiter.admit(now, request.kind, request.offset, request.length));
    }

    /// Takes a request of one of several users, each of whom has an equal share of every limit: large requests of one hold
    /// up small ones of another no longer than that takes, nor do many hold up few. With one user it is as
    /// [`System::arrive`].
    pub fn arrive_shared(&mut self, now: Nanos, route: usize, request: Request, share: Share) {
        let Request { kind, offset, length, .. } = request;
        self.take(now, route, request, |limiter| limiter.admit_share(now, share, kind, offset, length));
    }

    #[inline(always)]
    fn take(&mut self, now: Nanos, route: usize, request: Request, mut admit: impl FnMut(&mut Limiter) -> Nanos) {
        debug_assert!(request.id < Self::IDS_MAX, "a request without a number");
        let route = &self.routes[route];
        let mut arrived = now;
        for &station in &route.stations {
            arrived = self.stations[station].serve(arrived, request.length);
        }
        let mut admitted = arrived;
        let mut deciding = None;
        for &index in route.limiters.get(request.kind) {
            let limiter = &mut self.limiters[index];
            let at = admit(limiter);
            if at > admitted {
                limiter.counts.delay_ns += at.since(admitted).get();
                admitted = at;
                deciding = Some(index);
            }
        }
        if let Some(index) = deciding {
            self.limiters[index].counts.decided += 1;
        }
        match &mut self.volumes[route.volume] {
            Volume::Chance(chance) => {
                let done = admitted + chance.latency(admitted, &request);
                self.agenda.push(done, DONE << ID_BITS | request.id);
            }
            Volume::Drive(_) => self.admit_to_drive(admitted, route.volume, request),
        }
    }

    /// Keeps a request until its admission: drives must see their requests in the order of their admissions.
    fn admit_to_drive(&mut self, at: Nanos, volume: usize, request: Request) {
        let (half, id) = halves(request.id);
        let waiting = &mut self.waiting[half];
        if id >= waiting.len() {
            waiting.resize(id + 1, (volume, request));
        }
        waiting[id] = (volume, request);
        self.agenda.push(at, ADMITTED << ID_BITS | request.id);
    }

    /// Enters an end that no volume has to do with: a host's own work, an alarm. [`System::next_done`] brings it.
    #[inline]
    pub fn enter(&mut self, at: Nanos, id: u32) {
        debug_assert!(id < Self::IDS_MAX, "an end without a number");
        self.agenda.push(at, DONE << ID_BITS | id);
    }

    /// Whether any volume has parts that move: it wants its requests in the order of time, also among its own events.
    #[must_use]
    pub fn moves(&self) -> bool {
        self.volumes.iter().any(|volume| matches!(volume, Volume::Drive(_)))
    }

    /// Where each way begins.
    #[must_use]
    pub fn homes(&self) -> &[Home] {
        &self.homes
    }

    /// When something happens next; `None` when nothing is under way.
    #[inline]
    pub fn next_event(&mut self) -> Option<Nanos> {
        self.agenda.next()
    }

    /// The next request that is done no later than `until`, and when it was. Answers come in order of time, those of
    /// one instant in the order in which their ends were settled.
    #[inline]
    pub fn next_done(&mut self, until: Nanos) -> Option<(Nanos, u32)> {
        loop {
            let (at, what) = self.agenda.pop(until)?;
            let id = what & (Self::IDS_MAX - 1);
            if what >> ID_BITS == DONE {
                return Some((at, id));
            }
            self.happen(at, what >> ID_BITS, id);
        }
    }

    /// An event that is not an end.
    fn happen(&mut self, at: Nanos, kind: u32, id: u32) {
        let (volume, request) = match kind {
            ADMITTED => {
                let (half, id) = halves(id);
                let (volume, request) = self.waiting[half][id];
                (volume, Some(request))
            }
            _ => (id as usize, None),
        };
        let mut events = EventQueue { agenda: &mut self.agenda, volume: volume as u32 };
        if let Volume::Drive(mechanics) = &mut self.volumes[volume] {
            match request {
                Some(request) => mechanics.arrive(at, &request, &mut events),
                None => mechanics.moved(at, &mut events),
            }
        }
    }

    /// A job whose requests take the `route`-th attachment is measured from now on (`begins`), or no longer: a ramp is
    /// over, a job has ended. What limits and stations did is told of the time in which anybody was.
    pub fn measure(&mut self, now: Nanos, route: usize, begins: bool) {
        let Some(route) = self.routes.get(route) else { return };
        for title in self.titles.iter_mut().filter(|title| route.leads_through(title.part)) {
            let counts = match title.part {
                SystemPart::Limiter(index) => self.limiters[index].counts,
                SystemPart::Station(index) => self.stations[index].counts,
            };
            if begins {
                title.tally.begin(now, counts);
            } else {
                title.tally.end(now, counts);
            }
            if let SystemPart::Limiter(index) = title.part {
                let ahead = &mut self.limiters[index].ahead;
                if begins { ahead.begin() } else { ahead.end() }
            }
        }
    }

    /// Keeps account of what jitter spares requests in the limits on the way to the `route`-th attachment, for
    /// [`ServiceStage::early`]; to be called before [`System::measure`]. Requests cost more with it, and it says nothing of
    /// requests that wait for the replies to others: without jitter they would have come later.
    pub fn account_for_jitter(&mut self, route: usize) {
        let Some(route) = self.routes.get(route) else { return };
        for title in self.titles.iter().filter(|title| title.jitter.is_some() && route.leads_through(title.part)) {
            if let SystemPart::Limiter(index) = title.part {
                self.limiters[index].ahead.keep();
            }
        }
    }

    /// What is left in each bucket of credits at an instant, in the order of the stages that have one, in the units of
    /// [`BurstCredits::left`].
    pub fn credit_levels(&self, now: Nanos) -> impl Iterator<Item = f64> + '_ {
        let buckets = self.titles.iter().filter(|title| title.credits.is_some());
        buckets.filter_map(move |title| match title.part {
            SystemPart::Limiter(index) => Some(self.limiters[index].credits(now)),
            SystemPart::Station(_) => None,
        })
    }

    /// What each limit and station has done by an instant, in the order in which they were first met.
    #[must_use]
    pub fn stages(&self, now: Nanos) -> Vec<ServiceStage> {
        self.titles.iter().map(|title| self.stage(title, now)).collect()
    }

    fn stage(&self, title: &Title, now: Nanos) -> ServiceStage {
        let (kind, counts, servers, credits) = match title.part {
            SystemPart::Limiter(index) => {
                let limiter = &self.limiters[index];
                (StageKind::Limit, limiter.counts, 1, title.credits.map(|start| limiter.bucket(now, start)))
            }
            SystemPart::Station(index) => {
                let station = &self.stations[index];
                (StageKind::Station, station.counts, station.servers(), None)
            }
        };
        let (counts, time_ns) = title.tally.so_far(now, counts);
        let LimiterCounts { requests, delayed, decided, delay_ns, busy_ns, merged, unmerged } = counts;
        let routes = self.routes.iter().enumerate().filter(|(_, route)| route.leads_through(title.part));
        ServiceStage {
            name: title.name.clone(),
            owner: title.owner.clone(),
            kind,
            requests,
            delayed,
            decided,
            delay_ns,
            utilisation: busy_ns as f64 / servers as f64 / time_ns.max(1) as f64,
            routes: routes.map(|(number, _)| number).collect(),
            credits,
            early: self.early(title, requests),
            merged,
            unmerged,
            rule: title.rule.clone(),
        }
    }

    /// What its jitter spared so many requests.
    fn early(&self, title: &Title, requests: u64) -> Option<Early> {
        let (SystemPart::Limiter(index), Some(jitter)) = (title.part, &title.jitter) else { return None };
        let ahead = Some(&self.limiters[index].ahead).filter(|ahead| ahead.is_kept())?;
        let p99_without = ahead.quantile(0.99, requests);
        let p99 = p99_without.since(jitter.time);
        Some(Early { jitter: jitter.clone(), requests: ahead.requests(), p99, p99_without })
    }
}

impl Chance {
    fn new(latency: &LatencySpec, size: u64, seed: u64, number: u64) -> Self {
        let unwritten = latency.unwritten.as_ref().map(|law| {
            (LawSampler::new(law), WrittenRanges::new(size, latency.written_share, units::random::mix(seed, number)))
        });
        Self {
            law: latency.law.map(LawSampler::new),
            unwritten,
            bytes_per_sec: latency.bytes_per_sec,
            spells: latency.spells.map(|spells| Calendar::new(spells, Random::new(seed, 0x57e1 << 32 | number))),
            random: Random::new(seed, 0x1a7e << 32 | number),
        }
    }

    /// How long a request takes that is admitted at an instant.
    #[inline]
    fn latency(&mut self, admitted: Nanos, request: &Request) -> Nanos {
        if self.unwritten.is_none() && self.bytes_per_sec.is_none() && self.spells.is_none() {
            return self.law.get(request.kind).draw(&mut self.random);
        }
        self.special_latency(admitted, request)
    }

    fn special_latency(&mut self, admitted: Nanos, request: &Request) -> Nanos {
        let unwritten = self.unwritten.as_mut().and_then(|(law, written)| (!written.touch(request)).then_some(&*law));
        let law = unwritten.unwrap_or_else(|| self.law.get(request.kind));
        let mut latency = law.draw(&mut self.random);
        if let Some(rate) = self.bytes_per_sec {
            latency += Nanos::new(u64::from(request.length) * 1_000_000_000 / rate.max(1));
        }
        match &mut self.spells {
            Some(calendar) => calendar.stretch(admitted, latency),
            None => latency,
        }
    }
}

/// Which half of the ids one is in, and where.
const fn halves(id: u32) -> (usize, usize) {
    ((id >> (ID_BITS - 1)) as usize, (id & (System::HOST_IDS - 1)) as usize)
}

fn homes(attachments: &[Attachment]) -> Vec<Home> {
    let mut machines: Vec<(&str, Option<Bytes>)> = Vec::new();
    let mut homes = Vec::new();
    for Attachment { spec, .. } in attachments {
        let known = machines.iter().position(|(name, _)| *name == spec.host);
        let machine = known.unwrap_or_else(|| {
            machines.push((&spec.host, None));
            machines.len() - 1
        });
        machines[machine].1 = machines[machine].1.max(spec.buffering.memory);
        homes.push(Home { machine, buffering: spec.buffering });
    }
    for home in &mut homes {
        home.buffering.memory = machines[home.machine].1;
    }
    homes
}

/// Puts equal things together while a system is built.
#[derive(Default)]
struct SystemBuilder {
    seed: u64,
    limiters: Vec<Limiter>,
    stations: Vec<Servers>,
    volumes: Vec<Volume>,
    titles: Vec<Title>,
    index: StageIndex,
}

/// Which limits, stations and volumes there are, by name.
#[derive(Debug, Default)]
struct StageIndex {
    limiters: BTreeMap<StageKey, usize>,
    stations: BTreeMap<StageKey, usize>,
    volumes: BTreeMap<String, usize>,
}

impl SystemBuilder {
    fn route(&mut self, attachment: &Attachment) -> Route {
        let spec = &attachment.spec;
        let stations = spec.stations.iter().map(|station| self.station(attachment, station)).collect();
        let limits: Vec<(usize, &Limit)> =
            spec.limits.iter().map(|limit| (self.limiter(attachment, limit), limit)).collect();
        Route { stations, limiters: applying(&limits), volume: self.volume(attachment) }
    }

    fn station(&mut self, attachment: &Attachment, station: &Station) -> usize {
        let known = StageKey::of(attachment, &station.scope, &station.name);
        let index = *self.index.stations.entry(known.clone()).or_insert(self.stations.len());
        if index == self.stations.len() {
            self.stations.push(Servers::new(station));
            self.titles.push(known.title(SystemPart::Station(index), &station.rule, None, None));
        }
        index
    }

    fn limiter(&mut self, attachment: &Attachment, limit: &Limit) -> usize {
        let known = StageKey::of(attachment, &limit.scope, &limit.name);
        let index = *self.index.limiters.entry(known.clone()).or_insert(self.limiters.len());
        if index == self.limiters.len() {
            self.limiters.push(Limiter::new(limit));
            let jitter = match &limit.burst {
                Burst::Jitter(jitter) if jitter.time > Nanos::ZERO => Some(jitter.clone()),
                _ => None,
            };
            self.titles.push(known.title(SystemPart::Limiter(index), &limit.rule, credits_at_start(limit), jitter));
        }
        index
    }

    fn volume(&mut self, attachment: &Attachment) -> usize {
        if let Some(&known) = self.index.volumes.get(&attachment.volume) {
            return known;
        }
        let index = self.volumes.len();
        let (spec, number) = (&attachment.spec, index as u64);
        self.volumes.push(match &spec.behaviour {
            Behaviour::Latency(latency) => {
                Volume::Chance(Box::new(Chance::new(latency, spec.size.get(), self.seed, number)))
            }
            Behaviour::Drive(drive) => {
                let random = Random::new(self.seed, 0xd15c << 32 | number);
                Volume::Drive(Box::new(Mechanics::new(drive, spec.size, random)))
            }
        });
        self.index.volumes.insert(attachment.volume.clone(), index);
        index
    }
}

/// Burst credits of a limit at the start; `None` where it has none.
fn credits_at_start(limit: &Limit) -> Option<u64> {
    match limit.burst {
        Burst::Credits { most, at_start } => Some(at_start.min(most)),
        Burst::Jitter(_) => None,
    }
}

/// By what a limit or station is known again: those of one scope, owner and name are one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct StageKey {
    scope: Scope,
    owner: String,
    name: String,
}

impl StageKey {
    fn of(attachment: &Attachment, scope: &Scope, name: &str) -> Self {
        let owner = match scope {
            Scope::Volume => &attachment.volume,
            Scope::Machine => &attachment.spec.host,
        };
        Self { scope: scope.clone(), owner: owner.clone(), name: name.to_owned() }
    }

    fn title(self, part: SystemPart, rule: &str, credits: Option<u64>, jitter: Option<Jitter>) -> Title {
        let Self { owner, name, .. } = self;
        Title { name, owner, rule: rule.to_owned(), part, tally: StageTally::default(), credits, jitter }
    }
}
