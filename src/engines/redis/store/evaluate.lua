return run(ARGV[1], KEYS, {unpack(ARGV, 4)}, ARGV[2] ~= '' and ARGV[2], tonumber(ARGV[3]))
