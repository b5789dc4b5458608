//! Points that the oracle evaluated a step with, kept for audits.

use super::RecordError;
use crate::rollouts::datum::{Datum, Fields, flattened, floats, items, mistake};

/// A point in world coordinates, in metres.
pub type Point = [f32; 3];

/// The oracle's crops of one step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TargetEval {
    /// The crop before the step.
    pub current_points_world: Option<Vec<Point>>,
    /// The crop after each valid candidate, in the order of the valid ones; empty for none.
    pub candidate_points_world: Vec<Vec<Point>>,
    /// How points were chosen.
    pub crop_policy: Option<String>,
    /// The voxels' side in metres.
    pub voxel_size_m: Option<f32>,
    /// The most points that were kept as evidence.
    pub max_points: Option<i32>,
}

impl TargetEval {
    /// Reads the crops of a step with `valid` valid candidates.
    pub(super) fn read(datum: &Datum, path: &str, valid: usize) -> Result<Self, RecordError> {
        const KEYS: [&str; 6] = [
            "current_points_world",
            "candidate_points_world",
            "candidate_point_lengths",
            "crop_policy",
            "voxel_size_m",
            "max_points",
        ];
        let fields = Fields::of(datum, path, &KEYS)?;
        let lengths = fields.integers::<usize>("candidate_point_lengths")?;
        let candidate_points_world = match (fields.get("candidate_points_world"), lengths) {
            (None, None) => Vec::new(),
            (None, Some(_)) => {
                return mistake(fields.at("candidate_points_world"), "is missing, but lengths are given");
            }
            (Some(_), None) => return mistake(fields.at("candidate_point_lengths"), "is missing"),
            (Some(datum), Some(lengths)) => {
                let clouds = clouds(datum, &fields.at("candidate_points_world"))?;
                for (name, count) in
                    [("candidate_points_world", clouds.len()), ("candidate_point_lengths", lengths.len())]
                {
                    if count != valid {
                        let message = format!("must have one entry a valid candidate ({valid}), got {count}");
                        return mistake(fields.at(name), message);
                    }
                }
                let mut kept = Vec::with_capacity(valid);
                for (index, (mut cloud, length)) in clouds.into_iter().zip(lengths).enumerate() {
                    if length > cloud.len() {
                        let place = format!("{}[{index}]", fields.at("candidate_point_lengths"));
                        return mistake(place, format!("is {length}, but there are {} points", cloud.len()));
                    }
                    cloud.truncate(length);
                    kept.push(cloud);
                }
                kept
            }
        };
        Ok(Self {
            current_points_world: fields.rows("current_points_world")?,
            candidate_points_world,
            crop_policy: fields.text("crop_policy")?,
            voxel_size_m: fields.float("voxel_size_m")?,
            max_points: fields.integer("max_points")?,
        })
    }
}

/// An array of shape [V, P, 3], or a list of V lists of points.
fn clouds(datum: &Datum, path: &str) -> Result<Vec<Vec<Point>>, RecordError> {
    let Datum::Array(array) = datum else {
        let clouds = items(datum, path)?;
        let each = clouds.iter().enumerate().map(|(index, cloud)| {
            let place = format!("{path}[{index}]");
            let fields = indexmap::IndexMap::from([("points".to_owned(), cloud.clone())]);
            let points = Fields::of(&Datum::Map(fields), &place, &["points"])?.rows("points")?;
            Ok(points.unwrap_or_default())
        });
        return each.collect();
    };
    let [_, points, 3] = array.shape() else {
        return mistake(path, format!("must be of shape [V, P, 3], got {:?}", array.shape()));
    };
    let numbers = floats(&Datum::Array(flattened(array)), path)?;
    let points: Vec<Vec<Point>> = match points.checked_mul(3) {
        Some(cloud) if cloud > 0 => numbers.chunks_exact(cloud).map(|cloud| cloud.as_chunks().0.to_vec()).collect(),
        _ => vec![Vec::new(); array.shape().first().copied().unwrap_or(0)],
    };
    Ok(points)
}
