//! Finds import cycles between sibling modules.
//!
//! Siblings are the direct children of one module. One depends on another if anything below it names anything below the
//! other, by `use` or by a path, including names that a parent re-exports.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::Visit;

use super::sources::SourceFile;

/// The path of a module in its crate, such as `["server", "budget"]`.
type ModulePath = Vec<String>;

/// Names in a module.
#[derive(Default)]
struct Module {
    /// Paths from the crate's root, not resolved through re-exports.
    named: Vec<Vec<String>>,
    /// Imported names and their paths.
    imported: BTreeMap<String, Vec<String>>,
}

/// The siblings that each module depends on, with the names that it uses.
type Edges = BTreeMap<ModulePath, BTreeMap<ModulePath, BTreeSet<String>>>;

/// Returns the cycles of each crate as `crate: a, b, c`, each with the names that cause it as `a -> b::Name`.
pub(super) fn find(sources: &[SourceFile]) -> Vec<(String, Vec<String>)> {
    let mut crates: BTreeMap<&str, BTreeMap<ModulePath, Module>> = BTreeMap::new();
    for source in sources.iter().filter(|source| !source.is_test) {
        let Some((name, module)) = source.module() else { continue };
        let mut names = Names { module: module.clone(), found: Module::default() };
        names.visit_file(&source.file);
        crates.entry(name).or_default().insert(module, names.found);
    }
    let of_crate = |(name, modules): (&&str, &BTreeMap<ModulePath, Module>)| -> Vec<(String, Vec<String>)> {
        let edges = edges(modules);
        let text = |circle: Vec<ModulePath>| {
            let modules: Vec<String> = circle.iter().map(|module| module.join("::")).collect();
            (format!("{name}: {}", modules.join(", ")), ties(&edges, &circle))
        };
        circles(&edges).into_iter().map(text).collect()
    };
    crates.iter().flat_map(of_crate).collect()
}

/// Collects the paths that a file names.
struct Names {
    module: ModulePath,
    found: Module,
}

impl Names {
    /// Returns a path from the crate's root; `None` for paths of other crates.
    fn absolute(&self, path: &[String]) -> Option<Vec<String>> {
        let mut base = self.module.clone();
        let prefix = match path.first()?.as_str() {
            "crate" => {
                base.clear();
                1
            }
            "self" => 1,
            // None for a child or a name of another crate; the caller drops paths that are no modules.
            _ => path.iter().take_while(|part| *part == "super").count(),
        };
        if path[0] == "super" {
            base.truncate(base.len().checked_sub(prefix)?);
        }
        Some([&base[..], &path[prefix..]].concat())
    }

    fn import(&mut self, prefix: &mut Vec<String>, tree: &syn::UseTree) {
        match tree {
            syn::UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.import(prefix, &path.tree);
                prefix.pop();
            }
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(prefix, tree)),
            syn::UseTree::Name(name) => self.add_import(prefix, &name.ident.to_string(), &name.ident.to_string()),
            syn::UseTree::Rename(name) => self.add_import(prefix, &name.ident.to_string(), &name.rename.to_string()),
            syn::UseTree::Glob(_) => self.add_import(prefix, "self", "*"),
        }
    }

    fn add_import(&mut self, prefix: &[String], name: &str, local: &str) {
        let mut path = prefix.to_vec();
        let mut local = local.to_owned();
        if name == "self" {
            local = if local == "self" { prefix.last().cloned().unwrap_or_default() } else { local };
        } else {
            path.push(name.to_owned());
        }
        if let Some(absolute) = self.absolute(&path) {
            self.found.named.push(absolute.clone());
            self.found.imported.insert(local, absolute);
        }
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !super::sources::is_test(&item.attrs) {
            syn::visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if item.leading_colon.is_none() {
            self.import(&mut Vec::new(), &item.tree);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if parts.len() > 1
            && path.leading_colon.is_none()
            && let Some(absolute) = self.absolute(&parts)
        {
            self.found.named.push(absolute);
        }
        syn::visit::visit_path(self, path);
    }
}

/// Returns the dependencies between siblings.
fn edges(modules: &BTreeMap<ModulePath, Module>) -> Edges {
    let mut edges = Edges::new();
    for (module, names) in modules {
        for named in &names.named {
            let Some(target) = resolve(modules, named, 0) else { continue };
            let common = module.iter().zip(&target).take_while(|(a, b)| a == b).count();
            // A module and its parent or child are no siblings.
            if common < module.len() && common < target.len() {
                let from = edges.entry(module[..=common].to_vec()).or_default();
                from.entry(target[..=common].to_vec()).or_default().insert(named.join("::"));
            }
        }
    }
    edges
}

/// Returns the module in which the item that a path names is defined.
fn resolve(modules: &BTreeMap<ModulePath, Module>, path: &[String], depth: usize) -> Option<ModulePath> {
    const DEPTH_MAX: usize = 6;
    let known = (0..=path.len()).rev().find(|length| modules.contains_key(&path[..*length]))?;
    let module = &path[..known];
    let Some(name) = path.get(known) else { return Some(module.to_vec()) };
    let imported =
        modules[module].imported.get(name).filter(|target| depth < DEPTH_MAX && target[..] != path[..=known]);
    match imported {
        Some(target) => resolve(modules, target, depth + 1).or_else(|| Some(module.to_vec())),
        // The name of another crate is no item of the module.
        None if known == 0 && path.len() > 1 => None,
        None => Some(module.to_vec()),
    }
}

/// Returns the names that the modules of a cycle use from each other.
fn ties(edges: &Edges, circle: &[ModulePath]) -> Vec<String> {
    let mut ties = Vec::new();
    for from in circle {
        let within = edges.get(from).into_iter().flatten().filter(|(to, _)| circle.contains(to));
        ties.extend(within.flat_map(|(_, names)| names).map(|name| format!("{} -> {name}", from.join("::"))));
    }
    ties
}

/// Returns the strongly connected components of more than one module.
fn circles(edges: &Edges) -> Vec<Vec<ModulePath>> {
    let reachable = |from: &ModulePath| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(module) = next.pop() {
            for target in edges.get(module).into_iter().flat_map(BTreeMap::keys) {
                if seen.insert(target) {
                    next.push(target);
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&ModulePath, BTreeSet<&ModulePath>> =
        edges.keys().map(|module| (module, reachable(module))).collect();
    let mut circles: BTreeSet<Vec<ModulePath>> = BTreeSet::new();
    for (module, targets) in &reached {
        let circle: Vec<ModulePath> = targets
            .iter()
            .filter(|target| reached.get(**target).is_some_and(|back| back.contains(*module)))
            .map(|target| (*target).clone())
            .collect();
        if circle.len() > 1 {
            circles.insert(circle);
        }
    }
    circles.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<SourceFile> = files
            .iter()
            .map(|(path, text)| SourceFile::parse(format!("crates/{path}").into(), text).unwrap())
            .collect();
        find(&sources).into_iter().map(|(circle, _)| circle).collect()
    }

    #[test]
    fn siblings_that_name_each_other_are_a_cycle() {
        let a = ("x/src/a.rs", "use crate::b::B; pub struct A;");
        assert_eq!(found(&[("x/src/lib.rs", ""), a, ("x/src/b.rs", "pub struct B(super::a::A);")]), ["x: a, b"]);
        assert!(found(&[("x/src/lib.rs", ""), a, ("x/src/b.rs", "pub struct B;")]).is_empty());
    }

    #[test]
    fn a_cycle_is_reported_with_the_names_that_cause_it() {
        let files = [("crates/x/src/a.rs", "use crate::b::B;"), ("crates/x/src/b.rs", "use crate::a::A;")];
        let sources = files.map(|(path, text)| SourceFile::parse(path.into(), text).unwrap());
        assert_eq!(find(&sources)[0].1, ["a -> b::B", "b -> a::A"]);
    }

    #[test]
    fn a_cycle_through_re_exports_is_found() {
        let root = ("x/src/lib.rs", "mod a; mod b; pub use a::A; pub use b::B;");
        let files = [root, ("x/src/a.rs", "use crate::B;"), ("x/src/b.rs", "use crate::A;")];
        assert_eq!(found(&files), ["x: a, b"]);
    }

    #[test]
    fn parents_children_tests_and_other_crates_are_no_cycles() {
        let files = [
            ("x/src/lib.rs", "mod a; use a::A;"),
            ("x/src/a/mod.rs", "mod b; use b::B; pub struct A;"),
            ("x/src/a/b.rs", "use super::A; use other::thing; pub struct B;"),
            ("x/src/other.rs", "#[cfg(test)] mod tests { use crate::a::A; }"),
        ];
        assert!(found(&files).is_empty(), "{:?}", found(&files));
    }

    #[test]
    fn children_count_for_their_siblings() {
        let files = [
            ("x/src/lib.rs", ""),
            ("x/src/a/mod.rs", ""),
            ("x/src/a/deep.rs", "use crate::b::B;"),
            ("x/src/b.rs", "fn f() { crate::a::deep::g() }"),
        ];
        assert_eq!(found(&files), ["x: a, b"]);
    }
}
