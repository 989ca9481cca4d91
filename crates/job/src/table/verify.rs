//! Options of verification.

use super::Status;
use super::spec::OptionKind::{Bool, Int, Text, Word};
use super::spec::{ANY, OptionSpec, Setter, accepted, flag, int, long, share, special, switch, word};
use crate::draft::JobDraft;
use crate::model::{FIO_HEADER_BYTES, VerifyFormat, VerifyMethod, VerifyPattern};
use crate::read::{Findings, pattern, word};

pub(super) static OPTIONS: &[OptionSpec] = &[
    special("verify", Word(METHODS), verify, "Method of verification: the checksum or content of written blocks.")
        .default("0"),
    switch("do_verify", "1", "Read back and check written blocks after the writes.", |d, on| {
        d.job.verify.do_verify = on;
    }),
    switch("verify_fatal", "0", "Stop at the first mismatch.", |d, on| d.job.verify.fatal = on),
    switch("verify_dump", "0", "Write the expected and the received block to files on a mismatch.", |d, on| {
        d.job.verify.dump = on;
    }),
    flag("verify_only", "Verify the data of an earlier run of the job, without writing.", |d, on| {
        d.job.verify.only = on;
    }),
    special("verify_pattern", Text, verify_pattern, "Pattern to write and verify; `%o` stands for the offset."),
    int("verify_interval", (2 * FIO_HEADER_BYTES as i64, ANY), "Distance in bytes between block headers.", |d, n| {
        d.job.verify.interval = Some(n as u32);
    })
    .bounded_by("the header of a verified block must fit"),
    int(
        "verify_nonce",
        (0, NONCE_MAX),
        "Run ID in block headers, random by default; 0 for identical bytes in all runs.",
        |d, n| d.job.verify.nonce = u32::try_from(n).ok(),
    ),
    OptionSpec::new(
        "verify_format",
        Word(&["fathom", "fio"]),
        Setter::Word(|d, word, _, _| {
            d.job.verify.format = if word == "fio" { VerifyFormat::Fio } else { VerifyFormat::Fathom };
        }),
        "Layout of block headers: Fathom's, or fio 3.33's to exchange data with it.",
    )
    .default("fathom")
    .status(Status::OfFathom),
    int("verify_pattern_interval", (0, ANY), "Restart the pattern after this many bytes, 0 for never.", |d, n| {
        d.job.verify.pattern.interval = n as u32;
    })
    .default("0"),
    int("verify_offset", (FIO_HEADER_BYTES as i64, ANY), "Offset of the header within a block.", |d, n| {
        d.job.verify.offset = n as u32;
    })
    .bounded_by("the header is swapped with the bytes there, which must not overlap it"),
    word(
        "verify_policy",
        &["completed", "fsynced"],
        "Writes that `verify_state_load` checks: all completed ones, or only synced ones.",
        |d, w, _, _| d.job.verify.synced_only = w == "fsynced",
    )
    .default("completed"),
    accepted("verify_async", Int(0, ANY), "Number of verification threads.", ASYNC).default("0"),
    accepted("verify_async_cpus", Text, "CPUs of the verification threads.", ASYNC),
    long("verify_backlog", 0, "Verify after this many written blocks instead of at the end.", |d, n| {
        d.job.verify.backlog = Some(n).filter(|&n| n > 0);
    }),
    accepted(
        "verify_backlog_batch",
        Int(0, ANY),
        "Number of blocks to verify at once.",
        "all blocks of the backlog are verified at once, each once",
    ),
    accepted(
        "experimental_verify",
        Bool,
        "Regenerate offsets for verification instead of keeping a list.",
        "Fathom always does",
    ),
    switch(
        "verify_state_load",
        "0",
        "Verify only blocks that an earlier run wrote, according to its saved state.",
        |d, on| {
            d.job.verify.state_load = on;
        },
    ),
    switch("verify_state_save", "1", "Save the state of the writes; off by default in `fathom run`.", |d, on| {
        d.job.verify.state_save = on;
    }),
    switch("verify_write_sequence", "1", "Check the write sequence number of each block.", |d, on| {
        d.job.verify.any_sequence = !on;
    }),
    switch("verify_header_seed", "1", "Check the seed in the header of each block.", |d, on| {
        d.job.verify.any_seed = !on;
    }),
    share("trim_percentage", "Percentage of written blocks to trim before verification.", |d, n| {
        d.job.verify.trims.percentage = n as u32;
    })
    .default("0"),
    switch("trim_verify_zero", "1", "Verify that trimmed blocks read as zeroes instead of skipping them.", |d, on| {
        d.job.verify.trims.any_content = !on;
    }),
    long("trim_backlog", 0, "Trim `trim_percentage` of the blocks after this many writes; 0 for no trims.", |d, n| {
        d.job.verify.trims.backlog = n;
    }),
    accepted(
        "trim_backlog_batch",
        Int(0, ANY),
        "Number of blocks to trim at once.",
        "all chosen blocks of the backlog are trimmed at once, as many as fio 3.33 trims",
    ),
    deprecated("verifysort", "Verify blocks in the order of their offsets."),
    deprecated("verifysort_nr", "Number of blocks to sort for `verifysort`."),
];

const ASYNC: &str = "the thread that reads a block verifies it, with the same result";
const NONCE_MAX: i64 = i32::MAX as i64;

const fn deprecated(name: &'static str, doc: &'static str) -> OptionSpec {
    OptionSpec::new(name, Int(0, ANY), Setter::Nothing, doc).status(Status::Deprecated)
}

const METHODS: &[&str] = &[
    "0",
    "md5",
    "crc64",
    "crc32",
    "crc32c-intel",
    "crc32c",
    "crc16",
    "crc7",
    "sha1",
    "sha256",
    "sha512",
    "sha3-224",
    "sha3-256",
    "sha3-384",
    "sha3-512",
    "xxhash",
    "meta",
    "pattern",
    "pattern_hdr",
    "null",
];

fn verify(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    let Some((name, _)) = word::read(text, METHODS, findings) else { return };
    let name = if name == "crc32c-intel" { "crc32c" } else { name };
    draft.job.verify.method = VerifyMethod::ALL.into_iter().find(|method| method.name() == name);
}

fn verify_pattern(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    if let Some(found) = pattern::read(text, true, findings) {
        draft.job.verify.pattern = VerifyPattern { interval: draft.job.verify.pattern.interval, ..found };
    }
}
