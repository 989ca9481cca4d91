//! Permission to write and delete objects of a store.

use std::path::Path;

use super::WriteGate;
use super::objection::{Denied, Objection, WriteRefusal};
use crate::opening::ObjectPermit;

impl WriteGate {
    /// Requests permission to write and delete the objects whose names begin with `url`. What they hold is not examined,
    /// because a store may neither list nor show them: unless content does not matter, the user must name them.
    ///
    /// # Errors
    /// Fails if the user has not permitted it.
    pub fn admit_objects(&self, url: &str) -> Result<ObjectPermit, Denied> {
        let permissions = &self.permissions;
        if permissions.any_content || permissions.destroy.iter().any(|path| path.as_os_str() == url) {
            return Ok(ObjectPermit::new(url));
        }
        Err(Denied::Refused(WriteRefusal::new(Path::new(url), vec![Objection::Objects])))
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::gate::Permissions;

    #[test]
    fn objects_are_written_only_under_the_url_that_the_user_names() {
        let url = "http://store:9000/bucket/a";
        let gate = WriteGate::new(Permissions::default(), None);
        let refused = units::Problem::from(gate.admit_objects(url).unwrap_err()).to_string();
        assert!(refused.contains("--allow-destroy=http://store:9000/bucket/a"), "{refused}");
        let destroy = vec![PathBuf::from(url)];
        let gate = WriteGate::new(Permissions { destroy, ..Permissions::default() }, None);
        let permit = gate.admit_objects(url).unwrap();
        assert!(permit.covers(url) && !permit.covers("http://store:9000/bucket/b"));
        for other in ["http://store:9000/bucket/ab", "http://store:9000/bucket", "https://store:9000/bucket/a"] {
            assert!(gate.admit_objects(other).is_err(), "{other}");
        }
        let destroy = vec![PathBuf::from("http://store:9000/bucket//a")];
        let gate = WriteGate::new(Permissions { destroy, ..Permissions::default() }, None);
        assert!(gate.admit_objects(url).is_err(), "a path is compared as text");
        assert!(WriteGate::of_any_content().admit_objects(url).is_ok());
    }
}
