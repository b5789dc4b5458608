--- The rollout store: finite-candidate rollouts as a Zarr store that Python readers open.

local native = ...

---@class skyfall.rolloutslib
local M = {}

--- What a store is written with; all but `store_dir` have the defaults given here.
---@class skyfall.RolloutZarrStoreConfig
---@field store_dir string the store's directory, replaced when the writer finishes
---@field paths string? the base of a relative `store_dir`; never stored
---@field return_semantics string? "cumulative_target_root_gain", the only family
---@field discount_gamma number? 1.0, of selected transitions that do not end their chain
---@field target_protocol_version "v0_gt_input" | "v1_observed" | nil "v0_gt_input"
---@field reason_code_version string? "rollout-invalidity-v1"
---@field field_retention_policy string? "compact"
---@field source_offline_store_version string? "unknown-source-version"
---@field split_manifest_hash string? "unknown-split-manifest"; a campaign's is checked
---@field manifest_context skyfall.ManifestContext? provenance for the sidecar
---@field selected_depth_enabled boolean? true: every step needs `selected_depth`
---@field selected_depth_width_px integer? 240
---@field selected_depth_height_px integer? 240
---@field selected_depth_chunk_steps integer? 16 rasters a chunk
---@field selected_depth_renderer string? "Pytorch3DDepthRenderer"
---@field selected_depth_znear_m number? 0.001 metres
---@field selected_depth_zfar_m number? 20.0 metres
---@field selected_depth_source_resolution string? "exact_output_size"
---@field selected_depth_encoder "fast" | "c-blosc" | nil "fast": the same Blosc frames in a quarter of the time
---@field q_h_chunk_states integer? 64 states a chunk of the derived view
---@field target_eval_crop_max_points integer? 50000 points a crop
---@field target_eval_crops_enabled boolean? false
---@field oracle_query_mode "legacy_unspecified" | "dense_valid" | nil "legacy_unspecified"
---@field label_support_semantics "subset_of_action_v1" | "equals_action_on_realized_steps_v1" | nil "subset_of_action_v1"
---@field created_at_utc string? `SOURCE_DATE_EPOCH`, or now
---@field source_offline_store_dir string? the source store, which the destination must not touch
---@field memory_bytes integer? 536870912: what rows may take before they are on disk

---@class skyfall.ManifestContext
---@field writer_config table?
---@field invocation table?
---@field runtime table?
---@field shard table?

---@class skyfall.RolloutsWriter
---@field add fun(self: skyfall.RolloutsWriter, record: table) checks one record and takes it in
---@field finish fun(self: skyfall.RolloutsWriter): skyfall.RolloutZarrWriteResult completes the store and puts it in place

---@class skyfall.RolloutZarrWriteResult
---@field store_dir string
---@field num_rollouts integer
---@field num_steps integer
---@field num_candidates integer
---@field manifest_path string
---@field manifest_sha256 string

--- A writer of one store. Rows go to disk, beside `store_dir`, as records are added; what stood
--- there is replaced when the writer finishes, and not before.
---@param options skyfall.RolloutZarrStoreConfig
---@return skyfall.RolloutsWriter
M.writer = native.writer

--- Writes a store from a list of records in one go.
---@param store_dir string
---@param records table[]
---@param options skyfall.RolloutZarrStoreConfig?
---@return skyfall.RolloutZarrWriteResult
M.write_rollout_zarr_store = function(store_dir, records, options)
  local settings = {}
  for key, value in next, options or {} do settings[key] = value end
  settings.store_dir = store_dir
  local writer = native.writer(settings)
  for _, record in ipairs(records) do writer:add(record) end
  return writer:finish()
end

--- A row of a source store, as a campaign's shard lists it.
---@class skyfall.RolloutsShardRow
---@field order integer its place in the shard, from 0
---@field sample_index integer its number in the source's split
---@field sample_key string
---@field scene_id string
---@field snippet_id string
---@field split string
---@field source_shard_id string
---@field source_shard_row integer
---@field campaign_split string?
---@field source table what a record of this row has for its `source`

--- A shard of a campaign, and the store that is written of it.
---@class skyfall.RolloutsShard
---@field shard_id string
---@field split string
---@field num_rows integer
---@field campaign_split string?
---@field source_manifest_hash string
---@field source_cache_version string
---@field split_manifest_hash string
---@field add fun(self: skyfall.RolloutsShard, record: table) checks one record and takes it in

---@class skyfall.RolloutsOracle

--- What a campaign's records come from: a script returns one, and `skyfall rollouts run` calls its
--- `records` with a shard's rows. Every row gets at least one record, rows in their order; a record's
--- `source` is its row's. Records must follow from the row alone, so that a shard comes out the same
--- whichever process makes it.
---
---     return rollouts.oracle {
---       options = { discount_gamma = 0.95, selected_depth_enabled = false },
---       records = function(rows, shard)
---         for _, row in ipairs(rows) do
---           shard:add { source = row.source, ... }
---         end
---       end,
---     }
---@param oracle { options: table?, records: fun(rows: skyfall.RolloutsShardRow[], shard: skyfall.RolloutsShard) } the writer's options, but for `store_dir` and `split_manifest_hash`, and what adds the records
---@return skyfall.RolloutsOracle
M.oracle = native.oracle

---@class skyfall.RolloutsGroups
---@field keys skyfall.Array the ids, ascending
---@field rows fun(self: skyfall.RolloutsGroups, key: integer): skyfall.Array rows of an id, counted from 1

---@class skyfall.RolloutsCodec
---@field step_candidate_facts table<string, skyfall.Array>
---@field candidate_semantics table<string, skyfall.Array>
---@field candidate_criteria table<string, skyfall.Array>
---@field candidate_actions table<string, skyfall.Array>
---@field candidate_valids table<string, skyfall.Array>
---@field facts_by_step skyfall.RolloutsGroups
---@field semantics_by_candidate skyfall.RolloutsGroups
---@field criteria_by_candidate skyfall.RolloutsGroups
---@field actions_by_step skyfall.RolloutsGroups
---@field valids_by_step skyfall.RolloutsGroups
---@field texts string[] texts by id, the text of id 0 first

--- A store open for reading. Rows count from 1; `first` and `last` are both included.
---@class skyfall.RolloutsStore
---@field manifest table
---@field attributes table
---@field array fun(self: skyfall.RolloutsStore, path: string, first: integer?, last: integer?): skyfall.Array
---@field columns fun(self: skyfall.RolloutsStore, group: string): string[]
---@field table fun(self: skyfall.RolloutsStore, group: string, options: { columns: string[]?, first: integer?, last: integer? }?): table<string, skyfall.Array>
---@field dictionary fun(self: skyfall.RolloutsStore, name: string): string[]
---@field candidate_shell_index fun(self: skyfall.RolloutsStore): skyfall.RolloutsGroups
---@field candidate_codec_tables fun(self: skyfall.RolloutsStore): skyfall.RolloutsCodec?
---@field q_h_view fun(self: skyfall.RolloutsStore, options: { discount_gamma: number? }?): table<string, skyfall.Array>
---@field info fun(self: skyfall.RolloutsStore, options: { validate: boolean?, stats: boolean?, preflight: ("smoke"|"production")? }?): table
---@field random_index fun(self: skyfall.RolloutsStore, options: { min_horizon: integer?, seed: integer? }?): table

--- Opens a store for reading.
---@param store_dir string
---@return skyfall.RolloutsStore
M.open = native.open

---@class skyfall.RolloutsState
---@field candidate_pose_relative_root skyfall.Array
---@field action_mask skyfall.Array
---@field label_mask skyfall.Array
---@field candidate_reward skyfall.Array
---@field one_step_target_rri skyfall.Array
---@field horizon_remaining integer
---@field selected_index integer the slot of the selected action, counted from 1
---@field discount number
---@field terminal boolean

---@class skyfall.RolloutsChain
---@field store_index integer
---@field rollout_row_id integer
---@field target_row_id integer
---@field source_ref table
---@field root_pose_world skyfall.Array
---@field target_extents skyfall.Array
---@field target_pose_world_object skyfall.Array
---@field states skyfall.RolloutsState[]
---@field selected_depth table<string, skyfall.Array>?

--- Chains of one or several stores, each validated once and all held to one contract; `#chains`.
--- `state_batches` gives tables of arrays padded to the widest shell: ids and slots in them count
--- from 0, as they do in the store.
---@class skyfall.RolloutsChains
---@field contract table
---@field provenance { path: string, manifest_sha256: string, states: integer }[]
---@field chain fun(self: skyfall.RolloutsChains, index: integer): skyfall.RolloutsChain
---@field chain_batches fun(self: skyfall.RolloutsChains, options: { size: integer, seed: integer? }): fun(): skyfall.RolloutsChain[]?
---@field state_batches fun(self: skyfall.RolloutsChains, options: { size: integer, seed: integer? }): fun(): table<string, skyfall.Array>?

--- Reads chains to learn from.
---@param options { stores: string[], campaign_split: string?, include_selected_depth: boolean? }
---@return skyfall.RolloutsChains
M.chains = native.chains

---@class skyfall.RolloutsValidation
---@field ok boolean
---@field num_rollouts integer
---@field num_steps integer
---@field num_candidates integer
---@field errors string[] one line a kind of violation: the first row and how many more

--- Checks a store against its contract; every violation is reported.
---@param store_dir string
---@return skyfall.RolloutsValidation
M.validate = native.validate

return M
