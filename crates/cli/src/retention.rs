//! Retention of saved runs: limits on age and size.

use store::{Retention, age_ms, size_bytes};

/// Default limit on the age of saved runs.
const AGE_MS: u64 = 365 * 24 * 60 * 60 * 1000;
/// Default limit on the total size of saved runs in bytes.
const BYTES: u64 = 4 << 30;

const FOR: &str = "FATHOM_KEEP_FOR";
const SIZE: &str = "FATHOM_KEEP_SIZE";

/// Returns the retention of `FATHOM_KEEP_FOR` and `FATHOM_KEEP_SIZE`, or the default. Fails on an unreadable value.
pub(crate) fn from_environment() -> Result<Retention, String> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let limit = |name: &str, default: u64, parse: fn(&str) -> Option<u64>, example: &str| match set(name) {
        None => Ok(Some(default)),
        Some(value) if value == "unlimited" => Ok(None),
        Some(value) => {
            let unknown = || {
                format!(
                    "{name}={value}: unreadable value; no saved run was removed\nhelp: write {example} or unlimited"
                )
            };
            parse(&value).map(Some).ok_or_else(unknown)
        }
    };
    let max_age_ms = limit(FOR, AGE_MS, age_ms, "a time such as 90d")?;
    let max_bytes = limit(SIZE, BYTES, size_bytes, "a size such as 10GiB")?;
    Ok(Retention { max_age_ms, max_bytes, latest: 0 })
}
