-- As functions, the operations take the same keys and arguments; but a holder is one argument, the
-- sequencer of its lease, as HOLDFAST_SEQUENCER has it. A refusal is an error, so that nobody takes
-- it for success: STALE_TOKEN, WRONG_DOMAIN, VERSION_CONFLICT or INVALID_ARGUMENT, and a sentence.

local function percent_decoded(encoded)
  local decoded = string.gsub(encoded, '%%(%x%x)', function(digits)
    return string.char(tonumber(digits, 16))
  end)
  return decoded
end

-- hf1:mode:token:owner:domain:name. A prefix of the engine is part of the lock's name.
local function sequencer_args(sequencer)
  local parts = '^hf1:(%l+):(%d+):(%x+):([^:]+):([^:]+)$'
  local mode, token, owner, domain, name = string.match(sequencer or '', parts)
  if not mode then
    return {}
  end
  domain = percent_decoded(domain)
  local engine, prefix = string.match(domain, '^(.-)%?prefix=(.*)$')
  local lock = percent_decoded(prefix or '') .. percent_decoded(name)
  return {(engine or domain) .. '#' .. lock, mode, token, owner}
end

local function answer_function(answer)
  if answer[5] == 'settled' then
    return redis.error_reply(string.upper(answer[1]) .. ' ' .. answer[2])
  end
  return answer
end

local function register_fenced(name)
  redis.register_function('hf_' .. name, function(keys, args)
    local all = sequencer_args(args[1])
    if #all == 0 then
      return redis.error_reply('INVALID_ARGUMENT the first argument is not a sequencer')
    end
    for i = 2, #args do
      all[#all + 1] = args[i]
    end
    return answer_function(run(name, keys, all))
  end)
end

local function register_plain(name, flags)
  local function callback(keys, args)
    return answer_function(run(name, keys, args))
  end
  redis.register_function({function_name = 'hf_' .. name, callback = callback, flags = flags})
end

register_fenced('open')
register_fenced('read')
register_fenced('write')
register_fenced('remove')
register_plain('get', {'no-writes'})
register_plain('put', {})
register_plain('erase', {})
