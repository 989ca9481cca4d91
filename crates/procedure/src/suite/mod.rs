//! Published benchmark procedures, step by step, beside their published figures.
//!
//! A procedure is data (`suites/*.toml`); each step runs on a device, on a model, or on both.

mod builtin;
mod document;
mod fields;
mod question;
mod read;
mod schema;
mod session;
mod state;
mod step;
mod toml_fields;

pub use builtin::{all, find, names};
pub use document::document;
pub use question::{SuiteQuestion, SuiteRequest};
pub use schema::Suite;
pub use session::{SuiteEnd, SuiteSession};
pub use state::{SuiteState, hash};
pub use step::{check_all, described};
