//! Filters of runs.

use record::{RunKind, SavedRun};

/// Criteria for listing runs; `None` accepts all.
///
/// Patterns match whole names; `*` stands for any text and `?` for one character.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub kind: Option<RunKind>,
    /// Pattern for the run's name, its ID or the name of a job.
    pub name: Option<String>,
    /// Pattern for the host's name.
    pub host: Option<String>,
    /// Pattern for the path of a device, file or volume, or for its last component.
    pub device: Option<String>,
    /// Pattern for the name of the measuring program, or for name and version as in `fio-3.33`.
    pub tool: Option<String>,
    /// Earliest start, in milliseconds since 1970.
    pub since_unix_ms: Option<u64>,
    /// Start before this time, in milliseconds since 1970.
    pub until_unix_ms: Option<u64>,
    /// Text contained in any name or in the command line, ignoring case.
    pub text: Option<String>,
}

impl Filter {
    /// Reports whether a run matches.
    #[must_use]
    pub fn accepts(&self, entry: &SavedRun) -> bool {
        self.kind.is_none_or(|kind| kind == entry.kind)
            && self.since_unix_ms.is_none_or(|since| entry.started_unix_ms >= since)
            && self.until_unix_ms.is_none_or(|until| entry.started_unix_ms < until)
            && matches_any(self.name.as_deref(), [&entry.id, &entry.name].into_iter().chain(&entry.jobs))
            && matches_any(self.host.as_deref(), [&entry.hostname])
            && matches_any(
                self.device.as_deref(),
                entry.targets.iter().flat_map(|path| [path.as_str(), last_part(path)]),
            )
            && matches_any(
                self.tool.as_deref(),
                [&entry.tool.name, &format!("{}-{}", entry.tool.name, entry.tool.version)],
            )
            && self.text.as_deref().is_none_or(|text| contains_text(entry, text))
    }
}

fn matches_any(pattern: Option<&str>, names: impl IntoIterator<Item = impl AsRef<str>>) -> bool {
    pattern.is_none_or(|pattern| names.into_iter().any(|name| matches_pattern(pattern, name.as_ref())))
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn contains_text(entry: &SavedRun, text: &str) -> bool {
    let text = text.to_lowercase();
    let names = [&entry.id, &entry.name, &entry.hostname, &entry.tool.name, &entry.tool.version];
    let mut all = names.into_iter().chain(&entry.jobs).chain(&entry.targets).chain(&entry.command_line);
    all.any(|name| name.to_lowercase().contains(&text))
}

/// Matches a name against a pattern, in time proportional to the product of both lengths.
fn matches_pattern(pattern: &str, name: &str) -> bool {
    let mut after = Some((pattern, name));
    let mut retry: Option<(&str, &str)> = None;
    while let Some((pattern, name)) = after {
        let (mut signs, mut letters) = (pattern.chars(), name.chars());
        after = match (signs.next(), letters.next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                retry = Some((signs.as_str(), name));
                retry
            }
            (Some(sign), Some(letter)) if sign == '?' || sign == letter => Some((signs.as_str(), letters.as_str())),
            // Lets the last star match one more character.
            _ => {
                retry = retry.and_then(|(pattern, name)| {
                    let mut letters = name.chars();
                    letters.next().map(|_| (pattern, letters.as_str()))
                });
                retry
            }
        };
    }
    false
}

#[cfg(test)]
mod tests {
    use super::matches_pattern;

    #[test]
    fn patterns_are_whole_names() {
        for (pattern, name) in [("", ""), ("*", ""), ("a*c", "abbc"), ("*ab", "aab"), ("?ö*", "xö"), ("a**", "a")] {
            assert!(matches_pattern(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("", "a"), ("?", ""), ("a*c", "abcb"), ("b", "ab"), ("a*b*c", "acb")] {
            assert!(!matches_pattern(pattern, name), "{pattern} {name}");
        }
        assert!(!matches_pattern(&"*a".repeat(50), &"a".repeat(49)), "without exponential backtracking");
    }
}
