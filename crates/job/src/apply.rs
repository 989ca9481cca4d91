//! Applies one option to a draft, as its table entry describes.

use units::{Bytes, ProblemCode};

use crate::draft::JobDraft;
use crate::model::Size;
use crate::read::number::{self, NumberUnit};
use crate::read::{Findings, ProblemWeight, lists, word};
use crate::table::{OptionKind, OptionSpec, Setter};

/// Options whose words may have an argument after a colon.
const WITH_ARGUMENT: [&str; 4] = ["rw", "file_service_type", "mem", "steadystate"];

/// Parses `value` as `spec` describes and sets the option in the draft. Problems go to `findings`.
pub(crate) fn apply(draft: &mut JobDraft, spec: &OptionSpec, value: Option<&str>, findings: &mut Findings) {
    let Some(text) = value.or_else(|| spec.takes_no_value().then_some("")) else {
        findings.fault(0..0, ProblemCode::MissingValue, format!("`{}` needs a value", spec.name)).help(example(spec));
        return;
    };
    let counts =
        matches!(spec.kind, OptionKind::Int(..) | OptionKind::Long(_) | OptionKind::Seconds | OptionKind::Micros);
    if counts && text.ends_with('z') {
        findings.fault(0..text.len(), ProblemCode::Zones, format!("`{}` cannot be given in zones", spec.name));
        return;
    }
    match (spec.kind, spec.setter) {
        (OptionKind::Text, _) => any_text(draft, spec, text, findings),
        (OptionKind::Word(words), _) => one_word(draft, spec, text, words, findings),
        (_, Setter::Special(set)) => set(draft, text, findings),
        (OptionKind::Flag, _) if value.is_none() => set_switch(draft, spec, true),
        (OptionKind::Bool | OptionKind::Flag, _) => switch(draft, spec, text, findings),
        (OptionKind::Int(least, most), _) => int(draft, spec, text, (least, most), findings),
        (OptionKind::Long(least), _) => long(draft, spec, text, least, findings),
        (OptionKind::Size, _) => size(draft, spec, text, findings),
        (OptionKind::Seconds, _) => time(draft, spec, text, NumberUnit::Seconds, findings),
        (OptionKind::Micros, _) => time(draft, spec, text, NumberUnit::Micros, findings),
        (OptionKind::Floats(least, most), _) => floats(draft, spec, text, (least, most), findings),
        (OptionKind::Ranges, _) => {}
    }
}

fn example(spec: &OptionSpec) -> String {
    match spec.kind {
        OptionKind::Bool => format!("write `{}=1` or `{}=0`", spec.name, spec.name),
        _ => format!("write `{}=…`", spec.name),
    }
}

fn set_switch(draft: &mut JobDraft, spec: &OptionSpec, on: bool) {
    if let Setter::Switch(set) = spec.setter {
        set(draft, on);
    }
}

fn switch(draft: &mut JobDraft, spec: &OptionSpec, text: &str, findings: &mut Findings) {
    let read = number::bare(text, findings);
    let most = if spec.kind == OptionKind::Bool { 1 } else { i64::MAX };
    let Some(value) = read.filter(|value| *value <= most) else {
        let finding = findings.fault(0..text.len(), ProblemCode::NotASwitch, format!("`{text}` is neither 0 nor 1"));
        match text.trim().to_ascii_lowercase().as_str() {
            "yes" | "true" | "on" => finding.help(format!("write `{}=1`", spec.name)),
            "no" | "false" | "off" => finding.help(format!("write `{}=0`", spec.name)),
            _ => finding.help("write 0 or 1"),
        };
        return;
    };
    if !(0..=1).contains(&value) {
        findings
            .quirk(0..text.len(), ProblemCode::NotASwitch, format!("`{text}` is neither 0 nor 1"))
            .note("fio reads it as 1");
    }
    set_switch(draft, spec, value != 0);
}

/// Sets a 32-bit number. fio drops the higher bits before it checks the bounds, and does not check a lower bound of 0.
fn int(draft: &mut JobDraft, spec: &OptionSpec, text: &str, (least, most): (i64, i64), findings: &mut Findings) {
    numbers(draft, spec, text, findings, |wide, findings| {
        let value = i64::from(wide as i32);
        if (least != 0 && value < least) || value > most {
            out_of_range(text, (least, most), spec.bounded_by, findings);
            return None;
        }
        if value != wide && wide > 0 {
            findings
                .quirk(0..text.len(), ProblemCode::OutOfRange, format!("{wide} does not fit into 32 bits"))
                .note(format!("fio reads {}", wide as u32));
        }
        refuse_negative(text, wide, least, findings);
        Some(u64::from(wide as u32))
    });
}

fn long(draft: &mut JobDraft, spec: &OptionSpec, text: &str, least: i64, findings: &mut Findings) {
    numbers(draft, spec, text, findings, |value, findings| {
        if (value as u64) < least as u64 {
            out_of_range(text, (least, i64::MAX), spec.bounded_by, findings);
            return None;
        }
        refuse_negative(text, value, least, findings);
        Some(value as u64)
    });
}

fn refuse_negative(text: &str, value: i64, least: i64, findings: &mut Findings) {
    if value >= 0 || least < 0 {
        return;
    }
    if text.contains('%') {
        findings
            .quirk(0..text.len(), ProblemCode::Percent, "this option is not a percentage")
            .note("fio reads a percentage as a huge number here")
            .help("write the number itself");
    } else {
        findings
            .quirk(0..text.len(), ProblemCode::OutOfRange, format!("`{text}` is negative"))
            .note("fio reads a huge positive number");
    }
}

fn out_of_range(text: &str, (least, most): (i64, i64), why: &str, findings: &mut Findings) {
    let bounds = match (least, most) {
        (_, i64::MAX) => format!("at least {least}"),
        _ => format!("from {least} to {most}"),
    };
    let because = if why.is_empty() { String::new() } else { format!(": {why}") };
    let finding = findings.fault(0..text.len(), ProblemCode::OutOfRange, format!("`{text}` is out of range{because}"));
    finding.help(format!("write a number {bounds}"));
}

/// Parses a list of numbers and sets as many as the option has slots for.
fn numbers(
    draft: &mut JobDraft,
    spec: &OptionSpec,
    text: &str,
    findings: &mut Findings,
    check: impl Fn(i64, &mut Findings) -> Option<u64>,
) {
    let unit = NumberUnit::Count { kb_base: draft.kb_base() };
    let mut values = Vec::new();
    lists::numbers(text, unit, findings, |slot, last, value| values.push((slot, last, value)));
    let slots = match spec.setter {
        Setter::Slots(_) => 3,
        Setter::Pair(_) => 2,
        _ => 1,
    };
    if values.iter().any(|(slot, ..)| *slot >= slots) {
        let kept = if matches!(spec.setter, Setter::Last(_)) { "last" } else { "first" };
        too_many(text, slots, kept, findings);
    }
    each(values, findings, |(slot, last, value), findings| {
        let value = check(value, findings)?;
        match spec.setter {
            Setter::Slots(set) if slot < slots => set(draft, slot, last, value),
            Setter::Pair(of) if slot < slots => JobDraft::fill(of(draft), slot, last, &(value as u32)),
            Setter::Number(set) if slot == 0 => set(draft, value),
            Setter::Last(set) => set(draft, value),
            _ => {}
        }
        Some(())
    });
}

/// Sets every element of a list. fio ignores faulty elements if another one is valid, so their faults become quirks.
fn each<T>(elements: Vec<T>, findings: &mut Findings, mut set: impl FnMut(T, &mut Findings) -> Option<()>) {
    let (mut any, mut refused) = (false, Vec::new());
    for element in elements {
        let mut found = Findings::default();
        if set(element, &mut found).is_some() {
            any = true;
            findings.items.extend(found.items);
        } else {
            refused.extend(found.items);
        }
    }
    if any {
        for item in &mut refused {
            item.weight = ProblemWeight::Quirk;
            item.note("fio skips it because another element of the list is valid");
        }
    }
    findings.items.extend(refused);
}

fn too_many(text: &str, slots: usize, kept: &str, findings: &mut Findings) {
    // fio reads a leading sign as a list separator; the negative value has been reported already.
    let signed = text.starts_with('-') && !text[1..].contains([',', ':', '-']);
    if signed || findings.items.iter().any(|item| item.code == ProblemCode::ListSeparator) {
        return;
    }
    let message = match slots {
        1 => "this option takes one value",
        2 => "this option takes two values at most",
        _ => "this option takes three values at most",
    };
    findings.quirk(0..text.len(), ProblemCode::ListLength, message).note(format!("fio uses the {kept} of them"));
}

fn size(draft: &mut JobDraft, spec: &OptionSpec, text: &str, findings: &mut Findings) {
    if let Some(count) = text.strip_suffix('z') {
        match (count.parse(), spec.setter) {
            (Ok(count), Setter::Size(set)) => set(draft, Size::Zones(count)),
            _ => {
                let message = format!("`{count}` is not a number of zones");
                findings
                    .fault(0..count.len(), ProblemCode::NotANumber, message)
                    .help("write a whole number such as `2z`");
            }
        }
        return;
    }
    let unit = NumberUnit::Count { kb_base: draft.kb_base() };
    let mut values = Vec::new();
    lists::numbers(text, unit, findings, |_, _, value| values.push(value));
    if values.len() > 1 {
        too_many(text, 1, "last", findings);
    }
    each(values, findings, |value, findings| {
        // fio encodes a percentage as -1 - percent, so 0 to 100 per cent are the numbers from -1 down to -101.
        let size = match value {
            -101..=-1 => Size::Percent((-1 - value) as u32),
            bytes => Size::Bytes(Bytes::new(bytes as u64)),
        };
        check_size(spec, text, value, findings)?;
        if let Setter::Size(set) = spec.setter {
            set(draft, size);
        }
        Some(())
    });
}

/// Returns `None` if fio refuses the value.
fn check_size(spec: &OptionSpec, text: &str, value: i64, findings: &mut Findings) -> Option<()> {
    if value < -101 && spec.name == "io_size" {
        findings
            .fault(0..text.len(), ProblemCode::Percent, "`io_size` cannot exceed 100%")
            .help("use `loops` or bytes");
        return None;
    }
    if !text.contains('%') && text.starts_with('-') {
        findings
            .quirk(0..text.len(), ProblemCode::OutOfRange, format!("`{text}` is negative"))
            .note("fio reads the sign as a separator, followed by the number")
            .help(format!("write `{}`", &text[1..]));
    } else if value < -101 {
        findings
            .quirk(0..text.len(), ProblemCode::Percent, format!("`{text}` exceeds 100%"))
            .note("fio stops at the end of a device, but grows a file until the disk is full")
            .help(format!("write `{}=100%`", spec.name));
    }
    Some(())
}

fn time(draft: &mut JobDraft, spec: &OptionSpec, text: &str, unit: NumberUnit, findings: &mut Findings) {
    let mut values = Vec::new();
    lists::numbers(text, unit, findings, |_, _, value| values.push(value));
    if values.len() > 1 {
        too_many(text, 1, "first", findings);
    }
    if let (Setter::Time(set), Some(&value)) = (spec.setter, values.first()) {
        set(draft, number::micros(value));
    }
}

/// Maximum number of percentiles in fio.
const FLOATS_MAX: usize = 20;

fn floats(draft: &mut JobDraft, spec: &OptionSpec, text: &str, range: (f64, f64), findings: &mut Findings) {
    let list = lists::floats(text, FLOATS_MAX, range, findings);
    if let (Setter::Floats(set), Some(list)) = (spec.setter, list) {
        set(draft, list);
    }
}

fn one_word(
    draft: &mut JobDraft,
    spec: &OptionSpec,
    text: &str,
    words: &'static [&'static str],
    findings: &mut Findings,
) {
    let Some((word, argument)) = word::read(text, words, findings) else { return };
    if text[word.len()..].starts_with(':') && text.contains(',') && word != "sequence" {
        // fio compares the text up to the first comma with its words, none of which contains a colon.
        let message = "fio refuses a `,` after a `:`";
        match spec.name {
            "random_distribution" => findings.extension(0..text.len(), ProblemCode::UnknownValue, message),
            _ => {
                findings
                    .fault(0..text.len(), ProblemCode::UnknownValue, message)
                    .help(format!("write `{word}:…` without `,`"));
                return;
            }
        }
    }
    let takes_argument = WITH_ARGUMENT.contains(&spec.name) || matches!(spec.setter, Setter::Special(_));
    if let Some(argument) = argument.filter(|_| !takes_argument) {
        let start = text.len() - argument.len();
        findings
            .quirk(start - 1..text.len(), ProblemCode::UnusedArgument, format!("unexpected text after `{word}`"))
            .note(format!("fio drops `{}`", &text[start - 1..]))
            .help(format!("write `{}={word}`", spec.name));
    }
    match spec.setter {
        Setter::Word(set) => set(draft, word, argument, findings),
        Setter::Special(set) => set(draft, text, findings),
        _ => {}
    }
}

fn any_text(draft: &mut JobDraft, spec: &OptionSpec, text: &str, findings: &mut Findings) {
    let text = if WITHOUT_BLANKS.contains(&spec.name) { text.trim() } else { text };
    if text.is_empty() && !spec.takes_no_value() && !EMPTY_ALLOWED.contains(&spec.name) {
        findings.fault(0..0, ProblemCode::MissingValue, format!("`{}` needs a value", spec.name)).help(example(spec));
        return;
    }
    if text.starts_with(char::is_whitespace) {
        findings
            .quirk(0..text.len() - text.trim_start().len(), ProblemCode::LeadingBlank, "a space precedes the value")
            .note("fio keeps the space as part of the value")
            .help(format!("write `{}` directly after `=`", text.trim()));
    }
    match spec.setter {
        Setter::Text(set) => set(draft, text),
        Setter::Special(set) => set(draft, text, findings),
        _ => {}
    }
}

/// Text options whose value fio uses without the blanks around it.
const WITHOUT_BLANKS: [&str; 2] = ["filename", "numa_cpu_nodes"];

/// Text options that fio accepts with an empty value.
const EMPTY_ALLOWED: [&str; 2] = ["bssplit", "cpus_allowed"];
