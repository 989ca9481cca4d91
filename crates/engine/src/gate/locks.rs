//! Locks of open file descriptions (`fcntl(2)`, `F_OFD_SETLK`) on the bytes that QEMU locks in images, so that Fathom
//! and QEMU never write to one at the same time.
//!
//! QEMU (`docs/system/images.rst`, image locking) keeps a read lock on byte 100 + n for each permission n that it uses,
//! and on byte 200 + n for each that it does not share.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use super::objection::Objection;

const USED: i64 = 100;
const NOT_SHARED: i64 = 200;
/// QEMU's permissions for consistent reads and for writes. 2 is for rewriting unchanged bytes, 3 for resizing.
const READ: i64 = 0;
const WRITE: i64 = 1;

/// Bytes that keep QEMU and other writers away.
const WRITING: [i64; 5] = [USED + WRITE, NOT_SHARED, NOT_SHARED + 1, NOT_SHARED + 2, NOT_SHARED + 3];
/// By this byte ranks recognize an exclusive writer, whose other locks are theirs too.
const EXCLUSIVE: i64 = 300;
/// By this byte ranks recognize a writer in fio's mode.
const SHARING: i64 = 301;
/// From here a byte for each run on many hosts: its ranks check the file or have been admitted to it.
const RANKS: i64 = 1 << 32;
/// From here a byte for each run on many hosts: one of its ranks has been admitted to the file.
const ADMITTED: i64 = 1 << 33;
/// From here a byte for each run on many hosts, locked exclusively: one of its ranks lays the file out.
const LAYING_OUT: i64 = 1 << 34;

/// Other programs with which a file is shared while it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// No other program that uses locks may read or write the file.
    #[default]
    Exclusive,
    /// Other writers that use this mode are admitted, as fio's processes are.
    Writers,
    /// Ranks of the run on many hosts with this number are admitted.
    Ranks(u32),
}

/// Locks a file for writing for as long as the descriptor is open. Returns the objection if another program holds a
/// conflicting lock or the locks cannot be queried. Filesystems without locks give no objection.
pub(super) fn lock(file: &File, sharing: Sharing) -> Option<Objection> {
    // Locks before checking, so that of two concurrent callers at least one sees the other's lock.
    match sharing {
        // Writers in sharing mode lock only these bytes. QEMU also locks others, even if it shares all permissions.
        Sharing::Writers => {
            let others = [(0, USED + WRITE), (USED + WRITE + 1, SHARING - USED - WRITE - 1), (SHARING + 1, 0)];
            lock_and_check(file, &[USED + WRITE, SHARING], &others)
        }
        // Any lock conflicts, because databases lock other bytes.
        Sharing::Exclusive => lock_and_check(file, &[&WRITING[..], &[EXCLUSIVE]].concat(), &[(0, 0)]),
        // Every other program that writes holds a byte that ranks do not: QEMU that of consistent reads.
        Sharing::Ranks(number) => {
            let [own, admitted, laying_out] = [RANKS, ADMITTED, LAYING_OUT].map(|first| first + i64::from(number));
            let gaps = [&WRITING[..], &[own, admitted, laying_out]].concat();
            lock_and_check(file, &[&WRITING[..], &[own]].concat(), &between(&gaps))
        }
    }
}

/// Returns the ranges, as start and length, of all bytes except some in ascending order.
fn between(bytes: &[i64]) -> Vec<(i64, i64)> {
    let ends = bytes.iter().copied();
    let starts = std::iter::once(0).chain(bytes.iter().map(|byte| byte + 1));
    let last = bytes.last().map_or(0, |byte| byte + 1);
    starts
        .zip(ends)
        .filter(|(start, end)| start < end)
        .map(|(start, end)| (start, end - start))
        .chain([(last, 0)])
        .collect()
}

/// Records for other ranks of a run that this one has been admitted to a file, whose content is the run's from now on.
pub(super) fn set_admitted(file: &File, sharing: Sharing) {
    if let Sharing::Ranks(number) = sharing {
        let _ = lock_byte(file, ADMITTED + i64::from(number));
    }
}

/// Makes this rank the one that lays a file out, for as long as the descriptor is open. Reports whether no other rank
/// of the run does so. Without ranks, or on a filesystem without locks, none is known.
pub(super) fn begin_layout(file: &File, sharing: Sharing) -> bool {
    let Sharing::Ranks(number) = sharing else { return true };
    let locked = call(file, libc::F_OFD_SETLK, libc::F_WRLCK, LAYING_OUT + i64::from(number), 1);
    !locked.is_err_and(|error| matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)))
}

/// Reports whether another rank of the same run lays a file out.
pub(super) fn is_being_laid_out(file: &File, sharing: Sharing) -> bool {
    let Sharing::Ranks(number) = sharing else { return false };
    is_held(file, LAYING_OUT + i64::from(number), 1).unwrap_or(false)
}

/// What another rank of the same run does with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OtherRank {
    /// Nothing, as far as locks show.
    Absent,
    /// It checks the file.
    Checking,
    /// It has been admitted.
    Admitted,
}

/// Returns what another rank of the same run does with a file.
pub(super) fn other_rank(file: &File, sharing: Sharing) -> OtherRank {
    let Sharing::Ranks(number) = sharing else { return OtherRank::Absent };
    let is_held = |first: i64| is_held(file, first + i64::from(number), 1).unwrap_or(false);
    match (is_held(ADMITTED), is_held(RANKS)) {
        (true, _) => OtherRank::Admitted,
        (false, true) => OtherRank::Checking,
        (false, false) => OtherRank::Absent,
    }
}

/// Locks a file for reading, which other readers may do too. Returns the objection if another program holds a
/// conflicting lock.
pub(crate) fn lock_for_reading(file: &File) -> Option<Objection> {
    let own = [USED + READ, NOT_SHARED + 1, NOT_SHARED + 2, NOT_SHARED + 3];
    lock_and_check(file, &own, &[(NOT_SHARED + READ, 1), (USED + WRITE, 1)])
}

/// Locks bytes and checks for locks of others on ranges, each given as start and length.
fn lock_and_check(file: &File, own: &[i64], checked: &[(i64, i64)]) -> Option<Objection> {
    let found = own.iter().try_for_each(|byte| lock_byte(file, *byte)).and_then(|()| {
        // Mostly no byte is locked.
        if !is_held(file, 0, 0)? {
            return Ok(false);
        }
        checked.iter().try_fold(false, |held, (start, length)| Ok(held || is_held(file, *start, *length)?))
    });
    let objection = match found {
        Ok(false) => return None,
        Ok(true) => Objection::Locked,
        Err(error) if has_no_locks(&error) => return None,
        Err(error) => Objection::Unknown(format!("cannot check for locks of other programs: {error}")),
    };
    release(file);
    Some(objection)
}

/// Reports whether an error means that the filesystem supports no locks, so that no program can hold one.
fn has_no_locks(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOSYS | libc::EOPNOTSUPP | libc::ENOLCK))
}

fn lock_byte(file: &File, byte: i64) -> io::Result<()> {
    match call(file, libc::F_OFD_SETLK, libc::F_RDLCK, byte, 1) {
        // Another program's write lock on the byte, which the check afterwards finds, or a descriptor that is open only
        // for writing.
        Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES | libc::EBADF)) => Ok(()),
        held => held.map(|_| ()),
    }
}

fn release(file: &File) {
    let _ = call(file, libc::F_OFD_SETLK, libc::F_UNLCK, 0, 0);
}

/// Reports whether another open file description has a lock on these bytes; length 0 means to the end.
fn is_held(file: &File, start: i64, length: i64) -> io::Result<bool> {
    Ok(call(file, libc::F_OFD_GETLK, libc::F_WRLCK, start, length)? != libc::F_UNLCK)
}

/// Makes one lock call and returns the lock type left in the structure.
fn call(file: &File, command: i32, kind: i32, start: i64, length: i64) -> io::Result<i32> {
    // SAFETY: all zeroes is a valid `flock64`, which consists of numbers.
    let mut lock: libc::flock64 = unsafe { std::mem::zeroed() };
    lock.l_type = kind as i16;
    lock.l_whence = libc::SEEK_SET as i16;
    lock.l_start = start;
    lock.l_len = length;
    // SAFETY: the call reads and writes `lock`, which outlives it.
    if unsafe { libc::fcntl(file.as_raw_fd(), command, &raw mut lock) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(i32::from(lock.l_type))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> (File, File) {
        let path =
            std::env::temp_dir().join(format!("fathom-locks-{}-{:?}", std::process::id(), std::thread::current().id()));
        let open = || File::options().read(true).write(true).create(true).truncate(false).open(&path).unwrap();
        let both = (open(), open());
        std::fs::remove_file(path).unwrap();
        both
    }

    const LOCKED: Option<Objection> = Some(Objection::Locked);

    #[test]
    fn two_writers_exclude_each_other_until_one_ends() {
        let (first, second) = two();
        assert_eq!(lock(&first, Sharing::Exclusive), None);
        assert_eq!(lock(&second, Sharing::Exclusive), LOCKED);
        assert_eq!(lock(&second, Sharing::Writers), LOCKED);
        assert_eq!(lock(&first, Sharing::Exclusive), None, "a file is not locked against its own holder");
        release(&first);
        assert_eq!(lock(&second, Sharing::Exclusive), None);
    }

    #[test]
    fn sharing_writers_admit_only_each_other() {
        let (first, second) = two();
        assert_eq!(lock(&first, Sharing::Writers), None);
        assert_eq!(lock(&second, Sharing::Writers), None);
        release(&second);
        assert_eq!(lock(&second, Sharing::Exclusive), LOCKED);
    }

    #[test]
    fn ranks_admit_only_ranks_of_the_same_run() {
        let (first, second) = two();
        let [one, other] = [1, u32::MAX].map(Sharing::Ranks);
        assert_eq!((other_rank(&second, one), lock(&first, one)), (OtherRank::Absent, None));
        assert_eq!((other_rank(&second, one), lock(&second, one)), (OtherRank::Checking, None));
        set_admitted(&first, one);
        assert_eq!((other_rank(&second, one), other_rank(&second, other)), (OtherRank::Admitted, OtherRank::Absent));
        release(&second);
        assert_eq!(lock(&second, one), None, "after the other is admitted");
        release(&second);
        for outsider in [other, Sharing::Exclusive, Sharing::Writers] {
            assert_eq!(lock(&second, outsider), LOCKED, "{outsider:?} after a rank");
        }
        assert_eq!(lock_for_reading(&second), LOCKED);
        release(&first);
        for outsider in [other, Sharing::Exclusive, Sharing::Writers] {
            assert_eq!(lock(&second, outsider), None);
            assert_eq!(lock(&first, one), LOCKED, "a rank after {outsider:?}");
            release(&second);
        }
        assert_eq!(lock_for_reading(&second), None);
        assert_eq!(lock(&first, one), LOCKED, "a rank after a reader");
        release(&second);
        // A database that locks a byte of its own.
        call(&second, libc::F_OFD_SETLK, libc::F_WRLCK, 0x4000_0000, 1).unwrap();
        assert_eq!(lock(&first, one), LOCKED);
    }

    #[test]
    fn one_rank_of_a_run_lays_a_file_out() {
        let (first, second) = two();
        let [one, other] = [1, u32::MAX].map(Sharing::Ranks);
        assert!(begin_layout(&first, one) && begin_layout(&first, one));
        assert_eq!((is_being_laid_out(&second, one), is_being_laid_out(&second, other)), (true, false));
        assert!(!is_being_laid_out(&first, one) && !is_being_laid_out(&second, Sharing::Exclusive));
        assert_eq!((begin_layout(&second, one), begin_layout(&second, other)), (false, true));
        assert!(begin_layout(&second, Sharing::Exclusive) && begin_layout(&second, Sharing::Writers));
        release(&second);
        assert_eq!(lock(&second, one), None, "ranks are admitted meanwhile");
        assert_eq!(lock_for_reading(&second), None, "readers are excluded by the locks of admitted ranks only");
        assert_eq!(lock(&second, other), LOCKED);
        drop(first);
        assert!(begin_layout(&second, one), "after the first has ended");
    }

    #[test]
    fn ranges_between_bytes_hold_all_others() {
        assert_eq!(between(&[2, 3, 7]), [(0, 2), (4, 3), (8, 0)]);
        assert_eq!(between(&[0, 1]), [(2, 0)]);
    }

    #[test]
    fn readers_admit_each_other_but_no_writers() {
        let (first, second) = two();
        assert_eq!(lock_for_reading(&first), None);
        assert_eq!(lock_for_reading(&second), None);
        release(&second);
        assert_eq!((lock(&second, Sharing::Exclusive), lock(&second, Sharing::Writers)), (LOCKED, LOCKED));
        release(&first);
        assert_eq!(lock(&second, Sharing::Exclusive), None);
        assert_eq!(lock_for_reading(&first), LOCKED);
    }

    /// Revision 692e655 treated every failed lock query as a file without locks.
    #[test]
    fn a_failed_lock_query_counted_as_no_lock() {
        // `O_PATH` descriptors do not support lock queries (`EBADF`).
        let unasked = super::super::open::lookup(std::path::Path::new("/tmp")).unwrap();
        for objection in
            [lock(&unasked, Sharing::Exclusive), lock(&unasked, Sharing::Writers), lock_for_reading(&unasked)]
        {
            assert!(
                matches!(&objection, Some(Objection::Unknown(reason)) if reason.contains("locks")),
                "{objection:?}"
            );
        }
        let errors =
            [libc::EINVAL, libc::ENOSYS, libc::EOPNOTSUPP, libc::ENOLCK, libc::EIO, libc::EACCES, libc::ESTALE];
        let none = errors.map(|errno| has_no_locks(&io::Error::from_raw_os_error(errno)));
        assert_eq!(none, [true, true, true, true, false, false, false]);
    }
}
