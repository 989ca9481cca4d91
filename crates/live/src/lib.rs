//! Output during a run: a full screen on the terminal, metrics over HTTP, events and log files.
//!
//! An observer of the run fills a [`RunView`]; the screen ([`ScreenTerminal`]) and the metrics endpoint ([`endpoint`])
//! read it from threads of their own. They read published counters and never block a worker. [`EventLog`] writes events
//! as lines of JSON; [`LogFiles`] and [`AggregateLog`] write fio's logs, [`inflate`] prints compressed ones. All files are created through the write gate.
//!
//! What is *not* here: runs (`runner`), the environment and the exit of the process (`cli`), progress in lines
//! (`report`).

mod bandwidth_log;
pub mod endpoint;
mod event_log;
mod logs;
mod metrics;
mod screen;
mod view;

pub use bandwidth_log::AggregateLog;
pub use event_log::EventLog;
pub use logs::{LogFiles, inflate};
pub use metrics::exposition;
pub use screen::{Colours, LiveScreen, ScreenHooks, ScreenTerminal, TerminalFeatures, hold, restore_terminal};
pub use view::{FileProgress, JobFacts, RunView, ViewState, WatchedRun};
