//! Sends a request and receives its answer.

use std::io;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use object_wire::{
    ObjectMethod, ObjectRequest, RequestDate, RequestEncoder, ResponseError, ResponseHead, ResponseReader,
    ResponseStep, StoreAccess, short_message,
};
use rustls::ClientConfig;
use units::Nanos;

use super::connection::StoreConnection;
use super::failure::RequestFailure;
use super::tls;
use crate::clock::MonotonicClock;
use crate::error::{Error, ErrorKind};
use crate::in_call::InCall;
use crate::thread;
use target::spec::ObjectStoreOptions;

/// Time without a byte from the server, or accepted by it, after which a request fails.
const SILENCE_MAX: Nanos = Nanos::from_secs(30);
/// Time for the head of an answer once it has begun, against servers that send it byte by byte.
const HEAD_TIME_MAX: Nanos = Nanos::from_secs(30);
/// Time for which a request goes on although the run ends.
const END_PATIENCE: Nanos = Nanos::from_millis(500);
/// Bytes received at a time.
const INPUT_BYTES: usize = 128 << 10;
/// Bytes of an error's body that are looked at.
const MESSAGE_BYTES: usize = 8 << 10;
/// Bytes of a body that are skipped to keep a connection.
const SKIPPED_BYTES_MAX: u64 = 64 << 10;

/// A request for an object.
pub(super) struct Transfer<'a> {
    pub(super) method: ObjectMethod,
    /// What is written, or the place of what is read: an object, or a range of it, which has the length of the block.
    pub(super) block: &'a mut [u8],
}

/// Requests over one connection after another.
pub(super) struct StoreExchange {
    encoder: RequestEncoder,
    reader: ResponseReader,
    tls: Option<Arc<ClientConfig>>,
    host: String,
    port: u16,
    connection: Option<StoreConnection>,
    /// Connections so far.
    connections: u64,
    head: Vec<u8>,
    input: Vec<u8>,
    /// Beginning of the body of an error.
    message: Vec<u8>,
    in_call: Arc<InCall>,
    clock: MonotonicClock,
}

struct RequestProgress {
    begun: Nanos,
    /// When bytes moved last.
    moved_at: Nanos,
    /// When the answer began.
    answer_at: Option<Nanos>,
}

struct FailedAttempt {
    failure: RequestFailure,
    /// Whether the connection ended before the answer began, as servers do with connections that were not used.
    is_untouched: bool,
}

impl StoreExchange {
    pub(super) fn new(
        options: &ObjectStoreOptions,
        access: StoreAccess,
        in_call: Arc<InCall>,
        clock: MonotonicClock,
    ) -> Result<Self, Error> {
        let no_host = || Error::found(ErrorKind::Engine, "use", options.host.as_str(), "not a valid host name");
        let (host, port) = options.address().ok_or_else(no_host)?;
        let encoder = RequestEncoder::new(access).map_err(|error| {
            let failed = Error::found(ErrorKind::Engine, "use", "the object store", error.to_string());
            failed.with_remedy("check the http_* options and the environment variables they refer to")
        })?;
        Ok(Self {
            encoder,
            reader: ResponseReader::new(),
            tls: tls::config(options.encryption)?,
            host: host.to_owned(),
            port,
            connection: None,
            connections: 0,
            head: Vec::with_capacity(2048),
            input: vec![0; INPUT_BYTES],
            message: Vec::with_capacity(MESSAGE_BYTES),
            in_call,
            clock,
        })
    }

    /// Returns the number of connections so far.
    pub(super) const fn connections(&self) -> u64 {
        self.connections
    }

    /// Executes a request. Returns the status of its answer.
    ///
    /// A server may close a connection between two requests. As all requests can be repeated, the request is then sent
    /// again over a new one.
    pub(super) fn execute(
        &mut self,
        path: &str,
        mut transfer: Transfer<'_>,
        range: Option<(u64, u32)>,
    ) -> Result<u16, RequestFailure> {
        let range = range.map(|(start, length)| (start, u64::from(length)));
        loop {
            let is_kept = self.connection.is_some();
            if !is_kept {
                self.connection = Some(StoreConnection::open(&self.host, self.port, self.tls.as_ref())?);
                self.connections += 1;
            }
            match self.attempt(path, &mut transfer, range) {
                Ok(status) => return Ok(status),
                Err(failed) => {
                    self.connection = None;
                    if !(is_kept && failed.is_untouched) {
                        return Err(failed.failure);
                    }
                }
            }
        }
    }

    fn attempt(
        &mut self,
        path: &str,
        transfer: &mut Transfer<'_>,
        range: Option<(u64, u64)>,
    ) -> Result<u16, FailedAttempt> {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let body = if transfer.method == ObjectMethod::Put { &*transfer.block } else { &[] };
        self.head.clear();
        let request = ObjectRequest { method: transfer.method, path, range, body };
        self.encoder.encode(&request, RequestDate::of_unix_seconds(seconds), &mut self.head);
        let now = self.clock.now();
        let mut progress = RequestProgress { begun: now, moved_at: now, answer_at: None };
        self.reader.begin();
        // A server may refuse an object, and close, before it has received all of it: the answer says why.
        let sent = self.send(body, &mut progress);
        let failure = match sent {
            Ok(()) | Err(RequestFailure::Lost(_)) => match self.receive(transfer, range, &mut progress) {
                Ok(status) => return Ok(status),
                Err(failure) => failure,
            },
            Err(failure) => failure,
        };
        let is_lost = matches!(failure, RequestFailure::Lost(_) | RequestFailure::Response(ResponseError::Truncated));
        // A server may also announce that it closes a connection that was not used.
        let is_timeout = matches!(failure, RequestFailure::Status { status: 408, .. });
        let is_untouched = is_lost && self.reader.is_untouched() || is_timeout;
        Err(FailedAttempt { failure, is_untouched })
    }

    fn send(&mut self, body: &[u8], progress: &mut RequestProgress) -> Result<(), RequestFailure> {
        let Some(connection) = self.connection.as_mut() else { return Ok(()) };
        let (total, mut sent) = (self.head.len() + body.len(), 0);
        while sent < total {
            let head = self.head.get(sent..).unwrap_or_default();
            let rest = &body[sent.saturating_sub(self.head.len())..];
            match connection.send(head, rest) {
                Ok(0) => return Err(RequestFailure::Lost(io::ErrorKind::WriteZero.into())),
                Ok(bytes) => {
                    sent += bytes;
                    progress.moved_at = self.clock.now();
                }
                Err(error) => progress.go_on(error, &self.in_call, self.clock.now())?,
            }
        }
        loop {
            match connection.flush() {
                Ok(()) => return Ok(()),
                Err(error) => progress.go_on(error, &self.in_call, self.clock.now())?,
            }
        }
    }

    fn receive(
        &mut self,
        transfer: &mut Transfer<'_>,
        range: Option<(u64, u64)>,
        progress: &mut RequestProgress,
    ) -> Result<u16, RequestFailure> {
        self.message.clear();
        let mut answer = Answer { head: ResponseHead::default(), received: 0, range };
        loop {
            let Some(connection) = self.connection.as_mut() else { return Err(RequestFailure::Silent) };
            let received = match connection.receive(&mut self.input) {
                Ok(received) => received,
                Err(error) => {
                    progress.go_on(error, &self.in_call, self.clock.now())?;
                    continue;
                }
            };
            progress.moved_at = self.clock.now();
            progress.check_pace(answer.head.status == 0, &self.in_call)?;
            if received == 0 {
                self.reader.close().map_err(RequestFailure::Response)?;
                self.connection = None;
                return answer.finish(transfer, &self.message);
            }
            let mut at = 0;
            loop {
                let (consumed, step) =
                    self.reader.advance(&self.input[at..received]).map_err(RequestFailure::Response)?;
                at += consumed;
                match step {
                    ResponseStep::More => break,
                    ResponseStep::Head(head) => answer.begin(head, transfer)?,
                    ResponseStep::Body(bytes) => {
                        answer.add(&self.input[at - bytes..at], transfer, &mut self.message)?;
                    }
                    ResponseStep::End => {
                        // Bytes without a request would be taken for the next answer.
                        if !answer.head.keeps_connection || at < received {
                            self.connection = None;
                        }
                        return answer.finish(transfer, &self.message);
                    }
                }
            }
            if answer.is_known(transfer) && answer.received > SKIPPED_BYTES_MAX {
                self.connection = None;
                return answer.finish(transfer, &self.message);
            }
        }
    }
}

impl RequestProgress {
    /// Decides whether a request goes on after a call that has failed or timed out.
    fn go_on(&self, error: io::Error, in_call: &InCall, now: Nanos) -> Result<(), RequestFailure> {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted => {}
            _ => return Err(RequestFailure::of_transfer(error)),
        }
        if is_over(in_call) && now.since(self.begun) > END_PATIENCE || thread::is_abandoned() {
            return Err(RequestFailure::Cancelled);
        }
        if now.since(self.moved_at) > SILENCE_MAX { Err(RequestFailure::Silent) } else { Ok(()) }
    }

    /// Fails if the head of an answer takes too long, or the run has ended.
    fn check_pace(&mut self, in_head: bool, in_call: &InCall) -> Result<(), RequestFailure> {
        let begun = *self.answer_at.get_or_insert(self.moved_at);
        if is_over(in_call) && self.moved_at.since(self.begun) > END_PATIENCE {
            return Err(RequestFailure::Cancelled);
        }
        if in_head && self.moved_at.since(begun) > HEAD_TIME_MAX { Err(RequestFailure::Silent) } else { Ok(()) }
    }
}

fn is_over(in_call: &InCall) -> bool {
    in_call.is_cancelled() || thread::is_abandoned()
}

/// An answer while it is received.
struct Answer {
    head: ResponseHead,
    /// Bytes of the body so far.
    received: u64,
    range: Option<(u64, u64)>,
}

impl Answer {
    fn is_success(&self, transfer: &Transfer<'_>) -> bool {
        match transfer.method {
            ObjectMethod::Get => matches!(self.head.status, 200 | 206),
            ObjectMethod::Put => (200..300).contains(&self.head.status),
            // An object that does not exist need not be deleted.
            ObjectMethod::Delete => (200..300).contains(&self.head.status) || self.head.status == 404,
        }
    }

    /// Reports whether the rest of the body has no meaning.
    fn is_known(&self, transfer: &Transfer<'_>) -> bool {
        self.head.status != 0 && !(self.is_success(transfer) && transfer.method == ObjectMethod::Get)
    }

    fn begin(&mut self, head: ResponseHead, transfer: &Transfer<'_>) -> Result<(), RequestFailure> {
        self.head = head;
        if transfer.method != ObjectMethod::Get || !self.is_success(transfer) {
            return Ok(());
        }
        let expected = transfer.block.len() as u64;
        if self.range.is_some() && head.status == 200 && head.length != Some(expected)
            || self.range.is_some_and(|(start, _)| start > 0) && head.status == 200
        {
            return Err(RequestFailure::Whole);
        }
        match head.length {
            Some(found) if found != expected => Err(RequestFailure::Length { found: Some(found), expected }),
            _ => Ok(()),
        }
    }

    fn add(&mut self, bytes: &[u8], transfer: &mut Transfer<'_>, message: &mut Vec<u8>) -> Result<(), RequestFailure> {
        if transfer.method == ObjectMethod::Get && self.is_success(transfer) {
            let (start, expected) = (self.received as usize, transfer.block.len() as u64);
            let Some(part) = transfer.block.get_mut(start..start + bytes.len()) else {
                return Err(RequestFailure::Length { found: None, expected });
            };
            part.copy_from_slice(bytes);
        } else {
            message.extend_from_slice(&bytes[..bytes.len().min(MESSAGE_BYTES - message.len())]);
        }
        self.received += bytes.len() as u64;
        Ok(())
    }

    fn finish(&self, transfer: &Transfer<'_>, message: &[u8]) -> Result<u16, RequestFailure> {
        if !self.is_success(transfer) {
            return Err(RequestFailure::Status {
                status: self.head.status,
                message: short_message(message),
                other_scheme: self.head.demands_other_scheme,
            });
        }
        let expected = transfer.block.len() as u64;
        if transfer.method == ObjectMethod::Get && self.received != expected {
            return Err(RequestFailure::Length { found: Some(self.received), expected });
        }
        Ok(self.head.status)
    }
}
