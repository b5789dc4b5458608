//! The table of metrics: one entry a metric, in the order reports show them.

use super::{Direction, Metric};
use super::{adaptation, baseline, counts, frozen, level, rank, revisit, reward, time};

macro_rules! table {
    ($($name:literal, $unit:literal, $direction:ident, $compute:path, $about:literal;)+) => {
        &[$(Metric {
            name: $name,
            unit: $unit,
            direction: Direction::$direction,
            about: $about,
            compute: $compute,
        }),+]
    };
}

/// Every metric, in the order reports show them.
pub const TABLE: &[Metric] = table! {
    "n_steps", "count", Neutral, counts::n_steps,
        "Rows of the run.";
    "n_segments", "count", Neutral, counts::n_segments,
        "Stretches of rows with one regime label.";
    "n_encounters", "count", Neutral, counts::n_encounters,
        "Stretches of rows with one canonical regime.";
    "n_shifts", "count", Neutral, counts::n_shifts,
        "Changes from one encounter to the next.";
    "n_regimes", "count", Neutral, counts::n_regimes,
        "Different canonical regimes; unlabelled rows are none.";
    "n_nonfinite", "count", Neutral, counts::n_nonfinite,
        "Rows whose reward is not a finite number; no other metric counts their reward.";
    "mean_reward", "reward", Higher, reward::mean_reward,
        "Mean reward of a step.";
    "total_reward", "reward", Higher, reward::total_reward,
        "Sum of all rewards.";
    "macro_reward", "reward", Higher, reward::macro_reward,
        "Mean over regimes of the mean reward under each, whatever its share of the rows.";
    "final_performance", "reward", Higher, reward::final_performance,
        "Mean over regimes of the exit level of the last encounter with each; a proxy for average performance.";
    "forgetting", "reward", Lower, revisit::forgetting,
        "Mean over revisits of the exit level of the visit before less the revisit's entry level.";
    "forgetting_macro", "reward", Lower, revisit::forgetting_macro,
        "Forgetting averaged within each regime first, then over regimes.";
    "bwt", "reward", Higher, revisit::bwt,
        "Backward transfer in its revisit form: minus forgetting.";
    "rem", "ratio", Higher, revisit::rem,
        "Remembering: 1 less the negative part of normalised backward transfer; needs reward bounds.";
    "bwt_plus", "reward", Higher, revisit::bwt_plus,
        "The positive part of backward transfer.";
    "forgetting_max", "reward", Lower, revisit::forgetting_max,
        "Mean over revisits of the best earlier exit level less the revisit's entry level.";
    "forgetting_norm", "ratio", Lower, revisit::forgetting_norm,
        "Forgetting as a share of the regime's range of rewards: the bounds given, else over all runs.";
    "retention", "ratio", Higher, revisit::retention,
        "Mean over revisits of entry level over the exit level before, where both are positive.";
    "recovery_rows", "rows", Lower, adaptation::recovery_rows,
        "Median over revisits of the rows until 95 % (recover) of the way back to the level before.";
    "recovery_trend", "rows/visit", Higher, adaptation::recovery_trend,
        "Rows by which each revisit of a regime recovers faster than the one before.";
    "jumpstart", "reward", Higher, revisit::jumpstart,
        "Mean over revisits of the entry level less that of the regime's first encounter.";
    "asymptote_gain", "reward", Higher, revisit::asymptote_gain,
        "Mean over revisits of the exit level less that of the visit before.";
    "jumpstart_baseline", "reward", Higher, baseline::jumpstart_baseline,
        "Mean over regimes of the first encounter's entry level less that of learning from scratch.";
    "shift_drop", "reward", Lower, adaptation::shift_drop,
        "Mean over shifts of the exit level before less the entry level after; mixes the scales of regimes.";
    "adaptation_rows", "rows", Lower, adaptation::adaptation_rows,
        "Mean over encounters after the first of the rows until 90 % (adapt) of the encounter's gain.";
    "time_to_threshold", "rows", Lower, adaptation::time_to_threshold,
        "Median over encounters of the rows until the trailing mean reaches the threshold asked for.";
    "stability_gap", "reward", Lower, adaptation::stability_gap,
        "Mean over revisits of the exit level before less the lowest trailing mean early in the revisit.";
    "worst_regime", "reward", Higher, level::worst_regime,
        "Least mean reward under any regime.";
    "worst_window", "reward", Higher, level::worst_window,
        "Least trailing mean within any encounter.";
    "cvar05", "reward", Higher, level::cvar05,
        "Mean of the lowest 5 % of rewards.";
    "max_drawdown", "reward", Lower, level::max_drawdown,
        "Greatest fall of the trailing mean within one encounter.";
    "max_rise", "reward", Higher, level::max_rise,
        "Greatest rise of the trailing mean within one encounter.";
    "empirical_regret", "reward x rows", Lower, level::empirical_regret,
        "Sum over labelled rows of the regime's reference level less the reward; may be negative.";
    "empirical_regret_per_step", "reward", Lower, level::empirical_regret_per_step,
        "Empirical regret of a labelled row.";
    "auc_diff", "reward", Higher, baseline::auc_diff,
        "Mean over regimes of the first encounter's mean reward less that of learning from scratch.";
    "ft_norm", "ratio", Higher, baseline::ft_norm,
        "Forward transfer: that difference as a share of what learning from scratch left to gain; needs bounds.";
    "transfer_ratio", "ratio", Higher, baseline::transfer_ratio,
        "That difference as a share of the mean reward of learning from scratch.";
    "rel_perf", "ratio", Higher, baseline::rel_perf,
        "The first encounter's reward as a multiple of that of learning from scratch.";
    "sample_eff", "ratio", Higher, baseline::sample_eff,
        "How much higher and sooner the first encounter saturates than learning from scratch.";
    "plasticity_exit_slope", "reward/regime", Higher, adaptation::plasticity_exit_slope,
        "Theil-Sen slope of the exit levels of first encounters in order; regimes differ in difficulty.";
    "plasticity_adapt_slope", "rows/regime", Lower, adaptation::plasticity_adapt_slope,
        "Theil-Sen slope of the adaptation rows of first encounters in order; regimes differ in difficulty.";
    "erank_first", "rank", Higher, rank::first,
        "Mean of the first tenth of the measured effective ranks.";
    "erank_last", "rank", Higher, rank::last,
        "Mean of the last tenth of the measured effective ranks.";
    "erank_change", "ratio", Higher, rank::change,
        "Last effective rank over the first, less one.";
    "erank_slope", "rank/step", Higher, rank::slope,
        "Theil-Sen slope of the measured effective ranks against the step.";
    "erank_coverage", "ratio", Neutral, rank::coverage,
        "Share of rows with a measured effective rank.";
    "invalid_action_rate", "ratio", Lower, reward::invalid_action_rate,
        "Share of rows whose action the environment refused.";
    "residual_max", "reward", Lower, reward::residual_max,
        "Greatest difference between a reward and the sum of its components.";
    "residual_frac", "ratio", Lower, reward::residual_frac,
        "Share of rows whose components do not add up to the reward.";
    "average_performance", "reward", Higher, frozen::average_performance,
        "Mean over regimes of the final policy's mean reward with learning switched off.";
    "forgetting_frozen", "reward", Lower, frozen::forgetting_frozen,
        "Mean over regimes but the last of the last exit level in training less the frozen policy's mean reward.";
    "bwt_frozen", "reward", Higher, frozen::bwt_frozen,
        "Mean over regimes of frozen performance at the end less that right after the regime was learned.";
    "isolated_forgetting", "ratio", Lower, frozen::isolated_forgetting,
        "Mean fall of frozen performance from a checkpoint to the next, after the regime was learned.";
    "zero_shot_transfer", "ratio", Higher, frozen::zero_shot_transfer,
        "Mean rise of frozen performance from a checkpoint to the next, before the regime is met.";
    "span_s", "s", Neutral, time::span_s,
        "Seconds from the earliest to the latest observation.";
    "steps_per_s", "1/s", Neutral, time::steps_per_s,
        "Steps a second over that span.";
};
