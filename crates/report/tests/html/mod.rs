//! HTML pages as documents: well-formed with any names, and small with any content.

mod documents;
mod names;
mod ranks;
mod sizes;
pub(crate) mod wellformed;
