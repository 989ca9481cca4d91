//! Commands that change a running server.

mod answer;
mod command;
mod live;
mod socket;

pub use answer::{ControlReply, ExportState, Located, ServerState};
pub(crate) use live::Live;
pub(crate) use socket::Control;
pub use socket::PATIENCE;
