//! The description of an option, and constructors for common kinds.

use units::Nanos;

use crate::draft::JobDraft;
use crate::model::Size;
use crate::read::Findings;

/// Categories of options, each a section of the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Names, clones, groups, CPUs.
    Jobs,
    /// Files and how they are created.
    Files,
    /// Region, amount of data, run time.
    Extent,
    /// Directions, offsets, block sizes, buffers.
    Pattern,
    /// Engines, depth, buffers.
    Engine,
    /// Rates, idle time, latency targets.
    Pace,
    /// Replay of traces.
    Replay,
    /// Checking what was written.
    Verify,
    /// Statistics, logs, reports.
    Statistics,
    /// Errors, zones, and options without effect.
    Other,
    /// Options of single engines.
    Private,
}

/// Syntax of an option's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptionKind {
    /// Any text.
    Text,
    /// A 32-bit integer with size suffixes, from a minimum to a maximum.
    Int(i64, i64),
    /// A 64-bit integer with size suffixes and a minimum.
    Long(i64),
    /// Bytes, per cent of the file, or zones.
    Size,
    /// Time, in seconds if no unit is given.
    Seconds,
    /// Time, in microseconds if no unit is given.
    Micros,
    /// 0 or 1.
    Bool,
    /// 0 or 1; without a value, 1.
    Flag,
    /// One of these words, some with an argument after `:`.
    Word(&'static [&'static str]),
    /// Up to three ranges `low-high`.
    Ranges,
    /// Decimal numbers separated by `:`, from a minimum to a maximum.
    Floats(f64, f64),
}

/// Support of an option in Fathom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The option works.
    Supported,
    /// The option works in jobs of Fathom. fio has none of this name, so its dialect does not know it.
    OfFathom,
    /// The option is accepted without effect, for this reason.
    Accepted(&'static str),
    /// Fathom does not support the option yet; its default value is accepted.
    NotYet,
    /// An option of fio's built-in profiles, which fio accepts in any job and ignores.
    Profile,
    /// fio accepts the option for compatibility and ignores it.
    Deprecated,
    /// fio has removed the option and refuses it.
    Removed,
}

impl Status {
    /// Reports whether the option works in jobs of Fathom.
    #[must_use]
    pub const fn is_supported(self) -> bool {
        matches!(self, Self::Supported | Self::OfFathom)
    }
}

/// Function that sets an option in a draft.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Setter {
    /// None.
    Nothing,
    Switch(fn(&mut JobDraft, bool)),
    /// From a number, the first of a list.
    Number(fn(&mut JobDraft, u64)),
    /// From a number, the last of a list.
    Last(fn(&mut JobDraft, u64)),
    /// From a number for the slot of reads, writes or trims, and for later slots if it is the last of its list.
    Slots(fn(&mut JobDraft, usize, bool, u64)),
    /// From a number for reads and one for writes, which equals the first if it is absent.
    Pair(fn(&mut JobDraft) -> &mut [u32; 2]),
    Size(fn(&mut JobDraft, Size)),
    Time(fn(&mut JobDraft, Nanos)),
    Text(fn(&mut JobDraft, &str)),
    /// From a word and its argument after `:`.
    Word(fn(&mut JobDraft, &'static str, Option<&str>, &mut Findings)),
    /// From decimal numbers.
    Floats(fn(&mut JobDraft, Vec<f64>)),
    /// From a text with a grammar of its own.
    Special(fn(&mut JobDraft, &str, &mut Findings)),
}

/// A job option.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// Canonical name, which results repeat.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// Syntax of the value.
    pub kind: OptionKind,
    /// Default in the syntax of job files; empty if there is none.
    pub default: &'static str,
    /// Description of one sentence.
    pub doc: &'static str,
    /// Category, set by [`super::OPTIONS`].
    pub category: Category,
    /// Engines that accept it; empty for a general option.
    pub engines: &'static [&'static str],
    /// Support in Fathom.
    pub status: Status,
    /// Whether the value is a credential, which nothing repeats.
    pub is_secret: bool,
    pub(crate) setter: Setter,
    /// Reason for the bounds, for errors; empty if obvious.
    pub(crate) bounded_by: &'static str,
}

impl OptionSpec {
    /// Returns the name, then the aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// Reports whether the value may be omitted.
    #[must_use]
    pub fn takes_no_value(&self) -> bool {
        matches!(self.kind, OptionKind::Flag) || LOG_PREFIXES.contains(&self.name)
    }

    /// Reports whether the value `text` has no effect because it is the default.
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
            is_secret: false,
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

    pub(super) const fn secret(self) -> Self {
        Self { is_secret: true, ..self }
    }

    pub(super) const fn bounded_by(self, bounded_by: &'static str) -> Self {
        Self { bounded_by, ..self }
    }

    pub(super) const fn engines(self, engines: &'static [&'static str]) -> Self {
        Self { engines, ..self }
    }
}

/// An option that Fathom does not support yet.
pub(super) const fn later(name: &'static str, kind: OptionKind, doc: &'static str) -> OptionSpec {
    OptionSpec::new(name, kind, Setter::Nothing, doc).status(Status::NotYet)
}

/// An option without effect, for a reason.
pub(super) const fn accepted(
    name: &'static str,
    kind: OptionKind,
    doc: &'static str,
    reason: &'static str,
) -> OptionSpec {
    OptionSpec::new(name, kind, Setter::Nothing, doc).status(Status::Accepted(reason))
}

/// Log options, whose prefix defaults to the job's name.
const LOG_PREFIXES: [&str; 4] = ["write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log"];

/// No upper bound.
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

pub(super) const fn long(name: &'static str, least: i64, doc: &'static str, set: fn(&mut JobDraft, u64)) -> OptionSpec {
    OptionSpec::new(name, OptionKind::Long(least), Setter::Number(set), doc)
}

/// A percentage, the last of a list.
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
