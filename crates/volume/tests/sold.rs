//! Sizes on sale, as the catalogue states them.

use volume::catalogue::{Bounds, ResolvedVolume, list, no_files, resolve_all};

fn size(volume: &str) -> Bounds {
    let resolved = resolve_all(&[volume], &no_files).unwrap_or_else(|problems| panic!("{volume}: {}", problems[0]));
    resolved[0].about.keys.iter().find(|key| key.name == "size").expect("it has a size").bounds.clone()
}

/// Sold as 4, 8, 16 GiB and so on to 1,024, and then in whole TiB.
const SET_SIZES: &str = "[[volume]]\nid = \"disk\"\ntitle = \"A disk\"\nkey.size = { unit = \"GiB\", default = 128, min = 4, max = \
                         65_536, sold = [4, 8, 16, 32, 64, 128, 256, 512, 1_024], step = 1_024 }\nlimit = [{ name = \
                         \"volume IOPS\", iops = 1_000 }]\nlatency.read = { law = \"constant\", us = 100 }\n";

fn of_set_sizes(size: &str) -> ResolvedVolume {
    let found = resolve_all(&[&format!("own.toml#disk{size}")], &|_| Ok(SET_SIZES.to_owned()));
    found.unwrap_or_else(|problems| panic!("{}", problems[0])).remove(0)
}

#[test]
fn set_sizes_are_sold_and_beyond_them_multiples() {
    let keys = of_set_sizes("").about.keys;
    let bounds = &keys.iter().find(|key| key.name == "size").expect("it has a size").bounds;
    for (wanted, sold) in [(1.0, 4.0), (5.0, 8.0), (466.0, 512.0), (513.0, 1_024.0), (1_025.0, 2_048.0)] {
        assert_eq!(bounds.sold_from(wanted), Some(sold), "{wanted} GiB");
    }
    assert!(!bounds.is_sold(466.0) && bounds.is_sold(512.0) && !bounds.is_sold(1_536.0) && bounds.is_sold(65_536.0));
    assert_eq!((bounds.sold_from(65_537.0), bounds.largest_sold()), (None, Some(65_536.0)));
    // Azure's billing page of 2026 has whole GiB for what was sold so.
    assert_eq!(size("azure/ultra").sold_from(466.0), Some(466.0));
}

#[test]
fn tiers_are_sold_whole_but_accept_any_size_within() {
    let premium = size("azure/premium-ssd");
    assert_eq!((premium.sold_from(466.0), premium.sold_from(4_097.0)), (Some(512.0), Some(8_192.0)));
    assert!(premium.is_sold(466.0) && !premium.is_sold(466.5));
    assert_eq!(premium.largest_sold(), Some(32_767.0));
}

#[test]
fn minimum_sizes_are_kept_and_fractions_rounded_up() {
    assert_eq!(size("aws/st1").sold_from(1.0), Some(125.0));
    assert_eq!(size("vultr/hdd-block").sold_from(1.0), Some(40.0));
    assert_eq!(size("gcp/pd-ssd").sold_from(466.2), Some(467.0));
    assert_eq!(size("gcp/hyperdisk-throughput").largest_sold(), Some(32_768.0));
    let local = size("gcp/titanium-ssd-z3,machine=z3-highmem-8-highlssd");
    assert_eq!((local.sold_from(1.0), local.largest_sold()), (Some(3_000.0), Some(3_000.0)));
}

#[test]
fn every_volume_of_a_provider_states_what_is_sold() {
    for listed in list().into_iter().filter(|listed| !listed.name.starts_with("custom")) {
        let bounds = size(&listed.name);
        let stated = bounds.fixed || bounds.step.is_some() || !bounds.sold.is_empty();
        assert!(stated || listed.name.starts_with("hdd"), "{}", listed.name);
        assert!(bounds.fixed || bounds.largest_sold().is_some(), "{}", listed.name);
    }
}

#[test]
fn a_size_that_is_not_on_sale_gets_a_note() {
    let of = of_set_sizes(",size=466GiB").spec.notes;
    assert!(of.iter().any(|note| note.contains("not available with size=466 GiB: the next size is 512 GiB")), "{of:?}");
    assert!(!of_set_sizes(",size=512GiB").spec.notes.iter().any(|note| note.contains("not available")));
}

#[test]
fn regional_prices_have_their_own_sources() {
    let about = |volume: &str| resolve_all(&[volume], &no_files).expect("a volume").remove(0).about;
    let prices = about("aws/gp3,size=2000GiB,iops=10000,throughput=500MiB/s").prices;
    let of = |region: &str| prices.iter().filter(|price| price.holds_in(region)).collect::<Vec<_>>();
    assert_eq!(of("us-east-1").len(), 1);
    assert!((of("US-EAST-1")[0].price.per_month - (160.0 + 35.0 + 15.0)).abs() < 1e-9);
    assert_eq!(of("us-east-1")[0].price.source.date, "2026-10-15");
    assert!(of("mars").is_empty());
    let ultra = resolve_all(&["azure/ultra,region=westeurope"], &no_files).expect("a volume").remove(0).spec;
    assert_eq!(ultra.price.expect("a price").source.date, "2024-01-06");
}

#[test]
fn latencies_state_their_basis() {
    let basis =
        |volume: &str| resolve_all(&[volume], &no_files).expect("a volume").remove(0).about.latency_basis.name();
    let known = [
        ("gcp/hyperdisk-balanced", "measured"),
        ("hdd/7200rpm", "measured"),
        ("aws/io2", "published"),
        ("aws/gp3", "assumed"),
        ("hetzner/volume", "assumed"),
        ("aws/gp3,latency=2ms", "given"),
        ("custom,latency=2ms", "given"),
    ];
    for (volume, wanted) in known {
        assert_eq!(basis(volume), wanted, "{volume}");
    }
}
