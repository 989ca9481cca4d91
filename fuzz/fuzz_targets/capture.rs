//! Decodes any bytes as pages of the kernel's ring buffer, and as the descriptions of their events. The result is requests
//! or an error that names the file, never a panic.

#![no_main]

use capture::decode_pages;
use libfuzzer_sys::fuzz_target;

macro_rules! formats {
    ($($name:literal),*) => {
        [$(($name, include_str!(concat!("../../crates/capture/tests/data/", $name, ".format")))),*]
    };
}

const HEADER_PAGE: &str = include_str!("../../crates/capture/tests/data/header_page");
const FORMATS: [(&str, &str); 8] = formats![
    "block_rq_issue",
    "block_rq_complete",
    "block_rq_insert",
    "block_rq_requeue",
    "block_rq_merge",
    "block_bio_frontmerge",
    "block_bio_queue",
    "block_bio_complete"
];

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, bytes)) = bytes.split_first() else { return };
    let size = 64 << (choice & 7);
    let pages: Vec<&[u8]> = bytes.chunks(size).collect();
    let cpus: Vec<Vec<&[u8]>> = pages.chunks(1 + usize::from(choice >> 6)).map(<[&[u8]]>::to_vec).collect();
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(600)]);
    let mut formats = FORMATS;
    let mut header = HEADER_PAGE;
    match choice >> 3 & 7 {
        0 => header = &text,
        1 => formats[0].1 = &text,
        2 => formats[1].1 = &text,
        _ => {}
    }
    match decode_pages(header, &formats, &cpus) {
        Ok(decoded) => assert_eq!(decoded.requests.len() as u64, decoded.counts.issued),
        Err(error) => assert!(error.what.contains(": ")),
    }
});
