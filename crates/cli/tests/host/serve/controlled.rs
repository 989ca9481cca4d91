//! A server whose limits and faults change while clients use it.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use super::client::{Client, READ};
use super::place::{Place, python, stopped};
use crate::common::host::timed;
use crate::common::json::Json;
use crate::common::schema::expect_result;
use crate::common::{Outcome, Running, WAIT_MAX, fathom, fio, require, run, wait_for};

/// Starts a server with the control socket `c`.
fn serve(place: &Place, line: &str) -> Running {
    place.serve(&format!("{line} --control {}", place.text("c")))
}

/// Sends a command by `fathom serve control`.
fn control(place: &Place, command: &str) -> Outcome {
    let socket = place.text("c");
    run(&mut fathom(["serve", "control", &socket].into_iter().chain(command.split_whitespace())))
}

/// Sends a command that must succeed and returns the answer.
#[track_caller]
fn controlled(place: &Place, command: &str) -> Json {
    let reply = control(place, &format!("--format json {command}")).expect_clean().stdout;
    expect_result("serve-control", &reply);
    Json::read(&reply)
}

/// Returns the number of injected faults of a kind.
#[track_caller]
fn injected(place: &Place, kind: &str) -> u64 {
    controlled(place, "show").whole(&format!("server/exports/0/injected/{kind}"))
}

#[test]
fn each_kind_of_fault_reaches_the_client_and_is_counted() {
    require!(NbdPython);
    let place = Place::new();
    let server = serve(&place, "--size 1MiB --seed 3 --metrics 127.0.0.1:0");
    let uri = place.uri("");
    python(&uri, "h.pwrite(b'\\x55' * 65536, 0)");
    let client_sees = |faults: &str, script: &str| {
        controlled(&place, &format!("faults {faults}"));
        python(&uri, script)
    };
    let failing = |call: &str| format!("try: {call}; print('none')\nexcept nbd.Error as e: print(e.errno)");
    assert_eq!(client_sees("eio=1", &failing("h.pread(512, 0)")), "EIO\n");
    assert_eq!(client_sees("flush_eio=1", &failing("h.flush()")), "EIO\n");
    assert_eq!(client_sees("enospc=1", &failing("h.pwrite(b'x' * 512, 0)")), "ENOSPC\n");
    assert_eq!(client_sees("torn=1", &failing("h.pwrite(b'\\x55' * 65536, 0)")), "EIO\n");
    let lost = "h.pwrite(b'\\xaa' * 65536, 0); print(h.pread(65536, 0) == b'\\x55' * 65536)";
    assert_eq!(client_sees("lost=1", lost), "True\n");
    let flipped = "print(sum(bin(byte ^ 0x55).count('1') for byte in h.pread(65536, 0)))";
    assert_eq!(client_sees("corrupt=1", flipped), "1\n");
    assert_eq!(client_sees("none", flipped), "0\n", "the store has changed");
    let timed = |call: &str| format!("import time\nbegan = time.time(); {call}; print(time.time() - began >= 0.2)");
    assert_eq!(client_sees("stall=1:200ms", &timed("h.pread(512, 0)")), "True\n");
    assert_eq!(client_sees("flush_stall=1:200ms", &timed("h.flush()")), "True\n");
    let broken = "try: h.pread(512, 0)\nexcept nbd.Error: print(h.aio_is_dead() or h.aio_is_closed())";
    assert_eq!(client_sees("disconnect=1", broken), "True\n");
    controlled(&place, "faults none");
    // Stalls are counted for each request of libnbd; its disconnection is not a request.
    for kind in ["eio", "flush_eio", "enospc", "torn", "lost", "corrupt", "flush_stall", "disconnect"] {
        assert_eq!(injected(&place, kind), 1, "{kind}");
    }
    assert!(injected(&place, "stall") >= 1);
    let report = stopped(server).expect_code(0).stdout;
    let line = report.lines().find(|line| line.starts_with("  injected faults: ")).expect("counts");
    assert!(
        line.starts_with("  injected faults: 1 eio, 1 flush_eio, 1 enospc, 1 torn, 1 lost, 1 corrupt, "),
        "{report}"
    );
}

#[test]
fn injected_faults_are_in_statistics_metrics_and_report() {
    require!(NbdPython);
    let place = Place::new();
    let server = serve(&place, &format!("--size 1MiB --faults eio=1 -o {}", place.text("end.json")));
    python(&place.uri(""), "for at in range(7):\n\x20   try: h.pread(512, 0)\n\x20   except nbd.Error: pass");
    assert_eq!(injected(&place, "eio"), 7);
    wait_for("the figures", || place.stats().whole("exports/0/injected/eio") == 7);
    let metrics = run(&mut fathom(["serve", "--format", "openmetrics", "--stats", &place.text("s")])).expect_clean();
    for line in ["{export=\"\",fault=\"eio\"} 7\n", "{export=\"\",fault=\"corrupt\"} 0\n"] {
        assert!(metrics.stdout.contains(&format!("fathom_serve_injected_faults_total{line}")), "{}", metrics.stdout);
    }
    let text = stopped(server).expect_code(0).stdout;
    assert!(text.contains("\n  injected faults: 7 eio\n"), "{text}");
    let saved = Json::read(&std::fs::read_to_string(place.path("end.json")).unwrap());
    assert_eq!(saved.whole("exports/0/injected/eio"), 7);
}

/// Returns the IOPS of a client with its requests in flight.
fn iops(client: &mut Client, secs: f64) -> f64 {
    let (began, mut count) = (Instant::now(), 0);
    while began.elapsed().as_secs_f64() < secs {
        let (error, cookie) = client.reply();
        assert_eq!(error, 0);
        client.bytes(4096);
        client.send(READ, 0, cookie, cookie * 4096, 4096, &[]);
        count += 1;
    }
    f64::from(count) / began.elapsed().as_secs_f64()
}

#[test]
fn changed_limits_apply_to_connected_clients() {
    let place = Place::new();
    let server = serve(&place, "custom,size=1MiB,iops=400,latency=1ms");
    let mut client = Client::connect(&place.path("s"), "");
    (0..8).for_each(|cookie| client.send(READ, 0, cookie, 0, 4096, &[]));
    timed("serve::controlled::changed_limits_apply_to_connected_clients", || {
        let mut measured = Vec::new();
        for (command, expected) in [
            ("limits iops=400", 400.0),
            ("limits iops=2000", 2000.0),
            ("limits iops=none,throughput=800KiB/s", 200.0),
            ("limits reset", 400.0),
        ] {
            controlled(&place, command);
            // Requests in flight keep the previous rate.
            iops(&mut client, 0.3);
            let iops = iops(&mut client, 1.0);
            measured.push((iops, expected));
        }
        let wrong = measured.iter().find(|(iops, expected)| !(0.85..1.1).contains(&(iops / expected)));
        wrong.map_or(Ok(()), |(iops, expected)| Err(format!("{iops} of {expected} IOPS")))
    });
    drop(client);
    let report = stopped(server).expect_code(0).stdout;
    assert!(report.contains("\n  volume throughput"), "a temporary limit is reported: {report}");
}

#[test]
fn fio_observes_changed_limits_and_faults() {
    require!(Fio);
    let place = Place::new();
    let server = serve(&place, "custom,size=16MiB,iops=500,latency=500us");
    let log = place.text("log");
    let job = format!(
        "--name=t --ioengine=nbd --rw=randread --bs=4k --size=16m --iodepth=8 --thread --time_based --runtime=4 \
         --log_avg_msec=500 --write_iops_log={log} --output-format=json --continue_on_error=read --uri={}",
        place.uri("")
    );
    let job: Vec<String> = job.split_whitespace().map(str::to_owned).collect();
    timed("serve::controlled::fio_observes_changed_limits_and_faults", || {
        controlled(&place, "limits reset");
        let before = injected(&place, "eio");
        let outcome = std::thread::scope(|scope| {
            let fio = scope.spawn(|| run(&mut fio(&job)));
            std::thread::sleep(Duration::from_secs(2));
            controlled(&place, "limits iops=2500");
            controlled(&place, "faults eio=1%");
            let outcome = fio.join().expect("fio");
            controlled(&place, "faults none");
            outcome
        });
        let text = &outcome.stdout;
        let document = Json::read(&text[text.find('{').expect("a document")..]);
        let errors = injected(&place, "eio") - before;
        assert_eq!(document.whole("jobs/0/total_err"), errors, "fio counts exactly the injected errors");
        let log = std::fs::read_to_string(format!("{log}_iops.1.log")).expect("fio's log");
        let field = |line: &str, at: usize| line.split(',').nth(at).and_then(|text| text.trim().parse::<f64>().ok());
        let at = |from: f64, to: f64| {
            let rows = log.lines().filter_map(|line| Some((field(line, 0)?, field(line, 1)?)));
            let rows: Vec<f64> = rows.filter(|(ms, _)| (from..to).contains(ms)).map(|(_, iops)| iops).collect();
            rows.iter().sum::<f64>() / rows.len().max(1) as f64
        };
        let (early, late) = (at(400.0, 1600.0), at(2900.0, 4000.0));
        if errors > 5 && (400.0..600.0).contains(&early) && (1900.0..2700.0).contains(&late) {
            return Ok(());
        }
        Err(format!("{early} and then {late} IOPS, {errors} errors:\n{log}"))
    });
    stopped(server).expect_code(0);
}

#[test]
fn invalid_commands_are_located_and_change_nothing() {
    let place = Place::new();
    let _server =
        serve(&place, "--export a=custom,size=1MiB,iops=100 --export b=hdd/7200rpm --export c= --size c=1MiB");
    controlled(&place, "faults stall=1%:2s");
    let before = controlled(&place, "show");
    let cases = [
        ("limits a iops=x,latency=2ms", "1:15", "iops=x"),
        ("limits a latency=5", "1:18", "`5` has no unit"),
        ("limits a speed=5", "1:10", "speed"),
        ("limits a size=2MiB", "1:10", "cannot change while the volume is being served"),
        ("limits a iops=1,iops=2", "1:17", "duplicate key"),
        ("limits iops=1", "1:8", "which export?"),
        ("limits d iops=1", "1:8", "unknown export `d`"),
        ("limits c iops=1", "1:8", "no model"),
        ("faults eio=5,torn=1,lost", "1:12", "not a probability"),
        ("faults", "1:1", "without faults"),
        ("fault eio=1", "1:1", "did you mean `faults`?"),
        ("reboot", "1:1", "use one of show, faults, limits"),
    ];
    for (command, column, message) in cases {
        let refused = control(&place, command).expect_code(2);
        assert_eq!(refused.stdout, "", "{command}");
        let place = format!("--> command:{column}\n");
        assert!(refused.stderr.contains(&place) && refused.stderr.contains(message), "{command}:\n{}", refused.stderr);
        assert!(refused.stderr.contains("nothing was touched"), "{command}:\n{}", refused.stderr);
    }
    assert_eq!(format!("{:?}", controlled(&place, "show")), format!("{before:?}"));
    let none = run(&mut fathom(["serve", "control", &place.text("none")])).expect_code(3);
    assert!(none.stderr.contains("no server accepts commands at"), "{}", none.stderr);
    let stats = run(&mut fathom(["serve", "control", &place.text("s.stats")])).expect_code(3);
    assert!(stats.stderr.contains("unrecognized reply"), "{}", stats.stderr);
}

#[test]
fn the_control_socket_is_private_and_removed_at_the_end() {
    let place = Place::new();
    let server = serve(&place, "custom,size=1MiB");
    let mode = std::fs::metadata(place.path("c")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let second = run(place.command("custom,size=1MiB --control").arg(place.path("c"))).expect_code(3);
    assert!(second.stderr.contains("--control") && second.stderr.contains("the path exists"), "{second:?}");
    assert!(stopped(server).expect_code(0).stderr.contains("fathom serve control"));
    assert!(!place.path("c").exists());
    let line = format!("custom,size=1MiB --control {}", place.text("c"));
    place.serve_while(&line, "test -S \"$control\"").expect_code(0);
    assert!(!place.path("c").exists());
}

/// A controller that uses the socket directly.
struct Controller(BufReader<UnixStream>);

impl Controller {
    fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).expect("a server");
        stream.set_read_timeout(Some(WAIT_MAX)).expect("a timeout");
        Self(BufReader::new(stream))
    }

    fn ask(&mut self, line: &str) -> Json {
        writeln!(self.0.get_mut(), "{line}").expect("a write");
        self.answer()
    }

    fn answer(&mut self) -> Json {
        let mut answer = String::new();
        self.0.read_line(&mut answer).expect("an answer");
        Json::read(&answer)
    }
}

#[test]
fn controllers_do_not_undo_each_others_changes() {
    let place = Place::new();
    let _server = serve(&place, "custom,size=1MiB,iops=100");
    let socket = place.path("c");
    let change = |key: &str, unit: &str| {
        let mut controller = Controller::connect(&socket);
        for value in 1..=200 {
            let answer = controller.ask(&format!("limits {key}={value}{unit}"));
            let expected = format!("{key}={value}");
            assert!(answer.text("server/exports/0/volume").contains(&expected), "{expected}: {answer:?}");
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| change("iops", ""));
        scope.spawn(|| change("latency", "ms"));
        let mut faulty = Controller::connect(&socket);
        for _ in 0..100 {
            assert_eq!(faulty.ask("faults eio=0.5").text("server/faults"), "eio=0.5");
        }
    });
    let last = controlled(&place, "show");
    let volume = last.text("server/exports/0/volume");
    assert!(volume.contains("iops=200") && volume.contains("latency=200ms"), "{volume}");
    assert_eq!(last.text("server/faults"), "eio=0.5");
}

#[test]
fn slow_controllers_do_not_delay_clients() {
    let place = Place::new();
    let server = serve(&place, "custom,size=1MiB,iops=100000");
    let unread = UnixStream::connect(place.path("c")).expect("a server");
    unread.set_nonblocking(true).expect("a socket");
    // Sends until the buffers for commands and answers are full.
    let mut sent = 0;
    let mut full = Instant::now();
    while full.elapsed() < Duration::from_millis(500) && sent < 64 << 20 {
        match (&unread).write(&b"show\n".repeat(1000)) {
            Ok(bytes) => (sent, full) = (sent + bytes, Instant::now()),
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
    assert!(sent < 64 << 20, "unread answers take unbounded memory");
    let mut silent = Controller::connect(&place.path("c"));
    silent.0.get_mut().write_all(&[b'x'; 20_000]).expect("a write");
    assert!(silent.answer().text("errors/0/message").contains("longer than 16384 bytes"));
    assert_eq!(silent.0.read(&mut [0]).expect("an end"), 0);
    let mut bytes = Controller::connect(&place.path("c"));
    bytes.0.get_mut().write_all(b"faults \xff\n").expect("a write");
    assert_eq!(bytes.answer().whole("errors/0/column"), 8);
    let mut half = Controller::connect(&place.path("c"));
    half.0.get_mut().write_all(b"fau").expect("a write");
    let mut client = Client::connect(&place.path("s"), "");
    client.write(0, &[1; 512]);
    assert_eq!(client.read(0, 512), [1; 512]);
    assert_eq!(injected(&place, "eio"), 0);
    drop(client);
    stopped(server).expect_code(0);
}

#[test]
fn too_many_controllers_are_refused_with_a_reason() {
    let place = Place::new();
    let _server = serve(&place, "custom,size=1MiB");
    let mut known: Vec<Controller> = (0..32).map(|_| Controller::connect(&place.path("c"))).collect();
    assert!(known.iter_mut().all(|controller| controller.ask("show").text("server/faults") == "none"));
    let refused = control(&place, "show").expect_code(3).stderr;
    assert!(refused.contains("32 control clients are already connected"), "{refused}");
    drop(known);
    wait_for("a free connection", || control(&place, "show").code() == Some(0));
}
