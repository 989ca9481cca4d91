//! Writes a client's part of the handshake: protocol document, "Option types".

use super::terms::ClientOptions;
use crate::bytes::append_message;
use crate::number::{self, ALLOCATION, info, opt};

pub(super) fn option(out: &mut Vec<u8>, option: u32, parts: &[&[u8]]) {
    append_message(out, number::OPTION, &[option], parts);
}

/// Appends `NBD_OPT_GO`, promising to respect the block sizes.
pub(super) fn go(out: &mut Vec<u8>, wishes: &ClientOptions) {
    let requests = [1u16.to_be_bytes(), info::BLOCK_SIZE.to_be_bytes()];
    option(out, opt::GO, &[&count(&wishes.export), wishes.export.as_bytes(), requests.as_flattened()]);
}

/// Appends `NBD_OPT_SET_META_CONTEXT` for `base:allocation`.
pub(super) fn allocation(out: &mut Vec<u8>, wishes: &ClientOptions) {
    let export = wishes.export.as_bytes();
    let queries = 1u32.to_be_bytes();
    option(
        out,
        opt::SET_META_CONTEXT,
        &[&count(&wishes.export), export, &queries, &count(ALLOCATION), ALLOCATION.as_bytes()],
    );
}

fn count(text: &str) -> [u8; 4] {
    (text.len() as u32).to_be_bytes()
}
