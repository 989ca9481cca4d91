//! Errors of addresses.

/// Syntax error of an address. Places are byte offsets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UriError {
    /// No scheme that is known.
    #[error("`{0}` is no NBD address: it begins with nbd://, nbds://, nbd+unix:// or nbds+unix://")]
    Scheme(String),
    /// A character that must be written as `%` and two digits.
    #[error("{letter:?} at byte {place} must be written as {}", percent(*letter))]
    Letter {
        /// Which.
        letter: char,
        /// Where.
        place: usize,
    },
    /// A `%` without two hexadecimal digits.
    #[error("`%` at byte {0} is not followed by two hexadecimal digits (a percent sign itself is %25)")]
    Percent(usize),
    /// No host for TCP.
    #[error(
        "there is no host\nhelp: write it after //, as in nbd://localhost/export, or use nbd+unix:///export?socket=PATH"
    )]
    NoHost,
    /// A host for a Unix domain socket.
    #[error(
        "`{0}` is a host, but a Unix domain socket has none\nhelp: write nbd+unix:///export?socket=PATH with three slashes"
    )]
    Host(String),
    /// A host that is none.
    #[error("`{0}` is no host; addresses of IPv6 stand in brackets, as in [::1]")]
    BadHost(String),
    /// A user, which nothing here would use.
    #[error("the user `{0}` has no meaning here\nhelp: leave it and the @ out")]
    User(String),
    /// A port that is none.
    #[error("`{0}` is no port: it is a number from 1 to 65535")]
    Port(String),
    /// No socket for a Unix domain socket.
    #[error("there is no socket\nhelp: add ?socket=PATH")]
    NoSocket,
    /// A socket with nothing in it.
    #[error("the path of the socket is empty\nhelp: write ?socket=PATH")]
    EmptySocket,
    /// A socket for TCP.
    #[error("a TCP address takes no socket\nhelp: use nbd+unix://, or leave ?socket= out")]
    Socket,
    /// A parameter that is not known.
    #[error("the parameter `{0}` is not known here: the only one is socket")]
    Parameter(String),
    /// A parameter that stands twice.
    #[error("the parameter `{0}` stands twice")]
    Twice(String),
    /// A fragment, which these addresses do not have.
    #[error("`#` at byte {0} begins a fragment, which NBD addresses do not have (the sign itself is %23)")]
    Fragment(usize),
    /// A name of an export that the protocol forbids.
    #[error("the name of the export {0}")]
    Export(&'static str),
}

fn percent(letter: char) -> String {
    let mut room = [0; 4];
    letter.encode_utf8(&mut room).bytes().map(|byte| format!("%{byte:02X}")).collect()
}
