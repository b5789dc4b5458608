//! Counts as plain data, for JSON.

use super::{RegimeStats, RunStats, Segment, TraceStats};
use crate::trace::columns::Warning;
use crate::trace::tally::Tally;
use crate::value::{Map, Value};

fn count(count: u64) -> Value {
    i64::try_from(count).unwrap_or(i64::MAX).into()
}

fn texts(texts: &[String]) -> Value {
    texts.iter().map(|text| text.as_str().into()).collect::<Vec<Value>>().into()
}

impl Tally {
    /// As plain data: `n`, `mean`, `min`, `max`.
    #[must_use]
    pub(crate) fn to_value(self) -> Value {
        let (least, greatest) = self.range().unzip();
        Value::map([
            ("n", count(self.count())),
            ("mean", self.mean().into()),
            ("min", least.into()),
            ("max", greatest.into()),
        ])
    }
}

impl TraceStats {
    /// As plain data, for JSON.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let inputs = self.inputs.iter().map(|input| {
            Value::map([
                ("path", input.path.as_str().into()),
                ("bytes", count(input.bytes)),
                ("rows", count(input.rows)),
                ("skipped", count(input.skipped)),
            ])
        });
        Value::map([
            ("inputs", inputs.collect::<Vec<_>>().into()),
            ("runs", self.runs.iter().map(RunStats::to_value).collect::<Vec<_>>().into()),
            ("warnings", self.warnings.iter().map(Warning::to_value).collect::<Vec<_>>().into()),
        ])
    }
}

impl RunStats {
    /// As plain data, for JSON.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let identity: Map =
            self.identity.fields.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        let components: Map = self.components.iter().map(|(name, tally)| (name.clone(), tally.to_value())).collect();
        let (first, last) = self.observed_at.clone().unzip();
        Value::map([
            ("identity", identity.into()),
            ("file", self.identity.file.clone().into()),
            ("files", texts(&self.files)),
            ("meta", self.meta.clone().into()),
            ("per_step", texts(&self.per_step)),
            ("rows", count(self.rows)),
            ("first_step", self.steps.0.into()),
            ("last_step", self.steps.1.into()),
            ("reward", self.reward.to_value()),
            ("invalid_actions", count(self.invalid_actions)),
            ("effective_rank", self.effective_rank.to_value()),
            ("observed", count(self.observed)),
            ("first_observed_at", first.into()),
            ("last_observed_at", last.into()),
            ("components", components.into()),
            ("regimes", self.regimes.iter().map(RegimeStats::to_value).collect::<Vec<_>>().into()),
            ("n_segments", count(self.n_segments)),
            ("segments", self.segments.iter().map(|segment| self.segment_value(segment)).collect::<Vec<_>>().into()),
        ])
    }

    fn segment_value(&self, segment: &Segment) -> Value {
        let label = self.regimes.get(segment.regime).and_then(|regime| regime.label.clone());
        Value::map([
            ("regime_id", label.into()),
            ("first_step", segment.steps.0.into()),
            ("last_step", segment.steps.1.into()),
            ("rows", count(segment.rows)),
            ("reward", segment.reward.to_value()),
        ])
    }
}

impl RegimeStats {
    /// As plain data, for JSON.
    #[must_use]
    pub fn to_value(&self) -> Value {
        Value::map([
            ("regime_id", self.label.clone().into()),
            ("regime_origin", self.origin.clone().into()),
            ("segments", count(self.segments)),
            ("rows", count(self.rows)),
            ("reward", self.reward.to_value()),
        ])
    }
}
