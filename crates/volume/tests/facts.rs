//! Prices and limits of the catalogue against published figures.

use volume::catalogue::{self, ResolvedVolume};
use volume::{CountedUnit, Limit};

fn resolved(volume: &str) -> ResolvedVolume {
    let problems = |problems: Vec<units::Problem>| panic!("{volume}: {}", problems[0]);
    catalogue::resolve_all(&[volume], &catalogue::no_files).unwrap_or_else(problems).remove(0)
}

/// Returns the rate of a limit: IOPS, or MB/s.
fn rate(limit: &Limit) -> f64 {
    let rate = limit.rate.read.or(limit.rate.write).expect("a rate") as f64;
    if limit.counted == CountedUnit::Bytes { rate / 1e6 } else { rate }
}

fn limit(volume: &str, name: &str) -> Option<f64> {
    resolved(volume).spec.limits.iter().find(|limit| limit.name == name).map(rate)
}

/// A published figure of a volume.
#[derive(Clone, Copy, Debug)]
enum Fact {
    /// IOPS or MB/s of the limit of this name.
    Limit(&'static str),
    /// Price per month.
    Price,
    /// Price per month of what this adds to the volume.
    PriceOf(&'static str),
    /// Least and most value of a key, in its unit.
    Least(&'static str),
    Most(&'static str),
    /// Volumes per machine.
    Attached,
    /// Failures per year, in percent.
    Failures,
}

use Fact::{Attached, Failures, Least, Limit as Rate, Most, Price, PriceOf};

const MIB: f64 = 1.048_576;

/// Figures of the eight providers as published from 2024 to 2026, of 2018 those of Akamai's attachments.
const FACTS: &[(&str, Fact, f64)] = &[
    // Amazon EBS: user guide of 2026, price list of 2026-10.
    ("aws/gp3", Most("size"), 65_536.0),
    ("aws/gp3,size=160GiB", Most("iops"), 80_000.0),
    ("aws/gp3,size=160GiB,iops=80000", Most("throughput"), 2_000.0),
    ("aws/gp3", PriceOf(",iops=4000"), 5.0),
    ("aws/gp3", PriceOf(",throughput=225MiB/s"), 4.0),
    ("aws/gp2,size=100GiB", Rate("burst IOPS"), 3_000.0),
    ("aws/gp2,size=5334GiB", Rate("volume IOPS"), 16_000.0),
    ("aws/io1,size=2TiB", Rate("volume throughput"), 1_000.0 * MIB),
    ("aws/io2,size=1TiB", Rate("volume IOPS"), 256_000.0),
    ("aws/io2,size=1TiB,iops=100000", PriceOf(",iops=110000"), 318.5),
    ("aws/io2,size=1TiB", Rate("volume throughput"), 4_000.0 * MIB),
    ("aws/st1,size=16TiB", Rate("burst throughput"), 500.0 * MIB),
    ("aws/sc1", Least("size"), 125.0),
    ("aws/standard", Most("size"), 1_024.0),
    ("aws/gp3,restored=300MiB/s", Rate("snapshot initialization"), 300.0 * MIB),
    ("aws/gp3", Failures, 0.2),
    ("aws/io2", Failures, 0.001),
    ("aws/gp3", Attached, 128.0),
    // Azure: pages of 2026, Retail Prices API of 2026-07, resource SKUs API of 2025.
    ("azure/ultra,size=400GiB", Most("iops"), 400_000.0),
    ("azure/ultra,size=400GiB", Most("throughput"), 10_000.0),
    ("azure/ultra", Least("size"), 4.0),
    ("azure/premium-ssd-v2,size=160GiB", Most("iops"), 80_000.0),
    ("azure/premium-ssd-v2,size=160GiB,iops=8000", Most("throughput"), 2_000.0),
    ("azure/premium-ssd-v2,size=160GiB,iops=3000", Most("throughput"), 750.0),
    ("azure/p20", Price, 73.22),
    ("azure/p60", Price, 946.08),
    ("azure/p70", Rate("volume IOPS"), 18_000.0),
    ("azure/e10", Rate("volume throughput"), 100.0),
    ("azure/e30", Rate("burst throughput"), 250.0),
    ("azure/e4", Price, 2.40),
    ("azure/s4", Price, 1.536),
    ("azure/s70", Rate("volume IOPS"), 2_000.0),
    ("azure/p30", Attached, 64.0),
    // Google Cloud: overview of 2026-08, prices of 2026-09, durability of 2026-05.
    ("gcp/hyperdisk-balanced,size=320GiB", Most("iops"), 160_000.0),
    ("gcp/hyperdisk-balanced,size=1TiB,iops=160000", Most("throughput"), 2_400.0),
    ("gcp/hyperdisk-balanced,size=1TiB,iops=3000,throughput=140MiB/s", PriceOf(",iops=4000"), 5.0),
    ("gcp/hyperdisk-balanced-high-availability,size=200GiB", Most("iops"), 100_000.0),
    ("gcp/hyperdisk-extreme", Least("size"), 64.0),
    ("gcp/hyperdisk-extreme,size=1TiB", Rate("volume throughput"), 5_000.0 * MIB),
    ("gcp/hyperdisk-throughput,size=32TiB", Rate("volume IOPS"), 9_600.0),
    ("gcp/hyperdisk-ml,size=64TiB", Most("throughput"), 2_097_152.0),
    ("gcp/pd-balanced,size=1TiB", Rate("pd-balanced IOPS"), 9_144.0),
    ("gcp/pd-ssd,size=64TiB", Rate("pd-ssd write throughput"), 1_200.0 * MIB),
    ("gcp/pd-standard,size=64TiB", Rate("pd-standard IOPS"), 7_500.0),
    ("gcp/pd-standard-regional", Least("size"), 200.0),
    ("gcp/pd-standard", Failures, 0.01),
    ("gcp/pd-extreme", Failures, 0.0001),
    ("gcp/hyperdisk-balanced", Failures, 0.001),
    ("gcp/hyperdisk-balanced", Attached, 128.0),
    // Hetzner: API of 2026-09, FAQ.
    ("hetzner/volume,size=100GB", Price, 5.72),
    ("hetzner/volume", Most("size"), 10_240.0),
    ("hetzner/volume", Rate("volume IOPS"), 5_000.0),
    ("hetzner/volume", Attached, 16.0),
    // OCI: pages of 2024 to 2026.
    ("oci/block-volume,size=1000GB,vpus=10", Price, 42.5),
    ("oci/block-volume,size=1000GB,vpus=0", Price, 25.5),
    ("oci/block-volume,size=32768GB,vpus=120", Rate("volume IOPS"), 300_000.0),
    ("oci/block-volume,size=32768GB,vpus=120", Rate("volume throughput"), 2_680.0),
    ("oci/block-volume,size=100GB,vpus=10", Rate("volume IOPS"), 6_000.0),
    ("oci/block-volume", Attached, 32.0),
    // DigitalOcean: pages of 2025, and of 2018.
    ("digitalocean/volume,size=100GiB", Price, 10.0),
    ("digitalocean/volume@2018", Rate("volume IOPS"), 5_000.0),
    ("digitalocean/volume@2018", Rate("burst throughput"), 300.0),
    ("digitalocean/volume", Attached, 15.0),
    // Akamai.
    ("akamai/nvme-block,size=100GB", Price, 10.0),
    ("akamai/nvme-block", Least("size"), 10.0),
    ("akamai/nvme-block", Attached, 8.0),
    // Vultr: pages of 2025 and 2026.
    ("vultr/hdd-block,size=1000GB", Price, 25.0),
    ("vultr/nvme-block,size=1000GB", Price, 100.0),
    ("vultr/nvme-block", Rate("volume IOPS"), 10_000.0),
    ("vultr/hdd-block", Rate("burst IOPS"), 750.0),
    ("vultr/hdd-block", Most("size"), 40_000.0),
];

fn price(volume: &str) -> f64 {
    resolved(volume).spec.price.unwrap_or_else(|| panic!("{volume} has no price")).per_month
}

/// Returns a volume with keys in place of those it has.
fn with(volume: &str, keys: &str) -> String {
    let name = keys.trim_start_matches(',').split('=').next().unwrap();
    let kept: Vec<&str> = volume.split(',').filter(|pair| !pair.starts_with(&format!("{name}="))).collect();
    kept.join(",") + keys
}

#[test]
fn prices_and_limits_are_the_published_ones() {
    assert!(FACTS.len() >= 40, "{}", FACTS.len());
    let mut providers: Vec<&str> = FACTS.iter().map(|(volume, ..)| volume.split('/').next().unwrap()).collect();
    providers.dedup();
    assert_eq!(providers.len(), 8, "{providers:?}");
    for (volume, fact, expected) in FACTS {
        let about = resolved(volume).about;
        let bounds = |name: &str| about.keys.iter().find(|key| key.name == name).expect("the key").bounds.clone();
        let found = match *fact {
            Rate(name) => limit(volume, name),
            Price => Some(price(volume)),
            PriceOf(keys) => Some(price(&with(volume, keys)) - price(volume)),
            Least(key) => bounds(key).least,
            Most(key) => bounds(key).most,
            Attached => about.max_volumes.map(f64::from),
            Failures => about.annual_failure.map(|failure| failure.percent),
        };
        let found = found.unwrap_or_else(|| panic!("{volume} has no {fact:?}"));
        assert!((found / expected - 1.0).abs() < 1e-6, "{fact:?} of {volume} is {found}, published {expected}");
    }
}

/// Current machines: baseline and maximum of throughput in MB/s and of IOPS; equal if they do not burst.
const MACHINES: &[(&str, &str, [f64; 4])] = &[
    ("aws/gp3", "m6in.32xlarge", [12_500.0, 12_500.0, 400_000.0, 400_000.0]),
    ("aws/gp3", "r6a.24xlarge", [3_750.0, 3_750.0, 120_000.0, 120_000.0]),
    ("aws/gp3", "m7i.large", [81.25, 1_250.0, 3_600.0, 40_000.0]),
    ("aws/gp3", "m7i-flex.large", [39.06, 1_250.0, 2_500.0, 40_000.0]),
    ("aws/gp3", "c7gd.medium", [39.38, 1_250.0, 2_500.0, 40_000.0]),
    ("aws/gp3", "c8gn.48xlarge", [15_000.0, 15_000.0, 480_000.0, 480_000.0]),
    ("aws/gp3", "r8gb.48xlarge", [37_500.0, 37_500.0, 1_440_000.0, 1_440_000.0]),
    ("aws/gp3", "g7.48xlarge", [10_000.0, 10_000.0, 320_000.0, 320_000.0]),
    ("aws/gp3", "c8a.48xlarge", [7_500.0, 7_500.0, 240_000.0, 240_000.0]),
    ("aws/gp3", "c8i.2xlarge", [312.5, 1_250.0, 12_000.0, 40_000.0]),
    ("azure/p80", "D2s_v6", [106.0, 1_250.0, 3_750.0, 40_000.0]),
    ("azure/p80", "D64s_v6", [3_392.0, 3_392.0, 102_400.0, 102_400.0]),
    ("azure/p80", "Standard_E8-4ds_v5", [290.0, 290.0, 12_800.0, 12_800.0]),
    ("azure/p80", "D248s_v7", [13_145.0, 15_000.0, 396_800.0, 500_000.0]),
    ("azure/p80", "E64bs_v6", [6_600.0, 8_000.0, 242_000.0, 253_000.0]),
    ("azure/p80", "L80s_v3", [2_160.0, 3_000.0, 80_000.0, 80_000.0]),
    ("azure/p80", "D2as_v6", [90.0, 90.0, 4_000.0, 4_000.0]),
    ("azure/p80", "NC24ads_A100_v4", [1_024.0, 1_024.0, 30_000.0, 30_000.0]),
    ("azure/p80", "F16s_v2", [384.0, 384.0, 25_600.0, 25_600.0]),
    ("azure/s80", "D2_v5", [85.0, 85.0, 3_750.0, 3_750.0]),
    ("azure/s80", "E4d_v5", [145.0, 145.0, 6_400.0, 6_400.0]),
    ("azure/ultra,size=1TiB", "D8s_v7", [540.0, 1_640.0, 20_000.0, 56_250.0]),
    ("azure/ultra,size=1TiB", "L48s_v4", [2_976.0, 2_976.0, 100_000.0, 104_167.0]),
    ("gcp/hyperdisk-balanced", "c4d-standard-96", [3_125.0 * MIB, 3_125.0 * MIB, 160_000.0, 160_000.0]),
    ("gcp/hyperdisk-balanced", "c4d-highcpu-384-metal", [10_000.0 * MIB, 10_000.0 * MIB, 320_000.0, 320_000.0]),
    ("gcp/hyperdisk-balanced", "c4-standard-192", [10_000.0 * MIB, 10_000.0 * MIB, 320_000.0, 320_000.0]),
    ("gcp/hyperdisk-balanced-high-availability", "c4d-standard-8", [800.0 * MIB, 800.0 * MIB, 50_000.0, 50_000.0]),
    ("gcp/hyperdisk-ml", "n4a-standard-32", [1_600.0 * MIB, 1_600.0 * MIB, 100_000.0, 100_000.0]),
    ("gcp/hyperdisk-extreme", "m4n-highmem-224", [25_000.0 * MIB, 25_000.0 * MIB, 1_000_000.0, 1_000_000.0]),
    ("gcp/hyperdisk-balanced", "h4d-standard-192", [240.0 * MIB, 240.0 * MIB, 15_000.0, 15_000.0]),
];

#[test]
fn machines_have_their_published_limits() {
    for (volume, machine, expected) in MACHINES {
        let volume = format!("{volume},machine={machine}");
        let limits = resolved(&volume).spec.limits;
        let of_machine = |unit: CountedUnit| {
            let of_unit = limits.iter().filter(move |limit| limit.name.starts_with("machine") && limit.counted == unit);
            let rates: Vec<f64> = of_unit.map(rate).collect();
            [rates.iter().copied().fold(f64::INFINITY, f64::min), rates.iter().copied().fold(0.0, f64::max)]
        };
        let ([low, high], [few, many]) = (of_machine(CountedUnit::Bytes), of_machine(CountedUnit::Operations));
        for (found, expected) in [low, high, few, many].into_iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 1e-3, "{volume}: {found}, published {expected}");
        }
    }
}

/// The bandwidth of some families can be weighted for EBS; others had the same limits with `weighting=ebs-1`.
#[test]
fn weighting_raises_the_baseline_of_the_families_that_have_it() {
    let rates = |machine: &str| {
        let volume = format!("aws/gp3,weighting=ebs-1,machine={machine}");
        ["machine throughput", "machine maximum throughput", "machine maximum IOPS"].map(|name| limit(&volume, name))
    };
    assert_eq!(rates("m8g.xlarge"), [Some(195.3125), Some(1_250.0), Some(40_000.0)]);
    // The baseline exceeds the maximum.
    assert_eq!(rates("m8g.8xlarge"), [None, Some(1_562.5), Some(40_000.0)]);
    assert_eq!(rates("c8g.metal-24xl"), [None, Some(4_687.5), Some(120_000.0)]);
    assert_eq!(rates("r8i-flex.large")[1], Some(1_250.0));
    assert_eq!(limit("aws/gp3,weighting=default,machine=m7i.large", "machine throughput"), Some(81.25));
    for volume in [
        "aws/gp3,weighting=ebs-1,machine=m7i.large",
        "aws/io2,weighting=ebs-1",
        "aws/st1,weighting=ebs-1,machine=c8gn.large",
    ] {
        let problem = catalogue::resolve(volume).unwrap_err().remove(0);
        assert!(problem.what.contains("requires a machine type with bandwidth weighting"), "{problem}");
        assert!(problem.help.as_ref().is_some_and(|help| help.contains("X8aedz")), "{problem}");
    }
    let both = ["aws/gp3,machine=m8g.large,weighting=ebs-1", "aws/gp3,machine=m8g.large"];
    let problems = catalogue::resolve_all(&both, &catalogue::no_files).unwrap_err();
    assert!(problems[0].what.contains("`weighting` is `default` here"), "{problems:?}");
}

/// A volume on a machine with two EBS cards reached the limits of both.
#[test]
fn a_volume_is_attached_to_one_card() {
    for (machine, iops, mbps) in [
        ("r8gb.48xlarge", 720_000.0, 18_750.0),
        ("r8gn.metal-48xl", 240_000.0, 7_500.0),
        ("g7.48xlarge", 160_000.0, 5_000.0),
    ] {
        let volume = format!("aws/io2,size=1TiB,machine={machine}");
        assert_eq!(limit(&volume, "EBS card IOPS"), Some(iops), "{machine}");
        assert_eq!(limit(&volume, "EBS card throughput"), Some(mbps), "{machine}");
    }
    assert_eq!(limit("aws/io2,size=1TiB,machine=r8gb.24xlarge", "EBS card IOPS"), None);
}

#[test]
fn restored_volumes_read_at_the_rate_of_their_initialization() {
    for volume in ["aws/gp3", "aws/gp2", "aws/io1", "aws/io2", "aws/st1", "aws/sc1", "aws/standard"] {
        assert_eq!(limit(volume, "snapshot initialization"), None);
        let restored = resolved(&format!("{volume},restored=100MiB/s")).spec;
        let limit = restored.limits.iter().find(|limit| limit.name == "snapshot initialization").unwrap();
        assert_eq!((limit.rate.read, limit.rate.write), (Some(100 << 20), None), "{volume}");
        assert!(restored.notes.iter().any(|note| note.contains("not yet loaded")), "{:?}", restored.notes);
    }
    for rate in ["99MiB/s", "301MiB/s"] {
        assert!(catalogue::resolve(&format!("aws/gp3,restored={rate}")).is_err(), "{rate}");
    }
}

/// Sources of figures that contradict each other are named.
#[test]
fn contradictions_of_sources_are_stated() {
    for (volume, figures) in [
        ("azure/ultra", &["160,000", "400,000"][..]),
        ("azure/premium-ssd-v2", &["1,200", "2,000"]),
        ("gcp/pd-balanced", &["c4a and n4", "2025-12-16"]),
        ("gcp/pd-extreme", &["M1, M2, M3 and N2"]),
        ("gcp/hyperdisk-throughput", &["C4D", "2026-08-26"]),
        ("oci/block-volume", &["50,000", "35,000"]),
        ("digitalocean/volume", &["60 s", "15 volumes", "API 7"]),
        ("akamai/nvme-block", &["16,384", "10,240"]),
        ("vultr/nvme-block", &["7,500 IOPS", "10,000 IOPS"]),
        ("vultr/hdd-block", &["0.05", "0.025"]),
    ] {
        let remarks = resolved(volume).about.remarks.join("\n");
        assert!(figures.iter().all(|figure| remarks.contains(figure)), "{volume}: {remarks}");
    }
}

#[test]
fn limits_of_machines_have_measured_tolerances() {
    for (volume, per_mille) in
        [("aws/gp3,machine=m7i.large", 110), ("azure/p80,machine=D8s_v5", 70), ("azure/ultra,machine=D8s_v6", 70)]
    {
        let limits = resolved(volume).spec.limits;
        let limit = limits.iter().find(|limit| limit.name == "machine maximum IOPS").unwrap();
        let tolerance = limit.tolerance.as_ref().unwrap_or_else(|| panic!("{volume} has no tolerance"));
        assert_eq!(tolerance.per_mille, per_mille, "{volume}");
        assert!(!tolerance.source.date.is_empty());
    }
}

/// Every provider's failure rate and number of volumes has a source.
#[test]
fn failures_and_attachments_have_sources() {
    let mut known = 0;
    for listed in catalogue::list() {
        let about = resolved(&listed.name).about;
        assert_eq!(about.max_volumes.is_some(), !about.max_volumes_source.is_empty(), "{}", listed.name);
        if let Some(failure) = about.annual_failure {
            known += 1;
            assert!(!failure.source.title.is_empty() && !failure.published.is_empty(), "{}", listed.name);
            assert!((0.0..1.0).contains(&failure.percent), "{}", listed.name);
        }
    }
    assert!(known >= 20, "{known}");
    let notes = |volume: &str| resolved(volume).spec.notes.join("\n");
    assert!(notes("hetzner/volume,stripe=17").contains("a machine takes at most 16 volumes (Hetzner Cloud Volumes"));
    assert!(!notes("hetzner/volume,stripe=16").contains("at most 16"));
    assert_eq!(resolved("vultr/nvme-block").about.max_volumes, None);
    assert_eq!(resolved("gcp/pd-ssd@2019").about.max_volumes, None);
    assert_eq!(resolved("gcp/local-ssd-nvme").about.max_volumes, Some(1));
    assert_eq!(resolved("hetzner/volume").about.annual_failure, None);
}

/// Sizes without premium storage were missing, and constrained ones must have the limits of the whole size.
#[test]
fn azure_sizes_without_premium_storage_take_standard_disks_alone() {
    for machine in ["D2_v5", "Standard_E64i_v3", "D4d_v4"] {
        let refused = catalogue::resolve(&format!("azure/p30,machine={machine}")).unwrap_err().remove(0);
        assert!(refused.what.contains("cannot be attached"), "{refused}");
        assert!(refused.help.as_ref().is_some_and(|help| help.contains("it supports standard-ssd, standard-hdd (")));
        for volume in ["azure/e30", "azure/s30"] {
            assert!(resolved(&format!("{volume},machine={machine}")).spec.unknown_limits.is_empty(), "{machine}");
        }
    }
    for (machine, iops) in
        [("M64-32bds_1_v3", 130_000.0), ("Standard_M176-88bs_v3", 265_000.0), ("E96-24as_v5", 80_000.0)]
    {
        assert_eq!(limit(&format!("azure/p80,machine={machine}"), "machine maximum IOPS"), Some(iops), "{machine}");
    }
}

/// The script of the CSI driver lists more machines than Google's page.
#[test]
fn persistent_disks_attach_to_the_series_of_googles_page() {
    for (volume, machine, is_taken) in [
        ("pd-balanced", "c4a-standard-8", false),
        ("pd-ssd", "n4-standard-8", false),
        ("pd-ssd", "c3-standard-8", true),
        ("pd-extreme", "n2-standard-64", true),
        ("pd-extreme", "c3-standard-176", false),
        ("pd-standard", "m3-ultramem-64", false),
        ("pd-ssd-regional", "n2d-standard-8", true),
        ("pd-ssd-regional", "c3-standard-8", false),
        ("pd-balanced", "a3-ultragpu-8g", false),
    ] {
        let refusal = catalogue::machine_refusal(&format!("gcp/{volume}"), machine);
        assert_eq!(refusal.is_none(), is_taken, "{volume} {machine}: {refusal:?}");
    }
}

/// Rows that only say that a family has Nitro or weighting counted as machines without limits.
#[test]
fn families_are_not_listed_as_machines() {
    let names = catalogue::machine_names("aws/gp3").unwrap();
    assert!(names.len() > 1_300 && names.iter().all(|name| !name.contains('*')), "{}", names.len());
}
