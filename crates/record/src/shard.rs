//! Shards: parts of the points of a grid or a sweep, each computed by one task of a job array or one rank.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::random::{mix, mix_text};
use units::{Problem, ProblemCode};

/// One shard of many points. It has each `count`th point, so that all shards take about as long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Shard {
    /// Number of the shard, from 1.
    pub number: u32,
    /// Number of shards.
    pub count: u32,
}

/// Variables that job arrays set: number of the task, its first value, and number of tasks.
const ARRAYS: [(&str, Option<&str>, &str); 2] = [
    ("SLURM_ARRAY_TASK_ID", Some("SLURM_ARRAY_TASK_MIN"), "SLURM_ARRAY_TASK_COUNT"),
    // Kubernetes counts from 0, and sets no variable to the number of pods.
    ("JOB_COMPLETION_INDEX", None, "FATHOM_SHARDS"),
];

fn problem(what: impl Into<String>, help: impl Into<String>) -> Problem {
    Problem::error(ProblemCode::Shard, what).help(help)
}

impl Shard {
    /// Returns the only shard of a whole.
    pub const WHOLE: Self = Self { number: 1, count: 1 };

    /// Parses `3/16`, or `auto` for the variables that Slurm and Kubernetes set for the tasks of arrays.
    ///
    /// # Errors
    ///
    /// Returns what is wrong.
    pub fn parse(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, Problem> {
        if text == "auto" {
            return Self::of_array(variable);
        }
        let shard = text
            .split_once('/')
            .and_then(|(number, count)| Some(Self { number: number.parse().ok()?, count: count.parse().ok()? }));
        shard.filter(|shard| shard.is_valid()).ok_or_else(|| {
            problem("not a shard", "write, for example, --shard 3/16 for the third of 16, or --shard auto")
        })
    }

    fn of_array(variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, Problem> {
        let Some((task, first, tasks)) = ARRAYS.into_iter().find(|(task, ..)| variable(task).is_some()) else {
            let [slurm, kubernetes] = ARRAYS.map(|(task, ..)| task);
            let help = "run it in a job array, or give --shard NUMBER/COUNT";
            return Err(problem(format!("neither {slurm} nor {kubernetes} is set"), help));
        };
        let value = |name: &str| {
            let text = variable(name).ok_or_else(|| {
                problem(format!("{task} is set, but not {name}"), format!("set {name} to the number of tasks"))
            })?;
            text.parse::<u32>()
                .map_err(|_| problem(format!("{name}={text} is not a number"), "give --shard NUMBER/COUNT"))
        };
        let (task_number, count) = (value(task)?, value(tasks)?);
        let first = first.map_or(Ok(0), value)?;
        let number = task_number.checked_sub(first).and_then(|number| number.checked_add(1)).unwrap_or(0);
        let shard = Self { number, count };
        if !shard.is_valid() {
            let help = "number the tasks without gaps, or give --shard NUMBER/COUNT";
            return Err(problem(
                format!("task {task_number} is outside the array of {count} tasks that starts at {first}"),
                help,
            ));
        }
        Ok(shard)
    }

    const fn is_valid(self) -> bool {
        self.number > 0 && self.number <= self.count
    }

    /// Returns the items of this shard.
    #[must_use]
    pub fn of<T>(self, items: Vec<T>) -> Vec<T> {
        items.into_iter().skip(self.number as usize - 1).step_by(self.count as usize).collect()
    }

    /// Returns the number of items of this shard, if all shards have `items`.
    #[must_use]
    pub const fn items(self, items: u64) -> u64 {
        (items + (self.count - self.number) as u64) / self.count as u64
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "shard {} of {}", self.number, self.count)
    }
}

/// Maximum number of items, which bounds the memory that a hostile document can cost.
const ITEMS_MAX: u64 = 1 << 20;

/// The shard that a document belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShardRecord {
    #[serde(flatten)]
    pub shard: Shard,
    /// Number of items of all shards.
    pub items: u64,
    /// Identifies what is divided.
    pub whole: String,
}

impl ShardRecord {
    /// Returns the record of a shard. `words` identify what is divided.
    #[must_use]
    pub fn new<'a>(shard: Shard, items: usize, words: impl IntoIterator<Item = &'a str>) -> Self {
        // The zero ends a word.
        let with_word = |number, word: &'a str| mix(mix_text(number, word), 0);
        // Versions may simulate differently.
        let version = with_word(items as u64, env!("CARGO_PKG_VERSION"));
        let whole = format!("{:016x}", words.into_iter().fold(version, with_word));
        Self { shard, items: items as u64, whole }
    }

    /// Puts the items of several shards of one whole into their original order. Each shard has the name of its source.
    /// Returns the items, and what is missing.
    ///
    /// # Errors
    ///
    /// Returns why the shards do not belong together.
    pub fn merge<T>(parts: Vec<(String, Self, Vec<T>)>) -> Result<(Vec<T>, Option<MissingItems>), Problem> {
        let mut shards: BTreeMap<u32, (String, Vec<T>)> = BTreeMap::new();
        let mut first: Option<(String, Self)> = None;
        for (name, part, items) in parts {
            let shard = part.shard;
            let (first_name, known) = first.get_or_insert_with(|| (name.clone(), part.clone()));
            if !shard.is_valid() || part.items > ITEMS_MAX || items.len() as u64 > shard.items(part.items) {
                let (found, all) = (items.len(), part.items);
                return Err(problem(
                    format!("{name}: {shard} cannot have {found} of {all} points"),
                    "compute it again",
                ));
            }
            if (shard.count, part.items, &part.whole) != (known.shard.count, known.items, &known.whole) {
                return Err(problem(
                    format!(
                        "{name} ({shard}) and {first_name} ({}) have different jobs, settings, options or versions of fathom",
                        known.shard
                    ),
                    "report them separately",
                ));
            }
            if let Some((other, _)) = shards.get(&shard.number) {
                return Err(problem(format!("duplicate {shard}: {other} and {name}"), "omit one of them"));
            }
            shards.insert(shard.number, (name, items));
        }
        let Some((_, Self { shard: Shard { count, .. }, items, .. })) = first else { return Ok((Vec::new(), None)) };
        let missing = MissingItems::of(count, items, |number| shards.get(&number).map(|(_, items)| items.len()));
        let numbered = shards.into_iter().flat_map(|(number, (_, items))| {
            (0_u64..).zip(items).map(move |(turn, item)| (turn * u64::from(count) + u64::from(number), item))
        });
        let mut numbered: Vec<(u64, T)> = numbered.collect();
        numbered.sort_by_key(|(place, _)| *place);
        Ok((numbered.into_iter().map(|(_, item)| item).collect(), missing))
    }
}

/// Items of a whole that no shard has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissingItems {
    /// Numbers of the missing shards.
    pub shards: Vec<u32>,
    /// Numbers of the shards that have not all of their items.
    pub incomplete: Vec<u32>,
    /// Number of shards.
    pub count: u32,
    /// Number of missing items.
    pub items: u64,
    /// Number of items of the whole.
    pub of: u64,
}

impl MissingItems {
    /// Compares what shards have with what they should have; `None` if nothing is missing.
    fn of(count: u32, items: u64, present: impl Fn(u32) -> Option<usize>) -> Option<Self> {
        let mut missing = Self { count, of: items, ..Self::default() };
        // More shards than items are empty, and need not be there.
        for number in 1..=count.min(u32::try_from(items).unwrap_or(u32::MAX)) {
            let (found, wanted) = (present(number), Shard { number, count }.items(items));
            let lacking = wanted.saturating_sub(found.unwrap_or(0) as u64);
            match found {
                None => missing.shards.push(number),
                Some(_) if lacking > 0 => missing.incomplete.push(number),
                Some(_) => {}
            }
            missing.items += lacking;
        }
        (missing.items > 0).then_some(missing)
    }
}

impl std::fmt::Display for MissingItems {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        /// Maximum number of shards that are named.
        const NAMED: usize = 10;
        let name = |numbers: &[u32]| {
            let named: Vec<String> = numbers.iter().take(NAMED).map(u32::to_string).collect();
            let more = numbers.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let (shards, are) = if numbers.len() == 1 { ("shard", "is") } else { ("shards", "are") };
            (format!("{shards} {}{more}", named.join(", ")), are)
        };
        let Self { shards, incomplete, count, items, of } = self;
        write!(f, "{items} of {of} points are missing: ")?;
        if !shards.is_empty() {
            let (name, are) = name(shards);
            write!(f, "{name} of {count} {are} missing")?;
        }
        if !incomplete.is_empty() {
            let comma = if shards.is_empty() { "" } else { ", " };
            write!(f, "{comma}{} of {count} ended early", name(incomplete).0)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, variables: &[(&str, &str)]) -> Result<(u32, u32), Problem> {
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        Shard::parse(text, &variable).map(|shard| (shard.number, shard.count))
    }

    #[test]
    fn shards_are_parsed_or_taken_from_a_job_array() {
        assert_eq!(parse("3/16", &[]), Ok((3, 16)));
        for wrong in ["0/4", "5/4", "3", "a/4", "3/", "", "-1/4", "4294967296/4294967296", "0/0"] {
            assert!(parse(wrong, &[]).unwrap_err().help.is_some(), "{wrong}");
        }
        let slurm = [("SLURM_ARRAY_TASK_ID", "12"), ("SLURM_ARRAY_TASK_MIN", "10"), ("SLURM_ARRAY_TASK_COUNT", "4")];
        assert_eq!(parse("auto", &slurm), Ok((3, 4)));
        assert_eq!(parse("auto", &[("JOB_COMPLETION_INDEX", "0"), ("FATHOM_SHARDS", "8")]), Ok((1, 8)));
        assert!(parse("auto", &slurm[..2]).unwrap_err().what.contains("SLURM_ARRAY_TASK_COUNT"));
        assert!(parse("auto", &[("JOB_COMPLETION_INDEX", "0")]).unwrap_err().what.contains("FATHOM_SHARDS"));
        for index in ["8", "x", "-1", "4294967295"] {
            let error = parse("auto", &[("JOB_COMPLETION_INDEX", index), ("FATHOM_SHARDS", "8")]).unwrap_err();
            assert!(error.what.contains(index) && error.help.is_some(), "{error}");
        }
        assert!(parse("auto", &[]).unwrap_err().what.contains("JOB_COMPLETION_INDEX"));
    }

    /// Divides numbers into shards, each with its record.
    fn shards(items: u32, count: u32) -> Vec<(String, ShardRecord, Vec<u32>)> {
        let whole: Vec<u32> = (0..items).collect();
        let of = |number| {
            let shard = Shard { number, count };
            (format!("{number}.json"), ShardRecord::new(shard, whole.len(), ["a"]), shard.of(whole.clone()))
        };
        (1..=count).map(of).collect()
    }

    #[test]
    fn shards_together_are_the_whole_in_its_order() {
        for (items, count) in [(0, 3), (1, 3), (10, 3), (12, 4), (3, 8), (100, 1)] {
            let mut parts = shards(items, count);
            assert!(parts.iter().all(|(_, part, items)| part.shard.items(part.items) == items.len() as u64));
            parts.reverse();
            assert_eq!(ShardRecord::merge(parts), Ok(((0..items).collect(), None)));
        }
    }

    #[test]
    fn missing_and_incomplete_shards_are_named() {
        let mut parts = shards(10, 4);
        parts.remove(2);
        parts[1].2.pop();
        let (items, missing) = ShardRecord::merge(parts).unwrap();
        assert_eq!(items, [0, 1, 3, 4, 5, 7, 8]);
        let text = "3 of 10 points are missing: shard 3 of 4 is missing, shard 2 of 4 ended early";
        assert_eq!(missing.unwrap().to_string(), text);
        // A shard without points need not be there.
        assert_eq!(ShardRecord::merge(shards(3, 8).into_iter().take(3).collect()), Ok((vec![0, 1, 2], None)));
        let few = ShardRecord::merge(shards(40, 20).into_iter().take(1).collect()).unwrap().1.unwrap().to_string();
        assert_eq!(
            few,
            "38 of 40 points are missing: shards 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 9 more of 20 are missing"
        );
    }

    #[test]
    fn shards_that_do_not_belong_together_are_refused() {
        let refused = |parts: Vec<(String, ShardRecord, Vec<u32>)>| ShardRecord::merge(parts).unwrap_err().what;
        let [first, second] = &shards(4, 2)[..] else { panic!("two") };
        assert!(refused(vec![first.clone(), first.clone()]).contains("duplicate shard 1 of 2: 1.json and 1.json"));
        assert!(refused(vec![first.clone(), shards(4, 3).remove(1)]).contains("have different jobs"));
        let mut other = second.clone();
        other.1 = ShardRecord::new(other.1.shard, 4, ["b"]);
        assert!(refused(vec![first.clone(), other]).contains("have different jobs"));
        let mut more = second.clone();
        more.2.push(9);
        assert!(refused(vec![first.clone(), more]).contains("cannot have 3 of 4"));
        let mut invalid = second.clone();
        invalid.1.shard = Shard { number: 0, count: 0 };
        assert!(refused(vec![invalid]).contains("cannot"));
        let mut many = second.clone();
        (many.1.items, many.1.shard.count) = (u64::MAX, u32::MAX);
        assert!(refused(vec![many]).contains("cannot"));
        assert_ne!(ShardRecord::new(first.1.shard, 4, ["ab", "c"]), ShardRecord::new(first.1.shard, 4, ["a", "bc"]));
    }
}
