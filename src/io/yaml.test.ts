import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { asPlainUser } from '../../test/as-plain-user.ts'
import { anyCharacter } from '../../test/support/any-character.ts'
import { GantryError } from '../core/error.ts'
import { fileProblem, parseYaml, readYaml } from './yaml.ts'

interface Tree {
  name: string
  children?: Tree[] | undefined
}
const tree: z.ZodType<Tree> = z.lazy(() =>
  z.strictObject({ name: z.string(), children: z.array(tree).optional() }),
)

const gate = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('file_exists'), path: z.string().min(1) }),
  z.strictObject({
    type: z.literal('command_succeeds'),
    command: z.string(),
    timeout_secs: z.int().min(1).optional(),
  }),
])

const schema = z.strictObject({
  name: z.string(),
  tags: z.array(z.string()).default([]),
  run: z
    .strictObject({ timeout_secs: z.number().positive().optional(), max_turns: z.int().optional() })
    .prefault({}),
  target: z
    .union([
      z.literal('from_config'),
      z.strictObject({ binary: z.string(), env: z.record(z.string(), z.string()).optional() }),
    ])
    .optional(),
  gates: z.array(gate).max(3).optional(),
  agents: z
    .record(z.string().regex(/^[a-z]+$/), z.strictObject({ driver: z.enum(['command', 'scripted']) }))
    .optional(),
  tree: tree.optional(),
})

let root = ''
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'gantry-yaml-'))
  chmodSync(root, 0o755)
})
afterAll(() => rmSync(root, { recursive: true }))

test.each([
  ['wrong type: at the value', 'name: 3\n', 'f.yaml:1:7: name: expected a string, received the number 3'],
  [
    'missing key: at the parent mapping',
    'name: a\ntarget:\n  env: {}\n',
    "f.yaml:3:3: missing key 'binary' in target, expected a string",
  ],
  ['missing key at the top', 'tags: []\n', "f.yaml:1:1: missing key 'name', expected a string"],
  [
    'unknown key: at the key, with the nearest',
    'name: a\nrun:\n  max_turns: 3\n  timout_secs: 4\n',
    "f.yaml:4:3: unknown key 'timout_secs', did you mean 'timeout_secs'?",
  ],
  [
    'unknown key that is near to nothing',
    'name: a\nrun: { colour: 1 }\n',
    "f.yaml:2:8: unknown key 'colour' (known here: timeout_secs, max_turns)",
  ],
  [
    'unknown key inside a plain union',
    'name: a\ntarget: { binary: x, enw: {} }\n',
    "f.yaml:2:22: unknown key 'enw', did you mean 'env'?",
  ],
  [
    'unknown key inside a member of a discriminated union',
    'name: a\ngates:\n  - { type: file_exists, path: x, timeout_secs: 1 }\n',
    "f.yaml:3:35: unknown key 'timeout_secs' (known here: type, path)",
  ],
  [
    'unknown key inside a record',
    'name: a\nagents:\n  mine: { driver: command, drivr: 1 }\n',
    "f.yaml:3:28: unknown key 'drivr', did you mean 'driver'?",
  ],
  [
    'unknown key inside a lazy schema',
    'name: a\ntree:\n  name: r\n  children:\n    - { name: c, chidren: [] }\n',
    "f.yaml:5:18: unknown key 'chidren', did you mean 'children'?",
  ],
  [
    'wrong discriminator',
    'name: a\ngates:\n  - type: file_exist\n    path: x\n',
    "f.yaml:3:11: gates[0].type: expected one of 'file_exists', 'command_succeeds', not 'file_exist'; did you mean 'file_exists'?",
  ],
  [
    'missing discriminator',
    'name: a\ngates:\n  - path: x\n',
    "f.yaml:3:5: missing key 'type' in gates[0], expected one of 'file_exists', 'command_succeeds'",
  ],
  [
    'wrong member of an enum',
    'name: a\nagents: { mine: { driver: scriptd } }\n',
    "f.yaml:2:27: agents.mine.driver: expected one of 'command', 'scripted', not 'scriptd'; did you mean 'scripted'?",
  ],
  [
    'bad key of a record',
    'name: a\nagents: { Mine1: { driver: command } }\n',
    "f.yaml:2:11: key 'Mine1': must match /^[a-z]+$/",
  ],
  [
    'no branch of a union',
    'name: a\ntarget: 5\n',
    "f.yaml:2:9: target: expected 'from_config' or a mapping, received the number 5",
  ],
  [
    'a required key without a value, beside an optional one: at its key',
    'tags:\nname:\n',
    'f.yaml:2:1: name: expected a string, received nothing',
  ],
  [
    'a line of a list item that is not aligned',
    'name: a\ngates:\n  - type: x\n   path: y\n',
    'f.yaml:4:1: the indentation does not fit: align this line with the one above that it belongs to',
  ],
  [
    'a key that is indented too far: in the line before it',
    'name: a\nrun:\n  tags: b\n   tier: 1\n',
    'f.yaml:3:9: the next line continues this value: align it with the keys above, or quote the value',
  ],
  [
    'a quote that is never closed: where it opens',
    'tags: [a]\nname: "a\nrun: {}\n',
    'f.yaml:2:7: this quote is never closed',
  ],
  [
    'a [ that is never closed: where it opens',
    'tags: [a\nname: a\nrun: {}\n',
    'f.yaml:1:7: this [ is never closed',
  ],
  [
    'a { at the end that is never closed',
    'name: a\ngates:\n  - { type: command_succeeds\n',
    'f.yaml:3:5: this { is never closed',
  ],
  [
    'text behind a JSON document, once',
    '{"name": "a"}\n{"x": 1, "y": [2]}\n',
    'f.yaml:2:1: unexpected text: the document ends before it',
  ],
  [
    'a bound of a number',
    'name: a\ngates: [{ type: command_succeeds, command: x, timeout_secs: 0 }]\n',
    'f.yaml:2:61: gates[0].timeout_secs: must be at least 1',
  ],
  [
    'an exclusive bound',
    'name: a\nrun: { timeout_secs: 0 }\n',
    'f.yaml:2:22: run.timeout_secs: must be more than 0',
  ],
  [
    'a fraction for a whole number',
    'name: a\nrun: { max_turns: 1.5 }\n',
    'f.yaml:2:19: run.max_turns: expected a whole number, received the number 1.5',
  ],
  [
    'an empty string',
    "name: a\ngates: [{ type: file_exists, path: '' }]\n",
    'f.yaml:2:36: gates[0].path: must not be empty',
  ],
  [
    'too many items',
    `name: a\ngates: [${'{type: file_exists, path: x},'.repeat(4)}]\n`,
    'f.yaml:2:8: gates: must have at most 3 items',
  ],
  ['duplicate key', 'name: a\ntags: []\nname: b\n', "f.yaml:3:1: duplicate key 'name'"],
  [
    'a second document',
    'name: a\n---\nname: b\n',
    'f.yaml:2:1: a second document starts here; one file holds one',
  ],
  ['an unknown tag', 'name: !secret a\n', 'f.yaml:1:7: unknown tag !secret'],
  [
    'a tag that YAML 1.2 core does not have',
    'name: !!binary aGk=\n',
    'f.yaml:1:7: unknown tag tag:yaml.org,2002:binary',
  ],
  [
    'an alias without an anchor',
    'name: *nothing\n',
    'f.yaml:1:7: the alias *nothing has no anchor before it',
  ],
  [
    'a colon in plain text',
    'name: a: b\n',
    "f.yaml:1:7: a second ': ' in one line; quote text that contains one",
  ],
  [
    'a merge key',
    'base: &b { name: a }\nname: a\nrun: { <<: *b }\n',
    "f.yaml:3:8: unknown key '<<' (known here: timeout_secs, max_turns)",
  ],
  ['a whole file of another kind', '- a\n- b\n', 'f.yaml:1:1: expected a mapping, received a list'],
  ['JSON', '{\n\t"name": "a",\n\t"tag": []\n}\n', "f.yaml:3:2: unknown key 'tag', did you mean 'tags'?"],
  [
    'CRLF line ends',
    'name: a\r\nrun:\r\n  max_turns: x\r\n',
    'f.yaml:3:14: run.max_turns: expected a number, received a string',
  ],
  ['a byte order mark', '\uFEFFname: 1\n', 'f.yaml:1:7: name: expected a string, received the number 1'],
  [
    'a key that is a number',
    'name: a\nagents: { 1: { driver: command } }\n',
    "f.yaml:2:11: key '1': must match /^[a-z]+$/",
  ],
])('%s', (_, text, message) => {
  const error = problemIn(text)
  expect(error.message.split('\n').map((line) => line.trim())).toContain(message)
  expect(error.code).toBe('INVALID_FILE')
})

test('all problems of a file are in one error, in file order, with the position of the first', () => {
  const error = problemIn('nam: a\nrun:\n  timout_secs: 1\ntags: [1]\n')
  expect(error.message).toBe(
    [
      '4 problems in f.yaml',
      "  f.yaml:1:1: missing key 'name', expected a string",
      "  f.yaml:1:1: unknown key 'nam', did you mean 'name'?",
      "  f.yaml:3:3: unknown key 'timout_secs', did you mean 'timeout_secs'?",
      '  f.yaml:4:8: tags[0]: expected a string, received the number 1',
    ].join('\n'),
  )
  expect(error.at).toEqual({ file: 'f.yaml', line: 1, column: 1 })
})

test.each([
  ['syntax', 'name: [a\nb: }\n'],
  ['a tab as indentation', 'run:\n\tmax_turns: 1\n'],
  ['a bomb of aliases', bomb()],
  ['very deep nesting', `name: ${'['.repeat(50_000)}`],
  [
    'very deep valid nesting in a recursive schema',
    `name: a\ntree: ${'{name: a, children: ['.repeat(3_000)}${']}'.repeat(3_000)}`,
  ],
])('%s is an invalid file, not a crash', (_, text) => {
  expect(problemIn(text)).toMatchObject({ code: 'INVALID_FILE', at: { file: 'f.yaml' } })
})

test.each(['', '\n', '# only a comment\n', '---\n', '\uFEFF'])('%j is an empty mapping', (text) => {
  const source = parseYaml(text, 'f.yaml', z.strictObject({ name: z.string().default('x') }))
  expect(source.value).toEqual({ name: 'x' })
  expect(source.positionOf(['name'])).toMatchObject({ file: 'f.yaml', line: 1 })
})

test('YAML 1.2: yes, no, on and off are strings, 012 is a decimal number, dates are strings', () => {
  const anything = z.record(z.string(), z.unknown())
  expect(parseYaml('a: yes\nb: off\nc: 012\nd: 2026-01-02\ne: true\n', 'f', anything).value).toEqual({
    a: 'yes',
    b: 'off',
    c: 12,
    d: '2026-01-02',
    e: true,
  })
})

test('a key named __proto__ is data and changes no prototype', () => {
  const source = parseYaml('{"__proto__": {"polluted": 1}}', 'f', z.record(z.string(), z.unknown()))
  expect(Reflect.get({}, 'polluted')).toBeUndefined()
  expect(Object.getPrototypeOf(source.value)).toBe(Object.prototype)
})

test('a later check reports the position of the problem', () => {
  const source = parseYaml('name: a\ngates:\n  - type: file_exists\n    path: "x"\n', 'dir/f.yaml', schema)
  const error = fileProblem(source, ['gates', 0, 'path'], 'no such template', 'Make it.')
  expect(error).toBeInstanceOf(GantryError)
  expect(error.message).toBe('dir/f.yaml:4:11: no such template')
  expect(error).toMatchObject({ code: 'INVALID_FILE', hint: 'Make it.', at: { line: 4, column: 11 } })
  expect(source.positionOf(['gates', 0, 'absent'])).toMatchObject({ line: 3, column: 5 })
  expect(source.positionOf(['gates', 7])).toMatchObject({ line: 3, column: 3 })
})

test('a value behind an alias has the position of the anchor', () => {
  const source = parseYaml('a: &x\n  k: 1\nb: *x\n', 'f', z.record(z.string(), z.unknown()))
  expect(source.positionOf(['b'])).toMatchObject({ line: 3, column: 4 })
  expect(source.positionOf(['b', 'k'])).toMatchObject({ line: 2, column: 6 })
})

test('a file is read from disk and reported with the given path', () => {
  const path = join(root, 'good.yaml')
  writeFileSync(path, 'name: hello\n')
  expect(readYaml(path, schema)).toMatchObject({
    path,
    text: 'name: hello\n',
    value: { name: 'hello', tags: [], run: {} },
  })
})

test('a missing file is NOT_FOUND with a hint', () => {
  expect(() => readYaml(join(root, 'none.yaml'), schema)).toThrow(
    expect.objectContaining({ code: 'NOT_FOUND', hint: expect.stringContaining('path') }),
  )
  writeFileSync(join(root, 'plain'), '')
  expect(() => readYaml(join(root, 'plain/none.yaml'), schema)).toThrow(
    expect.objectContaining({ code: 'NOT_FOUND' }),
  )
})

test('a directory, a device, invalid UTF-8 and a huge file are refused with a reason', () => {
  mkdirSync(join(root, 'folder.yaml'))
  writeFileSync(join(root, 'latin1.yaml'), Buffer.from([0x6e, 0x3a, 0x20, 0xe9]))
  writeFileSync(join(root, 'huge.yaml'), Buffer.alloc(16 * 1024 * 1024 + 1, 0x20))
  const refused = (name: string, words: string) =>
    expect(() => readYaml(join(root, name), schema)).toThrow(
      expect.objectContaining({ code: 'INVALID_FILE', message: expect.stringContaining(words) }),
    )
  refused('folder.yaml', 'is a directory')
  refused('latin1.yaml', 'is not UTF-8 text')
  refused('huge.yaml', 'is larger than 16 MiB')
  expect(() => readYaml('/dev/zero', schema)).toThrow(/is not a regular file/)
})

test('a file without read permission is refused with a reason', () => {
  const path = join(root, 'secret.yaml')
  writeFileSync(path, 'name: a\n')
  chmodSync(path, 0o000)
  expect(() => asPlainUser(() => readYaml(path, schema))).toThrow(
    expect.objectContaining({ code: 'INVALID_FILE', message: expect.stringContaining('permission denied') }),
  )
})

test('an optional key without a value is absent', () => {
  const text = 'name: a\ntags:\n# - smoke\nrun:\ntarget:\n  binary: x\n  env:\ngates:\n'
  expect(parseYaml(text, 'f.yaml', schema).value).toEqual({
    name: 'a',
    tags: [],
    run: {},
    target: { binary: 'x' },
  })
})

test('any mangled text either fits or is an invalid file', () => {
  const good =
    'name: a\ntags: [x, "y"]\nrun:\n  max_turns: 3\ntarget: &t\n  binary: b\n  env: { A: "1" }\ngates:\n  - type: file_exists\n    path: |\n      x\n'
  const noise = fc.constantFrom(
    ...'{}[]:,-?&*!|>\'"%@`#\t\n \r\\0~<',
    '---\n',
    '...\n',
    '<<: *t',
    '!!set',
    '\uFEFF',
    '\0',
    '\uD800',
  )
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(good.length), fc.nat(4), fc.oneof(noise, fc.string())), { maxLength: 6 }),
      (edits) => {
        let text = good
        for (const [at, drop, put] of edits) text = text.slice(0, at) + put + text.slice(at + drop)
        fitsOrInvalid(text)
      },
    ),
    { numRuns: 150 },
  )
  fc.assert(fc.property(fc.string({ unit: anyCharacter }), fitsOrInvalid), { numRuns: 100 })
})

function fitsOrInvalid(text: string): void {
  try {
    parseYaml(text, 'f.yaml', schema)
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    expect(error.code).toBe('INVALID_FILE')
    expect(error.at?.line ?? 1).toBeGreaterThan(0)
  }
}

function problemIn(text: string): GantryError {
  try {
    parseYaml(text, 'f.yaml', schema)
  } catch (error) {
    if (error instanceof GantryError) return error
    throw error
  }
  throw new Error('the text was accepted')
}

function bomb(): string {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
  for (let level = 1; level < 12; level += 1)
    lines.push(`a${level}: &a${level} [${`*a${level - 1}, `.repeat(9)}]`)
  return lines.join('\n')
}

test('an error of the syntax keeps the error of the parser as its cause', () => {
  let thrown: unknown
  try {
    parseYaml('a: [1', 'a.yaml', z.unknown())
  } catch (error) {
    thrown = error
  }
  expect(thrown).toMatchObject({ code: 'INVALID_FILE', cause: { name: 'YAMLParseError' } })
})
