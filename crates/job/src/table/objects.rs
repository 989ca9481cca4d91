//! Options of the engine `http`.

use super::spec::{OptionSpec, int, text, word};
use crate::model::{ObjectStoreMode, StoreEncryption};

const HTTP: &[&str] = &["http"];

pub(super) static OPTIONS: &[OptionSpec] = &[
    word(
        "https",
        &["off", "on", "insecure"],
        "Encrypt the connection; `insecure` accepts any certificate.",
        |d, w, _, _| {
            d.job.engine.objects.encryption = match w {
                "on" => StoreEncryption::On,
                "insecure" => StoreEncryption::Insecure,
                _ => StoreEncryption::Off,
            };
        },
    )
    .default("off")
    .engines(HTTP),
    text("http_host", "Host of the object store, with a port if it is neither 80 nor 443 (`https`).", |d, text| {
        text.clone_into(&mut d.job.engine.objects.host);
    })
    .default("localhost")
    .engines(HTTP),
    text("http_user", "User name for WebDAV basic authentication.", |d, text| {
        text.clone_into(&mut d.job.engine.objects.user);
    })
    .engines(HTTP),
    text("http_pass", "Password for WebDAV basic authentication.", |d, text| {
        text.clone_into(&mut d.job.engine.objects.password.0);
    })
    .secret()
    .engines(HTTP),
    word("http_mode", &["webdav", "s3", "swift"], "Protocol of the object store.", |d, w, _, _| {
        d.job.engine.objects.mode = match w {
            "s3" => ObjectStoreMode::S3,
            "swift" => ObjectStoreMode::Swift,
            _ => ObjectStoreMode::WebDav,
        };
    })
    .default("webdav")
    .engines(HTTP),
    text("http_s3_key", "S3 secret key.", |d, text| text.clone_into(&mut d.job.engine.objects.s3_key.0))
        .secret()
        .engines(HTTP),
    text("http_s3_keyid", "S3 access key ID.", |d, text| text.clone_into(&mut d.job.engine.objects.s3_key_id.0))
        .secret()
        .engines(HTTP),
    text("http_s3_security_token", "S3 security token of temporary credentials.", |d, text| {
        text.clone_into(&mut d.job.engine.objects.s3_token.0);
    })
    .secret()
    .engines(HTTP),
    text("http_s3_region", "S3 region.", |d, text| text.clone_into(&mut d.job.engine.objects.s3_region))
        .default("us-east-1")
        .engines(HTTP),
    text("http_s3_sse_customer_key", "S3 server-side encryption key (SSE-C), 32 bytes.", |d, text| {
        text.clone_into(&mut d.job.engine.objects.s3_customer_key.0);
    })
    .secret()
    .engines(HTTP),
    text("http_s3_sse_customer_algorithm", "Algorithm of server-side encryption (SSE-C).", |d, text| {
        text.clone_into(&mut d.job.engine.objects.s3_customer_algorithm);
    })
    .default("AES256")
    .engines(HTTP),
    text("http_s3_storage_class", "S3 storage class of written objects.", |d, text| {
        text.clone_into(&mut d.job.engine.objects.s3_storage_class);
    })
    .default("STANDARD")
    .engines(HTTP),
    text("http_swift_auth_token", "Swift session token.", |d, text| {
        text.clone_into(&mut d.job.engine.objects.swift_token.0);
    })
    .secret()
    .engines(HTTP),
    word(
        "http_object_mode",
        &["block", "range"],
        "Store each block as an object, or blocks as ranges of one object.",
        |d, w, _, _| {
            d.job.engine.objects.ranged = w == "range";
        },
    )
    .default("block")
    .engines(HTTP),
    int(
        "http_verbose",
        (0, i64::MAX),
        "Print each request with its response status (1), and also its size and duration (2).",
        |d, n| {
            d.job.engine.objects.verbosity = n.min(2) as u32;
        },
    )
    .default("0")
    .engines(HTTP),
];
