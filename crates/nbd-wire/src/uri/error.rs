use units::{Problem, ProblemCode};

/// Syntax errors of addresses. Positions are byte offsets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UriError {
    /// The scheme is unknown.
    #[error("`{0}` is not an NBD address: it must start with nbd://, nbds://, nbd+unix:// or nbds+unix://")]
    Scheme(String),
    /// A character must be percent-encoded.
    #[error("{letter:?} at byte {place} must be written as {}", percent(*letter))]
    Letter {
        letter: char,
        /// Its offset.
        place: usize,
    },
    /// A `%` is not followed by two hexadecimal digits.
    #[error("`%` at byte {0} is not followed by two hexadecimal digits (a literal % is %25)")]
    Percent(usize),
    /// A TCP address has no host.
    #[error("missing host")]
    NoHost,
    /// A Unix socket address has a host.
    #[error("`{0}` is a host, but Unix socket addresses have none")]
    Host(String),
    /// The host is invalid.
    #[error("`{0}` is not a host; enclose IPv6 addresses in brackets, such as [::1]")]
    BadHost(String),
    /// A user name is given.
    #[error("the user `{0}` is not supported")]
    User(String),
    /// The port is invalid.
    #[error("`{0}` is not a port number from 1 to 65535")]
    Port(String),
    /// A Unix socket address has no socket.
    #[error("missing socket")]
    NoSocket,
    /// The socket's path is empty.
    #[error("the socket path is empty")]
    EmptySocket,
    /// A TCP address has a socket.
    #[error("a TCP address cannot have a socket")]
    Socket,
    /// A parameter is unknown.
    #[error("unknown parameter `{0}`: only socket is supported")]
    Parameter(String),
    /// A parameter occurs twice.
    #[error("duplicate parameter `{0}`")]
    Twice(String),
    /// There is a fragment.
    #[error("`#` at byte {0} starts a fragment, which NBD addresses do not have (a literal # is %23)")]
    Fragment(usize),
    /// The protocol forbids the export's name.
    #[error("the export name {0}")]
    Export(&'static str),
}

impl UriError {
    const fn help(&self) -> Option<&'static str> {
        Some(match self {
            Self::NoHost => "use nbd://HOST/export, or nbd+unix:///export?socket=PATH",
            Self::Host(_) => "use nbd+unix:///export?socket=PATH with three slashes",
            Self::User(_) => "omit the user and the @",
            Self::NoSocket => "add ?socket=PATH",
            Self::EmptySocket => "use ?socket=PATH",
            Self::Socket => "use nbd+unix://, or omit ?socket=",
            _ => return None,
        })
    }
}

impl From<UriError> for Problem {
    fn from(error: UriError) -> Self {
        Self::error(ProblemCode::Address, error.to_string()).maybe_help(error.help().map(str::to_owned))
    }
}

fn percent(letter: char) -> String {
    let mut buffer = [0; 4];
    letter.encode_utf8(&mut buffer).bytes().map(|byte| format!("%{byte:02X}")).collect()
}
