//! Ranks of a run on many hosts: which of them run a job, and how they share its work.

use super::{Job, Plan};

/// The ranks that run a job, and the part of one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobRanks {
    /// `ranks`: those that run the job; all if empty.
    pub ranks: RankRanges,
    /// `rank_hosts`: names of hosts that run the job, where `*` stands for any characters; all if empty.
    pub hosts: Vec<String>,
    /// Number of stages before the job in which the rank runs no job.
    pub stages_skipped: u32,
    /// The part of the job's work that is this rank's; `None` for all of it.
    pub share: Option<RankShare>,
}

/// Ranks as inclusive ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankRanges(Vec<(u32, u32)>);

impl RankRanges {
    /// Parses a list such as `0-3,5`.
    ///
    /// # Errors
    ///
    /// Returns what is not a rank or a range of ranks.
    pub fn parse(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.trim().parse::<u32>().ok();
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            match (number(first), number(last)) {
                (Some(first), Some(last)) if first <= last => Ok((first, last)),
                (Some(first), Some(last)) => Err(format!("the range `{first}-{last}` is empty")),
                _ => Err(format!("`{}` is neither a rank nor a range of ranks", part.trim())),
            }
        };
        text.split(',').map(range).collect::<Result<_, _>>().map(Self)
    }

    /// Reports whether a rank is selected.
    #[must_use]
    pub fn contains(&self, rank: u32) -> bool {
        self.0.is_empty() || self.0.iter().any(|(first, last)| (*first..=*last).contains(&rank))
    }
}

/// What is divided among ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitKind {
    /// The amounts `size` and `io_size`: each rank has a part of them.
    Size,
    /// The files: each rank has some of them.
    Files,
    /// The region of each file: each rank has a part of it.
    Offsets,
}

/// The part of one rank in the work of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankShare {
    /// What is divided.
    pub kind: SplitKind,
    /// Number of the part, from zero.
    pub index: u32,
    /// Number of parts.
    pub count: u32,
}

impl JobRanks {
    /// Reports whether not all ranks run the job.
    #[must_use]
    pub fn selects(&self) -> bool {
        self.ranks != RankRanges::default() || !self.hosts.is_empty()
    }

    fn contains(&self, rank: u32, host: &str) -> bool {
        let is_on_host = self.hosts.is_empty() || self.hosts.iter().any(|pattern| matches(pattern, host));
        self.ranks.contains(rank) && is_on_host
    }
}

impl Job {
    /// Returns the number of stages between the start of the job before this one and its own.
    #[must_use]
    pub fn stages_after_last(&self) -> u32 {
        self.ranks.stages_skipped + u32::from(self.grouping.stonewall)
    }
}

impl Plan {
    /// Returns what one rank runs of a plan. `hosts` are the names of the hosts of all ranks; `split` divides the work of
    /// each job among the ranks that run it.
    ///
    /// # Errors
    ///
    /// Returns the name of a job that no rank runs.
    pub fn of_rank(&self, rank: u32, hosts: &[String], split: Option<SplitKind>) -> Result<Self, String> {
        let mut plan = Self { globals: self.globals.clone(), ..Self::default() };
        // Stages of this job in the whole plan, and of the job before it in this rank's.
        let (mut stage, mut last) = (0, 0);
        for (number, job) in self.jobs.iter().enumerate() {
            let stages = job.stages_after_last();
            stage += if number == 0 { job.ranks.stages_skipped } else { stages };
            let runs = |rank: usize| job.ranks.contains(rank as u32, &hosts[rank]);
            let count = (0..hosts.len()).filter(|rank| runs(*rank)).count() as u32;
            if count == 0 {
                return Err(job.name.clone());
            }
            if !runs(rank as usize) {
                continue;
            }
            let index = (0..rank as usize).filter(|rank| runs(*rank)).count() as u32;
            let mut job = job.clone();
            let is_own_wall = job.grouping.stonewall && !plan.jobs.is_empty();
            let share = split.map(|kind| RankShare { kind, index, count });
            job.ranks =
                JobRanks { stages_skipped: stage - last - u32::from(is_own_wall), share, ..JobRanks::default() };
            last = stage;
            plan.jobs.push(job);
        }
        Ok(plan)
    }
}

/// Reports whether a name matches a pattern in which `*` stands for any characters.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.len() >= last.len() && rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dialect, EmptySource, parse_file_text};

    fn plan(text: &str) -> Plan {
        parse_file_text("a.fio", text.as_bytes(), Dialect::Strict, &EmptySource).into_result().unwrap().0
    }

    fn hosts(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn patterns_match_whole_names() {
        let all =
            [("db*", "db1", true), ("db*", "db", true), ("*1", "db1", true), ("d*1", "db1", true), ("*", "", true)];
        let none = [("db", "db1", false), ("*2", "db1", false), ("a*a", "a", false), ("d*x*1", "db1", false)];
        for (pattern, name, expected) in all.into_iter().chain(none) {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn lists_of_ranks_are_parsed() {
        let ranges = RankRanges::parse("0-2, 7").unwrap();
        assert_eq!((0..9).filter(|rank| ranges.contains(*rank)).collect::<Vec<_>>(), [0, 1, 2, 7]);
        for wrong in ["", "a", "1-", "3-1", "1,,2", "-1", "4294967296"] {
            assert!(RankRanges::parse(wrong).is_err(), "{wrong}");
        }
        assert!(RankRanges::parse("0-4294967295").unwrap().contains(u32::MAX));
    }

    #[test]
    fn stages_keep_their_places_on_ranks_that_lack_some() {
        let plan = plan(
            "[global]\nioengine=null\nsize=1m\n[a]\nranks=0\n[b]\nstonewall\nrank_hosts=y\n[c]\nstonewall\n[d]\n[e]\nstonewall\nranks=1\n",
        );
        let stages = |rank| -> Vec<(String, u32)> {
            let of_rank = plan.of_rank(rank, &hosts(&["x", "y"]), None).unwrap();
            let mut stage = 0;
            let mut number = |job: &Job| {
                // As `runner::plan_workers` counts.
                stage +=
                    job.ranks.stages_skipped + u32::from(job.grouping.stonewall && job.name != of_rank.jobs[0].name);
                (job.name.clone(), stage)
            };
            of_rank.jobs.iter().map(&mut number).collect()
        };
        let named =
            |list: &[(&str, u32)]| list.iter().map(|(name, stage)| ((*name).to_owned(), *stage)).collect::<Vec<_>>();
        assert_eq!(stages(0), named(&[("a", 0), ("c", 2), ("d", 2)]));
        assert_eq!(stages(1), named(&[("b", 1), ("c", 2), ("d", 2), ("e", 3)]));
    }

    #[test]
    fn work_is_divided_among_the_ranks_that_run_a_job() {
        let plan = plan("[a]\nioengine=null\nsize=1m\nranks=1,3\n[b]\nioengine=null\nsize=1m\n");
        let shares = |rank| -> Vec<(u32, u32)> {
            let of_rank = plan.of_rank(rank, &hosts(&["x"; 4]), Some(SplitKind::Offsets)).unwrap();
            of_rank.jobs.iter().map(|job| job.ranks.share.unwrap()).map(|share| (share.index, share.count)).collect()
        };
        assert_eq!(shares(0), [(0, 4)]);
        assert_eq!(shares(3), [(1, 2), (3, 4)]);
        assert_eq!(plan.of_rank(0, &hosts(&["x"; 1]), None), Err("a".to_owned()));
    }

    #[test]
    fn the_dialect_of_fio_knows_no_ranks() {
        let parsed = parse_file_text("a.fio", b"[a]\nsize=1m\nranks=0\n", Dialect::Fio, &EmptySource);
        assert!(parsed.diagnostics.iter().any(|one| one.code == "unknown-option"));
    }
}
