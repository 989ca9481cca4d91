//! Volumes as Terraform: `aws_ebs_volume`, `google_compute_disk`, `azurerm_managed_disk`, and the machines beside them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use units::Problem;

use super::declaration::{Declaration, Provisioned};
use super::hcl::{HclBlock, quoted};
use crate::words::azure_sku;

/// Returns why a volume cannot be declared; `None` if it can.
pub(super) fn refusal(declaration: &Declaration<'_>) -> Option<Problem> {
    let volume = declaration.volume.as_ref()?;
    let is_known = match volume.provider {
        "aws" => true,
        "gcp" => volume.kind.starts_with("pd-") || volume.kind.starts_with("hyperdisk-"),
        "azure" => azure_sku(volume.kind).is_some(),
        _ => {
            let why = format!("{} is not a volume of aws, azure or gcp", volume.candidate.listed);
            return Some(declaration.refusal("Terraform", &why, "select volumes with --provider aws,azure,gcp"));
        }
    };
    let why = || format!("{} is a disk of the machine, not a resource", volume.candidate.listed);
    (!is_known).then(|| declaration.refusal("Terraform", &why(), "select network volumes with --provider"))
}

/// Variables that the user sets, with their descriptions.
type Variables = BTreeMap<String, String>;

/// Returns the volumes with their machines and variables.
pub(super) fn text(declarations: &[Declaration<'_>]) -> String {
    let mut variables = Variables::new();
    let mut body = String::new();
    for declaration in declarations {
        body.push('\n');
        declaration.comments().iter().for_each(|line| body.extend([line, "\n"]));
        let blocks = declaration.volume.as_ref().map(|volume| resources(declaration, volume, &mut variables));
        for (index, block) in blocks.into_iter().flatten().enumerate() {
            if index > 0 {
                body.push('\n');
            }
            block.write(&mut body);
        }
    }
    let mut out = format!(
        "# Written by fathom plan {}. Check prices and quotas before you apply it.\n",
        env!("CARGO_PKG_VERSION")
    );
    let regions: BTreeSet<&str> =
        volumes(declarations).filter(|volume| volume.provider == "aws").filter_map(Provisioned::region).collect();
    if regions.len() > 1 {
        let regions = regions.into_iter().collect::<Vec<_>>().join(", ");
        let _ =
            writeln!(out, "# The provider aws has one region: set provider or region of the resources in {regions}.");
    }
    for (name, description) in &variables {
        out.push('\n');
        HclBlock::new("variable", &[name]).text("description", description).set("type", "string").write(&mut out);
    }
    out + &body
}

fn volumes<'a>(declarations: &'a [Declaration<'a>]) -> impl Iterator<Item = &'a Provisioned<'a>> {
    declarations.iter().filter_map(|declaration| declaration.volume.as_ref())
}

fn resources(declaration: &Declaration<'_>, volume: &Provisioned<'_>, variables: &mut Variables) -> Vec<HclBlock> {
    match volume.provider {
        "aws" => aws(declaration, volume, variables),
        "gcp" => google(declaration, volume, variables),
        _ => azure(declaration, volume, variables),
    }
}

/// Declares a variable for each region, and returns the expression of its value.
fn variable(variables: &mut Variables, name: &str, region: Option<&str>, description: &str) -> String {
    let name = region.map_or_else(|| name.to_owned(), |region| format!("{name}_{}", region.replace('-', "_")));
    let description = region.map_or_else(|| description.to_owned(), |region| format!("{description} in {region}"));
    let expression = format!("var.{name}");
    variables.insert(name, description);
    expression
}

/// Returns the label of resources: Terraform's style has underscores.
fn label(declaration: &Declaration<'_>) -> String {
    declaration.name.replace('-', "_")
}

/// Resources of a number, and which belong together.
struct Counts {
    volumes: u32,
    machines: u32,
    members: u32,
    is_shared: bool,
}

impl Counts {
    fn new(volume: &Provisioned<'_>) -> Self {
        let candidate = volume.candidate;
        Self {
            volumes: volume.count(),
            machines: candidate.machines.max(1),
            members: candidate.members(),
            is_shared: volume.is_shared(),
        }
    }

    /// Returns `count`, if there is more than one.
    fn of(count: u32) -> Option<u32> {
        (count > 1).then_some(count)
    }

    fn attachments(&self) -> u32 {
        self.machines * self.members
    }

    /// Returns the reference of an attachment to its volume.
    fn volume(&self, resource: &str, attribute: &str) -> String {
        match (self.volumes > 1, self.is_shared) {
            (false, _) => format!("{resource}.{attribute}"),
            (true, false) => format!("{resource}[count.index].{attribute}"),
            (true, true) => format!("{resource}[count.index % {}].{attribute}", self.members),
        }
    }

    /// Returns the reference of an attachment to its machine.
    fn machine(&self, resource: &str, attribute: &str) -> String {
        match (self.machines > 1, self.members > 1) {
            (false, _) => format!("{resource}.{attribute}"),
            (true, false) => format!("{resource}[count.index].{attribute}"),
            (true, true) => format!("{resource}[floor(count.index / {})].{attribute}", self.members),
        }
    }
}

/// Returns a name that ends with the index if there are several.
fn numbered(name: &str, count: u32) -> String {
    if count > 1 { format!("\"{name}-${{count.index}}\"") } else { quoted(name) }
}

fn aws(declaration: &Declaration<'_>, volume: &Provisioned<'_>, variables: &mut Variables) -> Vec<HclBlock> {
    let (label, counts, region) = (label(declaration), Counts::new(volume), volume.region());
    let zone = variable(variables, "aws_availability_zone", region, "Availability zone");
    let tags = format!("{{ Name = {} }}", quoted(declaration.need_name.unwrap_or(&declaration.name)));
    let takes_iops = matches!(volume.kind, "gp3" | "io1" | "io2");
    let disk = HclBlock::new("resource", &["aws_ebs_volume", &label])
        .maybe("count", Counts::of(counts.volumes))
        .set("availability_zone", &*zone)
        .text("type", volume.kind)
        .set("size", volume.gib.to_string())
        .maybe("iops", volume.iops.filter(|_| takes_iops))
        .maybe("throughput", volume.throughput.filter(|_| volume.kind == "gp3"))
        .set("tags", &*tags);
    let Some(machine) = volume.machine() else { return vec![disk] };
    let image = variable(variables, "aws_ami", region, "ID of the machine image");
    let instance = HclBlock::new("resource", &["aws_instance", &label])
        .maybe("count", Counts::of(counts.machines))
        .set("ami", image)
        .text("instance_type", machine)
        .set("availability_zone", zone)
        .set("tags", tags);
    let attachment = HclBlock::new("resource", &["aws_volume_attachment", &label])
        .maybe("count", Counts::of(counts.attachments()))
        .set("device_name", device_name(counts.members))
        .set("instance_id", counts.machine(&format!("aws_instance.{label}"), "id"))
        .set("volume_id", counts.volume(&format!("aws_ebs_volume.{label}"), "id"));
    vec![disk, instance, attachment]
}

/// Returns the device names of an instance's volumes: those that AWS recommends, or names of two letters for more.
fn device_name(members: u32) -> String {
    let recommended = ('f'..='p').map(|letter| format!("/dev/sd{letter}"));
    let more = ('b'..='d').flat_map(|first| ('a'..='z').map(move |second| format!("/dev/xvd{first}{second}")));
    let names: Vec<String> = if members <= 11 { recommended.collect() } else { more.collect() };
    let names: Vec<String> = names.iter().take(members.max(1) as usize).map(|name| quoted(name)).collect();
    match names.as_slice() {
        [one] => one.clone(),
        _ => format!("[{}][count.index % {members}]", names.join(", ")),
    }
}

/// Reports whether a type is replicated between zones.
fn is_regional(kind: &str) -> bool {
    kind.ends_with("-regional") || kind == "hyperdisk-balanced-high-availability"
}

fn google(declaration: &Declaration<'_>, volume: &Provisioned<'_>, variables: &mut Variables) -> Vec<HclBlock> {
    let (label, counts, region) = (label(declaration), Counts::new(volume), volume.region());
    let zone = variable(variables, "google_zone", region, "Zone");
    let is_regional = is_regional(volume.kind);
    let kind = if is_regional { "google_compute_region_disk" } else { "google_compute_disk" };
    let disk = HclBlock::new("resource", &[kind, &label])
        .maybe("count", Counts::of(counts.volumes))
        .set("name", numbered(&declaration.name, counts.volumes))
        .maybe("description", declaration.need_name.map(quoted))
        .text("type", volume.kind.trim_end_matches("-regional"));
    let disk = match is_regional {
        true => {
            let second = variable(variables, "google_second_zone", region, "Zone of the replica");
            disk.set("replica_zones", format!("[{zone}, {second}]")).maybe("region", region.map(quoted))
        }
        false => disk.set("zone", &*zone),
    };
    let is_hyperdisk = volume.kind.starts_with("hyperdisk-");
    let disk = disk
        .set("size", volume.gib.to_string())
        .maybe("provisioned_iops", volume.iops)
        .maybe("provisioned_throughput", volume.throughput)
        .maybe("access_mode", (counts.is_shared && is_hyperdisk).then_some("\"READ_ONLY_MANY\""));
    let Some(machine) = volume.machine() else { return vec![disk] };
    let image = variable(variables, "google_image", None, "Image of the boot disk, such as debian-cloud/debian-12");
    let parameters = HclBlock::new("initialize_params", &[]).set("image", image);
    let instance = HclBlock::new("resource", &["google_compute_instance", &label])
        .maybe("count", Counts::of(counts.machines))
        .set("name", numbered(&declaration.name, counts.machines))
        .text("machine_type", machine)
        .set("zone", zone)
        .block(HclBlock::new("boot_disk", &[]).block(parameters))
        .block(HclBlock::new("network_interface", &[]).text("network", "default"))
        // Required beside google_compute_attached_disk.
        .block(HclBlock::new("lifecycle", &[]).set("ignore_changes", "[attached_disk]"));
    let attachment = HclBlock::new("resource", &["google_compute_attached_disk", &label])
        .maybe("count", Counts::of(counts.attachments()))
        .set("disk", counts.volume(&format!("{kind}.{label}"), "id"))
        .set("instance", counts.machine(&format!("google_compute_instance.{label}"), "id"))
        .maybe("mode", counts.is_shared.then_some("\"READ_ONLY\""));
    vec![disk, instance, attachment]
}

fn azure(declaration: &Declaration<'_>, volume: &Provisioned<'_>, variables: &mut Variables) -> Vec<HclBlock> {
    let (label, counts, region) = (label(declaration), Counts::new(volume), volume.region());
    let group = variable(variables, "azure_resource_group", None, "Name of the resource group");
    let location = match region {
        Some(region) => quoted(region),
        None => variable(variables, "azure_location", None, "Azure region"),
    };
    let sku = azure_sku(volume.kind).unwrap_or_default();
    let has_own_rates = is_provisioned(volume.kind);
    let is_on = |key: &str| (volume.word(key) == Some("on")).then_some("true");
    let zone = has_own_rates.then(|| variable(variables, "azure_zone", region, "Availability zone, such as 1"));
    let tags = declaration.need_name.map(|name| format!("{{ need = {} }}", quoted(name)));
    let disk = HclBlock::new("resource", &["azurerm_managed_disk", &label])
        .maybe("count", Counts::of(counts.volumes))
        .set("name", numbered(&declaration.name, counts.volumes))
        .set("resource_group_name", &*group)
        .set("location", location)
        .maybe("zone", zone)
        .text("storage_account_type", sku)
        .text("create_option", "Empty")
        .set("disk_size_gb", volume.gib.to_string())
        .maybe("disk_iops_read_write", volume.iops.filter(|_| has_own_rates))
        .maybe("disk_mbps_read_write", volume.throughput.filter(|_| has_own_rates))
        .maybe("on_demand_bursting_enabled", is_on("on_demand_bursting"))
        .maybe("performance_plus_enabled", is_on("performance_plus"))
        .maybe("tags", tags);
    let Some(machine) = volume.machine() else { return vec![disk] };
    // A virtual machine needs a network and credentials, which the user has; its disks are attached here.
    let named = format!("{label}_virtual_machine_id");
    let count = counts.machines;
    let plural =
        if count > 1 { format!("IDs of {count} virtual machines") } else { "ID of a virtual machine".to_owned() };
    variables.insert(
        named.clone(),
        format!("{plural} of size Standard_{machine}{}", if count > 1 { ", separated by commas" } else { "" }),
    );
    let machine_id = match count {
        1 => format!("var.{named}"),
        _ => format!("split(\",\", var.{named})[floor(count.index / {})]", counts.members),
    };
    let lun = if counts.members > 1 { format!("count.index % {}", counts.members) } else { "0".to_owned() };
    let attachment = HclBlock::new("resource", &["azurerm_virtual_machine_data_disk_attachment", &label])
        .maybe("count", Counts::of(counts.attachments()))
        .set("managed_disk_id", counts.volume(&format!("azurerm_managed_disk.{label}"), "id"))
        .set("virtual_machine_id", machine_id)
        .set("lun", lun)
        .text("caching", "None");
    vec![disk, attachment]
}

/// Reports whether IOPS and throughput are provisioned apart from the size.
pub(super) fn is_provisioned(kind: &str) -> bool {
    matches!(kind, "premium-ssd-v2" | "ultra")
}
