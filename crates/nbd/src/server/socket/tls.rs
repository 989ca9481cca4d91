//! TLS certificates and sessions.

use std::io::{self, IoSlice, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection};

use super::SocketError;

/// Certificates of a server, and the authorities of its clients' certificates.
#[derive(Clone, Debug)]
pub struct TlsIdentity(Arc<ServerConfig>);

/// Inputs in PEM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pem {
    /// Chain of certificates.
    Certificate,
    /// Private key of the first certificate.
    Key,
    /// Authorities that sign client certificates.
    Authorities,
}

/// Errors of certificates and keys.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// Input is not PEM or contains nothing of the expected kind.
    #[error("{why}")]
    Unreadable {
        /// The input.
        text: Pem,
        /// Reason.
        why: String,
    },
    /// The key is encrypted with a password.
    #[error("the key is encrypted with a password")]
    Encrypted,
    /// The key does not belong to the certificate.
    #[error("the key does not belong to the certificate")]
    Mismatch,
    /// TLS cannot use the certificate.
    #[error("{0}")]
    Unusable(String),
}

impl TlsIdentity {
    /// Builds an identity from PEM: the chain of certificates, the private key of the first, and the authorities of
    /// client certificates, which clients must present; without authorities, all clients are accepted.
    ///
    /// # Errors
    /// Every input that cannot be read, or a mismatch between them.
    pub fn from_pem(chain: &[u8], key: &[u8], authorities: Option<&[u8]>) -> Result<Self, Vec<IdentityError>> {
        let chain = certificates(chain, Pem::Certificate);
        match (chain, private_key(key), authorities.map(roots).transpose()) {
            (Ok(chain), Ok(key), Ok(roots)) => {
                config(chain, key, roots).map(|config| Self(Arc::new(config))).map_err(|error| vec![error])
            }
            (chain, key, roots) => Err([chain.err(), key.err(), roots.err()].into_iter().flatten().collect()),
        }
    }
}

fn certificates(text: &[u8], which: Pem) -> Result<Vec<CertificateDer<'static>>, IdentityError> {
    let unreadable = |why: String| Err(IdentityError::Unreadable { text: which, why });
    match CertificateDer::pem_slice_iter(text).collect::<Result<Vec<_>, _>>() {
        Ok(none) if none.is_empty() => unreadable("it contains no certificate".to_owned()),
        Ok(some) => Ok(some),
        Err(error) => unreadable(format!("invalid certificate: {error}")),
    }
}

fn private_key(text: &[u8]) -> Result<PrivateKeyDer<'static>, IdentityError> {
    let encrypted = |mark: &&[u8]| text.windows(mark.len()).any(|part| part == *mark);
    PrivateKeyDer::from_pem_slice(text).map_err(|error| match error {
        _ if ENCRYPTED.iter().any(encrypted) => IdentityError::Encrypted,
        pem::Error::NoItemsFound => {
            IdentityError::Unreadable { text: Pem::Key, why: "it contains no private key".to_owned() }
        }
        error => IdentityError::Unreadable { text: Pem::Key, why: format!("invalid private key: {error}") },
    })
}

/// Markers of PKCS #8 (RFC 5958) and of the older format (RFC 1421).
const ENCRYPTED: [&[u8]; 2] = [b"BEGIN ENCRYPTED PRIVATE KEY", b"Proc-Type: 4,ENCRYPTED"];

fn roots(text: &[u8]) -> Result<RootCertStore, IdentityError> {
    let mut roots = RootCertStore::empty();
    for authority in certificates(text, Pem::Authorities)? {
        let added = roots.add(authority);
        added.map_err(|error| IdentityError::Unreadable { text: Pem::Authorities, why: error.to_string() })?;
    }
    Ok(roots)
}

fn config(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    roots: Option<RootCertStore>,
) -> Result<ServerConfig, IdentityError> {
    let unusable = |error: &dyn std::fmt::Display| IdentityError::Unusable(error.to_string());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(&error))?;
    let config = match roots {
        None => config.with_no_client_auth(),
        Some(roots) => {
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            config.with_client_cert_verifier(verifier.build().map_err(|error| unusable(&error))?)
        }
    };
    config.with_single_cert(chain, key).map_err(|error| match error {
        rustls::Error::InconsistentKeys(_) => IdentityError::Mismatch,
        error => unusable(&error),
    })
}

/// Upper bound on the plaintext of one read from the socket: a session reads less than two records at a time.
const MAX_READ_BYTES: usize = 36 << 10;
/// Smallest receive buffer.
pub(super) const MIN_BUFFER_BYTES: usize = 2 * MAX_READ_BYTES;

#[derive(Debug)]
pub(super) struct TlsSession(Box<ServerConnection>);

impl TlsSession {
    /// Starts a session with the bytes that the client has sent already.
    pub(super) fn begin(identity: &TlsIdentity, mut sent: &[u8]) -> Result<Self, SocketError> {
        let mut connection = ServerConnection::new(Arc::clone(&identity.0)).map_err(|_| SocketError::Closed)?;
        while !sent.is_empty() {
            connection.read_tls(&mut sent)?;
            connection.process_new_packets().map_err(|_| SocketError::Closed)?;
        }
        Ok(Self(Box::new(connection)))
    }

    /// Receives plaintext into `buffer` of at least [`MIN_BUFFER_BYTES`]; returns the number of bytes.
    pub(super) fn receive(&mut self, file: &OwnedFd, buffer: &mut [u8]) -> Result<usize, SocketError> {
        let mut end = 0;
        let mut received = Ok(());
        while received.is_ok() && buffer.len() - end >= MAX_READ_BYTES {
            received = self.receive_some(file, buffer, &mut end);
        }
        match received {
            Err(error) if end == 0 => Err(error),
            _ => Ok(end),
        }
    }

    fn receive_some(&mut self, file: &OwnedFd, buffer: &mut [u8], end: &mut usize) -> Result<(), SocketError> {
        let received = self.0.read_tls(&mut Raw(file))?;
        let understood = self.0.process_new_packets();
        // An alert tells the client what was wrong.
        let sent = self.drain(file);
        let ended = loop {
            match self.0.reader().read(&mut buffer[*end..]) {
                Ok(0) => break true,
                Ok(bytes) => *end += bytes,
                Err(error) => break error.kind() != io::ErrorKind::WouldBlock,
            }
        };
        if received == 0 || understood.is_err() || ended || sent == Err(SocketError::Closed) {
            return Err(SocketError::Closed);
        }
        Ok(())
    }

    /// Encrypts and sends; returns the number of bytes accepted, some of which may be unsent.
    pub(super) fn send(&mut self, file: &OwnedFd, slices: &[IoSlice<'_>]) -> Result<usize, SocketError> {
        let taken = self.0.writer().write_vectored(slices)?;
        match self.drain(file) {
            Err(SocketError::WouldBlock) if taken == 0 => Err(SocketError::WouldBlock),
            Err(SocketError::Closed) => Err(SocketError::Closed),
            _ => Ok(taken),
        }
    }

    pub(super) fn drain(&mut self, file: &OwnedFd) -> Result<(), SocketError> {
        while self.0.wants_write() {
            self.0.write_tls(&mut Raw(file))?;
        }
        Ok(())
    }

    /// Tells the client that no data follows.
    pub(super) fn end(&mut self, file: &OwnedFd) {
        self.0.send_close_notify();
        // A client that does not read it sees the end of the connection instead.
        let _ = self.drain(file);
    }

    /// Reports whether encrypted data is unsent.
    pub(super) fn has_unsent(&self) -> bool {
        self.0.wants_write()
    }
}

/// Non-blocking I/O on a socket for the session.
struct Raw<'a>(&'a OwnedFd);

impl Read for Raw<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::net::recv(self.0.as_fd(), buffer, RecvFlags::DONTWAIT)?.0)
    }
}

impl Write for Raw<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::net::send(self.0.as_fd(), bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl From<io::Error> for SocketError {
    fn from(error: io::Error) -> Self {
        Errno::from_io_error(&error).map_or(Self::Closed, Self::from)
    }
}
