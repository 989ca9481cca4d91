//! Live observers of a run: the full screen and the metrics endpoint.

use std::net::{SocketAddr, TcpListener};

use engine::cleanup::{self, CleanUp};
use live::{LiveScreen, RunView, ScreenHooks, ScreenTerminal, endpoint};
use units::{Problem, ProblemCode};

use crate::args::CommonOptions;
use crate::terminal::{self, write_stderr};
use crate::{diagnostics, rank, shutdown};

/// Requested observers, with their terminal and socket.
#[derive(Debug, Default)]
pub(crate) struct RequestedObservers {
    metrics: Option<(TcpListener, SocketAddr)>,
    live: Option<ScreenTerminal>,
}

/// Functions of this program that the screen calls.
const HOOKS: ScreenHooks = ScreenHooks { print: write_stderr, checkpoint: shutdown::panic_if_requested };

/// Port in the examples of error messages.
const PORT: u16 = 9184;

impl RequestedObservers {
    /// Binds the socket and opens the terminal, before anything is touched.
    pub(crate) fn acquire(options: &CommonOptions, live: Option<&str>) -> Result<Self, Problem> {
        if rank::is_silent() {
            return Ok(Self::default());
        }
        let live = live.map(|title| ScreenTerminal::open(title, terminal::features())).transpose()?;
        let metrics = options.metrics.as_deref().map(|text| listen(text, options.insecure)).transpose()?;
        Ok(Self { metrics, live })
    }

    /// Starts the observers, if any are requested.
    pub(crate) fn start(self) -> Option<RunObservers> {
        if self.metrics.is_none() && self.live.is_none() {
            return None;
        }
        let view = RunView::default();
        let address = self.metrics.and_then(|metrics| serve_metrics(metrics, &view));
        let live = self.live.and_then(|ready| match ready.begin(view.clone(), address, HOOKS) {
            Ok(live) => Some((live, cleanup::on_exit(live::restore_terminal))),
            Err(error) => {
                let what = format!("--live: cannot draw the screen: {error}");
                diagnostics::warning(&Problem::warning(ProblemCode::Host, what));
                None
            }
        });
        Some(RunObservers { view, live })
    }
}

fn listen(text: &str, insecure: bool) -> Result<(TcpListener, SocketAddr), Problem> {
    let remedy = "or add --insecure to permit it";
    let address = endpoint::address(text, PORT, insecure, remedy)
        .map_err(|problem| problem.of(format_args!("--metrics {text}")))?;
    let refused = |problem: Problem| Problem { code: ProblemCode::Address, ..problem };
    let listener = endpoint::listen(address).map_err(refused)?;
    let address = listener.local_addr().unwrap_or(address);
    Ok((listener, address))
}

/// Starts to serve metrics. Returns their URL.
fn serve_metrics((listener, address): (TcpListener, SocketAddr), view: &RunView) -> Option<String> {
    let view = view.clone();
    match endpoint::answer(listener, move || live::exposition(&view.look())) {
        Ok(()) => {
            write_stderr(&format!("fathom: metrics at http://{address}/metrics\n"));
            Some(format!("http://{address}/metrics"))
        }
        Err(error) => {
            let what = format!("--metrics: cannot serve clients: {error}");
            diagnostics::warning(&Problem::warning(ProblemCode::Connection, what));
            None
        }
    }
}

/// Started observers.
pub(crate) struct RunObservers {
    pub(crate) view: RunView,
    live: Option<(LiveScreen, CleanUp)>,
}

impl RunObservers {
    /// Reports whether the terminal shows a full screen.
    pub(crate) fn has_screen(&self) -> bool {
        self.live.is_some()
    }

    /// Ends the full screen. Metrics are served until the program ends.
    pub(crate) fn end_screen(&mut self) {
        self.live.take().into_iter().for_each(|(screen, _)| screen.end());
    }
}
