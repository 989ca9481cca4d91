//! The normalized list of offers and its TOML document.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use units::{Place, Problem, ProblemCode};

use crate::formats::Provider;

/// Offers of one provider. All lists are sorted, so that equal offers give equal documents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfferList {
    pub provider: Provider,
    /// Date of the newest price or of the price list (`2026-01-02`), if the files have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_date: Option<String>,
    /// Currency of all prices (ISO 4217), if there are prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// A file names a further page, and no page was the last one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
    /// Regions of the offers.
    #[serde(default)]
    pub regions: Vec<String>,
    /// Numbers of items that were left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub skipped: BTreeMap<SkipReason, u64>,
    #[serde(default, rename = "price", skip_serializing_if = "Vec::is_empty")]
    pub prices: Vec<VolumePrice>,
    #[serde(default, rename = "volume", skip_serializing_if = "Vec::is_empty")]
    pub volumes: Vec<VolumeLimits>,
    #[serde(default, rename = "machine", skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<MachineOffer>,
}

/// One part of a volume's price. The price of a volume is the sum over its components, each with its ranges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VolumePrice {
    /// Name in the catalogue: `aws/gp3`.
    pub volume: String,
    pub region: String,
    pub component: PriceComponent,
    pub unit: PriceUnit,
    /// Performance tier of a disk that is sold as a whole: `P30`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// Number of units above which the price applies. What a volume includes without charge (the first 3,000 IOPS of gp3)
    /// shows here only if the provider lists it so (Azure); AWS and Google bill no usage below it instead.
    pub from: u64,
    /// Number of units up to which the price applies, if it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
    /// Price of one unit for a month of 730 hours.
    pub per_month: f64,
    /// The provider's identifier of this price.
    pub sku: String,
}

/// What a price is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PriceComponent {
    /// A disk of a fixed tier, with its capacity and performance.
    Disk,
    Capacity,
    Iops,
    Throughput,
}

/// Unit of a price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PriceUnit {
    #[serde(rename = "disk")]
    Disk,
    GiB,
    #[serde(rename = "IOPS")]
    Iops,
    /// 10^6 bytes per second.
    #[serde(rename = "MB/s")]
    MegabytesPerSecond,
    /// 2^20 bytes per second.
    #[serde(rename = "MiB/s")]
    MebibytesPerSecond,
}

/// Limits of a volume or of one tier of it, as the provider's API has them. For provisioned disks they lag behind the
/// provider's documentation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VolumeLimits {
    /// Name in the catalogue: `azure/premium-ssd`.
    pub volume: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_gib: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_gib: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_iops: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_iops: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_iops_per_gib: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_bytes_per_s: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes_per_s: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_iops: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_bytes_per_s: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_minutes: Option<u64>,
    /// With Performance Plus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plus_iops: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plus_bytes_per_s: Option<u64>,
}

/// A machine type.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineOffer {
    /// Name in the catalogue: `m6i.large`, `D8ds_v4`, `n2-standard-8`.
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// `x86_64` or `arm64`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arch: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vcpus: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Number of volumes (AWS, Google) or of data disks (Azure) that can be attached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_volumes: Option<u64>,
    /// Network interfaces share `max_volumes` with the volumes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shares_attachments: Option<bool>,
    /// `nitro` or `xen`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hypervisor: Option<String>,
    /// Takes premium disks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub premium: Option<bool>,
    /// Takes Ultra Disks in at least one zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ultra: Option<bool>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<String>,
    /// Limits of all volumes together: on AWS with the default bandwidth weighting, on Azure of uncached disks.
    #[serde(default, skip_serializing_if = "MachineLimits::is_empty")]
    pub limits: MachineLimits,
    /// Limits of cached and temporary disks together.
    #[serde(default, skip_serializing_if = "MachineLimits::is_empty")]
    pub cached: MachineLimits,
    /// On-demand price of an hour with Linux, for each region.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub price_per_hour: BTreeMap<String, f64>,
    /// Limits of each EBS card. A volume uses one card, so that a single volume is limited by the card and not by the sum.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cards: Vec<MachineLimits>,
}

/// Limits of a machine. Below the maximum, the baseline is what it sustains; a provider that has no bursts in its files
/// has only the baseline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineLimits {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_iops: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_iops: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_bytes_per_s: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes_per_s: Option<u64>,
}

impl MachineLimits {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Why items were left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkipReason {
    /// Neither a volume of the catalogue nor a machine.
    OtherProduct,
    /// Not in the selected region.
    OtherRegion,
    /// In a Local Zone, a Wavelength Zone or an Outpost.
    OtherLocation,
    /// Reserved, committed, spot, or for development and test.
    NotOnDemand,
    /// A machine with a licence, on dedicated hardware, or part of another service.
    OtherSystem,
    /// Zone-redundant, where the catalogue has locally redundant volumes.
    ZoneRedundant,
    /// A price per operation.
    PerOperation,
    /// A price of a meter that the region shares with another one.
    SecondaryMeter,
    /// Replaced by a price with a later date.
    Superseded,
    /// Equal to one already read.
    Repeated,
    /// Without a price on demand.
    Unpriced,
}

/// The document: the offers with the date on which they were read.
#[derive(Serialize, Deserialize)]
struct Dated<T> {
    date: String,
    offers: T,
}

impl OfferList {
    /// Returns the offers as a TOML document; `date` is the day on which the files were read.
    #[must_use]
    pub fn to_toml(&self, date: &str) -> String {
        let document = Dated { date: date.to_owned(), offers: self };
        // All keys are strings and all numbers were checked, which TOML can represent.
        toml::to_string(&document).unwrap_or_default()
    }

    /// Parses a document of [`OfferList::to_toml`], and returns its date with the offers.
    ///
    /// # Errors
    ///
    /// If the text is not such a document.
    pub fn from_toml(source: &str, text: &str) -> Result<(String, Self), Problem> {
        let parsed: Result<Dated<Self>, toml::de::Error> = toml::from_str(text);
        let document = parsed.map_err(|error| {
            let place = error.span().map(|at| Place::of_text(source, text, at));
            Problem::error(ProblemCode::Offers, format!("the offers are damaged: {}", error.message()))
                .at(place)
                .help("import the provider's files again")
        })?;
        Ok((document.date, document.offers))
    }
}
