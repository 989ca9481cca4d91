//! Addresses of exports: <https://github.com/NetworkBlockDevice/nbd/blob/master/doc/uri.md>, with the syntax of RFC 3986.

mod error;

use std::fmt;

use super::number::MAX_STRING;
pub use error::UriError;

/// Port assigned by IANA.
pub const PORT: u16 = 10809;

/// The address of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uri {
    /// Whether TLS is required (`nbds`, `nbds+unix`).
    pub tls: bool,
    /// Address of the server.
    pub server: UriServer,
    /// Name of the export; empty for the server's default.
    pub export: String,
}

/// Address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UriServer {
    /// A TCP port.
    Tcp {
        /// Name or address; IPv6 without brackets.
        host: String,
        port: u16,
    },
    /// A Unix socket: a path or, after a NUL, a name in the abstract namespace.
    Unix(Vec<u8>),
}

impl Uri {
    /// Parses an address.
    ///
    /// # Errors
    /// The first problem found.
    pub fn parse(text: &str) -> Result<Self, UriError> {
        let (tls, unix, rest) = scheme(text).ok_or_else(|| UriError::Scheme(text.to_owned()))?;
        check_letters(text)?;
        let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let socket = socket(query)?;
        let server = match (unix, socket) {
            (true, None) => return Err(UriError::NoSocket),
            (true, Some(_)) if !authority.is_empty() => return Err(UriError::Host(authority.to_owned())),
            (true, Some(path)) if path.is_empty() => return Err(UriError::EmptySocket),
            (true, Some(path)) => UriServer::Unix(path),
            (false, Some(_)) => return Err(UriError::Socket),
            (false, None) => tcp(authority)?,
        };
        Ok(Self { tls, server, export: export(path.strip_prefix('/').unwrap_or(path))? })
    }
}

/// Returns whether TLS is required, whether the socket is a Unix socket, and the rest. Schemes are case-insensitive.
fn scheme(text: &str) -> Option<(bool, bool, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let (tls, unix) = match scheme.to_ascii_lowercase().as_str() {
        "nbd" => (false, false),
        "nbds" => (true, false),
        "nbd+unix" => (false, true),
        "nbds+unix" => (true, true),
        _ => return None,
    };
    Some((tls, unix, rest))
}

/// Checks for characters that RFC 3986 forbids and for incomplete percent-encoding.
fn check_letters(text: &str) -> Result<(), UriError> {
    for (place, letter) in text.char_indices() {
        match letter {
            '#' => return Err(UriError::Fragment(place)),
            '%' if !text[place + 1..].bytes().take(2).filter(u8::is_ascii_hexdigit).count().eq(&2) => {
                return Err(UriError::Percent(place));
            }
            letter if letter.is_ascii_alphanumeric() || "-._~:/?[]@!$&'()*+,;=%".contains(letter) => {}
            letter => return Err(UriError::Letter { letter, place }),
        }
    }
    Ok(())
}

fn tcp(authority: &str) -> Result<UriServer, UriError> {
    if let Some((user, _)) = authority.rsplit_once('@') {
        return Err(UriError::User(user.to_owned()));
    }
    if !authority.starts_with('[') && authority.matches(':').count() > 1 {
        return Err(UriError::BadHost(authority.to_owned()));
    }
    let bracket = authority.find(']').map_or(0, |place| place + 1);
    let (host, port) = match authority[bracket..].find(':') {
        Some(colon) => (&authority[..bracket + colon], &authority[bracket + colon + 1..]),
        None => (authority, ""),
    };
    Ok(UriServer::Tcp { host: self::host(host)?, port: self::port(port)? })
}

fn host(text: &str) -> Result<String, UriError> {
    let wrong = || UriError::BadHost(text.to_owned());
    if text.is_empty() {
        return Err(UriError::NoHost);
    }
    if let Some(address) = text.strip_prefix('[') {
        let address = address.strip_suffix(']').ok_or_else(wrong)?;
        let is_address = address.parse::<std::net::Ipv6Addr>().is_ok();
        return if is_address { Ok(address.to_owned()) } else { Err(wrong()) };
    }
    let name = String::from_utf8(decode(text)).map_err(|_| wrong())?;
    let is_name =
        !name.contains(|letter: char| letter.is_control() || letter.is_whitespace() || "[]:/@".contains(letter));
    if is_name { Ok(name) } else { Err(wrong()) }
}

/// Parses a port; an empty one is the default (RFC 3986, section 3.2.3).
fn port(text: &str) -> Result<u16, UriError> {
    if text.is_empty() {
        return Ok(PORT);
    }
    let digits = text.bytes().all(|digit| digit.is_ascii_digit());
    text.parse().ok().filter(|&port| digits && port > 0).ok_or_else(|| UriError::Port(text.to_owned()))
}

/// Returns the `socket` parameter and rejects all others.
fn socket(query: Option<&str>) -> Result<Option<Vec<u8>>, UriError> {
    let mut socket = None;
    for parameter in query.unwrap_or_default().split('&').filter(|parameter| !parameter.is_empty()) {
        let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        if decode(key) != b"socket" {
            return Err(UriError::Parameter(key.to_owned()));
        }
        if socket.replace(decode(value)).is_some() {
            return Err(UriError::Twice(key.to_owned()));
        }
    }
    Ok(socket)
}

fn export(path: &str) -> Result<String, UriError> {
    let name = String::from_utf8(decode(path)).map_err(|_| UriError::Export("is not UTF-8"))?;
    if name.contains('\0') {
        return Err(UriError::Export("contains NUL (%00), which the protocol forbids"));
    }
    if name.len() > MAX_STRING {
        return Err(UriError::Export("is longer than the protocol's limit of 4096 bytes"));
    }
    Ok(name)
}

/// Decodes percent-encoding, which [`check_letters`] has validated.
fn decode(text: &str) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let digit = |digit: Option<u8>| digit.and_then(|digit| char::from(digit).to_digit(16)).unwrap_or(0) as u8;
        let escaped = byte == b'%';
        decoded.push(if escaped { digit(bytes.next()) << 4 | digit(bytes.next()) } else { byte });
    }
    decoded
}

/// Percent-encodes bytes of a path or parameter.
struct Encoded<'a>(&'a [u8]);

impl fmt::Display for Encoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|&byte| match byte {
            b'-' | b'.' | b'_' | b'~' | b'/' | b':' | b'@' | b',' => write!(f, "{}", char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => write!(f, "{}", char::from(byte)),
            byte => write!(f, "%{byte:02X}"),
        })
    }
}

/// Writes an address that [`Uri::parse`] reads. Omits the default port.
impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "nbds" } else { "nbd" };
        let export = Encoded(self.export.as_bytes());
        match &self.server {
            UriServer::Unix(path) => write!(f, "{scheme}+unix:///{export}?socket={}", Encoded(path)),
            UriServer::Tcp { host, port } => {
                write!(f, "{scheme}://")?;
                if host.contains(':') {
                    write!(f, "[{host}]")?;
                } else {
                    write!(f, "{}", Encoded(host.as_bytes()))?;
                }
                if *port != PORT {
                    write!(f, ":{port}")?;
                }
                write!(f, "/{export}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Uri {
        Uri::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn tcp(host: &str, port: u16, export: &str) -> Uri {
        Uri { tls: false, server: UriServer::Tcp { host: host.into(), port }, export: export.into() }
    }

    fn unix(path: &[u8], export: &str) -> Uri {
        Uri { tls: false, server: UriServer::Unix(path.to_vec()), export: export.into() }
    }

    #[test]
    fn parses_the_examples_of_the_document() {
        assert_eq!(parsed("nbd://example.com:10809/export"), tcp("example.com", 10809, "export"));
        assert_eq!(parsed("nbd+unix:///export?socket=nbd.sock"), unix(b"nbd.sock", "export"));
        assert_eq!(parsed("nbd://example.com/disk"), tcp("example.com", 10809, "disk"));
        assert_eq!(parsed("nbd+unix:///disk?socket=sock"), unix(b"sock", "disk"));
        assert_eq!(parsed("nbd://example.com/"), tcp("example.com", 10809, ""));
        assert_eq!(parsed("nbd://example.com"), tcp("example.com", 10809, ""));
        assert_eq!(parsed("nbd://example.com//disk"), tcp("example.com", 10809, "/disk"));
        assert_eq!(parsed("nbd://example.com/hello%20world"), tcp("example.com", 10809, "hello world"));
        assert_eq!(parsed("nbd+unix:///?socket=%00/abstract"), unix(b"\0/abstract", ""));
    }

    #[test]
    fn parses_schemes_ports_and_addresses() {
        assert!(parsed("nbds://h/").tls && parsed("nbds+unix:///?socket=s").tls);
        assert_eq!(parsed("NBD://h:1/"), tcp("h", 1, ""));
        assert_eq!(parsed("nbd://h:/x"), tcp("h", PORT, "x"));
        assert_eq!(parsed("nbd://127.0.0.1:65535/x"), tcp("127.0.0.1", 65535, "x"));
        assert_eq!(parsed("nbd://[::1]/x"), tcp("::1", PORT, "x"));
        assert_eq!(parsed("nbd://[fe80::1]:99/a:b@c"), tcp("fe80::1", 99, "a:b@c"));
        assert_eq!(parsed("nbd+unix://?socket=/run/a%20b"), unix(b"/run/a b", ""));
        assert_eq!(parsed("nbd+unix:///?&socket=/a?b=c&"), unix(b"/a?b=c", ""));
    }

    #[test]
    fn every_error_names_its_cause() {
        let text = |text: &str| units::Problem::from(Uri::parse(text).expect_err(text)).to_string();
        for (uri, part) in [
            ("http://h/x", "nbd+unix://"),
            ("nbd:h", "it must start with"),
            ("", "it must start with"),
            ("nbd://h/a b", "' ' at byte 9 must be written as %20"),
            ("nbd://h/é", "%C3%A9"),
            ("nbd://h/50%", "`%` at byte 10"),
            ("nbd://h/%4é", "`%` at byte 8"),
            ("nbd://h/%g0", "%25"),
            ("nbd:///x", "missing host"),
            ("nbd://:5/x", "missing host"),
            ("nbd+unix://h/x?socket=s", "three slashes"),
            ("nbd://[::g]/", "`[::g]` is not a host"),
            ("nbd://[::1/", "not a host"),
            ("nbd://a%00b/", "`a%00b` is not a host"),
            ("nbd://me@h/", "`me`"),
            ("nbd://h:0/", "`0` is not a port"),
            ("nbd://h:65536/", "`65536`"),
            ("nbd://h:+5/", "`+5`"),
            ("nbd://::1/", "such as [::1]"),
            ("nbd+unix:///x", "add ?socket=PATH"),
            ("nbd+unix:///x?socket", "the socket path is empty"),
            ("nbd://h/x?socket=s", "TCP"),
            ("nbd+unix:///x?socket=s&tls-type=psk", "`tls-type`"),
            ("nbd+unix:///x?socket=s&socket=s", "duplicate"),
            ("nbd://h/x#y", "%23"),
            ("nbd://h/%00", "NUL"),
            ("nbd://h/%ff", "UTF-8"),
        ] {
            assert!(text(uri).contains(part), "{uri}: {}", text(uri));
        }
        assert!(text(&format!("nbd://h/{}", "x".repeat(4097))).contains("4096"));
    }

    #[test]
    fn printed_addresses_parse_to_the_same() {
        for export in ["", "disk", "/disk", "a b%c#d?e&f", "ü€", "x:y@z", "?socket="] {
            for tls in [false, true] {
                let servers = [
                    UriServer::Unix(b"/run/my socket".to_vec()),
                    UriServer::Unix(b"\0abstract\xff&=".to_vec()),
                    UriServer::Tcp { host: "h.example".into(), port: PORT },
                    UriServer::Tcp { host: "::1".into(), port: 7 },
                ];
                for server in servers {
                    let uri = Uri { tls, server, export: export.into() };
                    assert_eq!(Uri::parse(&uri.to_string()), Ok(uri.clone()), "{uri}");
                }
            }
        }
        assert_eq!(unix(b"/a b", "d").to_string(), "nbd+unix:///d?socket=/a%20b");
        assert_eq!(tcp("::1", 10809, "d").to_string(), "nbd://[::1]/d");
    }
}
