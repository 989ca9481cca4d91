//! Connections of the engines of networks.

use engine::{NetworkRole, NetworkSetup, Transport};
use job::{Engine, Job, NetworkProtocol};
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
