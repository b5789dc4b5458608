-- scripts/room_index.lua: the rows of so many rooms as a source index, for room_oracle.lua.
-- Run: skyfall script scripts/room_index.lua -- ROOMS > index.jsonl
local skyfall = require "skyfall"
local room = require "rooms.rollouts"

for row = 0, (tonumber(arg[1]) or 64) * room.ROOTS - 1 do
  local source = room.source(row)
  print(skyfall.json.encode {
    sample_index = row, sample_key = source.source_sample_key, scene_id = source.scene_id,
    snippet_id = source.snippet_id, split = source.split,
    source_shard_id = source.source_shard_id, source_shard_row = source.source_shard_row,
  })
end
