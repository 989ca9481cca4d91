//! What a client needs to use a store.

use std::fmt;

/// A store and its credentials.
///
/// Its `Debug` form has no secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreAccess {
    /// Host and port as in the header `Host`.
    pub host: String,
    /// Protocol, with credentials.
    pub protocol: StoreProtocol,
}

#[derive(Clone, PartialEq, Eq)]
pub enum StoreProtocol {
    /// Plain HTTP methods, as WebDAV has them.
    WebDav {
        /// User name and password; `None` without authentication.
        user: Option<(String, String)>,
    },
    /// `OpenStack` Swift.
    Swift {
        /// Token of the session.
        token: String,
    },
    /// Amazon S3 and compatible stores.
    S3(S3Access),
}

/// Credentials and settings of S3.
#[derive(Clone, PartialEq, Eq)]
pub struct S3Access {
    /// Access key ID.
    pub key_id: String,
    /// Secret key.
    pub secret: String,
    /// Token of temporary credentials.
    pub security_token: Option<String>,
    pub region: String,
    /// Storage class of new objects.
    pub storage_class: String,
    /// Key with which the store encrypts the objects.
    pub customer_key: Option<CustomerKey>,
}

/// A key of the customer with which a store encrypts (SSE-C).
#[derive(Clone, PartialEq, Eq)]
pub struct CustomerKey {
    /// The key, as bytes.
    pub key: String,
    /// Algorithm: `AES256`.
    pub algorithm: String,
}

/// A value that cannot stand in the header of a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} contains characters that an HTTP header does not allow")]
pub struct AccessError {
    /// The value, without its text.
    pub what: &'static str,
}

impl StoreAccess {
    /// Checks that all values can stand in headers.
    ///
    /// # Errors
    /// The first value that cannot.
    pub(crate) fn check(&self) -> Result<(), AccessError> {
        let mut values = vec![("the host", &self.host)];
        match &self.protocol {
            StoreProtocol::WebDav { .. } => {}
            StoreProtocol::Swift { token } => values.push(("the token", token)),
            StoreProtocol::S3(s3) => {
                values.extend([("the key ID", &s3.key_id), ("the region", &s3.region)]);
                values.push(("the storage class", &s3.storage_class));
                values.extend(s3.security_token.iter().map(|token| ("the security token", token)));
                values.extend(s3.customer_key.iter().map(|key| ("the encryption algorithm", &key.algorithm)));
            }
        }
        let is_wrong = |value: &str| value.bytes().any(|byte| !(b'!'..=b'~').contains(&byte));
        values.into_iter().find(|(_, value)| is_wrong(value)).map_or(Ok(()), |(what, _)| Err(AccessError { what }))
    }

    /// Replaces all credentials in a text of a server, which may repeat what it was sent.
    #[must_use]
    pub fn redacted(&self, text: &str) -> String {
        let secrets: Vec<&str> = match &self.protocol {
            StoreProtocol::WebDav { user: Some((_, password)) } => vec![password],
            StoreProtocol::WebDav { user: None } => Vec::new(),
            StoreProtocol::Swift { token } => vec![token],
            StoreProtocol::S3(s3) => {
                let customer_key = s3.customer_key.as_ref().map(|key| key.key.as_str());
                [Some(s3.secret.as_str()), Some(&s3.key_id), s3.security_token.as_deref(), customer_key]
                    .into_iter()
                    .flatten()
                    .collect()
            }
        };
        let mut text = text.to_owned();
        for secret in secrets.into_iter().filter(|secret| !secret.is_empty()) {
            for form in [secret.to_owned(), crate::text::base64(secret.as_bytes())] {
                text = text.replace(&form, "***");
            }
        }
        match self.basic() {
            Some(basic) => text.replace(&basic, "***"),
            None => text,
        }
    }

    /// Returns the credentials of the basic authentication (RFC 7617).
    pub(crate) fn basic(&self) -> Option<String> {
        match &self.protocol {
            StoreProtocol::WebDav { user: Some((user, password)) } => {
                Some(crate::text::base64(format!("{user}:{password}").as_bytes()))
            }
            _ => None,
        }
    }
}

impl fmt::Debug for StoreAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreAccess").field("host", &self.host).field("protocol", &self.protocol).finish()
    }
}

impl fmt::Debug for StoreProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WebDav { user: None } => "WebDav",
            Self::WebDav { user: Some(_) } => "WebDav(***)",
            Self::Swift { .. } => "Swift(***)",
            Self::S3(_) => "S3(***)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s3() -> StoreAccess {
        StoreAccess {
            host: "store:9000".to_owned(),
            protocol: StoreProtocol::S3(S3Access {
                key_id: "KEYID".to_owned(),
                secret: "hidden".to_owned(),
                security_token: Some("session".to_owned()),
                region: "us-east-1".to_owned(),
                storage_class: "STANDARD".to_owned(),
                customer_key: Some(CustomerKey { key: "0123".to_owned(), algorithm: "AES256".to_owned() }),
            }),
        }
    }

    #[test]
    fn credentials_are_not_shown() {
        let shown = format!("{:?}", s3());
        assert_eq!(shown, "StoreAccess { host: \"store:9000\", protocol: S3(***) }");
        assert_eq!(s3().redacted("hidden KEYID session MDEyMw== 0123 rest"), "*** *** *** *** *** rest");
        let user = Some(("u".to_owned(), "p w".to_owned()));
        let dav = StoreAccess { host: "h".to_owned(), protocol: StoreProtocol::WebDav { user } };
        assert_eq!(dav.redacted("Basic dTpwIHc= p w"), "Basic *** ***");
        assert!(!format!("{dav:?}").contains("p w"));
    }

    #[test]
    fn values_cannot_add_headers() {
        assert_eq!(s3().check(), Ok(()));
        let wrong = StoreAccess { host: "h\r\nX: y".to_owned(), ..s3() };
        assert_eq!(wrong.check(), Err(AccessError { what: "the host" }));
        let token = "a b".to_owned();
        let wrong = StoreAccess { host: "h".to_owned(), protocol: StoreProtocol::Swift { token } };
        assert_eq!(wrong.check(), Err(AccessError { what: "the token" }));
    }
}
