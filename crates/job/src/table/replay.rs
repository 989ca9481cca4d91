//! Options of the replay of traces.

use super::Status;
use super::spec::OptionKind::{Bool, Floats, Int, Seconds, Text};
use super::spec::{ANY, OptionSpec, Setter, accepted, int, special, switch, text, word};
use units::ProblemCode;

use crate::draft::JobDraft;
use crate::model::{ReplayFit, ReplayLoop, ReplayOptions, ReplaySkip};
use crate::read::Findings;

pub(super) static OPTIONS: &[OptionSpec] = &[
    text("read_iolog", "Replay the requests of this trace, in any format that `fathom trace` reads.", set_trace),
    text("replay", "Replay the requests of this trace; the same as `read_iolog`.", set_trace).status(Status::OfFathom),
    special(
        "replay_speed",
        Text,
        speed,
        "Replay speed: a factor such as `2x` or `0.5`, or `max` to ignore the timestamps of the trace.",
    )
    .alias(&["speed", "replay-speed"])
    .default("1x")
    .status(Status::OfFathom),
    word(
        "replay_loop",
        &["open", "closed"],
        "Issue requests at their recorded times, or after the completion that their process waited for.",
        |d, w, _, _| d.replay.dependence = if w == "closed" { ReplayLoop::Closed } else { ReplayLoop::Open },
    )
    .alias(&["replay-loop"])
    .default("open")
    .status(Status::OfFathom),
    OptionSpec::new(
        "replay_start",
        Seconds,
        Setter::Time(|d, t| d.replay.start = t),
        "Start of the replayed part within the trace.",
    )
    .alias(&["replay-start"])
    .default("0")
    .status(Status::OfFathom),
    OptionSpec::new(
        "replay_for",
        Seconds,
        Setter::Time(|d, t| d.replay.length = t),
        "Length of the replayed part; 0 for the rest of the trace.",
    )
    .alias(&["replay-for"])
    .default("0")
    .status(Status::OfFathom),
    word(
        "replay_fit",
        &["scale", "wrap", "fold"],
        "Mapping of offsets to a smaller target: merge regions, wrap around, or fold back at the end.",
        |d, w, _, _| {
            d.replay.fit = match w {
                "wrap" => ReplayFit::Wrap,
                "fold" => ReplayFit::Fold,
                _ => ReplayFit::Scale,
            };
        },
    )
    .alias(&["replay-fit"])
    .default("scale")
    .status(Status::OfFathom),
    switch("replay_no_stall", "0", "Ignore the timestamps of the trace.", |d, on| d.no_stall = on),
    int("replay_time_scale", (1, ANY), "Replay speed as a percentage.", |d, n| {
        d.replay.speed_ppm = Some(n.saturating_mul(ReplayOptions::ORIGINAL_SPEED / 100));
    })
    .default("100"),
    text("replay_redirect", "Replay the trace on this file or device.", |d, path| d.redirect = Some(path.to_owned())),
    int("replay_scale", (1, ANY), "Divide the offsets of the trace by this number.", |d, n| {
        d.replay.scale = n as u32;
    })
    .default("1"),
    special("replay_align", Int(0, ANY), align, "Align the offsets of the trace to this power of two, in bytes."),
    special("replay_skip", Text, skip, "Request types to skip, separated by `,`: read, write, trim, sync."),
    accepted("read_iolog_chunked", Bool, "Read the trace incrementally.", "every trace is read incrementally")
        .default("0"),
    text("write_iolog", "Write a log of all operations to this file, which `read_iolog` replays.", |d, path| {
        d.job.stats.write_iolog = (!path.is_empty()).then(|| path.to_owned());
    }),
    text(
        "merge_blktrace_file",
        "Merge the traces of `read_iolog`, separated by `:`, into this binary blktrace file, and replay it.",
        |d, path| path.clone_into(&mut d.merge.file),
    ),
    OptionSpec::new(
        "merge_blktrace_scalars",
        Floats(MERGE_PERCENT_MIN, MERGE_PERCENT_MAX),
        Setter::Floats(|d, values| d.merge.percentages = values),
        "Time scale of each merged trace in percent, separated by `:`.",
    ),
    OptionSpec::new(
        "merge_blktrace_iters",
        Floats(1.0, MERGE_ITERATIONS_MAX),
        Setter::Floats(|d, values| d.merge.iterations = values),
        "Number of iterations of each merged trace, separated by `:`.",
    ),
];

/// Bounds of the percentages of merged traces: a millionth of the time, and a million times as long.
const MERGE_PERCENT_MIN: f64 = 0.0001;
const MERGE_PERCENT_MAX: f64 = 100_000_000.0;

/// Maximum number of iterations of a merged trace.
const MERGE_ITERATIONS_MAX: f64 = 1_000_000.0;

fn set_trace(draft: &mut JobDraft, path: &str) {
    path.clone_into(&mut draft.replay.trace);
}

fn speed(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    if text == "max" {
        draft.replay.speed_ppm = None;
        return;
    }
    match millionths(text.strip_suffix(['x', 'X']).unwrap_or(text)).filter(|&ppm| ppm > 0) {
        Some(ppm) => draft.replay.speed_ppm = Some(ppm),
        None => {
            findings
                .fault(0..text.len(), ProblemCode::NotANumber, format!("`{text}` is not a speed"))
                .help("write a positive factor such as `2x` or `0.5`, or `max`");
        }
    }
}

/// Parses a decimal number of at most six fractional digits, in millionths.
fn millionths(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || whole.len() + fraction.len() == 0 || fraction.len() > 6 {
        return None;
    }
    let whole = if whole.is_empty() { 0 } else { whole.parse::<u64>().ok()? };
    let fraction = format!("{fraction:0<6}").parse::<u64>().ok()?;
    whole.checked_mul(1_000_000)?.checked_add(fraction).filter(|&ppm| ppm <= SPEED_MAX_PPM)
}

/// Maximum speed, in millionths of the original: beyond a thousand million, `max` is meant.
const SPEED_MAX_PPM: u64 = 1_000_000_000 * 1_000_000;

fn align(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    use crate::read::number::{NumberUnit, read};
    let Some(bytes) = read(text, NumberUnit::Count { kb_base: draft.kb_base() }, findings) else { return };
    match u32::try_from(bytes) {
        Ok(bytes) if bytes == 0 || (bytes.is_power_of_two() && bytes <= ALIGN_MAX_BYTES) => draft.replay.align = bytes,
        _ => {
            findings
                .fault(0..text.len(), ProblemCode::OutOfRange, format!("`{text}` is not a power of two up to 1 MiB"))
                .help("write, for example, `replay_align=4k`");
        }
    }
}

/// Maximum alignment: that of the regions into which a trace is divided to fit a smaller target.
const ALIGN_MAX_BYTES: u32 = 1 << 20;

fn skip(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    let mut skip = ReplaySkip::default();
    for word in text.split(',') {
        match word.trim() {
            "read" => skip.read = true,
            "write" => skip.write = true,
            "trim" => skip.trim = true,
            "sync" => skip.sync = true,
            word => {
                findings
                    .fault(0..text.len(), ProblemCode::UnknownValue, format!("`{word}` is not a request type"))
                    .help("write one or more of read, write, trim and sync, separated by `,`");
            }
        }
    }
    draft.replay.skip = skip;
}
