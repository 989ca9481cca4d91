//! Connections of the engines of networks.

use engine::{NetworkRole, NetworkSetup, Transport};
use job::{Engine, Job, NetworkProtocol, Plan};
use runner::WorkerPlan;

/// Returns the connection of a worker; none for an engine of storage.
pub(crate) fn network(worker_plan: &WorkerPlan, job: &Job) -> Option<NetworkSetup> {
    let options = &job.engine.network;
    job.engine.engine.is_of_network().then(|| NetworkSetup {
        transport: match options.protocol {
            NetworkProtocol::Tcp => Transport::Tcp { v6: false },
            NetworkProtocol::TcpV6 => Transport::Tcp { v6: true },
            NetworkProtocol::Udp => Transport::Udp { v6: false },
            NetworkProtocol::UdpV6 => Transport::Udp { v6: true },
            NetworkProtocol::Unix => Transport::Unix,
            NetworkProtocol::Vsock => Transport::Vsock,
        },
        role: if options.waits(job.pattern.direction) { NetworkRole::Wait } else { NetworkRole::Connect },
        host: options.hostname.clone().unwrap_or_default(),
        port: options.port.unwrap_or(0).wrapping_add(worker_plan.clone as u16),
        nodelay: options.nodelay,
        answers: options.pingpong,
        splices: job.engine.engine == Engine::Netsplice,
        interface: options.interface.clone(),
        ttl: options.ttl,
        window_bytes: options.window_bytes,
        segment_bytes: options.segment_bytes,
        numbers: job.verify.method.is_none(),
    })
}

/// Returns the jobs that listen on all addresses of the host, a line each.
pub fn listeners(plan: &Plan, workers: &[WorkerPlan]) -> impl Iterator<Item = String> {
    workers.chunk_by(|a, b| a.job == b.job).filter_map(|clones| {
        let job = &plan.jobs[clones[0].job];
        let network = network(&clones[0], job).filter(NetworkSetup::listens_on_all_addresses)?;
        let port = network.port;
        Some(format!("job {} listens on all addresses of this host, at port {port}: any host may connect", job.name))
    })
}
