//! Block sizes of operations.

/// Parses a block size from 512 bytes to 1 GiB in the syntax of job options: `4k`, `128k`, `1m`, `4096`.
#[must_use]
pub fn block_bytes(text: &str) -> Option<u32> {
    let text = text.trim().to_ascii_lowercase();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let factor = match text[end..].trim_end_matches("ib").trim_end_matches('b') {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        _ => return None,
    };
    let bytes = text[..end].parse::<u32>().ok()?.checked_mul(factor)?;
    (512..=1 << 30).contains(&bytes).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_syntax_of_job_options() {
        let sizes = [("4k", Some(4096)), ("1M", Some(1 << 20)), ("128KiB", Some(131_072)), ("4q", None), ("1", None)];
        for (text, size) in sizes.into_iter().chain([("", None), ("4294967295g", None)]) {
            assert_eq!(block_bytes(text), size, "{text}");
        }
    }
}
