//! Volumes and machines of a run, and their requests in flight.

mod change;

use std::collections::{BTreeMap, VecDeque};

use units::{Bytes, Nanos, random::Random};

use crate::disk::Mechanics;
use crate::event_heap::{ADMITTED, DONE, DriveEvents, EventHeap, ID_BITS, MOVED};
use crate::law::LawSampler;
use crate::limiter::{Limiter, LimiterCounts, StageTally, limiters_by_kind};
use crate::request::{PerRequestKind, Request, Share};
use crate::spec::{Behaviour, Buffering, Burst, Jitter, LatencySpec, Limit, Scope, Spec, Station, Striping};
use crate::spells::SlowPeriodState;
use crate::stage::{Early, MergedCounts, ServiceStage, StageKind};
use crate::station::Servers;
use crate::written::WrittenRanges;

/// Path from a machine to a volume.
///
/// Most runs have one per volume. A volume that several machines read has one per machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Attachment {
    /// Specification of the volume.
    pub spec: Spec,
    /// Name of the volume. Attachments with equal names share one volume with its limits and state.
    pub volume: String,
}

impl Attachment {
    /// Returns the volumes that it consists of, which are named after it: `disk #1`.
    fn members(&self) -> impl Iterator<Item = Self> + '_ {
        let members = self.spec.striping.map_or(1, |striping| striping.members);
        (1..=members).map(move |number| match self.spec.striping {
            None => self.clone(),
            Some(_) => Self {
                spec: Spec {
                    striping: None,
                    size: Bytes::new(self.spec.size.get() / u64::from(members)),
                    ..self.spec.clone()
                },
                volume: format!("{} #{number}", self.volume),
            },
        })
    }
}

/// The simulated volumes and machines of a run.
///
/// # Path of a request
///
/// A request passes the stations of its route one after another. Then each limit of the route computes when it admits
/// the request, and charges it; the latest admission holds. Each limit sees all its requests in order of arrival,
/// whatever other limits do, so its rate is exact even where volumes share machines and machines share volumes. In
/// series, a limit would see requests in the order in which the one before admits them, which is undefined there.
/// Charged at arrival, a request's admission is known at arrival, and waiting costs no event. Finally the volume serves
/// the request, by a random latency or by its mechanics.
#[derive(Debug)]
pub struct System {
    routes: Vec<Route>,
    stages: SystemStages,
    events: EventHeap,
    /// Requests that wait for admission to a drive, with their volume, by ID: those of users, then those of hosts.
    waiting: [Vec<(usize, Request)>; 2],
    /// A drive's choice that is held, and the events of drives after it, in order ([`System::next_done_held`]).
    held: VecDeque<(Nanos, u32)>,
    /// Instant of the last event of a drive.
    moved: Nanos,
    homes: Vec<Home>,
}

/// Location of a volume: machine and page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    /// Index of the machine, in order of first appearance.
    pub machine: usize,
    /// Page cache settings. The memory is the machine's, even if one of its volumes specifies it.
    pub buffering: Buffering,
}

/// Description and counters of a limiter or station.
#[derive(Clone, Debug)]
struct StageRecord {
    name: String,
    owner: String,
    rule: String,
    part: SystemPart,
    tally: StageTally,
    /// Burst credits at the start.
    credits: Option<u64>,
    /// Jitter of the limit; `None` if zero.
    jitter: Option<Jitter>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SystemPart {
    Limiter(usize),
    Station(usize),
}

#[derive(Debug)]
struct Route {
    stations: Vec<usize>,
    limiters: PerRequestKind<Vec<usize>>,
    volume: usize,
    /// Routes to the volumes that the volume of this one consists of.
    stripe: Option<Box<Stripe>>,
    /// Records of its stations and limiters, each once: a run on many machines has many more.
    records: Vec<usize>,
}

#[derive(Debug)]
struct Stripe {
    striping: Striping,
    members: Vec<Route>,
}

#[derive(Debug)]
enum Volume {
    Latency(Box<LatencyVolume>),
    Drive(Box<Mechanics>),
}

/// A volume whose requests have independent random latencies.
#[derive(Debug)]
struct LatencyVolume {
    law: PerRequestKind<LawSampler>,
    unwritten: Option<(LawSampler, WrittenRanges)>,
    bytes_per_sec: Option<u64>,
    spells: Option<SlowPeriodState>,
    random: Random,
}

impl System {
    /// Upper bound of request IDs.
    pub const IDS_MAX: u32 = 1 << ID_BITS;
    /// First ID of requests that a host makes itself, beside those of its users.
    pub const HOST_IDS: u32 = 1 << (ID_BITS - 1);

    /// Creates a system at time zero. `seed` determines all random choices.
    #[must_use]
    pub fn new(attachments: &[Attachment], seed: u64) -> Self {
        let mut stages = SystemStages { seed, ..SystemStages::default() };
        let routes = attachments.iter().map(|attachment| stages.route(attachment)).collect();
        let (events, homes) = (EventHeap::default(), homes(attachments));
        let (waiting, held) = (<[Vec<_>; 2]>::default(), VecDeque::new());
        Self { routes, stages, events, waiting, held, moved: Nanos::ZERO, homes }
    }

    /// Submits a request through the attachment `route`. `now` may go back a little, for clients with different round
    /// trips, but not before a drive [has moved](System::moved).
    #[inline]
    pub fn arrive(&mut self, now: Nanos, route: usize, request: Request) {
        self.submit(now, route, request, |limiter, part| limiter.admit(now, part.kind, part.offset, part.length));
    }

    /// Submits a request of one of several users, each of whom gets an equal share of every limit: neither large
    /// requests nor many requests of one user delay another beyond its share. With one user this equals
    /// [`System::arrive`].
    pub fn arrive_shared(&mut self, now: Nanos, route: usize, request: Request, share: Share) {
        self.submit(now, route, request, |limiter, part| {
            limiter.admit_share(now, share, part.kind, part.offset, part.length)
        });
    }

    #[inline(always)]
    fn submit(
        &mut self,
        now: Nanos,
        route: usize,
        request: Request,
        mut admit: impl FnMut(&mut Limiter, &Request) -> Nanos,
    ) {
        debug_assert!(request.id < Self::IDS_MAX, "request ID out of range");
        let route = &self.routes[route];
        if let Some(stripe) = &route.stripe {
            let done = stripe.serve(&mut self.stages, now, request, &mut admit);
            return self.events.push(done, DONE << ID_BITS | request.id);
        }
        let admitted = route.admit(&mut self.stages, now, &request, &mut admit);
        match &mut self.stages.volumes[route.volume] {
            Volume::Latency(latency_volume) => {
                let done = admitted + latency_volume.latency(admitted, &request);
                self.events.push(done, DONE << ID_BITS | request.id);
            }
            Volume::Drive(_) => self.admit_to_drive(admitted, route.volume, request),
        }
    }

    /// Stores a request until its admission: drives must receive requests in order of admission.
    fn admit_to_drive(&mut self, at: Nanos, volume: usize, request: Request) {
        let (half, id) = id_slot(request.id);
        let waiting = &mut self.waiting[half];
        if id >= waiting.len() {
            waiting.resize(id + 1, (volume, request));
        }
        waiting[id] = (volume, request);
        self.events.push(at, ADMITTED << ID_BITS | request.id);
    }

    /// Schedules a completion without a volume, such as a host's own work or a timer. [`System::next_done`] returns it.
    #[inline]
    pub fn enter(&mut self, at: Nanos, id: u32) {
        debug_assert!(id < Self::IDS_MAX, "completion ID out of range");
        self.events.push(at, DONE << ID_BITS | id);
    }

    /// Reports whether any volume is a drive.
    #[must_use]
    pub fn has_drives(&self) -> bool {
        self.stages.volumes.iter().any(|volume| matches!(volume, Volume::Drive(_)))
    }

    /// Returns the instant up to which drives have moved; they need requests in order of time, their own events included.
    /// Zero without drives.
    #[must_use]
    pub const fn moved(&self) -> Nanos {
        self.moved
    }

    /// Returns the instant of the choice that is held, if there is one.
    #[must_use]
    pub fn held(&self) -> Option<Nanos> {
        self.held.front().map(|&(at, _)| at)
    }

    /// Returns the machine and page cache of each route.
    #[must_use]
    pub fn homes(&self) -> &[Home] {
        &self.homes
    }

    /// Returns the time of the next event that is not held; `None` if there is none.
    #[inline]
    pub fn next_event(&mut self) -> Option<Nanos> {
        self.events.next()
    }

    /// Returns the next completion no later than `until`, with its time. Completions come in order of time, those of
    /// one instant in the order in which they were scheduled.
    #[inline]
    pub fn next_done(&mut self, until: Nanos) -> Option<(Nanos, u32)> {
        self.next_done_held(until, Nanos::MAX)
    }

    /// Does the same, but holds the first choice of a drive at or after `open`, and what drives do after it: requests that
    /// arrive before the choice are still to be submitted, and take part in it.
    #[inline]
    pub fn next_done_held(&mut self, until: Nanos, open: Nanos) -> Option<(Nanos, u32)> {
        if self.held().is_some_and(|at| at < open) {
            self.held.drain(..).for_each(|(at, what)| self.events.push(at, what));
        }
        loop {
            let (at, what) = self.events.pop(until)?;
            let (kind, id) = (what >> ID_BITS, what & (Self::IDS_MAX - 1));
            if kind == DONE {
                return Some((at, id));
            }
            let is_behind = self.held().is_some_and(|held| at >= held);
            if is_behind || at >= open && kind == MOVED && self.is_choice(at, id as usize) {
                self.held.push_back((at, what));
            } else {
                self.handle_event(at, kind, id);
            }
        }
    }

    /// Reports whether the drive of a volume chooses its next command at an instant.
    fn is_choice(&self, at: Nanos, volume: usize) -> bool {
        matches!(&self.stages.volumes[volume], Volume::Drive(mechanics) if mechanics.chooses_at(at))
    }

    /// Handles an event other than a completion.
    fn handle_event(&mut self, at: Nanos, kind: u32, id: u32) {
        self.moved = at;
        let (volume, request) = match kind {
            ADMITTED => {
                let (half, id) = id_slot(id);
                let (volume, request) = self.waiting[half][id];
                (volume, Some(request))
            }
            _ => (id as usize, None),
        };
        let mut events = DriveEvents { events: &mut self.events, volume: volume as u32 };
        if let Volume::Drive(mechanics) = &mut self.stages.volumes[volume] {
            match request {
                Some(request) => mechanics.arrive(at, &request, &mut events),
                None => mechanics.handle_event(at, &mut events),
            }
        }
    }

    /// Starts or ends (`begins`) the measurement of a job that uses the attachment `route`. Stages report only the time
    /// in which at least one job is measured, which excludes ramps.
    pub fn measure(&mut self, now: Nanos, route: usize, begins: bool) {
        let Some(route) = self.routes.get(route) else { return };
        for &index in &route.records {
            let record = &mut self.stages.records[index];
            let counts = match record.part {
                SystemPart::Limiter(index) => self.stages.limiters[index].counts,
                SystemPart::Station(index) => self.stages.stations[index].counts,
            };
            if begins {
                record.tally.begin(now, counts);
            } else {
                record.tally.end(now, counts);
            }
            if let SystemPart::Limiter(index) = record.part {
                let leads = &mut self.stages.limiters[index].leads;
                if begins { leads.begin() } else { leads.end() }
            }
        }
    }

    /// Records how much waiting jitter saves in the limits of a route, for [`ServiceStage::early`]. Call it before
    /// [`System::measure`]. It makes requests more expensive, and says nothing about closed loops, whose requests would
    /// arrive later without jitter.
    pub fn account_for_jitter(&mut self, route: usize) {
        let Some(route) = self.routes.get(route) else { return };
        let records = route.records.iter().map(|&index| &self.stages.records[index]);
        for record in records.filter(|record| record.jitter.is_some()) {
            if let SystemPart::Limiter(index) = record.part {
                self.stages.limiters[index].leads.enable();
            }
        }
    }

    /// Returns the level of each bucket of credits, in the order of the stages and the units of [`BurstCredits::left`].
    pub fn credit_levels(&self, now: Nanos) -> impl Iterator<Item = f64> + '_ {
        let buckets = self.stages.records.iter().filter(|record| record.credits.is_some());
        buckets.filter_map(move |record| match record.part {
            SystemPart::Limiter(index) => Some(self.stages.limiters[index].credits(now)),
            SystemPart::Station(_) => None,
        })
    }

    /// Returns the statistics of each limit and station, in order of first appearance.
    #[must_use]
    pub fn stages(&self, now: Nanos) -> Vec<ServiceStage> {
        let mut routes = vec![Vec::new(); self.stages.records.len()];
        for (number, route) in self.routes.iter().enumerate() {
            route.records.iter().for_each(|&record| routes[record].push(number));
        }
        self.stages.records.iter().zip(routes).map(|(record, routes)| self.stage(record, routes, now)).collect()
    }

    fn stage(&self, record: &StageRecord, routes: Vec<usize>, now: Nanos) -> ServiceStage {
        let (kind, counts, servers, credits) = match record.part {
            SystemPart::Limiter(index) => {
                let limiter = &self.stages.limiters[index];
                (StageKind::Limit, limiter.counts, 1, record.credits.map(|start| limiter.credit_state(now, start)))
            }
            SystemPart::Station(index) => {
                let station = &self.stages.stations[index];
                (StageKind::Station, station.counts, station.servers(), None)
            }
        };
        let (counts, time_ns) = record.tally.total(now, counts);
        let LimiterCounts { requests, delayed, decided, delay_ns, throttled_ns, busy_ns, merged, unmerged } = counts;
        ServiceStage {
            name: record.name.clone(),
            owner: record.owner.clone(),
            kind,
            requests,
            delayed,
            decided,
            delay_ns,
            throttled_ns,
            utilisation: busy_ns as f64 / servers as f64 / time_ns.max(1) as f64,
            routes,
            credits,
            early: self.early(record, requests),
            merging: (merged + unmerged > 0).then_some(MergedCounts { merged, unmerged }),
            rule: record.rule.clone(),
            ..ServiceStage::default()
        }
    }

    fn early(&self, record: &StageRecord, requests: u64) -> Option<Early> {
        let (SystemPart::Limiter(index), Some(jitter)) = (record.part, &record.jitter) else { return None };
        let leads = Some(&self.stages.limiters[index].leads).filter(|leads| leads.is_enabled())?;
        let p99_without = leads.quantile(0.99, requests);
        let p99 = p99_without.since(jitter.time);
        Some(Early {
            jitter_ns: jitter.time.get(),
            basis: jitter.basis.name().to_owned(),
            requests: leads.requests(),
            p99_wait_ns: p99.get(),
            p99_wait_without_ns: p99_without.get(),
        })
    }
}

impl Route {
    /// Returns when the stations and limits admit a request to the volume.
    #[inline(always)]
    fn admit(
        &self,
        stages: &mut SystemStages,
        now: Nanos,
        request: &Request,
        admit: &mut impl FnMut(&mut Limiter, &Request) -> Nanos,
    ) -> Nanos {
        let mut arrived = now;
        for &station in &self.stations {
            arrived = stages.stations[station].serve(arrived, request.length);
        }
        let mut admitted = arrived;
        let mut deciding = None;
        for &index in self.limiters.get(request.kind) {
            let limiter = &mut stages.limiters[index];
            let at = admit(limiter, request);
            if at > admitted {
                limiter.counts.delay_ns += at.since(admitted).get();
                admitted = at;
                deciding = Some(index);
            }
        }
        if let Some(index) = deciding {
            stages.limiters[index].counts.decided += 1;
        }
        admitted
    }
}

impl Stripe {
    /// Serves the parts of a request by their volumes, and returns when the last one is done. A flush concerns all volumes.
    #[cold]
    fn serve(
        &self,
        stages: &mut SystemStages,
        now: Nanos,
        request: Request,
        admit: &mut impl FnMut(&mut Limiter, &Request) -> Nanos,
    ) -> Nanos {
        let mut done = now;
        let mut part = |member: &Route, part: Request| {
            let admitted = member.admit(stages, now, &part, admit);
            if let Volume::Latency(volume) = &mut stages.volumes[member.volume] {
                done = done.max(admitted + volume.latency(admitted, &part));
            }
        };
        if request.length == 0 {
            self.members.iter().for_each(|member| part(member, request));
        }
        for (member, offset, length) in self.striping.parts(request.offset, request.length) {
            part(&self.members[member], Request { offset, length, ..request });
        }
        done
    }
}

impl LatencyVolume {
    fn new(latency: &LatencySpec, size: u64, seed: u64, number: u64) -> Self {
        let unwritten = latency.unwritten.as_ref().map(|law| {
            (LawSampler::new(law), WrittenRanges::new(size, latency.written_share, units::random::mix(seed, number)))
        });
        Self {
            law: latency.law.map(LawSampler::new),
            unwritten,
            bytes_per_sec: latency.bytes_per_sec,
            spells: latency.spells.map(|spells| SlowPeriodState::new(spells, Random::new(seed, 0x57e1 << 32 | number))),
            random: Random::new(seed, 0x1a7e << 32 | number),
        }
    }

    /// Returns the latency of a request that is admitted at `admitted`.
    #[inline]
    fn latency(&mut self, admitted: Nanos, request: &Request) -> Nanos {
        if self.unwritten.is_none() && self.bytes_per_sec.is_none() && self.spells.is_none() {
            return self.law.get(request.kind).draw(&mut self.random);
        }
        self.special_latency(admitted, request)
    }

    fn special_latency(&mut self, admitted: Nanos, request: &Request) -> Nanos {
        let unwritten = self.unwritten.as_mut().and_then(|(law, written)| (!written.update(request)).then_some(&*law));
        let law = unwritten.unwrap_or_else(|| self.law.get(request.kind));
        let mut latency = law.draw(&mut self.random);
        if let Some(rate) = self.bytes_per_sec {
            latency += Nanos::new(u64::from(request.length) * 1_000_000_000 / rate.max(1));
        }
        match &mut self.spells {
            Some(slow_periods) => slow_periods.scale(admitted, latency),
            None => latency,
        }
    }
}

/// Splits an ID into its range (users or hosts) and its index there.
const fn id_slot(id: u32) -> (usize, usize) {
    ((id >> (ID_BITS - 1)) as usize, (id & (System::HOST_IDS - 1)) as usize)
}

fn homes(attachments: &[Attachment]) -> Vec<Home> {
    let (mut machines, mut memory): (BTreeMap<&str, usize>, Vec<Option<Bytes>>) = Default::default();
    let mut homes = Vec::new();
    for Attachment { spec, .. } in attachments {
        let machine = *machines.entry(&spec.host).or_insert(memory.len());
        if machine == memory.len() {
            memory.push(None);
        }
        memory[machine] = memory[machine].max(spec.buffering.memory);
        homes.push(Home { machine, buffering: spec.buffering });
    }
    for home in &mut homes {
        home.buffering.memory = memory[home.machine];
    }
    homes
}

/// Limits, stations and volumes, equal ones merged, with their indices by identity.
#[derive(Debug, Default)]
struct SystemStages {
    seed: u64,
    limiters: Vec<Limiter>,
    stations: Vec<Servers>,
    volumes: Vec<Volume>,
    records: Vec<StageRecord>,
    /// Record of each limiter and of each station.
    limiter_records: Vec<usize>,
    station_records: Vec<usize>,
    limiter_index: BTreeMap<StageKey, usize>,
    station_index: BTreeMap<StageKey, usize>,
    volume_index: BTreeMap<String, usize>,
}

impl SystemStages {
    fn route(&mut self, attachment: &Attachment) -> Route {
        if let Some(striping) = attachment.spec.striping {
            let members: Vec<Route> = attachment.members().map(|member| self.route(&member)).collect();
            let mut records: Vec<usize> = members.iter().flat_map(|member| member.records.iter().copied()).collect();
            records.sort_unstable();
            records.dedup();
            let (stations, limiters, volume) = (Vec::new(), PerRequestKind::default(), members[0].volume);
            return Route { stations, limiters, volume, stripe: Some(Box::new(Stripe { striping, members })), records };
        }
        let spec = &attachment.spec;
        let stations: Vec<usize> = spec.stations.iter().map(|station| self.station(attachment, station)).collect();
        let limits: Vec<(usize, &Limit)> =
            spec.limits.iter().map(|limit| (self.limiter(attachment, limit), limit)).collect();
        let limiters = limiters_by_kind(&limits);
        let used = limiters.each().into_iter().flatten().map(|&index| self.limiter_records[index]);
        let mut records: Vec<usize> = used.chain(stations.iter().map(|&index| self.station_records[index])).collect();
        records.sort_unstable();
        records.dedup();
        Route { stations, limiters, volume: self.volume(attachment), stripe: None, records }
    }

    fn station(&mut self, attachment: &Attachment, station: &Station) -> usize {
        let known = StageKey::of(attachment, &station.scope, &station.name);
        let index = *self.station_index.entry(known.clone()).or_insert(self.stations.len());
        if index == self.stations.len() {
            self.stations.push(Servers::new(station));
            self.station_records.push(self.records.len());
            self.records.push(known.record(SystemPart::Station(index), &station.rule, None, None));
        }
        index
    }

    fn limiter(&mut self, attachment: &Attachment, limit: &Limit) -> usize {
        let known = StageKey::of(attachment, &limit.scope, &limit.name);
        let index = *self.limiter_index.entry(known.clone()).or_insert(self.limiters.len());
        if index == self.limiters.len() {
            self.limiters.push(Limiter::new(limit));
            self.limiter_records.push(self.records.len());
            let jitter = match &limit.burst {
                Burst::Jitter(jitter) if jitter.time > Nanos::ZERO => Some(jitter.clone()),
                _ => None,
            };
            self.records.push(known.record(SystemPart::Limiter(index), &limit.rule, credits_at_start(limit), jitter));
        }
        index
    }

    fn volume(&mut self, attachment: &Attachment) -> usize {
        if let Some(&known) = self.volume_index.get(&attachment.volume) {
            return known;
        }
        let index = self.volumes.len();
        let (spec, number) = (&attachment.spec, index as u64);
        self.volumes.push(match &spec.behaviour {
            Behaviour::Latency(latency) => {
                Volume::Latency(Box::new(LatencyVolume::new(latency, spec.size.get(), self.seed, number)))
            }
            Behaviour::Drive(drive) => {
                let random = Random::new(self.seed, 0xd15c << 32 | number);
                Volume::Drive(Box::new(Mechanics::new(drive, spec.size, random)))
            }
        });
        self.volume_index.insert(attachment.volume.clone(), index);
        index
    }
}

/// Returns the burst credits of a limit at the start; `None` if it has no bucket.
fn credits_at_start(limit: &Limit) -> Option<u64> {
    match limit.burst {
        Burst::Credits { most, at_start } => Some(at_start.min(most)),
        Burst::Jitter(_) => None,
    }
}

/// Identity of a limit or station: equal scope, owner and name mean the same one.
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

    fn record(self, part: SystemPart, rule: &str, credits: Option<u64>, jitter: Option<Jitter>) -> StageRecord {
        let Self { owner, name, .. } = self;
        StageRecord { name, owner, rule: rule.to_owned(), part, tally: StageTally::default(), credits, jitter }
    }
}
