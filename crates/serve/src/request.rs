//! The request for a server, as the caller wrote it.

use std::io;
use std::path::{Path, PathBuf};

/// Options of a server as text; [`ServeQuestion`](crate::ServeQuestion) validates them.
///
/// The fields are named after the options of `fathom serve`, to which error messages refer.
#[derive(Clone, Debug, Default)]
pub struct ServeRequest {
    /// The volume of the unnamed export.
    pub volume: Option<String>,
    /// `NAME=[VOLUME]`.
    pub export: Vec<String>,
    /// `[NAME=]BACKING`.
    pub backing: Vec<String>,
    /// `[NAME=]SIZE`.
    pub size: Vec<String>,
    /// Whether files bypass the page cache.
    pub direct: bool,
    /// Memory limit of all exports and clients together.
    pub memory_limit: Option<String>,
    /// Whether writes are refused.
    pub read_only: bool,
    /// Probabilities of faults.
    pub faults: Option<String>,
    /// Socket for commands.
    pub control: Option<PathBuf>,
    /// Unix socket; a private one where neither this nor `listen` is given.
    pub socket: Option<PathBuf>,
    /// TCP addresses.
    pub listen: Vec<String>,
    /// Whether addresses that other hosts can reach need no client certificates.
    pub insecure: bool,
    /// Certificate chain of the server, in PEM.
    pub tls_certificate: Option<PathBuf>,
    /// Private key of the certificate, in PEM.
    pub tls_key: Option<PathBuf>,
    /// Authorities of client certificates, in PEM.
    pub tls_clients: Option<PathBuf>,
    /// Whether each export becomes a block device.
    pub device: bool,
    /// TCP address of live metrics.
    pub metrics: Option<String>,
    /// Whether the server spins shortly before replies are due.
    pub spin: bool,
    /// Round-trip time that is subtracted from modelled latencies.
    pub round_trip: Option<String>,
    /// Seed for all random choices.
    pub seed: u64,
}

/// Access to files and directories that depend on the program's environment.
#[derive(Clone, Copy, Debug)]
pub struct HostFiles {
    /// Reads a certificate or key of limited size.
    pub read_certificate: fn(&Path) -> io::Result<Vec<u8>>,
    /// Reads a file of volumes by its path.
    pub read_volume: fn(&str) -> Result<String, String>,
}
