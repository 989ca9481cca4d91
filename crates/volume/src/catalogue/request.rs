//! Parses volume names: `PROVIDER/TYPE[@EDITION][,key=value]...`.

use std::ops::Range;
use units::Problem;

use super::problem::CatalogueText;

/// A part of the text with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RequestPart {
    pub text: String,
    pub at: Range<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct VolumeRequest {
    pub text: CatalogueText,
    pub head: VolumeName,
    pub pairs: Vec<(RequestPart, RequestPart)>,
}

#[derive(Clone, Debug)]
pub(super) enum VolumeName {
    /// Provider, type and edition: `gcp`, `pd-ssd`, `2019`.
    Type { provider: RequestPart, kind: RequestPart, edition: Option<RequestPart> },
    /// File and type: `./mydisk.toml#fast`.
    File { path: RequestPart, kind: Option<RequestPart> },
}

impl VolumeRequest {
    /// Creates a request without keys.
    pub(super) fn plain(name: &str) -> Self {
        let path = RequestPart { text: name.to_owned(), at: 0..name.len() };
        Self {
            text: CatalogueText::new("volume", name),
            head: VolumeName::File { path, kind: None },
            pairs: Vec::new(),
        }
    }

    /// Returns where the name ends and the keys begin.
    pub(super) fn head_end(&self) -> usize {
        self.text.text.find(',').unwrap_or(self.text.text.len())
    }
}

const LENGTH_MAX: usize = 4096;

/// Parses the text. Only pairs without `=` and duplicate keys are problems here.
pub(super) fn parse(text: &str) -> Result<VolumeRequest, Vec<Problem>> {
    let source = CatalogueText::new("volume", text);
    if text.len() > LENGTH_MAX {
        let problem = source.problem(0..0, format!("volume name too long: {} bytes", text.len()));
        return Err(vec![problem.help(format!("use at most {LENGTH_MAX} bytes, or a volume file"))]);
    }
    let mut parts = split(text, 0, ',').into_iter();
    let head = parts.next().unwrap_or(RequestPart { text: String::new(), at: 0..0 });
    let mut problems = Vec::new();
    if head.text.is_empty() {
        let problem = source.problem(head.at.clone(), "no volume specified");
        problems.push(problem.help("use a name such as gcp/pd-ssd; `fathom catalog` lists all"));
    }
    let mut pairs: Vec<(RequestPart, RequestPart)> = Vec::new();
    for part in parts {
        let mut sides = split(&part.text, part.at.start, '=').into_iter();
        match (sides.next(), sides.next(), sides.next()) {
            (Some(key), Some(_), _) if pairs.iter().any(|(known, _)| known.text == key.text) => {
                let problem = source.problem(key.at, format!("duplicate key `{}`", key.text));
                problems.push(problem.help("specify it once"));
            }
            (Some(key), Some(value), None) if !key.text.is_empty() => pairs.push((key, value)),
            _ => {
                let problem = source.problem(part.at, format!("`{}` is not key=value", part.text));
                problems.push(problem.help("use, for example, size=1TiB"));
            }
        }
    }
    if problems.is_empty() { Ok(VolumeRequest { text: source, head: self::head(&head), pairs }) } else { Err(problems) }
}

/// Returns the path if a file is requested: `./mydisk.toml` in `./mydisk.toml#fast,size=1TiB`.
#[must_use]
pub fn file(text: &str) -> Option<&str> {
    let head = text.split(',').next().unwrap_or_default();
    let path = head.split('#').next().unwrap_or_default().trim();
    path.to_ascii_lowercase().ends_with(".toml").then_some(path)
}

fn head(part: &RequestPart) -> VolumeName {
    if file(&part.text).is_some() {
        let mut sides = split(&part.text, part.at.start, '#').into_iter();
        let path = sides.next().unwrap_or_else(|| part.clone());
        // Everything after the first `#` is the name.
        let rest = sides.next().map(|rest| RequestPart {
            text: part.text[rest.at.start - part.at.start..].to_owned(),
            at: rest.at.start..part.at.end,
        });
        return VolumeName::File { path, kind: rest };
    }
    let mut sides = split(&part.text, part.at.start, '@').into_iter();
    let name = sides.next().unwrap_or_else(|| part.clone());
    let edition = sides.next();
    match name.text.split_once('/') {
        Some((provider, _)) => {
            let cut = name.at.start + provider.len();
            VolumeName::Type {
                provider: RequestPart { text: provider.to_owned(), at: name.at.start..cut },
                kind: RequestPart { text: name.text[provider.len() + 1..].to_owned(), at: cut + 1..name.at.end },
                edition,
            }
        }
        None => VolumeName::Type { provider: name.clone(), kind: name, edition },
    }
}

/// Splits at separators. Returns the trimmed parts with their places.
fn split(text: &str, start: usize, separator: char) -> Vec<RequestPart> {
    let mut at = start;
    let mut parts = Vec::new();
    for part in text.split(separator) {
        let begin = at + part.len() - part.trim_start().len();
        let trimmed = part.trim();
        parts.push(RequestPart { text: trimmed.to_owned(), at: begin..begin + trimmed.len() });
        at += part.len() + separator.len_utf8();
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_with_their_places() {
        let text = "gcp/pd-ssd@2019, size = 2048GB,vcpus=32";
        let request = parse(text).unwrap();
        let VolumeName::Type { provider, kind, edition } = &request.head else { panic!("{request:?}") };
        assert_eq!((&text[provider.at.clone()], &text[kind.at.clone()]), ("gcp", "pd-ssd"));
        assert_eq!(&text[edition.as_ref().unwrap().at.clone()], "2019");
        for (key, value) in &request.pairs {
            assert_eq!((&text[key.at.clone()], &text[value.at.clone()]), (&*key.text, &*value.text));
        }
        assert_eq!(request.pairs[0].1.text, "2048GB");
    }

    #[test]
    fn files_and_providers_are_distinguished() {
        assert_eq!(file("./my disk.TOML,size=1TiB"), Some("./my disk.TOML"));
        assert_eq!(file("disks.toml#fast"), Some("disks.toml"));
        assert_eq!(file("gcp/pd-ssd,host=a.toml"), None);
    }

    #[test]
    fn all_malformed_parts_are_reported_at_once() {
        let problems = parse("gcp/pd-ssd,size,vcpus=1,vcpus=2,=3").unwrap_err();
        let places: Vec<usize> = problems.into_iter().map(|problem| problem.place.expect("a place").column).collect();
        assert_eq!(places, [12, 25, 33]);
        assert!(parse("").is_err() && parse(",size=1GiB").is_err());
    }
}
