//! What is written in fio's formats, held against the installed fio.

#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "tests run fio and say what they skip")]

mod installed;
mod keys;
mod oracle;
mod reading;
