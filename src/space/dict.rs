//! `Dict`: named spaces in an order.

use indexmap::IndexMap;

use super::Space;

/// Named spaces; their order decides what is sampled, so equal ones agree in it.
#[derive(Clone, Debug, Default)]
pub struct DictSpace {
    spaces: IndexMap<String, Space>,
}

impl DictSpace {
    /// The spaces by name, in order.
    #[must_use]
    pub fn spaces(&self) -> &IndexMap<String, Space> {
        &self.spaces
    }

    /// Appends a named space, unless there is one of that name.
    pub(super) fn insert(&mut self, (name, space): (String, Space)) -> bool {
        let free = !self.spaces.contains_key(&name);
        if free {
            self.spaces.insert(name, space);
        }
        free
    }
}

impl PartialEq for DictSpace {
    fn eq(&self, other: &Self) -> bool {
        self.spaces.as_slice() == other.spaces.as_slice()
    }
}

impl From<IndexMap<String, Space>> for DictSpace {
    fn from(spaces: IndexMap<String, Space>) -> Self {
        Self { spaces }
    }
}

impl FromIterator<(String, Space)> for DictSpace {
    fn from_iter<I: IntoIterator<Item = (String, Space)>>(spaces: I) -> Self {
        Self { spaces: spaces.into_iter().collect() }
    }
}
