//! A file or device to be written: the objections to it, and the descriptor that holds it.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::SeekFrom;
use rustix::io::Errno;

use super::identity::FileIdentity;
use super::locks::{OtherRank, Sharing};
use super::mark::{self, FileCreator};
use super::objection::{DataOrigin, Denied, Objection, Permission, WriteRefusal};
use super::open::{self, OpenMode};
use super::permit::HeldFile;
use super::users::{self, RecentFileUsers, Users, Uses};
use super::{ROOT, WriteGate, locks, output, register};
use crate::error::Error;
use crate::file_facts;
use probe::Occupant;

/// Time limit for another rank of the same run to check a device that it has claimed.
const CHECK_LIMIT: Duration = Duration::from_secs(10);
/// Time limit for another rank to lock a device that it has claimed.
const LOCK_LIMIT: Duration = Duration::from_millis(200);

/// A file or device for which a write permission is requested.
pub(super) struct WriteCandidate<'a> {
    pub(super) gate: &'a WriteGate,
    pub(super) path: &'a Path,
    /// Opened by `O_PATH`.
    pub(super) path_fd: File,
    pub(super) identity: FileIdentity,
}

impl WriteCandidate<'_> {
    fn reopen(&self, mode: OpenMode) -> io::Result<File> {
        open::reopen(&self.path_fd, self.path, mode)
    }

    fn failed(&self, operation: &'static str) -> impl Fn(io::Error) -> Denied + '_ {
        move |error| Error::file(operation, self.path, &error).into()
    }

    /// Admits the candidate if there are no objections or it may be destroyed.
    pub(super) fn admit_unless(&self, objections: Vec<Objection>) -> Result<(), Denied> {
        let is_permitted = |one: &Objection| one.permission() <= Permission::Destroy;
        if objections.is_empty() || self.gate.may_destroy(self.identity) && objections.iter().all(is_permitted) {
            return Ok(());
        }
        Err(self.refused(objections))
    }

    fn refused(&self, objections: Vec<Objection>) -> Denied {
        Denied::Refused(WriteRefusal::new(self.path, objections).of_fio(self.gate.permissions.any_content))
    }

    pub(super) fn block(&self, number: probe::Number) -> Result<HeldFile, Denied> {
        let mut objections = Vec::new();
        let (file, is_exclusive) = self.claim_device()?;
        let is_shared = !is_exclusive && self.other_rank(&file) == OtherRank::Admitted;
        let users = Users::of_block(Path::new(ROOT), number);
        objections.extend(users.found.into_iter().map(Objection::Occupied));
        objections.retain(|one| !self.gate.permissions.any_content || is_in_use(one));
        let (claims, is_claimed) = self.claim_same_medium(number);
        if objections.is_empty() && !is_shared && !(is_exclusive && is_claimed) {
            objections.push(Objection::Exclusive);
        }
        objections.extend(users.unknown.into_iter().map(Objection::Unknown));
        objections.extend(locks::lock(&file, self.gate.permissions.sharing));
        let bytes = file_facts::device_bytes(&file).map_err(self.failed("get the size of"))?;
        // fio's rule ignores existing content.
        let mut own = false;
        if !self.gate.permissions.any_content && !is_shared {
            let found = probe::examine(&mut &file, bytes).map_err(self.failed("check for data on"))?;
            let content_objections = self.gate.content_objections(&found);
            own = content_objections.is_empty();
            objections.extend(content_objections);
        }
        self.admit_unless(objections)?;
        locks::set_admitted(&file, self.gate.permissions.sharing);
        let name = self.path.as_os_str().into();
        Ok(HeldFile { name, identity: self.identity, file: Some(file), claims, own, exclusive: is_exclusive })
    }

    fn other_rank(&self, file: &File) -> OtherRank {
        locks::other_rank(file, self.gate.permissions.sharing)
    }

    /// Opens a device with `O_EXCL`, or without if it is claimed. Returns whether this is the claim. Waits while another
    /// rank of the same run, which holds the claim, checks the device.
    fn claim_device(&self) -> Result<(File, bool), Denied> {
        let exclusive = OpenMode { flags: libc::O_EXCL, ..OpenMode::READ_WRITE };
        let began = Instant::now();
        loop {
            let file = match self.reopen(exclusive) {
                Ok(file) => return Ok((file, true)),
                Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
                    self.reopen(OpenMode::READ_WRITE).map_err(self.failed("open"))?
                }
                Err(error) => return Err(self.failed("open")(error)),
            };
            let limit = match (self.gate.permissions.sharing, self.other_rank(&file)) {
                (Sharing::Ranks(_), OtherRank::Checking) => CHECK_LIMIT,
                // It locks the device right after it opened it.
                (Sharing::Ranks(_), OtherRank::Absent) => LOCK_LIMIT,
                _ => Duration::ZERO,
            };
            if began.elapsed() >= limit {
                return Ok((file, false));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Claims the other devices of the same medium. Returns whether all could be claimed.
    fn claim_same_medium(&self, number: probe::Number) -> (Vec<File>, bool) {
        let root = Path::new(ROOT);
        let Some(device) = probe::relations(root, number) else { return (Vec::new(), true) };
        let mut claims = Vec::new();
        let mut all = true;
        for other in users::same_medium(root, &device) {
            let node = probe::relations(root, other).map(|device| Path::new("/dev").join(device.name));
            let mode = OpenMode { read: true, write: false, flags: libc::O_EXCL };
            let claim = node.map(|node| open::reopen_identical(&node, FileIdentity::Block(other), mode));
            match claim {
                Some(Ok(file)) => claims.push(file),
                _ => all = false,
            }
        }
        (claims, all)
    }

    pub(super) fn file(&self, metadata: &Metadata, users: &mut RecentFileUsers) -> Result<HeldFile, Denied> {
        if let Some(owner) = register::owner_of(metadata) {
            return Err(self.refused(vec![Objection::Output { owner }]));
        }
        let Uses { certain: mut objections, possible } = Uses::of(&self.path_fd, metadata, users);
        if objections.iter().any(|one| one.permission() == Permission::Never) {
            return Err(self.refused(objections));
        }
        let file = match self.reopen(OpenMode::READ_WRITE) {
            Ok(file) => file,
            // In use as swap, which the objection explains better than the system's error.
            Err(error) if !objections.is_empty() && error.raw_os_error() == Some(libc::ETXTBSY) => {
                return Err(self.refused(objections));
            }
            Err(error) => return Err(self.failed("open")(error)),
        };
        objections.extend(locks::lock(&file, self.gate.permissions.sharing));
        // Looks for data first: another rank writes only after it has been admitted.
        let is_empty = is_empty(&file).map_err(self.failed("check for data in"))?;
        // Its content is what the run leaves there.
        let is_shared = self.other_rank(&file) == OtherRank::Admitted;
        // Reading the marks of many files takes time.
        let is_creator_needed = !possible.is_empty() || !self.gate.ignores_creator();
        let creator = if is_creator_needed { self.creator(&file) } else { FileCreator::Foreign(DataOrigin::Other) };
        let is_begun = is_shared && creator == FileCreator::Foreign(DataOrigin::Unfinished);
        let own = creator == FileCreator::Fathom || is_empty || is_begun;
        // A file that is empty, or Fathom's own and unchanged, cannot hold data of an unknown user.
        objections.extend(possible.into_iter().filter(|_| !own));
        if !is_empty && !is_shared && !self.gate.may_overwrite(self.identity) {
            objections.extend(self.file_content_objection(&file, creator)?);
        }
        self.admit_unless(objections)?;
        locks::set_admitted(&file, self.gate.permissions.sharing);
        let name = self.path.as_os_str().into();
        Ok(HeldFile { name, identity: self.identity, file: Some(file), claims: Vec::new(), own, exclusive: true })
    }

    fn creator(&self, file: &File) -> FileCreator {
        match mark::creator(file) {
            FileCreator::Foreign(_) if self.gate.ledger.as_ref().is_some_and(|ledger| ledger.knows_file(file)) => {
                FileCreator::Fathom
            }
            creator => creator,
        }
    }

    fn file_content_objection(&self, file: &File, creator: FileCreator) -> Result<Option<Objection>, Denied> {
        let failed = self.failed("check for data in");
        let bytes = file.metadata().map_err(&failed)?.len();
        let found = probe::examine(&mut &*file, bytes).map_err(&failed)?;
        let signature = found.signatures.first().map(|signature| signature.name);
        let origin = match creator {
            FileCreator::Foreign(origin) => origin,
            // Fathom writes no filesystem.
            FileCreator::Fathom if signature.is_some() => DataOrigin::Changed,
            FileCreator::Fathom => return Ok(None),
        };
        Ok(Some(Objection::Foreign { bytes, kind: signature.or_else(|| kind_of(file)), origin }))
    }

    pub(super) fn character(&self, number: probe::Number) -> Result<HeldFile, Denied> {
        // Bytes that are written to it are SCSI commands.
        if probe::is_scsi_generic(number) {
            let reason = "it is a SCSI character device, which needs ioengine=sg";
            return Err(self.refused(vec![Objection::NotScsi(reason.to_owned())]));
        }
        let harmless = output::discards_everything(number);
        self.admit_unless(if harmless { Vec::new() } else { vec![Objection::Character] })?;
        let name = self.path.as_os_str().into();
        // Opening some devices, such as tapes, has side effects, so only the worker opens them.
        Ok(HeldFile { name, identity: self.identity, file: None, claims: Vec::new(), own: false, exclusive: false })
    }
}

/// Reports whether the device is in use, as opposed to merely holding data.
fn is_in_use(objection: &Objection) -> bool {
    !matches!(objection, Objection::Occupied(Occupant::Data(_) | Occupant::Partition(_)))
}

/// Reports whether a file consists only of holes.
fn is_empty(file: &File) -> io::Result<bool> {
    match rustix::fs::seek(file, SeekFrom::Data(0)) {
        Err(Errno::NXIO) => Ok(true),
        Ok(_) => Ok(false),
        // The filesystem may not support holes.
        Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(file.metadata()?.len() == 0),
        Err(errno) => Err(errno.into()),
    }
}

/// Recognizes a file by its first bytes.
fn kind_of(file: &File) -> Option<&'static str> {
    use std::os::unix::fs::FileExt;
    let mut head = vec![0; probe::KIND_BYTES];
    let length = file.read_at(&mut head, 0).ok()?;
    probe::file_kind(&head[..length])
}
