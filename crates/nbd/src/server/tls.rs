//! TLS: certificates, and the session of a connection.

use std::io::{self, IoSlice, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection};

use super::halt::Halt;

/// Certificates of a server, and authorities of its clients.
#[derive(Clone, Debug)]
pub struct TlsIdentity(Arc<ServerConfig>);

/// A text in PEM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pem {
    /// The chain of certificates.
    Certificate,
    /// The key to the first of them.
    Key,
    /// Those who have signed the certificates of clients.
    Authorities,
}

/// Errors of certificates and keys.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// A text that is no PEM, or holds nothing of its kind.
    #[error("{why}")]
    Unreadable {
        /// Which text.
        text: Pem,
        /// What is wrong with it.
        why: String,
    },
    /// A key that a password keeps.
    #[error("the key is encrypted with a password")]
    Encrypted,
    /// The key to another certificate.
    #[error("the key does not belong to the certificate")]
    Mismatch,
    /// A certificate that cannot be shown.
    #[error("{0}")]
    Unusable(String),
}

impl TlsIdentity {
    /// From texts in PEM: the chain of certificates, the key to the first of them, and the authorities whose certificates
    /// clients have to show; without these, anybody is let in.
    ///
    /// # Errors
    /// All texts that cannot be read, or that they do not belong together.
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
        Ok(none) if none.is_empty() => unreadable("there is no certificate in it".to_owned()),
        Ok(some) => Ok(some),
        Err(error) => unreadable(format!("its certificate cannot be read: {error}")),
    }
}

fn private_key(text: &[u8]) -> Result<PrivateKeyDer<'static>, IdentityError> {
    let encrypted = |mark: &&[u8]| text.windows(mark.len()).any(|part| part == *mark);
    PrivateKeyDer::from_pem_slice(text).map_err(|error| match error {
        _ if ENCRYPTED.iter().any(encrypted) => IdentityError::Encrypted,
        pem::Error::NoItemsFound => {
            IdentityError::Unreadable { text: Pem::Key, why: "there is no private key in it".to_owned() }
        }
        error => IdentityError::Unreadable { text: Pem::Key, why: format!("its key cannot be read: {error}") },
    })
}

/// Of PKCS #8 (RFC 5958) and of what was before (RFC 1421).
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

/// More than one look at the socket can bring in clear: a session reads less than two records at a time.
const LOOK_BYTES: usize = 36 << 10;
/// The least room for what is received.
pub(super) const ROOM_LEAST_BYTES: usize = 2 * LOOK_BYTES;

/// The encryption of one connection.
#[derive(Debug)]
pub(super) struct TlsSession(Box<ServerConnection>);

impl TlsSession {
    /// Begins, with what the client has sent already.
    pub(super) fn begin(identity: &TlsIdentity, mut sent: &[u8]) -> Result<Self, Halt> {
        let mut connection = ServerConnection::new(Arc::clone(&identity.0)).map_err(|_| Halt::Gone)?;
        while !sent.is_empty() {
            connection.read_tls(&mut sent)?;
            connection.process_new_packets().map_err(|_| Halt::Gone)?;
        }
        Ok(Self(Box::new(connection)))
    }

    /// Puts what there is in clear into `room`, of at least [`ROOM_LEAST_BYTES`]; says how many bytes.
    pub(super) fn receive(&mut self, file: &OwnedFd, room: &mut [u8]) -> Result<usize, Halt> {
        let mut end = 0;
        let mut came = Ok(());
        while came.is_ok() && room.len() - end >= LOOK_BYTES {
            came = self.receive_some(file, room, &mut end);
        }
        match came {
            Err(halt) if end == 0 => Err(halt),
            _ => Ok(end),
        }
    }

    fn receive_some(&mut self, file: &OwnedFd, room: &mut [u8], end: &mut usize) -> Result<(), Halt> {
        let came = self.0.read_tls(&mut Raw(file))?;
        let understood = self.0.process_new_packets();
        // An alert tells the client what was wrong.
        let sent = self.drain(file);
        let ended = loop {
            match self.0.reader().read(&mut room[*end..]) {
                Ok(0) => break true,
                Ok(bytes) => *end += bytes,
                Err(error) => break error.kind() != io::ErrorKind::WouldBlock,
            }
        };
        if came == 0 || understood.is_err() || ended || sent == Err(Halt::Gone) {
            return Err(Halt::Gone);
        }
        Ok(())
    }

    /// Encrypts and sends; says how many bytes were taken, not all of which may have left.
    pub(super) fn send(&mut self, file: &OwnedFd, slices: &[IoSlice<'_>]) -> Result<usize, Halt> {
        let taken = self.0.writer().write_vectored(slices)?;
        match self.drain(file) {
            Err(Halt::Later) if taken == 0 => Err(Halt::Later),
            Err(Halt::Gone) => Err(Halt::Gone),
            _ => Ok(taken),
        }
    }

    /// Sends what is encrypted.
    pub(super) fn drain(&mut self, file: &OwnedFd) -> Result<(), Halt> {
        while self.0.wants_write() {
            self.0.write_tls(&mut Raw(file))?;
        }
        Ok(())
    }

    /// Tells the other side that nothing follows.
    pub(super) fn end(&mut self, file: &OwnedFd) {
        self.0.send_close_notify();
        // A client that does not read it sees the end of the connection instead.
        let _ = self.drain(file);
    }

    /// Whether something encrypted waits for room in the kernel.
    pub(super) fn holds_back(&self) -> bool {
        self.0.wants_write()
    }
}

/// A socket as the session wants it.
struct Raw<'a>(&'a OwnedFd);

impl Read for Raw<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::net::recv(self.0.as_fd(), room, RecvFlags::DONTWAIT)?.0)
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

impl From<io::Error> for Halt {
    fn from(error: io::Error) -> Self {
        Errno::from_io_error(&error).map_or(Self::Gone, Self::from)
    }
}
