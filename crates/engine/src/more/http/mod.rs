//! The engine `http`: objects of a store, one request at a time over a connection that is kept.

mod connection;
mod exchange;
mod failure;
mod tls;

use target::{Completion, Op};
use units::OpKind;

use crate::buffers::Buffers;
use crate::clock::MonotonicClock;
use crate::error::{Error, ErrorKind};
use crate::files::File;
use crate::opening::{FailedRequest, ObjectsOfWorker, Opening};
use crate::sync_target::Perform;
use exchange::{StoreExchange, Transfer};
use failure::RequestFailure;
use object_wire::{CustomerKey, ObjectMethod, S3Access, StoreAccess, StoreProtocol};
use target::spec::{ObjectStoreMode, ObjectStoreOptions};

/// Objects of a store.
pub(crate) struct Objects {
    worker: ObjectsOfWorker,
    access: StoreAccess,
    /// Whether a file is one object, of which ranges are read.
    ranged: bool,
    verbosity: u32,
    exchange: StoreExchange,
    clock: MonotonicClock,
    /// Path of the current object.
    path: String,
}

impl Objects {
    /// Prepares requests. The connection is opened by the first one.
    ///
    /// # Errors
    /// Fails if credentials cannot stand in a request, or certificates cannot be read.
    pub(crate) fn new(setup: &Opening) -> Result<Self, Error> {
        let Some(worker) = &setup.objects else {
            return Err(Error::found(ErrorKind::Engine, "set up", "engine http", "no store is open"));
        };
        let in_call = setup.in_call.clone().unwrap_or_default();
        let options = &setup.spec.objects;
        let access = access_of(options);
        Ok(Self {
            worker: worker.clone(),
            exchange: StoreExchange::new(options, access.clone(), in_call, setup.clock)?,
            access,
            ranged: options.ranged,
            verbosity: options.verbosity,
            clock: setup.clock,
            path: String::new(),
        })
    }

    /// Executes an operation on an object. Returns the result as in a completion.
    fn execute(&mut self, op: &Op, transfer: Transfer<'_>) -> i32 {
        let Some(objects) = self.worker.objects.get(op.file as usize) else { return -libc::EBADF };
        if transfer.method != ObjectMethod::Get && !objects.is_writable() {
            return -libc::EPERM;
        }
        self.path.clear();
        self.path.push_str(&objects.path);
        if !self.ranged {
            use std::fmt::Write;
            // Writing to a string cannot fail.
            let _ = write!(self.path, "_{}_{}", op.offset, op.length);
        }
        let range = (self.ranged && transfer.method == ObjectMethod::Get).then_some((op.offset, op.length));
        let (method, begun) = (transfer.method, self.clock.now());
        let outcome = self.exchange.execute(&self.path, transfer, range);
        if self.verbosity > 0 {
            self.report(method, op, &outcome, self.clock.now().since(begun));
        }
        match outcome {
            Ok(_) => op.length as i32,
            // The run ends; the request does not count.
            Err(RequestFailure::Cancelled) => Completion::IDLE,
            Err(failure) => {
                self.note(method, op, &failure);
                -failure.errno(method)
            }
        }
    }

    fn url(&self, op: &Op) -> String {
        let Some(objects) = self.worker.objects.get(op.file as usize) else { return String::new() };
        let rest = self.path.strip_prefix(&objects.path).unwrap_or_default();
        format!("{}{rest}", objects.url)
    }

    #[cold]
    fn note(&self, method: ObjectMethod, op: &Op, failure: &RequestFailure) {
        let access = &self.access;
        let url = self.url(op);
        let subject = format_args!("{} {} failed", method.name(), units::printable(&url));
        let problem = failure.describe(method, access, self.ranged).of(subject);
        let (kind, file, offset) = (op.kind, op.file, op.offset);
        self.worker.journal.add_failure(FailedRequest { kind, file, offset, problem });
    }

    #[cold]
    fn report(&self, method: ObjectMethod, op: &Op, outcome: &Result<u16, RequestFailure>, took: units::Nanos) {
        let answer = match outcome {
            Ok(status) => format!("status {status}"),
            Err(failure) => failure.cause(),
        };
        let more = if self.verbosity > 1 {
            let connections = self.exchange.connections();
            format!(", {} bytes in {took} over connection {connections}", op.length)
        } else {
            String::new()
        };
        let line = format!("{} {}: {answer}{more}", method.name(), self.url(op));
        self.worker.journal.add_line(units::printable(&self.access.redacted(&line)).into_owned());
    }
}

impl Perform for Objects {
    fn files(&self) -> &[File] {
        &[]
    }

    fn perform(&mut self, op: &Op, buffers: &Buffers) -> i32 {
        let length = op.length as usize;
        match op.kind {
            OpKind::Trim => self.execute(op, Transfer { method: ObjectMethod::Delete, block: &mut [] }),
            OpKind::Read | OpKind::Write => {
                let Some(start) = buffers.span(op.tag, op.skip, op.length) else { return -libc::EFAULT };
                // SAFETY: the span has `length` initialized bytes, and only this thread uses them until the operation has
                // completed.
                let block = unsafe { std::slice::from_raw_parts_mut(start, length) };
                let method = if op.kind == OpKind::Read { ObjectMethod::Get } else { ObjectMethod::Put };
                self.execute(op, Transfer { method, block })
            }
            OpKind::Sync | OpKind::DataSync | OpKind::SyncRange | OpKind::SyncFilesystem => -libc::EOPNOTSUPP,
        }
    }
}

/// Returns the host header, the protocol and the credentials.
fn access_of(options: &ObjectStoreOptions) -> StoreAccess {
    let given = |text: &String| (!text.is_empty()).then(|| text.clone());
    let protocol = match options.mode {
        ObjectStoreMode::WebDav => {
            let user = given(&options.user).or_else(|| given(&options.password.0).map(|_| String::new()));
            StoreProtocol::WebDav { user: user.map(|user| (user, options.password.0.clone())) }
        }
        ObjectStoreMode::Swift => StoreProtocol::Swift { token: options.swift_token.0.clone() },
        ObjectStoreMode::S3 => StoreProtocol::S3(S3Access {
            key_id: options.s3_key_id.0.clone(),
            secret: options.s3_key.0.clone(),
            security_token: given(&options.s3_token.0),
            region: options.s3_region.clone(),
            storage_class: options.s3_storage_class.clone(),
            customer_key: given(&options.s3_customer_key.0)
                .map(|key| CustomerKey { key, algorithm: options.s3_customer_algorithm.clone() }),
        }),
    };
    StoreAccess { host: options.host.clone(), protocol }
}
