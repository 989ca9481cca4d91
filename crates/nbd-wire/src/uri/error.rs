use units::{Problem, ProblemCode};

/// Syntax errors of addresses. Positions are byte offsets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UriError {
    /// The scheme is unknown.
    #[error("`{0}` is not an NBD address: it begins with nbd://, nbds://, nbd+unix:// or nbds+unix://")]
    Scheme(String),
    /// A character must be percent-encoded.
    #[error("{letter:?} at byte {place} must be written as {}", percent(*letter))]
    Letter {
        letter: char,
        /// Its offset.
        place: usize,
    },
    /// A `%` is not followed by two hexadecimal digits.
    #[error("`%` at byte {0} is not followed by two hexadecimal digits (a percent sign itself is %25)")]
    Percent(usize),
    /// A TCP address has no host.
    #[error("there is no host")]
    NoHost,
    /// A Unix socket address has a host.
    #[error("`{0}` is a host, but a Unix domain socket has none")]
    Host(String),
    /// The host is invalid.
    #[error("`{0}` is not a host; IPv6 addresses are written in brackets, as in [::1]")]
    BadHost(String),
    /// A user name is given.
    #[error("the user `{0}` has no meaning here")]
    User(String),
    /// The port is invalid.
    #[error("`{0}` is not a port, which is a number from 1 to 65535")]
    Port(String),
    /// A Unix socket address has no socket.
    #[error("there is no socket")]
    NoSocket,
    /// The socket's path is empty.
    #[error("the path of the socket is empty")]
    EmptySocket,
    /// A TCP address has a socket.
    #[error("a TCP address takes no socket")]
    Socket,
    /// A parameter is unknown.
    #[error("the parameter `{0}` is not known here: the only one is socket")]
    Parameter(String),
    /// A parameter occurs twice.
    #[error("the parameter `{0}` is given twice")]
    Twice(String),
    /// There is a fragment.
    #[error("`#` at byte {0} begins a fragment, which NBD addresses do not have (the sign itself is %23)")]
    Fragment(usize),
    /// The protocol forbids the export's name.
    #[error("the name of the export {0}")]
    Export(&'static str),
}

impl UriError {
    const fn help(&self) -> Option<&'static str> {
        Some(match self {
            Self::NoHost => "write it after //, as in nbd://localhost/export, or use nbd+unix:///export?socket=PATH",
            Self::Host(_) => "write nbd+unix:///export?socket=PATH with three slashes",
            Self::User(_) => "leave it and the @ out",
            Self::NoSocket => "add ?socket=PATH",
            Self::EmptySocket => "write ?socket=PATH",
            Self::Socket => "use nbd+unix://, or leave ?socket= out",
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
