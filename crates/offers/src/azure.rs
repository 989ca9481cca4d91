//! Azure: Retail Prices, and the resource SKUs of `az vm list-skus`.

use serde::Deserialize;
use units::Problem;

use crate::collect::{Collector, DatedPrice, HOURS, PriceKey, number, rounded, shown, unusable};
use crate::input::OfferInput;
use crate::json::{Items, Step, read_items};
use crate::list::{MachineLimits, MachineOffer, PriceComponent, PriceUnit, SkipReason};

// ---- Retail Prices -------------------------------------------------------------------------------------------------

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RetailPrice {
    currency_code: Option<String>,
    #[serde(default)]
    tier_minimum_units: f64,
    retail_price: Option<f64>,
    unit_price: Option<f64>,
    arm_region_name: Option<String>,
    effective_start_date: Option<String>,
    meter_id: Option<String>,
    #[serde(default)]
    meter_name: String,
    #[serde(default)]
    product_name: String,
    #[serde(default)]
    sku_name: String,
    #[serde(default)]
    service_name: String,
    #[serde(default)]
    unit_of_measure: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    is_primary_meter_region: Option<bool>,
    arm_sku_name: Option<String>,
}

/// What a price is the price of.
enum Meter {
    Volume { volume: &'static str, component: PriceComponent, tier: Option<String> },
    Machine(String),
    Skipped(SkipReason),
}

struct RetailPrices<'a> {
    offers: &'a mut Collector,
    has_next: bool,
}

impl Items for RetailPrices<'_> {
    type Item = RetailPrice;

    fn item(&mut self, item: RetailPrice) -> Result<(), Problem> {
        let of =
            if item.meter_name.is_empty() { "a price without a meter".to_owned() } else { shown(&item.meter_name) };
        self.price(&item).map_err(|problem| problem.of(of))
    }

    fn beside(&mut self, key: &str, text: &str) -> Result<(), Problem> {
        match key {
            "NextPageLink" => self.has_next |= !text.is_empty(),
            "BillingCurrency" => self.offers.currency(text)?,
            _ => {}
        }
        Ok(())
    }

    fn page(&mut self) {
        self.offers.page(std::mem::take(&mut self.has_next));
    }
}

impl RetailPrices<'_> {
    fn price(&mut self, item: &RetailPrice) -> Result<(), Problem> {
        let meter = match meter(item) {
            Meter::Skipped(reason) => {
                self.offers.skip(reason);
                return Ok(());
            }
            meter => meter,
        };
        let region = item.arm_region_name.as_deref().unwrap_or_default().to_lowercase();
        if region.is_empty() {
            self.offers.skip(SkipReason::OtherLocation);
            return Ok(());
        }
        if !self.offers.wants(&region) {
            self.offers.skip(SkipReason::OtherRegion);
            return Ok(());
        }
        let Some(price) = item.retail_price.or(item.unit_price) else {
            self.offers.skip(SkipReason::Unpriced);
            return Ok(());
        };
        self.offers.currency(item.currency_code.as_deref().unwrap_or_default())?;
        let since = item.effective_start_date.as_deref().map(|date| self.offers.date(date)).transpose()?;
        let sku = shown(item.meter_id.as_deref().unwrap_or(&item.meter_name));
        match meter {
            Meter::Volume { volume, component, tier } => {
                let (unit, factor) = unit(component, &item.unit_of_measure)?;
                let from = number("tierMinimumUnits", item.tier_minimum_units)?;
                let key = PriceKey { volume: volume.to_owned(), region, component, unit, tier, from };
                self.offers.price(key, DatedPrice { price: rounded(price * factor), to: None, since, sku })
            }
            Meter::Machine(name) => {
                if item.unit_of_measure != "1 Hour" {
                    return Err(unknown_unit(&item.unit_of_measure, "1 Hour"));
                }
                let machine = MachineOffer { name, ..MachineOffer::default() };
                let price = DatedPrice { price: rounded(price), to: None, since, sku };
                self.offers.hour(machine, &region, price)
            }
            Meter::Skipped(_) => Ok(()),
        }
    }
}

fn meter(item: &RetailPrice) -> Meter {
    let product = item.product_name.as_str();
    let volume = match product {
        "Premium SSD Managed Disks" => "azure/premium-ssd",
        "Standard SSD Managed Disks" => "azure/standard-ssd",
        "Standard HDD Managed Disks" => "azure/standard-hdd",
        "Azure Premium SSD v2" => "azure/premium-ssd-v2",
        "Ultra Disks" => "azure/ultra",
        _ => "",
    };
    let is_machine = item.service_name == "Virtual Machines";
    if volume.is_empty() && !is_machine {
        return Meter::Skipped(SkipReason::OtherProduct);
    }
    if item.kind.as_deref().is_some_and(|kind| kind != "Consumption") {
        return Meter::Skipped(SkipReason::NotOnDemand);
    }
    if item.is_primary_meter_region == Some(false) {
        return Meter::Skipped(SkipReason::SecondaryMeter);
    }
    if is_machine {
        return machine_meter(item);
    }
    let (name, sku) = (item.meter_name.as_str(), item.sku_name.as_str());
    if name.contains("ZRS") || sku.contains("ZRS") {
        return Meter::Skipped(SkipReason::ZoneRedundant);
    }
    if ["Operations", "Transactions", "Disk Operation"].iter().any(|per| name.contains(per)) {
        return Meter::Skipped(SkipReason::PerOperation);
    }
    if matches!(volume, "azure/premium-ssd-v2" | "azure/ultra") {
        let component = match name {
            _ if name.ends_with("LRS Provisioned Capacity") => PriceComponent::Capacity,
            _ if name.ends_with("LRS Provisioned IOPS") => PriceComponent::Iops,
            _ if name.contains("LRS Provisioned Throughput") => PriceComponent::Throughput,
            // Such as the charge of Ultra for vCPUs.
            _ => return Meter::Skipped(SkipReason::OtherProduct),
        };
        return Meter::Volume { volume, component, tier: None };
    }
    // `P30 LRS Disk`, and not `P30 LRS Disk Mount` or `P30 LRS Burst Enablement`.
    let words: Vec<&str> = name.split_whitespace().collect();
    match words[..] {
        [tier, "LRS", "Disk" | "Disks"] | [tier, "Disk" | "Disks"] if is_tier(tier) => {
            Meter::Volume { volume, component: PriceComponent::Disk, tier: Some(tier.to_owned()) }
        }
        _ => Meter::Skipped(SkipReason::OtherProduct),
    }
}

fn is_tier(name: &str) -> bool {
    let number = name.strip_prefix(['P', 'E', 'S']).unwrap_or_default();
    (1..=3).contains(&number.len()) && number.bytes().all(|digit| digit.is_ascii_digit())
}

fn machine_meter(item: &RetailPrice) -> Meter {
    let (product, sku) = (item.product_name.as_str(), item.sku_name.as_str());
    if sku.contains("Spot") || sku.contains("Low Priority") {
        return Meter::Skipped(SkipReason::NotOnDemand);
    }
    let is_other = ["Windows", "Cloud Services", "CloudServices", "Dedicated Host", "Promo", "Expired"]
        .iter()
        .any(|word| product.contains(word) || sku.contains(word));
    let name = item.arm_sku_name.as_deref().unwrap_or_default();
    match machine_name(name) {
        Some(name) if !is_other => Meter::Machine(name),
        _ => Meter::Skipped(SkipReason::OtherSystem),
    }
}

/// Returns the name of a machine in the catalogue, which has no `Standard_`.
fn machine_name(name: &str) -> Option<String> {
    let short = name.strip_prefix("Standard_").unwrap_or(name);
    (!short.is_empty()).then(|| short.to_owned())
}

fn unit(component: PriceComponent, unit: &str) -> Result<(PriceUnit, f64), Problem> {
    let (unit_of, expected) = match component {
        PriceComponent::Disk => (PriceUnit::Disk, "1/Month"),
        PriceComponent::Capacity => (PriceUnit::GiB, "1 GiB/Hour"),
        PriceComponent::Iops => (PriceUnit::Iops, "1/Hour"),
        PriceComponent::Throughput => (PriceUnit::MegabytesPerSecond, "1/Hour"),
    };
    let (amount, per) = unit.split_once('/').unwrap_or_default();
    let factor = match per {
        "Month" => 1.0,
        "Hour" => HOURS,
        _ => return Err(unknown_unit(unit, expected)),
    };
    let fits = match component {
        PriceComponent::Capacity => amount == "1 GiB",
        _ => amount == "1",
    };
    if fits { Ok((unit_of, factor)) } else { Err(unknown_unit(unit, expected)) }
}

fn unknown_unit(unit: &str, expected: &str) -> Problem {
    unusable(format!("unknown unitOfMeasure `{}`; expected `{expected}`", shown(unit)))
}

pub(crate) fn read_prices(input: &mut OfferInput<'_>, steps: &[Step], offers: &mut Collector) -> Result<(), Problem> {
    read_items(input, steps, &mut RetailPrices { offers, has_next: false })
}

// ---- Resource SKUs -------------------------------------------------------------------------------------------------

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResourceSku {
    #[serde(default)]
    resource_type: Option<String>,
    #[serde(default)]
    name: Option<String>,
    size: Option<String>,
    locations: Option<Vec<String>>,
    capabilities: Option<Vec<Capability>>,
}

#[derive(Deserialize)]
struct Capability {
    name: String,
    value: Option<String>,
}

struct ResourceSkus<'a> {
    offers: &'a mut Collector,
    has_next: bool,
}

impl Items for ResourceSkus<'_> {
    type Item = ResourceSku;

    fn item(&mut self, item: ResourceSku) -> Result<(), Problem> {
        let name = item.name.as_deref().unwrap_or_default();
        let of = shown(&[name, " ", item.size.as_deref().unwrap_or_default()].concat());
        self.resource(&item, name).map_err(|problem| problem.of(of))
    }

    fn beside(&mut self, key: &str, text: &str) -> Result<(), Problem> {
        self.has_next |= key == "nextLink" && !text.is_empty();
        Ok(())
    }

    fn page(&mut self) {
        self.offers.page(std::mem::take(&mut self.has_next));
    }
}

impl ResourceSkus<'_> {
    fn resource(&mut self, item: &ResourceSku, name: &str) -> Result<(), Problem> {
        match item.resource_type.as_deref() {
            Some("virtualMachines") => {}
            Some("disks") => {
                self.offers.skip(SkipReason::DiskLimits);
                return Ok(());
            }
            _ => {
                self.offers.skip(SkipReason::OtherProduct);
                return Ok(());
            }
        }
        let locations = item.locations.iter().flatten().map(|name| name.to_lowercase());
        let locations: Vec<String> = locations.collect();
        let regions: Vec<String> = locations.iter().filter(|region| self.offers.wants(region)).cloned().collect();
        if regions.is_empty() && !locations.is_empty() {
            self.offers.skip(SkipReason::OtherRegion);
            return Ok(());
        }
        let values = Capabilities(item.capabilities.as_deref().unwrap_or_default());
        let Some(name) = machine_name(name) else {
            return Err(unusable("a machine has no name".into()));
        };
        self.offers.machine(machine(name, regions, &values)?)
    }
}

/// Named values, all of which are texts.
struct Capabilities<'a>(&'a [Capability]);

impl Capabilities<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|capability| capability.name.eq_ignore_ascii_case(name));
        found.and_then(|capability| capability.value.as_deref())
    }

    fn scaled(&self, name: &str, unit: f64) -> Result<Option<u64>, Problem> {
        let Some(text) = self.text(name).filter(|text| !text.is_empty()) else { return Ok(None) };
        let value: f64 = text.parse().map_err(|_| unusable(format!("{name} is `{}`, not a number", shown(text))))?;
        number(name, value * unit).map(Some)
    }
}

fn machine(name: String, regions: Vec<String>, values: &Capabilities<'_>) -> Result<MachineOffer, Problem> {
    let arch = match values.text("CpuArchitectureType") {
        Some("x64") => Some("x86_64"),
        Some("Arm64") => Some("arm64"),
        _ => None,
    };
    let gib = 1_073_741_824.0;
    Ok(MachineOffer {
        name,
        arch: arch.map(str::to_owned),
        // Constrained sizes such as E8-4ds_v5 have fewer vCPUs than are paid for.
        vcpus: values.scaled("vCPUsAvailable", 1.0)?.or(values.scaled("vCPUs", 1.0)?),
        memory_bytes: values.scaled("MemoryGB", gib)?,
        max_volumes: values.scaled("MaxDataDiskCount", 1.0)?,
        regions,
        limits: MachineLimits {
            base_iops: values.scaled("UncachedDiskIOPS", 1.0)?,
            base_bytes_per_s: values.scaled("UncachedDiskBytesPerSecond", 1.0)?,
            ..MachineLimits::default()
        },
        ..MachineOffer::default()
    })
}

pub(crate) fn read_skus(input: &mut OfferInput<'_>, steps: &[Step], offers: &mut Collector) -> Result<(), Problem> {
    read_items(input, steps, &mut ResourceSkus { offers, has_next: false })
}
