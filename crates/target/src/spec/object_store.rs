//! Options of the engine `http`.

use std::fmt;

/// An object store and the access to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectStoreOptions {
    /// Host, with a port if it is not the protocol's default (`http_host`).
    pub host: String,
    /// Encryption of the connection (`https`).
    pub encryption: StoreEncryption,
    /// Protocol of the store (`http_mode`).
    pub mode: ObjectStoreMode,
    /// User of the basic authentication (`http_user`).
    pub user: String,
    /// Password of the basic authentication (`http_pass`).
    pub password: Secret,
    /// Secret key of S3 (`http_s3_key`).
    pub s3_key: Secret,
    /// Access key ID of S3 (`http_s3_keyid`).
    pub s3_key_id: Secret,
    /// Token of temporary credentials of S3 (`http_s3_security_token`).
    pub s3_token: Secret,
    /// Region of S3 (`http_s3_region`).
    pub s3_region: String,
    /// Storage class of new objects of S3 (`http_s3_storage_class`).
    pub s3_storage_class: String,
    /// Key with which S3 encrypts the objects (`http_s3_sse_customer_key`).
    pub s3_customer_key: Secret,
    /// Algorithm of that encryption (`http_s3_sse_customer_algorithm`).
    pub s3_customer_algorithm: String,
    /// Token of a session of Swift (`http_swift_auth_token`).
    pub swift_token: Secret,
    /// A file is one object, of which ranges are read (`http_object_mode=range`); otherwise each block is an object.
    pub ranged: bool,
    /// Reports about each request (`http_verbose`): 1 for its status, 2 also for its size and duration.
    pub verbosity: u32,
}

impl ObjectStoreOptions {
    /// Returns the URL of the objects of a file.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        let scheme = if self.encryption == StoreEncryption::Off { "http" } else { "https" };
        format!("{scheme}://{}{path}", self.host)
    }

    /// Returns the path in a URL of this store.
    #[must_use]
    pub fn path<'a>(&self, url: &'a str) -> &'a str {
        url.strip_prefix(self.url("").as_str()).unwrap_or(url)
    }

    /// Returns the name of the host, without brackets, and the port.
    #[must_use]
    pub fn address(&self) -> Option<(&str, u16)> {
        let port_of_scheme = if self.encryption == StoreEncryption::Off { 80 } else { 443 };
        let (name, port) = match self.host.strip_prefix('[') {
            Some(rest) => rest.split_once(']').map(|(name, rest)| (name, rest.strip_prefix(':')))?,
            None => match self.host.split_once(':') {
                Some((name, port)) => (name, Some(port)),
                None => (self.host.as_str(), None),
            },
        };
        let is_name =
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte));
        let port = port.map_or(Some(port_of_scheme), |port| port.parse().ok().filter(|port| *port > 0))?;
        is_name.then_some((name, port))
    }
}

impl Default for ObjectStoreOptions {
    fn default() -> Self {
        Self {
            host: "localhost".to_owned(),
            encryption: StoreEncryption::default(),
            mode: ObjectStoreMode::default(),
            user: String::new(),
            password: Secret::default(),
            s3_key: Secret::default(),
            s3_key_id: Secret::default(),
            s3_token: Secret::default(),
            s3_region: "us-east-1".to_owned(),
            s3_storage_class: "STANDARD".to_owned(),
            s3_customer_key: Secret::default(),
            s3_customer_algorithm: "AES256".to_owned(),
            swift_token: Secret::default(),
            ranged: false,
            verbosity: 0,
        }
    }
}

/// Encryption of connections to an object store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StoreEncryption {
    /// None.
    #[default]
    Off,
    /// TLS with a certificate of an authority that the host trusts.
    On,
    /// TLS with any certificate.
    Insecure,
}

/// Protocols of object stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ObjectStoreMode {
    /// Plain HTTP methods.
    #[default]
    WebDav,
    S3,
    Swift,
}

/// A text that is never shown, empty if it is not given.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "none" } else { "***" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_the_port_of_their_protocol() {
        let of = |host: &str, encryption| {
            let options = ObjectStoreOptions { host: host.to_owned(), encryption, ..ObjectStoreOptions::default() };
            options.address().map(|(name, port)| format!("{name} {port}"))
        };
        let plain = |host: &str| of(host, StoreEncryption::Off).unwrap_or_default();
        assert_eq!(plain("store"), "store 80");
        assert_eq!(of("store", StoreEncryption::On).unwrap(), "store 443");
        assert_eq!(plain("store.example.com:9000"), "store.example.com 9000");
        assert_eq!([plain("[::1]"), plain("[fe80::1]:81")], ["::1 80", "fe80::1 81"]);
        for wrong in ["", ":9000", "a:", "a:0", "a:65536", "a:x", "a/b", "u@a", "a b", "[::1", "http://a", "a:1:2"] {
            assert_eq!(plain(wrong), "", "{wrong}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let mut options = ObjectStoreOptions::default();
        for secret in [&mut options.password, &mut options.s3_key, &mut options.swift_token] {
            secret.0 = "hidden".to_owned();
        }
        assert!(!format!("{options:?}").contains("hidden"));
    }
}
