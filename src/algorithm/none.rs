//! `none`: the policy acts and nothing learns.

use super::Algorithm;
use crate::policy::Policy;

/// Leaves its policy as it is.
pub(super) struct Frozen(pub(super) Box<dyn Policy>);

impl Algorithm for Frozen {
    fn policy(&self) -> &dyn Policy {
        &*self.0
    }

    fn policy_mut(&mut self) -> &mut dyn Policy {
        &mut *self.0
    }
}
