//! Jobs whose peer never comes, or comes and never answers, end with their runtime.

use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use device::DeviceRunner;
use engine::gate::Permissions;
use job::{Dialect, EmptySource, InjectedOptions, Plan};
use runner::{CompletedRun, NullObserver, RunControl, RunOptions, Runner, Seeds};

use crate::layout::NoLogs;

/// Runs a job as fio, in two engines, and returns its error; empty if it has none. `signal` ends it, unless it is 0.
fn errors(options: &str, runtime: &str, signal: i32) -> [String; 2] {
    ["net", "netsplice"].map(|engine| {
        let line = format!("--name=a --ioengine={engine} --bs=4k --size=1m {runtime} {options}");
        let (sender, ended) = channel();
        std::thread::spawn(move || drop(sender.send(run(&line, signal))));
        let run = ended.recv_timeout(Duration::from_secs(120)).expect("the job ends");
        run.workers[0].error.as_ref().map_or(String::new(), |error| error.problem.to_string())
    })
}

fn plan(line: &str, dialect: Dialect) -> Plan {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    job::parse_job_arguments(&words, &[], &InjectedOptions::default(), dialect, &EmptySource).into_result().unwrap().0
}

fn run(line: &str, signal: i32) -> CompletedRun {
    let plan = plan(line, Dialect::Fio);
    let runner = DeviceRunner::as_fio(None, false, Arc::new(NoLogs));
    let prepared = runner.prepare(&plan, Seeds::fixed(1)).unwrap();
    assert_eq!(prepared.refusals(), &[], "{line}");
    let control = Signalled { asked: AtomicUsize::new(0), signal };
    prepared.run(&RunOptions::default(), &control, &mut NullObserver).unwrap()
}

/// A control whose signal arrives once the workers have begun to wait.
struct Signalled {
    asked: AtomicUsize,
    signal: i32,
}

impl RunControl for Signalled {
    fn end(&self) -> Option<i32> {
        // The supervisor asks before it has started a worker, then every 50 ms.
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        (self.signal != 0 && asked > 4).then_some(self.signal)
    }

    fn grace(&self) -> Duration {
        Duration::from_secs(60)
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}

const RUNTIME: &str = "--runtime=200ms --time_based";

/// Returns a port that is free now.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn has_ipv6() -> bool {
    TcpListener::bind("[::1]:0").is_ok()
}

/// Jobs that wait for a peer, with what their errors name.
fn waiting(directory: &Path) -> Vec<(String, String)> {
    let protocols = ["tcp --listen", "udp"]
        .into_iter()
        .chain(has_ipv6().then_some(["tcpv6 --listen", "udpv6"]).into_iter().flatten());
    let of_ports = protocols.map(|protocol| {
        let port = free_port();
        (format!("--protocol={protocol} --port={port} --rw=read"), format!("port {port}"))
    });
    let path = directory.join("waiting").display().to_string();
    of_ports.chain([(format!("--protocol=unix --hostname={path} --rw=read"), path)]).collect()
}

/// `runtime` did not end a wait for a peer.
#[test]
fn a_job_waited_for_ever_for_a_peer_that_does_not_come() {
    let directory = tempfile::tempdir().unwrap();
    for (options, place) in waiting(directory.path()) {
        for error in errors(&options, RUNTIME, 0) {
            // The time from the start of the runtime to the wait is the host's.
            assert!(
                error.starts_with(&format!("cannot wait for a peer at {place}: none connected within ")),
                "{options}: {error}"
            );
            assert!(error.contains(", the job's runtime; "), "{options}: {error}");
        }
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "the socket is removed");
}

#[test]
fn a_signal_ends_a_wait_for_a_peer() {
    let directory = tempfile::tempdir().unwrap();
    for (options, _) in waiting(directory.path()) {
        assert_eq!(errors(&options, "", 15), [""; 2], "{options}");
    }
}

/// A sender tried for ten seconds, whatever its runtime.
#[test]
fn a_sender_outlasted_its_runtime_without_a_receiver() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("socket").display().to_string();
    let port = free_port();
    let mut senders = vec![
        (format!("--protocol=tcp --hostname=127.0.0.1 --port={port}"), format!("127.0.0.1, port {port}")),
        (format!("--protocol=udp --hostname=127.0.0.1 --port={port}"), format!("127.0.0.1, port {port}")),
        (format!("--protocol=unix --hostname={path}"), path),
    ];
    if has_ipv6() {
        senders.push((format!("--protocol=tcpv6 --hostname=::1 --port={port}"), format!("::1, port {port}")));
    }
    for (options, place) in senders {
        for error in errors(&format!("{options} --rw=write"), RUNTIME, 0) {
            assert!(error.starts_with(&format!("cannot connect to {place}: ")), "{options}: {error}");
            assert!(error.ends_with("; start the listening job first"), "{error}");
        }
    }
}

/// The call that connects returned only when the kernel gave up, after minutes or never.
#[test]
fn a_full_listener_held_up_a_sender_beyond_its_runtime() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("socket");
    let (listener, ip_listener) = (UnixListener::bind(&path).unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    for fd in [&listener as &dyn std::os::fd::AsFd, &ip_listener] {
        rustix::net::listen(fd, 0).unwrap();
    }
    let address = ip_listener.local_addr().unwrap();
    // One connection more than the backlog has places.
    let _held = std::os::unix::net::UnixStream::connect(&path).unwrap();
    let _ip_held = std::net::TcpStream::connect(address).unwrap();
    for options in [
        format!("--protocol=unix --hostname={}", path.display()),
        format!("--protocol=tcp --hostname=127.0.0.1 --port={}", address.port()),
    ] {
        for error in errors(&format!("{options} --rw=write"), RUNTIME, 0) {
            assert!(error.starts_with("cannot connect to "), "{options}: {error}");
            assert!(error.contains("; check that the listening job is running"), "{error}");
        }
        assert_eq!(errors(&format!("{options} --rw=write"), "", 15), [""; 2], "{options}");
    }
}

#[test]
fn a_job_ends_with_its_runtime_although_its_peer_is_silent() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("socket");
    let (listener, ip_listener) = (UnixListener::bind(&path).unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let port = ip_listener.local_addr().unwrap().port();
    let unix = format!("--protocol=unix --hostname={}", path.display());
    let tcp = format!("--protocol=tcp --hostname=127.0.0.1 --port={port}");
    for options in [
        &format!("{unix} --rw=write"),
        &format!("{tcp} --rw=read"),
        &format!("{tcp} --rw=write"),
        &format!("{tcp} --rw=rw"),
        &format!("{tcp} --rw=write --pingpong"),
    ] {
        assert_eq!(errors(options, RUNTIME, 0), [""; 2], "{options}");
        assert_eq!(errors(options, "--loops=1000000", 15), [""; 2], "{options}");
    }
    drop((listener, ip_listener));
}

#[test]
fn any_host_could_connect_to_a_job_that_listens() {
    let refusals = |options: &str, any_peer: bool| {
        let plan = plan(&format!("--name=a --ioengine=net --rw=read --port=9 --size=1m {options}"), Dialect::Strict);
        let gate = device::safety::gate(Permissions { any_peer, ..Permissions::default() }, None);
        let runner = DeviceRunner::strict(gate, Arc::new(NoLogs));
        runner.prepare(&plan, Seeds::fixed(1)).unwrap().refusals().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let open = [
        "--listen --numjobs=3",
        "--listen --hostname=0.0.0.0",
        "--listen --hostname=0",
        "--listen --protocol=tcpv6 --hostname=::",
        "--listen --protocol=tcpv6 --hostname=::ffff:0.0.0.0",
        "--protocol=udp",
        "--protocol=udpv6",
    ];
    for options in open {
        let [refusal] = &refusals(options, false)[..] else { panic!("{options}") };
        assert!(refusal.starts_with("job a listens on all addresses of this host, port 9: "), "{refusal}");
        assert!(refusal.ends_with("or add --insecure to permit it"), "{refusal}");
        assert_eq!(refusals(options, true), [""; 0], "{options}");
    }
    let named = [
        "--listen --hostname=127.0.0.1",
        "--listen --protocol=tcpv6 --hostname=::1",
        "--protocol=udp --hostname=localhost",
        "--protocol=udp --hostname=239.7.7.7",
        "--listen --protocol=vsock",
        "--rw=write --hostname=0.0.0.0",
    ];
    for options in named {
        assert_eq!(refusals(options, false), [""; 0], "{options}");
    }
}
