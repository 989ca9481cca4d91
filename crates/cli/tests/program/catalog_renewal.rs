//! `fathom catalog update` and `fathom catalog diff`: files of every format, refusals, and what plans do with them.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::common::json::Json;
use crate::common::{Outcome, Scratch, fathom, flat, run, words};

macro_rules! provider_file {
    ($name:literal) => {
        include_str!(concat!("../../../offers/tests/data/", $name))
    };
}

/// A data directory with files of the providers: invented figures under names of the catalogue.
struct Renewal(Scratch);

impl Renewal {
    fn new() -> Self {
        let scratch = Scratch::new();
        for (name, text) in [
            ("types.json", provider_file!("aws-instance-types.json")),
            ("list.json", provider_file!("aws-price-list.json")),
            ("list.csv", provider_file!("aws-price-list.csv")),
            ("products.json", provider_file!("aws-products.json")),
            ("retail.json", provider_file!("azure-prices.json")),
            ("skus.json", provider_file!("azure-skus.json")),
            ("billing.json", provider_file!("gcp-skus.json")),
            ("machines.json", provider_file!("gcp-machine-types.json")),
        ] {
            let mut text = text.to_owned();
            for (from, to) in [
                ("2026-01-02T", "2026-11-20T"),
                ("xx-none-1", "eu-west-1"),
                ("nowhere1", "eastus"),
                ("nowhere-north9", "us-central1"),
                ("z9q.4xlarge", "m6i.4xlarge"),
                ("Z8s_v9", "D8s_v5"),
            ] {
                text = text.replace(from, to);
            }
            scratch.write(name, text);
        }
        Self(scratch)
    }

    fn fathom(&self, line: &str) -> Command {
        let mut command = fathom(words(line));
        command.env("FATHOM_HOME", self.0.path("home")).current_dir(&self.0);
        command
    }

    fn run(&self, line: &str) -> Outcome {
        run(&mut self.fathom(line))
    }

    fn json(&self, line: &str) -> Json {
        Json::read(&self.run(&format!("{line} --format json")).expect_clean().stdout)
    }

    /// Returns the old and the new figure of a row and column in `catalog diff`.
    fn change(&self, row: &str, column: &str) -> Option<(f64, f64)> {
        let diff = self.json("catalog diff");
        let figures = diff.items("providers").iter().flat_map(|provider| provider.items("figures"));
        let mut found = figures.filter(|figure| figure.text("row") == row && figure.text("column") == column);
        found.next().map(|figure| (figure.number("old"), figure.number("new")))
    }

    /// Returns the price and the price's date of the best volume.
    fn planned(&self, line: &str) -> (f64, String) {
        let plan = self.json(&format!("plan --no-simulation {line}"));
        let best = &plan.items("meeting")[0];
        (best.number("price/usd_per_month"), best.text("price/date").to_owned())
    }
}

#[test]
fn price_lists_of_aws_are_imported_and_planned_with() {
    for file in ["list.json", "list.csv", "products.json"] {
        let renewal = Renewal::new();
        let line = "--iops 3000 --capacity 1000GiB --headroom 0 --provider aws/gp3 --region eu-west-1";
        assert_eq!(renewal.planned(line), (88.0, "2026-10-15".to_owned()));
        let text = renewal.run(&format!("catalog update --from {file}")).expect_clean().stdout;
        let updated =
            text.starts_with("Updated aws: ") && text.contains("1 region") && text.contains("dated 2026-11-20\n");
        assert!(updated && text.contains("\nNext\n  fathom catalog diff\n"), "{text}");
        assert_eq!(renewal.change("eu-west-1", "gp3_gb"), Some((0.088, 0.0777)), "{file}");
        assert_eq!(renewal.planned(line), (77.7, "2026-11-20".to_owned()), "{file}");
        // Other regions keep the built-in prices, and the default region stays.
        let other = line.replace("eu-west-1", "us-east-1");
        assert_eq!(renewal.planned(&other), (80.0, "2026-10-15".to_owned()));
        assert_eq!(renewal.planned(&line.replace(" --region eu-west-1", "")).0, 80.0);
        let text = renewal.run("catalog diff").expect_clean().stdout;
        assert!(text.contains("prices eu-west-1 gp3_gb 0.088 -> 0.0777 (-11.7%)"), "{text}");
        assert!(text.contains("3,000 IOPS, 500 GiB in eu-west-1: aws/gp3,"), "{text}");
    }
}

#[test]
fn machine_limits_of_aws_are_imported_and_used() {
    let renewal = Renewal::new();
    renewal.run("catalog update --from types.json").expect_clean();
    assert_eq!(renewal.change("m6i.4xlarge", "base_iops"), Some((20_000.0, 24_000.0)));
    let volume = renewal.json("catalog aws/gp3,machine=m6i.4xlarge");
    let limit = volume.items("limits").iter().find(|limit| limit.text("name") == "machine IOPS").unwrap();
    assert_eq!(limit.number("iops"), 24_000.0);
    renewal.run("catalog update --from list.csv").expect_clean();
    let line = "plan --no-simulation --iops 3000 --provider aws/gp3 --machine m6i.4xlarge --region eu-west-1";
    let best = renewal.json(line);
    let month = best.items("meeting")[0].number("price/machines_usd_per_month");
    assert!((month - 0.808 * 730.0).abs() < 0.01, "{month}");
}

#[test]
fn prices_and_limits_of_azure_are_imported_and_used() {
    let renewal = Renewal::new();
    let premium = "--iops 5000 --capacity 1TiB --headroom 0 --provider azure/premium-ssd";
    assert_eq!(renewal.planned(premium), (135.17, "2026-07-23".to_owned()));
    renewal.run("catalog update --from retail.json skus.json").expect_clean();
    assert_eq!(renewal.change("eastus", "P30"), Some((135.17, 111.1)));
    assert_eq!(renewal.change("D8s_v5", "iops"), Some((12_800.0, 10_000.0)));
    assert_eq!(renewal.planned(premium).0, 111.1);
    let provisioned = "--iops 4000 --capacity 100GiB --headroom 0 --provider azure/premium-ssd-v2";
    // Two volumes of half the size in RAID 0 need no more than the included IOPS.
    assert!((renewal.planned(provisioned).0 - 8.103).abs() < 0.01);
}

#[test]
fn prices_and_machines_of_google_are_imported_and_used() {
    let renewal = Renewal::new();
    let update = renewal.json("catalog update --from billing.json --from machines.json");
    assert_eq!((update.whole("machines"), update.items("regions").len(), update.items("read").len()), (2, 2, 2));
    assert_eq!(renewal.change("us-central1", "pd_ssd"), Some((0.17, 0.19)));
    let line = "--iops 10000 --capacity 1000GiB --headroom 0 --provider gcp/pd-ssd";
    assert_eq!(renewal.planned(line).0, 190.0);
    assert_eq!(renewal.planned(&format!("{line} --region elsewhere-west1")).0, 190.0);
}

#[test]
fn updates_add_to_what_is_there() {
    let renewal = Renewal::new();
    renewal.run("catalog update --from list.csv --dry-run").expect_clean();
    assert!(renewal.run("catalog diff").expect_clean().stdout.starts_with("No dated files"));
    renewal.run("catalog update --from list.csv").expect_clean();
    let other = renewal.0.read("list.csv").replace("eu-west-1", "eu-west-2");
    renewal.0.write("other.csv", &other);
    let update = renewal.json("catalog update --from other.csv --region eu-west-2");
    assert_eq!(update.items("regions").len(), 2);
    assert_eq!(renewal.change("eu-west-1", "gp3_gb"), Some((0.088, 0.0777)));
    assert_eq!(renewal.change("eu-west-2", "gp3_gb"), Some((0.0928, 0.0777)));
    // Nothing but the dated file is left behind.
    assert_eq!(std::fs::read_dir(renewal.0.path("home/catalog")).unwrap().count(), 1);
}

#[test]
fn unusable_files_are_refused_at_once_and_change_nothing() {
    let renewal = Renewal::new();
    renewal.run("catalog update --from list.csv").expect_clean();
    let before = renewal.0.read("home/catalog/aws.toml");
    let list = renewal.0.read("list.csv");
    renewal.0.write("cut.csv", &list[..list.len() - 60]);
    renewal.0.write("unit.csv", list.replace("GiBps-mo", "GBps-mo"));
    renewal.0.write("month.csv", list.replace("0.0777000000", "57.0000000000"));
    renewal.0.write("currency.csv", list.replace("\"USD\"", "\"CNY\""));
    renewal.0.write("twice.csv", format!("{list}{}", list.lines().nth(7).unwrap().replace("0.0777", "0.0888")));
    renewal.0.write("page.json", renewal.0.read("retail.json").lines().next().unwrap());
    for (from, says) in [
        ("cut.csv", "fields instead of 36"),
        ("unit.csv", "unknown unit `GBps-mo`"),
        ("month.csv", "gp3_gb of eu-west-1 is 57, 648 times the built-in 0.088"),
        ("currency.csv", "a price is in `CNY`"),
        ("twice.csv", "capacity has two prices: 0.0777"),
        ("page.json", "a further page, which is not among them"),
        ("list.csv retail.json", "retail.json is of azure, not of aws"),
        ("list.csv --region eu-west-9", "no offers of region `eu-west-9`"),
        ("absent.csv", "absent.csv cannot be read"),
        (".", "Is a directory"),
    ] {
        let begin = Instant::now();
        let outcome = renewal.run(&format!("catalog update --from {from}")).expect_one_of(&[2, 3]);
        assert!(begin.elapsed() < Duration::from_secs(1), "{from}: {:?}", begin.elapsed());
        let text = flat(&outcome.stderr);
        assert!(text.contains(says) && text.contains("help: "), "{from}: {}", outcome.stderr);
        assert_eq!(renewal.0.read("home/catalog/aws.toml"), before, "{from}");
    }
    for (line, says) in [
        ("catalog update", "no file to read figures from"),
        ("catalog update --fetch oracle --region a", "oracle"),
        ("catalog update --fetch aws", "needs the regions to read"),
        ("catalog update --fetch aws --region a;b", "is not the name of a region"),
        ("catalog update --from list.csv --fetch aws", "--fetch"),
    ] {
        let outcome = renewal.run(line).expect_code(2);
        assert!(flat(&outcome.stderr).contains(says), "{line}: {}", outcome.stderr);
    }
}

#[test]
fn prices_older_than_the_built_in_ones_are_refused() {
    let renewal = Renewal::new();
    let list = renewal.0.read("list.csv").replace("2026-11-20T", "2024-11-20T");
    // Only figures that the built-in catalogue has.
    let kept = |line: &&str| !line.contains("BoxUsage") && !line.contains(".tier");
    renewal.0.write("old.csv", list.lines().filter(kept).collect::<Vec<_>>().join("\n"));
    let outcome = renewal.run("catalog update --from old.csv").expect_code(2);
    assert!(flat(&outcome.stderr).contains("older than the built-in ones of aws"), "{}", outcome.stderr);
}

#[test]
fn a_damaged_dated_file_is_a_warning_and_the_built_in_figures_are_used() {
    let renewal = Renewal::new();
    renewal.run("catalog update --from list.csv").expect_clean();
    let whole = renewal.0.read("home/catalog/aws.toml");
    for damaged in [&whole[..whole.len() / 2], "[provider]\nid = 'gcp'\ntitle = ''\n", "\u{0}"] {
        renewal.0.write("home/catalog/aws.toml", damaged);
        let line = "catalog aws/gp3,size=100GiB";
        let outcome = renewal.run(line).expect_code(0);
        assert!(outcome.stdout.contains("8.00 USD a month"), "{}", outcome.stdout);
        let text = flat(&outcome.stderr);
        assert!(text.contains("the dated figures of aws are not used: ") && text.contains("help: delete"), "{text}");
        // Another provider does not read it.
        renewal.run("catalog gcp/pd-ssd").expect_clean();
    }
}

#[test]
fn the_providers_programs_are_run_with_fixed_arguments() {
    let renewal = Renewal::new();
    let program = |name: &str, script: &str| {
        let path = renewal.0.write(&format!("bin/{name}"), format!("#!/bin/sh\necho \"$0 $*\" >> calls\n{script}\n"));
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    std::fs::create_dir(renewal.0.path("bin")).unwrap();
    let fetch =
        |line: &str| run(renewal.fathom(&format!("catalog update --fetch {line}")).env("PATH", renewal.0.path("bin")));
    let outcome = fetch("gcp --region us-central1").expect_code(2);
    assert!(outcome.stderr.contains("the program `gcloud` is not installed"), "{}", outcome.stderr);
    program("gcloud", "/bin/cat machines.json");
    let outcome = fetch("gcp --region us-central1").expect_code(0);
    assert!(outcome.stderr.starts_with("$ gcloud compute machine-types list "), "{}", outcome.stderr);
    assert!(outcome.stdout.starts_with("Updated gcp: 2 machines, dated "), "{}", outcome.stdout);
    program("aws", "case $1 in ec2) /bin/cat types.json;; *) /bin/cat products.json;; esac");
    let outcome = fetch("aws --region eu-west-1").expect_code(0);
    assert!(
        outcome.stderr.contains("'Type=TERM_MATCH,Field=productFamily,Value=System Operation'"),
        "{}",
        outcome.stderr
    );
    assert_eq!(renewal.change("eu-west-1", "gp3_gb"), Some((0.088, 0.0777)));
    program("az", "/bin/cat skus.json");
    program("curl", "/bin/cat retail.json");
    // Both pages are in one answer, which names no further one at its end.
    fetch("azure --region eastus").expect_code(0);
    assert_eq!(renewal.change("eastus", "P30"), Some((135.17, 111.1)));
    program("az", "echo 'no login' >&2; exit 1");
    let outcome = fetch("azure --region eastus").expect_code(2);
    assert!(
        outcome.stderr.contains("no login\n") && outcome.stderr.contains("`az` failed with exit code 1"),
        "{}",
        outcome.stderr
    );
    let calls = renewal.0.read("calls");
    assert!(calls.contains("ec2 describe-instance-types --region eu-west-1 --output json\n"), "{calls}");
    assert!(calls.contains("armRegionName%20eq%20%27eastus%27"), "{calls}");
}

#[test]
fn old_prices_name_the_command_that_renews_them() {
    let line = "plan --iops 3000 --capacity 100GiB --no-simulation --provider aws/gp3";
    let basis = |today: &str| flat(&run(fathom(words(line)).env("FATHOM_TODAY", today)).expect_clean().stdout);
    assert!(basis("2027-04-13").contains("price of 2026-10-15; "));
    let old = "price of 2026-10-15 (181 days old): `fathom catalog update --from FILE` renews it; ";
    assert!(basis("2027-04-14").contains(old), "{}", basis("2027-04-14"));
    // No command reads files of other providers.
    let other = run(fathom(words(&line.replace("aws/gp3", "vultr"))).env("FATHOM_TODAY", "2030-01-01"));
    assert!(!other.stdout.contains("catalog update") && other.stdout.contains("days old)"), "{}", other.stdout);
}
