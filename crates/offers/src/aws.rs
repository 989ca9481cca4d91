//! AWS: `describe-instance-types`, the price list in JSON, and `get-products`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess};
use units::{Problem, ProblemCode};

use crate::collect::{Collector, DatedPrice, PriceKey, number, price, rounded, shown, unusable};
use crate::input::OfferInput;
use crate::json::{Document, Entries, Items, ReadEntry, Refusal, Step, parse_text, read_documents, read_items};
use crate::list::{MachineLimits, MachineOffer, PriceComponent, PriceUnit, SkipReason};

const MIB: f64 = 1_048_576.0;

// ---- describe-instance-types --------------------------------------------------------------------------------------

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct InstanceType {
    instance_type: String,
    hypervisor: Option<String>,
    #[serde(rename = "VCpuInfo")]
    cpus: Option<CpuInfo>,
    memory_info: Option<MemoryInfo>,
    processor_info: Option<ProcessorInfo>,
    ebs_info: Option<EbsInfo>,
}

#[derive(Deserialize)]
struct CpuInfo {
    #[serde(rename = "DefaultVCpus")]
    default: Option<f64>,
}

#[derive(Deserialize)]
struct MemoryInfo {
    #[serde(rename = "SizeInMiB")]
    mib: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ProcessorInfo {
    #[serde(default)]
    supported_architectures: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct EbsInfo {
    ebs_optimized_info: Option<EbsLimits>,
    maximum_ebs_attachments: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct EbsLimits {
    baseline_bandwidth_in_mbps: Option<f64>,
    #[serde(rename = "BaselineThroughputInMBps")]
    baseline_megabytes: Option<f64>,
    baseline_iops: Option<f64>,
    maximum_bandwidth_in_mbps: Option<f64>,
    #[serde(rename = "MaximumThroughputInMBps")]
    maximum_megabytes: Option<f64>,
    maximum_iops: Option<f64>,
}

impl EbsLimits {
    fn limits(&self) -> Result<MachineLimits, Problem> {
        // Megabits are exact; the megabytes beside them are rounded.
        let bytes = |what: &str, megabits: Option<f64>, megabytes: Option<f64>| {
            let bytes = megabits.map(|megabits| megabits * 1e6 / 8.0).or(megabytes.map(|megabytes| megabytes * 1e6));
            bytes.map(|bytes| number(what, bytes)).transpose()
        };
        let iops = |what: &str, iops: Option<f64>| iops.map(|iops| number(what, iops)).transpose();
        Ok(MachineLimits {
            base_iops: iops("BaselineIops", self.baseline_iops)?,
            max_iops: iops("MaximumIops", self.maximum_iops)?,
            base_bytes_per_s: bytes(
                "BaselineBandwidthInMbps",
                self.baseline_bandwidth_in_mbps,
                self.baseline_megabytes,
            )?,
            max_bytes_per_s: bytes("MaximumBandwidthInMbps", self.maximum_bandwidth_in_mbps, self.maximum_megabytes)?,
        })
    }
}

struct InstanceTypes<'a> {
    offers: &'a mut Collector,
    has_next: bool,
}

impl Items for InstanceTypes<'_> {
    type Item = InstanceType;

    fn item(&mut self, item: InstanceType) -> Result<(), Problem> {
        let machine = machine(&item).map_err(|problem| problem.of(shown(&item.instance_type)))?;
        self.offers.machine(machine)
    }

    fn beside(&mut self, key: &str, text: &str) -> Result<(), Problem> {
        self.has_next |= key == "NextToken" && !text.is_empty();
        Ok(())
    }

    fn page(&mut self) {
        self.offers.page(std::mem::take(&mut self.has_next));
    }
}

fn machine(item: &InstanceType) -> Result<MachineOffer, Problem> {
    let ebs = item.ebs_info.as_ref();
    let optional = |what: &str, value: Option<f64>| value.map(|value| number(what, value)).transpose();
    let architectures = item.processor_info.as_ref().map_or(&[][..], |info| &info.supported_architectures);
    let arch = architectures.iter().find_map(|name| match name.as_str() {
        "x86_64" | "x86_64_mac" => Some("x86_64"),
        "arm64" | "arm64_mac" => Some("arm64"),
        _ => None,
    });
    Ok(MachineOffer {
        name: item.instance_type.clone(),
        arch: arch.map(str::to_owned),
        vcpus: optional("DefaultVCpus", item.cpus.as_ref().and_then(|cpus| cpus.default))?,
        memory_bytes: optional("SizeInMiB", item.memory_info.as_ref().and_then(|info| info.mib).map(|mib| mib * MIB))?,
        max_volumes: optional("MaximumEbsAttachments", ebs.and_then(|ebs| ebs.maximum_ebs_attachments))?,
        hypervisor: item.hypervisor.clone().filter(|name| matches!(name.as_str(), "nitro" | "xen")),
        limits: match ebs.and_then(|ebs| ebs.ebs_optimized_info.as_ref()) {
            Some(limits) => limits.limits()?,
            None => MachineLimits::default(),
        },
        ..MachineOffer::default()
    })
}

pub(crate) fn read_instance_types(
    input: &mut OfferInput<'_>,
    steps: &[Step],
    offers: &mut Collector,
) -> Result<(), Problem> {
    read_items(input, steps, &mut InstanceTypes { offers, has_next: false })
}

// ---- Price list: what products and prices mean ---------------------------------------------------------------------

/// A product of the price list, with its attributes in the spelling of the JSON files.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Product {
    pub(crate) sku: Option<String>,
    pub(crate) attributes: Attributes,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Attributes {
    pub(crate) usagetype: Option<String>,
    pub(crate) location_type: Option<String>,
    pub(crate) region_code: Option<String>,
    pub(crate) instance_type: Option<String>,
    pub(crate) operating_system: Option<String>,
    pub(crate) tenancy: Option<String>,
    pub(crate) pre_installed_sw: Option<String>,
    #[serde(alias = "capacityStatus")]
    pub(crate) capacitystatus: Option<String>,
    pub(crate) license_model: Option<String>,
    /// `OnDemand`, or `CapacityBlock`.
    pub(crate) marketoption: Option<String>,
    pub(crate) vcpu: Option<String>,
    pub(crate) memory: Option<String>,
}

/// A price dimension of a term.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Dimension {
    pub(crate) unit: String,
    pub(crate) begin_range: Option<String>,
    pub(crate) end_range: Option<String>,
    pub(crate) price_per_unit: BTreeMap<String, String>,
}

/// What the price of a product is the price of.
pub(crate) struct Priced {
    region: String,
    what: PricedThing,
}

enum PricedThing {
    Volume(&'static Usage),
    Machine(Box<MachineOffer>),
}

/// A usage type of a volume.
struct Usage {
    /// Without the prefix of the region.
    name: &'static str,
    volume: &'static str,
    component: PriceComponent,
    /// Range to which the price applies, if the usage type stands for one.
    from: u64,
    to: Option<u64>,
}

const fn usage(name: &'static str, volume: &'static str, component: PriceComponent) -> Usage {
    Usage { name, volume, component, from: 0, to: None }
}

/// The tiers of io2 are usage types, each of which the price list gives from 0 on. Their bounds are those of the EBS pricing page.
const USAGES: &[Usage] = &[
    usage("EBS:VolumeUsage", "aws/standard", PriceComponent::Capacity),
    usage("EBS:VolumeUsage.gp2", "aws/gp2", PriceComponent::Capacity),
    usage("EBS:VolumeUsage.gp3", "aws/gp3", PriceComponent::Capacity),
    usage("EBS:VolumeUsage.piops", "aws/io1", PriceComponent::Capacity),
    usage("EBS:VolumeUsage.io2", "aws/io2", PriceComponent::Capacity),
    usage("EBS:VolumeUsage.st1", "aws/st1", PriceComponent::Capacity),
    usage("EBS:VolumeUsage.sc1", "aws/sc1", PriceComponent::Capacity),
    usage("EBS:VolumeP-IOPS.gp3", "aws/gp3", PriceComponent::Iops),
    usage("EBS:VolumeP-IOPS.piops", "aws/io1", PriceComponent::Iops),
    Usage { to: Some(32_000), ..usage("EBS:VolumeP-IOPS.io2", "aws/io2", PriceComponent::Iops) },
    Usage { from: 32_000, to: Some(64_000), ..usage("EBS:VolumeP-IOPS.io2.tier2", "aws/io2", PriceComponent::Iops) },
    Usage { from: 64_000, ..usage("EBS:VolumeP-IOPS.io2.tier3", "aws/io2", PriceComponent::Iops) },
    usage("EBS:VolumeP-Throughput.gp3", "aws/gp3", PriceComponent::Throughput),
];

/// Returns what a product is, or `None` if it is left out, which is counted.
pub(crate) fn priced(attributes: &Attributes, offers: &mut Collector) -> Result<Option<Priced>, Problem> {
    let mut skip = |reason| {
        offers.skip(reason);
        Ok(None)
    };
    let full = attributes.usagetype.as_deref().unwrap_or_default();
    let begin = ["EBS:Volume", "BoxUsage:"].iter().find_map(|known| full.find(known));
    // Before it stands the region (`USE2-`); other text means something else (`HostBoxUsage:`).
    let Some(name) = begin.filter(|begin| *begin == 0 || full[..*begin].ends_with('-')).map(|begin| &full[begin..])
    else {
        return skip(SkipReason::OtherProduct);
    };
    if name == "EBS:VolumeIOUsage" {
        return skip(SkipReason::PerOperation);
    }
    let usage = USAGES.iter().find(|usage| usage.name == name);
    if usage.is_none() && !name.starts_with("BoxUsage:") {
        return skip(SkipReason::OtherProduct);
    }
    if attributes.location_type.as_deref().is_some_and(|kind| kind != "AWS Region") {
        return skip(SkipReason::OtherLocation);
    }
    let is =
        |value: &Option<String>, wanted: &str| value.as_deref().is_none_or(|value| value.is_empty() || value == wanted);
    let is_plain = is(&attributes.operating_system, "Linux")
        && is(&attributes.tenancy, "Shared")
        && is(&attributes.pre_installed_sw, "NA")
        && is(&attributes.capacitystatus, "Used")
        && is(&attributes.license_model, "No License required");
    if usage.is_none() && !is_plain {
        return skip(SkipReason::OtherSystem);
    }
    if !is(&attributes.marketoption, "OnDemand") {
        return skip(SkipReason::NotOnDemand);
    }
    let region = attributes.region_code.as_deref().unwrap_or_default();
    if region.is_empty() {
        return Err(unusable(format!("`{}` has no regionCode", shown(full))));
    }
    if !offers.wants(region) {
        offers.skip(SkipReason::OtherRegion);
        return Ok(None);
    }
    let what = match usage {
        Some(usage) => PricedThing::Volume(usage),
        None => PricedThing::Machine(Box::new(listed_machine(attributes, name)?)),
    };
    Ok(Some(Priced { region: region.to_owned(), what }))
}

/// Returns what the price list says of a machine.
fn listed_machine(attributes: &Attributes, usage: &str) -> Result<MachineOffer, Problem> {
    let of_usage = usage.trim_start_matches("BoxUsage:");
    let name = attributes.instance_type.as_deref().filter(|name| !name.is_empty()).unwrap_or(of_usage);
    let amount = |text: &Option<String>, unit: &str| {
        let text = text.as_deref().unwrap_or_default().replace(',', "");
        text.trim().strip_suffix(unit).and_then(|number| number.trim().parse::<f64>().ok())
    };
    let optional = |what: &str, value: Option<f64>| value.map(|value| number(what, value)).transpose();
    Ok(MachineOffer {
        name: name.to_owned(),
        vcpus: optional("vcpu", amount(&attributes.vcpu, ""))?,
        memory_bytes: optional("memory", amount(&attributes.memory, "GiB").map(|gib| gib * 1024.0 * MIB))?,
        ..MachineOffer::default()
    })
}

impl Priced {
    /// Adds one price of the product.
    pub(crate) fn add(
        &self,
        sku: &str,
        since: Option<&str>,
        dimension: &Dimension,
        offers: &mut Collector,
    ) -> Result<(), Problem> {
        let since = since.filter(|since| !since.is_empty()).map(|since| offers.date(since)).transpose()?;
        let mut prices = dimension.price_per_unit.iter();
        let Some((currency, text)) = prices.next() else {
            offers.skip(SkipReason::Unpriced);
            return Ok(());
        };
        if let Some((other, _)) = prices.next() {
            return Err(unusable(format!("the price is in {} and in {}", shown(currency), shown(other))));
        }
        offers.currency(currency)?;
        let amount = price(text)?;
        let unit = dimension.unit.as_str();
        let dated = |price, to| DatedPrice { price: rounded(price), to, since: since.clone(), sku: sku.to_owned() };
        match &self.what {
            PricedThing::Machine(machine) => {
                if !["Hrs", "Hours"].contains(&unit) {
                    return Err(unknown_unit(unit, "Hrs", &machine.name));
                }
                if amount == 0.0 {
                    offers.skip(SkipReason::Unpriced);
                    return Ok(());
                }
                offers.hour(MachineOffer::clone(machine), &self.region, dated(amount, None))
            }
            PricedThing::Volume(usage) => {
                let (unit, factor) = volume_unit(usage, unit)?;
                let (begin, end) = (bound(dimension.begin_range.as_deref())?, bound(dimension.end_range.as_deref())?);
                let key = PriceKey {
                    volume: usage.volume.to_owned(),
                    region: self.region.clone(),
                    component: usage.component,
                    unit,
                    tier: None,
                    from: usage.from + begin.unwrap_or(0),
                };
                offers.price(key, dated(amount * factor, usage.to.or(end)))
            }
        }
    }
}

fn volume_unit(usage: &Usage, unit: &str) -> Result<(PriceUnit, f64), Problem> {
    let known = match (usage.component, unit.to_ascii_lowercase().as_str()) {
        // GB means GiB.
        (PriceComponent::Capacity, "gb-mo" | "gb-month") => (PriceUnit::GiB, 1.0),
        (PriceComponent::Iops, "iops-mo" | "iops-month") => (PriceUnit::Iops, 1.0),
        (PriceComponent::Throughput, "gibps-mo") => (PriceUnit::MebibytesPerSecond, 1.0 / 1024.0),
        (PriceComponent::Throughput, "mibps-mo") => (PriceUnit::MebibytesPerSecond, 1.0),
        (PriceComponent::Capacity, _) => return Err(unknown_unit(unit, "GB-Mo", usage.name)),
        (PriceComponent::Iops, _) => return Err(unknown_unit(unit, "IOPS-Mo", usage.name)),
        _ => return Err(unknown_unit(unit, "GiBps-mo", usage.name)),
    };
    Ok(known)
}

fn unknown_unit(unit: &str, known: &str, of: &str) -> Problem {
    unusable(format!("unknown unit `{}` of {}; expected `{known}`", shown(unit), shown(of)))
}

/// Returns the bound of a range; `None` is none.
fn bound(text: Option<&str>) -> Result<Option<u64>, Problem> {
    match text {
        None | Some("" | "Inf") => Ok(None),
        Some(text) => number("the range of a price", price(text)?).map(Some),
    }
}

// ---- Price list in JSON --------------------------------------------------------------------------------------------

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Term {
    effective_date: Option<String>,
    #[serde(default)]
    price_dimensions: BTreeMap<String, Dimension>,
}

/// The document: products by SKU, then their terms.
struct PriceList<'a> {
    offers: &'a mut Collector,
    products: BTreeMap<String, Priced>,
    has_products: bool,
}

impl Document for PriceList<'_> {
    fn read<'de, D: Deserializer<'de>>(&mut self, document: D, refusal: &mut Refusal) -> Result<(), D::Error> {
        Entries(&mut PriceListKeys { list: self, refusal }).deserialize(document)
    }
}

struct PriceListKeys<'a, 'b> {
    list: &'a mut PriceList<'b>,
    refusal: &'a mut Refusal,
}

impl ReadEntry for PriceListKeys<'_, '_> {
    fn read<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "offerCode" => {
                let code: String = map.next_value()?;
                self.refusal.keep(check_offer_code(&code))
            }
            "publicationDate" => {
                let text: String = map.next_value()?;
                self.refusal.keep(self.list.offers.date(&text).map(drop))
            }
            "products" => {
                self.list.has_products = true;
                map.next_value_seed(Entries(&mut Products { list: self.list, refusal: self.refusal }))
            }
            "terms" => {
                let ordered =
                    if self.list.has_products { Ok(()) } else { Err(unusable("`terms` precedes `products`".into())) };
                self.refusal.keep(ordered)?;
                map.next_value_seed(Entries(&mut TermKinds { list: self.list, refusal: self.refusal }))
            }
            _ => map.next_value::<IgnoredAny>().map(drop),
        }
    }
}

/// Refuses the price list of another service.
pub(crate) fn check_offer_code(code: &str) -> Result<(), Problem> {
    if code == "AmazonEC2" {
        return Ok(());
    }
    Err(Problem::error(ProblemCode::Offers, format!("this is the price list of {}, not of AmazonEC2", shown(code)))
        .help("download offers/v1.0/aws/AmazonEC2/current/REGION/index.json, which has EBS volumes too"))
}

struct Products<'a, 'b> {
    list: &'a mut PriceList<'b>,
    refusal: &'a mut Refusal,
}

impl ReadEntry for Products<'_, '_> {
    fn read<'de, A: MapAccess<'de>>(&mut self, sku: &str, map: &mut A) -> Result<(), A::Error> {
        let product: Product = map.next_value()?;
        let priced = priced(&product.attributes, self.list.offers);
        if let Some(priced) = self.refusal.keep(priced.map_err(|problem| problem.of(of_sku(sku))))? {
            self.list.products.insert(sku.to_owned(), priced);
        }
        Ok(())
    }
}

fn of_sku(sku: &str) -> String {
    format!("SKU {}", shown(sku))
}

struct TermKinds<'a, 'b> {
    list: &'a mut PriceList<'b>,
    refusal: &'a mut Refusal,
}

impl ReadEntry for TermKinds<'_, '_> {
    fn read<'de, A: MapAccess<'de>>(&mut self, kind: &str, map: &mut A) -> Result<(), A::Error> {
        if kind == "OnDemand" {
            map.next_value_seed(Entries(&mut Terms { list: self.list, refusal: self.refusal }))
        } else {
            map.next_value::<IgnoredAny>().map(drop)
        }
    }
}

struct Terms<'a, 'b> {
    list: &'a mut PriceList<'b>,
    refusal: &'a mut Refusal,
}

impl ReadEntry for Terms<'_, '_> {
    fn read<'de, A: MapAccess<'de>>(&mut self, sku: &str, map: &mut A) -> Result<(), A::Error> {
        let Some(priced) = self.list.products.remove(sku) else {
            return map.next_value::<IgnoredAny>().map(drop);
        };
        let terms: BTreeMap<String, Term> = map.next_value()?;
        self.refusal.keep(add_terms(&priced, sku, &terms, self.list.offers))
    }
}

fn add_terms(
    priced: &Priced,
    sku: &str,
    terms: &BTreeMap<String, Term>,
    offers: &mut Collector,
) -> Result<(), Problem> {
    for term in terms.values() {
        for dimension in term.price_dimensions.values() {
            let added = priced.add(sku, term.effective_date.as_deref(), dimension, offers);
            added.map_err(|problem| problem.of(of_sku(sku)))?;
        }
    }
    Ok(())
}

pub(crate) fn read_price_list(input: &mut OfferInput<'_>, offers: &mut Collector) -> Result<(), Problem> {
    let mut list = PriceList { offers, products: BTreeMap::new(), has_products: false };
    read_documents(input, &mut list)?;
    let unpriced = list.products.len();
    for _ in 0..unpriced {
        offers.skip(SkipReason::Unpriced);
    }
    Ok(())
}

// ---- get-products --------------------------------------------------------------------------------------------------

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListedProduct {
    product: Product,
    #[serde(default)]
    terms: BTreeMap<String, BTreeMap<String, Term>>,
    publication_date: Option<String>,
    service_code: Option<String>,
}

struct ProductTexts<'a> {
    offers: &'a mut Collector,
    has_next: bool,
}

impl Items for ProductTexts<'_> {
    type Item = String;

    fn item(&mut self, item: String) -> Result<(), Problem> {
        let listed: ListedProduct = parse_text(&item)?;
        if let Some(code) = &listed.service_code {
            check_offer_code(code)?;
        }
        let sku = listed.product.sku.as_deref().unwrap_or("without a name");
        if let Some(text) = &listed.publication_date {
            self.offers.date(text).map_err(|problem| problem.of(of_sku(sku)))?;
        }
        let priced = priced(&listed.product.attributes, self.offers).map_err(|problem| problem.of(of_sku(sku)))?;
        match (priced, listed.terms.get("OnDemand")) {
            (Some(priced), Some(terms)) => add_terms(&priced, sku, terms, self.offers),
            (Some(_), None) => {
                self.offers.skip(SkipReason::Unpriced);
                Ok(())
            }
            (None, _) => Ok(()),
        }
    }

    fn beside(&mut self, key: &str, text: &str) -> Result<(), Problem> {
        self.has_next |= key == "NextToken" && !text.is_empty();
        Ok(())
    }

    fn page(&mut self) {
        self.offers.page(std::mem::take(&mut self.has_next));
    }
}

pub(crate) fn read_products(input: &mut OfferInput<'_>, steps: &[Step], offers: &mut Collector) -> Result<(), Problem> {
    read_items(input, steps, &mut ProductTexts { offers, has_next: false })
}
