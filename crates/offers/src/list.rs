//! The normalized list of offers.

use std::collections::BTreeMap;

use crate::formats::{OfferFormat, Provider};

/// Offers of one provider. All lists are sorted, so that equal offers give equal files.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferList {
    pub provider: Provider,
    /// Date of the newest price or of the price list (`2026-01-02`), if the files have one.
    pub source_date: Option<String>,
    /// Formats of the files.
    pub formats: Vec<OfferFormat>,
    /// A file names a further page, and no page was the last one.
    pub incomplete: bool,
    /// Regions of the offers.
    pub regions: Vec<String>,
    /// Numbers of items that were left out.
    pub skipped: BTreeMap<SkipReason, u64>,
    pub prices: Vec<VolumePrice>,
    pub machines: Vec<MachineOffer>,
}

/// One part of a volume's price. The price of a volume is the sum over its components, each with its ranges.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumePrice {
    /// Name in the catalogue: `aws/gp3`.
    pub volume: String,
    pub region: String,
    pub component: PriceComponent,
    pub unit: PriceUnit,
    /// Performance tier of a disk that is sold as a whole: `P30`.
    pub tier: Option<String>,
    /// Number of units above which the price applies. What a volume includes without charge (the first 3,000 IOPS of gp3)
    /// shows here only if the provider lists it so (Azure); AWS and Google bill no usage below it instead.
    pub from: u64,
    /// Number of units up to which the price applies, if it ends.
    pub to: Option<u64>,
    /// Price of one unit for a month of 730 hours.
    pub per_month: f64,
}

/// What a price is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PriceComponent {
    /// A disk of a fixed tier, with its capacity and performance.
    Disk,
    Capacity,
    Iops,
    Throughput,
}

/// Unit of a price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PriceUnit {
    Disk,
    GiB,
    Iops,
    /// 10^6 bytes per second.
    MegabytesPerSecond,
    /// 2^20 bytes per second.
    MebibytesPerSecond,
}

/// A machine type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MachineOffer {
    /// Name in the catalogue: `m6i.large`, `D8ds_v4`, `n2-standard-8`.
    pub name: String,
    /// `x86_64` or `arm64`.
    pub arch: Option<String>,
    pub vcpus: Option<u64>,
    pub memory_bytes: Option<u64>,
    /// Number of volumes (AWS, Google) or of data disks (Azure) that can be attached.
    pub max_volumes: Option<u64>,
    /// `nitro` or `xen`.
    pub hypervisor: Option<String>,
    pub regions: Vec<String>,
    /// Limits of all volumes together: on AWS with the default bandwidth weighting, on Azure of uncached disks.
    pub limits: MachineLimits,
    /// On-demand price of an hour with Linux, for each region.
    pub price_per_hour: BTreeMap<String, f64>,
}

/// Limits of a machine. Below the maximum, the baseline is what it sustains; a provider that has no bursts in its files
/// has only the baseline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineLimits {
    pub base_iops: Option<u64>,
    pub max_iops: Option<u64>,
    pub base_bytes_per_s: Option<u64>,
    pub max_bytes_per_s: Option<u64>,
}

/// Why items were left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// Limits of disks, which the catalogue has from the documentation: those of the files lag behind it.
    DiskLimits,
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
    /// Without a price on demand, or free of charge.
    Unpriced,
}
