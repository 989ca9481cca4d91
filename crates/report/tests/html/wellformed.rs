//! A strict parser of markup: apart from its first line, a page is well-formed XML.

/// Parses a page and returns its elements. Fails unless all elements are closed in order and every attribute is quoted
/// and unique.
pub(crate) fn check(page: &str) -> Result<Vec<String>, String> {
    let mut rest = page.strip_prefix("<!DOCTYPE html>\n").ok_or("it does not begin with its type")?;
    let (mut open, mut seen): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    while let Some(at) = rest.find('<') {
        text(&rest[..at], &open)?;
        let end = rest[at..].find('>').ok_or("a tag is not closed")? + at;
        let tag = &rest[at + 1..end];
        let place = format!("{:?} in {}", rest[at..].chars().take(60).collect::<String>(), open.join("/"));
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop().as_deref() != Some(name) {
                return Err(format!("{name} is closed and was not open: {place}"));
            }
            continue;
        }
        let (tag, is_void) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let name: String = tag.chars().take_while(|letter| !letter.is_whitespace()).collect();
        if name.is_empty() || !name.chars().all(|letter| letter.is_ascii_alphanumeric()) {
            return Err(format!("no element is called {name:?}: {place}"));
        }
        attributes(&tag[name.len()..]).map_err(|error| format!("{error}: {place}"))?;
        seen.push(name.clone());
        if !is_void {
            open.push(name);
        }
    }
    if open.is_empty() { Ok(seen) } else { Err(format!("{} are never closed", open.join(", "))) }
}

fn attributes(text: &str) -> Result<(), String> {
    let (mut rest, mut names) = (text.trim(), Vec::new());
    while !rest.is_empty() {
        let (name, value) = rest.split_once("=\"").ok_or_else(|| format!("an attribute without a value: {rest:?}"))?;
        if !name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-') || names.contains(&name) {
            return Err(format!("no attribute is called {name:?}, or it is there twice"));
        }
        names.push(name);
        let (value, after) = value.split_once('"').ok_or("a value that never ends")?;
        entities(value)?;
        rest = after.trim_start();
    }
    Ok(())
}

fn text(text: &str, open: &[String]) -> Result<(), String> {
    if open.last().is_some_and(|name| name == "style") { Ok(()) } else { entities(text) }
}

/// Checks that every ampersand begins an entity, and that all characters are allowed in documents.
fn entities(text: &str) -> Result<(), String> {
    for part in text.split('&').skip(1) {
        let known = ["amp;", "lt;", "gt;", "quot;", "#39;"].iter().any(|entity| part.starts_with(entity));
        if !known {
            return Err(format!("`&` is nothing in {text:?}"));
        }
    }
    match text.chars().find(|letter| letter.is_control() && !"\n\t".contains(*letter)) {
        Some(letter) => Err(format!("{letter:?} may not be in a document")),
        None => Ok(()),
    }
}

#[test]
fn the_parser_detects_errors() {
    let page = |body: &str| format!("<!DOCTYPE html>\n<html>{body}</html>");
    assert_eq!(check(&page("<p a=\"1\">x &amp; y<br/></p>")).unwrap(), ["html", "p", "br"]);
    for wrong in [
        "<p>",
        "</p>",
        "<p><b></p></b>",
        "<p a=1></p>",
        "<p a=\"1\" a=\"2\"></p>",
        "<p>a & b</p>",
        "<p>\u{1}</p>",
        "<>",
    ] {
        assert!(check(&page(wrong)).is_err(), "{wrong}");
    }
}
