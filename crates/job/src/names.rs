//! Lists of file names.

/// Splits `text` at every `:` that is not escaped by a backslash, and removes those backslashes.
pub(crate) fn split(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, names.last_mut()) {
            ('\\', Some(name)) if chars.peek() == Some(&':') => {
                name.push(':');
                chars.next();
            }
            (':', _) => names.push(String::new()),
            (c, Some(name)) => name.push(c),
            (_, None) => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn colons_separate_unless_escaped() {
        assert_eq!(split("/a:/b"), ["/a", "/b"]);
        assert_eq!(split(r"/dev/by-path/pci-0000\:01:/b"), ["/dev/by-path/pci-0000:01", "/b"]);
        assert_eq!(split("a::b:"), ["a", "b"]);
        assert_eq!(split(r"a\b"), [r"a\b"]);
        assert!(split("").is_empty());
    }
}
