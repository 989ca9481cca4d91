//! Opens outputs of fio that other programs put into strings: the standard output of a command in JSON, as Ansible prints
//! it, and logs with an object for each line, as Docker writes them.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Parts of the lines that begin fio's results and documents.
const MARKS: [&str; 3] = [": (groupid=", "fio version", ";fio-"];

fn is_marked(text: &str) -> bool {
    MARKS.iter().any(|mark| text.contains(mark))
}

/// Returns a text with such outputs in place of the lines that contain them.
pub(super) fn opened(raw: Cow<'_, str>) -> Cow<'_, str> {
    if !is_marked(&raw) {
        return raw;
    }
    let opened = of_log(&raw).or_else(|| of_strings(&raw)).or_else(|| of_list(&raw));
    let raw = opened.map_or(raw, Cow::Owned);
    match with_documents_on_lines(&raw) {
        Some(text) => Cow::Owned(text),
        None => raw,
    }
}

/// Returns the messages of a log whose lines are objects.
fn of_log(raw: &str) -> Option<String> {
    let lines: Vec<&str> = raw.lines().filter(|line| !line.trim().is_empty()).collect();
    let mut objects: Vec<Map<String, Value>> = Vec::with_capacity(lines.len());
    for (number, line) in lines.iter().enumerate() {
        match serde_json::from_str(line) {
            Ok(object) => objects.push(object),
            // The last line may be cut off.
            Err(_) if number + 1 == lines.len() => {}
            Err(_) => return None,
        }
    }
    if objects.len() < 2 || objects.iter().any(|object| object.contains_key("fio version")) {
        return None;
    }
    let mut members = objects.iter().flatten();
    let (key, _) = members.find(|(_, value)| value.as_str().is_some_and(is_marked))?;
    let messages = objects.iter().filter_map(|object| object.get(key)?.as_str());
    Some(messages.fold(String::new(), |text, message| text + message.trim_end_matches('\n') + "\n"))
}

/// Reports whether a line is one of an object or list around strings.
fn is_frame(line: &str) -> bool {
    line.trim_start().starts_with(['{', '}', '[', ']', '"'])
}

/// Returns a text with the content of strings that contain whole outputs, in place of the object around them and of lists
/// that repeat them line by line.
fn of_strings(raw: &str) -> Option<String> {
    let mut opened: Vec<String> = Vec::new();
    let is_beside_documents = raw.contains("\"fio version\"");
    let mut text = String::with_capacity(raw.len());
    for line in raw.lines() {
        let outputs = if line.contains("\\n") { outputs(line) } else { Vec::new() };
        if outputs.is_empty() {
            text.push_str(if is_frame(line) && !is_beside_documents { "" } else { line });
            text.push('\n');
        }
        for output in outputs {
            if !opened.contains(&output) {
                text.push_str(&output);
                text.push('\n');
                opened.push(output);
            }
        }
    }
    (!opened.is_empty()).then_some(text)
}

/// Returns the decoded strings of several lines on a line that contain output of fio.
fn outputs(line: &str) -> Vec<String> {
    let mut outputs = Vec::new();
    let mut from = 0;
    while let Some(at) = MARKS.iter().filter_map(|mark| line[from..].find(mark)).min().map(|at| from + at) {
        let quoted = ['"', '\''].into_iter().find_map(|quote| {
            let open = unescaped(line, from..at, quote).last()?;
            let close = unescaped(line, at..line.len(), quote).next()?;
            let output = decoded(&line[open + 1..close]);
            (output.contains('\n') && is_marked(&output)).then_some((close, output))
        });
        match quoted {
            Some((close, output)) => {
                outputs.push(output);
                from = close + 1;
            }
            None => from = at + 1,
        }
    }
    // The end of the string may be cut off, or its quotes left out.
    if outputs.is_empty() && line.matches("\\n").count() >= LINES {
        outputs.push(decoded(line));
    }
    outputs
}

/// Least number of lines of an output without quotes.
const LINES: usize = 6;

/// Iterates over the quotes in a range of a line that end or begin a string.
fn unescaped(line: &str, range: std::ops::Range<usize>, quote: char) -> impl Iterator<Item = usize> + '_ {
    let before = move |at: usize| line[..at].bytes().rev().take_while(|byte| *byte == b'\\').count();
    let start = range.start;
    line[range].match_indices(quote).map(move |(at, _)| start + at).filter(move |&at| before(at).is_multiple_of(2))
}

/// Decodes the content of a string of JSON or Python.
fn decoded(content: &str) -> String {
    let mut text = String::with_capacity(content.len());
    let mut characters = content.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some('u') => {
                let digits: String = characters.by_ref().take(4).collect();
                text.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
            }
            Some(other) => text.push(other),
            None => {}
        }
    }
    text
}

/// Returns a text with the elements of a list of strings, one a line, in place of their lines.
fn of_list(raw: &str) -> Option<String> {
    let elements = || raw.lines().filter_map(string_of);
    if !elements().any(|element| is_marked(&element)) {
        return None;
    }
    let lines = raw.lines().map(|line| match string_of(line) {
        Some(element) => Cow::Owned(element),
        None => Cow::Borrowed(if is_frame(line) { "" } else { line }),
    });
    Some(lines.fold(String::new(), |text, line| text + &line + "\n"))
}

/// Returns the string that is all of a line, except for a comma.
fn string_of(line: &str) -> Option<String> {
    let line = line.trim();
    let line = line.strip_suffix(',').unwrap_or(line);
    line.starts_with('"').then(|| serde_json::from_str(line).ok()).flatten()
}

/// Puts documents of fio that are members of others on lines of their own; `None` if there are none.
fn with_documents_on_lines(raw: &str) -> Option<String> {
    let begins = raw.match_indices("\"fio version\"").filter_map(|(at, _)| {
        let begin = raw[..at].trim_end().strip_suffix('{')?.len();
        let line = raw[..begin].rfind('\n').map_or(0, |end| end + 1);
        // A prefix of a log has no braces and quotes.
        raw[line..begin].contains(['{', '"', '[']).then_some(begin)
    });
    let mut text = String::with_capacity(raw.len());
    let mut from = 0;
    for begin in begins {
        text.push_str(&raw[from..begin]);
        text.push('\n');
        from = begin;
    }
    text.push_str(&raw[from..]);
    (from > 0).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(raw: &str) -> Vec<String> {
        opened(Cow::Borrowed(raw)).lines().map(str::to_owned).collect()
    }

    #[test]
    fn strings_with_output_are_opened() {
        let json = "{\n  \"rc\": 0,\n  \"stdout\": \"x: (groupid=0, jobs=1): err= 0\\n  read: IOPS=5\\n\",\n  \
                    \"stdout_lines\": [\n    \"x: (groupid=0, jobs=1): err= 0\",\n    \"  read: IOPS=5\"\n  ]\n}\n";
        assert!(lines(json).contains(&"  read: IOPS=5".to_owned()));
        assert_eq!(lines(json).iter().filter(|line| line.contains("IOPS=5")).count(), 1);
        let python = "out = 'say: x: (groupid=0, jobs=1): err= 0\\n  read: IOPS=5\\n'";
        assert_eq!(lines(python)[..2], ["say: x: (groupid=0, jobs=1): err= 0", "  read: IOPS=5"]);
        let quoted = r#"{"stdout": "{\n  \"fio version\" : \"fio-3.1\"\n}\n", "x": 1}"#;
        assert_eq!(lines(quoted)[..3], ["{", "  \"fio version\" : \"fio-3.1\"", "}"]);
    }

    #[test]
    fn lists_and_logs_of_strings_are_opened() {
        let list =
            "ok: [h] => {\n  \"msg\": [\n    \"x: (groupid=0, jobs=1): err= 0\",\n    \"  read: IOPS=5\"\n  ]\n}\n";
        assert_eq!(lines(list)[2..4], ["x: (groupid=0, jobs=1): err= 0", "  read: IOPS=5"]);
        let log =
            "{\"log\":\"x: (groupid=0, jobs=1): err= 0\\n\",\"time\":\"1\"}\n{\"log\":\"  read: IOPS=5\\n\"}\n{\"lo";
        assert_eq!(lines(log), ["x: (groupid=0, jobs=1): err= 0", "  read: IOPS=5"]);
    }

    #[test]
    fn documents_within_documents_begin_lines() {
        assert_eq!(lines("{\"a\": {\"fio version\": 1}}"), ["{\"a\": ", "{\"fio version\": 1}}"]);
        for whole in ["{\n \"fio version\": 1}", "12:00 {\"fio version\": 1}", "  {\"fio version\": 1}"] {
            assert_eq!(lines(whole).join("\n"), whole);
        }
    }
}
