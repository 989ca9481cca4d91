//! Parses any words as a command line, in both dialects. The result is jobs or diagnostics, never a panic.

#![no_main]

use job::{InjectedOptions, Dialect, EmptySource, parse_command_line, parse_job_arguments};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: String| {
    let arguments: Vec<String> = text.split('\n').map(str::to_owned).collect();
    for dialect in [Dialect::Fio, Dialect::Strict] {
        let _ = parse_command_line(&arguments, dialect, &EmptySource);
        let _ = parse_job_arguments(&arguments, &[], &InjectedOptions::default(), dialect, &EmptySource);
    }
});
