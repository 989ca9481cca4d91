//! Finds banned names of types and banned words.

use std::collections::BTreeSet;

use syn::visit::Visit;

use super::sources::{SourceFile, is_test};

/// The names of types that a file defines outside of tests.
#[derive(Default)]
struct TypeNames(BTreeSet<String>);

impl<'ast> Visit<'ast> for TypeNames {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            syn::visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.0.insert(item.ident.to_string());
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.0.insert(item.ident.to_string());
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.0.insert(item.ident.to_string());
    }
}

/// Banned type names and replacements. They are concatenated here, so that this file does not contain them.
const BANNED_NAMES: &[(&[&str], &str)] = &[
    (&["Cr", "ew"], "Workers"),
    (&["Ca", "st"], "Ready, Workers"),
    (&["Thea", "tre"], "Execution"),
    (&["Se", "at"], "Connection, Client, Counters"),
    (&["Sce", "ne"], "Preparation, Setup"),
    (&["De", "sk"], "Dispatcher, Requests"),
    (&["Stew", "ard"], "Supervisor"),
    (&["Bo", "ard"], "Counters"),
    (&["Gro", "und"], "Environment"),
    (&["Sta", "nd"], "State"),
    (&["Onlook", "ers"], "Observers"),
    (&["Surround", "ings"], "HostStats, Environment"),
    (&["Cro", "wd"], "Connections"),
    (&["Trou", "ble"], "Error"),
];

/// Returns the types with banned names, with replacements.
pub(super) fn banned(sources: &[SourceFile]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources.iter().filter(|source| !source.is_test) {
        let mut types = TypeNames::default();
        types.visit_file(&source.file);
        for (parts, instead) in BANNED_NAMES {
            let name = parts.concat();
            if types.0.contains(&name) {
                found.push(format!("{}: the type `{name}`: write {instead}", source.path.display()));
            }
        }
    }
    found
}

/// Returns the uses of banned words in a text. The words are concatenated here, as above.
pub(super) fn banned_in(place: &str, text: &str) -> Vec<String> {
    let banned = [["no", "body"], ["some", "body"], ["who", "ever"], ["every", "body"]].map(|parts| parts.concat());
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for word in line.split(|letter: char| !letter.is_alphanumeric() && letter != '_') {
            if banned.contains(&word.to_lowercase()) {
                let instead = "name the actor: the kernel, the worker, the client, the user";
                found.push(format!("{place}:{}: `{word}`: {instead}", number + 1));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> SourceFile {
        SourceFile::parse(path.into(), text).unwrap()
    }

    #[test]
    fn banned_type_names_are_found_and_words_that_contain_them_are_not() {
        let text = format!("struct {};\nstruct DashBoards;", ["Bo", "ard"].concat());
        let found = banned(&[source("crates/a/src/lib.rs", &text)]);
        assert_eq!(found, [format!("crates/a/src/lib.rs: the type `{}`: write Counters", ["Bo", "ard"].concat())]);
    }

    #[test]
    fn banned_words_are_found_in_any_case_and_only_as_words() {
        let text = format!("ok\n{} knows; embodied", ["No", "body"].concat());
        let found = banned_in("docs/a.md", &text);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("docs/a.md:2: `"), "{found:?}");
    }
}
