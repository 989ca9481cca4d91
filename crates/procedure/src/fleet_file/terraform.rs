//! Volumes in the state of Terraform, version 4.
//!
//! A state holds secrets. Only the types, names and figures of disks are kept; errors quote nothing.

use std::fmt;

use results::plan::current::{CurrentSource, SkippedVolume};
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use units::{Problem, ProblemCode};
use volume::catalogue;

use super::{FleetFile, FleetVolume, VOLUMES_MAX, too_many};
use crate::plan_words::PlanWords;

/// Version of the layout that is read.
const VERSION: f64 = 4.0;
/// Largest figure of a disk that is read.
const FIGURE_MAX: f64 = 1e9;
/// Largest size in GiB of each performance tier of Azure's premium SSDs.
const TIERS: [(&str, f64); 14] = [
    ("P1", 4.0),
    ("P2", 8.0),
    ("P3", 16.0),
    ("P4", 32.0),
    ("P6", 64.0),
    ("P10", 128.0),
    ("P15", 256.0),
    ("P20", 512.0),
    ("P30", 1024.0),
    ("P40", 2048.0),
    ("P50", 4096.0),
    ("P60", 8192.0),
    ("P70", 16384.0),
    ("P80", 32767.0),
];

#[derive(Deserialize)]
struct State {
    #[serde(default)]
    version: Scalar,
    #[serde(default)]
    resources: Vec<Resource>,
    encrypted_data: Option<IgnoredAny>,
    sops: Option<IgnoredAny>,
    /// Of `terraform show -json`.
    format_version: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Resource {
    #[serde(default)]
    module: Scalar,
    #[serde(default)]
    mode: Scalar,
    #[serde(default, rename = "type")]
    kind: Scalar,
    #[serde(default)]
    name: Scalar,
    #[serde(default)]
    instances: Vec<Instance>,
}

#[derive(Deserialize)]
struct Instance {
    #[serde(default)]
    index_key: Scalar,
    #[serde(default)]
    attributes: Attributes,
}

/// What is read of a disk; everything else is ignored.
#[derive(Default, Deserialize)]
struct Attributes {
    #[serde(default, rename = "type")]
    kind: Scalar,
    #[serde(default)]
    size: Scalar,
    #[serde(default)]
    iops: Scalar,
    #[serde(default)]
    throughput: Scalar,
    #[serde(default)]
    availability_zone: Scalar,
    #[serde(default)]
    provisioned_iops: Scalar,
    #[serde(default)]
    provisioned_throughput: Scalar,
    #[serde(default)]
    zone: Scalar,
    #[serde(default)]
    storage_account_type: Scalar,
    #[serde(default)]
    disk_size_gb: Scalar,
    #[serde(default)]
    disk_iops_read_write: Scalar,
    #[serde(default)]
    disk_mbps_read_write: Scalar,
    #[serde(default)]
    location: Scalar,
    #[serde(default)]
    tier: Scalar,
}

/// A number or a text. Values of other types, which attributes of other resources have, are dropped.
#[derive(Default)]
enum Scalar {
    #[default]
    Missing,
    Number(f64),
    Text(String),
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Scalar, E> {
        Ok(Scalar::Missing)
    }

    fn visit_i64<E>(self, value: i64) -> Result<Scalar, E> {
        Ok(Scalar::Number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Scalar, E> {
        Ok(Scalar::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Scalar, E> {
        Ok(Scalar::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Scalar, E> {
        Ok(Scalar::Text(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Scalar, E> {
        Ok(Scalar::Missing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Scalar, A::Error> {
        while values.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Missing)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut values: A) -> Result<Scalar, A::Error> {
        while values.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Missing)
    }
}

impl Scalar {
    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// Returns a figure of a disk above zero; some providers write figures as text.
    fn figure(&self) -> Option<f64> {
        let value = match self {
            Self::Number(value) => *value,
            Self::Text(text) => text.parse().ok()?,
            Self::Missing => return None,
        };
        (value > 0.0 && value <= FIGURE_MAX).then_some(value)
    }

    /// Returns a word of letters, digits, `-` and `_`.
    fn word(&self) -> Option<&str> {
        let is_plain = |text: &&str| {
            text.len() <= 64 && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ' '))
        };
        // A type may be the address of its resource.
        self.text().map(|text| text.rsplit('/').next().unwrap_or(text)).filter(is_plain)
    }
}

/// Reads the disks of a state.
pub(super) fn read(name: &str, text: &str) -> Result<FleetFile, Vec<Problem>> {
    let refuse = |what: String, help: &str| vec![Problem::error(ProblemCode::UnreadableInput, what).help(help)];
    let state: State = serde_json::from_str(text).map_err(|error| {
        // The message of the error may quote a value.
        let at = format!("line {}, column {}", error.line(), error.column());
        match error.classify() {
            serde_json::error::Category::Eof => {
                refuse(format!("{name} is cut off at {at}"), "write it again: `terraform state pull > FILE.tfstate`")
            }
            serde_json::error::Category::Data => refuse(
                format!("{name} is not the state of Terraform: unexpected value at {at}"),
                "write one with `terraform state pull > FILE.tfstate`",
            ),
            _ => refuse(
                format!("{name} is not JSON: unreadable at {at}"),
                "pass the state of Terraform, as `terraform state pull` prints it, or a table whose name ends with .csv",
            ),
        }
    })?;
    if state.encrypted_data.is_some() || state.sops.is_some() {
        return Err(refuse(
            format!("{name} is encrypted"),
            "pass the decrypted state: `terraform state pull > FILE.tfstate`",
        ));
    }
    match state.version {
        Scalar::Number(version) if version == VERSION => {}
        _ if state.format_version.is_some() => {
            let what = format!("{name} is the output of `terraform show`, not the state");
            return Err(refuse(what, "pass the state: `terraform state pull > FILE.tfstate`"));
        }
        Scalar::Number(version) if version < VERSION => {
            let what = format!("{name} is a state of version {version}; version 4 is read");
            return Err(refuse(what, "Terraform 0.12 and later write it: `terraform state pull > FILE.tfstate`"));
        }
        Scalar::Number(version) => {
            return Err(refuse(
                format!("{name} is a state of version {version}; version 4 is read"),
                "use a newer Fathom",
            ));
        }
        _ => {
            let what = format!("{name} is not the state of Terraform: it has no version");
            return Err(refuse(what, "pass what `terraform state pull` prints, or a table whose name ends with .csv"));
        }
    }
    let mut file = FleetFile::default();
    for resource in state.resources {
        // `data` describes what others manage.
        if resource.mode.text() == Some("data") {
            continue;
        }
        let of_kind: fn(&Attributes) -> Result<Disk, String> = match resource.kind.text() {
            Some("aws_ebs_volume") => aws,
            Some("google_compute_disk") => google,
            Some("azurerm_managed_disk") => azure,
            _ => continue,
        };
        for instance in &resource.instances {
            let name_of = address(&resource, instance);
            match of_kind(&instance.attributes).and_then(Disk::checked) {
                Ok(disk) => file.volumes.push(FleetVolume {
                    name: name_of,
                    volume: disk.volume,
                    words: PlanWords::default(),
                    machine: None,
                    region: disk.region,
                    count: 1,
                    source: CurrentSource::Terraform,
                    place: None,
                }),
                Err(reason) => file.skipped.push(SkippedVolume { name: name_of, reason }),
            }
        }
        if file.volumes.len() > VOLUMES_MAX {
            return Err(vec![too_many(name)]);
        }
    }
    Ok(file)
}

/// Returns the address of an instance: `module.db.aws_ebs_volume.data[0]`.
fn address(resource: &Resource, instance: &Instance) -> String {
    let module = resource.module.text().map_or_else(String::new, |module| format!("{module}."));
    let (kind, name) = (resource.kind.text().unwrap_or_default(), resource.name.text().unwrap_or("?"));
    let index = match &instance.index_key {
        Scalar::Number(index) => format!("[{index}]"),
        Scalar::Text(key) => format!("[\"{key}\"]"),
        Scalar::Missing => String::new(),
    };
    format!("{module}{kind}.{name}{index}")
}

/// A disk in terms of the catalogue.
struct Disk {
    volume: String,
    region: Option<String>,
}

impl Disk {
    /// Creates a disk from a type, and the keys whose values are known.
    fn new(kind: &str, keys: &[(&str, Option<f64>, &str)], region: Option<String>) -> Self {
        let known = keys.iter().filter_map(|(key, value, unit)| Some(format!(",{key}={}{unit}", (*value)?)));
        Self { volume: format!("{kind}{}", known.collect::<String>()), region }
    }

    /// Returns the disk if the catalogue has it.
    fn checked(self) -> Result<Self, String> {
        let kind = self.volume.split(',').next().unwrap_or_default();
        if !catalogue::list().iter().any(|listed| listed.name == kind) {
            return Err(format!("the catalogue has no {kind}"));
        }
        match catalogue::resolve_in(&self.volume, None) {
            Ok(_) => Ok(self),
            Err(problems) => Err(problems.into_iter().next().map_or_else(String::new, |problem| problem.what)),
        }
    }
}

const NO_SIZE: &str = "its size is missing or out of range";
const NO_TYPE: &str = "its type is missing or is not a name";

fn aws(disk: &Attributes) -> Result<Disk, String> {
    // Without a type, EBS creates gp2.
    let kind = match &disk.kind {
        Scalar::Missing => "gp2",
        kind => kind.word().ok_or(NO_TYPE)?,
    };
    let size = disk.size.figure().ok_or(NO_SIZE)?;
    // The state has the IOPS that follow from the size of other types, too.
    let iops = disk.iops.figure().filter(|_| ["gp3", "io1", "io2"].contains(&kind));
    let throughput = disk.throughput.figure().filter(|_| kind == "gp3");
    let region = disk.availability_zone.word().map(aws_region);
    let keys = [("size", Some(size), "GiB"), ("iops", iops, ""), ("throughput", throughput, "MiB/s")];
    Ok(Disk::new(&format!("aws/{kind}"), &keys, region))
}

/// Returns the region of a zone: `us-east-1` of `us-east-1a`. A local zone has prices of its own, which are unknown under
/// its name.
fn aws_region(zone: &str) -> String {
    zone.trim_end_matches(|c: char| c.is_ascii_lowercase()).to_owned()
}

fn google(disk: &Attributes) -> Result<Disk, String> {
    let kind = match &disk.kind {
        Scalar::Missing => "pd-standard",
        kind => kind.word().ok_or(NO_TYPE)?,
    };
    let size = disk.size.figure().ok_or(NO_SIZE)?;
    let is_set = |kinds: &[&str]| kinds.contains(&kind);
    let iops = disk.provisioned_iops.figure().filter(|_| {
        is_set(&["hyperdisk-balanced", "hyperdisk-balanced-high-availability", "hyperdisk-extreme", "pd-extreme"])
    });
    let throughput = disk.provisioned_throughput.figure().filter(|_| {
        is_set(&["hyperdisk-balanced", "hyperdisk-balanced-high-availability", "hyperdisk-throughput", "hyperdisk-ml"])
    });
    let region = disk.zone.word().and_then(|zone| Some(zone.rsplit_once('-')?.0.to_owned()));
    let keys = [("size", Some(size), "GiB"), ("iops", iops, ""), ("throughput", throughput, "MiB/s")];
    Ok(Disk::new(&format!("gcp/{kind}"), &keys, region))
}

fn azure(disk: &Attributes) -> Result<Disk, String> {
    let sku = disk.storage_account_type.word().ok_or(NO_TYPE)?;
    let kind = match sku {
        "Premium_LRS" => "premium-ssd",
        "PremiumV2_LRS" => "premium-ssd-v2",
        "UltraSSD_LRS" => "ultra",
        "StandardSSD_LRS" => "standard-ssd",
        "Standard_LRS" => "standard-hdd",
        _ => return Err(format!("the catalogue has no {sku}")),
    };
    let size = disk.disk_size_gb.figure().ok_or(NO_SIZE)?;
    if let Some((tier, most)) = disk.tier.word().and_then(|tier| TIERS.iter().find(|(known, _)| *known == tier)) {
        let of_size = TIERS.iter().find(|(_, most)| size <= *most);
        if kind == "premium-ssd" && of_size.is_some_and(|(own, of_size)| own != tier && of_size < most) {
            return Err(format!("its performance tier {tier} is above that of its size, which is not modelled"));
        }
    }
    let is_provisioned = ["premium-ssd-v2", "ultra"].contains(&kind);
    let iops = disk.disk_iops_read_write.figure().filter(|_| is_provisioned);
    let throughput = disk.disk_mbps_read_write.figure().filter(|_| is_provisioned);
    // Both `eastus` and `East US` are in use.
    let region = disk.location.word().map(|location| location.replace(' ', "").to_ascii_lowercase());
    let keys = [("size", Some(size), "GiB"), ("iops", iops, ""), ("throughput", throughput, "MB/s")];
    Ok(Disk::new(&format!("azure/{kind}"), &keys, region))
}
