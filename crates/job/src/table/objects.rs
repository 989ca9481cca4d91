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
    text("http_user", "User name for the basic authentication of WebDAV.", |d, text| {
        text.clone_into(&mut d.job.engine.objects.user);
    })
    .engines(HTTP),
    text("http_pass", "Password for the basic authentication of WebDAV.", |d, text| {
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
    text("http_s3_key", "Secret key of S3.", |d, text| text.clone_into(&mut d.job.engine.objects.s3_key.0))
        .secret()
        .engines(HTTP),
    text("http_s3_keyid", "Access key ID of S3.", |d, text| text.clone_into(&mut d.job.engine.objects.s3_key_id.0))
        .secret()
        .engines(HTTP),
    text("http_s3_security_token", "Token of temporary credentials of S3.", |d, text| {
        text.clone_into(&mut d.job.engine.objects.s3_token.0);
    })
    .secret()
    .engines(HTTP),
    text("http_s3_region", "Region of S3.", |d, text| text.clone_into(&mut d.job.engine.objects.s3_region))
        .default("us-east-1")
        .engines(HTTP),
    text("http_s3_sse_customer_key", "Key of 32 bytes with which S3 encrypts the objects (SSE-C).", |d, text| {
        text.clone_into(&mut d.job.engine.objects.s3_customer_key.0);
    })
    .secret()
    .engines(HTTP),
    text("http_s3_sse_customer_algorithm", "Algorithm of that encryption.", |d, text| {
        text.clone_into(&mut d.job.engine.objects.s3_customer_algorithm);
    })
    .default("AES256")
    .engines(HTTP),
    text("http_s3_storage_class", "Storage class of objects that are written to S3.", |d, text| {
        text.clone_into(&mut d.job.engine.objects.s3_storage_class);
    })
    .default("STANDARD")
    .engines(HTTP),
    text("http_swift_auth_token", "Token of a session of Swift.", |d, text| {
        text.clone_into(&mut d.job.engine.objects.swift_token.0);
    })
    .secret()
    .engines(HTTP),
    word(
        "http_object_mode",
        &["block", "range"],
        "An object for each block, or ranges of one object.",
        |d, w, _, _| {
            d.job.engine.objects.ranged = w == "range";
        },
    )
    .default("block")
    .engines(HTTP),
    int(
        "http_verbose",
        (0, i64::MAX),
        "Report each request and the status of its answer (1), and its size and duration (2).",
        |d, n| {
            d.job.engine.objects.verbosity = n.min(2) as u32;
        },
    )
    .default("0")
    .engines(HTTP),
];
