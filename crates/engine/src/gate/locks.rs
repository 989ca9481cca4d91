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

/// Other programs with which a file is shared while it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// No other program that uses locks may read or write the file.
    #[default]
    Exclusive,
    /// Other writers that use this mode are admitted, as fio's processes are.
    Writers,
}

/// Locks a file for writing for as long as the descriptor is open. Returns the objection if another program holds a
/// conflicting lock or the locks cannot be queried. Filesystems without locks give no objection.
pub(super) fn lock(file: &File, sharing: Sharing) -> Option<Objection> {
    // Locks before checking, so that of two concurrent callers at least one sees the other's lock.
    let own: &[i64] = match sharing {
        Sharing::Writers => &[USED + WRITE],
        Sharing::Exclusive => &[USED + WRITE, NOT_SHARED, NOT_SHARED + 1, NOT_SHARED + 2, NOT_SHARED + 3],
    };
    let checked: &[(i64, i64)] = match sharing {
        // Writers in sharing mode lock only this byte. QEMU also locks others, even if it shares all permissions.
        Sharing::Writers => &[(0, USED + WRITE), (USED + WRITE + 1, 0)],
        // Any lock conflicts, because databases lock other bytes.
        Sharing::Exclusive => &[(0, 0)],
    };
    lock_and_check(file, own, checked)
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
        checked.iter().try_fold(false, |held, (start, length)| Ok(held || is_held(file, *start, *length)?))
    });
    let objection = match found {
        Ok(false) => return None,
        Ok(true) => Objection::Locked,
        Err(error) if has_no_locks(&error) => return None,
        Err(error) => Objection::Unknown(format!("whether another program has locked it cannot be found out: {error}")),
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
                matches!(&objection, Some(Objection::Unknown(reason)) if reason.contains("locked")),
                "{objection:?}"
            );
        }
        let errors =
            [libc::EINVAL, libc::ENOSYS, libc::EOPNOTSUPP, libc::ENOLCK, libc::EIO, libc::EACCES, libc::ESTALE];
        let none = errors.map(|errno| has_no_locks(&io::Error::from_raw_os_error(errno)));
        assert_eq!(none, [true, true, true, true, false, false, false]);
    }
}
