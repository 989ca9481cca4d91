//! Output in fio's formats, compared with the installed fio.

#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "tests run fio and print what they skip")]

mod clients;
mod installed;
mod keys;
mod oracle;
mod reading;
