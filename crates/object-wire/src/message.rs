//! What a server says about an error.

use units::printable;

/// Maximum number of characters of a message.
const LETTERS_MAX: usize = 200;

/// Returns the reason in the body of an error: code and message of S3, the title of a page, or the first line of a text.
/// Empty if there is none.
#[must_use]
pub fn short_message(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let (code, message) = (element(&text, "Code"), element(&text, "Message"));
    let found = match (code, message) {
        (Some(code), Some(message)) if !message.is_empty() => format!("{code}: {message}"),
        (Some(code), _) => code.to_owned(),
        (None, Some(message)) => message.to_owned(),
        (None, None) => element(&text, "title").map_or_else(|| first_line(&text), str::to_owned),
    };
    let short: String = found.trim().chars().take(LETTERS_MAX).collect();
    printable(&short).into_owned()
}

/// Returns the text of the first element with this name, without elements in it.
fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    rest.split('<').next().map(str::trim)
}

/// Returns the first line with text, unless it is of markup.
fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("");
    if line.starts_with('<') { String::new() } else { line.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_found_in_the_forms_of_servers() {
        let of = |text: &str| short_message(text.as_bytes());
        let s3 = "<?xml version=\"1.0\"?><Error><Code>SignatureDoesNotMatch</Code><Message>It differs.</Message>\
                  <AWSAccessKeyId>KEY</AWSAccessKeyId></Error>";
        assert_eq!(of(s3), "SignatureDoesNotMatch: It differs.");
        assert_eq!(of("<html><head><title>403 Forbidden</title></head></html>"), "403 Forbidden");
        assert_eq!(of("\n quota exceeded \n more"), "quota exceeded");
        assert_eq!([of("<a/>"), of(""), of("<Code>")], ["", "", ""]);
        assert_eq!(of("a\u{1b}[2Jb"), "a\\u001b[2Jb");
        assert_eq!(of(&"x".repeat(5000)).len(), 200);
        assert!(!short_message(&[0xff, 0xfe, b'a']).is_empty());
    }
}
