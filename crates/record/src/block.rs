//! Latency histograms of intervals.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Problem, ProblemCode};

use crate::DataKind;
use units::PerKind;

/// Non-empty buckets in ascending order: index (of [`meter::bucket_of`]) and count.
pub type Buckets = Vec<(u32, u64)>;

/// Returns the range of a bucket in nanoseconds: its first value and that of the next bucket.
#[must_use]
pub const fn bucket_range_ns(bucket: u32) -> (u64, u64) {
    meter::range_of(bucket as usize)
}

/// Latency histograms of one block of time, which begins at the end of the previous block, or with the measurement.
///
/// In JSON the buckets of a kind are a string: `228:5,7,9 240:1` means 5, 7 and 9 in buckets 228, 229 and 230, and 1 in
/// 240.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "StoredLatencyBlock", try_from = "StoredLatencyBlock")]
pub struct LatencyBlock {
    /// End of the block in nanoseconds from the start of measurement.
    pub end_ns: u64,
    /// Buckets of each kind: response times under a rate, otherwise service times.
    pub latency: PerKind<Buckets>,
}

impl LatencyBlock {
    /// Returns the buckets of one kind.
    #[must_use]
    pub fn of(&self, kind: DataKind) -> &[(u32, u64)] {
        self.latency.get(kind)
    }
}

impl From<meter::Block> for LatencyBlock {
    fn from(block: meter::Block) -> Self {
        let [read, write, trim] = block.latency.map(|kind| kind.into_iter().map(|(at, n)| (at as u32, n)).collect());
        Self { end_ns: block.end.get(), latency: PerKind { read, write, trim } }
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct StoredLatencyBlock {
    end_ns: u64,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    read: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    write: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    trim: String,
}

impl From<LatencyBlock> for StoredLatencyBlock {
    fn from(block: LatencyBlock) -> Self {
        let text = |kind| format_buckets(block.of(kind));
        Self {
            end_ns: block.end_ns,
            read: text(DataKind::Read),
            write: text(DataKind::Write),
            trim: text(DataKind::Trim),
        }
    }
}

impl TryFrom<StoredLatencyBlock> for LatencyBlock {
    type Error = Problem;

    fn try_from(text: StoredLatencyBlock) -> Result<Self, Problem> {
        let [read, write, trim] = [&text.read, &text.write, &text.trim].map(|text| {
            parse_buckets(text).ok_or_else(|| {
                let what = format!("`{text}` are no buckets: they rise, as in `228:5,7,9 240:1`");
                Problem::error(ProblemCode::UnreadableInput, what)
            })
        });
        Ok(Self { end_ns: text.end_ns, latency: PerKind { read: read?, write: write?, trim: trim? } })
    }
}

fn format_buckets(buckets: &[(u32, u64)]) -> String {
    let mut text = String::new();
    let mut next = None;
    for &(bucket, count) in buckets {
        let lead = if next == Some(bucket) { ",".to_owned() } else { format!(" {bucket}:") };
        // Writing to a string cannot fail.
        let _ = write!(text, "{lead}{count}");
        next = Some(bucket + 1);
    }
    text.trim_start().to_owned()
}

/// Parses the output of [`format_buckets`].
fn parse_buckets(text: &str) -> Option<Buckets> {
    let mut buckets: Buckets = Vec::new();
    for group in text.split_whitespace() {
        let (first, counts) = group.split_once(':')?;
        let first: u32 = first.parse().ok()?;
        if buckets.last().is_some_and(|(last, _)| *last >= first) {
            return None;
        }
        for (bucket, count) in (first..=u32::MAX).zip(counts.split(',')) {
            buckets.push((bucket, count.parse().ok()?));
        }
    }
    let within = buckets.last().is_none_or(|(last, _)| (*last as usize) < meter::BUCKETS);
    within.then_some(buckets)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block() -> LatencyBlock {
        let latency =
            PerKind { read: vec![(0, 1), (228, 5), (229, 7), (231, 9)], write: vec![(1855, 2)], trim: vec![] };
        LatencyBlock { end_ns: 1_000_000_000, latency }
    }

    #[test]
    fn buckets_round_trip_in_short_form() {
        let text = serde_json::to_string(&block()).unwrap();
        assert_eq!(text, r#"{"end_ns":1000000000,"read":"0:1 228:5,7 231:9","write":"1855:2"}"#);
        assert_eq!(serde_json::from_str::<LatencyBlock>(&text).unwrap(), block());
        let none = LatencyBlock { end_ns: 5, ..LatencyBlock::default() };
        assert_eq!(serde_json::from_str::<LatencyBlock>(&serde_json::to_string(&none).unwrap()).unwrap(), none);
    }

    #[test]
    fn invalid_buckets_are_refused() {
        for bad in [
            "5",
            "5:",
            "5:x",
            "5:1 5:1",
            "5:1,1 6:1",
            "9:1 4:1",
            "1856:1",
            "1855:1,1",
            "4294967295:1,1",
            "-1:1",
            "5:-1",
            "5:1,,1",
        ] {
            let error = serde_json::from_str::<LatencyBlock>(&format!(r#"{{"end_ns":1,"read":"{bad}"}}"#)).unwrap_err();
            assert!(error.to_string().contains("no buckets"), "{bad}: {error}");
        }
    }
}
