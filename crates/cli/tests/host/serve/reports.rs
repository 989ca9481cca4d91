//! Statistics, metrics and closing reports of servers.

use std::io::{Read, Write};
use std::net::TcpStream;

use super::place::{Place, stopped};
use crate::common::devices::tool;
use crate::common::json::Json;
use crate::common::openmetrics::free_port;
use crate::common::{Scratch, fathom, fio, require, run, wait_for};

const FAST: &str = "custom,size=64MiB,iops=100000,latency=50us";

#[test]
fn statistics_of_an_idle_server_include_its_last_request() {
    require!(NbdTools);
    let place = Place::new();
    let _server = place.serve("custom,size=64MiB,iops=100000,latency=5ms");
    tool("qemu-io", &["-f", "raw", "-c", "write 0 64k", "-c", "read 0 4k", &place.uri("")]);
    wait_for("the last request", || {
        let stats = place.stats();
        stats.find("exports/0/kinds/0").is_some_and(|kind| kind.text("kind") == "read")
    });
    let stats = place.stats();
    assert_eq!(stats.text("exports/0/kinds/0/kind"), "read");
    assert_eq!((stats.whole("exports/0/kinds/1/operations"), stats.whole("exports/0/kinds/1/bytes")), (1, 65_536));
    assert!(stats.number("exports/0/kinds/0/latency/p50_ns") >= 4e6, "{stats:?}");
    assert_eq!(stats.text("stages/0/kind"), "limit");
    assert_eq!(stats.whole("stages/0/requests"), 2);
    assert!(stats.whole("punctuality/replies") >= 2, "{stats:?}");
    for address in [place.text("s"), place.uri("")] {
        let text = run(&mut fathom(["serve", "--stats", &address])).expect_clean().stdout;
        assert!(text.contains("the default export: custom,") && text.contains("volume IOPS"), "{text}");
    }
    let metrics =
        run(&mut fathom(["serve", "--format", "openmetrics", "--stats", &place.text("s")])).expect_clean().stdout;
    assert!(metrics.contains("fathom_serve_bytes_total{export=\"\",kind=\"write\"} 65536\n"), "{metrics}");
}

fn request(port: u16, request: &str) -> String {
    // The server accepts clients a moment before its endpoint does.
    wait_for("the endpoint", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
    client.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    client.read_to_string(&mut response).unwrap();
    response
}

#[test]
fn metrics_are_served() {
    let (place, port) = (Place::new(), free_port());
    let server = place.serve(&format!("{FAST} --metrics 127.0.0.1:{port}"));
    wait_for("metrics", || request(port, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").contains("size_bytes{"));
    let response = request(port, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    assert!(
        head.starts_with("HTTP/1.1 200 OK") && head.contains("application/openmetrics-text; version=1.0.0"),
        "{head}"
    );
    assert!(body.contains("fathom_serve_size_bytes{export=\"\"} 67108864\n") && body.ends_with("# EOF\n"), "{body}");
    assert!(head.contains(&format!("Content-Length: {}", body.len())), "{head}");
    assert!(request(port, "GET / HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 404 "));
    assert!(request(port, "POST /metrics HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 405 "));
    assert!(stopped(server).expect_code(0).stderr.contains(&format!("curl http://127.0.0.1:{port}/metrics")));
}

#[test]
fn exports_on_one_machine_share_its_limit() {
    require!(Fio);
    let place = Place::new();
    let volume = "gcp/pd-ssd@2019,size=2048GB,vcpus=8";
    let line = format!("--export a={volume} --export b={volume} --export c={volume},host=other --seed 1");
    let server = place.serve(&line);
    let mut jobs: Vec<String> =
        "--ioengine=nbd --rw=randread --bs=4k --size=16M --iodepth=16 --thread".split(' ').map(str::to_owned).collect();
    for export in ["a", "b", "c"] {
        jobs.extend([format!("--name={export}"), format!("--uri={}", place.uri(export))]);
    }
    run(&mut fio(jobs)).expect_code(0);
    wait_for("all requests", || {
        (0..3).all(|export| {
            place
                .stats()
                .find(&format!("exports/{export}/kinds/0"))
                .is_some_and(|kind| kind.whole("operations") == 4096)
        })
    });
    let stats = place.stats();
    let of = |owner: &str| {
        let stages = stats.items("stages").iter();
        let mut found =
            stages.filter(|stage| stage.text("name") == "machine pd-ssd IOPS" && stage.text("owner") == owner);
        found.next().map_or(0, |stage| stage.whole("requests"))
    };
    assert_eq!((of("host"), of("other")), (8192, 4096));
    let end = stopped(server).expect_code(0);
    assert!(end.stdout.contains("machine pd-ssd IOPS of other"), "{}", end.stdout);
}

#[test]
fn the_closing_report_is_written_to_files() {
    let (place, scratch) = (Place::new(), Scratch::new());
    let files = ["a.json", "a.txt", "a.prom"].map(|name| format!(" -o {}", scratch.text(name))).concat();
    place.serve_while(&format!("{FAST} --seed 5{files}"), "true").expect_code(0);
    assert_eq!(Json::read(&scratch.read("a.json")).whole("seed"), 5);
    assert!(scratch.read("a.txt").contains("seed 5") && scratch.read("a.prom").ends_with("# EOF\n"));
}

#[test]
fn unknown_machine_limits_are_noted_at_start_and_end() {
    let place = Place::new();
    let end = stopped(place.serve("gcp/hyperdisk-balanced,machine=a3-megagpu-8g --seed 5")).expect_code(0);
    let note = "machine limit unknown: the catalogue has no machine Hyperdisk Balanced IOPS of a3-megagpu-8g";
    assert!(end.stderr.contains(&format!("note        {note}")), "{}", end.stderr);
    assert!(end.stdout.contains(&format!("note: {note}")), "{}", end.stdout);
    let known = stopped(place.serve("azure/p10 --seed 5")).expect_code(0);
    assert!(!known.stderr.contains("limit unknown") && !known.stdout.contains("note:"), "{}", known.stdout);
}
