//! `none`: the policy acts and nothing learns.

use super::Algorithm;
use crate::policy::Policy;
use crate::snapshot::SnapshotError;
use crate::value::Value;

/// Leaves its policy as it is.
pub(super) struct Frozen(pub(super) Box<dyn Policy>);

impl Algorithm for Frozen {
    fn policy(&self) -> &dyn Policy {
        &*self.0
    }

    fn policy_mut(&mut self) -> &mut dyn Policy {
        &mut *self.0
    }

    fn snapshot(&self) -> Result<Value, SnapshotError> {
        Ok(Value::Null)
    }

    fn restore(&mut self, _: &Value) -> Result<(), SnapshotError> {
        Ok(())
    }
}
