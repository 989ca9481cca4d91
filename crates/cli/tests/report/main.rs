//! `fathom report` as its readers meet it: pages in a browser, tables to the letter, wrong words.
//!
//! Pictures of all pages are left in `target/tmp/report/`.

mod chromium;
#[path = "../common/mod.rs"]
mod common;
mod formats;
mod pages;
