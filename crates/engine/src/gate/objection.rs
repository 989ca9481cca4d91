//! Reasons against writing to a file or device.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use units::{Bytes, Problem, ProblemCode};

use crate::error::{Error, ErrorKind};
use probe::Occupant;

/// A reason against writing to a file or device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Objection {
    /// It holds data of a known kind, or is in use.
    Occupied(Occupant),
    /// A device holds nonzero bytes that Fathom did not write.
    Content {
        /// Offset of the first such byte that was examined, in bytes.
        offset: u64,
    },
    /// A regular file holds data that Fathom did not write.
    Foreign {
        /// Size in bytes.
        bytes: u64,
        /// File type, if its first bytes show it.
        kind: Option<&'static str>,
        origin: DataOrigin,
    },
    /// Another program has the device open exclusively (`O_EXCL`).
    Exclusive,
    /// Another program holds a lock on it.
    Locked,
    /// A fact needed for the decision could not be determined.
    Unknown(String),
    /// It is a character device that does more than discard bytes.
    Character,
    /// It is a block device, and results are written only to files.
    Device,
    /// It is a file in a filesystem of the kernel.
    Kernel(&'static str),
    /// It would be a new file among the device nodes.
    DeviceDirectory,
    /// It is a result file that this command also reads or measures.
    Input,
    /// It is a file that this command also writes results to.
    Output {
        /// The option that names it.
        owner: String,
    },
    /// They are objects of a store, whose content is not examined.
    Objects,
    /// SCSI commands are not sent to it, for this reason.
    NotScsi(String),
    /// It is something that the engine neither creates nor deletes.
    Kind(&'static str),
}

/// Origin of the data of a regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataOrigin {
    /// Fathom did not create the file, or has left no mark on it.
    Other,
    /// Another program has written to the file since Fathom did.
    Changed,
    /// A run that wrote to the file was killed, so later data cannot be distinguished from the run's.
    Unfinished,
}

/// The option that permits a write despite an objection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    /// `--allow-overwrite`.
    Overwrite,
    /// `--allow-destroy`.
    Destroy,
    /// No option.
    Never,
}

impl Objection {
    /// Returns the permission that the write needs.
    #[must_use]
    pub const fn permission(&self) -> Permission {
        match self {
            Self::Foreign { .. } => Permission::Overwrite,
            Self::Device
            | Self::Kernel(_)
            | Self::DeviceDirectory
            | Self::Input
            | Self::Output { .. }
            | Self::NotScsi(_)
            | Self::Kind(_) => Permission::Never,
            _ => Permission::Destroy,
        }
    }
}

impl fmt::Display for Objection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Occupied(occupant) => write!(f, "{}", occupant_text(occupant)),
            Self::Content { offset } => write!(f, "it holds data that Fathom did not write (at byte {offset})"),
            Self::Foreign { bytes, kind, origin } => {
                write!(f, "it holds {}", Bytes::new(*bytes))?;
                kind.map_or(Ok(()), |kind| write!(f, " ({kind})"))?;
                f.write_str(match origin {
                    DataOrigin::Other => " that Fathom did not write",
                    DataOrigin::Changed => " that another program has changed since Fathom created the file",
                    DataOrigin::Unfinished => {
                        " of a Fathom run that was killed, and another program may have changed it since"
                    }
                })
            }
            Self::Exclusive => f.write_str("another program has it open exclusively (O_EXCL)"),
            Self::Locked => f.write_str("another program or another part of this run has locked it"),
            Self::Unknown(reason) | Self::NotScsi(reason) => f.write_str(reason),
            Self::Kind(kind) => write!(f, "it is {kind}"),
            Self::Objects => f.write_str("Fathom does not check whether objects of these names exist"),
            Self::Character => f.write_str("it is a character device"),
            Self::Device => f.write_str("it is a block device, but results must go to a file"),
            Self::Kernel(filesystem) => write!(f, "it is on the kernel's {filesystem}"),
            Self::Input => f.write_str("this command reads or measures it, so results would overwrite it"),
            Self::Output { owner } => write!(f, "{owner} writes to it"),
            Self::DeviceDirectory => f.write_str("no such device, and Fathom creates no files among device nodes"),
        }
    }
}

fn occupant_text(occupant: &Occupant) -> String {
    match occupant {
        Occupant::Data(signature) => format!("it holds data: {signature}"),
        Occupant::Partition(name) => format!("it contains the partition {name}"),
        Occupant::Holder { device, holder } => format!("{device} is in use by {holder}"),
        Occupant::Mount { device, at } => format!("{device} is mounted at {}", at.display()),
        Occupant::Swap { device } => format!("{device} is in use as swap"),
        Occupant::LoopBacking { device } => format!("it backs the loop device {device}"),
    }
}

/// A refused write, with what would permit it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteRefusal {
    /// Path of the file or device.
    pub path: PathBuf,
    /// All objections, at least one.
    pub objections: Vec<Objection>,
    /// Whether it is a result file.
    is_output: bool,
    /// Whether it was only to be read.
    is_read: bool,
    /// Whether its name was to be created or deleted.
    is_name: bool,
    /// Whether fio's option permits the write.
    by_fio: bool,
}

impl WriteRefusal {
    pub(super) fn new(path: &Path, objections: Vec<Objection>) -> Self {
        Self { path: path.to_owned(), objections, is_output: false, is_read: false, is_name: false, by_fio: false }
    }

    /// Sets whether to word the refusal for `fathom fio`, where `allow_mounted_write` replaces Fathom's own options.
    pub(super) fn of_fio(self, by_fio: bool) -> Self {
        Self { by_fio, ..self }
    }

    /// Returns the refusal to read what another program writes.
    pub(crate) fn of_reader(path: &Path, objection: Objection) -> Self {
        Self { is_read: true, ..Self::new(path, vec![objection]) }
    }

    /// Returns the refusal to create or delete a name.
    pub(super) fn of_name(path: &Path, objection: Objection) -> Self {
        Self { is_name: true, ..Self::new(path, vec![objection]) }
    }

    /// Returns the refusal to write results, which no option permits.
    pub(super) fn of_output(path: &Path, objections: Vec<Objection>) -> Self {
        Self { is_output: true, ..Self::new(path, objections) }
    }

    /// Returns the permission that the write needs despite all objections.
    #[must_use]
    pub fn permission(&self) -> Permission {
        if self.is_output {
            return Permission::Never;
        }
        self.objections.iter().map(Objection::permission).max().unwrap_or(Permission::Never)
    }
}

/// Returns `/dev/sdb would be overwritten: it holds data: ext4 filesystem, sdb is mounted at /srv`.
impl From<WriteRefusal> for Problem {
    fn from(refusal: WriteRefusal) -> Self {
        let path = refusal.path.display();
        let problem = |what: String| Self::error(ProblemCode::Overwrite, what);
        if refusal.objections == [Objection::DeviceDirectory] {
            return problem(format!("no such device: {path}")).help("list devices with lsblk");
        }
        if let (true, [Objection::Output { owner }]) = (refusal.is_output, refusal.objections.as_slice()) {
            return problem(format!("{owner} also writes to this file")).help("use a separate file for each output");
        }
        let reasons: Vec<String> = refusal.objections.iter().map(Objection::to_string).collect();
        let reasons = reasons.join(", ");
        if refusal.is_read {
            return problem(format!("cannot read {path} while it may change: {reasons}"))
                .help("stop the program that uses it, or use another file");
        }
        if refusal.is_name {
            return problem(format!("cannot create or delete {path}: {reasons}")).help("use another path");
        }
        let help = match refusal.permission() {
            Permission::Overwrite | Permission::Destroy if refusal.by_fio => {
                "stop the programs that use it, or set allow_mounted_write=1 if its data may be destroyed".to_owned()
            }
            Permission::Overwrite => {
                format!("to overwrite it, add --allow-overwrite={path}; otherwise use another file")
            }
            Permission::Destroy => {
                format!("to destroy its data, add --allow-destroy={path}; otherwise use another device or file")
            }
            Permission::Never => "use another file".to_owned(),
        };
        problem(format!("{path} would be overwritten: {reasons}")).help(help)
    }
}

/// Why a write was not admitted.
#[derive(Debug)]
pub enum Denied {
    /// Fathom refuses the write.
    Refused(WriteRefusal),
    /// The system failed to open or examine it.
    Failed(Error),
}

impl From<Error> for Denied {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl Denied {
    /// Returns the problem of an output that cannot be opened, before anything is touched.
    #[must_use]
    pub fn of_output(self, owner: impl fmt::Display) -> Problem {
        Problem { code: ProblemCode::Output, ..Problem::from(self).of(owner) }
    }
}

impl From<Denied> for Problem {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Refused(refusal) => refusal.into(),
            Denied::Failed(error) => error.into(),
        }
    }
}

impl From<Denied> for io::Error {
    fn from(denied: Denied) -> Self {
        Self::other(Problem::from(denied))
    }
}

impl From<Denied> for Error {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Failed(error) => error,
            Denied::Refused(refusal) => {
                let path = refusal.path.display().to_string();
                let problem = Problem::from(refusal).of(format_args!("cannot write to {path}"));
                Error { kind: ErrorKind::Gate, problem: Box::new(problem), errno: None }
            }
        }
    }
}
