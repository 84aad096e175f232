import { expect, test } from 'vitest'
import type { SessionRequest } from '../../contract.ts'
import { launch } from '../launch.ts'
import { claudeCodeSchema } from '../schema.ts'
import { liveLaunch } from './launch.ts'

const config = claudeCodeSchema.parse({ driver: 'claude-code', plugins: ['./demo'], max_turns: 9 })
const place = { base: '/base', isRoot: false, cache: '/cache' }
const request: SessionRequest = {
  workspace: '/w',
  model: 'opus',
  env: {},
  timeoutMs: 1_000,
  maxTurns: 5,
  maxCostUsd: 2,
  signal: new AbortController().signal,
  emit: () => {},
  transcript: () => {},
}

test('a session is started as a single prompt is, with lines of JSON for its input', () => {
  const live = liveLaunch(config, request, place)
  const once = launch(config, { ...request, prompt: 'p' }, place)
  expect(live.args).toEqual([...once.args, '--input-format', 'stream-json'])
  expect(live).not.toHaveProperty('stdin')
  expect(live.env).toEqual({ ...once.env, CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: '1' })
})

test('who wants no copies of files has none', () => {
  const env = { CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: '0' }
  expect(liveLaunch(config, { ...request, env }, place).env).not.toHaveProperty(
    'CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING',
  )
})
