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

--- A record to try things with: from a root on a line, one chain of two steps towards a point, each
--- with three candidates, the last of which cannot be taken. It shows all that a record must have.
---
--- ```lua
--- local record = skyfall.rollouts.toy_record(0, "kitchen")
--- assert(record.source.scene_id == "kitchen" and #record.trajectories[1].steps == 2)
--- ```
---@param root integer the source's row, from 0
---@param scene string? "line"
---@return table
M.toy_record = function(root, scene)
  local identity = { 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0 }
  local function pose(x) return { 1, 0, 0, 0, 1, 0, 0, 0, 1, x, 0, 0 } end
  local function step(index, left)
    local none = { false, false, false }
    return {
      step_index = index,
      selected_shell_index = 1,
      selection_score_label = "target_root_gain",
      selection_policy = "oracle_greedy",
      candidates = {
        shell_poses = { pose(root), pose(root + 1 - left), pose(root + 2) },
        mask_valid = { true, true, false },
        strategy_id = { 0, 0, 0 },
        position_id = { 1, 1, 1 },
        mixture_id = { 0, 0, 0 },
        sampler_probability = { 0.5, 0.25, 0.25 },
        extras = {
          path_collision_mask = none,
          path_collision_applicable_mask = none,
          path_collision_evaluated_mask = none,
        },
      },
      labels = { target_root_gain = { 0, left / 2, 0 }, target_rri = { 0, 0.5, 0 } },
    }
  end
  return {
    rollout_id_prefix = string.format("toy-%06d", root),
    root_pose_world = identity,
    horizon = 2,
    branch_factor = 1,
    selection_policy = "oracle_greedy",
    source = {
      scene_id = scene or "line",
      snippet_id = "toy",
      split = "train",
      source_row_id = root,
      source_sample_index = root,
      source_sample_key = "toy:" .. root,
      source_shard_id = "toy-shard",
      source_shard_row = root,
      source_cache_version = "1",
      source_offline_store_manifest_hash = "toy",
    },
    target = {
      target_id = "point",
      target_source = "gt_obbs_oracle",
      target_source_index = 0,
      matched_gt_target_row_id = 0,
      matched_gt_target_id = "point",
      gt_match_status = "matched",
      target_crop_policy = "none",
      target_center_world = { 0, 0, 0 },
      target_extents = { 1, 1, 1 },
      target_pose_world_object = identity,
    },
    policy = { candidate_config_hash = "toy", oracle_config_hash = "toy", rollout_config_hash = "toy" },
    trajectories = { { terminated_early = false, steps = { step(0, 1), step(1, 0.5) } } },
  }
end

--- A writer of one store. Rows go to disk, beside `store_dir`, as records are added; what stood
--- there is replaced when the writer finishes, and not before.
---
--- ```lua
--- local rollouts = skyfall.rollouts
--- local writer <close> = rollouts.writer { store_dir = "toy.zarr", selected_depth_enabled = false }
--- for root = 0, 4 do writer:add(rollouts.toy_record(root)) end
--- local result = writer:finish()
--- assert(result.num_rollouts == 5 and result.num_steps == 10)
--- ```
---@param options skyfall.RolloutZarrStoreConfig
---@return skyfall.RolloutsWriter
M.writer = native.writer

--- Writes a store from a list of records in one go.
---
--- ```lua
--- local rollouts = skyfall.rollouts
--- local records = { rollouts.toy_record(0), rollouts.toy_record(1) }
--- local options = { selected_depth_enabled = false, discount_gamma = 0.9 }
--- local result = rollouts.write_rollout_zarr_store("toy.zarr", records, options)
--- assert(result.num_candidates == 12 and result.store_dir == "toy.zarr")
--- ```
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
---@field insufficient_support fun(self: skyfall.RolloutsShard, why: string) ends the shard's run well without a store: its rows have too little in them to make records of

---@class skyfall.RolloutsOracle

--- What a campaign's records come from: a script returns one, and `skyfall rollouts run` calls its
--- `records` with a shard's rows. Every row gets at least one record, rows in their order; a record's
--- `source` is its row's. Records must follow from the row alone, so that a shard comes out the same
--- whichever process makes it.
---
--- ```lua
--- local rollouts = skyfall.rollouts
--- return rollouts.oracle {
---   options = { discount_gamma = 0.95, selected_depth_enabled = false },
---   records = function(rows, shard)
---     for _, row in ipairs(rows) do
---       local record = rollouts.toy_record(row.sample_index, row.scene_id)
---       record.source = row.source
---       shard:add(record)
---     end
---   end,
--- }
--- ```
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
---
--- ```lua
--- local rollouts = skyfall.rollouts
--- rollouts.write_rollout_zarr_store("toy.zarr", { rollouts.toy_record(0) }, { selected_depth_enabled = false })
--- local store = rollouts.open("toy.zarr")
--- assert(store.attributes.num_steps == 2)
--- assert(store:array("candidates/actor_action_mask"):sum() == 4)
--- assert(store:array("steps/step_index", 2, 2)[1] == 1)
--- assert(store:dictionary("scene")[1] == "line")
--- assert(store:q_h_view { discount_gamma = 0.5 }.td_discount[1] == 0.5)
--- ```
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
---
--- ```lua
--- local rollouts = skyfall.rollouts
--- local records = { rollouts.toy_record(0), rollouts.toy_record(1) }
--- rollouts.write_rollout_zarr_store("toy.zarr", records, { selected_depth_enabled = false })
--- local chains = rollouts.chains { stores = { "toy.zarr" }, campaign_split = "train" }
--- assert(#chains == 2)
--- local first = chains:chain(1).states[1]
--- assert(first.selected_index == 2 and not first.terminal)
--- for batch in chains:state_batches { size = 3, seed = 1 } do assert(batch.action_mask.shape[2] == 3) end
--- ```
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
---
--- ```lua
--- local rollouts = skyfall.rollouts
--- rollouts.write_rollout_zarr_store("toy.zarr", { rollouts.toy_record(0) }, { selected_depth_enabled = false })
--- local found = rollouts.validate("toy.zarr")
--- assert(found.ok and found.num_steps == 2 and #found.errors == 0)
--- ```
---@param store_dir string
---@return skyfall.RolloutsValidation
M.validate = native.validate

---@class skyfall.JoinOptions
---@field created_at_utc string? `SOURCE_DATE_EPOCH`, or now
---@field memory_bytes integer? 536870912: what rows may take on their way

--- Joins stores of one split, in the order given, into a new store, which is what writing their
--- records in one go gives. Every part is checked; parts that were not written alike are refused.
---
--- ```lua
--- local rollouts = skyfall.rollouts
--- local lean = { selected_depth_enabled = false }
--- rollouts.write_rollout_zarr_store("one.zarr", { rollouts.toy_record(0) }, lean)
--- rollouts.write_rollout_zarr_store("two.zarr", { rollouts.toy_record(1), rollouts.toy_record(2) }, lean)
--- local result = rollouts.merge({ "one.zarr", "two.zarr" }, "all.zarr")
--- assert(result.num_rollouts == 3)
--- local origin = rollouts.open("all.zarr").manifest.generation.origin
--- assert(origin.parts[2].name == "two.zarr" and origin.parts[2].first_rows.rollouts == 1)
--- ```
---@param parts string[] the stores, shards among them
---@param store_dir string the new store's directory, replaced when it is complete
---@param options skyfall.JoinOptions?
---@return skyfall.RolloutZarrWriteResult
M.merge = native.merge

--- What wanted chains are; of a list, one of its values.
---@class skyfall.RolloutsFilter
---@field scene (string|string[])?
---@field snippet (string|string[])?
---@field split (string|string[])? the campaign's split where there is one, else the physical one
---@field target (string|string[])? the target's text id
---@field rollout (string|string[])? the chain's text id
---@field sample_key (string|string[])?

--- Writes the chains of a store that are wanted to a new store, in their order. Chains stay whole.
---
--- ```lua
--- local rollouts = skyfall.rollouts
--- local records = { rollouts.toy_record(0, "kitchen"), rollouts.toy_record(1, "hall"), rollouts.toy_record(2, "hall") }
--- rollouts.write_rollout_zarr_store("all.zarr", records, { selected_depth_enabled = false })
--- local result = rollouts.select("all.zarr", { scene = "hall", sample_key = { "toy:0", "toy:2" } }, "hall.zarr")
--- assert(result.num_rollouts == 1)
--- ```
---@param store string the store to choose from
---@param filter skyfall.RolloutsFilter
---@param store_dir string the new store's directory, replaced when it is complete
---@param options skyfall.JoinOptions?
---@return skyfall.RolloutZarrWriteResult
M.select = native.select

--- Writes one store into `directory` for each scene, snippet, split or target, in order of first
--- use. Each result also has what its chains share, under that name.
---
--- ```lua
--- local rollouts = skyfall.rollouts
--- local records = { rollouts.toy_record(0, "kitchen"), rollouts.toy_record(1, "hall") }
--- rollouts.write_rollout_zarr_store("all.zarr", records, { selected_depth_enabled = false })
--- local stores = rollouts.split("all.zarr", "scene", "scenes")
--- assert(stores[1].scene == "kitchen" and stores[2].store_dir == "scenes/hall.zarr")
--- ```
---@param store string the store to split
---@param by "scene"|"snippet"|"split"|"target"
---@param directory string where the stores go, each by its value's name
---@param options skyfall.JoinOptions?
---@return skyfall.RolloutZarrWriteResult[]
M.split = native.split

return M
