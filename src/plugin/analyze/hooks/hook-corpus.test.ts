import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { describe, expect, test } from 'vitest'
import { analyzePlugin } from '../analyze-plugin.ts'

/** Texts of hooks/hooks.json, and the verdict of `claude plugin validate` of 2.1.325. */
interface Case {
  readonly name: string
  readonly text: string
  readonly complains: boolean
  /** It makes Claude Code load nothing of the plugin. */
  readonly disables: boolean
}

const cases: readonly Case[] = readFileSync(
  join(import.meta.dirname, '../../../../test/corpus/plugin/hooks.jsonl'),
  'utf8',
)
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line))

describe('hooks are rejected exactly where Claude Code rejects them', () => {
  test.each(cases.map((each) => [each.name, each] as const))(
    '%s',
    async (_, { text, complains, disables }) => {
      await using fixture = await createFixture({
        '.claude-plugin/plugin.json': '{"name":"demo"}',
        'hooks/hooks.json': text,
      })
      const outcome = await analyzePlugin({ path: fixture.path, cwd: fixture.path })
      if (outcome.kind !== 'analysed') throw new Error('refused')
      const errors = outcome.analysis.findings.filter(
        ({ code, severity }) =>
          severity === 'error' && (code === 'HOOK_INVALID' || code === 'HOOK_EVENT_UNKNOWN'),
      )
      expect(errors.length > 0).toBe(complains)
      expect(errors.some(({ message }) => message.includes('loads nothing of this plugin'))).toBe(disables)
      for (const { path, line } of errors) expect([path, (line ?? 0) > 0]).toEqual(['hooks/hooks.json', true])
    },
  )
})
