//! Messages of ranks that end.

use std::fmt::Write;

use crate::message::LeavingRank;

/// Returns the messages of other ranks that rank 0 does not have, each once with its ranks.
#[must_use]
pub fn messages_elsewhere(all: &[LeavingRank], own: &str, label: impl Fn(u32) -> String) -> String {
    let mut texts: Vec<(String, Vec<u32>)> = Vec::new();
    for leaving in all.iter().filter(|leaving| leaving.rank != 0) {
        // Failures of a run are in the merged result, which names their ranks.
        let labelled = |line: &str| format!("{}: {}", label(leaving.rank), failure_of(line));
        let is_known =
            |line: &str| own.lines().any(|known| known == line || failure_of(known).starts_with(&labelled(line)));
        // What follows the first line of an error is its remedy.
        let mut skips = false;
        let lines = leaving.text.lines().filter(|line| {
            if !line.starts_with(' ') {
                skips = is_known(line);
            }
            !(line.is_empty() || skips || is_known(line))
        });
        let text: String = lines.map(|line| format!("{line}\n")).collect();
        match texts.iter_mut().find(|(known, _)| *known == text) {
            _ if text.is_empty() => {}
            Some((_, ranks)) => ranks.push(leaving.rank),
            None => texts.push((text, vec![leaving.rank])),
        }
    }
    let mut printed = String::new();
    for (text, ranks) in texts {
        // Writing to a string cannot fail.
        let _ = write!(printed, "{}:\n{text}", label_of_all(&ranks, &label));
    }
    printed
}

/// Returns the first line of a printed error without `error: ` or `error[code]: `.
pub(crate) fn failure_of(line: &str) -> &str {
    let Some(rest) = line.strip_prefix("error") else { return line };
    let rest = rest.strip_prefix('[').and_then(|code| code.split_once(']')).map_or(rest, |(_, rest)| rest);
    rest.strip_prefix(": ").unwrap_or(line)
}

/// Names several ranks by the first of them.
pub(crate) fn label_of_all(ranks: &[u32], label: impl Fn(u32) -> String) -> String {
    let first = ranks.first().map(|rank| label(*rank)).unwrap_or_default();
    match ranks.len() {
        0 | 1 => first,
        2 => format!("{first} and 1 more rank"),
        many => format!("{first} and {} more ranks", many - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_several_ranks_is_printed_once() {
        let leaving = |rank, text: &str| LeavingRank { rank, code: 2, text: text.to_owned() };
        let all = [
            leaving(0, "error: a\n"),
            leaving(1, "error: a\n"),
            leaving(2, "error: a\nerror: b\n"),
            leaving(5, "error: b\n"),
            leaving(7, "error: c\n"),
        ];
        let printed = messages_elsewhere(&all, "error: a\n", |rank| format!("rank {rank}"));
        assert_eq!(printed, "rank 2 and 1 more rank:\nerror: b\nrank 7:\nerror: c\n");
        let named = messages_elsewhere(&all, "error: rank 7: c\nerror: rank 2: b\n", |rank| format!("rank {rank}"));
        assert_eq!(named, "rank 1 and 1 more rank:\nerror: a\nrank 5:\nerror: b\n");
    }
}
