//! The line about verification in a job's report.

use record::{Unchecked, Verified};
use units::grouped;

use super::run::unchecked_because;
use crate::paint::Tone;

/// Returns `1,024 of 1,024 written blocks checked, 0 mismatches (verify_nonce=2893761)`.
pub(crate) fn verified(verified: &Verified) -> String {
    let (written, checked) = (grouped(verified.written), grouped(verified.checked));
    let mut text = match verified.written {
        0 => format!("{checked} blocks checked"),
        _ => format!("{checked} of {written} written blocks checked"),
    };
    text.push_str(&match verified.headers_only {
        0 => String::new(),
        all if all == verified.checked => " by their headers alone".to_owned(),
        some => format!(", {} of them by their headers alone", grouped(some)),
    });
    if verified.checked > 0 {
        let plural = if verified.mismatches == 1 { "" } else { "es" };
        text.push_str(&format!(", {} mismatch{plural}", grouped(verified.mismatches)));
    }
    if let Some(unchecked) = verified.unchecked {
        text = format!("not verified: {}; {text}", unchecked_because(unchecked));
    }
    let nonces: Vec<String> = verified.nonces.iter().map(u32::to_string).collect();
    if !nonces.is_empty() {
        text.push_str(&format!(" (verify_nonce={})", nonces.join(", ")));
    }
    text
}

/// Returns the tone of the verification line.
pub(crate) fn verified_tone(verified: &Verified) -> Option<Tone> {
    if verified.mismatches > 0 {
        return Some(Tone::Bad);
    }
    verified.unchecked.filter(|unchecked: &Unchecked| !unchecked.is_chosen()).map(|_| Tone::Odd)
}
