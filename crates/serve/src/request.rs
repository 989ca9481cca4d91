//! The request for a server, as the caller wrote it.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use units::Problem;

/// Options of a server as text; [`ServeQuestion`](crate::ServeQuestion) validates them.
#[derive(Clone, Debug, Default, Args)]
pub struct ServeRequest {
    /// Volume to serve: PROVIDER/TYPE[@EDITION][,key=value]...
    #[arg(value_name = "VOLUME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub volume: Option<String>,
    /// Serve VOLUME as the export NAME (repeatable)
    #[arg(long, value_name = "NAME=[VOLUME]", help_heading = "Exports")]
    pub export: Vec<String>,
    /// Backing of one export (NAME=...) or all: memory, zero, pattern, random, file:PATH, copy:PATH [default: memory]
    #[arg(long, value_name = "[NAME=]BACKING", help_heading = "Exports")]
    pub backing: Vec<String>,
    /// Size of exports without a sized volume
    #[arg(long, value_name = "[NAME=]SIZE", help_heading = "Exports")]
    pub size: Vec<String>,
    /// Bypass the page cache for files
    #[arg(long, help_heading = "Exports")]
    pub direct: bool,
    /// Total memory limit of all exports and clients [default: half of the free memory]
    #[arg(long, value_name = "SIZE", help_heading = "Exports")]
    pub memory_limit: Option<String>,
    /// Refuse writes
    #[arg(long, help_heading = "Exports")]
    pub read_only: bool,
    /// Inject faults with these probabilities: eio=0.1%,flush_eio=1%,stall=0.01%:2s
    #[arg(long, value_name = "FAULTS", help_heading = "Model")]
    pub faults: Option<String>,
    /// Unix socket for changing limits and faults at run time (`fathom serve control SOCKET`)
    #[arg(long, value_name = "SOCKET", help_heading = "Control")]
    pub control: Option<PathBuf>,
    /// Listen on this unix socket [default: a private one, unless --listen is given]
    #[arg(long, value_name = "PATH", help_heading = "Connections")]
    pub socket: Option<PathBuf>,
    /// Listen on TCP; addresses that other hosts can reach need --tls-clients or --insecure (repeatable)
    #[arg(long, value_name = "ADDRESS:PORT", help_heading = "Connections")]
    pub listen: Vec<String>,
    /// Permit addresses that other hosts can reach without client certificates
    #[arg(long, help_heading = "Connections")]
    pub insecure: bool,
    /// Encrypt connections with this server certificate chain (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key", help_heading = "Connections")]
    pub tls_certificate: Option<PathBuf>,
    /// Private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_certificate", help_heading = "Connections")]
    pub tls_key: Option<PathBuf>,
    /// Accept only clients with a certificate from one of these authorities (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_certificate", help_heading = "Connections")]
    pub tls_clients: Option<PathBuf>,
    /// Create a block device for each export, using the nbd driver or FUSE and a loop device
    #[arg(long, help_heading = "Exports")]
    pub device: bool,
    /// Serve live metrics (OpenMetrics over HTTP); addresses of other hosts need --insecure
    #[arg(long, value_name = "ADDRESS:PORT", help_heading = "Output")]
    pub metrics: Option<String>,
    /// Busy-wait shortly before replies are due, to send them on time
    #[arg(long, help_heading = "Model")]
    pub spin: bool,
    /// Subtract this round-trip time from modelled latencies [default: measured per client]
    #[arg(long, value_name = "TIME", help_heading = "Model")]
    pub round_trip: Option<String>,
    /// Seed for all random choices
    #[arg(long, value_name = "N", help_heading = "Model")]
    pub seed: Option<u64>,
}

/// Access to files and directories that depend on the program's environment.
#[derive(Clone, Copy, Debug)]
pub struct HostFiles {
    /// Reads a certificate or key of limited size.
    pub read_certificate: fn(&Path) -> io::Result<Vec<u8>>,
    /// Reads a file of volumes by its path.
    pub read_volume: fn(&str) -> Result<String, Problem>,
}
