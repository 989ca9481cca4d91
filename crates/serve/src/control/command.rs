//! Parses control commands.

use std::ops::Range;

use nbd::store::faults::FaultRates;
use units::Problem;

use super::answer::CommandError;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ControlCommand {
    Show,
    Faults(FaultRates),
    Limits {
        /// Export and its position.
        export: Option<(String, Range<usize>)>,
        keys: Keys,
        /// Position of the keys.
        at: Range<usize>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Keys {
    /// Restores the keys of the start.
    Reset,
    Set(Vec<Pair>),
}

/// A key to set or to reset to its default.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pair {
    pub(crate) key: String,
    /// `None` for the default.
    pub(crate) value: Option<String>,
    /// Position of key and value.
    pub(crate) at: Range<usize>,
}

const NAMES: [&str; 3] = ["show", "faults", "limits"];
const LIMITS: &str = "use, for example, limits iops=500,throughput=20MiB/s, or limits reset";
/// Keys that define a volume or its initial state.
const FIXED: [&str; 4] = ["size", "host", "written", "credits"];

impl ControlCommand {
    /// Parses a line.
    ///
    /// # Errors
    /// All problems.
    pub(crate) fn parse(line: &str) -> Result<Self, Vec<CommandError>> {
        let words = trimmed(line, 0..line.len());
        let end = line[words.clone()].find(char::is_whitespace).map_or(words.end, |at| words.start + at);
        let (name, rest) = (words.start..end, trimmed(line, end..words.end));
        match &line[name.clone()] {
            "show" if rest.is_empty() => Ok(Self::Show),
            "show" => Err(vec![CommandError::new(rest, "`show` takes no arguments", "use show")]),
            "faults" => faults(line, rest),
            "limits" => limits(line, rest),
            "" => Err(vec![CommandError::new(0..line.len(), "no command", format!("write {}", NAMES.join(", ")))]),
            unknown => {
                let remedy = match units::closest(unknown, NAMES.into_iter()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("use one of {}", NAMES.join(", ")),
                };
                Err(vec![CommandError::new(name, format!("unknown command `{unknown}`"), remedy)])
            }
        }
    }
}

/// Returns the range of a part without surrounding whitespace.
fn trimmed(line: &str, part: Range<usize>) -> Range<usize> {
    let text = &line[part.clone()];
    let start = part.start + text.len() - text.trim_start().len();
    start..start + text.trim().len()
}

fn faults(line: &str, at: Range<usize>) -> Result<ControlCommand, Vec<CommandError>> {
    match &line[at.clone()] {
        "" => {
            let remedy = "use faults none or, for example, faults eio=0.1%,flush_stall=1%:2s";
            Err(vec![CommandError::new(0..line.len(), "`faults` without faults", remedy)])
        }
        "none" => Ok(ControlCommand::Faults(FaultRates::default())),
        words => FaultRates::parse("command", words).map(ControlCommand::Faults).map_err(|problems| {
            let within = |problem: &Problem| problem.place.as_ref().map_or(0..0, |place| place.bytes());
            let located = |problem: Problem| {
                let part = within(&problem);
                CommandError { at: at.start + part.start..at.start + part.end, problem: Box::new(problem) }
            };
            problems.into_iter().map(located).collect()
        }),
    }
}

/// Parses limits: the last word has the keys, words before it name an export.
fn limits(line: &str, rest: Range<usize>) -> Result<ControlCommand, Vec<CommandError>> {
    let text = &line[rest.clone()];
    if text.is_empty() {
        return Err(vec![CommandError::new(0..line.len(), "`limits` without limits", LIMITS)]);
    }
    let begin = text.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    // The last whitespace character may have several bytes.
    let begin = begin + text[begin..].char_indices().find(|(_, c)| !c.is_whitespace()).map_or(0, |(at, _)| at);
    let at = rest.start + begin..rest.end;
    let name = trimmed(line, rest.start..at.start);
    let export = (!name.is_empty()).then(|| (line[name.clone()].to_owned(), name));
    let keys = if &line[at.clone()] == "reset" { Keys::Reset } else { Keys::Set(pairs(line, at.clone())?) };
    Ok(ControlCommand::Limits { export, keys, at })
}

fn pairs(line: &str, at: Range<usize>) -> Result<Vec<Pair>, Vec<CommandError>> {
    let (mut pairs, mut wrong): (Vec<Pair>, Vec<CommandError>) = Default::default();
    let mut start = at.start;
    for part in line[at].split(',') {
        let at = start..start + part.len();
        start = at.end + 1;
        let Some((key, value)) = part.split_once('=').filter(|(key, value)| !key.is_empty() && !value.is_empty())
        else {
            wrong.push(CommandError::new(at, format!("`{part}` is not key=value"), LIMITS));
            continue;
        };
        let of_key = at.start..at.start + key.len();
        if FIXED.contains(&key) {
            let message = format!("`{key}` cannot change while the volume is being served");
            wrong.push(CommandError::new(of_key, message, "restart the server with the new value"));
        } else if pairs.iter().any(|pair| pair.key == key) {
            wrong.push(CommandError::new(of_key, format!("duplicate key `{key}`"), "specify it once"));
        } else {
            let value = (value != "none").then(|| value.to_owned());
            pairs.push(Pair { key: key.to_owned(), value, at });
        }
    }
    if wrong.is_empty() { Ok(pairs) } else { Err(wrong) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_commands_with_the_positions_of_their_parts() {
        assert_eq!(ControlCommand::parse("  show \n"), Ok(ControlCommand::Show));
        assert_eq!(ControlCommand::parse("faults none"), Ok(ControlCommand::Faults(FaultRates::default())));
        let eio = FaultRates { eio: 0.5, ..FaultRates::default() };
        assert_eq!(ControlCommand::parse("faults  eio=50%\r\n"), Ok(ControlCommand::Faults(eio)));
        let line = "limits my disk iops=5,latency=none";
        let Ok(ControlCommand::Limits { export: Some((name, named)), keys: Keys::Set(pairs), at }) =
            ControlCommand::parse(line)
        else {
            panic!("{:?}", ControlCommand::parse(line))
        };
        assert_eq!((name.as_str(), &line[named], &line[at]), ("my disk", "my disk", "iops=5,latency=none"));
        let pairs: Vec<_> =
            pairs.iter().map(|pair| (&*pair.key, pair.value.as_deref(), &line[pair.at.clone()])).collect();
        assert_eq!(pairs, [("iops", Some("5"), "iops=5"), ("latency", None, "latency=none")]);
        let reset = ControlCommand::Limits { export: None, keys: Keys::Reset, at: 7..12 };
        assert_eq!(ControlCommand::parse("limits reset"), Ok(reset));
    }

    #[test]
    fn locates_every_problem_of_a_command() {
        let cases = [
            ("", 0..0, "no command"),
            ("shwo", 0..4, "unknown command `shwo`"),
            ("show all", 5..8, "takes no arguments"),
            ("faults", 0..6, "without faults"),
            ("faults eio=2", 11..12, "not a probability"),
            ("faults eio=1 torn=1", 11..19, "not a probability"),
            ("limits", 0..6, "without limits"),
            ("limits disk", 7..11, "is not key="),
            ("limits iops=", 7..12, "is not key="),
            ("limits disk iops=5,size=1TiB", 19..23, "cannot change"),
            ("limits iops=5,iops=6", 14..18, "duplicate key"),
        ];
        for (line, at, message) in cases {
            let wrong = ControlCommand::parse(line).unwrap_err();
            assert_eq!((wrong.len(), wrong[0].at.clone()), (1, at), "{line}: {wrong:?}");
            assert!(wrong[0].problem.what.contains(message) && wrong[0].problem.help.is_some(), "{wrong:?}");
        }
        assert_eq!(ControlCommand::parse("limits a,b,size=1").unwrap_err().len(), 3);
    }
}
