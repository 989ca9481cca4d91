//! Separate tables in one text: outputs of several calls, which text between them titles.

use std::collections::BTreeMap;
use std::ops::Range;

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

/// Divides copies of counters, each with the line on which it begins, at the titles between them. Only titles above two
/// copies or more separate: single ones are of one series, such as those before and after a load.
pub(in crate::input) fn series(titles: &[usize], copies: &[usize], end: usize) -> Vec<Range<usize>> {
    let titles_above = |line: usize| titles.partition_point(|title| *title < line);
    let parts: Vec<&[usize]> = copies.chunk_by(|a, b| titles_above(*a) == titles_above(*b)).collect();
    let are_apart = parts.iter().all(|part| part.len() >= 2);
    let borders = parts.windows(2).filter(|_| are_apart);
    let begins = borders.filter_map(|pair| titles.get(titles_above(*pair[0].last()?)).copied());
    let begins: Vec<usize> = std::iter::once(0).chain(begins).collect();
    let ends = begins.iter().skip(1).copied().chain([end]);
    begins.iter().zip(ends).map(|(&begin, end)| begin..end).collect()
}
