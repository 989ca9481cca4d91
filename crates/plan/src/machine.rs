//! The machine of a plan: named by the need, or chosen by its requirements.

use volume::catalogue::{BURSTABLE, MachinePrice, MachineType, PriceTerm};

/// Requirements on the machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MachineNeed {
    /// Machine type, by its provider's name.
    pub name: Option<String>,
    /// Least number of processors.
    pub vcpus: Option<u32>,
    /// Least memory.
    pub memory_bytes: Option<u64>,
    /// One of [`volume::catalogue::MACHINE_ARCHS`].
    pub arch: Option<String>,
    /// One of [`volume::catalogue::MACHINE_FAMILIES`].
    pub family: Option<String>,
    /// For how long it is rented.
    pub term: PriceTerm,
}

impl MachineNeed {
    /// Reports whether the plan chooses a machine: it has requirements, but no name.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        let has_requirements =
            self.vcpus.is_some() || self.memory_bytes.is_some() || self.arch.is_some() || self.family.is_some();
        self.name.is_none() && has_requirements
    }

    /// Reports whether a machine meets the requirements; what is not known of it does not.
    pub(crate) fn is_met_by(&self, machine: &MachineType) -> bool {
        let is_of = |wanted: &Option<String>, known: &Option<String>| wanted.is_none() || wanted == known;
        self.vcpus.is_none_or(|vcpus| machine.vcpus >= vcpus)
            && self.memory_bytes.is_none_or(|least| machine.memory_bytes.is_some_and(|bytes| bytes >= least))
            && is_of(&self.arch, &machine.arch)
            && is_of(&self.family, &machine.family)
            && (self.family.is_some() || machine.family.as_deref() != Some(BURSTABLE))
    }
}

/// Machine of a candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedMachine {
    /// Facts of its type; of one that the catalogue does not list, the name alone.
    pub kind: MachineType,
    /// Price of one machine; `None` if unknown.
    pub price: Option<MachinePrice>,
    /// Whether the plan chose it.
    pub is_chosen: bool,
}

/// Returns the provider of a volume: `aws` of `aws/gp3`; of one in a file, the file.
pub(crate) fn provider(volume: &str) -> &str {
    let name = volume.split(',').next().unwrap_or_default();
    let file = name.split('#').next().unwrap_or_default();
    if volume::catalogue::file(file).is_some() { file } else { name.split(['/', '@']).next().unwrap_or_default() }
}
