//! The depth raster that the selected candidate's view gave.

use half::f16;
use half::slice::HalfFloatSliceExt;

use super::RecordError;
use crate::array::Array;
use crate::rollouts::config::RolloutZarrStoreConfig;
use crate::rollouts::datum::{Datum, Fields, booleans, mistake, raster};

/// What the camera of the selected candidate saw, H rows of W pixels.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectedDepth {
    /// H and W in pixels.
    pub raster_hw: [usize; 2],
    /// Metres along the camera's z axis, H x W; what is not valid counts for nothing.
    pub depth_m: Vec<f16>,
    /// Which pixels hold a depth, H x W.
    pub valid_mask: Vec<bool>,
    /// Focal lengths in pixels, x then y.
    pub focal_px: [f32; 2],
    /// The principal point in pixels, x then y.
    pub principal_point_px: [f32; 2],
    /// Height and width of the image, in pixels; those of the raster unless told otherwise.
    pub image_size_hw: [i32; 2],
}

impl SelectedDepth {
    pub(super) fn read(datum: &Datum, path: &str) -> Result<Self, RecordError> {
        const KEYS: [&str; 5] = ["depth_m", "valid_mask", "focal_px", "principal_point_px", "image_size_hw"];
        let fields = Fields::of(datum, path, &KEYS)?;
        let (raster_hw, depth_m) = raster(fields.required("depth_m")?, &fields.at("depth_m"), halves)?;
        let (mask_hw, valid_mask) = raster(fields.required("valid_mask")?, &fields.at("valid_mask"), booleans)?;
        if mask_hw != raster_hw {
            let message = format!("is of shape {mask_hw:?}, but depth_m is of shape {raster_hw:?}");
            return mistake(fields.at("valid_mask"), message);
        }
        let pair = |name: &str| -> Result<[f32; 2], RecordError> {
            fields.required(name)?;
            Ok(fields.vector(name)?.unwrap_or_default())
        };
        let image_size_hw = match fields.integers::<i32>("image_size_hw")? {
            None => raster_hw.map(|length| i32::try_from(length).unwrap_or(i32::MAX)),
            Some(size) => match <[i32; 2]>::try_from(size) {
                Ok(size) => size,
                Err(size) => {
                    let message = format!("must hold height and width, got {} numbers", size.len());
                    return mistake(fields.at("image_size_hw"), message);
                }
            },
        };
        let (focal_px, principal_point_px) = (pair("focal_px")?, pair("principal_point_px")?);
        Ok(Self { raster_hw, depth_m, valid_mask, focal_px, principal_point_px, image_size_hw })
    }

    /// Checks the raster against the store's size and clip planes.
    pub(in crate::rollouts) fn check(&self, config: &RolloutZarrStoreConfig, path: &str) -> Result<(), RecordError> {
        let [height, width] = self.raster_hw;
        let expected = [config.selected_depth_height_px, config.selected_depth_width_px];
        if [height, width].map(|length| u32::try_from(length).unwrap_or(u32::MAX)) != expected {
            let message =
                format!("is {height} x {width} pixels, but the store holds {} x {}", expected[0], expected[1]);
            return mistake(format!("{path}.depth_m"), message);
        }
        for (name, length) in [("depth_m", self.depth_m.len()), ("valid_mask", self.valid_mask.len())] {
            if length != height * width {
                return mistake(format!("{path}.{name}"), format!("holds {length} pixels, not {height} x {width}"));
            }
        }
        if self.image_size_hw.map(|length| u32::try_from(length).unwrap_or(0)) != expected {
            let message = format!("is {:?}, but the store holds {expected:?}", self.image_size_hw);
            return mistake(format!("{path}.image_size_hw"), message);
        }
        if !self.focal_px.iter().all(|length| length.is_finite() && *length > 0.0) {
            return mistake(format!("{path}.focal_px"), "must be finite and greater than 0");
        }
        if !self.principal_point_px.iter().all(|place| place.is_finite()) {
            return mistake(format!("{path}.principal_point_px"), "must be finite");
        }
        let near = config.selected_depth_znear_m.unwrap_or(f64::NEG_INFINITY);
        let far = config.selected_depth_zfar_m.unwrap_or(f64::INFINITY);
        // Halves that are not negative are in the order of their bits; all others come after.
        let (low, high) = (at_least(near).to_bits(), at_most(far).to_bits());
        let wrong = |(depth, valid): (&f16, &bool)| *valid & !(low..=high).contains(&depth.to_bits());
        if !self.depth_m.iter().zip(&self.valid_mask).fold(false, |any, pixel| any | wrong(pixel)) {
            return Ok(());
        }
        let pixel = self.depth_m.iter().zip(&self.valid_mask).position(wrong).unwrap_or(0);
        let depth = self.depth_m.get(pixel).copied().unwrap_or_default();
        let place = format!("{path}.depth_m[{}][{}]", pixel / width.max(1), pixel % width.max(1));
        mistake(place, format!("is {depth} m as float16: a valid pixel lies within {near} and {far} m"))
    }

    /// Appends the depths as they are stored: 0 wherever there is none.
    pub(in crate::rollouts) fn store(&self, rows: &mut Vec<f16>) {
        const NOT_FINITE: u16 = 0x7c00;
        let start = rows.len();
        rows.extend_from_slice(&self.depth_m);
        let appended = rows.get_mut(start..).unwrap_or_default();
        // In place and without branches: a machine's vectors do it at memory speed.
        for (depth, valid) in appended.iter_mut().zip(&self.valid_mask) {
            let bits = depth.to_bits();
            let kept = *valid & (bits & NOT_FINITE != NOT_FINITE);
            *depth = f16::from_bits(bits & u16::from(kept).wrapping_neg());
        }
    }
}

/// The least half that is not below `metres`, and not negative.
fn at_least(metres: f64) -> f16 {
    let near = f16::from_f64(metres.max(0.0));
    if near.to_f64() < metres { f16::from_bits(near.to_bits().saturating_add(1)) } else { near }
}

/// The greatest half that is not above `metres`.
fn at_most(metres: f64) -> f16 {
    let far = f16::from_f64(metres.min(f64::from(f16::MAX)));
    if far.to_f64() > metres { f16::from_bits(far.to_bits().saturating_sub(1)) } else { far }
}

/// A row of depths, rounded to what the store holds.
fn halves(datum: &Datum, path: &str) -> Result<Vec<f16>, RecordError> {
    let narrowed = |numbers: &[f32]| {
        let mut halves = vec![f16::ZERO; numbers.len()];
        halves.convert_from_f32_slice(numbers);
        halves
    };
    match datum {
        Datum::Array(Array::F16(depths)) => Ok(depths.iter().copied().collect()),
        Datum::Array(Array::F32(depths)) => Ok(match depths.as_slice() {
            Some(depths) => narrowed(depths),
            None => narrowed(&depths.iter().copied().collect::<Vec<_>>()),
        }),
        _ => Ok(narrowed(&crate::rollouts::datum::floats(datum, path)?)),
    }
}

#[cfg(test)]
mod tests {
    use half::f16;

    use super::{at_least, at_most};

    #[test]
    fn clip_planes_are_halves_within_them() {
        for metres in [0.001_f64, 0.1, 1.0, 19.99, 20.0, 65_504.0, 1e9] {
            let (least, most) = (at_least(metres.min(65_504.0)), at_most(metres));
            assert!(least.to_f64() >= metres.min(65_504.0) && most.to_f64() <= metres, "{metres}");
            assert!(least.to_bits() - most.to_bits() <= 1, "{metres}: {most} {least}");
        }
        assert_eq!((at_least(-1.0), at_most(f64::INFINITY)), (f16::ZERO, f16::MAX));
    }
}
