//! Parses the data of options: protocol document, "Option types".

use crate::bytes::{ByteReader, string};
use crate::number::info;

/// Data of `NBD_OPT_INFO` and `NBD_OPT_GO`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct InfoRequest<'a> {
    pub(super) export: &'a str,
    pub(super) name: bool,
    pub(super) description: bool,
    /// Whether the block sizes are requested, which the client then respects.
    pub(super) block_sizes: bool,
}

impl<'a> InfoRequest<'a> {
    /// Parses the data; `None` if lengths or strings are wrong. Ignores unknown requests, as the document demands.
    pub(super) fn read(data: &'a [u8]) -> Option<Self> {
        let mut data = ByteReader(data);
        let mut info_request = Self { export: string(data.counted()?)?, ..Self::default() };
        for _ in 0..data.u16()? {
            match data.u16()? {
                info::NAME => info_request.name = true,
                info::DESCRIPTION => info_request.description = true,
                info::BLOCK_SIZE => info_request.block_sizes = true,
                _ => {}
            }
        }
        data.is_empty().then_some(info_request)
    }
}

/// Data of `NBD_OPT_LIST_META_CONTEXT` and `NBD_OPT_SET_META_CONTEXT`, reduced to `base:allocation`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ContextQueries<'a> {
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

impl<'a> ContextQueries<'a> {
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
