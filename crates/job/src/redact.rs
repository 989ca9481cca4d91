//! Keeps credentials out of everything that is printed or stored.

use std::borrow::Cow;
use std::ops::Range;

use crate::table::{self, OPTIONS};

/// What stands for a credential.
const MASK: &str = "***";

/// Options that take an address, and whether it has a path.
const ADDRESSES: [(&str, bool); 2] = [("http_host", false), ("uri", true)];

/// Reports whether the value of an option is a credential, also if its name is shortened or misspelt.
fn is_secret(key: &str) -> bool {
    let known = table::find_all(key);
    if !known.is_empty() {
        return known.iter().any(|spec| spec.is_secret);
    }
    let is_begin = |name: &str| key.len() > 1 && name.starts_with(key);
    key.starts_with("http_") || OPTIONS.iter().any(|spec| spec.is_secret && spec.names().any(is_begin))
}

/// Returns the value of an option, with [`MASK`] for what is a credential in it: all of it, or what precedes the host in an
/// address. A value that only names an environment variable is none.
#[must_use]
pub fn redacted_value<'a>(key: &str, value: &'a str) -> Cow<'a, str> {
    let names_variable = value.starts_with("${") && value.ends_with('}') && value.matches('}').count() == 1;
    if value.is_empty() || names_variable {
        return Cow::Borrowed(value);
    }
    if is_secret(key) {
        return Cow::Borrowed(MASK);
    }
    match user_of_address(key, value) {
        Some(user) => Cow::Owned(format!("{}{MASK}{}", &value[..user.start], &value[user.end..])),
        None => Cow::Borrowed(value),
    }
}

/// Returns where user and password are in the value of an option that takes an address, as in `USER:PASSWORD@HOST`.
fn user_of_address(key: &str, value: &str) -> Option<Range<usize>> {
    let start = value.find("://").map_or(0, |at| at + "://".len());
    // A path may contain `@`, but `http_host` has none.
    let end = match ADDRESSES.iter().find(|(name, _)| table::find_all(key).iter().any(|spec| spec.name == *name))? {
        (_, true) => value[start..].find(['/', '?']).map_or(value.len(), |at| start + at),
        (_, false) => value.len(),
    };
    value[start..end].rfind('@').map(|at| start..start + at)
}

/// Returns a line of a job file without credentials.
pub(crate) fn redacted_line(line: &str) -> Cow<'_, str> {
    let Some((key, value)) = line.split_once('=') else { return Cow::Borrowed(line) };
    let shown = redacted_value(key.trim(), value.trim());
    if shown == value.trim() { Cow::Borrowed(line) } else { Cow::Owned(format!("{key}={shown}")) }
}

/// Returns the text of a job file without credentials.
#[must_use]
pub fn redacted_text(text: &str) -> String {
    text.split_inclusive('\n')
        .flat_map(|line| {
            let (body, end) = line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n"));
            [redacted_line(body), Cow::Borrowed(end)]
        })
        .collect()
}

/// Returns the arguments of a command without credentials.
#[must_use]
pub fn redacted_words(words: &[String]) -> Vec<String> {
    let mut key_before: Option<String> = None;
    let redacted = |word: &String| {
        if let Some(key) = key_before.take().filter(|_| !word.starts_with('-')) {
            return redacted_value(&key, word).into_owned();
        }
        let Some(body) = word.strip_prefix("--").or_else(|| word.strip_prefix('-')) else { return word.clone() };
        let Some((key, value)) = body.split_once('=') else {
            key_before = Some(body.to_owned());
            return word.clone();
        };
        format!("{}{key}={}", &word[..word.len() - body.len()], redacted_value(key, value))
    };
    words.iter().map(redacted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_masked_wherever_an_option_may_stand() {
        let words = "run --http_s3_key=A -http_pass=B --http_s3_key C --http_s3_k=D --http_s3_kye=E --http_host=h \
                     --http_user=u --bs=4k --http_swift_auth_token -x --http_pass=${V}";
        let words: Vec<String> = words.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect();
        assert_eq!(
            redacted_words(&words).join(" "),
            "run --http_s3_key=*** -http_pass=*** --http_s3_key *** --http_s3_k=*** --http_s3_kye=*** --http_host=h \
             --http_user=u --bs=4k --http_swift_auth_token -x --http_pass=${V}"
        );
        let words = "--http_host=u:p@h:9 --http_host u:p/q@r@h --http_host=https://u:p@h --uri=nbd://u:p@h/a@b \
                     --uri=nbd+unix:///x?socket=a@b --filename=a@b --http_host=${HOST}";
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        assert_eq!(
            redacted_words(&words).join(" "),
            "--http_host=***@h:9 --http_host ***@h --http_host=https://***@h --uri=nbd://***@h/a@b \
             --uri=nbd+unix:///x?socket=a@b --filename=a@b --http_host=${HOST}"
        );
        assert_eq!(redacted_text("[a]\nhttp_host=u:p@h\n"), "[a]\nhttp_host=***@h\n");
        let file = "[a]\n  http_s3_key = A=B \nhttp_s3_security_token=${TOKEN}\nhttp_pass=${A}${B}\nbs=4k\r\n# no";
        assert_eq!(
            redacted_text(file),
            "[a]\n  http_s3_key =***\nhttp_s3_security_token=${TOKEN}\nhttp_pass=***\nbs=4k\r\n# no"
        );
    }

    #[test]
    fn all_credentials_of_the_engine_http_are_marked() {
        let named: Vec<&str> = OPTIONS.iter().filter(|spec| spec.is_secret).map(|spec| spec.name).collect();
        assert_eq!(
            named,
            [
                "http_pass",
                "http_s3_key",
                "http_s3_keyid",
                "http_s3_security_token",
                "http_s3_sse_customer_key",
                "http_swift_auth_token"
            ]
        );
    }
}
