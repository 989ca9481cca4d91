//! `fathom report`: pages in a browser, exact texts, and errors.
//!
//! Screenshots of all pages are saved in `target/tmp/report/`.

mod chromium;
#[path = "../common/mod.rs"]
mod common;
mod formats;
mod pages;
