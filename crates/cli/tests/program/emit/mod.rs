//! `fathom plan --emit`: Terraform by a parser of HCL, Kubernetes manifests by the schemas of the Kubernetes API.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::common::{Outcome, Scratch, fathom, flat, run, words};

const SCHEMAS: &str = include_str!("kubernetes-storage.schema.json");

#[track_caller]
fn emitted(language: &str, line: &str) -> Outcome {
    run(&mut fathom(words(&format!("plan --no-simulation --emit {language} {line}"))))
}

/// Returns the resources of Terraform by type and name.
#[track_caller]
fn resources(text: &str) -> Value {
    let body: Value = hcl::from_str(text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    body["resource"].clone()
}

#[track_caller]
fn terraform(line: &str) -> (String, Value) {
    let outcome = emitted("terraform", line).expect_code(0);
    assert!(outcome.stderr.starts_with("ANSWER    Buy "), "the answer is on standard error: {}", outcome.stderr);
    let resources = resources(&outcome.stdout);
    (outcome.stdout, resources)
}

/// Returns manifests by kind, each checked against the schema of its kind.
#[track_caller]
fn manifests(text: &str) -> Vec<Value> {
    let schemas: Value = serde_json::from_str(SCHEMAS).unwrap();
    let documents = serde_norway::Deserializer::from_str(text);
    let documents: Vec<Value> = documents
        .map(|document| Value::deserialize(document).unwrap_or_else(|error| panic!("{error}:\n{text}")))
        .collect();
    for document in documents.iter().filter(|document| !document.is_null()) {
        let name = match document["kind"].as_str() {
            Some("PersistentVolumeClaim") => "io.k8s.api.core.v1.PersistentVolumeClaim".to_owned(),
            kind => format!("io.k8s.api.storage.v1.{}", kind.unwrap_or_default()),
        };
        let version = if name.contains(".core.") { "v1" } else { "storage.k8s.io/v1" };
        assert_eq!(document["apiVersion"], version, "{document}");
        let schema = json!({ "$ref": format!("#/definitions/{name}"), "definitions": schemas["definitions"] });
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        let errors: Vec<String> = validator.iter_errors(document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}: {document}");
        let object = document["metadata"]["name"].as_str().expect("a name");
        assert!(is_label(object), "{object}");
    }
    documents.into_iter().filter(|document| !document.is_null()).collect()
}

/// Reports whether a name is a DNS label, as Kubernetes and Compute Engine require.
fn is_label(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    name.len() <= 63 && name.chars().all(is_letter) && !name.starts_with('-') && !name.ends_with('-')
}

#[track_caller]
fn kubernetes(line: &str) -> Vec<Value> {
    let outcome = emitted("kubernetes", line).expect_code(0);
    manifests(&outcome.stdout)
}

#[test]
fn an_ebs_volume_has_all_that_is_provisioned() {
    let (text, found) = terraform("--iops 15k --capacity 1TiB --max-stripe 1 --provider aws/gp3");
    let disk = &found["aws_ebs_volume"]["data"];
    assert_eq!((&disk["type"], &disk["size"], &disk["iops"]), (&json!("gp3"), &json!(1024), &json!(18_000)), "{text}");
    assert_eq!(disk["availability_zone"], "${var.aws_availability_zone_us_east_1}");
    assert!(disk.get("count").is_none() && found.get("aws_instance").is_none(), "{text}");
    for comment in
        ["# 15,000 IOPS, random reads of 4 KiB; 1 TiB of capacity\n", "# Price: ", "(us-east-1, 2026-", "# Source: \""]
    {
        assert!(text.contains(comment), "{comment} is missing from:\n{text}");
    }
}

/// Each of two machines has four volumes of its own.
#[test]
fn stripes_are_attached_to_their_machines() {
    let (text, found) =
        terraform("--iops 30k --capacity 1TiB --machines 2 --machine m7i.8xlarge --provider aws/gp3,stripe=4");
    let (disk, machine) = (&found["aws_ebs_volume"]["data"], &found["aws_instance"]["data"]);
    assert_eq!((&disk["count"], &disk["size"], &machine["count"]), (&json!(8), &json!(256), &json!(2)), "{text}");
    assert_eq!(machine["instance_type"], "m7i.8xlarge");
    let attached = &found["aws_volume_attachment"]["data"];
    assert_eq!(attached["count"], 8);
    assert_eq!(attached["instance_id"], "${aws_instance.data[floor(count.index / 4)].id}");
    assert_eq!(attached["volume_id"], "${aws_ebs_volume.data[count.index].id}");
    let names = attached["device_name"].as_str().unwrap();
    assert!(names.contains("\"/dev/sdf\", \"/dev/sdg\"") && names.contains("[count.index % 4]"), "{names}");
}

#[test]
fn disks_of_google_and_azure_have_their_arguments() {
    let (text, found) =
        terraform("--iops 24k --capacity 1TiB --max-stripe 1 --vcpus 8 --provider gcp/hyperdisk-balanced");
    let disk = &found["google_compute_disk"]["data"];
    assert_eq!(disk["type"], "hyperdisk-balanced", "{text}");
    assert_eq!(disk["provisioned_iops"], 28_800, "{text}");
    assert!(disk["provisioned_throughput"].is_u64() && disk["zone"] == "${var.google_zone_us_central1}", "{text}");
    let machine = &found["google_compute_instance"]["data"];
    assert!(machine["boot_disk"]["initialize_params"]["image"] == "${var.google_image}", "{machine}");
    assert_eq!(found["google_compute_attached_disk"]["data"]["disk"], "${google_compute_disk.data.id}");
    let (text, found) = terraform("--iops 1k --capacity 500GiB --max-stripe 1 --provider gcp/pd-ssd-regional");
    let disk = &found["google_compute_region_disk"]["data"];
    assert_eq!((&disk["type"], disk["replica_zones"].as_array().map(Vec::len)), (&json!("pd-ssd"), Some(2)), "{text}");

    let (text, found) =
        terraform("--iops 10k --capacity 1TiB --max-stripe 1 --machine D8s_v5 --provider azure/premium-ssd-v2");
    let disk = &found["azurerm_managed_disk"]["data"];
    assert_eq!(
        (&disk["storage_account_type"], &disk["create_option"]),
        (&json!("PremiumV2_LRS"), &json!("Empty")),
        "{text}"
    );
    assert_eq!((&disk["disk_iops_read_write"], &disk["location"]), (&json!(12_000), &json!("eastus")), "{text}");
    assert!(text.contains("ID of a virtual machine of size Standard_D8s_v5"), "{text}");
    assert!(found["azurerm_virtual_machine_data_disk_attachment"]["data"]["lun"] == 0, "{text}");
    let (text, found) = terraform("--iops 100 --capacity 1TiB --max-stripe 1 --provider azure/premium-ssd");
    assert!(found["azurerm_managed_disk"]["data"].get("disk_iops_read_write").is_none(), "{text}");
}

#[test]
fn volumes_that_many_machines_read_are_shared() {
    let line =
        "--throughput 100MiB/s --capacity 100GiB --machines 3 --read-only --max-stripe 1 --provider gcp/hyperdisk-ml";
    let (text, found) = terraform(line);
    assert_eq!(found["google_compute_disk"]["data"]["access_mode"], "READ_ONLY_MANY", "{text}");
    let claim = kubernetes(line).pop().unwrap();
    assert_eq!(claim["spec"]["accessModes"], json!(["ReadOnlyMany"]));
    let (text, found) = terraform(&format!("{line} --machine g2-standard-8"));
    let attached = &found["google_compute_attached_disk"]["data"];
    assert_eq!((&attached["count"], &attached["mode"]), (&json!(3), &json!("READ_ONLY")), "{text}");
    assert_eq!(attached["disk"], "${google_compute_disk.data.id}");
    assert_eq!(attached["instance"], "${google_compute_instance.data[count.index].id}");
}

#[test]
fn manifests_are_what_the_api_accepts() {
    let found = kubernetes("--iops 15k --capacity 1TiB --max-stripe 1 --provider aws/gp3");
    let kinds: Vec<&Value> = found.iter().map(|document| &document["kind"]).collect();
    assert_eq!(kinds, ["StorageClass", "VolumeAttributesClass", "PersistentVolumeClaim"]);
    let parameters = json!({ "type": "gp3", "iops": "18000", "throughput": "125" });
    assert_eq!((&found[0]["provisioner"], &found[0]["parameters"]), (&json!("ebs.csi.aws.com"), &parameters));
    assert_eq!((&found[1]["driverName"], &found[1]["parameters"]), (&json!("ebs.csi.aws.com"), &parameters));
    assert_eq!(found[2]["spec"]["resources"]["requests"]["storage"], "1024Gi");
    assert_eq!(found[2]["spec"]["volumeAttributesClassName"], found[1]["metadata"]["name"]);

    let found = kubernetes("--iops 24k --capacity 1TiB --max-stripe 1 --provider gcp/hyperdisk-balanced");
    assert_eq!(found[0]["parameters"]["provisioned-iops-on-create"], "28800");
    assert!(found[1]["parameters"]["throughput"].as_str().unwrap().ends_with("Mi"), "{}", found[1]);
    let found = kubernetes("--iops 1k --capacity 500GiB --max-stripe 1 --provider gcp/pd-ssd-regional");
    let parameters = json!({ "type": "pd-ssd", "replication-type": "regional-pd" });
    assert_eq!((found.len(), &found[0]["parameters"]), (2, &parameters), "a disk without rates cannot be modified");
    let found = kubernetes("--iops 10k --capacity 1TiB --max-stripe 1 --provider azure/premium-ssd-v2");
    assert_eq!(found[0]["parameters"]["cachingMode"], "None");
    assert_eq!(found[1]["parameters"]["DiskIOPSReadWrite"], "12000");
}

#[test]
fn volumes_without_a_declaration_are_refused() {
    let cases = [
        (
            "terraform",
            "--iops 1k --provider hetzner",
            "no Terraform: hetzner/volume is not a volume of aws, azure or gcp",
        ),
        ("terraform", "--iops 1k --scratch --provider gcp/local-ssd-nvme", "is a disk of the machine, not a resource"),
        ("kubernetes", "--iops 1k --provider hetzner", "hetzner/volume is not a network volume of aws, azure or gcp"),
        ("kubernetes", "--iops 20k --provider aws/gp3,stripe=4", "a StorageClass cannot stripe 4 x aws/gp3 (RAID 0)"),
        ("kubernetes", "--iops 20k --provider aws/gp3,stripe=4", "plan for single volumes with --max-stripe 1"),
    ];
    for (language, line, message) in cases {
        let outcome = emitted(language, line).expect_code(2);
        assert!(flat(&outcome.stderr).contains(message) && outcome.stdout.is_empty(), "{line}: {outcome:?}");
    }
    let scratch = Scratch::new();
    let line = "plan --no-simulation --iops 1k --provider hetzner -o disk.tf -o plan.json";
    let outcome = run(fathom(words(line)).current_dir(&scratch)).expect_code(2);
    assert!(outcome.stderr.contains("no Terraform"), "{}", outcome.stderr);
    let outcome = run(&mut fathom(words("plan --iops 1k --emit terraform --format json"))).expect_code(2);
    assert!(outcome.stderr.contains("cannot be used with"), "{}", outcome.stderr);
}

/// The need cannot be met: nothing is declared, and the exit code says so.
#[test]
fn unmet_needs_declare_nothing() {
    let outcome = emitted("terraform", "--iops 9M --provider aws").expect_code(1);
    assert_eq!(resources(&outcome.stdout), Value::Null, "{}", outcome.stdout);
    assert!(outcome.stdout.contains("# Unmet, nothing is declared. No volume sustains"), "{}", outcome.stdout);
    assert!(outcome.stderr.starts_with("ANSWER    No volume sustains"), "{}", outcome.stderr);
}

/// A name with special characters of HCL, YAML, HTML, Markdown and CSV.
const NAME: &str = r#"=a \"q\" ${var.x} %{if} <script>alert(1)</script>|`x` \\ # ' --- &"#;

#[test]
fn names_of_needs_are_escaped_in_every_format() {
    let scratch = Scratch::new();
    let name = NAME.replace("\\\"", "\"").replace("\\\\", "\\");
    scratch.write("need.toml", format!("[defaults]\niops = 1000\nprovider = \"aws/gp3,gcp/pd-ssd\"\nmax-stripe = 1\n[need.\"{NAME}\"]\n[need.\"A/b\"]\n[need.\"a.B\"]\n[need.\"данные\"]\n"));
    let files = ["plan.html", "plan.md", "plan.csv", "plan.json", "plan.txt", "plan.tf", "plan.yaml"];
    let outputs: String = files.iter().map(|name| format!(" -o {name}")).collect();
    let line = format!("plan need.toml --no-simulation{outputs}");
    let outcome = run(fathom(words(&line)).current_dir(&scratch)).expect_code(0);
    let is_hidden = |letter: char| letter != '\n' && (letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}'));
    assert!(!outcome.stdout.chars().any(is_hidden), "{}", outcome.stdout);
    for file in ["plan.html", "plan.md", "plan.csv", "plan.txt", "plan.tf", "plan.yaml"] {
        let text = scratch.read(file);
        assert!(!text.chars().any(is_hidden), "{file}: {text}");
        assert!(!((file.ends_with("html") || file.ends_with("md")) && text.contains("<script")), "{file}: {text}");
    }
    assert!(scratch.read("plan.csv").contains("\n\"'=a \"\"q\"\""), "{}", scratch.read("plan.csv"));
    let text = scratch.read("plan.tf");
    let body = hcl::parse(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    let named: Vec<String> = body
        .blocks()
        .filter(|block| block.identifier() == "resource")
        .map(|block| block.labels().last().expect("a name").as_str().to_owned())
        .collect();
    assert_eq!(named[1..], ["a_b", "a_b_2", "need"], "{text}");
    let found: Value = hcl::from_str(&text).unwrap();
    let disks =
        found["resource"]["google_compute_disk"].as_object().or(found["resource"]["aws_ebs_volume"].as_object());
    let disk = disks.expect("disks").values().next().expect("a disk");
    let described = disk.get("description").or_else(|| disk["tags"].get("Name")).expect("the name");
    // The parser keeps the escapes of interpolation.
    let unescaped = described.as_str().unwrap().replace("$${", "${").replace("%%{", "%{");
    assert!([name.as_str(), "A/b", "a.B"].contains(&unescaped.as_str()), "{described}");
    manifests(&scratch.read("plan.yaml"));
}

#[test]
fn files_are_declarations_by_their_endings() {
    let scratch = Scratch::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/need.toml");
    let line = format!("plan {example} --no-simulation --max-stripe 1 -o disks.tf -o storage.yaml");
    let outcome = run(fathom(words(&line)).current_dir(&scratch)).expect_code(0);
    assert!(outcome.stdout.starts_with("ANSWER    3 needs cost "), "{}", outcome.stdout);
    assert!(resources(&scratch.read("disks.tf")).is_object());
    assert!(manifests(&scratch.read("storage.yaml")).len() >= 6);
    let printed = run(&mut fathom(words(&format!("plan {example} --no-simulation --max-stripe 1 --emit terraform"))));
    assert_eq!(printed.expect_code(0).stdout, scratch.read("disks.tf"));
}
