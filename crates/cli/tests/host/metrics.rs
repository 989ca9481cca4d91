//! `--metrics`: live metrics of a run.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::common;
use crate::common::host::{timed, within};
use crate::common::json::Json;
use crate::common::openmetrics::{Exposition, free_port, scrape};
use crate::common::{Running, Scratch, WAIT_MAX, fathom, require, run, words};

/// A running command and its metrics port.
struct ScrapedRun {
    running: Running,
    port: u16,
}

impl ScrapedRun {
    fn start(line: &str) -> Self {
        let port = free_port();
        let words = words(&format!("{line} --metrics 127.0.0.1:{port}"));
        Self { running: Running::start(&mut fathom(words)), port }
    }

    /// Scrapes until a condition holds, and returns that exposition.
    #[track_caller]
    fn until(&mut self, what: &str, found: impl Fn(&Exposition) -> bool) -> Exposition {
        let began = Instant::now();
        loop {
            let exposition = scrape(self.port).map(|text| Exposition::read(&text));
            if let Some(exposition) = exposition.filter(&found) {
                return exposition;
            }
            assert!(!self.running.has_ended() && began.elapsed() < WAIT_MAX, "timeout while waiting for {what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends the command by SIGINT.
    #[track_caller]
    fn interrupt(self) -> common::Outcome {
        self.running.signal("INT");
        self.running.end().expect_code(130)
    }
}

const NULL: &str = "run --name=n --ioengine=null --rw=randrw --bs=4k --size=1g --iodepth=8 --time_based";

#[test]
fn counters_grow_and_end_with_the_final_values() {
    let scratch = Scratch::new();
    let file = scratch.write(
        "two.fio",
        "[global]\nioengine=null\nbs=4k\nrw=randread\niodepth=4\n[first]\nsize=400m\n[second]\nstonewall\nsize=1g\ntime_based\nruntime=3000\n",
    );
    let prom = scratch.text("end.prom");
    let mut watched = ScrapedRun::start(&format!("run {file} --format json -o {prom}"));
    let of_first = ["job=\"first\"", "kind=\"read\""];
    let second = watched.until("the second job", |seen| {
        seen.find("fathom_operations_total", &["job=\"second\""]).is_some()
            && seen.find("fathom_progress_ratio", &[]).is_some()
    });
    let before = second.find("fathom_operations_total", &["job=\"second\""]).unwrap();
    watched.until("more", |seen| seen.find("fathom_operations_total", &["job=\"second\""]).unwrap() > before);
    assert_eq!(second.find("fathom_operations_total", &of_first), Some(102_400.0));
    assert_eq!(second.find("fathom_latency_seconds_count", &of_first), Some(102_400.0));
    assert_eq!(second.find("fathom_running_workers", &["job=\"first\""]), Some(0.0));
    assert_eq!(second.find("fathom_running_workers", &["job=\"second\""]), Some(1.0));
    assert!(second.find("fathom_progress_ratio", &[]).is_some_and(|fraction| (0.0..=1.0).contains(&fraction)));
    watched.interrupt();
    let end = Exposition::read(&std::fs::read_to_string(prom).unwrap());
    for name in ["fathom_operations_total", "fathom_bytes_total", "fathom_iops", "fathom_service_seconds_sum"] {
        let (live, written) = (second.find(name, &of_first).unwrap(), end.find(name, &of_first).unwrap());
        assert!((live - written).abs() <= written * 1e-9, "{name}: live {live}, written {written}");
    }
    for quantile in ["0.5", "0.95", "0.99", "0.999", "0.9999"] {
        let labels = ["job=\"first\"", "kind=\"read\"", &format!("quantile=\"{quantile}\"")];
        assert_eq!(second.find("fathom_service_seconds", &labels), end.find("fathom_service_seconds", &labels));
    }
}

#[test]
fn a_port_chosen_by_the_system_is_printed() {
    let outcome = run(&mut fathom(words(&format!("{NULL} --runtime=1 --metrics 127.0.0.1:0")))).expect_one_of(&[0, 4]);
    assert!(outcome.stderr.contains("fathom: metrics at http://127.0.0.1:"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains(":0/metrics"), "{}", outcome.stderr);
}

#[test]
fn hostile_clients_do_not_disturb_the_run() {
    timed("metrics::hostile_clients_do_not_disturb_the_run", run_with_hostile_clients);
}

/// Checks answers among many that are not taken, and that the run does not wait for them when it ends.
fn run_with_hostile_clients() -> Result<(), String> {
    let mut watched = ScrapedRun::start(&format!("{NULL} --runtime=3000 --format json"));
    watched.until("the run", |seen| seen.find("fathom_operations_total", &[]).is_some());
    let connect = |_| TcpStream::connect(("127.0.0.1", watched.port)).unwrap();
    let silent: Vec<TcpStream> = (0..100).map(connect).collect();
    let mut halves: Vec<TcpStream> = (0..20).map(connect).collect();
    halves.iter_mut().for_each(|client| client.write_all(b"GET /met").unwrap());
    let mut long = connect(0);
    let _ = long.write_all(&vec![b'x'; 1 << 20]);
    let mut slow = connect(0);
    slow.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
    let mut first = [0; 1];
    slow.read_exact(&mut first).unwrap();
    let seen = watched.until("an answer among them", |_| true);
    assert!(seen.find("fathom_operations_total", &[]).is_some());
    let signalled = Instant::now();
    let outcome = watched.interrupt();
    let took = signalled.elapsed();
    assert!(Json::read(&outcome.stdout).items("jobs").len() == 1);
    drop((silent, halves, long, slow));
    within(took, Duration::from_secs(15))
}

#[test]
fn unusable_addresses_are_refused_before_anything_is_touched() {
    let scratch = Scratch::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let data = scratch.text("data");
    let line = format!("run --name=a --filename={data} --rw=write --size=1m -o {}", scratch.text("x.json"));
    for (words_of, message) in [
        (format!("--metrics {taken}"), "choose another port (0 for any free one): this one is in use"),
        ("--metrics 0.0.0.0:9184".to_owned(), "use 127.0.0.1:9184, or add --insecure to permit it"),
        (
            "--metrics here".to_owned(),
            "`here` is not an address with a port\n |\n = help: write, for example, 127.0.0.1:9184",
        ),
    ] {
        let outcome = run(&mut fathom(words(&format!("{line} {words_of}")))).expect_code(2);
        assert!(outcome.stderr.contains(message), "{words_of}: {}", outcome.stderr);
        assert_eq!((outcome.stdout.as_str(), scratch.names()), ("", Vec::new()), "{words_of}");
    }
    run(&mut fathom(words(&format!("{NULL} --runtime=1 --metrics 0.0.0.0:0 --insecure")))).expect_one_of(&[0, 4]);
}

#[test]
fn suites_sweeps_and_simulations_have_metrics() {
    let scratch = Scratch::new();
    let data = scratch.text("data");
    let state = scratch.text("state");
    let lines = [
        format!("sweep --filename={data} --size=4m --time-limit 600s --depth-max 8"),
        format!("suite run gcp-pd --target {data} --size 16m --scale 1 --state {state}"),
        "sim --on hdd/7200rpm --name=s --rw=randread --iodepth=64 --runtime=4000d --time_based".to_owned(),
    ];
    for line in lines {
        let mut watched = ScrapedRun::start(&line);
        watched.until(&line, |seen| seen.find("fathom_operations_total", &[]).is_some_and(|ios| ios > 0.0));
        watched.interrupt();
    }
}

/// Returns all metrics of runs: of a closed loop on the null engine, and of a schedule on a modelled volume with
/// credits.
fn run_metrics() -> Vec<Exposition> {
    let lines = [
        format!("{NULL} --runtime=3000"),
        "run --on aws/gp2,size=100GiB --name=p --rw=randread --iodepth=16 --rate_iops=500 --runtime=3000 --time_based"
            .to_owned(),
    ];
    let complete = |line: &String| {
        let mut watched = ScrapedRun::start(line);
        let seen = watched.until("all metrics", |seen| {
            let some = |name| seen.find(name, &[]).is_some();
            let open =
                !line.contains("rate_iops") || some("fathom_limit_credits_ratio") && some("fathom_lateness_seconds");
            some("fathom_operations_total") && some("fathom_progress_ratio") && open
        });
        watched.interrupt();
        seen
    };
    lines.iter().map(complete).collect()
}

/// Returns the names, kinds and meanings in the tables of docs/metrics.md.
fn documented() -> Vec<(String, String, String)> {
    let page = std::fs::read_to_string(root().join("docs/metrics.md")).unwrap();
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let rows = page.lines().filter(|line| line.starts_with("| `fathom_")).map(cells);
    rows.map(|cells| (cells[1].trim_matches('`').to_owned(), cells[2].clone(), cells[4].clone())).collect()
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn the_metrics_page_lists_exactly_the_exported_metrics() {
    let mut exported = run_metrics();
    let scratch = Scratch::new();
    let prom = scratch.text("served.prom");
    let port = free_port();
    // Faults are counted only if some are configured.
    let volume = "custom,size=64MiB,iops=100000,latency=50us --faults lost=1e-9";
    let serve = format!("serve {volume} --listen 127.0.0.1:{port} -o {prom} --run");
    let uri = format!("nbd://127.0.0.1:{port}");
    let run_it =
        format!("{} run --name=x --ioengine=nbd --uri={uri} --rw=randread --size=1m", env!("CARGO_BIN_EXE_fathom"));
    run(fathom(words(&serve)).arg(run_it).env("XDG_RUNTIME_DIR", scratch.as_ref())).expect_one_of(&[0, 4]);
    exported.push(Exposition::read(&std::fs::read_to_string(prom).unwrap()));
    let documented = documented();
    let names: BTreeSet<String> = documented.iter().map(|(name, ..)| name.clone()).collect();
    assert_eq!(names, exported.iter().flat_map(Exposition::names).collect());
    for (name, family) in exported.iter().flat_map(|exposition| &exposition.0) {
        let row = documented
            .iter()
            .find(|(known, ..)| known.strip_suffix("_total").or(known.strip_suffix("_info")).unwrap_or(known) == name);
        let (_, kind, meaning) = row.unwrap_or_else(|| panic!("{name} is not documented"));
        let help = family.help.trim_end_matches('.');
        assert!(
            *kind == family.kind && meaning.starts_with(help),
            "{name}: {kind} `{meaning}`, exported as {} `{help}`",
            family.kind
        );
    }
}

#[test]
fn the_dashboard_uses_only_exported_metrics() {
    let dashboard = std::fs::read_to_string(root().join("packaging/grafana/fathom.json")).unwrap();
    let dashboard = Json::read(&dashboard);
    assert_eq!((dashboard.text("uid"), dashboard.text("title")), ("fathom", "Fathom"));
    assert!(dashboard.whole("schemaVersion") >= 36);
    assert_eq!(dashboard.text("templating/list/0/type"), "datasource");
    let documented: BTreeSet<String> = documented().into_iter().map(|(name, ..)| name).collect();
    let mut used = BTreeSet::new();
    let mut check = |query: &str| {
        let parts = query.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        for name in parts.filter(|part| part.starts_with("fathom_")) {
            let bare =
                ["_bucket", "_sum", "_count"].iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name);
            assert!(documented.contains(bare), "{query} asks for {name}, which is not exported");
            used.insert(bare.to_owned());
        }
    };
    let mut ids = BTreeSet::new();
    for panel in dashboard.items("panels") {
        assert!(ids.insert(panel.whole("id")), "two panels have one number");
        if panel.text("type") == "row" {
            continue;
        }
        assert_eq!(panel.text("datasource/uid"), "${datasource}", "{}", panel.text("title"));
        let unit = panel.find("fieldConfig/defaults/unit").or(panel.find("options/yAxis/unit"));
        assert!(unit.is_some() && panel.text("description").len() > 10, "{}", panel.text("title"));
        panel.items("targets").iter().for_each(|target| check(target.text("expr")));
    }
    for variable in &dashboard.items("templating/list")[1..] {
        check(variable.text("definition"));
    }
    assert!(used.len() >= 15, "only {used:?} are shown");
}

#[test]
fn the_prometheus_parser_accepts_the_metrics() {
    require!(PrometheusClient);
    let mut watched = ScrapedRun::start(&NULL.replace("--name=n", "--runtime=3000 --name=b\\\"x"));
    watched.until("operations", |seen| seen.find("fathom_operations_total", &[]).is_some());
    let scratch = Scratch::new();
    let text = scratch.write("told.txt", scrape(watched.port).unwrap());
    let script = format!(
        "from prometheus_client.openmetrics.parser import text_string_to_metric_families as read\n\
         families = {{family.name: family for family in read(open('{text}').read())}}\n\
         print(sum(sample.value for sample in families['fathom_operations'].samples) > 0)"
    );
    let outcome = run(std::process::Command::new("/usr/bin/python3").args(["-c", &script])).expect_code(0);
    assert_eq!(outcome.stdout, "True\n");
    watched.interrupt();
}
