//! `fathom plan`: what it answers, in every format, and what it refuses.

mod common;

use common::json::Json;
use common::{Scratch, fathom, run, words};

fn planned(line: &str, columns: &str) -> String {
    run(fathom(words(line)).env("COLUMNS", columns)).expect_code(0).stdout
}

#[test]
fn the_best_is_told_with_price_region_date_limit_and_depth() {
    let text = planned("plan --iops 15k --capacity 1TiB --provider gcp/hyperdisk-balanced", "80");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = [
        "Best gcp/hyperdisk-balanced,size=1024GiB,iops=15000,throughput=140MiB/s",
        "141.92 USD a month (us-central1, 2026-09-24): capacity 81.92, IOPS 60.00",
        "volume IOPS, nothing to spare",
        "20 in flight = 15,000 IOPS x 1.32 ms: 1 job with iodepth=20",
        "Next step",
        "1 of 1 confirmed by simulation, seed 1.",
    ];
    for part in expected {
        assert!(flat.contains(part), "`{part}` is missing from:\n{text}");
    }
}

#[test]
fn lines_keep_within_the_terminal() {
    for columns in ["80", "100", "120"] {
        let most: usize = columns.parse().unwrap();
        for explain in ["", " --explain"] {
            let line = format!("plan --iops 40k --capacity 2TiB --read 70% --no-simulation{explain}");
            let text = planned(&line, columns);
            // The name of a volume is one word, to be copied.
            let is_long = |line: &&str| line.chars().count() > most && line.trim().contains(' ');
            assert_eq!(text.lines().find(is_long), None, "at {columns}{explain}");
        }
    }
}

#[test]
fn explanations_show_rules_numbers_and_sources() {
    let text = planned("plan --iops 15k --provider gcp/pd-ssd@2019 --explain", "100");
    for part in ["min(30 × 500 GB, 60,000) = 15,000 IOPS", "about 2019", "0.17 × 500 GB", "US; "] {
        assert!(text.contains(part), "`{part}` is missing from:\n{text}");
    }
}

#[test]
fn workloads_tell_their_arithmetic() {
    let text = planned("plan --workload checkpoint-writes,model=140GiB,interval=30min,share=5% --no-simulation", "100");
    for part in ["140 GiB in 5 % of 30 min = 90.0 s: 1.56 GiB/s", "sequential writes of 1 MiB", "420 GiB"] {
        assert!(text.contains(part), "`{part}` is missing from:\n{text}");
    }
    let shared = planned("plan --workload model-weights,replicas=4 --no-simulation", "100");
    assert!(shared.contains("gcp/hyperdisk-ml") && shared.contains("price   not known"), "{shared}");
}

#[test]
fn prices_of_several_machines_say_how_many_volumes_they_are_for() {
    let each = planned("plan --iops 15k --machines 4 --provider gcp/hyperdisk-balanced --no-simulation", "100");
    assert!(each.contains("a month for 4 volumes (us-central1"), "{each}");
    let shared = "plan --throughput 400MiB/s --machines 4 --read-only --provider gcp/hyperdisk-ml";
    let shared = planned(shared, "100");
    assert!(shared.contains("1 of 1 confirmed by simulation"), "{shared}");
}

#[test]
fn a_rate_at_the_limit_within_a_latency_is_told_as_a_loop() {
    let text = planned("plan --iops 160k --latency 2ms --provider gcp/hyperdisk-balanced --no-simulation", "100");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["has no end at this rate", "A loop with 320 in flight has 160,000 IOPS at 2.00 ms", "size=320GiB"] {
        assert!(flat.contains(part), "`{part}` is missing from:\n{text}");
    }
}

#[test]
fn what_is_not_known_of_a_machine_or_of_a_region_is_told() {
    let line = "plan --iops 60k --machine n2-standard-8 --provider gcp/hyperdisk-balanced --no-simulation";
    let text = planned(line, "100");
    assert!(text.contains("what n2-standard-8 lets through to it is not known, and not counted"), "{text}");
    let text = planned("plan --iops 1k --region mars --no-simulation", "120");
    assert!(text.contains("no price here is of mars"), "{text}");
    let text = planned("plan --iops 1k --region us-central1 --no-simulation", "120");
    assert!(!text.contains("no price here"), "{text}");
}

#[test]
fn processors_choose_among_the_machines() {
    let line = "plan --iops 10k --vcpus 8 --provider aws/gp3 --no-simulation";
    let text = planned(line, "100");
    assert!(text.contains(".2xlarge") && text.contains("let it through"), "{text}");
    let text = planned("plan --iops 70k --vcpus 2 --provider aws/gp3 --no-simulation", "100");
    assert!(text.contains("none with 2 vCPUs is known to let it through"), "{text}");
}

#[test]
fn impossible_needs_are_an_answer() {
    let text = planned("plan --iops 10k --latency 10us --provider gcp --provider aws", "100");
    assert!(text.contains("Nothing in the catalogue meets this need"), "{text}");
    assert!(text.contains("mean latency: no volume has it. The nearest is"), "{text}");
    let line = "plan --throughput 4801MiB/s --machine a3-megagpu-8g --provider gcp/hyperdisk-extreme --no-simulation";
    let text = planned(line, "120");
    assert!(text.contains("a hair less than 4.69 GiB/s"), "{text}");
}

#[test]
fn programs_get_one_document_and_files_by_their_ending() {
    let scratch = Scratch::new();
    let paths = ["plan.json", "plan.csv", "plan.md", "plan.svg", "plan.txt"].map(|name| (name, scratch.path(name)));
    let mut line = words("plan --iops 15k --capacity 1TiB --provider aws --provider gcp --format json");
    for (_, path) in &paths {
        line.extend(["-o".to_owned(), path.display().to_string()]);
    }
    let outcome = run(&mut fathom(line)).expect_code(0);
    let text = |name: &str| std::fs::read_to_string(scratch.path(name)).expect("it is written");
    let document = Json::read(&outcome.stdout);
    assert_eq!(document.at("fathom_plan"), &Json::Whole(1));
    let best = document.items("meeting")[0].clone();
    assert_eq!(best.at("meets"), &Json::Bool(true));
    assert_eq!(document.find("next_step/confirmed"), Some(&Json::Bool(true)));
    for key in ["price/parts/capacity", "price/region", "price/date", "price/per_iops", "jobs/iodepth", "limit/name"] {
        assert!(best.find(key).is_some(), "{key}");
    }
    assert_eq!(text("plan.json"), outcome.stdout);
    let csv = text("plan.csv");
    let columns = csv.lines().next().unwrap().split(',').count();
    assert!(columns == 27 && csv.lines().count() > 10, "{csv}");
    assert!(text("plan.md").contains("| volume | price a month | where, when |"));
    assert!(text("plan.svg").starts_with("<svg ") && text("plan.svg").ends_with("</svg>\n"));
    assert!(text("plan.txt").starts_with("Need "));
}

#[test]
fn loads_come_from_runs_and_from_jobs() {
    let scratch = Scratch::new();
    let record = scratch.path("run.json");
    let line = format!(
        "sim --on custom,iops=7000,latency=1ms,size=10GiB --name=a --rw=randrw --rwmixread=70 --bs=8k --iodepth=32 --runtime=2 --time_based -o {}",
        record.display()
    );
    run(&mut fathom(words(&line))).expect_code(0);
    let measured = planned(&format!("plan --from {} --no-simulation", record.display()), "120");
    assert!(measured.contains("random operations") && measured.contains("of 8 KiB"), "{measured}");
    let job = scratch.write("job.fio", "[a]\nrw=read\nbs=1m\nsize=1g\nrate=200m\n");
    let text = planned(&format!("plan --from {job} --no-simulation"), "120");
    assert!(text.contains("200 MiB/s, sequential reads of 1 MiB"), "{text}");
}

#[test]
fn bad_values_are_located_all_at_once() {
    let line = "plan --iops 15q --bs 4q --latency 1 --provider gpc --workload olpt --growth much";
    let outcome = run(&mut fathom(words(line))).expect_code(2);
    let expected = [
        "--iops=15q",
        "--bs=4q",
        "--latency=1",
        "--provider=gpc",
        "did you mean `gcp`?",
        "--workload=olpt",
        "did you mean `oltp`?",
        "--growth=much",
        "6 errors",
    ];
    for part in expected {
        assert!(outcome.stderr.contains(part), "`{part}` is missing from:\n{}", outcome.stderr);
    }
    for (line, part) in [
        ("plan", "there is nothing to plan for"),
        ("plan --iops 1k --machine nowhere-8", "no provider here has a machine `nowhere-8`"),
        ("plan --workload oltp,tpz=1", "did you mean `tps`?"),
        ("plan --iops 1k --read-only --read 50%", "is not written"),
        ("plan --iops 1k --p99 1ms --p999 2ms", "two percentiles"),
        ("plan --iops 1k -o plan.pdf", ".svg"),
        ("plan --from /nowhere/run.json", "No such file"),
        ("plan --iops 1k --budget -5", "--budget=-5"),
    ] {
        let outcome = run(&mut fathom(words(line))).expect_code(2);
        assert!(outcome.stderr.contains(part), "{line}: `{part}` is missing from:\n{}", outcome.stderr);
    }
}
