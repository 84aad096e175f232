import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { version } from '../core/version.ts'
import { definitionProblem, importModule } from './import-module.ts'

const load = (path: string, base: string) =>
  importModule({
    path,
    base,
    relativeTo: 'the directory of gantry.yaml',
    what: 'a number',
    hint: 'Write: export default 1',
    read: (value) => (typeof value === 'number' ? value : `it is a ${typeof value}`),
  })

test('gives the default export of a JavaScript or TypeScript module', async () => {
  await using fixture = await createFixture({
    'a.mjs': 'export default 1\n',
    'b.ts': 'const two: number = 2\nexport default two\n',
  })
  expect(await load('a.mjs', fixture.path)).toMatchObject({ kind: 'loaded', value: 1 })
  expect(await load('./b.ts', fixture.path)).toMatchObject({ kind: 'loaded', value: 2 })
})

test('a module that is missing, does not load or exports something else is reported with a hint', async () => {
  await using fixture = await createFixture({
    'throws.mjs': 'throw new TypeError("no luck")\n',
    'syntax.mjs': 'export default {\n',
    'text.mjs': 'export default "one"\n',
    'named.mjs': 'export const one = 1\n',
  })
  expect(await load('none.mjs', fixture.path)).toEqual({
    kind: 'missing',
    message: 'the module none.mjs does not exist',
    hint: `Relative paths start at the directory of gantry.yaml; this one leads to ${fixture.getPath('none.mjs')}.`,
  })
  expect(await load('throws.mjs', fixture.path)).toMatchObject({
    kind: 'broken',
    message: 'the module throws.mjs failed to load: TypeError: no luck',
  })
  expect(await load('syntax.mjs', fixture.path)).toMatchObject({
    kind: 'broken',
    message: expect.stringContaining('SyntaxError'),
  })
  expect(await load('text.mjs', fixture.path)).toMatchObject({
    kind: 'broken',
    message: 'the default export of text.mjs is not a number: it is a string',
    hint: 'Write: export default 1',
  })
  expect(await load('named.mjs', fixture.path)).toMatchObject({ kind: 'broken' })
})

test('a module anywhere gets the running Gantry, also when it imports it later', async () => {
  await using fixture = await createFixture({
    'now.mjs': "import { version } from 'gantry'\nexport default version.length\n",
    'later.mjs': "export default (await import('gantry')).version.length\n",
  })
  for (const name of ['now.mjs', 'later.mjs'])
    expect(await load(name, fixture.path)).toMatchObject({ kind: 'loaded', value: version.length })
})

test('a module that needs a package which is missing gets the command that installs it', async () => {
  await using fixture = await createFixture({ 'a.mjs': "import 'no-such-package'\nexport default 1\n" })
  expect(await load('a.mjs', fixture.path)).toMatchObject({
    kind: 'broken',
    hint: `Install it for the module: npm install no-such-package (in ${fixture.path.replace(/\/$/, '')} or above).`,
  })
})

test('the fingerprint changes with the module and with the local files it names', async () => {
  await using fixture = await createFixture({
    'gate.mjs': "import { one } from './one.mjs'\nexport default one\n",
    'one.mjs': "export const list = new URL('./words.txt', import.meta.url)\nexport const one = 1\n",
    'words.txt': 'one\n',
    'other.txt': 'one\n',
  })
  const fingerprint = async () => {
    const found = await load('gate.mjs', fixture.path)
    return found.kind === 'loaded' ? found.fingerprint : null
  }
  const first = await fingerprint()
  expect(first).not.toBeNull()
  await fixture.writeFile('other.txt', 'two\n')
  expect(await fingerprint()).toBe(first)
  await fixture.writeFile('words.txt', 'two\n')
  expect(await fingerprint()).not.toBe(first)
})

test('a module that changed is loaded again', async () => {
  await using fixture = await createFixture({ 'a.mjs': 'export default 1\n' })
  expect(await load('a.mjs', fixture.path)).toMatchObject({ value: 1 })
  await fixture.writeFile('a.mjs', 'export default 2\n')
  expect(await load('a.mjs', fixture.path)).toMatchObject({ value: 2 })
})

test.each([
  [undefined, 'there is none'],
  ['text', 'it is a string'],
  [{}, "it has no 'name'"],
  [{ name: 1 }, "its 'name' has the wrong type"],
  [{ name: 'a', nmae: 'b' }, "unknown key 'nmae' (known: name, size)"],
  [{ name: 'a', size: undefined }, null],
])('the definition %j: %s', (value, problem) => {
  const keys = {
    name: (given: unknown) => typeof given === 'string',
    size: (given: unknown) => typeof given === 'number',
  }
  expect(definitionProblem(value, keys, ['name'])).toBe(problem)
})
