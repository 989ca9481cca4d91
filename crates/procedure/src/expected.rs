//! The volume that measurements are compared with, simulated for `analyse`.

use analyse::{
    CapKind, Expectation, ExpectedCap, ExpectedPoint, LargerFigure, LargerVolume, Observation, PriceDifference,
    VolumeChange,
};
use job::{BlockSizes, Direction, EngineKind, Job, Plan};
use runner::{CreditPolicy, NullObserver, RunControl, RunOptions, Runner, Seeds};
use sim::model::with_key;
use units::{Nanos, PerKind, Problem};
use volume::catalogue::{self, LatencyBasis, ResolvedVolume};
use volume::closed::{self, CapPart, Load};
use volume::{
    Behaviour, CountedUnit, Limit, PerRequestKind, Scope, Spec, Tolerance, cited_merging, joined_by_text, names_machine,
};

const BLOCK_BYTES: u32 = 4096;

const GB: u64 = 1_000_000_000;
const GIB: u64 = 1 << 30;

/// A volume for comparison with measurements.
#[derive(Debug)]
pub struct ExpectedVolume {
    words: String,
    volume: ResolvedVolume,
    read_file: ReadVolumes,
}

/// Function that reads a catalogue file.
type ReadVolumes = fn(&str) -> Result<String, Problem>;

impl ExpectedVolume {
    /// Resolves a volume of the catalogue or of a catalogue file.
    ///
    /// # Errors
    ///
    /// Returns all problems of the name.
    pub fn look_up(words: &str, read_file: ReadVolumes) -> Result<Self, Vec<Problem>> {
        let mut resolved = catalogue::resolve_all(&[words], &read_file)?;
        Ok(Self { words: words.to_owned(), volume: resolved.remove(0), read_file })
    }

    /// Returns the requested name.
    #[must_use]
    pub fn words(&self) -> &str {
        &self.words
    }

    /// Returns the CPUs of the machine, if the name states them.
    #[must_use]
    pub fn vcpus(&self) -> Option<f64> {
        let key = self.volume.about.keys.iter().find(|key| key.name == "vcpus")?;
        key.value.split_whitespace().next()?.parse().ok()
    }

    /// Returns machines of which one's limit would explain a rate, with that limit in operations per second: those with the
    /// nearest one. None if the volume names a machine.
    #[must_use]
    pub fn machines_at(&self, seen: &Observation) -> Vec<(String, f64)> {
        const NEAR: f64 = 0.02;
        let Some(iops) = seen.iops.map(|iops| iops.value()) else { return Vec::new() };
        if self.words.split(',').any(|pair| pair.trim().starts_with("machine=")) {
            return Vec::new();
        }
        let load = load(seen, f64::INFINITY);
        let limit = |machine: catalogue::Machine| {
            let words = with_key(&self.words, "machine", &machine.name);
            let resolved = catalogue::resolve_all(&[&words], &self.read_file).ok()?;
            let caps = closed::caps(&resolved[0].spec, &load);
            let of_machine = caps.iter().filter(|cap| names_machine(&cap.name)).map(|cap| cap.iops);
            let lowest = of_machine.reduce(f64::min)?;
            ((lowest / iops - 1.0).abs() <= NEAR).then_some((machine.name, lowest))
        };
        let all = catalogue::machines(&self.words).unwrap_or_default();
        let mut near: Vec<(String, f64)> =
            all.into_iter().filter(|machine| !machine.name.ends_with('*')).filter_map(limit).collect();
        near.sort_by(|a, b| (a.1 / iops - 1.0).abs().total_cmp(&(b.1 / iops - 1.0).abs()));
        near
    }

    /// Returns the expected performance under the load of an observation. `at` computes other queue depths on demand.
    pub fn of<'a>(&self, seen: &Observation, at: &'a dyn Fn(f64) -> Option<ExpectedPoint>) -> Expectation<'a> {
        let spec = &self.volume.spec;
        let load = load(seen, f64::INFINITY);
        let prediction = closed::predict(spec, &load);
        let caps = prediction.as_ref().map_or_else(|| closed::caps(spec, &load), |known| known.caps.clone());
        let mut caps: Vec<ExpectedCap> = caps.iter().flat_map(|cap| expected_caps(spec, cap)).collect();
        caps.sort_by(|a, b| a.iops.total_cmp(&b.iops));
        let has_unknown_burst = caps.iter().any(|cap| cap.credits == Some(f64::INFINITY));
        let plain = caps.iter().filter(|cap| cap.credits.is_none()).map(|cap| cap.iops).reduce(f64::min);
        let constant = matches!(spec.behaviour, Behaviour::Latency(_));
        Expectation {
            volume: self.words.clone(),
            bytes: spec.size.get(),
            // Where there is no closed form, the maximum is unknown.
            burst_iops: plain
                .filter(|_| has_unknown_burst)
                .or_else(|| prediction.as_ref().map(|known| known.burst_iops))
                .unwrap_or_else(|| sequential_most(spec, &load)),
            // A volume without a stated latency has none, which tells nothing of the needed depth.
            alone_ns: prediction.filter(|_| constant).map(|known| known.alone.get() as f64).filter(|ns| *ns > 0.0),
            latency_is_assumed: self.volume.about.latency_basis == LatencyBasis::Assumed,
            latency_is_measured: self.volume.about.latency_basis <= LatencyBasis::Measured,
            machine_is_unknown: !spec.unknown_limits.is_empty(),
            break_even_bytes: break_even_bytes(spec, &load),
            larger: caps.first().and_then(|cap| self.provisionable(&load, cap).or_else(|| self.larger(&load, cap))),
            iops_per_cpu: plan::iops_per_cpu(&self.words, &load),
            notes: self.notes(seen, &load, &caps),
            caps,
            at,
        }
    }

    /// Returns what has to be provisioned at this size for as much as the volume can then give: of what the lowest cap counts.
    fn provisionable(&self, load: &Load, cap: &ExpectedCap) -> Option<LargerVolume> {
        let key = ProvisionedKey::of(&self.volume, cap.kind)?;
        let gives = |value: f64| self.lowest_cap(&key.set(&self.words, value), load);
        let iops = gives(key.most)?;
        if iops < 1.03 * cap.iops {
            return None;
        }
        // Beyond that another cap holds.
        let high = least(key.value.min(key.most).floor(), key.most, |value| {
            gives(value).is_some_and(|given| given >= (1.0 - 1e-9) * iops)
        });
        let figure = match cap.kind {
            CapKind::VolumeIops => LargerFigure::ProvisionedIops(high as u64),
            _ => LargerFigure::ProvisionedThroughput((high * key.unit_bytes()) as u64),
        };
        Some(LargerVolume { figure, iops })
    }

    /// Returns the lowest cap of another volume on a load.
    fn lowest_cap(&self, words: &str, load: &Load) -> Option<f64> {
        let resolved = catalogue::resolve_all(&[words], &self.read_file).ok()?;
        Some(closed::predict(&resolved[0].spec, load)?.caps.first()?.iops)
    }

    /// Returns assumptions that affect the volume's figures for this load.
    fn notes(&self, seen: &Observation, load: &Load, caps: &[ExpectedCap]) -> Vec<String> {
        let spec = &self.volume.spec;
        let merging = spec.limits.iter().filter(|_| seen.random == Some(false)).filter_map(|limit| {
            let (unit, least) = limit.merges()?;
            let bytes = |bytes: u32| units::Bytes::new(u64::from(bytes));
            let counted = match load.bytes.read {
                length if length >= least && length < unit => format!("are merged up to {}", bytes(unit)),
                length if length < least => format!("smaller than {} are not merged", bytes(least)),
                _ => return None,
            };
            let basis = cited_merging(limit.merging.as_ref()?);
            Some((limit.name.clone(), format!("sequential operations {counted} ({basis})")))
        });
        let unknown = spec.unknown_machine().map(str::to_owned).into_iter().chain(joined_by_text(merging));
        unknown.chain(block_assumed(seen, caps)).chain(self.latency_assumed(seen)).collect()
    }

    /// Says that the latency of the model is assumed, if the measured one is far from it.
    fn latency_assumed(&self, seen: &Observation) -> Option<String> {
        let about = &self.volume.about;
        let assumed = about.latency_assumed.as_ref().filter(|_| about.latency_basis == LatencyBasis::Assumed)?;
        let alone = closed::predict(&self.volume.spec, &load(seen, f64::INFINITY))?.alone;
        let latency = seen.latency_ns?.value();
        let is_near = (0.5..=1.5).contains(&(latency / alone.get().max(1) as f64));
        (!is_near).then(|| format!("the model latency is assumed: {assumed}"))
    }

    /// Returns the smallest size at which the size no longer limits: doubles the size up to the catalogue's maximum,
    /// then bisects to one GB or GiB.
    fn larger(&self, load: &Load, cap: &ExpectedCap) -> Option<LargerVolume> {
        if self.volume.spec.striping.is_some() {
            return None;
        }
        let iops = cap.iops;
        let now = self.volume.spec.size.get();
        // Use the unit of the given size, as some catalogue rules require.
        let (unit, name) = if now.is_multiple_of(GB) { (GB, "GB") } else { (GIB, "GiB") };
        // Credits belong to one size and are refused for others; sustained rates have none.
        let is_kept = |word: &&str| word.split('=').next().is_some_and(|key| key.trim() != "credits");
        let kept = self.words.split(',').filter(is_kept).collect::<Vec<_>>().join(",");
        let sized = |units: u64| with_key(&kept, "size", &format!("{units}{name}"));
        // What can be provisioned grows with the size.
        let of_size = |units: u64| self.lowest_cap(&self.provisioned_fully(&sized(units))?, load);
        let now = (now / unit).max(1);
        let sizes = std::iter::successors(Some(now), |units| units.checked_mul(2)).skip(1);
        let mut reached: Vec<(u64, f64)> = sizes.map_while(|units| Some((units, of_size(units)?))).collect();
        // The maximum size may be less than twice the last one.
        let (mut largest, mut too_large) = reached.last().map_or((now, 2 * now), |(units, _)| (*units, 2 * units));
        while too_large - largest > 1 {
            let middle = largest + (too_large - largest) / 2;
            if of_size(middle).is_some() { largest = middle } else { too_large = middle }
        }
        reached.extend(of_size(largest).map(|iops| (largest, iops)));
        let most = reached.iter().map(|(_, iops)| *iops).fold(iops, f64::max);
        if most < 1.03 * iops {
            return None;
        }
        let enough = |iops: f64| iops >= 0.99999 * most;
        let (high, _) = *reached.iter().find(|(_, iops)| enough(*iops))?;
        let low = (high / 2).max(now);
        let high = least(low as f64, high as f64, |units| of_size(units as u64).is_some_and(enough)) as u64;
        let [iops, bytes_per_second] = self.provisions(&sized(high), load, most)?;
        let figure = LargerFigure::Size { bytes: high * unit, iops, bytes_per_second };
        Some(LargerVolume { figure, iops: most })
    }

    /// Returns a volume with the most that can be provisioned of it.
    fn provisioned_fully(&self, words: &str) -> Option<String> {
        // What is given may be less than larger sizes have at least.
        let is_given = |word: &str| {
            let key = word.split('=').next().unwrap_or_default().trim();
            ProvisionedKey::KINDS.into_iter().filter_map(ProvisionedKey::name_of).any(|name| name == key)
        };
        let mut words = words.split(',').filter(|word| !is_given(word)).collect::<Vec<_>>().join(",");
        for kind in ProvisionedKey::KINDS {
            let resolved = catalogue::resolve_all(&[&words], &self.read_file).ok()?;
            if let Some(key) = ProvisionedKey::of(&resolved[0], kind) {
                words = key.set(&words, key.most);
            }
        }
        Some(words)
    }

    /// Returns the IOPS and the bytes per second that must be provisioned for a rate, where a volume has less.
    fn provisions(&self, words: &str, load: &Load, iops: f64) -> Option<[Option<u64>; 2]> {
        let enough = |words: &str| self.lowest_cap(words, load).is_some_and(|given| given >= (1.0 - 1e-9) * iops);
        let mut needed = [None, None];
        if enough(words) {
            return Some(needed);
        }
        let own = catalogue::resolve_all(&[words], &self.read_file).ok();
        let mut full = self.provisioned_fully(words)?;
        for (kind, needed) in ProvisionedKey::KINDS.into_iter().zip(&mut needed) {
            let resolved = catalogue::resolve_all(&[&full], &self.read_file).ok()?;
            let Some(key) = ProvisionedKey::of(&resolved[0], kind) else { continue };
            let own = own.as_ref().and_then(|own| ProvisionedKey::of(&own[0], kind)).map(|own| own.value);
            if let Some(kept) = own.map(|own| key.set(&full, own)).filter(|kept| enough(kept)) {
                full = kept;
                continue;
            }
            let high = least(own.unwrap_or(0.0).floor(), key.most, |value| enough(&key.set(&full, value)));
            full = key.set(&full, high);
            *needed = Some((high * key.unit_bytes()) as u64);
        }
        Some(needed)
    }

    /// Returns the change that gives the requests in flight the latency without queueing, as far as one is sold: `larger` is
    /// what lifts the limit entirely. The result is simulated.
    pub fn change(
        &self,
        larger: &LargerFigure,
        seen: &Observation,
        runner: &dyn Runner,
        control: &dyn RunControl,
    ) -> Option<VolumeChange> {
        // A change of several volumes is several changes.
        if self.volume.spec.striping.is_some() {
            return None;
        }
        let (iops, latency) = (seen.iops?.value(), seen.latency_ns?.value());
        let in_flight = iops * latency / 1e9;
        let load = load(seen, f64::INFINITY);
        let alone_ns = closed::predict(&self.volume.spec, &load)?.alone.get() as f64;
        // What these requests take without a limit, to two digits.
        let wanted = rounded_up(in_flight / alone_ns * 1e9);
        let block = seen.mean_bytes().map_or(f64::from(BLOCK_BYTES), |block| block.value());
        let mut change = VolumeChange {
            volume: self.words.clone(),
            bytes: None,
            iops: None,
            bytes_per_second: None,
            price: None,
            then: ExpectedPoint { in_flight, iops, latency_ns: latency },
        };
        match *larger {
            LargerFigure::ProvisionedIops(most) => {
                let key = ProvisionedKey::of(&self.volume, CapKind::VolumeIops)?;
                let value = wanted.min(most as f64);
                (change.iops, change.volume) = (Some(value as u64), key.set(&self.words, value));
            }
            LargerFigure::ProvisionedThroughput(most) => {
                let key = ProvisionedKey::of(&self.volume, CapKind::VolumeBytes)?;
                let value = ((wanted * block).min(most as f64) / key.unit_bytes()).ceil();
                (change.bytes_per_second, change.volume) =
                    (Some((value * key.unit_bytes()) as u64), key.set(&self.words, value));
            }
            LargerFigure::Size { bytes, iops, bytes_per_second } => {
                let (unit, name) = if bytes.is_multiple_of(GB) { (GB, "GB") } else { (GIB, "GiB") };
                let is_kept = |word: &&str| word.split('=').next().is_some_and(|key| key.trim() != "credits");
                let kept = self.words.split(',').filter(is_kept).collect::<Vec<_>>().join(",");
                let sized = |units: f64| with_key(&kept, "size", &format!("{units}{name}"));
                let enough = |units: f64| self.lowest_cap(&sized(units), &load).is_some_and(|given| given >= wanted);
                let (low, high) = ((self.volume.spec.size.get() / unit) as f64, (bytes / unit) as f64);
                let is_sold_alone = iops.is_none() && bytes_per_second.is_none();
                let units = if is_sold_alone && enough(high) { least(low, high, enough) } else { high };
                change.volume = sized(units);
                if let Some(iops) = iops {
                    change.volume = with_key(&change.volume, "iops", &iops.to_string());
                }
                if let Some(rate) = bytes_per_second {
                    let key = ProvisionedKey::of(&self.volume, CapKind::VolumeBytes)?;
                    change.volume = key.set(&change.volume, (rate as f64 / key.unit_bytes()).ceil());
                }
                (change.bytes, change.iops, change.bytes_per_second) =
                    (Some(units as u64 * unit), iops, bytes_per_second);
            }
        }
        let changed = Self::look_up(&change.volume, self.read_file).ok()?;
        change.price = price_difference(&self.volume, &changed.volume);
        change.then = changed.at(seen, in_flight, runner, control)?;
        (change.then.latency_ns < (1.0 - WORTHWHILE) * latency).then_some(change)
    }

    /// Simulates the sustained performance with `in_flight` operations: a limit is not fully used by the number of
    /// operations that reaches it on average.
    pub fn at(
        &self,
        seen: &Observation,
        in_flight: f64,
        runner: &dyn Runner,
        control: &dyn RunControl,
    ) -> Option<ExpectedPoint> {
        /// This many operations settle the mean to a few thousandths.
        const OPERATIONS: f64 = 60_000.0;
        let depth = in_flight.round().max(1.0);
        let load = load(seen, depth);
        // Without a closed form, the measured rate is accurate enough for the duration.
        let closed = closed::predict(&self.volume.spec, &load).map(|expected| expected.iops);
        let iops = closed.or_else(|| Some(seen.iops?.value()))?;
        let (warm_up_s, seconds) = (4.0 * depth / iops, OPERATIONS / iops);
        let mut job = Job { name: "counterfactual".to_owned(), ..Job::default() };
        (job.engine.kind, job.engine.volume, job.engine.direct) = (EngineKind::Model, Some(self.words.clone()), true);
        (job.pattern.direction, job.pattern.random) = (Direction::ReadWrite, !load.sequential);
        job.pattern.set_read_fraction(load.share.read);
        job.pattern.block_sizes = PerKind::same(BlockSizes::Fixed(load.bytes.read));
        job.pace.iodepth = depth as u32;
        job.extent.time_based = true;
        (job.extent.ramp_time, job.extent.runtime) = (Nanos::from_secs_f64(warm_up_s), Nanos::from_secs_f64(seconds));
        let plan = Plan { jobs: vec![job], ..Plan::default() };
        let prepared = runner.prepare(&plan, Seeds::fixed(Seeds::REPEATED)).ok()?;
        let options = RunOptions { credits: CreditPolicy::Spent, ..RunOptions::default() };
        let run = prepared.run(&options, control, &mut NullObserver).ok()?.run;
        let simulated = Observation::of(&run, run.jobs.first()?);
        let (iops, latency_ns) = (simulated.iops?.value(), simulated.latency_ns?.value());
        // A simulation of seconds is a few thousandths above a cap, which admits operations ahead of schedule.
        let most = closed::caps(&self.volume.spec, &load).first().map_or(f64::INFINITY, |cap| cap.iops);
        let latency_ns = if iops > most { depth / most * 1e9 } else { latency_ns };
        Some(ExpectedPoint { in_flight: depth, iops: iops.min(most), latency_ns })
    }
}

/// Fraction of the latency that a change must save to be worth a purchase.
const WORTHWHILE: f64 = 0.1;

/// Returns what a changed volume costs in addition.
fn price_difference(now: &ResolvedVolume, changed: &ResolvedVolume) -> Option<PriceDifference> {
    let (now, then) = (now.spec.price.as_ref()?, changed.spec.price.as_ref()?);
    let is_alike = now.currency == then.currency && now.region == then.region && then.lacks.is_none();
    is_alike.then(|| PriceDifference {
        currency: then.currency.clone(),
        per_month: then.per_month - now.per_month,
        region: then.region.clone(),
    })
}

/// Rounds up to two significant digits.
fn rounded_up(value: f64) -> f64 {
    let step = 10_f64.powf((value.max(1.0).log10().floor() - 1.0).max(0.0));
    // A quotient may exceed a multiple of the step by its rounding error.
    ((value / step - 1e-6).ceil() * step).round()
}

/// A key of a volume by which IOPS or throughput are provisioned apart from its size.
struct ProvisionedKey {
    name: &'static str,
    unit: String,
    value: f64,
    most: f64,
}

impl ProvisionedKey {
    /// Kinds of limits with such a key.
    const KINDS: [CapKind; 2] = [CapKind::VolumeIops, CapKind::VolumeBytes];

    fn name_of(kind: CapKind) -> Option<&'static str> {
        match kind {
            CapKind::VolumeIops => Some("iops"),
            CapKind::VolumeBytes => Some("throughput"),
            _ => None,
        }
    }

    fn of(volume: &ResolvedVolume, kind: CapKind) -> Option<Self> {
        let name = Self::name_of(kind)?;
        let is_it = |key: &&catalogue::KeyFacts| key.name == name && !key.bounds.fixed && !key.source.is_empty();
        let bounds = &volume.about.keys.iter().find(is_it)?.bounds;
        let value = bounds.value.or(bounds.least).unwrap_or(0.0);
        Some(Self { name, unit: bounds.unit.clone(), value, most: bounds.most?.floor() })
    }

    fn set(&self, words: &str, value: f64) -> String {
        with_key(words, self.name, &format!("{value}{}", self.unit))
    }

    fn unit_bytes(&self) -> f64 {
        match self.unit.as_str() {
            "MiB/s" => 1_048_576.0,
            "MB/s" => 1e6,
            _ => 1.0,
        }
    }
}

/// Converts the load of an observation for the closed form.
fn load(seen: &Observation, in_flight: f64) -> Load {
    let bytes = seen.mean_bytes().map_or(BLOCK_BYTES, |block| block.value().round().max(1.0) as u32);
    let sequential = seen.random == Some(false);
    Load { sequential, ..Load::mixed(seen.read_share.unwrap_or(1.0), bytes, in_flight) }
}

/// Returns the least value that is enough, above `low`, which is not, in steps of one; `high` is enough.
fn least(mut low: f64, mut high: f64, is_enough: impl Fn(f64) -> bool) -> f64 {
    while high - low > 1.0 {
        let middle = f64::midpoint(low, high).round();
        if is_enough(middle) { high = middle } else { low = middle }
    }
    high
}

/// Returns the most operations per second of a sequential load on a drive, on its outer tracks; infinite where it is not
/// known.
fn sequential_most(spec: &Spec, load: &Load) -> f64 {
    match &spec.behaviour {
        Behaviour::Drive(drive) if load.sequential => drive.outer_bytes_per_sec as f64 / load.mean_bytes(),
        _ => f64::INFINITY,
    }
}

/// Says which block size is assumed where none is known, and from which on throughput is the limit.
fn block_assumed(seen: &Observation, caps: &[ExpectedCap]) -> Option<String> {
    if seen.mean_bytes().is_some() {
        return None;
    }
    let iops = seen.iops?.value();
    let by_bytes =
        caps.iter().find(|cap| cap.kind == CapKind::VolumeBytes).map(|cap| cap.iops * f64::from(BLOCK_BYTES));
    let throughput = by_bytes.map_or_else(String::new, |most| {
        let shown = |bytes: f64| units::Bytes::new(bytes as u64);
        format!("; with {} blocks this rate would reach the throughput limit of {}/s", shown(most / iops), shown(most))
    });
    Some(format!("no block size is given (`bs=`): assuming 4 KiB{throughput}"))
}

/// Returns the cap of a limit or station, with a second one for a published burst of unknown length.
fn expected_caps(spec: &Spec, cap: &closed::Cap) -> Vec<ExpectedCap> {
    let limit = match cap.part {
        CapPart::Limit(index) => spec.limits.get(index),
        CapPart::Station(_) => None,
    };
    let plain = ExpectedCap {
        name: cap.name.clone(),
        kind: limit.map_or(CapKind::Station, kind),
        iops: cap.iops,
        shared: limit.is_some_and(|limit| limit.rate.read.is_some() && limit.rate.write.is_some()),
        // None if the user says that they are spent.
        credits: cap.bucket.map(|bucket| bucket.at_start).filter(|credits| *credits > 0.0),
        tolerance: limit.and_then(|limit| limit.tolerance.as_ref()).map_or(0.0, Tolerance::fraction),
    };
    if !limit.and_then(|limit| limit.tolerance.as_ref()).is_some_and(|tolerance| tolerance.is_burst) {
        return vec![plain];
    }
    let iops = plain.iops * (1.0 + plain.tolerance);
    let burst = ExpectedCap { name: format!("burst of {}", plain.name), iops, tolerance: 0.0, ..plain.clone() };
    vec![ExpectedCap { credits: Some(f64::INFINITY), tolerance: 0.0, ..plain }, burst]
}

fn kind(limit: &Limit) -> CapKind {
    let of_machine = limit.scope == Scope::Machine && names_machine(&limit.name);
    match limit.counted {
        _ if limit.name.contains("egress") => CapKind::Egress,
        _ if of_machine => CapKind::Machine,
        CountedUnit::Bytes => CapKind::VolumeBytes,
        CountedUnit::Operations => CapKind::VolumeIops,
    }
}

/// Returns the smallest block size that reaches the limit on bytes before that on operations, if smaller ones do not.
/// Operations that count by units, or are merged from a size on, make the limit on operations jump there.
fn break_even_bytes(spec: &Spec, load: &Load) -> Option<f64> {
    const MOST: u32 = 16 << 20;
    let lowest = |caps: &[closed::Cap], wanted: CapKind| {
        let of_kind = caps.iter().filter(|cap| expected_caps(spec, cap)[0].kind == wanted);
        of_kind.map(|cap| cap.iops).reduce(f64::min)
    };
    let bytes_first = |bytes: u32| {
        let caps = closed::caps(spec, &Load { bytes: PerRequestKind::from_fn(|_| bytes), ..load.clone() });
        let both = lowest(&caps, CapKind::VolumeBytes).zip(lowest(&caps, CapKind::VolumeIops));
        both.is_some_and(|(by_bytes, by_operations)| by_bytes < by_operations)
    };
    // Between these sizes both limits change evenly.
    let mut ends = vec![MOST];
    for unit in spec.limits.iter().filter_map(|limit| limit.io_unit) {
        ends.extend((1..=MOST / unit.bytes.max(4096)).map(|units| units * unit.bytes));
        ends.extend(unit.merged_from.map(|least| least - 1));
    }
    ends.sort_unstable();
    let mut start = 1;
    for end in ends.into_iter().filter(|end| *end > 0) {
        if start <= end && bytes_first(end) {
            if bytes_first(start) {
                return (start > 1).then_some(f64::from(start));
            }
            return Some(least(f64::from(start), f64::from(end), |bytes| bytes_first(bytes as u32)));
        }
        start = end + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use analyse::{EvidenceSource, KnownFigure};

    use super::*;

    fn seen(block: f64, read_share: f64) -> Observation {
        let block_bytes = Some(KnownFigure::exact(block, EvidenceSource::Claim));
        Observation { block_bytes, read_share: Some(read_share), ..Observation::default() }
    }

    fn nothing(_: f64) -> Option<ExpectedPoint> {
        None
    }

    fn expected(words: &str, seen: &Observation) -> Expectation<'static> {
        let expected = ExpectedVolume::look_up(words, volume::catalogue::no_files)
            .unwrap_or_else(|problems| panic!("{}", problems[0]));
        expected.of(seen, &nothing)
    }

    #[test]
    fn limits_are_classified_by_owner() {
        let reads = expected("gcp/pd-ssd@2019,size=2TB,vcpus=8", &seen(4096.0, 1.0));
        assert_eq!(reads.caps[0].kind, CapKind::Machine, "{:?}", reads.caps);
        let writes = expected("gcp/pd-ssd@2019,size=4TB,vcpus=4", &seen(1_048_576.0, 0.0));
        assert!(writes.caps.iter().any(|cap| cap.kind == CapKind::Egress), "{:?}", writes.caps);
        let hosts = expected("nutanix/ahv-4node", &seen(4096.0, 1.0));
        assert_eq!(hosts.caps[0].kind, CapKind::Station);
        assert!((hosts.knee().unwrap() - 320.0).abs() < 2.0);
    }

    #[test]
    fn a_larger_size_is_suggested_if_the_size_limits() {
        let small = expected("gcp/pd-ssd@2019,size=500GB,vcpus=64", &seen(4096.0, 1.0));
        let larger = small.larger.unwrap();
        // 60,000 / 30 per GB.
        let LargerFigure::Size { bytes, .. } = larger.figure else { panic!("{larger:?}") };
        assert!((bytes as f64 / 2e12 - 1.0).abs() < 0.011, "{bytes}");
        assert!((larger.iops - 60_000.0).abs() < 100.0);
        assert_eq!(expected("vultr/nvme-block", &seen(4096.0, 1.0)).larger, None);
    }

    #[test]
    fn break_even_block_size_reaches_both_limits() {
        let break_even = |words| expected(words, &seen(4096.0, 1.0)).break_even_bytes.unwrap();
        assert!((break_even("vultr/hdd-block") - 200_000.0).abs() < 2.0);
        assert!((break_even("vultr/nvme-block") - 40_000.0).abs() < 2.0);
    }

    /// Where operations count by units of 256 KiB or are merged, each block size had a break-even of its own.
    #[test]
    fn break_even_block_size_does_not_depend_on_the_size_of_the_load() {
        for block in [65_536.0, 262_144.0, 524_288.0, 1_048_576.0] {
            let even = expected("azure/p10", &seen(block, 1.0)).break_even_bytes.unwrap();
            assert!((even - 200_000.0).abs() < 2.0, "100 MB/s by 500 IOPS: {even} for {block}");
            let merged = Observation { random: Some(false), ..seen(block, 1.0) };
            let even = expected("aws/gp2,size=340GiB", &merged).break_even_bytes.unwrap();
            assert!((even - 32_768.0).abs() < 1.0, "merged from 32 KiB on: {even} for {block}");
        }
    }

    /// 9 TiB double to more than the maximum, and 12.5 TiB are on sale.
    #[test]
    fn a_larger_size_is_suggested_below_the_double() {
        let larger = expected("aws/st1,size=9TiB", &seen(1_048_576.0, 1.0)).larger.unwrap();
        assert!((larger.iops - 500.0).abs() < 1.0, "{larger:?}");
        let LargerFigure::Size { bytes, .. } = larger.figure else { panic!("{larger:?}") };
        let gib = bytes as f64 / GIB as f64;
        assert!((gib / 12_800.0 - 1.0).abs() < 0.001, "500 MiB/s at 40 for each TiB: {gib}");
    }

    #[test]
    fn mixed_block_sizes_count_by_their_mean() {
        let exact = |value| Some(KnownFigure::exact(value, EvidenceSource::Counters));
        let mixed = Observation {
            iops: exact(400.0),
            bytes_per_second: exact(400.0 * 1_048_576.0),
            read_share: Some(1.0),
            ..Observation::default()
        };
        let limits = expected("vultr/nvme-block", &mixed);
        assert_eq!(limits.caps[0].kind, CapKind::VolumeBytes, "{:?}", limits.caps);
        // Counters of a device refer to its own requests, independent of the requested block size.
        let split = Observation { request_bytes: exact(4096.0), ..seen(1_048_576.0, 1.0) };
        assert_eq!(expected("vultr/nvme-block", &split).caps[0].kind, CapKind::VolumeIops);
    }

    #[test]
    fn drives_have_expectations_without_limits() {
        let reads = expected("hdd/7200rpm", &seen(4096.0, 1.0));
        assert!(reads.caps.is_empty() && (100.0..300.0).contains(&reads.burst_iops), "{}", reads.burst_iops);
        // 200 MB/s of one whose outer tracks have 150 were possible.
        let sequential = Observation { random: Some(false), ..seen(1e6, 1.0) };
        assert!((expected("hdd/7200rpm", &sequential).burst_iops - 150.0).abs() < 1.0);
        let mixed = expected("hdd/7200rpm", &Observation { read_share: Some(0.5), ..seen(4096.0, 1.0) });
        assert!(mixed.burst_iops.is_infinite(), "unknown");
    }
}
