//! Metrics over HTTP for Prometheus and compatible collectors. Each connection carries one request and one response,
//! and no client can delay the run.

use std::collections::VecDeque;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use units::{Problem, ProblemCode};

/// Parses a TCP address with a port. An address that other hosts can reach is
/// an error unless `safe`; `remedy` then says how to permit it.
pub fn address(text: &str, example: u16, safe: bool, remedy: &str) -> std::result::Result<SocketAddr, Problem> {
    let local = text.strip_prefix("localhost:").and_then(|port| port.parse().ok());
    let local = local.map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    let Some(address) = local.or_else(|| text.parse().ok()) else {
        let remedy = format!("write, for example, 127.0.0.1:{example} or [::1]:{example}");
        return Err(
            Problem::error(ProblemCode::Address, format!("`{text}` is not an address with a port")).help(remedy)
        );
    };
    if !is_local(address) && !safe {
        let remedy = format!("use 127.0.0.1:{}, {remedy}", address.port());
        let what = format!("other hosts can reach {address}, and the connection is not encrypted");
        return Err(Problem::error(ProblemCode::Address, what).help(remedy));
    }
    Ok(address)
}

/// Reports whether only this host can reach an address.
pub fn is_local(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

/// Describes why listening at an address failed.
pub fn refused(option: &str, address: SocketAddr, error: &Error) -> Problem {
    let remedy = match error.kind() {
        ErrorKind::AddrInUse => "choose another port (0 for any free one): this one is in use",
        ErrorKind::AddrNotAvailable => "choose an address of this host (see `ip address`)",
        ErrorKind::PermissionDenied => "choose another port: ports below 1024 need root",
        _ => "choose another address",
    };
    Problem::error(ProblemCode::Connection, format!("{option} {address}: {error}")).help(remedy)
}

/// Listens for metrics clients.
///
/// # Errors
/// The system's error, with the address and the remedy.
pub fn listen(address: SocketAddr) -> std::result::Result<TcpListener, Problem> {
    TcpListener::bind(address).map_err(|error| refused("--metrics", address, &error))
}

/// Pause after a failed `accept`.
const ACCEPT_RETRY: Duration = Duration::from_millis(500);

/// Handles clients one after another, and pauses after a failed `accept`, as when no descriptor is left.
pub fn each<T>(incoming: impl Iterator<Item = Result<T>>, mut handle: impl FnMut(T)) {
    for client in incoming {
        match client {
            Ok(client) => handle(client),
            Err(_) => std::thread::sleep(ACCEPT_RETRY),
        }
    }
}

/// Timeout of a client's request and of its response.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum length of a request.
const REQUEST_BYTES_MAX: usize = 8 << 10;
/// Clients served at a time. One more disconnects the oldest, so silent clients delay no other client and thousands of
/// them cost no more than these.
const CLIENTS_MAX: usize = 32;
/// Stack of a thread that writes a response.
const STACK_BYTES: usize = 256 << 10;

/// Answers each request for `/metrics` with the text of `exposition`, until the program ends.
///
/// # Errors
/// If the kernel creates no thread.
pub fn answer(listener: TcpListener, exposition: impl Fn() -> String + Send + Sync + 'static) -> Result<()> {
    let server = Arc::new(MetricsServer { exposition, clients: Mutex::default() });
    thread().spawn(move || each(listener.incoming(), |client| server.serve(client))).map(drop)
}

fn thread() -> std::thread::Builder {
    std::thread::Builder::new().name("metrics".into()).stack_size(STACK_BYTES)
}

/// Serves clients of the metrics endpoint.
struct MetricsServer<F> {
    exposition: F,
    /// Connected clients, the oldest first.
    clients: Mutex<VecDeque<Arc<TcpStream>>>,
}

impl<F: Fn() -> String + Send + Sync + 'static> MetricsServer<F> {
    /// Answers one client on a thread of its own. Disconnects it if the thread cannot be created.
    fn serve(self: &Arc<Self>, client: TcpStream) {
        let (server, client) = (Arc::clone(self), Arc::new(client));
        self.add(&client);
        let served = Arc::clone(&client);
        let thread = thread().spawn(move || {
            // A client that disconnects or sends no request is no error.
            let _ = respond(&served, &server.exposition);
            server.remove(&served);
        });
        if thread.is_err() {
            self.remove(&client);
        }
    }

    fn add(&self, client: &Arc<TcpStream>) {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        clients.push_back(Arc::clone(client));
        if clients.len() > CLIENTS_MAX
            && let Some(oldest) = clients.pop_front()
        {
            let _ = oldest.shutdown(Shutdown::Both);
        }
    }

    fn remove(&self, client: &Arc<TcpStream>) {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        clients.retain(|known| !Arc::ptr_eq(known, client));
    }
}

fn respond(mut client: &TcpStream, exposition: &impl Fn() -> String) -> Result<()> {
    client.set_write_timeout(Some(CLIENT_TIMEOUT))?;
    let request = read_request(client)?;
    let mut words = request.split_whitespace();
    let path = |target: &str| target.split('?').next().unwrap_or_default().to_owned();
    let (status, kind, body) = match (words.next(), words.next().map(path).as_deref()) {
        (Some("GET"), Some("/metrics")) => {
            ("200 OK", "application/openmetrics-text; version=1.0.0; charset=utf-8", exposition())
        }
        (Some("GET"), _) => ("404 Not Found", "text/plain; charset=utf-8", "not found; see /metrics\n".to_owned()),
        _ => ("405 Method Not Allowed", "text/plain; charset=utf-8", "only GET is supported\n".to_owned()),
    };
    let length = body.len();
    write!(
        client,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

/// Reads the head of a request.
fn read_request(mut client: &TcpStream) -> Result<String> {
    let (mut head, mut buffer, began) = (Vec::new(), [0; 1024], Instant::now());
    let complete = |head: &[u8]| head.windows(4).any(|four| four == b"\r\n\r\n") || head.len() > REQUEST_BYTES_MAX;
    while !complete(&head) {
        let left = CLIENT_TIMEOUT.saturating_sub(began.elapsed());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        client.set_read_timeout(Some(left))?;
        match client.read(&mut buffer)? {
            0 => break,
            read => head.extend_from_slice(&buffer[..read]),
        }
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepting_pauses_after_a_failure() {
        let refused = || Error::from_raw_os_error(24);
        let (mut seen, mut seen_at) = (Vec::new(), Vec::new());
        each([Ok(1), Err(refused()), Ok(2)].into_iter(), |client| {
            seen.push(client);
            seen_at.push(Instant::now());
        });
        assert_eq!(seen, [1, 2]);
        assert!(seen_at[1] - seen_at[0] >= ACCEPT_RETRY, "{seen_at:?}");
    }

    /// Returns the response to a request: nothing if this client was so slow that it was disconnected.
    fn request(address: SocketAddr, request: &str) -> String {
        let mut client = TcpStream::connect(address).unwrap();
        let mut response = String::new();
        let _ = client.write_all(request.as_bytes()).and_then(|()| client.read_to_string(&mut response));
        response
    }

    #[test]
    fn silent_clients_do_not_delay_others() {
        let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let at = listener.local_addr().unwrap();
        answer(listener, || "figures\n# EOF\n".to_owned()).unwrap();
        // Who waits for a silent client waits for all of its time, in every attempt. A busy host may spoil some.
        let is_prompt = |_| {
            let began = Instant::now();
            let silent: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(at).unwrap()).collect();
            let figures = request(at, "GET /metrics HTTP/1.1\r\n\r\n");
            let took = began.elapsed();
            drop(silent);
            let began = Instant::now();
            let others = ["GET /metrics?x=1 HTTP/1.1\r\nHost: x\r\n\r\n", "GET /\r\n\r\n", "\0\u{1}\r\n\r\n"]
                .map(|other| request(at, other));
            println!("{took:?} {figures:?}, {:?} {others:?}", began.elapsed());
            let starts = ["HTTP/1.1 200 OK", "HTTP/1.1 404 ", "HTTP/1.1 405 "];
            took.max(began.elapsed()) < CLIENT_TIMEOUT
                && figures.ends_with("\r\n\r\nfigures\n# EOF\n")
                && others.iter().zip(starts).all(|(other, start)| other.starts_with(start))
        };
        assert!((0..10).any(is_prompt));
    }

    #[test]
    fn addresses_that_other_hosts_can_reach_need_consent() {
        let refused = |text| address(text, 9100, false, "or add --insecure to permit it").unwrap_err().help.unwrap();
        assert_eq!(refused("10.0.0.1:80"), "use 127.0.0.1:80, or add --insecure to permit it");
        assert!(refused("nowhere").contains("127.0.0.1:9100"));
        assert!(address("[::]:1", 9100, true, "").is_ok() && address("localhost:0", 9100, false, "").is_ok());
    }
}
