//! Several processes using one store. These tests are a separate program: between fork and exec, a child holds copies
//! of all locks of the other tests in its program, and the store then postpones writing its index.

use record::RunKind;
use std::process::{Command, Stdio};
use store::{Filter, RunStore};

use crate::common::{add, sample};

fn ids(store: &RunStore, filter: &Filter) -> Vec<String> {
    let listing = store.list(filter).unwrap();
    assert!(listing.skipped.is_empty(), "{:?}", listing.skipped);
    listing.entries.into_iter().map(|entry| entry.id).collect()
}

/// A process started by the test below.
#[test]
fn one_of_many_processes() {
    let Some(root) = std::env::var_os("STORE_TEST_SHARED") else { return };
    let store = RunStore::open(root).unwrap();
    for _ in 0..50 {
        add(&store, RunKind::Run, "shared", &sample(0)).unwrap();
    }
}

#[test]
fn many_processes_add_at_once() {
    let home = tempfile::tempdir().unwrap();
    let mut children: Vec<_> = (0..8)
        .map(|_| {
            let mut child = Command::new(std::env::current_exe().unwrap());
            child.args(["--exact", "processes::one_of_many_processes"]).stdout(Stdio::null());
            child.env("STORE_TEST_SHARED", home.path()).spawn().unwrap()
        })
        .collect();
    let store = RunStore::open(home.path()).unwrap();
    let mut seen = 0;
    while children.iter_mut().any(|child| child.try_wait().unwrap().is_none()) {
        let listed = ids(&store, &Filter::default()).len();
        assert!(listed >= seen, "{listed} after {seen}");
        seen = listed;
    }
    assert!(children.iter_mut().all(|child| child.wait().unwrap().success()));
    assert_eq!(ids(&store, &Filter::default()).len(), 400);
    assert_eq!(ids(&store, &Filter::default()).len(), 400, "from the index");
}
