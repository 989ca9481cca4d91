//! Copies to and from mapped files that survive `SIGBUS`.
//!
//! The kernel reports errors of a mapping (its file was cut short, its device failed) by a signal whose default ends the
//! process. Here the handler replaces the rest of the range being copied by anonymous memory, so that the copy comes to its
//! end, and the copy reports that it was no copy of the file. A `SIGBUS` from anywhere else takes its previous course.

use std::cell::Cell;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{Ordering, compiler_fence};

use crate::error::{Error, ErrorKind};

/// The part of a mapping that the thread is copying from or to.
#[derive(Clone, Copy)]
struct GuardedRange {
    start: usize,
    end: usize,
    /// The first page that was replaced; zero for none.
    replaced: usize,
}

const NOTHING: GuardedRange = GuardedRange { start: 0, end: 0, replaced: 0 };

thread_local! {
    // Constant and without a destructor, so that the handler may read it at any time.
    static GUARDED: Cell<GuardedRange> = const { Cell::new(NOTHING) };
}

/// The previous handler of `SIGBUS`, and the page size.
static PREVIOUS: OnceLock<(libc::sigaction, usize)> = OnceLock::new();

/// Installs the handler, once for the process.
///
/// # Errors
///
/// When the system refuses, which it has no reason to.
pub(crate) fn install() -> Result<(), Error> {
    if PREVIOUS.get().is_some() {
        return Ok(());
    }
    // SAFETY: all zeroes is a valid `sigaction`: numbers and an empty set.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: as above; the first call only reads what is installed, into `previous`, which outlives it.
    let mut previous: libc::sigaction = unsafe { std::mem::zeroed() };
    let refused = || Error::system(ErrorKind::Engine, "handle", "SIGBUS", &io::Error::last_os_error());
    // SAFETY: as above.
    if unsafe { libc::sigaction(libc::SIGBUS, std::ptr::null(), &raw mut previous) } < 0 {
        return Err(refused());
    }
    // SAFETY: the call takes a number.
    let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    // Two workers may come here at once: only the first has seen the action of before.
    if PREVIOUS.set((previous, page_bytes)).is_err() {
        return Ok(());
    }
    action.sa_sigaction = on_bus_error as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: the handler only calls what may be called from one, and `action` outlives the call.
    if unsafe { libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut()) } < 0 {
        return Err(refused());
    }
    Ok(())
}

/// Copies `length` bytes. `mapped` is whichever of the two is in a mapped file. Returns the range of addresses, in whole
/// pages, that no longer shows the file because the file could not be read or written there.
///
/// # Safety
///
/// As for [`std::ptr::copy_nonoverlapping`], except that pages from `mapped` on may fail. The pages of the range
/// must belong to one mapping of the caller's, which it may have replaced.
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, length: usize, mapped: *const u8) -> Option<(usize, usize)> {
    let start = mapped as usize;
    GUARDED.set(GuardedRange { start, end: start + length, replaced: 0 });
    compiler_fence(Ordering::SeqCst);
    // SAFETY: the caller vouches for both ranges; faults in the guarded one are dealt with.
    unsafe { std::ptr::copy_nonoverlapping(from, to, length) };
    compiler_fence(Ordering::SeqCst);
    let seen = GUARDED.replace(NOTHING);
    (seen.replaced > 0).then(|| (seen.replaced, pages_end(seen.end)))
}

fn page_bytes() -> usize {
    PREVIOUS.get().map_or(4096, |(_, bytes)| *bytes)
}

fn pages_end(end: usize) -> usize {
    end.next_multiple_of(page_bytes())
}

/// Replaces the rest of the guarded range, from the page of `address` on. Returns whether it did.
fn replace(address: usize) -> bool {
    let guarded = GUARDED.get();
    if !(guarded.start..guarded.end).contains(&address) {
        return false;
    }
    let first = address & !(page_bytes() - 1);
    // SAFETY: the pages belong to the mapping that this thread is copying from or to, whose owner has agreed to their
    // replacement; they hold nothing but that file.
    let made = unsafe {
        libc::mmap(
            first as *mut libc::c_void,
            pages_end(guarded.end) - first,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if made == libc::MAP_FAILED {
        return false;
    }
    let replaced = if guarded.replaced == 0 { first } else { guarded.replaced.min(first) };
    GUARDED.set(GuardedRange { replaced, ..guarded });
    true
}

extern "C" fn on_bus_error(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid `siginfo_t` to a handler with SA_SIGINFO.
    let address = unsafe { (*info).si_addr() } as usize;
    // SAFETY: the location is this thread's own for as long as it lives.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { *errno };
    let replaced = replace(address);
    // SAFETY: as above.
    unsafe { *errno = before };
    if !replaced {
        pass_on(signal, info, context);
    }
}

/// Does what `SIGBUS` did before the handler was installed.
fn pass_on(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let Some((previous, _)) = PREVIOUS.get() else { return };
    match previous.sa_sigaction {
        libc::SIG_DFL | libc::SIG_IGN => {
            // The instruction is repeated when the handler returns, and then takes the default course.
            // SAFETY: `previous` is what the kernel gave, and lives as long as the process.
            unsafe { libc::sigaction(signal, std::ptr::from_ref(previous), std::ptr::null_mut()) };
        }
        handler if previous.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: the kernel had this address as a handler with SA_SIGINFO, which has this type.
            let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) =
                unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: the kernel had this address as a handler without SA_SIGINFO, which has this type.
            let handler: extern "C" fn(i32) = unsafe { std::mem::transmute(handler) };
            handler(signal);
        }
    }
}
