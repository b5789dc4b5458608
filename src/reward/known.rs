//! What of a step is known: everything while it happens, and what was recorded afterwards.

/// A part of a step that a record of it may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepField {
    /// What the action answered.
    Observation,
    /// The action.
    Action,
    /// What followed.
    NextObservation,
    /// The environment's own reward.
    EnvReward,
    /// The task ended.
    Terminated,
    /// A limit ended the episode.
    Truncated,
    /// What else the environment reported.
    Info,
    /// The time.
    ObservedAt,
}

impl StepField {
    /// Every field.
    pub const ALL: [Self; 8] = [
        Self::Observation,
        Self::Action,
        Self::NextObservation,
        Self::EnvReward,
        Self::Terminated,
        Self::Truncated,
        Self::Info,
        Self::ObservedAt,
    ];

    /// The name that terms and rows have for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Observation => "observation",
            Self::Action => "action",
            Self::NextObservation => "next_observation",
            Self::EnvReward => "env_reward",
            Self::Terminated => "terminated",
            Self::Truncated => "truncated",
            Self::Info => "info",
            Self::ObservedAt => "observed_at",
        }
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// The fields of a step that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known(u8);

impl Known {
    /// Everything, as in a run.
    pub const ALL: Self = Self(u8::MAX);
    /// Nothing but the step's number and its regime.
    pub const NONE: Self = Self(0);

    /// The same with `field`.
    #[must_use]
    pub fn with(self, field: StepField) -> Self {
        Self(self.0 | field.bit())
    }

    /// Whether `field` is known.
    #[must_use]
    pub fn has(self, field: StepField) -> bool {
        self.0 & field.bit() != 0
    }

    /// Asks for `field`.
    ///
    /// # Errors
    /// One line, when it is not known.
    pub fn need(self, field: StepField) -> Result<(), String> {
        if self.has(field) {
            return Ok(());
        }
        let name = field.name();
        Err(match field {
            StepField::Info => "the row does not hold `info`, which no trace records".to_owned(),
            StepField::Action | StepField::ObservedAt => format!("the row does not hold `{name}`: it is null there"),
            _ => format!("the row does not hold `{name}`; name it in the experiment's `trace.record`"),
        })
    }
}

impl Default for Known {
    fn default() -> Self {
        Self::ALL
    }
}
