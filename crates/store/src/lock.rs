//! The lock of a store.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::io::Errno;
use units::ProblemCode;

use crate::error::{Error, Result};

/// Timeout of the lock: a stopped process may hold it forever.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(2);

/// A lock that is released when it is dropped or the process ends for any reason (`flock(2)`).
pub(crate) struct StoreLock(#[expect(dead_code, reason = "closing the file releases the lock")] File);

impl StoreLock {
    /// Waits for the lock, at most for `timeout`.
    pub(crate) fn wait(path: &Path, timeout: Duration) -> Result<Self> {
        let begun = Instant::now();
        loop {
            if let Some(lock) = Self::try_now(path)? {
                return Ok(lock);
            }
            if begun.elapsed() > timeout {
                let remedy = "find the suspended fathom process, and resume or stop it";
                let what = format!("another process has held the store's lock for {} s", timeout.as_secs());
                return Err(Error::new(path, ProblemCode::Store, what, remedy));
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Takes the lock unless another process holds it.
    pub(crate) fn try_now(path: &Path) -> Result<Option<Self>> {
        // The target of a link is no file of the store.
        let flags = OFlags::NOFOLLOW.bits() as i32;
        let file = OpenOptions::new().create(true).truncate(false).write(true).custom_flags(flags).open(path);
        let file = file.map_err(|error| match error.raw_os_error() {
            Some(errno) if errno == Errno::LOOP.raw_os_error() => {
                let what = "the lock file is a symbolic link";
                Error::new(path, ProblemCode::SavedRun, what, "remove the link")
            }
            _ => Error::io(path, "open the lock file", error),
        })?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(Error::io(path, "lock", error)),
        }
    }
}
