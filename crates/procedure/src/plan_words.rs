//! Reads the need of a plan from the words of its options: rates, bounds, candidates, a named workload.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use plan::choice::{self, VolumeChoice};
use plan::replay::ReplayBounds;
use plan::workload::{self, Derived};
use plan::{Currency, MachineNeed, Need, Requirement, STRIPE_MAX};
use units::{Nanos, Place, Problem, ProblemCode, block_bytes};
use volume::catalogue::{self, MACHINE_ARCHS, MACHINE_FAMILIES, PriceTerm, QuantityKind, quantity};

/// Default headroom.
const HEADROOM: f64 = 0.2;

/// The load, requirements and candidates of a plan, as typed.
#[derive(Clone, Debug, Default, Args)]
pub struct PlanWords {
    /// Operations per second: 15000, 15k
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub iops: Option<String>,
    /// Throughput: 400MiB/s, 2GB/s
    #[arg(long, value_name = "RATE", help_heading = "Load")]
    pub throughput: Option<String>,
    /// Operation size [default: 4k for IOPS, 1m for throughput]
    #[arg(long, value_name = "SIZE", help_heading = "Load")]
    pub bs: Option<String>,
    /// Percentage of reads [default: 100%]
    #[arg(long, value_name = "SHARE", help_heading = "Load")]
    pub read: Option<String>,
    /// Access pattern [default: random]
    #[arg(long, value_enum, help_heading = "Load")]
    pub pattern: Option<PlanPattern>,
    /// Capacity: 2TiB, 500GB
    #[arg(long, value_name = "SIZE", help_heading = "Requirements")]
    pub capacity: Option<String>,
    /// Upper bound on mean latency: 1ms
    #[arg(long, value_name = "TIME", help_heading = "Requirements")]
    pub latency: Option<String>,
    /// Upper bound on median latency, for a trace
    #[arg(long, value_name = "TIME", help_heading = "Requirements")]
    pub p50: Option<String>,
    /// Upper bound on p99 latency
    #[arg(long, value_name = "TIME", help_heading = "Requirements")]
    pub p99: Option<String>,
    /// Upper bound on p99.9 latency
    #[arg(long, value_name = "TIME", help_heading = "Requirements")]
    pub p999: Option<String>,
    /// Number of machines, each with its own volume
    #[arg(long, value_name = "N", help_heading = "Requirements")]
    pub machines: Option<String>,
    /// Have all machines read one shared volume
    #[arg(long, help_heading = "Requirements")]
    pub read_only: bool,
    /// Accept ephemeral volumes, which lose their data with the machine (local disks)
    #[arg(long, help_heading = "Requirements")]
    pub scratch: bool,
    /// Attach to this machine type, as named by the provider: n2-standard-8
    #[arg(long, value_name = "MACHINE", help_heading = "Machine")]
    pub machine: Option<String>,
    /// Choose the cheapest machine with at least this number of vCPUs
    #[arg(long, value_name = "N", help_heading = "Machine")]
    pub vcpus: Option<String>,
    /// Choose the cheapest machine with at least this memory: 32GiB
    #[arg(long, value_name = "SIZE", help_heading = "Machine")]
    pub memory: Option<String>,
    /// Choose the cheapest machine of this architecture: x86_64, arm64
    #[arg(long, value_name = "ARCH", help_heading = "Machine")]
    pub arch: Option<String>,
    /// Choose the cheapest machine of this family: general, compute, memory, storage, accelerated, hpc, burstable
    #[arg(long, value_name = "FAMILY", help_heading = "Machine")]
    pub family: Option<String>,
    /// Use machine prices of this commitment
    #[arg(long, value_enum, default_value_t = PlanTerm::OnDemand, help_heading = "Machine")]
    pub term: PlanTerm,
    /// Consider only these providers or volumes, separated by commas: aws,gcp or aws/gp3,iops=8000 (repeatable)
    #[arg(long, value_name = "PROVIDER,...", help_heading = "Candidates")]
    pub provider: Vec<String>,
    /// Consider the volumes of this file too, in the format of docs/volumes.md (repeatable)
    #[arg(long, value_name = "FILE", help_heading = "Candidates")]
    pub catalog: Vec<PathBuf>,
    /// Keep, change or replace this volume: aws/gp3,size=2TiB,iops=9000, or a file of volumes: .csv, .tfstate (repeatable)
    #[arg(long, value_name = "VOLUME|FILE", help_heading = "Candidates")]
    pub current: Vec<String>,
    /// Use the prices of these regions, separated by commas: us-east-1,us-central1,eastus
    #[arg(long, value_name = "REGION,...", help_heading = "Candidates")]
    pub region: Option<String>,
    /// Use the prices of each provider's region nearest to this city: frankfurt, new_york
    #[arg(long, value_name = "CITY", conflicts_with = "region", help_heading = "Candidates")]
    pub near: Option<String>,
    /// Stripe at most this number of volumes (RAID 0); 1 for none [default: 8]
    #[arg(long, value_name = "N", help_heading = "Candidates")]
    pub max_stripe: Option<String>,
    /// Upper bound on the total price per month, in the currency of totals
    #[arg(long, value_name = "AMOUNT", help_heading = "Requirements")]
    pub budget: Option<String>,
    /// Spare IOPS, throughput and latency to plan for [default: 20%]
    #[arg(long, value_name = "PERCENT", help_heading = "Requirements")]
    pub headroom: Option<String>,
    /// Currency of totals
    #[arg(long, value_enum, default_value_t = PlanCurrency::Usd, help_heading = "Candidates")]
    pub currency: PlanCurrency,
    /// US dollars per euro [default: the ECB reference rate in the catalogue]
    #[arg(long, value_name = "RATE", help_heading = "Candidates")]
    pub eur_usd: Option<String>,
    /// Growth of rates and capacity to plan for: 20%/year
    #[arg(long, value_name = "SHARE", help_heading = "Load")]
    pub growth: Option<String>,
    /// Number of years for which prices are stated, with --growth [default: 1]
    #[arg(long, value_name = "N", requires = "growth", help_heading = "Load")]
    pub years: Option<String>,
    /// Named workload: NAME[,key=value]...
    #[arg(long, value_name = "WORKLOAD", help_heading = "Load")]
    pub workload: Option<String>,
    /// Read the load from a trace, a result, a job file or any input of `fathom explain`
    #[arg(long, value_name = "FILE", help_heading = "Load")]
    pub from: Option<PathBuf>,
    /// Use the load of this device [default: busiest disk]
    #[arg(long, value_name = "NAME", requires = "from", help_heading = "Load")]
    pub device: Option<String>,
    /// Replay the whole trace instead of its busiest hour
    #[arg(long, help_heading = "Load")]
    pub full: bool,
    /// Issue trace requests at their timestamps, or after the completion their process waited for
    #[arg(long, value_enum, default_value_t = PlanLoop::Open, help_heading = "Load")]
    pub replay_loop: PlanLoop,
    /// Show the calculation and its sources
    #[arg(long, help_heading = "Calculation")]
    pub show_math: bool,
    /// Use closed-form estimates instead of simulation
    #[arg(long, help_heading = "Calculation")]
    pub no_simulation: bool,
}

/// What decides when a request of a trace is issued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PlanLoop {
    /// At its timestamp in the trace
    #[default]
    Open,
    /// After the completion its process waited for
    Closed,
}

/// For how long the machine is rented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PlanTerm {
    /// On demand
    #[default]
    OnDemand,
    /// Committed for one year
    #[value(name = "1-year")]
    OneYear,
    /// Committed for three years
    #[value(name = "3-years")]
    ThreeYears,
}

impl From<PlanTerm> for PriceTerm {
    fn from(term: PlanTerm) -> Self {
        match term {
            PlanTerm::OnDemand => Self::OnDemand,
            PlanTerm::OneYear => Self::OneYear,
            PlanTerm::ThreeYears => Self::ThreeYears,
        }
    }
}

/// The currency of totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PlanCurrency {
    /// US dollars
    #[default]
    Usd,
    /// Euros
    Eur,
    /// Pounds sterling
    Gbp,
}

impl From<PlanCurrency> for Currency {
    fn from(currency: PlanCurrency) -> Self {
        match currency {
            PlanCurrency::Usd => Self::Usd,
            PlanCurrency::Eur => Self::Eur,
            PlanCurrency::Gbp => Self::Gbp,
        }
    }
}

/// The access pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PlanPattern {
    /// Random offsets
    #[default]
    Random,
    /// Each operation starts where the previous one ended
    Sequential,
}

/// Returns the need and the arithmetic behind it, or all problems together. `file` derives the load from the given file.
///
/// # Errors
///
/// Returns all problems of the words and of the file.
pub fn of_load(
    options: &PlanWords,
    file: impl FnOnce() -> Result<Derived, Vec<Problem>>,
) -> Result<Derived, Vec<Problem>> {
    let mut parser = NeedParser { problems: Vec::new() };
    let mut derived = Derived::default();
    match (&options.workload, options.from.is_some()) {
        (Some(words), true) => {
            let remedy = "use one of them";
            parser.refuse("--workload", words, 0..words.len(), "both a workload and a measurement specified", remedy);
        }
        (Some(words), false) => match workload::derive(words) {
            Ok(found) => derived = found,
            Err(found) => {
                let whole = Place::in_option("--workload", words, 0..words.len());
                parser.problems.extend(found.into_iter().map(|problem| problem.within(&whole)));
            }
        },
        (None, true) => match file() {
            Ok(found) => derived = found,
            Err(problem) => parser.problems.extend(problem),
        },
        (None, false) => {}
    }
    let flags = [("--full", options.full), ("--replay-loop closed", options.replay_loop == PlanLoop::Closed)];
    for (option, _) in flags.into_iter().filter(|(_, is_given)| *is_given) {
        let message = format!("{option} has no effect without a trace");
        parser.problems.push(Problem::error(ProblemCode::Plan, message).help("pass a trace with --from"));
    }
    let mut need = derived.need;
    parser.rates(options, &mut need);
    parser.bounds(options, &mut need);
    parser.environment(options, &mut need);
    let is_empty = need.demands().is_empty() && need.capacity.is_none();
    // Without a load, the limits of current volumes are the need.
    if parser.problems.is_empty() && is_empty && options.current.is_empty() {
        let message = "neither load nor capacity specified";
        let remedy = "use one of --iops 15k, --throughput 400MiB/s, --capacity 2TiB, --workload oltp or --from RUN";
        parser.problems.push(Problem::error(ProblemCode::Plan, message).help(remedy));
    }
    parser.volumes(options, &mut need);
    // A rate that the user states is no measurement.
    let doubt = derived.doubt.filter(|_| options.iops.is_none() && options.throughput.is_none());
    if parser.problems.is_empty() { Ok(Derived { need, lines: derived.lines, doubt }) } else { Err(parser.problems) }
}

/// Returns a need with the load and the bounds of other words.
pub(crate) fn with_load(need: &Need, words: &PlanWords) -> Result<Need, Vec<Problem>> {
    let mut parser = NeedParser { problems: Vec::new() };
    let mut need = need.clone();
    if words.iops.is_some() || words.throughput.is_some() {
        (need.iops, need.bytes_per_sec) = (None, None);
    }
    parser.rates(words, &mut need);
    parser.bounds(words, &mut need);
    if parser.problems.is_empty() { Ok(need) } else { Err(parser.problems) }
}

/// Returns the need of a load that is a trace, and the bounds on its latencies, or all problems together.
///
/// # Errors
///
/// Returns all problems of the words.
pub fn of_trace(options: &PlanWords) -> Result<(Need, ReplayBounds), Vec<Problem>> {
    let mut parser = NeedParser { problems: Vec::new() };
    let mut need = Need::default();
    let texts = [
        ("--iops", &options.iops),
        ("--throughput", &options.throughput),
        ("--bs", &options.bs),
        ("--read", &options.read),
        ("--workload", &options.workload),
    ];
    for (option, words) in texts.into_iter().filter_map(|(option, words)| Some((option, words.as_ref()?))) {
        parser.refuse(option, words, 0..words.len(), "the trace defines the load", "omit it");
    }
    let flags = [
        ("--pattern", options.pattern.is_some()),
        ("--read-only", options.read_only),
        ("--no-simulation", options.no_simulation),
        ("--show-math", options.show_math),
    ];
    for (option, _) in flags.into_iter().filter(|(_, is_given)| *is_given) {
        let message = format!("{option} has no effect when planning for a trace");
        parser.problems.push(Problem::error(ProblemCode::Plan, message).help("omit it"));
    }
    let capacity = parser.quantity("--capacity", options.capacity.as_ref(), QuantityKind::Size, "2TiB");
    need.capacity = capacity.map(|bytes| bytes as u64);
    let bounds = parser.replay_bounds(options);
    parser.environment(options, &mut need);
    parser.volumes(options, &mut need);
    if parser.problems.is_empty() { Ok((need, bounds)) } else { Err(parser.problems) }
}

/// Parser of the options that state a need.
struct NeedParser {
    problems: Vec<Problem>,
}

impl NeedParser {
    fn refuse(&mut self, option: &str, value: &str, at: std::ops::Range<usize>, message: &str, remedy: &str) {
        let place = Place::in_option(option, value, at);
        self.problems.push(Problem::error(ProblemCode::Plan, message).at(place).help(remedy));
    }

    /// Parses a quantity greater than zero.
    fn quantity(&mut self, option: &str, value: Option<&String>, measure: QuantityKind, example: &str) -> Option<f64> {
        let value = value?;
        let remedy = format!("use, for example, {option} {example}");
        match quantity(value, measure) {
            Ok(found) if found > 0.0 => return Some(found),
            Ok(_) => self.refuse(option, value, 0..value.len(), &format!("`{value}` must be greater than 0"), &remedy),
            Err(problem) => self.refuse(option, value, 0..value.len(), &problem.what, &remedy),
        }
        None
    }

    fn rates(&mut self, options: &PlanWords, need: &mut Need) {
        need.iops = self.quantity("--iops", options.iops.as_ref(), QuantityKind::Count, "15k").or(need.iops);
        let throughput = options.throughput.as_ref();
        need.bytes_per_sec =
            self.quantity("--throughput", throughput, QuantityKind::Throughput, "400MiB/s").or(need.bytes_per_sec);
        if let Some(words) = &options.bs {
            match block_bytes(words) {
                Some(bytes) => need.block = Some(bytes),
                None => {
                    let message = format!("`{words}` is not a size from 512 to 1g");
                    self.refuse("--bs", words, 0..words.len(), &message, "use, for example, --bs 4k or --bs 1m");
                }
            }
        }
        if let Some(words) = &options.read {
            // `70%`, `70` and `0.7` are one share.
            let bare = words.trim().parse().ok().map(|share: f64| if share > 1.0 { share / 100.0 } else { share });
            match bare.map_or_else(|| quantity(words, QuantityKind::Share), Ok) {
                Ok(share) if (0.0..=1.0).contains(&share) => need.read_share = share,
                _ => {
                    let message = format!("`{words}` is not a percentage from 0% to 100%");
                    self.refuse("--read", words, 0..words.len(), &message, "use, for example, --read 70%");
                }
            }
        }
        need.sequential = options.pattern.map_or(need.sequential, |pattern| pattern == PlanPattern::Sequential);
    }

    fn replay_bounds(&mut self, options: &PlanWords) -> ReplayBounds {
        let mut time = |option: &str, words: &Option<String>| {
            let ns = self.quantity(option, words.as_ref(), QuantityKind::Duration, "2ms")?;
            Some(Nanos::new(ns as u64))
        };
        let mean = time("--latency", &options.latency);
        let percentiles =
            [("--p99", 0.99, &options.p99), ("--p999", 0.999, &options.p999), ("--p50", 0.5, &options.p50)];
        let percentiles =
            percentiles.into_iter().filter_map(|(option, share, words)| Some((share, time(option, words)?)));
        ReplayBounds { mean, percentiles: percentiles.collect() }
    }

    fn bounds(&mut self, options: &PlanWords, need: &mut Need) {
        if let Some(words) = &options.p50 {
            let remedy = "pass a trace with --from, or set --latency or --p99";
            self.refuse("--p50", words, 0..words.len(), "a bound on the median requires a trace", remedy);
        }
        let capacity = self.quantity("--capacity", options.capacity.as_ref(), QuantityKind::Size, "2TiB");
        need.capacity = capacity.map(|bytes| bytes as u64).or(need.capacity);
        let time = |ns: f64| Nanos::new(ns as u64);
        let mean = self.quantity("--latency", options.latency.as_ref(), QuantityKind::Duration, "1ms");
        need.mean = mean.map(time).or(need.mean);
        for (option, share, words) in [("--p99", 0.99, &options.p99), ("--p999", 0.999, &options.p999)] {
            if let Some(ns) = self.quantity(option, words.as_ref(), QuantityKind::Duration, "2ms") {
                need.percentile = Some((share, time(ns)));
            }
        }
        if let (Some(_), Some(words)) = (&options.p99, &options.p999) {
            self.refuse(
                "--p999",
                words,
                0..words.len(),
                "two percentile bounds specified",
                "use either --p99 or --p999",
            );
        }
    }

    fn environment(&mut self, options: &PlanWords, need: &mut Need) {
        let mut count = |option: &str, words: &Option<String>, max: f64| {
            let found = self.quantity(option, words.as_ref(), QuantityKind::Count, "8")?;
            if found.fract() == 0.0 && found <= max {
                return Some(found as u32);
            }
            let words = words.as_deref().unwrap_or_default();
            let message = format!("`{words}` is not a whole number up to {max}");
            self.refuse(option, words, 0..words.len(), &message, &format!("use, for example, {option} 8"));
            None
        };
        need.machines = count("--machines", &options.machines, 100_000.0).unwrap_or(need.machines);
        let vcpus = count("--vcpus", &options.vcpus, 1_024.0);
        need.years = count("--years", &options.years, 10.0).unwrap_or(1);
        need.stripe_max = count("--max-stripe", &options.max_stripe, 64.0).unwrap_or(STRIPE_MAX);
        if options.read_only {
            need.shared = true;
            if need.read_share < 1.0 {
                let words = options.read.clone().unwrap_or_else(|| "?".to_owned());
                let remedy = "omit --read-only or the writes";
                let message = "a shared read-only volume cannot be written";
                self.refuse("--read", &words, 0..words.len(), message, remedy);
            }
        }
        need.scratch = options.scratch;
        need.machine = self.machine(options, vcpus);
        let regions = options.region.iter().flat_map(|words| words.split(','));
        need.regions = regions.map(str::trim).filter(|region| !region.is_empty()).map(str::to_owned).collect();
        need.headroom = self.headroom(options.headroom.as_deref());
        if let Some(words) = &options.eur_usd {
            match quantity(words, QuantityKind::Count) {
                Ok(rate) if (0.01..=100.0).contains(&rate) => need.exchange = plan::Exchange::given(rate),
                _ => {
                    let message = format!("`{words}` is not a rate from 0.01 to 100");
                    let remedy = "use US dollars per euro, for example --eur-usd 1.08";
                    self.refuse("--eur-usd", words, 0..words.len(), &message, remedy);
                }
            }
        }
        need.currency = options.currency.into();
        let budget = self.quantity("--budget", options.budget.as_ref(), QuantityKind::Count, "500");
        need.budget = budget.map(|budget| budget * need.exchange.usd_per(need.currency.code()).unwrap_or(1.0));
        if let Some(words) = &options.growth {
            let share = words.trim_end_matches("/year").trim_end_matches("/y");
            match quantity(share, QuantityKind::Share) {
                _ if share.trim() == "0" => need.growth = 0.0,
                Ok(share) if share <= 100.0 => need.growth = share,
                _ => {
                    let message = format!("`{words}` is not a growth rate");
                    self.refuse("--growth", words, 0..words.len(), &message, "use, for example, --growth 20%/year");
                }
            }
        }
    }

    /// Parses the requirements on the machine.
    fn machine(&mut self, options: &PlanWords, vcpus: Option<u32>) -> MachineNeed {
        let memory = self.quantity("--memory", options.memory.as_ref(), QuantityKind::Size, "32GiB");
        let mut word = |option: &str, words: &Option<String>, known: &[&str]| {
            let words = words.as_ref()?;
            let found = known.iter().find(|known| known.eq_ignore_ascii_case(words));
            if found.is_none() {
                let remedy =
                    units::suggestion(words, known.iter().copied(), || format!("use one of {}", known.join(", ")));
                self.refuse(option, words, 0..words.len(), &format!("unknown {} `{words}`", &option[2..]), &remedy);
            }
            found.map(|found| (*found).to_owned())
        };
        let arch = word("--arch", &options.arch, &MACHINE_ARCHS);
        let family = word("--family", &options.family, &MACHINE_FAMILIES);
        let requirements = [
            ("--vcpus", &options.vcpus),
            ("--memory", &options.memory),
            ("--arch", &options.arch),
            ("--family", &options.family),
        ];
        if options.machine.is_some() {
            for (option, words) in
                requirements.into_iter().filter_map(|(option, words)| Some((option, words.as_ref()?)))
            {
                let message = "the machine is already chosen by --machine";
                self.refuse(option, words, 0..words.len(), message, &format!("omit {option} or --machine"));
            }
        }
        MachineNeed {
            name: options.machine.clone(),
            vcpus,
            memory_bytes: memory.map(|bytes| bytes as u64),
            arch,
            family,
            term: options.term.into(),
        }
    }

    /// Parses headroom as a fraction: `20%` and `20` are 0.2, the default.
    fn headroom(&mut self, words: Option<&str>) -> f64 {
        let Some(words) = words else { return HEADROOM };
        let percent = words.trim().trim_end_matches('%').trim().parse::<f64>();
        match percent {
            Ok(percent) if percent > 0.0 && percent < 1.0 && !words.contains('%') => {
                let message = format!("`{words}` is ambiguous: fraction or percentage");
                let remedy = format!("use --headroom {}% or --headroom {words}%", percent * 100.0);
                self.refuse("--headroom", words, 0..words.len(), &message, &remedy);
                0.0
            }
            Ok(percent) if (0.0..=900.0).contains(&percent) => percent / 100.0,
            _ => {
                let message = format!("`{words}` is not a percentage from 0% to 900%");
                let remedy = "use, for example, --headroom 30%, or --headroom 0 for none";
                self.refuse("--headroom", words, 0..words.len(), &message, remedy);
                0.0
            }
        }
    }

    /// Parses the volumes to consider. Refuses unknown volumes, sizes, regions and machines.
    fn volumes(&mut self, options: &PlanWords, need: &mut Need) {
        let choices: Vec<VolumeChoice> = options.provider.iter().flat_map(|words| choice::parse(words)).collect();
        need.volumes = choices.iter().map(|choice| choice.volume.clone()).collect();
        self.problems.extend(choice::check(&choices));
        if let Some(city) = &options.near {
            match catalogue::city(city) {
                Some(place) => {
                    need.near = plan::near(need, place);
                    need.regions = need.near.iter().map(|near| near.region.name.clone()).collect();
                }
                None => {
                    let remedy = || "use the name of a large city, or --region".to_owned();
                    let remedy = units::suggestion(city, catalogue::cities().into_iter(), remedy);
                    self.refuse("--near", city, 0..city.len(), &format!("unknown city `{city}`"), &remedy);
                }
            }
        }
        let Some(machine) = need.machine.name.clone().filter(|_| self.problems.is_empty()) else { return };
        let found = plan::candidates(need, &mut plan::LatencyCache::default());
        let lacks_machine = |candidate: &plan::Candidate| {
            candidate.failures.iter().any(|failure| failure.requirement == Requirement::Machine)
        };
        if !found.iter().all(lacks_machine) {
            return;
        }
        let refusal = |candidate: &plan::Candidate| {
            let refusal =
                catalogue::machine_refusal(&candidate.listed, &machine).filter(|refusal| refusal.is_of_provider)?;
            Some(format!("{}: {}", candidate.listed, refusal.reason))
        };
        let (message, remedy) = match found.iter().find_map(refusal) {
            Some(message) => (message, "select other volumes with --provider, or another machine"),
            None => (
                format!("the catalogue has no machine `{machine}`"),
                "use the provider's name, such as --machine n2-standard-8, or omit it",
            ),
        };
        self.refuse("--machine", &machine, 0..machine.len(), &message, remedy);
    }
}
