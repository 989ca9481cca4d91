//! Ranks of a run on many hosts, real or simulated: which of them run a job, and how they share its work.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;
use units::{Problem, ProblemCode};

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
    /// Number of reporting groups before the job in which the rank runs no job.
    pub groups_skipped: u32,
    /// The part of the job's work that is this rank's; `None` for all of it.
    pub share: Option<RankShare>,
}

/// Ranks as inclusive ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RankRanges(Vec<(u32, u32)>);

impl RankRanges {
    /// Parses a list such as `0-3,5`.
    ///
    /// # Errors
    ///
    /// Returns what is not a rank or a range of ranks.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let number = |text: &str| text.trim().parse::<u32>().ok();
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            match (number(first), number(last)) {
                (Some(first), Some(last)) if first <= last => Ok((first, last)),
                (Some(first), Some(last)) => {
                    Err(Problem::error(ProblemCode::Ranks, format!("the range `{first}-{last}` is empty")))
                }
                _ => Err(Problem::error(
                    ProblemCode::Ranks,
                    format!("`{}` is neither a rank nor a range of ranks", part.trim()),
                )),
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
        let is_on_host = || self.hosts.is_empty() || self.hosts.iter().any(|pattern| matches(pattern, host));
        self.ranks.contains(rank) && is_on_host()
    }
}

/// The ranks that run a plan together: processes of `fathom-fleet`, or simulated hosts.
#[derive(Clone, Debug)]
pub struct RankTable {
    hosts: Vec<String>,
    /// What is divided among the ranks that run a job, if anything is.
    split: Option<SplitKind>,
    is_simulated: bool,
    /// Ranks by what selects them, in ascending order.
    selected: BTreeMap<(RankRanges, Vec<String>), Rc<[u32]>>,
}

impl RankTable {
    /// Creates the table of the ranks of `fathom-fleet`, which run on these hosts.
    #[must_use]
    pub fn of_fleet(hosts: &[String], split: Option<SplitKind>) -> Self {
        Self { hosts: hosts.to_vec(), split, is_simulated: false, selected: BTreeMap::new() }
    }

    /// Creates the table of simulated hosts with these names: one rank on each.
    #[must_use]
    pub fn simulated(hosts: Vec<String>, split: Option<SplitKind>) -> Self {
        Self { hosts, split, is_simulated: true, selected: BTreeMap::new() }
    }

    /// Returns the ranks that run a job, in ascending order.
    ///
    /// # Errors
    ///
    /// Fails if no rank runs it.
    pub fn ranks_of(&mut self, job: &Job) -> Result<Rc<[u32]>, Problem> {
        let (hosts, selection) = (&self.hosts, &job.ranks);
        let find = || (0..).zip(hosts).filter(|(rank, host)| selection.contains(*rank, host)).map(|(rank, _)| rank);
        let known = self.selected.entry((selection.ranks.clone(), selection.hosts.clone()));
        let ranks = Rc::clone(known.or_insert_with(|| find().collect()));
        if ranks.is_empty() { Err(self.no_rank(job)) } else { Ok(ranks) }
    }

    fn no_rank(&self, job: &Job) -> Problem {
        let options = match (job.ranks.ranks == RankRanges::default(), job.ranks.hosts.is_empty()) {
            (false, false) => "`ranks` and `rank_hosts`",
            (_, true) => "`ranks`",
            (true, false) => "`rank_hosts`",
        };
        let (one, help) = if self.is_simulated {
            let names = match &self.hosts[..] {
                [first, .., last] => format!("simulated hosts are named {first} to {last}"),
                names => format!("the simulated host is named {}", names.concat()),
            };
            ("simulated host", format!("simulate more hosts, or correct {options}; {names}"))
        } else {
            ("rank", format!("start more ranks, or correct {options}"))
        };
        let none = match self.hosts.len() {
            1 => format!("the only {one} is not"),
            count => format!("none of the {count} {one}s is"),
        };
        let option = if job.ranks.ranks == RankRanges::default() { "rank_hosts" } else { "ranks" };
        Problem::error(ProblemCode::Ranks, format!("job `{}`: {none} selected by {options}", job.name))
            .at(job.origin.of(option).cloned())
            .help(help)
    }
}

/// What one rank runs of a plan.
#[derive(Clone, Debug)]
pub struct RankPart<'a> {
    /// The jobs with the rank's share in them; the whole plan if the rank runs all of it.
    pub plan: Cow<'a, Plan>,
    /// Index of each job in the whole plan.
    pub jobs: Vec<usize>,
}

impl Job {
    /// Returns the number of stages between the start of the job before this one and its own.
    #[must_use]
    pub fn stages_after_last(&self) -> u32 {
        self.ranks.stages_skipped + u32::from(self.grouping.stonewall)
    }

    /// Returns the number of reporting groups between that of the job before this one and its own.
    #[must_use]
    pub fn groups_after_last(&self) -> u32 {
        self.ranks.groups_skipped + u32::from(self.grouping.stonewall || self.grouping.new_group)
    }
}

impl Plan {
    /// Returns what one rank runs of a plan.
    ///
    /// # Errors
    ///
    /// Fails if no rank runs some job.
    pub fn of_rank(&self, rank: u32, ranks: &mut RankTable) -> Result<RankPart<'_>, Problem> {
        if ranks.split.is_none() && !self.jobs.iter().any(|job| job.ranks.selects()) {
            return Ok(RankPart { plan: Cow::Borrowed(self), jobs: (0..self.jobs.len()).collect() });
        }
        let mut plan = Self { globals: self.globals.clone(), ..Self::default() };
        let mut jobs = Vec::new();
        // Stages of this job in the whole plan, and of the job before it in this rank's; likewise groups.
        let (mut stage, mut last) = (0, 0);
        let (mut group, mut last_group) = (0, 0);
        for (number, job) in self.jobs.iter().enumerate() {
            stage += if number == 0 { job.ranks.stages_skipped } else { job.stages_after_last() };
            group += if number == 0 { job.ranks.groups_skipped } else { job.groups_after_last() };
            let selected = ranks.ranks_of(job)?;
            let Ok(index) = selected.binary_search(&rank) else {
                if !ranks.is_simulated && job.needs_data() && !job.engine.kind.is_remote() {
                    plan.needed_by_ranks.extend(job.files.filenames.clone());
                }
                continue;
            };
            let mut job = job.clone();
            let is_own_wall = job.grouping.stonewall && !plan.jobs.is_empty();
            let is_own_group = (job.grouping.stonewall || job.grouping.new_group) && !plan.jobs.is_empty();
            let (index, count) = (index as u32, selected.len() as u32);
            let share = ranks.split.map(|kind| RankShare { kind, index, count });
            job.ranks = JobRanks {
                stages_skipped: stage - last - u32::from(is_own_wall),
                groups_skipped: group - last_group - u32::from(is_own_group),
                share,
                ..JobRanks::default()
            };
            (last, last_group) = (stage, group);
            plan.jobs.push(job);
            jobs.push(number);
        }
        Ok(RankPart { plan: Cow::Owned(plan), jobs })
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
    fn files_that_other_ranks_need_with_data_are_known() {
        let plan = plan(
            "[global]\ndirectory=/d\nioengine=psync\nsize=1m\n[writer]\nrw=write\nfilename=a:b\nranks=0\n\
             [reader]\nrw=read\nfilename=b:c\nranks=1\n[later]\nrw=write\nfilename=e\nranks=1\n\
             [own]\nrw=read\nfilename=f\n",
        );
        let needed = |rank| {
            let part = plan.of_rank(rank, &mut RankTable::of_fleet(&hosts(&["x", "y"]), None)).unwrap();
            part.plan.needed_by_ranks.iter().cloned().collect::<Vec<_>>()
        };
        assert_eq!([needed(0), needed(1)], [vec!["/d/b".to_owned(), "/d/c".to_owned()], vec![]]);
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
            let of_rank = plan.of_rank(rank, &mut RankTable::of_fleet(&hosts(&["x", "y"]), None)).unwrap().plan;
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
            let mut ranks = RankTable::of_fleet(&hosts(&["x"; 4]), Some(SplitKind::Offsets));
            let of_rank = plan.of_rank(rank, &mut ranks).unwrap().plan;
            of_rank.jobs.iter().map(|job| job.ranks.share.unwrap()).map(|share| (share.index, share.count)).collect()
        };
        assert_eq!(shares(0), [(0, 4)]);
        assert_eq!(shares(3), [(1, 2), (3, 4)]);
        assert_eq!(plan.of_rank(3, &mut RankTable::of_fleet(&hosts(&["x"; 4]), None)).unwrap().jobs, [0, 1]);
        assert_eq!(plan.of_rank(2, &mut RankTable::of_fleet(&hosts(&["x"; 4]), None)).unwrap().jobs, [1]);
    }

    #[test]
    fn a_job_that_no_rank_runs_is_refused() {
        let message = |text: &str, mut ranks: RankTable| {
            let refused = plan(&format!("[a]\nioengine=null\nsize=1m\n{text}\n")).of_rank(0, &mut ranks).unwrap_err();
            (refused.what, refused.help.unwrap(), refused.place.unwrap().line)
        };
        let simulated = |count| RankTable::simulated((0..count).map(|host| format!("host{host}")).collect(), None);
        let (message_of_two, help, line) = message("ranks=2", RankTable::of_fleet(&hosts(&["x"; 2]), None));
        assert_eq!(message_of_two, "job `a`: none of the 2 ranks is selected by `ranks`");
        assert_eq!((help.as_str(), line), ("start more ranks, or correct `ranks`", 4));
        let (message_of_eight, help, _) = message("rank_hosts=web*", simulated(8));
        assert_eq!(message_of_eight, "job `a`: none of the 8 simulated hosts is selected by `rank_hosts`");
        assert!(help.ends_with("simulated hosts are named host0 to host7"), "{help}");
        let (message_of_one, help, _) = message("ranks=0\nrank_hosts=x", simulated(1));
        assert_eq!(message_of_one, "job `a`: the only simulated host is not selected by `ranks` and `rank_hosts`");
        assert!(help.ends_with("the simulated host is named host0"), "{help}");
    }

    #[test]
    fn the_dialect_of_fio_knows_no_ranks() {
        let parsed = parse_file_text("a.fio", b"[a]\nsize=1m\nranks=0\n", Dialect::Fio, &EmptySource);
        assert!(parsed.diagnostics.iter().any(|one| one.code == ProblemCode::UnknownOption));
    }
}
