//! The flags of `skyfall eval`. What their values mean is checked by
//! [`Settings::set`](crate::eval::Settings::set), which Lua's option table goes through too.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::eval::output::Format;
use crate::value::Value;

#[derive(Args, Debug)]
pub(in crate::cli) struct EvalArguments {
    /// Trace files, directories of them, or `-` for standard input
    #[arg(required_unless_present_any = ["schema", "traces"], value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The same, by name
    #[arg(long, num_args = 1.., value_name = "PATH")]
    traces: Vec<PathBuf>,
    /// Served traces of the runs' bundles: performance with learning switched off
    #[arg(long, num_args = 1.., value_name = "PATH")]
    pub(in crate::cli) frozen: Vec<PathBuf>,
    /// Runs from scratch: each regime's first encounter is its baseline
    #[arg(long, num_args = 1.., value_name = "PATH")]
    pub(in crate::cli) baseline: Vec<PathBuf>,
    /// A Lua file that returns a list of metrics of your own (eval.metric), reported beside the others
    #[arg(long, value_name = "FILE.lua")]
    pub(in crate::cli) metrics: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) options: OptionArguments,
    /// How to print the report [default: by FILE's ending, else text]
    #[arg(long, value_parser = formats(), value_name = "FORMAT")]
    pub(in crate::cli) format: Option<Format>,
    /// Print JSON, as with --format json
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Write the report to FILE, or a CSV report to a directory
    #[arg(short, long = "out", alias = "output", value_name = "FILE")]
    pub(in crate::cli) output: Option<PathBuf>,
    /// Also write every figure to DIR, as SVG and as PNG
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) plots: Option<PathBuf>,
    /// Leave the figures out of an HTML report
    #[arg(long)]
    pub(in crate::cli) no_plots: bool,
    /// Only say what is odd about the traces; fails when rows are lost
    #[arg(long)]
    pub(in crate::cli) check: bool,
    /// Print the JSON schema of `--format json`
    #[arg(long)]
    pub(in crate::cli) schema: bool,
}

impl EvalArguments {
    /// What is to be read.
    pub(in crate::cli) fn traces(&self) -> Vec<PathBuf> {
        self.paths.iter().chain(&self.traces).cloned().collect()
    }
}

/// The flags that are settings of the evaluation.
#[derive(Args, Debug)]
pub(in crate::cli) struct OptionArguments {
    /// The window at an encounter's entry and exit: rows, or a share of its rows [default: 10%]
    #[arg(long, value_name = "N|P%", help_heading = "What is measured")]
    window: Option<String>,
    /// The share of the way back that counts as recovered [default: 0.95]
    #[arg(long, value_name = "SHARE", help_heading = "What is measured")]
    recover: Option<String>,
    /// The share of an encounter's gain that counts as adapted [default: 0.9]
    #[arg(long, value_name = "SHARE", help_heading = "What is measured")]
    adapt: Option<String>,
    /// Time how many rows each encounter takes to reach a mean reward of X
    #[arg(long, value_name = "X", allow_hyphen_values = true, help_heading = "What is measured")]
    threshold: Option<String>,
    /// What regret is measured against: each run's best exit level under the regime, that of the
    /// set of runs, or a JSON file of levels by regime [default: set]
    #[arg(long, value_name = "run|set|FILE", help_heading = "What is measured")]
    regret_ref: Option<String>,
    /// A JSON file {"regime": {"min": 0, "max": 1}} for normalised metrics
    #[arg(long, value_name = "FILE", help_heading = "What is measured")]
    bounds: Option<String>,
    /// Report this metric (repeatable) [default: all]
    #[arg(long, value_name = "NAME", num_args = 1.., help_heading = "What is measured")]
    metric: Vec<String>,
    /// Leave out rows before this step
    #[arg(long, value_name = "STEP", allow_hyphen_values = true, help_heading = "Which rows count")]
    from_step: Option<String>,
    /// Leave out rows from this step on
    #[arg(long, value_name = "STEP", allow_hyphen_values = true, help_heading = "Which rows count")]
    until_step: Option<String>,
    /// Leave out this fraction of each run's rows, at its start
    #[arg(long, value_name = "FRACTION", help_heading = "Which rows count")]
    from_frac: Option<String>,
    /// Leave out each run's rows after this fraction of them
    #[arg(long, value_name = "FRACTION", help_heading = "Which rows count")]
    until_frac: Option<String>,
    /// Count rows under this regime only (repeatable)
    #[arg(long, value_name = "LABEL", num_args = 1.., help_heading = "Which rows count")]
    regime: Vec<String>,
    /// Leave out rows without a regime
    #[arg(long, help_heading = "Which rows count")]
    skip_null: bool,
    /// Which of several rows with one step count: all, last, first, or error [default: all]
    #[arg(long, value_name = "WHICH", help_heading = "Which rows count")]
    on_duplicate: Option<String>,
    /// What a step that goes back means: keep all rows, or supersede earlier ones [default: keep]
    #[arg(long, alias = "resume", value_name = "keep|supersede", help_heading = "Which rows count")]
    on_restart: Option<String>,
    /// Stop where rows or values would be lost
    #[arg(long, help_heading = "Which rows count")]
    strict: bool,
    /// What the runs of a group have in common [default: policy_id,task,algorithm_id, and a sweep's axes but for seeds]
    #[arg(long, value_name = "KEY,...", help_heading = "Across runs")]
    group_by: Option<String>,
    /// The share of resamples that an interval holds [default: 0.95]
    #[arg(long, value_name = "SHARE", help_heading = "Across runs")]
    ci: Option<String>,
    /// How many resamples an interval is made from [default: 2000]
    #[arg(long, value_name = "N", help_heading = "Across runs")]
    reps: Option<String>,
    /// The seed they are drawn with [default: 0]
    #[arg(long, value_name = "N", help_heading = "Across runs")]
    ci_seed: Option<String>,
    /// Compare two groups: their labels, or the value of a key that only one of them has
    #[arg(long, num_args = 2, value_names = ["A", "B"], help_heading = "Across runs")]
    compare: Vec<String>,
    /// Fail where this holds of a group's mean, such as 'forgetting>0.1' (repeatable)
    #[arg(long, value_name = "CONDITION", help_heading = "Across runs")]
    fail_if: Vec<String>,
}

impl OptionArguments {
    /// The flags that were given, by name.
    pub(in crate::cli) fn values(&self) -> Vec<(&'static str, Value)> {
        let one = [
            ("window", &self.window),
            ("recover", &self.recover),
            ("adapt", &self.adapt),
            ("threshold", &self.threshold),
            ("regret-ref", &self.regret_ref),
            ("bounds", &self.bounds),
            ("from-step", &self.from_step),
            ("until-step", &self.until_step),
            ("from-frac", &self.from_frac),
            ("until-frac", &self.until_frac),
            ("on-duplicate", &self.on_duplicate),
            ("on-restart", &self.on_restart),
            ("group-by", &self.group_by),
            ("ci", &self.ci),
            ("reps", &self.reps),
            ("ci-seed", &self.ci_seed),
        ];
        let many = [
            ("metric", &self.metric),
            ("regime", &self.regime),
            ("compare", &self.compare),
            ("fail-if", &self.fail_if),
        ];
        let flags = [("skip-null", self.skip_null), ("strict", self.strict)];
        let one = one.into_iter().filter_map(|(name, value)| Some((name, Value::Text(value.clone()?))));
        let list = |texts: &Vec<String>| Value::List(texts.iter().map(|text| text.as_str().into()).collect());
        let many = many.into_iter().filter(|(_, texts)| !texts.is_empty()).map(|(name, texts)| (name, list(texts)));
        let flags = flags.into_iter().filter(|(_, given)| *given).map(|(name, given)| (name, given.into()));
        one.chain(many).chain(flags).collect()
    }
}

/// The formats by name.
fn formats() -> impl TypedValueParser<Value = Format> {
    let named = |name: String| Format::ALL.into_iter().find(|format| format.name() == name).unwrap_or(Format::Text);
    PossibleValuesParser::new(Format::ALL.map(Format::name)).map(named)
}
