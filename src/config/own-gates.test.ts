import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { defineGate } from '../gates/define-gate.ts'
import { loadProject } from './load.ts'
import { loadOwnGates } from './own-gates.ts'

const gate = (type: string) =>
  `export default { type: '${type}', check: () => ({ passed: true, message: '' }) }\n`

test('gates come from the modules of gantry.yaml, relative to it, and from the caller', async () => {
  await using dir = await createFixture({
    'gantry.yaml': 'gates: [./gates/one.mjs, gates/two.mjs]\n',
    'gates/one.mjs': gate('one'),
    'gates/two.mjs': "export default [1, 2].map((n) => ({ type: 'two_' + n, check() {} }))\n",
    'deep/er/x': '',
  })
  const project = loadProject(dir.getPath('deep/er'))
  const passedIn = { gates: [defineGate({ type: 'three', check: () => ({ passed: true, message: '' }) })] }
  const own = await loadOwnGates({ ...project, passedIn })
  expect(own.map(({ definition }) => definition.type)).toEqual(['one', 'two_1', 'two_2', 'three'])
  expect(own.map(({ fingerprint }) => fingerprint !== null)).toEqual([true, true, true, false])
})

test.each([
  ['./none.js', 'NOT_FOUND', 'the module ./none.js does not exist'],
  ['./throws.mjs', 'INVALID_FILE', 'the module ./throws.mjs failed to load: Error: no'],
  ['./empty.mjs', 'INVALID_FILE', 'the default export of ./empty.mjs is not a gate: there is none'],
  ['./built-in.mjs', 'INVALID_FILE', "./built-in.mjs: the gate type 'file_exists' is built in"],
  ['./ok.mjs', 'INVALID_FILE', "./ok.mjs: the gate type 'ok' is defined twice"],
])('%s is refused at its line of gantry.yaml, with a hint', async (path, code, message) => {
  await using dir = await createFixture({
    'gantry.yaml': `gates:\n  - ./ok.mjs\n  - ${path}\n`,
    'ok.mjs': gate('ok'),
    'throws.mjs': 'throw new Error("no")\n',
    'empty.mjs': '',
    'built-in.mjs': gate('file_exists'),
  })
  await expect(loadOwnGates(loadProject(dir.path))).rejects.toMatchObject({
    code,
    message,
    hint: expect.any(String),
    at: { file: dir.getPath('gantry.yaml'), line: 3, column: 5 },
    exitCode: 2,
  })
})

test('a path that is no module is refused by the schema', async () => {
  await using dir = await createFixture({ 'gantry.yaml': 'gates: [./gate.py]\n' })
  expect(() => loadProject(dir.path)).toThrow(
    /gantry.yaml:1:9: gates\[0\]: expected the path of a .js, .mjs or .ts file/,
  )
})

test('a value that is no gate is refused', async () => {
  await using dir = await createFixture({ 'gantry.yaml': '' })
  const passedIn = { gates: [{ type: 'x' } as never] }
  await expect(loadOwnGates({ ...loadProject(dir.path), passedIn })).rejects.toMatchObject({
    code: 'USAGE',
    message: "'gates' has an entry that cannot be used: it has no 'check'",
  })
})
