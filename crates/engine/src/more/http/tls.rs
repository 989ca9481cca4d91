//! TLS of connections to a store.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::error::{Error, ErrorKind};
use target::spec::StoreEncryption;

/// Where systems keep the authorities that they trust.
const AUTHORITIES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Returns the settings of TLS; `None` without it.
///
/// # Errors
/// Fails if the authorities that the host trusts cannot be read.
pub(super) fn config(encryption: StoreEncryption) -> Result<Option<Arc<ClientConfig>>, Error> {
    match encryption {
        StoreEncryption::Off => Ok(None),
        StoreEncryption::On => trusting(roots()?).map(Some),
        StoreEncryption::Insecure => {
            let provider = Arc::new(ring::default_provider());
            let verifier = Arc::new(AnyCertificate(Arc::clone(&provider)));
            let builder = builder(provider)?.dangerous().with_custom_certificate_verifier(verifier);
            Ok(Some(finished(builder.with_no_client_auth())))
        }
    }
}

/// Returns the settings for certificates of these authorities.
fn trusting(roots: RootCertStore) -> Result<Arc<ClientConfig>, Error> {
    Ok(finished(builder(Arc::new(ring::default_provider()))?.with_root_certificates(roots).with_no_client_auth()))
}

type TlsBuilder = rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>;

fn builder(provider: Arc<CryptoProvider>) -> Result<TlsBuilder, Error> {
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    builder.map_err(|error| Error::found(ErrorKind::Engine, "set up", "TLS", error.to_string()))
}

fn finished(mut config: ClientConfig) -> Arc<ClientConfig> {
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Arc::new(config)
}

fn roots() -> Result<RootCertStore, Error> {
    let found = AUTHORITIES.iter().map(Path::new).find(|path| path.exists());
    let missing = |reason: String| {
        let error = Error::found(ErrorKind::Engine, "verify", "certificates", reason);
        error.with_remedy("install the certificate authorities (package ca-certificates), or set https=insecure")
    };
    let path = found.ok_or_else(|| missing("this host has no list of certificate authorities".to_owned()))?;
    let text = std::fs::read(path).map_err(|error| missing(format!("{}: {error}", path.display())))?;
    let mut roots = RootCertStore::empty();
    // A list of a system may hold certificates that this library does not understand.
    roots.add_parsable_certificates(CertificateDer::pem_slice_iter(&text).flatten());
    if roots.is_empty() {
        return Err(missing(format!("{} contains no certificate", path.display())));
    }
    Ok(roots)
}

/// Accepts any certificate, but still checks that the server has its key.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
