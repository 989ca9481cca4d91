//! Locks of open file descriptions (`fcntl(2)`, `F_OFD_SETLK`) on the bytes that QEMU locks in images, so that neither
//! writes while the other does.
//!
//! QEMU (`docs/system/images.rst`, image locking) keeps a read lock on byte 100 + n for each permission n that it uses,
//! and on byte 200 + n for each that it does not share.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

const USED: i64 = 100;
const NOT_SHARED: i64 = 200;
/// Permissions: to read what is consistent, to write, to rewrite the same bytes, to change the size.
const READ: i64 = 0;
const WRITE: i64 = 1;
const ALL: [i64; 4] = [READ, WRITE, 2, 3];

/// With whom a file is shared while it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// No other program that locks may read or write it.
    #[default]
    Exclusive,
    /// Other writers that share are admitted, as processes of fio are.
    Writers,
}

/// Locks a file for writing, for as long as the descriptor is open. Returns whether another program's lock forbids it.
/// Filesystems without locks forbid nothing.
pub(super) fn lock(file: &File, sharing: Sharing) -> bool {
    // Before looking, so that of two that begin together at least one sees the other.
    hold(file, USED + WRITE);
    let forbidden = match sharing {
        // Those that share lock this one byte; QEMU locks others as well, even where it shares all of them.
        Sharing::Writers => is_held(file, 0, USED + WRITE) || is_held(file, USED + WRITE + 1, 0),
        Sharing::Exclusive => {
            ALL.iter().for_each(|permission| hold(file, NOT_SHARED + permission));
            // Whatever is locked: databases lock other bytes.
            is_held(file, 0, 0)
        }
    };
    if forbidden {
        release(file);
    }
    forbidden
}

/// Locks a file for reading: others may read it. Returns whether another program's lock forbids it.
pub(crate) fn lock_for_reading(file: &File) -> bool {
    hold(file, USED + READ);
    ALL[1..].iter().for_each(|permission| hold(file, NOT_SHARED + permission));
    let forbidden = is_held(file, NOT_SHARED + READ, 1) || is_held(file, USED + WRITE, 1);
    if forbidden {
        release(file);
    }
    forbidden
}

fn hold(file: &File, byte: i64) {
    // Refused only by a write lock on the byte, which the look afterwards finds.
    let _ = call(file, libc::F_OFD_SETLK, libc::F_RDLCK, byte, 1);
}

fn release(file: &File) {
    let _ = call(file, libc::F_OFD_SETLK, libc::F_UNLCK, 0, 0);
}

/// Whether another open file description has a lock on these bytes; of length 0 to the end.
fn is_held(file: &File, start: i64, length: i64) -> bool {
    call(file, libc::F_OFD_GETLK, libc::F_WRLCK, start, length).is_ok_and(|found| found != libc::F_UNLCK)
}

/// One call about a lock; returns the type that is left in the structure.
fn call(file: &File, command: i32, kind: i32, start: i64, length: i64) -> io::Result<i32> {
    // SAFETY: all zeroes is a valid `flock64`, which is numbers alone.
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

    #[test]
    fn two_writers_exclude_each_other_until_one_ends() {
        let (first, second) = two();
        assert!(!lock(&first, Sharing::Exclusive));
        assert!(lock(&second, Sharing::Exclusive));
        assert!(lock(&second, Sharing::Writers));
        assert!(!lock(&first, Sharing::Exclusive), "a file is not locked against its own holder");
        release(&first);
        assert!(!lock(&second, Sharing::Exclusive));
    }

    #[test]
    fn writers_that_share_admit_each_other_and_nobody_else() {
        let (first, second) = two();
        assert!(!lock(&first, Sharing::Writers));
        assert!(!lock(&second, Sharing::Writers));
        release(&second);
        assert!(lock(&second, Sharing::Exclusive));
    }

    #[test]
    fn readers_share_and_keep_writers_out() {
        let (first, second) = two();
        assert!(!lock_for_reading(&first));
        assert!(!lock_for_reading(&second));
        release(&second);
        assert!(lock(&second, Sharing::Exclusive) && lock(&second, Sharing::Writers));
        release(&first);
        assert!(!lock(&second, Sharing::Exclusive));
        assert!(lock_for_reading(&first));
    }
}
