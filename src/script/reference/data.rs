//! The reference as plain data, for programs.

use super::{Entry, Kind, Module, Named, Part};
use crate::value::Value;

impl Named<'_> {
    /// As plain data.
    #[must_use]
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::Module(module) => module.to_value(),
            Self::Entry(entry) => entry.to_value(),
            Self::Part(class, part) => {
                let Value::Map(mut map) = part.to_value() else { return Value::Null };
                map.shift_insert(0, "class".to_owned(), (*class).into());
                Value::Map(map)
            }
        }
    }
}

impl Module {
    /// As plain data, with everything it has.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let entries: Vec<Value> = self.entries.iter().map(Entry::to_value).collect();
        Value::map([
            ("name", self.name.as_str().into()),
            ("doc", self.doc.as_str().into()),
            ("entries", entries.into()),
        ])
    }
}

impl Entry {
    /// As plain data.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let kind = match self.kind {
            Kind::Function => "function",
            Kind::Class(_) => "class",
            Kind::Alias(_) => "alias",
        };
        let returns: Vec<Value> = self.returns.iter().map(|text| text.as_str().into()).collect();
        Value::map([
            ("name", self.name.as_str().into()),
            ("kind", kind.into()),
            ("signature", self.signature().into()),
            ("doc", self.doc.as_str().into()),
            ("parts", self.parts.iter().map(Part::to_value).collect::<Vec<_>>().into()),
            ("returns", returns.into()),
        ])
    }
}

impl Part {
    fn to_value(&self) -> Value {
        Value::map([
            ("name", self.name.as_str().into()),
            ("type", self.kind.as_str().into()),
            ("doc", self.doc.as_str().into()),
        ])
    }
}
