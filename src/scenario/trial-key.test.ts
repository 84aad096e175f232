import { chmodSync, readFileSync } from 'node:fs'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { targetIdentities } from './trial-key.ts'

test('a tool that many scenarios test is asked for its version once', async () => {
  await using fixture = await createFixture({ tool: '#!/bin/sh\necho asked >> "$0.log"\necho tool 1.2.3\n' })
  const tool = fixture.getPath('tool')
  chmodSync(tool, 0o755)
  const { signal } = new AbortController()
  const identityOf = targetIdentities({ PATH: process.env.PATH ?? '' }, fixture.path, signal)
  const entry = { target: { binary: tool, env: {} }, targetProgram: tool }
  const identities = await Promise.all([entry, entry, entry].map(identityOf))
  expect(identities.map(({ version }) => version)).toEqual(['tool 1.2.3', 'tool 1.2.3', 'tool 1.2.3'])
  expect(readFileSync(`${tool}.log`, 'utf8')).toBe('asked\n')
})
