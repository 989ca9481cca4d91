//! Signals, turned into flags that the main thread looks at.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1, SIGXFSZ};
use signal_hook::flag;

use crate::exit::Exit;

/// What the outside has asked for.
#[derive(Debug)]
pub(crate) struct Signals {
    end: Arc<AtomicUsize>,
    status: Arc<AtomicBool>,
}

impl Signals {
    /// From now on SIGINT and SIGTERM ask for an end, and SIGUSR1 for the results so far.
    ///
    /// A second SIGINT or SIGTERM kills at once: somebody whose device hangs must be able to leave.
    ///
    /// # Errors
    ///
    /// When the system refuses to install a handler.
    pub(crate) fn install() -> std::io::Result<Self> {
        let signals = Self { end: Arc::new(AtomicUsize::new(0)), status: Arc::new(AtomicBool::new(false)) };
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal finds `asked` unset, the second one is final.
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&asked))?;
            flag::register(signal, Arc::clone(&asked))?;
            flag::register_usize(signal, Arc::clone(&signals.end), signal as usize)?;
        }
        // A file that grows beyond `ulimit -f` is then an error with its place, not the end of the process.
        flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
        flag::register(SIGUSR1, Arc::clone(&signals.status))?;
        Ok(signals)
    }

    /// The same for a command that cannot do without: a refusal is told.
    pub(crate) fn listen() -> Result<Self, Exit> {
        Self::install().map_err(|error| Exit::environment(&format!("cannot listen to signals: {error}")))
    }

    /// The signal that asked for an end, if one has come.
    pub(crate) fn end(&self) -> Option<i32> {
        match self.end.load(Ordering::Relaxed) {
            0 => None,
            signal => i32::try_from(signal).ok(),
        }
    }

    /// Whether results so far were asked for since the last call.
    pub(crate) fn take_status_request(&self) -> bool {
        self.status.swap(false, Ordering::Relaxed)
    }
}
