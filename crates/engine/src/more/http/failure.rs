//! Why a request failed, and what to do about it.

use std::io;

use object_wire::{ObjectMethod, ResponseError, StoreAccess, StoreProtocol};
use units::{Problem, ProblemCode};

#[derive(Debug)]
pub(super) enum RequestFailure {
    /// The run ends.
    Cancelled,
    /// There is no connection.
    Unreachable(io::Error),
    /// The certificate of the server is not accepted, or TLS fails otherwise.
    Tls(rustls::Error),
    /// The connection broke.
    Lost(io::Error),
    /// The server did not answer, or stopped in the middle of an answer.
    Silent,
    /// The answer is malformed.
    Response(ResponseError),
    /// The status is an error.
    Status {
        /// Status code.
        status: u16,
        /// What the server says.
        message: String,
        /// Whether the server demands another scheme of authentication than `Basic`.
        other_scheme: bool,
    },
    /// The object has another length than the block.
    Length {
        /// Length of the object, or of the part that the server sent; `None` if it is larger but unknown.
        found: Option<u64>,
        /// Length of the block.
        expected: u64,
    },
    /// The server sent the whole object instead of a range.
    Whole,
}

impl RequestFailure {
    /// Converts an error of a connection, which may be one of TLS.
    pub(super) fn of_transfer(error: io::Error) -> Self {
        match error.downcast::<rustls::Error>() {
            Ok(tls) => Self::Tls(tls),
            Err(error) => Self::Lost(error),
        }
    }

    /// Returns the error number in results.
    pub(super) fn errno(&self, method: ObjectMethod) -> i32 {
        match self {
            Self::Cancelled => libc::ECANCELED,
            Self::Unreachable(error) | Self::Lost(error) => error.raw_os_error().unwrap_or(libc::ENOTCONN),
            Self::Tls(_) | Self::Response(_) => libc::EPROTO,
            Self::Silent => libc::ETIMEDOUT,
            Self::Length { .. } | Self::Whole => libc::EIO,
            Self::Status { status, .. } => match status {
                401 | 403 => libc::EACCES,
                404 | 410 if method == ObjectMethod::Get => libc::ENOENT,
                413 => libc::EFBIG,
                507 => libc::ENOSPC,
                _ => libc::EIO,
            },
        }
    }

    pub(super) fn cause(&self) -> String {
        match self {
            Self::Cancelled => "the run ended".to_owned(),
            Self::Unreachable(error) | Self::Lost(error) => error.to_string(),
            Self::Tls(error) => error.to_string(),
            Self::Silent => "the server did not respond".to_owned(),
            Self::Response(error) => error.to_string(),
            Self::Status { status, message, .. } if message.is_empty() => format!("status {status}"),
            Self::Status { status, message, .. } => format!("status {status} ({message})"),
            Self::Length { found: Some(found), expected } => {
                format!("the server sent {found} bytes instead of the block's {expected}")
            }
            Self::Length { found: None, expected } => {
                format!("the server sent more than the block's {expected} bytes")
            }
            Self::Whole => "the server sent the whole object instead of a range".to_owned(),
        }
    }

    /// Returns the cause with its remedy, without secrets.
    pub(super) fn describe(&self, method: ObjectMethod, access: &StoreAccess, ranged: bool) -> Problem {
        let remedy = match self {
            Self::Status { status, other_scheme, .. } => {
                remedy_of_status(*status, *other_scheme, method, access, ranged)
            }
            Self::Cancelled => "run it again",
            Self::Unreachable(_) => "start the server, or correct `http_host`",
            Self::Tls(rustls::Error::InvalidCertificate(_)) => {
                "install the certificate's authority on this host, use the host name in the certificate, or set \
                 `https=insecure`"
            }
            Self::Tls(_) => "check that the server uses TLS on this port, or set `https=off`",
            Self::Lost(_) | Self::Response(ResponseError::Truncated) => {
                "see the server log, and check whether `https` matches the server's use of TLS"
            }
            Self::Silent => "see the server log",
            Self::Response(ResponseError::NotHttp) => "check `http_host`, and `https`: the server may expect TLS",
            Self::Response(_) => "see the server log: its response is malformed",
            Self::Length { .. } if ranged => "set `size` to at most the object's size",
            Self::Length { .. } => "write the objects with the same `bs` first: each block is an object",
            Self::Whole => "set `http_object_mode=block`: the server does not support ranges",
        };
        Problem::error(ProblemCode::Operation, access.redacted(&self.cause())).help(remedy)
    }
}

fn remedy_of_status(
    status: u16,
    other_scheme: bool,
    method: ObjectMethod,
    access: &StoreAccess,
    ranged: bool,
) -> &'static str {
    match (status, &access.protocol) {
        (300..=399, StoreProtocol::S3(_)) => {
            "set `http_s3_region` to the bucket's region and `http_host` to that region's endpoint"
        }
        (300..=399, _) => "use the address the server redirects to: check `http_host` and `https`",
        (401, StoreProtocol::WebDav { .. }) if other_scheme => {
            "enable basic authentication on the server: this engine supports no other scheme"
        }
        (401 | 403, StoreProtocol::WebDav { .. }) => "check `http_user`, `http_pass` and the user's permissions",
        (401 | 403, StoreProtocol::Swift { .. }) => "get a new `http_swift_auth_token`: it may have expired",
        (401 | 403, StoreProtocol::S3(_)) => {
            "check `http_s3_keyid`, `http_s3_key`, `http_s3_region`, the key's permissions and this host's clock \
             (signatures include the time)"
        }
        (404 | 410, _) if method == ObjectMethod::Get && ranged => "write the object first",
        (404 | 410, _) if method == ObjectMethod::Get => {
            "write the objects first, with the same `filename`, `bs` and `size`: each block is an object"
        }
        (404 | 409, _) => "create the bucket, container or collection first",
        (405 | 501, _) => "check `http_mode`, and that the server allows this method on the path",
        (413, _) => "use a smaller `bs`",
        (416, _) => "set `size` to at most the object's size",
        (429 | 503, _) => "lower `rate_iops` or `numjobs`: the server is overloaded",
        (507, _) => "free space in the store",
        (500.., _) => "see the server log",
        _ => "check `http_mode`, `filename` and the server log",
    }
}
