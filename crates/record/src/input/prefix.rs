//! Removes prefixes that logs, web pages, quotations or comments add to each line of an output.

use std::sync::LazyLock;

use regex_lite::Regex;

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

/// The prefix before a line whose own start is known. In other lines, any number may stand for a number, and any blanks for
/// blanks.
#[derive(Debug)]
pub(super) struct Prefix(Regex);

impl Prefix {
    /// Finds the prefix of the first line whose own start is known.
    pub(super) fn of(lines: &[String]) -> Option<Self> {
        static VARIABLE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[0-9]+|\s+").ok());
        let (line, at) = lines.iter().find_map(|line| Some((line, start(line)?)))?;
        let prefix = line[..at].trim_end();
        let class = |found: &regex_lite::Captures<'_>| if found[0].trim().is_empty() { r"\s+" } else { "[0-9]+" };
        let pattern = VARIABLE.as_ref()?.replace_all(&regex_lite::escape(prefix), class).into_owned();
        Regex::new(&format!("^{pattern}")).ok().filter(|_| !prefix.trim_start().is_empty()).map(Self)
    }

    /// Strips the prefix from a line that has it.
    pub(super) fn strip<'a>(&self, line: &'a str) -> &'a str {
        self.0.find(line).map_or(line, |prefix| &line[prefix.end()..])
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

/// What logs, containers and quotations put before each line, whatever the format behind it.
struct LineMark {
    /// The mark in its first group, and a name that is alike on all lines in its second one.
    pattern: Regex,
    is_quotation: bool,
}

/// Patterns of these marks.
const MARKS: [&str; 7] = [
    // `> `
    "^(>)(?:[> \t]|$)",
    // `2024-05-01T12:00:00.123Z `, also with a blank for the `T`.
    r"^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-][\d:]*)?)(?:[ \t]|$)",
    // `May  1 12:00:00 host program[123]: `
    concat!(
        r"^((?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s*\d{1,2} \d\d:\d\d:\d\d(?:[.,]\d+)?",
        r" [\w./()@-]+ [\w./()@-]+(?:\[\d*\])?:)"
    ),
    // `host program[123]: `, behind a time.
    r"^([\w./()@-]+ [\w./()@-]+\[\d+\]:)",
    // `[pod/bench/fio] `
    r#"^(\[([^\]\["=,]*[^\]\["=,\s][^\]\["=,]*)\])(?:[ \t]|$)"#,
    // `bench-1  | `
    r"^(([\w.-]+)\s*\|)",
    // `node1: `
    r"^(([\w.-]+):)(?:[ \t]|$)",
];

static LINE_MARKS: LazyLock<Vec<LineMark>> = LazyLock::new(|| {
    let mark = |(at, pattern)| Some(LineMark { pattern: Regex::new(pattern).ok()?, is_quotation: at == 0 });
    MARKS.into_iter().enumerate().filter_map(mark).collect()
});

/// Removes what stands before nearly all lines.
pub(super) fn remove_marks(lines: &mut [String]) {
    const NESTED: usize = 4;
    for _ in 0..NESTED {
        let Some((mark, name)) = LINE_MARKS.iter().find_map(|mark| Some((mark, mark.common(lines)?))) else {
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
    /// Returns the name in this mark, empty if it has none, where nearly all lines have the mark.
    fn common(&self, lines: &[String]) -> Option<String> {
        let written = || lines.iter().filter(|line| !line.trim().is_empty());
        let all = written().count();
        // Answers stand between quotations, and a few lines may begin alike by themselves.
        let least = if self.is_quotation { (all / 2).max(1) } else { (all - all / 10).max(3) };
        let (mut name, mut with, mut without) = (None, 0, 0);
        for line in written() {
            let of_line = self.end_of(line).map(|(_, name)| alike(name));
            match of_line.filter(|of_line| name.get_or_insert_with(|| of_line.clone()) == of_line) {
                Some(_) => with += 1,
                None => without += 1,
            }
            if all - without < least {
                return None;
            }
        }
        name.filter(|_| with >= least)
    }

    /// Returns where a line goes on behind the mark and a blank, and the name in it.
    fn end_of<'a>(&self, line: &'a str) -> Option<(usize, &'a str)> {
        /// Words that begin lines of fio's output, of which `grep` may have selected one kind.
        const WORDS: &str =
            "read write trim mixed lat slat clat sync bw iops cpu submit complete issued latency READ WRITE TRIM";
        let found = self.pattern.captures(line)?;
        let (mark, name) = (found.get(1)?, found.get(2).map_or("", |name| name.as_str()));
        let is_own = mark.as_str().strip_suffix(':').is_some_and(|word| {
            word.bytes().all(|byte| byte.is_ascii_digit()) || WORDS.split(' ').any(|known| known == word)
        });
        let end = mark.end() + usize::from(line[mark.end()..].starts_with(' '));
        (!is_own).then_some((end, name))
    }
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
