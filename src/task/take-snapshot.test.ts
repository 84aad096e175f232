import { readFileSync, readlinkSync, symlinkSync } from 'node:fs'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { ignoreAgentDirectory } from './agent-directory.ts'
import { type Snapshot, writeSnapshot } from './take-snapshot.ts'

const snapshot: Snapshot = {
  trigger: 'task_start',
  at: new Date('2026-01-02T03:04:05Z'),
  scoutA: '{"schema_version": "1",   "x": "```"}',
  scoutB: null,
  hypothesis: 'a\nb',
  filesModified: ['src/a.ts'],
  verifyAttempts: 1,
  counters: { consecutiveFailures: 1, totalVerifyLoops: 1, replans: 0 },
  decisions: [{ question: 'which runner', decision: 'vitest', rationale: 'package.json names it' }],
}

test('snapshots get consecutive numbers, and context_latest links to the newest', async () => {
  await using fixture = await createFixture({ 'agent/context_007.md': '' })
  expect(writeSnapshot(fixture.path, snapshot)).toBe('agent/context_008.md')
  expect(writeSnapshot(fixture.path, { ...snapshot, trigger: 'replan' })).toBe('agent/context_009.md')
  expect(readlinkSync(fixture.getPath('agent/context_latest.md'))).toBe('context_009.md')
})

test('a file with an impossible snapshot number is ignored', async () => {
  await using fixture = await createFixture({ 'agent/context_999999999999999999999.md': '' })
  expect(writeSnapshot(fixture.path, snapshot)).toBe('agent/context_001.md')
})

test('a Scout’s answer is stored byte for byte and cannot end its block', async () => {
  await using fixture = await createFixture({})
  const text = readFileSync(fixture.getPath(writeSnapshot(fixture.path, snapshot)), 'utf8')
  expect(text).toContain(`\n\`\`\`\`json\n${snapshot.scoutA}\n\`\`\`\`\n`)
  expect(text).toContain('## Scout B Report\n\nNot asked.')
  expect(text).toContain('- Hypothesis: a b\n- Files modified: src/a.ts\n- Verify attempts: 1\n')
  expect(text).toContain('- which runner: vitest, because package.json names it')
})

test('a directory that is a link out of the repository is refused', async () => {
  await using outside = await createFixture({})
  await using fixture = await createFixture({})
  symlinkSync(outside.path, fixture.getPath('agent'))
  expect(() => writeSnapshot(fixture.path, snapshot)).toThrow('cannot be used')
})

test.each([
  ['there is no file', undefined, 'agent/\n'],
  ['it has other lines', 'dist\n', 'dist\nagent/\n'],
  ['its last line has no newline', 'dist', 'dist\nagent/\n'],
  ['it has Windows line endings', 'dist\r\n', 'dist\r\nagent/\r\n'],
])('agent/ is added to .gitignore once: %s', async (_, before, after) => {
  await using fixture = await createFixture(before === undefined ? {} : { '.gitignore': before })
  expect(ignoreAgentDirectory(fixture.path)).toBe(true)
  expect(readFileSync(fixture.getPath('.gitignore'), 'utf8')).toBe(after)
  expect(ignoreAgentDirectory(fixture.path)).toBe(false)
})

test.each(['agent', '/agent', '/agent/', 'agent/'])('the line %s counts as present', async (line) => {
  await using fixture = await createFixture({ '.gitignore': `a\n${line}\nb\n` })
  expect(ignoreAgentDirectory(fixture.path)).toBe(false)
})
