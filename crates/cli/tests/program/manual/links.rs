//! Links between pages.

use std::path::Path;

use crate::manual::{pages, text_of, top};

/// Returns the relative link targets of a page.
fn targets(page: &str) -> Vec<String> {
    let mut fenced = false;
    let mut found = Vec::new();
    for line in page.lines() {
        fenced ^= line.starts_with("```");
        if fenced {
            continue;
        }
        let ends = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        found.extend(ends.filter(|target| !target.contains("://")).map(str::to_owned));
    }
    found
}

/// Returns the anchors of a page's headings, as on GitHub.
fn anchors(page: &str) -> Vec<String> {
    let headings = page.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let letter = |letter: char| match letter {
        ' ' => Some('-'),
        letter if letter.is_alphanumeric() || "-_".contains(letter) => letter.to_lowercase().next(),
        _ => None,
    };
    headings.map(|heading| heading.chars().filter_map(letter).collect()).collect()
}

#[test]
fn every_link_target_exists() {
    let mut broken = Vec::new();
    let mut seen = 0;
    for page in pages() {
        let text = text_of(&page);
        for target in targets(&text) {
            seen += 1;
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let folder = Path::new(&page).parent().expect("a page lies in a folder");
            let other = if file.is_empty() { Path::new(&page).to_path_buf() } else { folder.join(file) };
            let is_there = top().join(&other).exists();
            let has_heading = || anchor.is_empty() || anchors(&text_of(&other)).iter().any(|known| known == anchor);
            if !is_there || !has_heading() {
                broken.push(format!("{page}: {target}"));
            }
        }
    }
    assert!(seen > 20, "{seen} links");
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn every_page_is_in_the_contents() {
    let contents = text_of("docs/README.md");
    for page in
        crate::manual::files_below("docs").iter().filter(|name| name.ends_with(".md") && !name.ends_with("README.md"))
    {
        let link = page.trim_start_matches("docs/");
        assert!(contents.contains(&format!("({link})")), "docs/README.md does not lead to {page}");
    }
}
