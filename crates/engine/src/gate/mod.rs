//! The write gate: the only source of descriptors through which the program writes.
//!
//! The gate decides on the open file (device and inode), never on a name. It keeps what it admits open and locked until
//! the command ends, and writers reopen that descriptor, so a link that moves, a device that is formatted or a
//! filesystem that is mounted meanwhile changes nothing. Block devices are opened with `O_EXCL`, which the kernel
//! refuses if they or their partitions are mounted, used as swap or stacked upon, and which prevents that later.
//! Anything that cannot be determined counts against the write.
//!
//! Out of scope: which operations a job can issue (see `workload::Operations`), and exports of NBD servers except for
//! their content ([`WriteGate::admit_export`]), and what objects of a store hold ([`WriteGate::admit_objects`]).

mod admitted;
mod candidate;
mod creation;
mod filesystem;
mod identity;
mod ledger;
mod locks;
mod loops;
mod mark;
mod namespace;
mod objection;
mod open;
mod output;
mod permit;
mod register;
mod removal;
mod result_file;
mod scsi;
mod users;

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard};

pub use identity::FileIdentity;
pub use locks::Sharing;
pub(crate) use locks::lock_for_reading;
pub use objection::{DataOrigin, Denied, Objection, Permission, WriteRefusal};
pub(crate) use open::{OpenMode, remove_same};
pub use output::{Existing, create_output};
pub use permit::Permit;
pub use register::{claim_output, note_input, owner_of_output};
pub use result_file::{ResultFile, ResultStream};
pub(crate) use scsi::scsi_block_of;

use crate::error::Error;
use crate::opening::ObjectPermit;
use crate::{exports, file_facts};
use admitted::Admitted;
use candidate::WriteCandidate;
use creation::{Lookup, RecentDirectory};
use ledger::GateLedger;
use permit::HeldFile;
use probe::{Examination, Occupant};
use users::RecentFileUsers;

/// The parent directory of `/sys` and `/proc`.
const ROOT: &str = "/";
/// Divisor of the limit of open files that gives the number of regular files held open; the rest are identified by
/// inode.
pub const HELD_SHARE: u64 = 4;

/// Permissions granted by the user beyond the safe default.
#[derive(Clone, Debug, Default)]
pub struct Permissions {
    /// Devices, files and export addresses that may be destroyed, regardless of their content and use.
    pub destroy: Vec<PathBuf>,
    /// Regular files whose content may be overwritten.
    pub overwrite: Vec<PathBuf>,
    /// Whether to ignore the content of anything that is neither in use nor locked by another program: fio's rule.
    pub any_content: bool,
    /// Whether to ignore the content of regular files: the rule of a server, whose files belong to its clients.
    pub any_file: bool,
    /// Whether jobs may listen on all addresses of the host.
    pub any_peer: bool,
    /// How regular files are shared with other programs.
    pub sharing: Sharing,
    /// Whether Fathom writes all the data and so marks what it leaves as its own. False for a server, whose clients
    /// write, and under fio's rule, which ignores content.
    pub marks_own: bool,
}

/// The gate of one command. Everything it admitted stays open and locked until it is dropped.
#[derive(Debug, Default)]
pub struct WriteGate {
    permissions: Permissions,
    ledger: Option<GateLedger>,
    state: Mutex<GateState>,
    /// Held from the check to the admission. Otherwise the second of two workers with the same file would find the lock
    /// or claim of the first and take it for another program's. Those who create files share it, because no two of them
    /// create the same one (`O_EXCL`): two threads create 100,000 files in 0.75 s, and in 1.7 s without sharing, where
    /// one takes 1.2 s.
    admission: RwLock<RecentFileUsers>,
    directory: RecentDirectory,
}

#[derive(Debug, Default)]
struct GateState {
    admitted: Admitted,
    /// Admitted character devices of NVMe namespaces, whose block devices are among `admitted`.
    commanded: BTreeMap<FileIdentity, Permit>,
    /// Admitted exports, and whether all their data were Fathom's.
    exports: BTreeMap<String, bool>,
    /// Whether operations may have changed what was admitted.
    begun: bool,
}

impl WriteGate {
    /// Creates a gate with these permissions. Content that Fathom left on devices is recognized by entries in the
    /// directory `ledger`; without one it is treated like any other data.
    #[must_use]
    pub fn new(permissions: Permissions, ledger: Option<&Path>) -> Self {
        let mut gate = Self::default();
        (gate.permissions, gate.ledger) = (permissions, ledger.map(GateLedger::new));
        gate
    }

    /// Creates a gate that admits everything that is not in use, whatever its content.
    #[cfg(test)]
    pub(crate) fn of_any_content() -> Self {
        Self::new(Permissions { any_content: true, ..Permissions::default() }, None)
    }

    fn state(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Requests permission to write to the file or device at `path`. Returns `None` if there is none yet.
    ///
    /// A file that was admitted before is admitted again under any name, and a name keeps referring to the file it was
    /// admitted for. Results never replace a file for which permission is requested (as [`note_input`]).
    ///
    /// # Errors
    /// Returns all objections that are not covered by a permission, or the system's refusal.
    pub fn admit(&self, path: &Path) -> Result<Option<Permit>, Denied> {
        match self.admitted_before(path) {
            Some(permit) => Ok(Some(permit)),
            None => self.admit_next(path, &mut self.admission()),
        }
    }

    /// Returns the permit of a name that was admitted before, if it still refers to something. Does not wait for another
    /// worker's admission, which may never end if a device does not answer.
    fn admitted_before(&self, path: &Path) -> Option<Permit> {
        self.admitted_as(path).filter(|_| path.exists())
    }

    /// Returns the permit of the file that was admitted by this name, which may refer to another one by now.
    pub(crate) fn admitted_as(&self, path: &Path) -> Option<Permit> {
        self.state().admitted.named(path).cloned()
    }

    fn admission(&self) -> RwLockWriteGuard<'_, RecentFileUsers> {
        self.admission.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Implements [`WriteGate::admit`] for a caller that holds the admission lock, which guards `users`.
    fn admit_next(&self, path: &Path, users: &mut RecentFileUsers) -> Result<Option<Permit>, Denied> {
        match self.look_up(path)? {
            Lookup::Found(file, metadata) => self.admit_found(path, file, &metadata, users).map(Some),
            Lookup::Free | Lookup::Missing => Ok(None),
        }
    }

    /// Looks up a name, and forgets what it referred to if that is nothing by now.
    fn look_up(&self, path: &Path) -> Result<Lookup, Error> {
        let found = self.directory.look_up(path).map_err(|error| Error::file("stat", path, &error))?;
        if matches!(found, Lookup::Free | Lookup::Missing) {
            self.state().admitted.forget_name(path);
        }
        Ok(found)
    }

    /// Admits the file that a name referred to when it was looked up.
    fn admit_found(
        &self,
        path: &Path,
        path_fd: File,
        metadata: &Metadata,
        users: &mut RecentFileUsers,
    ) -> Result<Permit, Denied> {
        if let Some(permit) = self.state().admitted.named(path) {
            return Ok(permit.clone());
        }
        let identity = FileIdentity::of(metadata);
        note_input(metadata);
        let known = self.state().admitted.identified(identity, path);
        if let Some(permit) = known {
            return Ok(permit);
        }
        let candidate = WriteCandidate { gate: self, path, path_fd, identity };
        let held = match identity {
            FileIdentity::Block(number) => candidate.block(number)?,
            FileIdentity::File { .. } => candidate.file(metadata, users)?,
            FileIdentity::Character(number) => candidate.character(number)?,
            FileIdentity::Stream | FileIdentity::Other => return Err(file_facts::unusable(path).into()),
        };
        Ok(self.state().admitted.add(held))
    }

    /// Creates a new file and the directories above it, with permission to write. If a file has appeared there
    /// meanwhile, it is checked as by [`WriteGate::admit`]. Returns whether the file is new.
    ///
    /// # Errors
    /// As for [`WriteGate::admit`]. Files are never created among device nodes.
    pub fn create(&self, path: &Path) -> Result<(Permit, bool), Denied> {
        self.create_open(path).map(|(permit, new)| (permit, new.is_some()))
    }

    /// Implements [`WriteGate::create`], and returns the descriptor of a new file, for reads and writes.
    pub(crate) fn create_open(&self, path: &Path) -> Result<(Permit, Option<File>), Denied> {
        if let Some(permit) = self.admitted_before(path) {
            return Ok((permit, None));
        }
        if let Some(created) = self.create_beside(path)? {
            return Ok(created);
        }
        let users = &mut *self.admission();
        if let Some(permit) = self.admit_next(path, users)? {
            return Ok((permit, None));
        }
        let place = creation::check_new(path)?;
        if let Some(file) = creation::make_with_parents(path, &place)? {
            return Ok(self.add_new(path, file)?);
        }
        let made_by_another = || Error::file("create", path, &io::Error::from_raw_os_error(libc::EEXIST));
        Ok((self.admit_next(path, users)?.ok_or_else(made_by_another)?, None))
    }

    /// Creates a file at the same time as others do. Returns `None` if something exists at `path`, or its directory is
    /// missing or must be examined.
    fn create_beside(&self, path: &Path) -> Result<Option<(Permit, Option<File>)>, Error> {
        let _admission = self.admission.read().unwrap_or_else(PoisonError::into_inner);
        self.directory.create(path).map(|file| self.add_new(path, file)).transpose()
    }

    /// Adds a file that was just created.
    fn add_new(&self, path: &Path, file: File) -> Result<(Permit, Option<File>), Error> {
        let failed = |error: io::Error| Error::file("stat", path, &error);
        let metadata = file.metadata().map_err(failed)?;
        let identity = FileIdentity::of(&metadata);
        note_input(&metadata);
        let new = file.try_clone().map_err(failed)?;
        locks::lock(&file, self.permissions.sharing);
        self.mark_new(&file);
        locks::set_admitted(&file, self.permissions.sharing);
        let name = path.as_os_str().into();
        let held = HeldFile { name, identity, file: Some(file), claims: Vec::new(), own: true, exclusive: true };
        Ok((self.state().admitted.add(held), Some(new)))
    }

    /// Requests permission to write to the file at `path` or to create it.
    ///
    /// # Errors
    /// As for [`WriteGate::create`].
    pub fn check(&self, path: &Path) -> Result<(), Denied> {
        if self.admitted_before(path).is_some() {
            return Ok(());
        }
        match self.look_up(path)? {
            Lookup::Found(file, metadata) => self.admit_found(path, file, &metadata, &mut self.admission()).map(drop),
            Lookup::Free => Ok(()),
            Lookup::Missing => creation::check_new(path).map(drop),
        }
    }

    /// Requests permission to write to an export of an NBD server, based on its content: only the server knows its
    /// other users.
    ///
    /// # Errors
    /// As for [`WriteGate::admit`].
    pub fn admit_export(&self, uri: &str) -> Result<(), Denied> {
        if self.state().exports.contains_key(uri) {
            return Ok(());
        }
        let own = !self.permissions.any_content && self.is_own_export(uri)?;
        self.state().exports.insert(uri.to_owned(), own);
        Ok(())
    }

    /// Requests permission to write and delete the objects whose names begin with `url`. What they hold is not examined,
    /// because a store may neither list nor show them: unless content does not matter, the user must name them.
    ///
    /// # Errors
    /// Fails if the user has not permitted it.
    pub fn admit_objects(&self, url: &str) -> Result<ObjectPermit, Denied> {
        let permissions = &self.permissions;
        if permissions.any_content || permissions.destroy.iter().any(|path| path.as_os_str() == url) {
            return Ok(ObjectPermit::new(url));
        }
        Err(Denied::Refused(WriteRefusal::new(Path::new(url), vec![Objection::Objects])))
    }

    /// Reports whether an export holds only Fathom's data. Other data are an error unless the export may be destroyed.
    fn is_own_export(&self, uri: &str) -> Result<bool, Denied> {
        let may_destroy = self.permissions.destroy.iter().any(|path| path.as_os_str() == uri);
        let objections = match exports::examine(uri) {
            Ok(found) => self.content_objections(&found),
            Err(_) if may_destroy => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        if !objections.is_empty() && !may_destroy {
            return Err(Denied::Refused(WriteRefusal::new(Path::new(uri), objections)));
        }
        Ok(objections.is_empty())
    }

    /// Makes [`WriteGate::finish`] skip reading the devices, because one of them does not answer. Their content
    /// requires permission the next time.
    pub fn abandon(&self) {
        self.state().begun = false;
    }

    /// Records that operations may change what was admitted from now on.
    pub fn begin(&self) {
        if !self.permissions.marks_own {
            return;
        }
        let mut state = self.state();
        state.begun = true;
        for permit in state.admitted.permits().filter(|permit| permit.held().own) {
            if let (Some(file), FileIdentity::File { .. }) = (&permit.held().file, permit.held().identity) {
                // Without extended attributes the ledger identifies the file, unless the run writes to it and is
                // killed.
                let _ = mark::begin(file);
            }
        }
    }

    /// Reports whether nothing was admitted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let state = self.state();
        state.admitted.is_empty() && state.exports.is_empty() && state.commanded.is_empty()
    }

    /// Reports whether the user named a file as one that may be overwritten or destroyed.
    #[must_use]
    pub fn permits_overwrite(&self, path: &Path) -> bool {
        FileIdentity::at(path).is_some_and(|identity| self.may_overwrite(identity) || self.may_destroy(identity))
    }

    /// Reports whether jobs may listen on all addresses of the host.
    #[must_use]
    pub fn permits_any_peer(&self) -> bool {
        self.permissions.any_peer
    }

    fn may_destroy(&self, identity: FileIdentity) -> bool {
        let is_named = |one: FileIdentity| one == identity || Self::is_namespace_of(one, identity);
        self.permissions.destroy.iter().any(|path| scsi::permitted(path).is_some_and(is_named))
    }

    fn may_overwrite(&self, identity: FileIdentity) -> bool {
        let permissions = &self.permissions;
        permissions.any_content
            || permissions.any_file
            || permissions.overwrite.iter().any(|path| FileIdentity::at(path) == Some(identity))
    }

    /// Reports whether nothing depends on who wrote the content of a file that has no possible users.
    fn ignores_creator(&self) -> bool {
        self.permissions.any_content && !self.permissions.marks_own
    }

    fn is_own(&self, found: &Examination) -> bool {
        found.first_data.is_none() || self.ledger.as_ref().is_some_and(|ledger| ledger.knows_content(found.fingerprint))
    }

    /// Returns the objections against overwriting the content of a device.
    fn content_objections(&self, found: &Examination) -> Vec<Objection> {
        if self.permissions.any_content {
            return Vec::new();
        }
        let signatures = found.signatures.iter().copied().map(Occupant::Data).map(Objection::Occupied);
        let mut objections: Vec<Objection> = signatures.collect();
        if let Some(offset) = found.first_data.filter(|_| objections.is_empty() && !self.is_own(found)) {
            objections.push(Objection::Content { offset });
        }
        objections
    }

    /// Marks a file that Fathom has created and is about to write, if only Fathom writes to it. Without extended
    /// attributes there is no mark until the run ends.
    fn mark_new(&self, file: &File) {
        if self.permissions.marks_own {
            let _ = mark::begin(file);
        }
    }

    /// Reports whether the file may be created by another rank of the same run.
    pub(crate) fn is_shared_by_ranks(&self) -> bool {
        matches!(self.permissions.sharing, Sharing::Ranks(_))
    }

    /// Makes this process the one that lays out an open file until it is closed. Reports whether no other rank of the
    /// run does so.
    pub(crate) fn begin_layout(&self, file: &File) -> bool {
        locks::begin_layout(file, self.permissions.sharing)
    }

    /// Reports whether another rank of the run lays out the regular file at `path`.
    pub(crate) fn is_being_laid_out(&self, path: &Path) -> bool {
        let sharing = self.permissions.sharing;
        self.is_shared_by_ranks() && File::open(path).is_ok_and(|file| locks::is_being_laid_out(&file, sharing))
    }

    /// Marks a file that was laid out, so that it is recognized if the run is killed before it writes to the file.
    pub(crate) fn mark_laid_out(&self, permit: &Permit, file: &File) {
        if permit.held().own {
            self.mark_new(file);
        }
    }

    /// Marks a file in its final state. If that fails, the file requires permission the next time.
    fn mark_written(&self, file: &File) {
        if mark::finish(file).is_err()
            && let Some(ledger) = &self.ledger
        {
            let _ = ledger.add_file(file);
        }
    }

    /// Records what Fathom leaves behind, to recognize it later. Does nothing if that was done since
    /// [`WriteGate::begin`]. A device or export that held other data before is not recorded, because most of those data
    /// may still be there. Reads the admitted devices, and waits for them. On ranks, the gate repeats it when it is
    /// dropped.
    pub fn finish(&self) {
        let (permits, exports): (Vec<Permit>, Vec<String>) = {
            let mut state = self.state();
            if !state.begun {
                return;
            }
            // Other ranks may still write; when the gate is dropped, all have ended.
            state.begun = matches!(self.permissions.sharing, Sharing::Ranks(_));
            let own = state.exports.iter().filter(|(_, own)| **own).map(|(uri, _)| uri.clone());
            (state.admitted.permits().cloned().collect(), own.collect())
        };
        for permit in &permits {
            let HeldFile { file, identity, own, exclusive, .. } = permit.held();
            let opened = || permit.open(OpenMode::READ_WRITE).ok();
            match (identity, file) {
                (FileIdentity::File { .. }, Some(file)) if *own => self.mark_written(file),
                (FileIdentity::File { .. }, None) if *own => drop(opened().map(|file| self.mark_written(&file))),
                (FileIdentity::Block(_), Some(device)) if *own && *exclusive => self.record_device(device),
                _ => {}
            }
        }
        for uri in &exports {
            self.record(exports::examine(uri).ok());
        }
    }

    fn record_device(&self, device: &File) {
        // Commands to the character device of a namespace leave older data in the page cache.
        if !self.state().commanded.is_empty() {
            namespace::drop_cache_of(device);
        }
        let examined = file_facts::device_bytes(device).and_then(|bytes| probe::examine(&mut &*device, bytes));
        self.record(examined.ok());
    }

    /// Records the content of a device or export. If that fails, the content requires permission the next time.
    fn record(&self, found: Option<Examination>) {
        if let (Some(ledger), Some(found)) = (&self.ledger, found.filter(|found| found.first_data.is_some())) {
            let _ = ledger.add_content(found.fingerprint);
        }
    }
}

impl Drop for WriteGate {
    fn drop(&mut self) {
        self.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_written_only_under_the_url_that_the_user_names() {
        let url = "http://store:9000/bucket/a";
        let gate = WriteGate::new(Permissions::default(), None);
        let refused = units::Problem::from(gate.admit_objects(url).unwrap_err()).to_string();
        assert!(refused.contains("--allow-destroy=http://store:9000/bucket/a"), "{refused}");
        let destroy = vec![PathBuf::from(url)];
        let gate = WriteGate::new(Permissions { destroy, ..Permissions::default() }, None);
        let permit = gate.admit_objects(url).unwrap();
        assert!(permit.covers(url) && !permit.covers("http://store:9000/bucket/b"));
        for other in ["http://store:9000/bucket/ab", "http://store:9000/bucket", "https://store:9000/bucket/a"] {
            assert!(gate.admit_objects(other).is_err(), "{other}");
        }
        let destroy = vec![PathBuf::from("http://store:9000/bucket//a")];
        let gate = WriteGate::new(Permissions { destroy, ..Permissions::default() }, None);
        assert!(gate.admit_objects(url).is_err(), "a path is compared as text");
        assert!(WriteGate::of_any_content().admit_objects(url).is_ok());
    }
}
