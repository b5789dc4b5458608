//! What stores must share for their chains to be learnt from together.

use std::path::Path;

use super::{ChainError, ChainOptions, refused};
use crate::rollouts::Store;
use crate::text::json;
use crate::value::{Map, Value};

/// The renderer whose frames are of the successor that was really selected.
const RENDERER: &str = "Pytorch3DDepthRenderer";

/// How frames of that renderer are to be understood.
const GEOMETRY: [(&str, &str); 5] = [
    ("projection_model", "linear_pinhole_screen"),
    ("value_semantics", "camera_z_m"),
    ("pixel_convention", "half_pixel_centers_in_ndc_false"),
    ("camera_axes", "left_up_forward"),
    ("pose_convention", "root_from_camera"),
];

/// A store's own contract; depth counts only where it is asked for.
pub(super) fn of(store: &Store, options: &ChainOptions) -> Result<Map, ChainError> {
    let attribute = |key: &str| store.attribute(key).cloned().unwrap_or(Value::Null);
    let view = store.group_attributes("q_h")?;
    let mut contract = Map::new();
    for (name, value) in [
        ("schema_version", attribute("schema_version")),
        ("target_protocol", attribute("target_protocol_version")),
        ("reward_metric", view.get("reward_metric").cloned().unwrap_or(Value::Null)),
        ("return_semantics", attribute("return_semantics")),
        ("td_semantics", view.get("td_semantics").cloned().unwrap_or(Value::Null)),
        ("discount_gamma", attribute("discount_gamma")),
        ("reason_code_version", attribute("reason_code_version")),
        ("actor_store_version", attribute("source_offline_store_version")),
    ] {
        contract.insert(name.to_owned(), value);
    }
    if !options.include_selected_depth {
        return Ok(contract);
    }
    if store.attribute("selected_depth_enabled") != Some(&Value::Bool(true)) {
        return refused(store.directory(), "it carries no selected depth");
    }
    if attribute("selected_depth_renderer").as_text() != Some(RENDERER) {
        let renderer = json::to_string(&attribute("selected_depth_renderer"));
        return refused(store.directory(), format!("its depth is of the renderer {renderer}, not \"{RENDERER}\""));
    }
    let mut put = |key: &str, value| contract.insert(format!("selected_depth_{key}"), value);
    for key in ["enabled", "role", "renderer", "dtype", "units", "znear_m", "zfar_m", "source_resolution"] {
        put(key, attribute(&format!("selected_depth_{key}")));
    }
    let size = ["selected_depth_height_px", "selected_depth_width_px"].map(attribute);
    put("image_size_hw", Value::List(size.to_vec()));
    for (key, value) in GEOMETRY {
        put(key, value.into());
    }
    Ok(contract)
}

/// Refuses a store whose contract differs.
pub(super) fn agree(path: &Path, agreed: &Map, own: &Map) -> Result<(), ChainError> {
    let differs = agreed.iter().filter(|(key, value)| own.get(*key) != Some(*value));
    let keys: Vec<String> = differs
        .map(|(key, value)| {
            let own = own.get(key).map_or_else(|| "missing".to_owned(), json::to_string);
            format!("{key}: {own}, not {}", json::to_string(value))
        })
        .collect();
    if keys.is_empty() { Ok(()) } else { Err(ChainError::Contract { path: path.to_owned(), keys: keys.join("; ") }) }
}
