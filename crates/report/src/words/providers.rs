//! Commands with which providers' own tools change a volume in place.

/// Returns the command that changes a volume of the catalogue, if its provider can.
pub(crate) fn modify(
    volume: &str,
    bytes: Option<u64>,
    iops: Option<u64>,
    bytes_per_second: Option<u64>,
) -> Option<String> {
    let (provider, kind) = volume.split(',').next()?.split('@').next()?.split_once('/')?;
    let gib = bytes.map(|bytes| bytes.div_ceil(1 << 30));
    let mib = bytes_per_second.map(|rate| rate.div_ceil(1 << 20));
    let mb = bytes_per_second.map(|rate| rate.div_ceil(1_000_000));
    let options = |names: [&str; 3], throughput: Option<u64>| -> String {
        let values = [gib, iops, throughput];
        names.iter().zip(values).filter_map(|(name, value)| Some(format!(" {name}{}", value?))).collect()
    };
    match provider {
        "aws" => Some(format!(
            "aws ec2 modify-volume --volume-id VOLUME{}",
            options(["--size ", "--iops ", "--throughput "], mib)
        )),
        "gcp" if kind.starts_with("hyperdisk") => Some(format!(
            "gcloud compute disks update DISK{}",
            options(["--size=", "--provisioned-iops=", "--provisioned-throughput="], mib)
        )),
        "gcp" => gib.map(|gib| format!("gcloud compute disks resize DISK --size={gib}GB")),
        "azure" => Some(format!(
            "az disk update --resource-group GROUP --name DISK{}",
            options(["--size-gb ", "--disk-iops-read-write ", "--disk-mbps-read-write "], mb)
        )),
        _ => None,
    }
}

/// Returns the commands that create a volume of the catalogue; none if its provider has none. Volumes in RAID 0 are created
/// one after the other and joined on the machine.
pub(crate) fn create(volume: &str) -> Vec<String> {
    let Some(one) = create_one(volume) else { return Vec::new() };
    let Some(stripe) = volume.split(',').find_map(|word| word.strip_prefix("stripe=")) else { return vec![one] };
    let (members, unit) = stripe.split_once('/').unwrap_or((stripe, "512KiB"));
    let chunk = unit.trim_end_matches("iB");
    // Each has a name of its own.
    let one = one.replace(" DISK ", " DISK-$i ");
    vec![
        format!("for i in $(seq {members}); do {one}; done"),
        format!("mdadm --create /dev/md0 --level=0 --raid-devices={members} --chunk={chunk} DISK..."),
    ]
}

/// Returns the command that launches a machine for a volume of the catalogue, if its provider has one.
pub(crate) fn create_machine(volume: &str, machine: &str, count: u32) -> Option<String> {
    let several = if count > 1 { format!(" --count {count}") } else { String::new() };
    match volume.split(['/', '@']).next()? {
        "aws" => Some(format!("aws ec2 run-instances --image-id IMAGE --instance-type {machine}{several}")),
        "gcp" => Some(format!("gcloud compute instances create NAME --zone=ZONE --machine-type={machine}")),
        "azure" => Some(format!(
            "az vm create --resource-group GROUP --name NAME --image IMAGE --size Standard_{machine}{several}"
        )),
        _ => None,
    }
}

/// Returns Azure's name of a disk type.
pub(crate) fn azure_sku(kind: &str) -> Option<&'static str> {
    match kind {
        "premium-ssd" => Some("Premium_LRS"),
        "premium-ssd-v2" => Some("PremiumV2_LRS"),
        "ultra" => Some("UltraSSD_LRS"),
        "standard-ssd" => Some("StandardSSD_LRS"),
        "standard-hdd" => Some("Standard_LRS"),
        _ => None,
    }
}

fn create_one(volume: &str) -> Option<String> {
    let mut words = volume.split(',');
    let (provider, kind) = words.next()?.split('@').next()?.split_once('/')?;
    let keys: Vec<(&str, &str)> = words.filter_map(|word| word.split_once('=')).collect();
    let key = |name: &str| keys.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
    // Sizes and throughputs are sold in whole units; the unit stands behind the number.
    let number = |name: &str| key(name).map(|value| value.trim_end_matches(|letter: char| !letter.is_ascii_digit()));
    let in_gib = |size: &str| {
        let (number, unit) = size.split_at(size.find(char::is_alphabetic)?);
        let number: f64 = number.parse().ok()?;
        match unit {
            "GiB" => Some(number),
            "TiB" => Some(number * 1024.0),
            "GB" => Some(number * 1e9 / 1_073_741_824.0),
            "TB" => Some(number * 1e12 / 1_073_741_824.0),
            _ => None,
        }
    };
    let gib = key("size").and_then(in_gib).map(|gib| gib.ceil().to_string());
    let options = |names: [&str; 3]| -> String {
        let values = [gib.as_deref(), number("iops"), number("throughput")];
        names.iter().zip(values).filter_map(|(name, value)| Some(format!(" {name}{}", value?))).collect()
    };
    match provider {
        "aws" => Some(format!(
            "aws ec2 create-volume --availability-zone ZONE --volume-type {kind}{}",
            options(["--size ", "--iops ", "--throughput "])
        )),
        "gcp" if kind.starts_with("pd-") || kind.starts_with("hyperdisk-") => {
            let (kind, place) = match kind.strip_suffix("-regional") {
                Some(zonal) => (zonal, "--region=REGION --replica-zones=ZONE,ZONE"),
                None => (kind, "--zone=ZONE"),
            };
            Some(format!(
                "gcloud compute disks create DISK {place} --type={kind}{}",
                options(["--size=", "--provisioned-iops=", "--provisioned-throughput="])
            ))
        }
        "azure" => {
            let sku = azure_sku(kind)?;
            Some(format!(
                "az disk create --resource-group GROUP --name DISK --sku {sku}{}",
                options(["--size-gb ", "--disk-iops-read-write ", "--disk-mbps-read-write "])
            ))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{create, modify};

    #[test]
    fn volumes_are_created_with_all_that_is_provisioned() {
        let aws = "aws ec2 create-volume --availability-zone ZONE --volume-type gp3 --size 1024 --iops 10800 --throughput 125";
        assert_eq!(create("aws/gp3,size=1024GiB,iops=10800,throughput=125MiB/s"), [aws]);
        let regional = create("gcp/pd-ssd,size=2TiB,machine=n2-standard-8").remove(0);
        assert_eq!(regional, "gcloud compute disks create DISK --zone=ZONE --type=pd-ssd --size=2048");
        assert!(create("azure/premium-ssd-v2,size=512GiB,iops=8000")[0].contains("--sku PremiumV2_LRS --size-gb 512"));
        assert!(create("hdd/7200rpm").is_empty());
        let stripe = create("gcp/pd-ssd,size=100GiB,stripe=4/64KiB");
        assert!(stripe[0].starts_with("for i in $(seq 4); do gcloud compute disks create DISK-$i "), "{stripe:?}");
        assert!(stripe[0].ends_with("--size=100; done"), "{stripe:?}");
        assert_eq!(stripe[1], "mdadm --create /dev/md0 --level=0 --raid-devices=4 --chunk=64K DISK...");
    }

    #[test]
    fn each_provider_has_its_own_command() {
        let of = |volume| modify(volume, None, Some(6000), None);
        assert_eq!(of("aws/gp3,size=1GiB").unwrap(), "aws ec2 modify-volume --volume-id VOLUME --iops 6000");
        let hyperdisk = "gcloud compute disks update DISK --provisioned-iops=6000";
        assert_eq!(of("gcp/hyperdisk-balanced@2024").unwrap(), hyperdisk);
        let grown = modify("gcp/pd-ssd", Some(1 << 40), None, None).unwrap();
        assert_eq!(grown, "gcloud compute disks resize DISK --size=1024GB");
        assert!(of("azure/premium-ssd-v2").unwrap().ends_with("--disk-iops-read-write 6000"));
        assert_eq!((of("vultr/nvme-block"), of("custom")), (None, None));
    }
}
