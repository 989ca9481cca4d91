//! The data that options carry: protocol document, "Option types".

use crate::bytes::{ByteReader, string};
use crate::number::info;

/// Content of `NBD_OPT_INFO` and `NBD_OPT_GO`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Inquiry<'a> {
    /// Of which export.
    pub(super) export: &'a str,
    /// Its own name.
    pub(super) name: bool,
    /// Words about it.
    pub(super) description: bool,
    /// Its block sizes, to which the client then keeps.
    pub(super) block_sizes: bool,
}

impl<'a> Inquiry<'a> {
    /// Takes the data apart; `None` where lengths or strings are wrong. Unknown requests are ignored, as demanded.
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

/// Content of `NBD_OPT_LIST_META_CONTEXT` and `NBD_OPT_SET_META_CONTEXT`, as far as `base:allocation` goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Queries<'a> {
    /// Of which export.
    pub(super) export: &'a str,
    /// Whether there is no query at all.
    pub(super) none: bool,
    /// Whether one is `base:allocation`.
    pub(super) allocation: bool,
    /// Whether one is `base:`, all there is.
    pub(super) wildcard: bool,
    /// Whether one has no namespace.
    pub(super) nonsense: bool,
}

impl<'a> Queries<'a> {
    /// Takes the data apart; `None` where lengths or strings are wrong. Unknown namespaces and leaves are ignored, as
    /// demanded.
    pub(super) fn read(data: &'a [u8]) -> Option<Self> {
        let mut data = ByteReader(data);
        let mut queries = Self { export: string(data.counted()?)?, ..Self::default() };
        let count = data.u32()?;
        queries.none = count == 0;
        for _ in 0..count {
            match string(data.counted()?)? {
                "base:" => queries.wildcard = true,
                "base:allocation" => queries.allocation = true,
                query => queries.nonsense |= query.find(':').is_none_or(|colon| colon == 0),
            }
        }
        data.is_empty().then_some(queries)
    }
}
