//! A server whose limits and faults change while clients use it.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use super::client::{Client, READ};
use super::common::host::timed;
use super::common::json::Json;
use super::common::{Outcome, Running, fathom, fio, require, run};
use super::place::{Place, python, stopped};

/// A server with the control socket `c`.
fn serve(place: &Place, line: &str) -> Running {
    place.serve(&format!("{line} --control {}", place.text("c")))
}

/// What `fathom serve control` makes of a command.
fn control(place: &Place, command: &str) -> Outcome {
    let socket = place.text("c");
    run(&mut fathom(["serve", "control", &socket].into_iter().chain(command.split_whitespace())))
}

/// The answer to a command that is carried out.
#[track_caller]
fn done(place: &Place, command: &str) -> Json {
    Json::read(&control(place, &format!("--format json {command}")).expect_clean().stdout)
}

/// How many faults of a kind were injected.
#[track_caller]
fn injected(place: &Place, kind: &str) -> u64 {
    done(place, "show").whole(&format!("server/exports/0/injected/{kind}"))
}

#[test]
fn each_kind_of_fault_is_seen_by_a_client_and_counted() {
    require!(NbdPython);
    let place = Place::new();
    let server = serve(&place, "--size 1MiB --seed 3 --metrics 127.0.0.1:0");
    let uri = place.uri("");
    python(&uri, "h.pwrite(b'\\x55' * 65536, 0)");
    let seen = |faults: &str, script: &str| {
        done(&place, &format!("faults {faults}"));
        python(&uri, script)
    };
    let failing = |call: &str| format!("try: {call}; print('none')\nexcept nbd.Error as e: print(e.errno)");
    assert_eq!(seen("eio=1", &failing("h.pread(512, 0)")), "EIO\n");
    assert_eq!(seen("flush_eio=1", &failing("h.flush()")), "EIO\n");
    assert_eq!(seen("enospc=1", &failing("h.pwrite(b'x' * 512, 0)")), "ENOSPC\n");
    assert_eq!(seen("torn=1", &failing("h.pwrite(b'\\x55' * 65536, 0)")), "EIO\n");
    let lost = "h.pwrite(b'\\xaa' * 65536, 0); print(h.pread(65536, 0) == b'\\x55' * 65536)";
    assert_eq!(seen("lost=1", lost), "True\n");
    let flipped = "print(sum(bin(byte ^ 0x55).count('1') for byte in h.pread(65536, 0)))";
    assert_eq!(seen("corrupt=1", flipped), "1\n");
    assert_eq!(seen("none", flipped), "0\n", "the store has changed");
    let timed = |call: &str| format!("import time\nbegan = time.time(); {call}; print(time.time() - began >= 0.2)");
    assert_eq!(seen("stall=1:200ms", &timed("h.pread(512, 0)")), "True\n");
    assert_eq!(seen("flush_stall=1:200ms", &timed("h.flush()")), "True\n");
    let broken = "try: h.pread(512, 0)\nexcept nbd.Error: print(h.aio_is_dead() or h.aio_is_closed())";
    assert_eq!(seen("disconnect=1", broken), "True\n");
    done(&place, "faults none");
    // libnbd says goodbye, which is no request; other kinds stall and break on whatever else it asks.
    for kind in ["eio", "flush_eio", "enospc", "torn", "lost", "corrupt", "flush_stall", "disconnect"] {
        assert_eq!(injected(&place, kind), 1, "{kind}");
    }
    assert!(injected(&place, "stall") >= 1);
    let told = stopped(server).expect_code(0).stdout;
    let line = told.lines().find(|line| line.starts_with("  injected faults: ")).expect("counts");
    assert!(line.starts_with("  injected faults: 1 eio, 1 flush_eio, 1 enospc, 1 torn, 1 lost, 1 corrupt, "), "{told}");
}

#[test]
fn what_was_injected_is_in_statistics_metrics_and_the_report_at_the_end() {
    require!(NbdPython);
    let place = Place::new();
    let server = serve(&place, &format!("--size 1MiB --faults eio=1 -o {}", place.text("end.json")));
    python(&place.uri(""), "for at in range(7):\n\x20   try: h.pread(512, 0)\n\x20   except nbd.Error: pass");
    assert_eq!(injected(&place, "eio"), 7);
    super::place::wait_for("the figures", || place.stats().whole("exports/0/injected/eio") == 7);
    let metrics = run(&mut fathom(["serve", "--format", "openmetrics", "--stats", &place.text("s")])).expect_clean();
    for line in ["{export=\"\",fault=\"eio\"} 7\n", "{export=\"\",fault=\"corrupt\"} 0\n"] {
        assert!(metrics.stdout.contains(&format!("fathom_serve_injected_faults_total{line}")), "{}", metrics.stdout);
    }
    let text = stopped(server).expect_code(0).stdout;
    assert!(text.contains("\n  injected faults: 7 eio\n"), "{text}");
    let kept = Json::read(&std::fs::read_to_string(place.path("end.json")).unwrap());
    assert_eq!(kept.whole("exports/0/injected/eio"), 7);
}

/// Reads a second by a client with 8 in flight.
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
fn limits_that_change_hold_for_clients_that_are_reading() {
    let place = Place::new();
    let server = serve(&place, "custom,size=1MiB,iops=400,latency=1ms");
    let mut client = Client::connect(&place.path("s"), "");
    (0..8).for_each(|cookie| client.send(READ, 0, cookie, 0, 4096, &[]));
    timed("serve::controlled::limits_that_change_hold_for_clients_that_are_reading", || {
        let mut measured = Vec::new();
        for (command, wanted) in [
            ("limits iops=400", 400.0),
            ("limits iops=2000", 2000.0),
            ("limits iops=none,throughput=800KiB/s", 200.0),
            ("limits reset", 400.0),
        ] {
            done(&place, command);
            // Requests that were in flight go at the rate of before.
            iops(&mut client, 0.3);
            let iops = iops(&mut client, 1.0);
            assert!(iops < wanted * 1.1, "{iops} IOPS after `{command}`");
            measured.push((iops, wanted));
        }
        let slow = measured.iter().find(|(iops, wanted)| *iops < wanted * 0.85);
        slow.map_or(Ok(()), |(iops, wanted)| Err(format!("{iops} of {wanted} IOPS")))
    });
    drop(client);
    let told = stopped(server).expect_code(0).stdout;
    assert!(told.contains("\n  volume throughput"), "a limit that was there for a while is told of: {told}");
}

#[test]
fn fio_sees_limits_and_faults_that_change_while_it_runs() {
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
    timed("serve::controlled::fio_sees_limits_and_faults_that_change_while_it_runs", || {
        done(&place, "limits reset");
        let before = injected(&place, "eio");
        let outcome = std::thread::scope(|scope| {
            let fio = scope.spawn(|| run(&mut fio(&job)));
            std::thread::sleep(Duration::from_secs(2));
            done(&place, "limits iops=2500");
            done(&place, "faults eio=1%");
            let outcome = fio.join().expect("fio");
            done(&place, "faults none");
            outcome
        });
        let text = &outcome.stdout;
        let document = Json::read(&text[text.find('{').expect("a document")..]);
        let errors = injected(&place, "eio") - before;
        assert_eq!(document.whole("jobs/0/total_err"), errors, "fio's errors are those that were injected");
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
fn commands_that_are_wrong_are_located_and_change_nothing() {
    let place = Place::new();
    let _server =
        serve(&place, "--export a=custom,size=1MiB,iops=100 --export b=hdd/7200rpm --export c= --size c=1MiB");
    done(&place, "faults stall=1%:2s");
    let before = done(&place, "show");
    let cases = [
        ("limits a iops=x,latency=2ms", "1:15", "iops=x"),
        ("limits a latency=5", "1:18", "`5` has no unit"),
        ("limits a speed=5", "1:10", "speed"),
        ("limits a size=2MiB", "1:10", "cannot change while the volume is served"),
        ("limits a iops=1,iops=2", "1:17", "given twice"),
        ("limits iops=1", "1:8", "which export?"),
        ("limits d iops=1", "1:8", "there is no export `d`"),
        ("limits c iops=1", "1:8", "no model"),
        ("faults eio=5,torn=1,lost", "1:12", "not a chance"),
        ("faults", "1:1", "without faults"),
        ("fault eio=1", "1:1", "did you mean `faults`?"),
        ("reboot", "1:1", "there are show, faults, limits"),
    ];
    for (command, column, message) in cases {
        let said = control(&place, command).expect_code(2);
        assert_eq!(said.stdout, "", "{command}");
        let place = format!("--> command:{column}\n");
        assert!(said.stderr.contains(&place) && said.stderr.contains(message), "{command}:\n{}", said.stderr);
        assert!(said.stderr.contains("nothing was touched"), "{command}:\n{}", said.stderr);
    }
    assert_eq!(format!("{:?}", done(&place, "show")), format!("{before:?}"));
    let none = run(&mut fathom(["serve", "control", &place.text("none")])).expect_code(3);
    assert!(none.stderr.contains("no server takes commands at"), "{}", none.stderr);
    let stats = run(&mut fathom(["serve", "control", &place.text("s.stats")])).expect_code(3);
    assert!(stats.stderr.contains("unrecognized answer"), "{}", stats.stderr);
}

#[test]
fn only_its_user_can_control_a_server_and_the_socket_goes_with_it() {
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

/// A controller that speaks to the socket by itself.
struct Controller(BufReader<UnixStream>);

impl Controller {
    fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).expect("a server");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
        Self(BufReader::new(stream))
    }

    fn ask(&mut self, line: &str) -> Json {
        writeln!(self.0.get_mut(), "{line}").expect("to be heard");
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
            let wanted = format!("{key}={value}");
            assert!(answer.text("server/exports/0/volume").contains(&wanted), "{wanted}: {answer:?}");
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
    let last = done(&place, "show");
    let volume = last.text("server/exports/0/volume");
    assert!(volume.contains("iops=200") && volume.contains("latency=200ms"), "{volume}");
    assert_eq!(last.text("server/faults"), "eio=0.5");
}

#[test]
fn controllers_that_never_read_or_never_end_a_line_keep_no_client_waiting() {
    let place = Place::new();
    let server = serve(&place, "custom,size=1MiB,iops=100000");
    let deaf = UnixStream::connect(place.path("c")).expect("a server");
    deaf.set_nonblocking(true).expect("a socket");
    // Until neither its commands nor the answers to them find room.
    let mut sent = 0;
    let mut full = Instant::now();
    while full.elapsed() < Duration::from_millis(500) && sent < 64 << 20 {
        match (&deaf).write(&b"show\n".repeat(1000)) {
            Ok(bytes) => (sent, full) = (sent + bytes, Instant::now()),
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
    assert!(sent < 64 << 20, "answers that are not read take memory without end");
    let mut silent = Controller::connect(&place.path("c"));
    silent.0.get_mut().write_all(&[b'x'; 20_000]).expect("to be heard");
    assert!(silent.answer().text("errors/0/message").contains("more than 16384 bytes"));
    assert_eq!(silent.0.read(&mut [0]).expect("an end"), 0);
    let mut bytes = Controller::connect(&place.path("c"));
    bytes.0.get_mut().write_all(b"faults \xff\n").expect("to be heard");
    assert_eq!(bytes.answer().whole("errors/0/column"), 8);
    let mut half = Controller::connect(&place.path("c"));
    half.0.get_mut().write_all(b"fau").expect("to be heard");
    let mut client = Client::connect(&place.path("s"), "");
    client.write(0, &[1; 512]);
    assert_eq!(client.read(0, 512), [1; 512]);
    assert_eq!(injected(&place, "eio"), 0);
    drop(client);
    stopped(server).expect_code(0);
}

#[test]
fn too_many_controllers_are_sent_away_with_a_reason() {
    let place = Place::new();
    let _server = serve(&place, "custom,size=1MiB");
    let mut known: Vec<Controller> = (0..32).map(|_| Controller::connect(&place.path("c"))).collect();
    assert!(known.iter_mut().all(|controller| controller.ask("show").text("server/faults") == "none"));
    let said = control(&place, "show").expect_code(3).stderr;
    assert!(said.contains("32 controllers are connected already"), "{said}");
    drop(known);
    super::place::wait_for("room", || control(&place, "show").code() == Some(0));
}
