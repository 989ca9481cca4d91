//! Writes a server's replies to options: protocol document, "Option reply types".

use crate::bytes::append_message;
use crate::number::{self, err, info, rep};
use crate::{Export, TransmissionFlags};

/// Refusal of an option: its number on the wire, and a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OptionRefusal {
    number: u32,
    message: &'static str,
}

impl OptionRefusal {
    pub(super) const UNKNOWN_OPTION: Self = Self::new(err::UNSUP, "this server does not support the option");
    pub(super) const NOT_OFFERED: Self = Self::new(err::UNSUP, "this server does not offer the option");
    pub(super) const NO_TLS: Self = Self::new(err::POLICY, "this server does not support TLS");
    pub(super) const NO_DATA_EXPECTED: Self = Self::new(err::INVALID, "the option does not accept data");
    pub(super) const MALFORMED: Self = Self::new(err::INVALID, "malformed option data");
    pub(super) const TLS_TWICE: Self = Self::new(err::INVALID, "the connection is already encrypted");
    pub(super) const NO_CHUNKS: Self = Self::new(err::INVALID, "request structured replies or extended headers first");
    pub(super) const NO_NAMESPACE: Self = Self::new(err::INVALID, "a query must start with a namespace and a colon");
    pub(super) const TLS_REQUIRED: Self = Self::new(err::TLS_REQD, "this server requires TLS: start it first");
    pub(super) const UNKNOWN_EXPORT: Self = Self::new(err::UNKNOWN, "no such export");
    pub(super) const BLOCK_SIZE: Self = Self::new(err::BLOCK_SIZE_REQD, "request the block sizes and respect them");
    pub(super) const TOO_BIG: Self = Self::new(err::TOO_BIG, "the option data is longer than 64 KiB");
    pub(super) const EXTENDED: Self = Self::new(err::EXT_HEADER_REQD, "extended headers were already negotiated");

    const fn new(number: u32, message: &'static str) -> Self {
        Self { number, message }
    }
}

/// Appends a reply with the concatenated `parts` as its data.
fn reply(out: &mut Vec<u8>, option: u32, kind: u32, parts: &[&[u8]]) {
    append_message(out, number::OPTION_REPLY, &[option, kind], parts);
}

pub(super) fn acknowledge(out: &mut Vec<u8>, option: u32) {
    reply(out, option, rep::ACK, &[]);
}

pub(super) fn refuse(out: &mut Vec<u8>, option: u32, refusal: OptionRefusal) {
    reply(out, option, refusal.number, &[refusal.message.as_bytes()]);
}

/// Appends `NBD_REP_SERVER`, an entry of a list.
pub(super) fn entry(out: &mut Vec<u8>, option: u32, export: &Export) {
    let length = (export.name.len() as u32).to_be_bytes();
    reply(out, option, rep::SERVER, &[&length, export.name.as_bytes(), export.description.as_bytes()]);
}

/// Appends `NBD_REP_META_CONTEXT`.
pub(super) fn context(out: &mut Vec<u8>, option: u32, id: u32, name: &str) {
    reply(out, option, rep::META_CONTEXT, &[&id.to_be_bytes(), name.as_bytes()]);
}

/// Appends `NBD_INFO_EXPORT`.
pub(super) fn export(out: &mut Vec<u8>, option: u32, size: u64, flags: TransmissionFlags) {
    reply(out, option, rep::INFO, &[&kind(info::EXPORT), &size.to_be_bytes(), &flags.bits().to_be_bytes()]);
}

/// Appends `NBD_INFO_NAME`.
pub(super) fn name(out: &mut Vec<u8>, option: u32, export: &Export) {
    reply(out, option, rep::INFO, &[&kind(info::NAME), export.name.as_bytes()]);
}

/// Appends `NBD_INFO_DESCRIPTION`.
pub(super) fn description(out: &mut Vec<u8>, option: u32, export: &Export) {
    reply(out, option, rep::INFO, &[&kind(info::DESCRIPTION), export.description.as_bytes()]);
}

/// Appends `NBD_INFO_BLOCK_SIZE`.
pub(super) fn block_sizes(out: &mut Vec<u8>, option: u32, export: &Export) {
    let block = export.block;
    let sizes = [block.minimum, block.preferred, block.maximum].map(u32::to_be_bytes);
    reply(out, option, rep::INFO, &[&kind(info::BLOCK_SIZE), sizes.as_flattened()]);
}

fn kind(information: u16) -> [u8; 2] {
    information.to_be_bytes()
}

/// Appends the reply to `NBD_OPT_EXPORT_NAME`, which has no header.
pub(super) fn export_name(out: &mut Vec<u8>, size: u64, flags: TransmissionFlags, no_zeroes: bool) {
    out.extend_from_slice(&size.to_be_bytes());
    out.extend_from_slice(&flags.bits().to_be_bytes());
    if !no_zeroes {
        out.extend_from_slice(&[0; number::ZEROES]);
    }
}
