//! Statistics of a server of modelled volumes, and the commands to use it.

mod hints;
mod text;

pub use hints::hints;
pub use text::{state, text};
