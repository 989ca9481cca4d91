//! Checks of jobs that use a network connection. fio refuses the same combinations when the job starts.

use std::net::IpAddr;
use units::{Problem, ProblemCode};

use crate::Dialect;
use crate::model::{Direction, Job, NetworkProtocol};
use crate::strict::StrictContext;

/// Completes the options of a connection: a Unix socket is also named by `filename`.
pub(crate) fn complete(job: &mut Job) {
    let engine = &mut job.engine;
    if !engine.kind.is_of_network() {
        return;
    }
    let network = &mut engine.network;
    if network.protocol == NetworkProtocol::Unix && network.hostname.is_none() {
        network.hostname = job.files.filenames.first().cloned();
    }
    // As in fio, rates of connections are in bits unless another unit is given.
    if job.stats.unit_base == 0 {
        job.stats.unit_base = 1;
    }
    // What is sent cannot be read back: the receiver verifies it.
    if !job.pattern.direction.reads() {
        job.verify.do_verify = false;
        job.verify.backlog = None;
    }
}

/// Returns what makes the connection of a job impossible.
pub(crate) fn check(job: &Job, context: &StrictContext<'_>) -> Option<Problem> {
    if !job.engine.kind.is_of_network() {
        return None;
    }
    let direction = job.pattern.direction;
    let problem = |name: &str, message: &str, help: &str| {
        Some(context.error(ProblemCode::Network, name, message).note("fio refuses the job").help(help))
    };
    if job.pattern.random {
        return problem("rw", "a connection does not support random offsets", "write `rw=read` or `rw=write`");
    }
    if direction.trims() {
        return problem("rw", "a connection cannot be trimmed", "write `rw=read` or `rw=write`");
    }
    let network = &job.engine.network;
    let both = direction == Direction::ReadWrite;
    match network.protocol {
        NetworkProtocol::Udp | NetworkProtocol::UdpV6 if both => {
            return problem("rw", "a job sends datagrams or receives them, not both", "write `rw=read` or `rw=write`");
        }
        NetworkProtocol::Udp | NetworkProtocol::UdpV6 | NetworkProtocol::Unix if network.listen => {
            return problem("listen", "`listen` applies to TCP and vsock only", "omit it: the reading job listens");
        }
        NetworkProtocol::Unix if network.port.is_some() => {
            return problem("port", "a Unix socket has no port", "leave `port` out, and write `hostname=PATH`");
        }
        NetworkProtocol::Unix => {}
        _ if network.port.is_none() => {
            return problem(
                "ioengine",
                "a connection needs a port",
                "write `port=N`, with the same number for both jobs",
            );
        }
        _ => {}
    }
    if network.protocol == NetworkProtocol::Vsock
        && let Some(host) = network.hostname.as_ref().filter(|host| host.parse::<u32>().is_err())
    {
        let message = format!("`{host}` is not a context ID (CID), which is a number");
        return problem(
            "hostname",
            &message,
            "write `hostname=1` for this machine, `hostname=2` for the host of a guest",
        );
    }
    let is_group = |host: &String| host.parse().is_ok_and(|address: IpAddr| address.is_multicast());
    let is_named = match network.protocol {
        NetworkProtocol::Unix => true,
        NetworkProtocol::Vsock => false,
        // fio listens on all addresses.
        _ => context.dialect == Dialect::Strict,
    };
    match &network.hostname {
        Some(host) if waits(job) && !is_named && !is_group(host) => problem(
            "hostname",
            "a listening job accepts any host, but `hostname` names one",
            "leave `hostname` out, unless it names a multicast group",
        ),
        None if network.protocol == NetworkProtocol::Unix => {
            problem("ioengine", "a Unix socket needs a path", "write `hostname=PATH`, with the same path for both jobs")
        }
        None if !waits(job) => {
            problem("ioengine", "no host to connect to", "write `hostname=HOST`, or `listen` in one of the two jobs")
        }
        _ => None,
    }
}

/// Reports whether a job waits for its peer instead of connecting to it.
fn waits(job: &Job) -> bool {
    job.engine.network.waits(job.pattern.direction == Direction::Read)
}
