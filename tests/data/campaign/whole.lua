-- The rows of the rooms in one go: skyfall script whole.lua -- SPLIT_HASH ROWS
local skyfall = require "skyfall"
local room = require "rooms.rollouts"
local options = room.options(nil)
options.store_dir, options.split_manifest_hash = "whole.zarr", arg[1]
local writer = skyfall.rollouts.writer(options)
for row = 0, tonumber(arg[2]) - 1 do
  local source = room.source(row)
  source.source_row_id = row
  for _, record in ipairs(room.records(row, source)) do writer:add(record) end
end
writer:finish()
