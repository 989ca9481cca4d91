//! Addresses at which a server listens.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use nbd::server::Listener;
use nbd::wire::handshake::Tls;
use nbd::wire::{Uri, uri};

use engine::describe;
use live::endpoint;

/// A place to listen at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ListenPlace {
    /// A unix socket; without a path one that only this user finds.
    Unix(Option<PathBuf>),
    /// TCP.
    Tcp(SocketAddr),
}

/// Which clients an address admits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admits {
    /// Those with a certificate, or all of them because `--insecure` says so.
    Permitted,
    /// All, encrypted: the server proves who it is, its clients do not.
    Anyone,
    /// All, and nothing is encrypted.
    Unencrypted,
}

impl ListenPlace {
    /// Reads the value of an option that names a TCP address. An address that other hosts can reach must not admit every
    /// client unless that is permitted.
    ///
    /// # Errors
    /// What is wrong with it, and the remedy.
    pub(crate) fn tcp(text: &str, option: &str, admits: Admits) -> Result<Self, (String, String)> {
        let remedy = match option {
            "--listen" => {
                "encrypt with --tls-certificate and --tls-key and require client certificates with --tls-clients, or add \
                 --insecure where that is wanted"
            }
            _ => "or add --insecure where that is wanted",
        };
        let address = endpoint::address(text, uri::PORT, admits != Admits::Unencrypted, remedy)?;
        if admits == Admits::Anyone && !endpoint::is_local(address) {
            let message = format!(
                "other hosts can reach {address}, and any of them could read and write: no client certificate is required"
            );
            let port = address.port();
            let remedy = format!(
                "require certificates with --tls-clients FILE, use 127.0.0.1:{port}, or add --insecure where that is \
                 wanted"
            );
            return Err((message, remedy));
        }
        Ok(Self::Tcp(address))
    }
}

/// A listening address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OpenPlace {
    Unix(PathBuf),
    Tcp {
        address: SocketAddr,
        /// Whether connections are encrypted.
        tls: bool,
    },
}

impl OpenPlace {
    /// Listens at a place. Where connections can be encrypted, those of TCP must be.
    ///
    /// # Errors
    /// The system's refusal, with the place and the remedy.
    pub(crate) fn listen(
        place: &ListenPlace,
        encrypts: bool,
        directory: &RuntimeDirectory,
    ) -> Result<(Listener, Self), String> {
        match place {
            ListenPlace::Unix(path) => {
                let path = match path {
                    Some(path) => std::path::absolute(path).unwrap_or_else(|_| path.clone()),
                    None => directory.make()?.join(format!("serve-{}.sock", std::process::id())),
                };
                let listener = Listener::unix(&path).map_err(|error| refused_path("--socket", &path, &error))?;
                let tls = if encrypts { Tls::Offered } else { Tls::Off };
                Ok((listener.with_tls(tls), Self::Unix(path)))
            }
            ListenPlace::Tcp(address) => {
                let listener =
                    Listener::tcp(*address).map_err(|error| endpoint::refused("--listen", *address, &error))?;
                let address = listener.address().unwrap_or(*address);
                let tls = if encrypts { Tls::Required } else { Tls::Off };
                Ok((listener.with_tls(tls), Self::Tcp { address, tls: encrypts }))
            }
        }
    }

    /// The address of an export there.
    pub(crate) fn uri(&self, export: &str) -> Uri {
        use std::os::unix::ffi::OsStrExt;
        let server = match self {
            Self::Unix(path) => uri::UriServer::Unix(path.as_os_str().as_bytes().to_vec()),
            Self::Tcp { address, .. } => uri::UriServer::Tcp { host: reachable(address.ip()), port: address.port() },
        };
        Uri { tls: matches!(self, Self::Tcp { tls: true, .. }), server, export: export.to_owned() }
    }

    /// Where the statistics of the server are told.
    ///
    /// # Errors
    /// Where this user has no private directory.
    pub(crate) fn statistics(&self, directory: &RuntimeDirectory) -> Result<PathBuf, String> {
        match self {
            Self::Unix(path) => Ok(statistics_of(path)),
            Self::Tcp { address, .. } => Ok(directory.make()?.join(format!("tcp-{}.stats", address.port()))),
        }
    }
}

/// Path of the statistics socket beside a unix socket.
pub(crate) fn statistics_of(path: &Path) -> PathBuf {
    let mut statistics = path.as_os_str().to_owned();
    statistics.push(".stats");
    statistics.into()
}

/// Path of the statistics socket for a socket or the address of an export.
///
/// # Errors
/// Where the words are neither, with the remedy.
pub(crate) fn statistics_at(text: &str, directory: &RuntimeDirectory) -> Result<PathBuf, String> {
    if !text.contains("://") {
        let path = Path::new(text);
        return Ok(if text.ends_with(".stats") { path.to_owned() } else { statistics_of(path) });
    }
    use std::os::unix::ffi::OsStrExt;
    let uri = Uri::parse(text).map_err(|error| format!("--stats {text}: {error}"))?;
    match uri.server {
        uri::UriServer::Unix(bytes) => Ok(statistics_of(Path::new(std::ffi::OsStr::from_bytes(&bytes)))),
        uri::UriServer::Tcp { port, .. } => Ok(directory.make()?.join(format!("tcp-{port}.stats"))),
    }
}

/// An address that clients on this host can use for one that stands for all.
fn reachable(address: IpAddr) -> String {
    match address {
        IpAddr::V4(all) if all.is_unspecified() => Ipv4Addr::LOCALHOST.to_string(),
        IpAddr::V6(all) if all.is_unspecified() => "::1".to_owned(),
        address => address.to_string(),
    }
}

/// The directory of sockets that only their user finds.
#[derive(Clone, Debug)]
pub struct RuntimeDirectory {
    preferred: PathBuf,
    fallback: PathBuf,
}

impl RuntimeDirectory {
    /// Below `given` (`XDG_RUNTIME_DIR`), where that is a directory, else below the directory for temporary files.
    #[must_use]
    pub fn new(given: Option<PathBuf>, temporary: &Path) -> Self {
        let fallback = temporary.join(format!("fathom-{}", rustix::process::geteuid().as_raw()));
        let given = given.filter(|path| path.is_absolute() && path.is_dir()).map(|given| given.join("fathom"));
        Self { preferred: given.unwrap_or_else(|| fallback.clone()), fallback }
    }

    /// Makes the directory, if it is not there, so that only its owner can read it.
    ///
    /// # Errors
    /// Where it cannot be made, or belongs to another user.
    pub(crate) fn make(&self) -> Result<PathBuf, String> {
        let user = rustix::process::geteuid().as_raw();
        let directory = &self.preferred;
        let remedy = "name a socket with --socket PATH, or set XDG_RUNTIME_DIR";
        match std::fs::DirBuilder::new().mode(0o700).create(directory) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(format!("cannot make {}: {error}\nhelp: {remedy}", directory.display()));
            }
            _ => {}
        }
        // Another user may have made it, as a trap.
        let facts =
            std::fs::symlink_metadata(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        if !facts.is_dir() || facts.uid() != user || facts.mode() & 0o077 != 0 {
            return Err(format!("{} is not a directory of this user alone\nhelp: {remedy}", directory.display()));
        }
        Ok(directory.clone())
    }

    /// Both places: a process that sets `XDG_RUNTIME_DIR` in between does not find what another has left.
    pub(crate) fn all(&self) -> Vec<&Path> {
        let mut all = vec![self.preferred.as_path(), &self.fallback];
        all.dedup();
        all
    }
}

/// The longest path of a socket: `unix(7)`, `sun_path` without its end.
const PATH_MOST: usize = 107;

/// Describes why a socket cannot be created at a path.
pub(crate) fn refused_path(option: &str, path: &Path, error: &io::Error) -> String {
    let shown = path.display();
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!("{option} {shown}: the path exists\nhelp: end the server that uses it, or name another path")
        }
        _ if path.as_os_str().len() > PATH_MOST => {
            format!("{option} {shown}: paths of sockets have at most {PATH_MOST} bytes\nhelp: use a shorter path")
        }
        _ => format!("{option} {shown}: {}", describe(error)),
    }
}
