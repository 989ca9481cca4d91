//! Signature version 4 of AWS.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::date::RequestDate;
use crate::text::push_hex;

/// What is signed of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CanonicalRequest<'a> {
    pub(crate) method: &'a str,
    /// Path, percent-encoded.
    pub(crate) path: &'a str,
    /// Query, percent-encoded and sorted; empty for none.
    pub(crate) query: &'a str,
    /// Names in lower case and values of the headers, sorted by name.
    pub(crate) headers: &'a [(&'a str, &'a str)],
    /// SHA-256 of the body, in hexadecimal.
    pub(crate) body_hash: &'a str,
}

/// The key of a day, region and service, derived from a secret key.
pub(crate) struct SigningKey {
    key: [u8; 32],
    date: RequestDate,
    /// `/REGION/SERVICE/aws4_request`.
    scope: String,
    key_id: String,
}

/// The only algorithm of this version.
const ALGORITHM: &str = "AWS4-HMAC-SHA256";

impl SigningKey {
    /// Derives the key of the day of `date`.
    pub(crate) fn new(key_id: &str, secret: &str, date: RequestDate, region: &str, service: &str) -> Self {
        let mut day = String::with_capacity(8);
        date.push_day(&mut day);
        let mut key = authenticated(format!("AWS4{secret}").as_bytes(), day.as_bytes());
        for part in [region, service, "aws4_request"] {
            key = authenticated(&key, part.as_bytes());
        }
        Self { key, date, scope: format!("/{region}/{service}/aws4_request"), key_id: key_id.to_owned() }
    }

    /// Reports whether the key signs requests of this date.
    pub(crate) const fn is_for(&self, date: RequestDate) -> bool {
        self.date.is_on_day_of(date)
    }

    /// Appends the value of the header `Authorization`. `scratch` is overwritten.
    pub(crate) fn sign(
        &self,
        request: &CanonicalRequest<'_>,
        date: RequestDate,
        scratch: &mut String,
        out: &mut String,
    ) {
        scratch.clear();
        request.push(scratch);
        let hash = Sha256::digest(scratch.as_bytes());
        scratch.clear();
        scratch.push_str(ALGORITHM);
        scratch.push('\n');
        date.push_instant(scratch);
        scratch.push('\n');
        self.push_scope(scratch);
        scratch.push('\n');
        push_hex(scratch, &hash);
        let signature = authenticated(&self.key, scratch.as_bytes());
        out.push_str(ALGORITHM);
        out.push_str(" Credential=");
        out.push_str(&self.key_id);
        out.push('/');
        self.push_scope(out);
        out.push_str(",SignedHeaders=");
        request.push_names(out);
        out.push_str(",Signature=");
        push_hex(out, &signature);
    }

    fn push_scope(&self, out: &mut String) {
        self.date.push_day(out);
        out.push_str(&self.scope);
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey(***)")
    }
}

impl CanonicalRequest<'_> {
    fn push(&self, out: &mut String) {
        for part in [self.method, self.path, self.query] {
            out.push_str(part);
            out.push('\n');
        }
        for (name, value) in self.headers {
            out.push_str(name);
            out.push(':');
            out.push_str(value.trim());
            out.push('\n');
        }
        out.push('\n');
        self.push_names(out);
        out.push('\n');
        out.push_str(self.body_hash);
    }

    fn push_names(&self, out: &mut String) {
        for (index, (name, _)) in self.headers.iter().enumerate() {
            if index > 0 {
                out.push(';');
            }
            out.push_str(name);
        }
    }
}

/// Returns the HMAC-SHA-256 of a message.
fn authenticated(key: &[u8], message: &[u8]) -> [u8; 32] {
    // A key of any length is accepted; the error exists for other algorithms.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return [0; 32] };
    mac.update(message);
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY_HASH: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    fn signed(key: &SigningKey, request: &CanonicalRequest<'_>, date: RequestDate) -> String {
        let (mut scratch, mut out) = (String::new(), String::new());
        key.sign(request, date, &mut scratch, &mut out);
        out
    }

    /// The examples of <https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html>.
    #[test]
    fn signatures_of_s3_are_those_that_aws_publishes() {
        let date = RequestDate::of_unix_seconds(1_369_353_600);
        let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
        let key = SigningKey::new("AKIAIOSFODNN7EXAMPLE", secret, date, "us-east-1", "s3");
        let host = ("host", "examplebucket.s3.amazonaws.com");
        let of = |method, path, query, headers: &[(&str, &str)], body_hash| {
            let headers = headers.to_vec();
            signed(&key, &CanonicalRequest { method, path, query, headers: &headers, body_hash }, date)
        };
        let (hash, instant) = (("x-amz-content-sha256", EMPTY_HASH), ("x-amz-date", "20130524T000000Z"));
        let get = of("GET", "/test.txt", "", &[host, ("range", "bytes=0-9"), hash, instant], EMPTY_HASH);
        assert_eq!(
            get,
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,\
             SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,\
             Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        );
        let body = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
        let headers = [
            ("date", "Fri, 24 May 2013 00:00:00 GMT"),
            host,
            ("x-amz-content-sha256", body),
            instant,
            ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
        ];
        let put = of("PUT", "/test%24file.text", "", &headers, body);
        assert!(put.ends_with("98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"), "{put}");
        let lifecycle = of("GET", "/", "lifecycle=", &[host, hash, instant], EMPTY_HASH);
        assert!(lifecycle.ends_with("fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"), "{lifecycle}");
        let list = of("GET", "/", "max-keys=2&prefix=J", &[host, hash, instant], EMPTY_HASH);
        assert!(list.ends_with("34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"), "{list}");
    }

    /// `get-vanilla`, `get-vanilla-query-order-key-case` and `post-vanilla` of the suite that AWS publishes for
    /// signature version 4.
    #[test]
    fn signatures_of_the_suite_of_aws_are_reproduced() {
        let date = RequestDate::of_unix_seconds(1_440_938_160);
        let secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
        let key = SigningKey::new("AKIDEXAMPLE", secret, date, "us-east-1", "service");
        let headers = [("host", "example.amazonaws.com"), ("x-amz-date", "20150830T123600Z")];
        for (method, query, expected) in [
            ("GET", "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
            ("GET", "Param1=value1&Param2=value2", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
            ("POST", "", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        ] {
            let request = CanonicalRequest { method, path: "/", query, headers: &headers, body_hash: EMPTY_HASH };
            let text = signed(&key, &request, date);
            assert!(text.ends_with(expected), "{method} {query}: {text}");
        }
        assert!(key.is_for(RequestDate::of_unix_seconds(1_440_938_160 + 3600)));
        assert!(!key.is_for(RequestDate::of_unix_seconds(1_440_938_160 + 43_200)));
        assert_eq!(format!("{key:?}"), "SigningKey(***)");
    }
}
