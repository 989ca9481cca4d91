//! Options of verification.

use super::spec::OptionKind::{Bool, Int, Long, Text, Word};
use super::spec::{ANY, OptionSpec, Setter, flag, later, special, switch};
use crate::draft::JobDraft;
use crate::model::{VERIFY_PLAIN_HEADER_BYTES, VerifyMethod};
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
    special("verify_pattern", Text, verify_pattern, "Pattern to write and to expect; `%o` stands for the offset."),
    OptionSpec::new(
        "verify_interval",
        Int(VERIFY_PLAIN_HEADER_BYTES as i64, ANY),
        Setter::Number(|d, n| d.job.verify.interval = Some(n as u32)),
        "Distance in bytes between block headers.",
    )
    .bounded_by("the header of a verified block has to fit"),
    OptionSpec::new(
        "verify_nonce",
        Int(0, NONCE_MAX),
        Setter::Number(|d, n| d.job.verify.nonce = u32::try_from(n).ok()),
        "Number in block headers that identifies the run, drawn by default; 0 for the same bytes in all runs.",
    ),
    later("verify_pattern_interval", Int(0, ANY), "Restart the pattern after this many bytes.").default("0"),
    later("verify_offset", Int(48, ANY), "Offset of the header within a block."),
    later("verify_policy", Word(&["completed", "fsynced"]), "Writes that a later verification covers.")
        .default("completed"),
    later("verify_async", Int(0, ANY), "Number of verification threads.").default("0"),
    later("verify_async_cpus", Text, "CPUs of the verification threads."),
    later("verify_backlog", Long(0), "Number of written blocks after which they are verified, instead of at the end."),
    later("verify_backlog_batch", Int(0, ANY), "Number of blocks to verify at once."),
    later("experimental_verify", Bool, "Regenerate offsets for verification instead of keeping a list."),
    later("verify_state_load", Bool, "Verify only what an earlier run had written, by its saved state."),
    later("verify_state_save", Bool, "Save the write state of the run for a later verification.").default("1"),
    later("verify_write_sequence", Bool, "Check the sequence number of each block.").default("1"),
    later("verify_header_seed", Bool, "Check the seed in the header of each block.").default("1"),
    later("trim_percentage", Int(0, 100), "Percentage of verified blocks to trim.").default("0"),
    later("trim_verify_zero", Bool, "Verify that trimmed blocks read as zeroes.").default("1"),
    later("trim_backlog", Long(0), "Number of written blocks after which blocks are trimmed."),
    later("trim_backlog_batch", Int(0, ANY), "Number of blocks to trim at once."),
    deprecated("verifysort", "Verify blocks in the order of their offsets."),
    deprecated("verifysort_nr", "Number of blocks to sort for `verifysort`."),
];

const NONCE_MAX: i64 = i32::MAX as i64;

const fn deprecated(name: &'static str, doc: &'static str) -> OptionSpec {
    OptionSpec::new(name, Int(0, ANY), Setter::Nothing, doc).status(super::Status::Deprecated)
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
    let method = match name {
        "0" => None,
        "md5" => Some(VerifyMethod::Md5),
        "crc64" => Some(VerifyMethod::Crc64),
        "crc32" => Some(VerifyMethod::Crc32),
        "crc32c" | "crc32c-intel" => Some(VerifyMethod::Crc32c),
        "crc16" => Some(VerifyMethod::Crc16),
        "crc7" => Some(VerifyMethod::Crc7),
        "sha1" => Some(VerifyMethod::Sha1),
        "sha256" => Some(VerifyMethod::Sha256),
        "sha512" => Some(VerifyMethod::Sha512),
        "xxhash" => Some(VerifyMethod::Xxhash),
        "pattern" => Some(VerifyMethod::Pattern),
        "null" => Some(VerifyMethod::Null),
        _ => {
            findings
                .fault(0..text.len(), "not-supported", format!("fio's verification `{name}` is not supported yet"))
                .remedy("for example `verify=crc32c`");
            return;
        }
    };
    draft.job.verify.method = method;
}

/// Sets the pattern, and the method `pattern` if the job gives none.
fn verify_pattern(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    if let Some(found) = pattern::read(text, true, findings) {
        draft.job.verify.pattern = found;
        draft.job.verify.method.get_or_insert(VerifyMethod::Pattern);
    }
}
