//! Options of direction, block sizes and payload.

use units::{PerKind, ProblemCode};

use super::spec::OptionKind::{Bool, Floats, Int, Long, Ranges, Text, Word};
use super::spec::{ANY, OptionSpec, Setter, flag, int, long, share, special, switch, word};
use crate::draft::JobDraft;
use crate::model::{Direction, Generator};
use crate::read::number::NumberUnit;
use crate::read::{Findings, distribution, lists, number, pattern};

/// Bounds of the overprovisioning of flash devices.
const SPR_OP_MIN: f64 = 0.001;
const SPR_OP_MAX: f64 = 16.0;

pub(super) static OPTIONS: &[OptionSpec] = &[
    word("rw", DIRECTIONS, "I/O pattern: reads, writes or trims, sequential or random.", rw)
        .alias(&["readwrite"])
        .default("read"),
    share("rwmixread", "Percentage of reads in a mix.", |d, n| d.job.pattern.set_read_percent(n as u32)).default("50"),
    share("rwmixwrite", "Percentage of writes in a mix; the last of the two options applies.", |d, n| {
        d.job.pattern.set_read_percent(100_u32.wrapping_sub(n as u32));
    })
    .default("50"),
    OptionSpec::new(
        "bs",
        Long(1),
        Setter::Slots(|d, slot, last, n| JobDraft::fill(&mut d.bs, slot, last, &n)),
        "Block size; up to three values separated by commas for reads, writes and trims.",
    )
    .alias(&["blocksize"])
    .default("4096"),
    special("bsrange", Ranges, bsrange, "Range of block sizes, in multiples of the lower bound.")
        .alias(&["blocksize_range"]),
    special("bssplit", Text, bssplit, "Block sizes with a percentage each: `4k/60:64k/40`."),
    flag("bs_unaligned", "Permit any block size in bytes within the range.", |d, on| {
        d.job.pattern.bs_unaligned = on;
    })
    .alias(&["blocksize_unaligned"]),
    OptionSpec::new(
        "ba",
        Long(1),
        Setter::Slots(|d, slot, last, n| JobDraft::fill(&mut d.align, slot, last, &Some(n))),
        "Alignment of offsets, by default the smallest block size.",
    )
    .alias(&["blockalign"]),
    switch(
        "bs_is_seq_rand",
        "0",
        "Interpret the two block sizes as sequential and random instead of read and write.",
        |d, on| d.job.pattern.sizes_by_order = on,
    ),
    flag("norandommap", "Permit repeated access to a block before all blocks were accessed once.", |d, on| {
        d.job.pattern.norandommap = on;
    }),
    OptionSpec::new(
        "softrandommap",
        Bool,
        Setter::Nothing,
        "Continue without a block map if memory is too small for one.",
    )
    .status(super::Status::Accepted("the map always fits"))
    .default("0"),
    word(
        "random_generator",
        &["tausworthe", "lfsr", "tausworthe64"],
        "Generator of random offsets; `lfsr` avoids repeats without a map.",
        |d, w, _, _| {
            d.job.pattern.generator = match w {
                "lfsr" => Generator::Lfsr,
                "tausworthe64" => Generator::Tausworthe64,
                _ => Generator::Tausworthe,
            };
        },
    )
    .default("tausworthe"),
    special(
        "random_distribution",
        Word(distribution::WORDS),
        random_distribution,
        "Distribution of random offsets; up to three values separated by commas for reads, writes and trims.",
    )
    .default("random"),
    switch("random_sequence_stride", "0", "Advance the `sequence` distribution by its length each time.", |d, on| {
        d.sequence_stride = on;
    }),
    OptionSpec::new(
        "percentage_random",
        Int(0, 100),
        Setter::Slots(percentage_random),
        "Percentage of random offsets in a random pattern.",
    )
    .default("100,100,100"),
    switch("randrepeat", "1", "Use the same random sequence in every run.", |d, on| d.job.pattern.randrepeat = on)
        .alias(&["allrandrepeat"]),
    long("randseed", 0, "Seed for all random choices of the job; overrides `randrepeat`.", |d, n| {
        d.job.pattern.randseed = Some(n);
    })
    .default("0x89"),
    word(
        "rw_sequencer",
        &["sequential", "identical"],
        "Offsets between the random ones of `rw=rand…:N`: sequential, or identical.",
        |d, w, _, _| d.job.pattern.repeats_offset = w == "identical",
    )
    .default("sequential"),
    switch(
        "sprandom",
        "0",
        "Precondition a flash device in one pass: write each block once, and rewrite a fraction of them.",
        |d, on| d.preconditioning.0 = on,
    ),
    int("spr_num_regions", (2, 1_000_000), "Number of regions into which `sprandom` divides its pass.", |d, n| {
        d.preconditioning.1.regions = n as u32;
    })
    .default("100"),
    OptionSpec::new(
        "spr_op",
        Floats(SPR_OP_MIN, SPR_OP_MAX),
        Setter::Floats(|d, list| d.preconditioning.1.overprovisioning = list.first().copied().unwrap_or(0.15)),
        "Overprovisioning for `sprandom`, as a fraction of the device size.",
    )
    .default("0.15"),
    long(
        "spr_cs",
        0,
        "Device cache size in bytes; with it, `sprandom` rewrites blocks after the next region instead of before.",
        |d, n| d.preconditioning.1.cache_bytes = n,
    )
    .default("0"),
    flag("zero_buffers", "Write zeroes.", |d, on| d.job.payload.zero_buffers = on),
    flag("refill_buffers", "Fill the buffer with new random data before every write.", |d, on| {
        d.job.payload.refill_buffers = on;
    }),
    switch("scramble_buffers", "1", "Modify each buffer slightly before every write.", |d, on| {
        d.job.payload.scramble_buffers = on;
    }),
    special("buffer_pattern", Text, buffer_pattern, "Fill buffers with this pattern."),
    int("buffer_compress_percentage", (0, 100), "Compressibility of buffers, in percent.", |d, n| {
        d.job.payload.compress_percent = Some(n as u32);
    }),
    int(
        "buffer_compress_chunk",
        (0, ANY),
        "Size of each compressible chunk of a buffer; 0 for the whole buffer.",
        |d, n| d.job.payload.compress_chunk = n as u32,
    )
    .default("512"),
    int("dedupe_percentage", (0, 100), "Percentage of buffers that duplicate others.", |d, n| {
        d.job.payload.dedupe.percent = n as u32;
    }),
    word(
        "dedupe_mode",
        &["repeat", "working_set"],
        "Source of duplicate buffers: the previous buffer, or a working set.",
        |d, w, _, _| d.job.payload.dedupe.has_working_set = w == "working_set",
    )
    .default("repeat"),
    int(
        "dedupe_working_set_percentage",
        (0, 100),
        "Working set of duplicates, as a percentage of the job's blocks.",
        |d, n| d.job.payload.dedupe.working_set_percent = n as u32,
    )
    .default("5"),
    switch("dedupe_global", "0", "Duplicate buffers across jobs too, from a working set.", |d, on| {
        d.job.payload.dedupe.is_global = on;
    }),
];

const DIRECTIONS: &[&str] = &[
    "read",
    "write",
    "trim",
    "randread",
    "randwrite",
    "randtrim",
    "rw",
    "readwrite",
    "randrw",
    "trimwrite",
    "randtrimwrite",
];

fn rw(draft: &mut JobDraft, word: &'static str, argument: Option<&str>, findings: &mut Findings) {
    let pattern = &mut draft.job.pattern;
    pattern.random = word.starts_with("rand");
    pattern.direction = match word.trim_start_matches("rand") {
        "write" => Direction::Write,
        "trim" => Direction::Trim,
        "rw" | "readwrite" => Direction::ReadWrite,
        "trimwrite" => Direction::TrimWrite,
        _ => Direction::Read,
    };
    pattern.modifier = i64::from(pattern.random);
    let random = pattern.random;
    if let Some(text) = argument {
        let read = if random { run } else { skip };
        draft.job.pattern.modifier = findings.within(word.len() + 1, |f| read(text, f));
    }
}

/// Parses the number of bytes that a sequence skips after each operation.
fn skip(text: &str, findings: &mut Findings) -> i64 {
    number::read(text, NumberUnit::Count { kb_base: 1024 }, findings).unwrap_or(0)
}

/// Parses the number of sequential operations from each random offset: digits without unit, in 32 bits.
fn run(text: &str, findings: &mut Findings) -> i64 {
    let sign = usize::from(text.starts_with('-'));
    let digits = sign + text[sign..].find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len() - sign);
    let count = text[..digits].parse::<i64>().unwrap_or(0) as u32;
    if digits < text.len() || sign > 0 || count == 0 {
        let finding =
            findings.quirk(0..text.len(), ProblemCode::OutOfRange, format!("`{text}` is not a count of operations"));
        match count {
            0 => finding.note("fio never leaves its first sequence"),
            _ => finding.note(format!("fio reads {count}")),
        };
        finding.help("write a number from 1, without a unit");
    }
    i64::from(if count == 0 { u32::MAX } else { count })
}

fn bsrange(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    let unit = NumberUnit::Count { kb_base: draft.kb_base() };
    lists::ranges(text, unit, findings, |slot, last, low, high| {
        JobDraft::fill(&mut draft.ranges, slot, last, &Some((low as u64, high as u64)));
    });
}

fn bssplit(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    let parts = lists::split(text, ',');
    for (slot, &(start, part)) in parts.iter().enumerate().take(3) {
        let Some(shares) = findings.within(start, |f| lists::block_split(part, draft.kb_base(), f)) else { continue };
        let shares = Some(shares.into_iter().map(|(size, share)| (size as u64, share)).collect());
        JobDraft::fill(&mut draft.splits, slot, slot + 1 == parts.len(), &shares);
    }
}

fn percentage_random(draft: &mut JobDraft, slot: usize, last: bool, n: u64) {
    let shares = &mut draft.job.pattern.percentage_random;
    JobDraft::fill_kinds(shares, slot, last, &(n as u32));
}

fn random_distribution(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    if text.split([',', ':']).next() == Some("sequence") {
        let argument = text.split_once(':').map(|(_, argument)| argument);
        if let Some(sequence) = distribution::sequence(argument, findings) {
            draft.job.pattern.distribution = PerKind::from_slots(|_| sequence.clone());
        }
        return;
    }
    let mut parts = lists::split(text, ',');
    let named = parts[0].1;
    if matches!(named, "random" | "zipf" | "pareto" | "normal") && parts.len() > 1 {
        findings
            .quirk(
                named.len()..text.len(),
                ProblemCode::UnusedArgument,
                "a distribution without a value applies to reads, writes and trims",
            )
            .note(format!("fio drops `{}`", &text[named.len()..]));
        parts.truncate(1);
    }
    for (slot, &(start, part)) in parts.iter().enumerate().take(3) {
        let (word, argument) = part.split_once(':').map_or((part, None), |(word, rest)| (word, Some(rest)));
        let Some(distribution) = findings.within(start, |f| distribution::read(word, argument, f)) else { continue };
        let last = if slot + 1 == parts.len() { 3 } else { slot + 1 };
        (slot..last).for_each(|at| *draft.job.pattern.distribution.slot(at) = distribution.clone());
    }
}

fn buffer_pattern(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    if let Some(found) = pattern::read(text, false, findings) {
        draft.job.payload.pattern = Some(found);
    }
}
