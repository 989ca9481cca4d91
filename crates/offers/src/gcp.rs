//! Google Cloud: SKUs of the Cloud Billing Catalog, and machine types.

use serde::Deserialize;
use units::Problem;

use crate::collect::{Collector, DatedPrice, HOURS, PriceKey, number, price, rounded, shown, unusable};
use crate::input::OfferInput;
use crate::json::{Items, Step, read_items};
use crate::list::{MachineOffer, PriceComponent, PriceUnit, SkipReason};

// ---- Billing SKUs --------------------------------------------------------------------------------------------------

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sku {
    sku_id: Option<String>,
    #[serde(default)]
    description: String,
    category: Option<Category>,
    #[serde(default)]
    service_regions: Vec<String>,
    #[serde(default)]
    pricing_info: Vec<PricingInfo>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Category {
    usage_type: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PricingInfo {
    effective_time: Option<String>,
    pricing_expression: Option<PricingExpression>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PricingExpression {
    #[serde(default)]
    usage_unit: String,
    #[serde(default)]
    tiered_rates: Vec<TieredRate>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TieredRate {
    #[serde(default)]
    start_usage_amount: f64,
    unit_price: Money,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Money {
    #[serde(default)]
    currency_code: String,
    #[serde(default)]
    units: Option<Units>,
    #[serde(default)]
    nanos: f64,
}

/// A whole number, which the API writes as a text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Units {
    Text(String),
    Number(f64),
}

impl Money {
    fn amount(&self) -> Result<f64, Problem> {
        let whole = match &self.units {
            None => 0.0,
            Some(Units::Text(text)) if text.is_empty() => 0.0,
            Some(Units::Text(text)) => price(text)?,
            Some(Units::Number(number)) => *number,
        };
        if self.nanos.abs() >= 1e9 {
            return Err(unusable(format!("{} nanos are a whole unit or more", self.nanos)));
        }
        Ok(whole + self.nanos / 1e9)
    }
}

/// Descriptions without ` in REGION`, in lower case.
const DESCRIPTIONS: &[(&str, &str, PriceComponent)] = &[
    ("storage pd capacity", "gcp/pd-standard", PriceComponent::Capacity),
    ("balanced pd capacity", "gcp/pd-balanced", PriceComponent::Capacity),
    ("ssd backed pd capacity", "gcp/pd-ssd", PriceComponent::Capacity),
    ("extreme pd capacity", "gcp/pd-extreme", PriceComponent::Capacity),
    ("extreme pd iops", "gcp/pd-extreme", PriceComponent::Iops),
    ("regional storage pd capacity", "gcp/pd-standard-regional", PriceComponent::Capacity),
    ("regional balanced pd capacity", "gcp/pd-balanced-regional", PriceComponent::Capacity),
    ("regional ssd backed pd capacity", "gcp/pd-ssd-regional", PriceComponent::Capacity),
    ("hyperdisk balanced capacity", "gcp/hyperdisk-balanced", PriceComponent::Capacity),
    ("hyperdisk balanced iops", "gcp/hyperdisk-balanced", PriceComponent::Iops),
    ("hyperdisk balanced throughput", "gcp/hyperdisk-balanced", PriceComponent::Throughput),
    ("hyperdisk balanced high availability capacity", HIGH_AVAILABILITY, PriceComponent::Capacity),
    ("hyperdisk balanced high availability iops", HIGH_AVAILABILITY, PriceComponent::Iops),
    ("hyperdisk balanced high availability throughput", HIGH_AVAILABILITY, PriceComponent::Throughput),
    ("hyperdisk extreme capacity", "gcp/hyperdisk-extreme", PriceComponent::Capacity),
    ("hyperdisk extreme iops", "gcp/hyperdisk-extreme", PriceComponent::Iops),
    ("hyperdisk throughput capacity", "gcp/hyperdisk-throughput", PriceComponent::Capacity),
    ("hyperdisk throughput throughput capacity", "gcp/hyperdisk-throughput", PriceComponent::Throughput),
    ("hyperdisk throughput throughput", "gcp/hyperdisk-throughput", PriceComponent::Throughput),
    ("hyperdisk ml capacity", "gcp/hyperdisk-ml", PriceComponent::Capacity),
    ("hyperdisk ml throughput", "gcp/hyperdisk-ml", PriceComponent::Throughput),
    ("ssd backed local storage", "gcp/local-ssd-nvme", PriceComponent::Capacity),
];
const HIGH_AVAILABILITY: &str = "gcp/hyperdisk-balanced-high-availability";

struct Skus<'a> {
    offers: &'a mut Collector,
    has_next: bool,
}

impl Items for Skus<'_> {
    type Item = Sku;

    fn item(&mut self, item: Sku) -> Result<(), Problem> {
        let of = shown(&[item.sku_id.as_deref().unwrap_or_default(), " ", &item.description].concat());
        self.sku(&item).map_err(|problem| problem.of(of))
    }

    fn beside(&mut self, key: &str, text: &str) -> Result<(), Problem> {
        self.has_next |= key == "nextPageToken" && !text.is_empty();
        Ok(())
    }

    fn page(&mut self) {
        self.offers.page(std::mem::take(&mut self.has_next));
    }
}

impl Skus<'_> {
    fn sku(&mut self, item: &Sku) -> Result<(), Problem> {
        let description = item.description.to_lowercase();
        let description = description.split_once(" in ").map_or(description.as_str(), |(before, _)| before).trim();
        let Some((_, volume, component)) = DESCRIPTIONS.iter().find(|(known, ..)| *known == description) else {
            self.offers.skip(SkipReason::OtherProduct);
            return Ok(());
        };
        let usage = item.category.as_ref().and_then(|category| category.usage_type.as_deref());
        if usage.is_some_and(|usage| usage != "OnDemand") {
            self.offers.skip(SkipReason::NotOnDemand);
            return Ok(());
        }
        let regions: Vec<&String> = item.service_regions.iter().filter(|region| self.offers.wants(region)).collect();
        if regions.is_empty() {
            let reason =
                if item.service_regions.is_empty() { SkipReason::OtherLocation } else { SkipReason::OtherRegion };
            self.offers.skip(reason);
            return Ok(());
        }
        let newest = item.pricing_info.iter().max_by(|one, other| one.effective_time.cmp(&other.effective_time));
        let expression = newest.and_then(|info| info.pricing_expression.as_ref());
        let Some((expression, rate)) = expression.and_then(|expression| Some((expression, rate(expression)?))) else {
            self.offers.skip(SkipReason::Unpriced);
            return Ok(());
        };
        let since = newest.and_then(|info| info.effective_time.as_deref());
        let since = since.map(|time| self.offers.date(time)).transpose()?;
        let (unit, factor) = unit(*component, &expression.usage_unit)?;
        self.offers.currency(&rate.unit_price.currency_code)?;
        let price = rounded(rate.unit_price.amount()? * factor);
        let sku = shown(item.sku_id.as_deref().unwrap_or_default());
        for region in regions {
            let key = PriceKey {
                volume: (*volume).to_owned(),
                region: region.clone(),
                component: *component,
                unit,
                tier: None,
                from: 0,
            };
            let price = DatedPrice { price, to: None, since: since.clone(), sku: sku.clone() };
            self.offers.price(key, price)?;
        }
        Ok(())
    }
}

/// Returns the rate of a volume: the first with a price. A rate of 0 before it is the free usage of an account.
fn rate(expression: &PricingExpression) -> Option<&TieredRate> {
    let mut rates: Vec<&TieredRate> = expression.tiered_rates.iter().collect();
    rates.sort_by(|one, other| one.start_usage_amount.total_cmp(&other.start_usage_amount));
    let is_free = |rate: &&&TieredRate| rate.unit_price.amount().is_ok_and(|amount| amount == 0.0);
    rates.iter().find(|rate| !is_free(rate)).copied()
}

fn unit(component: PriceComponent, unit: &str) -> Result<(PriceUnit, f64), Problem> {
    let (amount, per) = unit.rsplit_once('.').unwrap_or(("", unit));
    let factor = match per {
        "mo" => 1.0,
        "h" => HOURS,
        _ => return Err(unknown_unit(unit)),
    };
    match (component, amount) {
        (PriceComponent::Capacity, "GiBy") => Ok((PriceUnit::GiB, factor)),
        (PriceComponent::Iops, "") => Ok((PriceUnit::Iops, factor)),
        (PriceComponent::Throughput, "" | "MiBy" | "MiBy/s") => Ok((PriceUnit::MebibytesPerSecond, factor)),
        _ => Err(unknown_unit(unit)),
    }
}

fn unknown_unit(unit: &str) -> Problem {
    unusable(format!("unknown usageUnit `{}`; expected `GiBy.mo`, `mo` or `h`", shown(unit)))
}

pub(crate) fn read_skus(input: &mut OfferInput<'_>, steps: &[Step], offers: &mut Collector) -> Result<(), Problem> {
    read_items(input, steps, &mut Skus { offers, has_next: false })
}

// ---- Machine types -------------------------------------------------------------------------------------------------

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MachineType {
    name: String,
    guest_cpus: Option<f64>,
    memory_mb: Option<f64>,
    maximum_persistent_disks: Option<f64>,
    architecture: Option<String>,
    zone: Option<String>,
}

struct MachineTypes<'a> {
    offers: &'a mut Collector,
    has_next: bool,
}

impl Items for MachineTypes<'_> {
    type Item = MachineType;

    fn item(&mut self, item: MachineType) -> Result<(), Problem> {
        // Older answers have the address of the zone.
        let zone = item.zone.as_deref().unwrap_or_default().rsplit('/').next().unwrap_or_default();
        let region = zone.rsplit_once('-').map(|(region, _)| region.to_owned());
        if region.as_ref().is_some_and(|region| !self.offers.wants(region)) {
            self.offers.skip(SkipReason::OtherRegion);
            return Ok(());
        }
        let machine = machine(&item, region).map_err(|problem| problem.of(shown(&item.name)))?;
        self.offers.machine(machine)
    }

    fn beside(&mut self, key: &str, text: &str) -> Result<(), Problem> {
        self.has_next |= key == "nextPageToken" && !text.is_empty();
        Ok(())
    }

    fn page(&mut self) {
        self.offers.page(std::mem::take(&mut self.has_next));
    }
}

fn machine(item: &MachineType, region: Option<String>) -> Result<MachineOffer, Problem> {
    let optional = |what: &str, value: Option<f64>| value.map(|value| number(what, value)).transpose();
    let arch = match item.architecture.as_deref() {
        Some("X86_64") => Some("x86_64"),
        Some("ARM64") => Some("arm64"),
        _ => None,
    };
    Ok(MachineOffer {
        name: item.name.clone(),
        arch: arch.map(str::to_owned),
        vcpus: optional("guestCpus", item.guest_cpus)?,
        // MB means MiB.
        memory_bytes: optional("memoryMb", item.memory_mb.map(|mib| mib * 1_048_576.0))?,
        max_volumes: optional("maximumPersistentDisks", item.maximum_persistent_disks)?,
        regions: region.into_iter().collect(),
        ..MachineOffer::default()
    })
}

pub(crate) fn read_machine_types(
    input: &mut OfferInput<'_>,
    steps: &[Step],
    offers: &mut Collector,
) -> Result<(), Problem> {
    read_items(input, steps, &mut MachineTypes { offers, has_next: false })
}
