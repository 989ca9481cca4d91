//! Documents of shards, and how they become those of the whole.

use record::{MissingItems, ShardRecord};
use serde::Serialize;
use serde::de::DeserializeOwned;
use units::{Problem, ProblemCode};

use crate::grid::{GridPoint, GridResult};
use crate::sweep::{Sweep, SweepResult};

/// A document of which each shard may have a part.
pub trait Sharded: Default + Serialize + DeserializeOwned {
    /// A part of the document.
    type Item;

    /// Returns what is divided: the shard, the items, what is missing, and the command line.
    fn parts(&mut self) -> ShardedParts<'_, Self::Item>;

    /// Returns the shard; `None` for a whole document.
    fn shard(&self) -> Option<&ShardRecord>;

    /// Merges shards, each with the name of its source.
    ///
    /// # Errors
    ///
    /// Returns why they do not belong together, with what to do.
    fn merge(documents: Vec<(String, Self)>) -> Result<Self, Problem> {
        let mut whole = Self::default();
        let mut shards = Vec::with_capacity(documents.len());
        for (index, (name, mut document)) in documents.into_iter().enumerate() {
            let parts = document.parts();
            let Some(record) = parts.shard.take() else {
                return Err(
                    Problem::error(ProblemCode::Shard, format!("{name}: not a shard")).help("report it separately")
                );
            };
            shards.push((name, record, std::mem::take(parts.items)));
            if index == 0 {
                whole = document;
            }
        }
        let (items, missing) = ShardRecord::merge(shards)?;
        let parts = whole.parts();
        (*parts.items, *parts.missing) = (items, missing);
        *parts.command_line = without_shard(std::mem::take(parts.command_line));
        Ok(whole)
    }
}

/// The parts of a document that merging changes.
#[derive(Debug)]
pub struct ShardedParts<'a, T> {
    pub shard: &'a mut Option<ShardRecord>,
    /// The items of the shard.
    pub items: &'a mut Vec<T>,
    /// Items that no shard has.
    pub missing: &'a mut Option<MissingItems>,
    pub command_line: &'a mut Vec<String>,
}

impl Sharded for GridResult {
    type Item = GridPoint;

    fn parts(&mut self) -> ShardedParts<'_, GridPoint> {
        let Self { command_line, shard, missing, points: items } = self;
        ShardedParts { shard, items, missing, command_line }
    }

    fn shard(&self) -> Option<&ShardRecord> {
        self.shard.as_ref()
    }
}

impl Sharded for SweepResult {
    type Item = Sweep;

    fn parts(&mut self) -> ShardedParts<'_, Sweep> {
        let Self { command_line, shard, missing, sweeps: items, .. } = self;
        ShardedParts { shard, items, missing, command_line }
    }

    fn shard(&self) -> Option<&ShardRecord> {
        self.shard.as_ref()
    }
}

/// Returns a command line that computes all shards.
fn without_shard(command_line: Vec<String>) -> Vec<String> {
    let mut words = command_line.into_iter();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--shard" => drop(words.next()),
            word if word.starts_with("--shard=") => {}
            _ => kept.push(word),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use record::{Run, Shard};

    use crate::stored::StoredResult;

    use super::*;

    fn shard(number: u32, depths: &[&str]) -> GridResult {
        let point = |depth: &&str| {
            let run = Run { schema: record::SCHEMA, ..Run::default() };
            GridPoint::new(vec![("iodepth".to_owned(), (*depth).to_owned())], run)
        };
        GridResult {
            command_line: ["fathom", "sim", "--shard", "1/2", "--vary", "iodepth=1..4"].map(str::to_owned).to_vec(),
            shard: Some(ShardRecord::new(Shard { number, count: 2 }, 3, ["a"])),
            points: depths.iter().map(point).collect(),
            ..GridResult::default()
        }
    }

    fn named(document: GridResult) -> (String, GridResult) {
        ("a.json".to_owned(), document)
    }

    #[test]
    fn merged_shards_are_written_and_read_as_the_whole() {
        let written = [shard(2, &["2"]), shard(1, &["1", "4"])].map(|part| part.json());
        let read = written.iter().map(|text| (String::new(), GridResult::read(text).unwrap())).collect();
        let whole = GridResult::merge(read).unwrap();
        let depths: Vec<String> = whole.points.iter().map(GridPoint::label).collect();
        assert_eq!(depths, ["iodepth=1", "iodepth=2", "iodepth=4"]);
        assert_eq!((whole.shard(), &whole.missing), (None, &None));
        assert_eq!(whole.command_line, ["fathom", "sim", "--vary", "iodepth=1..4"]);
        let text = whole.json();
        assert_eq!(GridResult::read(&text).unwrap().json(), text);
    }

    #[test]
    fn whole_documents_and_foreign_shards_are_not_merged() {
        let whole = GridResult { shard: None, ..shard(1, &["1", "4"]) };
        assert!(GridResult::merge(vec![named(whole), named(shard(2, &["2"]))]).is_err());
        let mut foreign = shard(2, &["2"]);
        foreign.shard = Some(ShardRecord::new(Shard { number: 2, count: 2 }, 3, ["b"]));
        assert!(GridResult::merge(vec![named(shard(1, &["1", "4"])), named(foreign)]).is_err());
    }

    #[test]
    fn hostile_settings_are_refused_or_escaped() {
        let mut document = shard(1, &["1", "4"]);
        document.points[1].settings.clear();
        assert!(GridResult::read(&document.json()).unwrap_err().what.contains("settings"));
        let mut document = shard(1, &["1", "4"]);
        document.points[1].settings[0].1 = format!("\u{1b}[2J{}", "x".repeat(100_000));
        let read = GridResult::read(&document.json()).unwrap();
        assert!(!read.points[1].settings[0].1.contains('\u{1b}'));
    }

    #[test]
    fn a_grid_of_a_later_version_is_refused() {
        let text = shard(1, &["1"]).json();
        let later = text.replace("\"fathom_grid\": 1", "\"fathom_grid\": 2");
        assert!(GridResult::read(&later).unwrap_err().to_string().contains("newer fathom"));
        let later = text.replace("\"schema\": 1", "\"schema\": 9");
        assert!(GridResult::read(&later).unwrap_err().to_string().contains("newer fathom"));
    }
}
