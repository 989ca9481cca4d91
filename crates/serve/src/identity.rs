//! Certificates and keys of the server.

use std::path::Path;

use nbd::server::{IdentityError, Pem, TlsIdentity};

use crate::request::{HostFiles, ServeRequest};

/// An unusable option: option, value, reason, remedy.
pub(crate) struct UnusableOption {
    pub(crate) option: &'static str,
    pub(crate) value: String,
    pub(crate) reason: String,
    pub(crate) remedy: &'static str,
}

/// Reads certificates and key; `None` if encryption is not requested.
///
/// # Errors
/// All files that cannot be read, otherwise all problems of their content.
pub(crate) fn read(options: &ServeRequest, files: &HostFiles) -> Result<Option<TlsIdentity>, Vec<UnusableOption>> {
    let texts = [Pem::Certificate, Pem::Key, Pem::Authorities].map(|pem| text(options, pem, files).transpose());
    let (chain, key, authorities) = match texts {
        [Ok(Some(chain)), Ok(Some(key)), Ok(authorities)] => (chain, key, authorities),
        texts => {
            let refused: Vec<_> = texts.into_iter().filter_map(Result::err).collect();
            return if refused.is_empty() { Ok(None) } else { Err(refused) };
        }
    };
    let identity = TlsIdentity::from_pem(&chain, &key, authorities.as_deref()).map(Some);
    identity.map_err(|errors| errors.iter().map(|error| unusable(options, error)).collect())
}

fn option(options: &ServeRequest, pem: Pem) -> (&'static str, Option<&Path>) {
    let (option, path) = match pem {
        Pem::Certificate => ("--tls-certificate", &options.tls_certificate),
        Pem::Key => ("--tls-key", &options.tls_key),
        Pem::Authorities => ("--tls-clients", &options.tls_clients),
    };
    (option, path.as_deref())
}

fn text(options: &ServeRequest, pem: Pem, files: &HostFiles) -> Option<Result<Vec<u8>, UnusableOption>> {
    let (option, path) = option(options, pem);
    path.map(|path| {
        (files.read_certificate)(path).map_err(|error| UnusableOption {
            option,
            value: path.display().to_string(),
            reason: format!("cannot read it: {error}"),
            remedy: "use an existing file that this user can read",
        })
    })
}

fn unusable(options: &ServeRequest, error: &IdentityError) -> UnusableOption {
    let (pem, remedy) = match error {
        IdentityError::Unreadable { text, .. } => {
            (*text, "use a PEM file (-----BEGIN …), as written by openssl, certtool or cert-manager")
        }
        IdentityError::Encrypted => (Pem::Key, "decrypt it first: openssl pkey -in FILE -out PLAIN"),
        IdentityError::Mismatch => (Pem::Key, "use the private key of this certificate"),
        IdentityError::Unusable(_) => (Pem::Certificate, "inspect it: openssl x509 -noout -text -in FILE"),
    };
    let (option, path) = option(options, pem);
    let value = path.map(|path| path.display().to_string()).unwrap_or_default();
    UnusableOption { option, value, reason: error.to_string(), remedy }
}
