//! Copies to and from mapped files that survive `SIGBUS`.
//!
//! The kernel reports errors of a mapping (truncated file, failed device) by a signal that ends the process by default.
//! The handler replaces the rest of the copied range by anonymous memory, so that the copy completes, and the copy then
//! reports which pages do not show the file. Any other `SIGBUS` goes to the previous handler.

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
    /// Address of the first replaced page; zero for none.
    replaced: usize,
}

const NOTHING: GuardedRange = GuardedRange { start: 0, end: 0, replaced: 0 };

thread_local! {
    // Constant and without a destructor, so that the handler may read it at any time.
    static GUARDED: Cell<GuardedRange> = const { Cell::new(NOTHING) };
}

/// The previous action of `SIGBUS`, and the page size.
static PREVIOUS: OnceLock<(libc::sigaction, usize)> = OnceLock::new();

/// Installs the handler, once per process.
///
/// # Errors
/// Fails if the system refuses, for which there is no known reason.
pub(crate) fn install() -> Result<(), Error> {
    if PREVIOUS.get().is_some() {
        return Ok(());
    }
    // SAFETY: all zeroes is a valid `sigaction`: numbers and an empty set.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: as above. The first call only reads the current action into `previous`, which outlives it.
    let mut previous: libc::sigaction = unsafe { std::mem::zeroed() };
    let refused = || Error::system(ErrorKind::Engine, "handle", "SIGBUS", &io::Error::last_os_error());
    // SAFETY: as above.
    if unsafe { libc::sigaction(libc::SIGBUS, std::ptr::null(), &raw mut previous) } < 0 {
        return Err(refused());
    }
    // Two workers may run this at once: only the first has seen the previous action.
    if PREVIOUS.set((previous, probe::page_bytes() as usize)).is_err() {
        return Ok(());
    }
    action.sa_sigaction = on_bus_error as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: the handler only calls functions that are permitted in handlers, and `action` outlives the call.
    if unsafe { libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut()) } < 0 {
        return Err(refused());
    }
    Ok(())
}

/// Copies `length` bytes. `mapped` is whichever of `from` and `to` is in a mapped file. Returns the range of addresses,
/// in whole pages, that no longer shows the file because the file could not be accessed there.
///
/// # Safety
/// As for [`std::ptr::copy_nonoverlapping`], except that pages from `mapped` on may fail. The pages of the range must
/// belong to one mapping that the caller owns, and this function may replace them.
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, length: usize, mapped: *const u8) -> Option<(usize, usize)> {
    let start = mapped as usize;
    GUARDED.set(GuardedRange { start, end: start + length, replaced: 0 });
    compiler_fence(Ordering::SeqCst);
    // SAFETY: the caller guarantees both ranges; the handler resolves faults in the guarded one.
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

/// Replaces the rest of the guarded range from the page of `address` on. Returns whether it did.
fn replace_pages(address: usize) -> bool {
    let guarded = GUARDED.get();
    if !(guarded.start..guarded.end).contains(&address) {
        return false;
    }
    let first = address & !(page_bytes() - 1);
    // SAFETY: the pages belong to the mapping that this thread is copying from or to, whose owner permits their
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
    // SAFETY: the kernel passes a valid `siginfo_t` to a handler with `SA_SIGINFO`.
    let address = unsafe { (*info).si_addr() } as usize;
    // SAFETY: the location belongs to this thread while it lives.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { *errno };
    let replaced = replace_pages(address);
    // SAFETY: as above.
    unsafe { *errno = before };
    if !replaced {
        forward(signal, info, context);
    }
}

/// Passes the signal to the previous action.
fn forward(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let Some((previous, _)) = PREVIOUS.get() else { return };
    match previous.sa_sigaction {
        libc::SIG_DFL | libc::SIG_IGN => {
            // The instruction is repeated when the handler returns, and the default action then applies. SAFETY:
            // `previous` comes from the kernel and lives as long as the process.
            unsafe { libc::sigaction(signal, std::ptr::from_ref(previous), std::ptr::null_mut()) };
        }
        handler if previous.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: this address was installed as a handler with `SA_SIGINFO`, which has this type.
            let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) =
                unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: this address was installed as a handler without `SA_SIGINFO`, which has this type.
            let handler: extern "C" fn(i32) = unsafe { std::mem::transmute(handler) };
            handler(signal);
        }
    }
}
