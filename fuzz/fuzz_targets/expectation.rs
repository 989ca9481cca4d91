//! Parses any text as an expectation. The result is an expectation that can be written and parsed again, or an error
//! with its place and remedy.

#![no_main]

use analyse::gate::{Assertion, GateInputs};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match Assertion::parse(text) {
        Ok(expectation) => {
            assert_eq!(Assertion::parse(&expectation.to_string()), Ok(expectation.clone()));
            let run = record::Run::default();
            let _ = expectation.judge(&GateInputs { runs: &[(&run, &[])], baseline: &[&run], comparison: None });
        }
        Err(fault) => {
            assert!(fault.place.as_deref().is_some_and(|place| place.text.get(place.bytes()).is_some()), "{fault:?}");
            assert!(!fault.what.is_empty() && fault.help.is_some());
        }
    }
});
