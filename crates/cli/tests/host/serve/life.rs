//! Start and end of servers.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::place::{Place, python, stopped};
use crate::common::json::Json;
use crate::common::{Running, WAIT_MAX, require, run, wait_for};

#[test]
fn a_server_exits_with_the_code_of_its_command() {
    let place = Place::new();
    place.serve_while("custom,size=1MiB", "exit 7").expect_code(7);
    let outcome = place.serve_while("custom,size=1MiB --format json", "test -S \"$unixsocket\"").expect_code(0);
    assert_eq!(Json::read(&outcome.stdout).whole("exports/0/size_bytes"), 1 << 20);
    let outcome = place.serve_while("--export a=custom,size=1MiB --listen 127.0.0.1:0", "echo $exportname $uri $port");
    let printed: Vec<&str> = outcome.stdout.split_whitespace().collect();
    assert_eq!((printed[0], printed[1]), ("a", format!("nbd://127.0.0.1:{}/a", printed[2]).as_str()));
    assert!(outcome.stderr.contains("served for"), "{}", outcome.stderr);
    assert_eq!(std::fs::read_dir(place.path("fathom")).unwrap().count(), 0, "sockets are left");
}

#[test]
fn the_command_is_stopped_with_the_server() {
    let place = Place::new();
    let shell = format!("trap 'echo asked; exit 3' TERM; touch {}; while :; do sleep 0.05; done", place.text("began"));
    let server = Running::start(place.command("custom,size=1MiB").arg("--run").arg(shell));
    wait_for("the command", || place.path("began").exists());
    let end = stopped(server).expect_code(3);
    assert_eq!(end.stdout, "asked\n");
}

#[test]
fn sockets_are_private_and_removed_at_the_end() {
    let place = Place::new();
    let server = place.serve("custom,size=1MiB");
    // The socket of the statistics follows that of the exports.
    wait_for("its statistics", || place.path("s.stats").exists());
    for name in ["s", "s.stats"] {
        let mode = std::fs::metadata(place.path(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    stopped(server).expect_code(0);
    assert!(!place.path("s").exists() && !place.path("s.stats").exists());
    place.serve_while("custom,size=1MiB", "true").expect_code(0);
    let mode = std::fs::metadata(place.path("fathom")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn sockets_of_killed_servers_are_replaced_and_of_running_ones_not() {
    let place = Place::new();
    let killed = place.serve("custom,size=1MiB");
    killed.signal("KILL");
    killed.end();
    assert!(place.path("s").exists());
    let _server = place.serve("custom,size=1MiB");
    let second = run(place.command("custom,size=1MiB --socket").arg(place.path("s"))).expect_code(3);
    assert!(second.stderr.contains("the path exists"), "{}", second.stderr);
}

#[test]
fn requests_in_flight_are_completed_before_the_end() {
    require!(NbdPython);
    let place = Place::new();
    let server = place.serve("custom,size=1MiB,iops=1000000,latency=2s");
    let uri = place.uri("");
    // One request after the other, so that one is in flight whenever the server is asked and when it ends.
    let script = "n = 0\ntry:\n\x20   while True: n += len(h.pread(4096, 0))\nexcept nbd.Error: print(n // 4096)";
    let client = std::thread::spawn(move || python(&uri, script));
    wait_for("the request", || {
        let stats = place.stats();
        stats.find("exports/0/in_flight").is_some_and(|_| stats.whole("exports/0/in_flight") == 1)
    });
    let end = stopped(server).expect_code(0);
    let received = client.join().unwrap();
    assert_ne!(received, "0\n");
    let read = end.stdout.lines().find(|line| line.starts_with("  read ")).expect("a row of reads");
    assert_eq!(read.split_whitespace().nth(1), Some(received.trim()), "{}", end.stdout);
}

#[test]
fn a_low_descriptor_limit_is_raised() {
    require!(NbdPython);
    let place = Place::new();
    let serve =
        format!("ulimit -Sn 64; exec {} serve --size 1MiB --socket {}", env!("CARGO_BIN_EXE_fathom"), place.text("s"));
    let server = Running::serve(std::process::Command::new("sh").args(["-c", &serve]), place.path("s"));
    let script = format!(
        "all = [nbd.NBD() for _ in range(200)]\nfor c in all: c.connect_uri('{}')\nprint(sum(len(c.pread(1, 0)) for c in all))",
        place.uri("")
    );
    assert_eq!(python(&place.uri(""), &script), "200\n");
    stopped(server).expect_code(0);
}

#[test]
fn clients_without_a_descriptor_wait_without_busy_polling() {
    let place = Place::new();
    // Listeners take more descriptors than are reserved for other purposes than clients.
    let serve = format!(
        "ulimit -n 100; exec {} serve --size 1MiB --socket {} {}",
        env!("CARGO_BIN_EXE_fathom"),
        place.text("s"),
        "--listen 127.0.0.1:0 ".repeat(70)
    );
    let server = Running::serve(std::process::Command::new("sh").args(["-c", &serve]), place.path("s"));
    let mut clients: Vec<UnixStream> = (0..30).map(|_| UnixStream::connect(place.path("s")).unwrap()).collect();
    let mut last = clients.pop().unwrap();
    last.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    clients[0].read_exact(&mut [0; 18]).unwrap();
    let (busy_before, began) = (busy_ticks(&server), Instant::now());
    let waiting = last.read(&mut [0; 18]).unwrap_err();
    assert_eq!(waiting.kind(), std::io::ErrorKind::WouldBlock);
    let (busy, all) = (busy_ticks(&server) - busy_before, began.elapsed().as_millis() / 10);
    assert!(u128::from(busy) < all / 4, "{busy} of {all} ticks");
    last.set_read_timeout(Some(WAIT_MAX)).unwrap();
    drop(clients);
    last.read_exact(&mut [0; 18]).expect("a greeting once descriptors are free");
    stopped(server).expect_code(0);
}

/// Returns the processor time of a process in hundredths of a second: proc(5), fields 14 and 15 of `stat`.
fn busy_ticks(process: &Running) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{}/stat", process.pid())).unwrap();
    let fields = text.rsplit(')').next().unwrap().split_whitespace().skip(11).take(2);
    fields.map(|field| field.parse::<u64>().unwrap()).sum()
}

#[test]
fn a_client_in_the_handshake_does_not_delay_the_end() {
    let place = Place::new();
    let server = place.serve("custom,size=1MiB");
    let mut client = UnixStream::connect(place.path("s")).unwrap();
    let mut greeting = [0; 18];
    client.read_exact(&mut greeting).unwrap();
    stopped(server).expect_code(0);
}
