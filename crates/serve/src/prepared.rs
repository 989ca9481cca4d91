use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

use engine::block::DeviceDraft;
use engine::gate::WriteGate;
use nbd::server::{RoundTripDeduction, Server, ServerConfig, Snapshot, Stopper, measure_round_trip};
use nbd::store::faults::FaultRates;
use nbd::wire::handshake::HandshakeSettings;
use results::serve::{ServerAddress, ServerHints};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use units::{Nanos, Problem, ProblemCode};
use volume::System;

use crate::addresses::{BoundAddress, ListenAddress, RuntimeDirectory, ServiceSocket};
use crate::child::{self, ServerSockets};
use crate::control::{CommandExecutor, serve_commands};
use crate::opening::Opening;
use crate::question::ServeQuestion;
use crate::request::{HostFiles, ServeRequest};
use crate::stats::ExportFacts;
use crate::stats_socket::serve_statistics;
use crate::stores::StoreMode;
use crate::view::RecentView;
use crate::{devices, offers};
use engine::cleanup::{self, CleanUp};
use live::endpoint;

/// A server with its stores and listening sockets, before it runs.
pub struct PreparedServer {
    server: Server,
    statistics: ServiceSocket,
    control: Option<ServiceSocket>,
    /// Removes socket files if the process ends without closing them.
    sockets: CleanUp,
    facts: Vec<ExportFacts>,
    addresses: Vec<BoundAddress>,
    metrics: Option<TcpListener>,
    seed: u64,
    drafts: Vec<DeviceDraft>,
}

impl PreparedServer {
    /// Opens the stores, then all listening sockets.
    ///
    /// # Errors
    /// The system's refusal, with its subject and the remedy.
    pub fn set(
        options: &ServeRequest,
        question: &ServeQuestion,
        gate: &WriteGate,
        directory: &RuntimeDirectory,
    ) -> Result<Self, Problem> {
        let mode = StoreMode::new(options, question);
        let stores = (0..).zip(&question.requested).map(|(number, requested)| mode.open(requested, number, gate));
        let stores = stores.collect::<Result<Vec<_>, _>>()?;
        let (exports, attachments) = offers::offers(&question.requested, &stores, options.read_only);
        let clients_most = clients_most();
        let encrypts = question.identity.is_some();
        // A client that sees an address can also control the server.
        let control = options.control.as_deref().map(|path| ServiceSocket::listen("--control", path)).transpose()?;
        let opened: Vec<_> = question
            .addresses
            .iter()
            .map(|requested| BoundAddress::listen(requested, encrypts, directory))
            .collect::<Result<_, _>>()?;
        let (listeners, addresses): (Vec<_>, Vec<_>) = opened.into_iter().unzip();
        let statistics = ServiceSocket::listen("--socket", &addresses[0].statistics(directory)?)?;
        let sockets = remove_at_exit(&addresses, statistics.path(), control.as_ref().map(ServiceSocket::path));
        let metrics = match &question.metrics {
            Some(ListenAddress::Tcp(address)) => Some(endpoint::listen(*address)?),
            _ => None,
        };
        let faulty = control.is_some() || question.faults != FaultRates::default();
        let facts = offers::facts(&question.requested, &exports, &addresses, faulty);
        let (drafts, mounts) = if options.device { devices::prepare(&facts, directory)? } else { Default::default() };
        let faults = faulty.then_some((question.faults, question.seed));
        let config = ServerConfig {
            exports,
            stores,
            system: System::new(&attachments, question.seed),
            listeners,
            mounts,
            connected: Vec::new(),
            faults,
            settings: HandshakeSettings::default(),
            identity: question.identity.clone(),
            round_trip: round_trip(question.round_trip, !attachments.is_empty()),
            spin: options.spin,
            clients_most,
            memory_bytes: mode.client_bytes(),
        };
        let server = match Server::new(config) {
            Ok(server) => server,
            Err(error) => {
                drafts.into_iter().for_each(DeviceDraft::abandon);
                return Err(engine::io_problem(ProblemCode::Host, "cannot serve", &error));
            }
        };
        Ok(Self { server, statistics, control, sockets, facts, addresses, metrics, seed: question.seed, drafts })
    }

    /// Returns a view of the server for observers.
    pub fn view(&self) -> RecentView {
        RecentView::new(self.facts.clone(), self.seed, self.server.shown())
    }

    /// Starts to serve statistics and metrics.
    ///
    /// # Errors
    /// When the kernel refuses a thread.
    pub fn tell_others(&self, view: &RecentView) -> std::io::Result<()> {
        serve_statistics(&self.statistics, view.clone())?;
        match self.metrics.as_ref().map(TcpListener::try_clone) {
            Some(listener) => {
                let view = view.clone();
                endpoint::answer(listener?, move || view.served().open_metrics())
            }
            None => Ok(()),
        }
    }

    /// Starts to serve commands, if the server has a control socket.
    ///
    /// # Errors
    /// When the kernel refuses a thread.
    pub fn be_controlled(&self, question: &ServeQuestion, view: &RecentView, files: &HostFiles) -> std::io::Result<()> {
        let Some(control) = &self.control else { return Ok(()) };
        serve_commands(
            control,
            CommandExecutor::new(question, self.server.controller(), view.clone(), files.read_volume),
        )
    }

    /// Returns how many connections the memory limit allows.
    #[must_use]
    pub fn connections_most(&self) -> u64 {
        self.server.connections_most()
    }

    /// Returns a handle to stop the server from another thread.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        self.server.stopper()
    }

    /// Serves until the server is stopped. Returns the final snapshot.
    ///
    /// # Errors
    /// When the kernel refuses an essential resource.
    pub fn run(self) -> std::io::Result<Snapshot> {
        let Self { server, control, statistics, sockets, .. } = self;
        let done = server.run();
        // Dropping the sockets removes their files.
        drop((control, statistics));
        sockets.disarm();
        done
    }

    /// Returns the startup steps that need the running server.
    pub fn opening(&mut self, command: Option<String>) -> Opening {
        let metrics = self.metrics.as_ref().and_then(|listener| listener.local_addr().ok());
        let sockets = ServerSockets {
            statistics: self.statistics.path(),
            control: self.control.as_ref().map(ServiceSocket::path),
        };
        Opening {
            drafts: std::mem::take(&mut self.drafts),
            command,
            hints: self.hints(&sockets, metrics),
            variables: child::variables(&self.facts, &self.addresses, &sockets),
        }
    }

    /// Returns a description of the exports with commands to use them.
    fn hints(&self, sockets: &ServerSockets<'_>, metrics: Option<SocketAddr>) -> ServerHints {
        let address = self.addresses.first().map(|bound| match bound {
            BoundAddress::Unix(path) => ServerAddress::Unix(path.display().to_string()),
            BoundAddress::Tcp { address, tls } => {
                ServerAddress::Tcp { host: address.ip().to_string(), port: address.port(), is_encrypted: *tls }
            }
        });
        ServerHints {
            exports: self.facts.iter().map(|facts| facts.stats.clone()).collect(),
            address,
            statistics: sockets.statistics.display().to_string(),
            control: sockets.control.map(|path| path.display().to_string()),
            metrics: metrics.map(|address| address.to_string()),
            seed: self.seed,
        }
    }
}

fn remove_at_exit(addresses: &[BoundAddress], statistics: &Path, control: Option<&Path>) -> CleanUp {
    let socket = |bound: &BoundAddress| if let BoundAddress::Unix(path) = bound { Some(path.clone()) } else { None };
    let paths: Vec<PathBuf> = addresses.iter().filter_map(socket).collect();
    let beside = [Some(statistics), control].into_iter().flatten().map(Path::to_owned);
    let paths: Vec<PathBuf> = paths.into_iter().chain(beside).collect();
    cleanup::on_exit(move || {
        for path in paths {
            let _ = std::fs::remove_file(path);
        }
    })
}

/// Returns the round trip to subtract; zero without a model.
fn round_trip(given: Option<Nanos>, modelled: bool) -> RoundTripDeduction {
    match given {
        Some(time) => RoundTripDeduction::Fixed(time),
        None if modelled => RoundTripDeduction::Learnt(measure_round_trip().unwrap_or_default()),
        None => RoundTripDeduction::Fixed(Nanos::ZERO),
    }
}

/// Descriptors reserved for other purposes than clients.
const RESERVED: u64 = 64;
/// Upper limit of clients; more are a mistake.
const MAX_CLIENTS: u64 = 65_536;

/// Returns the maximum number of clients. Raises the limit of descriptors as far as permitted.
fn clients_most() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let enough = MAX_CLIENTS + RESERVED;
    let current = limit.current.unwrap_or(u64::MAX);
    let requested = limit.maximum.unwrap_or(u64::MAX).min(enough).max(current);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(requested), ..limit }).is_ok();
    let files = if raised { requested } else { current };
    files.saturating_sub(RESERVED).clamp(1, MAX_CLIENTS) as usize
}
