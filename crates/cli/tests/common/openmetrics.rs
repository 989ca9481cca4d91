//! Parses OpenMetrics text and checks that it is well formed:
//! <https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md>.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use super::WAIT_MAX;

/// One family of metrics.
#[derive(Clone, Debug, Default)]
pub(crate) struct Family {
    pub(crate) kind: String,
    pub(crate) unit: String,
    pub(crate) help: String,
    /// Name, labels as written, and value of each sample.
    pub(crate) samples: Vec<(String, String, f64)>,
}

/// A checked exposition.
#[derive(Clone, Debug)]
pub(crate) struct Exposition(pub(crate) BTreeMap<String, Family>);

impl Exposition {
    /// Parses a well-formed exposition.
    #[track_caller]
    pub(crate) fn read(text: &str) -> Self {
        let body = text.strip_suffix("# EOF\n").unwrap_or_else(|| panic!("no # EOF at the end: {text:.2000}"));
        let mut families: BTreeMap<String, Family> = BTreeMap::new();
        let (mut current, mut seen) = (String::new(), BTreeSet::new());
        for line in body.lines() {
            if let Some(words) = line.strip_prefix("# ") {
                let mut words = words.splitn(3, ' ');
                let (what, name, rest) =
                    (words.next().unwrap(), words.next().unwrap(), words.next().unwrap_or_default());
                if what == "TYPE" {
                    assert!(!families.contains_key(name), "{name} has two families");
                    current = name.to_owned();
                }
                assert_eq!(current, name, "{line} is about another family");
                let family = families.entry(current.clone()).or_default();
                match what {
                    "TYPE" => family.kind = rest.to_owned(),
                    "UNIT" => family.unit = rest.to_owned(),
                    "HELP" => family.help = rest.to_owned(),
                    _ => panic!("{line}"),
                }
                continue;
            }
            let (name, labels, value) = sample(line);
            assert!(seen.insert((name.clone(), labels.clone())), "twice: {line}");
            let family = families.get_mut(&current).unwrap_or_else(|| panic!("no family before {line}"));
            let suffix = name.strip_prefix(&current).unwrap_or_else(|| panic!("{line} does not belong to {current}"));
            assert!(suffixes(&family.kind).contains(&suffix), "{line} in a {}", family.kind);
            family.samples.push((name, labels, value));
        }
        let exposition = Self(families);
        exposition.check();
        exposition
    }

    #[track_caller]
    fn check(&self) {
        for (name, family) in &self.0 {
            assert!(!family.help.is_empty() && family.help.ends_with('.'), "{name} has no help");
            assert!(family.unit.is_empty() || name.ends_with(&format!("_{}", family.unit)), "the unit of {name}");
            for (sample, labels, value) in &family.samples {
                assert!(value.is_finite() && (family.kind == "gauge" || *value >= 0.0), "{sample}{{{labels}}} {value}");
            }
            if family.kind == "histogram" {
                let buckets: Vec<_> =
                    family.samples.iter().filter(|(sample, ..)| sample.ends_with("_bucket")).collect();
                for pair in buckets.windows(2) {
                    let ends = pair[0].1.contains("le=\"+Inf\"");
                    assert!(ends || pair[0].2 <= pair[1].2, "buckets of {name} fall: {pair:?}");
                }
                assert!(buckets.last().is_none_or(|last| last.1.contains("le=\"+Inf\"")), "{name} has no last bucket");
            }
        }
    }

    /// Returns the names of samples, without the suffixes of summaries and histograms.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        let name = |(name, family): (&String, &Family)| match family.kind.as_str() {
            "counter" => format!("{name}_total"),
            "info" => format!("{name}_info"),
            _ => name.clone(),
        };
        self.0.iter().map(name).collect()
    }

    /// Returns the value of the first sample of a name with all of these labels.
    pub(crate) fn find(&self, name: &str, labels: &[&str]) -> Option<f64> {
        let mut samples = self.0.values().flat_map(|family| &family.samples);
        let fits = |(sample, has, _): &&(String, String, f64)| {
            sample == name && labels.iter().all(|label| has.contains(label))
        };
        samples.find(fits).map(|(_, _, value)| *value)
    }
}

fn suffixes(kind: &str) -> &'static [&'static str] {
    match kind {
        "counter" => &["_total"],
        "gauge" => &[""],
        "summary" => &["", "_sum", "_count"],
        "histogram" => &["_bucket", "_sum", "_count"],
        "info" => &["_info"],
        _ => panic!("no kind of metric: {kind}"),
    }
}

#[track_caller]
fn sample(line: &str) -> (String, String, f64) {
    let (head, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("no value: {line}"));
    let (name, labels) = match head.split_once('{') {
        Some((name, labels)) => (name, labels.strip_suffix('}').unwrap_or_else(|| panic!("no }} in {line}"))),
        None => (head, ""),
    };
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    assert!(is_name(name), "{line}");
    let mut rest = labels;
    while !rest.is_empty() {
        let (label, value) = rest.split_once("=\"").unwrap_or_else(|| panic!("no label: {line}"));
        assert!(is_name(label), "{line}");
        let mut escaped = false;
        let end = value.find(|c| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        rest = &value[end.unwrap_or_else(|| panic!("a label without an end: {line}")) + 1..];
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
    (name.to_owned(), labels.to_owned(), value.parse().unwrap_or_else(|_| panic!("no number: {line}")))
}

/// Returns a port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Returns the metrics served at a port, if a server answers.
pub(crate) fn scrape(port: u16) -> Option<String> {
    let mut client = TcpStream::connect(("127.0.0.1", port)).ok()?;
    client.set_read_timeout(Some(WAIT_MAX)).ok()?;
    client.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").ok()?;
    let mut answer = String::new();
    client.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    Some(body.to_owned())
}
