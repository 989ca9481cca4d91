//! Requests to object stores over HTTP/1.1 without sockets: WebDAV, Swift and S3.
//!
//! [`RequestEncoder`] turns an operation on an object into the head of a request, with the credentials of its store;
//! [`ResponseReader`] reads responses in pieces of any size. The signature of S3 is version 4 of AWS
//! (<https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html>), HTTP is RFC 9110 and 9112.
//!
//! What is *not* here: sockets, TLS, time (the date is an argument), and which object an operation concerns.

mod access;
mod date;
mod message;
mod request;
mod response;
mod signature;
mod text;

pub use access::{AccessError, CustomerKey, S3Access, StoreAccess, StoreProtocol};
pub use date::RequestDate;
pub use message::short_message;
pub use request::{ObjectMethod, ObjectRequest, RequestEncoder};
pub use response::{ResponseError, ResponseHead, ResponseReader, ResponseStep};
