//! Options of verification, and minimum block sizes for it.

use super::{BlockSizes, Job};

/// Size of the header of a verified block with a nonce.
pub const VERIFY_HEADER_BYTES: u32 = 112;
/// Size of the header of a verified block without a nonce (`verify_nonce=0`) or written by an earlier release.
pub const VERIFY_PLAIN_HEADER_BYTES: u32 = 104;
/// Size of the header of fio 3.33 without the checksum that follows it.
pub const FIO_HEADER_BYTES: u32 = 40;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyOptions {
    /// The method; `None` for no verification.
    pub method: Option<VerifyMethod>,
    /// Layout of block headers.
    pub format: VerifyFormat,
    /// Read back after writing.
    pub do_verify: bool,
    /// Stop at the first mismatch.
    pub fatal: bool,
    /// Write expected and actual content of a bad block to files.
    pub dump: bool,
    /// Check the blocks of an earlier run of the same job, without writing.
    pub only: bool,
    /// `verify_pattern`, decoded.
    pub pattern: VerifyPattern,
    /// Bytes between headers; `None` for the block size.
    pub interval: Option<u32>,
    /// Offset of the header within its block, in bytes.
    pub offset: u32,
    /// Read back whenever this many writes have not been; `None` for the end of each pass.
    pub backlog: Option<u64>,
    /// Save the state of the writes at the end of the job.
    pub state_save: bool,
    /// Check only what an earlier run had written by its saved state.
    pub state_load: bool,
    /// Of these, check only the writes that had completed before the last sync (`verify_policy=fsynced`).
    pub synced_only: bool,
    /// Do not compare the seed in headers with this run's.
    pub any_seed: bool,
    /// Do not check which write a block is of.
    pub any_sequence: bool,
    /// Trims of written blocks.
    pub trims: TrimBacklog,
    /// Nonce in headers, which distinguishes the blocks of otherwise identical runs. If `None`, a run that writes draws
    /// one and a run that only reads takes it from the blocks.
    pub nonce: Option<u32>,
}

/// Trims of written blocks before they are verified (`trim_*`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrimBacklog {
    /// Percentage of the written blocks that are trimmed.
    pub percentage: u32,
    /// Writes after which they are trimmed; 0 for no trims.
    pub backlog: u64,
    /// Do not read trimmed blocks; otherwise they must read as zeroes.
    pub any_content: bool,
}

impl VerifyOptions {
    /// Reports whether the writes of a job are read back.
    #[must_use]
    pub const fn reads_back(&self) -> bool {
        self.method.is_some() && self.do_verify && !self.only
    }
}

impl TrimBacklog {
    /// Reports whether any block is trimmed.
    #[must_use]
    pub const fn is_any(&self) -> bool {
        self.percentage > 0 && self.backlog > 0
    }
}

/// Layouts of block headers (`verify_format`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VerifyFormat {
    /// Fathom's, with nonce, worker and file.
    #[default]
    Fathom,
    /// That of fio 3.33, which also reads and checks such blocks.
    Fio,
}

/// Maximum length of a pattern in bytes. fio 3.33 cuts patterns after 512 bytes, newer versions do not.
pub const PATTERN_MAX_BYTES: usize = 1 << 20;

/// A pattern that is repeated over blocks, written by `buffer_pattern` or expected by verification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyPattern {
    /// Bytes of the pattern, with zeroes at `offsets`.
    pub bytes: Vec<u8>,
    /// Indices in `bytes` of the block's offset (`%o`) in 8 bytes, little-endian.
    pub offsets: Vec<usize>,
    /// Files whose content belongs before these indices of `bytes`, in order, until it has been inserted.
    pub files: Vec<(usize, String)>,
    /// Bytes after which the pattern starts again, with the offset there; 0 for the block.
    pub interval: u32,
}

impl VerifyPattern {
    /// Reports whether there is no pattern.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.files.is_empty()
    }

    /// Inserts the contents of [`Self::files`].
    pub fn insert_files(&mut self, contents: &[Vec<u8>]) {
        let files = std::mem::take(&mut self.files);
        for ((at, _), content) in files.into_iter().zip(contents).rev() {
            self.bytes.splice(at..at, content.iter().copied());
            self.offsets.iter_mut().filter(|offset| **offset >= at).for_each(|offset| *offset += content.len());
        }
        self.bytes.truncate(PATTERN_MAX_BYTES);
        self.offsets.retain(|&offset| offset < PATTERN_MAX_BYTES);
    }
}

/// Verification methods (`verify`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyMethod {
    /// CRC-32C.
    Crc32c,
    /// CRC-32.
    Crc32,
    /// CRC-64.
    Crc64,
    /// CRC-16.
    Crc16,
    /// CRC-7.
    Crc7,
    Md5,
    /// SHA-1.
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-512.
    Sha512,
    Sha3_224,
    Sha3_256,
    Sha3_384,
    Sha3_512,
    /// xxHash, 32 bits.
    Xxhash,
    /// The header alone.
    Meta,
    /// The pattern without a header.
    Pattern,
    /// The pattern after a header.
    PatternHdr,
    /// Nothing is compared, for timing only.
    Null,
}

impl VerifyMethod {
    /// All methods.
    pub const ALL: [Self; 18] = [
        Self::Md5,
        Self::Crc64,
        Self::Crc32,
        Self::Crc32c,
        Self::Crc16,
        Self::Crc7,
        Self::Sha1,
        Self::Sha256,
        Self::Sha512,
        Self::Sha3_224,
        Self::Sha3_256,
        Self::Sha3_384,
        Self::Sha3_512,
        Self::Xxhash,
        Self::Meta,
        Self::Pattern,
        Self::PatternHdr,
        Self::Null,
    ];

    /// Returns the method's name in job files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Md5 => "md5",
            Self::Crc64 => "crc64",
            Self::Crc32 => "crc32",
            Self::Crc32c => "crc32c",
            Self::Crc16 => "crc16",
            Self::Crc7 => "crc7",
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
            Self::Sha512 => "sha512",
            Self::Sha3_224 => "sha3-224",
            Self::Sha3_256 => "sha3-256",
            Self::Sha3_384 => "sha3-384",
            Self::Sha3_512 => "sha3-512",
            Self::Xxhash => "xxhash",
            Self::Meta => "meta",
            Self::Pattern => "pattern",
            Self::PatternHdr => "pattern_hdr",
            Self::Null => "null",
        }
    }

    /// Reports whether blocks begin with a header.
    #[must_use]
    pub const fn has_header(self) -> bool {
        !matches!(self, Self::Pattern | Self::Null)
    }

    /// Returns the size of what follows the header of fio 3.33, in bytes: the checksum, or the working memory of it.
    #[must_use]
    pub const fn fio_checksum_bytes(self) -> u32 {
        match self {
            Self::Meta | Self::Pattern | Self::PatternHdr | Self::Null => 0,
            Self::Crc7 => 1,
            Self::Crc16 => 2,
            Self::Crc32 | Self::Crc32c | Self::Xxhash => 4,
            Self::Crc64 => 8,
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha3_224 => 28,
            Self::Sha3_256 => 32,
            Self::Sha3_384 => 48,
            Self::Sha256 | Self::Sha3_512 => 64,
            Self::Sha512 => 128,
        }
    }
}

/// A block size too small for its verification header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallBlock {
    /// The option that sets it: `verify_interval`, `bs`, `bsrange`, `bssplit` or `verify_offset`.
    pub option: &'static str,
    /// Size of the block, or of what precedes the header, in bytes.
    pub bytes: u32,
    /// Size of the header in bytes, including `verify_offset`.
    pub header: u32,
    /// Whether `bytes` is the greatest common divisor of the sizes, as the distance of headers in fio's layout.
    pub is_divisor: bool,
}

const OFFSET: &str = "verify_offset";

impl SmallBlock {
    /// Describes the problem.
    #[must_use]
    pub fn message(&self) -> String {
        let Self { option, bytes, header, is_divisor } = self;
        if *option == OFFSET {
            return format!("{option}: offset {bytes} is within the verification header of {header} bytes");
        }
        if *is_divisor {
            return format!(
                "{option}: fio's layout needs a {header}-byte verification header every {bytes} bytes, the greatest \
                 common divisor of the block sizes"
            );
        }
        format!("{option}: a block of {bytes} bytes is too small for its verification header of {header} bytes")
    }

    /// Returns what to write instead.
    #[must_use]
    pub fn help(&self) -> String {
        if self.is_divisor {
            return format!(
                "choose block sizes that are multiples of at least {} bytes, or leave `verify` out",
                self.header
            );
        }
        let other = if self.option == OFFSET { "it" } else { "`verify`" };
        format!("write `{}={}` or more, or leave {other} out", self.option, self.header)
    }
}

impl Job {
    /// Reports whether blocks that the job has written are trimmed before they are verified. Without verification, fio
    /// trims none either.
    #[must_use]
    pub const fn trims_written(&self) -> bool {
        self.verify.trims.is_any() && self.verify.reads_back() && self.pattern.direction.writes()
    }

    /// Reports whether the trims of each block are counted (`block_error_percentiles`).
    #[must_use]
    pub const fn counts_block_trims(&self) -> bool {
        self.stats.block_errors && (self.pattern.direction.trims() || self.trims_written())
    }

    /// Returns the smallest verified block size if it is smaller than its header. `draws_nonce` says whether the run
    /// marks its blocks with a nonce if the job gives none.
    #[must_use]
    pub fn small_block(&self, draws_nonce: bool) -> Option<SmallBlock> {
        let (verify, pattern) = (&self.verify, &self.pattern);
        let direction = pattern.direction;
        let method = verify.method?;
        if !method.has_header() || !(direction.reads() || direction.writes()) {
            return None;
        }
        let is_marked = verify.nonce.map_or(draws_nonce, |nonce| nonce != 0);
        let header = match verify.format {
            VerifyFormat::Fio => FIO_HEADER_BYTES + method.fio_checksum_bytes(),
            VerifyFormat::Fathom if direction.writes() && !verify.only && is_marked => VERIFY_HEADER_BYTES,
            VerifyFormat::Fathom => VERIFY_PLAIN_HEADER_BYTES,
        };
        if (1..header).contains(&verify.offset) {
            return Some(SmallBlock { option: OFFSET, bytes: verify.offset, header, is_divisor: false });
        }
        let header = header.saturating_add(verify.offset);
        let small = |option, bytes| (bytes < header).then_some(SmallBlock { option, bytes, header, is_divisor: false });
        let least = pattern.used_sizes().min_by_key(|sizes| sizes.min())?;
        let option = match least {
            BlockSizes::Fixed(_) => "bs",
            BlockSizes::Range(..) => "bsrange",
            BlockSizes::Split(_) => "bssplit",
        };
        let given = || verify.interval.and_then(|interval| small("verify_interval", interval));
        let divisor = || match verify.format {
            VerifyFormat::Fio => small(option, self.fio_verify_interval()),
            VerifyFormat::Fathom => None,
        };
        let of_divisor = |block| SmallBlock { is_divisor: true, ..block };
        given().or_else(|| small(option, least.min())).or_else(|| divisor().map(of_divisor))
    }

    /// Returns the distance of headers in fio's layout: `verify_interval` if it divides the smallest and the largest
    /// block, and otherwise their greatest common divisor.
    #[must_use]
    pub fn fio_verify_interval(&self) -> u32 {
        let least = self.pattern.used_sizes().map(BlockSizes::min).min().unwrap_or(1);
        let most = self.pattern.used_sizes().map(BlockSizes::max).max().unwrap_or(1);
        let divides = |interval: &u32| least.is_multiple_of(*interval) && most.is_multiple_of(*interval);
        let given = self.verify.interval.filter(|&interval| interval > 0).filter(divides);
        given.unwrap_or_else(|| greatest_divisor(least, most)).max(1)
    }
}

const fn greatest_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_divisor(b, a % b) }
}
