//! Heads of requests.

use std::fmt::Write;

use md5::{Digest, Md5};
use sha2::Sha256;

use crate::access::{AccessError, CustomerKey, S3Access, StoreAccess, StoreProtocol};
use crate::date::RequestDate;
use crate::signature::{CanonicalRequest, SigningKey};
use crate::text::{base64, push_hex, push_percent_encoded};

/// Methods of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectMethod {
    /// Reads an object.
    Get,
    /// Writes an object.
    Put,
    /// Deletes an object.
    Delete,
}

impl ObjectMethod {
    /// Returns the method as requests have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct ObjectRequest<'a> {
    pub method: ObjectMethod,
    /// Path of the object, not encoded; it begins with a slash.
    pub path: &'a str,
    /// First byte and number of bytes to read, at least one; `None` for the whole object.
    pub range: Option<(u64, u64)>,
    /// The object to write; empty for other methods. The head does not contain it.
    pub body: &'a [u8],
}

/// Encodes requests to one store. After the first requests it allocates no memory.
#[derive(Debug)]
pub struct RequestEncoder {
    access: StoreAccess,
    /// Headers that are the same in all requests, with their line ends.
    fixed: String,
    signer: Option<Signer>,
    path: String,
    range: String,
}

impl RequestEncoder {
    /// Creates an encoder for a store.
    ///
    /// # Errors
    /// Fails if a value cannot stand in a header.
    pub fn new(access: StoreAccess) -> Result<Self, AccessError> {
        access.check()?;
        let mut fixed = format!("Host: {}\r\nUser-Agent: fathom\r\nAccept: */*\r\n", access.host);
        // Writing to a string cannot fail.
        let _ = match &access.protocol {
            StoreProtocol::Swift { token } => write!(fixed, "X-Auth-Token: {token}\r\n"),
            _ => access.basic().map_or(Ok(()), |basic| write!(fixed, "Authorization: Basic {basic}\r\n")),
        };
        let signer = match &access.protocol {
            StoreProtocol::S3(s3) => Some(Signer::new(s3)),
            _ => None,
        };
        Ok(Self { access, fixed, signer, path: String::new(), range: String::new() })
    }

    /// Appends the head of a request to `out`. `date` is that of its signature.
    pub fn encode(&mut self, request: &ObjectRequest<'_>, date: RequestDate, out: &mut Vec<u8>) {
        self.path.clear();
        push_percent_encoded(&mut self.path, request.path);
        for part in [request.method.name(), " ", &self.path, " HTTP/1.1\r\n", &self.fixed] {
            out.extend_from_slice(part.as_bytes());
        }
        self.range.clear();
        if let Some((start, length)) = request.range {
            let _ = write!(self.range, "bytes={start}-{}", start.saturating_add(length.max(1) - 1));
            push_header(out, "Range", &self.range);
        }
        match (&self.access.protocol, &mut self.signer) {
            (StoreProtocol::S3(s3), Some(signer)) => {
                signer.push(&self.access.host, s3, (request, &self.path, &self.range), date, out);
            }
            (StoreProtocol::Swift { .. }, _) if request.method == ObjectMethod::Put => {
                self.path.clear();
                push_hex(&mut self.path, &Md5::digest(request.body));
                push_header(out, "ETag", &self.path);
            }
            _ => {}
        }
        if request.method == ObjectMethod::Put {
            self.path.clear();
            let _ = write!(self.path, "{}", request.body.len());
            push_header(out, "Content-Length", &self.path);
        }
        out.extend_from_slice(b"\r\n");
    }
}

fn push_header(out: &mut Vec<u8>, name: &str, value: &str) {
    for part in [name, ": ", value, "\r\n"] {
        out.extend_from_slice(part.as_bytes());
    }
}

/// Signs requests to S3.
#[derive(Debug)]
struct Signer {
    key: Option<SigningKey>,
    customer_key: Option<EncodedCustomerKey>,
    instant: String,
    body_hash: String,
    scratch: String,
    authorization: String,
}

/// A customer's key as headers have it.
struct EncodedCustomerKey {
    algorithm: String,
    key: String,
    digest: String,
}

impl std::fmt::Debug for EncodedCustomerKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

impl EncodedCustomerKey {
    fn new(customer_key: &CustomerKey) -> Self {
        let bytes = customer_key.key.as_bytes();
        Self {
            algorithm: customer_key.algorithm.clone(),
            key: base64(bytes),
            digest: base64(Md5::digest(bytes).as_slice()),
        }
    }
}

/// Headers of S3 of one request: at most all of them.
const S3_HEADERS_MAX: usize = 9;

impl Signer {
    fn new(s3: &S3Access) -> Self {
        Self {
            key: None,
            customer_key: s3.customer_key.as_ref().map(EncodedCustomerKey::new),
            instant: String::new(),
            body_hash: String::new(),
            scratch: String::new(),
            authorization: String::new(),
        }
    }

    /// Appends the headers of S3 and their signature.
    fn push(
        &mut self,
        host: &str,
        s3: &S3Access,
        (request, path, range): (&ObjectRequest<'_>, &str, &str),
        date: RequestDate,
        out: &mut Vec<u8>,
    ) {
        self.instant.clear();
        date.push_instant(&mut self.instant);
        self.body_hash.clear();
        push_hex(&mut self.body_hash, &Sha256::digest(request.body));
        if !self.key.as_ref().is_some_and(|key| key.is_for(date)) {
            self.key = Some(SigningKey::new(&s3.key_id, &s3.secret, date, &s3.region, "s3"));
        }
        let Some(key) = &self.key else { return };
        // In the order of their names, as the signature demands.
        let mut headers = [("", ""); S3_HEADERS_MAX];
        let mut count = 0;
        let mut add = |name, value| {
            headers[count] = (name, value);
            count += 1;
        };
        add("host", host);
        if !range.is_empty() {
            add("range", range);
        }
        add("x-amz-content-sha256", &self.body_hash);
        add("x-amz-date", &self.instant);
        if let Some(token) = &s3.security_token {
            add("x-amz-security-token", token);
        }
        if let Some(customer_key) = self.customer_key.as_ref().filter(|_| request.method != ObjectMethod::Delete) {
            add("x-amz-server-side-encryption-customer-algorithm", &customer_key.algorithm);
            add("x-amz-server-side-encryption-customer-key", &customer_key.key);
            add("x-amz-server-side-encryption-customer-key-md5", &customer_key.digest);
        }
        if request.method == ObjectMethod::Put {
            add("x-amz-storage-class", &s3.storage_class);
        }
        let headers = &headers[..count];
        let body_hash = self.body_hash.as_str();
        let canonical = CanonicalRequest { method: request.method.name(), path, query: "", headers, body_hash };
        self.authorization.clear();
        key.sign(&canonical, date, &mut self.scratch, &mut self.authorization);
        for (name, value) in headers.iter().filter(|(name, _)| name.starts_with("x-amz")) {
            push_header(out, name, value);
        }
        push_header(out, "Authorization", &self.authorization);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(protocol: StoreProtocol, request: &ObjectRequest<'_>) -> String {
        let access = StoreAccess { host: "store:9000".to_owned(), protocol };
        let mut encoder = RequestEncoder::new(access).unwrap();
        let mut out = Vec::new();
        encoder.encode(request, RequestDate::of_unix_seconds(1_369_353_600), &mut out);
        String::from_utf8(out).unwrap()
    }

    const PUT: ObjectRequest<'static> =
        ObjectRequest { method: ObjectMethod::Put, path: "/b/o 1_0_4", range: None, body: b"data" };

    #[test]
    fn requests_of_webdav_are_authenticated_only_with_a_user() {
        assert_eq!(
            encoded(StoreProtocol::WebDav { user: None }, &PUT),
            "PUT /b/o%201_0_4 HTTP/1.1\r\nHost: store:9000\r\nUser-Agent: fathom\r\nAccept: */*\r\nContent-Length: 4\r\n\r\n"
        );
        let user = Some(("Aladdin".to_owned(), "open sesame".to_owned()));
        let get = ObjectRequest { method: ObjectMethod::Get, range: Some((8, 4)), body: b"", ..PUT };
        // The example of RFC 7617.
        assert_eq!(
            encoded(StoreProtocol::WebDav { user }, &get),
            "GET /b/o%201_0_4 HTTP/1.1\r\nHost: store:9000\r\nUser-Agent: fathom\r\nAccept: */*\r\n\
             Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\nRange: bytes=8-11\r\n\r\n"
        );
    }

    #[test]
    fn requests_of_swift_have_the_token_and_the_digest_of_an_object() {
        let text = encoded(StoreProtocol::Swift { token: "TOKEN".to_owned() }, &PUT);
        assert!(text.contains("X-Auth-Token: TOKEN\r\nETag: 8d777f385d3dfec8815d20f7496026dc\r\n"), "{text}");
    }

    #[test]
    fn requests_of_s3_sign_what_they_send() {
        let s3 = || S3Access {
            key_id: "AKIDEXAMPLE".to_owned(),
            secret: "secret".to_owned(),
            security_token: Some("SESSION".to_owned()),
            region: "eu-1".to_owned(),
            storage_class: "GLACIER".to_owned(),
            customer_key: Some(CustomerKey {
                key: "01234567890123456789012345678901".to_owned(),
                algorithm: "AES256".to_owned(),
            }),
        };
        let text = encoded(StoreProtocol::S3(s3()), &PUT);
        let signed = "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token;\
                      x-amz-server-side-encryption-customer-algorithm;x-amz-server-side-encryption-customer-key;\
                      x-amz-server-side-encryption-customer-key-md5;x-amz-storage-class,";
        assert!(text.contains(signed), "{text}");
        assert!(text.contains("customer-key: MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\r\n"), "{text}");
        assert!(text.contains("customer-key-md5: KYvwGXoFFJ42a2u2GDWhwQ==\r\n"), "{text}");
        assert!(text.contains("Credential=AKIDEXAMPLE/20130524/eu-1/s3/aws4_request"), "{text}");
        let delete = ObjectRequest { method: ObjectMethod::Delete, body: b"", ..PUT };
        let text = encoded(StoreProtocol::S3(s3()), &delete);
        assert!(!text.contains("customer") && !text.contains("class") && !text.contains("Content-Length"), "{text}");
    }
}
