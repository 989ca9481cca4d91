//! `fathom catalog`: lists, descriptions of volumes, and errors.

use crate::common::json::Json;
use crate::common::{Scratch, fathom, flat, run, words};

#[test]
fn the_list_names_volumes_of_all_providers() {
    let outcome = run(&mut fathom(["catalog"])).expect_code(0);
    for name in ["gcp/pd-ssd@2019", "aws/gp3", "azure/premium-ssd", "vultr/nvme-block", "nutanix/ahv-4node", "custom"] {
        assert!(outcome.stdout.contains(name), "{name} is missing from:\n{}", outcome.stdout);
    }
}

#[test]
fn a_volume_shows_rule_numbers_source_and_binding_limit() {
    let line = "catalog gcp/pd-ssd@2019,size=500GB,vcpus=32 --rw randwrite --bs 16k";
    let outcome = run(fathom(words(line)).env("COLUMNS", "80")).expect_code(0);
    let expected = [
        "min(0.48 × 500 GB, 400) = 240 MB/s",
        "> pd-ssd write throughput, of the machine: 14,648 IOPS",
        "limited by pd-ssd write throughput",
        "about 2019",
        "85.00 USD a month = 0.17 × 500 GB",
        "Unknown",
    ];
    let text = flat(&outcome.stdout);
    for part in expected {
        assert!(text.contains(part), "`{part}` is missing from:\n{}", outcome.stdout);
    }
    let long = outcome.stdout.lines().skip(1).find(|line| line.chars().count() > 80);
    assert_eq!(long, None);
}

#[test]
fn json_is_one_document() {
    let outcome = run(&mut fathom(words("catalog vultr/nvme-block --format json --bs 1m"))).expect_code(0);
    let document = Json::read(&outcome.stdout);
    assert!((381.0..382.0).contains(&document.number("iops")));
    assert_eq!(document.text("bound_by"), "volume throughput");
    Json::read(&run(&mut fathom(words("catalog --format json"))).expect_code(0).stdout);
}

#[test]
fn a_model_file_is_a_volume() {
    let scratch = Scratch::new();
    scratch.write(
        "mine.toml",
        "[volume]\nkey.size = { unit = \"GiB\", default = 10 }\nlimit = [{ name = \"IOPS\", iops = \"7 * gib\" }]\n",
    );
    let outcome = run(fathom(words("catalog ./mine.toml,size=100GiB")).current_dir(&scratch)).expect_code(0);
    assert!(outcome.stdout.contains("700 IOPS"), "{}", outcome.stdout);
    scratch.write("bad.toml", "[volume]\nlimit = [{ name = \"IOPS\", iops = \"7 * gib\" }]\n");
    let outcome = run(fathom(words("catalog ./bad.toml")).current_dir(&scratch)).expect_code(2);
    assert!(outcome.stderr.contains("./bad.toml:2:39") && outcome.stderr.contains("`gib`"), "{}", outcome.stderr);
}

#[test]
fn all_errors_are_reported_with_their_places() {
    let outcome = run(&mut fathom(words("catalog gcp/pd-ssd,size=1PB,sped=3 --bs 4q --rw raed"))).expect_code(2);
    for part in ["volume:1:17", "volume:1:21", "--bs=4q", "--rw=raed", "4 errors"] {
        assert!(outcome.stderr.contains(part), "`{part}` is missing from:\n{}", outcome.stderr);
    }
    assert_eq!(outcome.stdout, "");
}
