//! Commands with which a volume becomes another one, and the providers' rules for that.

use plan::Candidate;
use plan::current::CurrentStep;

use super::providers::{create, modify};

/// Returns the commands that turn a volume into another one; none where the provider has no command line.
pub(crate) fn commands(step: CurrentStep, from: &Candidate, to: &Candidate) -> Vec<String> {
    let command = match step {
        CurrentStep::Resize => resize(from, to),
        CurrentStep::Retype => retype(from, to),
        CurrentStep::Replace => return create(&to.spec.name),
        CurrentStep::Keep | CurrentStep::Unmet => None,
    };
    command.into_iter().collect()
}

/// Returns the number of a key that differs, in bytes for sizes and rates.
fn changed(key: &str, from: Option<&Candidate>, to: &Candidate) -> Option<f64> {
    let value = |candidate: &Candidate| {
        let bounds = &candidate.about.keys.iter().find(|known| known.name == key)?.bounds;
        Some((bounds.value?, bounds.unit.clone()))
    };
    let (number, unit) = value(to)?;
    if from.and_then(value).is_some_and(|(before, _)| (before - number).abs() < 1e-6) {
        return None;
    }
    let factor = match unit.as_str() {
        "GiB" => 1_073_741_824.0,
        "GB" => 1e9,
        "MiB/s" => 1_048_576.0,
        "MB/s" => 1e6,
        _ => 1.0,
    };
    Some(number * factor)
}

fn whole(value: Option<f64>) -> Option<u64> {
    value.map(|value| value.round() as u64)
}

fn resize(from: &Candidate, to: &Candidate) -> Option<String> {
    let [size, iops, throughput] = ["size", "iops", "throughput"].map(|key| whole(changed(key, Some(from), to)));
    let gib = size.map(|bytes| bytes.div_ceil(1 << 30));
    match to.listed.split('/').next()? {
        "oci" => {
            let size = size.map_or_else(String::new, |bytes| format!(" --size-in-gbs {}", bytes / 1_000_000_000));
            let vpus = changed("vpus", Some(from), to);
            let vpus = vpus.map_or_else(String::new, |vpus| format!(" --vpus-per-gb {vpus}"));
            Some(format!("oci bv volume update --volume-id VOLUME{size}{vpus}"))
        }
        "digitalocean" => {
            gib.map(|gib| format!("doctl compute volume-action resize VOLUME --size {gib} --region REGION"))
        }
        "hetzner" => size.map(|bytes| format!("hcloud volume resize --size {} VOLUME", bytes / 1_000_000_000)),
        _ => modify(&to.spec.name, size, iops, throughput),
    }
}

fn retype(from: &Candidate, to: &Candidate) -> Option<String> {
    let (provider, kind) = to.listed.split_once('/')?;
    let size = whole(changed("size", Some(from), to));
    let [iops, throughput] = ["iops", "throughput"].map(|key| whole(changed(key, None, to)));
    let command = modify(&to.spec.name, size, iops, throughput)?;
    match (provider, kind) {
        ("aws", _) => Some(command.replace(" VOLUME", &format!(" VOLUME --volume-type {kind}"))),
        ("azure", "premium-ssd") => Some(format!("{command} --sku Premium_LRS")),
        ("azure", "standard-ssd") => Some(format!("{command} --sku StandardSSD_LRS")),
        ("azure", "standard-hdd") => Some(format!("{command} --sku Standard_LRS")),
        _ => None,
    }
}

/// Returns the provider's rule for a step, as a clause.
pub(crate) fn rule(step: CurrentStep, from: &Candidate) -> Option<&'static str> {
    let name = from.listed.split('@').next().unwrap_or_default();
    match (step, name) {
        (CurrentStep::Keep | CurrentStep::Unmet, _) => None,
        (CurrentStep::Replace, _) => Some("volumes cannot shrink, and their data are copied to another type"),
        (_, name) if name.starts_with("aws/") => {
            Some("EBS allows four modifications of a volume in 24 hours, each after the previous one has completed")
        }
        (_, "gcp/hyperdisk-balanced") => {
            Some("Hyperdisk Balanced allows a change of performance every 4 hours, and two changes of size in 4 hours")
        }
        (_, "gcp/hyperdisk-ml") => {
            Some("Hyperdisk ML allows a change of size every 4 hours, and a change of throughput every 6 hours")
        }
        (_, name) if name.starts_with("gcp/hyperdisk") => {
            Some("Hyperdisk allows a change of performance every 4 hours")
        }
        (_, "azure/premium-ssd-v2" | "azure/ultra") => Some("Azure allows four changes of performance in 24 hours"),
        (CurrentStep::Resize, "azure/premium-ssd") => {
            Some("Azure can raise the performance tier instead of the size, at the price of that tier")
        }
        (CurrentStep::Retype, _) => {
            Some("Azure changes the type while the disk is detached or its machine deallocated, twice a day")
        }
        _ => None,
    }
}
