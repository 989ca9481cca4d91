//! What is visible of a run while it goes on: a full screen on the terminal, and metrics over HTTP.
//!
//! An observer of the run fills a [`RunView`]; the screen ([`ScreenTerminal`]) and the metrics endpoint ([`metrics`]) read it
//! from threads of their own. They read what workers have published, and never block a worker.
//!
//! What is *not* here: runs (`runner`), the environment and the exit of the process (`cli`), progress in lines (`report`).

pub mod endpoint;
mod metrics;
mod screen;
mod view;

pub use metrics::exposition;
pub use screen::{Colours, LiveScreen, ScreenHooks, ScreenTerminal, TerminalFeatures, hold, restore_terminal};
pub use view::{FileProgress, JobFacts, RunView, ViewState, WatchedRun};
