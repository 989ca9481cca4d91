//! The integration tests of `store`, in one program.

mod common;
mod crashes;
mod damage;
mod formats;
mod keeping;
mod media;
mod processes;
