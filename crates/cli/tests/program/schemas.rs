//! `fathom schema`: the schemas describe what the commands print.

use serde_json::Value;

use crate::common::schema::{expect_result, expect_results};
use crate::common::{Scratch, at_once, fathom, run, words};

const LOAD: &str = "--on aws/gp3,size=100GiB --rw=randrw --bs=8k --iodepth=8 --runtime=1 --time_based";

/// Results that the tests with privileges check.
const ELSEWHERE: [&str; 3] = ["capture", "capture-sample", "serve-control"];
/// Results that need more than a command line.
const APART: [&str; 2] = ["runs-series", "events"];

/// A scratch directory with a store of runs and two records.
struct Results(Scratch);

impl Results {
    fn new() -> Self {
        let results = Self(Scratch::new());
        results.0.write("limits.toml", "[volume]\nkey.size = { unit = \"GiB\", default = 10 }\nlimit = [{ name = \"IOPS\", iops = \"7 * gib\" }]\n");
        let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
        results.print(&format!("catalog update --from {examples}/aws-price-list.csv"));
        results.0.write("fleet.csv", "name,volume,count\na,hetzner/volume,2\nb,gcp/pd-ssd,\n");
        let lines = [
            format!("sim {LOAD} --name=a -o a.json"),
            format!("sim {LOAD} --name=a --iodepth=16 -o b.json --events events.jsonl"),
            format!("sim {LOAD} --name=twice --repeat 2"),
        ];
        at_once(&lines, |line| results.print(line));
        results
    }

    /// Returns what a command prints, which may judge what it prints.
    #[track_caller]
    fn print(&self, line: &str) -> String {
        let mut command = fathom(words(line));
        command.env_remove("FATHOM_NO_RECORD").env("FATHOM_HOME", self.0.path("home")).current_dir(&self.0);
        let outcome = run(&mut command);
        assert!(matches!(outcome.code(), Some(0 | 1 | 4)), "{line}: {outcome:#?}");
        outcome.stdout
    }
}

/// Returns the name of each result and a command that prints it.
fn commands() -> Vec<(&'static str, String)> {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut commands = vec![
        ("run", "run --name=a --ioengine=null --rw=randrw --size=16m".to_owned()),
        ("run", format!("sim {LOAD} --name=a --rate_iops=500 --hosts 2")),
        ("run", format!("sim --replay {examples}/checkpoints.trace --on aws/gp2,size=100GiB")),
        ("repeats", format!("sim {LOAD} --name=a --repeat 2")),
        ("grid", format!("sim {LOAD} --name=a --vary iodepth=1,8")),
        ("sweep", "sweep --on aws/gp3,size=100GiB --vary iops=3000,6000 --precision 20%".to_owned()),
        ("suite", "suite run gcp-pd --on gcp/pd-ssd,size=100GiB --scale 0.001 --state state".to_owned()),
        ("suite-list", "suite list".to_owned()),
        ("suite-show", "suite show snia-iops".to_owned()),
        ("explain", "explain a.json --volume aws/gp3 --database postgresql".to_owned()),
        ("explain", format!("explain {examples}/iostat-pgbench-64.json --volume aws/gp3 --database mysql")),
        ("explain", "explain --claim iops=10000,lat=3ms,qd=4,jobs=4,bs=4k".to_owned()),
        ("plan", "plan --iops 15k --capacity 1TiB --latency 2ms --provider aws,gcp --machine m6i.xlarge".to_owned()),
        ("plan", "plan --iops 2000000 --capacity 1GiB --latency 10us --p99 20us --no-simulation".to_owned()),
        ("plan-trace", format!("plan --from {examples}/checkpoints.trace --p99 5ms --provider aws/gp2,vultr")),
        ("plan-needs", format!("plan {examples}/need.toml --no-simulation --iops 2M")),
        (
            "plan-current",
            "plan --current aws/gp2,size=1TiB --current aws/gp3,iops=9000 --machine m6i.large --iops 9k".to_owned(),
        ),
        ("plan-current", "plan --current fleet.csv --no-simulation".to_owned()),
        ("compare", "compare a.json b.json --force".to_owned()),
        (
            "gate",
            "gate b.json --force --baseline a.json --assert read.iops>=95% --assert write.lat.p99<=1us".to_owned(),
        ),
        ("doctor", "doctor .".to_owned()),
        ("trace", format!("trace {examples}/checkpoints.trace --to-job trace.fio")),
        ("catalog", "catalog".to_owned()),
        ("catalog-update", format!("catalog update --from {examples}/aws-price-list.csv --dry-run")),
        ("catalog-diff", "catalog diff".to_owned()),
        ("runs", "runs list".to_owned()),
        ("runs-show", "runs show last".to_owned()),
        ("serve", "serve aws/gp3,size=1GiB --run true".to_owned()),
    ];
    let volumes = ["aws/gp2,size=100GiB", "gcp/pd-ssd,machine=n2-standard-8", "hdd/7200rpm", "./limits.toml"];
    commands.extend(volumes.map(|volume| ("catalog-volume", format!("catalog {volume} --bs 256k --rw readwrite"))));
    commands
}

#[test]
fn every_result_is_as_its_schema_says() {
    let (results, commands) = (Results::new(), commands());
    at_once(&commands, |(name, line)| expect_result(name, &results.print(&format!("{line} --format json"))));
    let saved: Value = serde_json::from_str(&results.print("runs list --name twice --format json")).unwrap();
    let series = saved["runs"][0]["repeat"]["series"].as_str().expect("it is one of a series");
    expect_result("runs-series", &results.print(&format!("runs show {series} --format json")));
    results.print("report a.json -o report.json");
    expect_result("report", &results.0.read("report.json"));
    let events = results.0.read("events.jsonl");
    let events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(events.iter().any(|event| event["event"] == "end"), "{events:?}");
    expect_results("events", &events);

    let list = run(&mut fathom(["schema"])).expect_clean().stdout;
    let listed = list.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.split(' ').next());
    for name in listed {
        let mut checked = ELSEWHERE.iter().chain(&APART).chain(commands.iter().map(|(name, _)| name));
        assert!(checked.any(|known| *known == name), "no test prints the result {name}");
    }
}

#[test]
fn a_schema_has_its_dialect_title_and_version() {
    let text = run(&mut fathom(["schema", "sim"])).expect_clean().stdout;
    let schema: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(
        (&schema["$id"], &schema["title"]),
        (&"urn:fathom:schema:run:1".into(), &"A run and what was found".into())
    );
    assert_eq!(schema["properties"]["schema"]["const"], 1);
    // Required: keys that are always there, even if their value is null.
    let required: Vec<&str> = schema["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(required.contains(&"verdicts") && !required.contains(&"fleet"), "{required:?}");
}

#[test]
fn an_unknown_result_is_refused_with_a_suggestion() {
    let outcome = run(&mut fathom(["schema", "swep"])).expect_code(2);
    for part in ["error[unknown-value]: unknown result `swep`", "did you mean `sweep`?"] {
        assert!(outcome.stderr.contains(part), "{}", outcome.stderr);
    }
}
