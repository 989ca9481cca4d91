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

/// What logs, containers and quotations put before each line, whatever the format behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineMark {
    /// `> `
    Quotation,
    /// `2024-05-01T12:00:00.123Z `, also with a blank for the `T`.
    Time,
    /// `May  1 12:00:00 host program[123]: `
    Syslog,
    /// `host program[123]: `, behind a time.
    Program,
    /// `[pod/bench/fio] `, alike on all lines apart from numbers.
    Brackets,
    /// `bench-1  | `, alike on all lines.
    Container,
    /// `node1: `, alike on all lines.
    Host,
}

/// Removes what stands before nearly all lines.
pub(super) fn remove_marks(lines: &mut [String]) {
    const NESTED: usize = 4;
    for _ in 0..NESTED {
        let Some((mark, name)) = LineMark::ALL.into_iter().find_map(|mark| Some((mark, mark.common(lines)?))) else {
            return;
        };
        for line in lines.iter_mut() {
            if let Some(end) = mark.end_of(line).filter(|&(_, of)| alike(of) == name).map(|(end, _)| end) {
                line.drain(..end);
            }
        }
    }
}

/// Returns a name with zeros for its numbers.
fn alike(name: &str) -> String {
    let mut alike = String::with_capacity(name.len());
    for sign in name.chars() {
        match sign.is_ascii_digit() {
            true if alike.ends_with('0') => {}
            true => alike.push('0'),
            false => alike.push(sign),
        }
    }
    alike
}

impl LineMark {
    const ALL: [Self; 7] =
        [Self::Quotation, Self::Time, Self::Syslog, Self::Program, Self::Brackets, Self::Container, Self::Host];

    /// Returns the name in this mark, empty if it has none, where nearly all lines have the mark.
    fn common(self, lines: &[String]) -> Option<String> {
        /// Fewer lines may begin alike by themselves.
        const LEAST: usize = 3;
        let written = || lines.iter().filter(|line| !line.trim().is_empty());
        let mut marked = written().filter_map(|line| Some(alike(self.end_of(line)?.1)));
        let name = marked.next()?;
        let (with, all) = (1 + marked.filter(|other| *other == name).count(), written().count());
        // Answers stand between quotations.
        let share = if self == Self::Quotation { all / 2 } else { all - all / 10 };
        let least = if self == Self::Quotation { 1 } else { LEAST };
        (with >= least.max(share)).then_some(name)
    }

    /// Returns where a line goes on behind the mark, and the name in it.
    fn end_of(self, line: &str) -> Option<(usize, &str)> {
        let blank = |at: usize| at + usize::from(line[at..].starts_with(' '));
        let ends = |at: usize| line[at..].is_empty() || line[at..].starts_with([' ', '\t']);
        match self {
            Self::Quotation => {
                let behind = line.strip_prefix('>')?;
                (behind.is_empty() || behind.starts_with([' ', '\t', '>'])).then(|| (blank(1), ""))
            }
            Self::Time => {
                let at = time_length(line).filter(|&at| ends(at))?;
                Some((blank(at), ""))
            }
            Self::Syslog => {
                const MONTHS: &str = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec";
                let rest = line.get(..3).filter(|month| MONTHS.split(' ').any(|known| known == *month))?;
                let rest = line[rest.len()..].trim_start();
                let (day, rest) = rest.split_once(' ')?;
                let clock = clock_length(rest).filter(|_| day.len() <= 2 && is_number(day))?;
                let at = line.len() - rest.len() + clock;
                let at = at + line[at..].strip_prefix(' ').map(|_| 1)?;
                let (end, _) = program(&line[at..])?;
                Some((blank(at + end), ""))
            }
            Self::Program => {
                let (end, is_numbered) = program(line)?;
                is_numbered.then(|| (blank(end), ""))
            }
            Self::Brackets => {
                let (name, _) = line.strip_prefix('[')?.split_once(']')?;
                let at = name.len() + 2;
                (!name.trim().is_empty() && !name.contains(['[', '"', '=', ',']) && ends(at)).then(|| (blank(at), name))
            }
            Self::Container => {
                let (name, _) = line.split_once('|')?;
                let is_name = |name: &str| !name.is_empty() && name.chars().all(is_of_name);
                is_name(name.trim_end()).then(|| (blank(name.len() + 1), name.trim_end()))
            }
            Self::Host => {
                let (name, _) = line.split_once(':')?;
                // Lines of fio's output, of which `grep` may have selected one kind.
                const WORDS: &str = "read write trim mixed lat slat clat sync bw iops cpu submit complete issued latency READ WRITE TRIM";
                let is_name = !name.is_empty() && name.chars().all(is_of_name) && !is_number(name);
                let is_host = is_name && WORDS.split(' ').all(|word| word != name) && ends(name.len() + 1);
                is_host.then(|| (blank(name.len() + 1), name))
            }
        }
    }
}

fn is_of_name(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || "-_.".contains(sign)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the length of `host program[123]:` at the start of a text, and whether the program has a number.
fn program(text: &str) -> Option<(usize, bool)> {
    let (host, rest) = text.split_once(' ')?;
    let (name, _) = rest.split_once(':')?;
    let (name, number) = name.strip_suffix(']').and_then(|name| name.split_once('[')).unwrap_or((name, ""));
    let is_named = |name: &str| !name.is_empty() && name.chars().all(|sign| is_of_name(sign) || "/()@".contains(sign));
    let is_program = is_named(host) && is_named(name) && (number.is_empty() || is_number(number));
    let end = host.len() + 1 + rest.find(':')? + 1;
    is_program.then_some((end, !number.is_empty()))
}

/// Returns the length of `12:00:00` at the start of a text, with its fraction.
fn clock_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_clock = [0, 1, 3, 4, 6, 7].into_iter().all(digit) && bytes[2] == b':' && bytes[5] == b':';
    is_clock.then_some(())?;
    let fraction = match bytes.get(8) {
        Some(b'.' | b',') => text[9..].bytes().take_while(u8::is_ascii_digit).count(),
        _ => 0,
    };
    Some(if fraction > 0 { 9 + fraction } else { 8 })
}

/// Returns the length of `2024-05-01T12:00:00.123Z` at the start of a text.
fn time_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_date = [0, 1, 2, 3, 5, 6, 8, 9].into_iter().all(digit)
        && bytes[4] == b'-'
        && bytes[7] == b'-'
        && matches!(bytes.get(10), Some(b'T' | b' '));
    is_date.then_some(())?;
    let at = 11 + clock_length(&text[11..])?;
    let zone = &text[at..];
    Some(match zone.as_bytes().first() {
        Some(b'Z') => at + 1,
        Some(b'+' | b'-') => {
            at + 1 + zone[1..].bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b':').count()
        }
        _ => at,
    })
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
    /// Tables of other programs than fio and iostat were refused, or two of them added, behind what logs put before lines.
    #[test]
    fn marks_before_all_lines_are_removed_whatever_the_format() {
        let table =
            ["--- /dev/sda (block device) ioping statistics ---", "9 requests completed", "", "    min/avg/max"];
        let mark = |mark: &dyn Fn(usize) -> String| {
            let mut lines: Vec<String> = table.iter().enumerate().map(|(at, line)| mark(at) + line).collect();
            remove_marks(&mut lines);
            lines
        };
        assert_eq!(mark(&|_| String::new()), table);
        assert_eq!(mark(&|_| "> ".to_owned()), table);
        assert_eq!(mark(&|at| format!("2024-05-01T12:00:0{at}.1234567Z ")), table);
        assert_eq!(mark(&|at| format!("2024-05-01 12:00:0{at} ")), table);
        assert_eq!(mark(&|at| format!("May  1 12:00:0{at} host01 bench[123]: ")), table);
        assert_eq!(mark(&|at| format!("2024-05-01T12:00:0{at}+0000 host01 bench[12{at}]: ")), table);
        assert_eq!(mark(&|_| "bench-1  | ".to_owned()), table);
        assert_eq!(mark(&|_| "node1: ".to_owned()), table);
        assert_eq!(mark(&|_| "[pod/bench-abc12/bench] ".to_owned()), table);
        assert_eq!(mark(&|at| format!("> [pod/bench] 2024-05-01T12:00:0{at}Z ")), table);
        // Lines of a format itself.
        for own in [
            ["  read: IOPS=1", "  write: IOPS=2", "  read: IOPS=3", "  read: IOPS=4"],
            ["read: IOPS=1", "read: IOPS=2", "read: IOPS=3", "read: IOPS=4"],
            ["12:00:01 AM sda 1", "12:00:01 AM sdb 1", "12:00:02 AM sda 1", "12:00:02 AM sdb 1"],
            ["a: (g=0): rw=read", "fio-3.1", "a: (groupid=0, jobs=1)", "  read: IOPS=5"],
        ] {
            let mut lines = own.map(str::to_owned);
            remove_marks(&mut lines);
            assert_eq!(lines, own);
        }
    }
}
