//! Tables of `iostat -h`, `--human` and `--pretty`: each report is cut in parts with the device behind its values, and
//! values may have a unit or a `%`. They become the usual table.

use super::columns;
use crate::input::text::InputText;

/// What `--human` and `--pretty` put behind values.
pub(in crate::input) const UNITS: [char; 7] = ['k', 'K', 'M', 'G', 'T', 'P', '%'];

/// Part of a report, or the parts joined so far.
struct Part<'a> {
    /// Line of the header.
    line: usize,
    columns: Vec<&'a str>,
    /// Line, device and values of each row.
    rows: Vec<(usize, &'a str, Vec<String>)>,
}

/// Returns the text with the usual tables on the lines of the first parts; `None` if it has neither parts nor units.
pub(super) fn joined(text: &InputText) -> Option<InputText> {
    let has_unit = |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) && word.ends_with(UNITS);
    text.lines().any(|line| header(line).is_some() || line.split_whitespace().any(has_unit)).then_some(())?;
    let mut usual: Vec<&str> = Vec::new();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut report: Option<Part<'_>> = None;
    let mut part: Option<Part<'_>> = None;
    for (index, line) in text.lines().enumerate() {
        if let Some(columns) = header(line) {
            end_part(&mut report, part.take(), &mut lines);
            part = Some(Part { line: index, columns, rows: Vec::new() });
            lines[index].clear();
        } else if line.trim().is_empty() {
            end_part(&mut report, part.take(), &mut lines);
        } else if let Some(row) = part.as_ref().and_then(|part| row(line, &part.columns)) {
            part.as_mut()?.rows.push((index, row.0, row.1));
            lines[index].clear();
        } else {
            end_part(&mut report, part.take(), &mut lines);
            report.take().into_iter().for_each(|report| report.write(&mut lines));
            let words: Vec<&str> = line.split_whitespace().collect();
            if matches!(words[0], "Device" | "Device:") {
                usual = words[1..].to_vec();
            } else if let Some(values) = values(&words[1..], &usual) {
                lines[index] = format!("{} {}", words[0], values.join(" "));
            } else if words.iter().all(|word| word.ends_with('%')) {
                lines[index] = line.replace('%', "");
            }
        }
    }
    end_part(&mut report, part, &mut lines);
    report.into_iter().for_each(|report| report.write(&mut lines));
    let ending = if text.ended { "\n" } else { "" };
    InputText::of(text.name(), (lines.join("\n") + ending).as_bytes()).ok()
}

/// Adds a part to its report. One that has columns of the report begins the next.
fn end_part<'a>(report: &mut Option<Part<'a>>, part: Option<Part<'a>>, lines: &mut [String]) {
    let Some(part) = part else { return };
    match report {
        Some(known) if !part.columns.iter().any(|column| known.columns.contains(column)) => known.join(part),
        known => known.replace(part).into_iter().for_each(|whole| whole.write(lines)),
    }
}

impl Part<'_> {
    fn join(&mut self, part: Self) {
        self.columns.extend(part.columns);
        self.rows.retain_mut(|(_, device, values)| {
            let more = part.rows.iter().find(|(_, other, _)| other == device);
            values.extend(more.into_iter().flat_map(|(_, _, more)| more.clone()));
            more.is_some()
        });
    }

    fn write(self, lines: &mut [String]) {
        lines[self.line] = format!("Device {}", self.columns.join(" "));
        for (line, device, values) in self.rows {
            lines[line] = format!("{device} {}", values.join(" "));
        }
    }
}

/// Returns the columns of a header whose last one is the device.
fn header(line: &str) -> Option<Vec<&str>> {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let is_table = matches!(words.pop(), Some("Device" | "Device:")) && !words.is_empty();
    (is_table && words.iter().all(|word| columns::is_column(word) || columns::is_rate(word) || columns::is_total(word)))
        .then_some(words)
}

/// Returns the device and the values of a row, without units.
fn row<'a>(line: &'a str, columns: &[&str]) -> Option<(&'a str, Vec<String>)> {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let device = words.pop()?;
    Some((device, values(&words, columns)?))
}

/// Returns the values of a row below these columns; `None` for another line.
fn values(words: &[&str], columns: &[&str]) -> Option<Vec<String>> {
    let is_row = !columns.is_empty() && words.len() == columns.len();
    words.iter().zip(columns).map(|(word, column)| plain(word, column)).collect::<Option<_>>().filter(|_| is_row)
}

/// Returns a value in the unit of its column: `5.0M` of `rkB/s` is `5120.00`.
pub(in crate::input) fn plain(word: &str, column: &str) -> Option<String> {
    let digits = word.trim_end_matches(UNITS);
    let (value, _) = columns::number(digits)?;
    let power = |letter: &str| match letter {
        "k" | "K" => Some(1),
        "M" => Some(2),
        "G" => Some(3),
        "T" => Some(4),
        "P" => Some(5),
        _ => None,
    };
    let of_column = match column {
        _ if column.contains("MB") => 2,
        _ if column.contains("GB") => 3,
        _ => 1,
    };
    let scale = match &word[digits.len()..] {
        "" | "%" => 1.0,
        unit => 1024_f64.powi(power(unit)? - of_column),
    };
    Some(format!("{:.2}", value * scale))
}
