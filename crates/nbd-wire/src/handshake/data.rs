//! Parses the data of options: protocol document, "Option types".

use crate::bytes::{ByteReader, string};
use crate::number::info;

/// Data of `NBD_OPT_INFO` and `NBD_OPT_GO`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Inquiry<'a> {
    pub(super) export: &'a str,
    /// Whether the name is requested.
    pub(super) name: bool,
    /// Whether the description is requested.
    pub(super) description: bool,
    /// Whether the block sizes are requested, which the client then respects.
    pub(super) block_sizes: bool,
}

impl<'a> Inquiry<'a> {
    /// Parses the data; `None` if lengths or strings are wrong. Ignores unknown requests, as the document demands.
    pub(super) fn read(data: &'a [u8]) -> Option<Self> {
        let mut data = ByteReader(data);
        let mut inquiry = Self { export: string(data.counted()?)?, ..Self::default() };
        for _ in 0..data.u16()? {
            match data.u16()? {
                info::NAME => inquiry.name = true,
                info::DESCRIPTION => inquiry.description = true,
                info::BLOCK_SIZE => inquiry.block_sizes = true,
                _ => {}
            }
        }
        data.is_empty().then_some(inquiry)
    }
}

/// Data of `NBD_OPT_LIST_META_CONTEXT` and `NBD_OPT_SET_META_CONTEXT`, reduced to `base:allocation`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Queries<'a> {
    pub(super) export: &'a str,
    /// Whether there is no query.
    pub(super) none: bool,
    /// Whether a query is `base:allocation`.
    pub(super) allocation: bool,
    /// Whether a query is `base:`, a wildcard.
    pub(super) wildcard: bool,
    /// Whether a query has no namespace.
    pub(super) invalid: bool,
}

impl<'a> Queries<'a> {
    /// Parses the data; `None` if lengths or strings are wrong. Ignores unknown namespaces and contexts, as the
    /// document demands.
    pub(super) fn read(data: &'a [u8]) -> Option<Self> {
        let mut data = ByteReader(data);
        let mut queries = Self { export: string(data.counted()?)?, ..Self::default() };
        let count = data.u32()?;
        queries.none = count == 0;
        for _ in 0..count {
            match string(data.counted()?)? {
                "base:" => queries.wildcard = true,
                "base:allocation" => queries.allocation = true,
                query => queries.invalid |= query.find(':').is_none_or(|colon| colon == 0),
            }
        }
        data.is_empty().then_some(queries)
    }
}
