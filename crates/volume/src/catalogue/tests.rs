use units::{Place, Problem, ProblemCode, random::Random};

use super::*;
use crate::request::RequestKind;
use crate::spec::Limit;

/// Returns the rate of the named limit, in its own unit.
fn rate(text: &str, name: &str) -> Option<u64> {
    let spec = resolve(text).unwrap_or_else(|problems| panic!("{text}: {}", problems[0]));
    let limit: &Limit = spec.limits.iter().find(|limit| limit.name == name)?;
    limit.rate.read.or(limit.rate.write)
}

/// Returns all problems of a volume, one per line.
fn refused(text: &str) -> Vec<String> {
    match resolve(text) {
        Ok(spec) => panic!("{text} is {spec:?}"),
        Err(problems) => problems.iter().map(ToString::to_string).collect(),
    }
}

fn refused_for(text: &str, parts: &[&str]) {
    let problems = refused(text).join("\n");
    for part in parts {
        assert!(problems.contains(part), "{text}:\n{problems}\nlacks {part}");
    }
}

fn place(problem: &Problem) -> &Place {
    problem.place.as_deref().expect("a place")
}

#[test]
fn every_listed_volume_resolves() {
    for listed in list() {
        let spec = resolve(&listed.name).unwrap_or_else(|problems| panic!("{}: {}", listed.name, problems[0]));
        assert!(spec.size.get() > 0, "{} has no size", listed.name);
        assert_eq!(spec.name, listed.name);
        for limit in &spec.limits {
            assert!(!limit.rule.contains('?'), "{}: {} has the rule {}", listed.name, limit.name, limit.rule);
            assert!(limit.rate.each().into_iter().flatten().all(|rate| *rate > 0), "{}: {}", listed.name, limit.name);
        }
    }
}

#[test]
fn requested_values_determine_limits() {
    let text = "gcp/hyperdisk-balanced,size=1TiB,iops=160000,throughput=2400MiB/s,machine=a3-megagpu-8g";
    assert_eq!(rate(text, "volume IOPS"), Some(160_000));
    assert_eq!(rate(text, "volume throughput"), Some(2400 << 20));
    assert_eq!(rate(text, "machine Hyperdisk Balanced throughput"), Some(4800 << 20));
    assert_eq!(rate(text, "machine Hyperdisk Balanced IOPS"), None, "it is not published");
    assert_eq!(rate("gcp/pd-ssd@2019,size=2048GB,vcpus=32", "pd-ssd IOPS"), Some(60_000));
    assert_eq!(rate("gcp/pd-ssd@2019,size=834GB,machine=c2-standard-16", "machine pd-ssd IOPS"), Some(8_000));
    assert_eq!(rate("custom,iops=5000,latency=1ms", "volume IOPS"), Some(5000));
    let rule = |text: &str, index: usize| resolve(text).unwrap().limits[index].rule.clone();
    assert_eq!(
        rule("gcp/pd-ssd@2019,size=2048GB,vcpus=32", 0),
        "reads min(30 × 2,048 GB, 60,000) = 60,000 IOPS, writes min(30 × 2,048 GB, 30,000) = 30,000 IOPS, sharing one budget"
    );
}

/// The note of gp3 said that 3 to 5 % above nominal is usual, but the program could not use it.
#[test]
fn limits_have_measured_tolerances() {
    let tolerance = |text: &str, name: &str| {
        let spec = resolve(text).unwrap();
        let limit = spec.limits.iter().find(|limit| limit.name == name).unwrap().clone();
        limit.tolerance.map(|tolerance| (tolerance.per_mille, tolerance.source.date))
    };
    assert_eq!(tolerance("aws/gp3", "volume IOPS"), Some((110, "2020-12-21".to_owned())));
    assert_eq!(tolerance("azure/p30", "volume IOPS"), Some((50, "2022-11-02".to_owned())));
    assert_eq!(tolerance("gcp/pd-ssd", "pd-ssd IOPS"), None);
    for listed in list() {
        for limit in resolve(&listed.name).unwrap().limits {
            let sourced = limit.tolerance.is_none_or(|tolerance| !tolerance.source.address.is_empty());
            assert!(sourced, "{}: {} has a tolerance without a source", listed.name, limit.name);
        }
    }
}

/// Machines without a row, as flexible ones, were to be left out, although their network can be given.
#[test]
fn a_machine_without_limits_hid_the_key_for_its_network() {
    let remedy = |volume: &str| resolve(&format!("{volume},machine=none.such")).unwrap_err().remove(0).help.unwrap();
    let oci = remedy("oci/block-volume");
    assert!(oci.contains("set network_gbps= instead, or omit `machine`"), "{oci}");
    for volume in ["aws/gp3", "aws/io1", "azure/p30", "azure/ultra"] {
        assert!(!remedy(volume).contains("instead"), "{}", remedy(volume));
    }
}

/// Notes of older pages contradicted the figures: gp3 has a tolerance, and the billing page of Premium SSD v2 agrees.
#[test]
fn notes_repeated_older_pages() {
    for (volume, stale) in [("aws/gp3", "90 %"), ("aws/gp3@2023", "3 to 5 %"), ("azure/premium-ssd-v2", "billing page")]
    {
        let notes = resolve(volume).unwrap().notes;
        assert!(!notes.iter().any(|note| note.contains(stale)), "{volume}: {notes:?}");
    }
}

#[test]
fn volumes_of_one_type_on_one_machine_are_summed() {
    let both =
        resolve_all(&["gcp/pd-ssd,size=100GiB", "gcp/pd-ssd,size=200GiB", "gcp/pd-ssd,size=1TiB,host=b"], &no_files);
    let rates: Vec<Option<u64>> = both.unwrap().iter().map(|volume| volume.spec.limits[0].rate.read).collect();
    assert_eq!(rates, [Some(15_000), Some(15_000), Some(36_720)]);
}

#[test]
fn volumes_on_one_machine_must_agree_about_it() {
    let texts = ["gcp/pd-ssd,machine=n2-standard-8", "gcp/pd-ssd,machine=n2-standard-16"];
    let problems = resolve_all(&texts, &no_files).unwrap_err();
    assert!(problems[0].what.contains("`machine` is `n2-standard-16`"), "{problems:?}");
    for (key, a, b) in [("vcpus", "16", "32"), ("competing_traffic", "on", "off")] {
        let [first, second] = [a, b].map(|value| format!("gcp/pd-ssd@2019,{key}={value}"));
        let problems = resolve_all(&[&first, &second], &no_files).unwrap_err();
        assert!(problems[0].what.contains(&format!("`{key}` is `{b}`")), "{problems:?}");
        assert!(problems[0].what.contains(&format!("`{a}` for another volume")), "{problems:?}");
        assert_eq!(place(&problems[0]).marked(), b);
        assert!(resolve_all(&[&first, &format!("{second},host=b")], &no_files).is_ok());
        // A default value also conflicts with that of another machine.
        assert!(resolve_all(&[&first, "gcp/pd-standard@2019"], &no_files).is_err());
    }
    assert!(resolve_all(&["gcp/pd-ssd,size=1TiB", "gcp/pd-ssd,size=2TiB"], &no_files).is_ok());
}

#[test]
fn measured_quantiles_are_a_latency_distribution() {
    let file = |points: &str| {
        format!(
            "[[volume]]\nlatency.read = {{ law = \"quantiles\", points = {points} }}\n[volume.key.size]\nunit = \"GiB\"\ndefault = 1\n"
        )
    };
    let resolved = |points: &str| resolve_all(&["a.toml"], &|_| Ok(file(points)));
    let spec = resolved("[[0, 800], [50, 1_000.5], [100, 4000]]").unwrap().remove(0).spec;
    let crate::Behaviour::Latency(latency) = spec.behaviour else { panic!("no latency") };
    let quantile = |share: f64| latency.law.read.quantile(share).get();
    assert_eq!((quantile(0.0), quantile(0.5), quantile(0.75)), (800_000, 1_000_500, 2_500_250));
    for wrong in
        ["[]", "[[1]]", "[[50, 2], [40, 3]]", "[[50, 2], [60, 1]]", "[[101, 2]]", "[[1, 2, 3]]", "7", "[[1, nan]]"]
    {
        let problems = resolved(wrong).unwrap_err();
        assert!(problems[0].what.contains("`points`"), "{wrong}: {problems:?}");
    }
}

#[test]
fn unknown_names_suggest_the_nearest() {
    refused_for("gcp/pd-sdd", &["1:5", "unknown Google Cloud volume `pd-sdd`", "did you mean `pd-ssd`?"]);
    refused_for("gcq/pd-ssd", &["1:1", "unknown provider `gcq`", "gcp/pd-ssd"]);
    refused_for("pd-ssd", &["did you mean gcp/pd-ssd"]);
    refused_for("/data/disk.tml", &["1:1", "`/data/disk.tml` is not a volume", "end in `.toml`"]);
    refused_for("./disk", &["1:1", "`./disk` is not a volume"]);
    refused_for("gcp/pd-ssd@2020", &["1:12", "no edition `2020`", "pd-ssd@2019"]);
    refused_for("gcp/local-ssd-scsi", &["only in older editions", "local-ssd-scsi@2019"]);
    refused_for("gcp/pd-ssd,sise=1TiB", &["1:12", "no key `sise`", "did you mean `size`?"]);
    refused_for("gcp/pd-ssd,machine=n2-standart-8x", &["has no machine `n2-standart-8x`", "closest:"]);
}

#[test]
fn ranges_cite_their_source() {
    refused_for(
        "gcp/hyperdisk-balanced,size=100GiB,iops=160000",
        &[
            "1:41",
            "`iops=160000` is above the maximum, 50,000 = min(500 × 100 GiB, 160,000)",
            "3,000 to 50,000",
            "About Hyperdisk Balanced",
        ],
    );
    refused_for("gcp/pd-ssd,size=2PB", &["1:17", "`size=2PB` is above the maximum"]);
    refused_for("custom,latency=1ms,spells=1ns/1s/2", &["1:27", "shorter than 1 ms"]);
    refused_for("custom,latency=1ms,spells=1h/1min/99999999", &["1:27", "a factor of 1 to 1,000,000"]);
    refused_for("gcp/pd-ssd,size=2000TiB", &["above the maximum, 65,536 GiB", "10 GiB to 65,536 GiB"]);
    refused_for("gcp/pd-ssd,size=500", &["has no unit"]);
    refused_for("gcp/local-ssd-nvme,disks=12", &["is not one of 1, 2, 3"]);
    refused_for("gcp/local-ssd-nvme,size=1TiB", &["is derived from other keys"]);
}

#[test]
fn contradictions_are_reported() {
    refused_for("gcp/pd-ssd@2019,machine=c2-standard-8,vcpus=16", &["`vcpus` contradicts `machine`, which has 8"]);
    refused_for("gcp/pd-ssd,size=1TiB,size=2TiB", &["duplicate key `size`"]);
    refused_for("gcp/pd-ssd,credits=50%", &["no credit bucket"]);
}

#[test]
fn all_problems_are_reported_at_once_with_their_places() {
    let problems = resolve("gcp/pd-ssd@2019,size=1,vcpus=x,speed=9,written=200%").unwrap_err();
    let columns: Vec<usize> = problems.iter().map(|problem| place(problem).column).collect();
    assert_eq!(columns.len(), 4, "{problems:?}");
    for column in [22, 30, 32, 48] {
        assert!(columns.contains(&column), "{column}: {problems:?}");
    }
}

#[test]
fn a_users_file_is_a_catalogue() {
    let toml = r#"
        [volume]
        title = "The old array"
        key.size = { unit = "TiB", default = 10, min = 1, max = 100 }
        limit = [{ name = "IOPS", iops = "200 * tib" }, { name = "throughput", mbps = 800 }]
        latency.read = { law = "constant", us = 700 }
    "#;
    let file = |path: &str| {
        if path == "./old.toml" {
            Ok(toml.to_owned())
        } else {
            Err(Problem::error(ProblemCode::UnreadableInput, "no such file"))
        }
    };
    let resolved = resolve_all(&["./old.toml,size=20TiB"], &file).unwrap();
    assert_eq!(resolved[0].spec.limits[0].rate.read, Some(4000));
    assert_eq!(resolved[0].spec.title, "The old array");
    let missing = resolve_all(&["./new.toml"], &file).unwrap_err();
    assert_eq!(missing[0].what, "no such file");
}

#[test]
fn problems_of_files_have_line_and_column() {
    let cases = [
        ("[volume]\nlimit = [{ name = \"a\", iops = \"200 * tib\" }]\n", "2:38", "unknown variable `tib`"),
        ("[volume]\ntitel = \"x\"\n", "2:1", "did you mean `title`?"),
        ("[volume]\nkey.size = { unit = \"GiB\", min = \"3 +\" }\n", "2:38", "unexpected end of rule"),
        ("[volume]\nlimit = [{ name = \"a\" }]\n", "2:10", "a limit must have one rate"),
        ("[volume\n", "1:8", ""),
        ("x = 1\n", "1:1", "has no key `x`"),
        ("[volume]\nlatency.read = { law = \"gauss\" }\n", "2:24", "unknown law `gauss`"),
        (
            "[volume]\ntiers = \"t\"\n[[table]]\nid = \"t\"\ncolumns = \"a b\"\nrows = \"\"\"\nx 1 2\ny 1\n\"\"\"\n",
            "8:1",
            "1 cells for 2",
        ),
    ];
    for (toml, place, message) in cases {
        let problems = resolve_all(&["a.toml"], &|_| Ok(toml.to_owned())).unwrap_err();
        let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let found = all.iter().any(|line| line.starts_with(&format!("a.toml:{place}:")) && line.contains(message));
        assert!(found, "{toml}: {all:#?}");
    }
}

/// Nonsensical values used to be adjusted: a rate of -5 became 1, and two limits with one name were charged twice.
#[test]
fn nonsensical_values_in_a_file_are_reported_at_their_place() {
    let cases = [
        ("limit = { name = \"a\", iops = @-5 }", "`rate` evaluates to -5, but must be greater than 0"),
        ("limit = { name = \"a\", iops = @\"5 - 5\" }", "evaluates to 0"),
        ("limit = [{ name = \"a\", iops = 5 }, { name = \"a\", iops = @6 }]", "two active limits are named `a`"),
        ("limit = { name = \"a\", iops = 5, credits = @-1 }", "`credits` evaluates to -1"),
        ("limit = { name = \"a\", iops = 5, jitter = { ms = @-1 } }", "`jitter` evaluates to -1"),
        ("limit = { name = \"a\", iops = 5, jitter = { ms = @60_001 } }", "evaluates to 60,001 ms, more than 60 s"),
        ("limit = { name = \"a\", iops = 5, jitter = { ms = @1e300 } }", "above the maximum of 10^15"),
        ("limit = { name = \"a\", iops = 5, jitter = { ms = \"@5ms\" } }", "`ms`: `5ms` is not a number"),
        ("limit = { name = \"a\", iops = 5, jitter = @5 }", "`jitter` must be a table, not a number"),
        ("limit = { name = \"a\", iops = 5, jitter = @{ source = \"b\" } }", "`jitter` has no `ms`"),
        ("limit = { name = \"a\", iops = 5, jitter = { ms = 1, source = @\"b\" } }", "unknown source `b`"),
        ("limit = { name = \"a\", iops = 5, jitter = { ms = 1, @s = 1 } }", "`jitter` has no key `s`"),
        ("limit = { name = \"a\", iops = 5, credits = 5, jitter = @{ ms = 1 } }", "no effect with `credits`"),
        ("limit = { name = \"a\", iops = 5, @jitter_ms = 1 }", "has no key `jitter_ms`; did you mean `jitter`?"),
        ("limit = { name = \"a\", iops = 5, io_unit = \"1MiB\", merged = @5 }", "`merged` must be true or false"),
        ("limit = { name = \"a\", iops = 5, io_unit = \"1MiB\", merged = { from = @\"5\" } }", "has no unit"),
        ("notes = [\"a\", @5]", "each of `notes` must be a quoted string or a table"),
        ("notes = [@{ when = \"1\" }]", "has no `text`"),
        ("notes = { when = \"@gibb\", text = \"a\" }", "unknown variable `gibb`"),
        ("limit = { name = \"a\", iops = 5, tolerance = { percent = @-1, source = \"b\" } }", "a number from 0 to 100"),
        ("limit = { name = \"a\", iops = 5, tolerance = @{ percent = 5 } }", "`tolerance` has no `source`"),
        ("latency.read = { law = \"constant\", us = @-1 }", "`us` evaluates to -1"),
        ("latency.read = { law = \"uniform\", least_us = 2, most_us = @1 }", "below the law's minimum"),
        (
            "latency.read = { law = \"log-normal\", shift_us = 1, median_us = 1, sigma = @0, most_us = 9 }",
            "`sigma` evaluates to 0",
        ),
        ("station = { name = \"s\", servers = @0, service_us = 1 }", "`servers` evaluates to 0"),
        ("let.a = \"@b\"\nlet.b = \"a\"", "`let.a` uses `let.b`"),
        ("let.a = \"2 * @a\"", "without cycles"),
        ("id = \"a\"\n[[volume]]\nid = \"a\"", "two volumes are named `a`"),
    ];
    for (marked, message) in cases {
        let toml = format!("[[volume]]\n{}\n", marked.replace('@', ""));
        let problems = resolve_all(&["a.toml"], &|_| Ok(toml.clone())).expect_err(marked);
        let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let place = marked.find('@').map_or(String::new(), |column| format!("a.toml:2:{}:", column + 1));
        assert!(all.iter().any(|line| line.starts_with(&place) && line.contains(message)), "{marked}: {all:#?}");
    }
}

/// Impossible files: `@` marks the reported place; with it the expected message.
const IMPOSSIBLE: &[(&str, &str)] = &[
    ("key.size = { unit = 'GiB', default = 10, min = @20, max = 5 }", "above its `max`"),
    ("key.size = { unit = 'GiB', default = @10, min = 20, max = 50 }", "below its `min`, 20 GiB"),
    ("key.size = { unit = 'GiB', default = @60, min = 20, max = 50 }", "above its `max`, 50 GiB"),
    ("key.size = { unit = 'GiB', default = @0 }", "is less than one byte"),
    ("key.size = { unit = 'GiB', default = @3, one_of = [1, 2] }", "is not in its `one_of`"),
    ("key.size = { unit = @'Gib', default = 10 }", "did you mean `GiB`?"),
    ("key.size = { unit = @'bananas', default = 10 }", "use one of KiB, MiB"),
    ("key.size = { unit = @'ms', default = 10 }", "not a unit for a size"),
    ("key.size = @{ choices = ['a'] }", "a size needs a unit"),
    ("S\nkey.x = { choices = ['fast', 'slow'], default = @'fas' }", "did you mean `fast`?"),
    ("S\nkey.x = { choices = @['a', 'a'] }", "duplicate choice"),
    ("S\nkey.x = { unit = 'disks', one_of = @[1, -2] }", "non-negative"),
    ("S\ndrive = @5", "`drive` must be a table, not a number"),
    ("S\nlatency = @5", "`latency` must be a table, not a number"),
    ("S\nlatency = @{ assumed = 'x' }", "`latency` has no `read`"),
    ("S\nlatency.read = @'constant'", "`read` must be a table, not a string"),
    ("S\nlatency.read = { law = 'quantiles', points = [@1, 2] }", "each of `points` must be a list of 2 numbers"),
    ("S\nlimit = { name = 'a', iops = @true }", "must be a number or a quoted rule, not a boolean"),
    ("S\nlimit = { name = 'a', iops = 5, scope = @'machin' }", "did you mean `machine`?"),
    ("S\ndrive = { rpm = @0 }", "`rpm` of a drive cannot be 0"),
    ("S\ndrive = { rpm = @-7_200 }", "from 60 to"),
    ("S\ndrive = { zones = @1.5 }", "a whole number from 1"),
    ("S\ndrive = { cache_slots = @0 }", "`cache_slots` of a drive cannot be 0"),
    ("S\ndrive = { seek_least_us = @-1 }", "`seek_least_us` of a drive cannot be -1"),
    ("S\ndrive = { seek_least_us = @20_000 }", "more than `seek_stroke_us`"),
    ("S\ndrive = { inner_mbps = @900 }", "more than `outer_mbps`"),
    ("S\ndrive = { write_cache = @7 }", "`write_cache` of a drive cannot be 7"),
    ("S\ndrive = { @rpn = 5 }", "did you mean `rpm`?"),
    ("S\ndrive = { rpm = 7_200 }\nlatency = @{ read = { law = 'constant', us = 1 } }", "not both"),
    ("S\nlimit = { name = 'a', iops = @nan }", "not `nan`"),
    ("S\nlimit = { name = 'a', iops = @inf }", "not `inf`"),
    ("S\nlimit = { name = 'a', iops = @1e300 }", "above the maximum of 10^15"),
    ("S\nlimit = { name = 'a', iops = @0.5 }", "less than 1 per second"),
    ("S\nlimit = { name = 'a', iops = @'1e308 * 1e308' }", "too large or not a number"),
    ("S\nlimit = { name = @' ', iops = 5 }", "the name is empty"),
    ("S\nlimit = { name = 'a', iops = 5, io_unit = @'0KiB' }", "between 1 B and 1 GiB"),
    ("S\nlimit = { name = 'a', mbps = 5, larger_than = @'4KiB' }", "only to limits on operations"),
    ("S\nlimit = { name = 'a', iops = 5, credits_at_start = @7 }", "needs `credits`"),
    ("S\nlimit = { name = 'a', iops = 5, credits = 6, credits_at_start = @7 }", "than the bucket holds"),
    ("S\nlimit = { name = 'a', iops = 5, when = @\"'x'\" }", "evaluates to the word"),
    ("S\nlimit = { name = 'a', iops = 5, source = @'sheet' }", "unknown source `sheet`"),
    ("S\nkey.machine = { table = @'blades' }", "unknown table `blades`"),
    ("S\nshared = @'san'", "unknown shared rules `san`"),
    ("S\nshared = 'san'\n[shared.san]\nlimit = @{ name = 'a' }", "a limit must have one rate"),
    ("S\nkey.x = { unit = 'disks', requires = { rule = '@a', what = 'b', remedy = 'c' } }", "unknown variable `a`"),
    ("S\nkey.x = { unit = 'disks', requires = @{ rule = '1' } }", "`requires` has no `what`"),
    ("S\nfailure = @{ percent = 1 }", "`failure` has no `source`"),
    ("S\nfailure = { percent = @101, source = 's' }", "a number from 0 to 100"),
    ("S\nmax_volumes = { count = @1.5, source = 's' }", "a whole number from 1"),
    ("S\nmax_volumes = { count = 5, source = @'s' }", "unknown source `s`"),
    (
        "S\nkey.machine = { table = 't', limits = @'eb' }\n[[table]]\nid = 't'\ncolumns = 'x'\nrows = 'a 1'\n\
         [machine_limits]\nebs = { name = 'm', iops = 5 }",
        "unknown limits of machines `eb`; did you mean `ebs`?",
    ),
    ("S\n[machine_limits]\nebs = @{ name = 'm' }", "a limit must have one rate"),
    ("S\nstation = { name = 's', servers = @1.5, service_us = 1 }", "a whole number from 1"),
    ("S\nstation = { name = 's', servers = 1, service_us = 1, mibps = @0 }", "`mibps` evaluates to 0"),
    (
        "S\nstation = [{ name = 's', servers = 1, service_us = 1 }, { name = 's', servers = @1, service_us = 1 }]",
        "named `s`",
    ),
    ("S\nlatency.read = { law = @'constnt', us = 1 }", "did you mean `constant`?"),
    ("S\nlatency.read = { law = 'constant', us = 1 }\nlatency.mibps = @-3", "`mibps` evaluates to -3"),
    ("S\nprice = { usd = @-5 }", "`price` evaluates to -5"),
    ("S\nlet.gib = @'5'", "shadows a key's variable"),
    ("id = @'a,b'\nS", "not a valid volume id"),
    ("S\n[[volume]]\nid = @'volume'\nS", "two volumes are named `volume`"),
    ("S\n[[table]]\nid = 't'\ncolumns = 'x'\nrows = '''\n@a nan\n'''", "`nan` is not a number"),
    ("S\n[[table]]\nid = 't'\ncolumns = 'x'\nrows = '''\n@b-{9..2} 1\n'''", "invalid range: use {2..8}"),
    ("S\n[[table]]\nid = 't'\ncolumns = @'x x'\nrows = 'a 1 2'", "two columns are named `x`"),
];

#[test]
fn impossible_volumes_are_reported_at_their_place() {
    for (marked, message) in IMPOSSIBLE {
        let marked = format!("[[volume]]\n{marked}\n").replace("S\n", "key.size = { unit = 'GiB', default = 10 }\n");
        let at = marked.find('@').expect("a mark");
        let toml = marked.replace('@', "");
        let problems = resolve_all(&["a.toml#volume"], &|_| Ok(toml.clone())).expect_err(&marked);
        let at = Place::of_text("", &toml, at..at);
        let is_there = |problem: &Problem| (place(problem).line, place(problem).column) == (at.line, at.column);
        let found = |problem: &Problem| is_there(problem) && problem.to_string().contains(message);
        assert!(problems.iter().any(found), "{marked}: {problems:#?}");
    }
}

#[test]
fn a_volume_needs_a_size() {
    let problems = resolve_all(&["a.toml"], &|_| Ok("[[volume]]\nid = 'a'\n".to_owned())).unwrap_err();
    assert!(problems[0].to_string().starts_with("a.toml:1:1: `key.size` is missing"), "{problems:?}");
}

/// Problems used to be reported one at a time, and those of volumes that were not requested never.
#[test]
fn all_problems_of_a_file_are_reported_in_order() {
    let size = "key.size = { unit = 'GiB', default = 1";
    let toml = format!(
        "[[volume]]\nid = 'a'\n{size} }}\nlimit = {{ name = 'x', iops = -1, jitter = {{ ms = -2 }} }}\nprize = 1\n\
         [[volume]]\nid = 'b'\n{size}, min = 5 }}\nprice = {{ usd = -3 }}\n"
    );
    let problems = resolve_all(&["f.toml#a"], &|_| Ok(toml.clone())).unwrap_err();
    let lines: Vec<usize> = problems.iter().map(|problem| place(problem).line).collect();
    assert_eq!(lines, [4, 4, 5, 8, 9], "{problems:#?}");
    assert!(problems.iter().all(|problem| problem.help.is_some()), "{problems:#?}");
}

/// A requested size may move a default out of its range. That would be a mistake of the file, and no built-in file
/// makes it.
#[test]
fn defaults_of_the_catalogue_fit_every_size() {
    for listed in list() {
        for size in ["4GiB", "10GiB", "100GiB", "1TiB", "4TiB", "16TiB", "64TiB"] {
            for problem in resolve(&format!("{},size={size}", listed.name)).err().into_iter().flatten() {
                assert_eq!(&*place(&problem).source, "volume", "{} of {size}: {problem}", listed.name);
            }
        }
    }
}

#[test]
fn a_file_without_volumes_is_refused() {
    let problems = resolve_all(&["a.toml"], &|_| Ok("[source.s]\ntitle = 't'\n".to_owned())).unwrap_err();
    assert!(problems[0].to_string().starts_with("a.toml:1:1: the file defines no volume; add"), "{problems:?}");
}

#[test]
fn invalid_volume_names_are_refused() {
    let file = |_: &str| Ok("[[volume]]\nid = 'a'\nkey.size = { unit = 'GiB' }\n".to_owned());
    let long = format!("custom{}", ",iops=5".repeat(10_000));
    for (text, message) in [
        ("a.toml", "has no default size; set it"),
        ("a.toml#a#a,size=1GiB", "unknown volume in the file `a#a`"),
        ("a.toml@2019,size=1GiB", "a.toml#NAME@EDITION"),
        ("custom,host=", "the name is empty"),
        ("custom,memory=1KiB", "too small"),
        (&long, "name too long"),
    ] {
        let problems = resolve_all(&[text], &file).unwrap_err();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].to_string().contains(message), "{text}: {problems:?}");
    }
    assert!(resolve_all(&["a.toml,size=1GiB"], &file).is_ok());
}

#[test]
fn a_drive_takes_no_latency() {
    refused_for("hdd/7200rpm,latency=1ms", &["1:13", "`latency` does not apply to a drive"]);
}

#[test]
fn the_documented_example_is_valid() {
    let page = include_str!("../../../../docs/volumes.md");
    let toml = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let volume = resolve_all(&["./array.toml,size=20TiB,machine=blade-16"], &|_| Ok(toml.to_owned()));
    let volume = volume.unwrap_or_else(|problems| panic!("{}", problems[0])).remove(0);
    let rates: Vec<Option<u64>> = volume.spec.limits.iter().map(|limit| limit.rate.read).collect();
    assert_eq!(rates, [Some(20_000), Some(48_000), Some(800_000_000), Some(90_000)]);
    for key in COMMON_KEYS {
        assert!(page.contains(&format!("`{}", key.0)), "`{}` is not in docs/volumes.md", key.0);
    }
}

#[test]
fn damaged_files_are_read_or_refused() {
    let texts = [include_str!("../../../../models/vultr.toml"), include_str!("../../../../models/custom.toml")];
    for seed in 0..1500 {
        let mut random = Random::new(seed, 2);
        let mut toml: Vec<char> = texts[seed as usize % 2].chars().collect();
        for _ in 0..=random.below(4) {
            let (from, to) = (random.below(toml.len() as u64) as usize, random.below(toml.len() as u64) as usize);
            match random.below(3) {
                0 => drop(toml.remove(from)),
                1 => toml[to] = toml[from],
                _ => toml.insert(to, toml[from]),
            }
        }
        let toml: String = toml.into_iter().collect();
        for name in ["a.toml", "a.toml#nvme-block", "a.toml#custom,iops=5"] {
            for problem in resolve_all(&[name], &|_| Ok(toml.clone())).err().into_iter().flatten() {
                assert!(place(&problem).line >= 1 && problem.to_string().contains(':'), "seed {seed}");
            }
        }
    }
}

#[test]
fn any_text_resolves_or_is_refused() {
    let parts = [
        "gcp",
        "/",
        "pd-ssd",
        "hyperdisk-balanced",
        "@2019",
        ",",
        "size",
        "=",
        "1TiB",
        "machine",
        "c2-standard-8",
        "vcpus",
        "é",
        "9",
        ".toml",
        "#",
        "custom",
        "iops",
        "%",
        "n1-standard-8",
        "spells",
        "1h/2min/3",
        " ",
    ];
    for seed in 0..3000 {
        let mut random = Random::new(seed, 1);
        let text: String = (0..random.below(14)).map(|_| parts[random.below(parts.len() as u64) as usize]).collect();
        for problem in resolve(&text).err().into_iter().flatten() {
            let place = place(&problem);
            assert!(
                place.line >= 1 && place.column >= 1 && place.length <= text.len(),
                "seed {seed}: {text}: {problem}"
            );
        }
    }
}

#[test]
fn the_hyperdisk_latency_matches_the_measurement() {
    let spec = resolve("gcp/hyperdisk-balanced,size=1TiB").unwrap();
    let crate::spec::Behaviour::Latency(latency) = &spec.behaviour else { panic!("no latency") };
    let law = latency.law.get(RequestKind::Read);
    let printed = [
        (0.01, 980.0),
        (0.05, 1057.0),
        (0.10, 1123.0),
        (0.50, 1303.0),
        (0.90, 1565.0),
        (0.95, 1696.0),
        (0.99, 2057.0),
        (0.999, 2933.0),
        (1.4e-6, 850.0),
        (1.0, 4200.0),
    ];
    for (share, us) in printed {
        let found = law.quantile(share).get() as f64 / 1e3;
        assert!((found / us - 1.0).abs() < 0.016, "{share}: {found} for {us}");
    }
    let mean = law.mean().get() as f64 / 1e3;
    assert!((mean / 1314.62 - 1.0).abs() < 0.01 && (32e6 / mean / 24_097.33 - 1.0).abs() < 0.01, "{mean}");
}

#[test]
fn machines_are_listed_with_their_processors() {
    let vcpus = |volume: &str, name: &str| {
        let machines = machines(volume).unwrap();
        machines.into_iter().find(|machine| machine.name == name).map(|machine| machine.vcpus)
    };
    for (name, processors) in [("m5.large", Some(2)), ("c4.8xlarge", Some(36)), ("m8i.96xlarge", Some(384))] {
        assert_eq!(vcpus("aws/gp3", name), Some(processors), "{name}");
    }
    for (name, processors) in [("D8s_v5", 8), ("E112ib*_v5", 112), ("D8s_v3", 8)] {
        assert_eq!(vcpus("azure/premium-ssd-v2", name), Some(Some(processors)), "{name}");
    }
    assert_eq!(vcpus("gcp/pd-ssd@2019", "c2-*-30"), Some(Some(30)));
    assert_eq!(vcpus("aws/gp3", "m5.nano"), None);
}

/// D2s_v3 and D8s_v3 had IOPS alone, as one page has them; the resource SKUs API has their bytes per second too.
#[test]
fn dsv3_machines_had_no_throughput_limit() {
    for (machine, mbps) in [("D2s_v3", 48), ("D8s_v3", 192)] {
        let volume = format!("azure/p80,machine={machine}");
        assert_eq!(rate(&volume, "machine maximum throughput"), Some(mbps * 1_000_000), "{machine}");
        assert!(resolve(&volume).unwrap().unknown_limits.is_empty(), "{machine}");
    }
}

/// Only a note of io1 said that machines without Nitro stop at 32,000 IOPS: they were modelled with 64,000.
#[test]
fn provisioned_iops_were_not_limited_without_nitro() {
    let lowest = |text: &str, bytes| {
        let spec = resolve(text).unwrap_or_else(|problems| panic!("{text}: {problems:?}"));
        let cap =
            crate::closed::caps(&spec, &crate::closed::Load::of(RequestKind::Read, bytes, f64::INFINITY)).remove(0);
        (cap.iops.round() as u64, cap.name)
    };
    let slow = |name: &str, unit: u64| (unit, format!("volume {name} without Nitro"));
    for volume in ["aws/io1,size=2TiB,iops=64000", "aws/io2,size=2TiB,iops=64000", "aws/io2@2023,size=2TiB,iops=64000"]
    {
        let on = |machine: &str| format!("{volume},machine={machine}");
        assert_eq!(lowest(&on("i3.16xlarge"), 4096), slow("IOPS", 32_000));
        assert_eq!(lowest(&on("i3.16xlarge"), 1 << 20), slow("throughput", 500));
        assert_eq!(lowest(&on("i3.metal"), 4096).0, 64_000);
        assert_eq!(lowest(&on("m6i.32xlarge"), 4096).0, 64_000);
        assert_eq!(lowest(volume, 4096).0, 64_000);
    }
}

/// Machines were accepted with every volume of their provider, also with those that cannot be attached to them.
#[test]
fn machines_were_accepted_with_volumes_that_they_cannot_take() {
    let takes = "it supports hyperdisk-balanced, hyperdisk-balanced-high-availability, hyperdisk-extreme, hyperdisk-ml, \
                 hyperdisk-throughput (Persistent Disk (types";
    for (volume, machine, parts) in [
        ("pd-ssd", "c4-standard-192", &["pd-ssd cannot be attached to c4-standard-192", takes][..]),
        ("pd-balanced-regional", "c4d-highmem-8-lssd", &["cannot be attached"]),
        ("hyperdisk-ml", "h3-standard-88", &["hyperdisk-balanced, hyperdisk-throughput"]),
        ("hyperdisk-throughput", "h4d-standard-192", &["it supports hyperdisk-balanced ("]),
        ("hyperdisk-extreme", "c3-standard-44", &["in this series only to c3-*-{88..}"]),
        ("hyperdisk-extreme", "n2-standard-64", &["in this series only to n2-*-{80..}"]),
        ("hyperdisk-extreme", "n2-custom-96-98304", &["cannot be attached"]),
        ("hyperdisk-extreme", "a3-highgpu-2g", &["only to a3-highgpu-4g, a3-highgpu-8g"]),
        ("hyperdisk-ml", "e2-standard-8", &["cannot be attached"]),
        ("hyperdisk-ml", "n2-standard-128", &["cannot be attached"]),
        ("hyperdisk-throughput", "c3-standard-192-metal", &["cannot be attached"]),
        ("titanium-ssd-z3", "n2-standard-32", &["cannot be attached"]),
    ] {
        refused_for(&format!("gcp/{volume},machine={machine}"), parts);
        let refusal = machine_refusal(&format!("gcp/{volume}"), machine).expect("a refusal");
        assert!(refusal.is_of_provider && refusal.reason.contains("cannot be attached"), "{refusal:?}");
    }
    for (volume, machine) in [
        ("hyperdisk-extreme", "c3-highmem-88"),
        ("hyperdisk-extreme", "c3-standard-192-metal"),
        ("hyperdisk-extreme", "a3-ultragpu-8g"),
        ("hyperdisk-throughput", "h3-standard-88"),
        ("hyperdisk-balanced", "c4-standard-8"),
        ("pd-balanced", "h3-standard-88"),
    ] {
        let volume = format!("gcp/{volume}");
        assert_eq!(machine_refusal(&volume, machine), None, "{volume} {machine}");
        assert!(resolve(&format!("{volume},machine={machine}")).is_ok(), "{volume} {machine}");
    }
    let asked = resolve("gcp/hyperdisk-balanced,machine=n2-standard-8").unwrap();
    assert!(asked.on_request().is_some_and(|note| note.contains("n2-standard-8 supports")), "{:?}", asked.notes);
    assert_eq!(resolve("gcp/hyperdisk-balanced,machine=c4-standard-8").unwrap().on_request(), None);
    // No volume lists a machine that it refuses.
    for listed in list() {
        let refused = machines(&listed.name).unwrap().into_iter();
        let refused: Vec<_> = refused.filter_map(|machine| machine_refusal(&listed.name, &machine.name)).collect();
        assert!(refused.is_empty(), "{}: {refused:?}", listed.name);
    }
    let file = "[[volume]]\nkey.size = { unit = 'GiB', default = 1 }\n\
                key.machine = { table = 'attachments', attach = 'fast' }\n\
                [[table]]\nid = 'attachments'\ncolumns = 'slow'\nrows = '''\na yes\nb maybe\n'''\n";
    let problems = resolve_all(&["a.toml"], &|_| Ok(file.to_owned())).err().unwrap();
    let problems: Vec<&str> = problems.iter().map(|problem| problem.what.as_str()).collect();
    let wrong_cell = "`b` has an invalid cell: use yes, no, on-request or -";
    assert_eq!(problems, ["no attachment table has a column `fast`", wrong_cell]);
}

/// Sizes of the API alone had no bursts and none of the limits of Premium SSD v2 and Ultra that their pages have, and
/// newer series were missing.
#[test]
fn azure_sizes_lacked_the_bursts_of_their_pages() {
    const UNCACHED: [&str; 4] =
        ["machine IOPS", "machine maximum IOPS", "machine throughput", "machine maximum throughput"];
    let rates = |volume: &str, machine: &str| {
        UNCACHED.map(|name| {
            rate(&format!("azure/{volume},machine={machine}"), name)
                .map(|rate| if rate > 1_000_000 { rate / 1_000_000 } else { rate })
        })
    };
    let base = |iops, burst_iops, mbps, burst_mbps| [Some(iops), Some(burst_iops), Some(mbps), Some(burst_mbps)];
    for (machine, premium, own) in [
        ("D2ds_v6", base(3_750, 40_000, 106, 1_250), base(4_167, 44_444, 124, 1_463)),
        ("E20s_v6", base(32_000, 64_000, 1_060, 1_600), base(41_667, 83_333, 1_240, 1_872)),
        ("E8-4s_v6", base(12_800, 40_000, 424, 1_250), base(16_667, 52_083, 496, 1_463)),
        ("D8ds_v5", base(12_800, 20_000, 290, 1_200), base(12_800, 20_000, 290, 1_200)),
        ("D372s_v7", [None, Some(500_000), None, Some(16_000)], [None, Some(800_000), None, Some(20_000)]),
        ("E20s_v7", base(40_000, 75_000, 1_150, 1_410), base(50_000, 93_750, 1_350, 1_640)),
        ("E128bs_v6", base(330_000, 350_000, 10_000, 11_500), base(500_000, 530_303, 12_000, 13_800)),
        ("E128s_v6", [None, Some(204_800), None, Some(6_782)], [None, Some(266_667), None, Some(7_935)]),
        ("E192is_v6", [None, Some(260_000), None, Some(12_000)], [None, Some(400_000), None, Some(12_000)]),
        // It does not burst with these disks.
        ("L8s_v3", base(12_800, 20_000, 290, 1_200), [None, Some(12_800), None, Some(290)]),
        ("L80s_v4", [None, Some(128_000), None, Some(4_240)], [None, Some(166_640), None, Some(4_960)]),
        // Its published burst of 205,000 is below its base.
        ("D96s_v7", base(192_000, 200_000, 5_665, 5_745), [None, Some(240_000), Some(6_570), Some(6_675)]),
    ] {
        assert_eq!(rates("p80", machine), premium, "{machine}");
        assert_eq!(rates("ultra,size=1TiB", machine), own, "{machine}");
    }
}

/// Prices were known of one region of each provider, and of a few tiers of Azure.
#[test]
fn prices_were_known_of_one_region_alone() {
    let month = |text: &str, region: &str| {
        let resolved =
            resolve_all(&[text], &no_files).unwrap_or_else(|problems| panic!("{text}: {}", problems[0])).remove(0);
        let price = resolved.about.prices.into_iter().find(|of| of.holds_in(region)).map(|of| of.price);
        price.map(|price| (libm::round(price.per_month * 1e4) / 1e4, price.lacks.is_some(), price.source.date))
    };
    for (volume, region, usd, lacks, date) in [
        ("aws/gp3,size=1000GiB,iops=4000,throughput=225MiB/s", "us-east-1", 89.0, false, "2026-10-15"),
        ("aws/gp3,size=1000GiB,iops=4000,throughput=225MiB/s", "eu-central-1", 105.96, false, "2026-10-15"),
        ("aws/gp2,size=1000GiB", "sa-east-1", 190.0, false, "2026-10-15"),
        ("aws/io1,size=1000GiB,iops=10000", "ap-northeast-1", 882.0, false, "2026-10-15"),
        ("aws/io2,size=1000GiB,iops=100000", "us-east-1", 4_807.6, false, "2026-10-15"),
        ("aws/io2,size=1000GiB,iops=100000", "af-south-1", 6_330.824, false, "2026-10-15"),
        ("aws/st1,size=1000GiB", "eu-north-1", 47.5, false, "2026-10-15"),
        ("aws/sc1,size=1000GiB", "us-gov-east-1", 18.0, false, "2026-10-15"),
        ("aws/standard,size=1000GiB", "eu-west-1", 55.0, true, "2026-10-15"),
        ("gcp/pd-ssd,size=1000GiB", "us-central1", 170.0, false, "2026-09-24"),
        ("gcp/pd-ssd,size=1000GiB", "europe-west10", 261.8, false, "2026-07-30"),
        ("gcp/pd-balanced-regional,size=1000GiB", "asia-south1", 240.0, false, "2026-07-30"),
        ("gcp/hyperdisk-extreme,size=1000GiB,iops=10000", "us-east4", 125.0, true, "2026-07-30"),
        ("gcp/local-ssd-nvme,disks=4", "us-central1", 120.0, false, "2026-07-30"),
        ("gcp/local-ssd-nvme,disks=4", "southamerica-east1", 180.0, false, "2026-07-30"),
        ("azure/p1", "eastus", 0.77, false, "2026-07-23"),
        ("azure/p15", "eastus", 38.02, false, "2026-07-23"),
        ("azure/p50", "eastus", 495.5657, false, "2026-07-23"),
        ("azure/e50", "eastus", 307.2, true, "2026 (undated)"),
        ("azure/s50", "eastus", 143.36, true, "2026 (undated)"),
        ("vultr/hdd-block,size=1000GB", "anywhere", 25.0, false, "2025-2026"),
    ] {
        assert_eq!(month(volume, region), Some((usd, lacks, date.to_owned())), "{volume} in {region}");
    }
    assert_eq!(month("azure/p70", "eastus"), None);
    for (volume, regions) in [("aws/gp3", 36), ("gcp/pd-ssd", 43), ("gcp/hyperdisk-extreme", 43), ("azure/ultra", 6)] {
        let prices = resolve_all(&[volume], &no_files).unwrap().remove(0).about.prices;
        assert_eq!(prices.len(), regions, "{volume}");
    }
    let spec = resolve("aws/gp3,size=1000GiB").unwrap();
    let price = spec.price.unwrap();
    assert_eq!(
        price.rule,
        "0.08 × 1,000 GiB + 0.005 × max(3,000 IOPS − 3,000, 0) + 0.04 × max(125 MiB/s − 125, 0) (us-east-1)"
    );
    // A region without a figure of the rule has no price, and one region has one.
    let file = |price: &str| {
        format!(
            "[[volume]]\nkey.size = {{ unit = 'GiB', default = 1 }}\nprice = {price}\n\
         [[table]]\nid = 'prices'\ncolumns = 'fast slow'\nrows = '''\na 2 1\nb - 1\n'''\n"
        )
    };
    let prices = |price: &str| resolve_all(&["a.toml"], &|_| Ok(file(price)));
    let found = prices("{ usd = 'region_fast * gib', regions = 'prices' }").unwrap().remove(0).about.prices;
    assert_eq!(found.iter().map(|of| of.price.region.clone().unwrap()).collect::<Vec<_>>(), ["a"]);
    for (price, message) in [
        (
            "[{ usd = 1, region = 'b' }, { usd = 'region_slow * gib', regions = 'prices' }]",
            "two prices apply to the same region",
        ),
        ("{ usd = 1, region = 'b', regions = 'prices' }", "a price has both `region` and `regions`"),
        ("{ usd = 'region_quick * gib', regions = 'prices' }", "unknown variable `region_quick`"),
        ("{ usd = 1, regions = 'price' }", "unknown table `price`"),
    ] {
        assert_eq!(prices(price).err().unwrap()[0].what, message);
    }
}

/// C4D had no rows for Hyperdisk Balanced High Availability.
#[test]
fn c4d_lacked_limits_of_highly_available_hyperdisks() {
    for (machine, iops, mibps) in [
        ("c4d-standard-2", 22_500, 400),
        ("c4d-highmem-48", 75_000, 1_600),
        ("c4d-standard-96", 160_000, 3_125),
        ("c4d-highcpu-384", 320_000, 12_500),
    ] {
        let volume = format!("gcp/hyperdisk-balanced-high-availability,machine={machine}");
        assert_eq!(rate(&volume, "machine Hyperdisk Balanced High Availability IOPS"), Some(iops), "{machine}");
        let name = "machine Hyperdisk Balanced High Availability throughput";
        assert_eq!(rate(&volume, name), Some(mibps << 20), "{machine}");
    }
}

#[test]
fn provisioned_values_limit_below_the_machine() {
    for (volume, iops) in [
        ("azure/premium-ssd-v2,size=100GiB,iops=10000,machine=D8s_v6", 10_000.0),
        ("azure/ultra,size=1TiB,iops=5000,machine=E8bds_v6", 5_000.0),
        ("gcp/hyperdisk-extreme,size=1TiB,iops=20000,machine=c4-standard-192", 20_000.0),
    ] {
        let spec = resolve(volume).unwrap_or_else(|problems| panic!("{volume}: {problems:?}"));
        let lowest =
            crate::closed::caps(&spec, &crate::closed::Load::of(RequestKind::Read, 4096, f64::INFINITY))[0].iops;
        assert!((lowest / iops - 1.0).abs() < 1e-3, "{volume}: {lowest}");
    }
    // Processors belong to the machine, and their key must not contradict it.
    assert!(resolve("gcp/pd-ssd@2019,machine=c2-standard-8,vcpus=32").is_err());
}
