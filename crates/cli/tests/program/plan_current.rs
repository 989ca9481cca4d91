//! `fathom plan --current`: what to do with volumes that exist, their files and formats.

use crate::common::json::Json;
use crate::common::{Scratch, fathom, flat, run, words};

fn planned(line: &str, code: i32) -> String {
    flat(&run(fathom(words(line)).env("COLUMNS", "100")).expect_code(code).stdout)
}

#[test]
fn the_answer_says_keep_change_or_replace_with_the_price() {
    let current = "plan --current aws/gp3,size=2TiB,iops=9000 --machine r6i.2xlarge";
    for (line, code, parts) in [
        (
            format!("{current} --iops 8000"),
            0,
            vec![
                "ANSWER Keep aws/gp3, 2,048 GiB, 9,000 IOPS, 125 MiB/s on r6i.2xlarge: it sustains 8,000 IOPS with 12% headroom",
                "for 193.84 USD a month; no change in place saves 5%, no replacement 10%.",
                "For 20% headroom, from 9,000 to 9,600 IOPS (+3.00 USD a month): aws ec2 modify-volume --volume-id VOLUME --iops 9600",
            ],
        ),
        (
            "plan --current aws/gp3,size=2TiB,iops=9000 --iops 20k --headroom 0".to_owned(),
            0,
            vec![
                "ANSWER Resize in place: aws/gp3 from 9,000 to 20,000 IOPS: +55.00 USD a month (193.84 becomes 248.84).",
                "Now it misses the need: volume IOPS: 9,000 of 20,000 IOPS.",
                "DO aws ec2 modify-volume --volume-id VOLUME --iops 20000",
                "EBS allows four modifications of a volume in 24 hours, each after the previous one has completed.",
            ],
        ),
        (
            "plan --current aws/gp2,size=1000GiB --iops 2k".to_owned(),
            0,
            vec![
                "ANSWER Change the type in place: aws/gp2, 1,000 GiB to aws/gp3, 1,000 GiB, 3,000 IOPS, 125 MiB/s: -20.00 USD",
                "aws ec2 modify-volume --volume-id VOLUME --volume-type gp3 --iops 3000",
            ],
        ),
        (
            "plan --current azure/ultra,size=512GiB,iops=10000,throughput=500MB/s --iops 5k".to_owned(),
            0,
            vec![
                "ANSWER Replace azure/ultra, 512 GiB",
                "Copy the data to a new volume, then delete the old one:",
                "--sku PremiumV2_LRS",
            ],
        ),
        (
            "plan --current gcp/hyperdisk-balanced,size=1000GiB,iops=3000,throughput=140MiB/s --iops 6k".to_owned(),
            0,
            vec!["gcloud compute disks update DISK --provisioned-iops=7200", "change of performance every 4 hours"],
        ),
        (
            format!("{current} --iops 13k"),
            1,
            vec![
                "ANSWER No volume considered meets the need.",
                "The machine is the limit: plan with a larger one than r6i.2xlarge",
            ],
        ),
        (
            current.to_owned(),
            0,
            vec!["ANSWER No load given, planned for what aws/gp3 has (9,000 IOPS and 125 MiB/s, 2,048 GiB): keep"],
        ),
        (
            "plan --current aws/io2,size=1000GiB,iops=10k --iops 8k".to_owned(),
            0,
            vec!["ANSWER Keep aws/io2", "If 1.00 ms per operation suffices (--latency 1.50ms): aws/gp3, 1,000 GiB"],
        ),
    ] {
        let text = planned(&line, code);
        for part in parts {
            assert!(text.contains(part), "{line}: `{part}` is missing from:\n{text}");
        }
    }
}

const TABLE: &str = "name,volume,machine,iops,count,region\n\
    db,\"aws/gp3,size=2TiB,iops=16000\",r6i.4xlarge,6k,1,us-east-1\n\
    web,\"aws/gp2,size=1000GiB\",,2k,3,eu-west-1\n\
    log,\"aws/io1,size=500GiB,iops=10000\",,1M,,\n\
    idle,\"hetzner/volume,size=100GB\",,,,\n\
    idle,\"aws/gp3,size=100GiB\",,,,\n";

#[test]
fn a_table_has_a_row_for_each_volume_and_totals() {
    let scratch = Scratch::new();
    scratch.write("fleet.csv", TABLE);
    let line = "plan --current fleet.csv --format json -o plan.txt -o plan.csv -o plan.md -o plan.html";
    let outcome = run(fathom(words(line)).current_dir(&scratch)).expect_code(1);
    let document = Json::read(&outcome.stdout);
    assert_eq!(document.at("fathom_current_plan"), &Json::Whole(1));
    let steps: Vec<String> =
        document.items("volumes").iter().map(|volume| format!("{:?}", volume.at("step"))).collect();
    let expected =
        ["resize", "retype", "unmet", "keep", "keep"].map(|step| format!("{:?}", Json::Text(step.to_owned())));
    assert_eq!(steps, expected);
    let text = flat(&scratch.read("plan.txt"));
    for part in ["Change 2 of 5 volumes: ", "Nothing considered meets the need of 1 volume: log.", "idle (line 6)"] {
        assert!(text.contains(part), "`{part}` is missing from:\n{text}");
    }
    let csv = scratch.read("plan.csv");
    assert!(csv.lines().count() == 6 && csv.contains("web,\"aws/gp2,size=1000GiB\",retype,"), "{csv}");
    assert!(scratch.read("plan.md").contains("| volume | step | USD now | USD then |"));
    assert!(scratch.read("plan.html").contains("Needs that are missed now"));
    // Three volumes of 1,000 GiB in Ireland: 0.11 and 0.088 USD per GiB and month.
    assert!(csv.contains(",330.000000,264.000000,-66.000000,3,"), "{csv}");
}

#[test]
fn mistakes_in_tables_have_their_place() {
    let scratch = Scratch::new();
    for (text, parts) in [
        ("nmae,volume\na,aws/gp3\n", vec!["unknown column `nmae`", "did you mean `name`?", "t.csv:1:1"]),
        ("db,aws/gp3,size=2TiB\n", vec!["no header", "begin with a header"]),
        ("name,iops\na,1\n", vec!["no column `volume`"]),
        ("volume,volume\na,1\n", vec!["duplicate column `volume`"]),
        ("name,volume\na,aws/gp3,size=2TiB\n", vec!["3 values for 2 columns", "quote values", "t.csv:2:1"]),
        (
            "\u{feff}volume;iops\r\naws/gp3,size=-5GiB;1\r\naws/gp4;1\r\naws/gp3,size=0;1\r\naws/gp3;15q\r\n",
            vec![
                "`-5GiB` is not a size",
                "t.csv:2:1",
                "unknown Amazon EBS volume `gp4`",
                "t.csv:3:",
                "size: `0` has no unit",
                "t.csv:4:",
                "15q",
                "t.csv:5:9",
                "4 errors",
            ],
        ),
        ("volume,count\naws/gp3,0\n", vec!["`0` is not a whole number from 1", "t.csv:2:9"]),
        ("volume,machine\naws/gp3,n2-standard-8\n", vec!["n2-standard-8 is not a machine type of this provider"]),
        ("volume\n\"aws/gp3,size=1e30TiB\"\n", vec!["size=1e30TiB"]),
        ("volume\n", vec!["has no volumes"]),
        ("", vec!["has no volumes"]),
    ] {
        scratch.write("t.csv", text);
        let outcome = run(fathom(words("plan --current t.csv")).current_dir(&scratch)).expect_code(2);
        for part in parts {
            assert!(outcome.stderr.contains(part), "{text:?}: `{part}` is missing from:\n{}", outcome.stderr);
        }
    }
    let rows: String = (0..10_000).map(|row| format!("v{row},\"aws/gp3,size={}GiB\",900\n", 100 + row % 20)).collect();
    scratch.write("t.csv", format!("name,volume,iops\n{rows}"));
    let text = run(fathom(words("plan --current t.csv --no-simulation")).current_dir(&scratch)).expect_code(0).stdout;
    assert!(flat(&text).contains("Keep all 10,000 volumes: ") && text.contains("9,988 more: --details"), "{text}");
}

/// A state with secrets, also where figures of disks are expected.
const STATE: &str = r#"{"version": 4, "outputs": {"password": {"value": "hunter2", "sensitive": true}}, "resources": [
 {"mode": "managed", "type": "aws_db_instance", "name": "db", "instances": [
   {"index_key": "hunter2", "attributes": {"password": "hunter2", "size": ["hunter2"], "type": {"a": "hunter2"}}}]},
 {"mode": "data", "type": "aws_ebs_volume", "name": "elsewhere", "instances": [{"attributes": {"type": "gp3", "size": 1}}]},
 {"module": "module.db", "mode": "managed", "type": "aws_ebs_volume", "name": "data", "instances": [
   {"index_key": 0, "attributes": {"type": "gp2", "size": 1000, "iops": 3000, "throughput": 0, "availability_zone": "us-east-1a", "tags": {"k": "hunter2"}}},
   {"index_key": "b", "attributes": {"type": "gp3", "size": 500, "iops": 16000, "throughput": 1000, "availability_zone": "us-west-2-lax-1a", "kms_key_id": "hunter2"}},
   {"index_key": "c", "attributes": {"type": "hunter2!", "size": 500}},
   {"index_key": "d", "attributes": {"type": "gp3", "size": "hunter2"}},
   {"index_key": "e", "attributes": {"type": "gp3", "size": 1e300}},
   {"index_key": "f", "attributes": {"type": "gp9", "size": 10}}]},
 {"mode": "managed", "type": "google_compute_disk", "name": "d", "instances": [
   {"attributes": {"type": "https://x/projects/p/zones/us-central1-a/diskTypes/hyperdisk-balanced", "size": 1000, "provisioned_iops": 20000, "provisioned_throughput": 600, "zone": "us-central1-a"}}]},
 {"mode": "managed", "type": "azurerm_managed_disk", "name": "a", "instances": [
   {"attributes": {"storage_account_type": "Premium_LRS", "disk_size_gb": 512, "disk_iops_read_write": 2300, "location": "East US", "tier": "P20"}},
   {"index_key": 1, "attributes": {"storage_account_type": "Premium_LRS", "disk_size_gb": 512, "tier": "P40"}},
   {"index_key": 2, "attributes": {"storage_account_type": "Premium_ZRS", "disk_size_gb": 512}}]}]}"#;

#[test]
fn a_state_of_terraform_gives_its_disks_and_nothing_else() {
    let scratch = Scratch::new();
    scratch.write("main.tfstate", STATE);
    for format in ["text --details", "json", "csv", "md"] {
        let line = format!("plan --current main.tfstate --format {format} -o out.html");
        let outcome = run(fathom(words(&line)).current_dir(&scratch)).expect_code(0);
        assert!(!outcome.stdout.contains("hunter2") && !outcome.stderr.contains("hunter2"), "{line}: {outcome:?}");
        assert!(!scratch.read("out.html").contains("hunter2"));
    }
    let text = planned(&format!("plan --current {} --details", scratch.path("main.tfstate").display()), 0);
    for part in [
        "module.db.aws_ebs_volume.data[0] retype 100.00",
        "module.db.aws_ebs_volume.data[\"b\"]",
        "google_compute_disk.d",
        "azurerm_managed_disk.a",
        "module.db.aws_ebs_volume.data[\"c\"]: its type is missing or is not a name",
        "module.db.aws_ebs_volume.data[\"d\"]: its size is missing or out of range",
        "module.db.aws_ebs_volume.data[\"e\"]: its size is missing or out of range",
        "module.db.aws_ebs_volume.data[\"f\"]: the catalogue has no aws/gp9",
        "azurerm_managed_disk.a[1]: its performance tier P40 is above",
        "azurerm_managed_disk.a[2]: the catalogue has no Premium_ZRS",
    ] {
        assert!(text.contains(part), "`{part}` is missing from:\n{text}");
    }
    assert!(!text.contains("elsewhere"), "{text}");
    let one = STATE.replace("\"version\": 4,", "\"version\": 4, \"extra\": 1,");
    std::os::unix::fs::symlink("main.tfstate", scratch.path("link.tfstate")).unwrap();
    scratch.write("main.tfstate", &one);
    run(fathom(words("plan --current link.tfstate")).current_dir(&scratch)).expect_code(0);
}

#[test]
fn damaged_and_foreign_states_are_refused_without_quoting_them() {
    let scratch = Scratch::new();
    for (text, part) in [
        (r#"{"version": 3, "modules": ["hunter2"]}"#, "is a state of version 3; version 4 is read"),
        (r#"{"version": 5}"#, "is a state of version 5"),
        (
            "{\"version\": 4,\n\"resources\": [{\"type\": \"aws_ebs_volume\", \"name\": \"hunter2",
            "is cut off at line 2",
        ),
        ("{\"version\": 4,\n\"resources\": \"hunter2\"}", "unexpected value at line 2"),
        (r#"{"version": 4, "resources": [{"instances": "hunter2"}]}"#, "unexpected value at line 1"),
        (r#"{"encrypted_data": "hunter2"}"#, "is encrypted"),
        (r#"{"version": 4, "sops": {"mac": "hunter2"}}"#, "is encrypted"),
        (r#"{"format_version": "1.0", "values": "hunter2"}"#, "is the output of `terraform show`"),
        (r#"{"a": "hunter2"}"#, "it has no version"),
        ("hunter2", "is not JSON"),
        ("{\"version\": 4, \"resources\": []}", "has no volumes"),
        ("", "is cut off"),
    ] {
        scratch.write("s.tfstate", text);
        let outcome = run(fathom(words("plan --current s.tfstate")).current_dir(&scratch)).expect_code(2);
        assert!(outcome.stderr.contains(part) && !outcome.stderr.contains("hunter2"), "{text}: {}", outcome.stderr);
    }
    let mut deep = "[".repeat(100_000);
    deep.push('1');
    scratch.write("s.tfstate", &deep);
    run(fathom(words("plan --current s.tfstate")).current_dir(&scratch)).expect_code(2);
}

#[test]
fn what_does_not_fit_a_current_volume_is_refused() {
    for (line, part) in [
        ("--current aws", "unknown Amazon EBS volume `aws`"),
        ("--current custom,iops=5", "is not a volume that a provider sells"),
        ("--current aws/gp3,ipos=3", "did you mean `iops`?"),
        ("--current aws/gp3,iops=90000", "above the maximum"),
        ("--current aws/gp3 --vcpus 8", "--vcpus chooses a new machine"),
        ("--current aws/gp3 --read-only", "--read-only shares one volume"),
        ("--current aws/gp3 --show-math", "--show-math has no effect"),
        ("--current aws/gp3 --machine n2-standard-8", "n2-standard-8 is not a machine type"),
        ("--current /nowhere.csv", "No such file"),
        ("--current aws/gp3 -o plan.svg", ".html"),
    ] {
        let outcome = run(&mut fathom(words(&format!("plan {line}")))).expect_code(2);
        assert!(outcome.stderr.contains(part) && outcome.stdout.is_empty(), "{line}: {}", outcome.stderr);
    }
    let text = planned("plan --current aws/gp3,size=100GiB --region mars --iops 2k", 0);
    assert!(text.contains("its price is unknown.") && text.contains("no price is known for mars"), "{text}");
}
