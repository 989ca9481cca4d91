//! Description of one option.

use units::Nanos;

use crate::draft::JobDraft;
use crate::model::Size;
use crate::read::Findings;

/// Chapters of the option reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Names, clones, groups, processors.
    Jobs,
    /// Which files, and how they are made.
    Files,
    /// Which part of them, how much, how long.
    Extent,
    /// Directions, offsets, block sizes, buffers.
    Pattern,
    /// Engines, depth, buffers.
    Engine,
    /// Rates, idle time, latency targets.
    Pace,
    /// Checking what was written.
    Verify,
    /// Statistics, logs, reports.
    Statistics,
    /// Errors, traces, zones, and what fio keeps for itself.
    Other,
    /// Options that one engine alone understands.
    Private,
}

/// Syntax of an option's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptionKind {
    /// Any text.
    Text,
    /// A whole number of 32 bits, with size suffixes, within these bounds.
    Int(i64, i64),
    /// A whole number of 64 bits, with size suffixes, and at least this.
    Long(i64),
    /// Bytes, per cent of the file, or zones.
    Size,
    /// Time in seconds unless a unit is given.
    Seconds,
    /// Time in microseconds unless a unit is given.
    Micros,
    /// 0 or 1.
    Bool,
    /// 0, 1, or nothing, which is 1.
    Flag,
    /// One of these words, some with an argument behind `:`.
    Word(&'static [&'static str]),
    /// Up to three ranges `low-high`.
    Ranges,
    /// Numbers with fractions, separated by `:`, within these bounds.
    Floats(f64, f64),
}

/// Support of an option in Fathom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It works.
    Supported,
    /// It is read and changes nothing, for this reason.
    Accepted(&'static str),
    /// An option of fio that Fathom does not have yet; a value equal to the default is fine.
    NotYet,
    /// An option of fio's built-in profiles, which fio accepts in any job, where it means nothing.
    Profile,
    /// fio has given it up and ignores it.
    Deprecated,
    /// fio has given it up and refuses it.
    Removed,
}

/// Function by which an option changes a job.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Setter {
    /// Not at all.
    Nothing,
    /// By a switch.
    Switch(fn(&mut JobDraft, bool)),
    /// By a number; of a list, the first counts.
    Number(fn(&mut JobDraft, u64)),
    /// By a number; of a list, the last counts.
    Last(fn(&mut JobDraft, u64)),
    /// By a number for reads, writes or trims (the slot), and for those behind it if it is the list's last.
    Slots(fn(&mut JobDraft, usize, bool, u64)),
    /// By a size.
    Size(fn(&mut JobDraft, Size)),
    /// By a time.
    Time(fn(&mut JobDraft, Nanos)),
    /// By a text.
    Text(fn(&mut JobDraft, &str)),
    /// By a word and what stands behind its colon.
    Word(fn(&mut JobDraft, &'static str, Option<&str>, &mut Findings)),
    /// By numbers with fractions.
    Floats(fn(&mut JobDraft, Vec<f64>)),
    /// By a text that has a grammar of its own.
    Special(fn(&mut JobDraft, &str, &mut Findings)),
}

/// One option.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// Its canonical name, under which results repeat it.
    pub name: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    /// How its value is written.
    pub kind: OptionKind,
    /// Its default as one would write it; empty where there is none.
    pub default: &'static str,
    /// What it does, in one sentence.
    pub doc: &'static str,
    /// Its chapter.
    pub category: Category,
    /// The engines that understand it; empty where it belongs to none in particular.
    pub engines: &'static [&'static str],
    /// Where it stands in Fathom.
    pub status: Status,
    pub(crate) setter: Setter,
    /// Why its numbers have bounds, for errors; empty where this goes without saying.
    pub(crate) bounded_by: &'static str,
}

impl OptionSpec {
    /// Its name, then its aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// Whether its value may be left out.
    #[must_use]
    pub fn takes_no_value(&self) -> bool {
        matches!(self.kind, OptionKind::Flag) || LOG_PREFIXES.contains(&self.name)
    }

    /// Whether writing `text` asks for what happens anyway.
    pub(crate) fn is_default(&self, text: &str) -> bool {
        let off = matches!(self.kind, OptionKind::Bool | OptionKind::Flag | OptionKind::Int(..) | OptionKind::Long(_));
        let none = matches!(self.kind, OptionKind::Word(words) if words.contains(&"0"))
            && self.default.parse::<u32>().is_err();
        text == self.default || (text == "0" && (none || (self.default.is_empty() && off)))
    }

    pub(super) const fn new(name: &'static str, kind: OptionKind, setter: Setter, doc: &'static str) -> Self {
        Self {
            name,
            aliases: &[],
            kind,
            default: "",
            doc,
            category: Category::Other,
            engines: &[],
            status: Status::Supported,
            setter,
            bounded_by: "",
        }
    }

    pub(super) const fn alias(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    pub(super) const fn default(self, default: &'static str) -> Self {
        Self { default, ..self }
    }

    pub(super) const fn status(self, status: Status) -> Self {
        Self { status, ..self }
    }

    pub(super) const fn bounded_by(self, bounded_by: &'static str) -> Self {
        Self { bounded_by, ..self }
    }

    pub(super) const fn engines(self, engines: &'static [&'static str]) -> Self {
        Self { engines, ..self }
    }
}

/// An option that Fathom does not have yet.
pub(super) const fn later(name: &'static str, kind: OptionKind, doc: &'static str) -> OptionSpec {
    OptionSpec::new(name, kind, Setter::Nothing, doc).status(Status::NotYet)
}

/// An option that changes nothing, for a reason.
pub(super) const fn accepted(
    name: &'static str,
    kind: OptionKind,
    doc: &'static str,
    reason: &'static str,
) -> OptionSpec {
    OptionSpec::new(name, kind, Setter::Nothing, doc).status(Status::Accepted(reason))
}

/// Prefixes of log files may be left out: the job's name takes their place.
const LOG_PREFIXES: [&str; 4] = ["write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log"];

/// The greatest 32-bit bound, which stands for none.
pub(super) const ANY: i64 = i64::MAX;

pub(super) const fn flag(name: &'static str, doc: &'static str, set: fn(&mut JobDraft, bool)) -> OptionSpec {
    OptionSpec::new(name, OptionKind::Flag, Setter::Switch(set), doc)
}

pub(super) const fn switch(
    name: &'static str,
    default: &'static str,
    doc: &'static str,
    set: fn(&mut JobDraft, bool),
) -> OptionSpec {
    OptionSpec::new(name, OptionKind::Bool, Setter::Switch(set), doc).default(default)
}

pub(super) const fn int(
    name: &'static str,
    bounds: (i64, i64),
    doc: &'static str,
    set: fn(&mut JobDraft, u64),
) -> OptionSpec {
    OptionSpec::new(name, OptionKind::Int(bounds.0, bounds.1), Setter::Number(set), doc)
}

/// A share in per cent; of a list, the last counts.
pub(super) const fn share(name: &'static str, doc: &'static str, set: fn(&mut JobDraft, u64)) -> OptionSpec {
    OptionSpec::new(name, OptionKind::Int(0, 100), Setter::Last(set), doc)
}

pub(super) const fn text(name: &'static str, doc: &'static str, set: fn(&mut JobDraft, &str)) -> OptionSpec {
    OptionSpec::new(name, OptionKind::Text, Setter::Text(set), doc)
}

/// An option whose text has a grammar of its own.
pub(super) const fn special(
    name: &'static str,
    kind: OptionKind,
    set: fn(&mut JobDraft, &str, &mut Findings),
    doc: &'static str,
) -> OptionSpec {
    OptionSpec::new(name, kind, Setter::Special(set), doc)
}

pub(super) const fn word(
    name: &'static str,
    words: &'static [&'static str],
    doc: &'static str,
    set: fn(&mut JobDraft, &'static str, Option<&str>, &mut Findings),
) -> OptionSpec {
    OptionSpec::new(name, OptionKind::Word(words), Setter::Word(set), doc)
}
