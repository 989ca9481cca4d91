//! Finds repeated type names, and banned names and words.

use std::collections::BTreeMap;

use syn::visit::Visit;

use super::sources::{SourceFile, is_test};

/// Names that several crates may use, and why.
const SHARED: &[(&str, &str)] = &[
    ("Error", "each crate has its own, named with the crate: `engine::Error`"),
    ("Kind", "`target::Kind` counts syncs, `volume::Kind` does not; to be merged into `OpKind`"),
];

/// Returns the number of type definitions outside of tests, and the names that several of them have.
pub(super) fn repeated(sources: &[SourceFile]) -> (usize, BTreeMap<String, usize>) {
    let mut types = Types::default();
    sources.iter().filter(|source| !source.is_test).for_each(|source| types.visit_file(&source.file));
    let all = types.names.values().sum();
    let shared = |name: &str| SHARED.iter().any(|(known, _)| *known == name);
    (all, types.names.into_iter().filter(|(name, count)| *count > 1 && !shared(name)).collect())
}

#[derive(Default)]
struct Types {
    names: BTreeMap<String, usize>,
}

impl Types {
    fn add(&mut self, name: &syn::Ident) {
        *self.names.entry(name.to_string()).or_default() += 1;
    }
}

impl<'ast> Visit<'ast> for Types {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            syn::visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.add(&item.ident);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.add(&item.ident);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.add(&item.ident);
        syn::visit::visit_item_trait(self, item);
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
        let mut types = Types::default();
        types.visit_file(&source.file);
        for (parts, instead) in BANNED_NAMES {
            let name = parts.concat();
            if types.names.contains_key(&name) {
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
    fn a_type_name_of_two_crates_is_repeated() {
        let (one, two) = ("pub struct Page; pub enum Only {}", "trait Page {} #[cfg(test)] mod tests { struct Only; }");
        let sources = [source("crates/a/src/lib.rs", one), source("crates/b/src/lib.rs", two)];
        let (all, repeated) = repeated(&sources);
        assert_eq!((all, repeated), (3, BTreeMap::from([("Page".to_owned(), 2)])));
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
