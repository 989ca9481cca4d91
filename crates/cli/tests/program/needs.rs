//! `fathom plan NEEDS.toml`: one total, exit codes, formats and errors.

use crate::common::json::Json;
use crate::common::schema::expect_result;
use crate::common::{Outcome, Scratch, fathom, flat, run, words};

/// Plans the needs of a text.
#[track_caller]
fn planned(text: &str, rest: &str) -> (Scratch, Outcome) {
    let scratch = Scratch::new();
    scratch.write("need.toml", text);
    let line = format!("plan need.toml --no-simulation {rest}");
    let outcome = run(fathom(words(&line)).env("COLUMNS", "120").current_dir(&scratch));
    (scratch, outcome)
}

#[test]
fn the_example_has_one_total_and_a_section_for_each_need() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/need.toml");
    let outcome = run(fathom(words(&format!("plan {example}"))).env("COLUMNS", "100")).expect_code(0);
    let text = &outcome.stdout;
    assert!(
        text.starts_with("ANSWER    3 needs cost ") && text.contains(" USD a month (") && text.contains(" a year)."),
        "{text}"
    );
    assert!(text.lines().count() <= 24, "{text}");
    for need in ["\n  orders ", "\n  search ", "\n  backups ", "\n  total "] {
        assert!(text.contains(need), "{need:?} is missing from:\n{text}");
    }
    let details = run(&mut fathom(words(&format!("plan {example} --no-simulation --details")))).expect_code(0).stdout;
    for heading in ["\nNeeds\n", "\norders\n", "\norders: volumes that meet the need\n", "\nbackups: not enough\n"] {
        assert!(details.contains(heading), "{heading:?} is missing from:\n{details}");
    }
    assert!(!details.contains("arithmetic and sources"), "{details}");
}

#[test]
fn each_need_is_planned_as_alone() {
    let text = "[need.one]\niops = \"15k\"\ncapacity = \"1TiB\"\n[need.two]\nthroughput = \"400MiB/s\"\nmachines = 3\n";
    let (_, outcome) = planned(text, "--format json --provider aws,gcp");
    expect_result("plan-needs", &outcome.stdout);
    let json = Json::read(&outcome.stdout);
    let mut sum = 0.0;
    for (index, line) in ["--iops 15k --capacity 1TiB", "--throughput 400MiB/s --machines 3"].into_iter().enumerate() {
        let line = format!("plan --no-simulation --provider aws,gcp {line} --format json");
        let alone = Json::read(&run(&mut fathom(words(&line))).expect_code(0).stdout);
        let need = json.at(&format!("needs/{index}"));
        assert_eq!(need.text("volume"), alone.text("best"));
        assert_eq!(need.number("usd_per_month"), alone.number("meeting/0/price/usd_per_month"));
        assert_eq!(need.text("plan/best"), alone.text("best"));
        sum += need.number("usd_per_month");
    }
    assert!((json.number("total/usd_per_month") - sum).abs() < 1e-9);
    assert!((json.number("total/usd_per_year") - 12.0 * sum).abs() < 1e-6);
}

#[test]
fn options_replace_the_keys_of_needs_and_those_the_defaults() {
    let text = "[defaults]\niops = 3000\nprovider = [\"aws/gp3\"]\nterm = \"1-year\"\nread-only = true\nmachines = 2\nmax-stripe = 1\n\
                [need.own]\nprovider = \"aws/io2\"\nread-only = false\n[need.plain]\n";
    let volumes = |rest: &str| {
        let (_, outcome) = planned(text, &format!("--format csv {rest}"));
        let rows: Vec<String> = outcome.stdout.lines().skip(1).map(str::to_owned).collect();
        rows
    };
    let of_file = volumes("");
    assert!(of_file[0].starts_with("own,met,") && of_file[0].contains("aws/io2,"), "{of_file:?}");
    assert!(of_file[1].starts_with("plain,unmet,"), "gp3 is for one machine: {of_file:?}");
    let of_line = volumes("--provider gcp/pd-ssd --machines 1");
    assert!(of_line.iter().all(|row| row.contains(",met,") && row.contains("gcp/pd-ssd")), "{of_line:?}");
}

#[test]
fn unmet_and_unknown_needs_come_first_and_decide_the_exit_code() {
    let met = "[need.fine]\niops = 1000\nprovider = \"aws/gp3\"\n";
    let unmet = "[need.huge]\niops = \"9M\"\nprovider = \"aws\"\n";
    let (scratch, outcome) = planned(&format!("{met}{unmet}"), "");
    let text = flat(&outcome.expect_code(1).stdout);
    assert!(text.starts_with("ANSWER 1 of 2 needs cannot be met: huge. The other costs "), "{text}");
    assert!(text.contains("DO huge: No volume sustains 10,800,000 IOPS (with 20% headroom)."), "{text}");
    assert!(text.find("huge - ").expect("a row") < text.find("fine ").unwrap_or(0), "{text}");

    let record = scratch.text("run.json");
    let limited =
        "sim --on custom,iops=5000,latency=1ms --name=a --rw=randread --size=1g --time_based --iodepth=32 --runtime=2";
    run(&mut fathom(words(&format!("{limited} -o {record}")))).expect_one_of(&[0, 4]);
    let unknown = "[need.db]\nfrom = \"run.json\"\nprovider = \"aws/gp3\"\n";
    let plan = |text: &str| {
        scratch.write("need.toml", text);
        run(fathom(words("plan need.toml --no-simulation")).env("COLUMNS", "120").current_dir(&scratch))
    };
    let outcome = plan(&format!("{met}{unknown}")).expect_code(4);
    let text = flat(&outcome.stdout);
    assert!(text.starts_with("ANSWER 1 of 2 needs is unknown: db. 2 needs cost at least "), "{text}");
    assert!(text.contains("DO db: Cannot tell: the load may need more"), "{text}");
    let text = flat(&plan(&format!("{met}{unknown}{unmet}")).expect_code(1).stdout);
    assert!(text.starts_with("ANSWER 1 of 3 needs cannot be met: huge. 1 is unknown: db. "), "{text}");
}

#[test]
fn totals_are_in_us_dollars_and_say_what_they_lack() {
    let text = "[defaults]\niops = 1000\n[need.eur]\nprovider = \"hetzner\"\n[need.free]\nprovider = \"hdd,gcp/hyperdisk-ml\"\n";
    let (_, outcome) = planned(text, "--eur-usd 2");
    let says = flat(&outcome.expect_code(0).stdout);
    assert!(says.contains("2 needs cost at least ") && says.contains("price unknown or incomplete: free."), "{says}");
    assert!(says.contains("1 EUR = 2.0000 USD") && says.contains("EUR)") && says.contains("total > "), "{says}");
}

/// Paths are relative to the file; traces are replayed.
#[test]
fn loads_come_from_files_beside_the_needs() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("needs")).unwrap();
    std::fs::copy(format!("{examples}/checkpoints.trace"), scratch.path("needs/c.trace")).unwrap();
    std::fs::copy(format!("{examples}/iostat-pgbench.json"), scratch.path("needs/i.json")).unwrap();
    scratch.write("needs/need.toml", "[defaults]\nprovider = \"aws/gp3\"\n[need.trace]\nfrom = \"c.trace\"\np99 = \"5ms\"\n[need.iostat]\nfrom = \"i.json\"\n");
    let outcome =
        run(fathom(words("plan needs/need.toml --format json")).current_dir(&scratch)).expect_one_of(&[0, 1, 4]);
    expect_result("plan-needs", &outcome.stdout);
    let json = Json::read(&outcome.stdout);
    assert_eq!(json.text("needs/0/trace_plan/trace/name"), "needs/c.trace");
    assert!(json.number("needs/1/plan/need/iops") > 0.0);
}

#[test]
fn errors_of_all_needs_have_their_places() {
    let text = "[defaults]\nheadroom = \"0.2\"\n[need.a]\niops = \"15kk\"\nprovider = [\"aws\", \"gpc\"]\n\n[need.b]\ncapacity = \"x\"\n[need.c]\nfrom = \"none.json\"\n[need.d]\n";
    let (_, outcome) = planned(text, "");
    let errors = outcome.expect_code(2).stderr;
    for place in ["need.toml:2:13", "need.toml:4:9", "need.toml:5:21", "need.toml:8:13", "need.toml:10:9"] {
        assert!(errors.contains(place), "{place} is missing from:\n{errors}");
    }
    assert!(errors.contains("fathom: 5 errors"), "a default is one error: {errors}");
    let cases = [
        ("", "", "need.toml has no needs"),
        ("[defaults]\niops = 1\n", "", "need.toml has no needs"),
        ("iops = 1\n", "", "move it below [defaults] or a need such as [need.db]"),
        ("[need.a]\niosp = 1\n", "", "did you mean `iops`?"),
        ("[need.a]\nseed = 1\n", "", "need `a` has no key `seed`"),
        ("[need.a]\nno-simulation = true\n", "", "need `a` has no key `no-simulation`"),
        ("[need.a]\nread-only = 1\n", "", "`read-only` must be true or false, not a number"),
        ("[need.a]\niops = 0x10\n", "", "`iops` must be a string or a number, not a non-decimal number"),
        ("[need.a]\niops = [1]\n", "", "`iops` must be a string or a number, not a list"),
        ("[need.a]\nterm = \"2-years\"\n", "", "did you mean `3-years`?"),
        ("[need.a]\niops = 1\n[need.a]\niops = 2\n", "", "duplicate key"),
        ("[need]\na = 1\n", "", "`need.a` must be a table, not a number"),
        ("[need.\"\"]\niops = 1\n", "", "invalid name of a need"),
        ("[need.\"a\\nb\"]\niops = 1\n", "", "invalid name of a need"),
        ("[need.\"\u{202e}\"]\niops = 1\n", "", "invalid name of a need"),
        ("[need.a]\n", "", "--> need.toml:1:7"),
        ("[need.a]\ndevice = \"sda\"\n", "", "--from <FILE>"),
        ("[need.a]\niops = 1\n", "--iops x", "--> command line:1:8"),
        ("[need.a]\niops = 1\n", "-o plan.svg", "unknown file ending"),
        ("{\"json\": 1}", "", "a needs file is TOML, as in docs/plan.md"),
    ];
    for (text, rest, message) in cases {
        let (_, outcome) = planned(text, rest);
        let errors = outcome.expect_code(2).stderr;
        assert!(flat(&errors).contains(message), "`{message}` is missing from:\n{errors}");
    }
}

/// Equal needs are planned once; the page of many has their answers only.
#[test]
fn a_thousand_needs_are_one_total() {
    let needs: String = (0..1000).map(|number| format!("[need.n{number}]\n")).collect();
    let text = format!("[defaults]\niops = 3000\ncapacity = \"100GiB\"\nprovider = \"aws/gp3\"\n{needs}");
    let (scratch, outcome) = planned(&text, "-o plan.html");
    let says = flat(&outcome.expect_code(0).stdout);
    assert!(says.starts_with("ANSWER 1,000 needs cost ") && says.contains("988 needs more: --details"), "{says}");
    assert!(scratch.read("plan.html").len() < 2_000_000);
}
