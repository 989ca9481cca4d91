//! Points of grids and sweeps divided among the tasks of a job array (`--shard`) or among ranks.
//!
//! Tasks and ranks both compute a shard, and the same code merges shards that arrive by MPI and shards in files. Every
//! one of them checks all points first, so that all refuse the same.

use fleet::Fleet;
use record::{Shard, ShardRecord};
use results::shards::Sharded;
use units::{Problem, ProblemCode};

use crate::exit::Exit;
use crate::terminal::write_stderr;
use crate::{diagnostics, rank, signals};

/// The part of the points that this process computes.
pub(crate) struct PointDivision {
    shard: Shard,
    /// The ranks among which points are divided; `None` for a job array, or if nothing is divided.
    fleet: Option<&'static Fleet>,
    is_array: bool,
}

impl PointDivision {
    /// Reads `--shard`, or divides the points among ranks if these compute them on their own.
    pub(crate) fn of(option: Option<&str>, divides_among_ranks: bool) -> Result<Self, Exit> {
        let fleet = rank::joined().filter(|_| divides_among_ranks);
        match (option, fleet) {
            (Some(text), Some(_)) => Err(Exit::invalid(beside_ranks(text))),
            (Some(text), None) => {
                let shard = Shard::parse(text, &|name| std::env::var(name).ok());
                let shard = shard.map_err(|problem| Exit::invalid(problem.of(format_args!("--shard {text}"))))?;
                Ok(Self { shard, fleet: None, is_array: true })
            }
            (None, Some(fleet)) => Ok(Self { shard: rank::shard(), fleet: Some(fleet), is_array: false }),
            (None, None) => Ok(Self { shard: Shard::WHOLE, fleet: None, is_array: false }),
        }
    }

    /// Returns what `--dry-run` and `--show-jobs` describe: the shard of a task, or the points of all ranks, because only
    /// rank 0 prints.
    pub(crate) fn described(&self) -> Shard {
        if self.fleet.is_some() { Shard::WHOLE } else { self.shard }
    }

    /// Prints that there are fewer points than shards, if this one has none.
    pub(crate) fn mention_empty(&self, items: usize) {
        if self.is_array && self.shard.number as usize > items {
            write_stderr(&format!("fathom: {} is empty: only {items} points\n", self.shard));
        }
    }

    /// Returns what a document says of a shard of `items`, which `words` identify; `None` for a whole.
    pub(crate) fn record<'a>(
        &self,
        shard: Shard,
        items: usize,
        words: impl IntoIterator<Item = &'a str>,
    ) -> Option<ShardRecord> {
        (self.is_array || self.fleet.is_some()).then(|| ShardRecord::new(shard, items, words))
    }

    /// Computes the shard of this process, and merges those of all ranks at rank 0, which also computes those of lost
    /// ranks. Other ranks, which print and save nothing, get an empty document.
    pub(crate) fn gather<D: Sharded>(&self, mut compute: impl FnMut(Shard) -> Result<D, Exit>) -> Result<D, Exit> {
        let own = compute(self.shard)?;
        let Some(fleet) = self.fleet else { return Ok(own) };
        let Some(gathered) = fleet.gather(&own).map_err(Exit::environment)? else { return Ok(D::default()) };
        let mut documents: Vec<(String, D)> = Vec::new();
        for (rank, document) in (0..fleet.ranks()).zip(gathered) {
            let label = fleet.label(rank);
            let document = match document {
                Some(document) => document,
                None if signals::ended().is_some() => continue,
                None => {
                    let what = format!("{label} is lost: rank 0 computes its points");
                    diagnostics::warning(&Problem::warning(ProblemCode::Connection, what));
                    compute(Shard { number: rank + 1, count: fleet.ranks() })?
                }
            };
            documents.push((label, document));
        }
        D::merge(documents).map_err(Exit::environment)
    }
}

fn beside_ranks(text: &str) -> Problem {
    Problem::error(ProblemCode::Ranks, format!("--shard {text}: the points are already divided among the ranks"))
        .help("omit it, or run `fathom` instead of `fathom-fleet`")
}
