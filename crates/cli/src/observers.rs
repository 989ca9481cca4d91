//! Live observers of a run: full screen and metrics endpoint.

use std::net::{SocketAddr, TcpListener};

use engine::cleanup::{self, CleanUp};
use live::{LiveScreen, RunView, ScreenHooks, ScreenTerminal, endpoint};

use crate::args::EndpointOptions;
use crate::terminal::{self, write_stderr};
use crate::{diagnostics, shutdown};

/// Requested observers, with their resources already acquired.
#[derive(Debug, Default)]
pub(crate) struct RequestedObservers {
    metrics: Option<(TcpListener, SocketAddr)>,
    live: Option<ScreenTerminal>,
}

/// Functions that the screen calls in this program.
const HOOKS: ScreenHooks = ScreenHooks { print: write_stderr, checkpoint: shutdown::panic_if_asked };

/// The port that examples name.
const PORT: u16 = 9184;

impl RequestedObservers {
    /// Listens, and looks for a terminal, before anything is touched.
    ///
    /// # Errors
    /// What cannot be had, with the remedy.
    pub(crate) fn acquire(endpoint: &EndpointOptions, live: Option<&str>) -> Result<Self, String> {
        let live = live.map(|title| ScreenTerminal::open(title, terminal::features())).transpose()?;
        let metrics = endpoint.metrics.as_deref().map(|text| listen(text, endpoint.insecure)).transpose()?;
        Ok(Self { metrics, live })
    }

    /// Begins to show them what is in the scope, if there is anybody.
    pub(crate) fn begin(self) -> Option<RunObservers> {
        if self.metrics.is_none() && self.live.is_none() {
            return None;
        }
        let view = RunView::default();
        let address = self.metrics.and_then(|listening| answer(listening, &view));
        let live = self.live.and_then(|ready| match ready.begin(view.clone(), address, HOOKS) {
            Ok(live) => Some((live, cleanup::on_exit(live::restore_terminal))),
            Err(error) => {
                diagnostics::warning(&format!("--live: cannot be shown: {error}"));
                None
            }
        });
        Some(RunObservers { view, live })
    }
}

fn listen(text: &str, insecure: bool) -> Result<(TcpListener, SocketAddr), String> {
    let remedy = "or add --insecure where that is wanted";
    let address = endpoint::address(text, PORT, insecure, remedy)
        .map_err(|(problem, remedy)| format!("--metrics {text}: {problem}\nhelp: {remedy}"))?;
    let listener = endpoint::listen(address)?;
    let address = listener.local_addr().unwrap_or(address);
    Ok((listener, address))
}

/// Answers those who endpoint. Returns where.
fn answer((listener, address): (TcpListener, SocketAddr), view: &RunView) -> Option<String> {
    let seen = view.clone();
    match endpoint::answer(listener, move || live::exposition(&seen.look())) {
        Ok(()) => {
            write_stderr(&format!("fathom: metrics at http://{address}/metrics\n"));
            Some(format!("http://{address}/metrics"))
        }
        Err(error) => {
            diagnostics::warning(&format!("--metrics: clients cannot be answered: {error}"));
            None
        }
    }
}

/// Those who look on.
pub(crate) struct RunObservers {
    pub(crate) view: RunView,
    live: Option<(LiveScreen, CleanUp)>,
}

impl RunObservers {
    /// Whether the terminal shows a full screen.
    pub(crate) fn fill_screen(&self) -> bool {
        self.live.is_some()
    }

    /// Turns the screen off. Those who endpoint are answered until the program ends.
    pub(crate) fn end_screen(&mut self) {
        self.live.take().into_iter().for_each(|(screen, _)| screen.end());
    }
}
