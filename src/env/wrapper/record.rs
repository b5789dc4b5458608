//! A wrapper as plain data: `{name, params}`, in a configuration's and in a manifest's `env`.

use super::{Wrapper, registry, set};
use crate::text::decode::{Field, Mistake, Mistakes};
use crate::value::{Map, Value};

/// One wrapper by value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WrapperRecord {
    /// One of [`registry::NAMES`].
    pub name: String,
    /// What it is set to at first; what is not named is neutral.
    pub params: Map,
}

impl WrapperRecord {
    /// The wrapper as plain data; `params` is left out where it is empty.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut map = Map::from_iter([("name".to_owned(), Value::from(self.name.as_str()))]);
        if !self.params.is_empty() {
            map.insert("params".to_owned(), self.params.clone().into());
        }
        Value::Map(map)
    }

    /// A stack of wrappers as plain data.
    #[must_use]
    pub fn list_to_value(wrappers: &[Self]) -> Value {
        Value::List(wrappers.iter().map(Self::to_value).collect())
    }

    /// The wrappers in the list at `field`; `None` after noting what is wrong. Whether there are
    /// such wrappers is left to [`wrap`](super::wrap) or [`WrapperRecord::read_checked_list`].
    #[must_use]
    pub(crate) fn read_list(field: &Field<'_>) -> Option<Vec<Self>> {
        let read: Vec<_> = field.items()?.into_iter().map(Self::read).collect();
        read.into_iter().collect()
    }

    /// As [`WrapperRecord::read_list`], and notes everything that can be known to be wrong without
    /// an environment: names, parameters' names and their values.
    #[must_use]
    pub(crate) fn read_checked_list(field: &Field<'_>) -> Option<Vec<Self>> {
        let read = |field: Field<'_>| {
            let record = Self::read(field.clone())?;
            for mistake in record.build().err().into_iter().flat_map(|mistakes| mistakes.0) {
                field.note_key(&mistake.path, mistake.message);
            }
            Some(record)
        };
        let read: Vec<_> = field.items()?.into_iter().map(read).collect();
        read.into_iter().collect()
    }

    fn read(field: Field<'_>) -> Option<Self> {
        let field = field.section()?;
        let name = field.require("name", "a wrapper's name").and_then(|name| name.text());
        let params = field.get("params").map_or_else(|| Some(Map::new()), |params| params.map());
        Some(Self { name: name?, params: params? })
    }

    /// The wrapper, not yet fitted to an environment.
    ///
    /// # Errors
    /// Every mistake, with its path within the record.
    pub(super) fn build(&self) -> Result<Box<dyn Wrapper>, Mistakes> {
        let Some(mut wrapper) = registry::neutral(&self.name) else {
            let message = registry::unknown(&self.name);
            return Err(Mistakes(vec![Mistake { path: "name".to_owned(), message }]));
        };
        let mistakes = self.params.iter().filter_map(|(name, value)| {
            let message = set(&mut *wrapper, name, value).err()?;
            Some(Mistake { path: format!("params.{name}"), message })
        });
        let mistakes = Mistakes(mistakes.collect());
        if mistakes.0.is_empty() { Ok(wrapper) } else { Err(mistakes) }
    }
}
