//! A server in its own thread.

use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nbd::server::{Controller, Listener, Offer, RoundTripDeduction, Server, ServerConfig, Snapshot, Stopper};
use nbd::store::{MemoryStore, Store};
use nbd::wire::handshake::HandshakeSettings;
use nbd::wire::{Export, ExportBlockSizes, TransmissionFlags};
use rustix::time::{ClockId, clock_gettime};
use units::Nanos;
use volume::{Attachment, System};

use crate::client::Client;
use crate::host::Miss;

pub(crate) const SIZE: u64 = 64 << 20;

/// A server that stops at the end of the test.
pub(crate) struct Hosted {
    directory: tempfile::TempDir,
    stopper: Stopper,
    controller: Controller,
    shown: std::sync::Arc<std::sync::Mutex<Snapshot>>,
    thread: Option<JoinHandle<(Snapshot, Duration)>>,
}

impl Hosted {
    /// Serves memory as the export `disk`, optionally with a modelled volume.
    pub(crate) fn new(on: Option<&str>) -> Self {
        Self::with(on, |_| {})
    }

    /// Serves with a changed configuration.
    pub(crate) fn with(on: Option<&str>, change: impl FnOnce(&mut ServerConfig) + Send + 'static) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let (send, receive) = std::sync::mpsc::channel();
        let (path, on) = (directory.path().join("socket"), on.map(str::to_owned));
        let thread = std::thread::spawn(move || {
            let mut config = config(&path, on.as_deref());
            change(&mut config);
            let server = Server::new(config).expect("a server");
            send.send((server.stopper(), server.controller(), server.shown())).expect("a receiver");
            let (began, done) = (cpu_time(), server.run().expect("a clean stop"));
            (done, cpu_time() - began)
        });
        let (stopper, controller, shown) = receive.recv().expect("a server");
        Self { directory, stopper, controller, shown, thread: Some(thread) }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.directory.path().join("socket")
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.socket(), "disk")
    }

    pub(crate) fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    pub(crate) fn controller(&self) -> Controller {
        self.controller.clone()
    }

    /// Locks the snapshot for so long that the server cannot publish meanwhile.
    pub(crate) fn hold_shown(&self, time: Duration) {
        let shown = self.shown.lock().expect("a snapshot");
        std::thread::sleep(time);
        drop(shown);
    }

    /// Waits until the snapshot satisfies `wanted`.
    pub(crate) fn until(&self, wanted: impl Fn(&Snapshot) -> bool) {
        let began = Instant::now();
        let fits = |shown: &Snapshot| !shown.exports.is_empty() && wanted(shown);
        while !fits(&self.shown.lock().expect("a snapshot")) {
            assert!(began.elapsed() < Duration::from_secs(300), "no snapshot fits");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until this many requests are in flight. Reports a miss if they are not before `limit`, when the first may
    /// have ended.
    pub(crate) fn await_in_flight(&self, count: u64, limit: Duration) -> Result<(), Miss> {
        let began = Instant::now();
        while self.in_flight() != count {
            if began.elapsed() >= limit {
                return Err(Miss::Host(format!("{count} requests in flight were not seen within {limit:?}")));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Returns the number of requests in flight now.
    pub(crate) fn in_flight(&self) -> u64 {
        self.look().exports[0].1.in_flight
    }

    /// Waits until a snapshot of the moment, which the server may not have published yet, satisfies `wanted`.
    pub(crate) fn until_now(&self, wanted: impl Fn(&Snapshot) -> bool) {
        let began = Instant::now();
        while !wanted(&self.look()) {
            assert!(began.elapsed() < Duration::from_secs(300), "no snapshot fits");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn look(&self) -> Snapshot {
        self.controller.carry_out(None).expect("a server")
    }

    /// Stops the server and returns its final snapshot.
    pub(crate) fn end(self) -> Snapshot {
        self.end_timed().0
    }

    /// Stops the server and returns its final snapshot and the processor time of its thread.
    pub(crate) fn end_timed(mut self) -> (Snapshot, Duration) {
        self.stopper.stop();
        self.thread.take().expect("a thread").join().expect("no panic")
    }
}

impl Drop for Hosted {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "the server panicked");
        }
    }
}

/// Returns the processor time of this thread.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Returns a writable export.
pub(crate) fn export(name: &str, size: u64) -> Export {
    let flags = TransmissionFlags::HAS_FLAGS
        .with(TransmissionFlags::SEND_FLUSH)
        .with(TransmissionFlags::SEND_FUA)
        .with(TransmissionFlags::SEND_TRIM)
        .with(TransmissionFlags::SEND_WRITE_ZEROES);
    Export { name: name.to_owned(), description: String::new(), size, flags, block: ExportBlockSizes::DEFAULT }
}

/// Returns a volume for the export.
pub(crate) fn attachment(on: &str) -> Attachment {
    Attachment { spec: volume::catalogue::resolve(on).expect("a volume"), volume: "disk".to_owned() }
}

fn config(socket: &std::path::Path, on: Option<&str>) -> ServerConfig {
    let attachments: Vec<Attachment> = on.into_iter().map(attachment).collect();
    let stores: Vec<Box<dyn Store>> = vec![Box::new(MemoryStore::new(SIZE, SIZE))];
    ServerConfig {
        exports: vec![Offer { export: export("disk", SIZE), store: 0, route: on.map(|_| 0) }],
        stores,
        system: System::new(&attachments, 7),
        listeners: vec![Listener::unix(socket).expect("a socket")],
        mounts: Vec::new(),
        connected: Vec::new(),
        faults: None,
        settings: HandshakeSettings::default(),
        identity: None,
        round_trip: RoundTripDeduction::Fixed(Nanos::ZERO),
        spin: false,
        clients_most: 1000,
        memory_bytes: 16 << 30,
    }
}
