//! Every refusal, warning and failure of Fathom as data: what, where, notes, and what to do.
//!
//! All crates return [`Problem`]s and `cli` alone prints them. A problem's [`ProblemCode`] says what kind it is, which
//! decides the exit code and which `docs/errors.md` lists.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProblemLevel {
    /// Information; the jobs run as written.
    Note,
    /// Probably not what the user meant; the jobs run nevertheless.
    Warning,
    /// Prevents or ends the run.
    Error,
}

/// Cause of an error, which decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProblemClass {
    /// The arguments or a file of the user are wrong.
    Request,
    /// The host or the device failed.
    Host,
}

macro_rules! problem_codes {
    ($($class:ident { $($code:ident $name:literal $meaning:literal)* })*) => {
        /// Kind of a problem.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ProblemCode {
            $($(#[doc = $meaning] $code,)*)*
        }

        impl ProblemCode {
            /// All codes, by class.
            pub const ALL: &[Self] = &[$($(Self::$code,)*)*];

            const fn row(self) -> (&'static str, &'static str, ProblemClass) {
                match self {
                    $($(Self::$code => ($name, $meaning, ProblemClass::$class),)*)*
                }
            }
        }
    };
}

problem_codes! {
    Request {
        Arguments "arguments" "The arguments are invalid."
        UnknownCommand "unknown-command" "The command is unknown."
        UnknownArgument "unknown-argument" "The command has no such option."
        MissingArgument "missing-argument" "A required argument is missing."
        ArgumentConflict "argument-conflict" "Two arguments exclude each other."
        UnknownOption "unknown-option" "The job option is unknown."
        UnknownValue "unknown-value" "The option does not take this value."
        MissingValue "missing-value" "The option has no value."
        UnusedArgument "unused-argument" "The option takes no value, or part of the value is unused."
        NotANumber "not-a-number" "The value is not a number, or fio reads another number."
        OutOfRange "out-of-range" "The value is too small or too large."
        Percent "percent" "The value is not a valid percentage, or the percentages do not add up."
        NotASwitch "not-a-switch" "The option takes 0 or 1 only."
        TimeUnit "time-unit" "The value has an unknown unit of time, which fio ignores."
        IecUnit "iec-unit" "The unit means decimal units in fio, but IEC units elsewhere."
        TrailingText "trailing-text" "Text after the value has no meaning."
        LeadingBlank "leading-blank" "A space precedes the value, which fio reads differently."
        ListElement "list-element" "An element of the list is not a number, range, CPU or node."
        ListLength "list-length" "The list has too many values."
        ListSeparator "list-separator" "A separator in the list is misplaced."
        Pattern "pattern" "The value is not a data pattern."
        Distribution "distribution" "The random distribution is invalid."
        BlockSize "block-size" "The block sizes are invalid or unusually small."
        SteadyState "steady-state" "The steady-state criterion is invalid."
        Zones "zones" "The zone options conflict with each other or with the device."
        Placement "placement" "The data placement is invalid."
        Network "network" "The options of the network engine are invalid."
        ObjectStore "object-store" "The options of the object store are invalid."
        Offload "offload" "The job has options that helper threads do not support."
        EngineOption "engine-option" "The option belongs to another engine."
        IgnoredOption "ignored-option" "The option has no effect in this job."
        ConflictingOptions "conflicting-options" "Two options of the job conflict."
        MissingOption "missing-option" "The job lacks an option that another one requires."
        NotSupported "not-supported" "The option exists in fio, but is not supported here."
        Deprecated "deprecated" "The option no longer has an effect in fio."
        Removed "removed" "The option was removed from fio."
        Replaced "replaced" "The option overrides an earlier value in the same job."
        TimeBased "time-based" "The job would run forever, or has no runtime."
        VerifyOverlap "verify-overlap" "Writes overlap blocks that are verified."
        WaitFor "wait-for" "The job waits for a job that does not precede it."
        QuotedArguments "quoted-arguments" "The arguments of a program contain quotes, which are not interpreted."
        Replay "replay" "The options of the trace replay are invalid."
        Merge "merge" "The options for merging traces are invalid."
        Profile "profile" "The options of the profile are invalid."
        NoJobs "no-jobs" "No job is defined."
        Section "section" "The structure of the job file is invalid."
        Include "include" "A file cannot be included."
        CommentInValue "comment-in-value" "A comment starts within a value."
        UnsetVariable "unset-variable" "An environment variable is not set or unusable."
        Calculation "calculation" "An expression cannot be evaluated."
        Encoding "encoding" "The text is not plain UTF-8."
        TooMuchText "too-much-text" "A file or line is too long."
        TooManyOptions "too-many-options" "The jobs have too many options."
        TooManyJobs "too-many-jobs" "Too many jobs are defined."
        TooManyWorkers "too-many-workers" "The jobs need more processes or threads than this host allows."
        TooManyFiles "too-many-files" "The jobs need more open files than this host allows."
        TooManyInFlight "too-many-in-flight" "The jobs keep more operations in flight than is possible."
        TooMuchMemory "too-much-memory" "The jobs need more memory than this host has."
        MoreProblems "more-problems" "Further problems are not shown."
        Hosts "hosts" "The number of simulated hosts, or the split of work among them, is invalid."
        Ranks "ranks" "No rank, or an unknown one, is selected."
        Fleet "fleet" "The ranks disagree, or one of them refused."
        Volume "volume" "The text does not describe a volume of the catalogue."
        VolumeFull "volume-full" "The files do not fit on the modelled volume."
        Catalog "catalog" "The load or filter for the catalogue is invalid."
        Offers "offers" "The offers of a provider's file are unusable, or contradict each other."
        Plan "plan" "The requirement of the plan is invalid."
        Claim "claim" "The claim is invalid."
        Expectation "expectation" "The expectation is invalid."
        NoBaseline "no-baseline" "A relative expectation has no baseline."
        Suite "suite" "The suite is invalid."
        Serve "serve" "The options of the server, or its reply, are invalid."
        Trace "trace" "The trace cannot be read or replayed."
        Unfit "unfit" "The job does not fit its files or device."
        Unsweepable "unsweepable" "A sweep cannot vary this job."
        NotComparable "not-comparable" "The runs measured different things."
        NoResults "no-results" "The input has no results."
        NoSuchDevice "no-such-device" "There is no such device or mount."
        UnreadableInput "unreadable-input" "A file cannot be read, or has another format."
        CutOff "cut-off" "The input ends before its first complete result."
        TooNew "too-new" "A newer version of Fathom wrote the file."
        CaptureRequest "capture-request" "The device cannot be captured in this way."
        Shard "shard" "The shard is invalid, or the shards do not belong together."
        Vary "vary" "The varied values are invalid."
        Address "address" "The server address is invalid."
        SavedRun "saved-run" "There is no such saved run, or it is ambiguous."
        Output "output" "The output file has an unsuitable name, format or location."
        Overwrite "overwrite" "Data that Fathom did not write would be overwritten."
    }
    Host {
        Device "device" "The device, file or server of a job cannot be opened or used."
        Operation "operation" "An operation or a worker failed during the run."
        File "file" "A file cannot be read or written."
        Store "store" "The saved runs cannot be read or written."
        Damaged "damaged" "A saved run differs from its checksums."
        Host "host" "The host lacks or denies something that the command needs."
        Capture "capture" "The capture failed, or the host does not permit it."
        Connection "connection" "A connection failed, or the peer replied unexpectedly."
    }
}

impl ProblemCode {
    /// Returns the name that users see: words joined by `-`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// Returns the meaning, as a sentence.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        self.row().1
    }

    /// Returns the class, which decides the exit code.
    #[must_use]
    pub const fn class(self) -> ProblemClass {
        self.row().2
    }
}

impl fmt::Display for ProblemCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A range of characters in one line of a file or of the command line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file's name as given, or `command line`.
    pub source: Arc<str>,
    /// The line, counted from 1.
    pub line: usize,
    /// The first character, counted from 1 in characters, not bytes.
    pub column: usize,
    /// Number of characters; 0 is possible at the end of a line.
    pub length: usize,
    /// Text of the whole line.
    pub text: Arc<str>,
}

impl Place {
    /// Returns the place of a range of bytes in a text; a range of several lines ends with its first line.
    #[must_use]
    pub fn of_text(source: &str, text: &str, at: Range<usize>) -> Self {
        let mut start = at.start.min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let begin = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let line = text[begin..end].trim_end_matches('\r');
        let column = text[begin..start].chars().count() + 1;
        let length = text.get(start..at.end.max(start)).map_or(0, |part| part.chars().count());
        Self {
            source: source.into(),
            line: text[..begin].matches('\n').count() + 1,
            column,
            length: length.min((line.chars().count() + 1).saturating_sub(column)),
            text: line.into(),
        }
    }

    /// Returns a place on the command line. Columns start at 1; column and length are in characters.
    #[must_use]
    pub fn on_command_line(text: impl Into<Arc<str>>, column: usize, length: usize) -> Self {
        Self { source: "command line".into(), line: 1, column, length, text: text.into() }
    }

    /// Returns the place of a part of an option's value on the command line; `at` counts bytes of the value.
    #[must_use]
    pub fn in_option(option: &str, value: &str, at: Range<usize>) -> Self {
        let before = value.get(..at.start).map_or(0, |before| before.chars().count());
        let length = value.get(at).map_or(1, |part| part.chars().count()).max(1);
        Self::on_command_line(format!("{option}={value}"), option.chars().count() + 2 + before, length)
    }

    /// Returns the text of this range.
    #[must_use]
    pub fn marked(&self) -> String {
        self.text.chars().skip(self.column.saturating_sub(1)).take(self.length).collect()
    }

    /// Returns this range in bytes of its line.
    #[must_use]
    pub fn bytes(&self) -> Range<usize> {
        let byte = |characters: usize| self.text.char_indices().nth(characters).map_or(self.text.len(), |(at, _)| at);
        let start = byte(self.column.saturating_sub(1));
        start..byte(self.column.saturating_sub(1) + self.length).max(start)
    }

    /// Returns the part of this range that begins `start` characters into it and has at most `length` characters.
    #[must_use]
    pub fn part(&self, start: usize, length: usize) -> Self {
        let start = start.min(self.length);
        Self { column: self.column + start, length: length.min(self.length - start), ..self.clone() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.source, self.line, self.column)
    }
}

/// One problem of a request, or one failure of the host or a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub level: ProblemLevel,
    pub code: ProblemCode,
    /// What failed and why, in one sentence without a full stop.
    pub what: String,
    /// Location; `None` if the problem concerns a whole file or none.
    pub place: Option<Box<Place>>,
    /// Text shown beside the caret; may be empty.
    pub label: String,
    /// fio's behaviour and other explanations.
    pub notes: Vec<String>,
    /// What to do instead.
    pub help: Option<String>,
}

impl Problem {
    #[must_use]
    pub fn error(code: ProblemCode, what: impl Into<String>) -> Self {
        Self::new(ProblemLevel::Error, code, what.into())
    }

    #[must_use]
    pub fn warning(code: ProblemCode, what: impl Into<String>) -> Self {
        Self::new(ProblemLevel::Warning, code, what.into())
    }

    /// Returns a problem of the level `Note`.
    #[must_use]
    pub fn remark(code: ProblemCode, what: impl Into<String>) -> Self {
        Self::new(ProblemLevel::Note, code, what.into())
    }

    const fn new(level: ProblemLevel, code: ProblemCode, what: String) -> Self {
        Self { level, code, what, place: None, label: String::new(), notes: Vec::new(), help: None }
    }

    /// Sets the place, if one is known.
    #[must_use]
    pub fn at(mut self, place: impl Into<Option<Place>>) -> Self {
        self.place = place.into().map(Box::new);
        self
    }

    /// Sets the text shown beside the caret.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds an explanation.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Moves the place of a problem in a text of one line to `whole`, the place of that text.
    #[must_use]
    pub fn within(self, whole: &Place) -> Self {
        let place = self.place.as_deref().map(|place| whole.part(place.column - 1, place.length));
        self.at(place.unwrap_or_else(|| whole.clone()))
    }

    /// Puts `subject: ` before what failed.
    #[must_use]
    pub fn of(mut self, subject: impl fmt::Display) -> Self {
        self.what = format!("{subject}: {}", self.what);
        self
    }

    /// Sets what to do instead, if that is known.
    #[must_use]
    pub fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }

    /// Adds to what to do instead.
    #[must_use]
    pub fn also_help(mut self, help: impl Into<String>) -> Self {
        let help = help.into();
        self.help = Some(self.help.map_or_else(|| help.clone(), |known| format!("{known}; {help}")));
        self
    }

    /// Sets what to do instead.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// One line, as in records and logs: `job.fio:3:4: what; help`.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.what)?;
        self.help.iter().try_for_each(|help| write!(f, "; {help}"))
    }
}

impl std::error::Error for Problem {}

impl From<Problem> for Vec<Problem> {
    fn from(problem: Problem) -> Self {
        vec![problem]
    }
}
