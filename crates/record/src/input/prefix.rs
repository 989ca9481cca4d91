//! Removes prefixes that logs, web pages, quotations or comments add to each line of an output.

/// A line prefix in which any number matches a number, and any whitespace matches whitespace.
#[derive(Debug)]
pub(super) struct Prefix(Vec<PrefixPiece>);

#[derive(Debug, PartialEq, Eq)]
enum PrefixPiece {
    Number,
    Blanks,
    Sign(char),
}

/// Starts of fio's lines, after the minimum indentation below.
const BEGINNINGS: [&str; 6] = [
    "clat (usec): min=",
    "clat (nsec): min=",
    "clat (msec): min=",
    "lat (usec): min=",
    "lat (msec): min=",
    "lat (nsec): min=",
];
const BLANKS: &str = "    ";

/// Starts of a JSON document and of tables, whose lines no program indents behind other text.
const KEYS: [&str; 3] = ["\"fio version\"", "\"sysstat\"", "\"schema\""];
const HEADS: [(&str, &str); 4] = [("avg-cpu:", "%user"), ("Device", "r/s"), ("Device", "tps"), ("Device", "%util")];

impl Prefix {
    /// Finds the prefix of the first line whose own start is known.
    pub(super) fn of(lines: &[String]) -> Option<Self> {
        let (line, at) = lines.iter().find_map(|line| Some((line, start(line)?)))?;
        let prefix = line[..at].trim_end();
        (!prefix.trim_start().is_empty()).then(|| Self(pieces(prefix)))
    }

    /// Strips the prefix from a line that has it.
    pub(super) fn strip<'a>(&self, line: &'a str) -> &'a str {
        let mut rest = line;
        for piece in &self.0 {
            let behind = match piece {
                PrefixPiece::Number => rest.trim_start_matches(|c: char| c.is_ascii_digit()),
                PrefixPiece::Blanks => rest.trim_start(),
                PrefixPiece::Sign(sign) => rest.strip_prefix(*sign).unwrap_or(rest),
            };
            if behind.len() == rest.len() {
                return line;
            }
            rest = behind;
        }
        rest
    }
}

/// Returns where the output itself starts on a line, if that can be told.
fn start(line: &str) -> Option<usize> {
    if line.contains('"') {
        // Other members may precede the key.
        let at = KEYS.iter().filter_map(|key| line.find(key)).min().filter(|at| !line[..*at].contains('"'))?;
        let before = line[..at].trim_end();
        return Some(before.strip_suffix('{').unwrap_or(before).len());
    }
    if let Some(at) =
        HEADS.iter().filter_map(|(head, column)| line.find(head).filter(|at| line[*at..].contains(column))).min()
    {
        return Some(at);
    }
    let is_comment = |at: &usize| line[..*at].chars().all(|c| c.is_whitespace() || "-#>/*".contains(c));
    if let Some(at) = line.find("backend_type").filter(|at| line[*at..].contains("reads")).filter(is_comment) {
        return Some(at);
    }
    // Lines without it need no search for each beginning.
    line.contains(')').then_some(())?;
    let at = BEGINNINGS.iter().filter_map(|beginning| line.find(beginning)).min()?;
    line[..at].ends_with(BLANKS).then_some(at)
}

fn pieces(prefix: &str) -> Vec<PrefixPiece> {
    let mut pieces: Vec<PrefixPiece> = Vec::new();
    for sign in prefix.chars() {
        let piece = match sign {
            _ if sign.is_ascii_digit() => PrefixPiece::Number,
            _ if sign.is_whitespace() => PrefixPiece::Blanks,
            sign => PrefixPiece::Sign(sign),
        };
        if matches!(piece, PrefixPiece::Sign(_)) || pieces.last() != Some(&piece) {
            pieces.push(piece);
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(lines: &[&str]) -> Vec<String> {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let prefix = Prefix::of(&lines);
        lines.iter().map(|line| prefix.as_ref().map_or(line.as_str(), |prefix| prefix.strip(line)).to_owned()).collect()
    }

    #[test]
    fn times_and_marks_before_lines_are_stripped() {
        let log = ["20:22:23 DEBUG| [stdout] a: (groupid=0", "9:22:24 DEBUG| [stdout]     clat (usec): min=5", "other"];
        assert_eq!(stripped(&log), [" a: (groupid=0", "     clat (usec): min=5", "other"]);
        assert_eq!(stripped(&["# x", "#      lat (msec): min=1"]), [" x", "      lat (msec): min=1"]);
        assert_eq!(stripped(&["a: x", "     clat (usec): min=5"]), ["a: x", "     clat (usec): min=5"]);
        let pod = ["2026-02-03T10:00:01Z pod/a {", "2026-02-03T10:00:02Z pod/a   \"fio version\" : \"fio-3.33\","];
        assert_eq!(stripped(&pod), [" {", "   \"fio version\" : \"fio-3.33\","]);
        assert_eq!(stripped(&["12:00:01 host {\"fio version\": 1"]), [" {\"fio version\": 1"]);
        assert_eq!(stripped(&["> Device  r/s  w/s", "> sda  1  2", ">"]), [" Device  r/s  w/s", " sda  1  2", ""]);
        assert_eq!(stripped(&["{\"fio version\": 1"]), ["{\"fio version\": 1"]);
    }
}
