//! Operations that never completed, in words.

use record::{StuckKind, StuckOperation};
use units::Nanos;

/// `read of 4096 bytes at 8192 of /dev/sdx has not completed after 12.3 s`.
#[must_use]
pub fn stuck_line(stuck: &StuckOperation) -> String {
    let file = if stuck.file.is_empty() { "its target" } else { &stuck.file };
    let what = match stuck.kind {
        StuckKind::Read | StuckKind::Write | StuckKind::Trim => {
            format!("{} of {} bytes at {} of {file}", stuck.kind.name(), stuck.length, stuck.offset)
        }
        StuckKind::Unknown => format!("a system call on {file}"),
        kind => format!("{} of {file}", kind.name()),
    };
    format!("{what} has not completed after {}", Nanos::new(stuck.waited_ns))
}

/// How many stuck operations are listed one by one; more are counted.
pub(crate) const LISTED_MOST: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_words() {
        let stuck = StuckOperation {
            file: "/dev/sdx".to_owned(),
            offset: 8192,
            length: 4096,
            waited_ns: 12_300_000_000,
            ..StuckOperation::default()
        };
        assert_eq!(stuck_line(&stuck), "read of 4096 bytes at 8192 of /dev/sdx has not completed after 12.3 s");
        let open = StuckOperation { kind: StuckKind::Open, ..stuck.clone() };
        assert_eq!(stuck_line(&open), "open of /dev/sdx has not completed after 12.3 s");
        let unknown = StuckOperation { kind: StuckKind::Unknown, file: String::new(), ..stuck };
        assert_eq!(stuck_line(&unknown), "a system call on its target has not completed after 12.3 s");
    }
}
