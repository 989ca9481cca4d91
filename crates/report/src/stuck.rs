//! Descriptions of operations that never completed.

use record::StuckOperation;
use units::{CallKind, Nanos};

/// Returns `read of 4096 bytes at 8192 of /dev/sdx has not completed after 12.3 s`.
fn stuck_line(stuck: &StuckOperation) -> String {
    let file = if stuck.file.is_empty() { "its target" } else { &stuck.file };
    let what = match stuck.kind {
        CallKind::Operation(kind) if kind.moves_data() => {
            format!("{} of {} bytes at {} of {file}", stuck.kind.name(), stuck.length, stuck.offset)
        }
        CallKind::Unknown => format!("a system call on {file}"),
        kind => format!("{} of {file}", kind.name()),
    };
    format!("{what} has not completed after {}", Nanos::new(stuck.waited_ns))
}

/// Describes up to `most` stuck operations with the names of their jobs; a last line counts the others.
#[must_use]
pub fn stuck_lines(stuck: &[StuckOperation], most: usize) -> Vec<String> {
    let listed = stuck.iter().take(most).map(|stuck| format!("{}: {}", stuck.job, stuck_line(stuck)));
    let more = stuck.len().checked_sub(most).filter(|more| *more > 0);
    listed.chain(more.map(|more| format!("{more} more operations have not completed"))).collect()
}

/// Default maximum number of listed operations.
pub(crate) const LISTED_MOST: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use units::OpKind;

    #[test]
    fn descriptions_depend_on_the_kind() {
        let stuck = StuckOperation {
            kind: CallKind::Operation(OpKind::Read),
            file: "/dev/sdx".to_owned(),
            offset: 8192,
            length: 4096,
            waited_ns: 12_300_000_000,
            ..StuckOperation::default()
        };
        assert_eq!(stuck_line(&stuck), "read of 4096 bytes at 8192 of /dev/sdx has not completed after 12.3 s");
        let open = StuckOperation { kind: CallKind::Open, ..stuck.clone() };
        assert_eq!(stuck_line(&open), "open of /dev/sdx has not completed after 12.3 s");
        let unknown = StuckOperation { kind: CallKind::Unknown, file: String::new(), ..stuck };
        assert_eq!(stuck_line(&unknown), "a system call on its target has not completed after 12.3 s");
    }

    #[test]
    fn unlisted_operations_are_counted() {
        let stuck = vec![StuckOperation { job: "a".to_owned(), ..StuckOperation::default() }; 3];
        let lines = stuck_lines(&stuck, 2);
        assert!(lines.len() == 3 && lines[1].starts_with("a: "), "{lines:?}");
        assert_eq!(lines[2], "1 more operations have not completed");
        assert_eq!((stuck_lines(&stuck, 3).len(), stuck_lines(&[], 3).len()), (3, 0));
    }
}
