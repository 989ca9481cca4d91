//! `fathom report`: pages in a browser, exact texts, and errors.
//!
//! Screenshots of all pages are saved in `target/tmp/report/`.

mod chromium;
mod formats;
mod pages;
