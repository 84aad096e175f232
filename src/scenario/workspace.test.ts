import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import type { Case } from './case.ts'
import { trialPlace } from './trial-work.ts'
import { prepareWorkspace, writeWorkspaceDiff } from './workspace.ts'

test('the diff shows what changed after the start, against the template, and nothing else', async () => {
  await using project = await createFixture({
    'template/kept.txt': 'kept\n',
    'template/edited.txt': 'one\ntwo\n',
    'template/gone.txt': 'gone\n',
    'template/solution.sh': 'the oracle',
    'template/initial-state/first.txt': 'first\n',
    'outside.txt': 'secret outside\n',
  })
  const entry = {
    templateDir: join(project.path, 'template'),
    oracleFiles: ['solution.sh'],
  } as unknown as Case
  const place = trialPlace(join(project.path, 'trial'))
  await prepareWorkspace(entry, place, { withOracle: false })
  writeFileSync(join(place.fixture, 'made-by-setup.txt'), 'setup\n')
  await new Promise((done) => setTimeout(done, 50))
  const startedAtMs = Date.now()
  await writeWorkspaceDiff(entry, place, startedAtMs, (text) => text)
  expect(() => readFileSync(place.diff)).toThrow('ENOENT')
  await new Promise((done) => setTimeout(done, 50))
  writeFileSync(join(place.fixture, 'edited.txt'), 'one\nthree\n')
  writeFileSync(join(place.fixture, 'new.txt'), 'token\n')
  writeFileSync(join(place.fixture, 'first.txt'), 'first\n')
  writeFileSync(join(place.fixture, 'image.bin'), '\0\x01')
  symlinkSync(join(project.path, 'outside.txt'), join(place.fixture, 'link'))
  mkdirSync(join(place.fixture, 'node_modules/x'), { recursive: true })
  writeFileSync(join(place.fixture, 'node_modules/x/index.js'), 'x')
  rmSync(join(place.fixture, 'gone.txt'))
  await writeWorkspaceDiff(entry, place, startedAtMs, (text) => text.replaceAll('token', '[REDACTED]'))
  const diff = readFileSync(place.diff, 'utf8')
  expect(diff.split('\n').filter((line) => /^(?:---|\+\+\+) /.test(line))).toEqual([
    '--- edited.txt',
    '+++ edited.txt',
    '--- gone.txt',
    '+++ /dev/null',
    '--- /dev/null',
    '+++ image.bin',
    '--- /dev/null',
    '+++ link',
    '--- /dev/null',
    '+++ new.txt',
  ])
  expect(diff).toContain('-two\n+three')
  expect(diff).toContain('+[REDACTED]')
  expect(diff).not.toContain('secret outside')
})
