use std::path::Path;

use record::SavedRun;
use units::{Problem, ProblemCode};

use crate::error::{Error, Result};
use crate::folder::{self, KEPT, REMOVING};
use crate::{Filter, RunStore, disk, id};

/// Limits of retention. The oldest runs are removed first; runs marked by [`RunStore::keep`] stay.
#[derive(Clone, Copy, Debug, Default)]
pub struct Retention {
    /// Maximum age in milliseconds.
    pub max_age_ms: Option<u64>,
    /// Maximum total size of all runs, in bytes.
    pub max_bytes: Option<u64>,
    /// Number of most recent runs to spare in any case.
    pub latest: usize,
}

/// Default limit on the age of saved runs.
const AGE_MS: u64 = 365 * 24 * 60 * 60 * 1000;
/// Default limit on the total size of saved runs in bytes.
const BYTES: u64 = 4 << 30;

impl Retention {
    /// Returns the retention of the variables `FATHOM_KEEP_FOR` and `FATHOM_KEEP_SIZE`, or the default.
    ///
    /// # Errors
    ///
    /// Fails on an unreadable value.
    pub fn of_variables(variable: impl Fn(&str) -> Option<String>) -> std::result::Result<Self, Problem> {
        let limit = |name: &str, default: u64, parse: fn(&str) -> Option<u64>, example: &str| match variable(name) {
            None => Ok(Some(default)),
            Some(value) if value.is_empty() => Ok(Some(default)),
            Some(value) if value == "unlimited" => Ok(None),
            Some(value) => parse(&value).map(Some).ok_or_else(|| {
                let what = format!("{name}={value}: invalid value; no saved run was removed");
                Problem::error(ProblemCode::Store, what).help(format!("use {example} or unlimited"))
            }),
        };
        let max_age_ms = limit("FATHOM_KEEP_FOR", AGE_MS, age_ms, "a time such as 90d")?;
        let max_bytes = limit("FATHOM_KEEP_SIZE", BYTES, size_bytes, "a size such as 10GiB")?;
        Ok(Self { max_age_ms, max_bytes, latest: 0 })
    }
}

impl RunStore {
    /// Removes the runs named as for [`RunStore::load`]; returns their IDs. A damaged run requires its complete ID. A folder
    /// with anything else in it is refused.
    ///
    /// # Errors
    /// The problems of all names, in which case nothing is removed; otherwise the first run that cannot be removed.
    pub fn remove(&self, which: &[impl AsRef<str>]) -> std::result::Result<Vec<String>, Vec<Error>> {
        let (mut ids, mut errors) = (Vec::new(), Vec::new());
        for name in which {
            match self.resolve(name.as_ref()).and_then(|id| self.check_id(id)) {
                Ok(id) if ids.contains(&id) => {}
                Ok(id) => ids.push(id),
                Err(error) => errors.push(error),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let removed = self.lock().and_then(|_lock| self.remove_under_lock(&ids));
        removed.map_err(|error| vec![error])?;
        Ok(ids)
    }

    /// Exempts a run from retention, or ends the exemption.
    ///
    /// # Errors
    /// When the run does not exist or the store cannot be written.
    pub fn keep(&self, which: &str, keep: bool) -> Result<()> {
        let _lock = self.lock()?;
        self.check_version()?;
        let folder = self.root.join(self.resolve(which)?);
        folder::read_manifest(&folder)?;
        let mark = folder.join(KEPT);
        match (keep, mark.exists()) {
            (true, false) => disk::write_durably(&mark, b"")?,
            (false, true) => std::fs::remove_file(&mark).map_err(|error| Error::io(&mark, "remove", error))?,
            _ => return Ok(()),
        }
        disk::sync_folder(&folder)
    }

    /// Removes the runs that exceed the limits at `now_unix_ms`; returns their IDs.
    ///
    /// # Errors
    /// When the store cannot be listed or written.
    pub fn retain(&self, retention: Retention, now_unix_ms: u64) -> Result<Vec<String>> {
        // From here on no process can mark a run.
        let _lock = self.lock()?;
        let mut ids: Vec<String> = self.surplus(retention, now_unix_ms)?.into_iter().map(|entry| entry.id).collect();
        ids.retain(|id| folder::check_removable(&self.root.join(id)).is_ok());
        self.remove_under_lock(&ids)?;
        Ok(ids)
    }

    /// Returns the runs that [`RunStore::retain`] would remove.
    ///
    /// # Errors
    /// When the store cannot be listed.
    pub fn surplus(&self, retention: Retention, now_unix_ms: u64) -> Result<Vec<SavedRun>> {
        let entries = self.list(&Filter::default())?.entries;
        let mut bytes: u64 = entries.iter().map(SavedRun::bytes).sum();
        let oldest_ms = retention.max_age_ms.map_or(0, |age| now_unix_ms.saturating_sub(age));
        let removable = entries.len().saturating_sub(retention.latest);
        let goes = |entry: &SavedRun| {
            let is_too_much = retention.max_bytes.is_some_and(|most| bytes > most);
            let goes = !entry.kept && (is_too_much || entry.kept_since_unix_ms() < oldest_ms);
            bytes -= if goes { entry.bytes() } else { 0 };
            goes
        };
        Ok(entries.into_iter().take(removable).filter(goes).collect())
    }

    fn check_id(&self, id: String) -> Result<String> {
        let folder = self.root.join(&id);
        match id::is_id(&id) {
            true => folder::check_removable(&folder).map(|()| id),
            false => Err(folder::foreign(&folder, "not the name of a run")),
        }
    }

    fn remove_under_lock(&self, ids: &[String]) -> Result<()> {
        self.check_version()?;
        ids.iter().try_for_each(|id| self.remove_one(&self.root.join(id), id))
    }

    /// Hides the folder first, so that no reader sees a part of it.
    fn remove_one(&self, folder: &Path, id: &str) -> Result<()> {
        if folder.symlink_metadata().is_err() {
            return Ok(());
        }
        let temporary = self.root.join(format!("{REMOVING}{id}"));
        disk::rename(folder, &temporary)?;
        std::fs::remove_dir_all(&temporary).map_err(|error| Error::io(&temporary, "remove", error))
    }
}

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Parses an age such as `90d`, `12h`, `2w` or `1y`; returns milliseconds.
#[must_use]
pub fn age_ms(text: &str) -> Option<u64> {
    let (number, unit) = split(text)?;
    let unit_ms = match unit {
        "s" => 1000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" | "day" | "days" => DAY_MS,
        "w" => 7 * DAY_MS,
        "y" => 365 * DAY_MS,
        _ => return None,
    };
    Some((number * unit_ms as f64) as u64)
}

/// Parses a size such as `1GiB`, `500MB` or `10k`; returns bytes. A single letter is binary.
#[must_use]
pub fn size_bytes(text: &str) -> Option<u64> {
    let (number, unit) = split(text)?;
    let (prefix, base) = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => return Some(number as u64),
        unit => match (unit.chars().next()?, unit.get(1..)?) {
            (prefix, "" | "ib") => (prefix, 1024.0_f64),
            (prefix, "b") => (prefix, 1000.0),
            _ => return None,
        },
    };
    let power = "kmgtp".find(prefix)? as i32 + 1;
    Some((number * base.powi(power)) as u64)
}

fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    Some((number.parse().ok()?, unit.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_ages_and_sizes_with_units() {
        let ages = ["90d", "12 h", "1.5w", "1y", "0d"].map(age_ms);
        assert_eq!(ages, [90 * DAY_MS, DAY_MS / 2, DAY_MS * 21 / 2, 365 * DAY_MS, 0].map(Some));
        assert_eq!(["", "d", "-1d", "9 parsecs", "9"].map(age_ms), [None; 5]);
        let sizes = ["1GiB", "500MB", "10k", "0", "7 B", "1.5 KiB"].map(size_bytes);
        assert_eq!(sizes, [1 << 30, 500_000_000, 10_240, 0, 7, 1536].map(Some));
        assert_eq!(["", "GiB", "1 parsec", "1xb", "1é"].map(size_bytes), [None; 5]);
    }
}
