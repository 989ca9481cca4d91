//! Addresses at which a server listens.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nbd::server::Listener;
use nbd::wire::handshake::Tls;
use nbd::wire::{Uri, uri};

use live::endpoint;
use units::{Problem, ProblemCode};

/// A requested listening address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ListenAddress {
    /// A unix socket; `None` for one in this user's runtime directory.
    Unix(Option<PathBuf>),
    Tcp(SocketAddr),
}

/// Which clients an address admits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admits {
    /// Clients with a certificate, or all because `--insecure` allows it.
    Permitted,
    /// All clients, encrypted: only the server is authenticated.
    Anyone,
    /// All clients, unencrypted.
    Unencrypted,
}

impl ListenAddress {
    /// Parses the TCP address of an option. An address that other hosts can reach must not admit every client unless
    /// that is permitted.
    ///
    /// # Errors
    /// Fails if it is no address, or admits too many.
    pub(crate) fn tcp(text: &str, option: &str, admits: Admits) -> Result<Self, Problem> {
        let remedy = match option {
            "--listen" => {
                "encrypt with --tls-certificate and --tls-key, require client certificates with --tls-clients, or \
                 add --insecure to permit it"
            }
            _ => "or add --insecure to permit it",
        };
        let address = endpoint::address(text, uri::PORT, admits != Admits::Unencrypted, remedy)?;
        if admits == Admits::Anyone && !endpoint::is_local(address) {
            let message =
                format!("any host that can reach {address} could read and write: no client certificate is required");
            let port = address.port();
            let remedy = format!(
                "require certificates with --tls-clients FILE, use 127.0.0.1:{port}, or add --insecure to permit it"
            );
            return Err(Problem::error(ProblemCode::Address, message).help(remedy));
        }
        Ok(Self::Tcp(address))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BoundAddress {
    Unix(PathBuf),
    Tcp {
        address: SocketAddr,
        /// Whether connections are encrypted.
        tls: bool,
    },
}

impl BoundAddress {
    /// Listens at an address. If the server has certificates, TCP requires encryption.
    ///
    /// # Errors
    /// The system's refusal, with the address and the remedy.
    pub(crate) fn listen(
        requested: &ListenAddress,
        encrypts: bool,
        directory: &RuntimeDirectory,
    ) -> Result<(Listener, Self), Problem> {
        match requested {
            ListenAddress::Unix(path) => {
                let path = match path {
                    Some(path) => absolute(path),
                    None => directory.make()?.join(format!("serve-{}.sock", std::process::id())),
                };
                let listener = Listener::unix(&path).map_err(|error| refused_path("--socket", &path, &error))?;
                let tls = if encrypts { Tls::Offered } else { Tls::Off };
                Ok((listener.with_tls(tls), Self::Unix(path)))
            }
            ListenAddress::Tcp(address) => {
                let listener =
                    Listener::tcp(*address).map_err(|error| endpoint::refused("--listen", *address, &error))?;
                let address = listener.address().unwrap_or(*address);
                let tls = if encrypts { Tls::Required } else { Tls::Off };
                Ok((listener.with_tls(tls), Self::Tcp { address, tls: encrypts }))
            }
        }
    }

    pub(crate) fn uri(&self, export: &str) -> Uri {
        use std::os::unix::ffi::OsStrExt;
        let server = match self {
            Self::Unix(path) => uri::UriServer::Unix(path.as_os_str().as_bytes().to_vec()),
            Self::Tcp { address, .. } => uri::UriServer::Tcp { host: reachable(address.ip()), port: address.port() },
        };
        Uri { tls: matches!(self, Self::Tcp { tls: true, .. }), server, export: export.to_owned() }
    }

    /// Returns the path of the statistics socket.
    ///
    /// # Errors
    /// When this user has no private directory.
    pub(crate) fn statistics(&self, directory: &RuntimeDirectory) -> Result<PathBuf, Problem> {
        match self {
            Self::Unix(path) => Ok(statistics_of(path)),
            Self::Tcp { address, .. } => Ok(directory.make()?.join(format!("tcp-{}.stats", address.port()))),
        }
    }
}

/// A unix socket for statistics or commands; dropping it removes its file.
pub(crate) struct ServiceSocket {
    path: PathBuf,
    listener: Listener,
}

/// Timeout of reading from and writing to such a socket.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(5);

impl ServiceSocket {
    /// Listens at a path that only its owner can use.
    ///
    /// # Errors
    /// The system's refusal, which names `option`.
    pub(crate) fn listen(option: &str, path: &Path) -> Result<Self, Problem> {
        let path = absolute(path);
        let listener = Listener::unix(&path).map_err(|error| refused_path(option, &path, &error))?;
        Ok(Self { path, listener })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a blocking listener on the socket.
    ///
    /// # Errors
    /// When the kernel has no descriptor left.
    pub(crate) fn listener(&self) -> io::Result<UnixListener> {
        let listener = UnixListener::from(self.listener.try_clone_file()?);
        listener.set_nonblocking(false)?;
        Ok(listener)
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns the path of the statistics socket of a unix socket.
pub(crate) fn statistics_of(path: &Path) -> PathBuf {
    let mut statistics = path.as_os_str().to_owned();
    statistics.push(".stats");
    statistics.into()
}

/// Returns the path of the statistics socket for a socket's path or an export's URI.
///
/// # Errors
/// When the text is neither, with the remedy.
pub(crate) fn statistics_at(text: &str, directory: &RuntimeDirectory) -> Result<PathBuf, Problem> {
    if !text.contains("://") {
        let path = Path::new(text);
        return Ok(if text.ends_with(".stats") { path.to_owned() } else { statistics_of(path) });
    }
    use std::os::unix::ffi::OsStrExt;
    let uri = Uri::parse(text).map_err(|error| Problem::from(error).of(format_args!("--stats {text}")))?;
    match uri.server {
        uri::UriServer::Unix(bytes) => Ok(statistics_of(Path::new(std::ffi::OsStr::from_bytes(&bytes)))),
        uri::UriServer::Tcp { port, .. } => Ok(directory.make()?.join(format!("tcp-{port}.stats"))),
    }
}

/// Returns the address with which clients on this host reach the server; the unspecified address becomes loopback.
fn reachable(address: IpAddr) -> String {
    match address {
        IpAddr::V4(all) if all.is_unspecified() => Ipv4Addr::LOCALHOST.to_string(),
        IpAddr::V6(all) if all.is_unspecified() => "::1".to_owned(),
        address => address.to_string(),
    }
}

/// Directory of sockets that only this user can access.
#[derive(Clone, Debug)]
pub struct RuntimeDirectory {
    preferred: PathBuf,
    fallback: PathBuf,
}

impl RuntimeDirectory {
    /// Uses `fathom` below `given` (`XDG_RUNTIME_DIR`) if that is a directory, else a directory below `temporary`.
    #[must_use]
    pub fn new(given: Option<PathBuf>, temporary: &Path) -> Self {
        let fallback = temporary.join(format!("fathom-{}", rustix::process::geteuid().as_raw()));
        let given = given.filter(|path| path.is_absolute() && path.is_dir()).map(|given| given.join("fathom"));
        Self { preferred: given.unwrap_or_else(|| fallback.clone()), fallback }
    }

    /// Creates the directory if necessary, readable only by its owner.
    ///
    /// # Errors
    /// When it cannot be created or belongs to another user.
    pub(crate) fn make(&self) -> Result<PathBuf, Problem> {
        let user = rustix::process::geteuid().as_raw();
        let directory = &self.preferred;
        let remedy = "set a socket with --socket PATH, or set XDG_RUNTIME_DIR";
        match std::fs::DirBuilder::new().mode(0o700).create(directory) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                let what = format!("cannot create {}: {error}", directory.display());
                return Err(Problem::error(ProblemCode::File, what).help(remedy));
            }
            _ => {}
        }
        // Another user may have created it as a trap.
        let facts = std::fs::symlink_metadata(directory)
            .map_err(|error| Problem::error(ProblemCode::File, format!("{}: {error}", directory.display())))?;
        if !facts.is_dir() || facts.uid() != user || facts.mode() & 0o077 != 0 {
            let what = format!("{} is not a private directory of this user", directory.display());
            return Err(Problem::error(ProblemCode::File, what).help(remedy));
        }
        Ok(directory.clone())
    }

    /// Returns both directories: a server may have run with a different `XDG_RUNTIME_DIR`.
    pub(crate) fn all(&self) -> Vec<&Path> {
        let mut all = vec![self.preferred.as_path(), &self.fallback];
        all.dedup();
        all
    }
}

/// Maximum length of a socket's path: `unix(7)`, `sun_path` without its terminator.
const MAX_PATH: usize = 107;

/// Describes why a socket cannot be created at a path.
pub(crate) fn refused_path(option: &str, path: &Path, error: &io::Error) -> Problem {
    let shown = path.display();
    let problem = |what: String| Problem::error(ProblemCode::Connection, format!("{option} {shown}: {what}"));
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            problem("the path exists".to_owned()).help("stop the server that uses it, or use another path")
        }
        _ if path.as_os_str().len() > MAX_PATH => {
            problem(format!("socket paths are limited to {MAX_PATH} bytes")).help("use a shorter path")
        }
        _ => engine::io_problem(ProblemCode::Connection, format_args!("{option} {shown}"), error),
    }
}
