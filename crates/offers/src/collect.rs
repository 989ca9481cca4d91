//! Collects the offers of one or more files: checks each, and merges those of one machine or price.

use std::collections::{BTreeMap, BTreeSet};

use units::{Problem, ProblemCode, closest, counted, printable};

use crate::formats::{OfferFormat, Provider};
use crate::list::{MachineLimits, MachineOffer, OfferList, PriceComponent, PriceUnit, SkipReason, VolumePrice};

/// Hours of a month, as the providers count.
pub(crate) const HOURS: f64 = 730.0;
/// Currency of the prices in the catalogue.
const CURRENCY: &str = "USD";
/// Offers that are kept. All regions of a provider have less than a tenth of it.
const OFFERS_MOST: usize = 400_000;
/// A price of a month or hour in any currency.
const PRICE_MOST: f64 = 1e9;
/// A number of IOPS, bytes per second, bytes or disks.
const NUMBER_MOST: u64 = 1 << 50;

/// Which offers to keep.
#[derive(Clone, Debug, Default)]
pub struct OfferOptions {
    /// Refuses files of another provider.
    pub provider: Option<Provider>,
    /// Leaves out the offers of all other regions, unless empty. Offers without a region stay.
    pub regions: Vec<String>,
}

/// What was read of all files.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    options: OfferOptions,
    /// The provider, with the file that said so.
    provider: Option<(Provider, String)>,
    formats: BTreeSet<OfferFormat>,
    source_date: Option<String>,
    /// Pages that name a next one, and pages that do not.
    pages: (u64, u64),
    regions: BTreeSet<String>,
    other_regions: BTreeSet<String>,
    skipped: BTreeMap<SkipReason, u64>,
    prices: BTreeMap<PriceKey, DatedPrice>,
    machines: BTreeMap<String, MachineOffer>,
    /// Prices of machines by name and region.
    hours: BTreeMap<(String, String), DatedPrice>,
}

/// What only one price has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PriceKey {
    pub(crate) volume: String,
    pub(crate) region: String,
    pub(crate) component: PriceComponent,
    pub(crate) unit: PriceUnit,
    pub(crate) tier: Option<String>,
    pub(crate) from: u64,
}

/// A price, and when it began.
#[derive(Clone, Debug)]
pub(crate) struct DatedPrice {
    pub(crate) price: f64,
    pub(crate) to: Option<u64>,
    pub(crate) since: Option<String>,
    pub(crate) sku: String,
}

impl Collector {
    pub(crate) fn new(options: OfferOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Returns the offers of all files, or an error if there are none.
    pub(crate) fn finish(mut self) -> Result<OfferList, Problem> {
        let Some((provider, source)) = self.provider.take() else {
            return Err(
                Problem::error(ProblemCode::NoResults, "no file to read offers from").help("name at least one file")
            );
        };
        for ((name, region), price) in std::mem::take(&mut self.hours) {
            if let Some(machine) = self.machines.get_mut(&name) {
                machine.price_per_hour.insert(region, price.price);
            }
        }
        if self.prices.is_empty() && self.machines.is_empty() {
            return Err(self.nothing(provider, &source));
        }
        let prices = self.prices.into_iter().map(|(key, price)| VolumePrice {
            volume: key.volume,
            region: key.region,
            component: key.component,
            unit: key.unit,
            tier: key.tier,
            from: key.from,
            to: price.to,
            per_month: price.price,
        });
        Ok(OfferList {
            provider,
            source_date: self.source_date,
            formats: self.formats.into_iter().collect(),
            incomplete: self.pages.0 > 0 && self.pages.1 == 0,
            regions: self.regions.into_iter().collect(),
            skipped: self.skipped,
            prices: prices.collect(),
            machines: self.machines.into_values().collect(),
        })
    }

    fn nothing(&self, provider: Provider, source: &str) -> Problem {
        if !self.other_regions.is_empty() {
            let region = self.options.regions.join("` or `");
            let others = || self.other_regions.iter().map(String::as_str);
            let listed: Vec<&str> = others().take(8).collect();
            let more = if self.other_regions.len() > listed.len() { " and others" } else { "" };
            let problem = Problem::error(
                ProblemCode::NoResults,
                format!("no offers of region `{}` in {source}", printable(&region)),
            )
            .note(format!("it has {}{more}", listed.join(", ")));
            return match closest(&region, others()) {
                Some(near) => problem.help(format!("did you mean `{near}`?")),
                None => problem.help("name one of these regions, or give the file of the region"),
            };
        }
        let mut problem = Problem::error(
            ProblemCode::NoResults,
            format!("no volume or machine of {provider} that the catalogue knows in {source}"),
        );
        let left_out: Vec<String> = self
            .skipped
            .iter()
            .map(|(reason, number)| format!("{} ({})", counted(*number, "item"), reason.name()))
            .collect();
        if !left_out.is_empty() {
            problem = problem.note(format!("left out: {}", left_out.join(", ")));
        }
        problem.help("give the price list or machine list of a region, without a filter that excludes disks")
    }

    /// Checks that a file is of the same provider as those before it.
    pub(crate) fn check_provider(&mut self, source: &str, format: OfferFormat) -> Result<(), Problem> {
        let provider = format.provider();
        let refused = |expected: Provider, why: String| {
            Problem::error(
                ProblemCode::Offers,
                format!("{source} is of {provider}, not of {expected}: {}", format.title()),
            )
            .note(why)
            .help("import the files of each provider separately")
        };
        match (self.options.provider, &self.provider) {
            (Some(expected), _) if expected != provider => {
                return Err(refused(expected, format!("offers of {expected} were requested")));
            }
            (_, Some((known, first))) if *known != provider => {
                return Err(refused(*known, format!("{first} is of {known}")));
            }
            _ => {}
        }
        self.provider.get_or_insert_with(|| (provider, source.to_owned()));
        self.formats.insert(format);
        Ok(())
    }

    pub(crate) fn skip(&mut self, reason: SkipReason) {
        *self.skipped.entry(reason).or_default() += 1;
    }

    /// Counts a page, and whether it names a next one.
    pub(crate) const fn page(&mut self, has_next: bool) {
        if has_next {
            self.pages.0 += 1;
        } else {
            self.pages.1 += 1;
        }
    }

    /// Reports whether offers of a region are kept.
    pub(crate) fn wants(&mut self, region: &str) -> bool {
        let wanted = |wanted: &String| plain(wanted).eq_ignore_ascii_case(&plain(region));
        let wanted = self.options.regions.is_empty() || self.options.regions.iter().any(wanted);
        if !wanted && self.other_regions.len() < 1000 && !self.other_regions.contains(region) {
            self.other_regions.insert(shown(region));
        }
        wanted
    }

    /// Takes note of the date of the price list, or of one of its prices.
    pub(crate) fn date(&mut self, text: &str) -> Result<String, Problem> {
        let date = date(text)?;
        if self.source_date.as_deref().is_none_or(|known| known < date.as_str()) {
            self.source_date = Some(date.clone());
        }
        Ok(date)
    }

    /// Checks that a price is in the currency of the catalogue.
    pub(crate) fn currency(&self, currency: &str) -> Result<(), Problem> {
        if currency == CURRENCY {
            return Ok(());
        }
        let what = format!("a price is in `{}`; the catalogue has prices in {CURRENCY}", shown(currency));
        Err(Problem::error(ProblemCode::Offers, what).help(format!("download the prices in {CURRENCY}")))
    }

    /// Adds a price of a volume.
    pub(crate) fn price(&mut self, key: PriceKey, price: DatedPrice) -> Result<(), Problem> {
        check_name("region", &key.region)?;
        check_price(price.price)?;
        if price.price == 0.0 {
            self.skip(SkipReason::Unpriced);
            return Ok(());
        }
        self.regions.insert(key.region.clone());
        let what = format!("{} in {}: {}", key.volume, key.region, key.component.name());
        let outcome = insert(&mut self.prices, key, price, &what)?;
        self.count(outcome)
    }

    /// Adds the price of an hour of a machine.
    pub(crate) fn hour(&mut self, machine: MachineOffer, region: &str, price: DatedPrice) -> Result<(), Problem> {
        check_price(price.price)?;
        let machine = MachineOffer { regions: vec![region.to_owned()], ..machine };
        let what = format!("{} in {region}: an hour", machine.name);
        let key = (machine.name.clone(), region.to_owned());
        self.machine(machine)?;
        let outcome = insert(&mut self.hours, key, price, &what)?;
        self.count(outcome)
    }

    fn count(&mut self, outcome: Option<SkipReason>) -> Result<(), Problem> {
        if let Some(reason) = outcome {
            self.skip(reason);
        }
        self.check_number()
    }

    /// Adds a machine, or what is new of a known one. Of limits that differ between regions, the lower ones count.
    pub(crate) fn machine(&mut self, machine: MachineOffer) -> Result<(), Problem> {
        check_name("machine", &machine.name)?;
        for region in &machine.regions {
            check_name("region", region)?;
            self.regions.insert(region.clone());
        }
        match self.machines.get_mut(&machine.name) {
            Some(known) => known.merge(machine),
            None => {
                self.machines.insert(machine.name.clone(), machine);
            }
        }
        self.check_number()
    }

    fn check_number(&self) -> Result<(), Problem> {
        if self.prices.len() + self.machines.len() + self.hours.len() <= OFFERS_MOST {
            return Ok(());
        }
        Err(Problem::error(ProblemCode::TooMuchText, format!("more than {OFFERS_MOST} offers"))
            .help("give the files of fewer regions"))
    }
}

/// Adds a price, or says why it does not count.
fn insert<K: Ord>(
    prices: &mut BTreeMap<K, DatedPrice>,
    key: K,
    price: DatedPrice,
    what: &str,
) -> Result<Option<SkipReason>, Problem> {
    let Some(known) = prices.get_mut(&key) else {
        prices.insert(key, price);
        return Ok(None);
    };
    if price.since > known.since {
        *known = price;
        return Ok(Some(SkipReason::Superseded));
    }
    if price.since < known.since {
        return Ok(Some(SkipReason::Superseded));
    }
    if (price.price - known.price).abs() <= 1e-9 * known.price.abs() && price.to == known.to {
        return Ok(Some(SkipReason::Repeated));
    }
    Err(Problem::error(
        ProblemCode::Offers,
        format!("{what} has two prices: {} ({}) and {} ({})", known.price, known.sku, price.price, shown(&price.sku)),
    )
    .help("remove one of them, or export the file again with a narrower filter"))
}

impl MachineOffer {
    fn merge(&mut self, other: Self) {
        // Destructured, so that a new field cannot be forgotten.
        let Self { name: _, arch, vcpus, memory_bytes, max_volumes, hypervisor, regions, limits, price_per_hour } =
            other;
        self.arch = self.arch.take().or(arch);
        self.vcpus = lower(self.vcpus, vcpus);
        self.memory_bytes = lower(self.memory_bytes, memory_bytes);
        self.max_volumes = lower(self.max_volumes, max_volumes);
        self.hypervisor = self.hypervisor.take().or(hypervisor);
        self.regions.extend(regions);
        self.regions.sort();
        self.regions.dedup();
        self.limits.merge(limits);
        self.price_per_hour.extend(price_per_hour);
    }
}

impl MachineLimits {
    fn merge(&mut self, other: Self) {
        self.base_iops = lower(self.base_iops, other.base_iops);
        self.max_iops = lower(self.max_iops, other.max_iops);
        self.base_bytes_per_s = lower(self.base_bytes_per_s, other.base_bytes_per_s);
        self.max_bytes_per_s = lower(self.max_bytes_per_s, other.max_bytes_per_s);
    }
}

fn lower(known: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (known, other) {
        (Some(known), Some(other)) => Some(known.min(other)),
        (known, other) => known.or(other),
    }
}

/// Returns an error about a value that the provider's formats do not have.
pub(crate) fn unusable(what: String) -> Problem {
    Problem::error(ProblemCode::Offers, what)
        .help("download or export the file again; if it stays the same, the provider's format has changed")
}

/// Returns a text from a file in a printable and short form.
pub(crate) fn shown(text: &str) -> String {
    let short: String = text.chars().take(60).collect();
    let end = if short.len() < text.len() { "…" } else { "" };
    format!("{}{end}", printable(&short))
}

/// Returns a name of a region without blanks: Azure's `East US` is `eastus`.
fn plain(region: &str) -> String {
    region.split_whitespace().collect()
}

/// Returns the date at the beginning of a time such as `2026-01-02T03:04:05Z`.
fn date(text: &str) -> Result<String, Problem> {
    let is_date = |date: &str| {
        let mut parts = date.split('-').map(|part| (part.len(), part.parse::<u32>()));
        matches!(
            (parts.next(), parts.next(), parts.next(), parts.next()),
            (Some((4, Ok(1970..=9998))), Some((2, Ok(1..=12))), Some((2, Ok(1..=31))), None)
        )
    };
    match text.get(..10) {
        Some(date) if is_date(date) => Ok(date.to_owned()),
        _ => Err(unusable(format!("`{}` is not a date such as 2026-01-02", shown(text)))),
    }
}

/// Reads a price in a text.
pub(crate) fn price(text: &str) -> Result<f64, Problem> {
    // Only digits, because Rust reads `nan` and `infinity` too.
    let is_number = text.bytes().all(|letter| matches!(letter, b'0'..=b'9' | b'.' | b'-' | b'e' | b'E'));
    let price = text.parse().ok().filter(|_| is_number);
    price.ok_or_else(|| unusable(format!("`{}` is not a price", shown(text))))
}

fn check_price(price: f64) -> Result<(), Problem> {
    if price.is_finite() && (0.0..=PRICE_MOST).contains(&price) {
        return Ok(());
    }
    Err(unusable(format!("{price} is no price of a volume or machine")))
}

/// Rounds what multiplications add behind the digits of a price.
pub(crate) fn rounded(price: f64) -> f64 {
    format!("{price:.10e}").parse().unwrap_or(price)
}

/// Checks a limit or an amount.
pub(crate) fn number(what: &str, value: f64) -> Result<u64, Problem> {
    if value.is_finite() && value >= 0.0 && value <= NUMBER_MOST as f64 {
        return Ok(value.round() as u64);
    }
    Err(unusable(format!("{what} is {value}, which is no possible number")))
}

fn check_name(what: &str, name: &str) -> Result<(), Problem> {
    let fits = |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'-' | b'_' | b'.');
    if (1..=80).contains(&name.len()) && name.bytes().all(fits) {
        return Ok(());
    }
    Err(unusable(format!("`{}` is not a name of a {what}", shown(name))))
}

impl PriceComponent {
    const fn name(self) -> &'static str {
        match self {
            Self::Disk => "the disk",
            Self::Capacity => "capacity",
            Self::Iops => "IOPS",
            Self::Throughput => "throughput",
        }
    }
}

impl SkipReason {
    /// Returns the words that users see.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OtherProduct => "another product",
            Self::OtherRegion => "another region",
            Self::OtherLocation => "no region",
            Self::NotOnDemand => "not on demand",
            Self::OtherSystem => "another system or tenancy",
            Self::DiskLimits => "limits of disks",
            Self::ZoneRedundant => "zone-redundant",
            Self::PerOperation => "per operation",
            Self::SecondaryMeter => "secondary meter",
            Self::Superseded => "superseded",
            Self::Repeated => "repeated",
            Self::Unpriced => "without a price or free",
        }
    }
}
