-- scripts/room_oracle.lua: the rooms of rollouts_room.lua as a campaign: shards of rows, made by any number of processes.
--
--   skyfall script scripts/room_index.lua -- 64 > index.jsonl
--   skyfall rollouts plan index.jsonl --script scripts/room_oracle.lua --rows-per-shard 3 --out campaign
--   skyfall rollouts run --shard-manifest campaign/shard-manifest.jsonl --script scripts/room_oracle.lua --all
--   skyfall rollouts status campaign/shard-manifest.jsonl
local skyfall = require "skyfall"
local room = require "rooms.rollouts"

return skyfall.rollouts.oracle {
  options = room.options(nil),
  records = function(rows, shard)
    for _, row in ipairs(rows) do
      for _, record in ipairs(room.records(row.sample_index, row.source)) do shard:add(record) end
    end
  end,
}
