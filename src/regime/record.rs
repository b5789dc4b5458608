//! A regime provider as plain data: `{provider, params}`, and `lua` for a scripted one. The
//! manifest's `regime` and a configuration's `regime` have this one shape.

use super::RegimeRecord;
use crate::text::decode::{Field, Mistakes, decode};
use crate::value::{Map, Value};

impl RegimeRecord {
    /// The provider under which the world never shifts and rows are unlabelled.
    #[must_use]
    pub fn constant() -> Self {
        Self { provider: "constant".to_owned(), params: Map::new(), lua: None }
    }

    /// The provider as plain data.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut map = Map::from_iter([
            ("provider".to_owned(), Value::from(self.provider.as_str())),
            ("params".to_owned(), Value::Map(self.params.clone())),
        ]);
        if let Some(lua) = &self.lua {
            map.insert("lua".to_owned(), lua.clone());
        }
        Value::Map(map)
    }

    /// The provider that `value` records. Unknown keys are tolerated.
    ///
    /// # Errors
    /// Every mistake, with its path.
    pub fn from_value(value: &Value) -> Result<Self, Mistakes> {
        decode(value, Self::read)
    }

    /// The provider at `field`; `None` after noting what is wrong.
    #[must_use]
    pub(crate) fn read(field: &Field<'_>) -> Option<Self> {
        let field = field.clone().section()?;
        let provider = field.require("provider", "a provider's name").and_then(|provider| provider.text());
        let params = field.get("params").map_or_else(|| Some(Map::new()), |params| params.map());
        let lua = field.get("lua").map(|lua| lua.map());
        let lua = match lua {
            Some(lua) => Some(Value::Map(lua?)),
            None => None,
        };
        Some(Self { provider: provider?, params: params?, lua })
    }
}
