//! Volumes as Kubernetes manifests: a StorageClass, a VolumeAttributesClass and a PersistentVolumeClaim of each.

use std::collections::BTreeSet;
use std::fmt::Write;

use units::Problem;

use super::declaration::{Declaration, Provisioned};
use super::terraform::is_provisioned;
use crate::words::azure_sku;

/// Returns why a volume cannot be declared; `None` if it can.
pub(super) fn refusal(declaration: &Declaration<'_>) -> Option<Problem> {
    let volume = declaration.volume.as_ref()?;
    let listed = &volume.candidate.listed;
    let Some(driver) = driver(volume) else {
        let why = format!("{listed} is not a network volume of aws, azure or gcp");
        let help = "select volumes with --provider aws,azure,gcp";
        return Some(declaration.refusal("Kubernetes manifests", &why, help));
    };
    let members = volume.candidate.members();
    if members > 1 {
        let why = format!("a StorageClass cannot stripe {members} x {listed} (RAID 0)");
        return Some(declaration.refusal("Kubernetes manifests", &why, "plan for single volumes with --max-stripe 1"));
    }
    if volume.provider == "aws" && volume.kind == "standard" {
        let why = format!("{} does not modify or size {listed}", driver.name);
        return Some(declaration.refusal("Kubernetes manifests", &why, "select other volumes with --provider"));
    }
    None
}

/// A CSI driver and the parameters of a volume.
struct Driver {
    name: &'static str,
    /// Parameters of the StorageClass.
    parameters: Vec<(&'static str, String)>,
    /// Parameters of the VolumeAttributesClass; empty if the volume cannot be modified.
    modified: Vec<(&'static str, String)>,
}

/// Returns the driver of a volume; `None` if it has none.
fn driver(volume: &Provisioned<'_>) -> Option<Driver> {
    let listed = |parameters: [Option<(&'static str, String)>; 4]| parameters.into_iter().flatten().collect::<Vec<_>>();
    match volume.provider {
        "aws" => {
            let iops = volume.iops.filter(|_| matches!(volume.kind, "gp3" | "io1" | "io2"));
            let iops = iops.map(|iops| ("iops", iops.to_string()));
            let throughput = volume.throughput.filter(|_| volume.kind == "gp3");
            let throughput = throughput.map(|rate| ("throughput", rate.to_string()));
            let parameters = listed([Some(("type", volume.kind.to_owned())), iops, throughput, None]);
            let modified = if parameters.len() > 1 { parameters.clone() } else { Vec::new() };
            Some(Driver { name: "ebs.csi.aws.com", parameters, modified })
        }
        "gcp" if volume.kind.starts_with("pd-") || volume.kind.starts_with("hyperdisk-") => {
            let zonal = volume.kind.trim_end_matches("-regional");
            let is_regional = zonal != volume.kind;
            let iops = volume.iops.map(|iops| iops.to_string());
            let rate = volume.throughput.map(|rate| format!("{rate}Mi"));
            let parameters = listed([
                Some(("type", zonal.to_owned())),
                is_regional.then(|| ("replication-type", "regional-pd".to_owned())),
                iops.clone().map(|iops| ("provisioned-iops-on-create", iops)),
                rate.clone().map(|rate| ("provisioned-throughput-on-create", rate)),
            ]);
            let is_modified = volume.kind.starts_with("hyperdisk-");
            let modified = listed([iops.map(|iops| ("iops", iops)), rate.map(|rate| ("throughput", rate)), None, None]);
            let modified = if is_modified { modified } else { Vec::new() };
            Some(Driver { name: "pd.csi.storage.gke.io", parameters, modified })
        }
        "azure" => {
            let sku = azure_sku(volume.kind)?;
            let has_own_rates = is_provisioned(volume.kind);
            let iops = volume.iops.filter(|_| has_own_rates).map(|iops| ("DiskIOPSReadWrite", iops.to_string()));
            let rate = volume.throughput.filter(|_| has_own_rates).map(|rate| ("DiskMBpsReadWrite", rate.to_string()));
            // Disks with rates of their own are never cached.
            let caching = has_own_rates.then(|| ("cachingMode", "None".to_owned()));
            let mut parameters = listed([Some(("skuName", sku.to_owned())), iops.clone(), rate.clone(), caching]);
            let is_on = |key: &str| volume.word(key) == Some("on");
            parameters.extend(is_on("on_demand_bursting").then(|| ("enableBursting", "true".to_owned())));
            parameters.extend(is_on("performance_plus").then(|| ("enablePerformancePlus", "true".to_owned())));
            Some(Driver { name: "disk.csi.azure.com", parameters, modified: listed([iops, rate, None, None]) })
        }
        _ => None,
    }
}

/// Returns the manifests of all volumes.
pub(super) fn text(declarations: &[Declaration<'_>]) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut out = format!("# Written by fathom plan {version}. Check prices and quotas before you apply it.\n");
    let providers: BTreeSet<&str> =
        declarations.iter().filter_map(|declaration| Some(declaration.volume.as_ref()?.provider)).collect();
    if providers.len() > 1 {
        out.push_str("# Volumes of several providers: apply each in a cluster of its provider.\n");
    }
    for declaration in declarations {
        out.push('\n');
        declaration.comments().iter().for_each(|line| out.extend([line, "\n"]));
        if let Some((volume, driver)) = declaration.volume.as_ref().and_then(|volume| Some((volume, driver(volume)?))) {
            manifests(&mut out, declaration, volume, &driver);
        }
    }
    out
}

fn manifests(out: &mut String, declaration: &Declaration<'_>, volume: &Provisioned<'_>, driver: &Driver) {
    let class = format!("fathom-{}", declaration.name);
    if let Some(machine) = volume.machine() {
        let machine = if volume.provider == "azure" { format!("Standard_{machine}") } else { machine.to_owned() };
        let _ = writeln!(out, "# Nodes: node.kubernetes.io/instance-type={machine}");
    }
    let copies = volume.candidate.volumes;
    if copies > 1 {
        let _ = writeln!(out, "# Claims: {copies}, one for each machine; use it as a template of a StatefulSet");
    }
    begin(out, "storage.k8s.io/v1", "StorageClass", &class);
    let _ = writeln!(out, "provisioner: {}", driver.name);
    parameters(out, &driver.parameters);
    // Kubernetes creates the volume in the zone of the node that uses it.
    out.push_str("volumeBindingMode: WaitForFirstConsumer\nallowVolumeExpansion: true\n");
    if !driver.modified.is_empty() {
        begin(out, "storage.k8s.io/v1", "VolumeAttributesClass", &class);
        let _ = writeln!(out, "driverName: {}", driver.name);
        parameters(out, &driver.modified);
    }
    begin(out, "v1", "PersistentVolumeClaim", &declaration.name);
    // Only disks of Google are shared, by readers.
    let mode = if volume.is_shared() { "ReadOnlyMany" } else { "ReadWriteOnce" };
    let _ = writeln!(out, "spec:\n  accessModes: [{mode}]");
    let _ = writeln!(out, "  storageClassName: {class}");
    if !driver.modified.is_empty() {
        let _ = writeln!(out, "  volumeAttributesClassName: {class}");
    }
    let _ = writeln!(out, "  resources:\n    requests:\n      storage: {}Gi", volume.gib);
}

/// Begins a document.
fn begin(out: &mut String, version: &str, kind: &str, name: &str) {
    let _ = writeln!(out, "---\napiVersion: {version}\nkind: {kind}\nmetadata:\n  name: {name}");
}

/// Writes parameters, whose values are strings.
fn parameters(out: &mut String, parameters: &[(&'static str, String)]) {
    out.push_str("parameters:\n");
    for (name, value) in parameters {
        let _ = writeln!(out, "  {name}: {}", serde_json::Value::from(value.as_str()));
    }
}
