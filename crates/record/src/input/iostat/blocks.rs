//! Separate tables in one text: outputs of several calls, which text between them titles.

use std::collections::BTreeMap;

use super::columns;
use crate::input::text::InputText;

/// Lines of text between tables.
pub(in crate::input) struct BlockTitles<'a>(BTreeMap<&'a str, usize>);

impl<'a> BlockTitles<'a> {
    pub(in crate::input) fn of(text: &'a InputText) -> Self {
        let mut counts = BTreeMap::new();
        text.lines().for_each(|line| *counts.entry(line.trim()).or_default() += 1);
        Self(counts)
    }

    /// Reports whether a line that belongs to no table is the title of those below it. Lines with times, and those that
    /// stand there several times, are of a log around one series of tables.
    pub(in crate::input) fn has(&self, line: &str) -> bool {
        let line = line.trim();
        line.contains(char::is_alphabetic)
            && columns::second_of_day(line).is_none()
            && self.0.get(line).is_none_or(|count| *count == 1)
    }
}
