//! Names of processes.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// Maximum number of processes: the last index stands for all further ones.
const PROCESSES_MAX: usize = 65_535;

/// Length of the name of a process in events, in bytes.
pub(crate) const COMM_BYTES: usize = 16;

/// Processes by the order in which they were first seen.
#[derive(Debug, Default)]
pub(crate) struct ProcessNames {
    indices: HashMap<(u32, [u8; COMM_BYTES]), u16, RandomState>,
    last: Option<((u32, [u8; COMM_BYTES]), u16)>,
    names: Vec<String>,
    ids: Vec<u32>,
}

impl ProcessNames {
    /// Returns the index of a process by its thread ID and its name, which ends at a zero.
    #[inline]
    pub(crate) fn index(&mut self, id: u32, comm: [u8; COMM_BYTES]) -> u16 {
        let key = (id, comm);
        match self.last {
            Some((last, index)) if last == key => index,
            _ => {
                let index = self.find(key);
                self.last = Some((key, index));
                index
            }
        }
    }

    fn find(&mut self, key: (u32, [u8; COMM_BYTES])) -> u16 {
        if let Some(index) = self.indices.get(&key) {
            return *index;
        }
        let index = self.names.len().min(PROCESSES_MAX) as u16;
        if self.names.len() < PROCESSES_MAX {
            let length = key.1.iter().position(|byte| *byte == 0).unwrap_or(COMM_BYTES);
            self.names.push(format!("{}/{}", String::from_utf8_lossy(&key.1[..length]), key.0));
            self.ids.push(key.0);
            self.indices.insert(key, index);
        } else if self.names.len() == PROCESSES_MAX {
            self.names.push("other processes".to_owned());
            self.ids.push(0);
        }
        index
    }

    /// Returns all names, such as `postgres/4711`.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns all thread IDs.
    pub(crate) fn ids(&self) -> &[u32] {
        &self.ids
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_beyond_the_limit_share_the_last_index() {
        let mut names = ProcessNames::default();
        assert_eq!(names.index(7, *b"postgres\0\0garbag"), 0);
        assert_eq!(names.index(7, *b"0123456789abcdef"), 1);
        assert_eq!(names.index(7, *b"postgres\0\0garbag"), 0);
        for id in 0..70_000 {
            names.index(id, [b'x'; COMM_BYTES]);
        }
        assert_eq!((names.names().len(), names.ids().len()), (65_536, 65_536));
        assert_eq!(names.names()[..2], ["postgres/7", "0123456789abcdef/7"]);
        assert_eq!(names.names()[65_535], "other processes");
        assert_eq!(names.index(123_456, [b'x'; COMM_BYTES]), 65_535);
    }
}
