//! Measures the round trip to a client.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use units::Nanos;

use super::poll::now;

const ROUNDS: usize = 101;
/// Sleep of both sides between two rounds, as between a request and its reply.
const PAUSE: Duration = Duration::from_millis(1);
const REQUEST_BYTES: usize = 28;
const REPLY_BYTES: usize = 4096;

/// Measures the usual time from a client's request to its reply if no work is done: the kernel wakes both sides and
/// copies the data. Takes slightly more than a tenth of a second.
///
/// The result is the median of 101 rounds between two threads of this process over a pair of unix sockets. Over TCP,
/// the round trip within a host takes some microseconds longer.
///
/// # Errors
/// When the kernel refuses sockets or a thread.
pub fn measure_round_trip() -> std::io::Result<Nanos> {
    let (mut near, far) = UnixStream::pair()?;
    let server = thread::Builder::new().name("round-trip".to_owned()).spawn(move || echo(far))?;
    let mut rounds: Vec<Nanos> = Vec::with_capacity(ROUNDS);
    let mut reply = [0; REPLY_BYTES];
    for _ in 0..ROUNDS {
        thread::sleep(PAUSE);
        let began = now();
        near.write_all(&[0; REQUEST_BYTES])?;
        wait(&near)?;
        near.read_exact(&mut reply)?;
        rounds.push(now().since(began));
    }
    drop(near);
    server.join().map_err(|_| std::io::Error::other("the peer of the measurement disconnected"))?;
    rounds.sort_unstable();
    Ok(rounds[ROUNDS / 2])
}

/// Sends replies until the client disconnects.
fn echo(mut far: UnixStream) {
    let mut request = [0; REQUEST_BYTES];
    while wait(&far).is_ok() && far.read_exact(&mut request).is_ok() && far.write_all(&[0; REPLY_BYTES]).is_ok() {}
}

/// Sleeps until there is something to read, as clients and the server do.
fn wait(socket: &UnixStream) -> std::io::Result<()> {
    poll(&mut [PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::IN)], None)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_round_trip_takes_microseconds() {
        let began = now();
        let round_trip = measure_round_trip().expect("sockets");
        let elapsed = now().since(began);
        // Half of the rounds take at least the median each, besides all pauses.
        let most_ns = (elapsed.get() - ROUNDS as u64 * PAUSE.as_nanos() as u64) / (ROUNDS as u64 / 2);
        assert!(round_trip > Nanos::new(1_000) && round_trip.get() <= most_ns, "{round_trip:?} in {elapsed:?}");
    }
}
