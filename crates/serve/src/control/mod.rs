//! Commands that change a running server.

mod answer;
mod client;
mod command;
mod executor;
mod socket;

pub use answer::{ControlReply, Located};
pub use client::send_command;
pub(crate) use executor::CommandExecutor;
pub(crate) use socket::serve_commands;
