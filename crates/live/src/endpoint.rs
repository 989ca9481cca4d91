//! Figures over HTTP, for Prometheus and its kind: one question, one answer, and nothing that a client does or leaves undone
//! reaches those who measure.

use std::collections::VecDeque;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// An address of TCP with a port; what is wrong with it, and the remedy. Addresses that other hosts can reach have to be
/// `safe`; `remedy` says how they become so.
pub fn address(
    text: &str,
    example: u16,
    safe: bool,
    remedy: &str,
) -> std::result::Result<SocketAddr, (String, String)> {
    let local = text.strip_prefix("localhost:").and_then(|port| port.parse().ok());
    let local = local.map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    let Some(address) = local.or_else(|| text.parse().ok()) else {
        let remedy = format!("write, for example, 127.0.0.1:{example} or [::1]:{example}");
        return Err((format!("`{text}` is not an address with a port"), remedy));
    };
    if !is_local(address) && !safe {
        let remedy = format!("use 127.0.0.1:{}, {remedy}", address.port());
        return Err((format!("other hosts can reach {address}, and nothing is encrypted"), remedy));
    }
    Ok(address)
}

/// Whether only this host can reach an address.
pub fn is_local(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

/// Describes why listening at an address failed.
pub fn refused(option: &str, address: SocketAddr, error: &Error) -> String {
    let remedy = match error.kind() {
        ErrorKind::AddrInUse => "name another port (0 for any free one): another program listens there",
        ErrorKind::AddrNotAvailable => "see `ip address`: this host has no such address",
        ErrorKind::PermissionDenied => "name another port: those below 1024 are for root",
        _ => "name another address",
    };
    format!("{option} {address}: {error}\nhelp: {remedy}")
}

/// Listens for those who scrape.
///
/// # Errors
/// The system's refusal, with the address and the remedy.
pub fn listen(address: SocketAddr) -> std::result::Result<TcpListener, String> {
    TcpListener::bind(address).map_err(|error| refused("--metrics", address, &error))
}

/// Pause after a client could not be accepted.
const REST: Duration = Duration::from_millis(500);

/// Handles clients one after the other. Where the process has no descriptor left for a client, it waits before it tries again.
pub fn each<T>(incoming: impl Iterator<Item = Result<T>>, mut see_to: impl FnMut(T)) {
    for client in incoming {
        match client {
            Ok(client) => see_to(client),
            Err(_) => std::thread::sleep(REST),
        }
    }
}

/// Timeout of a client's request and of its response.
const PATIENCE: Duration = Duration::from_secs(2);
/// No question is longer.
const QUESTION_MOST: usize = 8 << 10;
/// Clients that are served at a time. One more disconnects the oldest: a silent client keeps no other waiting, and
/// thousands cost no more than these.
const AT_ONCE: usize = 32;
/// Enough for writing an answer.
const STACK_BYTES: usize = 256 << 10;

/// Answers every question for `/metrics` with what `exposition` makes, until the program ends.
///
/// # Errors
/// Where the kernel gives no thread.
pub fn answer(listener: TcpListener, exposition: impl Fn() -> String + Send + Sync + 'static) -> Result<()> {
    let queue = Arc::new(ScrapeQueue { exposition, clients: Mutex::default() });
    thread().spawn(move || each(listener.incoming(), |client| queue.see_to(client))).map(drop)
}

fn thread() -> std::thread::Builder {
    std::thread::Builder::new().name("metrics".into()).stack_size(STACK_BYTES)
}

/// Clients of the metrics endpoint.
struct ScrapeQueue<F> {
    exposition: F,
    /// Those who are seen to, the one that came first in front.
    clients: Mutex<VecDeque<Arc<TcpStream>>>,
}

impl<F: Fn() -> String + Send + Sync + 'static> ScrapeQueue<F> {
    /// Answers one client, on a thread of its own. Where there is none it is sent away.
    fn see_to(self: &Arc<Self>, client: TcpStream) {
        let (queue, client) = (Arc::clone(self), Arc::new(client));
        self.enter(&client);
        let seen_to = Arc::clone(&client);
        let thread = thread().spawn(move || {
            // Nothing is reported of a client that has gone, or never asked.
            let _ = reply(&seen_to, &queue.exposition);
            queue.leave(&seen_to);
        });
        if thread.is_err() {
            self.leave(&client);
        }
    }

    fn enter(&self, client: &Arc<TcpStream>) {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        clients.push_back(Arc::clone(client));
        if clients.len() > AT_ONCE
            && let Some(first) = clients.pop_front()
        {
            let _ = first.shutdown(Shutdown::Both);
        }
    }

    fn leave(&self, client: &Arc<TcpStream>) {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        clients.retain(|known| !Arc::ptr_eq(known, client));
    }
}

fn reply(mut client: &TcpStream, exposition: &impl Fn() -> String) -> Result<()> {
    client.set_write_timeout(Some(PATIENCE))?;
    let question = question(client)?;
    let mut words = question.split_whitespace();
    let path = |target: &str| target.split('?').next().unwrap_or_default().to_owned();
    let (status, kind, body) = match (words.next(), words.next().map(path).as_deref()) {
        (Some("GET"), Some("/metrics")) => {
            ("200 OK", "application/openmetrics-text; version=1.0.0; charset=utf-8", exposition())
        }
        (Some("GET"), _) => ("404 Not Found", "text/plain; charset=utf-8", "ask for /metrics\n".to_owned()),
        _ => ("405 Method Not Allowed", "text/plain; charset=utf-8", "only GET is answered\n".to_owned()),
    };
    let length = body.len();
    write!(
        client,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

/// The head of a question; what there is of it when the client's time is over.
fn question(mut client: &TcpStream) -> Result<String> {
    let (mut head, mut room, began) = (Vec::new(), [0; 1024], Instant::now());
    let whole = |head: &[u8]| head.windows(4).any(|four| four == b"\r\n\r\n") || head.len() > QUESTION_MOST;
    while !whole(&head) {
        let left = PATIENCE.saturating_sub(began.elapsed());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        client.set_read_timeout(Some(left))?;
        match client.read(&mut room)? {
            0 => break,
            read => head.extend_from_slice(&room[..read]),
        }
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_cannot_be_let_in_is_not_tried_again_at_once() {
        let refused = || Error::from_raw_os_error(24);
        let (began, mut seen) = (Instant::now(), Vec::new());
        each([Ok(1), Err(refused()), Ok(2)].into_iter(), |client| seen.push((client, began.elapsed() >= REST)));
        assert_eq!(seen, [(1, false), (2, true)]);
    }

    fn asked(at: SocketAddr, question: &str) -> String {
        let mut client = TcpStream::connect(at).unwrap();
        client.write_all(question.as_bytes()).unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn clients_that_say_nothing_keep_nobody_waiting() {
        let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let at = listener.local_addr().unwrap();
        answer(listener, || "figures\n# EOF\n".to_owned()).unwrap();
        let began = Instant::now();
        let silent: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(at).unwrap()).collect();
        assert!(asked(at, "GET /metrics HTTP/1.1\r\n\r\n").ends_with("\r\n\r\nfigures\n# EOF\n"));
        assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
        drop(silent);
        let began = Instant::now();
        assert!(asked(at, "GET /metrics?x=1 HTTP/1.1\r\nHost: x\r\n\r\n").starts_with("HTTP/1.1 200 OK"));
        assert!(asked(at, "GET /\r\n\r\n").starts_with("HTTP/1.1 404 "));
        assert!(asked(at, "\0\u{1}\r\n\r\n").starts_with("HTTP/1.1 405 "));
        assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    }

    #[test]
    fn addresses_of_other_hosts_need_a_word() {
        let refused = |text| address(text, 9100, false, "or add --insecure where that is wanted").unwrap_err();
        assert_eq!(refused("10.0.0.1:80").1, "use 127.0.0.1:80, or add --insecure where that is wanted");
        assert!(refused("nowhere").1.contains("127.0.0.1:9100"));
        assert!(address("[::]:1", 9100, true, "").is_ok() && address("localhost:0", 9100, false, "").is_ok());
    }
}
