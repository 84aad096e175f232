import { expect, test } from 'vitest'
import { testLanguage } from './test-files.ts'
import { looseIn, untestedIn } from './untested-in.ts'

const python = (...lines: readonly string[]): number =>
  untestedIn('tests/test_app.py', `${lines.join('\n')}\n`)

test.each([
  ['import app', "monkeypatch.setattr(app, 'add', fake)", 'assert app.add(1, 2) == 3'],
  ['import app', "monkeypatch.setattr('app.add', fake)", 'assert app.add(1, 2) == 3'],
  ['import app.sums as sums', "mocker.patch('app.sums.add')", 'assert sums.add(1, 2) == 3'],
  ['from app import sums as s', "mocker.patch('app.sums.add')", 'assert s.add(1, 2) == 3'],
  ['from app import sums', "mocker.patch('app.sums.add')", 'assert sums.add(1, 2) == 3'],
  ['from app.sums import (\n    add,\n)', "mocker.patch('app.sums.add')", 'assert add(1, 2) == 3'],
  ['from app import Sums', "mocker.patch.object(Sums, 'add', fake)", 'assert Sums().add(1, 2) == 3'],
  ['import app', "mocker.patch('app.add')", 'self.assertEqual(app.add(1, 2), 3)'],
])('%s, %s, %s: what is asserted was replaced', (imports, replaces, asserts) => {
  expect(python(imports, 'def test_it(monkeypatch, mocker):', `    ${replaces}`, `    ${asserts}`)).toBe(1)
})

test.each([
  ['import requests', 'monkeypatch.setattr(requests, "get", fake)', 'assert client.get("/users")'],
  ['from app import service', 'mocker.patch("app.repo.find")', 'assert service.find(3)'],
  ['import app', 'mocker.patch("app.mail.send")', 'assert app.send(m)'],
  ['from app.other import find', 'mocker.patch("app.repo.find")', 'assert find(3)'],
])('%s, %s, %s: what is asserted calls what was replaced', (imports, replaces, asserts) => {
  expect(python(imports, 'def test_it(monkeypatch, mocker):', `    ${replaces}`, `    ${asserts}`)).toBe(0)
})

const skips = (code: string): number =>
  [...code.matchAll(testLanguage('a.test.ts')?.skipped ?? /$/g)].length + untestedIn('a.test.ts', code)

test.each([
  "test('a', (ctx) => {\n  ctx.skip()\n})",
  "test('a', async (c) => {\n  c.skip()\n})",
  "test('a', c => {\n  c.skip('later')\n})",
  "it('a', function (state) {\n  state.todo()\n})",
  "test('a', (t) => {\n  t.skip()\n})",
  "test('a', (context) => {\n  context.skip()\n})",
  'async function later(ctx) {\n  ctx.skip()\n}',
])('%s is skipped', (code) => {
  expect(skips(code)).toBe(1)
})

test.each([
  "test('a', () => {\n  lexer.skip()\n})",
  "test('a', () => {\n  const lexer = new Lexer()\n  lexer.skip('x')\n})",
])('%s is not skipped', (code) => {
  expect(skips(code)).toBe(0)
})

const withoutComments = (code: string): string =>
  code.replaceAll(testLanguage('a.test.ts')?.comments ?? /$/g, '')

test.each(['const url = `?q=`', 'call(`f(`)', 'x(`a`, `b,`)'])(
  'after %s, tests are not in a text',
  (line) => {
    const code = `${line}\ntest('a', () => {})\ntest('b', () => get(\`x\`))\n`
    expect(withoutComments(code)).toBe(code)
  },
)

test.each(['const old = `', 'keep(`x`, `', 'const old =\n`'])('after %s, tests are in a text', (line) => {
  expect(withoutComments(`${line}\ntest('a', () => {})\n\`\n`)).not.toContain('test')
})

test.each([
  'Promise.resolve().then(() => assert.equal(add(1, 2), 3)).catch(() => {})',
  'load().then((add) => {\n    expect(add(1, 2)).toBe(3)\n  }).catch(() => {})',
  'load().then((add) => expect(add(1, 2)).toBe(3))',
  'Promise.allSettled([(async () => assert.equal(add(1, 2), 3))()])',
  'expect(load()).resolves.toBe(3)',
  'assert.rejects(load(), /x/)',
  'expect(add(1, 2)).toBe',
  'expect(add(1, 2))',
  'ready && expect(add(1, 2)).toBe(3)',
  'assert.throws(() => assert.equal(add(1, 2), 3))',
  'try { expect(add(1, 2)).toBe(3) } catch (error) { console.log(error) }',
])('%s cannot fail', (line) => {
  expect(looseIn(`test('a', () => {\n  ${line}\n})\n`)).toBeGreaterThan(0)
})

test.each([
  'await expect(load()).resolves.toBe(3)',
  'return expect(load()).resolves.toBe(3)',
  'return load().then((add) => expect(add(1, 2)).toBe(3))',
  'const done = load().then((add) => expect(add(1, 2)).toBe(3))\n  await done',
  'load().then((add) => { expect(add(1, 2)).toBe(3); done() }).catch(done)',
  'await Promise.all([\n    expect(load()).resolves.toBe(3),\n    expect(load()).resolves.toBe(4)\n  ])',
  'expect(await load().catch(() => null)).toBe(null)',
  'expect(add(1, 2)).toBe(3)\n  await server.close().catch(() => {})',
  'expect(add(1, 2))\n    .toBe(3)',
  'expect(add(1, 2)).to.be.ok',
  'expect(add(1, 2), 3)',
  'assert.throws(() => add())',
  'assert.ok(a && expect)',
])('%s can fail', (line) => {
  expect(looseIn(`test('a', () => {\n  ${line}\n})\n`)).toBe(0)
})

test.each([
  ['vi.spyOn(sums, "add").mockReturnValue(3)', 'expect(sums.add(1, 2)).toBe(3)'],
  ['mock.method(sums, "add", () => 3)', 'assert.equal(sums.add(1, 2), 3)'],
  ["vi.mock('./sums.ts', async () => ({ ...(await real()), add: () => 3 }))", 'expect(add(1, 2)).toBe(3)'],
  ['const check = () => assert.equal(add(1, 2), 3)', ''],
])('%s, %s: the function is not tested', (replaces, asserts) => {
  expect(untestedIn('test/a.test.js', `${replaces}\ntest('a', () => {\n  ${asserts}\n})\n`)).toBe(1)
})

test.each([
  ['vi.spyOn(api, "load").mockResolvedValue(3)', 'expect(await total()).toBe(3)'],
  ['const save = vi.fn(() => 3)', 'expect(save).toHaveBeenCalled()'],
  ["vi.mock('./api.ts', () => ({ load: () => 3 }))", 'expect(await total(load)).toBe(3)'],
  ['const check = () => assert.equal(add(1, 2), 3)', 'check()'],
])('%s, %s: something else is tested', (replaces, asserts) => {
  expect(untestedIn('test/a.test.js', `${replaces}\ntest('a', async () => {\n  ${asserts}\n})\n`)).toBe(0)
})

test.each([
  ['import (a as b\nb.c = lambda: 3', 0],
  ['import a as b\nimport b as a\na.c = lambda: 3\n\ndef test_a():\n    assert b.c() == 3', 1],
  ['from a import B\nB.c = lambda self: 3\n\ndef test_a():\n    assert B(1).c() == 3', 1],
  ['def test_a():\n    assert a()\n\ndef test_a():\n    assert b()', 1],
  ['class Sums:\n    def test_a(self):\n        assert a()', 1],
  ['class Sums:\n    def test_a(self):\n        assert a()\n\nTestSums = Sums', 0],
])('in Python %j, %s of the tests test nothing', (code, count) => {
  expect(untestedIn('test_a.py', `${code}\n`)).toBe(count)
})
