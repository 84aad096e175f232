import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { openWorld } from '../open-world.ts'
import { placedOutputs } from './build-outputs.ts'
import { compiledInstead } from './compiled-python.ts'

const project = {
  'Cargo.toml': '[package]\n',
  Makefile: 'test: app\n\t./app && ./run-tests.sh\napp: app.c\n\t$(CC) -o app app.c\n',
  app: '#!/bin/sh\n',
  'run-tests.sh': '#!/bin/sh\n./app\n',
  'target/debug/app': '#!/bin/sh\n',
  'target/debug/notes.txt': 'seen\n',
}

async function placedBy(command: string): Promise<readonly string[]> {
  await using fixture = await createFixture(project)
  const root = realpathSync(fixture.path)
  const world = openWorld({ root, home: join(root, 'home'), env: {}, own: [] })
  const action = { kind: 'shell', command, background: false, language: 'bash' } as const
  const call = { id: 'c1', tool: 'Bash', action, input: { command } }
  return Object.keys(placedOutputs(call, { cwd: root, root, world, checks: [], sinceMs: 0 })).map((path) =>
    path.slice(root.length + 1),
  )
}

test.each(['app', 'target/debug/app'])('%s is built, so a call that writes it is named', async (path) => {
  expect(await placedBy(`cp /bin/true ${path}`)).toEqual([path])
})

test('a directory in the place of a compiled Python file is not read', async () => {
  await using fixture = await createFixture({ 'a.py': '', '__pycache__/a.cpython-313.pyc/b': '' })
  expect(compiledInstead(fixture.path, ['a.py'])).toBeNull()
})

test.each(['run-tests.sh', 'target/debug/notes.txt'])('%s is not built', async (path) => {
  expect(await placedBy(`echo true > ${path}`)).toEqual([])
})
