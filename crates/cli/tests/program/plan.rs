//! `fathom plan`: answers, formats and errors.

use crate::common::json::Json;
use crate::common::{Scratch, fathom, flat, run, words};

/// Returns the plan, whose exit code is 1 if no volume meets the need, and 4 if that is unknown.
fn planned(line: &str, columns: &str) -> String {
    let outcome = run(fathom(words(line)).env("COLUMNS", columns));
    let is_unknown = outcome.stdout.starts_with("ANSWER    Cannot tell");
    let code = if is_unknown { 4 } else { i32::from(outcome.stdout.starts_with("ANSWER    No ")) };
    outcome.expect_code(code).stdout
}

#[test]
fn the_best_has_price_region_date_limit_and_depth() {
    let line = "plan --iops 15k --capacity 1TiB --headroom 0 --max-stripe 1 --provider gcp/hyperdisk-balanced";
    let answer = planned(line, "80");
    let expected = [
        "ANSWER Buy gcp/hyperdisk-balanced, 1,024 GiB, 15,000 IOPS, 140 MiB/s: 141.92 USD a month (us-central1).",
        "It sustains 15,000 IOPS at 1.32 ms (p99 2.08 ms), no headroom (limit: volume IOPS).",
        "DO gcloud compute disks create DISK --zone=ZONE \\ --type=hyperdisk-balanced",
        "--size=1024 --provisioned-iops=15000 \\ --provisioned-throughput=140",
        "Keep 20 requests in flight (1 job with iodepth=20).",
        "BASIS price of 2026-09-24; 1,703.04 USD a year, without taxes; simulated with seed 1; its latency is measured.",
        "Twice the load: ",
    ];
    for part in expected {
        assert!(flat(&answer).contains(part), "`{part}` is missing from:\n{answer}");
    }
    let text = planned(&format!("{line} --details"), "80");
    let flat = flat(&text);
    let expected = [
        "gcp/hyperdisk-balanced * 1,024 GiB 141.92 1.32 ms measured 20",
        "volume IOPS, no headroom",
        "Prices volume USD a month region, date USD parts gcp/hyperdisk-balanced 141.92 us-central1,",
        "Twice the load: ",
        "Volumes that meet the need were confirmed by simulation, seed 1.",
    ];
    for part in expected {
        assert!(flat.contains(part), "`{part}` is missing from:\n{text}");
    }
    let table = planned(&format!("{line} --format md"), "80");
    assert!(
        table.contains("| us-central1, 2026-09-24 |") && table.contains("| capacity 81.92, IOPS 60.00 |"),
        "{table}"
    );
}

#[test]
fn lines_keep_within_the_terminal() {
    for (columns, explain) in [("80", ""), ("80", " --details"), ("80", " --show-math"), ("120", " --details")] {
        let max: usize = columns.parse().unwrap();
        let line = format!("plan --iops 40k --capacity 2TiB --read 70% --no-simulation{explain}");
        let text = planned(&line, columns);
        // The name of a volume is one word, so that it can be copied.
        let is_long = |line: &&str| line.chars().count() > max && line.trim().contains(' ');
        assert_eq!(text.lines().find(is_long), None, "at {columns}{explain}");
    }
}

#[test]
fn explanations_show_rules_numbers_and_sources() {
    let text = planned("plan --iops 15k --headroom 0 --provider gcp/pd-ssd@2019 --show-math", "100");
    for part in ["min(30 × 500 GB, 60,000) = 15,000 IOPS", "about 2019", "0.17 × 500 GB", "US; "] {
        assert!(text.contains(part), "`{part}` is missing from:\n{text}");
    }
}

#[test]
fn workloads_show_their_arithmetic() {
    let text = planned("plan --workload checkpoint-writes,model=140GiB,interval=30min,share=5% --no-simulation", "100");
    for part in ["140 GiB in 5% of 30 min = 90.0 s: 1.56 GiB/s", "sequential writes of 1 MiB", "420 GiB"] {
        assert!(flat(&text).contains(part), "`{part}` is missing from:\n{text}");
    }
    let shared = planned("plan --workload model-weights,replicas=4 --no-simulation", "100");
    assert!(
        shared.contains("ANSWER    Buy gcp/hyperdisk-ml, ") && flat(&shared).contains("no price is known"),
        "{shared}"
    );
}

#[test]
fn prices_of_several_machines_state_the_number_of_volumes() {
    let each =
        planned("plan --iops 15k --machines 4 --provider gcp/hyperdisk-balanced --max-stripe 1 --no-simulation", "100");
    assert!(
        each.starts_with("ANSWER    Buy 4 x gcp/hyperdisk-balanced, ") && flat(&each).contains(" Each sustains "),
        "{each}"
    );
    assert!(flat(&each).contains(": 311.52 USD a month (us-central1)."), "{each}");
    let shared = "plan --throughput 400MiB/s --machines 4 --read-only --provider gcp/hyperdisk-ml";
    let shared = planned(&format!("{shared} --details"), "100");
    assert!(
        shared.contains("were confirmed by simulation, seed 1.") && flat(&shared).contains("simulated with seed 1"),
        "{shared}"
    );
}

#[test]
fn a_rate_at_the_limit_within_a_latency_is_shown_as_a_closed_loop() {
    let text = planned(
        "plan --iops 160k --latency 2ms --headroom 0 --max-stripe 1 --provider gcp/hyperdisk-balanced --no-simulation",
        "100",
    );
    let flat = flat(&text);
    for part in [
        "the queue grows without bound at this rate",
        "a closed loop of 320 requests gets 160,000 IOPS at 2.00 ms",
        "size=320GiB",
    ] {
        assert!(flat.contains(part), "`{part}` is missing from:\n{text}");
    }
}

#[test]
fn unknown_machine_limits_and_prices_are_stated() {
    let line = "plan --iops 60k --machine n2-standard-8 --provider gcp/hyperdisk-balanced --no-simulation";
    let text = planned(line, "100");
    assert!(flat(&text).contains("machine limit unknown: the catalogue has no machine"), "{text}");
    assert!(flat(&text).contains("on request only: n2-standard-8 supports hyperdisk-balanced"), "{text}");
    let text = planned("plan --iops 1k --region mars --no-simulation", "120");
    assert!(flat(&text).contains("no price is known for mars"), "{text}");
    let text = planned("plan --iops 1k --region us-central1 --no-simulation", "120");
    assert!(!flat(&text).contains("no price is known"), "{text}");
}

#[test]
fn the_plan_chooses_the_machine() {
    let line =
        "plan --iops 10k --capacity 1TiB --vcpus 8 --memory 32GiB --arch arm64 --provider aws/gp3 --max-stripe 1";
    let text = flat(&planned(line, "100"));
    for part in [
        "Buy aws/gp3, 1,024 GiB, 12,000 IOPS, 125 MiB/s, on m6g.2xlarge (8 vCPUs, 32 GiB): ",
        "of which the machine 224.84.",
        "aws ec2 run-instances --image-id IMAGE --instance-type m6g.2xlarge",
        "The bottleneck is ",
        "USD a month more.",
    ] {
        assert!(text.contains(part), "`{part}` is missing from:\n{text}");
    }
    let document = Json::read(&run(&mut fathom(words(&format!("{line} --format json")))).expect_code(0).stdout);
    let best = document.items("meeting")[0].clone();
    assert_eq!(best.find("machine/name"), Some(&Json::Text("m6g.2xlarge".to_owned())));
    for key in ["price/machines_usd_per_month", "machine/usd_per_month", "machine/vcpus", "machine/date"] {
        assert!(best.find(key).is_some(), "{key}");
    }
    for (more, part) in [
        ("--arch arm", "unknown arch `arm`"),
        ("--family big", "unknown family `big`"),
        ("--machine m6i.large", "the machine is already chosen by --machine"),
        ("--max-stripe 0", "--max-stripe=0"),
    ] {
        let outcome = run(&mut fathom(words(&format!("plan --iops 1k --vcpus 8 {more}")))).expect_code(2);
        assert!(flat(&outcome.stderr).contains(part), "{more}: {}", outcome.stderr);
    }
    let none = planned("plan --iops 1k --memory 1PiB --no-simulation", "100");
    assert!(none.starts_with("ANSWER    No volume meets the need: the machine."), "{none}");
    let unknown = planned("plan --iops 1k --vcpus 8 --provider hetzner --no-simulation", "100");
    assert!(flat(&unknown).contains("the catalogue has no machine types"), "{unknown}");
}

#[test]
fn stripes_are_bought_with_their_commands_and_risk() {
    let line = "plan --iops 12k --headroom 0 --capacity 1TiB --provider aws/gp3";
    let text = flat(&planned(line, "100"));
    for part in [
        "ANSWER Buy 4 x aws/gp3 in RAID 0, each 256 GiB, 3,000 IOPS, 125 MiB/s: 81.92 USD a month (us-east-1).",
        "--create /dev/md0 --level=0 --raid-devices=4",
        "Or buy one volume: aws/gp3, 1,024 GiB, 12,000 IOPS, 125 MiB/s, 126.92 USD a month.",
        "RAID 0 of 4 loses all data with any one of them: up to 0.80% a year, 0.20% for one",
    ] {
        assert!(text.contains(part), "`{part}` is missing from:\n{text}");
    }
    let single = planned(&format!("{line} --max-stripe 1"), "100");
    assert!(!single.contains("RAID 0"), "{single}");
}

#[test]
fn impossible_needs_are_an_answer() {
    let text = planned("plan --iops 10k --latency 10us --provider gcp --provider aws", "100");
    assert!(
        text.starts_with("ANSWER    No volume has a mean latency of 8.33 us (with 20% headroom). Nearest is"),
        "{text}"
    );
    let detailed = planned("plan --iops 10k --latency 10us --provider gcp --provider aws --details", "100");
    assert!(detailed.contains("Why not\n  - mean latency: nearest is"), "{detailed}");
    let line = "plan --throughput 4801MiB/s --headroom 0 --machine a3-megagpu-8g --provider gcp/hyperdisk-extreme --no-simulation";
    let text = flat(&planned(line, "120"));
    assert!(text.contains("slightly less than 4.69 GiB/s"), "{text}");
}

#[test]
fn json_is_one_document_and_files_follow_their_extension() {
    let scratch = Scratch::new();
    let paths = ["plan.json", "plan.csv", "plan.md", "plan.svg", "plan.txt", "plan.html"]
        .map(|name| (name, scratch.path(name)));
    let mut line = words("plan --iops 15k --capacity 1TiB --provider aws --provider gcp --format json");
    for (_, path) in &paths {
        line.extend(["-o".to_owned(), path.display().to_string()]);
    }
    let outcome = run(&mut fathom(line)).expect_code(0);
    let document = Json::read(&outcome.stdout);
    assert_eq!(document.at("fathom_plan"), &Json::Whole(1));
    let best = document.items("meeting")[0].clone();
    assert_eq!(best.at("meets"), &Json::Bool(true));
    assert_eq!(document.find("next_step/confirmed"), Some(&Json::Bool(true)));
    for key in ["price/parts/capacity", "price/region", "price/date", "price/per_iops", "jobs/iodepth", "limit/name"] {
        assert!(best.find(key).is_some(), "{key}");
    }
    assert_eq!(scratch.read("plan.json"), outcome.stdout);
    let csv = scratch.read("plan.csv");
    let columns = csv.lines().next().unwrap().split(',').count();
    assert!(columns == 35 && csv.lines().count() > 10, "{csv}");
    assert!(scratch.read("plan.md").contains("| volume | size | USD a month | latency |"));
    assert!(scratch.read("plan.svg").starts_with("<svg ") && scratch.read("plan.svg").ends_with("</svg>\n"));
    assert!(scratch.read("plan.txt").starts_with("ANSWER    Buy "));
}

#[test]
fn workloads_are_read_from_runs_and_jobs() {
    let scratch = Scratch::new();
    let record = scratch.path("run.json");
    let line = format!(
        "sim --on custom,iops=7000,latency=1ms,size=10GiB --name=a --rw=randrw --rwmixread=70 --bs=8k --iodepth=4 --runtime=2 --time_based -o {}",
        record.display()
    );
    run(&mut fathom(words(&line))).expect_code(0);
    let measured = planned(&format!("plan --from {} --no-simulation", record.display()), "120");
    let need = "BASIS     the need is 4,000 IOPS, random operations, 70% reads of 8 KiB";
    assert!(measured.contains(need), "{measured}");
    let job = scratch.write("job.fio", "[a]\nrw=read\nbs=1m\nsize=1g\nrate=200m\n");
    let text = planned(&format!("plan --from {job} --no-simulation"), "120");
    assert!(text.contains("200 MiB/s, sequential reads of 1 MiB"), "{text}");
}

/// The rate of a load that its volume, its machine or an option limited was taken for its need.
#[test]
fn limited_loads_are_no_needs() {
    let scratch = Scratch::new();
    let record = scratch.path("run.json");
    let code = |volume: &str, job: &str| {
        let line =
            format!("sim --on {volume} --name=a --rw=randread --size=1g --time_based {job} -o {}", record.display());
        let simulated = run(&mut fathom(words(&line)));
        assert!(matches!(simulated.code(), Some(0 | 4)), "{line}: {}", simulated.stderr);
        let planned =
            run(&mut fathom(words(&format!("plan --from {} --no-simulation --provider aws/gp3", record.display()))));
        let says = planned.stdout.starts_with("ANSWER    Cannot tell: the load may need more");
        assert_eq!(says, planned.code() == Some(4), "{line}: {}", planned.stdout);
        planned.code()
    };
    let limited = [
        ("custom,iops=5000,latency=1ms", "--iodepth=32 --runtime=2"),
        ("custom,throughput=100MiB/s,latency=1ms", "--bs=128k --iodepth=32 --runtime=2"),
        ("aws/gp3,size=1TiB,iops=16000,machine=m5.large", "--iodepth=64 --runtime=2"),
        ("aws/gp2,size=100GiB,credits=0%", "--iodepth=32 --runtime=2"),
        ("aws/gp2,size=100GiB,credits=0.1%", "--iodepth=32 --runtime=2"),
        ("vultr/nvme-block", "--iodepth=64 --runtime=2"),
        ("custom,iops=5000,latency=1ms", "--iodepth=64 --rate_iops=6000 --runtime=2"),
        ("custom,iops=5000,latency=1ms", "--iodepth=64 --rate_iops=2000 --runtime=2"),
        ("custom,iops=5000,latency=1ms", "--iodepth=64 --rate=4m --runtime=2"),
    ];
    for (volume, job) in limited {
        assert_eq!(code(volume, job), Some(4), "{volume} {job}");
    }
    assert_eq!(code("custom,iops=5000,latency=1ms", "--iodepth=2 --runtime=2"), Some(0));
    assert_eq!(code("custom,latency=1ms", "--iodepth=16 --runtime=2"), Some(0));
    // A rate that the user states is a need.
    let stated = format!("plan --from {} --iops 6k --no-simulation --provider aws/gp3", record.display());
    run(&mut fathom(words(&stated))).expect_code(0);
}

/// Returns a trace in the format of MSR Cambridge: 2,000 reads and writes per second, with bursts of 10,000.
fn trace() -> String {
    let (mut at, mut random, mut text) = (0_u64, 1_u64, String::new());
    for index in 0..20_000_u64 {
        random = random * 16_807 % 2_147_483_647;
        at += if index % 5_000 < 1_000 { 1_000 } else { 3_000 + random % 4_000 };
        let kind = if random % 10 < 7 { "Read" } else { "Write" };
        text.push_str(&format!("{at},db,0,{kind},{},8192,{}\n", random % 100_000 * 8192, 2_000 + random % 1_000));
    }
    text
}

#[test]
fn a_trace_is_replayed_on_every_volume() {
    let scratch = Scratch::new();
    let trace = scratch.write("db.csv", trace());
    let line = format!(
        "plan --from {trace} --p99 3ms --provider aws/io2,aws/gp3,gcp/pd-standard --format json -o plan.html -o plan.csv \
         -o plan.md -o plan.svg -o plan.txt"
    );
    let outcome = run(fathom(words(&line)).current_dir(scratch.path(""))).expect_clean();
    let document = Json::read(&outcome.stdout);
    assert_eq!(document.at("fathom_trace_plan"), &Json::Whole(1));
    assert_eq!(document.find("trace/replayed/requests"), Some(&Json::Whole(20_000)));
    let best = document.items("meeting")[0].clone();
    for key in ["price/per_month", "latency/percentiles", "latency/confidence", "headroom/factor", "limits", "course"] {
        assert!(best.find(key).is_some(), "{key}");
    }
    let text = flat(&scratch.read("plan.txt"));
    for part in [
        "20,000 requests",
        "99% within 3.00 ms",
        "ANSWER Buy aws/io2,",
        "Volumes that may meet the need",
        "It takes 1.20 times the load",
        "gcp/pd-standard",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(scratch.read("plan.html").contains("The best volumes") && scratch.read("plan.svg").starts_with("<svg "));
    assert!(
        scratch.read("plan.csv").lines().count() == 4
            && scratch.read("plan.md").contains("| volume | size | USD a month |")
    );
    let line = format!("explain --from {trace} --volume aws/gp2,size=100GiB");
    let explained = flat(&run(&mut fathom(words(&line))).expect_clean().stdout);
    assert!(explained.contains("original device: p50") && explained.contains("burst credits"), "{explained}");
}

#[test]
fn what_does_not_fit_a_trace_is_refused() {
    let scratch = Scratch::new();
    let trace = scratch.write("db.csv", trace());
    let empty = scratch.write("empty.csv", "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n");
    for (line, part) in [
        (format!("plan --from {trace} --iops 5k --bs 4k"), "the trace defines the load"),
        (format!("plan --from {trace} --no-simulation"), "has no effect when planning for a trace"),
        (format!("plan --from {trace} --p99 fast"), "--p99=fast"),
        (format!("plan --from {trace} --replay-loop closed"), "cannot fall behind"),
        (format!("plan --from {empty}"), "nothing to replay"),
        ("plan --iops 5k --full".to_owned(), "--full has no effect without a trace"),
        ("plan --iops 5k --p50 1ms".to_owned(), "a bound on the median requires a trace"),
        (format!("explain --from {trace}"), "--volume"),
        (format!("explain --from {trace} --volume aws/gp9"), "aws/gp9"),
        ("explain --from /nowhere/db.trace --volume aws/gp3".to_owned(), "No such file"),
    ] {
        let outcome = run(&mut fathom(words(&line))).expect_code(2);
        assert!(outcome.stderr.contains(part) && outcome.stdout.is_empty(), "{line}: {}", outcome.stderr);
    }
}

#[test]
fn all_invalid_values_are_reported_with_their_places() {
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
        ("plan", "neither load nor capacity specified"),
        ("plan --iops 1k --machine nowhere-8", "the catalogue has no machine `nowhere-8`"),
        ("plan --workload oltp,tpz=1", "did you mean `tps`?"),
        ("plan --iops 1k --read-only --read 50%", "cannot be written"),
        ("plan --iops 1k --p99 1ms --p999 2ms", "two percentile bounds"),
        ("plan --iops 1k -o plan.pdf", ".svg"),
        ("plan --from /nowhere/run.json", "No such file"),
        ("plan --iops 1k --budget -5", "--budget=-5"),
    ] {
        let outcome = run(&mut fathom(words(line))).expect_code(2);
        assert!(outcome.stderr.contains(part), "{line}: `{part}` is missing from:\n{}", outcome.stderr);
    }
}

#[test]
fn volumes_priced_in_euros_were_not_ranked() {
    let line = "plan --throughput 100MiB/s --capacity 100GiB --no-simulation --max-stripe 1";
    let text = flat(&planned(line, "100"));
    assert!(text.starts_with("ANSWER Buy hetzner/volume, 108 GB: 6.18 EUR = 6.90 USD a month (EU)."), "{text}");
    assert!(text.contains("BASIS price of 2026-05-27 / 2026-09-22 (187 days old);"), "{text}");
    assert!(text.contains("1 EUR = 1.1172 USD (European Central Bank"), "{text}");
    let given = flat(&planned(&format!("{line} --eur-usd 2 --details"), "100"));
    assert!(!given.contains("Buy hetzner") && given.contains("1 EUR = 2.0000 USD (user-specified)"), "{given}");
}

#[test]
fn only_the_first_of_a_list_of_providers_counted() {
    let text = planned("plan --iops 5k --provider aws,gcp,azure --no-simulation", "120");
    for volume in ["aws/gp3", "gcp/pd-ssd", "azure/premium-ssd-v2"] {
        assert!(text.contains(volume), "{volume} is missing from:\n{text}");
    }
    assert!(!text.contains("hetzner"), "{text}");
    let keyed = planned("plan --iops 5k --provider aws/gp3,iops=8000,hetzner --no-simulation --details", "120");
    assert!(keyed.contains("8,000 IOPS") && keyed.contains("hetzner/volume"), "{keyed}");
    for (list, parts) in [
        ("aws,banana", ["unknown provider or volume `banana`", "use one of gcp, aws, azure"]),
        ("aws,azur", ["unknown provider or volume `azur`", "did you mean `azure`?"]),
        ("iops=3", ["is a key without a volume", "use one of"]),
        ("aws/gp3,ipos=3", ["aws/gp3 has no key `ipos`", "did you mean `iops`?"]),
        (
            "azure/ultra,size=466.5GiB",
            ["azure/ultra is not available with 466.5 GiB", "the next available size is size=467GiB"],
        ),
    ] {
        let line = format!("plan --iops 5k --provider {list}");
        let outcome = run(&mut fathom(words(&line))).expect_code(2);
        for part in parts {
            assert!(outcome.stderr.contains(part), "{line}: `{part}` is missing from:\n{}", outcome.stderr);
        }
    }
}

#[test]
fn us_east_1_made_prices_of_aws_unknown() {
    let text = flat(&planned("plan --throughput 500MiB/s --region us-east-1 --provider aws --no-simulation", "100"));
    assert!(text.contains("USD a month (us-east-1).") && text.contains("; price of 2026-10-15;"), "{text}");
    let mars = flat(&planned("plan --iops 1k --region mars --provider aws,azure --no-simulation --details", "100"));
    assert!(mars.contains("no price is known for mars: prices are known for af-south-1,"), "{mars}");
    assert!(mars.contains("us-west-2, westeurope"), "{mars}");
}

#[test]
fn the_best_had_no_headroom_below_the_latency_bound() {
    let plan = |more: &str| {
        let line = format!(
            "plan --iops 10k --latency 2ms --provider gcp/hyperdisk-balanced --max-stripe 1 --format json --no-simulation{more}"
        );
        let document = Json::read(&run(&mut fathom(words(&line))).expect_code(0).stdout);
        let best = document.items("meeting")[0].clone();
        let number = |key: &str| match best.find(key) {
            Some(Json::Whole(value)) => *value as f64,
            Some(Json::Float(value)) => *value,
            other => panic!("{key}: {other:?}"),
        };
        (number("limit/iops"), number("latency_ns"))
    };
    let (iops, ns) = plan("");
    assert!(iops >= 12_000.0 && ns <= 2e6 / 1.2, "{iops} IOPS, {ns} ns");
    let (tight, _) = plan(" --headroom 0");
    assert!((10_000.0..12_000.0).contains(&tight), "{tight}");
    let (ample, _) = plan(" --headroom 50%");
    assert!(ample >= 15_000.0, "{ample}");
    let line = "plan --iops 10k --latency 2ms --provider gcp/hyperdisk-balanced --max-stripe 1 --no-simulation";
    assert!(flat(&planned(line, "100")).contains("20% headroom (limit: volume IOPS)"));
    let text = flat(&planned(&format!("{line} --details"), "100"));
    assert!(text.contains("headroom 20%: the volume sustains 1.20 times the rate"), "{text}");
    assert!(text.contains("mean latency at the rate itself is at most 2.00 ms / 1.20 = 1.67 ms"), "{text}");
    // The plan says so if only the headroom rules a volume out.
    let line = "plan --iops 75k --provider aws/gp3 --max-stripe 1 --no-simulation";
    assert!(flat(&planned(line, "100")).contains("Accept it without headroom (--headroom 0): aws/gp3,"));
}

#[test]
fn bounded_percentiles_have_a_column() {
    let text = planned("plan --iops 5k --p99 5ms --provider aws/io2,gcp/pd-ssd --no-simulation", "120");
    let head = text.lines().find(|line| line.contains("USD a month  latency")).expect("a table");
    assert!(head.contains("p99") && head.contains("basis"), "{text}");
    let none = planned("plan --iops 5k --latency 5ms --provider aws/gp3 --no-simulation", "120");
    let head = none.lines().find(|line| line.contains("USD a month  latency")).expect("a table");
    assert!(!head.contains("p99"), "{none}");
}

#[test]
fn an_assumed_latency_ranked_above_a_measured_one_without_note() {
    let line = "plan --iops 5k --provider aws/gp3,gcp/hyperdisk-balanced --max-stripe 1 --no-simulation";
    let text = planned(&format!("{line} --details"), "120");
    // The best has the measured latency; the faster one is said to have an assumed one.
    assert!(
        text.starts_with("ANSWER    Buy gcp/hyperdisk-balanced,") && text.contains("its latency is measured"),
        "{text}"
    );
    let fastest = "Fastest: aws/gp3,size=12GiB,iops=6000,throughput=125MiB/s, 15.96 USD a month, 1.00 ms (assumed)";
    assert!(flat(&text).contains(fastest), "{text}");
    let cheap = flat(&planned("plan --throughput 100MiB/s --capacity 100GiB --no-simulation --details", "120"));
    assert!(cheap.contains("Cheapest with a measured or published latency: gcp/hyperdisk-balanced"), "{cheap}");
    // It is marked although a volume with an assumed latency is as cheap and nominally faster.
    assert!(
        text.lines().any(|line| line.starts_with("  gcp/hyperdisk-balanced *") && line.contains("measured")),
        "{text}"
    );
    // A bound that only the assumed latency keeps does not make it the answer; what is published may.
    let bounded = planned(&format!("{line} --latency 3ms"), "120");
    assert!(bounded.starts_with("ANSWER    Buy gcp/hyperdisk-balanced,"), "{bounded}");
    let tail = bounded.split("May meet it, latency assumed:").nth(1).expect("a second table");
    assert!(tail.contains("aws/gp3 "), "{bounded}");
    let unknown = planned(&format!("{line} --latency 1.2ms --headroom 0"), "120");
    assert!(
        unknown.starts_with("ANSWER    Cannot tell: no volume of measured or published latency meets"),
        "{unknown}"
    );
    assert!(flat(&unknown).contains("fathom run --name=a --filename=DEVICE --direct=1 --rw=randread"), "{unknown}");
    let published =
        flat(&planned("plan --iops 5k --latency 12ms --provider aws/gp3 --max-stripe 1 --no-simulation", "120"));
    assert!(published.starts_with("ANSWER Buy aws/gp3,"), "{published}");
    assert!(published.contains("its published mean latency is below 10.0 ms"), "{published}");
}

/// A volume was said to cost less, perhaps, although what is known of its price is more than that of the best.
#[test]
fn a_known_part_of_a_price_above_the_best_may_not_cost_less() {
    let text = flat(&planned("plan --iops 15k --capacity 1TiB --max-stripe 1 --no-simulation", "120"));
    assert!(text.contains("ANSWER Buy ") && !text.contains("less: gcp/hyperdisk-balanced-high-availability"), "{text}");
    let of_both =
        "plan --iops 15k --provider gcp/hyperdisk-balanced-high-availability,aws/io2 --max-stripe 1 --no-simulation";
    let text = flat(&planned(of_both, "120"));
    assert!(text.contains("may cost less: gcp/hyperdisk-balanced-high-availability"), "{text}");
}

#[test]
fn rejected_volumes_are_one_line_for_each_reason() {
    let text = planned("plan --iops 200k --capacity 1TiB --max-stripe 1 --no-simulation --details", "120");
    let refused = text.split("Not enough").nth(1).expect("some are not enough");
    assert_eq!(refused.matches("sustains less than 240,000 IOPS ").count(), 1, "{text}");
    assert!(refused.contains("data is lost with the machine") && refused.contains("gcp/local-ssd-nvme,"), "{text}");
    assert!(text.contains("Not considered: snapshots, network traffic, taxes."), "{text}");
}

#[test]
fn a_plan_is_a_page_with_chart_and_assumptions() {
    let scratch = Scratch::new();
    let path = scratch.text("plan.html");
    let line = format!("plan --iops 15k --p99 5ms --provider aws,gcp,hetzner --no-simulation -o {path}");
    run(&mut fathom(words(&line))).expect_code(0);
    let page = scratch.read("plan.html");
    for part in [
        "<!DOCTYPE html>",
        "Content-Security-Policy",
        "<svg ",
        "Assumptions",
        "headroom 20%",
        "RAID 0",
        "p99",
        "2026-09-24",
        "us-central1",
        "assumed",
        "Not enough",
        "Arithmetic and sources",
    ] {
        assert!(page.contains(part), "`{part}` is missing");
    }
    assert!(!page.contains("<script") && !page.contains("http-equiv=\"refresh\""));
}

/// An invalid value was reported as a volume that "does not take these keys", with exit code 0.
#[test]
fn invalid_values_of_keys_are_refused() {
    for (volume, message) in [
        ("aws/gp3,jitter=61s", "jitter: `61s` is more than 60 s"),
        ("aws/gp2,size=10GiB,aws/gp3,iops=many", "iops: `many` is not a number"),
    ] {
        let line = format!("plan --iops 5k --provider {volume} --no-simulation");
        let outcome = run(&mut fathom(words(&line))).expect_code(2);
        assert!(outcome.stderr.contains(message) && outcome.stderr.contains("1 error"), "{line}: {}", outcome.stderr);
    }
    // A value that is too large for the default size may suit a larger one.
    let text = planned("plan --iops 5k --provider aws/gp3,iops=20000,size=100GiB --no-simulation", "100");
    assert!(text.contains("20,000 IOPS"), "{text}");
}

/// Volumes of one's own with a price take part in a plan.
#[test]
fn private_catalogues_take_part() {
    let scratch = Scratch::new();
    let file = scratch.write(
        "array.toml",
        "[provider]\nid = 'array'\ntitle = 'Our array'\nas_of = '2026-11'\n\
         [source.s]\ntitle = 'contract of 2026'\ndate = '2026-01-02'\n\
         [[volume]]\nid = 'gold'\ntitle = 'Gold'\nmedia = 'NVMe, network'\n\
         key.size = { unit = 'GiB', default = 100, min = 10, max = 50_000 }\n\
         limit = [{ name = 'volume IOPS', iops = '50 * gib', source = 's' }, { name = 'link', mbps = 2_000, source = 's' }]\n\
         price = { usd = '35 * tib', source = 's' }\n\
         latency.read = { law = 'networked', mean_us = 300 }\nlatency.source = 's'\nlatency.basis = 'measured'\n",
    );
    let line = format!("plan --iops 40k --capacity 2TiB --latency 800us --catalog {file}");
    let text = flat(&planned(&line, "120"));
    let bought = format!("ANSWER Buy {file}, 2,048 GiB: 70.00 USD a month");
    assert!(text.starts_with(&bought) && text.contains("its latency is measured"), "{text}");
    let only = planned(&format!("{line} --provider {file}"), "120");
    assert!(!only.contains("aws/"), "{only}");
    scratch.write("broken.toml", "[[volume]]\nid = 'a'\nprice = 3\n");
    for (path, part) in
        [("broken.toml", "broken.toml:"), ("array.csv", "not the path of a volume file"), ("no.toml", "no.toml")]
    {
        let line = format!("plan --iops 1k --catalog {}", scratch.text(path));
        let outcome = run(&mut fathom(words(&line))).expect_code(2);
        assert!(outcome.stderr.contains(part), "{path}: {}", outcome.stderr);
    }
}

/// Needs files and volumes that exist printed euros as US dollars, or ignored the currency; and a need that only an
/// assumed latency keeps was called unmet.
#[test]
fn totals_of_needs_and_current_volumes_have_their_currency_and_status() {
    let scratch = Scratch::new();
    let file = scratch.write("need.toml", "[need.a]\niops = 3000\ncapacity = '1TiB'\nprovider = 'aws/gp3'\n[need.b]\niops = 3000\ncapacity = '2TiB'\nprovider = 'aws/gp3'\n");
    let text = flat(&planned(&format!("plan {file} --no-simulation --max-stripe 1 --currency eur --eur-usd 2"), "120"));
    for part in
        ["2 needs cost 125.88 EUR a month (1,510.56 a year)", "need EUR a month", "a 42.46 aws/gp3", "total 125.88"]
    {
        assert!(text.contains(part), "`{part}` is missing from:\n{text}");
    }
    let current =
        "plan --current aws/gp3,size=1TiB,iops=9000 --iops 9k --headroom 0 --currency eur --eur-usd 2 --no-simulation";
    let text = flat(&planned(current, "120"));
    assert!(text.contains(" for 55.96 EUR a month") && !text.contains("USD a month"), "{text}");
    let unknown = run(&mut fathom(words(&format!("plan {file} --no-simulation --p99 3ms")))).expect_code(4).stdout;
    assert!(flat(&unknown).starts_with("ANSWER 2 of 2 needs are unknown: a, b."), "{unknown}");
    let csv = run(&mut fathom(words(&format!("plan {file} --no-simulation --p99 3ms --format csv")))).expect_code(4);
    assert!(csv.stdout.lines().skip(1).all(|row| row.split(',').nth(1) == Some("unknown")), "{}", csv.stdout);
}
