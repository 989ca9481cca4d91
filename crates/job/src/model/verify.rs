//! Minimum block sizes for verification.

use super::{BlockSizes, Job, VerifyMethod};

/// Size of the header of a verified block with a nonce.
pub const VERIFY_HEADER_BYTES: u32 = 112;
/// Size of the header of a verified block without a nonce (`verify_nonce=0`) or written by an earlier release.
pub const VERIFY_PLAIN_HEADER_BYTES: u32 = 104;

/// A block size too small for its verification header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallBlock {
    /// The option that sets it: `verify_interval`, `bs`, `bsrange` or `bssplit`.
    pub option: &'static str,
    /// Size of the block in bytes.
    pub bytes: u32,
    /// Size of the header in bytes.
    pub header: u32,
}

impl SmallBlock {
    /// Describes the problem.
    #[must_use]
    pub fn message(&self) -> String {
        let Self { option, bytes, header } = self;
        format!("{option}: a block of {bytes} bytes has no room for its verification header of {header} bytes")
    }

    /// Returns what to write instead.
    #[must_use]
    pub fn remedy(&self) -> String {
        format!("write `{}={}` or more, or leave `verify` out", self.option, self.header)
    }
}

impl Job {
    /// Returns the smallest verified block size if it is smaller than its header. `draws_nonce` says whether the run
    /// marks its blocks with a nonce if the job gives none.
    #[must_use]
    pub fn small_block(&self, draws_nonce: bool) -> Option<SmallBlock> {
        let (verify, pattern) = (&self.verify, &self.pattern);
        let direction = pattern.direction;
        let has_headers = !matches!(verify.method?, VerifyMethod::Pattern | VerifyMethod::Null);
        if !has_headers || !(direction.reads() || direction.writes()) {
            return None;
        }
        let is_marked = verify.nonce.map_or(draws_nonce, |nonce| nonce != 0);
        let header = match direction.writes() && !verify.only && is_marked {
            true => VERIFY_HEADER_BYTES,
            false => VERIFY_PLAIN_HEADER_BYTES,
        };
        let small = |option, bytes| (bytes < header).then_some(SmallBlock { option, bytes, header });
        let least = pattern.used_sizes().min_by_key(|sizes| sizes.min())?;
        let option = match least {
            BlockSizes::Fixed(_) => "bs",
            BlockSizes::Range(..) => "bsrange",
            BlockSizes::Split(_) => "bssplit",
        };
        verify.interval.and_then(|interval| small("verify_interval", interval)).or_else(|| small(option, least.min()))
    }
}
