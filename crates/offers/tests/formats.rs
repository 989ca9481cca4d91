//! What is read of a file of each format.

use std::collections::BTreeMap;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use offers::{
    DatedFile, MachineLimits, MachineOffer, OfferFormat, OfferList, OfferOptions, OfferReader, Provider, SkipReason,
};

use crate::common::{
    ALL, AZURE_PRICES, AZURE_SKUS, AZURE_SKUS_REST, GCP_MACHINE_TYPE, GCP_MACHINE_TYPES, GCP_SKUS, INSTANCE_TYPES,
    PRICE_LIST, PRICE_TABLE, PRODUCTS, prices, read, with,
};

const GIB: u64 = 1 << 30;

const AWS_PRICES: [&str; 9] = [
    "aws/gp3 xx-none-1 capacity 0.. 0.0777 per GiB",
    "aws/gp3 xx-none-1 iops 0.. 0.0055 per Iops",
    "aws/gp3 xx-none-1 throughput 0.. 0.044 per MebibytesPerSecond",
    "aws/io1 xx-none-1 capacity 0.. 0.1444 per GiB",
    "aws/io2 xx-none-1 capacity 0.. 0.1333 per GiB",
    "aws/io2 xx-none-1 iops 0..32000 0.07 per Iops",
    "aws/io2 xx-none-1 iops 32000..64000 0.05 per Iops",
    "aws/io2 xx-none-1 iops 64000.. 0.035 per Iops",
    "aws/standard xx-none-1 capacity 0.. 0.066 per GiB",
];

fn skipped(list: &OfferList) -> Vec<(SkipReason, u64)> {
    list.skipped.iter().map(|(reason, number)| (*reason, *number)).collect()
}

#[test]
fn every_file_is_recognized_by_its_content() {
    let formats = [
        OfferFormat::AwsInstanceTypes,
        OfferFormat::AwsPriceList,
        OfferFormat::AwsPriceListCsv,
        OfferFormat::AwsProducts,
        OfferFormat::AzureRetailPrices,
        OfferFormat::AzureSkus,
        OfferFormat::AzureSkus,
        OfferFormat::GcpSkus,
        OfferFormat::GcpMachineTypes,
        OfferFormat::GcpMachineTypes,
    ];
    for ((name, file), format) in ALL.iter().zip(formats) {
        let mut reader = OfferReader::new(OfferOptions::default());
        assert_eq!(reader.read(name, *file), Ok(format));
        assert!(name.starts_with(format.provider().name()) && !format.title().is_empty());
    }
}

#[test]
fn aws_instance_types() {
    let list = read(INSTANCE_TYPES).expect("offers");
    assert_eq!((list.provider, list.source_date.as_deref()), (Provider::Aws, None));
    let limits = |base_iops, max_iops, base_bytes_per_s, max_bytes_per_s| MachineLimits {
        base_iops: Some(base_iops),
        max_iops: Some(max_iops),
        base_bytes_per_s: Some(base_bytes_per_s),
        max_bytes_per_s: Some(max_bytes_per_s),
    };
    let machine = |name: &str, arch: &str, vcpus, gib: u64| MachineOffer {
        name: name.into(),
        arch: Some(arch.into()),
        vcpus: Some(vcpus),
        memory_bytes: Some(gib * GIB),
        ..MachineOffer::default()
    };
    let expected = [
        MachineOffer { hypervisor: Some("xen".into()), ..machine("y1g.small", "arm64", 1, 2) },
        MachineOffer {
            hypervisor: Some("nitro".into()),
            max_volumes: Some(40),
            // 6,405 megabits: the 800.62 megabytes beside them are rounded.
            limits: limits(24_000, 48_000, 800_625_000, 1_600_000_000),
            ..machine("z9q.4xlarge", "x86_64", 16, 64)
        },
        MachineOffer {
            max_volumes: Some(79),
            limits: limits(400_000, 400_000, 10_000_000_000, 10_000_000_000),
            ..machine("z9q.metal-96xl", "x86_64", 384, 3072)
        },
    ];
    assert_eq!(list.machines, expected);
}

#[test]
fn a_map_of_instance_types_and_a_single_one() {
    let item = serde_json::from_slice::<serde_json::Value>(INSTANCE_TYPES).expect("JSON")["InstanceTypes"][0].clone();
    let expected = read(INSTANCE_TYPES).expect("offers").machines[1].clone();
    let shapes = [serde_json::json!({ "z9q.4xlarge": item }), item.clone(), serde_json::json!([item])];
    for shape in shapes {
        assert_eq!(read(shape.to_string().as_bytes()).expect("offers").machines, std::slice::from_ref(&expected));
    }
}

#[test]
fn aws_price_list() {
    let list = read(PRICE_LIST).expect("offers");
    assert_eq!(prices(&list), AWS_PRICES);
    assert_eq!(list.source_date.as_deref(), Some("2026-01-02"));
    assert_eq!(list.regions, ["xx-none-1"]);
    let machine = MachineOffer {
        name: "z9q.4xlarge".into(),
        vcpus: Some(16),
        memory_bytes: Some(64 * GIB),
        regions: vec!["xx-none-1".into()],
        price_per_hour: BTreeMap::from([("xx-none-1".into(), 0.808)]),
        ..MachineOffer::default()
    };
    assert_eq!(list.machines, [machine]);
    let left_out = [
        (SkipReason::OtherProduct, 2),
        (SkipReason::OtherLocation, 1),
        (SkipReason::OtherSystem, 1),
        (SkipReason::PerOperation, 1),
    ];
    assert_eq!(skipped(&list), left_out);
}

#[test]
fn the_table_of_the_aws_price_list_has_the_same_offers() {
    let mut list = read(PRICE_TABLE).expect("offers");
    assert_eq!(list.skipped.remove(&SkipReason::NotOnDemand), Some(1));
    let of_json = read(PRICE_LIST).expect("offers");
    assert_eq!(OfferList { formats: of_json.formats.clone(), ..list }, of_json);
}

#[test]
fn aws_products() {
    let list = read(PRODUCTS).expect("offers");
    assert_eq!(prices(&list), AWS_PRICES);
    let (all, products) = (read(PRICE_LIST).expect("offers").prices, list.prices);
    assert_eq!(products, all);
    assert_eq!(list.source_date.as_deref(), Some("2026-01-02"));
    // With `--query PriceList`.
    let texts = serde_json::from_slice::<serde_json::Value>(PRODUCTS).expect("JSON")["PriceList"].to_string();
    assert_eq!(read(texts.as_bytes()).expect("offers").prices, all);
}

#[test]
fn azure_prices_of_two_pages() {
    let list = read(AZURE_PRICES).expect("offers");
    let expected = [
        "azure/premium-ssd nowhere1 disk P30 0.. 111.1 per Disk",
        "azure/premium-ssd-v2 nowhere1 capacity 0.. 0.08103 per GiB",
        "azure/premium-ssd-v2 nowhere1 iops 3000.. 0.00511 per Iops",
        "azure/premium-ssd-v2 nowhere1 throughput 125.. 0.04015 per MegabytesPerSecond",
        "azure/standard-hdd nowhere1 disk S4 0.. 1.5 per Disk",
        "azure/standard-ssd nowhere1 disk E10 0.. 9.9 per Disk",
        "azure/ultra nowhere1 capacity 0.. 0.11972 per GiB",
        "azure/ultra nowhere1 iops 0.. 0.04964 per Iops",
        "azure/ultra nowhere1 throughput 0.. 0.3504 per MegabytesPerSecond",
    ];
    assert_eq!(prices(&list), expected);
    assert_eq!((list.incomplete, list.source_date.as_deref()), (false, Some("2026-01-01")));
    let machines: Vec<_> =
        list.machines.iter().map(|machine| (machine.name.as_str(), &machine.price_per_hour)).collect();
    assert_eq!(machines, [("Z8s_v9", &BTreeMap::from([("nowhere1".into(), 0.404)]))]);
    let left_out = [
        (SkipReason::OtherProduct, 2),
        (SkipReason::NotOnDemand, 3),
        (SkipReason::OtherSystem, 1),
        (SkipReason::ZoneRedundant, 1),
        (SkipReason::PerOperation, 1),
        (SkipReason::SecondaryMeter, 1),
        (SkipReason::Superseded, 1),
        (SkipReason::Unpriced, 2),
    ];
    assert_eq!(skipped(&list), left_out);
}

#[test]
fn pages_may_be_files_a_list_or_documents_after_one_another() {
    let text = std::str::from_utf8(AZURE_PRICES).expect("text");
    let pages: Vec<&str> = text.lines().collect();
    let whole = read(AZURE_PRICES);
    assert_eq!(read(format!("[{}]", pages.join(",")).as_bytes()), whole);
    let separate: Vec<&[u8]> = pages.iter().map(|page| page.as_bytes()).collect();
    assert_eq!(crate::common::read_all(&separate, OfferOptions::default()), whole);
    // Without the last page, which alone names no next one.
    assert!(read(pages[0].as_bytes()).expect("offers").incomplete);
    let items: Vec<String> = pages
        .iter()
        .map(|page| serde_json::from_str::<serde_json::Value>(page).expect("JSON")["Items"].clone())
        .flat_map(|items| items.as_array().expect("a list").iter().map(ToString::to_string).collect::<Vec<_>>())
        .collect();
    assert_eq!(read(items.join("\n").as_bytes()), whole);
}

#[test]
fn azure_skus() {
    let list = read(AZURE_SKUS).expect("offers");
    let machine = MachineOffer {
        name: "Z8s_v9".into(),
        arch: Some("x86_64".into()),
        vcpus: Some(8),
        memory_bytes: Some(32 * GIB),
        max_volumes: Some(16),
        regions: vec!["elsewhere2".into(), "nowhere1".into()],
        // The lower limit of the two regions, with the bytes as they are.
        limits: MachineLimits {
            base_iops: Some(10_000),
            base_bytes_per_s: Some(288_358_400),
            ..MachineLimits::default()
        },
        ..MachineOffer::default()
    };
    assert_eq!(list.machines, [machine]);
    assert_eq!(skipped(&list), [(SkipReason::OtherProduct, 1), (SkipReason::DiskLimits, 3)]);
}

#[test]
fn azure_skus_of_the_rest_interface() {
    let (rest, list) = (read(AZURE_SKUS_REST).expect("offers"), read(AZURE_SKUS).expect("offers"));
    assert!(rest.incomplete && !list.incomplete);
    assert_eq!((rest.machines[0].limits.base_iops, rest.regions), (Some(11_000), vec!["nowhere1".to_owned()]));
}

#[test]
fn gcp_skus() {
    let list = read(GCP_SKUS).expect("offers");
    let expected = [
        "gcp/hyperdisk-balanced nowhere-north9 capacity 0.. 0.088 per GiB",
        "gcp/hyperdisk-balanced nowhere-north9 iops 0.. 0.004444 per Iops",
        "gcp/hyperdisk-balanced nowhere-north9 throughput 0.. 0.0438 per MebibytesPerSecond",
        "gcp/hyperdisk-throughput nowhere-north9 throughput 0.. 0.25 per MebibytesPerSecond",
        "gcp/local-ssd-nvme nowhere-north9 capacity 0.. 0.0876 per GiB",
        "gcp/pd-balanced-regional nowhere-north9 capacity 0.. 0.22 per GiB",
        "gcp/pd-extreme nowhere-north9 iops 0.. 0.07 per Iops",
        "gcp/pd-ssd elsewhere-west1 capacity 0.. 0.19 per GiB",
        "gcp/pd-ssd nowhere-north9 capacity 0.. 0.19 per GiB",
        "gcp/pd-standard nowhere-north9 capacity 0.. 0.044 per GiB",
    ];
    assert_eq!(prices(&list), expected);
    assert_eq!(list.regions, ["elsewhere-west1", "nowhere-north9"]);
    assert_eq!((list.incomplete, list.source_date.as_deref()), (false, Some("2026-01-01")));
    assert_eq!(skipped(&list), [(SkipReason::OtherProduct, 3), (SkipReason::NotOnDemand, 1)]);
}

#[test]
fn gcp_machine_types() {
    let list = read(GCP_MACHINE_TYPES).expect("offers");
    let machine = |name: &str, arch: &str, vcpus, gib: u64, max_volumes, regions: &[&str]| MachineOffer {
        name: name.into(),
        arch: Some(arch.into()),
        vcpus: Some(vcpus),
        memory_bytes: Some(gib * GIB),
        max_volumes: Some(max_volumes),
        regions: regions.iter().map(|&region| region.to_owned()).collect(),
        ..MachineOffer::default()
    };
    let both = ["elsewhere-west1", "nowhere-north9"];
    let large = machine("z9-standard-8", "x86_64", 8, 32, 16, &both);
    assert_eq!(list.machines, [machine("y9a-highmem-2", "arm64", 2, 16, 128, &both[1..]), large.clone()]);
    let single = read(GCP_MACHINE_TYPE).expect("offers");
    assert_eq!(single.machines, [MachineOffer { max_volumes: Some(32), regions: vec![both[1].into()], ..large }]);
}

#[test]
fn gzip_and_a_byte_order_mark_make_no_difference() {
    for (name, file) in ALL {
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(file).expect("memory");
        let packed = packer.finish().expect("memory");
        assert_eq!(read(&packed), read(file), "{name}");
        assert_eq!(read(&[b"\xef\xbb\xbf", *file].concat()), read(file), "{name}");
    }
}

/// Lays a file over nothing, or over an earlier dated file.
fn dated(file: &[u8], before: Option<&DatedFile>) -> DatedFile {
    let list = OfferList { incomplete: false, ..read(file).expect("offers") };
    let mut dated = before.cloned().unwrap_or_else(|| DatedFile::new(list.provider));
    dated.renew(&list, "2026-02-03").expect("figures");
    dated
}

#[test]
fn dated_files_are_read_back_as_they_are() {
    for (name, file) in ALL {
        let provider = read(file).expect("offers").provider;
        let once = dated(file, None);
        let text = once.text();
        assert_eq!(DatedFile::parse(provider, "x.toml", &text).as_ref(), Ok(&once), "{name}: {text}");
        assert_eq!(dated(file, Some(&once)).text(), text, "{name}");
    }
}

#[test]
fn figures_have_the_tables_and_columns_of_the_catalogue() {
    let rows = |file: &[u8], table: &str| -> Vec<String> {
        let text = dated(file, None).text();
        let tables = text.split("\n[[table]]\n").filter(|part| part.starts_with(&format!("id = \"{table}\"\n")));
        let line = |line: &str| line.strip_prefix("columns = ").unwrap_or(line).trim_matches('"').to_owned();
        let kept = |line: &&str| !line.starts_with("id") && !line.starts_with("rows") && *line != "\"\"\"";
        tables.flat_map(|part| part.lines().filter(kept).map(line).collect::<Vec<_>>()).collect()
    };
    assert_eq!(
        rows(PRICE_LIST, "prices"),
        [
            "source = \"renewed-price-list-2026-01-02",
            "gp3_gb gp3_iops gp3_mibps io1_gb io2_gb io2_iops io2_iops_2 io2_iops_3 standard_gb",
            "xx-none-1 0.0777 0.0055 0.044 0.1444 0.1333 0.07 0.05 0.035 0.066",
        ]
    );
    assert_eq!(rows(PRICE_LIST, "on-demand")[1..], ["xx-none-1", "z9q.4xlarge 0.808"]);
    assert_eq!(
        rows(INSTANCE_TYPES, "ebs")[1..],
        [
            "base_iops base_mbps max_iops max_mbps vcpus",
            "z9q.4xlarge 24000 800.625 48000 1600 16",
            "z9q.metal-96xl 400000 10000 400000 10000 384",
        ]
    );
    assert_eq!(
        rows(INSTANCE_TYPES, "machines")[1..],
        [
            "vcpus memory_gib arch volumes",
            "y1g.small 1 2 arm64 -",
            "z9q.4xlarge 16 64 x86_64 40",
            "z9q.metal-96xl 384 3072 x86_64 79",
        ]
    );
    assert_eq!(rows(AZURE_PRICES, "premium-ssd-prices")[1..], ["P30", "nowhere1 111.1"]);
    assert_eq!(
        rows(AZURE_PRICES, "prices")[1..],
        [
            "premium_v2_gb premium_v2_iops premium_v2_mbps ultra_gb ultra_iops ultra_mbps",
            "nowhere1 0.08103 0.00511 0.04015 0.11972 0.04964 0.3504",
        ]
    );
    assert_eq!(rows(AZURE_SKUS, "vm")[1..], ["iops mbps vcpus", "Z8s_v9 10000 288.3584 8"]);
    assert_eq!(
        rows(GCP_SKUS, "prices")[1..],
        [
            "hyperdisk_balanced hyperdisk_balanced_iops hyperdisk_balanced_mibps hyperdisk_throughput_mibps local_ssd \
             pd_balanced_regional pd_extreme_iops pd_ssd pd_standard",
            "elsewhere-west1 - - - - - - - 0.19 -",
            "nowhere-north9 0.088 0.004444 0.0438 0.25 0.0876 0.22 0.07 0.19 0.044",
        ]
    );
}

#[test]
fn newer_figures_replace_older_ones_and_the_others_stay() {
    let newer = with(&with(PRICE_LIST, "0.0777", "0.0700"), "2026-01-02T03", "2026-01-20T03");
    let other = with(&with(PRICE_LIST, "xx-none-1", "yy-none-2"), "2026-01-02T03", "2026-01-20T03");
    let both = dated(&newer, Some(&dated(&other, Some(&dated(PRICE_LIST, None)))));
    assert_eq!(both.counts().regions, ["xx-none-1", "yy-none-2"]);
    let text = both.text();
    assert!(text.contains("xx-none-1 0.07 0.0055") && text.contains("yy-none-2 0.0777 0.0055"), "{text}");
    // An older list changes nothing, and a source without figures is left out.
    assert_eq!(dated(PRICE_LIST, Some(&both)), both);
    assert!(!text.contains("2026-01-02"), "{text}");
}

#[test]
fn missing_pages_and_unknown_ranges_are_refused() {
    let mut file = DatedFile::new(Provider::Azure);
    let problem = file.renew(&read(AZURE_SKUS_REST).expect("offers"), "2026-02-03").expect_err("a page is missing");
    assert!(problem.what.contains("a further page"), "{}", problem.what);
    let range = with(AZURE_PRICES, "\"tierMinimumUnits\": 3000", "\"tierMinimumUnits\": 4000");
    let problem = file.renew(&read(&range).expect("offers"), "2026-02-03").expect_err("an unknown range");
    assert!(problem.what.contains("a price from 4000 units on"), "{}", problem.what);
    for text in
        ["", "[provider]\nid = \"gcp\"\ntitle = \"\"\nas_of = \"\"\n", "table = 1", "[[table]]\nid = \"prices\"\n"]
    {
        let problem = DatedFile::parse(Provider::Azure, "azure.toml", text).expect_err("damaged");
        assert!(problem.help.is_some(), "{problem}");
    }
}

#[test]
fn documents_are_the_same_for_any_order_of_the_items() {
    let mut document: serde_json::Value = serde_json::from_slice(GCP_SKUS).expect("JSON");
    document["skus"].as_array_mut().expect("a list").reverse();
    assert_eq!(read(document.to_string().as_bytes()), read(GCP_SKUS));
}

#[test]
fn a_later_price_replaces_an_earlier_one_in_any_order() {
    let swapped = with(&with(AZURE_PRICES, "2026-01-01", "2024-01-01"), "2025-03-01", "2026-01-01");
    let list = read(&swapped).expect("offers");
    assert_eq!(prices(&list)[0], "azure/premium-ssd nowhere1 disk P30 0.. 100 per Disk");
}

#[test]
fn capacity_blocks_are_not_on_demand() {
    for (file, from) in
        [(PRICE_LIST, "\"marketoption\": \"OnDemand\""), (PRICE_TABLE, "\"Pre Installed S/W\",\"Region")]
    {
        let to = if file == PRICE_LIST { "\"marketoption\": \"CapacityBlock\"" } else { "\"MarketOption\",\"Region" };
        let list = read(&with(file, from, to)).expect("offers");
        assert_eq!((list.machines.len(), prices(&list).len()), (0, AWS_PRICES.len()));
    }
}

#[test]
fn a_constrained_size_has_the_vcpus_that_its_guest_sees() {
    let constrained = with(
        AZURE_SKUS,
        "\"name\": \"PremiumIO\",\n        \"value\": \"True\"",
        "\"name\": \"vCPUsAvailable\", \"value\": \"4\"",
    );
    assert_eq!(read(&constrained).expect("offers").machines[0].vcpus, Some(4));
}
