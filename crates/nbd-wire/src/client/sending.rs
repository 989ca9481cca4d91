//! Writes a client's part of the handshake: protocol document, "Option types".

use super::terms::Wishes;
use crate::number::{self, ALLOCATION, info, opt};

pub(super) fn option(out: &mut Vec<u8>, option: u32, parts: &[&[u8]]) {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    out.extend_from_slice(&number::OPTION.to_be_bytes());
    out.extend_from_slice(&option.to_be_bytes());
    out.extend_from_slice(&(length as u32).to_be_bytes());
    parts.iter().for_each(|part| out.extend_from_slice(part));
}

/// Appends `NBD_OPT_GO`, promising to respect the block sizes.
pub(super) fn go(out: &mut Vec<u8>, wishes: &Wishes) {
    let requests = [1u16.to_be_bytes(), info::BLOCK_SIZE.to_be_bytes()];
    option(out, opt::GO, &[&count(&wishes.export), wishes.export.as_bytes(), requests.as_flattened()]);
}

/// Appends `NBD_OPT_SET_META_CONTEXT` for `base:allocation`.
pub(super) fn allocation(out: &mut Vec<u8>, wishes: &Wishes) {
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
